/* cu/bench/tasks.h – a program in one struct: tasks, who computes one on a core, who computes a
 * range of them on a device. Layout, policies, --compare, reports and all CU_* variables come with
 * it; cu/examples/hello.c is one, cu/examples/README.md goes through it line by line.
 *
 * Results may stay in host memory, as in hello.c; then any unit computes any task, and others take
 * over those of a unit that is lost. Tasks that keep their data where they were computed last are
 * zones of a grid (ek_grid.h). */
#ifndef CU_TASKS_H
#define CU_TASKS_H

#include "backends/backend.h"
#include "cu/sched/sched.h"
#include "cu/unit/cu.h"
#include "src/embed.h"
#include "src/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ek_device; /* a device with the program's kernels and buffers */
struct ek_grid;   /* cu/team/ek_grid.h */

/* Who calls back. */
struct ek_unit {
    const struct cu *cu;
    int thread;               /* of a CPU unit, 0 .. cu->width - 1 */
    int step;                 /* from 0 */
    struct ek_device *device; /* NULL on a CPU unit */
};

/* All that is not called required may be NULL or 0. Borrowed while the program runs. */
struct ek_tasks {
    const char *name, *summary; /* name: required */
    size_t n;                   /* required: tasks of a step */
    const double *cost;         /* [n] what each costs beside the others; NULL: the same */
    int steps;                  /* 0: one */
    bool cold;                  /* no step that warms up precedes the runs */
    void *context;              /* handed to all that follow */
    /* Required: computes one task. Several threads at once. */
    enum ek_status (*cpu)(void *context, const struct ek_unit *, size_t task);
    /* Computes tasks on a device; what it launches is waited for. On the device's own thread. NULL:
     * devices are refused. */
    enum ek_status (*device)(void *context, const struct ek_unit *, struct ek_range tasks);
    /* Kernels for devices, in the dialect of src/kernel.h; every KERNEL() is found by itself. */
    const char *kernels;
    /* The same, compiled with the program, for the device host:0; ends with name NULL. */
    const struct embed_host_kernel *host;
    const size_t *buffers; /* bytes of each buffer that every device has; ends with 0 */
    struct ek_grid *grid;  /* task t is its zone t; n and cost may be left out */
    /* Untimed, on each unit's own thread, before the first and after the last step of all. */
    enum ek_status (*prepare)(void *context, const struct ek_unit *);
    void (*release)(void *context, const struct ek_unit *);
    /* The initial state, before each run. */
    enum ek_status (*reset)(void *context);
    /* Whether the result of a run is right, found out by other means. NULL: not verifiable. */
    bool (*right)(void *context);
};

/* main(): call it first. */
int ek_main(const struct ek_tasks *, int argc, char **argv);

/* The same for a main() that goes on. The table is kept for ek_print(). */
struct ek_summary {
    char schedule[64];     /* of the fastest run */
    double seconds, bound; /* of it, NAN unknown */
    bool verified;
    char *table;
};
enum ek_status ek_run(const struct ek_tasks *, char **argv, struct ek_summary *);
void ek_print(FILE *, const struct ek_summary *);
void ek_free(struct ek_summary *);

/* ---- in device() ----------------------------------------------------------------------------- */

/* At least `items` work-items of a kernel, which checks its bounds: EK_LAUNCH(unit, "name", items,
 * ek_buffer(unit, 0), backend_arg_int(5)). */
enum ek_status ek_launch(const struct ek_unit *, const char *kernel, size_t items, int nargs,
                         const struct backend_arg *args);
#define EK_LAUNCH(unit, kernel, items, ...)                                                        \
    ek_launch((unit), (kernel), (items),                                                           \
              (int)(sizeof((struct backend_arg[]){__VA_ARGS__}) / sizeof(struct backend_arg)),     \
              (struct backend_arg[]){__VA_ARGS__})

/* Buffer number `buffer` of the list above as an argument. */
struct backend_arg ek_buffer(const struct ek_unit *, int buffer);
/* Copies; done on return, after what was launched before. */
enum ek_status ek_write(const struct ek_unit *, int buffer, size_t offset, const void *from,
                        size_t bytes);
enum ek_status ek_read(const struct ek_unit *, int buffer, size_t offset, void *to, size_t bytes);

/* Kernels as text and, for the host, as code: EK_KERNELS(text, FN … KERNEL(…)(…) { … }). Needs
 * src/kernel.h; no line of it may begin with #. */
#define EK_KERNELS(text, ...) __VA_ARGS__ static const char text[] = #__VA_ARGS__;

#endif
