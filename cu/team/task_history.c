/* cu/team/task_history.c – homes and times of a team's tasks. */
#include "cu/team/task_history.h"

enum ek_status task_history_open(struct task_history *b, const struct sched_job *job)
{
    const size_t n = job->n;
    *b = (struct task_history){.n = n, .all = job->number ? job->all : 0};
    b->home = ARENA_NEW(&b->arena, n, int);
    b->number = ARENA_NEW(&b->arena, n, int);
    b->seconds = ARENA_NEW(&b->arena, n, double);
    b->sample = arena_take(&b->arena, n, sizeof *b->sample);
    TRY(arena_check(&b->arena, "%zu tasks", n));
    for (size_t t = 0; t < n; t++)
        b->number[t] = job->number ? job->number[t] : -1;
    return EK_OK;
}

void task_history_close(struct task_history *b)
{
    free(b->past);
    arena_free(&b->arena);
    *b = (struct task_history){.n = 0};
}

double task_history_note(struct task_history *b, struct ek_range r, enum cu_kind kind)
{
    double sum = 0;
    for (size_t t = r.begin; t < r.end; t++) {
        samples_add(&b->sample[t][kind], b->seconds[t]);
        sum += b->seconds[t];
    }
    return sum;
}

static double cost_of(const struct sched_job *job, size_t task)
{
    return job->cost ? job->cost[task] : 1;
}

/* Seconds per declared cost of the tasks that have run on this kind; NAN: none has. */
static double usual_pace(const double *median, const struct sched_job *job)
{
    double seconds = 0, cost = 0;
    for (size_t t = 0; t < job->n; t++)
        if (!isnan(median[t])) {
            seconds += median[t];
            cost += cost_of(job, t);
        }
    return cost > 0 ? seconds / cost : NAN;
}

static enum ek_status know(struct task_history *b, const struct sched_job *job, int kind)
{
    double *known = ARENA_NEW(&b->arena, b->n, double);
    TRY(arena_check(&b->arena, "the times of %zu tasks", b->n));
    for (size_t t = 0; t < b->n; t++)
        known[t] = samples_median(&b->sample[t][kind]);
    const double pace = usual_pace(known, job);
    for (size_t t = 0; t < b->n; t++)
        if (isnan(known[t]))
            known[t] = pace * cost_of(job, t);
    b->known[kind] = isnan(pace) ? NULL : known;
    return EK_OK;
}

/* Times of the new task t from before it left this rank; NULL: unknown. */
static struct samples *before(const struct task_history *b, const struct task_history *other,
                              size_t t)
{
    return other->number[t] >= 0 ? b->past[other->number[t]] : NULL;
}

/* Keeps the times of tasks that leave by their number, and clears those of tasks that return. */
static void put_aside(struct task_history *b, struct task_history *other, const int *was)
{
    for (size_t t = 0; t < other->n; t++)
        if (was[t] >= 0)
            b->number[was[t]] = -1; /* it stays */
        else if (before(b, other, t))
            memset(before(b, other, t), 0, sizeof *b->past);
    for (size_t t = 0; t < b->n; t++)
        if (b->number[t] >= 0)
            memcpy(b->past[b->number[t]], b->sample[t], sizeof *b->past);
    other->past = b->past;
    b->past = NULL;
}

enum ek_status task_history_renumber(struct task_history *b, const struct sched_job *job,
                                     const int *was)
{
    struct task_history other;
    enum ek_status st = task_history_open(&other, job);
    if (!st && !b->past)
        b->past = calloc(b->all + 1, sizeof *b->past);
    if (!st && !b->past)
        st = status_fail(EK_UNAVAILABLE, "team: out of memory for %zu tasks", b->all);
    for (size_t t = 0; !st && t < job->n; t++) {
        const struct samples *known = was[t] >= 0 ? b->sample[was[t]] : before(b, &other, t);
        other.home[t] = was[t] >= 0 ? b->home[was[t]] : CU_HOST_MEMORY;
        if (known)
            memcpy(other.sample[t], known, sizeof *other.sample);
    }
    for (int kind = 0; !st && kind < 2; kind++)
        st = know(&other, job, kind);
    TRY_OR(st, task_history_close(&other));
    put_aside(b, &other, was);
    task_history_close(b);
    *b = other;
    return EK_OK;
}
