/* cu/moldable/exact.c – branch and bound over the tasks in the order of their starts, each as early
 * as its resources allow and on the cores that are free first. Some optimal schedule has this form:
 * a task that starts later may have any of the cores that are free by then. */
#include "cu/moldable/exact.h"
#include "src/sort.h"

struct place {
    int task, node, width;
    double start, finish;
};

struct exact {
    const struct timeline *timeline;
    const struct moldable_problem *p;
    double free[EXACT_CORES]; /* ascending in each node */
    bool placed[EXACT_TASKS];
    double work[EXACT_TASKS]; /* least p t(p) */
    double tail[EXACT_TASKS]; /* least t(p) on any node, and of the tasks that must follow */
    double best;
    struct place trial[EXACT_TASKS];
    struct moldable_choice *choice;
    long steps;
};

bool exact_applies(const struct moldable_problem *p)
{
    int cores = 0;
    for (int j = 0; j < p->nnodes && cores <= EXACT_CORES; j++)
        cores += p->node[j].cores;
    for (int k = 0; k < p->nkinds; k++)
        if (p->kinds[k].cluster)
            return false;
    return p->ntasks <= EXACT_TASKS && cores <= EXACT_CORES;
}

static const struct moldable_kind *kind_of(const struct exact *x, int task)
{
    return &x->p->kinds[x->p->kind[task]];
}

static double seconds_on(const struct exact *x, int task, int node, int w)
{
    const struct moldable_node *n = &x->p->node[node];
    return timeline_seconds(x->timeline, x->p->kind[task], n->cores, w) / n->factor;
}

/* The most cores of the node that a task of the kind can use; 0 = none. */
static int most(const struct moldable_kind *k, const struct moldable_node *n)
{
    return moldable_can_host(k, n) ? moldable_most(k, n->cores) : 0;
}

SORT_BY(earlier_finish, struct place, SORT_UP(finish))

/* A lower bound for all schedules that continue this one: the remaining work spread over all cores
 * from `since` on, and the longest chain of remaining tasks. */
static double least_end(const struct exact *x, double since)
{
    double work = 0, end = 0, until = 0;
    for (int i = 0; i < x->p->ntasks; i++)
        if (!x->placed[i]) {
            work += x->work[i];
            end = fmax(end, since + x->tail[i]);
        }
    for (int j = 0; j < x->p->nnodes; j++)
        for (int c = 0; c < x->p->node[j].cores; c++)
            until += x->p->node[j].factor * fmax(since, x->free[x->timeline->first[j] + c]);
    return fmax(end, (until + work) / x->timeline->power);
}

/* When all tasks have ended that must be done first; INFINITY: some are not placed yet. */
static double dependencies_end(const struct exact *x, int task, int depth)
{
    const struct moldable_kind *k = kind_of(x, task);
    double end = 0;
    for (int a = 0; a < k->nafter; a++) {
        for (int i = 0; i < x->p->ntasks; i++)
            if (!x->placed[i] && x->p->kind[i] == k->after[a])
                return INFINITY;
        for (int i = 0; i < depth; i++)
            if (x->p->kind[x->trial[i].task] == k->after[a])
                end = fmax(end, x->trial[i].finish);
    }
    return end;
}

/* The earliest time from `from` on at which the node has the GPUs and the memory for the task. None
 * of the tasks placed so far starts later. */
static double resources_free(const struct exact *x, int task, int node, int depth, double from)
{
    const struct moldable_kind *k = kind_of(x, task);
    const struct moldable_node *n = &x->p->node[node];
    for (bool free = !moldable_needs_resources(k); !free;) {
        int gpus = k->gpus;
        double memory = k->memory, next = INFINITY;
        for (int i = 0; i < depth; i++)
            if (x->trial[i].node == node && x->trial[i].finish > from) {
                gpus += kind_of(x, x->trial[i].task)->gpus;
                memory += kind_of(x, x->trial[i].task)->memory;
                next = fmin(next, x->trial[i].finish);
            }
        free = next == INFINITY ||
               (gpus <= n->gpus && (!(n->memory > 0) || memory <= n->memory * (1 + 1e-12)));
        from = free ? from : next;
    }
    return from;
}

