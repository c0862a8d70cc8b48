/* tests/test_kirchhoff_ray.c – rays against high-accuracy rays, vectors of rays against single
 * ones, sampled media against formulas. */
#include "kirchhoff/ray.h"
#include "tests/isa.h"
#include "tests/kirchhoff.h"

static struct velocity *model(const char *text)
{
    struct velocity *v;
    assert_int_equal(velocity_open(text, &v), EK_OK);
    return v;
}

static double norm(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static double distance(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return norm(d);
}

/* ---- single rays ------------------------------------------------------------------------------*/

static struct velocity *lens_of(const struct table *t, size_t row)
{
    char text[256];
    snprintf(
        text, sizeof text, "lens:v0=%.17g,kz=%.17g,dv=%.17g,x=%.17g,y=%.17g,z=%.17g,sigma=%.17g",
        cell(t, row, "v0"), cell(t, row, "kz"), cell(t, row, "lens_dv"), cell(t, row, "lens_x"),
        cell(t, row, "lens_y"), cell(t, row, "lens_z"), cell(t, row, "lens_sigma"));
    return model(text);
}

static void check_lens(const struct table *t, size_t row)
{
    static const char *const source[] = {"sx", "sy", "sz"}, *const point[] = {"px", "py", "pz"};
    static const char *const slowness[] = {"qx", "qy", "qz"};
    const double polar = cell(t, row, "takeoff_polar_deg") * M_PI / 180;
    const double azimuth = cell(t, row, "takeoff_azim_deg") * M_PI / 180;
    const double d[3] = {sin(polar) * cos(azimuth), sin(polar) * sin(azimuth), cos(polar)};
    struct velocity *v = lens_of(t, row);
    struct ray_end e;
    double s[3], x[3], q[3];
    cells(t, row, source, s);
    cells(t, row, point, x);
    cells(t, row, slowness, q);
    assert_int_equal(ray_trace(v, s, d, cell(t, row, "t_strong"), 2e-3, &e), EK_OK);
    const double spread = cell(t, row, "spread_L");
    assert_true(distance(e.x, x) <= 0.1);
    assert_true(distance(e.p, q) <= 1e-4 * norm(q));
    assert_true(fabs(e.deepest - cell(t, row, "zmax_ray")) <= 0.1);
    assert_int_equal(e.kmah, (int)cell(t, row, "kmah"));
    if (spread >= 0.2 * distance(s, x))
        assert_true(fabs(e.spread - spread) <= 1e-4 * spread);
    velocity_close(v);
}

static void test_lens(void **state)
{
    struct table *t;
    int rows = 0, passed = 0;
    assert_int_equal(table_open(KIRCHHOFF_REFERENCE, NULL, &t), EK_OK);
    for (size_t row = 0; row < t->nrows; row++)
        if (!strcmp(table_text(t, row, table_find(t, "model")), "lens")) {
            check_lens(t, row);
            rows++;
            passed += cell(t, row, "kmah") > 0;
        }
    assert_int_equal(rows, 34);
    assert_int_equal(passed, 9);
    table_close(t);
}

/* On the axis of a lens the ray passes two caustics at once. */
static void test_focus(void **state)
{
    struct velocity *v = model("lens:v0=2000,kz=0,dv=800,x=0,y=0,z=900,sigma=300");
    const double s[3] = {0, 0, 0}, down[3] = {0, 0, 1};
    struct ray_end e;
    assert_int_equal(ray_trace(v, s, down, 0.3, 2e-3, &e), EK_OK);
    assert_int_equal(e.kmah, 0);
    assert_int_equal(ray_trace(v, s, down, 3, 2e-3, &e), EK_OK);
    assert_int_equal(e.kmah, 2);
    velocity_close(v);
}

/* ---- fronts -----------------------------------------------------------------------------------*/

/* Not a whole number of vectors; up to RAY_LANES - 1 rays past the last one are overwritten. */
enum { RAYS = 19, PITCH = (RAYS + RAY_LANES - 1) / RAY_LANES * RAY_LANES };

static void fan(const struct ray_field *f, const double s[3], double *state, double (*d)[3])
{
    for (int i = 0; i < PITCH; i++) {
        const double polar = 0.1 + 0.07 * i, azimuth = 1.3 * i;
        d[i][0] = sin(polar) * cos(azimuth);
        d[i][1] = sin(polar) * sin(azimuth);
        d[i][2] = cos(polar);
        for (int a = 0; a < 3; a++) {
            state[a * PITCH + i] = s[a];
            state[(3 + a) * PITCH + i] = d[i][a] / ray_field_at(f, s);
        }
    }
}

/* Every ray ends where a single ray with small steps does. */
static void check_fan(const char *text, double cell_size, double error)
{
    const double s[3] = {50, -20, 10}, low[3] = {-3000, -3000, -1000}, high[3] = {3000, 3000, 3000};
    struct velocity *v = model(text);
    struct ray_field f;
    double *state = aligned_alloc(64, RAY_ROWS * PITCH * sizeof *state), d[PITCH][3];
    struct ray_end e;
    assert_int_equal(ray_field_open(v, low, high, cell_size, &f), EK_OK);
    fan(&f, s, state, d);
    const int steps = (int)ceil(0.8 / f.step);
    const struct ray_layer way[] = {{0.5 / steps, steps}, {0.3 / steps, steps}};
    ray_advance_front(&f, state, PITCH, 0, RAYS, way, 2);
    for (int i = 0; i < RAYS; i++) {
        const double x[3] = {state[i], state[PITCH + i], state[2 * PITCH + i]};
        const double p[3] = {state[3 * PITCH + i], state[4 * PITCH + i], state[5 * PITCH + i]};
        assert_int_equal(ray_trace(v, s, d[i], 0.8, 1e-3, &e), EK_OK);
        if (!(distance(x, e.x) <= error))
            fail_msg("%s: ray %d ends %g m from where it should", text, i, distance(x, e.x));
        assert_true(distance(p, e.p) <= error / 100 * norm(p));
    }
    ray_field_close(&f);
    velocity_close(v);
    free(state);
}

static void test_fronts(void **state)
{
    check_fan("const:v=1500", 20, 1e-9);
    check_fan("gradient:v0=1500,k=0.6", 20, 1e-3);
    check_fan("gradient:v0=1800,kx=0.1,ky=-0.2,kz=0.5", 20, 1e-3);
    check_fan("layers:0:1500,800:2500,smooth=400", 20, 0.4);
    check_fan("lens:v0=2000,kz=0.5,dv=500,x=200,y=-150,z=900,sigma=300", 50, 2);
}

static void test_refusals(void **state)
{
    const double low[3] = {0, 0, -5000}, high[3] = {1e5, 1e5, 1e5};
    struct velocity *v = model("gradient:v0=1500,k=0.6");
    struct ray_field f;
    assert_fails(ray_field_open(v, low, high, 20, &f), EK_USAGE);
    velocity_close(v);
    v = model("lens:v0=2000,kz=0,dv=500,x=0,y=0,z=0,sigma=3000");
    assert_fails(ray_field_open(v, low, high, 1, &f), EK_USAGE);
    velocity_close(v);
}

/* Opens the field of a model, and begins a fan in it; the caller closes both. */
static struct velocity *open_fan(const char *text, struct ray_field *f, double *state)
{
    const double s[3] = {50, -20, 10}, low[3] = {-3000, -3000, -1000}, high[3] = {3000, 3000, 3000};
    struct velocity *v = model(text);
    double d[PITCH][3];
    assert_int_equal(ray_field_open(v, low, high, 50, f), EK_OK);
    fan(f, s, state, d);
    return v;
}

static void advance_fan(void *text, double *to)
{
    struct ray_field f;
    struct velocity *v = open_fan(text, &f, to);
    const struct ray_layer way = {f.step, 12};
    ray_advance_front(&f, to, PITCH, 0, RAYS, &way, 1);
    for (int i = 0; i < RAY_ROWS * PITCH; i++)
        to[i] = i % PITCH < RAYS ? to[i] * (i / PITCH < 3 ? 1 : 1e6) : 0;
    ray_field_close(&f);
    velocity_close(v);
}

static void test_levels(void **state)
{
    isa_compare("linear", RAY_ROWS * PITCH, true, 1e-12, advance_fan,
                "gradient:v0=1800,kx=0.1,ky=-0.2,kz=0.5");
    isa_compare("cube", RAY_ROWS * PITCH, true, 1e-6, advance_fan,
                "lens:v0=2000,kz=0.5,dv=500,x=200,y=-150,z=900,sigma=300");
}

/* However many rays are advanced, from a boundary of lanes on, each goes where it went among all of
 * them, and those beyond the last one's lanes stay. */
static void parts_of(const char *text)
{
    static _Alignas(64) double all[RAY_ROWS * PITCH], from[RAY_ROWS * PITCH], to[RAY_ROWS * PITCH];
    struct ray_field f;
    struct velocity *v = open_fan(text, &f, from);
    const struct ray_layer way = {f.step, 7};
    memcpy(all, from, sizeof all);
    ray_advance_front(&f, all, PITCH, 0, PITCH, &way, 1);
    for (size_t first = 0; first < PITCH; first += RAY_LANES)
        for (size_t count = 1; first + count <= PITCH; count++) {
            const size_t end = first + (count + RAY_LANES - 1) / RAY_LANES * RAY_LANES;
            memcpy(to, from, sizeof to);
            ray_advance_front(&f, to, PITCH, first, count, &way, 1);
            for (size_t i = 0; i < RAY_ROWS * PITCH; i++) {
                const size_t ray = i % PITCH;
                if (ray < first || ray >= end)
                    assert_true(to[i] == from[i]);
                else if (ray < first + count)
                    assert_true(to[i] == all[i]);
            }
        }
    ray_field_close(&f);
    velocity_close(v);
}

static void test_parts(void **state)
{
    parts_of("gradient:v0=1800,kx=0.1,ky=-0.2,kz=0.5");
    parts_of("lens:v0=2000,kz=0.5,dv=500,x=200,y=-150,z=900,sigma=300");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lens),     cmocka_unit_test(test_focus),
        cmocka_unit_test(test_fronts),   cmocka_unit_test(test_levels),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
