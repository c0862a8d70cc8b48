/* tests/test_npb_mz_bt.c – BT on the host: operator laws, line solves against a dense solver, norms
 * against the reference, the same bits at any width; the device agrees with the host. */
#include "tests/npb_mz.h"

/* Largest |x - y| over a zone's interior and all components; y may be NULL for zeros. */
static double apart(const struct mz_zone *z, const double *x, const double *y)
{
    double worst = 0.0;
    for (int m = 0; m < MZ_VARS; m++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++)
                for (int i = 1; i < z->nx - 1; i++) {
                    long at = m * z->volume + index_of(z, i, j, k);
                    double d = fabs(x[at] - (y ? y[at] : 0.0));
                    worst = d <= worst ? worst : d; /* NaN wins */
                }
    return worst;
}

/* ---- the operator ---- */

static void uniform_flow_stays(void **state)
{
    static const double flow[MZ_VARS] = {1.3, 0.4, -0.7, 0.2, 3.1};
    struct rig r = open_rig("bt-mz", 'A', 1);
    for (int zone = 0; zone < r.mz->nzones; zone++) {
        const struct mz_zone *z = &r.mz->zone[zone];
        double *u = mz_zone_u(r.mz, zone), *none = calloc(MZ_VARS * z->volume, sizeof *none);
        for (long i = 0; i < MZ_VARS * z->volume; i++)
            u[i] = flow[i / z->volume];
        rhs_zone_all(r.mz, r.work, zone, u, none);
        /* Next to a boundary the damping does not read the boundary point, so there its weights do
         * not add up to 0: 5-4+1 = 2, -4+6-4+1 = -1, and likewise along each axis. */
        for (int m = 0; m < MZ_VARS; m++)
            for (int k = 3; k < z->nz - 3; k++)
                for (int j = 3; j < z->ny - 3; j++)
                    for (int i = 3; i < z->nx - 3; i++)
                        assert_true(fabs(r.work->w[m * z->volume + index_of(z, i, j, k)]) < 1e-13);
        free(none);
    }
    close_rig(r);
}

static void forcing_holds_the_exact_solution(void **state)
{
    struct rig r = open_rig("bt-mz", 'W', 2);
    for (int zone = 0; zone < r.mz->nzones; zone++) {
        const struct mz_zone *z = &r.mz->zone[zone];
        exact_fill(r.mz, z, mz_zone_u(r.mz, zone));
        rhs_zone_all(r.mz, r.work, zone, mz_zone_u(r.mz, zone), mz_zone_forcing(r.mz, zone));
        assert_true(apart(z, r.work->w, NULL) < 1e-14); /* terms of size 1 added in any order */
        assert_true(apart(z, mz_zone_forcing(r.mz, zone), NULL) > 1e-6);
    }
    close_rig(r);
}

/* The suite's table of coefficients: the constant, then those of x, y, z, their squares, cubes and
 * fourth powers. */
