/* cu/moldable/moldable_bound.c – the lower bound of a moldable problem. */
#include "cu/moldable/timeline.h"
#include "src/owned.h"

#include <math.h>

/* The machine as the bound sees it. A task's work p t(p) in reference core seconds is the same on
 * every node, so for its duration only the fastest node with p cores matters. */
struct offer {
    const struct moldable_problem *problem;
    double power;        /* sum of p_j f_j */
    double fastest;      /* of all nodes */
    double *factor;      /* [widest] of the fastest node with p cores or more */
    int widest, largest; /* cores of the largest node, of the largest cluster */
    int *count;          /* [nkinds] tasks */
    int *cores;          /* [nclusters] */
};

static void survey(struct offer *o)
{
    const struct moldable_problem *p = o->problem;
    for (int j = 0; j < p->nnodes; j++) {
        const struct moldable_node *n = &p->node[j];
        o->power += n->cores * n->factor;
        o->fastest = fmax(o->fastest, n->factor);
        o->factor[n->cores - 1] = fmax(o->factor[n->cores - 1], n->factor);
        int *sum = &o->cores[n->cluster];
        *sum += n->cores;
        o->largest = *sum > o->largest ? *sum : o->largest;
    }
    for (int w = o->widest - 2; w >= 0; w--)
        o->factor[w] = fmax(o->factor[w], o->factor[w + 1]);
    for (int i = 0; i < p->ntasks; i++)
        o->count[p->kind[i]]++;
}

/* The least work with which a task of the kind ends within T; infinite if it cannot. */
static double least_work(const struct offer *o, const struct moldable_kind *k, double T)
{
    int most = k->cluster ? o->largest : o->widest;
    double least = INFINITY;
    for (int w = k->least > 1 ? k->least : 1; w <= most && (!k->most || w <= k->most); w++) {
        double t = moldable_seconds(&k->law, w);
        if (t <= T * (k->cluster ? o->fastest : o->factor[w - 1]))
            least = fmin(least, w * t);
    }
    return least;
}

static bool may_fit(const struct offer *o, double T)
{
    double work = 0;
    for (int k = 0; k < o->problem->nkinds && work <= o->power * T; k++)
        work += o->count[k] * least_work(o, &o->problem->kinds[k], T);
    return work <= o->power * T;
}

static double bisect(const struct offer *o)
{
    enum { STEPS = 40 };
    double lo = 0, hi = 1e-3;
    while (!may_fit(o, hi) && hi < 1e300)
        lo = hi, hi *= 4;
    for (int i = 0; i < STEPS; i++) {
        double mid = (lo + hi) / 2;
        if (may_fit(o, mid))
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}

double moldable_bound(const struct moldable_problem *p)
{
    OWNED(arena_free) struct arena arena = {0};
    struct offer o = {.problem = p, .widest = moldable_widest(p)};
    o.factor = ARENA_NEW(&arena, o.widest, double);
    o.count = ARENA_NEW(&arena, p->nkinds, int);
    o.cores = ARENA_NEW(&arena, p->nclusters, int);
    if (arena_check(&arena, "the bound"))
        return NAN;
    survey(&o);
    return bisect(&o);
}
