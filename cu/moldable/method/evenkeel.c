/* cu/moldable/method/evenkeel.c – our own method: the best schedule of all other methods, of lists
 * with up to so many cores a task, and for tasks that depend on one another of chains.h; then a
 * search for a shorter one. Under a limit on the makespan every task takes the place with the least
 * work (core seconds), and of those the one with the smallest gap below the limit; a task that
 * finds no place goes to the front of the queue with more cores, and all tasks are placed again.
 * The limit is bisected down to the lower bound. Where GPUs or memory are scarce they are given a
 * price in cores, which rises until all tasks find a place. Where neighbours slow tasks down, the
 * best of all is chosen by the neighbours that each task has in the finished plan. */
#include "cu/moldable/chains.h"
#include "cu/moldable/exact.h"
#include "cu/moldable/packing.h"
#include "cu/moldable/timeline.h"
#include "src/sort.h"

enum { FEW = 200, ROUNDS = 24, PACK_ROUNDS = 4, BISECTIONS = 24 };
static const double CLOSE = 1.0005; /* times the bound: close enough to stop, */
static const double NEAR = 1.002;   /* in packing with GPUs or memory, where a limit takes longer */
static const double ENOUGH = 1.1;   /* and to leave out other methods then */
static const double EFFORT = 1e8;   /* cores looked at in the whole search: about a second */
static const double LARGE = 2e7;    /* more in one pass of a method are too many */
static const double CHEAP = 1. / 32; /* the first price of all GPUs or memory, per core */

#define MOLDABLE(symbol) extern const struct moldable_method moldable_##symbol;
#include "cu/moldable/moldable_list.h"
#undef MOLDABLE

static const struct moldable_method *const all_methods[] = {
#define MOLDABLE(symbol) &moldable_##symbol,
#include "cu/moldable/moldable_list.h"
#undef MOLDABLE
    NULL,
};

/* GPUs or memory of all nodes, in packing. */
struct resource {
    double all;    /* sum over the nodes, each times its speed */
    double used;   /* seconds of it that are used, on a node as fast as the reference */
    double price;  /* cores that one of them is worth */
    double enough; /* the price at which all tasks found a place */
};

