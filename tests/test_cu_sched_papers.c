/* tests/test_cu_sched_papers.c – the papers' policies on cases small enough to work out by hand. */
#include "cu/sched/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST_TASKS = 64, MOST_UNITS = 8 };

struct world {
    struct sched_job job;
    struct sched_unit unit[MOST_UNITS];
    double cost[MOST_TASKS], speed[MOST_UNITS];
    int owner[MOST_TASKS];
    double busy[MOST_UNITS];
    struct sched *sched;
};

/* n tasks of cost 1; ncpu CPU units of speed 1, then ndev devices of the given speed. */
static void make(struct world *w, size_t n, int ncpu, int ndev, double speed)
{
    memset(w, 0, sizeof *w);
    for (size_t t = 0; t < n; t++)
        w->cost[t] = 1;
    for (int c = 0; c < ncpu + ndev; c++) {
        bool device = c >= ncpu;
        w->speed[c] = device ? speed : 1;
        w->unit[c] = (struct sched_unit){
            .kind = device ? CU_DEVICE : CU_CPU, .width = 1, .memory = device ? 1 + c - ncpu : 0};
    }
    w->job = (struct sched_job){
        .n = n, .grain = 1, .ncu = ncpu + ndev, .unit = w->unit, .cost = w->cost};
}

/* Declares the speeds to the policies. */
static void reveal(struct world *w)
{
    for (int c = 0; c < w->job.ncu; c++)
        w->unit[c].speed = w->speed[c];
}

static void start(struct world *w, const char *policy)
{
    assert_int_equal(sched_open(policy, &w->job, &w->sched), EK_OK);
}

/* Runs a step in which units ask in turn; notes who computes what and how long each is busy.
 * Returns the makespan. */
static double run_step(struct world *w)
{
    double makespan = 0;
    for (int c = 0; c < w->job.ncu; c++) {
        w->busy[c] = 0;
        for (struct ek_range r; r = sched_next(w->sched, c), r.begin < r.end;) {
            double sec = 0;
            for (size_t t = r.begin; t < r.end; t++) {
                sec += w->cost[t] / w->speed[c];
                w->owner[t] = c;
            }
            sched_done(w->sched, c, r, sec, NULL);
            w->busy[c] += sec;
        }
        makespan = w->busy[c] > makespan ? w->busy[c] : makespan;
    }
    assert_int_equal(sched_step(w->sched), EK_OK);
    return makespan;
}

static void assert_owners(const struct world *w, const int *expected)
{
    for (size_t t = 0; t < w->job.n; t++)
        if (w->owner[t] != expected[t])
            fail_msg("task %zu is on unit %d, not on %d", t, w->owner[t], expected[t]);
}

static size_t tasks_of(const struct world *w, int cu)
{
    size_t count = 0;
    for (size_t t = 0; t < w->job.n; t++)
        count += w->owner[t] == cu;
    return count;
}

static void assert_once(struct world *w, const char *policy, const int *expected)
{
    start(w, policy);
    run_step(w);
    assert_owners(w, expected);
    run_step(w);
    assert_owners(w, expected);
    sched_close(w->sched);
}

/* Eight zones on two CPUs and two GPUs: Fig. 9 of Gonzalez & Morancho. */
static void eight_zones(void **state)
{
    static struct world w;
    make(&w, 8, 2, 2, 3);
    assert_once(&w, "static", (int[]){0, 0, 1, 1, 2, 2, 3, 3});
    assert_once(&w, "block", (int[]){0, 0, 1, 1, 2, 2, 3, 3});
    assert_once(&w, "static-pcf:pcf=3", (int[]){0, 1, 2, 2, 2, 3, 3, 3});
    start(&w, "clustered-guided");
    for (int step = 0; step < 12; step++)
        run_step(&w);
    assert_true(run_step(&w) == 1);
    assert_owners(&w, (int[]){0, 1, 2, 2, 2, 3, 3, 3});
    sched_close(w.sched);
}

static void remainder_to_the_last(void **state)
{
    static struct world w;
    make(&w, 11, 4, 0, 1);
    assert_once(&w, "naive", (int[]){0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3});
    make(&w, 3, 4, 0, 1);
    assert_once(&w, "naive", (int[]){3, 3, 3});
}

