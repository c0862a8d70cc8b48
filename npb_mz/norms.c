/* npb_mz/norms.c – the norms of a finished run against the reference. A norm is a root mean square
 * per zone over V interior points, summed over the zones. */
#include "npb_mz/exact.h"
#include "npb_mz/rhs.h"

#include <math.h>
#include <string.h>

static const double tolerance = 1e-8;

/* Squares of the residual over interior points, from w = dt res. */
static void residual_sum(const struct mz *mz, const struct mz_zone *z, const double *w, double *sum)
{
    for (int m = 0; m < MZ_VARS; m++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++)
                for (int i = 1; i < z->nx - 1; i++) {
                    double r = w[m * z->volume + k * z->plane + (long)j * z->pitch + i];
                    sum[m] += (r / mz->class->dt) * (r / mz->class->dt);
                }
}

/* Squares of the error over all points, faces and edges included. */
static void error_sum(const struct mz *mz, const struct mz_zone *z, const double *u, double *sum)
{
    for (int k = 0; k < z->nz; k++)
        for (int j = 0; j < z->ny; j++)
            for (int i = 0; i < z->nx; i++) {
                double exact[MZ_VARS];
                exact_point(mz, i, j, k, exact);
                for (int m = 0; m < MZ_VARS; m++) {
                    double e = u[m * z->volume + k * z->plane + (long)j * z->pitch + i] - exact[m];
                    sum[m] += e * e;
                }
            }
}

static void add_means(const struct mz_zone *z, const double *sum, double *norm)
{
    const double interior = (z->nx - 2.0) * (z->ny - 2.0) * (z->nz - 2.0);
    for (int m = 0; m < MZ_NORMS; m++)
        norm[m] += sqrt(sum[m] / interior);
}

/* The larger of `worst` and the deviation; once NAN, always NAN. */
static double deviation(double worst, double value, double reference)
{
    double d = fabs(value - reference) / fabs(reference);
    return isnan(worst) || d <= worst ? worst : d;
}

void mz_verify(struct mz *mz, struct mz_work *work, struct mz_norms *norms)
{
    memset(norms, 0, sizeof *norms);
    for (int i = 0; i < mz->nzones; i++) {
        const struct mz_zone *z = &mz->zone[i];
        double residual[MZ_VARS] = {0}, error[MZ_VARS] = {0};
        const double *u = mz_zone_u(mz, i);
        rhs_zone_all(mz, work, i, u, mz->forcing + MZ_VARS * z->first);
        residual_sum(mz, z, work->w, residual);
        error_sum(mz, z, u, error);
        add_means(z, residual, norms->residual);
        add_means(z, error, norms->error);
    }
    for (int m = 0; m < MZ_NORMS; m++) {
        norms->worst = deviation(norms->worst, norms->residual[m], mz->class->residual[m]);
        norms->worst = deviation(norms->worst, norms->error[m], mz->class->error[m]);
    }
    norms->verified = norms->worst <= tolerance;
}
