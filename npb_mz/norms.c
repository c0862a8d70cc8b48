/* npb_mz/norms.c – compares the norms of a finished run with the reference. A norm is a root mean
 * square per zone, whose divisor is the number of interior points, summed over the zones. */
#include "cu/rank/cluster.h"
#include "npb_mz/mz.h"

/* Adds up squares of the residual at interior points, from w = dt * residual. */
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

/* Adds up squares of the error at all points that are not in the outer `error_margin` planes. */
static void error_sum(const struct mz *mz, const struct mz_zone *z, const double *u, double *sum)
{
    const int edge = mz->ops->error_margin;
    for (int k = edge; k < z->nz - edge; k++)
        for (int j = edge; j < z->ny - edge; j++)
            for (int i = edge; i < z->nx - edge; i++) {
                double exact[MZ_VARS];
                exact_point(mz, i, j, k, exact);
                for (int m = 0; m < MZ_VARS; m++) {
                    double e = u[m * z->volume + k * z->plane + (long)j * z->pitch + i] - exact[m];
                    sum[m] += e * e;
                }
            }
}

static double pressure(const struct mz_zone *z, const double *u, const int s[3])
{
    const double *at = u + s[2] * z->plane + (long)s[1] * z->pitch + s[0];
    const double x = at[z->volume], y = at[2 * z->volume], t = at[3 * z->volume];
    return 0.4 * (at[4 * z->volume] - (x * x + y * y + t * t) / (2.0 * at[0]));
}

/* Sum of the pressure at the four corners of each cell in the plane s_d = at. Along the other axes
 * e the cells' lower corners are first[e] .. last[e]. */
static double plane_integral(const struct mz_zone *z, const double *u, int d, int at,
                             const int first[3], const int last[3])
{
    const int a = d == 0, b = d == 2 ? 1 : 2;
    double sum = 0.0;
    int s[3];
    s[d] = at;
    for (s[b] = first[b]; s[b] <= last[b] + 1; s[b]++)
        for (s[a] = first[a]; s[a] <= last[a] + 1; s[a]++) {
            const int inner_a = s[a] > first[a] && s[a] <= last[a];
            const int inner_b = s[b] > first[b] && s[b] <= last[b];
            sum += (1 + inner_a) * (1 + inner_b) * pressure(z, u, s);
        }
    return sum;
}

/* Integral of the pressure over the surface of a box inside the zone, which LU verifies. */
static double surface_integral(const struct mz *mz, const struct mz_zone *z, const double *u)
{
    const int first[3] = {1, 1, 2}, last[3] = {z->nx - 3, z->ny - 4, z->nz - 3};
    const double area = mz->axis[0].h * mz->axis[1].h * mz->axis[2].h;
    double sum = 0.0;
    for (int d = 0; d < 3; d++)
        sum += (plane_integral(z, u, d, first[d], first, last) +
                plane_integral(z, u, d, last[d] + 1, first, last)) *
               area / mz->axis[d].h;
    return sum / 4.0;
}

static void set_means(const struct mz_zone *z, const double *sum, double *value)
{
    const double interior = (z->nx - 2.0) * (z->ny - 2.0) * (z->nz - 2.0);
    for (int m = 0; m < MZ_NORMS; m++)
        value[m] = sqrt(sum[m] / interior);
}

/* The larger of `worst` and the relative deviation; NAN if either is. */
static double deviation(double worst, double value, double reference)
{
    double d = fabs(value - reference) / fabs(reference);
    return isnan(worst) || d <= worst ? worst : d;
}

void mz_zone_values(struct mz *mz, struct mz_work *work, int zone, double value[MZ_VALUES])
{
    const struct mz_zone *z = &mz->zone[zone];
    double residual[MZ_VARS] = {0}, error[MZ_VARS] = {0};
    const double *u = mz_zone_u(mz, zone);
    mz_settle(mz, zone);
    rhs_zone_all(mz, work, zone, u, mz_zone_forcing(mz, zone));
    residual_sum(mz, z, work->w, residual);
    error_sum(mz, z, u, error);
    set_means(z, residual, value);
    set_means(z, error, value + MZ_NORMS);
    value[2 * MZ_NORMS] = mz->class->surface != 0.0 ? surface_integral(mz, z, u) : 0.0;
}

/* Adds up value[nzones][MZ_VALUES] in the order of the zones and compares with the reference. */
static void judge(const struct mz *mz, const double *value, struct mz_norms *norms)
{
    memset(norms, 0, sizeof *norms);
    for (int i = 0; i < mz->nzones; i++, value += MZ_VALUES) {
        for (int m = 0; m < MZ_NORMS; m++) {
            norms->residual[m] += value[m];
            norms->error[m] += value[MZ_NORMS + m];
        }
        norms->surface += value[2 * MZ_NORMS];
    }
    for (int m = 0; m < MZ_NORMS; m++) {
        norms->worst = deviation(norms->worst, norms->residual[m], mz->class->residual[m]);
        norms->worst = deviation(norms->worst, norms->error[m], mz->class->error[m]);
    }
    if (mz->class->surface != 0.0)
        norms->worst = deviation(norms->worst, norms->surface, mz->class->surface);
    norms->verified = norms->worst <= MZ_TOLERANCE;
}

enum ek_status mz_verify(struct mz *mz, struct mz_work *work, struct mz_norms *norms)
{
    OWNED_MEMORY NEW(double, value, (size_t)mz->nzones *MZ_VALUES,
                     "%s: no memory for the norms of %d zones", mz->ops->name, mz->nzones);
    for (int i = 0; i < mz->nzones; i++)
        if (mz->mine[i])
            mz_zone_values(mz, work, i, value + MZ_VALUES * i);
    cluster_sum(value, MZ_VALUES * (size_t)mz->nzones); /* exact: all but one rank have 0 */
    judge(mz, value, norms);
    return EK_OK;
}
