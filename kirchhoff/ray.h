/* kirchhoff/ray.h – rays on the host: many at once along a front, and single ones with what is
 * near them. */
#pragma once

#include "kirchhoff/velocity.h"
#include <stddef.h>

enum { RAY_ROWS = 6, RAY_MEDIUM_NUMBERS = 17, RAY_LANES = 16 };

/* A medium as rays want it: linear, or sampled on a grid that covers where they go. */
struct ray_field {
    double number[RAY_MEDIUM_NUMBERS]; /* struct ray_medium of kernels/ray.h as an array */
    struct grid grid;                  /* of the nodes, if there are any */
    float *node;                       /* [nodes][4], owned; NULL: linear */
    double step;                       /* longest step in time that keeps its accuracy, s */
    double slowest;                    /* least v in the box, m/s */
};

/* For rays within the box low .. high, m. `cell` m is as fine as the sampling needs to be; a cube
 * is sampled at its own steps where these are finer. EK_USAGE: v is not positive in the box;
 * EK_UNAVAILABLE: memory. close is fine after a failed open. */
enum ek_status ray_field_open(const struct velocity *v, const double low[3], const double high[3],
                              double cell, struct ray_field *f);
void ray_field_close(struct ray_field *f);

/* v at x as the rays see it. */
double ray_field_at(const struct ray_field *f, const double x[3]);

/* A part of a ray's way: `steps` steps of h s. */
struct ray_layer {
    double h;
    int steps;
};

/* Moves rays first .. first+count-1 through `layers` layers. state: RAY_ROWS rows x y z px py pz
 * of `pitch` numbers. Up to RAY_LANES - 1 rays after the last are overwritten; none where count is
 * a multiple of RAY_LANES. Any thread. */
void ray_advance_front(const struct ray_field *f, double *state, size_t pitch, size_t first,
                       size_t count, const struct ray_layer *layer, size_t layers);

/* One ray with its neighbours: dynamic ray tracing. */
struct ray_end {
    double x[3], p[3]; /* m, s/m */
    double spread;     /* L, m: sqrt(v_s |J| / v) */
    double deepest;    /* largest z on the way, m */
    int kmah;          /* caustics passed: zeros of J, each with its multiplicity */
};

/* From s in direction `takeoff` (unit vector) for `time` s in steps of at most h. EK_USAGE: v is
 * not positive somewhere on the way. Any thread. */
enum ek_status ray_trace(const struct velocity *v, const double s[3], const double takeoff[3],
                         double time, double h, struct ray_end *end);
