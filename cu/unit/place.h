/* cu/unit/place.h – places: which cpus each unit may use, in the words of OMP_PLACES.
 *
 * Grammar (OpenMP 5.2, 21.1.6, as libgomp reads it): a comma-separated list of places, or the name
 * of a kind of hardware with an optional count.
 *   place    {cpus}  |  {cpus}:n:stride  that place n times, each `stride` cpus further (default 1)
 *            !{cpus}                     takes the first equal place out of the list so far
 *   cpus     a comma-separated list of   c  |  c:n:stride  |  !c  (not this one)
 *   name     threads cores sockets ll_caches numa_domains, then (n) for the first n
 * Blanks may stand anywhere between these; one cpu needs no braces. */
#pragma once

#include "cu/unit/cu.h"
#include <hwloc.h>

struct place_list {
    int n;
    hwloc_bitmap_t *cpus; /* [n] numbers of the operating system; owned by the list */
    size_t room;          /* of cpus */
};

/* Reads OMP_PLACES text. `topology` and `allowed` serve the names of hardware and may be NULL: this
 * machine, opened only if the text needs it, and all of its cpus. EK_USAGE with the column of the
 * fault. Caller owns *list and calls place_free(). */
enum ek_status place_parse(const char *text, hwloc_topology_t topology,
                           hwloc_const_bitmap_t allowed, struct place_list *list);

/* The list that the OpenMP runtime has in force, empty where it binds nothing. */
enum ek_status place_runtime(struct place_list *list);

/* Places for N units of M cpus and G devices of K threads on the `allowed` cpus of a machine:
 *  - one cpu per core before any core's second, faster kinds of cores before slower ones;
 *  - each unit within the smallest cache, NUMA node, package that has room for it;
 *  - a device's threads on cpus that are left over, those in near[d] first ([G], entries may be
 *    NULL, near may be NULL), then those of one memory node, else shared with the unit that came
 *    last;
 *  - where there are more threads than cpus, units take turns on them, as evenly as can be.
 * EK_UNAVAILABLE: out of memory. Caller owns *list. */
enum ek_status place_derive(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
                            const struct cu_layout *layout, const hwloc_const_bitmap_t *near,
                            struct place_list *list);

/* Whether `list` serves `layout`: N places of M cpus each, then G of any size, but of K cpus at
 * least where K > 1. EK_USAGE says which place differs, its width and the width wanted. `text` is
 * what the user wrote. */
enum ek_status place_check(const struct place_list *list, const struct cu_layout *layout,
                           const char *text);

/* The layout that `list` means when its last `ndev` places are devices', fed by a thread each.
 * EK_USAGE: the others differ in width, or there are fewer places than devices. */
enum ek_status place_infer(const struct place_list *list, int ndev, const char *text,
                           struct cu_layout *layout);

/* The list as OMP_PLACES text, as short as intervals make it: "{0:2}:7:2,{14}:2:1". Caller frees;
 * NULL: out of memory. */
char *place_format(const struct place_list *list);

/* All cpus of the list into `cpus`. */
void place_union(const struct place_list *list, hwloc_bitmap_t cpus);

bool place_equal(const struct place_list *a, const struct place_list *b);

/* Appends a place; the list owns `cpus` from then on, also on failure (EK_UNAVAILABLE: out of
 * memory). */
enum ek_status place_append(struct place_list *list, hwloc_bitmap_t cpus);
void place_free(struct place_list *list);
