/* tests/bench/kirchhoff_column.h – a trace's contributions to an image column, as benches measure
 * them: v = 2000 + 0.5 z, depths 10 m apart. */
#pragma once

#include "kirchhoff/sum.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_TRACES = 64, COLUMN_REPEAT = 50, COLUMN_SAMPLES = 1408 };

struct column {
    struct sum_plan plan;
    struct sum_nodes nodes;
    struct sum_trace trace[COLUMN_TRACES];
    float par[PAR_COUNT], *end[2 * COLUMN_TRACES], *sample, *reach, *taper, *counts, *fold;
    float *reach_at, *taper_at;
    double *sum;
};

static inline float *column_floats(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x)
        exit(3);
    memset(x, 0, (n * sizeof *x + 63) / 64 * 64);
    return x;
}

/* The nodes of an end some hundred metres away. */
static inline float *column_end(const struct sum_plan *p, double away)
{
    const int n = p->nodes;
    float *row = column_floats(NODE_FIELDS * (size_t)n);
    for (int k = 0; k < n; k++) {
        const double z = 40.0 * k + 20, r = hypot(away, z), v = 2000 + 0.25 * z;
        row[NODE_U * n + k] = (float)(r / v * 500);
        row[NODE_V * n + k] = (float)(20 * z / r / v * 500);
        row[NODE_A * n + k] = (float)r;
        row[NODE_S * n + k] = (float)(100 * away / r / v);
        row[NODE_X * n + k] = (float)(away / r);
        row[NODE_Z * n + k] = (float)(z / r);
    }
    return row;
}

static inline void column_open(struct column *c, int depths, int levels)
{
    static const float par[PAR_COUNT] = {[PAR_ANGLE0] = 0.5f,
                                         [PAR_ANGLE1] = 2,
                                         [PAR_DIP0] = 0.1f,
                                         [PAR_DIP1] = 2,
                                         [PAR_TOP] = COLUMN_SAMPLES - 6};
    const size_t n = (size_t)(depths / 4 + 8) / 8 * 8;
    memcpy(c->par, par, sizeof par);
    for (int b = 0; b < MIGRATE_LEVELS - 1; b++)
        c->par[PAR_LEVEL + b] = (float)(0.004 * exp2(0.5 * b));
    c->reach = column_floats(n);
    c->taper = column_floats(n);
    c->reach_at = column_floats(4 * n);
    c->taper_at = column_floats(4 * n);
    c->sample = column_floats((size_t)levels * COLUMN_SAMPLES + SUM_BEHIND);
    for (int i = 1; i < levels * COLUMN_SAMPLES; i++)
        c->sample[i] = (float)sin(0.1 * i);
    for (size_t k = 0; k < n; k++) {
        c->reach[k] = 3000;
        c->taper[k] = 1.0f / 600;
    }
    for (size_t z = 0; z < 4 * n; z++) {
        c->reach_at[z] = c->reach[0];
        c->taper_at[z] = c->taper[0];
    }
    c->plan = (struct sum_plan){.depths = depths,
                                .nodes = (int)n,
                                .levels = levels,
                                .par = c->par,
                                .reach = c->reach,
                                .taper = c->taper,
                                .end = (int)n - 1,
                                .limited = true,
                                .reach_at = c->reach_at,
                                .taper_at = c->taper_at};
    c->nodes = (struct sum_nodes){column_floats(n),       column_floats(n), column_floats(n),
                                  column_floats(n),       column_floats(n), column_floats(n),
                                  (int *)column_floats(n)};
    for (int t = 0; t < COLUMN_TRACES; t++) {
        c->end[2 * t] = column_end(&c->plan, 100 + 7 * t);
        c->end[2 * t + 1] = column_end(&c->plan, 50 + 5 * t);
        c->trace[t] = (struct sum_trace){
            c->end[2 * t],      c->end[2 * t + 1],    c->sample, COLUMN_SAMPLES, 1, 1,
            COLUMN_SAMPLES - 8, (float)(300 + 10 * t)};
    }
    c->sum = (double *)column_floats(2 * (size_t)depths);
    c->counts = column_floats(n);
    c->fold = column_floats((size_t)depths);
}

static inline void column_close(struct column *c)
{
    void *const all[] = {c->reach,         c->taper,       c->reach_at,   c->taper_at,
                         c->sample,        c->sum,         c->fold,       c->nodes.u,
                         c->nodes.c,       c->nodes.w,     c->counts,     c->nodes.open,
                         c->nodes.upright, c->nodes.taper, c->nodes.level};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (int t = 0; t < 2 * COLUMN_TRACES; t++)
        free(c->end[t]);
}

static inline void column_sum(struct column *c)
{
    for (int r = 0; r < COLUMN_REPEAT; r++)
        for (int t = 0; t < COLUMN_TRACES; t++)
            sum_column(&c->plan, &c->trace[t], &c->nodes, c->sum, c->counts, c->fold);
}

/* Image updates of column_sum(). */
static inline double column_updates(const struct column *c)
{
    return (double)c->plan.depths * COLUMN_TRACES * COLUMN_REPEAT;
}
