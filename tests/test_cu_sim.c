/* tests/test_cu_sim.c – the simulator against results worked out by hand and against its laws (the
 * same seed gives the same bits, no policy beats the bound); units that slow down or die; a large
 * case. */
#include "cu/sim/sim.h"
#include "tests/random_case.h"
#include "src/clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* A ring of four tasks of 1, 2, 3 and 4 s; a CPU unit and a device that is twice as fast. */
static const double ring_cost[] = {1, 2, 3, 4}, ring_bytes[] = {10, 20, 30, 40};
static const size_t ring_first[] = {0, 2, 4, 6, 8}, ring_next[] = {1, 3, 2, 0, 3, 1, 0, 2};
static const double ring_face[] = {5, 5, 5, 5, 5, 5, 5, 5};
static const struct sched_link link = {0.25, 0.01};
static const struct sim_unit pair[] = {{.kind = CU_CPU, .width = 1, .speed = 1},
                                       {.kind = CU_DEVICE, .width = 1, .memory = 1, .speed = 2}};

static struct sim_case ring(void)
{
    return (struct sim_case){.job = {.n = 4,
                                     .grain = 1,
                                     .cost = ring_cost,
                                     .bytes = ring_bytes,
                                     .first = ring_first,
                                     .neighbour = ring_next,
                                     .face_bytes = ring_face,
                                     .link = &link},
                             .unit = pair,
                             .ncu = 2,
                             .steps = 3};
}

/* static: the CPU takes 1 + 2 s; the device moves tasks 2 and 3 (0.25 + 0.3, 0.25 + 0.4 s), then
 * takes 1.5 + 2 s. From the second step on four faces cross the device's link, 0.25 + 0.05 s
 * each. */
static void by_hand(void **state)
{
    struct sim_case c = ring();
    struct sim_result r;
    double span[3];
    assert_int_equal(sim_run(&c, "static", span, &r), EK_OK);
    assert_near(span[0], 4.7);
    assert_near(span[1], 3.5);
    assert_near(r.makespan, 3.5);
    assert_near(r.computation, 4.7 + 3.5 + 3.5);
    assert_near(r.communication, 2 * 4 * 0.3);
    assert_near(r.total, 11.7 + 2.4);
    assert_near(r.bytes_moved, 70 + 2 * 4 * 5);
    assert_int_equal(r.migrations, 2);
    assert_near(r.lower_bound, 10. / 3);
    assert_near(r.ratio, 1.05);
    assert_int_equal(r.steps_to_steady, 1);
    c.job.link = NULL;
    assert_int_equal(sim_run(&c, "static", span, &r), EK_OK);
    assert_near(r.total, 3 * 3.5);
}

/* dynamic: in the second step the device takes 5 s for task 1; after 4 s the CPU takes task 3 from
 * it, which waits for a share of the last second, moves in 0.25 s and takes 4 s. */
static void moves_wait_for_a_device(void **state)
{
    static const struct sim_change slower = {.unit = 1, .step = 1, .factor = 0.2};
    struct sim_case c = ring();
    struct sim_result r;
    double span[2];
    c.job.first = NULL;
    c.job.bytes = NULL;
    c.steps = 2;
    c.change = &slower;
    c.nchanges = 1;
    for (c.waits = 0; c.waits <= 1; c.waits += 0.5) {
        assert_int_equal(sim_run(&c, "dynamic", span, &r), EK_OK);
        assert_near(span[1], 8.25 + c.waits);
    }
}

/* A block that moves from device to device crosses both links. */
static void two_links(void **state)
{
    static const struct sim_unit devices[] = {{.kind = CU_DEVICE, .memory = 1, .speed = 1},
                                              {.kind = CU_DEVICE, .memory = 2, .speed = 1}};
    struct sim_case c = ring();
    struct sim_result r;
    c.unit = devices;
    c.steps = 2;
    assert_int_equal(sim_run(&c, "static", NULL, &r), EK_OK);
    assert_near(r.communication, 4 * 0.3); /* both links work at once */
    assert_near(r.computation, (0.25 + 0.3 + 0.25 + 0.4 + 7) + 7);
}

