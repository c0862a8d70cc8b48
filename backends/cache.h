/* backends/cache.h – compiled kernels on disk, in evenkeel/ among the caches (src/cachedir.h).
 *
 * The cache never makes a program fail: an entry that cannot be read, is incomplete or damaged
 * counts as absent; one that cannot be written is dropped. CU_KERNEL_CACHE=0 turns it off. Any
 * thread, any process: entries are replaced atomically. */
#pragma once

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>

struct cache_key {
    char hex[40]; /* 32 hexadecimal digits, padded with zeros */
};

/* Key made of everything that determines the compiler's output: the n parts, in this order. */
struct cache_key cache_key(const char *const parts[], int n);

/* Whether entries are kept at all; ask before producing a costly one. */
bool cache_on(void);

/* Loads the entry into *data [size], which the caller frees; false if there is no intact one. */
bool cache_load(const struct cache_key *key, unsigned char **data, size_t *size);
void cache_save(const struct cache_key *key, const unsigned char *data, size_t size);

/* The same in a given folder, regardless of CU_KERNEL_CACHE; saving reports failures. */
bool cache_load_from(const char *folder, const struct cache_key *key, unsigned char **data,
                     size_t *size);
enum ek_status cache_save_to(const char *folder, const struct cache_key *key,
                             const unsigned char *data, size_t size);
