/* npb_mz/exact.c – the exact solution, a quartic without mixed terms, and the initial state. */
#include "npb_mz/mz.h"

/* Coefficients of component m: the constant, then 1st to 4th power along x, y and z. */
static const double constant[MZ_VARS] = {2, 1, 2, 2, 5};
static const double power[3][MZ_VARS][4] = {
    {{0, 5, 0.02, 0.5},
     {0, 1, 0.01, 0.4},
     {2, 0, 0.04, 0.3},
     {2, 0, 0.03, 0.2},
     {4, 0.1, 0.05, 0.1}},
    {{0, 3, 0.01, 0.4},
     {0, 2, 0.03, 0.3},
     {0, 2, 0.03, 0.5},
     {0, 2, 0.05, 0.1},
     {3, 0.4, 0.04, 0.3}},
    {{4, 0.5, 0.03, 0.3},
     {0, 3, 0.02, 0.5},
     {0, 3, 0.05, 0.4},
     {0, 3, 0.04, 0.3},
     {2, 0.3, 0.03, 0.2}},
};

static double part(int d, int m, double x)
{
    const double *c = power[d][m];
    return x * (c[0] + x * (c[1] + x * (c[2] + x * c[3])));
}

void exact_axis(struct mz_axis *a, int d)
{
    for (int s = 0; s < a->n; s++)
        a->at[s] = s * a->h;
    for (int m = 0; m < MZ_VARS; m++) {
        a->end[m] = part(d, m, 1.0);
        for (int s = 0; s < a->n; s++)
            a->part[m * a->n + s] = part(d, m, a->at[s]);
    }
}

static double along(const struct mz *mz, int d, int m, int s)
{
    return mz->axis[d].part[m * mz->axis[d].n + s];
}

static double exact(const struct mz *mz, const int n[3], int m, const int s[3])
{
    (void)n;
    return constant[m] + along(mz, 0, m, s[0]) + along(mz, 1, m, s[1]) + along(mz, 2, m, s[2]);
}

void exact_point(const struct mz *mz, int i, int j, int k, double *u)
{
    for (int m = 0; m < MZ_VARS; m++)
        u[m] = exact(mz, NULL, m, (int[3]){i, j, k});
}

/* Component m at point s: transfinite interpolation between the values on the six faces. */
static double blended(const struct mz *mz, int m, const int s[3])
{
    double value[3], sum = constant[m], p[3];
    for (int d = 0; d < 3; d++)
        sum += value[d] = along(mz, d, m, s[d]);
    for (int d = 0; d < 3; d++)
        p[d] = sum - value[d] + mz->axis[d].at[s[d]] * mz->axis[d].end[m];
    return p[0] + p[1] + p[2] - p[0] * p[1] - p[0] * p[2] - p[1] * p[2] + p[0] * p[1] * p[2];
}

/* On a face the coordinate normal to it is 0 or 1 exactly. On edges z faces win over y over x. */
static double initial(const struct mz *mz, const int n[3], int m, const int s[3])
{
    for (int d = 2; d >= 0; d--) {
        if (s[d] > 0 && s[d] < n[d] - 1)
            continue;
        double sum = constant[m] + (s[d] ? mz->axis[d].end[m] : 0.0);
        for (int e = 0; e < 3; e++)
            sum += e == d ? 0.0 : along(mz, e, m, s[e]);
        return sum;
    }
    return blended(mz, m, s);
}

/* Padding repeats the last point of the row, so that lanes beyond it compute with valid numbers. */
static void fill(const struct mz *mz, const struct mz_zone *z, double *u,
                 double (*value)(const struct mz *, const int *, int, const int *))
{
    const int n[3] = {z->nx, z->ny, z->nz};
    for (int m = 0; m < MZ_VARS; m++)
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++)
                for (int i = 0; i < z->pitch; i++)
                    u[m * z->volume + k * z->plane + (long)j * z->pitch + i] =
                        value(mz, n, m, (int[3]){i < z->nx ? i : z->nx - 1, j, k});
}

void exact_fill(const struct mz *mz, const struct mz_zone *z, double *u)
{
    fill(mz, z, u, exact);
}

void exact_initial(const struct mz *mz, const struct mz_zone *z, double *u)
{
    fill(mz, z, u, initial);
}
