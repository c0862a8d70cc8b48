/* tests/test_npb_mz_lu.c – LU: steps against the method with full Jacobians and a stored residual,
 * the residual's lag behind the exchange, and the tests of tests/npb_mz.h. */
#include "tests/npb_mz.h"

static const double omega = 1.2, c3c4 = 0.1;
static const double diffusion[3] = {0.75, 0.75, 1.0};

/* Convective (A) and viscous (N) Jacobians of axis d at the conserved variables u. */
static void jacobians(const double u[5], int d, double A[5][5], double N[5][5])
{
    const double ri = 1.0 / u[0], v[5] = {0, u[1] * ri, u[2] * ri, u[3] * ri, 0}, E = u[4] * ri;
    const double q = 0.5 * (v[1] * v[1] + v[2] * v[2] + v[3] * v[3]), vd = v[1 + d];
    const double c1345 = 1.96 * c3c4;
    const int p = 1 + d;
    memset(A, 0, 25 * sizeof(double));
    memset(N, 0, 25 * sizeof(double));
    A[0][p] = 1.0;
    for (int m = 1; m < 4; m++) {
        const double k = (m == p ? 4.0 / 3.0 : 1.0) * c3c4;
        A[m][0] = -v[m] * vd + (m == p ? 0.4 * q : 0.0);
        for (int n = 1; n < 4; n++)
            A[m][n] = (m == n ? vd : 0.0) + (n == p ? v[m] : 0.0) - (m == p ? 0.4 * v[n] : 0.0);
        A[m][4] = m == p ? 0.4 : 0.0;
        A[4][m] = -0.4 * v[m] * vd + (m == p ? 1.4 * E - 0.4 * q : 0.0);
        N[m][0] = -k * v[m] * ri;
        N[m][m] = k * ri;
        N[4][0] -= ri * (k - c1345) * v[m] * v[m];
        N[4][m] = (k - c1345) * v[m] * ri;
    }
    A[4][0] = (0.8 * q - 1.4 * E) * vd;
    A[4][4] = 1.4 * vd;
    N[4][0] -= c1345 * E * ri;
    N[4][4] = c1345 * ri;
}

static void load(const struct mz_zone *z, const double *f, long at, double out[5])
{
    for (int m = 0; m < 5; m++)
        out[m] = f[m * z->volume + at];
}

/* sum += (sign dt/(2h) A - dt/h^2 (N + D)) v for the neighbour at `at`: sign -1 below, +1 above. */
static void add_neighbour(const struct mz *mz, const struct mz_zone *z, const double *u,
                          const double *v, long at, int d, double sign, double sum[5])
{
    const double dt = mz->class->dt, h = mz->axis[d].h;
    double A[5][5], N[5][5], here[5], x[5];
    load(z, u, at, here);
    load(z, v, at, x);
    jacobians(here, d, A, N);
    for (int m = 0; m < 5; m++)
        for (int n = 0; n < 5; n++)
            sum[m] += (sign * dt / (2 * h) * A[m][n] -
                       dt / (h * h) * (N[m][n] + (m == n ? diffusion[d] : 0.0))) *
                      x[n];
}

/* The diagonal block, by elimination without row exchanges: it is diagonally dominant. */
static void divide_by_diagonal(const struct mz *mz, const double u[5], double x[5])
{
    double D[5][5] = {{0}};
    for (int m = 0; m < 5; m++)
        D[m][m] = 1.0;
    for (int d = 0; d < 3; d++) {
        double A[5][5], N[5][5];
        const double t = 2 * mz->class->dt / (mz->axis[d].h * mz->axis[d].h);
        jacobians(u, d, A, N);
        for (int m = 0; m < 5; m++)
            for (int n = 0; n < 5; n++)
                D[m][n] += t * (N[m][n] + (m == n ? diffusion[d] : 0.0));
    }
    for (int c = 0; c < 5; c++)
        for (int r = c + 1; r < 5; r++) {
            const double f = D[r][c] / D[c][c];
            for (int n = c; n < 5; n++)
                D[r][n] -= f * D[c][n];
            x[r] -= f * x[c];
        }
    for (int r = 4; r >= 0; r--) {
        for (int n = r + 1; n < 5; n++)
            x[r] -= D[r][n] * x[n];
        x[r] /= D[r][r];
    }
}

/* One point of the lower (sign -1) or upper (sign +1) sweep on v, which is 0 on the boundary. */
static void sweep_point(const struct mz *mz, const struct mz_zone *z, const double *u, double *v,
                        long at, double sign)
{
    const long step[3] = {1, z->pitch, z->plane};
    double sum[5] = {0}, here[5], x[5];
    load(z, u, at, here);
    load(z, v, at, x);
    for (int d = 0; d < 3; d++)
        add_neighbour(mz, z, u, v, at + (long)sign * step[d], d, sign, sum);
    for (int m = 0; m < 5; m++)
        sum[m] = (sign < 0 ? x[m] : 0.0) - omega * sum[m];
    divide_by_diagonal(mz, here, sum);
    for (int m = 0; m < 5; m++)
        v[m * z->volume + at] = sum[m] + (sign > 0 ? x[m] : 0.0);
}

/* Stores dt (R(u) + g) of a zone in v, 0 outside the interior. */
static void set_residual(const struct mz *mz, struct mz_work *work, int zone, const double *u,
                         double *v)
{
    const struct mz_zone *z = &mz->zone[zone];
    memset(v, 0, MZ_VARS * (size_t)z->volume * sizeof *v);
    rhs_zone_all(mz, work, zone, u, mz_zone_forcing(mz, zone));
    for (int m = 0; m < 5; m++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++)
                for (int i = 1; i < z->nx - 1; i++) {
                    const long at = m * z->volume + index_of(z, i, j, k);
                    v[at] = work->w[at];
                }
}

