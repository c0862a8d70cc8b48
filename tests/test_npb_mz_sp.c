/* tests/test_npb_mz_sp.c – SP: a step against dense solves of its systems, and the tests of
 * tests/npb_mz.h. */
#include "tests/npb_mz.h"

/* The state of a node in the variables that the systems use. */
struct node {
    double rho, v[3], q, a; /* density, velocity, kinetic energy per mass, speed of sound */
};

static struct node node_at(const struct mz_zone *z, const double *u, long at)
{
    struct node n = {.rho = u[at]};
    for (int d = 0; d < 3; d++) {
        n.v[d] = u[(1 + d) * z->volume + at] / n.rho;
        n.q += 0.5 * n.v[d] * n.v[d];
    }
    n.a = sqrt(1.4 * 0.4 * (u[4 * z->volume + at] / n.rho - n.q));
    return n;
}

/* One system: nodes 0 .. n-1, eigenvalue v_d + sign a; the ends are 0. */
static void solve_line(const struct mz *mz, int d, int n, const struct node *node, double sign,
                       double *x)
{
    static double a[SYSTEM][SYSTEM];
    static const double diffusion[3] = {0.75, 0.75, 1.0};
    const double dt = mz->class->dt, h = mz->axis[d].h, t1 = dt / (h * h), t2 = dt / (2 * h);
    memset(a, 0, sizeof a);
    a[0][0] = a[n - 1][n - 1] = 1.0;
    x[0] = x[n - 1] = 0.0;
    for (int s = 1; s < n - 1; s++) {
        for (int e = -1; e <= 1; e++) {
            double rho = diffusion[d] + 1.96 * 0.1 / node[s + e].rho;
            double lambda = node[s + e].v[d] + sign * node[s + e].a;
            a[s][s + e] = e ? e * t2 * lambda - t1 * rho : 1.0 + 2.0 * t1 * rho;
        }
        /* fourth difference over the nodes 1 .. n-2: a squared second difference inside */
        const double w[5] = {1, -4, s == 1 || s == n - 2 ? 5 : 6, -4, 1};
        for (int e = -2; e <= 2; e++)
            if (s + e > 0 && s + e < n - 1)
                a[s][s + e] += dt * 0.25 * w[e + 2];
    }
    solve_dense(n, a, x);
}

static const double root = 0.70710678118654752440;

static void enter(double r[5], struct node n)
{
    const double ri = 1.0 / n.rho;
    double t1 =
        0.4 / (n.a * n.a) * (n.q * r[0] - n.v[0] * r[1] - n.v[1] * r[2] - n.v[2] * r[3] + r[4]);
    double t2 = root * ri * (n.v[0] * r[0] - r[1]), t3 = root * ri * n.a * t1;
    const double o[5] = {r[0] - t1, -ri * (n.v[2] * r[0] - r[3]), ri * (n.v[1] * r[0] - r[2]),
                         t3 - t2, t2 + t3};
    memcpy(r, o, sizeof o);
}

static void turn_y(double r[5], struct node n)
{
    double t1 = root * r[2], t2 = (r[3] + r[4]) / 2;
    const double o[5] = {-r[1], r[0], root * (r[3] - r[4]), t2 - t1, t1 + t2};
    memcpy(r, o, sizeof o);
}

static void turn_z(double r[5], struct node n)
{
    double t1 = root * r[0], t2 = (r[3] + r[4]) / 2;
    const double o[5] = {root * (r[3] - r[4]), -r[2], r[1], t2 - t1, t1 + t2};
    memcpy(r, o, sizeof o);
}

static void leave(double r[5], struct node n)
{
    double t1 = root * n.rho * (r[3] + r[4]) / n.a, t2 = r[2] + t1,
           t3 = root * n.rho * (r[3] - r[4]);
    const double o[5] = {
        t2, -n.rho * r[1] + n.v[0] * t2, n.rho * r[0] + n.v[1] * t2, n.v[2] * t2 + t3,
        n.rho * (n.v[1] * r[0] - n.v[0] * r[1]) + n.q * t2 + 2.5 * n.a * n.a * t1 + n.v[2] * t3};
    memcpy(r, o, sizeof o);
}

static void at_all_points(const struct mz_zone *z, const double *u, double *w,
                          void (*change)(double r[5], struct node n))
{
    for (int k = 1; k < z->nz - 1; k++)
        for (int j = 1; j < z->ny - 1; j++)
            for (int i = 1; i < z->nx - 1; i++) {
                const long at = index_of(z, i, j, k);
                double r[5];
                for (int m = 0; m < 5; m++)
                    r[m] = w[m * z->volume + at];
                change(r, node_at(z, u, at));
                for (int m = 0; m < 5; m++)
                    w[m * z->volume + at] = r[m];
            }
}

