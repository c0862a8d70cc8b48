/* cu/moldable/chains.c – widths by chains of kinds, and the order in which tasks start. */
#include "cu/moldable/chains.h"
#include "src/random.h"
#include "src/sort.h"

/* Rounds of the search for widths; a kind weighs by this power of its chain's share of the longest
 * one; changes that are tried after it, and starts of tasks in all their trials. */
enum { ROUNDS = 24, SHARPNESS = 6, TRIALS = 2000, EFFORT = 1000000 };

/* A kind on its present width. */
struct link {
    int width, count;
    int needs;             /* kinds before it that have tasks */
    double key;            /* of those that are ready the largest comes first */
    int left, done, waits; /* tasks not started; ended; kinds before it that are not done */
    double seconds;        /* of one task, */
    double share;          /* and its part of the machine */
    double length, work;   /* of all: s if it has the machine to itself; s of the whole machine */
    double head, tail;     /* s: the longest chain up to its start, and from its end on */
};

struct chains {
    struct timeline *timeline;
    const struct moldable_problem *problem;
    struct link *link; /* [nkinds] */
    int *slots;        /* [widest] tasks of width w at a time at [w-1] */
    double speed;      /* of a core, on average */
    double longest, work;
};

static double seconds_on(const struct chains *c, int kind, int w)
{
    return timeline_seconds(c->timeline, kind, c->timeline->widest, w) / c->speed;
}

static void set_width(struct chains *c, int kind, int w)
{
    struct link *k = &c->link[kind];
    k->width = w;
    k->seconds = seconds_on(c, kind, w);
    k->share = 1. / c->slots[w - 1];
    k->length = k->seconds * ceil(k->count * k->share * (1 - 1e-9));
    k->work = k->seconds * k->count * k->share;
}

/* The nearest width to w that tasks of the kind can have. */
static void try_width(struct chains *c, int kind, int w)
{
    const struct moldable_kind *k = &c->problem->kinds[kind];
    const int fewest = moldable_fewest(k), most = moldable_most(k, c->timeline->widest);
    w = w > most ? most : w < fewest ? fewest : w;
    if (isfinite(seconds_on(c, kind, w)))
        set_width(c, kind, w);
}

/* The width with the least work plus `weight` times the length; ties: the widest. */
static void choose_width(struct chains *c, int kind, double weight)
{
    const struct moldable_kind *k = &c->problem->kinds[kind];
    double least = INFINITY;
    int best = 1;
    for (int w = moldable_fewest(k); w <= moldable_most(k, c->timeline->widest); w++) {
        set_width(c, kind, w);
        const double cost = c->link[kind].work + weight * c->link[kind].length;
        if (isfinite(cost) && cost <= least * (1 + 1e-9)) {
            least = fmin(cost, least);
            best = w;
        }
    }
    set_width(c, kind, best);
}

/* Heads, tails, the longest chain and all work. */
static void measure(struct chains *c)
{
    const int n = c->problem->nkinds;
    c->longest = c->work = 0;
    for (int k = 0; k < n; k++) {
        struct link *x = &c->link[k];
        x->head = x->tail = 0;
        for (int a = 0; a < c->problem->kinds[k].nafter; a++) {
            const struct link *before = &c->link[c->problem->kinds[k].after[a]];
            x->head = fmax(x->head, before->head + before->length);
        }
        c->longest = fmax(c->longest, x->head + x->length);
        c->work += x->work;
    }
    for (int k = n - 1; k >= 0; k--)
        for (int a = 0; a < c->problem->kinds[k].nafter; a++) {
            double *tail = &c->link[c->problem->kinds[k].after[a]].tail;
            *tail = fmax(*tail, c->link[k].tail + c->link[k].length);
        }
}

/* Time weighs the more, the longer the chain through a kind; its weight is searched for that makes
 * the longest chain and the work equal. */
