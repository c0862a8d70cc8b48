/* tests/test_cu_moldable.c – moldable tasks: laws that every method obeys, the optimum of small
 * cases, the paper's statements about its methods, parsing of tasks and nodes. */
#include "cu/moldable/moldable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FEM[] = "71.07/p^0.42+4.47", DGEMM[] = "13.09/p^1.09+2.3";
/* Dietze et al., Table 1; factors are assumed, because the paper gives only clock rates. */
static const char TABLE_1[] = "2 x cs:8:1.0,sb1:16:1.6,5 x ws:12:1.4";

static void open_problem(struct moldable_problem *p, const char *tasks, const char *nodes)
{
    *p = (struct moldable_problem){0};
    assert_int_equal(moldable_tasks_parse(p, tasks), EK_OK);
    assert_int_equal(moldable_nodes_parse(p, nodes), EK_OK);
    assert_int_equal(moldable_check(p), EK_OK);
}

static double makespan_of(const struct moldable_problem *p, const char *method)
{
    struct moldable_plan plan;
    assert_int_equal(moldable_plan_open(&plan, p, moldable_find(method)), EK_OK);
    double makespan = plan.makespan;
    moldable_plan_close(&plan);
    return makespan;
}

/* ---- laws -------------------------------------------------------------------------------------*/
static double random_between(unsigned *seed, double lo, double hi)
{
    return lo + (hi - lo) * rand_r(seed) / RAND_MAX;
}

/* A random problem: few or many kinds of tasks, tables, cluster tasks; nodes of a few sizes and
 * speeds. */
static void random_problem(struct moldable_problem *p, unsigned seed)
{
    char tasks[8192] = "", nodes[1024] = "";
    int kinds = 1 + rand_r(&seed) % 20, nnodes = 1 + rand_r(&seed) % 6, clusters = seed % 3 == 0;
    size_t at = 0;
    for (int k = 0; k < kinds; k++) {
        double a = random_between(&seed, 1, 100), b = random_between(&seed, .3, 1.1);
        const char *where = clusters && rand_r(&seed) % 4 == 0 ? "cluster " : "";
        at += (size_t)snprintf(tasks + at, sizeof tasks - at, "%d x ", 1 + rand_r(&seed) % 9);
        at += rand_r(&seed) % 5 ? (size_t)snprintf(tasks + at, sizeof tasks - at,
                                                   "%s%.3f/p^%.3f+%.3f,", where, a, b, a / 20)
                                : (size_t)snprintf(tasks + at, sizeof tasks - at,
                                                   "[%.3f,%.3f,%.3f],", a, a * .6, a * .5);
    }
    at = 0;
    for (int j = 0; j < nnodes; j++)
        at += (size_t)snprintf(nodes + at, sizeof nodes - at, "n%d:%d:%.2f:%s,", j,
                               1 + rand_r(&seed) % 12, random_between(&seed, .5, 2),
                               j % 2 ? "odd" : "even");
    open_problem(p, tasks, nodes);
}

static bool shares_core(const struct moldable_placed *a, const struct moldable_placed *b)
{
    for (int i = 0; i < a->nparts; i++)
        for (int k = 0; k < b->nparts; k++)
            for (int x = 0; a->part[i].node == b->part[k].node && x < a->part[i].ncores; x++)
                for (int y = 0; y < b->part[k].ncores; y++)
                    if (a->part[i].core[x] == b->part[k].core[y])
                        return true;
    return false;
}

static void check_time(const struct moldable_problem *p, int task, const struct moldable_placed *t)
{
    const struct moldable_kind *kind = &p->kinds[p->kind[task]];
    double factor = INFINITY;
    int cores = 0;
    for (int k = 0; k < t->nparts; k++) {
        const struct moldable_node *n = &p->node[t->part[k].node];
        factor = fmin(factor, n->factor);
        cores += t->part[k].ncores;
        assert_true(kind->cluster ? t->part[k].ncores == n->cores : t->part[k].ncores <= n->cores);
        assert_int_equal(n->cluster, p->node[t->part[0].node].cluster);
    }
    assert_int_equal(cores, t->cores);
    assert_true(kind->cluster || t->nparts == 1);
    double seconds = moldable_seconds(&kind->law, cores) / factor;
    assert_true(fabs(t->finish - t->start - seconds) <= 1e-9 * t->finish);
}

