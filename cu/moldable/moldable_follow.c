/* cu/moldable/moldable_follow.c – turns choices into a plan core by core. */
#include "cu/moldable/timeline.h"
#include "src/sort.h"

struct tracker {
    struct timeline *timeline;
    int *last; /* [cores of all nodes] the task that was placed there last, -1 = none */
    size_t nparts, ncores, nafters; /* filled members of the plan's arrays */
};

/* An upper bound of the cores that all tasks take, and so of their parts and predecessors. */
static size_t count_cores(const struct moldable_problem *p, const struct moldable_choice *choice)
{
    size_t n = 0;
    for (int i = 0; i < p->ntasks; i++) {
        if (!p->kinds[p->kind[choice[i].task]].cluster) {
            n += (size_t)choice[i].width;
            continue;
        }
        for (int j = 0; j < p->nnodes; j++)
            n += p->node[j].cluster == choice[i].where ? (size_t)p->node[j].cores : 0;
    }
    return n;
}

static void sort_unique(int *x, int *n)
{
    int kept = 0;
    qsort(x, (size_t)*n, sizeof *x, sort_by_int);
    for (int i = 0; i < *n; i++)
        if (!i || x[i] != x[i - 1])
            x[kept++] = x[i];
    *n = kept;
}

/* Records a task's share of a node, the cores slot-width+1 … slot, before it is placed. */
static void track_part(struct tracker *t, struct moldable_plan *plan, int task, int node, int slot,
                       int width)
{
    struct moldable_placed *placed = &plan->task[task];
    int base = t->timeline->first[node], *core = plan->cores + t->ncores;
    struct moldable_part *part = &plan->parts[t->nparts++];
    for (int w = 0; w < width; w++) {
        core[w] = t->timeline->core[base + slot - width + 1 + w];
        int *last = &t->last[base + core[w]];
        if (*last >= 0)
            plan->afters[t->nafters + (size_t)placed->nafter++] = *last;
        *last = task;
    }
    qsort(core, (size_t)width, sizeof *core, sort_by_int);
    *part = (struct moldable_part){node, width, core};
    t->ncores += (size_t)width;
    placed->cores += width;
    placed->nparts++;
}

static void track(struct tracker *t, struct moldable_plan *plan, const struct moldable_choice *c)
{
    const struct moldable_problem *p = t->timeline->problem;
    struct moldable_placed *placed = &plan->task[c->task];
    placed->part = plan->parts + t->nparts;
    placed->after = plan->afters + t->nafters;
    if (p->kinds[p->kind[c->task]].cluster) {
        timeline_sort_cluster(t->timeline, c->task, c->where);
        for (int w = 0; w < c->width; w++) {
            int j = t->timeline->sorted[w], n = p->node[j].cores;
            track_part(t, plan, c->task, j, n - 1, n);
        }
    } else {
        track_part(t, plan, c->task, c->where, c->slot, c->width);
    }
    sort_unique(plan->afters + t->nafters, &placed->nafter);
    t->nafters += (size_t)placed->nafter;
    const struct timeline_span span = timeline_place(t->timeline, c);
    placed->start = span.start;
    placed->finish = span.finish;
}

static enum ek_status follow(struct moldable_plan *plan, struct timeline *timeline,
                             const struct moldable_choice *choice)
{
    const struct moldable_problem *p = timeline->problem;
    const size_t n = count_cores(p, choice);
    const int cores = timeline->first[p->nnodes];
    struct tracker t = {.timeline = timeline, .last = ARENA_NEW(&plan->arena, cores, int)};
    plan->task = ARENA_NEW(&plan->arena, p->ntasks, struct moldable_placed);
    plan->parts = ARENA_NEW(&plan->arena, n, struct moldable_part);
    plan->cores = ARENA_NEW(&plan->arena, n, int);
    plan->afters = ARENA_NEW(&plan->arena, n, int);
    TRY(arena_check(&plan->arena, "a schedule of %zu cores", n));
    for (int c = 0; c < cores; c++)
        t.last[c] = -1;
    timeline_clear(timeline);
    for (int i = 0; i < p->ntasks; i++)
        track(&t, plan, &choice[i]);
    plan->makespan = timeline->latest;
    plan->ntasks = p->ntasks;
    return EK_OK;
}

/* ---- among busy neighbours --------------------------------------------------------------------*/
/* The methods assume that all other cores are busy; the finished plan tells how many really are. */
struct neighbours {
    const struct moldable_problem *problem;
    struct moldable_plan *plan;
    int *order;        /* [ntasks] by start */
    double *busy;      /* [ntasks] share of the node's other cores that are busy meanwhile */
    struct edge *edge; /* [2 ntasks] scratch */
    double *area;      /* [2 ntasks] core seconds of its node up to the start and end of each */
    double *finish;    /* [nkinds] of all tasks of the kind */
};
enum { ROUNDS = 8, MOST_TASKS = 20000 };

static int by_start(const void *a, const void *b, void *plan)
{
    const struct moldable_placed *x = &((struct moldable_plan *)plan)->task[*(const int *)a],
                                 *y = &((struct moldable_plan *)plan)->task[*(const int *)b];
    return x->start != y->start ? (x->start < y->start ? -1 : 1)
                                : *(const int *)a - *(const int *)b;
}

/* A task starts or ends: `cores` more or fewer of its node are busy. */
struct edge {
    double time;
    int node, cores, place; /* place: in `area` */
};

