/* cu/moldable/moldable_bound.c – the lower bound of a moldable problem. */
#include "cu/moldable/timeline.h"
#include "src/owned.h"

#include <math.h>
#include <string.h>

/* The machine as the bound sees it. A task's work p t(p) in reference core seconds is the same on
 * every node, so for its duration only the fastest node that can host it on p cores matters. */
struct machine {
    const struct moldable_problem *problem;
    double power;        /* sum of p_j f_j */
    double gpus, memory; /* the same for these; memory is infinite if that of some node is */
    double fastest;      /* of all nodes */
    int widest, largest; /* cores of the largest node, of the largest cluster */
    double *factor;      /* [nkinds][widest] of the fastest node that can host a task on p cores */
    double *law;         /* [nkinds][widest] t(p), infinite for widths that tasks cannot have */
    int *count;          /* [nkinds] tasks */
    int *cores;          /* [nclusters] */
};

static void survey(struct machine *m)
{
    const struct moldable_problem *p = m->problem;
    for (int j = 0; j < p->nnodes; j++) {
        const struct moldable_node *n = &p->node[j];
        m->power += n->cores * n->factor;
        m->gpus += n->gpus * n->factor;
        m->memory += n->memory > 0 ? n->memory * n->factor : INFINITY;
        m->fastest = fmax(m->fastest, n->factor);
        int *sum = &m->cores[n->cluster];
        *sum += n->cores;
        m->largest = *sum > m->largest ? *sum : m->largest;
    }
    for (int i = 0; i < p->ntasks; i++)
        m->count[p->kind[i]]++;
}

static void find_fastest(const struct machine *m, const struct moldable_kind *k, double *factor)
{
    const struct moldable_problem *p = m->problem;
    for (int j = 0; j < p->nnodes; j++)
        if (moldable_can_host(k, &p->node[j]))
            factor[p->node[j].cores - 1] = fmax(factor[p->node[j].cores - 1], p->node[j].factor);
    for (int w = m->widest - 2; w >= 0; w--)
        factor[w] = fmax(factor[w], factor[w + 1]);
}

static bool allows(const struct moldable_kind *k, int w)
{
    return w >= k->least && (!k->most || w <= k->most);
}

static void tabulate(struct machine *m)
{
    const size_t widest = (size_t)m->widest;
    for (int i = 0; i < m->problem->nkinds; i++) {
        const struct moldable_kind *k = &m->problem->kinds[i];
        double *factor = m->factor + (size_t)i * widest, *law = m->law + (size_t)i * widest;
        if (i && k->gpus == k[-1].gpus && k->memory == k[-1].memory)
            memcpy(factor, factor - widest, widest * sizeof *factor);
        else
            find_fastest(m, k, factor);
        for (int w = 1; w <= m->widest; w++)
            law[w - 1] = allows(k, w) ? moldable_seconds(&k->law, w) : INFINITY;
    }
}

/* What a task takes at least if it ends within T: work p t(p), and t(p); infinite if it cannot. */
struct least {
    double work, law;
};

static void consider(struct least *l, int w, double law)
{
    l->work = fmin(l->work, w * law);
    l->law = fmin(l->law, law);
}

static struct least least_of(const struct machine *m, int kind, double T)
{
    const struct moldable_kind *k = &m->problem->kinds[kind];
    const double *factor = m->factor + (size_t)kind * (size_t)m->widest;
    const double *law = m->law + (size_t)kind * (size_t)m->widest;
    struct least l = {INFINITY, INFINITY};
    for (int w = 1; !k->cluster && w <= m->widest; w++)
        if (law[w - 1] <= T * factor[w - 1])
            consider(&l, w, law[w - 1]);
    for (int w = 1; k->cluster && w <= m->largest; w++) {
        const double t = allows(k, w) ? moldable_seconds(&k->law, w) : INFINITY;
        if (t <= T * m->fastest)
            consider(&l, w, t);
    }
    return l;
}

/* May the tasks of kinds `from` … `to` - 1 be done within T? */
static bool may_fit(const struct machine *m, int from, int to, double T)
{
    double work = 0, gpus = 0, memory = 0;
    for (int i = from; i < to && work <= m->power * T; i++) {
        const struct moldable_kind *k = &m->problem->kinds[i];
        const struct least l = least_of(m, i, T);
        work += m->count[i] * l.work;
        gpus += k->gpus ? m->count[i] * l.law * k->gpus : 0;
        memory += k->memory > 0 ? m->count[i] * l.law * k->memory : 0;
    }
    return work <= m->power * T && gpus <= m->gpus * T * (1 + 1e-9) &&
           memory <= m->memory * T * (1 + 1e-9);
}

static double bisect(const struct machine *m, int from, int to)
{
    enum { STEPS = 40 };
    double lo = 0, hi = 1e-3;
    while (!may_fit(m, from, to, hi) && hi < 1e300)
        lo = hi, hi *= 4;
    for (int i = 0; i < STEPS; i++) {
        double mid = (lo + hi) / 2;
        if (may_fit(m, from, to, mid))
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}

/* The longest chain of kinds that depend on one another, each with the machine to itself; end
 * [nkinds] is overwritten. */
static double longest_chain(const struct machine *m, double *end)
{
    double longest = 0;
    for (int i = 0; i < m->problem->nkinds; i++) {
        const struct moldable_kind *k = &m->problem->kinds[i];
        double from = 0;
        for (int a = 0; a < k->nafter; a++)
            from = fmax(from, end[k->after[a]]);
        end[i] = from + (m->count[i] ? bisect(m, i, i + 1) : 0);
        longest = fmax(longest, end[i]);
    }
    return longest;
}

double moldable_bound(const struct moldable_problem *p)
{
    OWNED(arena_free) struct arena arena = {0};
    struct machine m = {.problem = p, .widest = moldable_widest(p)};
    const size_t cells = (size_t)p->nkinds * (size_t)m.widest;
    m.factor = ARENA_NEW(&arena, cells, double);
    m.law = ARENA_NEW(&arena, cells, double);
    m.count = ARENA_NEW(&arena, p->nkinds, int);
    m.cores = ARENA_NEW(&arena, p->nclusters, int);
    double *end = ARENA_NEW(&arena, p->nkinds, double);
    if (arena_check(&arena, "the bound"))
        return NAN;
    survey(&m);
    tabulate(&m);
    const double all = bisect(&m, 0, p->nkinds); /* no less than any one kind needs */
    return moldable_independent(p) ? all : fmax(all, longest_chain(&m, end) * (1 - 1e-12));
}
