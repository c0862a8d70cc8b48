/* tests/bench/cu_random.c – evenkeel against every other policy on random cases of eighteen
 * families (tests/random_case.h), and against the optimum with up to eleven tasks: the worst ratio
 * of each family, and the share of cases above 1.02.
 *   cu_random [FIRST_SEED [CASES [MOST_TASKS [FAMILY [batches]]]]], CASES per family
 * With `batches`, launches of devices are hidden in their tasks' times. */
#include "tests/random_case.h"

struct tally {
    int cases, beyond;
    double worst;
};

static void count(struct tally *t, double ratio)
{
    t->cases++;
    t->beyond += ratio > 1.02;
    t->worst = fmax(t->worst, ratio);
}

static void print(const char *name, const struct tally *t)
{
    printf("%-12s %6d %8.4f %7.2f %%\n", name, t->cases, t->worst,
           t->cases ? 100. * t->beyond / t->cases : 0);
}

int main(int argc, char **argv)
{
    static struct random_case c;
    struct tally tally[RANDOM_FAMILIES] = {0}, all = {0}, optimum = {0}, brief = {0}, few = {0};
    const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    const unsigned cases = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    const size_t most = argc > 3 ? (size_t)atol(argv[3]) : 1024;
    for (int f = 0; f < RANDOM_FAMILIES; f++)
        for (unsigned seed = first; seed < first + cases; seed++) {
            struct random_match m;
            if (argc > 4 && atoi(argv[4]) != f)
                continue;
            random_case(&c, (enum random_family)f, seed, most);
            for (int u = 0; u < c.sim.ncu && argc > 5; u++)
                c.unit[u].batches = c.unit[u].kind == CU_DEVICE;
            if (random_match(&c, &m))
                return 3;
            const bool is_brief = c.sim.cold && c.sim.steps < 3;
            count(!c.apart ? &tally[f] : is_brief ? &brief : &few, m.ratio);
            if (!c.apart)
                count(&all, m.ratio);
            if (m.ratio > 1.02)
                printf("%-60s %.4f of %s%s\n", c.text, m.ratio, m.rival, c.apart ? " (apart)" : "");
            if (random_has_optimum(&c)) {
                double ratio = m.own.makespan / random_optimum(&c.sim);
                count(&optimum, ratio);
                if (ratio > 1.02)
                    printf("%-60s %.4f of the optimum\n", c.text, ratio);
            }
            random_close(&c);
        }
    printf("\n%-12s %6s %8s %9s\n", "family", "cases", "worst", "> 1.02");
    for (int f = 0; f < RANDOM_FAMILIES; f++)
        print(random_families[f], &tally[f]);
    print("all", &all);
    puts("apart:");
    print("cold, brief", &brief);
    print("few tasks", &few);
    print("optimum", &optimum);
    return 0;
}