static void fixed_part_and_crowd(void **state)
{
    static const double cost[] = {1, 1}, fifth[][2] = {{1, 0.2}};
    static const struct sim_unit crowded[] = {
        {.kind = CU_CPU, .speed = 1, .fixed = 0.5, .slowed = {{1, fifth}}},
        {.kind = CU_CPU, .speed = 1, .fixed = 0.5, .slowed = {{1, fifth}}}};
    struct sim_case c = {
        .job = {.n = 2, .grain = 1, .cost = cost}, .unit = crowded, .ncu = 2, .steps = 1};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "static", NULL, &r), EK_OK);
    assert_near(r.makespan, 1.5 * 1.2);
    assert_near(r.lower_bound, 1.5);
}

/* The device has 8 s of tasks, the CPU 2 s. While the CPU is busy, the device runs at half speed;
 * the CPU is not slowed. Each pays 0.5 s to launch its range. */
static void neighbours_that_stop(void **state)
{
    static const double cost[] = {1, 1, 4, 4}, twice[][2] = {{1, 1}};
    static const struct sim_unit crowded[] = {
        {.kind = CU_CPU, .speed = 1, .launch = 0.5},
        {.kind = CU_DEVICE, .memory = 1, .speed = 1, .launch = 0.5, .slowed = {{1, twice}}}};
    struct sim_case c = {
        .job = {.n = 4, .grain = 1, .cost = cost}, .unit = crowded, .ncu = 2, .steps = 2};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "static", NULL, &r), EK_OK);
    assert_near(r.makespan, 2.5 + (8.5 - 1.25));
}

/* Points (2, 0.5) and (4, 2): linear between them and beyond; 0 with no busy neighbours. */
static void curves(void **state)
{
    static const double point[][2] = {{2, 0.5}, {4, 2}};
    const struct sim_curve curve = {2, point}, none = {0, NULL};
    static const double share[] = {0, 0.25, 0.5, 1.25, 2, 2.75};
    for (int busy = 0; busy < 6; busy++)
        assert_near(sim_curve_at(&curve, busy), share[busy]);
    assert_near(sim_curve_at(&none, 7), 0);
}

/* The ring from the second step on: faces 0-1 within the host (10 bytes, both ways), 2-3 within the
 * device, 20 bytes across; 0.5 s between steps. */
static void exchange_by_parts(void **state)
{
    static const struct sim_exchange parts = {
        {[SIM_FIXED] = 1, [SIM_HOST] = 0.1, [SIM_DEVICE] = 0.2, [SIM_CROSS] = 2, [SIM_LINK] = 0.5}};
    struct sim_case c = ring();
    struct sim_result r;
    c.exchange = &parts;
    c.between = 0.5;
    c.steps = 2;
    assert_int_equal(sim_run(&c, "static", NULL, &r), EK_OK);
    const double first = 1 + 40 * 0.1, second = 1 + 10 * 0.1 + 10 * 0.2 + 2 + 20 * 0.5;
    assert_near(r.communication, first + second);
    assert_near(r.total, 4.7 + 3.5 + first + second + 2 * 0.5);
}

enum { TASKS = 300, UNITS = 10, STEPS = 30 };

static double cost[TASKS];
static struct sim_unit unit[UNITS];

static struct sim_case machine(void)
{
    for (int t = 0; t < TASKS; t++)
        cost[t] = 1 + (t * 37) % 11;
    for (int u = 0; u < UNITS; u++) {
        bool device = u >= UNITS - 2;
        unit[u] = (struct sim_unit){.kind = device ? CU_DEVICE : CU_CPU,
                                    .width = 1,
                                    .memory = device ? u - UNITS + 3 : 0,
                                    .speed = device ? 12 : 1};
    }
    return (struct sim_case){.job = {.n = TASKS, .grain = 1, .cost = cost},
                             .unit = unit,
                             .ncu = UNITS,
                             .steps = STEPS,
                             .seed = 5};
}

static void same_seed_same_bits(void **state)
{
    struct sim_case c = machine();
    c.noise = 0.2;
    for (int p = 0; p < sched_count(); p++) {
        double a[STEPS], b[STEPS];
        struct sim_result x, y;
        assert_int_equal(sim_run(&c, sched_at(p)->name, a, &x), EK_OK);
        assert_int_equal(sim_run(&c, sched_at(p)->name, b, &y), EK_OK);
        assert_memory_equal(a, b, sizeof a);
        c.seed++;
        assert_int_equal(sim_run(&c, sched_at(p)->name, b, &y), EK_OK);
        assert_memory_not_equal(a, b, sizeof a);
        c.seed--;
    }
}

