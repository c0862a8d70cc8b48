/* cu/farm/coordinator.c – a policy over nodes, and the batches that nodes hold. */
#include "cu/farm/coordinator.h"

#include <pthread.h>
#include <time.h>

/* A connected node may still hang: a batch out for LATE times its expected duration, and for at
 * least PATIENCE seconds, goes to another node that is idle. */
static const double LATE = 10, PATIENCE = 5;

struct out {
    struct ek_range tasks;
    double since; /* when the node began with it */
};

struct node {
    struct out *out; /* [nout] batches it holds, oldest first */
    int nout;
    size_t room;             /* of `out` */
    struct farm_capacity is; /* as of its last request; slots 0: it is not connected */
    double seconds_a_task;   /* 0 unknown */
    struct coordinator_node known;
};

/* A task's failures. */
struct trouble {
    int failures, last_node;
    bool aside;
};

struct coordinator {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned changes;
    struct farm_job job;
    double start;         /* when the first node asked; INFINITY: none has */
    size_t done;          /* tasks reported and taken, or set aside */
    size_t out, reported; /* tasks that nodes hold; tasks that they have reported */
    struct sched *sched;
    struct sched_unit *unit; /* [nodes] */
    int nodes;
    struct node *node;     /* [nodes] */
    struct ek_range *left; /* [nleft] to be handed out again: lost, failed, or cut off a batch */
    size_t nleft;
    bool given_up;
    struct trouble *trouble; /* [n] */
    struct arena arena;      /* of the lists */
};

/* ---- opening ----------------------------------------------------------------------------------*/

/* Does the policy cut one long range? */
static bool deals_ranges(const char *schedule)
{
    static const char *const names[] = {"hrdls", "chunk", "gss", "tss", "fac", "wf", "static"};
    const size_t length = strcspn(schedule, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], schedule, length))
            return true;
    return false;
}

static enum ek_status fill(struct coordinator *c)
{
    c->unit = ARENA_NEW(&c->arena, c->nodes, struct sched_unit);
    c->node = ARENA_NEW(&c->arena, c->nodes, struct node);
    c->left = ARENA_NEW(&c->arena, c->job.n, struct ek_range); /* ranges are disjoint */
    c->trouble = ARENA_NEW(&c->arena, c->job.n, struct trouble);
    TRY(arena_check(&c->arena, "%zu tasks on %d nodes", c->job.n, c->nodes));
    for (int i = 0; i < c->nodes; i++)
        c->unit[i] = (struct sched_unit){.width = 1, .memory = i, .node = i};
    const struct sched_job job = {
        .n = c->job.n, .grain = 1, .ncu = c->nodes, .unit = c->unit, .cost = c->job.cost};
    if (c->job.source)
        return EK_OK;
    const char *schedule = deals_ranges(c->job.schedule) ? c->job.schedule : "hrdls";
    return c->job.n ? sched_open(schedule, &job, &c->sched) : EK_OK;
}

enum ek_status coordinator_open(const struct farm_job *job, int nodes, struct coordinator **c)
{
    NEW(struct coordinator, made, 1, "out of memory for the coordinator");
    *made = (struct coordinator){.job = *job, .nodes = nodes, .start = INFINITY};
    pthread_condattr_t steady; /* the time of day may be set while we wait */
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, &steady);
    pthread_condattr_destroy(&steady);
    const enum ek_status st = fill(made);
    return HAND_OUT(st, made, c, coordinator_close);
}

void coordinator_close(struct coordinator *c)
{
    if (!c)
        return;
    sched_close(c->sched);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    for (int i = 0; c->node && i < c->nodes; i++)
        free(c->node[i].out);
    arena_free(&c->arena);
    free(c);
}

/* ---- batches, under the lock ------------------------------------------------------------------*/

static size_t tasks_in(struct ek_range r)
{
    return r.end - r.begin;
}

static bool is_over(const struct coordinator *c)
{
    return c->given_up || c->done == c->job.n;
}

static void change(struct coordinator *c)
{
    c->changes++;
    pthread_cond_broadcast(&c->changed);
}

/* Tasks of the node must be done again. */
static void put_back(struct coordinator *c, int node, struct ek_range r)
{
    if (c->job.source)
        c->job.source->back(c->job.source->arg, node, r);
    else if (tasks_in(r))
        c->left[c->nleft++] = r;
}