/* A step of one zone by the textbook: takes the residual and leaves that of the next step. */
static void reference_step(const struct mz *mz, struct mz_work *work, int zone, double *u,
                           double *residual)
{
    const struct mz_zone *z = &mz->zone[zone];
    double *v = residual;
    for (int k = 1; k < z->nz - 1; k++)
        for (int j = 1; j < z->ny - 1; j++)
            for (int i = 1; i < z->nx - 1; i++)
                sweep_point(mz, z, u, v, index_of(z, i, j, k), -1.0);
    for (int k = z->nz - 2; k > 0; k--)
        for (int j = z->ny - 2; j > 0; j--)
            for (int i = z->nx - 2; i > 0; i--)
                sweep_point(mz, z, u, v, index_of(z, i, j, k), 1.0);
    for (long at = 0; at < MZ_VARS * z->volume; at++)
        u[at] += v[at] / (omega * (2.0 - omega));
    set_residual(mz, work, zone, u, residual);
}

static void steps_equal_the_method(void **state)
{
    for (int i = 0; i < PROBLEMS; i++) {
        struct rig r = open_problem("lu-mz", i, 1), ref = open_problem("lu-mz", i, 1);
        double *residual = calloc(MZ_VARS * (size_t)r.mz->points, sizeof *residual);
        struct mz *mz = ref.mz;
        for (int zone = 0; zone < mz->nzones; zone++)
            set_residual(mz, ref.work, zone, mz_zone_u(mz, zone),
                         residual + MZ_VARS * mz->zone[zone].first);
        for (int s = 0; s < 4; s++) {
            mz_step(r.mz, r.work);
            for (int zone = 0; zone < mz->nzones; zone++)
                mz_exchange(mz, zone);
            settle_all(mz);
            for (int zone = 0; zone < mz->nzones; zone++)
                reference_step(mz, ref.work, zone, mz_zone_u(mz, zone),
                               residual + MZ_VARS * mz->zone[zone].first);
            settle_all(r.mz);
            assert_true(distance(mz, mz->u, r.mz->u) < 1e-12);
        }
        free(residual);
        close_rig(r);
        close_rig(ref);
    }
}

/* The number of zone 0's interior points that differ in any variable. */
static int different(const struct mz *a, const struct mz *b)
{
    const struct mz_zone *z = &a->zone[0];
    int n = 0;
    for (int m = 0; m < MZ_VARS; m++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++)
                for (int i = 1; i < z->nx - 1; i++) {
                    const long at = m * z->volume + index_of(z, i, j, k);
                    n += a->u[at] != b->u[at];
                }
    return n;
}

/* Exchanged faces act one step later. A face in the middle of each side is changed as if a
 * neighbour had sent it. */
static void exchange_acts_one_step_later(void **state)
{
    for (int side = 0; side < MZ_SIDES; side++) {
        struct rig r = open_rig("lu-mz", 'W', 1), ref = open_rig("lu-mz", 'W', 1);
        const struct mz_zone *z = &r.mz->zone[0];
        const int i[MZ_SIDES] = {0, z->nx - 1, z->nx / 2, z->nx / 2};
        const int j[MZ_SIDES] = {z->ny / 2, z->ny / 2, 0, z->ny - 1};
        const long at = index_of(z, i[side], j[side], z->nz / 2);
        const double sent = r.mz->u[at] *= 1.01;
        ref.mz->ops->step(ref.mz, ref.work, 0);
        r.mz->ops->step(r.mz, r.work, 0);
        assert_int_equal(different(ref.mz, r.mz), 0);
        assert_true(r.mz->u[at] == sent);
        ref.mz->ops->step(ref.mz, ref.work, 0);
        r.mz->ops->step(r.mz, r.work, 0);
        assert_true(different(ref.mz, r.mz) > 0);
        close_rig(r);
        close_rig(ref);
    }
}

static void norms_of_classes_S_and_W(void **state)
{
    reaches_reference_norms("lu-mz", 'S', 2);
    reaches_reference_norms("lu-mz", 'W', 1);
}

static void same_bits_for_any_width(void **state)
{
    gives_the_same_bits_for_any_width("lu-mz", 'S');
    gives_the_same_bits_for_any_width("lu-mz", 'W');
}

/* The boundary values from before the exchange, which the residual uses, travel with the zone. */
static void device_like_host(void **state)
{
    moves_between_host_and_device("lu-mz", 'S', always);
    moves_between_host_and_device("lu-mz", 'S', now_and_then);
}

static void device_takes_zones_together(void **state)
{
    a_launch_serves_many_zones("lu-mz", 'S');
    a_launch_serves_many_zones("lu-mz", 'W');
    zones_that_do_not_fit_come_for_a_step("lu-mz", 'S');
}

static void same_bits_on_every_level(void **state)
{
    gives_the_same_bits_on_every_level("lu-mz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_equal_the_method),
        cmocka_unit_test(exchange_acts_one_step_later),
        cmocka_unit_test(norms_of_classes_S_and_W),
        cmocka_unit_test(same_bits_for_any_width),
        cmocka_unit_test(same_bits_on_every_level),
        cmocka_unit_test(device_like_host),
        cmocka_unit_test(device_takes_zones_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