static void check_plan(const struct moldable_problem *p, const struct moldable_plan *plan)
{
    double last = 0;
    assert_int_equal(plan->ntasks, p->ntasks);
    for (int i = 0; i < p->ntasks; i++) {
        const struct moldable_placed *t = &plan->task[i];
        assert_true(t->nparts > 0 && t->start >= 0);
        check_time(p, i, t);
        last = fmax(last, t->finish);
        for (int k = 0; k < i; k++) /* never two tasks on a core at once */
            assert_true(plan->task[k].finish <= t->start || t->finish <= plan->task[k].start ||
                        !shares_core(t, &plan->task[k]));
        double ready = 0;
        for (int k = 0; k < t->nafter; k++) {
            const struct moldable_placed *before = &plan->task[t->after[k]];
            assert_true(before->finish <= t->start && shares_core(before, t));
            ready = fmax(ready, before->finish);
        }
        assert_true(t->start == ready); /* tasks start as soon as those before them have finished */
    }
    assert_true(plan->makespan == last);
    assert_true(last >= moldable_bound(p) * (1 - 1e-9));
}

static void every_method_obeys_the_laws(void **state)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct moldable_problem p;
        random_problem(&p, seed);
        double best = INFINITY, ours = 0;
        for (int m = 0; moldable_methods[m]; m++) {
            struct moldable_plan plan;
            assert_int_equal(moldable_plan_open(&plan, &p, moldable_methods[m]), EK_OK);
            check_plan(&p, &plan);
            best = fmin(best, plan.makespan);
            if (!strcmp(plan.method, "evenkeel"))
                ours = plan.makespan;
            moldable_plan_close(&plan);
        }
        assert_true(ours <= best);
        moldable_problem_close(&p);
    }
}

/* ---- the optimum ------------------------------------------------------------------------------*/
/* Tries all orders of starting, nodes and widths. For independent tasks some list schedule that
 * takes the cores which are free first is optimal. */
