/* tests/test_cu_sched_misjudged.c – measurements that once misled evenkeel: noise, launches, tasks
 * that cost nothing, inaccurate models of links. */
#include "tests/plan_case_text.h"
#include "tests/random_case.h"
#include "tests/sim_run.h"

#include <math.h>
#include <string.h>

/* Adds `units` copies of *like at `at`; returns the next free index. */
static int add_units(struct sim_unit *unit, int at, int units, const struct sim_unit *like)
{
    for (int i = 0; i < units; i++)
        unit[at + i] = *like;
    return at + units;
}

/* Adds devices, each with a memory node of its own, numbered from `memory` on. */
static int add_devices(struct sim_unit *unit, int at, int devices, int memory, double speed,
                       double launch)
{
    for (int i = 0; i < devices; i++)
        unit[at + i] = (struct sim_unit){
            .kind = CU_DEVICE, .width = 1, .speed = speed, .launch = launch, .memory = memory + i};
    return at + devices;
}

/* After many failed searches the unit on which the step depends becomes ten times slower: past
 * failures must not keep evenkeel from reacting. */
static void a_slow_unit_after_much_noise(void **state)
{
    enum { STEPS = 50, AT = 18 };
    double span[STEPS];
    struct plan_case c;
    struct sim_result r;
    open_case(&c, "slow-after-noise");
    assert_int_equal(sim_run(&c.sim, "evenkeel", span, &r), EK_OK);
    assert_true(span[AT] > 1.5 * sim_bound(&c.sim, NULL));
    for (int s = AT + 1; s < STEPS; s++)
        assert_true(span[s] < 1.3 * sim_bound(&c.sim, NULL));
    plan_case_close(&c);
}

/* Units of unknown, unlike speeds and tasks nearly all of one size: a line through the times of
 * these tells the few large tasks' times, and so their units' speeds, wrong. */
static void a_few_large_tasks(void **state)
{
    enum { N = 43, UNITS = 14, STEPS = 3 };
    double span[STEPS], cost[N];
    struct sim_unit unit[UNITS];
    struct sim_result r;
    add_units(unit, 0, 2, &(struct sim_unit){.width = 1, .speed = 2.16});
    add_units(unit, 2, 5, &(struct sim_unit){.width = 1, .speed = 0.788});
    add_units(unit, 7, 5, &(struct sim_unit){.width = 1, .speed = 0.385});
    add_devices(unit, 12, 2, 1, 0.207, 0);
    for (int t = 0; t < N; t++)
        cost[t] = t == 9 ? 28 : t == 39 ? 55 : t == 13 || t == 27 ? 10 : 1;
    const struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                               .unit = unit,
                               .ncu = UNITS,
                               .steps = STEPS,
                               .cold = true};
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    for (int s = 1; s < STEPS; s++)
        assert_true(span[s] < 1.0001 * sim_bound(&c, NULL));
}

/* Equal tasks run in long ranges, then one by one: the differences are noise, not launches. */
static void noise_is_no_launch(void **state)
{
    enum { N = 693, UNITS = 20, STEPS = 10 };
    static size_t first[N + 1], neighbour[2 * N];
    static double span[STEPS], cost[N];
    struct sim_unit unit[UNITS];
    int at = add_units(unit, 0, 1, &(struct sim_unit){.width = 1, .speed = 0.8});
    at = add_units(unit, at, 16, &(struct sim_unit){.width = 1, .speed = 0.614});
    at = add_devices(unit, at, 2, 1, 1.22, 0);
    add_units(unit, at, 1, &(struct sim_unit){.width = 1, .speed = 2.34});
    for (size_t t = 0; t < N; t++) {
        neighbour[2 * t] = (t + 1) % N;
        neighbour[2 * t + 1] = (t + N - 1) % N;
        first[t + 1] = 2 * t + 2;
        cost[t] = 0.008;
    }
    for (unsigned seed = 1; seed <= 20; seed++) {
        static const struct sched_link free_link = {0, 0};
        struct sim_case c = {.job = {.n = N,
                                     .grain = 1,
                                     .cost = cost,
                                     .first = first,
                                     .neighbour = neighbour,
                                     .link = &free_link},
                             .unit = unit,
                             .ncu = UNITS,
                             .steps = STEPS,
                             .cold = true,
                             .noise = 0.055,
                             .seed = seed};
        struct sim_result r;
        assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
        for (int s = 1; s < STEPS; s++)
            if (!(span[s] < 1.1 * sim_bound(&c, NULL)))
                fail_msg("seed %u: step %d takes %g s, the bound is %g", seed, s, span[s],
                         sim_bound(&c, NULL));
    }
}