static void nobody_beats_the_bound(void **state)
{
    struct sim_case c = machine();
    for (int cold = 0; cold <= 1; cold++)
        for (int p = 0; p < sched_count(); p++) {
            double span[STEPS];
            struct sim_result r;
            c.cold = cold;
            assert_int_equal(sim_run(&c, sched_at(p)->name, span, &r), EK_OK);
            for (int i = 0; i < STEPS; i++)
                assert_true(span[i] >= r.lower_bound);
            assert_near(r.lower_bound, sim_bound(&c, NULL));
        }
}

/* Checks a certificate: prices are not negative and add up to one. Returns the bound that they
 * prove, to which each task contributes its least cost over all units. */
static double certified(const struct sim_case *c, int step, const double *of_unit,
                        const double *task)
{
    double prices = 0, bound = 0;
    double *factor = calloc((size_t)c->ncu, sizeof *factor);
    sim_factors(c, step, factor);
    for (int u = 0; u < c->ncu; u++) {
        assert_true(of_unit[u] >= 0 && (factor[u] > 0 || of_unit[u] == 0));
        prices += of_unit[u];
    }
    for (size_t t = 0; t < c->job.n; t++) {
        double least = INFINITY;
        for (int u = 0; u < c->ncu; u++)
            if (factor[u] > 0)
                least = fmin(least, (of_unit[u] + task[t]) * sim_seconds(c, &c->unit[u], t) *
                                        sim_noise(c, &c->unit[u], step, t) / factor[u]);
        assert_true(task[t] >= 0);
        prices += task[t];
        bound += least;
    }
    assert_true(fabs(prices - 1) < 1e-9);
    free(factor);
    return bound;
}

/* Whatever happens in a step, no policy is below its bound, and the certificate proves the
 * bound. */
static void bounds_are_proven(void **state)
{
    static struct random_case c;
    for (int f = 0; f < RANDOM_FAMILIES; f++)
        for (unsigned seed = 1; seed <= 6; seed++) {
            random_case(&c, (enum random_family)f, seed, seed % 2 ? RANDOM_OPTIMUM : 100);
            double *span = calloc((size_t)c.sim.steps, sizeof *span);
            double *price = calloc((size_t)c.sim.ncu + c.sim.job.n, sizeof *price);
            double *task = price + c.sim.ncu;
            struct sim_result r;
            for (int p = 0; p < 3; p++) {
                static const char *const policy[] = {"evenkeel", "heft", "static"};
                assert_int_equal(sim_run(&c.sim, policy[p], span, &r), EK_OK);
                for (int i = 0; i < c.sim.steps; i++)
                    if (span[i] < sim_step_bound(&c.sim, i))
                        fail_msg("%s: %s is below the bound in step %d", c.text, policy[p], i);
                assert_true(r.ratio >= 1 && !(r.worst_ratio < 1));
            }
            double bound = sim_certificate(&c.sim, c.sim.steps - 1, price, task);
            double proven = certified(&c.sim, c.sim.steps - 1, price, task);
            assert_near(proven, bound);
            assert_true(proven >= bound && r.makespan >= bound);
            assert_true(bound <= r.lower_bound * (1 + 1e-9) && bound > 0.5 * r.lower_bound);
            free(span);
            free(price);
            random_close(&c);
        }
}

/* ---- extreme numbers --------------------------------------------------------------------------*/
enum { EXTREME_TASKS = 20, EXTREME_UNITS = 6, EXTREME_STEPS = 3, EXTREME_CHANGES = 2 };

struct extreme {
    struct sim_case sim;
    double cost[EXTREME_TASKS], seconds[2][EXTREME_TASKS], bytes[EXTREME_TASKS];
    struct sim_unit unit[EXTREME_UNITS];
    struct sim_change change[EXTREME_CHANGES];
    struct sched_link link;
};

/* 0, 1, 1e-12, 1e12, uniform in (0, 1), or anything from 1e-12 to 1e12. */
static double extreme_number(struct random_case *r)
{
    static const double usual[] = {0, 1, 1e-12, 1e12};
    int i = random_whole(r, 0, 5);
    return i < 4 ? usual[i] : i == 4 ? random_uniform(&r->state) : random_magnitude(r, 1e-12, 1e12);
}

