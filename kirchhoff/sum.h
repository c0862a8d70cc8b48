/* kirchhoff/sum.h – the innermost loops on the host: a trace's contributions to one image column.
 *
 * Times, weights and limits are computed at nodes and interpolated between them: each of the first
 * depths has its own node, below them every fourth depth has one. Vectors are sixteen depths long
 * with AVX-512, eight with AVX2; the results are the same bit by bit, also without either. */
#pragma once

#include "src/base.h"

enum { SUM_BEHIND = 64 }; /* samples beyond the first one read that vector loads may touch */

/* Scratch of a worker: one trace at the nodes of one column, arrays [nodes]. */
struct sum_nodes {
    float *u, *c, *w; /* time in samples, curvature of time to the next node, weight */
    /* If limits vary along the column: migrate_opening(), migrate_upright(), and the product of all
     * tapers, which is part of the weight. */
    float *open, *upright, *taper;
    int *level; /* anti-alias level */
};

struct sum_trace {
    const float *source, *receiver; /* rows [NODE_FIELDS][nodes] of its two ends */
    /* [levels][stride], each level with SUM_BEHIND more after the last one used. */
    const float *sample;
    size_t stride;
    float start;       /* added to times, samples */
    float first, last; /* samples between which depths count for the fold */
    float distance;    /* from the midpoint to the column, m */
};

struct sum_plan {
    int depths, nodes;  /* per image column */
    const float *par;   /* [PAR_COUNT] */
    const float *reach; /* [nodes] aperture, m */
    const float *taper; /* [nodes] 1 / width of the aperture's taper, 1/m */
    int levels;
    int fine; /* the first depths, each with its own node; whole blocks */
    int end;  /* first node at or below the image's last depth */
    /* Whether limits vary along a column; then the aperture and its taper at each depth, too. */
    bool limited;
    const float *reach_at, *taper_at;
};

/* Adds to sum [depths], and counts the trace for the fold: in counts [nodes] at nodes from which
 * all depths to the next one count, elsewhere in fold [depths]. */
void sum_column(const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
                double *sum, float *counts, float *fold);

/* The adjoint of sum_column(): spreads image [depths] to trace [levels][stride], adding. */
void sum_spread(const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
                const double *image, double *trace);