/* CPU units of the same width but different speeds, which nobody declared; some take long to begin
 * a range. */
static void launches_of_their_own(void **state)
{
    enum { N = 343, UNITS = 16, STEPS = 12 };
    static double cost[N], span[STEPS];
    struct sim_unit unit[UNITS];
    int at = add_units(unit, 0, 7, &(struct sim_unit){.width = 1, .speed = 0.49, .launch = 4e-5});
    at = add_units(unit, at, 3, &(struct sim_unit){.width = 1, .speed = 3, .launch = 4e-3});
    at = add_units(unit, at, 3, &(struct sim_unit){.width = 1, .speed = 0.5, .launch = 3e-5});
    add_devices(unit, at, 3, 1, 1.3, 2e-3);
    for (int t = 0; t < N; t++)
        cost[t] = 0.0123;
    struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                         .unit = unit,
                         .ncu = UNITS,
                         .steps = STEPS,
                         .cold = true};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_true(span[STEPS - 1] < 1.08 * sim_bound(&c, NULL));
}

/* A task that costs nothing says nothing about the times of others on its unit. */
static void tasks_of_no_cost(void **state)
{
    enum { UNITS = 35 };
    static const double cost[] = {0, 8e-4, 16e-4};
    struct sim_unit unit[UNITS];
    add_units(unit, add_devices(unit, 0, 3, 1, 13, 0), 32,
              &(struct sim_unit){.width = 1, .speed = 0.49});
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct sim_case c = {.job = {.n = 3, .grain = 1, .cost = cost},
                             .unit = unit,
                             .ncu = UNITS,
                             .steps = 10,
                             .noise = 0.046,
                             .seed = seed};
        assert_true(run(&c, "evenkeel").total < 1.3 * run(&c, "dynamic").total);
    }
}

/* If a unit is late because launches take longer than expected, taking its tasks one by one would
 * only make it later. */
static void late_by_launches(void **state)
{
    enum { N = 435, UNITS = 5, STEPS = 4 };
    static double cost[N], span[STEPS];
    struct sim_unit unit[UNITS];
    for (int c = 0; c < UNITS; c++)
        unit[c] = (struct sim_unit){.kind = CU_DEVICE,
                                    .width = 1,
                                    .speed = c < 4 ? 20 : 4.5,
                                    .launch = c < 2 ? 9e-5 : 5e-4,
                                    .memory = c < 2 ? 0 : c};
    for (int t = 0; t < N; t++)
        cost[t] = t ? 6e-5 : 9e-3;
    const struct sim_change slow[] = {{.unit = 3, .step = 1, .factor = 0.5}};
    static const struct sched_link link = {4e-6, 1e-8};
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost, .link = &link},
                             .unit = unit,
                             .ncu = UNITS,
                             .steps = STEPS,
                             .cold = true,
                             .noise = 0.089,
                             .seed = seed,
                             .change = slow,
                             .nchanges = 1};
        struct sim_result r;
        assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
        for (int s = 1; s < STEPS; s++)
            if (!(span[s] < 0.02)) /* one launch per task would take 0.1 s */
                fail_msg("seed %u: step %d takes %g s", seed, s, span[s]);
    }
}

/* Devices only: tasks that start on the host, where nobody computes, all cross one link. */
static void devices_alone(void **state)
{
    struct plan_case c;
    open_case(&c, "devices-alone");
    assert_true(run(&c.sim, "evenkeel").total < 1.01 * run(&c.sim, "dynamic").total);
    plan_case_close(&c);
}

/* A device that has slowed down gets help, although its last tasks are not worth moving, and none
 * would be at its former speed. */
