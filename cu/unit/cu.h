/* cu/unit/cu.h – compute units: groups of CPU cores and devices, each with a managing OpenMP
 * thread.
 *
 * A layout "NxM+GxK" is N CPU units of M cores and G devices, each fed by K threads of the host
 * ("NxM+G": by one). The outer OpenMP team has one thread per unit (N+G), bound one place each
 * (proc_bind(close)); a unit's inner team has M or K threads inside that unit's place
 * (proc_bind(master)). Needs N*M+G*K cpus; Gonzalez & Morancho 2024, section 3. */
#ifndef CU_CU_H
#define CU_CU_H

#include "backends/backend.h"
#include "src/status.h"
#include <stdbool.h>

enum cu_kind { CU_CPU, CU_DEVICE };

/* A memory node: memory that units may share, of the host or of one device. */
enum { CU_HOST_MEMORY = 0 }; /* device d of the set is memory node 1 + d */

struct cu {
    int index; /* 0 .. n-1: CPU units first, then devices */
    enum cu_kind kind;
    int width;              /* cores of a CPU unit; threads of the host that feed a device */
    int memory;             /* home of the data that it works on */
    struct backend *device; /* NULL for a CPU unit; only this unit's leader launches on it */
    char name[32];          /* "cpu0", "opencl:0" */
    struct thread_pool
        *pool; /* threads of a unit of width > 1 while a team runs (cu/team/thread_pool.h) */
};

struct cu_layout {
    int ncpu, width, ndev; /* N, M, G */
    int feeders;           /* K, at least 1 where there are devices, else 0 */
};

struct cu_set {
    struct cu_layout layout;
    int n;         /* units: ncpu + ndev */
    int nmemories; /* 1 + ndev */
    struct cu *cu; /* [n] */
};

/* What the user asked for; texts are borrowed, NULL = not given. */
struct cu_options {
    const char *layout;  /* "7x2+2", "1x6+1x2", "auto" */
    const char *devices; /* "opencl:0,host:1", "auto" */
    bool strict;         /* more threads than cpus is an error */
    bool display_env;    /* print the effective settings on stderr */
};

/* Makes OMP_PLACES, OMP_PROC_BIND and the layout agree. Call first thing in main(), before any
 * parallel region: where OMP_PLACES must be derived from the layout (hwloc: cores before
 * hyperthreads, device threads near their device) it sets the environment and re-executes
 * /proc/self/exe with argv. EK_USAGE: malformed layout, or OMP_PLACES and the layout disagree (the
 * line says how); EK_UNAVAILABLE: a device that is not there, --strict and too few cpus. One
 * thread. */
enum ek_status cu_prepare(const struct cu_options *, char **argv);
/* Before it is called: is this the image that cu_prepare() executed? The first one has said what
 * there was to say of the same arguments. */
bool cu_is_second_image(void);

/* Opens the units as cu_prepare() left the environment: checks that each unit's threads run on
 * their place's cpus (EK_UNAVAILABLE names thread, wanted and found cpus) and opens each device in
 * its managing thread. Later regions of the same thread with num_threads(set->n) proc_bind(close)
 * give the same threads to the same units. Without cu_prepare() (tests, hosts that bind by
 * themselves) the units' threads float and nothing is checked. Caller owns *set. One thread,
 * outside parallel regions. */
enum ek_status cu_open(const struct cu_options *, struct cu_set **set);
void cu_close(struct cu_set *set);

/* Calls `work` for every unit on its own thread, all at once; EK_OK or what one that failed said.
 * One thread, outside parallel regions. */
enum ek_status cu_each(const struct cu_set *set,
                       enum ek_status (*work)(void *ctx, const struct cu *cu), void *ctx);

/* Whether a unit's device still answers; a CPU unit always does. Whoever may copy on it. */
bool cu_answers(const struct cu *);
/* Whether the units' threads are more than the cpus. */
bool cu_oversubscribed(const struct cu_set *);

/* "2x1+1" into *layout; every number at most 1<<20. EK_USAGE with an example otherwise. */
enum ek_status cu_layout_parse(const char *text, struct cu_layout *layout);
/* The same as text, static per thread. */
const char *cu_layout_text(const struct cu_layout *layout);
/* N + G; N * M + G * K; and N * M + G, what computes: who feeds a device is no worker beside it. */
int cu_layout_units(const struct cu_layout *layout);
int cu_layout_threads(const struct cu_layout *layout);
int cu_layout_workers(const struct cu_layout *layout);

#endif
