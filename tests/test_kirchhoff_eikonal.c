/* tests/test_kirchhoff_eikonal.c – first arrivals by fast sweeping against closed forms in smooth
 * and layered media, and against a finer grid; the same bits with any number of threads and at any
 * instruction level; no table once the run is to stop. */
#include "cu/rank/stop.h"
#include "cu/team/thread_pool.h"
#include "kirchhoff/analytic.h"
#include "kirchhoff/certify.h"
#include "kirchhoff/eikonal.h"
#include "src/isa.h"
#include "tests/kirchhoff.h"

#include <omp.h>

/* In a box that reaches `margin` steps beyond grid and source. */
static struct ttable *solve_in(const struct velocity *v, const struct grid *g, const double s[3],
                               int margin, const struct cu *cu)
{
    struct eikonal *e;
    struct ttable *t;
    double low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = fmin(g->origin[a], s[a]) - margin * g->step[a];
        high[a] = fmax(grid_end(g, a), s[a]) + margin * g->step[a];
    }
    assert_int_equal(ttable_make(g, s, v->text, &t), EK_OK);
    assert_int_equal(eikonal_open(v, g, low, high, &e), EK_OK);
    assert_int_equal(eikonal_solve(e, cu, t), EK_OK);
    eikonal_close(e);
    ttable_count(t);
    assert_int_equal(t->unfilled, 0);
    assert_int_equal(t->eikonal, grid_nodes(g));
    return t;
}

static struct ttable *solve(const struct velocity *v, const struct grid *g, const double s[3],
                            const struct cu *cu)
{
    return solve_in(v, g, s, 8, cu);
}

/* The rms difference of times in s; every m-th node of `fine` is a node of t. */
static double times_off(const struct ttable *t, const struct ttable *fine, int m)
{
    const struct grid *g = &t->grid;
    double sum = 0;
    for (int i = 0; i < g->n[0]; i++)
        for (int j = 0; j < g->n[1]; j++)
            for (int k = 0; k < g->n[2]; k++) {
                const double d = (double)t->time[grid_index(g, i, j, k)] -
                                 (double)fine->time[grid_index(&fine->grid, m * i, m * j, m * k)];
                sum += d * d;
            }
    return sqrt(sum / (double)grid_nodes(g));
}

static void closed_forms(void **state)
{
    static const struct {
        const char *model;
        struct grid grid;
        double source[3];
        int margin;
        double off; /* ms, a third more than differences of this order leave */
    } cases[] = {
        {"const:v=2000", {{37, 31, 29}, {0, 0, 0}, {20, 20, 20}}, {360, 300, 0}, 0, 0.035},
        {"gradient:v0=2000,k=0.6", {{41, 29, 33}, {0, 0, 0}, {20, 20, 20}}, {0, 0, 0}, 8, 0.039},
        {"gradient:v0=1800,kx=0.1,ky=-0.2,kz=0.5",
         {{31, 33, 35}, {100, -70, 40}, {25, 20, 15}},
         {417, 101, 203},
         8,
         0.025},
        {"gradient:v0=2500,k=0.4", {{41, 1, 37}, {0, 10, 0}, {20, 1, 20}}, {390, 10, 5}, 8, 0.026},
        {"const:v=1400", {{24, 11, 42}, {500, -130, 0}, {33, 20, 7}}, {1160, 70, 266}, 8, 0.059},
        {"const:v=1500", {{1, 1, 1}, {70, 0, 0}, {10, 10, 10}}, {0, 0, 0}, 8, 0.001},
        {"const:v=1500", {{2, 3, 2}, {-10, 0, 0}, {10, 20, 7}}, {3, 4, 5}, 8, 0.001},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct velocity *v;
        struct ttable *exact;
        assert_int_equal(velocity_open(cases[c].model, &v), EK_OK);
        struct ttable *t = solve_in(v, &cases[c].grid, cases[c].source, cases[c].margin, NULL);
        assert_int_equal(ttable_make(&t->grid, t->source, v->text, &exact), EK_OK);
        fill_exactly(exact, v);
        assert_true(1e3 * times_off(t, exact, 1) < cases[c].off);
        double p = 0, spread = 0;
        for (size_t i = 0; i < grid_nodes(&t->grid); i++) {
            for (int a = 0; a < 3; a++)
                p += pow((double)(t->p[a][i] - exact->p[a][i]) * 2000, 2);
            if (exact->spread[i] > 100)
                spread = fmax(spread, fabs((double)(t->spread[i] / exact->spread[i]) - 1));
        }
        assert_true(sqrt(p / (double)grid_nodes(&t->grid)) < 0.02);
        assert_true(spread < 0.02);
        certify_table(t, v);
        assert_true(t->failing * 100 <= t->judged);
        ttable_close(exact);
        ttable_close(t);
        velocity_close(v);
    }
}

