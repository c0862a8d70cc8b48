/* tests/bench/cu_ablation.c – what each mechanism of evenkeel is worth: by how many per cent totals
 * grow without it, averaged over each family of tests/random_case.h and over the papers' stored
 * cases, warm and cold: the families that need it most and least, and single cases. A mechanism
 * worth less than half a per cent everywhere should go, but guards against rare events show only in
 * a hundred cases or more, and what real machines do (interruptions) does not show here.
 *   cu_ablation [CASES [MOST_TASKS [FAMILY]]] */
#include "cu/sim/plan_case.h"
#include "tests/bench/cu_ablation.h"
#include "tests/random_case.h"

#define MECHANISM(name) #name,
static const char *const mechanisms[] = {MECHANISMS(MECHANISM)};
#undef MECHANISM
int cu_ablation = WITHOUT_NOTHING;

static const char *const PAPERS[] = {"bt-mz-D-16x1+1",     "bt-mz-D-62x1+2", "sp-mz-D-32x1+2",
                                     "lu-mz-D-1x16+1",     "lu-mz-D-1x32+2", "cmp-451-on-112",
                                     "cmp-451-scenario-B", "lognormal-0",    "lognormal-1"};
#define COUNT_OF(list) ((int)(sizeof(list) / sizeof *(list)))

/* Each family as it is and cold; the papers' cases; devices that hide launches in their tasks'
 * times; and random cases in which no policy can know what to do. */
enum { PAPER = 2 * RANDOM_FAMILIES, HIDDEN, APART, GROUPS };
static void print_most(double percent, int g)
{
    static const char *const others[] = {"papers", "hidden", "apart"};
    const bool family = g < 2 * RANDOM_FAMILIES;
    printf(" %8.2f %-5s%-9s", percent, family && g >= RANDOM_FAMILIES ? "cold" : "",
           family ? random_families[g % RANDOM_FAMILIES] : others[g - 2 * RANDOM_FAMILIES]);
}

static double more[WITHOUT_NOTHING][GROUPS]; /* sums of log(total without / with) */
static double worst[WITHOUT_NOTHING], best[WITHOUT_NOTHING];
static int cases[GROUPS];

static enum ek_status try_case(const struct sim_case *c, int group)
{
    struct sim_result all, r;
    cu_ablation = WITHOUT_NOTHING;
    TRY(sim_run(c, "evenkeel", NULL, &all));
    cases[group]++;
    for (cu_ablation = 0; cu_ablation < WITHOUT_NOTHING; cu_ablation++) {
        TRY(sim_run(c, "evenkeel", NULL, &r));
        const double change = log(r.total / all.total);
        more[cu_ablation][group] += change;
        worst[cu_ablation] = fmax(worst[cu_ablation], change);
        best[cu_ablation] = fmin(best[cu_ablation], change);
    }
    return EK_OK;
}

static enum ek_status try_papers(void)
{
    for (int i = 0; i < 2 * COUNT_OF(PAPERS); i++) {
        struct plan_case c;
        char path[128];
        snprintf(path, sizeof path, "tests/data/cu/%s.json", PAPERS[i / 2]);
        TRY(plan_case_open(&c, path));
        c.sim.cold = i % 2;
        enum ek_status st = try_case(&c.sim, PAPER);
        plan_case_close(&c);
        if (st)
            return st;
    }
    return EK_OK;
}

static enum ek_status try_family(enum random_family f, int group, unsigned count, size_t most)
{
    static struct random_case c;
    enum ek_status st = EK_OK;
    for (unsigned seed = 1; !st && seed <= count; seed++) {
        random_case(&c, f, seed, most);
        for (int u = 0; u < c.sim.ncu && group == HIDDEN; u++)
            c.unit[u].batches = c.unit[u].kind == CU_DEVICE;
        c.sim.cold |= group >= RANDOM_FAMILIES && group < PAPER;
        c.apart |= c.sim.cold && c.sim.steps < 3;
        st = try_case(&c.sim, c.apart ? APART : group);
        random_close(&c);
    }
    return st;
}

static double percent(double logarithm)
{
    return 100 * (exp(logarithm) - 1);
}

static double mean_of(int m, int group)
{
    return more[m][group] / fmax(1, cases[group]);
}

static void print(int m)
{
    int most = 0, least = 0;
    for (int g = 1; g < GROUPS; g++) {
        most = mean_of(m, g) > mean_of(m, most) ? g : most;
        least = mean_of(m, g) < mean_of(m, least) ? g : least;
    }
    printf("%-16s", mechanisms[m]);
    print_most(percent(mean_of(m, most)), most);
    print_most(percent(mean_of(m, least)), least);
    printf(" %8.2f %8.2f\n", percent(worst[m]), percent(best[m]));
}

int main(int argc, char **argv)
{
    const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 12;
    const size_t most = argc > 2 ? (size_t)atol(argv[2]) : 300;
    const int only = argc > 3 ? atoi(argv[3]) : -1;
    enum ek_status st = only < 0 ? try_papers() : EK_OK;
    for (int g = 0; !st && g < 2 * RANDOM_FAMILIES; g++)
        if (only < 0 || g % RANDOM_FAMILIES == only)
            st = try_family((enum random_family)(g % RANDOM_FAMILIES), g, count, most);
    if (!st && only < 0)
        st = try_family(RANDOM_LAUNCHES, HIDDEN, count, most);
    printf("%-16s %8s %-14s %8s %-14s %8s %8s\n", "% more without", "most", "", "least", "",
           "worst", "best");
    for (int m = 0; m < WITHOUT_NOTHING; m++)
        print(m);
    return status_exit_code(st);
}