/* Makes each task a neighbour of the next in a ring, with faces of 8 bytes. */
static void make_ring(struct world *w, size_t n)
{
    static size_t first[MOST_TASKS + 1], neighbour[2 * MOST_TASKS];
    static double face[2 * MOST_TASKS];
    for (size_t t = 0; t <= n; t++)
        first[t] = 2 * t;
    for (size_t t = 0; t < n; t++) {
        neighbour[2 * t] = (t + n - 1) % n;
        neighbour[2 * t + 1] = (t + 1) % n;
        face[2 * t] = face[2 * t + 1] = 8;
    }
    w->job.first = first;
    w->job.neighbour = neighbour;
    w->job.face_bytes = face;
}

/* Largest first to the least loaded unit; of the zones within 5 % of the largest, the one that
 * shares the largest faces with those the unit already has. */
static void zones_as_the_suite_balances_them(void **state)
{
    static struct world w;
    make(&w, 5, 2, 0, 1);
    memcpy(w.cost, (double[]){3, 7, 4, 6, 5}, 5 * sizeof *w.cost);
    assert_once(&w, "npb", (int[]){0, 0, 0, 1, 1}); /* 7 | 6, 6+5 | 7+4, 7+4+3 */
    make(&w, 8, 2, 0, 1);
    make_ring(&w, 8);
    assert_once(&w, "npb", (int[]){0, 1, 1, 1, 1, 0, 0, 0});
    make(&w, 8, 2, 0, 1);
    assert_once(&w, "npb", (int[]){0, 1, 0, 1, 0, 1, 0, 1}); /* without faces in turn */
    make(&w, 4, 2, 0, 1);
    make_ring(&w, 4);
    memcpy(w.cost, (double[]){100, 50, 96, 95}, 4 * sizeof *w.cost);
    assert_once(&w, "npb", (int[]){0, 0, 1, 1}); /* 100 + 50, 96 + 95 */
    make(&w, 5, 2, 0, 1);
    make_ring(&w, 5); /* 0 is a neighbour of 1 and 4 */
    memcpy(w.cost, (double[]){200, 96, 200, 100, 95.5}, 5 * sizeof *w.cost);
    assert_once(&w, "npb", (int[]){0, 0, 1, 1, 0}); /* unit 0 has 0, so 96 comes before 100 */
    memcpy(w.cost, (double[]){200, 94, 200, 100, 94}, 5 * sizeof *w.cost);
    assert_once(&w, "npb", (int[]){0, 1, 1, 0, 1}); /* 94 is not within 5 % */
}

/* Without declared speeds, weights are numbers of cores: 3 to 1. */
static void weights_are_cores(void **state)
{
    static struct world w;
    make(&w, 32, 2, 0, 1);
    w.unit[0].width = 3;
    start(&w, "wf");
    assert_int_equal(sched_next(w.sched, 0).end, 12); /* 3/4 of a round of 16 */
    assert_int_equal(sched_next(w.sched, 1).end, 16);
    sched_close(w.sched);
}

/* T = 40, N = 1 + 1, PCF = 4: groups of five, 8 tasks + 32; then with remainders, up to the number
 * that devices can take. */
static void factor(void **state)
{
    static const struct {
        size_t tasks;
        int ncpu, ndev;
        const char *policy;
        size_t on_cpus;
    } row[] = {{40, 1, 1, "static-pcf:pcf=4", 8},    {43, 1, 1, "static-pcf:pcf=4", 8},
               {44, 1, 1, "static-pcf:pcf=4", 8},    {45, 1, 1, "static-pcf:pcf=4", 9},
               {3, 1, 1, "static-pcf:pcf=4", 0},     {41, 6, 1, "static-pcf:pcf=4", 24},
               {45, 6, 1, "static-pcf:pcf=4", 25},   {50, 2, 2, "static-pcf:pcf=2.3", 14},
               {10, 3, 0, "static-pcf:pcf=4", 10},   {10, 0, 3, "static-pcf:pcf=4", 0},
               {40, 1, 1, "static-pcf:pcf=0.25", 32}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct world w;
        make(&w, row[i].tasks, row[i].ncpu, row[i].ndev, 4);
        start(&w, row[i].policy);
        run_step(&w);
        size_t on_cpus = 0;
        for (int c = 0; c < row[i].ncpu; c++)
            on_cpus += tasks_of(&w, c);
        if (on_cpus != row[i].on_cpus)
            fail_msg("row %zu: %zu tasks on CPUs, not %zu", i, on_cpus, row[i].on_cpus);
        sched_close(w.sched);
    }
}

