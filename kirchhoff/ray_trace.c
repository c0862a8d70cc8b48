/* kirchhoff/ray_trace.c – dynamic ray tracing in Cartesian coordinates: a ray and two paraxial
 * neighbours that leave the source at right angles to it and to each other.
 *
 * With H = v^2 p^2 / 2: dx' = 2 v (grad v.dx) p + v^2 dp, dp' = -(grad v.dx) p^2 grad v - v p^2
 * Hess(v) dx - 2 v (p.dp) grad v. J = (dx1 x dx2).t, t the ray's direction, is the area of the
 * front per unit of take-off solid angle. */
#include "kirchhoff/ray.h"

enum { RAY = 0, FIRST = 6, SECOND = 12, NUMBERS = 18 }; /* where x and p of each begin */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void rate_of_neighbour(const double near[6], const double p[3], double v, const double g[3],
                              const double h[6], double rate[6])
{
    const double *dx = near, *dp = near + 3;
    const double square = dot(p, p), along = dot(g, dx), turn = 2 * v * dot(p, dp);
    const double bent[3] = {h[0] * dx[0] + h[3] * dx[1] + h[4] * dx[2],
                            h[3] * dx[0] + h[1] * dx[1] + h[5] * dx[2],
                            h[4] * dx[0] + h[5] * dx[1] + h[2] * dx[2]};
    for (int a = 0; a < 3; a++) {
        rate[a] = 2 * v * along * p[a] + v * v * dp[a];
        rate[3 + a] = -along * square * g[a] - v * square * bent[a] - turn * g[a];
    }
}

static void rate_of(const struct velocity *model, const double y[NUMBERS], double rate[NUMBERS])
{
    double g[3], h[6];
    const double v = velocity_at(model, y, g);
    velocity_curvature(model, y, h);
    for (int a = 0; a < 3; a++) {
        rate[a] = v * v * y[3 + a];
        rate[3 + a] = -v * dot(y + 3, y + 3) * g[a];
    }
    rate_of_neighbour(y + FIRST, y + 3, v, g, h, rate + FIRST);
    rate_of_neighbour(y + SECOND, y + 3, v, g, h, rate + SECOND);
}

static void step(const struct velocity *model, double y[NUMBERS], double h)
{
    static const double place[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    double rate[NUMBERS] = {0}, to[NUMBERS], sum[NUMBERS] = {0};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < NUMBERS; i++)
            to[i] = y[i] + place[stage] * h * rate[i];
        rate_of(model, to, rate);
        for (int i = 0; i < NUMBERS; i++)
            sum[i] += weight[stage] * rate[i];
    }
    for (int i = 0; i < NUMBERS; i++)
        y[i] += h / 6 * sum[i];
}

static double area(const double y[NUMBERS])
{
    double normal[3];
    cross(y + FIRST, y + SECOND, normal);
    return dot(normal, y + 3) / sqrt(dot(y + 3, y + 3));
}

static void begin(const double s[3], const double takeoff[3], double v, double y[NUMBERS])
{
    const double length = sqrt(dot(takeoff, takeoff));
    double axis[3] = {0, 0, 0}, d[3];
    int least = 0;
    for (int a = 0; a < 3; a++) {
        d[a] = takeoff[a] / length;
        least = fabs(takeoff[a]) < fabs(takeoff[least]) ? a : least;
    }
    memset(y, 0, NUMBERS * sizeof *y);
    axis[least] = 1;
    cross(d, axis, y + FIRST + 3);
    const double across = sqrt(dot(y + FIRST + 3, y + FIRST + 3));
    for (int a = 0; a < 3; a++)
        y[FIRST + 3 + a] /= across * v;
    cross(d, y + FIRST + 3, y + SECOND + 3);
    for (int a = 0; a < 3; a++) {
        y[a] = s[a];
        y[3 + a] = d[a] / v;
    }
}

/* Zeros of J within a step: one if its sign changes, two if both neighbours cross the ray. */
static int caustics(const double before[NUMBERS], const double after[NUMBERS])
{
    const double a = area(before), b = area(after);
    if (a == 0 || b == 0)
        return 0;
    if ((a < 0) != (b < 0))
        return 1;
    return dot(before + FIRST, after + FIRST) < 0 && dot(before + SECOND, after + SECOND) < 0 ? 2
                                                                                              : 0;
}

enum ek_status ray_trace(const struct velocity *v, const double s[3], const double takeoff[3],
                         double time, double h, struct ray_end *end)
{
    const int steps = time > 0 ? (int)ceil(time / h) : 0;
    const double speed = velocity_at(v, s, NULL);
    double y[NUMBERS], before[NUMBERS];
    struct ray_end e = {.deepest = s[2]};
    begin(s, takeoff, speed, y);
    for (int i = 0; i < steps; i++) {
        memcpy(before, y, sizeof y);
        step(v, y, time / steps);
        if (!(velocity_at(v, y, NULL) > 0) || !(dot(y + 3, y + 3) > 0))
            FAIL(EK_USAGE, "velocity %s: the ray meets %g m/s at (%g, %g, %g) m", v->text,
                 velocity_at(v, y, NULL), y[0], y[1], y[2]);
        e.kmah += caustics(before, y);
        e.deepest = fmax(e.deepest, y[2]);
    }
    memcpy(e.x, y, sizeof e.x);
    memcpy(e.p, y + 3, sizeof e.p);
    e.spread = sqrt(speed * fabs(area(y)) / velocity_at(v, y, NULL));
    *end = e;
    return EK_OK;
}
