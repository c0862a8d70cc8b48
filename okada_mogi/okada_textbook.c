/* okada_mogi/okada_textbook.c – Okada (1985), BSSA 75(4), 1135-1154, eqs. (24)-(30), in extended
 * precision, with the paper's rules for singular terms. */
#include "okada_mogi/okada_textbook.h"
#include "src/base.h"

#include <float.h>

typedef long double real;

/* One corner: eq. (30), and the logarithm of R + eta by the paper's rule (iii). */
struct corner {
    real xi, eta, q, r, y, d;
    real per_xi, per_eta; /* 1 / (R (R + xi)), 1 / (R (R + eta)) */
    real log_eta, angle;
};

/* 1 / (R (R + a)), 0 where R + a = 0; a2 = R^2 - a^2 without cancellation. */
static real per_sum(real r, real a, real a2)
{
    const real sum = a < 0 ? a2 / (r - a) : r + a;
    return sum > 0 ? 1 / (r * sum) : 0;
}

static struct corner corner_at(const struct okada_fault *f, real xi, real eta, real q)
{
    const real xx = xi * xi + q * q;
    struct corner k = {.xi = xi, .eta = eta, .q = q, .r = sqrtl(xx + eta * eta)};
    k.y = eta * f->c + q * f->s;
    k.d = eta * f->s - q * f->c;
    k.per_xi = per_sum(k.r, xi, eta * eta + q * q);
    k.per_eta = per_sum(k.r, eta, xx);
    k.log_eta = k.per_eta > 0 ? -logl(k.r * k.per_eta) : -logl(k.r - eta);
    k.angle = q != 0 ? atanl(xi * eta / (q * k.r)) : 0;
    return k;
}

/* I1 .. I5 for 1 - 2 nu = 1: eqs. (28), or (29) where the fault is vertical. */
static void integrals(const struct okada_fault *f, const struct corner *k, bool vertical, real *i)
{
    const real s = f->s, c = f->c, rd = k->r + k->d, x = sqrtl(k->xi * k->xi + k->q * k->q);
    if (vertical) {
        i[1] = -k->xi * k->q / (2 * rd * rd);
        i[3] = (k->eta / rd + k->y * k->q / (rd * rd) - k->log_eta) / 2;
        i[4] = -k->q / rd;
        i[5] = -k->xi * s / rd;
    } else {
        i[4] = (logl(rd) - s * k->log_eta) / c;
        i[5] = k->xi == 0 ? 0
                          : 2 / c *
                                atanl((k->eta * (x + k->q * c) + x * (k->r + x) * s) /
                                      (k->xi * (k->r + x) * c));
        i[1] = -k->xi / (c * rd) - s / c * i[5];
        i[3] = k->y / (c * rd) - k->log_eta + s / c * i[4];
    }
    i[2] = -k->log_eta - i[3];
}

/* Adds sign times the corner's terms of eqs. (25)-(27) to u [component in the fault's frame], times
 * 2 pi. */
static void add_corner(const struct okada_fault *f, const struct corner *k, bool vertical,
                       real sign, real *u)
{
    const real s = f->s, c = f->c, q = k->q, rock = 1 - 2 * (real)f->nu;
    const real along = sign * f->slip[0], up = sign * f->slip[1], open = sign * f->slip[2];
    const real qe = q * k->per_eta, qx = q * k->per_xi, turned = k->xi * qe - k->angle;
    real i[6];
    integrals(f, k, vertical, i);
    for (int n = 1; n <= 5; n++)
        i[n] *= rock;
    u[0] += -along * (k->xi * qe + k->angle + i[1] * s) - up * (q / k->r - i[3] * s * c) +
            open * (q * qe - i[3] * s * s);
    u[1] += -along * (k->y * qe + k->r * qe * c + i[2] * s) -
            up * (k->y * qx + c * k->angle - i[1] * s * c) +
            open * (-k->d * qx - s * turned - i[1] * s * s);
    u[2] += -along * (k->d * qe + k->r * qe * s + i[4] * s) -
            up * (k->d * qx + s * k->angle - i[5] * s * c) +
            open * (k->y * qx + c * turned - i[5] * s * s);
}

/* Eqs. (28) lose digits as 1 / cos^2 of the dip; (29) are off by the cosine. */
static double rounding(double c)
{
    const double eps = 1000 * (double)LDBL_EPSILON;
    return c == 0 ? eps : fmin(10 * c, eps / (c * c));
}

double okada_textbook(const struct okada_fault *f, double east, double north, double *u)
{
    const double e = east - f->east, n = north - f->north, eps = 1000 * (double)LDBL_EPSILON;
    const bool vertical = f->c == 0 || 10 * f->c < eps / (f->c * f->c);
    const real x = (real)e * f->ss + (real)n * f->cs + (real)f->length / 2,
               y = -(real)e * f->cs + (real)n * f->ss + (real)f->width / 2 * f->c,
               d = f->top + (real)f->width * f->s;
    const real p = y * f->c + d * f->s, q = y * f->s - d * f->c;
    const real turn = 6.283185307179586476925286766559L;
    real v[3] = {0, 0, 0};
    for (int j = 0; j < 4; j++) {
        const struct corner k =
            corner_at(f, j / 2 ? x - f->length : x, j % 2 ? p - f->width : p, q);
        add_corner(f, &k, vertical, j == 0 || j == 3 ? 1 : -1, v);
    }
    u[0] = (double)((f->ss * v[0] - f->cs * v[1]) / turn);
    u[1] = (double)((f->cs * v[0] + f->ss * v[1]) / turn);
    u[2] = (double)(v[2] / turn);
    return rounding(f->c) * (fabs(f->slip[0]) + fabs(f->slip[1]) + fabs(f->slip[2]));
}