struct search {
    struct timeline *timeline;
    struct moldable_choice *choice, *trial;
    double best; /* makespan of choice while all other cores are busy */
    /* [ntasks] of all complete choices the one with the least makespan beside the neighbours that
     * it has; NULL: they do not matter */
    struct moldable_choice *settled;
    double shortest; /* that makespan */
    double slack;    /* how many times as long a schedule takes at most while all others are busy */
    int *first;      /* [ntasks] the order in which tasks are placed */
    int *queue;      /* [ntasks] by descending `least`, then in that order */
    int *old;        /* [ntasks] the queue before it is sorted */
    int *least;      /* [ntasks] fewest cores (nodes) that a task may take */
    int *failed;     /* [ntasks] tasks that found no place in a round */
    double effort;
    struct resource gpus, memory;
    struct packing *packing; /* NULL: look at every group of nodes for every task */
    bool scarce;             /* some task needs GPUs or memory */
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

/* The scarcer of GPUs and memory that the task needs and that nodes have a limited number of;
 * NULL: none. */
static struct resource *scarcer(struct search *s, int task)
{
    const struct moldable_kind *k = &s->timeline->problem->kinds[s->timeline->problem->kind[task]];
    struct resource *memory = k->memory > 0 && s->memory.all > 0 ? &s->memory : NULL;
    if (!k->gpus)
        return memory;
    const bool gpus = !memory || s->gpus.used * s->memory.all > s->memory.used * s->gpus.all;
    return gpus ? &s->gpus : memory;
}

/* The cores on which a task is cheapest at the prices of GPUs and memory. */
static int cheapest(const struct search *s, int kind)
{
    const struct timeline *l = s->timeline;
    const struct moldable_kind *k = &l->problem->kinds[kind];
    const double price = s->gpus.price * k->gpus + s->memory.price * k->memory;
    double least = INFINITY;
    int best = 1;
    for (int w = moldable_fewest(k); w <= moldable_most(k, l->widest); w++) {
        const double cost = (w + price) * timeline_seconds(l, kind, l->widest, w);
        if (cost < least) {
            least = cost;
            best = w;
        }
    }
    return best;
}

static void set_widths(struct search *s)
{
    for (int i = 0; i < s->timeline->problem->ntasks; i++)
        if (scarcer(s, i))
            s->least[i] = cheapest(s, s->timeline->problem->kind[i]);
}

/* Some task found no place for lack of it: it becomes more expensive, so that tasks which need it
 * become wider and so shorter. */
static void raise_price(struct search *s, struct resource *r)
{
    r->price = r->price > 0 ? 2 * r->price : CHEAP * s->timeline->power / r->all;
    set_widths(s);
}

static bool pack(struct search *s, int task, struct moldable_choice *choice)
{
    const int kind = s->timeline->problem->kind[task];
    const struct moldable_kind *k = &s->timeline->problem->kinds[kind];
    if (!packing_place(s->packing, task, s->least[task], choice) &&
        !(scarcer(s, task) && packing_place(s->packing, task, 1, choice)))
        return false;
    const double seconds = timeline_seconds(s->timeline, kind, s->timeline->widest, choice->width);
    s->gpus.used += k->gpus * seconds;
    s->memory.used += k->memory * seconds;
    return true;
}

/* One round with the tree, which looks at whole vectors of cores; returns how many were placed. It
 * ends at the first task that finds no place and needs GPUs or memory. */
static int pack_all(struct search *s, double limit, int *failed, int *nfailed)
{
    const int n = s->timeline->problem->ntasks;
    int nplaced = 0;
    *nfailed = 0;
    s->gpus.used = s->memory.used = 0;
    packing_begin(s->packing, limit);
    s->effort += s->timeline->problem->nnodes * (double)s->timeline->widest;
    for (int i = 0; i < n && !(*nfailed && scarcer(s, failed[*nfailed - 1])); i++) {
        s->effort += s->timeline->widest;
        if (pack(s, s->queue[i], &s->trial[nplaced]))
            nplaced++;
        else
            failed[(*nfailed)++] = s->queue[i];
    }
    if (nplaced == n)
        timeline_place_all(s->timeline, s->trial);
    return nplaced;
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

static void begin_rounds(struct search *s, const int *order)
{
    const int n = s->timeline->problem->ntasks;
    memcpy(s->queue, order, (size_t)n * sizeof *s->queue);
    for (int i = 0; i < n; i++)
        s->least[i] = 1;
}

static bool fits(struct search *s, double limit)
{
    begin_rounds(s, s->timeline->order);
    for (int round = 0; round < ROUNDS && s->effort < EFFORT; round++) {
        int nfailed = place_all(s, limit, s->failed);
        if (!nfailed)
            keep(s);
        if (nfailed <= 0 || !widen(s, s->failed, nfailed))
            return !nfailed;
    }
    return false;
}

/* Rounds of packing: prices rise as long as that places more tasks. */
static bool packs(struct search *s, double limit)
{
    int most = -1, failed;
    begin_rounds(s, s->first);
    s->gpus.price = s->gpus.enough / 2;
    s->memory.price = s->memory.enough / 2;
    set_widths(s);
    for (int round = 0, stale = 0; round < PACK_ROUNDS && stale < 2 && s->effort < EFFORT;) {
        const int placed = pack_all(s, limit, s->failed, &failed);
        if (!failed) {
            s->gpus.enough = s->gpus.price;
            s->memory.enough = s->memory.price;
            keep(s);
            return true;
        }
        struct resource *scarce = scarcer(s, s->failed[failed - 1]);
        if (scarce) {
            stale = placed > most ? 0 : stale + 1;
            most = placed > most ? placed : most;
            raise_price(s, scarce);
        } else if (round++, !widen(s, s->failed, failed)) {
            return false;
        }
    }
    return false;
}

/* ---- the search -------------------------------------------------------------------------------*/
static void shorten(struct search *s, double bound, bool (*fit)(struct search *, double limit))
{
    double lo = bound;
    const double close = s->packing && s->scarce ? NEAR : CLOSE;
    for (int i = 0; i < BISECTIONS && s->best > lo * close && s->effort < EFFORT; i++) {
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
static enum ek_status settle(struct search *s, const struct moldable_choice *choice)
{
    double makespan;
    TRY(moldable_makespan(s->timeline, choice, &makespan));
    if (makespan < s->shortest) {
        s->shortest = makespan;
        memcpy(s->settled, choice, (size_t)s->timeline->problem->ntasks * sizeof *choice);
    }
    return EK_OK;
}

static void begin_trial(struct search *s)
{
    timeline_clear(s->timeline);
    s->timeline->useless = s->settled ? s->shortest * s->slack : s->best;
}

static enum ek_status end_trial(struct search *s)
{
    s->timeline->useless = INFINITY;
    if (s->timeline->gave_up)
        return EK_OK;
    timeline_place_all(s->timeline, s->trial);
    keep(s);
    return s->settled ? settle(s, s->trial) : EK_OK;
}

static enum ek_status try_method(struct search *s, const struct moldable_method *m)
{
    begin_trial(s);
    TRY(m->choose(s->timeline, s->trial));
    return end_trial(s);
}

/* Each task where it ends first, on up to 2, 4, 8, … cores, and on any number. */
static enum ek_status try_widths(struct search *s)
{
    const int n = s->timeline->problem->ntasks, widest = s->timeline->widest;
    for (int most = 2; most < 2 * widest; most *= 2) {
        for (int i = 0; i < n; i++)
            s->old[i] = most;
        begin_trial(s);
        timeline_list(s->timeline, s->old, s->trial);
        TRY(end_trial(s));
    }
    return EK_OK;
}

struct ranked {
    double hosts; /* reference cores of the nodes that have the GPUs and the memory for the task */
    int place, task;
};

SORT_BY(fewer_hosts, struct ranked, SORT_UP(hosts) ?: SORT_UP(place))

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

/* If the other methods would take too long, or GPUs or memory may be scarce: finds some limit that
 * fits, then shorter ones. */
static enum ek_status search_packing(struct search *s, double bound)
{
    const struct moldable_problem *p = s->timeline->problem;
    for (int j = 0; j < p->nnodes; j++) {
        s->gpus.all += p->node[j].gpus * p->node[j].factor;
        s->memory.all += p->node[j].memory * p->node[j].factor;
    }
    TRY(sort_by_hosts(s));
    s->packing = packing_open(s->timeline);
    TRY(arena_check(&s->timeline->arena, "%d nodes", p->nnodes));
    double lo = bound;
    for (double more = 1. / 32; s->best == INFINITY && more <= 8; more *= s->scarce ? 4 : 2)
        if (!packs(s, bound * (1 + more)))
            lo = bound * (1 + more);
    shorten(s, lo, packs);
    s->packing = NULL;
    return EK_OK;
}

/* One pass over the tasks each, and often among the best: for large problems no more is tried. The
 * first ones mostly set a makespan that the others exceed soon, which ends them. */
static const struct moldable_method *const quick_methods[] = {
    &moldable_datap, &moldable_dcts, &moldable_waterl, &moldable_taskp, NULL};

static const struct moldable_method chains = {"chains", "widths by chains", chains_choose};

static enum ek_status search(struct search *s)
{
    const struct moldable_problem *p = s->timeline->problem;
    const double bound = moldable_bound(p);
    if (isnan(bound))
        return EK_UNAVAILABLE;
    const double looks = (double)p->ntasks * s->timeline->ngroups * s->timeline->widest;
    const bool large = looks > LARGE;
    const bool packed = (large || s->scarce) && packing_applies(p);
    if (packed)
        TRY(search_packing(s, bound));
    const bool enough = large && s->best < (s->scarce ? ENOUGH * bound : INFINITY);
    if (!s->independent)
        TRY(try_method(s, &chains));
    const struct moldable_method *const *method = large ? quick_methods : all_methods;
    for (int i = 0; method[i] && !enough && s->best > bound * CLOSE; i++)
        if (method[i] != &moldable_evenkeel)
            TRY(try_method(s, method[i]));
    if (!large && s->best > bound * CLOSE)
        TRY(try_widths(s));
    /* A common limit suits no chain of many tasks. */
    if ((large && packed) || (!s->independent && (large || p->ntasks > FEW)))
        return EK_OK;
    if (!large)
        shorten(s, bound, fits_tightly);
    shorten(s, bound, fits_early);
    if (exact_applies(p) && s->best > bound * CLOSE &&
        exact_search(s->timeline, s->best, s->trial)) {
        timeline_place_all(s->timeline, s->trial);
        keep(s);
    }
    return EK_OK;
}

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    const struct moldable_problem *p = timeline->problem;
    struct search s = {.timeline = timeline,
                       .choice = choice,
                       .best = INFINITY,
                       .shortest = INFINITY,
                       .slack = 1,
                       .independent = moldable_independent(p)};
    s.trial = ARENA_NEW(&timeline->arena, p->ntasks, struct moldable_choice);
    s.first = ARENA_NEW(&timeline->arena, p->ntasks, int);
    s.queue = ARENA_NEW(&timeline->arena, p->ntasks, int);
    s.old = ARENA_NEW(&timeline->arena, p->ntasks, int);
    s.least = ARENA_NEW(&timeline->arena, p->ntasks, int);
    s.failed = ARENA_NEW(&timeline->arena, p->ntasks, int);
    if (moldable_neighbours_matter(p))
        s.settled = ARENA_NEW(&timeline->arena, p->ntasks, struct moldable_choice);
    TRY(arena_check(&timeline->arena, "%d tasks", p->ntasks));
    for (int k = 0; k < p->nkinds; k++) {
        s.scarce = s.scarce || moldable_needs_resources(&p->kinds[k]);
        s.slack = fmax(s.slack, 1 + p->kinds[k].interference);
    }
    TRY(search(&s));
    if (s.settled) {
        TRY(settle(&s, choice));
        memcpy(choice, s.settled, (size_t)p->ntasks * sizeof *choice);
    }
    return EK_OK;
}

const struct moldable_method moldable_evenkeel = {
    .name = "evenkeel",
    .summary = "the best of all others, shortened by a search over limits of the makespan",
    .choose = choose,
};
