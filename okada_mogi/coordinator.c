/* okada_mogi/coordinator.c – a policy over nodes, and the batches that are out. */
#include "okada_mogi/coordinator.h"
#include "cu/sched/sched.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A node that is there but does not answer: a batch that is out so many times as long as it should
 * be, and at least so many seconds, is given to another node that has nothing to do. */
static const double LATE = 10, PATIENCE = 60;

struct node {
    struct ek_range out[COORDINATOR_AHEAD]; /* [nout] the tasks it has, in the order it got them */
    int nout;
    double since; /* when it began with the first of them */
    double pace;  /* seconds a task, 0 unknown */
    struct coordinator_node known;
};

struct coordinator {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned changes;
    const struct trial_range *task;
    size_t n, done;       /* tasks; done: reported and taken */
    size_t out, reported; /* at nodes; reported by them */
    struct sched *sched;
    struct sched_unit *unit; /* [nodes] */
    int nodes;
    struct node *node;     /* [nodes] */
    struct ek_range *left; /* what lost nodes had, and ends of batches that were cut */
    size_t nleft;
};

/* ---- opening ----------------------------------------------------------------------------------*/

/* The policies for one long range. */
static bool deals_ranges(const char *schedule)
{
    static const char *const names[] = {"hrdls", "chunk", "gss", "tss", "fac", "wf", "static"};
    const size_t length = strcspn(schedule, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], schedule, length))
            return true;
    return false;
}

static size_t gaps(const struct trial_range *task, size_t n)
{
    size_t count = 0;
    for (size_t t = 1; t < n; t++)
        count += task[t].first != task[t - 1].first + task[t - 1].count;
    return count;
}

enum ek_status coordinator_open(const char *schedule, int nodes, const struct trial_range *task,
                                const double *cost, size_t n, struct coordinator **c)
{
    struct coordinator *made = calloc(1, sizeof *made);
    if (!made)
        FAIL(EK_LACK, "out of memory for the coordinator");
    *made = (struct coordinator){.task = task, .n = n, .nodes = nodes};
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    made->unit = calloc((size_t)nodes, sizeof *made->unit);
    made->node = calloc((size_t)nodes, sizeof *made->node);
    made->left = calloc(COORDINATOR_AHEAD * (size_t)nodes + gaps(task, n) + 1, sizeof *made->left);
    const struct sched_job job = {
        .n = n, .grain = 1, .ncu = nodes, .unit = made->unit, .cost = cost};
    enum ek_status st = EK_OK;
    if (!made->unit || !made->node || !made->left)
        st = status_fail(EK_LACK, "out of memory for %d nodes", nodes);
    for (int i = 0; !st && i < nodes; i++)
        made->unit[i] = (struct sched_unit){.width = 1, .space = i, .node = i};
    if (!st && n)
        st = sched_open(nodes < 2                ? "static"
                        : deals_ranges(schedule) ? schedule
                                                 : "hrdls",
                        &job, &made->sched);
    if (st)
        coordinator_close(made);
    else
        *c = made;
    return st;
}

void coordinator_close(struct coordinator *c)
{
    if (!c)
        return;
    sched_close(c->sched);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c->unit);
    free(c->node);
    free(c->left);
    free(c);
}

/* ---- batches, under the lock ------------------------------------------------------------------*/

static void change(struct coordinator *c)
{
    c->changes++;
    pthread_cond_broadcast(&c->changed);
}

/* There is room: what is cut off begins behind a gap, and a node is given what was left before it
 * can lose more. */
static void leave(struct coordinator *c, struct ek_range r)
{
    c->left[c->nleft++] = r;
}

/* The policy's next range for a node; where it has none, for any that has not begun. */
static struct ek_range deal(struct coordinator *c, int node)
{
    struct ek_range r = {0, 0};
    if (c->nleft)
        return c->left[--c->nleft];
    if (c->sched)
        r = sched_next(c->sched, node);
    for (int i = 0; c->sched && r.begin == r.end && i < c->nodes; i++)
        if (!c->node[i].nout && c->node[i].known.lost)
            r = sched_next(c->sched, i);
    return r;
}

/* The node's first range is no longer its own. */
static struct ek_range drop_first(struct coordinator *c, struct node *n, double now)
{
    const struct ek_range first = n->out[0];
    c->out -= first.end - first.begin;
    memmove(n->out, n->out + 1, (size_t)--n->nout * sizeof *n->out);
    n->since = now;
    return first;
}

static double tasks_in(struct ek_range r)
{
    return (double)(r.end - r.begin);
}

/* Seconds that a task takes on this node at most, as far as is known: INFINITY where nothing is. */
static double usual_pace(const struct coordinator *c, const struct node *n)
{
    double slowest = 0;
    for (int i = 0; i < c->nodes; i++)
        slowest = fmax(slowest, c->node[i].pace);
    return n->pace > 0 ? n->pace : slowest > 0 ? slowest : INFINITY;
}