SORT_BY(earlier_edge, struct edge, SORT_UP(node) ?: SORT_UP(time))

/* Sets the shares of the other cores' time beside each task that is busy. */
static void find_busy(struct neighbours *n)
{
    const int tasks = n->plan->ntasks;
    for (int i = 0; i < 2 * tasks; i++) {
        const struct moldable_placed *t = &n->plan->task[i / 2];
        const struct moldable_part *part = &t->part[0];
        n->edge[i] = i % 2 ? (struct edge){t->finish, part->node, -part->ncores, i}
                           : (struct edge){t->start, part->node, part->ncores, i};
    }
    qsort(n->edge, 2 * (size_t)tasks, sizeof *n->edge, earlier_edge);
    double area = 0, busy = 0; /* core seconds of the node so far */
    for (int i = 0; i < 2 * tasks; i++) {
        const struct edge *e = &n->edge[i];
        if (i && e[-1].node == e->node)
            area += busy * (e->time - e[-1].time);
        busy += e->cores;
        n->area[e->place] = area;
    }
    for (int i = 0; i < tasks; i++) {
        const struct moldable_placed *t = &n->plan->task[i];
        const int others = n->problem->node[t->part[0].node].cores - t->cores;
        const double seconds = t->finish - t->start;
        const double beside = n->area[2 * i + 1] - n->area[2 * i] - t->part[0].ncores * seconds;
        n->busy[i] = others > 0 ? fmin(1, fmax(0, beside) / (others * seconds)) : 0;
    }
}

static double seconds_beside(const struct neighbours *n, int task)
{
    const struct moldable_placed *t = &n->plan->task[task];
    const struct moldable_kind *k = &n->problem->kinds[n->problem->kind[task]];
    const struct moldable_node *node = &n->problem->node[t->part[0].node];
    double factor = node->factor;
    for (int i = 1; i < t->nparts; i++)
        factor = fmin(factor, n->problem->node[t->part[i].node].factor);
    const double share =
        node->cores > 1 ? n->busy[task] * (node->cores - t->cores) / (node->cores - 1) : 0;
    return moldable_seconds(&k->law, t->cores) / factor *
           (1 + (k->cluster ? 0 : k->interference * share));
}

/* Starts each task as soon as those before it have ended, in the old order. */
static void settle(struct neighbours *n)
{
    const struct moldable_problem *p = n->problem;
    find_busy(n);
    memset(n->finish, 0, (size_t)p->nkinds * sizeof *n->finish);
    n->plan->makespan = 0;
    for (int i = 0; i < p->ntasks; i++) {
        const int task = n->order[i];
        struct moldable_placed *t = &n->plan->task[task];
        const struct moldable_kind *k = &p->kinds[p->kind[task]];
        double start = 0;
        for (int a = 0; a < t->nafter; a++)
            start = fmax(start, n->plan->task[t->after[a]].finish);
        for (int a = 0; a < k->nafter; a++)
            start = fmax(start, n->finish[k->after[a]]);
        t->start = start;
        t->finish = start + seconds_beside(n, task);
        n->finish[p->kind[task]] = fmax(n->finish[p->kind[task]], t->finish);
        n->plan->makespan = fmax(n->plan->makespan, t->finish);
    }
}

bool moldable_neighbours_matter(const struct moldable_problem *p)
{
    bool any = false;
    for (int k = 0; k < p->nkinds; k++) {
        any = any || p->kinds[k].interference > 0;
        if (moldable_needs_resources(&p->kinds[k]))
            return false;
    }
    for (int j = 0; j < p->nnodes; j++)
        any = any && !p->node[j].free;
    return any && p->ntasks <= MOST_TASKS;
}

static enum ek_status settle_neighbours(struct moldable_plan *plan,
                                        const struct moldable_problem *p)
{
    struct neighbours n = {.problem = p, .plan = plan};
    if (!moldable_neighbours_matter(p))
        return EK_OK;
    n.order = ARENA_NEW(&plan->arena, p->ntasks, int);
    n.busy = ARENA_NEW(&plan->arena, p->ntasks, double);
    n.edge = ARENA_NEW(&plan->arena, 2 * p->ntasks, struct edge);
    n.area = ARENA_NEW(&plan->arena, 2 * p->ntasks, double);
    n.finish = ARENA_NEW(&plan->arena, p->nkinds, double);
    TRY(arena_check(&plan->arena, "%d tasks", p->ntasks));
    for (int i = 0; i < p->ntasks; i++)
        n.order[i] = i;
    qsort_r(n.order, (size_t)p->ntasks, sizeof *n.order, by_start, plan);
    for (int round = 0; round < ROUNDS; round++)
        settle(&n);
    return EK_OK;
}

/* ---- plans ------------------------------------------------------------------------------------*/
enum ek_status moldable_follow(struct moldable_plan *plan, struct timeline *timeline,
                               const struct moldable_choice *choice)
{
    TRY(follow(plan, timeline, choice));
    return settle_neighbours(plan, timeline->problem);
}

enum ek_status moldable_makespan(struct timeline *timeline, const struct moldable_choice *choice,
                                 double *makespan)
{
    OWNED(moldable_plan_close) struct moldable_plan plan = {0};
    TRY(moldable_follow(&plan, timeline, choice));
    *makespan = plan.makespan;
    return EK_OK;
}

void moldable_plan_close(struct moldable_plan *plan)
{
    arena_free(&plan->arena);
    *plan = (struct moldable_plan){0};
}