static void help_over_a_link(double latency)
{
    enum { N = 600, ROW = 24, UNITS = 4, STEPS = 8 };
    static size_t first[N + 1], neighbour[4 * N];
    static double cost[N], face[4 * N], span[STEPS];
    struct sim_unit unit[UNITS];
    add_devices(unit, 0, UNITS, 1, 5, 0);
    for (size_t t = 0; t < N; t++) {
        const size_t beside[] = {(t + 1) % N, (t + N - 1) % N, (t + ROW) % N, (t + N - ROW) % N};
        memcpy(neighbour + 4 * t, beside, sizeof beside);
        first[t + 1] = 4 * t + 4;
        cost[t] = t % 6 ? 0.02 : 0;
    }
    for (int i = 0; i < 4 * N; i++)
        face[i] = 4096;
    const struct sim_change slow[] = {{.unit = 1, .step = STEPS - 1, .factor = 0.1}};
    const struct sched_link link = {latency, 1e-10};
    struct sim_case c = {.job = {.n = N,
                                 .grain = 1,
                                 .cost = cost,
                                 .first = first,
                                 .neighbour = neighbour,
                                 .face_bytes = face,
                                 .link = &link},
                         .unit = unit,
                         .ncu = UNITS,
                         .steps = STEPS,
                         .change = slow,
                         .nchanges = 1};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_true(span[STEPS - 1] < 6 * span[STEPS - 2]); /* without help ten times as long */
}

static void help_past_small_tasks(void **state)
{
    help_over_a_link(5e-5);
    help_over_a_link(5e-4);
}

/* If four of five tasks cost nothing, the fifth still takes time on units that have not run it
 * yet. */
static void most_cost_nothing(void **state)
{
    enum { N = 600, UNITS = 6, STEPS = 8 };
    static double cost[N], span[STEPS];
    struct sim_unit unit[UNITS];
    int at = add_units(unit, 0, 5, &(struct sim_unit){.width = 1, .speed = 0.6});
    add_units(unit, at, 1,
              &(struct sim_unit){.kind = CU_DEVICE, .width = 1, .speed = 20, .memory = 1});
    for (size_t t = 0; t < N; t++)
        cost[t] = t % 5 ? 0 : 3e-5 * (double)(1 + t % 2);
    const struct sim_change slow[] = {{.unit = 5, .step = 3, .factor = 0.5}};
    struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                         .unit = unit,
                         .ncu = UNITS,
                         .steps = STEPS,
                         .change = slow,
                         .nchanges = 1};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    for (int s = 0; s < STEPS; s++) /* the device is only half as fast */
        assert_true(span[s] < 2.2 * span[0]);
}

/* Times on the two kinds are unrelated, except for tasks that cost nothing anywhere, which must not
 * make the times look proportional. */
static void nothing_is_in_proportion(void **state)
{
    enum { N = 301, UNITS = 3 };
    static double cost[N], host[N], device[N];
    struct sim_unit unit[UNITS];
    for (int t = 0; t < N; t++) {
        cost[t] = t % 3 || t == N - 1 ? 1e-3 : 0;
        host[t] = cost[t] * (1 + t * 7 % 11);
        device[t] = cost[t] * (1 + t * 5 % 13) / 2;
    }
    cost[N - 2] = host[N - 2] = device[N - 2] = 0;
    add_units(unit, 0, 2, &(struct sim_unit){.width = 1, .seconds = host});
    add_units(unit, 2, 1,
              &(struct sim_unit){.kind = CU_DEVICE, .width = 1, .seconds = device, .memory = 1});
    struct sim_case c = {
        .job = {.n = N, .grain = 1, .cost = cost}, .unit = unit, .ncu = UNITS, .steps = 3};
    assert_true(run(&c, "evenkeel").makespan < 1.02 * sim_bound(&c, NULL));
}

/* Standard normal, by twelve uniform numbers. */
static double draw_normal(uint64_t *draw)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_uniform(draw);
    return sum;
}

/* Alike units, and tasks whose times have little to do with their declared costs: long tasks must
 * not be taken for slow units. Once all tasks have run, the plan is as if all times were known. */
