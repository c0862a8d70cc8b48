/* tests/test_cu_tune.c – the search for layouts: climbs hills, measures nothing twice, stops in
 * time, stays within the machine; for the paper's SP-MZ, where neighbours slow one another, half
 * the cores are best. */
#include "cu/sim/simulate_layout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- the search -------------------------------------------------------------------------------*/
/* A landscape with a single top. `room` must be first, because the search's moves read it. */
struct hill {
    struct tune_room room;
    struct cu_layout top;
    unsigned devices;
    int measured, most;
};

/* The nearer to the top, the higher the rate. Nothing is measured twice, and every layout fits. */
static enum ek_status climb(void *ctx, const struct tune_point *p, double *rate)
{
    struct hill *h = ctx;
    unsigned devices;
    const struct cu_layout l = tune_layout_of(p, &devices);
    assert_true(l.ncpu >= 0 && l.width >= 0 && l.ncpu * l.width <= h->room.cores);
    assert_true(l.ncpu > 0 || devices);
    assert_true(devices ? l.feeders >= 1 : l.feeders == 0);
    assert_true(l.feeders < 2 || l.ncpu * l.width + l.ndev * l.feeders <= h->room.cores);
    assert_int_equal(l.ndev, __builtin_popcount(devices));
    assert_true(devices < 1u << h->room.ndev);
    if (h->measured++ == h->most)
        return EK_STOPPED;
    *rate = 1 / (1 + fabs(log((l.ncpu + 0.1) / (h->top.ncpu + 0.1))) +
                 fabs(log2((l.width + 0.1) / (h->top.width + 0.1))) +
                 __builtin_popcount(devices ^ h->devices) +
                 (h->top.ndev ? fabs(log2((l.ndev ? l.feeders : 1.0) / h->top.feeders)) : 0));
    return EK_OK;
}

static const struct tune_ops hill_ops = {tune_layout_move, climb};

static struct cu_layout climb_to(struct hill *h, const char *top, unsigned devices, struct tune *t)
{
    h->devices = devices;
    assert_int_equal(cu_layout_parse(top, &h->top), EK_OK);
    const struct tune_point first = tune_layout_first(&h->room);
    assert_int_equal(tune_search(&hill_ops, h, tune_layout_moves(&h->room), &first, 0.001, t),
                     EK_OK);
    assert_true(t->best >= 0);
    return tune_layout_of(&t->trial[t->best].point, &devices);
}

static void finds_the_top(void **state)
{
    static const struct {
        int cores, ndev;
        const char *top;
        unsigned devices;
    } hills[] = {
        {2, 1, "1x1+1", 1},   {2, 1, "2x1", 0},       {2, 1, "1x2", 0},       {2, 1, "0x0+1", 1},
        {2, 1, "1x2+1", 1},   {2, 1, "2x1+1", 1},     {1, 1, "1x1+1", 1},     {1, 0, "1x1", 0},
        {64, 2, "31x1+2", 3}, {64, 2, "62x1+1", 2},   {64, 0, "8x8", 0},      {64, 2, "16x2+2", 3},
        {64, 2, "1x64", 0},   {128, 4, "30x4+3", 11}, {16, 1, "12x1+1x4", 1}, {16, 2, "0x0+2x8", 3},
        {2, 1, "0x0+1x2", 1}, {64, 2, "20x2+2x8", 3},
    };
    struct tune t;
    for (size_t i = 0; i < sizeof hills / sizeof *hills; i++) {
        struct hill h = {.room = {.cores = hills[i].cores,
                                  .ndev = hills[i].ndev,
                                  .keeps = true,
                                  .fine = true,
                                  .width = 1},
                         .most = 1000};
        struct cu_layout found = climb_to(&h, hills[i].top, hills[i].devices, &t);
        assert_string_equal(cu_layout_text(&found), hills[i].top);
        assert_int_equal(h.measured, t.n);
        assert_true(t.n < 80);
    }
}