/* The factor by speeds, by profiles, or measured in a first step. */
static void factor_known_and_measured(void **state)
{
    static struct world w;
    double slow[40], fast[40];
    make(&w, 40, 1, 1, 4);
    start(&w, "static-pcf");
    assert_true(run_step(&w) == 20);
    assert_true(run_step(&w) == 8);
    sched_close(w.sched);
    reveal(&w);
    start(&w, "static-pcf");
    assert_true(run_step(&w) == 8);
    sched_close(w.sched);
    make(&w, 40, 1, 1, 4);
    for (int t = 0; t < 40; t++) {
        slow[t] = 1;
        fast[t] = 0.25;
    }
    w.unit[0].seconds = slow;
    w.unit[1].seconds = fast;
    start(&w, "static-pcf");
    assert_true(run_step(&w) == 8);
    sched_close(w.sched);
}

/* Sizes 4 1 1 1 1 2 2 4 on three units: the target is 16/3, the chunks are 5, 5 and 6. */
static void walk(void **state)
{
    static struct world w;
    static const double size[] = {4, 1, 1, 1, 1, 2, 2, 4};
    make(&w, 8, 3, 0, 1);
    memcpy(w.cost, size, sizeof size);
    assert_once(&w, "guided-sizes", (int[]){0, 0, 1, 1, 1, 1, 2, 2});
    start(&w, "guided-runtime");
    run_step(&w);
    assert_owners(&w, (int[]){0, 0, 1, 1, 1, 2, 2, 2}); /* static */
    run_step(&w);
    assert_owners(&w, (int[]){0, 0, 1, 1, 1, 1, 2, 2});
    sched_close(w.sched);
}

/* A unit three times as fast gets three times as many tasks. */
static void walk_by_seconds(void **state)
{
    static struct world w;
    make(&w, 32, 1, 1, 3);
    start(&w, "guided-runtime");
    double makespan = 0;
    for (int step = 0; step < 20; step++)
        makespan = run_step(&w);
    assert_true(makespan <= 8.5);
    sched_close(w.sched);
}

/* The search ends within 4 log2 n steps; afterwards nothing migrates. */
static void search_ends(void **state)
{
    static struct world w;
    make(&w, 64, 3, 1, 5);
    start(&w, "clustered-guided");
    for (int step = 0; step < 24; step++)
        run_step(&w);
    int steady[MOST_TASKS];
    double makespan = run_step(&w);
    memcpy(steady, w.owner, sizeof steady);
    assert_true(makespan <= 9); /* at best 8: 24 tasks on the CPUs, 40 on the device */
    for (int step = 0; step < 10; step++) {
        run_step(&w);
        assert_owners(&w, steady);
    }
    sched_close(w.sched);
}

/* From Casanova et al., quoted in the thesis: 3 3 2 2 2 on two units takes 7 with LPT, 6 at
 * best. */
static void greedy(void **state)
{
    static struct world w;
    static const double cost[] = {2, 3, 2, 3, 2};
    make(&w, 5, 2, 0, 1);
    memcpy(w.cost, cost, sizeof cost);
    assert_once(&w, "sorted-greedy", (int[]){0, 0, 1, 1, 0});
    start(&w, "sorted-greedy");
    assert_true(run_step(&w) == 7);
    sched_close(w.sched);
    assert_once(&w, "round-robin", (int[]){0, 0, 1, 1, 0});
}

/* The thesis' synthetic load: eighteen tasks from 320 to 1,200 on eight workers of speeds 1 1 1.725
 * 1.725 1.725 1.783 1.783 1.783. The sizes in between are not printed; these fill the range. */
static void thesis_load(struct world *w)
{
    static const double speed[] = {1, 1, 1.725, 1.725, 1.725, 1.783, 1.783, 1.783};
    make(w, 18, 8, 0, 1);
    memcpy(w->speed, speed, sizeof speed);
    for (int t = 0; t < 18; t++)
        w->cost[t] = 320 + 880. * ((t * 7) % 18) / 17;
    reveal(w);
}