/* Did it fail on this node, and is there another one to try it? */
static bool should_move(const struct coordinator *c, int node, struct ek_range r)
{
    const struct trouble *t = &c->trouble[r.begin];
    bool others = false;
    for (int i = 0; i < c->nodes; i++)
        others = others || (i != node && c->node[i].is.slots);
    return t->failures && t->last_node == node && others;
}

static struct ek_range take_left(struct coordinator *c, int node)
{
    for (size_t i = c->nleft; i-- > 0;)
        if (!should_move(c, node, c->left[i])) {
            const struct ek_range r = c->left[i];
            c->left[i] = c->left[--c->nleft];
            return r;
        }
    return (struct ek_range){0, 0};
}

/* The node was lost, or has not connected in all this time. */
static bool is_absent(const struct coordinator *c, const struct node *n, double now)
{
    return !n->is.slots && (n->known.lost || now - c->start > PATIENCE);
}

/* Tasks to be done again, else the policy's next range for the node, else for an absent node. */
static struct ek_range deal(struct coordinator *c, int node, double now)
{
    if (c->job.source)
        return c->job.source->next(c->job.source->arg, node);
    struct ek_range r = take_left(c, node);
    if (!tasks_in(r) && c->sched)
        r = sched_next(c->sched, node);
    for (int i = 0; c->sched && !tasks_in(r) && i < c->nodes; i++)
        if (is_absent(c, &c->node[i], now))
            r = sched_next(c->sched, i);
    return r;
}

/* Takes batch number i from the node, which begins with the first one of its reserve. */
static struct ek_range drop(struct coordinator *c, struct node *n, int i, double now)
{
    const struct ek_range tasks = n->out[i].tasks;
    c->out -= tasks_in(tasks);
    memmove(&n->out[i], &n->out[i + 1], (size_t)(--n->nout - i) * sizeof *n->out);
    if (n->nout >= n->is.slots && n->is.slots)
        n->out[n->is.slots - 1].since = now;
    return tasks;
}

static int find(const struct node *n, struct ek_range batch)
{
    for (int i = 0; i < n->nout; i++)
        if (n->out[i].tasks.begin == batch.begin && n->out[i].tasks.end == batch.end)
            return i;
    return -1;
}

/* Seconds that a task takes on this node, or else on the slowest one known; INFINITY: unknown. */
static double usual_seconds(const struct coordinator *c, const struct node *n)
{
    double slowest = 0;
    for (int i = 0; i < c->nodes; i++)
        slowest = fmax(slowest, c->node[i].seconds_a_task);
    return n->seconds_a_task > 0 ? n->seconds_a_task : slowest > 0 ? slowest : INFINITY;
}

static bool is_late(const struct coordinator *c, const struct node *n, double now)
{
    const double seconds = n->nout ? now - n->out[0].since : 0;
    return seconds > PATIENCE &&
           seconds > LATE * (double)tasks_in(n->out[0].tasks) * usual_seconds(c, n);
}

/* The batch of a node that should have reported long ago. Nobody takes over from rank 0. */
static struct ek_range take_over(struct coordinator *c, int node, double now)
{
    for (int i = 1; !c->job.source && i < c->nodes; i++)
        if (i != node && is_late(c, &c->node[i], now)) {
            c->node[i].known.lost++;
            return drop(c, &c->node[i], 0, now);
        }
    return (struct ek_range){0, 0};
}

/* Cuts the range before the first task that is `apart` or has failed, and puts the rest back; a
 * task that failed goes out by itself. */
static struct ek_range cut(struct coordinator *c, int node, struct ek_range r)
{
    if (c->job.source)
        return r;
    size_t end = r.begin + 1;
    while (end < r.end && !c->trouble[r.begin].failures && !c->trouble[end].failures &&
           !(c->job.apart && __atomic_load_n(&c->job.apart[end], __ATOMIC_RELAXED)))
        end++;
    put_back(c, node, (struct ek_range){end, r.end});
    return (struct ek_range){r.begin, end};
}

