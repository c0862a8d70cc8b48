/* src/hash.h – a small hash for names and sums, not for secrets: Fowler, Noll & Vo's, version 1a.
 */
#ifndef SRC_HASH_H
#define SRC_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const uint64_t HASH_BASIS = 0xcbf29ce484222325u;

/* Goes on from h, at first HASH_BASIS, with `size` bytes. */
static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ byte[i]) * 0x100000001b3u;
    return h;
}

/* With the NUL, so that "ab", "c" differs from "a", "bc". */
static inline uint64_t hash_text(uint64_t h, const char *text)
{
    return hash_bytes(h, text, strlen(text) + 1);
}

#endif
