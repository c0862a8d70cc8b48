/* tests/bench/cu_random.c – evenkeel against every other policy on random cases of nineteen
 * families (tests/random_case.h), and against the optimum with up to eleven tasks: the worst ratio
 * of each family, and the share of cases above 1.02.
 *   cu_random [FIRST_SEED [CASES [MOST_TASKS [FAMILY]]]] [batches] [redraws N], CASES per family
 * With `batches`, launches of devices are hidden in their tasks' times. With `redraws N`, each case
 * above 1.02 is drawn anew N times but for its structure, and compared in the mean with the best
 * single policy: what is above 1.02 even then ("steady") is not the luck of some other policy. The
 * family "shared" is always compared so, and does not count among all. */
#include "tests/random_case.h"

struct arguments {
    unsigned first, cases;
    size_t most;
    int family; /* -1: all */
    bool batches;
    int redraws;
};

struct tally {
    int cases, beyond;
    double worst;
    int steady, steady5; /* in the mean of redraws beyond 1.02, 1.05 */
};

static struct arguments read_arguments(int argc, char **argv)
{
    struct arguments a = {.first = 1, .cases = 20, .most = 1024, .family = -1};
    for (int i = 1, place = 0; i < argc; i++) {
        const long number = atol(argv[i]);
        if (!strcmp(argv[i], "batches"))
            a.batches = true;
        else if (!strcmp(argv[i], "redraws") && i + 1 < argc)
            a.redraws = atoi(argv[++i]);
        else if (place++ == 0)
            a.first = (unsigned)number;
        else if (place == 2)
            a.cases = (unsigned)number;
        else if (place == 3)
            a.most = (size_t)number;
        else
            a.family = (int)number;
    }
    return a;
}

static void count(struct tally *t, double ratio)
{
    t->cases++;
    t->beyond += ratio > 1.02;
    t->worst = fmax(t->worst, ratio);
}

static void count_steady(struct tally *t, double ratio)
{
    t->steady += ratio > 1.02;
    t->steady5 += ratio > 1.05;
}

static void print(const char *name, const struct tally *t, bool redraws)
{
    printf("%-12s %6d %8.4f %7.2f %%", name, t->cases, t->worst,
           t->cases ? 100. * t->beyond / t->cases : 0);
    if (redraws)
        printf(" %13d %6d", t->steady, t->steady5);
    puts("");
}

int main(int argc, char **argv)
{
    static struct random_case c;
    struct tally tally[RANDOM_FAMILIES] = {0}, all = {0}, optimum = {0}, brief = {0}, few = {0};
    const struct arguments a = read_arguments(argc, argv);
    for (int f = 0; f < RANDOM_FAMILIES; f++)
        for (unsigned seed = a.first; seed < a.first + a.cases; seed++) {
            struct random_match m;
            if (a.family >= 0 && a.family != f)
                continue;
            random_case(&c, (enum random_family)f, seed, a.most);
            for (int u = 0; u < c.sim.ncu && a.batches; u++)
                c.unit[u].batches = c.unit[u].kind == CU_DEVICE;
            if (random_match(&c, &m))
                return 3;
            const bool is_brief = c.sim.cold && c.sim.steps < 3,
                       counts = !c.apart && f != RANDOM_SHARED;
            struct tally *t = !c.apart ? &tally[f] : is_brief ? &brief : &few;
            count(t, m.ratio);
            if (counts)
                count(&all, m.ratio);
            if (random_has_optimum(&c)) {
                double ratio = m.own.makespan / random_optimum(&c.sim);
                count(&optimum, ratio);
                if (ratio > 1.02)
                    printf("%-60s %.4f of the optimum\n", c.text, ratio);
            }
            if (m.ratio > 1.02) {
                printf("%-60s %.4f of %s%s", c.text, m.ratio, m.rival, c.apart ? " (apart)" : "");
                if (a.redraws && f != RANDOM_SHARED && random_steady(&c, a.redraws, &m))
                    return 3;
                if (a.redraws && f != RANDOM_SHARED) {
                    printf(", steady %.4f of %s", m.ratio, m.rival);
                    count_steady(t, m.ratio);
                    if (counts)
                        count_steady(&all, m.ratio);
                }
                puts("");
            }
            random_close(&c);
        }
    printf("\n%-12s %6s %8s %9s%s\n", "family", "cases", "worst", "> 1.02",
           a.redraws ? " steady > 1.02 > 1.05" : "");
    for (int f = 0; f < RANDOM_FAMILIES; f++)
        print(random_families[f], &tally[f], a.redraws);
    print("all", &all, a.redraws);
    puts("apart:");
    print("cold, brief", &brief, a.redraws);
    print("few tasks", &few, a.redraws);
    print("optimum", &optimum, a.redraws);
    return 0;
}