struct exact {
    const struct moldable_problem *p;
    double free[4][4]; /* [node][core] ascending */
    bool placed[8];
    double best;
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void enumerate(struct exact *e, int left, double makespan)
{
    if (makespan >= e->best)
        return;
    if (!left)
        e->best = makespan;
    for (int i = 0; left && i < e->p->ntasks; i++)
        for (int j = 0; !e->placed[i] && j < e->p->nnodes; j++)
            for (int w = 1; w <= e->p->node[j].cores; w++) {
                double saved[4], t = moldable_seconds(&e->p->kinds[e->p->kind[i]].law, w);
                double finish = e->free[j][w - 1] + t / e->p->node[j].factor;
                memcpy(saved, e->free[j], sizeof saved);
                for (int c = 0; c < w; c++)
                    e->free[j][c] = finish;
                qsort(e->free[j], (size_t)e->p->node[j].cores, sizeof(double), ascending);
                e->placed[i] = true;
                enumerate(e, left - 1, fmax(makespan, finish));
                e->placed[i] = false;
                memcpy(e->free[j], saved, sizeof saved);
            }
}

static void small_cases_are_near_the_optimum(void **state)
{
    double worst = 1, sum = 0;
    int cases = 0, near = 0;
    for (unsigned seed = 1; seed <= 40; seed++, cases++) {
        unsigned s = seed;
        char tasks[256] = "", nodes[64];
        for (int i = 0, n = 3 + (int)(seed % 3), at = 0; i < n; i++)
            at += snprintf(tasks + at, sizeof tasks - (size_t)at, "%.2f/p^%.2f+%.2f,",
                           random_between(&s, 2, 20), random_between(&s, .4, 1),
                           random_between(&s, 0, 2));
        snprintf(nodes, sizeof nodes, "a:3:1,b:2:%.2f", random_between(&s, .6, 1.8));
        struct moldable_problem p;
        open_problem(&p, tasks, nodes);
        struct exact e = {.p = &p, .best = INFINITY};
        enumerate(&e, p.ntasks, 0);
        double ratio = makespan_of(&p, "evenkeel") / e.best;
        assert_true(ratio >= 1 - 1e-9 && moldable_bound(&p) <= e.best * (1 + 1e-9));
        worst = fmax(worst, ratio);
        sum += ratio;
        near += ratio <= 1.02;
        moldable_problem_close(&p);
    }
    print_message("evenkeel / optimum: mean %.3f, worst %.3f\n", sum / cases, worst);
    assert_true(worst <= 1.05 && near >= .98 * cases);
}

/* ---- GPUs, memory and dependencies ------------------------------------------------------------*/
static double share_at(const struct moldable_problem *p, const struct moldable_plan *plan, int node,
                       double when, bool gpus)
{
    double sum = 0;
    for (int i = 0; i < p->ntasks; i++) {
        const struct moldable_placed *t = &plan->task[i];
        const struct moldable_kind *k = &p->kinds[p->kind[i]];
        if (t->part[0].node == node && t->start <= when && when < t->finish)
            sum += gpus ? k->gpus : k->memory;
    }
    return sum;
}

/* With any method: GPUs and memory are never overbooked, no task starts before those it depends on
 * have finished, gets fewer cores than it needs, or gets a core that is not free. */
static void resources_and_dependencies_hold(void **state)
{
    for (unsigned seed = 1; seed <= 30; seed++) {
        struct moldable_problem p = {0};
        double free[6] = {0, 0, 3, 1, 0, 2};
        unsigned s = seed;
        const int nkinds = 2 + rand_r(&s) % 6;
        assert_int_equal(moldable_nodes_parse(&p, "a:6:1,b:4:1.7"), EK_OK);
        p.node[0].gpus = 2;
        p.node[0].memory = 10;
        p.node[0].free = seed % 2 ? free : NULL;
        for (int k = 0; k < nkinds; k++) {
            char name[] = "kind";
            int after[8];
            struct moldable_kind kind = {.name = name,
                                         .after = after,
                                         .law = {.a = random_between(&s, 1, 9), .b = .8, .c = .1},
                                         .gpus = rand_r(&s) % 3,
                                         .memory = rand_r(&s) % 2 ? random_between(&s, 0, 10) : 0,
                                         .least = rand_r(&s) % 4};
            for (int a = 0; a < k; a++)
                if (rand_r(&s) % 3 == 0)
                    kind.after[kind.nafter++] = a;
            assert_int_equal(moldable_add_tasks(&p, &kind, 1 + rand_r(&s) % 5), EK_OK);
        }
        assert_int_equal(moldable_check(&p), EK_OK);
        for (int m = 0; moldable_methods[m]; m++) {
            struct moldable_plan plan;
            assert_int_equal(moldable_plan_open(&plan, &p, moldable_methods[m]), EK_OK);
            for (int i = 0; i < p.ntasks; i++) {
                const struct moldable_placed *t = &plan.task[i];
                const struct moldable_kind *kind = &p.kinds[p.kind[i]];
                assert_true(t->cores >= kind->least && isfinite(t->finish));
                assert_true(share_at(&p, &plan, 0, t->start, true) <= 2);
                assert_true(share_at(&p, &plan, 0, t->start, false) <= 10 * (1 + 1e-9));
                for (int c = 0; c < t->part[0].ncores && !t->part[0].node && seed % 2; c++)
                    assert_true(t->start >= free[t->part[0].core[c]]);
                for (int a = 0; a < kind->nafter; a++)
                    for (int o = 0; o < p.ntasks; o++)
                        assert_true(p.kind[o] != kind->after[a] || plan.task[o].finish <= t->start);
            }
            moldable_plan_close(&plan);
        }
        moldable_problem_close(&p);
    }
}

/* A task alone takes t(p); among busy neighbours longer, in proportion to their share. */
static void busy_neighbours_slow_tasks_down(void **state)
{
    static const struct {
        int count;
        double makespan;
    } cases[] = {{1, 10}, {2, 10 * (1 + .6 / 3)}, {4, 16}, {8, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct moldable_problem p = {0};
        char name[] = "t";
        const struct moldable_kind kind = {
            .name = name, .law = {.c = 10}, .interference = .6, .most = 1};
        assert_int_equal(moldable_nodes_parse(&p, "a:4:1"), EK_OK);
        assert_int_equal(moldable_add_tasks(&p, &kind, cases[i].count), EK_OK);
        for (int m = 0; moldable_methods[m]; m++)
            assert_true(fabs(makespan_of(&p, moldable_methods[m]->name) - cases[i].makespan) <
                        1e-6);
        moldable_problem_close(&p);
    }
}

/* What evenkeel chooses is the best also beside the neighbours that tasks really have. */
static void no_method_is_better_beside_neighbours(void **state)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct moldable_problem p;
        random_problem(&p, seed);
        for (int k = 0; k < p.nkinds; k++)
            p.kinds[k].interference = (k + 1) % 3;
        const double ours = makespan_of(&p, "evenkeel");
        for (int m = 0; moldable_methods[m]; m++)
            assert_true(ours <= makespan_of(&p, moldable_methods[m]->name) * 1.0005);
        moldable_problem_close(&p);
    }
}