enum coordinator_answer coordinator_next(struct coordinator *c, int node, struct farm_capacity a,
                                         double now, struct ek_range *batch)
{
    struct node *n = &c->node[node];
    LOCKED(&c->lock);
    n->is = a;
    c->start = fmin(c->start, now);
    if (is_over(c))
        return COORDINATOR_DONE;
    const bool ahead = n->nout >= a.slots; /* near the end, reserves would keep others idle */
    if (n->nout == FARM_MOST || n->nout >= a.slots + a.ahead ||
        (ahead && 2 * c->out > c->job.n - c->reported) ||
        arena_grow(&n->out, &n->room, (size_t)n->nout, sizeof *n->out, "batches"))
        return COORDINATOR_WAIT;
    struct ek_range r = deal(c, node, now);
    if (!tasks_in(r))
        r = take_over(c, node, now);
    if (!tasks_in(r))
        return COORDINATOR_WAIT;
    if (!n->known.batches++)
        n->known.first = now;
    r = cut(c, node, r);
    n->out[n->nout++] = (struct out){r, now};
    c->out += tasks_in(r);
    *batch = r;
    return COORDINATOR_BATCH;
}

bool coordinator_report(struct coordinator *c, int node, struct ek_range batch, double now)
{
    struct node *n = &c->node[node];
    LOCKED(&c->lock);
    const int i = find(n, batch);
    if (i < 0)
        return false;
    const double seconds = now - n->out[i].since;
    drop(c, n, i, now);
    n->seconds_a_task = seconds / (double)tasks_in(batch);
    c->reported += tasks_in(batch);
    n->known.tasks += tasks_in(batch);
    n->known.busy += seconds;
    n->known.last = now;
    if (c->sched)
        sched_done(c->sched, node, batch, seconds, NULL);
    return true;
}

void coordinator_taken(struct coordinator *c, struct ek_range batch)
{
    LOCKED(&c->lock);
    c->done += tasks_in(batch);
    change(c);
}

static bool excused(const struct coordinator *c, int node, size_t task)
{
    const struct farm_source *s = c->job.source;
    return s && s->excuses && s->excuses(s->arg, node, task);
}

static void note_failure(struct coordinator *c, int node, size_t task)
{
    struct trouble *t = &c->trouble[task];
    t->last_node = node;
    t->failures += !excused(c, node, task);
    t->aside = t->failures && t->failures >= c->job.failures;
    if (t->aside)
        c->done++;
    else
        put_back(c, node, (struct ek_range){task, task + 1});
}

bool coordinator_failed(struct coordinator *c, int node, struct ek_range batch, double now)
{
    LOCKED(&c->lock);
    const int i = find(&c->node[node], batch);
    if (i < 0)
        return false;
    drop(c, &c->node[node], i, now);
    for (size_t t = batch.begin; t < batch.end; t++)
        note_failure(c, node, t);
    change(c);
    return true;
}

int coordinator_failures(struct coordinator *c, size_t task, bool *aside)
{
    LOCKED(&c->lock);
    *aside = c->trouble[task].aside;
    return c->trouble[task].failures;
}

void coordinator_give_up(struct coordinator *c)
{
    LOCKED(&c->lock);
    c->given_up = true;
    change(c);
}

bool coordinator_over(struct coordinator *c)
{
    LOCKED(&c->lock);
    return is_over(c);
}

void coordinator_lost(struct coordinator *c, int node)
{
    LOCKED(&c->lock);
    struct node *n = &c->node[node];
    n->known.lost += !is_over(c); /* else it has left, as it should */
    n->is.slots = 0;
    while (n->nout)
        put_back(c, node, drop(c, n, 0, 0));
    if (c->job.source)
        put_back(c, node, (struct ek_range){0, 0});
    change(c);
}

struct coordinator_node coordinator_node(struct coordinator *c, int node)
{
    LOCKED(&c->lock);
    return c->node[node].known;
}

void coordinator_wait(struct coordinator *c, unsigned *seen, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double at = (double)until.tv_nsec * 1e-9 + seconds;
    until.tv_sec += (time_t)at;
    until.tv_nsec = (long)((at - floor(at)) * 1e9);
    LOCKED(&c->lock);
    if (c->changes == *seen)
        pthread_cond_timedwait(&c->changed, &c->lock, &until);
    *seen = c->changes;
}
