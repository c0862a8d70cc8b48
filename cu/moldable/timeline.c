/* cu/moldable/timeline.c – free times of cores, with nodes in the same state grouped. */
#include "cu/moldable/timeline.h"
#include "src/sort.h"

#include <limits.h>

static const double *times(const struct timeline *l, int node)
{
    return l->free + l->first[node];
}

/* ---- GPUs, memory, dependencies and interference ----------------------------------------------*/
/* A node has a lane for each GPU, and these for equal shares of its memory. */
enum { MEMORY_LANES = 840 }; /* a multiple of 1 … 8 */

static int count_lanes(const struct moldable_node *n)
{
    return n->gpus + (n->memory > 0 ? MEMORY_LANES : 0);
}

/* Lanes of the node's memory that a task needs. */
static int memory_lanes(const struct moldable_kind *k, const struct moldable_node *n)
{
    return n->memory > 0 ? (int)ceil(k->memory / n->memory * MEMORY_LANES * (1 - 1e-12)) : 0;
}

double timeline_resources_free(const struct moldable_kind *k, const struct moldable_node *n,
                               const double *lane)
{
    if (!moldable_needs_resources(k))
        return 0;
    if (!moldable_can_host(k, n))
        return INFINITY;
    const int memory = memory_lanes(k, n);
    const double gpus = k->gpus ? lane[k->gpus - 1] : 0;
    return memory ? fmax(gpus, lane[n->gpus + memory - 1]) : gpus;
}

void timeline_take_resources(const struct moldable_kind *k, const struct moldable_node *n,
                             double *lane, double finish)
{
    timeline_take(lane, n->gpus, k->gpus, finish);
    timeline_take(lane + n->gpus, MEMORY_LANES, memory_lanes(k, n), finish);
}

/* When all tasks that those of the kind depend on have ended. */
static double predecessors_done(const struct timeline *l, const struct moldable_kind *k)
{
    double from = 0;
    for (int i = 0; i < k->nafter; i++)
        from = fmax(from, l->done[k->after[i]]);
    return from;
}

/* The earliest start of a task on the node as far as dependencies, which allow `from`, GPUs and
 * memory are concerned; INFINITY: never. */
static double ready(const struct timeline *l, const struct moldable_kind *k, int node, double from)
{
    if (!moldable_needs_resources(k))
        return from;
    return fmax(from,
                timeline_resources_free(k, &l->problem->node[node], l->lane + l->lanes[node]));
}

/* ---- groups of nodes in the same state --------------------------------------------------------*/
static bool alike(const struct timeline *l, int a, int b)
{
    const struct moldable_node *na = &l->problem->node[a], *nb = &l->problem->node[b];
    const int lanes = count_lanes(na);
    return na->cores == nb->cores && na->factor == nb->factor && lanes == count_lanes(nb) &&
           na->gpus == nb->gpus && na->memory == nb->memory &&
           !memcmp(l->lane + l->lanes[a], l->lane + l->lanes[b], (size_t)lanes * sizeof(double)) &&
           !memcmp(times(l, a), times(l, b), (size_t)na->cores * sizeof(double));
}

/* FNV-1a over words, only to skip most calls of alike(). */
static uint64_t state_hash(const struct timeline *l, int node)
{
    const struct moldable_node *n = &l->problem->node[node];
    uint64_t hash = 14695981039346656037u ^ (uint64_t)n->cores, word;
    memcpy(&word, &n->factor, sizeof word);
    hash = (hash ^ word) * 1099511628211u;
    for (int c = 0; c < n->cores; c++) {
        memcpy(&word, times(l, node) + c, sizeof word);
        hash = (hash ^ word ^ hash >> 29) * 1099511628211u;
    }
    return hash;
}

