/* tests/bench/cu_random.c – evenkeel against every other policy on random cases of the simulator:
 * total over all steps, steps against the lower bound, exchange against clustered-guided.
 * cu_random [FIRST_SEED [CASES [TRAITS]]], traits as in random_case.h */
#include "tests/random_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct random_case c;

struct rival {
    struct sim_result best, guided; /* of all others; of clustered-guided */
    const char *name;               /* of the best */
};

static enum ek_status run_others(struct rival *o)
{
    *o = (struct rival){.best.total = INFINITY, .name = ""};
    for (int p = 0; p < sched_count(); p++) {
        const char *name = sched_at(p)->name;
        struct sim_result r;
        if (!strcmp(name, "evenkeel"))
            continue;
        TRY(sim_run(&c.sim, name, NULL, &r));
        if (r.total < o->best.total) {
            o->best = r;
            o->name = name;
        }
        if (!strcmp(name, "clustered-guided"))
            o->guided = r;
    }
    return EK_OK;
}

/* Is the largest task below a twentieth of a unit's share, and nothing there that changes? */
static bool is_fine(const struct sim_result *own)
{
    double largest = 0, slowest = INFINITY;
    for (size_t t = 0; t < c.sim.job.n; t++)
        largest = fmax(largest, c.cost[t]);
    for (int u = 0; u < c.sim.ncu; u++)
        slowest = fmin(slowest, c.sim.unit[u].speed);
    return !(c.traits & (RANDOM_CHANGE | RANDOM_NOISE | RANDOM_CROWD)) &&
           largest / slowest < 0.05 * own->lower_bound;
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned cases = argc > 2 ? (unsigned)atoi(argv[2]) : 200;
    int traits = argc > 3 ? atoi(argv[3]) : RANDOM_ALL;
    int total = 0, bound = 0, exchange = 0;
    double worst = 0;
    for (unsigned seed = first; seed < first + cases; seed++) {
        struct sim_result own;
        struct rival others;
        random_case(&c, seed, traits);
        if (sim_run(&c.sim, "evenkeel", NULL, &own) || run_others(&others))
            return 3;
        double ratio = own.total / others.best.total;
        bool slow = ratio > 1.001, far = is_fine(&own) && own.worst_ratio > 1.02;
        bool talks = own.communication > 1.1 * others.guided.communication;
        total += slow, bound += far, exchange += talks;
        worst = fmax(worst, ratio);
        if (slow || far || talks)
            printf("%-80s%s%s%s %.4f of %s, worst step %.3f of the bound, exchange %.2f of "
                   "clustered-guided's, %.2f %% of the total\n",
                   c.text, slow ? " TOTAL" : "", far ? " BOUND" : "", talks ? " EXCHANGE" : "",
                   ratio, others.name, own.worst_ratio,
                   own.communication / others.guided.communication,
                   100 * own.communication / own.total);
    }
    printf(
        "%u cases: above 1.001 of the best other's total %d (worst %.4f), above 1.02 of the bound "
        "%d, above 1.1 of clustered-guided's exchange %d\n",
        cases, total, worst, bound, exchange);
    return 0;
}