static void extreme_units(struct extreme *x, struct random_case *r)
{
    for (int u = 0; u < x->sim.ncu; u++) {
        int times = random_whole(r, 0, 3);
        x->unit[u] = (struct sim_unit){.kind = random_whole(r, 0, 1),
                                       .width = 1,
                                       .memory = random_whole(r, 0, 2),
                                       .speed = random_magnitude(r, 1e-12, 1e12),
                                       .seconds = times < 2 ? x->seconds[times] : NULL};
        if (random_whole(r, 0, 3) == 0)
            x->unit[u].fixed = extreme_number(r);
        if (random_whole(r, 0, 3) == 0)
            x->unit[u].launch = extreme_number(r);
    }
}

/* Units other than unit 0 die or change speed at the beginning of a step or within it. */
static void extreme_changes(struct extreme *x, struct random_case *r)
{
    static const double factor[] = {0, 0, 0.3, 1e6, 1e-6};
    int steps = x->sim.steps - 1, at[EXTREME_CHANGES] = {0, random_whole(r, 0, 1) * steps};
    x->sim.nchanges = x->sim.ncu > 1 ? random_whole(r, 0, EXTREME_CHANGES) : 0;
    x->sim.change = x->change;
    for (int i = 0; i < x->sim.nchanges; i++)
        x->change[i] = (struct sim_change){.unit = random_whole(r, 1, x->sim.ncu - 1),
                                           .step = at[i],
                                           .after = i ? extreme_number(r) : 0,
                                           .factor = factor[random_whole(r, 0, 4)]};
}

static void make_extreme(struct extreme *x, struct random_case *r)
{
    *x = (struct extreme){.sim.ncu = random_whole(r, 1, EXTREME_UNITS),
                          .sim.steps = random_whole(r, 1, EXTREME_STEPS),
                          .sim.cold = random_whole(r, 0, 1)};
    size_t n = (size_t)random_whole(r, 1, EXTREME_TASKS);
    bool equal = random_whole(r, 0, 3) == 0;
    for (size_t t = 0; t < n; t++) {
        x->cost[t] = equal && t ? x->cost[0] : extreme_number(r);
        x->seconds[0][t] = equal && t ? x->seconds[0][0] : extreme_number(r);
        x->seconds[1][t] = equal && t ? x->seconds[1][0] : extreme_number(r);
        x->bytes[t] = extreme_number(r) * 1e3;
    }
    x->sim.job = (struct sched_job){.n = n, .grain = 1, .cost = x->cost, .bytes = x->bytes};
    x->link = (struct sched_link){extreme_number(r), 1 / random_magnitude(r, 1, 1e12)};
    if (random_whole(r, 0, 1))
        x->sim.job.link = &x->link;
    x->sim.unit = x->unit;
    extreme_units(x, r);
    extreme_changes(x, r);
}

/* Every policy has each task done once (else the simulator fails), none beats the bound, and the
 * certificate proves the bound. */
static void extreme_numbers(void **state)
{
    static struct extreme x;
    struct random_case r = {.state = 7};
    for (int i = 0; i < (getenv("EK_LONG") ? 1500 : 500); i++) {
        double price[EXTREME_UNITS + EXTREME_TASKS], span[EXTREME_STEPS];
        make_extreme(&x, &r);
        double *task = price + x.sim.ncu;
        double bound = sim_certificate(&x.sim, x.sim.steps - 1, price, task);
        double proven = certified(&x.sim, x.sim.steps - 1, price, task);
        for (int p = 0; p < sched_count(); p += i % 8 ? sched_count() - 1 : 1) {
            const char *name = sched_at(i % 8 ? sched_count() - 1 : p)->name;
            struct sim_result run;
            assert_int_equal(sim_run(&x.sim, name, span, &run), EK_OK);
            for (int step = 0; step < x.sim.steps; step++)
                if (!(span[step] >= sim_step_bound(&x.sim, step)))
                    fail_msg("case %d: %s takes %.17g s in step %d, the bound is %.17g", i, name,
                             span[step], step, sim_step_bound(&x.sim, step));
            assert_true(proven >= bound * (1 - 1e-9) && run.makespan >= bound);
        }
    }
}