/* Direct, transmitted and head waves at an unsmoothed interface, at a node or between two. */
static void sharp_layers(void **state)
{
    static const struct analytic_layers models[] = {
        {1500, 2500, 400}, {2500, 1600, 300}, {1800, 3000, 309}};
    const struct grid g = {{61, 7, 31}, {0, 0, 0}, {20, 20, 20}};
    const double s[3] = {100, 60, 0};
    for (int m = 0; m < 3; m++) {
        char text[80];
        struct velocity *v;
        double sum = 0;
        snprintf(text, sizeof text, "layers:0:%g,%g:%g,smooth=0", models[m].v1, models[m].h,
                 models[m].v2);
        assert_int_equal(velocity_open(text, &v), EK_OK);
        struct ttable *t = solve(v, &g, s, NULL);
        for (int i = 0; i < g.n[0]; i++)
            for (int k = 0; k < g.n[2]; k++) {
                const double x[3] = {20.0 * i, 60, 20.0 * k};
                struct analytic c;
                double head;
                analytic_layers_strong(&models[m], s, x, &c);
                if (analytic_layers_head(&models[m], s, x, &head))
                    c.time = fmin(c.time, head);
                const double off = (double)t->time[grid_index(&g, i, 3, k)] - c.time;
                sum += off * off;
            }
        assert_true(sqrt(sum / (g.n[0] * g.n[2])) < 0.5e-3);
        certify_table(t, v);
        assert_true(t->failing * 10 <= t->judged);
        ttable_close(t);
        velocity_close(v);
    }
}

static void finer_grids_agree(void **state)
{
    const int finer = getenv("EK_LONG") ? 4 : 3;
    struct grid g = {{31, 25, 25}, {0, 0, 0}, {20, 20, 20}}, fine = g;
    struct velocity *v = salt(true);
    for (int a = 0; a < 3; a++) {
        fine.n[a] = finer * (g.n[a] - 1) + 1;
        fine.step[a] /= finer;
    }
    const double s[3] = {140, 240, 0};
    struct ttable *t = solve(v, &g, s, NULL), *f = solve(v, &fine, s, NULL);
    assert_true(times_off(t, f, finer) < 1e-3);
    certify_table(t, v);
    assert_true(t->failing * 10 <= t->judged);
    ttable_close(t);
    ttable_close(f);
    velocity_close(v);
}

static void same_bits(void **state)
{
    const struct grid g = {{23, 19, 29}, {0, 0, 0}, {20, 25, 15}};
    const double s[3] = {111, 222, 33};
    struct velocity *v;
    assert_int_equal(velocity_open("layers:0:1500,130:2600,290:1900,smooth=0", &v), EK_OK);
    struct ttable *one = solve(v, &g, s, NULL);
    for (int width = 2; width <= 5; width++) {
        struct thread_pool pool;
        struct cu cu = {.width = width};
        assert_int_equal(isa_change(width == 4 ? isa_at(0)->name : NULL), EK_OK);
        struct ttable *other = NULL;
        thread_pool_init(&pool, width, true);
        cu.pool = &pool;
#pragma omp parallel num_threads(width)
        if (omp_get_thread_num()) {
            thread_pool_serve(&pool, omp_get_thread_num());
        } else {
            other = solve(v, &g, s, &cu);
            thread_pool_dismiss(&pool);
        }
        assert_memory_equal(one->time, other->time, grid_nodes(&g) * (5 * sizeof(float) + 1));
        ttable_close(other);
    }
    ttable_close(one);
    velocity_close(v);
}

static void refusals(void **state)
{
    const struct grid g = {{5, 5, 5}, {0, 0, 0}, {10, 10, 10}};
    const double low[3] = {0, 0, 0}, high[3] = {40, 40, 40};
    struct velocity *v;
    struct eikonal *e;
    struct ttable *t;
    assert_int_equal(velocity_open("gradient:v0=100,k=-3", &v), EK_OK);
    assert_fails(eikonal_open(v, &g, low, high, &e), EK_USAGE);
    velocity_close(v);
    assert_int_equal(velocity_open("const:v=1500", &v), EK_OK);
    assert_int_equal(eikonal_open(v, &g, low, high, &e), EK_OK);
    assert_int_equal(ttable_make(&g, (const double[]){41, 0, 0}, v->text, &t), EK_OK);
    assert_fails(eikonal_solve(e, NULL, t), EK_USAGE);
    ttable_close(t);
    assert_int_equal(ttable_make(&g, (const double[]){20, 20, 20}, v->text, &t), EK_OK);
    stop_request(); /* last, as it cannot be withdrawn */
    assert_int_equal(eikonal_solve(e, NULL, t), EK_STOPPED);
    ttable_close(t);
    eikonal_close(e);
    assert_int_equal(eikonal_open(v, &g, low, high, &e), EK_STOPPED);
    velocity_close(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),      cmocka_unit_test(sharp_layers),
        cmocka_unit_test(finer_grids_agree), cmocka_unit_test(same_bits),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
