/* kirchhoff/analytic.h – closed-form travel times: velocity linear in space, two layers.
 *
 * Used everywhere: time T, s; slowness p = grad T at the point, s/m; relative geometrical spreading
 * L, m (Green's function 1 / (4 pi L)). In any medium L = sqrt(v_s J / v_p), v_s and v_p the
 * velocity at source and point, J the area of the front per unit of take-off solid angle. */
#pragma once

#include "src/base.h"

struct analytic {
    double time;
    double p[3];       /* slowness at the point, s/m; 0 at the source itself */
    double takeoff[3]; /* unit vector at the source; 0 at the source itself */
    double spread;     /* L, m */
};

/* v(x) = v0 + k.x, positive at source s and point x. Rays are circles, fronts spheres. With kk =
 * |k|, r = |x - s|, u = kk^2 r^2 / (2 v_s v_x): T = log1p(u + sqrt(u (u + 2))) / kk, L = r sqrt(1 +
 * u / 2). Computed without loss of digits near the source or for small k. */
void analytic_linear(double v0, const double k[3], const double s[3], const double x[3],
                     struct analytic *c);

/* v1 above depth h, v2 below. */
struct analytic_layers {
    double v1, v2, h;
};

/* The most energetic arrival: straight if both ends lie in one layer (an end on the interface
 * belongs to both), else refracted by Snell's law. */
void analytic_layers_strong(const struct analytic_layers *m, const double s[3], const double x[3],
                            struct analytic *c);

/* Time of the head wave between two points of one layer, along the other one; false if there is
 * none: the ends lie in different layers, the other layer is not faster, or x lies within the
 * critical distance. */
bool analytic_layers_head(const struct analytic_layers *m, const double s[3], const double x[3],
                          double *time);