static void long_tasks_on_alike_units(void **state)
{
    enum { MOST = 60, UNITS = 6, STEPS = 5, CASES = 60, UNLUCKY = 3 };
    static double cost[MOST], seconds[MOST], span[STEPS];
    struct sim_unit unit[UNITS];
    int slow = 0;
    add_units(unit, 0, UNITS, &(struct sim_unit){.width = 1, .speed = 1, .seconds = seconds});
    for (unsigned seed = 1; seed <= CASES; seed++) {
        uint64_t draw = 880 + seed;
        const size_t n = 2 * UNITS + (size_t)(random_uniform(&draw) * (MOST - 2 * UNITS));
        for (size_t t = 0; t < n; t++) {
            cost[t] = 1e-3 * pow(8, random_uniform(&draw));
            seconds[t] = cost[t] * exp(0.7 * draw_normal(&draw));
        }
        struct sim_case c = {
            .job = {.n = n, .grain = 1, .cost = cost}, .unit = unit, .ncu = UNITS, .steps = STEPS};
        const double known = run(&c, "evenkeel").makespan;
        struct sim_result r;
        c.cold = true;
        assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
        for (int s = 1; s < STEPS; s++)
            if (!(span[s] <= 1.02 * known)) {
                slow++;
                break;
            }
    }
    if (slow > UNLUCKY)
        fail_msg("%d of %d cases", slow, CASES);
}

/* Two devices no faster than cores, nothing known: the smallest task shows it of one of them, and
 * so of the other one that is at its first, large task. Cores then leave neither any large tasks.
 */
static void devices_alike(void **state)
{
    enum { CORES = 20, DEVICES = 2, N = 35 };
    static double cost[N];
    struct sim_unit unit[CORES + DEVICES];
    add_units(unit, 0, CORES, &(struct sim_unit){.width = 1, .speed = 1});
    add_devices(unit, CORES, DEVICES, 1, 1.1, 0);
    for (int t = 0; t < N; t++)
        cost[t] = 0.1 + 0.9 * t / (N - 1);
    const struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                               .unit = unit,
                               .ncu = CORES + DEVICES,
                               .steps = 1,
                               .cold = true};
    assert_true(run(&c, "evenkeel").ratio < 1.5);
}

/* After a unit dies, speeds of the others are known from what they did before, although none was
 * declared. */
static void the_living_are_known(void **state)
{
    enum { N = 200, UNITS = 5, STEPS = 4 };
    static const double speed[UNITS] = {2.7, 0.37, 4.5, 0.4, 1.2};
    static double cost[N], span[STEPS];
    struct sim_unit unit[UNITS];
    for (int c = 0; c < UNITS; c++)
        unit[c] = (struct sim_unit){.width = 1, .speed = speed[c]};
    for (int t = 0; t < N; t++)
        cost[t] = t ? 1e-4 : 6e-3;
    const struct sim_change dies[] = {{.unit = 0, .step = 0, .after = 1e-3}};
    struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                         .unit = unit,
                         .ncu = UNITS,
                         .steps = STEPS,
                         .cold = true,
                         .change = dies,
                         .nchanges = 1};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_true(span[1] < 1.05 * span[STEPS - 1]);
}

/* Random cases that once went wrong. */
static void random_cases(void **state)
{
    static const struct {
        enum random_family family;
        unsigned seed;
        size_t most;
        const char *why;
        bool batches; /* devices hide launches in tasks' times */
    } once[] = {
        {RANDOM_MIXED, 8910144, 1024,
         "slow units were not looked at in steps that leave no time for it", false},
        {RANDOM_MIXED, 8810232, 1024, "devices began the first step with more than they could do",
         false},
        {RANDOM_FACES, 8810262, 1024, "two neighbours on one device were not thought of", false},
        {RANDOM_CLASSES, 9500101, 128,
         "tasks that others than the last unit would better give stayed", false},
        {RANDOM_LAUNCHES, 9050035, 128,
         "launches hidden in times were taken for what busy neighbours do", true},
    };
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        static struct random_case c;
        struct random_match m;
        random_case(&c, once[i].family, once[i].seed, once[i].most);
        for (int u = 0; u < c.sim.ncu; u++)
            c.unit[u].batches = once[i].batches && c.unit[u].kind == CU_DEVICE;
        assert_int_equal(random_match(&c, &m), EK_OK);
        if (!(m.ratio < 1.02))
            fail_msg("%s: %g of %s: %s", c.text, m.ratio, m.rival, once[i].why);
        random_close(&c);
    }
}

/* Moving a task to a device takes nearly as long as computing it. If all were moved at once, CPU
 * units would wait, and the first of three steps would take half as long again. */