static void join_group(struct timeline *l, int node)
{
    uint64_t hash = state_hash(l, node);
    int g = 0;
    while (g < l->ngroups && (l->group[g].hash != hash || !alike(l, l->group[g].head, node)))
        g++;
    if (g == l->ngroups)
        l->group[l->ngroups++] = (struct timeline_group){hash, -1};
    int *link = &l->group[g].head;
    while (*link >= 0 && *link < node)
        link = &l->next[*link];
    l->next[node] = *link;
    *link = node;
}

/* What links to the node. It is mostly the first of its group, so the heads are searched first. */
static int *link_to(struct timeline *l, int node, int *group)
{
    for (*group = 0; *group < l->ngroups; ++*group)
        if (l->group[*group].head == node)
            return &l->group[*group].head;
    for (*group = 0;; ++*group)
        for (int j = l->group[*group].head; j >= 0 && j < node; j = l->next[j])
            if (l->next[j] == node)
                return &l->next[j];
}

static void leave_group(struct timeline *l, int node)
{
    int g, *link = link_to(l, node, &g);
    *link = l->next[node];
    if (l->group[g].head < 0)
        l->group[g] = l->group[--l->ngroups];
}

/* ---- the order of the tasks ------------------------------------------------------------------*/
double timeline_sequential(const struct moldable_problem *p, int task)
{
    const struct moldable_law *law = &p->kinds[p->kind[task]].law;
    const int least = p->kinds[p->kind[task]].least;
    double t = least > 1 ? least * moldable_seconds(law, least) : moldable_seconds(law, 1);
    for (int w = 2; !isfinite(t) && w <= law->ntable; w++)
        t = w * moldable_seconds(law, w);
    return t;
}

struct ranked {
    double seconds;
    int task;
};

SORT_BY(longer, struct ranked, SORT_DOWN(seconds) ?: SORT_UP(task))

