/* tests/test_cu_crowd.c – how neighbours slow a unit is learnt from pairs of runs: the true shares
 * come back, of one kind and of two, with noise; chance alone gives none. */
#include "cu/sched/crowd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* A run of a task that takes a second alone, beside so many neighbours. */
static struct crowd_sample run(const double share[2], int cpus, int devices, double noise)
{
    struct crowd_sample s = {.near = {{(float)cpus, (float)devices}}};
    s.seconds = crowd_at(share, s.near) * (1 + noise);
    return s;
}

/* Fifty pairs in which the neighbours of either kind change, or only the CPU units. */
static void see(struct crowd *c, const double share[2], bool devices, double noise)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 50; i++) {
        double a = noise * ((i * 7) % 11 - 5) / 5, b = noise * ((i * 5) % 13 - 6) / 6;
        crowd_add(c, run(share, i % 5, devices ? i % 3 : 1, a),
                  run(share, (i * 3 + 1) % 6, devices ? (i / 2) % 4 : 1, b));
    }
}

static void shares_come_back(void **state)
{
    (void)state;
    static const double truth[][2] = {{0.02, 0}, {0, 0.05}, {0.03, 0.01}, {0.01, 0.06}};
    for (int i = 0; i < 4; i++) {
        struct crowd c;
        double share[2];
        see(&c, truth[i], true, 0);
        crowd_shares(&c, share);
        for (int kind = 0; kind < 2; kind++)
            assert_true(fabs(share[kind] - truth[i][kind]) < 0.002 + 0.1 * truth[i][kind]);
    }
}

static void one_kind_that_changes(void **state)
{
    (void)state;
    const double truth[2] = {0.04, 0.5};
    struct crowd c;
    double share[2];
    see(&c, truth, false, 0);
    crowd_shares(&c, share);
    assert_true(share[CU_CPU] > 0.02 && share[CU_CPU] < 0.05);
    assert_true(share[CU_DEVICE] == 0); /* always the same one: it tells nothing */
}

static void noise_is_no_neighbour(void **state)
{
    (void)state;
    const double none[2] = {0, 0}, some[2] = {0.05, 0.05};
    struct crowd c;
    double share[2];
    see(&c, none, true, 0.05);
    crowd_shares(&c, share);
    assert_true(share[0] == 0 && share[1] == 0);
    see(&c, some, true, 0.02);
    crowd_shares(&c, share);
    assert_true(fabs(share[0] - 0.05) < 0.02 && fabs(share[1] - 0.05) < 0.02);
}

/* Unknown neighbours, accidents and too few pairs say nothing. */
static void what_does_not_count(void **state)
{
    (void)state;
    const double truth[2] = {0.1, 0};
    struct crowd c = {0};
    struct crowd_sample unknown = {.seconds = 1, .near = {{-1, -1}}};
    double share[2];
    crowd_add(&c, unknown, run(truth, 1, 0, 0));
    crowd_add(&c, run(truth, 1, 0, 0), unknown);
    crowd_add(&c, run(truth, 1, 0, 0), run(truth, 2, 0, 9));
    assert_true(c.pairs == 0);
    for (int i = 0; i < 7; i++)
        crowd_add(&c, run(truth, 0, 0, 0), run(truth, 3, 0, 0));
    crowd_shares(&c, share);
    assert_true(share[CU_CPU] == 0);
    crowd_add(&c, run(truth, 0, 0, 0), run(truth, 3, 0, 0));
    crowd_shares(&c, share);
    assert_true(share[CU_CPU] > 0.05);
}

/* Two halves joined are the whole; fading keeps the shares. */
static void joined_and_faded(void **state)
{
    (void)state;
    const double truth[2] = {0.03, 0.02};
    struct crowd a, b;
    double once[2], twice[2];
    see(&a, truth, true, 0.01);
    see(&b, truth, true, 0.01);
    crowd_shares(&a, once);
    crowd_join(&a, &b);
    assert_true(fabs(a.pairs - 100) < 1e-9);
    crowd_fade(&a, 0.5);
    assert_true(fabs(a.pairs - 50) < 1e-9);
    crowd_shares(&a, twice);
    assert_true(fabs(once[0] - twice[0]) < 1e-12 && fabs(once[1] - twice[1]) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_come_back),      cmocka_unit_test(one_kind_that_changes),
        cmocka_unit_test(noise_is_no_neighbour), cmocka_unit_test(what_does_not_count),
        cmocka_unit_test(joined_and_faded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
