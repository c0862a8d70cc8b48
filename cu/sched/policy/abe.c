/* cu/sched/policy/abe.c – area-bound estimation: a linear programme decides how many tasks of each
 * cost run on each class of units; inside a class each task, largest first, goes to the least
 * loaded unit (Dagostini's thesis, section 2.2.3, after Pinto 2018).
 *
 *    minimise T subject to   sum over classes r of n[t][r] = N[t]            for each group t
 *                            sum over groups t of n[t][r] w[t][r] <= T N[r]  for each class r
 *
 * Tasks of equal cost form a group; where that gives more than MOST_GROUPS groups or MOST_SHARES
 * variables, tasks that follow one another by cost are grouped instead. */
#include "cu/sched/learn.h"

#include <glpk.h>
#include <math.h>

enum { MOST_GROUPS = 1024, MOST_SHARES = 16384 };

/* Units that take the same time for the same task. */
struct class
{
    int first, units;      /* first unit; number of units */
    struct plan_heap heap; /* into state.heaps */
};

struct state {
    struct learn learn; /* owner [n] holds classes first, then units */
    struct class *class;
    int nclasses, *member;  /* [ncu] units of class 0, of class 1, … */
    struct plan_heap heaps; /* [ncu] likewise */
    size_t *group;          /* [ngroups + 1] where each group begins in the order */
    size_t ngroups;
    int *index;  /* [nclasses + 2] and values: a row of the programme */
    double *row; /* [nclasses + 2] */
};

static bool alike(const struct estimate *e, int a, int b)
{
    return e->kind[a] == e->kind[b] && e->factor[a] == e->factor[b];
}

static void sort_classes(struct state *s)
{
    const struct estimate *e = &s->learn.estimate;
    int placed = 0;
    s->nclasses = 0;
    for (int c = 0; c < e->ncu; c++) {
        int k = 0;
        while (k < s->nclasses && !alike(e, c, s->class[k].first))
            k++;
        if (k < s->nclasses)
            continue;
        struct class *new = &s->class[s->nclasses++];
        int *unit = s->member + placed;
        new->first = c;
        new->units = 0;
        for (int u = c; u < e->ncu; u++)
            if (alike(e, u, c))
                unit[new->units++] = u;
        new->heap.top = s->heaps.top + placed;
        plan_heap_fill(&new->heap, unit, new->units);
        placed += new->units;
    }
}

static void sort_groups(struct state *s)
{
    const struct estimate *e = &s->learn.estimate;
    size_t most = MOST_SHARES / (size_t)s->nclasses;
    most = most < 1 ? 1 : most > MOST_GROUPS ? MOST_GROUPS : most;
    s->ngroups = 0;
    for (size_t i = 0; i < e->n; i++)
        if (i == 0 || estimate_cost(e, e->order[i]) != estimate_cost(e, e->order[i - 1]))
            if (s->ngroups++ < most)
                s->group[s->ngroups - 1] = i;
    if (s->ngroups > most) {
        s->ngroups = most;
        for (size_t g = 0; g < most; g++)
            s->group[g] = g * e->n / most;
    }
    s->group[s->ngroups] = e->n;
}

/* Column of n[g][k]; the makespan is column 1. Rows: classes, then groups. */
static int column(const struct state *s, size_t g, int k)
{
    return 2 + (int)g * s->nclasses + k;
}

static double mean_seconds(const struct state *s, size_t g, int k)
{
    const struct estimate *e = &s->learn.estimate;
    double sum = 0;
    for (size_t i = s->group[g]; i < s->group[g + 1]; i++)
        sum += estimate_seconds(e, s->class[k].first, e->order[i]);
    return sum / (double)(s->group[g + 1] - s->group[g]);
}

/* Times in the programme are capped at this multiple of the longest task's on the first class. */
static const double MOST = 1e12;

/* In units of the longest task's seconds: GLPK's tolerances suit numbers near 1, and it aborts on
 * huge ones. */
