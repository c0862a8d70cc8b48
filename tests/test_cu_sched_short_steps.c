/* tests/test_cu_sched_short_steps.c – evenkeel in steps of a millisecond or two, as the programs'
 * small classes have: interruptions by other programs, and kinds of units that suit different
 * tasks. */
#include "cu/sim/sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

enum { ZONES = 16 };

/* One step with a core that takes second[t] for zone t and a device that takes six times as long.
 * The core is interrupted for 4 ms in zone `away`. Returns what the device computes, in seconds of
 * the core. */
static double short_step(struct sched *s, const double *second, size_t away)
{
    double now[2] = {0, 0}, there = 0;
    while (fmin(now[0], now[1]) < INFINITY) {
        const int c = now[1] < now[0];
        const struct ek_range r = sched_next(s, c);
        double sec = 0, each[ZONES];
        for (size_t t = r.begin; t < r.end; t++) {
            sec += each[t - r.begin] = c ? 6 * second[t] : second[t] + (t == away ? 4e-3 : 0);
            there += c ? second[t] : 0;
        }
        if (r.begin < r.end)
            sched_done(s, c, r, sec, each);
        now[c] = r.begin < r.end ? now[c] + sec : INFINITY;
    }
    assert_int_equal(sched_step(s), EK_OK);
    return there;
}

/* Steps of 1.4 ms in zones of unlike sizes, every third or, by turns, every second of which another
 * program interrupts: the core looks four times as slow, but the device, to which a seventh
 * belongs, must not get its zones. */
static void interruptions_of_short_steps(void **state)
{
    static double second[ZONES], bytes[ZONES];
    const struct sched_unit unit[] = {{.width = 1}, {.kind = CU_DEVICE, .width = 1, .memory = 1}};
    const size_t n = ZONES;
    double all = 0;
    for (size_t t = 0; t < n; t++) {
        all += second[t] = 1.2e-5 * pow(25, (double)t / 15);
        bytes[t] = 3e4;
    }
    for (size_t every = 2; every <= 3; every++) {
        const struct sched_job job = {.n = n,
                                      .grain = 1,
                                      .ncu = 2,
                                      .unit = unit,
                                      .cost = second,
                                      .bytes = bytes,
                                      .steps = 200};
        struct sched *s;
        assert_int_equal(sched_open("evenkeel", &job, &s), EK_OK);
        for (size_t step = 0; step < 200; step++) {
            const double there = short_step(s, second, step % every ? n : step * 7 % n);
            if (step > 3 && !(there < 0.3 * all))
                fail_msg("step %zu: the device has %g of the work", step, there / all);
        }
        sched_close(s);
    }
}

/* BT-MZ class W as measured on a core and a device, whose times follow the costs, while the core's
 * do not: narrow zones fill its vectors badly, so they belong to the device. Two zones that are
 * lent to it tell this. Zones [0, 3] of each row are ever wider; rows are ever higher. */
static void kinds_that_deviate(void **state)
{
    enum { STEPS = 200, SEEDS = 8 };
    static const double core[ZONES] = {13, 24, 30, 53,  26, 50,  61,  110,
                                       41, 77, 89, 163, 71, 134, 156, 292},
                        device[ZONES] = {44,  92,  159, 265, 92,  199, 348,  582,
                                         150, 325, 595, 997, 257, 574, 1001, 1647},
                        side[] = {41, 88, 154, 257};
    static double cost[ZONES], seconds[2][ZONES], bytes[ZONES], face[4 * ZONES], span[STEPS];
    static size_t first[ZONES + 1], neighbour[4 * ZONES];
    for (size_t t = 0; t < ZONES; t++) {
        const size_t row = t / 4, at = t % 4;
        cost[t] = side[row] * side[at];
        seconds[0][t] = 1e-6 * core[t];
        seconds[1][t] = 1e-6 * device[t];
        bytes[t] = 20 * cost[t];
        const size_t beside[] = {4 * row + (at + 1) % 4, 4 * row + (at + 3) % 4,
                                 4 * ((row + 1) % 4) + at, 4 * ((row + 3) % 4) + at};
        for (size_t i = 0; i < 4; i++) {
            neighbour[4 * t + i] = beside[i];
            face[4 * t + i] = 5e3;
        }
        first[t + 1] = 4 * (t + 1);
    }
    const struct sim_unit unit[] = {
        {.width = 1, .seconds = seconds[0]},
        {.kind = CU_DEVICE, .width = 1, .memory = 1, .launch = 8e-6, .seconds = seconds[1]}};
    const struct sched_link link = {12e-6, 1 / 5e9};
    const struct sim_exchange exchange = {
        {[SIM_FIXED] = 1e-6, [SIM_CROSS] = 4e-5, [SIM_LINK] = 1 / 5e9}};
    double mean = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct sim_case c = {.job = {.n = ZONES,
                                     .grain = 1,
                                     .cost = cost,
                                     .bytes = bytes,
                                     .link = &link,
                                     .first = first,
                                     .neighbour = neighbour,
                                     .face_bytes = face},
                             .unit = unit,
                             .ncu = 2,
                             .steps = STEPS,
                             .cold = true,
                             .exchange = &exchange,
                             .noise = 0.03,
                             .seed = seed};
        struct sim_result r;
        assert_int_equal(sim_run(&c, "evenkeel", span, &r), EK_OK);
        for (int step = 20; step < STEPS; step++)
            mean += span[step] / (STEPS - 20) / SEEDS / sim_bound(&c, NULL);
    }
    if (!(mean < 1.06)) /* 1.10 if kinds are taken to deviate alike */
        fail_msg("steps take %g of the bound", mean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interruptions_of_short_steps),
        cmocka_unit_test(kinds_that_deviate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