/* When time is up, the best layout so far is the answer; failures are passed on. */
static void stops_in_time(void **state)
{
    struct hill h = {.room = {.cores = 64, .ndev = 1, .keeps = true, .width = 1}, .most = 3};
    struct tune t;
    climb_to(&h, "8x8", 0, &t);
    assert_int_equal(t.n, 3);
    h = (struct hill){.room = h.room};
    const struct tune_point first = tune_layout_first(&h.room);
    assert_int_equal(tune_search(&hill_ops, &h, 3, &first, 0.01, &t), EK_OK);
    assert_int_equal(t.best, -1);
}

/* The best trial was lucky: measured again, another one is better. */
struct luck {
    int calls;
};

static enum ek_status lucky(void *ctx, const struct tune_point *p, double *rate)
{
    struct luck *l = ctx;
    static const double rates[2][3] = {{5, 5, 5}, {4, 7, 7}};
    *rate = rates[p->x[0]][l->calls++ / 2];
    return l->calls > 5 ? EK_STOPPED : EK_OK;
}

static void the_best_are_measured_again(void **state)
{
    const struct tune_ops ops = {tune_layout_move, lucky};
    struct luck l = {.calls = 2};
    static struct tune t = {.trial = {{{{0}}, 5}, {{{1}}, 4}, {{{2}}, 1}}, .n = 3, .best = 0};
    assert_int_equal(tune_confirm(&ops, &l, 2, &t), EK_OK);
    assert_int_equal(t.best, 1);
    assert_true(t.trial[1].rate == 7 && t.trial[0].rate == 5);
    t.n = 1;
    assert_int_equal(tune_confirm(&ops, &l, 2, &t), EK_OK);
    assert_int_equal(t.best, 0);
}

static enum ek_status refuse(void *ctx, const struct tune_point *p, double *rate)
{
    (void)ctx, (void)p, (void)rate;
    return EK_UNAVAILABLE;
}

static void failures_pass(void **state)
{
    const struct tune_ops ops = {tune_layout_move, refuse};
    struct hill h = {.room = {.cores = 4, .width = 1}};
    const struct tune_point first = tune_layout_first(&h.room);
    struct tune t;
    assert_int_equal(tune_search(&ops, &h, 3, &first, 0.01, &t), EK_UNAVAILABLE);
}

/* Given widths stay; the first guess leaves cores to the devices' threads. */
static void first_guess_and_rigid_widths(void **state)
{
    struct hill h = {.room = {.cores = 16, .ndev = 2, .keeps = true, .width = 1}, .most = 100};
    unsigned devices;
    struct tune_point p = tune_layout_first(&h.room);
    struct cu_layout first = tune_layout_of(&p, &devices);
    assert_string_equal(cu_layout_text(&first), "14x1+2");
    struct tune t;
    h.room.rigid = true;
    climb_to(&h, "4x4+2", 3, &t);
    for (int i = 0; i < t.n; i++)
        assert_true(tune_layout_of(&t.trial[i].point, &devices).width <= 1);
}

/* ---- cases ------------------------------------------------------------------------------------*/
enum { CORES = 62, ZONES = 1024 };

static struct sim_unit unit[CORES + 2];

/* Gonzalez & Morancho 2024, Table 3, SP-MZ class D: 8.70 ms for a zone on one core, its slowdown
 * with 16, 32, 48 and 64 busy cores; 0.83 ms on a GPU. */