static glp_prob *programme(struct state *s)
{
    const double longest = s->ngroups ? mean_seconds(s, 0, 0) : 0,
                 scale = longest > 0 ? longest : 1;
    glp_prob *lp = glp_create_prob();
    glp_add_rows(lp, s->nclasses + (int)s->ngroups);
    glp_add_cols(lp, 1 + (int)s->ngroups * s->nclasses);
    glp_set_obj_coef(lp, 1, 1);
    glp_set_col_bnds(lp, 1, GLP_LO, 0, 0);
    for (int k = 0; k < s->nclasses; k++) {
        s->index[1 + k] = 1 + k;
        s->row[1 + k] = -s->class[k].units;
        glp_set_row_bnds(lp, 1 + k, GLP_UP, 0, 0);
    }
    glp_set_mat_col(lp, 1, s->nclasses, s->index, s->row);
    for (size_t g = 0; g < s->ngroups; g++) {
        int row = 1 + s->nclasses + (int)g;
        double tasks = (double)(s->group[g + 1] - s->group[g]);
        glp_set_row_bnds(lp, row, GLP_FX, tasks, tasks);
        for (int k = 0; k < s->nclasses; k++) {
            int index[] = {0, 1 + k, row};
            double value[] = {0, fmin(mean_seconds(s, g, k) / scale, MOST), 1};
            glp_set_col_bnds(lp, column(s, g, k), GLP_LO, 0, 0);
            glp_set_mat_col(lp, column(s, g, k), 2, index, value);
        }
    }
    return lp;
}

/* Rounds cumulative sums of the shares, from the first to the last task of a group. */
static void round_shares(struct state *s, glp_prob *lp)
{
    for (size_t g = 0; g < s->ngroups; g++) {
        double share = 0;
        size_t i = s->group[g];
        for (int k = 0; k < s->nclasses; k++) {
            share += glp_get_col_prim(lp, column(s, g, k));
            size_t end = k == s->nclasses - 1 ? s->group[g + 1]
                                              : s->group[g] + (size_t)round(fmax(0, share));
            for (; i < end && i < s->group[g + 1]; i++)
                s->learn.owner[i] = k;
        }
    }
}

static void assign(void *policy)
{
    struct state *s = policy;
    const struct estimate *e = &s->learn.estimate;
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    sort_classes(s);
    sort_groups(s);
    glp_prob *lp = programme(s);
    simplex.it_lim = 1000 + 20 * glp_get_num_cols(lp); /* the simplex may cycle */
    for (size_t i = 0; i < e->n; i++)                  /* fallback if the programme fails */
        s->learn.owner[i] = (int)(i % (size_t)s->nclasses);
    if (!glp_simplex(lp, &simplex))
        round_shares(s, lp);
    glp_delete_prob(lp);
    for (size_t i = 0; i < e->n; i++) {
        struct class *k = &s->class[s->learn.owner[i]];
        s->learn.owner[i] = plan_heap_add(&k->heap, estimate_seconds(e, k->first, e->order[i]));
    }
    learn_assign(&s->learn);
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    s->class = ARENA_NEW(job->arena, job->ncu, struct class);
    s->member = ARENA_NEW(job->arena, job->ncu, int);
    s->group = ARENA_NEW(job->arena, MOST_GROUPS + 1, size_t);
    s->index = ARENA_NEW(job->arena, job->ncu + 2, int);
    s->row = ARENA_NEW(job->arena, job->ncu + 2, double);
    TRY(plan_heap_open(&s->heaps, job));
    return learn_begin(&s->learn, job, assign);
}

const struct sched_ops sched_abe = {
    .name = "abe",
    .summary =
        "a linear programme divides task sizes among kinds of units, sorted-greedy inside each",
    .state_size = sizeof(struct state),
    .begin = begin,
    LEARN_POLICY,
};
