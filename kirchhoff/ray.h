/* kirchhoff/ray.h – ray tracing on the host: the rays of a front in vectors, and single rays with
 * geometrical spreading and caustics. */
#pragma once

#include "kirchhoff/kernels/medium.h"
#include "kirchhoff/velocity.h"

enum { RAY_ROWS = 6, RAY_LANES = 16 };

/* The velocity as rays use it: linear, or sampled on a grid that covers all their paths. */
struct ray_field {
    struct ray_medium medium;
    struct grid grid; /* of the samples, unless linear */
    float *node;      /* [nodes][4] v and grad v, owned; NULL: linear */
    double step;      /* longest time step that is accurate enough, s */
    double slowest;   /* least v in the box, m/s */
};

/* Opens the medium for rays within the box low .. high, m. `cell`: coarsest step of the samples, m;
 * finer ones are used where the model itself is finer. EK_USAGE: v is not positive in the box, or
 * the samples would be too many; EK_UNAVAILABLE: memory; EK_STOPPED, without a message:
 * stop_heard(). close is fine after a failed open. */
enum ek_status ray_field_open(const struct velocity *v, const double low[3], const double high[3],
                              double cell, struct ray_field *f);
void ray_field_close(struct ray_field *f);

/* v at x as interpolated for rays, m/s. */
double ray_field_at(const struct ray_field *f, const double x[3]);

/* Advances rays first .. first+count-1 through `layers` layers. state: RAY_ROWS rows x y z px py pz
 * of `pitch` numbers. If count is not a multiple of RAY_LANES, up to RAY_LANES - 1 rays after the
 * last are overwritten. Any thread. */
void ray_advance_front(const struct ray_field *f, double *state, size_t pitch, size_t first,
                       size_t count, const struct ray_layer *layer, size_t layers);

/* The end of a ray from dynamic ray tracing. */
struct ray_end {
    double x[3], p[3]; /* position, m; slowness, s/m */
    double spread;     /* L, m: sqrt(v_s |J| / v) */
    double deepest;    /* largest z along the ray, m */
    int kmah;          /* caustics passed: zeros of J, with multiplicity */
};

/* Traces a ray from s in direction `takeoff` (normalized here) for `time` s in steps of at most
 * h s. EK_USAGE: v is not positive somewhere along the ray. Any thread. */
enum ek_status ray_trace(const struct velocity *v, const double s[3], const double takeoff[3],
                         double time, double h, struct ray_end *end);
