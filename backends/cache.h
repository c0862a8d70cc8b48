/* backends/cache.h – compiled kernels on disk, in evenkeel/ among the caches (src/cachedir.h).
 *
 * A cache never makes a program fail: what cannot be read, is torn or is damaged counts as absent,
 * what cannot be written is not kept. CU_KERNEL_CACHE=0 turns it off. Any thread, any process: an
 * entry is written beside and renamed. */
#pragma once

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>

struct cache_key {
    char hex[40]; /* 32 digits; the rest is 0 */
};

/* Key of everything that decides what the compiler makes: the n parts, in this order. */
struct cache_key cache_key(const char *const parts[], int n);

/* Whether entries are kept at all: where making one costs. */
bool cache_on(void);

/* The entry in *data [size], which the caller frees; false if there is none that is whole. */
bool cache_load(const struct cache_key *key, unsigned char **data, size_t *size);
void cache_save(const struct cache_key *key, const unsigned char *data, size_t size);

/* The same in a folder of the caller's choice, whatever CU_KERNEL_CACHE says; saving fails
 * aloud. */
bool cache_load_from(const char *folder, const struct cache_key *key, unsigned char **data,
                     size_t *size);
enum ek_status cache_save_to(const char *folder, const struct cache_key *key,
                             const unsigned char *data, size_t size);
