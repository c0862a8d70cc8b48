/* kirchhoff/sum.h – the innermost loops on the host: a trace's contributions to one image column.
 *
 * Below the first ones four nodes make sixteen depths: times, weights and limits are computed at
 * nodes and interpolated in between (vectors of sixteen depths with AVX-512, of eight with AVX2;
 * the same bits without). */
#pragma once

#include <stddef.h>

enum { SUM_BEHIND = 64 }; /* windows reach so far beyond the first sample that is read */

/* Of one trace, at the nodes of one column; arrays [nodes] of the worker. */
struct sum_nodes {
    float *u, *c, *w; /* time in samples, half-slowness correction, weight */
    float *whole;     /* 1 where all depths from here to the next node count for the fold, else 0 */
    int *level;
};

struct sum_trace {
    const float *source, *receiver; /* rows of its ends */
    /* [levels][stride], each with SUM_BEHIND more after the last that counts. */
    const float *sample;
    size_t stride;
    float start;    /* added to times */
    float first;    /* first sample that counts for the fold */
    float distance; /* of the column from the midpoint, m */
};

struct sum_plan {
    int depths, nodes;  /* of a column of the image */
    const float *par;   /* [PAR_COUNT] */
    const float *reach; /* [nodes] aperture at this depth, m */
    const float *taper; /* [nodes] 1 / width of the aperture's taper, 1/m */
    int levels;
    int fine; /* depths with nodes of their own, whole blocks */
};

/* Adds to sum [depths] and fold [depths]. */
void sum_column(const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
                double *sum, float *fold);

/* The adjoint: adds to trace [levels][stride] what it would contribute from image [depths]. */
void sum_spread(const struct sum_plan *p, const struct sum_trace *t, const struct sum_nodes *n,
                const double *image, double *trace);
