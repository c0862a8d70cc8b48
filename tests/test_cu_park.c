/* tests/test_cu_park.c – units that slow the others by more than they add are parked, the slowest
 * first, node by node; and the division that has proved the fastest comes back after a failure. */
#include "cu/sched/park.h"
#include "cu/sched/proven.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

enum { UNITS = 8, TASKS = 20 };

static struct sched_unit unit[UNITS];
static struct sched_job job;
static struct estimate e;
static struct park park;

/* Two nodes of four CPU units; beside each busy neighbour a unit takes `share` longer. */
static void begin(double share)
{
    for (int c = 0; c < UNITS; c++)
        unit[c] = (struct sched_unit){.kind = CU_CPU, .width = 1, .node = c / 4, .speed = 1};
    job = (struct sched_job){.n = TASKS, .grain = 1, .ncu = UNITS, .unit = unit};
    assert_int_equal(estimate_open(&e, &job), EK_OK);
    assert_int_equal(park_open(&park, UNITS), EK_OK);
    e.of[0].share[CU_CPU] = share;
    estimate_park(&e, NULL);
}

static void end(void)
{
    park_close(&park);
    estimate_close(&e);
}

static int parked(int node)
{
    int count = 0;
    for (int c = 4 * node; c < 4 * node + 4; c++)
        count += park.off[c];
    return count;
}

/* m / (1 + s (m - 1)) grows with m for s < 1: all are worth having. */
static void neighbours_that_add_stay(void **state)
{
    (void)state;
    begin(0.3);
    assert_false(park_choose(&park, &e));
    assert_int_equal(parked(0) + parked(1), 0);
    end();
}

/* For s > 1 one unit alone is fastest. */
static void neighbours_that_cost_more_are_parked(void **state)
{
    (void)state;
    begin(2);
    double before = e.pace[0];
    assert_true(park_choose(&park, &e));
    assert_int_equal(parked(0), 3);
    assert_int_equal(parked(1), 3);
    assert_true(fabs(before / e.pace[0] - 7) < 1e-12); /* 1 + 2 * 3 neighbours */
    assert_false(park_choose(&park, &e));              /* and that is that */
    end();
}

static void the_fast_ones_work(void **state)
{
    (void)state;
    begin(2);
    e.factor[2] = e.factor[5] = 0.5;
    estimate_park(&e, NULL);
    assert_true(park_choose(&park, &e));
    assert_false(park.off[2]);
    assert_false(park.off[5]);
    park_undo(&park, &e);
    assert_int_equal(parked(0) + parked(1), 0);
    assert_true(fabs(e.pace[0] - 7) < 1e-12);
    end();
}

static void the_proven_division_comes_back(void **state)
{
    (void)state;
    struct proven p;
    int owner[3] = {0, 1, 0};
    bool off[2] = {false, true};
    assert_int_equal(proven_open(&p, 3, 2), EK_OK);
    assert_false(proven_judge(&p, 1.0, 0.01, owner, off)); /* the first one is the best so far */
    proven_leave(&p);
    owner[2] = 1;
    off[1] = false;
    assert_true(proven_judge(&p, 1.2, 0.01, owner, off));
    assert_int_equal(owner[2], 0);
    assert_true(off[1]);
    double wary = p.caution;
    assert_true(wary > 1);
    assert_false(proven_judge(&p, 1.01, 0.01, owner, off)); /* itself, within what it scatters */
    assert_true(p.caution == wary);
    proven_leave(&p);
    owner[0] = 1;
    assert_false(proven_judge(&p, 0.8, 0.01, owner, off)); /* a better one */
    assert_true(p.seconds == 0.8 && p.owner[0] == 1 && p.caution == 1);
    proven_close(&p);
}

static void another_machine_ends_the_caution(void **state)
{
    (void)state;
    struct proven p;
    int owner[1] = {0};
    bool off[1] = {false};
    assert_int_equal(proven_open(&p, 1, 1), EK_OK);
    assert_false(proven_judge(&p, 1.0, 0, owner, off));
    proven_leave(&p);
    assert_true(proven_judge(&p, 2.0, 0, owner, off));
    assert_false(proven_judge(&p, 1.5, 0, owner, off)); /* it takes half longer than it did */
    assert_true(p.caution == 1);
    proven_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_that_add_stay),
        cmocka_unit_test(neighbours_that_cost_more_are_parked),
        cmocka_unit_test(the_fast_ones_work),
        cmocka_unit_test(the_proven_division_comes_back),
        cmocka_unit_test(another_machine_ends_the_caution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
