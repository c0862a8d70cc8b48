/* tests/bench/waterlevel.c – predicted makespans for Figs. 6 to 9 of Dietze, Hofmann and Rünger:
 * sleep, DGEMM and FEM tasks on the nodes of their Table 1, by every method and our own. Their
 * speed factors are assumed (the paper gives only clock rates), so compare the shapes, not the
 * seconds. */
#include "cu/moldable/moldable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { METHODS = 7, MOST_TASKS = 200 };

#define CS "2 x cs:8:1.0"
#define SB "sb1:16:1.6"
#define WS "ws:12:1.4"

static const char FEM[] = "71.07/p^0.42+4.47", DGEMM[] = "13.09/p^1.09+2.3";

static void predict(const char *law, const char *nodes, int count, double *makespan, double *bound)
{
    struct moldable_problem p = {0};
    struct moldable_plan plan;
    char tasks[96];
    snprintf(tasks, sizeof tasks, "%d x %s", count, law);
    if (moldable_tasks_parse(&p, tasks) || moldable_nodes_parse(&p, nodes) || moldable_check(&p))
        exit(2);
    *bound = moldable_bound(&p);
    for (int m = 0; m < METHODS; m++) {
        if (moldable_plan_open(&plan, &p, moldable_methods[m]))
            exit(3);
        makespan[m] = plan.makespan;
        moldable_plan_close(&plan);
    }
    moldable_problem_close(&p);
}

static void print_head(const char *title)
{
    printf("\n%s\n%8s", title, "tasks");
    for (int m = 0; m < METHODS; m++)
        printf(" %9s", moldable_methods[m]->name);
    printf(" %9s\n", "bound");
}

/* The position of a method in the list. */
static int number_of(const char *name)
{
    int m = 0;
    while (moldable_methods[m] != moldable_find(name))
        m++;
    return m;
}

struct tally {
    int cases, worst_of_paper, water_over_task, ours_over_search;
    double gain, ours_gain, ratio;
};

static void count(struct tally *t, const double *makespan, double bound)
{
    int search = number_of("wlsearch"), ours = number_of("evenkeel");
    int water = number_of("waterl"), task = number_of("taskp");
    bool best = true;
    for (int m = 0; m < search; m++)
        best &= makespan[search] <= makespan[m] * (1 + 1e-12);
    t->cases++;
    t->worst_of_paper += !best;
    t->water_over_task += makespan[water] > makespan[task] * (1 + 1e-12);
    t->ours_over_search += makespan[ours] > makespan[search] * (1 + 1e-12);
    t->gain += 1 - makespan[search] / makespan[water];
    t->ours_gain += 1 - makespan[ours] / makespan[search];
    t->ratio = fmax(t->ratio, makespan[ours] / bound);
}

static void figure(const char *title, const char *law, const char *nodes)
{
    struct tally t = {0};
    print_head(title);
    for (int n = 1; n <= MOST_TASKS; n++) {
        double makespan[METHODS], bound;
        predict(law, nodes, n, makespan, &bound);
        count(&t, makespan, bound);
        if (n > 4 && n % 20 && n != 8 && n != 92)
            continue;
        printf("%8d", n);
        for (int m = 0; m < METHODS; m++)
            printf(" %9.3f", makespan[m]);
        printf(" %9.3f\n", bound);
    }
    printf("of 1 to %d tasks: wlsearch is beaten by another of the paper's methods in %d cases, "
           "waterl by taskp in %d, evenkeel by wlsearch in %d;\n"
           "wlsearch saves %.1f %% of waterl on average, evenkeel another %.1f %%\n",
           t.cases, t.worst_of_paper, t.water_over_task, t.ours_over_search, 100 * t.gain / t.cases,
           100 * t.ours_gain / t.cases);
}

/* Fig. 9: nodes are added in order of speed; T_s = all tasks on one core of sb1. */
static void speedups(int tasks)
{
    static const struct {
        int cores;
        const char *nodes;
    } sets[] = {
        {1, "sb1:1:1.6"},    {4, "sb1:4:1.6"},    {8, "sb1:8:1.6"},    {16, SB},
        {28, SB ",1 x " WS}, {52, SB ",3 x " WS}, {76, SB ",5 x " WS}, {92, SB ",5 x " WS "," CS}};
    char title[80];
    snprintf(title, sizeof title, "Fig. 9: speed-up of %d FEM tasks by cores", tasks);
    print_head(title);
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        double makespan[METHODS], bound, sequential = tasks * (71.07 + 4.47) / 1.6;
        predict(FEM, sets[s].nodes, tasks, makespan, &bound);
        printf("%8d", sets[s].cores);
        for (int m = 0; m < METHODS; m++)
            printf(" %9.2f", sequential / makespan[m]);
        printf(" %9.2f\n", sequential / bound);
    }
}

int main(void)
{
    figure("Fig. 6, left: sleep tasks, x = 1, on cs1", "10/p", "cs1:8:1.0");
    figure("Fig. 6, right: sleep tasks, x = 0.95, on cs1", "9.5/p+0.5*log(p)+0.5*p", "cs1:8:1.0");
    figure("Fig. 7: DGEMM tasks on cs1 and ws1", DGEMM, "cs1:8:1.0,ws1:12:1.4");
    figure("Fig. 8: FEM tasks on all nodes", FEM, CS "," SB ",5 x " WS);
    speedups(16);
    speedups(92);
    return 0;
}