static bool is_late(const struct coordinator *c, const struct node *n, double now)
{
    return n->nout && now - n->since > PATIENCE &&
           now - n->since > LATE * tasks_in(n->out[0]) * usual_pace(c, n);
}

/* The batch of a node that should have reported long ago. Rank 0's are its own. */
static struct ek_range take_over(struct coordinator *c, int node, double now)
{
    for (int i = 1; i < c->nodes; i++)
        if (i != node && is_late(c, &c->node[i], now)) {
            c->node[i].known.lost++;
            return drop_first(c, &c->node[i], now);
        }
    return (struct ek_range){0, 0};
}

/* Tasks of the range that follow one another without a gap; the rest is left for later. */
static struct ek_range without_gap(struct coordinator *c, struct ek_range r)
{
    const size_t end = r.begin + trial_together(&c->task[r.begin], r.end - r.begin);
    if (end < r.end)
        leave(c, (struct ek_range){end, r.end});
    return (struct ek_range){r.begin, end};
}

static struct trial_range trials_of(const struct coordinator *c, struct ek_range r)
{
    const struct trial_range last = c->task[r.end - 1];
    const trial_number first = c->task[r.begin].first;
    return (struct trial_range){first, last.first + last.count - first};
}

static enum coordinator_answer next(struct coordinator *c, int node, double now,
                                    struct trial_range *batch)
{
    struct node *n = &c->node[node];
    if (c->done == c->n)
        return COORDINATOR_DONE;
    if (n->nout == COORDINATOR_AHEAD || (n->nout && 2 * c->out > c->n - c->reported))
        return COORDINATOR_WAIT; /* near the end nobody is to have two while others have none */
    struct ek_range r = deal(c, node);
    if (r.begin == r.end)
        r = take_over(c, node, now);
    if (r.begin == r.end)
        return COORDINATOR_WAIT;
    if (!n->known.batches++)
        n->known.first = now;
    r = without_gap(c, r);
    if (!n->nout)
        n->since = now;
    n->out[n->nout++] = r;
    c->out += r.end - r.begin;
    *batch = trials_of(c, r);
    return COORDINATOR_BATCH;
}

enum coordinator_answer coordinator_next(struct coordinator *c, int node, double now,
                                         struct trial_range *batch)
{
    pthread_mutex_lock(&c->lock);
    const enum coordinator_answer answer = next(c, node, now, batch);
    pthread_mutex_unlock(&c->lock);
    return answer;
}

static bool report(struct coordinator *c, int node, struct trial_range batch, double now)
{
    struct node *n = &c->node[node];
    if (!n->nout)
        return false;
    const struct trial_range owed = trials_of(c, n->out[0]);
    if (owed.first != batch.first || owed.count != batch.count)
        return false;
    const double seconds = now - n->since;
    const struct ek_range r = drop_first(c, n, now);
    n->pace = seconds / tasks_in(r);
    c->reported += r.end - r.begin;
    n->known.trials += batch.count;
    n->known.busy += seconds;
    n->known.last = now;
    sched_done(c->sched, node, r, seconds, NULL);
    return true;
}

bool coordinator_report(struct coordinator *c, int node, struct trial_range batch, double now)
{
    pthread_mutex_lock(&c->lock);
    const bool wanted = report(c, node, batch, now);
    pthread_mutex_unlock(&c->lock);
    return wanted;
}

/* Number of the task that begins with this trial. */
static size_t task_at(const struct coordinator *c, trial_number first)
{
    size_t begin = 0, end = c->n;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (c->task[middle].first < first)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

void coordinator_taken(struct coordinator *c, struct trial_range batch)
{
    pthread_mutex_lock(&c->lock);
    c->done += task_at(c, batch.first + batch.count) - task_at(c, batch.first);
    change(c);
    pthread_mutex_unlock(&c->lock);
}

void coordinator_lost(struct coordinator *c, int node)
{
    pthread_mutex_lock(&c->lock);
    struct node *n = &c->node[node];
    n->known.lost += c->done < c->n; /* else it has left, as it should */
    while (n->nout)
        leave(c, drop_first(c, n, n->since));
    change(c);
    pthread_mutex_unlock(&c->lock);
}

struct coordinator_node coordinator_node(struct coordinator *c, int node)
{
    pthread_mutex_lock(&c->lock);
    const struct coordinator_node known = c->node[node].known;
    pthread_mutex_unlock(&c->lock);
    return known;
}

void coordinator_wait(struct coordinator *c, unsigned *seen, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const double at = (double)until.tv_nsec * 1e-9 + seconds;
    until.tv_sec += (time_t)at;
    until.tv_nsec = (long)((at - floor(at)) * 1e9);
    pthread_mutex_lock(&c->lock);
    if (c->changes == *seen)
        pthread_cond_timedwait(&c->changed, &c->lock, &until);
    *seen = c->changes;
    pthread_mutex_unlock(&c->lock);
}
