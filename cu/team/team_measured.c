/* cu/team/team_measured.c – a team's measurements. */
#include "cu/team/team_internal.h"

const struct team_result *team_result(const struct team *t)
{
    return &t->result;
}

size_t team_unit_tasks(const struct team *t, int cu)
{
    return t->unit[cu].tasks;
}

struct team_spent team_unit_spent(const struct team *t, int cu)
{
    const struct unit *u = &t->unit[cu];
    /* A unit that worked although its device never did uses the device through other handles. */
    const struct backend *device = t->set->cu[cu].device;
    const bool seen = !device || u->starving <= 0 || backend_fed(device) > 0;
    return (struct team_spent){u->busy, u->launches, u->moving, seen ? u->starving : NAN};
}

unsigned team_task_runs(const struct team *t, size_t task, enum cu_kind kind)
{
    return task < t->history.n ? t->history.sample[task][kind].count : 0;
}

double team_task_seconds(const struct team *t, size_t task, enum cu_kind kind)
{
    return task < t->history.n ? samples_median(&t->history.sample[task][kind]) : NAN;
}

double team_task_least(const struct team *t, size_t task, enum cu_kind kind)
{
    return team_task_runs(t, task, kind) ? t->history.sample[task][kind].least : NAN;
}

unsigned team_past_runs(const struct team *t, size_t number, enum cu_kind kind)
{
    const struct task_history *h = &t->history;
    return h->past && number < h->all ? h->past[number][kind].count : 0;
}

double team_past_least(const struct team *t, size_t number, enum cu_kind kind)
{
    return team_past_runs(t, number, kind) ? t->history.past[number][kind].least : NAN;
}

void team_tell_unmet_faults(const struct team *t)
{
    fault_tell_unmet(&t->faults, t->result.steps);
}

void team_save_every(struct team *t, int steps)
{
    t->save_every = steps;
}

void team_on_step(struct team *t, void (*call)(void *arg, int step), void *arg)
{
    t->on_step = call;
    t->on_step_arg = arg;
}

void team_record(struct team *t)
{
    t->recording = true;
}

const struct events *team_events(const struct team *t, int cu)
{
    return &t->unit[cu].events;
}
