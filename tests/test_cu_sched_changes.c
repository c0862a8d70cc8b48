/* tests/test_cu_sched_changes.c – evenkeel when units change their speed, also several at once, or
 * because their neighbours have ended; and tasks that are worth as much on several kinds of units.
 */
#include "tests/random_case.h"
#include "tests/sim_run.h"

#include <math.h>

enum { UNITS = 6, HOST = 4, TASKS = 600, STEPS = 6 };

/* Host units and a few devices, each in its own memory. */
static void make_units(struct sim_unit *unit, int host, int units, double speed)
{
    for (int u = 0; u < units; u++)
        unit[u] = u < host
                      ? (struct sim_unit){.width = 1, .speed = 1}
                      : (struct sim_unit){
                            .kind = CU_DEVICE, .width = 1, .speed = speed, .memory = u - host + 1};
}

/* Alike but for one, which takes as long as two fifths of them. */
static void make_tasks(double *cost)
{
    for (int t = 0; t < TASKS; t++)
        cost[t] = t == 2 ? 0.4 * TASKS * 1e-2 : 1e-2;
}

/* From the first whole step after a change on, all is planned with the new speeds. */
static void must_keep_up(const struct sim_case *c)
{
    double span[STEPS];
    struct sim_result r;
    assert_int_equal(sim_run(c, "evenkeel", span, &r), EK_OK);
    for (int s = c->change->step + 1; s < STEPS; s++)
        if (!(span[s] < 1.1 * r.lower_bound)) /* which is the last step's */
            fail_msg("step %d takes %g times the bound", s, span[s] / r.lower_bound);
}

/* A core becomes slower during a step, and so does the device that has the long task: its times do
 * not mislead about the other device. */
static void two_at_once(void **state)
{
    static double cost[TASKS];
    struct sim_unit unit[UNITS];
    make_units(unit, HOST, UNITS, 10);
    make_tasks(cost);
    const struct sim_change change[] = {{.unit = 1, .step = 1, .after = 0.05, .factor = 0.7},
                                        {.unit = 4, .step = 1, .after = 0.05, .factor = 0.1}};
    must_keep_up(&(struct sim_case){.job = {.n = TASKS, .grain = 1, .cost = cost},
                                    .unit = unit,
                                    .ncu = UNITS,
                                    .steps = STEPS,
                                    .change = change,
                                    .nchanges = 2});
}

/* All units but one become slower. */
static void all_but_one(void **state)
{
    static double cost[TASKS];
    struct sim_unit unit[UNITS];
    struct sim_change change[UNITS - 1];
    make_units(unit, UNITS, UNITS, 1);
    make_tasks(cost);
    for (int i = 0, u = 0; u < UNITS; u++)
        if (u != 3)
            change[i++] = (struct sim_change){.unit = u, .step = 2, .after = 0.1, .factor = 0.1};
    must_keep_up(&(struct sim_case){.job = {.n = TASKS, .grain = 1, .cost = cost},
                                    .unit = unit,
                                    .ncu = UNITS,
                                    .steps = STEPS,
                                    .change = change,
                                    .nchanges = UNITS - 1});
}

/* A device becomes ten times slower as a step begins. Its long task, which takes about the whole
 * step now, tells that; its short ones, which end later than planned, too, are not taken for
 * interrupted ones then, so that the others go on helping. */
static void slow_after_a_long_task(void **state)
{
    enum { N = 1490 };
    static double cost[N], span[STEPS];
    struct sim_unit unit[UNITS];
    struct sim_result r;
    make_units(unit, UNITS - 1, UNITS, 8);
    for (int t = 0; t < N; t++)
        cost[t] = t == 7 ? 0.8 : 8e-3 * (1 + t % 3 * 1e-3);
    const struct sim_change change = {.unit = UNITS - 1, .step = 2, .factor = 0.1};
    const struct sim_case c = {.job = {.n = N, .grain = 1, .cost = cost},
                               .unit = unit,
                               .ncu = UNITS,
                               .steps = STEPS,
                               .change = &change,
                               .nchanges = 1};
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    if (!(span[2] < 1.05 * r.lower_bound))
        fail_msg("%g times what the step should take", span[2] / r.lower_bound);
}

/* A device becomes ten times slower during a step, before or after it has executed a range of each
 * length. Its later ranges do not look as if all their time went into their launches. */
