/* tests/test_cu_loss.c – lost seconds by cause: they add up to the run's time beyond its bound, and
 * each cause gets what a simulated run loses to it alone. */
#include "cu/sim/bound.h"
#include "tests/random_case.h"
#include "tests/sim_run.h"

#include <stdlib.h>

static double sum_of(const struct loss *l)
{
    double sum = 0;
    for (int i = 0; i < LOSS_CAUSES; i++)
        sum += l->seconds[i];
    return sum;
}

static void causes_add_up(void **state)
{
    static struct random_case c;
    static const char *const schedule[] = {"static", "dynamic", "clustered-guided", "evenkeel"};
    for (unsigned seed = 1; seed <= 2 * RANDOM_FAMILIES; seed++) {
        const enum random_family family = (enum random_family)(seed % RANDOM_FAMILIES);
        random_case(&c, family, seed, 200);
        if (c.sim.nchanges) { /* the bound is for units before they change */
            random_close(&c);
            continue;
        }
        c.sim.steps = 6;
        for (int p = 0; p < 4; p++) {
            struct sim_result r = run(&c.sim, schedule[p]);
            double lost = r.computation + r.communication - r.bounds;
            if (fabs(sum_of(&r.loss) - lost) > 1e-6 * r.total)
                fail_msg("%s: %g s of %g s", c.text, sum_of(&r.loss), lost);
            const double least = r.computation < r.bounds ? r.computation - r.bounds : 0;
            for (int i = 0; i < LOSS_CAUSES; i++)
                if (r.loss.seconds[i] < (i == LOSS_IMBALANCE ? least : 0) - 1e-9 * r.total)
                    fail_msg("%s: cause %d gave %g s", c.text, i, -r.loss.seconds[i]);
        }
        random_close(&c);
    }
}

/* Two units and four tasks of a second: the bound is two seconds. */
enum { TASKS = 4, UNITS = 2, STEPS = 3 };
static double cost[TASKS] = {1, 1, 1, 1}, bytes[TASKS] = {5, 5, 5, 5};
static struct sim_unit unit[UNITS];
static struct sim_case c;

static void two_units(void)
{
    for (int u = 0; u < UNITS; u++)
        unit[u] = (struct sim_unit){.kind = CU_CPU, .width = 1, .speed = 1};
    c = (struct sim_case){
        .job = {.n = TASKS, .grain = 1, .cost = cost}, .unit = unit, .ncu = UNITS, .steps = STEPS};
}

static void assert_lost(const char *schedule, int cause, double seconds)
{
    struct sim_result r = run(&c, schedule);
    for (int i = 0; i < LOSS_CAUSES; i++) {
        double expected = i == cause ? seconds : 0;
        if (fabs(r.loss.seconds[i] - expected) > 1e-9)
            fail_msg("cause %d: %g s, not %g s", i, r.loss.seconds[i], expected);
    }
}

static void each_cause_alone(void **state)
{
    two_units();
    assert_lost("static", LOSS_IMBALANCE, 0);
    assert_lost("dynamic:chunk=3", LOSS_IMBALANCE, STEPS * 1.0); /* three and one */
    unit[0].launch = unit[1].launch = 0.25;
    assert_lost("static", LOSS_LAUNCH, STEPS * 0.25);
    two_units();
    static const double crowd[1][2] = {{1, 0.1}};
    unit[0].slowed[CU_CPU] = unit[1].slowed[CU_CPU] = (struct sim_curve){1, crowd};
    assert_lost("static", LOSS_CONTENTION, STEPS * 0.2);
    two_units();
    const struct sched_link link = {0.1, 0.01};
    c.job.link = &link;
    c.job.bytes = bytes;
    unit[0].kind = unit[1].kind = CU_DEVICE;
    unit[0].memory = 1;
    unit[1].memory = 2;
    assert_lost("static", LOSS_TRANSFER, 2 * 0.15); /* two tasks each, in the first step */
}

/* A faster unit's time is worth more, so the slow one's idle time is cheap. */
static void prices_are_speeds(void **state)
{
    two_units();
    unit[1].speed = 3;
    double price[UNITS];
    assert_true(sim_prices(&c, NULL, price));
    assert_true(fabs(price[0] - 0.25) < 1e-12 && fabs(price[1] - 0.75) < 1e-12);
    unit[1].fixed = 1e-9; /* no longer proportional: prices from the linear programme */
    assert_true(sim_prices(&c, NULL, price));
    assert_true(fabs(price[0] - 0.25) < 1e-6 && fabs(price[1] - 0.75) < 1e-6);
    const double dead[UNITS] = {1, 0};
    assert_true(sim_prices(&c, dead, price));
    assert_true(price[0] == 1 && price[1] == 0);
}

/* Prices need not fit a run (means over steps, ranks with different noise): causes then share what
 * was lost, and none is negative. */
static void no_cause_gives_time_back(void **state)
{
    const struct loss_share fast = {.price = 0.5, .rule = 4, .tasks = 3, .launches = 0.2},
                            slow = {.price = 1, .rule = 1, .tasks = 5, .launches = 2, .moving = 2};
    struct loss l = loss_of(3, 1, 2, 1, &fast);
    assert_true(l.seconds[LOSS_CONTENTION] == 0 && fabs(l.seconds[LOSS_IMBALANCE] - 0.9) < 1e-12);
    l = loss_of(3, 1, 2, 1, &slow); /* 8 s by prices, only one was lost */
    assert_true(fabs(l.seconds[LOSS_CONTENTION] - 0.5) < 1e-12 && l.seconds[LOSS_IMBALANCE] == 0);
    assert_true(fabs(l.seconds[LOSS_TRANSFER] - 1.25) < 1e-12);
}

static void no_bound_no_causes(void **state)
{
    struct loss l = loss_of(1, 2, NAN, 0, NULL);
    for (int i = 0; i < LOSS_CAUSES; i++)
        assert_true(isnan(l.seconds[i]));
    json_t *o = loss_json(&l);
    assert_true(json_is_null(json_object_get(o, "contention_s")));
    json_decref(o);
}

/* A run that took as long as its bound lost nothing, whatever the mean prices say. */
static void the_bound_itself_loses_nothing(void **state)
{
    const struct loss_share share[] = {
        {.price = 0.4, .rule = 0.7, .tasks = 0.71, .launches = 1e-3, .moving = 0}};
    struct loss l = loss_of(0.7, 0, 0.7, 1, share);
    for (int i = 0; i < LOSS_CAUSES; i++)
        assert_true(l.seconds[i] == 0);
}

/* Duality: the prices add up to the area bound for any number of kinds. */
static void prices_are_the_bound(void **state)
{
    double row[3][40], price[3];
    const double *const rows[3] = {row[0], row[1], row[2]};
    const int units[3] = {3, 0, 2};
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < 3; k++)
            row[k][i] = 1 + (i * (7 + 4 * k)) % 13;
    double bound = bound_prices(40, 3, units, rows, price);
    assert_true(fabs(bound / bound_step(40, 3, units, rows) - 1) < 1e-9);
    assert_true(price[1] == 0 && fabs(3 * price[0] + 2 * price[2] - 1) < 1e-12);
    row[0][7] = NAN;
    assert_true(isnan(bound_prices(40, 3, units, rows, price)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_add_up),        cmocka_unit_test(each_cause_alone),
        cmocka_unit_test(prices_are_speeds),    cmocka_unit_test(no_cause_gives_time_back),
        cmocka_unit_test(no_bound_no_causes),   cmocka_unit_test(the_bound_itself_loses_nothing),
        cmocka_unit_test(prices_are_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