static const double ce[MZ_VARS][13] = {
    {2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

static double exact_at(const double x[3], int m)
{
    double sum = ce[m][0];
    for (int i = 0; i < 12; i++)
        sum += ce[m][1 + i] * pow(x[i % 3], 1 + i / 3);
    return sum;
}

static void faces_of_the_initial_state_are_exact(void **state)
{
    struct rig r = open_rig("bt-mz", 'S', 1);
    const struct mz_zone *z = &r.mz->zone[0];
    const double *u = mz_zone_u(r.mz, 0);
    const double h[3] = {r.mz->axis[0].h, r.mz->axis[1].h, r.mz->axis[2].h};
    const struct {
        int i, j, k;
        double x, y, t;
    } at[] = {{0, 2, 3, 0, 2 * h[1], 3 * h[2]},
              {z->nx - 1, 2, 3, 1, 2 * h[1], 3 * h[2]},
              {0, z->ny - 1, 3, 0, 1, 3 * h[2]}, /* y overrides x, which is 0 here anyway */
              {z->nx - 1, z->ny - 1, 3, (z->nx - 1) * h[0], 1, 3 * h[2]},
              {z->nx - 1, 2, z->nz - 1, (z->nx - 1) * h[0], 2 * h[1], 1}};
    for (size_t p = 0; p < sizeof at / sizeof *at; p++) {
        const double x[3] = {at[p].x, at[p].y, at[p].t};
        for (int m = 0; m < MZ_VARS; m++)
            assert_true(fabs(u[m * z->volume + index_of(z, at[p].i, at[p].j, at[p].k)] -
                             exact_at(x, m)) < 1e-13);
    }
    close_rig(r);
}

/* ---- line solves against dense elimination, Jacobians in conservative variables ---- */

static void jacobians(const double *u, int p, double A[5][5], double N[5][5])
{
    const double c1 = 1.4, c2 = 0.4, c34 = 0.1, c1345 = 0.196, ri = 1.0 / u[0], Et = u[4] * ri;
    const double v[5] = {0, u[1] * ri, u[2] * ri, u[3] * ri, 0}, d = v[p];
    const double q = 0.5 * (v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
    memset(A, 0, 25 * sizeof(double));
    memset(N, 0, 25 * sizeof(double));
    A[0][p] = 1.0;
    A[4][0] = (2 * c2 * q - c1 * Et) * d;
    A[4][4] = c1 * d;
    N[4][0] = -c1345 * Et * ri;
    N[4][4] = c1345 * ri;
    for (int m = 1; m < 4; m++) {
        const double kappa = m == p ? 4.0 / 3.0 : 1.0;
        A[m][0] = -v[m] * d + (m == p ? c2 * q : 0.0);
        A[m][4] = m == p ? c2 : 0.0;
        for (int n = 1; n < 4; n++)
            A[m][n] = (m == n ? d : 0.0) + (n == p ? v[m] : 0.0) - (m == p ? c2 * v[n] : 0.0);
        A[4][m] = -c2 * v[m] * d + (m == p ? c1 * Et - c2 * q : 0.0);
        N[m][0] = -kappa * c34 * v[m] * ri;
        N[m][m] = kappa * c34 * ri;
        N[4][0] -= ri * (kappa * c34 - c1345) * v[m] * v[m];
        N[4][m] = (kappa * c34 - c1345) * v[m] * ri;
    }
}

/* Solves the line of `n` points from `at` with stride `step` along axis d, in w. */
static void dense_line(const struct mz *mz, const double *u, double *w, long field, long at,
                       long step, int n, int d)
{
    static double a[SYSTEM][SYSTEM];
    double b[SYSTEM];
    const double tau2 = mz->consts.axis[d].tau2, tau1 = mz->consts.axis[d].visc / 0.1;
    const double spread = mz->consts.axis[d].spread;
    memset(a, 0, sizeof a);
    for (int s = 1; s < n - 1; s++)
        for (int near = -1; near <= 1; near++) {
            double A[5][5], N[5][5], v[5];
            for (int m = 0; m < 5; m++)
                v[m] = u[m * field + at + (s + near) * step];
            jacobians(v, 1 + d, A, N);
            for (int r = 0; r < 5; r++) {
                b[5 * (s - 1) + r] = w[r * field + at + s * step];
                for (int c = 0; c < 5 && s + near > 0 && s + near < n - 1; c++)
                    a[5 * (s - 1) + r][5 * (s - 1 + near) + c] =
                        near ? near * tau2 * A[r][c] - tau1 * N[r][c] - (r == c ? spread : 0.0)
                             : 2 * tau1 * N[r][c] + (r == c ? 1.0 + 2 * spread : 0.0);
            }
        }
    solve_dense(5 * (n - 2), a, b);
    for (int s = 1; s < n - 1; s++)
        for (int m = 0; m < 5; m++)
            w[m * field + at + s * step] = b[5 * (s - 1) + m];
}

static void dense_axis(const struct mz *mz, int zone, const double *u, double *w, int d)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int n[3] = {z->nx, z->ny, z->nz}, e = (d + 1) % 3, f = (d + 2) % 3;
    const long step[3] = {1, z->pitch, z->plane};
    for (int p = 1; p < n[e] - 1; p++)
        for (int q = 1; q < n[f] - 1; q++)
            dense_line(mz, u, w, z->volume, p * step[e] + q * step[f], step[d], n[d], d);
}

static void step_solves_the_three_systems(int problem)
{
    struct rig r = open_problem("bt-mz", problem, 1);
    mz_step(r.mz, r.work); /* leaves the symmetric initial state */
    settle_all(r.mz);
    for (int zone = 0; zone < r.mz->nzones; zone++) {
        const struct mz_zone *z = &r.mz->zone[zone];
        const size_t n = MZ_VARS * z->volume;
        double *u = mz_zone_u(r.mz, zone), *w = malloc(n * sizeof *w), *old = malloc(n * sizeof *w);
        rhs_zone_all(r.mz, r.work, zone, u, mz_zone_forcing(r.mz, zone));
        memcpy(w, r.work->w, n * sizeof *w);
        memcpy(old, u, n * sizeof *w);
        for (int d = 0; d < 3; d++)
            dense_axis(r.mz, zone, old, w, d);
        r.mz->ops->step(r.mz, r.work, zone);
        for (size_t i = 0; i < n; i++)
            w[i] += old[i];
        const double moved = apart(z, u, old);
        assert_true(moved > 1.0);
        assert_true(apart(z, u, w) < 1e-14 * moved);
        free(w);
        free(old);
    }
    close_rig(r);
}

static void a_step_solves_the_three_systems(void **state)
{
    step_solves_the_three_systems(0);
    step_solves_the_three_systems(2);
}

/* ---- whole runs ---- */

static void norms_are_the_reference_s(void **state)
{
    for (const char *letter = "SW"; *letter; letter++) {
        struct rig r = open_rig("bt-mz", *letter, 2);
        struct mz_norms norms;
        assert_int_equal(mz_verify(r.mz, r.work, &norms), EK_OK);
        assert_false(norms.verified); /* nothing has run yet */
        for (int s = 0; s < r.mz->class->steps; s++)
            mz_step(r.mz, r.work);
        assert_int_equal(mz_verify(r.mz, r.work, &norms), EK_OK);
        assert_true(norms.verified);
        assert_true(norms.worst < 1e-11);
        mz_zone_u(r.mz, 0)[index_of(&r.mz->zone[0], 2, 2, 2)] = NAN;
        assert_int_equal(mz_verify(r.mz, r.work, &norms), EK_OK);
        assert_false(norms.verified);
        close_rig(r);
    }
}

static void any_width_gives_the_same_bits(void **state)
{
    struct rig one = open_rig("bt-mz", 'W', 1);
    struct mz_norms first, norms;
    for (int s = 0; s < 5; s++)
        mz_step(one.mz, one.work);
    assert_int_equal(mz_verify(one.mz, one.work, &first), EK_OK);
    for (int width = 2; width <= 7; width += width == 3 ? 4 : 1) {
        struct rig r = open_rig("bt-mz", 'W', width);
        for (int s = 0; s < 5; s++)
            mz_step(r.mz, r.work);
        assert_int_equal(mz_verify(r.mz, r.work, &norms), EK_OK);
        assert_memory_equal(one.mz->u, r.mz->u, MZ_VARS * r.mz->points * sizeof(double));
        assert_memory_equal(first.residual, norms.residual, sizeof first.residual);
        assert_memory_equal(first.error, norms.error, sizeof first.error);
        close_rig(r);
    }
    close_rig(one);
}

/* ---- devices ---- */

static void device_like_host(void **state)
{
    moves_between_host_and_device("bt-mz", 'S', always);
    moves_between_host_and_device("bt-mz", 'S', now_and_then);
}

static void device_takes_zones_together(void **state)
{
    a_launch_serves_many_zones("bt-mz", 'S');
    a_launch_serves_many_zones("bt-mz", 'W');
    zones_that_do_not_fit_come_for_a_step("bt-mz", 'W');
}

static void same_bits_on_every_level(void **state)
{
    gives_the_same_bits_on_every_level("bt-mz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_flow_stays),
        cmocka_unit_test(forcing_holds_the_exact_solution),
        cmocka_unit_test(faces_of_the_initial_state_are_exact),
        cmocka_unit_test(a_step_solves_the_three_systems),
        cmocka_unit_test(norms_are_the_reference_s),
        cmocka_unit_test(any_width_gives_the_same_bits),
        cmocka_unit_test(same_bits_on_every_level),
        cmocka_unit_test(device_like_host),
        cmocka_unit_test(device_takes_zones_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