/* If all tasks take no time, the bound is 0. */
static void nothing_is_proven_of_nothing(void **state)
{
    struct sim_case c = machine();
    double price[UNITS + TASKS];
    memset(cost, 0, sizeof cost);
    for (int equal = 0; equal <= 1; equal++) {
        unit[0].fixed = equal ? 0 : 1e-310; /* its reciprocal is infinite */
        assert_true(sim_certificate(&c, 0, price, price + UNITS) == 0);
        assert_true(certified(&c, 0, price, price + UNITS) == 0);
    }
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", NULL, &r), EK_OK);
    assert_true(r.makespan == 0 && r.ratio == 1); /* no time: the bound is reached */
}

/* A device dies in the middle of a step, then a CPU unit: every policy finishes with the rest, and
 * the bound accounts for the deaths. */
static void a_unit_dies(void **state)
{
    struct sim_case c = machine();
    const struct sim_change death[] = {{.unit = 9, .step = 7, .after = 10},
                                       {.unit = 2, .step = 12, .after = 0}};
    double factor[UNITS] = {1, 1, 0, 1, 1, 1, 1, 1, 1, 0};
    c.change = death;
    c.nchanges = 2;
    for (int p = 0; p < sched_count(); p++) {
        struct sim_result r;
        assert_int_equal(sim_run(&c, sched_at(p)->name, NULL, &r), EK_OK);
        assert_near(r.lower_bound, sim_bound(&c, factor));
        assert_true(r.ratio >= 1 - 1e-9);
    }
}

static void all_units_die(void **state)
{
    struct sim_case c = machine();
    struct sim_change death[UNITS];
    struct sim_result r;
    for (int u = 0; u < UNITS; u++)
        death[u] = (struct sim_change){.unit = u, .step = 3, .after = u};
    c.change = death;
    c.nchanges = UNITS;
    status_mute(1);
    assert_int_equal(sim_run(&c, "dynamic", NULL, &r), EK_UNAVAILABLE);
    assert_int_equal(sim_run(&c, "nonsense", NULL, &r), EK_USAGE);
    status_mute(-1);
}

/* A unit runs at half speed from step 5 on: `static` stays slow. */
static void a_unit_slows_down(void **state)
{
    struct sim_case c = machine();
    const struct sim_change slow = {.unit = 0, .step = 5, .factor = 0.5};
    double span[STEPS];
    struct sim_result r;
    assert_int_equal(sim_run(&c, "static", span, &r), EK_OK);
    double before = span[STEPS - 1];
    c.change = &slow;
    c.nchanges = 1;
    assert_int_equal(sim_run(&c, "static", span, &r), EK_OK);
    assert_near(span[4], before);
    assert_true(span[5] >= before * 1.5);
    assert_near(span[STEPS - 1], span[5]);
}

/* A launch of 0.5 s and a task of 4 s, at half speed from 1 s on and at double speed from 3 s on: 1
 * + 2 / 2 s of work are done by then. With a single unit, policies make no difference. */
static void a_task_under_way_slows_down(void **state)
{
    static const double four[] = {4};
    static const struct sim_unit one = {.speed = 1, .launch = 0.5};
    static const struct sim_change changes[] = {{.after = 1, .factor = 0.5},
                                                {.after = 3, .factor = 2}};
    struct sim_case c = {.job = {.n = 1, .grain = 1, .cost = four},
                         .unit = &one,
                         .ncu = 1,
                         .steps = 1,
                         .change = changes,
                         .nchanges = 2};
    struct sim_result r, first;
    assert_int_equal(sim_run(&c, "static", NULL, &r), EK_OK);
    assert_near(r.makespan, 3 + (4.5 - 2) / 2);
    assert_near(r.lower_bound, 2);
    double lost = 0;
    for (int i = 0; i < LOSS_CAUSES; i++)
        lost += r.loss.seconds[i];
    assert_near(lost, r.makespan - r.lower_bound);
    c = machine();
    c.ncu = 1;
    c.steps = 3;
    c.change = changes;
    c.nchanges = 2;
    for (int p = 0; p < sched_count(); p++) {
        assert_int_equal(sim_run(&c, sched_at(p)->name, NULL, p ? &r : &first), EK_OK);
        if (p)
            assert_near(r.total, first.total);
    }
}

static double uniform(uint64_t *state)
{
    struct random_case c = {.state = *state};
    const double x = random_uniform(&c.state);
    *state = c.state;
    return x;
}

