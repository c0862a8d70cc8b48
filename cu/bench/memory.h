/* cu/bench/memory.h – will a problem fit? Asked before anything is allocated. */
#pragma once

#include "src/status.h"
#include <stddef.h>

/* Bytes that this node can still give, also where a container limits it; 0: unknown. */
size_t memory_available(void);

/* Of `bytes` in all, what falls on this node: ranks have about the same parts. */
size_t memory_here(size_t bytes);

/* "323 kB", "24.1 GB"; text [room]. */
const char *memory_text(size_t bytes, char *text, size_t room);

/* Asks for large pages where an array is about to be used: with small ones most of the time goes
 * for finding them, or for getting them anew. Where the system has no large ones nothing happens.
 */
void memory_large_pages(void *array, size_t bytes);

/* EK_UNAVAILABLE with both numbers where the problem needs more on this node than there is. */
enum ek_status memory_check(const char *problem, size_t bytes);