static void brought_little_by_little(void **state)
{
    enum { N = 464, UNITS = 13, STEPS = 3 };
    static double cost[N], span[STEPS];
    struct sim_unit unit[UNITS];
    static const struct sched_link link = {7.5e-5, 0};
    for (int d = 0; d < 2; d++)
        add_units(unit, d, 1,
                  &(struct sim_unit){.kind = CU_DEVICE, .width = 1, .speed = 1.9, .memory = d + 1});
    add_units(unit, 2, UNITS - 2, &(struct sim_unit){.width = 1, .speed = 0.9});
    for (size_t t = 0; t < N; t++)
        cost[t] = 1.5e-4;
    struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost, .link = &link},
                         .unit = unit,
                         .ncu = UNITS,
                         .steps = STEPS};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_true(span[0] < 1.25 * sim_bound(&c, NULL));
    assert_true(span[STEPS - 1] < 1.1 * sim_bound(&c, NULL));
}

/* Moving a task to a device takes as long as computing it there, but is needed only once in twelve
 * steps: planning only with transfers included made every step five percent slower. */
static void brought_once(void **state)
{
    enum { N = 8000, CORES = 8, UNITS = CORES + 2, STEPS = 12 };
    static double cost[N], bytes[N], span[STEPS];
    struct sim_unit unit[UNITS];
    static const struct sched_link link = {1e-5, 1e-10};
    uint64_t chance = 26;
    add_devices(unit, add_units(unit, 0, CORES, &(struct sim_unit){.width = 1, .speed = 1}), 2, 1,
                8, 0);
    for (size_t t = 0; t < N; t++) {
        cost[t] = 1e-4 / random_uniform(&chance);
        bytes[t] = 1e5;
    }
    struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost, .bytes = bytes, .link = &link},
                         .unit = unit,
                         .ncu = UNITS,
                         .steps = STEPS};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_true(span[STEPS - 1] < 1.005 * sim_bound(&c, NULL));
    assert_true(r.total < 1.005 * run(&c, "heft").total);
}

/* Bringing a task takes longer than computing it where it lies. All of them on the device would
 * make the first step last 785 s; in six steps, each should bring what it can while the others
 * work. */
static void brought_in_parts(void **state)
{
    enum { N = 900, ROW = 30, CORES = 3 };
    static double cost[N], bytes[N], face[4 * N];
    static size_t first[N + 1], neighbour[4 * N];
    static const struct sched_link link = {0, 1};
    struct sim_unit unit[CORES + 1];
    struct sim_result r;
    add_units(unit, 0, CORES, &(struct sim_unit){.width = 1, .speed = 1});
    unit[CORES] = (struct sim_unit){.kind = CU_DEVICE, .width = 1, .speed = 18, .memory = 1};
    for (size_t t = 0; t < N; t++) {
        const size_t other[] = {t - ROW, t - 1, t + 1, t + ROW}; /* beyond N where there is none */
        cost[t] = 1;
        bytes[t] = 1.7;
        first[t + 1] = first[t];
        for (int i = 0; i < 4; i++)
            if (other[i] < N)
                neighbour[first[t + 1]++] = other[i];
    }
    for (size_t i = 0; i < first[N]; i++)
        face[i] = 0.01;
    const struct sim_case c = {.job = {.n = N,
                                       .grain = 1,
                                       .cost = cost,
                                       .bytes = bytes,
                                       .first = first,
                                       .neighbour = neighbour,
                                       .face_bytes = face,
                                       .link = &link},
                               .unit = unit,
                               .ncu = CORES + 1,
                               .steps = 6};
    assert_int_equal(sim_run(&c, "evenkeel", NULL, &r), EK_OK);
    assert_true(r.total < 1200);
}

/* Twelve long tasks fit in pairs on the devices only if these give several short ones for each. */
static void one_for_several(void **state)
{
    enum { N = 107, CORES = 24, DEVICES = 6 };
    static double cost[N], span[2];
    struct sim_unit unit[CORES + DEVICES];
    struct sim_result r;
    add_units(unit, 0, CORES, &(struct sim_unit){.width = 1, .speed = 214});
    for (int d = 0; d < DEVICES; d++)
        unit[CORES + d] =
            (struct sim_unit){.kind = CU_DEVICE, .width = 1, .speed = 357, .memory = d + 1};
    for (size_t t = 0; t < N; t++)
        cost[t] = t % 9 == 4 ? 3.48 : 1;
    const struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                               .unit = unit,
                               .ncu = CORES + DEVICES,
                               .steps = 2};
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    assert_true(span[1] < 1.05 * sim_bound(&c, NULL));
}

