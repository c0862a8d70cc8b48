/* cu/team/task_history.c – homes and times of a team's tasks. */
#include "cu/team/task_history.h"

#include <math.h>
#include <stdlib.h>

enum ek_status task_history_open(struct task_history *b, size_t n)
{
    const size_t room = n ? n : 1;
    *b = (struct task_history){.n = n};
    b->home = calloc(room, sizeof *b->home);
    b->seconds = calloc(room, sizeof *b->seconds);
    b->sample = calloc(room, sizeof *b->sample);
    if (!b->home || !b->seconds || !b->sample)
        FAIL(EK_UNAVAILABLE, "team: out of memory for %zu tasks", n);
    return EK_OK;
}

void task_history_close(struct task_history *b)
{
    free(b->home);
    free(b->seconds);
    free(b->sample);
    for (int kind = 0; kind < 2; kind++)
        free(b->known[kind]);
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

/* Seconds per declared cost of what has run on this kind; NAN: nothing has. */
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
    double *known = b->known[kind] = calloc(b->n ? b->n : 1, sizeof *known);
    if (!known)
        FAIL(EK_UNAVAILABLE, "team: out of memory for the times of %zu tasks", b->n);
    for (size_t t = 0; t < b->n; t++)
        known[t] = samples_median(&b->sample[t][kind]);
    const double pace = usual_pace(known, job);
    for (size_t t = 0; t < b->n; t++)
        if (isnan(known[t]))
            known[t] = pace * cost_of(job, t);
    if (isnan(pace)) {
        free(known);
        b->known[kind] = NULL;
    }
    return EK_OK;
}

enum ek_status task_history_renumber(struct task_history *b, const struct sched_job *job,
                                     const int *was)
{
    struct task_history other;
    enum ek_status st = task_history_open(&other, job->n);
    for (size_t t = 0; !st && t < job->n; t++)
        if (was[t] >= 0) {
            other.home[t] = b->home[was[t]];
            other.sample[t][CU_CPU] = b->sample[was[t]][CU_CPU];
            other.sample[t][CU_DEVICE] = b->sample[was[t]][CU_DEVICE];
        }
    for (int kind = 0; !st && kind < 2; kind++)
        st = know(&other, job, kind);
    if (st) {
        task_history_close(&other);
        return st;
    }
    task_history_close(b);
    *b = other;
    return EK_OK;
}