/* Tasks that take the least work on most of a node's cores: where each ends first in turn, the last
 * ends after 53.1 s. */
static void superlinear_tasks_need_no_wide_gaps(void **state)
{
    struct moldable_problem p;
    open_problem(&p, "26.392/p+0.01,50 x 57.028/p^1.2", "a:1:2,b:3:1,c:16:1,d:16:1,e:8:.5");
    p.kinds[1].most = 9;
    assert_true(makespan_of(&p, "evenkeel") < 53.1);
    moldable_problem_close(&p);
}

/* Too many unlike nodes to be examined one by one: the same laws hold, and evenkeel is within 2 %
 * of the paper's best method. */
static void many_unlike_nodes_obey_the_laws(void **state)
{
    enum { TASKS = 900, UNLIKE = 420 };
    char tasks[64 * TASKS] = "", nodes[32 * UNLIKE] = "";
    unsigned s = 7;
    for (int i = 0, at = 0; i < TASKS; i++)
        at += snprintf(tasks + at, sizeof tasks - (size_t)at, "%.2f/p^%.2f+%.2f,",
                       random_between(&s, 10, 100), random_between(&s, .5, 1),
                       random_between(&s, 0, 4));
    for (int j = 0, at = 0; j < UNLIKE; j++)
        at += snprintf(nodes + at, sizeof nodes - (size_t)at, "n%d:%d:%.3f,", j,
                       64 - rand_r(&s) % 30, random_between(&s, .5, 2));
    struct moldable_problem p;
    struct moldable_plan plan;
    open_problem(&p, tasks, nodes);
    assert_int_equal(moldable_plan_open(&plan, &p, moldable_find("evenkeel")), EK_OK);
    check_plan(&p, &plan);
    assert_true(plan.makespan <= makespan_of(&p, "taskp"));
    assert_true(plan.makespan <= 1.02 * makespan_of(&p, "wlsearch"));
    moldable_plan_close(&plan);
    moldable_problem_close(&p);
}

/* ---- the paper --------------------------------------------------------------------------------*/
/* Section 5.4: WLSEARCH is the best of the paper's methods for any number of FEM tasks. */
static void wlsearch_is_best_on_fem_tasks(void **state)
{
    static const char *const others[] = {"taskp", "datap", "hcpa", "dcts", "waterl"};
    for (int n = 1; n <= 200; n += n < 20 ? 1 : 9) {
        struct moldable_problem p;
        char tasks[64];
        snprintf(tasks, sizeof tasks, "%d x %s", n, FEM);
        open_problem(&p, tasks, TABLE_1);
        double wlsearch = makespan_of(&p, "wlsearch");
        for (size_t m = 0; m < sizeof others / sizeof *others; m++)
            assert_true(wlsearch <= makespan_of(&p, others[m]) * (1 + 1e-12));
        assert_true(makespan_of(&p, "evenkeel") <= wlsearch);
        moldable_problem_close(&p);
    }
}

/* Two tasks of 10 s take as long on one node of each speed, or both on the fast one; their area
 * would fit in 6.7 s. */
static void nodes_have_room_for_whole_tasks(void **state)
{
    struct moldable_problem p = {0};
    int after = 0;
    (void)state;
    assert_int_equal(moldable_nodes_parse(&p, "fast:1:2, slow:1:1"), EK_OK);
    assert_int_equal(moldable_tasks_parse(&p, "2 x 10"), EK_OK);
    const struct moldable_kind last = {.law.c = 1, .nafter = 1, .after = &after};
    assert_int_equal(moldable_add_tasks(&p, &last, 1), EK_OK);
    assert_true(fabs(moldable_bound(&p) - 10.5) < 1e-6);
    moldable_problem_close(&p);
}

/* Section 5.2, x = 1: perfectly parallel tasks reach the area bound. Of several widths with the
 * same estimate WATERL takes the first, as in Fig. 5, and misses the bound if that width does not
 * divide the number of cores (three tasks on three of eight cores each). */
static void perfect_tasks_fill_the_area(void **state)
{
    static const char *const methods[] = {"datap", "evenkeel"};
    for (int n = 1; n <= 40; n++) {
        struct moldable_problem p;
        char tasks[32];
        snprintf(tasks, sizeof tasks, "%d x 10/p", n);
        open_problem(&p, tasks, "cs1:8:1.0");
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
            assert_true(fabs(makespan_of(&p, methods[m]) - n * 10. / 8) < 1e-9 * n);
        assert_true(makespan_of(&p, "waterl") <= 10 + n * 10. / 8);
        assert_true(n % 4 == 3 || fabs(makespan_of(&p, "waterl") - n * 10. / 8) < 1e-9 * n);
        assert_true(fabs(makespan_of(&p, "taskp") - (n + 7) / 8 * 10) < 1e-9 * n);
        moldable_problem_close(&p);
    }
}