static void slow_within_a_step(void **state)
{
    static const struct {
        size_t n;
        double after;
    } when[] = {{280, 0.1}, {120, 0.012}};
    static double cost[TASKS];
    struct sim_unit unit[UNITS];
    make_units(unit, UNITS - 1, UNITS, 10);
    for (int t = 0; t < TASKS; t++)
        cost[t] = 1e-2;
    for (int i = 0; i < 2; i++) {
        const struct sim_change change = {
            .unit = UNITS - 1, .step = 1, .after = when[i].after, .factor = 0.1};
        must_keep_up(&(struct sim_case){.job = {.n = when[i].n, .grain = 1, .cost = cost},
                                        .unit = unit,
                                        .ncu = UNITS,
                                        .steps = STEPS,
                                        .change = &change,
                                        .nchanges = 1});
    }
}

/* Three kinds of units and tasks of three sizes, so that all tasks of one size are worth as much on
 * two kinds: those that are shared first must leave room for the others. */
static void sizes_at_one_price(void **state)
{
    enum { KINDS = 3, N = 1151 };
    static double cost[N];
    const struct sim_unit unit[KINDS] = {
        {.width = 1, .speed = 1, .fixed = 6e-5},
        {.width = 1, .speed = 0.5},
        {.kind = CU_DEVICE, .width = 1, .speed = 10, .fixed = 4.7e-4, .memory = 1}};
    for (int t = 0; t < N; t++)
        cost[t] = 2.28e-3 * (1 + t * 7 % 3);
    const struct sim_case c = {
        .job = {.n = N, .grain = 1, .cost = cost}, .unit = unit, .ncu = KINDS, .steps = 3};
    const double ratio = run(&c, "evenkeel").ratio;
    if (!(ratio < 1.01))
        fail_msg("%g times the bound", ratio);
}

/* Devices are slowed by the cores beside them, by a fifth each, so that most of their work is left
 * when the cores have ended. They do that alone in little more than half a second: none helps,
 * although the devices look late. */
static void faster_when_others_end(void **state)
{
    enum { CORES = 7, DEVICES = 2, EACH = 4 };
    static const double by[][2] = {{1, 0.2}};
    struct sim_unit unit[CORES + DEVICES];
    double span[STEPS];
    struct sim_result r;
    make_units(unit, CORES, CORES + DEVICES, EACH);
    for (int u = CORES; u < CORES + DEVICES; u++)
        unit[u].slowed[CU_CPU] = (struct sim_curve){1, by};
    const struct sim_case c = {.job = {.n = CORES + DEVICES * EACH, .grain = 1},
                               .unit = unit,
                               .ncu = CORES + DEVICES,
                               .steps = STEPS};
    assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
    const double alone = 1 - 1 / (1 + CORES * by[0][1]); /* of the devices' second */
    for (int s = 0; s < STEPS; s++)
        if (!(fabs(span[s] - (1 + alone)) < 1e-6))
            fail_msg("step %d takes %g s, not %g", s, span[s], 1 + alone);
}

/* Where other programs run on the same cores now and then, no single policy does better in the
 * mean. */
static void on_a_shared_machine(void **state)
{
    static struct random_case c;
    static double logarithm[64];
    const unsigned cases = getenv("EK_LONG") ? 400 : 40;
    for (unsigned seed = 1; seed <= cases; seed++) {
        random_case(&c, RANDOM_SHARED, seed, 128);
        const double own = run(&c.sim, "evenkeel").total;
        for (int p = 0; !c.apart && p < sched_count(); p++)
            logarithm[p] += log(own / run(&c.sim, sched_at(p)->name).total);
        random_close(&c);
    }
    for (int p = 0; p < sched_count(); p++)
        if (logarithm[p] > 0)
            fail_msg("evenkeel takes %g times as long as %s", exp(logarithm[p] / cases),
                     sched_at(p)->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_at_once),
                                       cmocka_unit_test(all_but_one),
                                       cmocka_unit_test(slow_after_a_long_task),
                                       cmocka_unit_test(slow_within_a_step),
                                       cmocka_unit_test(sizes_at_one_price),
                                       cmocka_unit_test(faster_when_others_end),
                                       cmocka_unit_test(on_a_shared_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
