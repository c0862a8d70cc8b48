/* cu/moldable/method/evenkeel.c – our own method: the best schedule of all other methods, then a
 * search for a shorter one. Under a limit on the makespan every task takes the place with the least
 * work (core seconds), and of those the one with the smallest gap below the limit; a task that
 * finds no place goes to the front of the queue with more cores, and all tasks are placed again.
 * The limit is bisected down to the lower bound. */
#include "cu/moldable/exact.h"
#include "cu/moldable/packing.h"
#include "cu/moldable/pattern.h"
#include "cu/moldable/timeline.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 24, FIT_ROUNDS = 4, BISECTIONS = 24, EXACT_STEPS = 200000 };
static const double CLOSE = 1.0005; /* times the bound: close enough to stop, */
static const double ENOUGH = 1.1;   /* and to leave out other methods where resources are scarce */
static const double EFFORT = 1e8;   /* cores looked at in the whole search: about a second */
static const double LARGE = 2e7;    /* more in one pass of a method are too many */

extern const struct moldable_method moldable_evenkeel, moldable_taskp, moldable_datap,
    moldable_dcts, moldable_waterl;

struct search {
    struct timeline *timeline;
    struct moldable_choice *choice, *trial;
    double best; /* makespan of choice */
    int *first;  /* [ntasks] the order in which tasks are placed */
    int *queue;  /* [ntasks] by descending `least`, then in that order */
    int *old;    /* [ntasks] the queue before it is sorted */
    int *least;  /* [ntasks] fewest cores (nodes) that a task may take */
    int *failed; /* [ntasks] tasks that found no place in a round */
    double effort;
    struct packing *packing; /* NULL: look at every group of nodes for every task */
    bool independent;        /* no task depends on another */
    bool tight; /* of places with equal work choose the smallest gap; else the earliest finish */
};

/* ---- one task ---------------------------------------------------------------------------------*/
struct place {
    struct moldable_choice choice;
    double work, rank;
};

static void consider(struct place *best, const struct place *p)
{
    if (p->work > best->work * (1 + 1e-9))
        return;
    if (p->work >= best->work * (1 - 1e-9)) {
        if (p->rank > best->rank)
            return;
        if (p->rank == best->rank && p->choice.where >= best->choice.where)
            return;
    }
    *best = *p;
}

