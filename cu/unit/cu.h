/* cu/unit/cu.h – compute units: groups of CPU cores and devices, each with a managing OpenMP
 * thread.
 *
 * A layout "NxM+GxK" is N CPU units of M cores and G devices, each fed by K host threads ("NxM+G":
 * K = 1). The outer OpenMP team has one thread per unit (N+G), each bound to its own place
 * (proc_bind(close)); a unit's inner team has M or K threads inside that place
 * (proc_bind(primary)). This takes N*M+G*K cpus; Gonzalez & Morancho 2024, section 3. */
#ifndef CU_CU_H
#define CU_CU_H

#include "backends/backend.h"
#include "src/status.h"
#include <stdbool.h>

/* The policy is called primary since OpenMP 5.1, master in runtimes that are older. */
#if _OPENMP >= 202011
#define CU_BIND_PRIMARY primary
#else
#define CU_BIND_PRIMARY master
#endif

enum cu_kind { CU_CPU, CU_DEVICE };

/* A memory node is memory that units share: the host's, or one device's. */
enum { CU_HOST_MEMORY = 0 }; /* device d of the set is memory node 1 + d */

struct cu {
    int index; /* 0 .. n-1: CPU units first, then devices */
    enum cu_kind kind;
    int width;                /* cores of a CPU unit; host threads that feed a device */
    int memory;               /* memory node of the data that it works on */
    struct backend *device;   /* NULL for a CPU unit; only this unit's leader launches on it */
    char name[32];            /* "cpu0", "opencl:0" */
    struct thread_pool *pool; /* while a team runs, if width > 1: cu/team/thread_pool.h */
};

struct cu_layout {
    int ncpu, width, ndev; /* N, M, G */
    int feeders;           /* K: at least 1 if there are devices, else 0 */
};

struct cu_set {
    struct cu_layout layout;
    int n;         /* units: ncpu + ndev */
    int nmemories; /* 1 + ndev */
    struct cu *cu; /* [n] */
};

/* The user's options; texts are borrowed, NULL = not given. */
struct cu_options {
    const char *layout;  /* "7x2+2", "1x6+1x2", "auto" */
    const char *devices; /* "opencl:0,host:1", "auto" */
    bool strict;         /* treat more threads than cpus as an error */
    bool display_env;    /* print the effective settings on stderr */
};

/* Makes OMP_PLACES, OMP_PROC_BIND and the layout agree. Call it first in main(), before any
 * parallel region: if OMP_PLACES must be derived from the layout (by hwloc: cores before
 * hyperthreads, device threads near their device), it sets the environment and re-executes
 * /proc/self/exe with argv. EK_USAGE: malformed layout, or OMP_PLACES and the layout disagree (the
 * message says how); EK_UNAVAILABLE: too few cpus under `strict`, or no such device, which
 * cu_open() may be the first to notice. One thread. */
enum ek_status cu_prepare(const struct cu_options *, char **argv);
/* Whether cu_prepare(), not yet called here, executed this image. The first image has then already
 * printed the warnings about these arguments. */
bool cu_is_second_image(void);

/* Opens the units that cu_prepare() has decided on: checks that each unit's threads run on their
 * place's cpus (else EK_UNAVAILABLE names the thread, its cpus and the expected ones) and opens
 * each device on its managing thread. Later regions of the same thread with num_threads(set->n)
 * proc_bind(close) give the same threads to the same units. Warns of more threads than cpus.
 * Without cu_prepare() (tests, hosts that bind threads themselves) the units' threads float and
 * nothing is checked. Caller owns *set. One thread, outside parallel regions. */
enum ek_status cu_open(const struct cu_options *, struct cu_set **set);
void cu_close(struct cu_set *set);

/* Calls `work` for all units at once, each on its own thread. Returns EK_OK or the status of one
 * that failed. One thread, outside parallel regions. */
enum ek_status cu_each(const struct cu_set *set,
                       enum ek_status (*work)(void *ctx, const struct cu *cu), void *ctx);

/* Whether a unit's device still answers; a CPU unit always does. On a thread that may use
 * BACKEND_COPY of that device. */
bool cu_answers(const struct cu *);
/* Whether the units have more threads than there are cpus. */
bool cu_oversubscribed(const struct cu_set *);

/* "2x1+1" into *layout; every number at most 1<<20. EK_USAGE with an example otherwise. */
enum ek_status cu_layout_parse(const char *text, struct cu_layout *layout);
/* A layout as text, in a static buffer per thread. */
const char *cu_layout_text(const struct cu_layout *layout);
/* N + G units; N*M + G*K threads; N*M + G workers: a device and its feeding threads count once. */
int cu_layout_units(const struct cu_layout *layout);
int cu_layout_threads(const struct cu_layout *layout);
int cu_layout_workers(const struct cu_layout *layout);

#endif
