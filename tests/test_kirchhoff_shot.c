/* tests/test_kirchhoff_shot.c – tables by wavefront construction against closed forms, for any
 * source, number of threads and ray limit; places that rays cannot reach. */
#include "kirchhoff/analytic.h"
#include "kirchhoff/shot.h"
#include "tests/kirchhoff.h"

/* Largest and rms errors beyond 100 m from the source. */
struct errors {
    double most, rms, slowness, spread; /* s, s, relative, relative */
    size_t n, unfilled;
};

/* The front's table; if `mended`, the eikonal equation replaces what is wrong. */
static struct ttable *run_in(const struct velocity *v, const struct grid *g,
                             const struct shot_options *o, const double s[3], bool mended,
                             struct shot_numbers *numbers)
{
    struct shot_job job;
    struct shot *shot;
    bool done = false;
    assert_int_equal(shot_job_open(&job, g, v, o, 1, (const double(*)[3])s), EK_OK);
    assert_int_equal(shot_open(&job, s, &shot), EK_OK);
    while (!done)
        assert_int_equal(shot_step(shot, NULL, NULL, &done), EK_OK);
    struct ttable *t = shot_take(shot);
    if (numbers)
        *numbers = shot->numbers;
    shot_close(shot);
    if (mended)
        assert_int_equal(shot_job_repair(&job, NULL, t), EK_OK);
    shot_job_close(&job);
    return t;
}

static struct ttable *run(const char *model, const struct grid *g, const struct shot_options *o,
                          const double s[3], struct shot_numbers *numbers)
{
    struct velocity *v;
    assert_int_equal(velocity_open(model, &v), EK_OK);
    struct ttable *t = run_in(v, g, o, s, false, numbers);
    velocity_close(v);
    return t;
}

static void compare(const struct ttable *t, const struct ttable *exact, struct errors *e)
{
    const struct grid *g = &t->grid;
    double sum = 0;
    *e = (struct errors){.unfilled = t->unfilled};
    for (size_t i = 0; i < grid_nodes(g); i++) {
        double off = 0, size = 0;
        if (t->kmah[i] == TTABLE_UNFILLED || exact->spread[i] < 100)
            continue;
        const double error = fabs((double)t->time[i] - (double)exact->time[i]);
        for (int a = 0; a < 3; a++) {
            const double q = (double)exact->p[a][i], d = (double)t->p[a][i] - q;
            off += d * d;
            size += q * q;
        }
        e->most = fmax(e->most, error);
        e->slowness = fmax(e->slowness, sqrt(off / size));
        e->spread = fmax(e->spread, fabs((double)t->spread[i] / (double)exact->spread[i] - 1));
        assert_int_equal(t->kmah[i], 0);
        sum += error * error;
        e->n++;
    }
    e->rms = sqrt(sum / (double)e->n);
}

static struct errors errors_of(const char *model, const struct grid *g, const double s[3],
                               const struct shot_options *o, struct shot_numbers *numbers)
{
    struct velocity *v;
    struct ttable *exact, *t = run(model, g, o, s, numbers);
    struct errors e;
    assert_int_equal(velocity_open(model, &v), EK_OK);
    assert_int_equal(ttable_make(g, s, model, &exact), EK_OK);
    fill_exactly(exact, v);
    compare(t, exact, &e);
    ttable_close(t);
    ttable_close(exact);
    velocity_close(v);
    return e;
}

/* ---- accuracy ---------------------------------------------------------------------------------*/

