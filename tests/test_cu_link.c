/* tests/test_cu_link.c – latency and bandwidth come back from moves, whatever a few wild ones
 * say. */
#include "cu/sched/link.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { UNITS = 3 };
static struct link link_of[UNITS];
static const struct sched_link truth = {2e-5, 1 / 8e9};

static void note(int unit, int links, double bytes, double times)
{
    link_note(&link_of[unit], links, bytes,
              times * links * (truth.latency + bytes * truth.per_byte));
}

static struct sched_link learn(void)
{
    struct sched_link l = SCHED_LINK_USUAL;
    assert_int_equal(link_learn(link_of, UNITS, sizeof *link_of, &l), EK_OK);
    return l;
}

static void assert_true_link(double tolerance)
{
    struct sched_link l = learn();
    assert_true(fabs(l.latency / truth.latency - 1) < tolerance);
    assert_true(fabs(l.per_byte / truth.per_byte - 1) < tolerance);
}

static void moves_tell_the_link(void **state)
{
    (void)state;
    memset(link_of, 0, sizeof link_of);
    for (int i = 0; i < 40; i++)
        note(i % UNITS, 1 + i % 2, 1e5 * (1 + i * 7 % 40), 1);
    assert_true_link(1e-9);
    for (int i = 0; i < 6; i++) /* pages touched for the first time, a thread that had to wait */
        note(i % UNITS, 1, 1e5 * (1 + 6 * i), 20);
    assert_true_link(0.25);
}

/* What was long ago is forgotten: a link that became slower is seen. */
static void the_latest_count(void **state)
{
    (void)state;
    memset(link_of, 0, sizeof link_of);
    for (int i = 0; i < LINK_MOVES; i++)
        note(0, 1, 1e5 * (1 + i), 3);
    for (int i = 0; i < LINK_MOVES; i++)
        note(0, 1, 1e5 * (1 + i), 1);
    assert_true_link(1e-9);
}

static void too_few_tell_nothing(void **state)
{
    (void)state;
    const struct sched_link usual = SCHED_LINK_USUAL;
    memset(link_of, 0, sizeof link_of);
    note(0, 0, 1e6, 1); /* within the host: over no link */
    for (int i = 0; i < 5; i++)
        note(i % UNITS, 1, 1e6 * (1 + i), 1);
    struct sched_link l = learn();
    assert_true(l.latency == usual.latency && l.per_byte == usual.per_byte);
}

/* Sizes that are all alike tell no bandwidth: a face is not taken to be free. */
static void one_size_tells_one_factor(void **state)
{
    (void)state;
    const struct sched_link usual = SCHED_LINK_USUAL;
    memset(link_of, 0, sizeof link_of);
    for (int i = 0; i < 40; i++)
        link_note(&link_of[i % UNITS], 1, 15000 + i, 3 * (usual.latency + 15000 * usual.per_byte));
    const struct sched_link l = learn();
    assert_true(fabs(l.latency / usual.latency - 3) < 0.01);
    assert_true(fabs(l.per_byte / usual.per_byte - 3) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_tell_the_link),
        cmocka_unit_test(the_latest_count),
        cmocka_unit_test(too_few_tell_nothing),
        cmocka_unit_test(one_size_tells_one_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
