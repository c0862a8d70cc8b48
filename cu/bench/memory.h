/* cu/bench/memory.h – whether a problem fits into memory, checked before anything is allocated. */
#pragma once

#include "src/base.h"

/* Bytes available on this node, or in its container; 0: unknown. */
size_t memory_available(void);

/* This node's share of `bytes` in all, assuming that ranks have equal shares. */
size_t memory_here(size_t bytes);

/* "323 kB", "24.1 GB"; text [room]. */
const char *memory_text(size_t bytes, char *text, size_t room);

/* Asks for large pages for an array that is about to be used: page faults and TLB misses of small
 * ones would take most of the time. No effect if the system has none. */
void memory_large_pages(void *array, size_t bytes);

/* EK_UNAVAILABLE if the problem needs more memory than this node has available. */
enum ek_status memory_check(const char *problem, size_t bytes);