static void test_closed_forms(void **state)
{
    static const struct {
        const char *model;
        struct grid grid;
        double source[3];
    } cases[] = {
        {"const:v=2000", {{51, 51, 51}, {0, 0, 0}, {40, 40, 40}}, {1000, 1000, 0}},
        {"const:v=2000", {{41, 31, 31}, {-800, 0, 100}, {50, 50, 50}}, {13, 517, 20}},
        {"gradient:v0=1500,k=0.6", {{51, 51, 51}, {0, 0, 0}, {20, 20, 20}}, {0, 0, 0}},
        {"gradient:v0=1500,k=0.6", {{71, 71, 41}, {0, 0, 0}, {50, 50, 50}}, {777, 1234, 0}},
        {"gradient:v0=1800,kx=0.1,ky=-0.2,kz=0.5",
         {{51, 51, 41}, {0, 0, 0}, {40, 40, 40}},
         {1900, 150, 0}},
        {"gradient:v0=2000,k=0.5", {{41, 41, 41}, {0, 0, 0}, {30, 20, 25}}, {600, 400, 700}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct errors e =
            errors_of(cases[i].model, &cases[i].grid, cases[i].source, &SHOT_OPTIONS, NULL);
        print_message(
            "%zu: rms %.4f max %.4f ms, slowness %.3f %%, spreading %.2f %%, %zu unfilled\n", i,
            1e3 * e.rms, 1e3 * e.most, 100 * e.slowness, 100 * e.spread, e.unfilled);
        assert_true(e.rms <= 0.2e-3);
        assert_true(e.most <= 1e-3);
        assert_true(e.slowness <= 0.002);
        assert_true(e.spread <= 0.02);
        assert_int_equal(e.unfilled, 0);
    }
}

/* ---- laws -------------------------------------------------------------------------------------*/

static const struct grid small = {{31, 31, 31}, {0, 0, 0}, {30, 30, 30}};
static const char vertical[] = "gradient:v0=1500,k=0.6";

/* When limited to fewer rays, the front gets coarser without holes, and says so. */
static void test_cap(void **state)
{
    const double s[3] = {450, 450, 0};
    struct shot_options o = SHOT_OPTIONS;
    struct shot_numbers free_numbers, capped;
    errors_of(vertical, &small, s, &o, &free_numbers);
    assert_int_equal(free_numbers.raised, 0);
    o.edge = 40;
    o.most = 3000;
    const struct errors e = errors_of(vertical, &small, s, &o, &capped);
    assert_true(capped.raised > 0);
    assert_true(capped.longest <= 3000);
    assert_true(capped.edge > 40);
    assert_int_equal(e.unfilled, 0);
    assert_true(e.rms <= 0.2e-3);
}

/* Rays that dive below the grid return to it; without a margin they would be lost. */
static void test_diving_rays(void **state)
{
    const struct grid flat = {{101, 3, 5}, {0, 0, 0}, {50, 50, 50}};
    const double s[3] = {0, 50, 0};
    struct shot_options o = SHOT_OPTIONS;
    assert_int_equal(errors_of(vertical, &flat, s, &o, NULL).unfilled, 0);
    o.margin = 0;
    assert_true(errors_of(vertical, &flat, s, &o, NULL).unfilled > 100);
}

/* Steps along axes with a single node mean nothing, neither for accuracy nor for the work. */
static void test_steps_of_single_nodes(void **state)
{
    (void)state;
    static const char lens[] = "lens:v0=1600,kz=0.5,dv=-200,x=500,y=500,z=500,sigma=300";
    const double s[3] = {0, 0, 0}, steps[] = {1, 20, 1000};
    struct ttable *t[3];
    struct shot_numbers numbers;
    for (int i = 0; i < 3; i++) {
        const struct grid column = {{1, 1, 41}, {0, 0, 0}, {steps[i], steps[i], 20}};
        t[i] = run(lens, &column, &SHOT_OPTIONS, s, &numbers);
        assert_true(numbers.longest < 5000);
        for (int k = 0; k < 41; k++)
            assert_true(fabsf(t[i]->time[k] - t[0]->time[k]) < 2e-5F);
    }
    for (int i = 0; i < 3; i++)
        ttable_close(t[i]);
}

/* A shot that is to end early leaves the later nodes unfilled and gives no wrong times. */
static void test_last(void **state)
{
    const double s[3] = {450, 450, 0};
    struct shot_options o = SHOT_OPTIONS;
    o.last = 0.3;
    const struct errors e = errors_of(vertical, &small, s, &o, NULL);
    assert_true(e.unfilled > 1000 && e.unfilled < grid_nodes(&small));
    assert_true(e.most < 1e-3);
}

/* Behind a slow lens rays cross: where several arrive, the strongest may have passed caustics and
 * is no earlier than the first arrival, which the eikonal equation gives. */
static void test_arrivals(void **state)
{
    static const char lens[] = "lens:v0=2000,kz=0.5,dv=900,x=600,y=600,z=500,sigma=150";
    const struct grid g = {{41, 41, 61}, {0, 0, 0}, {30, 30, 30}};
    const double s[3] = {600, 600, 0};
    struct shot_options o = SHOT_OPTIONS;
    struct ttable *strong = run(lens, &g, &o, s, NULL), *first;
    struct shot_job job;
    struct velocity *v;
    o.first = true;
    assert_int_equal(velocity_open(lens, &v), EK_OK);
    assert_int_equal(shot_job_open(&job, &g, v, &o, 1, &s), EK_OK);
    assert_int_equal(ttable_make(&g, s, v->text, &first), EK_OK);
    assert_int_equal(shot_job_first(&job, NULL, first), EK_OK);
    size_t later = 0, caustics = 0, early = 0;
    for (size_t i = 0; i < grid_nodes(&g); i++) {
        if (strong->kmah[i] == TTABLE_UNFILLED)
            continue;
        early += strong->time[i] < first->time[i] - 1e-3F;
        later += strong->time[i] > first->time[i] + 1e-3F;
        caustics += strong->kmah[i] > 0;
    }
    assert_true(later > 100);
    assert_true(caustics > 100);
    assert_true(early < grid_nodes(&g) / 200);
    assert_int_equal(first->unfilled, 0);
    ttable_close(first);
    ttable_close(strong);
    shot_job_close(&job);
    velocity_close(v);
}

/* Fronts fail beyond sharp interfaces, at a node or between two. After mending each node has a
 * time, of the strongest arrival or of the first. */
static void test_mended(void **state)
{
    static const struct analytic_layers models[] = {
        {1500, 2500, 400}, {2500, 1600, 311}, {1800, 2200, 389}};
    const struct grid g = {{31, 5, 31}, {0, 0, 0}, {25, 25, 25}};
    const double s[3] = {100, 50, 0};
    for (int m = 0; m < 3; m++) {
        const struct analytic_layers *l = &models[m];
        struct shot_options o = SHOT_OPTIONS;
        struct velocity *v;
        char text[80];
        double sum = 0;
        snprintf(text, sizeof text, "layers:0:%g,%g:%g,smooth=0", l->v1, l->h, l->v2);
        assert_int_equal(velocity_open(text, &v), EK_OK);
        struct ttable *t = run_in(v, &g, &o, s, true, NULL);
        assert_int_equal(t->unfilled, 0);
        assert_true(t->failing * 20 < t->judged);
        for (int i = 0; i < 31; i++)
            for (int k = 0; k < 31; k++) {
                const double x[3] = {25.0 * i, 50, 25.0 * k},
                             time = (double)t->time[grid_index(&g, i, 2, k)];
                struct analytic c;
                double head;
                analytic_layers_strong(l, s, x, &c);
                double off = fabs(time - c.time);
                if (analytic_layers_head(l, s, x, &head))
                    off = fmin(off, fabs(time - head));
                sum += off * off;
            }
        assert_true(sqrt(sum / (31 * 31)) < 0.4e-3);
        assert_true(t->eikonal > grid_nodes(&g) / 3 && t->eikonal < grid_nodes(&g));
        ttable_close(t);
        velocity_close(v);
    }
}

/* A front that a model tears or traps is ended before it costs much; the table is complete all the
 * same, and no time is earlier than the first arrival. */
static void test_given_up(void **state)
{
    static const double source[2][3] = {{140, 240, 0}, {330, 250, 240}};
    static const struct grid g = {{31, 25, 25}, {0, 0, 0}, {20, 20, 20}};
    for (int m = 0; m < 2; m++) {
        struct velocity *v = salt(m == 0);
        struct shot_options o = SHOT_OPTIONS;
        struct shot_numbers numbers;
        struct ttable *t, *first;
        struct shot_job job;
        t = run_in(v, &g, &o, source[m], true, &numbers);
        assert_true(numbers.given_up && numbers.rays < 50000 && numbers.steps < 1000);
        assert_int_equal(t->unfilled, 0);
        assert_true(m || t->failing * 10 < t->judged);
        o.first = true;
        assert_int_equal(shot_job_open(&job, &g, v, &o, 1, &source[m]), EK_OK);
        assert_int_equal(ttable_make(&g, source[m], v->text, &first), EK_OK);
        assert_int_equal(shot_job_first(&job, NULL, first), EK_OK);
        for (size_t i = 0; i < grid_nodes(&g); i++)
            assert_true((double)t->time[i] > 0.99 * (double)first->time[i] - 2e-3);
        ttable_close(first);
        ttable_close(t);
        shot_job_close(&job);
        velocity_close(v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_diving_rays),
        cmocka_unit_test(test_last),
        cmocka_unit_test(test_steps_of_single_nodes),
        cmocka_unit_test(test_arrivals),
        cmocka_unit_test(test_mended),
        cmocka_unit_test(test_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
