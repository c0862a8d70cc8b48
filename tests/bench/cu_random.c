/* tests/bench/cu_random.c – evenkeel against every other policy on random cases of the simulator:
 * total over all steps, steps against the lower bound, exchange against clustered-guided.
 * cu_random [FIRST_SEED [CASES [TRAITS]]], traits as in random_case.h */
#include "tests/random_case.h"

#include <stdio.h>
#include <stdlib.h>

static struct random_case c;

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned cases = argc > 2 ? (unsigned)atoi(argv[2]) : 200;
    int traits = argc > 3 ? atoi(argv[3]) : RANDOM_ALL;
    int total = 0, bound = 0, exchange = 0;
    double worst = 0;
    for (unsigned seed = first; seed < first + cases; seed++) {
        struct random_match m;
        random_case(&c, seed, traits);
        if (random_match(&c, &m))
            return 3;
        double ratio = m.own.total / m.best.total;
        double talk = m.guided.communication > 0 ? m.own.communication / m.guided.communication : 0;
        bool slow = ratio > 1.001, far = m.fine && m.own.worst_ratio > 1.02, talks = talk > 1.1;
        total += slow, bound += far, exchange += talks;
        worst = fmax(worst, ratio);
        if (slow || far || talks)
            printf("%-80s%s%s%s %.4f of %s, worst step %.3f of the bound, exchange %.2f of "
                   "clustered-guided's, %.2f %% of the total\n",
                   c.text, slow ? " TOTAL" : "", far ? " BOUND" : "", talks ? " EXCHANGE" : "",
                   ratio, m.rival, m.own.worst_ratio, talk,
                   100 * m.own.communication / m.own.total);
    }
    printf(
        "%u cases: above 1.001 of the best other's total %d (worst %.4f), above 1.02 of the bound "
        "%d, above 1.1 of clustered-guided's exchange %d\n",
        cases, total, worst, bound, exchange);
    return 0;
}