/* The last slot, and so the latest start, from which the task still ends within the limit. */
static int last_slot(const struct timeline_view *v, int width, double seconds, double limit)
{
    int lo = width - 1, hi = v->n;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (v->start[mid] + seconds <= limit)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static struct place within(struct search *s, int task, double limit)
{
    bool cluster = s->timeline->problem->kinds[s->timeline->problem->kind[task]].cluster;
    struct place best = {{task, -1, 0, 0}, INFINITY, INFINITY};
    struct timeline_view v;
    for (int i = 0, views = timeline_views(s->timeline, task, 0); i < views; i++) {
        s->effort++;
        if (timeline_too_late(s->timeline, task, i, limit))
            continue;
        timeline_view(s->timeline, task, i, &v);
        s->effort += v.n;
        for (int w = s->least[task]; w <= v.n; w++) {
            double e = v.finish[w - 1], seconds = e - v.start[w - 1];
            if (e > limit)
                continue;
            struct place p = {{task, v.where, w, w - 1}, seconds * timeline_power(&v, w), e};
            if (s->tight) {
                if (!cluster)
                    p.choice.slot = last_slot(&v, w, seconds, limit);
                p.rank = limit - (v.start[p.choice.slot] + seconds);
            }
            consider(&best, &p);
        }
    }
    return best;
}

/* ---- all tasks --------------------------------------------------------------------------------*/
/* Sorts the queue by descending `least`, otherwise in the old order. */
static void sort_queue(struct search *s)
{
    int n = s->timeline->problem->ntasks, filled = 0;
    memcpy(s->old, s->queue, (size_t)n * sizeof *s->queue);
    for (int cores = s->timeline->widest; cores >= 0 && filled < n; cores--)
        for (int i = 0; i < n; i++)
            if (s->least[s->old[i]] == cores)
                s->queue[filled++] = s->old[i];
}

/* Gives tasks that found no place one core (node) more; false if one has all of them already. */
static bool widen(struct search *s, const int *failed, int nfailed)
{
    for (int i = 0; i < nfailed; i++)
        if (++s->least[failed[i]] > s->timeline->widest)
            return false;
    if (s->independent)
        sort_queue(s);
    return true;
}

/* One round with the tree, which looks at whole vectors of cores; returns how many failed. */
static int fit_all(struct search *s, double limit, int *failed)
{
    const int n = s->timeline->problem->ntasks;
    int nfailed = 0, nplaced = 0;
    packing_begin(s->packing, limit);
    for (int i = 0; i < n; i++)
        if (packing_place(s->packing, s->queue[i], s->least[s->queue[i]], &s->trial[nplaced]))
            nplaced++;
        else
            failed[nfailed++] = s->queue[i];
    s->effort += (n + s->timeline->problem->nnodes) * (double)s->timeline->widest;
    if (nfailed)
        return nfailed;
    timeline_place_all(s->timeline, s->trial);
    return 0;
}

/* One round: places the tasks in the order of the queue; returns how many found no place, -1 if
 * their work exceeds all cores. */
static int place_all(struct search *s, double limit, int *failed)
{
    int n = s->timeline->problem->ntasks, nfailed = 0, nplaced = 0;
    double work = 0;
    timeline_clear(s->timeline);
    for (int i = 0; i < n && work <= limit * s->timeline->power; i++) {
        struct place p = within(s, s->queue[i], limit);
        if (p.choice.where < 0) {
            failed[nfailed++] = s->queue[i];
            continue;
        }
        s->trial[nplaced++] = p.choice;
        work += p.work;
        timeline_place(s->timeline, &p.choice);
    }
    return nfailed + nplaced < n ? -1 : nfailed;
}

static void keep(struct search *s)
{
    if (s->timeline->latest >= s->best)
        return;
    s->best = s->timeline->latest;
    memcpy(s->choice, s->trial, (size_t)s->timeline->problem->ntasks * sizeof *s->trial);
}

static bool fits(struct search *s, double limit)
{
    int n = s->timeline->problem->ntasks;
    memcpy(s->queue, s->packing ? s->first : s->timeline->order, (size_t)n * sizeof *s->queue);
    for (int i = 0; i < n; i++)
        s->least[i] = 1;
    for (int round = 0; round < (s->packing ? FIT_ROUNDS : ROUNDS) && s->effort < EFFORT; round++) {
        int nfailed = s->packing ? fit_all(s, limit, s->failed) : place_all(s, limit, s->failed);
        if (!nfailed)
            keep(s);
        if (nfailed <= 0 || !widen(s, s->failed, nfailed))
            return !nfailed;
    }
    return false;
}

/* ---- tasks of one kind ------------------------------------------------------------------------*/
struct filling {
    struct search *search;
    int node, next; /* tasks placed so far, over all nodes */
};

/* Places the next task on the last of the cores that are free by `start`, which are those of the
 * pattern's part or equivalent ones. */
static bool fill(void *filling, int width, double start, double *finish)
{
    struct filling *f = filling;
    struct timeline *l = f->search->timeline;
    if (f->next == l->problem->ntasks)
        return false;
    const double *when = l->free + l->first[f->node];
    int slot = width - 1;
    while (slot + 1 < l->problem->node[f->node].cores && when[slot + 1] <= start)
        slot++;
    struct moldable_choice *c = &f->search->trial[f->next];
    *c = (struct moldable_choice){l->order[f->next], f->node, width, slot};
    f->next++;
    *finish = timeline_place(l, c).finish;
    return true;
}

/* Fills node after node with as many tasks as fit within the limit. */
static bool patterns_fit(struct search *s, double limit)
{
    const struct moldable_problem *p = s->timeline->problem;
    struct filling f = {s, 0, 0};
    struct pattern pattern = {0};
    double time = 0;
    timeline_clear(s->timeline);
    for (; f.node < p->nnodes && f.next < p->ntasks; f.node++) {
        const struct moldable_node *n = &p->node[f.node];
        if (pattern.cores != n->cores || time != limit * n->factor) {
            pattern_close(&pattern);
            time = limit * n->factor;
            if (pattern_open(&pattern, n->cores, s->timeline->seconds, time))
                break;
            s->effort += PATTERN_CELLS / 4. * n->cores * n->cores;
        }
        pattern_unroll(&pattern, fill, &f);
    }
    pattern_close(&pattern);
    if (f.next < p->ntasks)
        return false;
    keep(s);
    return true;
}

static bool patterns_apply(const struct moldable_problem *p)
{
    const struct moldable_kind *k = p->kinds;
    if (p->nkinds > 1 || k->most || k->least > 1 || k->cluster || k->nafter ||
        moldable_needs_resources(k) || k->interference > 0)
        return false;
    for (int j = 0; j < p->nnodes; j++)
        if (p->node[j].cores > PATTERN_CORES || p->node[j].free)
            return false;
    return true;
}

/* ---- the search -------------------------------------------------------------------------------*/
static void shorten(struct search *s, double bound, bool (*fit)(struct search *, double limit))
{
    double lo = bound;
    for (int i = 0; i < BISECTIONS && s->best > lo * CLOSE && s->effort < EFFORT; i++) {
        double limit = (lo + s->best) / 2;
        if (!fit(s, limit))
            lo = limit;
    }
}

static bool fits_tightly(struct search *s, double limit)
{
    s->tight = true;
    return fits(s, limit);
}

static bool fits_early(struct search *s, double limit)
{
    s->tight = false;
    return fits(s, limit);
}

/* ---- the other methods ------------------------------------------------------------------------*/
static enum ek_status try_method(struct search *s, const struct moldable_method *m)
{
    timeline_clear(s->timeline);
    TRY(m->choose(s->timeline, s->trial));
    timeline_place_all(s->timeline, s->trial);
    keep(s);
    return EK_OK;
}

struct ranked {
    double hosts; /* reference cores of the nodes that have the GPUs and the memory for the task */
    int place, task;
};

static int fewer_hosts(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->hosts != y->hosts ? (x->hosts < y->hosts ? -1 : 1) : x->place - y->place;
}

/* Tasks that fewest nodes can host come first, otherwise in the timeline's order. */
static enum ek_status sort_by_hosts(struct search *s)
{
    const struct moldable_problem *p = s->timeline->problem;
    struct ranked *rank = ARENA_NEW(&s->timeline->arena, p->ntasks, struct ranked);
    double *hosts = ARENA_NEW(&s->timeline->arena, p->nkinds, double);
    TRY(arena_check(&s->timeline->arena, "%d tasks", p->ntasks));
    for (int k = 0; k < p->nkinds; k++)
        for (int j = 0; j < p->nnodes; j++)
            if (moldable_can_host(&p->kinds[k], &p->node[j]))
                hosts[k] += p->node[j].cores * p->node[j].factor;
    for (int i = 0; i < p->ntasks; i++) {
        const int task = s->timeline->order[i];
        rank[i] = (struct ranked){hosts[p->kind[task]], i, task};
    }
    qsort(rank, (size_t)p->ntasks, sizeof *rank, fewer_hosts);
    for (int i = 0; i < p->ntasks; i++)
        s->first[i] = rank[i].task;
    return EK_OK;
}

/* If the other methods would take too long: finds some limit that fits, then shorter ones. */
static enum ek_status search_large(struct search *s, double bound)
{
    TRY(sort_by_hosts(s));
    s->packing = packing_open(s->timeline);
    TRY(arena_check(&s->timeline->arena, "%d nodes", s->timeline->problem->nnodes));
    double lo = bound;
    for (double more = 1. / 32; s->best == INFINITY && more <= 1; more *= 2)
        if (!fits(s, bound * (1 + more)))
            lo = bound * (1 + more);
    shorten(s, lo, fits);
    s->packing = NULL;
    return EK_OK;
}

/* One pass over the tasks, and often among the best: for large problems no more is tried. */
static bool is_quick(const struct moldable_method *m)
{
    return m == &moldable_taskp || m == &moldable_datap || m == &moldable_dcts ||
           m == &moldable_waterl;
}

static bool needs_resources(const struct moldable_problem *p)
{
    for (int k = 0; k < p->nkinds; k++)
        if (moldable_needs_resources(&p->kinds[k]))
            return true;
    return false;
}

static enum ek_status search(struct search *s)
{
    const struct moldable_problem *p = s->timeline->problem;
    const double bound = moldable_bound(p);
    if (isnan(bound))
        return EK_UNAVAILABLE;
    const double looks = (double)p->ntasks * s->timeline->ngroups * s->timeline->widest;
    const bool large = looks > LARGE;
    const bool packed = large && packing_applies(p);
    if (packed)
        TRY(search_large(s, bound));
    const bool enough = s->best <= (needs_resources(p) ? ENOUGH * bound : DBL_MAX);
    for (int i = 0; moldable_methods[i] && !enough && s->best > bound * CLOSE; i++)
        if (moldable_methods[i] != &moldable_evenkeel && (!large || is_quick(moldable_methods[i])))
            TRY(try_method(s, moldable_methods[i]));
    if (enough || packed || (large && !s->independent)) /* a common limit suits no chain of tasks */
        return EK_OK;
    if (!large)
        shorten(s, bound, fits_tightly);
    shorten(s, bound, fits_early);
    if (patterns_apply(p))
        shorten(s, bound, patterns_fit);
    if (exact_applies(p) && s->best > bound * CLOSE &&
        exact_search(s->timeline, s->best, s->trial, EXACT_STEPS)) {
        timeline_place_all(s->timeline, s->trial);
        keep(s);
    }
    return EK_OK;
}

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    const struct moldable_problem *p = timeline->problem;
    struct search s = {
        .timeline = timeline, .choice = choice, .best = INFINITY, .independent = true};
    s.trial = ARENA_NEW(&timeline->arena, p->ntasks, struct moldable_choice);
    s.first = ARENA_NEW(&timeline->arena, p->ntasks, int);
    s.queue = ARENA_NEW(&timeline->arena, p->ntasks, int);
    s.old = ARENA_NEW(&timeline->arena, p->ntasks, int);
    s.least = ARENA_NEW(&timeline->arena, p->ntasks, int);
    s.failed = ARENA_NEW(&timeline->arena, p->ntasks, int);
    TRY(arena_check(&timeline->arena, "%d tasks", p->ntasks));
    for (int k = 0; k < p->nkinds; k++)
        s.independent = s.independent && !p->kinds[k].nafter;
    return search(&s);
}

const struct moldable_method moldable_evenkeel = {
    .name = "evenkeel",
    .summary = "the best of all others, shortened by a search over limits of the makespan",
    .choose = choose,
};