/* When neighbours slow units, the time at which a list will end follows from the units' present
 * speeds: with those of another step a helper took tasks that the victim would have finished in
 * time, in every second step. */
static void lists_follow_neighbours(void **state)
{
    static struct random_case c;
    static double span[64];
    struct sim_result r;
    random_case(&c, RANDOM_MIXED, 8910102, 128);
    assert_true(c.sim.steps > 4 && c.sim.steps <= 64);
    assert_int_equal(sim_run(&c.sim, "evenkeel", span, &r), EK_OK);
    for (int step = c.sim.steps - 4; step < c.sim.steps; step++)
        assert_true(span[step] < 1.05 * span[step - 1]);
    random_close(&c);
}

/* A grid on cores and two devices, whose exchanges take `times` as long as the link's figures say.
 * By those figures an even cut costs `share` of the shortest step, in each step. Returns the mean
 * time of exchanges, *last the last step's time, both in units of the shortest step. */
static double exchange_unlike_the_link(double share, double times, double *last)
{
    enum { ROW = 12, N = ROW * ROW, CORES = 8, UNITS = CORES + 2, STEPS = 30 };
    static size_t first[N + 1], neighbour[4 * N];
    static double cost[N], bytes[N], face[4 * N], span[STEPS];
    struct sim_unit unit[UNITS];
    size_t faces = 0;
    add_devices(unit, add_units(unit, 0, CORES, &(struct sim_unit){.width = 1, .speed = 1}), 2, 1,
                2.7, 0);
    for (size_t t = 0; t < N; t++) {
        const bool is[] = {t % ROW > 0, t % ROW < ROW - 1, t >= ROW, t < N - ROW};
        const size_t at[] = {t - 1, t + 1, t - ROW, t + ROW};
        for (int i = 0; i < 4; i++)
            if (is[i])
                neighbour[faces++] = at[i];
        first[t + 1] = faces;
        cost[t] = 1e-4;
        bytes[t] = 1e4;
    }
    for (size_t i = 0; i < faces; i++)
        face[i] = 1e4;
    const double step = N * cost[0] / (CORES + 2 * 2.7);
    const struct sched_link link = {0, share * step / (2 * ROW * face[0])};
    const struct sim_exchange parts = {{[SIM_LINK] = times * link.per_byte}};
    const struct sim_case c = {.job = {.n = N,
                                       .grain = 1,
                                       .cost = cost,
                                       .bytes = bytes,
                                       .first = first,
                                       .neighbour = neighbour,
                                       .face_bytes = face,
                                       .link = &link},
                               .unit = unit,
                               .ncu = UNITS,
                               .steps = STEPS,
                               .exchange = &parts};
    struct sim_result r;
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    *last = span[STEPS - 1] / step;
    return r.communication / STEPS / step;
}

/* If faces cost thirty times as much as the link's figures say, tasks stay on one memory node; if
 * they cost a thirtieth, they do not. */
static void faces_cost_what_they_take(void **state)
{
    double last;
    assert_true(exchange_unlike_the_link(0.02, 30, &last) < 0.2);
    assert_true(last < 1.7);
    assert_true(exchange_unlike_the_link(0.7, 1. / 30, &last) < 0.1);
    assert_true(last < 1.1);
}

