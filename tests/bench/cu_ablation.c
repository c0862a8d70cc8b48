/* tests/bench/cu_ablation.c – what each mechanism of evenkeel is worth: by how many per cent totals
 * grow without it, averaged over each family of tests/random_case.h and over the papers' stored
 * cases, warm and cold, and the worst case of all. A mechanism worth less than half a per cent
 * everywhere should go, but guards against rare events (the incumbent, busy neighbours) show only
 * in a hundred cases or more.
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
enum { GROUPS = RANDOM_FAMILIES + 1 };

static double more[WITHOUT_NOTHING][GROUPS]; /* sums of log(total without / with) */
static double worst[WITHOUT_NOTHING];
static int cases[GROUPS];

static enum ek_status try_case(const struct sim_case *c, int group)
{
    struct sim_result all, r;
    cu_ablation = WITHOUT_NOTHING;
    TRY(sim_run(c, "evenkeel", NULL, &all));
    cases[group]++;
    for (cu_ablation = 0; cu_ablation < WITHOUT_NOTHING; cu_ablation++) {
        TRY(sim_run(c, "evenkeel", NULL, &r));
        more[cu_ablation][group] += log(r.total / all.total);
        worst[cu_ablation] = fmax(worst[cu_ablation], r.total / all.total);
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
        enum ek_status st = try_case(&c.sim, RANDOM_FAMILIES);
        plan_case_close(&c);
        if (st)
            return st;
    }
    return EK_OK;
}

int main(int argc, char **argv)
{
    static struct random_case c;
    const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 12;
    const size_t most = argc > 2 ? (size_t)atol(argv[2]) : 300;
    enum ek_status st = try_papers();
    const int only = argc > 3 ? atoi(argv[3]) : -1;
    for (int f = 0; !st && f < RANDOM_FAMILIES; f++)
        for (unsigned seed = 1; (only < 0 || f == only) && !st && seed <= count; seed++) {
            random_case(&c, (enum random_family)f, seed, most);
            st = try_case(&c.sim, f);
            random_close(&c);
        }
    printf("%-12s", "% more");
    for (int m = 0; m < WITHOUT_NOTHING; m++)
        printf(" %8.8s", mechanisms[m]);
    for (int f = 0; f < GROUPS; f++) {
        printf("\n%-12s", f < RANDOM_FAMILIES ? random_families[f] : "papers");
        for (int m = 0; m < WITHOUT_NOTHING; m++)
            printf(" %8.2f", 100 * (exp(more[m][f] / fmax(1, cases[f])) - 1));
    }
    printf("\n%-12s", "worst case");
    for (int m = 0; m < WITHOUT_NOTHING; m++)
        printf(" %8.2f", 100 * (worst[m] - 1));
    putchar('\n');
    return status_exit_code(st);
}
