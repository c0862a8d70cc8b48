/* src/checksum.h – sums that notice damage and tell jobs apart (xxHash, XXH3 with 128 bits; not for
 * secrets). The same bytes have the same sum, however they are cut into calls, on every machine. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct checksum {
    _Alignas(64) unsigned char state[640]; /* xxHash's */
};

/* Begins a sum that is bound to what it is for, such as "bt-mz checkpoint 2": the same bytes under
 * another name or version have another sum. */
void checksum_begin(struct checksum *c, const char *what);
void checksum_add(struct checksum *c, const void *bytes, size_t n);
/* With the NUL, so that "ab", "c" differs from "a", "bc". */
void checksum_add_text(struct checksum *c, const char *text);
/* The sum so far; more may be added afterwards. */
uint64_t checksum_end(const struct checksum *c);
/* All 128 bits in digits. */
void checksum_hex(const struct checksum *c, char hex[33]);

/* Of one block. */
uint64_t checksum_of(const char *what, const void *bytes, size_t n);