/* Small cases: evenkeel's total must stay below `most` times the rival's. */
static void beside_others(void **state)
{
    static const struct {
        const char *why, *text, *rival;
        double most;
    } all[] = {
        {"idle units kept for ever what a device should have brought once",
         "{'units': [{'kind': 'cpu', 'count': 4, 'speed': 1},"
         "           {'kind': 'device', 'count': 2, 'speed': 4, 'fixed_s': 0.5}],"
         " 'tasks': {'cost': [0, 1, 1], 'bytes': [1, 1, 1]},"
         " 'link': {'latency_s': 0.4, 'bandwidth_Bps': 1e9}, 'steps': 5}",
         "heft", 1.001},
        {"few tasks, each slow to bring, were brought all at once",
         "{'units': [{'kind': 'cpu', 'count': 2, 'speed': 1},"
         "           {'kind': 'device', 'count': 1, 'speed': 3}],"
         " 'tasks': {'cost': [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"
         "           'bytes': [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},"
         " 'link': {'latency_s': 1.5, 'bandwidth_Bps': 1e9}, 'steps': 12}",
         "heft", 0.91},
        {"a unit that nobody needed was tried again",
         "{'units': [{'kind': 'cpu', 'count': 4, 'speed': 1}], 'tasks': {'cost': [1, 1, 0.9]},"
         " 'changes': [{'unit': 0, 'step': 1, 'factor': 0.8},"
         "             {'unit': 0, 'step': 5, 'factor': 0.3}], 'steps': 30}",
         "heft", 1.001},
        {"a unit that is slow in every second step was believed each time",
         "{'units': [{'kind': 'cpu', 'count': 6, 'speed': 1}],"
         " 'tasks': {'cost': [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]},"
         " 'changes': [{'unit': 1, 'step': 1, 'factor': 0.2}, {'unit': 1, 'step': 2, 'factor': 1},"
         "             {'unit': 1, 'step': 3, 'factor': 0.2}, {'unit': 1, 'step': 4, 'factor': 1},"
         "             {'unit': 1, 'step': 5, 'factor': 0.2}], 'steps': 6}",
         "chunk", 0.97},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[1024];
        struct plan_case c;
        snprintf(text, sizeof text, "%s", all[i].text);
        for (char *at = text; (at = strchr(at, '\'')); at++)
            *at = '"';
        assert_int_equal(plan_case_text(&c, text), EK_OK);
        const double ratio = run(&c.sim, "evenkeel").total / run(&c.sim, all[i].rival).total;
        if (!(ratio < all[i].most))
            fail_msg("%s: %g of %s", all[i].why, ratio, all[i].rival);
        plan_case_close(&c);
    }
}

/* Costs over four orders of magnitude and a little noise: the fitted line says nothing about small
 * tasks, which must not make a slow unit look fast. */
static void small_tasks_off_the_line(void **state)
{
    enum { N = 106, UNITS = 37, STEPS = 20 };
    struct sim_unit unit[UNITS];
    int at = add_units(unit, 0, 8, &(struct sim_unit){.width = 1, .speed = 0.47});
    at = add_devices(unit, at, 1, 1, 0.0614, 0);
    at = add_devices(unit, at, 8, 2, 0.6, 0);
    at = add_units(unit, at, 16, &(struct sim_unit){.width = 1, .speed = 0.4});
    add_devices(unit, at, 4, 10, 5.3, 0);
    for (unsigned seed = 1; seed <= 40; seed++) {
        uint64_t draw = seed;
        double cost[N], span[STEPS];
        struct sim_result r;
        for (size_t t = 0; t < N; t++)
            cost[t] = pow(10, -4 * random_uniform(&draw));
        const struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                                   .unit = unit,
                                   .ncu = UNITS,
                                   .steps = STEPS,
                                   .noise = 0.02,
                                   .seed = seed};
        assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
        for (int s = 0; s < STEPS; s++)
            if (span[s] > 1.5 * span[0])
                fail_msg("seed %u: step %d takes %g s, the first one %g s", seed, s, span[s],
                         span[0]);
    }
}

/* A unit that has slowed down is still known to be slow after another one has died, whether its
 * speed was declared or given by a profile. */
static void speeds_survive_a_death(void **state)
{
    enum { STEPS = 8, SLOW = 2, DEATH = 4, UNITS = 16, TASKS = 64 };
    for (unsigned seed = 1; seed <= 60; seed++) {
        uint64_t draw = seed;
        const int ncu = 4 + (int)(random_uniform(&draw) * (UNITS - 4));
        const size_t n = (size_t)ncu * (2 + (size_t)(random_uniform(&draw) * 2.99));
        double cost[TASKS], seconds[TASKS], span[STEPS];
        struct sim_unit unit[UNITS] = {{0}};
        struct sim_result r;
        for (size_t t = 0; t < n; t++) {
            cost[t] = 0.9 + 0.2 * random_uniform(&draw);
            seconds[t] = 0.1 + cost[t];
        }
        for (int u = 0; u < ncu; u++)
            unit[u] =
                (struct sim_unit){.width = 1, .speed = 1, .seconds = seed % 2 ? seconds : NULL};
        const struct sim_change change[] = {
            {.unit = 0, .step = SLOW, .factor = 0.2 + 0.2 * random_uniform(&draw)},
            {.unit = ncu - 1, .step = DEATH, .after = random_uniform(&draw)}};
        const struct sim_case c = {.job = {.n = n, .grain = 1, .cost = cost},
                                   .unit = unit,
                                   .ncu = ncu,
                                   .steps = STEPS,
                                   .change = change,
                                   .nchanges = 2};
        assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
        if (span[DEATH + 1] > 1.3 * span[STEPS - 1])
            fail_msg("seed %u: %d units, %zu tasks: %g s after the death, %g s in the end", seed,
                     ncu, n, span[DEATH + 1], span[STEPS - 1]);
    }
}

