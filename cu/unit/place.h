/* cu/unit/place.h – places: which cpus each unit may use, written as in OMP_PLACES.
 *
 * Grammar (OpenMP 5.2, 21.1.6, as libgomp reads it): a comma-separated list of places, or an
 * abstract name with an optional count.
 *   place    {cpus}  |  {cpus}:n:stride  that place n times, each `stride` cpus further (default 1)
 *            !{cpus}                     removes the first equal place from the list so far
 *   cpus     a comma-separated list of   c  |  c:n:stride  |  !c  (not this one)
 *   name     threads cores sockets ll_caches numa_domains, then (n) for the first n
 * Blanks are allowed between all of these; a single cpu needs no braces. */
#pragma once

#include "cu/unit/cu.h"
#include <hwloc.h>

enum { PLACE_MOST = 1 << 16 }; /* places of a list, at most */

struct place_list {
    int n;
    hwloc_bitmap_t *cpus; /* [n] the operating system's cpu numbers; owned by the list */
    size_t room;          /* capacity of cpus */
};

/* Parses OMP_PLACES. `topology` and `allowed` are needed for abstract names only and may be NULL:
 * then it is this machine, opened only if needed, and all of its cpus. EK_USAGE names the column of
 * the error. Caller owns *list and calls place_free(). */
enum ek_status place_parse(const char *text, hwloc_topology_t topology,
                           hwloc_const_bitmap_t allowed, struct place_list *list);

/* The OpenMP runtime's own place list, empty if it does not bind. */
enum ek_status place_runtime(struct place_list *list);

/* Derives places for N units of M cpus and G devices of K threads on a machine's `allowed` cpus:
 *  - one cpu per core before any core's second hardware thread, fast cores before slow ones;
 *  - each unit within the smallest cache, NUMA node or package with room for it;
 *  - a device's threads on cpus left over, those in near[d] first (near is [G] or NULL, as may be
 *    its entries), then those of one memory node, else shared with the last unit;
 *  - with more threads than cpus, units share cpus as evenly as possible.
 * EK_UNAVAILABLE: out of memory. Caller owns *list. */
enum ek_status place_derive(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
                            const struct cu_layout *layout, const hwloc_const_bitmap_t *near,
                            struct place_list *list);

/* Checks that `list` fits `layout`: N places of M cpus, then G of any size, or of at least K cpus
 * if K > 1. EK_USAGE says which place differs, its width and the expected one, and quotes `text`,
 * the user's OMP_PLACES. */
enum ek_status place_check(const struct place_list *list, const struct cu_layout *layout,
                           const char *text);

/* The layout that `list` describes if its last `ndev` places belong to devices with one feeding
 * thread each. EK_USAGE: the other places differ in width, or there are fewer places than devices.
 */
enum ek_status place_infer(const struct place_list *list, int ndev, const char *text,
                           struct cu_layout *layout);

/* The list as OMP_PLACES text, shortened by intervals: "{0:2}:7:2,{14}:2:1". Caller frees; NULL:
 * out of memory. */
char *place_format(const struct place_list *list);

/* Sets `cpus` to the union of all places. */
void place_union(const struct place_list *list, hwloc_bitmap_t cpus);

bool place_equal(const struct place_list *a, const struct place_list *b);

/* Appends a place and takes ownership of `cpus`, even on failure (EK_UNAVAILABLE: out of
 * memory). */
enum ek_status place_append(struct place_list *list, hwloc_bitmap_t cpus);
void place_free(struct place_list *list);
