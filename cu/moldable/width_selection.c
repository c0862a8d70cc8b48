/* cu/moldable/width_selection.c – interpolates tables t(p) from a few widths, plans tasks with
 * them, and picks the width that does most of the work. */
#include "cu/moldable/width_selection.h"
#include "cu/moldable/moldable.h"
#include "src/sort.h"

static const char METHOD[] = "evenkeel";

/* ---- measurements -----------------------------------------------------------------------------*/
void width_levels(double *seconds, int ntasks, struct width_tasks *tasks)
{
    const int n = ntasks < WIDTH_LEVELS ? ntasks : WIDTH_LEVELS;
    tasks->ntasks = tasks->nlevels = 0;
    for (int i = 0; i < ntasks; i++)
        if (!(seconds[i] > 0) || !isfinite(seconds[i]))
            return;
    sort_numbers(seconds, (size_t)ntasks);
    for (int i = 0; i < n; i++) /* the middle one of the tasks that it represents */
        tasks->seconds[i] = seconds[(size_t)(2 * i + 1) * (size_t)ntasks / (size_t)(2 * n)];
    tasks->ntasks = ntasks;
    tasks->nlevels = n;
}

static double sum(const struct width_tasks *t)
{
    double all = 0;
    for (int i = 0; i < t->nlevels; i++)
        all += t->seconds[i];
    return all;
}

void width_selection_add(struct width_selection *m, int width, const struct width_tasks *tasks)
{
    int at = 0;
    while (at < m->n && m->width[at] < width)
        at++;
    if (!tasks->ntasks || (m->n && m->tasks[0].ntasks != tasks->ntasks))
        return;
    if (at == m->n || m->width[at] != width) {
        if (m->n == WIDTHS_TRIED)
            return;
        memmove(m->width + at + 1, m->width + at, (size_t)(m->n - at) * sizeof *m->width);
        memmove(m->tasks + at + 1, m->tasks + at, (size_t)(m->n - at) * sizeof *m->tasks);
        m->n++;
    } else if (sum(tasks) >= sum(&m->tasks[at])) {
        return;
    }
    m->width[at] = width;
    m->tasks[at] = *tasks;
}

/* ---- planning ---------------------------------------------------------------------------------*/
/* Seconds of a level on p cores, interpolated linearly in logarithms. */
static double seconds_on(const struct width_selection *m, int level, int p)
{
    int above = 1;
    while (above < m->n - 1 && m->width[above] < p)
        above++;
    const double w0 = m->width[above - 1], w1 = m->width[above];
    const double t0 = m->tasks[above - 1].seconds[level], t1 = m->tasks[above].seconds[level];
    const double power = fmin(1, log(t0 / t1) / log(w1 / w0));
    return t0 * pow(w0 / p, power);
}

/* One kind of tasks for each level. */
static enum ek_status describe(const struct width_selection *m, int cores,
                               struct moldable_problem *problem)
{
    const struct width_tasks *t = &m->tasks[0];
    TRY(moldable_add_node(problem, "here", cores, 1, "all"));
    for (int i = 0; i < t->nlevels; i++) {
        char name[] = "level";
        struct moldable_kind kind = {.name = name, .law = {.ntable = cores}};
        kind.law.table = ARENA_NEW(&problem->arena, cores, double);
        TRY(arena_check(&problem->arena, "a plan on %d cores", cores));
        for (int p = 1; p <= cores; p++)
            kind.law.table[p - 1] = seconds_on(m, i, p);
        const long n = t->ntasks;
        TRY(moldable_add_tasks(problem, &kind,
                               (int)((i + 1) * n / t->nlevels - i * n / t->nlevels)));
    }
    return EK_OK;
}

/* The width with the most core seconds in the plan; of equal ones the narrowest. */
static enum ek_status busiest(struct moldable_plan *plan, int cores, int *width)
{
    double *work = ARENA_NEW(&plan->arena, cores + 1, double);
    TRY(arena_check(&plan->arena, "%d widths", cores));
    for (int i = 0; i < plan->ntasks; i++)
        work[plan->task[i].cores] +=
            plan->task[i].cores * (plan->task[i].finish - plan->task[i].start);
    *width = 1;
    for (int w = 2; w <= cores; w++)
        if (work[w] > work[*width])
            *width = w;
    return EK_OK;
}

enum ek_status width_selection_best(const struct width_selection *m, int cores, int *width)
{
    OWNED(moldable_problem_close) struct moldable_problem problem = {0};
    OWNED(moldable_plan_close) struct moldable_plan plan = {0};
    *width = 0;
    if (m->n < 2 || cores < 1)
        return EK_OK;
    TRY(describe(m, cores, &problem));
    TRY(moldable_plan_open(&plan, &problem, moldable_find(METHOD)));
    return busiest(&plan, cores, width);
}