/* A case with three kinds of units and random costs; `scale` is the length of a second. */
static struct sim_case unlike(unsigned seed, double scale, double *times)
{
    struct sim_case c = machine();
    uint64_t random = seed;
    c.job.n = 40;
    c.steps = 3;
    for (int t = 0; t < 40; t++) {
        cost[t] = scale * (0.2 + uniform(&random));
        times[t] = scale * uniform(&random);
        times[40 + t] = scale * (t % 3 ? 0.05 : 2) * uniform(&random);
    }
    unit[UNITS - 2].seconds = times;
    unit[UNITS - 1].seconds = times + 40;
    return c;
}

/* Plans and bounds do not depend on the unit of time. */
static void times_have_no_scale(void **state)
{
    double times[80];
    for (unsigned seed = 1; seed <= 3; seed++)
        for (int p = 0; p < sched_count(); p++) {
            struct sim_result s, ns;
            struct sim_case c = unlike(seed, 1, times);
            assert_int_equal(sim_run(&c, sched_at(p)->name, NULL, &s), EK_OK);
            c = unlike(seed, 1e-9, times);
            assert_int_equal(sim_run(&c, sched_at(p)->name, NULL, &ns), EK_OK);
            if (fabs(ns.total / (1e-9 * s.total) - 1) > 0.01 ||
                fabs(ns.lower_bound / (1e-9 * s.lower_bound) - 1) > 1e-6)
                fail_msg("%s, seed %u: %g and %g, bounds %g and %g", sched_at(p)->name, seed,
                         ns.total, s.total, ns.lower_bound, s.lower_bound);
        }
}

/* With denormal numbers, which have hardly a digit, every task is still done once, and no policy
 * beats the bound. */
static void hardly_any_time(void **state)
{
    double times[80];
    for (unsigned seed = 1; seed <= 20; seed++)
        for (int p = 0; p < sched_count(); p++) {
            struct sim_result r;
            struct sim_case c = unlike(seed, 4e-323, times);
            c.cold = seed % 2;
            for (int t = 0; t < 80; t += 7)
                times[t] = 0.03 * (seed % 3);
            assert_int_equal(sim_run(&c, sched_at(p)->name, NULL, &r), EK_OK);
            assert_true(r.makespan >= r.lower_bound && isfinite(r.total));
        }
}

/* A million tasks on a thousand units. The time is printed but not limited: the machine may be
 * slow. */
static void large(void **state)
{
    enum { MANY = 1000000, CROWD = 1000 };
    double *many = malloc(MANY * sizeof *many), start = clock_now();
    struct sim_unit *crowd = calloc(CROWD, sizeof *crowd);
    for (int t = 0; t < MANY; t++)
        many[t] = 1 + t % 17;
    for (int u = 0; u < CROWD; u++)
        crowd[u] = (struct sim_unit){.kind = CU_CPU, .width = 1, .speed = 1 + u % 3};
    struct sim_case c = {
        .job = {.n = MANY, .grain = 1, .cost = many}, .unit = crowd, .ncu = CROWD, .steps = 2};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "dynamic", NULL, &r), EK_OK);
    assert_true(r.ratio >= 1 - 1e-9 && r.ratio < 1.01);
    print_message("1e6 tasks x 1,000 units, two steps: %.2f s\n", clock_now() - start);
    free(many);
    free(crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(moves_wait_for_a_device),
        cmocka_unit_test(two_links),
        cmocka_unit_test(fixed_part_and_crowd),
        cmocka_unit_test(neighbours_that_stop),
        cmocka_unit_test(curves),
        cmocka_unit_test(exchange_by_parts),
        cmocka_unit_test(same_seed_same_bits),
        cmocka_unit_test(nobody_beats_the_bound),
        cmocka_unit_test(bounds_are_proven),
        cmocka_unit_test(extreme_numbers),
        cmocka_unit_test(nothing_is_proven_of_nothing),
        cmocka_unit_test(a_unit_dies),
        cmocka_unit_test(all_units_die),
        cmocka_unit_test(a_unit_slows_down),
        cmocka_unit_test(a_task_under_way_slows_down),
        cmocka_unit_test(times_have_no_scale),
        cmocka_unit_test(hardly_any_time),
        cmocka_unit_test(large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
