/* src/checksum.h – checksums that detect damage and identify jobs (xxHash: XXH3, 128 bits; not
 * cryptographic). The sum depends only on the bytes, not on how they are split into calls or on the
 * machine. */
#pragma once

#include "src/base.h"

struct checksum {
    _Alignas(64) unsigned char state[640]; /* xxHash's */
};

/* Begins a sum bound to a purpose, such as "bt-mz checkpoint 2": the same bytes under another name
 * or version have another sum. */
void checksum_begin(struct checksum *c, const char *what);
void checksum_add(struct checksum *c, const void *bytes, size_t n);
/* Includes the NUL, so that "ab", "c" differs from "a", "bc". */
void checksum_add_text(struct checksum *c, const char *text);
/* The sum so far; more may be added afterwards. */
uint64_t checksum_end(const struct checksum *c);
/* All 128 bits as hexadecimal digits. */
void checksum_hex(const struct checksum *c, char hex[33]);

/* The sum of a single block. */
uint64_t checksum_of(const char *what, const void *bytes, size_t n);