static void solve_axis(const struct mz *mz, const struct mz_zone *z, int d, const double *u,
                       double *w)
{
    static const double sign[MZ_VARS] = {0, 0, 0, 1, -1};
    const int n[3] = {z->nx, z->ny, z->nz}, a = (d + 1) % 3, b = (d + 2) % 3;
    int s[3];
    for (s[a] = 1; s[a] < n[a] - 1; s[a]++)
        for (s[b] = 1; s[b] < n[b] - 1; s[b]++)
            for (int m = 0; m < MZ_VARS; m++) {
                struct node node[SYSTEM];
                double x[SYSTEM];
                for (s[d] = 0; s[d] < n[d]; s[d]++) {
                    const long at = index_of(z, s[0], s[1], s[2]);
                    node[s[d]] = node_at(z, u, at);
                    x[s[d]] = w[m * z->volume + at];
                }
                solve_line(mz, d, n[d], node, sign[m], x);
                for (s[d] = 1; s[d] < n[d] - 1; s[d]++)
                    w[m * z->volume + index_of(z, s[0], s[1], s[2])] = x[s[d]];
            }
}

/* A step of one zone by the textbook. */
static void reference_step(const struct mz *mz, struct mz_work *work, int zone, double *u)
{
    static void (*const change[4])(double *, struct node) = {enter, turn_y, turn_z, leave};
    const struct mz_zone *z = &mz->zone[zone];
    double *w = work->w;
    rhs_zone_all(mz, work, zone, u, mz_zone_forcing(mz, zone));
    at_all_points(z, u, w, change[0]);
    for (int d = 0; d < 3; d++) {
        solve_axis(mz, z, d, u, w);
        at_all_points(z, u, w, change[d + 1]);
    }
    for (int m = 0; m < MZ_VARS; m++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++)
                for (int i = 1; i < z->nx - 1; i++)
                    u[m * z->volume + index_of(z, i, j, k)] +=
                        w[m * z->volume + index_of(z, i, j, k)];
}

static void step_equals_dense_solves(void **state)
{
    for (int i = 0; i < PROBLEMS; i++) {
        struct rig r = open_problem("sp-mz", i, 1);
        const size_t bytes = MZ_VARS * (size_t)r.mz->points * sizeof(double);
        double *u = malloc(bytes + 4096); /* solvers read whole vectors, past the last point */
        for (int s = 0; s < 2; s++)
            mz_step(r.mz, r.work); /* leaves the smooth initial state */
        for (int zone = 0; zone < r.mz->nzones; zone++)
            mz_exchange(r.mz, zone);
        settle_all(r.mz);
        memcpy(u, r.mz->u, bytes);
        for (int zone = 0; zone < r.mz->nzones; zone++) {
            reference_step(r.mz, r.work, zone, u + MZ_VARS * r.mz->zone[zone].first);
            r.mz->ops->step(r.mz, r.work, zone);
        }
        assert_true(distance(r.mz, u, r.mz->u) < 1e-12);
        free(u);
        close_rig(r);
    }
}

static void norms_of_classes_S_and_W(void **state)
{
    reaches_reference_norms("sp-mz", 'S', 3);
    reaches_reference_norms("sp-mz", 'W', 1);
}

static void same_bits_for_any_width(void **state)
{
    gives_the_same_bits_for_any_width("sp-mz", 'S');
    gives_the_same_bits_for_any_width("sp-mz", 'W');
}

static void device_like_host(void **state)
{
    moves_between_host_and_device("sp-mz", 'S', always);
    moves_between_host_and_device("sp-mz", 'S', now_and_then);
}

static void device_takes_zones_together(void **state)
{
    a_launch_serves_many_zones("sp-mz", 'S');
    a_launch_serves_many_zones("sp-mz", 'W');
    zones_that_do_not_fit_come_for_a_step("sp-mz", 'S');
}

static void same_bits_on_every_level(void **state)
{
    gives_the_same_bits_on_every_level("sp-mz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_equals_dense_solves), cmocka_unit_test(norms_of_classes_S_and_W),
        cmocka_unit_test(same_bits_for_any_width),  cmocka_unit_test(same_bits_on_every_level),
        cmocka_unit_test(device_like_host),         cmocka_unit_test(device_takes_zones_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