static void many_unlike_tasks_come_within_two_percent(void **state)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        struct moldable_problem p;
        char tasks[8192] = "";
        unsigned s = seed;
        for (int i = 0, at = 0; i < 160; i++)
            at += snprintf(tasks + at, sizeof tasks - (size_t)at, "%.2f/p^%.2f+%.2f,",
                           random_between(&s, 10, 100), random_between(&s, .5, 1),
                           random_between(&s, 0, 4));
        open_problem(&p, tasks, "a:8:1,b:12:1.4,c:16:.8");
        assert_true(makespan_of(&p, "evenkeel") <= 1.02 * moldable_bound(&p));
        moldable_problem_close(&p);
    }
}

/* ---- parsing ----------------------------------------------------------------------------------*/
static void laws_are_read(void **state)
{
    static const struct {
        const char *text;
        int p;
        double seconds;
    } right[] = {
        {"71.07/p^0.42+4.47", 1, 75.54},
        {"8/p", 4, 2},
        {"3", 7, 3},
        {"9.5/p + 0.5*log(p) + 0.5*p", 2, 4.75 + 0.5 * M_LN2 + 1},
        {"10/p^2 - 1", 2, 1.5},
        {"[5, 3, 2]", 3, 2},
        {"2*p", 3, 6},
    };
    static const char *const wrong[] = {"",    "p/3",         "3/q", "[1,2",
                                        "1 +", "2/p + 3/p^2", "nan", "1e"};
    struct moldable_law law;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(moldable_law_parse(&law, right[i].text), EK_OK);
        assert_true(fabs(moldable_seconds(&law, right[i].p) - right[i].seconds) < 1e-12);
        free(law.table);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(moldable_law_parse(&law, wrong[i]), EK_USAGE);
}

static void nonsense_is_refused(void **state)
{
    static const struct {
        const char *tasks, *nodes;
    } wrong[] = {
        {"0 x 3/p", "a:1:1"}, {"3/p - 5", "a:2:1"}, {"[3,-1]", "a:2:1"},    {"3/p", "a:0:1"},
        {"3/p", "a:2:-1"},    {"3/p", "a:2:nan"},   {"3/p", "a:2:1,a:2:1"}, {"3/p", "a"},
        {"3/p", ""},          {"", "a:2:1"},        {"3/p", "a:2.5:1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct moldable_problem p = {0};
        enum ek_status st = moldable_tasks_parse(&p, wrong[i].tasks);
        if (!st)
            st = moldable_nodes_parse(&p, wrong[i].nodes);
        if (!st)
            st = moldable_check(&p);
        assert_int_equal(st, EK_USAGE);
        moldable_problem_close(&p);
    }
    assert_null(moldable_find("waterlevel"));
}

static void waterl_keeps_up_with_taskp_on_dgemm_tasks(void **state)
{
    double water = 0, task = 0;
    for (int n = 1; n <= 100; n++) {
        struct moldable_problem p;
        char tasks[64];
        snprintf(tasks, sizeof tasks, "%d x %s", n, DGEMM);
        open_problem(&p, tasks, "cs1:8:1.0,ws1:12:1.4");
        water += makespan_of(&p, "waterl");
        task += makespan_of(&p, "taskp");
        moldable_problem_close(&p);
    }
    assert_true(water <= task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_obeys_the_laws),
        cmocka_unit_test(nodes_have_room_for_whole_tasks),
        cmocka_unit_test(small_cases_are_near_the_optimum),
        cmocka_unit_test(resources_and_dependencies_hold),
        cmocka_unit_test(busy_neighbours_slow_tasks_down),
        cmocka_unit_test(no_method_is_better_beside_neighbours),
        cmocka_unit_test(superlinear_tasks_need_no_wide_gaps),
        cmocka_unit_test(many_unlike_nodes_obey_the_laws),
        cmocka_unit_test(wlsearch_is_best_on_fem_tasks),
        cmocka_unit_test(waterl_keeps_up_with_taskp_on_dgemm_tasks),
        cmocka_unit_test(perfect_tasks_fill_the_area),
        cmocka_unit_test(many_unlike_tasks_come_within_two_percent),
        cmocka_unit_test(laws_are_read),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