static enum ek_status sort_tasks(struct timeline *l)
{
    const struct moldable_problem *p = l->problem;
    struct ranked *rank = ARENA_NEW(&l->arena, p->ntasks, struct ranked);
    double *level = ARENA_NEW(&l->arena, p->nkinds, double);
    TRY(arena_check(&l->arena, "%d tasks", p->ntasks));
    for (int i = 0; i < p->ntasks; i++)
        level[p->kind[i]] = timeline_sequential(p, i);
    for (int k = p->nkinds - 1; k >= 0; k--) /* those after it stand behind it */
        for (int a = 0; a < p->kinds[k].nafter; a++) {
            const struct moldable_kind *before = &p->kinds[p->kinds[k].after[a]];
            const int b = p->kinds[k].after[a];
            const double alone = moldable_seconds(&before->law, moldable_fewest(before));
            level[b] = fmax(level[b], (isfinite(alone) ? alone : 0) + level[k] * (1 + 1e-9));
        }
    for (int i = 0; i < p->ntasks; i++)
        rank[i] = (struct ranked){level[p->kind[i]], i};
    qsort(rank, (size_t)p->ntasks, sizeof *rank, longer);
    for (int i = 0; i < p->ntasks; i++)
        l->order[i] = rank[i].task;
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/
/* Tabulates t(p) of each kind, because pow() would cost more than the rest of a look at a node, and
 * the least of each block. */
static void tabulate(struct timeline *l)
{
    for (int k = 0; k < l->problem->nkinds; k++) {
        double *seconds = l->seconds + (size_t)k * (size_t)l->widest;
        double *quickest = l->quickest + (size_t)k * TIMELINE_BLOCKS;
        for (int b = 0; b < TIMELINE_BLOCKS; b++)
            quickest[b] = INFINITY;
        for (int p = 1; p <= l->widest; p++) {
            seconds[p - 1] = moldable_seconds(&l->problem->kinds[k].law, p);
            quickest[(p - 1) / l->block] = fmin(quickest[(p - 1) / l->block], seconds[p - 1]);
        }
    }
}

static void note_soonest(struct timeline *l, int node)
{
    double *soonest = l->soonest + (size_t)node * TIMELINE_BLOCKS;
    const int cores = l->problem->node[node].cores;
    for (int b = 0; b < TIMELINE_BLOCKS; b++)
        soonest[b] = b * l->block < cores ? times(l, node)[b * l->block] : INFINITY;
}

enum ek_status timeline_open(struct timeline *l, const struct moldable_problem *p)
{
    size_t nodes = (size_t)p->nnodes, cores = 0, widest = (size_t)moldable_widest(p);
    size_t most = widest > nodes ? widest : nodes;
    size_t lanes = 0;
    for (size_t j = 0; j < nodes; j++) {
        cores += (size_t)p->node[j].cores;
        lanes += (size_t)count_lanes(&p->node[j]);
    }
    *l = (struct timeline){.problem = p,
                           .widest = (int)widest,
                           .narrowest = (int)widest,
                           .useless = INFINITY,
                           .block = ((int)widest + TIMELINE_BLOCKS - 1) / TIMELINE_BLOCKS};
    l->seconds = ARENA_NEW(&l->arena, (size_t)p->nkinds * widest, double);
    l->quickest = ARENA_NEW(&l->arena, (size_t)p->nkinds * TIMELINE_BLOCKS, double);
    l->soonest = ARENA_NEW(&l->arena, nodes * TIMELINE_BLOCKS, double);
    l->taken = ARENA_NEW(&l->arena, widest, int);
    l->first = ARENA_NEW(&l->arena, nodes + 1, int);
    l->lanes = ARENA_NEW(&l->arena, nodes + 1, int);
    l->slowness = ARENA_NEW(&l->arena, nodes, double);
    l->lane = ARENA_NEW(&l->arena, lanes, double);
    l->done = ARENA_NEW(&l->arena, p->nkinds, double);
    l->free = ARENA_NEW(&l->arena, cores, double);
    l->core = ARENA_NEW(&l->arena, cores, int);
    l->group = ARENA_NEW(&l->arena, nodes + 1, struct timeline_group);
    l->next = ARENA_NEW(&l->arena, nodes, int);
    l->sorted = ARENA_NEW(&l->arena, nodes, int);
    l->start = ARENA_NEW(&l->arena, most, double);
    l->finish = ARENA_NEW(&l->arena, most, double);
    l->reach = ARENA_NEW(&l->arena, most, double);
    l->order = ARENA_NEW(&l->arena, p->ntasks, int);
    enum ek_status st = arena_check(&l->arena, "%zu nodes with %zu cores", nodes, cores);
    THEN(st, sort_tasks(l));
    TRY_OR(st, timeline_close(l));
    l->first[0] = l->lanes[0] = 0;
    for (size_t j = 0; j < nodes; j++) {
        l->first[j + 1] = l->first[j] + p->node[j].cores;
        l->lanes[j + 1] = l->lanes[j] + count_lanes(&p->node[j]);
        l->slowness[j] = 1 / p->node[j].factor;
        l->power += p->node[j].cores * p->node[j].factor;
        l->narrowest = p->node[j].cores < l->narrowest ? p->node[j].cores : l->narrowest;
    }
    tabulate(l);
    timeline_clear(l);
    return EK_OK;
}

void timeline_close(struct timeline *l)
{
    arena_free(&l->arena);
}

/* Sorts the node's cores by the times at which they become free initially. */
static void clear_node(struct timeline *l, int node)
{
    const struct moldable_node *n = &l->problem->node[node];
    double *when = l->free + l->first[node];
    int *core = l->core + l->first[node];
    for (int c = 0, at; c < n->cores; c++) {
        const double from = n->free ? n->free[c] : 0;
        for (at = c; at && when[at - 1] > from; at--) {
            when[at] = when[at - 1];
            core[at] = core[at - 1];
        }
        when[at] = from;
        core[at] = c;
    }
    memset(l->lane + l->lanes[node], 0, (size_t)count_lanes(n) * sizeof *l->lane);
}

void timeline_clear(struct timeline *l)
{
    const struct moldable_problem *p = l->problem;
    l->latest = 0;
    l->ngroups = 0;
    l->gave_up = false;
    memset(l->done, 0, (size_t)p->nkinds * sizeof *l->done);
    for (int j = p->nnodes - 1; j >= 0; j--) { /* descending: each becomes its group's head */
        clear_node(l, j);
        note_soonest(l, j);
        join_group(l, j);
    }
}

/* ---- views ------------------------------------------------------------------------------------*/
static const struct moldable_kind *kind_of(const struct timeline *l, int task)
{
    return &l->problem->kinds[l->problem->kind[task]];
}

/* [widest] t(p) of the kind at [p-1]. */
static const double *seconds_of(const struct timeline *l, const struct moldable_kind *k)
{
    return l->seconds + (size_t)(k - l->problem->kinds) * (size_t)l->widest;
}

/* Least seconds of the kind's tasks on each block's widths on a node as fast as the reference. */
static void note_fastest(struct timeline *l, const struct moldable_kind *k)
{
    const double *quickest = l->quickest + (size_t)(k - l->problem->kinds) * TIMELINE_BLOCKS;
    for (int b = 0; b < TIMELINE_BLOCKS; b++) {
        const int last = (b + 1) * l->block < l->narrowest ? (b + 1) * l->block : l->narrowest;
        l->fastest[b] = b * l->block < l->most
                            ? quickest[b] * timeline_slowdown(k, l->narrowest, last)
                            : INFINITY;
    }
}

int timeline_views(struct timeline *l, int task, int most)
{
    const struct moldable_kind *k = kind_of(l, task);
    l->from = predecessors_done(l, k);
    l->most = most ? most : INT_MAX;
    note_fastest(l, k);
    return k->cluster ? l->problem->nclusters : l->ngroups;
}

static double all_free(const struct timeline *l, int node)
{
    return l->free[l->first[node + 1] - 1];
}

static int earlier(const void *a, const void *b, void *timeline)
{
    int x = *(const int *)a, y = *(const int *)b;
    double fx = all_free(timeline, x), fy = all_free(timeline, y);
    return fx != fy ? (fx < fy ? -1 : 1) : (x > y) - (x < y);
}

int timeline_sort_cluster(struct timeline *l, int task, int cluster)
{
    int n = 0;
    for (int j = 0; j < l->problem->nnodes; j++)
        if (l->problem->node[j].cluster == cluster &&
            moldable_can_host(kind_of(l, task), &l->problem->node[j]))
            l->sorted[n++] = j;
    qsort_r(l->sorted, (size_t)n, sizeof *l->sorted, earlier, l);
    return n;
}

static void view_cluster(struct timeline *l, int task, int cluster, struct timeline_view *v)
{
    const struct moldable_kind *k = kind_of(l, task);
    int cores = 0, n = timeline_sort_cluster(l, task, cluster);
    n = n < l->most ? n : l->most;
    double factor = INFINITY, power = 0, from = 0;
    for (int w = 0; w < n; w++) {
        const struct moldable_node *node = &l->problem->node[l->sorted[w]];
        cores += node->cores;
        power += node->cores * node->factor;
        factor = fmin(factor, node->factor);
        from = fmax(from, ready(l, k, l->sorted[w], l->from));
        l->start[w] = fmax(from, all_free(l, l->sorted[w]));
        l->reach[w] = power;
        l->finish[w] = moldable_allows(k, cores)
                           ? l->start[w] + moldable_seconds(&k->law, cores) / factor
                           : INFINITY;
    }
    *v = (struct timeline_view){cluster, n, l->start, l->finish, l->reach, factor};
}

static void view_node(struct timeline *l, const struct moldable_kind *k, int node,
                      struct timeline_view *v)
{
    const struct moldable_node *n = &l->problem->node[node];
    const double *start = times(l, node), *seconds = seconds_of(l, k),
                 from = ready(l, k, node, l->from);
    double *restrict finish = l->finish;
    const double slowness = l->slowness[node];
    int widest = moldable_most(k, n->cores);
    widest = from == INFINITY ? 0 : widest < l->most ? widest : l->most;
    if (from > 0) {
        for (int w = 0; w < widest; w++)
            l->start[w] = start[w] > from ? start[w] : from;
        start = l->start;
    }
    for (int w = 0; w < widest; w++)
        finish[w] = start[w] + seconds[w] * slowness;
    for (int w = 0; w < widest && k->interference > 0; w++)
        finish[w] = start[w] + seconds[w] * slowness * timeline_slowdown(k, n->cores, w + 1);
    for (int w = 0; w < k->least - 1 && w < widest; w++)
        finish[w] = INFINITY;
    *v = (struct timeline_view){node, widest, start, l->finish, NULL, n->factor};
}

void timeline_view(struct timeline *l, int task, int i, struct timeline_view *v)
{
    const struct moldable_kind *k = kind_of(l, task);
    if (k->cluster)
        view_cluster(l, task, i, v);
    else
        view_node(l, k, l->group[i].head, v);
}

/* Assumes for each block that its first width is as fast as its fastest one, with as little
 * interference as its last one has on the smallest node: a few vector operations that rule out most
 * nodes, since most are full. */
static bool may_end_by(const struct timeline *l, int node, double from, double limit)
{
    const double *soonest = l->soonest + (size_t)node * TIMELINE_BLOCKS;
    const double slowness = l->slowness[node], by = limit * (1 + 1e-12);
    int64_t hit = 0; /* as wide as the numbers that are compared */
    for (int b = 0; b < TIMELINE_BLOCKS; b++)
        hit |= (soonest[b] > from ? soonest[b] : from) + l->fastest[b] * slowness <= by;
    return hit;
}

bool timeline_too_late(const struct timeline *l, int task, int i, double limit)
{
    const struct moldable_kind *k = kind_of(l, task);
    if (k->cluster)
        return false;
    const int node = l->group[i].head;
    if (!may_end_by(l, node, l->from, limit))
        return true;
    const double from = ready(l, k, node, l->from);
    return from > l->from && !may_end_by(l, node, from, limit);
}

/* ---- placing ----------------------------------------------------------------------------------*/
/* The cores slot-width+1 … slot become free at `finish` and move behind those that are free
 * earlier. */
static void occupy(struct timeline *l, int node, int slot, int width, double finish)
{
    double *when = l->free + l->first[node];
    int *core = l->core + l->first[node], n = l->problem->node[node].cores;
    int from = slot + 1 - width, to = slot + 1;
    memcpy(l->taken, core + from, (size_t)width * sizeof *core);
    while (to < n && when[to] < finish) {
        when[from] = when[to];
        core[from++] = core[to++];
    }
    for (int w = 0; w < width; w++) {
        when[from + w] = finish;
        core[from + w] = l->taken[w];
    }
}

/* Changes the node's state and so its group. */
static void keep_busy(struct timeline *l, const struct moldable_kind *k, int node, int slot,
                      int width, double finish)
{
    leave_group(l, node);
    occupy(l, node, slot, width, finish);
    timeline_take_resources(k, &l->problem->node[node], l->lane + l->lanes[node], finish);
    note_soonest(l, node);
    join_group(l, node);
}

static struct timeline_span place_node(struct timeline *l, const struct moldable_choice *c)
{
    const struct moldable_kind *k = kind_of(l, c->task);
    const struct moldable_node *n = &l->problem->node[c->where];
    const double start =
        fmax(times(l, c->where)[c->slot], ready(l, k, c->where, predecessors_done(l, k)));
    const double finish =
        start + seconds_of(l, k)[c->width - 1] * l->slowness[c->where] *
                    (k->interference > 0 ? timeline_slowdown(k, n->cores, c->width) : 1);
    keep_busy(l, k, c->where, c->slot, c->width, finish);
    return (struct timeline_span){start, finish};
}

static struct timeline_span place_cluster(struct timeline *l, const struct moldable_choice *c)
{
    struct timeline_view v;
    timeline_views(l, c->task, c->width);
    view_cluster(l, c->task, c->where, &v);
    const struct timeline_span span = {v.start[c->width - 1], v.finish[c->width - 1]};
    for (int w = 0; w < c->width; w++) {
        int j = l->sorted[w], n = l->problem->node[j].cores;
        keep_busy(l, kind_of(l, c->task), j, n - 1, n, span.finish);
    }
    return span;
}

struct timeline_span timeline_place(struct timeline *l, const struct moldable_choice *c)
{
    const struct timeline_span span =
        kind_of(l, c->task)->cluster ? place_cluster(l, c) : place_node(l, c);
    double *done = &l->done[l->problem->kind[c->task]];
    l->latest = fmax(l->latest, span.finish);
    *done = fmax(*done, span.finish);
    return span;
}

void timeline_place_all(struct timeline *l, const struct moldable_choice *choice)
{
    timeline_clear(l);
    for (int i = 0; i < l->problem->ntasks; i++)
        timeline_place(l, &choice[i]);
}

/* ---- steps of several methods -----------------------------------------------------------------*/
struct moldable_choice timeline_earliest(struct timeline *l, int task, int most)
{
    struct moldable_choice best = {task, -1, 0, 0};
    double finish = INFINITY;
    struct timeline_view v;
    for (int i = 0, views = timeline_views(l, task, most); i < views; i++) {
        if (timeline_too_late(l, task, i, finish))
            continue;
        timeline_view(l, task, i, &v);
        for (int w = 1; w <= v.n; w++)
            timeline_prefer(&v, w, v.finish[w - 1], &finish, &best);
    }
    return best.where < 0 && most ? timeline_earliest(l, task, 0) : best;
}

void timeline_list(struct timeline *l, const int *most, struct moldable_choice *choice)
{
    for (int i = 0; i < l->problem->ntasks && !timeline_gives_up(l); i++) {
        choice[i] = timeline_earliest(l, l->order[i], most ? most[l->order[i]] : 1);
        timeline_place(l, &choice[i]);
    }
}

/* The fewest cores of a node with which the task ends within the limit; 0 = none. It goes by
 * blocks, because compilers do not vectorise loops that may end early. */
static int first_width(const struct timeline_view *v, double limit)
{
    enum { BLOCK = 8 };
    for (int from = 0; from < v->n && v->start[from] <= limit; from += BLOCK) {
        int hit = 0, n = v->n - from < BLOCK ? v->n - from : BLOCK;
        for (int w = 0; n == BLOCK && w < BLOCK; w++)
            hit |= v->finish[from + w] <= limit;
        for (int w = 0; (hit || n < BLOCK) && w < n; w++)
            if (v->finish[from + w] <= limit)
                return from + w + 1;
    }
    return 0;
}

bool timeline_first_fit(struct timeline *l, int task, double limit, struct moldable_choice *choice)
{
    bool cluster = kind_of(l, task)->cluster;
    struct timeline_view v;
    *choice = (struct moldable_choice){task, l->problem->nnodes, 0, 0};
    for (int i = 0, views = timeline_views(l, task, 0); i < views; i++) {
        if ((!cluster && l->group[i].head >= choice->where) || timeline_too_late(l, task, i, limit))
            continue;
        timeline_view(l, task, i, &v);
        int w = first_width(&v, limit);
        if (w && v.where < choice->where)
            *choice = (struct moldable_choice){task, v.where, w, w - 1};
    }
    return choice->width > 0;
}
