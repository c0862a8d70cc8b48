/* kirchhoff/analytic.c – closed forms. */
#include "kirchhoff/analytic.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- velocity linear in space -----------------------------------------------------------------*/

/* log1p(u + sqrt(u (u + 2))) / sqrt(2 u): 1 at u = 0. */
static double arc_over_chord(double u)
{
    if (u < 1e-10)
        return 1 - u / 12;
    return log1p(u + sqrt(u * (u + 2))) / sqrt(2 * u);
}

/* grad_x T = [(x - s) - (r^2 / (2 v_x)) k] / (r sqrt(v_s v_x (1 + u / 2))): the quotient of the
 * usual formula with kk cancelled. */
static void slowness(const double k[3], const double to[3], double r, double vs, double vx,
                     double u, double p[3])
{
    const double scale = 1 / (r * sqrt(vs * vx * (1 + u / 2)));
    for (int a = 0; a < 3; a++)
        p[a] = scale * (to[a] - r * r / (2 * vx) * k[a]);
}

void analytic_linear(double v0, const double k[3], const double s[3], const double x[3],
                     struct analytic *c)
{
    const double to[3] = {x[0] - s[0], x[1] - s[1], x[2] - s[2]};
    const double from[3] = {-to[0], -to[1], -to[2]};
    const double vs = v0 + dot(k, s), vx = v0 + dot(k, x), r = sqrt(dot(to, to));
    const double u = dot(k, k) * r * r / (2 * vs * vx);
    memset(c, 0, sizeof *c);
    if (r == 0)
        return;
    c->time = r / sqrt(vs * vx) * arc_over_chord(u);
    c->spread = r * sqrt(1 + u / 2);
    slowness(k, to, r, vs, vx, u, c->p);
    slowness(k, from, r, vx, vs, u, c->takeoff);
    for (int a = 0; a < 3; a++)
        c->takeoff[a] *= -vs;
}

/* ---- two layers -------------------------------------------------------------------------------*/

/* Cosine to the vertical in the slow layer, of tangent u in the fast one. Not from the sine, which
 * rounds to 1 where speeds are nearly equal and the ray grazes the interface. */
static double slow_cosine(double u, double ratio)
{
    return sqrt((1 + (1 - ratio) * (1 + ratio) * u * u) / (1 + u * u));
}

/* For a ray that crosses heights of `fast` m at speed vf and `slow` m at vs, ratio = vs / vf:
 * tangent of its angle to the vertical in the fast layer such that it covers the distance X. The
 * distance grows with the tangent, and the root lies below X / fast: Newton's method, with
 * bisection where a step leaves the bracket. */
static double solve_tangent(double fast, double slow, double ratio, double X)
{
    double low = 0, high = X / fast, u = high / 2;
    for (int i = 0; i < 100 && high - low > 1e-16 * high; i++) {
        const double sine = ratio * u / sqrt(1 + u * u), cosine = slow_cosine(u, ratio);
        const double excess = fast * u + slow * sine / cosine - X;
        const double slope =
            fast + slow * ratio / (cosine * cosine * cosine * (1 + u * u) * sqrt(1 + u * u));
        *(excess > 0 ? &high : &low) = u;
        const double next = u - excess / slope;
        if (next == u)
            break;
        u = next > low && next < high ? next : (low + high) / 2;
    }
    return u;
}

static void straight(double v, const double s[3], const double x[3], struct analytic *c)
{
    const double none[3] = {0, 0, 0};
    analytic_linear(v, none, s, x, c);
}

/* From source s at speed vs over a height ds to the interface, then over dx at vx to x. `down`: +1,
 * or -1 upwards. L from J = X cos(b) (dX/da) / sin(a), a and b the angles to the vertical. */
static void refract(double vs, double ds, double vx, double dx, double down, const double s[3],
                    const double x[3], struct analytic *c)
{
    const double X = hypot(x[0] - s[0], x[1] - s[1]);
    const bool x_fast = vx > vs;
    const double u = x_fast ? solve_tangent(dx, ds, vs / vx, X) : solve_tangent(ds, dx, vx / vs, X);
    const double sine_fast = u / sqrt(1 + u * u);
    const double ratio = vx / vs, fast = 1 / sqrt(1 + u * u);
    const double slow = slow_cosine(u, x_fast ? 1 / ratio : ratio);
    const double sine_s = x_fast ? sine_fast / ratio : sine_fast;
    const double sine_x = x_fast ? sine_fast : sine_fast * ratio;
    const double cosine_s = x_fast ? slow : fast, cosine_x = x_fast ? fast : slow;
    const double per_sine = ds / cosine_s + dx * ratio / cosine_x; /* X / sin(a) */
    const double slope =
        ds / (cosine_s * cosine_s) + dx * ratio * cosine_s / (cosine_x * cosine_x * cosine_x);
    const double east = X > 0 ? (x[0] - s[0]) / X : 1, north = X > 0 ? (x[1] - s[1]) / X : 0;
    c->time = ds / (vs * cosine_s) + dx / (vx * cosine_x);
    c->spread = sqrt(vs / vx * per_sine * cosine_x * slope);
    c->takeoff[0] = sine_s * east;
    c->takeoff[1] = sine_s * north;
    c->takeoff[2] = down * cosine_s;
    c->p[0] = sine_x / vx * east;
    c->p[1] = sine_x / vx * north;
    c->p[2] = down * cosine_x / vx;
}

void analytic_layers_strong(const struct analytic_layers *m, const double s[3], const double x[3],
                            struct analytic *c)
{
    if (s[2] <= m->h && x[2] <= m->h)
        straight(m->v1, s, x, c);
    else if (s[2] >= m->h && x[2] >= m->h)
        straight(m->v2, s, x, c);
    else if (s[2] < m->h)
        refract(m->v1, m->h - s[2], m->v2, x[2] - m->h, 1, s, x, c);
    else
        refract(m->v2, s[2] - m->h, m->v1, m->h - x[2], -1, s, x, c);
}

bool analytic_layers_head(const struct analytic_layers *m, const double s[3], const double x[3],
                          double *time)
{
    /* An end on the interface belongs to the layer of the other one. */
    const bool above = (s[2] != m->h ? s[2] : x[2]) <= m->h;
    const double here = above ? m->v1 : m->v2, there = above ? m->v2 : m->v1;
    if ((s[2] < m->h && x[2] > m->h) || (s[2] > m->h && x[2] < m->h) || !(there > here))
        return false;
    const double X = hypot(x[0] - s[0], x[1] - s[1]);
    const double heights = fabs(m->h - s[2]) + fabs(m->h - x[2]);
    const double sine = here / there, cosine = sqrt(1 - sine * sine);
    if (X < heights * sine / cosine)
        return false;
    *time = X / there + heights * cosine / here;
    return true;
}
