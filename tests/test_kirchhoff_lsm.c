/* tests/test_kirchhoff_lsm.c – demigration is the adjoint of migration and gives the same traces on
 * any unit; least squares explain more with each iteration and sharpen a point. */
#include "kirchhoff/generate.h"
#include "kirchhoff/lsm.h"
#include "tests/kirchhoff.h"
#include "tests/migrated.h"

static char path[96];

static double draw(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

static int name_file(void **state)
{
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_lsm-%d.segy", (int)getpid());
    return 0;
}

static int drop_file(void **state)
{
    return unlink(path);
}

/* Traces of a few shots: noise, or the reflections of one point of strength 1. The third is
 * dead. */
static void write_traces(const struct generate_diffractor *point)
{
    struct generate_survey g = generate_surveys[GENERATE_SMALL];
    const struct generate_events e = {.diffractor = point, .ndiffractors = point != NULL};
    const struct segy_new file = {.ns = g.ns, .dt = g.dt};
    const int n = g.shots * g.shots * g.receivers * g.receivers;
    struct segy_writer *w;
    float *sample = calloc((size_t)g.ns, sizeof *sample);
    assert_non_null(sample);
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    for (int i = 0; i < n; i++) {
        double s[3], r[3];
        generate_place(&g, i, s, r);
        const struct segy_put put = {.sx = s[0], .sy = s[1], .gx = r[0], .gy = r[1]};
        generate_trace(&g, &e, s, r, sample);
        for (long k = 0; k < g.ns && (!point || i == 2); k++)
            sample[k] = i == 2 ? 0 : (float)draw();
        assert_int_equal(segy_put(w, &put, sample), EK_OK);
    }
    assert_int_equal(segy_finish(w), EK_OK);
    free(sample);
}

static struct migrate_options usual(const char *grid)
{
    struct migrate_options o;
    migrate_defaults(&o);
    o.data = path;
    o.velocity = "gradient:v0=1500,k=0.6";
    o.grid = grid;
    return o;
}

/* All traces predicted from an image, by a worker of `width` threads. */
static float *modelled(const struct migrate *m, const double *image, int width)
{
    struct migrate_worker *w;
    float *out = calloc(m->segy->n * (size_t)m->segy->ns, sizeof *out);
    assert_non_null(out);
    assert_int_equal(migrate_worker_open(m, width, &w), EK_OK);
    for (size_t c = m->survey->nchunks; c-- > 0;)
        assert_int_equal(migrate_adjoint(w, NULL, c, image, out), EK_OK);
    migrate_worker_close(w);
    return out;
}

/* <M d, x> = <d, M^T x> for random d and x. */
static void demigration_is_adjoint(void **state)
{
    static const struct {
        const char *grid;
        int weight, filter, classes, oversample;
        double anti_alias, aperture;
        const char *mute;
        double wavelet;
    } cases[] = {
        {"5x3x41:40x60x9@800,900,300", MIGRATE_MODELLING, -1, 1, 2, 1, 1e9, NULL, 20},
        {"1x1x1:40x60x9@800,900,700", MIGRATE_KINEMATIC, -1, 1, 1, 0, 1e9, NULL, 0},
        {"2x7x30:90x50x13@700,800,20", MIGRATE_AMPLITUDE, -1, 1, 3, 2, 900, "0:0.4,2000:1", 0},
        {"3x2x17:50x50x25@1000,1000,200", MIGRATE_DIFFRACTOR, FILTER_RHO, 3, 2, 1, 1e9, NULL, 0},
        {"4x1x23:50x50x5@1000,1000,200", MIGRATE_KINEMATIC, FILTER_HALF, 2, 1, 1, 700, NULL, 0}};
    srand(7);
    write_traces(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct migrate_options o = usual(cases[i].grid);
        o.weight = cases[i].weight;
        o.filter = cases[i].filter;
        o.classes = cases[i].classes;
        o.class_width = cases[i].classes > 1 ? 600 : 0;
        o.oversample = cases[i].oversample;
        o.anti_alias = cases[i].anti_alias;
        o.aperture = cases[i].aperture;
        o.mute = cases[i].mute;
        o.wavelet = cases[i].wavelet;
        struct migrate *m = migrated(&o);
        const size_t n = image_points(m->image), ns = (size_t)m->segy->ns;
        double *x = calloc(n, sizeof *x), *image = m->image->sum, left = 0, right = 0, a = 0, b = 0;
        float *d = calloc(ns, sizeof *d);
        assert_true(x && d);
        for (size_t k = 0; k < n; k++) {
            x[k] = (int)(k % (size_t)m->image->depths) < m->grid.n[2] ? draw() : 0;
            left += x[k] * image[k];
            a += x[k] * x[k];
        }
        float *one = modelled(m, x, 1), *three = modelled(m, x, 3);
        assert_memory_equal(one, three, m->segy->n * ns * sizeof *one);
        for (size_t t = 0; t < m->segy->n; t++) {
            assert_int_equal(segy_read(m->segy, t, d), EK_OK);
            for (size_t k = 0; k < ns; k++) {
                right += (double)d[k] * (double)one[t * ns + k];
                b += (double)one[t * ns + k] * (double)one[t * ns + k];
            }
        }
        const double size = sqrt(b) * sqrt((double)m->segy->n * (double)ns / 3);
        if (!(b > 0 && a > 0 && fabs(left - right) < 1e-6 * size))
            fail_msg("case %zu: %.12g, %.12g of %g", i, left, right, size);
        free(one);
        free(three);
        free(x);
        free(d);
        migrate_close(m);
    }
}

/* ---- least squares ----------------------------------------------------------------------------*/

static void run_step(struct lsm *l, struct migrate_worker *w, int number, bool *last)
{
    for (size_t c = 0; c < l->m->survey->nchunks; c++)
        assert_int_equal(lsm_migrates(number)
                             ? migrate_chunk(w, NULL, c)
                             : migrate_adjoint(w, NULL, c, l->direction, l->modelled),
                         EK_OK);
    lsm_step(l, number, last);
}

/* The share of energy that is away from the point. */
static double blur(const struct migrate *m, const double at[3])
{
    double all = 0, away = 0;
    for (size_t c = 0; c < m->image->columns; c++)
        for (int k = 0; k < m->grid.n[2]; k++) {
            const double x = grid_coordinate(&m->grid, 0, (int)c / m->grid.n[1]) - at[0];
            const double y = grid_coordinate(&m->grid, 1, (int)c % m->grid.n[1]) - at[1];
            const double z = grid_coordinate(&m->grid, 2, k) - at[2];
            const double v = image_sum(m->image, 0, c)[k];
            all += v * v;
            away += fabs(x) > 45 || fabs(y) > 45 || fabs(z) > 60 ? v * v : 0;
        }
    return away / all;
}

static void points_become_sharper(void **state)
{
    enum { ITERATIONS = 6 };
    const struct generate_diffractor point = {.at = {1000, 1000, 800}, .strength = 1};
    struct migrate_options o = usual("9x9x41:40x40x10@840,840,600");
    o.weight = MIGRATE_MODELLING;
    o.anti_alias = 0;
    write_traces(&point);
    for (int twice = 0; twice < 2; twice++) {
        struct migrate *m;
        struct migrate_worker *w;
        struct lsm *l;
        bool last = false;
        double before = NAN;
        o.deterministic = twice;
        assert_int_equal(migrate_open(&o, &m), EK_OK);
        assert_int_equal(migrate_worker_open(m, 1, &w), EK_OK);
        assert_int_equal(lsm_open(m, ITERATIONS, 0, m->survey->nchunks, &l), EK_OK);
        for (int step = 1; step <= 2 * ITERATIONS; step++) {
            assert_false(last);
            run_step(l, w, step, &last);
            before = step == 2 ? (memcpy(m->image->sum, l->gradient, l->n * sizeof *l->x),
                                  blur(m, point.at))
                               : before;
            if (step == 2)
                image_clear(m->image);
        }
        assert_true(last && l->at.done == ITERATIONS && l->norm[0] == 1);
        for (int i = 1; i <= ITERATIONS; i++)
            assert_true(l->norm[i] < l->norm[i - 1]);
        assert_true(lsm_mismatch(l) < 1e-6);
        assert_true(blur(m, point.at) < 0.7 * before);
        assert_int_equal(m->image->silent, 2 * ITERATIONS); /* in every pass */
        lsm_close(l);
        migrate_worker_close(w);
        migrate_close(m);
    }
}

/* The dot test is as exact if the image explains next to nothing of the traces. */
static void little_is_explained(void **state)
{
    (void)state;
    const struct generate_diffractor point = {.at = {1000, 1000, 800}, .strength = 1};
    struct migrate_options o = usual("3x3x9:100x100x10@1600,1500,20");
    struct migrate *m;
    struct migrate_worker *w;
    struct lsm *l;
    bool last;
    o.weight = MIGRATE_MODELLING;
    o.aperture = 200;
    write_traces(&point);
    assert_int_equal(migrate_open(&o, &m), EK_OK);
    assert_int_equal(migrate_worker_open(m, 1, &w), EK_OK);
    assert_int_equal(lsm_open(m, 1, 0, m->survey->nchunks, &l), EK_OK);
    run_step(l, w, 1, &last);
    run_step(l, w, 2, &last);
    assert_true(last && l->norm[1] > 0.999);
    assert_true(lsm_mismatch(l) < 1e-7);
    lsm_close(l);
    migrate_worker_close(w);
    migrate_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(demigration_is_adjoint),
                                       cmocka_unit_test(points_become_sharper),
                                       cmocka_unit_test(little_is_explained)};
    return cmocka_run_group_tests(tests, name_file, drop_file);
}