struct drawn {
    enum random_family family;
    unsigned seed;
};

/* No worse than the best other policy. */
static void keeps_up(struct random_case *c)
{
    struct random_match m;
    assert_int_equal(random_match(c, &m), EK_OK);
    if (!(m.ratio < 1.02))
        fail_msg("%s: %g of %s", c->text, m.ratio, m.rival);
}

/* One task in fifty takes twenty times as long, as if interrupted: the other tasks of its range
 * tell what the unit's speed is. */
static void interrupted_in_a_range(void **state)
{
    enum { FACTORS = 50 };
    static const struct drawn once[] = {{RANDOM_LAUNCHES, 9980060}, {RANDOM_FIXED, 9980245},
                                        {RANDOM_LAUNCHES, 9980497}, {RANDOM_LAUNCHES, 9980443},
                                        {RANDOM_LAUNCHES, 9980087}, {RANDOM_LAUNCHES, 9980168},
                                        {RANDOM_LAUNCHES, 9980111}, {RANDOM_LAUNCHES, 9980058}};
    static struct random_case c;
    double factor[FACTORS] = {20};
    for (int i = 1; i < FACTORS; i++)
        factor[i] = 1;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        random_case(&c, once[i].family, once[i].seed, 128);
        for (int u = 0; u < c.sim.ncu; u++) {
            c.unit[u].noise = factor;
            c.unit[u].nnoise = FACTORS;
        }
        keeps_up(&c);
        random_close(&c);
    }
}

/* Tasks differ and nobody says by how much: what they took on one kind of unit tells which of them
 * are long on another. */
static void undeclared_costs(void **state)
{
    enum { UNITS = 65, TASKS = 128 };
    static const struct drawn once[] = {{RANDOM_ONE_MORE, 9980693}, {RANDOM_ONE_MORE, 9980418},
                                        {RANDOM_SPEEDS, 9980691},   {RANDOM_TRANSFERS, 9980360},
                                        {RANDOM_FACES, 9980338},    {RANDOM_MIXED, 9980041}};
    static double seconds[UNITS][TASKS];
    static struct random_case c;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        random_case(&c, once[i].family, once[i].seed, TASKS);
        for (int u = 0; u < c.sim.ncu; u++) {
            for (size_t t = 0; t < c.sim.job.n; t++)
                seconds[u][t] = sim_seconds(&c.sim, &c.unit[u], t);
            c.unit[u].seconds = seconds[u];
        }
        c.sim.job.cost = NULL;
        c.sim.cold = true;
        keeps_up(&c);
        random_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_unit_after_much_noise),
        cmocka_unit_test(speeds_survive_a_death),
        cmocka_unit_test(small_tasks_off_the_line),
        cmocka_unit_test(a_few_large_tasks),
        cmocka_unit_test(noise_is_no_launch),
        cmocka_unit_test(launches_of_their_own),
        cmocka_unit_test(tasks_of_no_cost),
        cmocka_unit_test(late_by_launches),
        cmocka_unit_test(devices_alone),
        cmocka_unit_test(help_past_small_tasks),
        cmocka_unit_test(most_cost_nothing),
        cmocka_unit_test(nothing_is_in_proportion),
        cmocka_unit_test(devices_alike),
        cmocka_unit_test(the_living_are_known),
        cmocka_unit_test(random_cases),
        cmocka_unit_test(brought_little_by_little),
        cmocka_unit_test(brought_once),
        cmocka_unit_test(brought_in_parts),
        cmocka_unit_test(one_for_several),
        cmocka_unit_test(lists_follow_neighbours),
        cmocka_unit_test(faces_cost_what_they_take),
        cmocka_unit_test(beside_others),
        cmocka_unit_test(long_tasks_on_alike_units),
        cmocka_unit_test(interrupted_in_a_range),
        cmocka_unit_test(undeclared_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
