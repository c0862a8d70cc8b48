/* cu/moldable/pattern.h – how many tasks of one kind a node can finish within a time, and on which
 * cores.
 *
 * On w cores that are free at the same moment either one task runs on all of them, or they split
 * for good: N(w, g) = max(1 + N(w, g - t(w)), max over a of N(a, g) + N(w-a, g)), by dynamic
 * programming over discrete time. With wide tasks first and narrow ones after them this fills the
 * gaps at the end that equal tasks on one core each would leave. */
#pragma once

#include "src/arena.h"
#include "src/status.h"
#include <stdbool.h>
#include <stdint.h>

enum { PATTERN_CELLS = 2048, PATTERN_CORES = 256 };

struct pattern {
    int cores;
    int cost[PATTERN_CORES + 1]; /* cells of time that a task takes on w cores, rounded up */
    uint32_t *most;              /* [cores+1][CELLS+1] N(w, g) */
    uint16_t *part; /* [cores+1][CELLS+1] the smaller part; 0 = a task on all; w = idle */
    struct arena arena;
};

/* For `cores` <= PATTERN_CORES cores and `time` s, both of the reference node; seconds [cores]:
 * t(p). EK_UNAVAILABLE: out of memory. */
enum ek_status pattern_open(struct pattern *, int cores, const double *seconds, double time);
void pattern_close(struct pattern *);

/* Calls run(context, width, start, &finish) for each task of the pattern, earlier ones first; run
 * places a task on `width` cores that are free at `start` s and sets *finish. Stops when run
 * returns false, for lack of tasks. */
void pattern_unroll(const struct pattern *,
                    bool (*run)(void *context, int width, double start, double *finish),
                    void *context);
