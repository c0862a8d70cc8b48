/* tests/test_cu_sched_packing.c – evenkeel where few tasks fit together on a unit: bars are cut
 * into tasks, so that the optimum is known, although the tasks are in no order. */
#include "src/random.h"
#include "src/sort.h"
#include "tests/sim_run.h"

enum { MOST_TASKS = 1024, MOST_UNITS = 256 };

struct cut {
    double cost[MOST_TASKS];
    struct sim_unit unit[MOST_UNITS];
    struct sim_case c;
    uint64_t draws;
};

static int whole(struct cut *x, int least, int most)
{
    return least + (int)(random_uniform(&x->draws) * (most - least + 1));
}

/* Cuts `bars` bars into whole pieces of these lengths, which must be possible, and mixes them. */
static void cut(struct cut *x, unsigned seed, int bars, int bar, int shortest, int longest)
{
    size_t n = 0;
    *x = (struct cut){.draws = seed};
    for (int u = 0; u < bars; u++) {
        x->unit[u] = (struct sim_unit){.width = 1, .speed = 1};
        for (int left = bar; left > 0;) {
            const int piece = whole(x, shortest, left < longest ? left : longest);
            if (left > piece && left - piece < shortest)
                continue;
            x->cost[n++] = piece;
            left -= piece;
        }
    }
    for (size_t t = n; t > 1; t--) {
        const int other = whole(x, 0, (int)t - 1);
        const double piece = x->cost[other];
        x->cost[other] = x->cost[t - 1];
        x->cost[t - 1] = piece;
    }
    x->c = (struct sim_case){
        .job = {.n = n, .grain = 1, .cost = x->cost}, .unit = x->unit, .ncu = bars, .steps = 1};
}

/* With these sizes, moves and swaps often end a whole second above the optimum. */
static void bars_are_found(void **state)
{
    static const struct shape {
        int bars, bar, shortest, longest;
        double within; /* of the optimum */
    } shapes[] = {{8, 33, 7, 16, 1},
                  {21, 33, 7, 16, 1},
                  {40, 33, 7, 16, 1},
                  {5, 66, 14, 32, 1},
                  {30, 60, 15, 45, 1.02}};
    static struct cut x;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned seed = 1; seed <= 12; seed++) {
            const struct shape s = shapes[i];
            cut(&x, seed, s.bars, s.bar, s.shortest, s.longest);
            const double end = run(&x.c, "evenkeel").makespan;
            if (!(end <= s.bar * s.within * (1 + 1e-9)))
                fail_msg("%d bars of %d, seed %u: %g", s.bars, s.bar, seed, end);
        }
}

/* More units than searches can look at in their time: 200 bars of one second, cut anywhere into one
 * to four tasks. Without multifit they end up to 1.026 s. */
static void many_units(void **state)
{
    enum { UNITS = 200, PIECES = 4 };
    static struct cut x;
    for (unsigned seed = 1; seed <= 6; seed++) {
        cut(&x, seed, UNITS, 1, 1, 1);
        size_t n = 0;
        for (int u = 0; u < UNITS; u++) {
            double at[PIECES + 1] = {0, 1, 1, 1, 1};
            const int cuts = whole(&x, 0, PIECES - 1);
            for (int i = 0; i < cuts; i++)
                at[i + 1] = random_uniform(&x.draws);
            sort_numbers(at, PIECES + 1);
            for (int i = 0; i < PIECES; i++)
                if (at[i + 1] > at[i])
                    x.cost[n++] = at[i + 1] - at[i];
        }
        x.c.job.n = n;
        const double end = run(&x.c, "evenkeel").makespan;
        if (!(end <= 1.01))
            fail_msg("seed %u: %g", seed, end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bars_are_found),
                                       cmocka_unit_test(many_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