static struct sim_case sp_mz(void)
{
    static const double curve[][2] = {{15, 9.00 / 8.70 - 1},
                                      {31, 11.25 / 8.70 - 1},
                                      {47, 18.61 / 8.70 - 1},
                                      {63, 36.38 / 8.70 - 1}};
    for (int u = 0; u < CORES + 2; u++) {
        const bool gpu = u >= CORES;
        unit[u] = (struct sim_unit){.kind = gpu ? CU_DEVICE : CU_CPU,
                                    .width = 1,
                                    .memory = gpu ? 1 + u - CORES : 0,
                                    .speed = 1 / (gpu ? 0.83e-3 : 8.70e-3)};
        if (!gpu)
            unit[u].slowed[CU_CPU] = (struct sim_curve){4, curve};
    }
    return (struct sim_case){
        .job = {.n = ZONES, .grain = 1}, .unit = unit, .ncu = CORES + 2, .steps = 6};
}

/* A policy that uses all cores does worse than one with fewer. */
static void fewer_cores_win(void **state)
{
    struct sim_case c = sp_mz();
    struct simulate_layout l;
    struct sim_result all, best, given;
    assert_int_equal(simulate_layout(&c, NULL, "heft", &l, NULL, &all), EK_OK);
    assert_int_equal(simulate_layout(&c, "auto", "evenkeel", &l, NULL, &best), EK_OK);
    assert_true(l.layout.ncpu >= 28 && l.layout.ncpu <= 36 && l.layout.ndev == 2);
    assert_true(best.total < 0.8 * all.total);
    assert_int_equal(simulate_layout(&c, cu_layout_text(&l.layout), "evenkeel", &l, NULL, &given),
                     EK_OK);
    assert_true(given.total == best.total);
}

/* If units do not slow one another, leaving some out never makes a policy slower. */
static void all_cores_where_they_are_free(void **state)
{
    struct sim_case c = sp_mz();
    struct simulate_layout l;
    struct sim_result all, best;
    for (int u = 0; u < c.ncu; u++)
        unit[u].slowed[CU_CPU].n = 0;
    for (int p = 0; p < sched_count(); p++) {
        assert_int_equal(simulate_layout(&c, NULL, sched_at(p)->name, &l, NULL, &all), EK_OK);
        assert_int_equal(simulate_layout(&c, "auto", sched_at(p)->name, &l, NULL, &best), EK_OK);
        assert_true(best.total <= all.total);
    }
}

/* A change of speed follows its unit, and has no effect if the layout leaves the unit out. */
static void changes_follow_their_units(void **state)
{
    struct sim_case c = sp_mz();
    const struct sim_change change[] = {{.unit = 61, .step = 1, .factor = 0.5},
                                        {.unit = 62, .step = 1, .factor = 0.1}};
    struct simulate_layout l;
    struct sim_result calm, slow;
    assert_int_equal(simulate_layout(&c, "4x1+2", "heft", &l, NULL, &calm), EK_OK);
    c.change = change;
    c.nchanges = 1;
    assert_int_equal(simulate_layout(&c, "4x1+2", "heft", &l, NULL, &slow), EK_OK);
    assert_true(slow.total == calm.total);
    c.nchanges = 2;
    assert_int_equal(simulate_layout(&c, "4x1+2", "heft", &l, NULL, &slow), EK_OK);
    assert_true(slow.total > 1.2 * calm.total);
}

static void bad_layouts(void **state)
{
    struct sim_case c = sp_mz();
    struct simulate_layout l;
    struct sim_result r;
    static const char *const bad[] = {"63x1", "1x1+3", "4x2", "nonsense", "0x0"};
    status_mute(1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(simulate_layout(&c, bad[i], "heft", &l, NULL, &r), EK_USAGE);
    assert_int_equal(simulate_layout(&c, "auto", "nonsense", &l, NULL, &r), EK_USAGE);
    status_mute(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_top),
        cmocka_unit_test(stops_in_time),
        cmocka_unit_test(the_best_are_measured_again),
        cmocka_unit_test(failures_pass),
        cmocka_unit_test(first_guess_and_rigid_widths),
        cmocka_unit_test(fewer_cores_win),
        cmocka_unit_test(all_cores_where_they_are_free),
        cmocka_unit_test(changes_follow_their_units),
        cmocka_unit_test(bad_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