static void thesis_round_robin(void **state)
{
    static struct world w;
    thesis_load(&w);
    start(&w, "round-robin");
    run_step(&w);
    for (int t = 0; t < 18; t++) {
        int larger = 0;
        for (int u = 0; u < 18; u++)
            larger += w.cost[u] > w.cost[t];
        assert_int_equal(w.owner[t], larger % 8);
    }
    sched_close(w.sched);
}

static void thesis_heft(void **state)
{
    static struct world w;
    thesis_load(&w);
    double ready[8] = {0}, load[8] = {0}, makespan = 0, worst = 0;
    int expected[18];
    for (int rank = 0; rank < 18; rank++)
        for (int t = 0; t < 18; t++) {
            int larger = 0, best = 0;
            for (int u = 0; u < 18; u++)
                larger += w.cost[u] > w.cost[t];
            if (larger != rank)
                continue;
            for (int c = 1; c < 8; c++)
                if (ready[c] + w.cost[t] / w.speed[c] < ready[best] + w.cost[t] / w.speed[best])
                    best = c;
            ready[best] += w.cost[t] / w.speed[best];
            load[best] += w.cost[t];
            expected[t] = best;
            makespan = ready[best] > makespan ? ready[best] : makespan;
        }
    assert_once(&w, "heft", expected);
    assert_true(load[0] < load[7] && load[1] < load[7]); /* as in Fig. 2.5 of the thesis */
    for (const char *const *p = (const char *const[]){"static", "round-robin", "naive", NULL}; *p;
         p++) {
        start(&w, *p);
        worst = run_step(&w);
        assert_true(makespan < worst);
        sched_close(w.sched);
    }
}

/* Without speeds HEFT and ABE start blind, measure, and then do as well as with speeds given. */
static void learning(void **state)
{
    static const char *const policy[] = {"heft", "abe"};
    for (int i = 0; i < 2; i++) {
        static struct world w;
        make(&w, 40, 1, 1, 4);
        start(&w, policy[i]);
        assert_true(run_step(&w) == 20);
        assert_true(run_step(&w) == 8);
        sched_close(w.sched);
        reveal(&w);
        start(&w, policy[i]);
        assert_true(run_step(&w) == 8);
        sched_close(w.sched);
    }
}

/* Six tasks on two CPUs and a device four times as fast: the linear programme's optimum is 1. */
static void area_bound(void **state)
{
    static struct world w;
    make(&w, 6, 2, 1, 4);
    reveal(&w);
    start(&w, "abe");
    assert_true(run_step(&w) == 1);
    assert_int_equal(tasks_of(&w, 2), 4);
    sched_close(w.sched);
}

/* Two kinds of tasks, each fast on one unit by its profile: each goes to that unit. */
static void area_bound_uses_profiles(void **state)
{
    static struct world w;
    double cpu[] = {1, 1, 1, 1, 9, 9, 9, 9}, device[] = {9, 9, 9, 9, 1, 1, 1, 1};
    make(&w, 8, 1, 1, 1);
    w.unit[0].seconds = cpu;
    w.unit[1].seconds = device;
    for (int t = 0; t < 8; t++)
        w.cost[t] = t < 4 ? 1 : 2;
    start(&w, "abe:learn=0");
    run_step(&w);
    assert_owners(&w, (int[]){0, 0, 0, 0, 1, 1, 1, 1});
    sched_close(w.sched);
    start(&w, "heft:learn=0");
    run_step(&w);
    assert_owners(&w, (int[]){0, 0, 0, 0, 1, 1, 1, 1});
    sched_close(w.sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_zones),
        cmocka_unit_test(remainder_to_the_last),
        cmocka_unit_test(zones_as_the_suite_balances_them),
        cmocka_unit_test(weights_are_cores),
        cmocka_unit_test(factor),
        cmocka_unit_test(factor_known_and_measured),
        cmocka_unit_test(walk),
        cmocka_unit_test(walk_by_seconds),
        cmocka_unit_test(search_ends),
        cmocka_unit_test(greedy),
        cmocka_unit_test(thesis_round_robin),
        cmocka_unit_test(thesis_heft),
        cmocka_unit_test(learning),
        cmocka_unit_test(area_bound),
        cmocka_unit_test(area_bound_uses_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
