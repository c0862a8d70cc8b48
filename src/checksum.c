/* src/checksum.c – a thin layer over XXH3. */
#include "src/checksum.h"

/* Inlined, because the layout of the state is not part of the library's ABI. */
#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct checksum), "no room for xxHash's state");

static XXH3_state_t *state_of(struct checksum *c)
{
    return (XXH3_state_t *)c->state;
}

static XXH128_hash_t sum_of(const struct checksum *c)
{
    return XXH3_128bits_digest((const XXH3_state_t *)c->state);
}

void checksum_begin(struct checksum *c, const char *what)
{
    XXH3_128bits_reset(state_of(c));
    checksum_add_text(c, what);
}

void checksum_add(struct checksum *c, const void *bytes, size_t n)
{
    if (n)
        XXH3_128bits_update(state_of(c), bytes, n);
}

void checksum_add_text(struct checksum *c, const char *text)
{
    checksum_add(c, text, strlen(text) + 1);
}

uint64_t checksum_end(const struct checksum *c)
{
    return sum_of(c).low64;
}

void checksum_hex(const struct checksum *c, char hex[33])
{
    const XXH128_hash_t sum = sum_of(c);
    snprintf(hex, 33, "%016llx%016llx", (unsigned long long)sum.high64,
             (unsigned long long)sum.low64);
}

uint64_t checksum_of(const char *what, const void *bytes, size_t n)
{
    struct checksum c;
    checksum_begin(&c, what);
    checksum_add(&c, bytes, n);
    return checksum_end(&c);
}
