/* cu/bench/tasks.h – a program in one struct: its tasks, a function that computes one on a core and
 * one that computes a range of them on a device. Layouts, policies, --compare, reports and all CU_*
 * variables come with it. cu/examples/hello.c is an example; cu/examples/README.md explains it.
 *
 * Results may stay in host memory, as in hello.c; then any unit can compute any task, and others
 * take over the tasks of a lost unit. Tasks whose data stays where they were last computed are the
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

/* The unit that calls a function below. */
struct ek_unit {
    const struct cu *cu;
    int thread;               /* of a CPU unit, 0 .. cu->width - 1 */
    int step;                 /* from 0 */
    struct ek_device *device; /* NULL on a CPU unit */
};

/* Members not marked as required may be NULL or 0. All are borrowed while the program runs. */
struct ek_tasks {
    const char *name, *summary; /* name: required */
    size_t n;                   /* required: tasks of a step */
    const double *cost;         /* [n] what each costs beside the others; NULL: the same */
    int steps;                  /* 0: one */
    bool cold;                  /* no step that warms up precedes the runs */
    void *context;              /* handed to all that follow */
    /* Required: computes one task. Called by several threads at once. */
    enum ek_status (*cpu)(void *context, const struct ek_unit *, size_t task);
    /* Launches the tasks on a device; the caller waits for their end. On the device's own thread.
     * NULL: devices are refused. */
    enum ek_status (*device)(void *context, const struct ek_unit *, struct ek_range tasks);
    /* Text of the kernels for devices, in the dialect of src/kernel.h. */
    const char *kernels;
    /* The same kernels compiled with the program, for the device host:0; ends with name NULL. */
    const struct embed_host_kernel *host;
    const size_t *buffers; /* bytes of each buffer that every device gets; ends with 0 */
    struct ek_grid *grid;  /* task t is its zone t; n and cost may be left out */
    /* Untimed, on each unit's own thread, before the first run and after the last. */
    enum ek_status (*prepare)(void *context, const struct ek_unit *);
    void (*release)(void *context, const struct ek_unit *);
    /* Sets the initial state, before each run. */
    enum ek_status (*reset)(void *context);
    /* Whether the result of a run is right, judged independently. NULL: not verifiable. */
    bool (*right)(void *context);
};

/* Runs the program and returns main()'s exit code. Call it first in main(). */
int ek_main(const struct ek_tasks *, int argc, char **argv);

/* The result of ek_run(). */
struct ek_summary {
    char schedule[64];     /* policy of the fastest run */
    double seconds, bound; /* its time and lower bound, NAN unknown */
    bool verified;
    char *table;
};
/* The same as ek_main(), but returns to a main() that goes on; ek_print() prints the table. Caller
 * calls ek_free(). */
enum ek_status ek_run(const struct ek_tasks *, char **argv, struct ek_summary *);
void ek_print(FILE *, const struct ek_summary *);
void ek_free(struct ek_summary *);

/* ---- for use in device() --------------------------------------------------------------------- */

/* Launches at least `items` work-items of a kernel, which must check its bounds: EK_LAUNCH(unit,
 * "name", items, ek_buffer(unit, 0), backend_arg_int(5)). EK_USAGE: no such kernel, wrong
 * arguments. */
enum ek_status ek_launch(const struct ek_unit *, const char *kernel, size_t items, int nargs,
                         const struct backend_arg *args);
#ifdef __cplusplus
#define EK_LAUNCH(unit, kernel, items, ...)                                                        \
    ([&] {                                                                                         \
        const struct backend_arg args[] = {__VA_ARGS__};                                           \
        return ek_launch((unit), (kernel), (items), (int)(sizeof args / sizeof *args), args);      \
    }())
#else
#define EK_LAUNCH(unit, kernel, items, ...)                                                        \
    ek_launch((unit), (kernel), (items),                                                           \
              (int)(sizeof((struct backend_arg[]){__VA_ARGS__}) / sizeof(struct backend_arg)),     \
              (struct backend_arg[]){__VA_ARGS__})
#endif

/* Buffer number `buffer` of ek_tasks.buffers as a kernel's argument. */
struct backend_arg ek_buffer(const struct ek_unit *, int buffer);
/* Copy `bytes` to or from a buffer, from its byte `offset` on, after earlier launches; done on
 * return. */
enum ek_status ek_write(const struct ek_unit *, int buffer, size_t offset, const void *from,
                        size_t bytes);
enum ek_status ek_read(const struct ek_unit *, int buffer, size_t offset, void *to, size_t bytes);

/* Defines kernels both as a text and as code for the host: EK_KERNELS(text, FN … KERNEL(…)(…) { …
 * }). Needs src/kernel.h; no line of it may begin with #. */
#define EK_KERNELS(text, ...) __VA_ARGS__ static const char text[] = #__VA_ARGS__;

#endif
