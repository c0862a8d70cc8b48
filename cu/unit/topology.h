/* cu/unit/topology.h – the machine as hwloc sees it, and which of its cpus this process may use.
 * A cpu is what the operating system numbers: a core, or one hardware thread of it. */
#pragma once

#include "src/base.h"
#include <hwloc.h>

/* Opens this machine, or the one described by `synthetic` in hwloc's syntax ("pack:2 core:64
 * pu:2"). Opens no device driver. EK_USAGE: malformed description; EK_UNAVAILABLE: hwloc cannot
 * read the machine. Caller owns *topology; topology_close() accepts NULL. */
enum ek_status topology_open(const char *synthetic, hwloc_topology_t *topology);
/* This machine with its PCI devices, for topology_near(); reading them takes longest. */
enum ek_status topology_open_pci(hwloc_topology_t *topology);
/* This machine with the cpus and NUMA nodes that this process may not use. */
enum ek_status topology_open_disallowed(hwloc_topology_t *topology);
void topology_close(hwloc_topology_t topology);
OWNED_POINTER(struct hwloc_topology, topology_close)
OWNED_POINTER(struct hwloc_bitmap_s, hwloc_bitmap_free)

/* The cpus on which the calling thread may run now. EK_UNAVAILABLE: the system call failed. */
enum ek_status topology_thread_cpus(hwloc_bitmap_t cpus);

/* Binds the calling thread to them if the system can do so. */
void topology_bind_thread(hwloc_const_bitmap_t cpus);

/* The cpus of the whole process, as limited by taskset or a container. If OpenMP has bound the
 * initial thread to its first place before main(), the union of all places. */
enum ek_status topology_process_cpus(hwloc_bitmap_t cpus);

/* Opens this machine and gets this process's cpus; the caller owns both. */
enum ek_status topology_here(hwloc_topology_t *topology, hwloc_bitmap_t *cpus);

/* Adds the cpus of an OpenMP place. EK_UNAVAILABLE: out of memory. */
enum ek_status topology_add_place(int place, hwloc_bitmap_t cpus);

/* Cores with at least one cpu in `allowed`. */
int topology_cores(hwloc_topology_t topology, hwloc_const_bitmap_t allowed);
/* `cores`, but no more than a container's quota of processor time, which the ranks on this node
 * share, allows to work all the time. */
int topology_within_quota(int cores);

/* Cores of this machine that a container leaves to this process, regardless of how its threads are
 * bound; 0: unknown. */
int topology_lent_cores(void);

/* The cpus next to the PCI device "0000:81:00.0"; false if it is not in the topology or equally
 * near to all cpus. */
bool topology_near(hwloc_topology_t topology, const char *pci, hwloc_bitmap_t cpus);

/* "AMD EPYC …", or "unknown". Owned by the topology. */
const char *topology_model(hwloc_topology_t topology);

/* Depth of the last cache level before memory; without caches that of the packages, else of the
 * machine. */
int topology_last_cache(hwloc_topology_t topology);

/* Writes "0-3,8" into buf, truncated to `room`; returns buf. */
const char *topology_list(hwloc_const_bitmap_t cpus, char *buf, size_t room);