/* Appends the places of the task, which starts no earlier than those before it. */
static int list_places(const struct exact *x, int task, int depth, double since,
                       struct place *place, int n)
{
    const struct moldable_kind *k = kind_of(x, task);
    since = fmax(since, dependencies_end(x, task, depth));
    for (int j = 0; j < x->p->nnodes && since < INFINITY; j++) {
        const double *free = x->free + x->timeline->first[j];
        for (int w = moldable_fewest(k), widest = most(k, &x->p->node[j]); w <= widest; w++) {
            const double start = resources_free(x, task, j, depth, fmax(since, free[w - 1]));
            const double finish = start + seconds_on(x, task, j, w);
            if (finish < x->best * (1 - 1e-9))
                place[n++] = (struct place){task, j, w, start, finish};
        }
    }
    return n;
}

static void descend(struct exact *x, int depth, double since, double makespan);

static void try_place(struct exact *x, const struct place *at, int depth, double makespan)
{
    double *free = x->free + x->timeline->first[at->node], saved[EXACT_CORES];
    const int n = x->p->node[at->node].cores;
    memcpy(saved, free, (size_t)n * sizeof *free);
    timeline_take(free, n, at->width, at->finish);
    x->placed[at->task] = true;
    x->trial[depth] = *at;
    descend(x, depth + 1, at->start, fmax(makespan, at->finish));
    x->placed[at->task] = false;
    memcpy(free, saved, (size_t)n * sizeof *free);
}

/* Is the task the first of its kind that is left? The others need not be tried in its place. */
static bool stands_for_others(const struct exact *x, int task)
{
    for (int i = 0; i < task; i++)
        if (!x->placed[i] && x->p->kind[i] == x->p->kind[task])
            return false;
    return !x->placed[task];
}

static void descend(struct exact *x, int depth, double since, double makespan)
{
    struct place place[EXACT_TASKS * EXACT_CORES];
    int n = 0;
    if (fmax(makespan, least_end(x, since)) >= x->best * (1 - 1e-9) || x->steps-- < 0)
        return;
    if (depth == x->p->ntasks) {
        x->best = makespan;
        for (int i = 0; i < depth; i++)
            x->choice[i] = (struct moldable_choice){x->trial[i].task, x->trial[i].node,
                                                    x->trial[i].width, x->trial[i].width - 1};
        return;
    }
    for (int i = 0; i < x->p->ntasks; i++)
        if (stands_for_others(x, i))
            n = list_places(x, i, depth, since, place, n);
    qsort(place, (size_t)n, sizeof *place, earlier_finish);
    for (int i = 0; i < n; i++)
        try_place(x, &place[i], depth, makespan);
}

/* Kinds stand behind those that they depend on. */
static void find_tails(struct exact *x)
{
    for (int i = x->p->ntasks - 1; i >= 0; i--) {
        const struct moldable_kind *k = kind_of(x, i);
        double after = 0;
        x->work[i] = x->tail[i] = INFINITY;
        for (int j = 0; j < x->p->nnodes; j++)
            for (int w = moldable_fewest(k), widest = most(k, &x->p->node[j]); w <= widest; w++) {
                const double t = seconds_on(x, i, j, w);
                x->work[i] = fmin(x->work[i], w * t * x->p->node[j].factor);
                x->tail[i] = fmin(x->tail[i], t);
            }
        for (int d = i + 1; d < x->p->ntasks; d++)
            for (int a = 0; a < kind_of(x, d)->nafter; a++)
                if (kind_of(x, d)->after[a] == x->p->kind[i])
                    after = fmax(after, x->tail[d]);
        x->tail[i] += after;
    }
}

bool exact_search(struct timeline *timeline, double best, struct moldable_choice *choice)
{
    struct exact x = {.timeline = timeline,
                      .p = timeline->problem,
                      .best = best,
                      .choice = choice,
                      .steps = EXACT_STEPS};
    timeline_clear(timeline);
    memcpy(x.free, timeline->free, (size_t)timeline->first[x.p->nnodes] * sizeof *x.free);
    find_tails(&x);
    descend(&x, 0, 0, 0);
    return x.best < best;
}