static void choose_widths(struct chains *c, int *best)
{
    double weight = 1e-6, step = 16, least = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < c->problem->nkinds; k++) {
            const struct link *x = &c->link[k];
            const double share = round ? (x->head + x->length + x->tail) / c->longest : 1;
            choose_width(c, k, weight * pow(share, SHARPNESS));
        }
        measure(c);
        for (int k = 0; k < c->problem->nkinds && fmax(c->longest, c->work) < least; k++)
            best[k] = c->link[k].width;
        least = fmin(least, fmax(c->longest, c->work));
        step = c->longest > c->work && step == 16 ? 16 : sqrt(step);
        weight *= c->longest > c->work ? step : 1 / step;
    }
    for (int k = 0; k < c->problem->nkinds; k++)
        set_width(c, k, best[k]);
    measure(c);
    for (int k = 0; k < c->problem->nkinds; k++)
        c->link[k].key = c->link[k].length + c->link[k].tail;
}

/* ---- the order --------------------------------------------------------------------------------*/
/* Tasks of a kind that run, by when they end, or kinds that are ready, by how long their chains
 * are. The next one is last. */
struct batch {
    double key;
    int kind, n;
};

static void insert(struct batch *list, int *n, struct batch b)
{
    int lo = 0, hi = *n;
    SORT_BISECT(lo, hi,
                list[middle].key < b.key ||
                    (list[middle].key == b.key && list[middle].kind > b.kind))
    memmove(list + lo + 1, list + lo, (size_t)((*n)++ - lo) * sizeof *list);
    list[lo] = b;
}

/* Numbers of tasks by kind, or of kinds by one that they depend on: those of k are number[first[k]]
 * up to number[first[k + 1] - 1]. */
struct index {
    int *first, *number;
};

struct pool {
    struct chains *c;
    struct index tasks, behind;
    struct batch *running, *ready;
    int nrunning, nready;
    double idle; /* share of the machine */
    int *order, n;
    long starts;
};

static void make_ready(struct pool *p, int kind)
{
    insert(p->ready, &p->nready, (struct batch){p->c->link[kind].key, kind, 0});
}

/* Starts as many tasks as there are idle cores for. */
static void start(struct pool *p, double now)
{
    for (int i = p->nready - 1; i >= 0 && p->idle > 0; i--) {
        const int kind = p->ready[i].kind;
        struct link *x = &p->c->link[kind];
        const int room = (int)(p->idle / x->share), n = room < x->left ? room : x->left;
        for (int t = 0; t < n; t++)
            p->order[p->n++] = p->tasks.number[p->tasks.first[kind] + x->count - x->left + t];
        x->left -= n;
        p->idle -= n * x->share;
        p->starts++;
        if (n)
            insert(p->running, &p->nrunning, (struct batch){-(now + x->seconds), kind, n});
        if (!x->left)
            memmove(p->ready + i, p->ready + i + 1, (size_t)(--p->nready - i) * sizeof *p->ready);
    }
}

static void end(struct pool *p, const struct batch *b)
{
    struct link *x = &p->c->link[b->kind];
    p->idle += b->n * x->share;
    x->done += b->n;
    for (int i = p->behind.first[b->kind]; x->done == x->count && i < p->behind.first[b->kind + 1];
         i++)
        if (!--p->c->link[p->behind.number[i]].waits)
            make_ready(p, p->behind.number[i]);
}

/* Runs all tasks in the pool, notes their order, and returns the makespan. */
static double run(struct pool *p)
{
    double now = 0;
    p->n = 0;
    p->starts = 0;
    p->idle = 1 + 1e-9;
    for (int k = 0; k < p->c->problem->nkinds; k++) {
        struct link *x = &p->c->link[k];
        x->left = x->count;
        x->done = 0;
        x->waits = x->needs;
        if (!x->waits && x->count)
            make_ready(p, k);
    }
    for (start(p, 0); p->nrunning; start(p, now)) {
        now = -p->running[p->nrunning - 1].key;
        while (p->nrunning && p->running[p->nrunning - 1].key == -now)
            end(p, &p->running[--p->nrunning]);
    }
    return now;
}

/* Changes the width or the place in the order of one kind after another, as long as that makes the
 * pool end no later. */
