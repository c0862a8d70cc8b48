/* cu/moldable/pattern.h – how many tasks of one kind the cores of a node finish within a time, and
 * where.
 *
 * On w cores that are free at the same moment either one task runs on all of them, or they part for
 * good: N(w, g) = max(1 + N(w, g - t(w)), max over a of N(a, g) + N(w-a, g)), by dynamic
 * programming over time in cells. With wide tasks first and narrow ones behind them this fills the
 * ends that equal tasks on one core each leave open. */
#pragma once

#include "src/arena.h"
#include "src/status.h"
#include <stdbool.h>
#include <stdint.h>

enum { PATTERN_CELLS = 2048, PATTERN_CORES = 256 };

struct pattern {
    int cores;
    int cost[PATTERN_CORES + 1]; /* cells that a task takes on w cores, rounded up */
    uint32_t *most;              /* [cores+1][CELLS+1] N(w, g) */
    uint16_t *part; /* [cores+1][CELLS+1] the smaller part; 0 = a task on all; w = idle */
    struct arena arena;
};

/* For `cores` <= PATTERN_CORES of a node and `time` s on the reference node; seconds [cores]: t(p).
 * EK_UNAVAILABLE: out of memory. */
enum ek_status pattern_open(struct pattern *, int cores, const double *seconds, double time);
void pattern_close(struct pattern *);

/* Calls run(context, width, start, &finish) for each of them, wide ones before those behind them;
 * run puts a task on `width` cores that are free at `start` s and says when it ends. Stops when run
 * returns false: nothing is left to be placed. */
void pattern_unroll(const struct pattern *,
                    bool (*run)(void *context, int width, double start, double *finish),
                    void *context);