static void improve(struct pool *p)
{
    struct chains *c = p->c;
    const int n = c->problem->nkinds;
    uint64_t random = 1;
    double best = run(p);
    for (long trial = 0, effort = 0; trial < TRIALS && effort < EFFORT; trial++) {
        const int k = (int)random_below(&random, (uint64_t)n);
        const struct link before = c->link[k];
        const uint64_t what = random_below(&random, 4);
        if (what < 2)
            c->link[k].key *= what ? 2 : 0.5;
        else
            try_width(c, k, what == 2 ? 2 * before.width : before.width / 2);
        const double end = run(p);
        effort += p->starts;
        if (end > best) {
            c->link[k].key = before.key;
            set_width(c, k, before.width);
        } else {
            best = end;
        }
    }
    run(p);
}

/* ---- all --------------------------------------------------------------------------------------*/
/* first [n + 1] holds how many numbers each of n has, at k + 1: makes it the places where they
 * begin. */
static void add_up(int *first, int n)
{
    for (int k = 0; k < n; k++)
        first[k + 1] += first[k];
}

static void index_tasks(struct pool *p)
{
    const struct moldable_problem *m = p->c->problem;
    for (int i = 0; i < m->ntasks; i++)
        p->tasks.first[m->kind[i] + 1]++;
    add_up(p->tasks.first, m->nkinds);
    for (int i = 0; i < m->ntasks; i++) {
        struct link *x = &p->c->link[m->kind[i]];
        p->tasks.number[p->tasks.first[m->kind[i]] + x->count++] = i;
    }
}

/* Kinds without tasks keep nobody waiting. */
static void index_chains(struct pool *p)
{
    const struct moldable_problem *m = p->c->problem;
    struct link *link = p->c->link;
    for (int k = 0; k < m->nkinds; k++)
        for (int a = 0; a < m->kinds[k].nafter; a++)
            p->behind.first[m->kinds[k].after[a] + 1]++;
    add_up(p->behind.first, m->nkinds);
    for (int k = m->nkinds - 1; k >= 0; k--)
        for (int a = 0; a < m->kinds[k].nafter; a++) {
            const int before = m->kinds[k].after[a];
            p->behind.number[p->behind.first[before] + link[before].done++] = k;
            link[k].needs += link[before].count > 0;
        }
}

static enum ek_status open_chains(struct chains *c, struct pool *p)
{
    const struct moldable_problem *m = c->problem;
    struct arena *arena = &c->timeline->arena;
    size_t nafter = 0;
    for (int k = 0; k < m->nkinds; k++)
        nafter += (size_t)m->kinds[k].nafter;
    c->link = ARENA_NEW(arena, m->nkinds, struct link);
    c->slots = ARENA_NEW(arena, c->timeline->widest, int);
    p->tasks =
        (struct index){ARENA_NEW(arena, m->nkinds + 1, int), ARENA_NEW(arena, m->ntasks, int)};
    p->behind = (struct index){ARENA_NEW(arena, m->nkinds + 1, int), ARENA_NEW(arena, nafter, int)};
    p->running = ARENA_NEW(arena, m->ntasks, struct batch);
    p->ready = ARENA_NEW(arena, m->nkinds, struct batch);
    p->order = ARENA_NEW(arena, m->ntasks, int);
    TRY(arena_check(arena, "chains of %d tasks", m->ntasks));
    for (int j = 0; j < m->nnodes; j++)
        for (int w = 1; w <= m->node[j].cores; w++)
            c->slots[w - 1] += m->node[j].cores / w;
    c->speed = c->timeline->power / c->timeline->first[m->nnodes];
    index_tasks(p);
    index_chains(p);
    return EK_OK;
}

enum ek_status chains_choose(struct timeline *l, struct moldable_choice *choice)
{
    struct chains c = {.timeline = l, .problem = l->problem};
    struct pool p = {.c = &c};
    TRY(open_chains(&c, &p));
    int *best = ARENA_NEW(&l->arena, l->problem->nkinds, int);
    TRY(arena_check(&l->arena, "widths"));
    choose_widths(&c, best);
    improve(&p);
    for (int i = 0; i < p.n && !timeline_gives_up(l); i++) {
        const int kind = l->problem->kind[p.order[i]];
        const int most = l->problem->kinds[kind].cluster ? 0 : c.link[kind].width;
        choice[i] = timeline_earliest(l, p.order[i], most);
        timeline_place(l, &choice[i]);
    }
    return EK_OK;
}
