/* cu/bench/trace.c – trace events as in the "Trace Event Format": ph X = complete, M = metadata,
 * times in microseconds. */
#include "cu/bench/trace.h"
#include "cu/bench/paje.h"
#include "cu/bench/result.h"
#include "cu/rank/cluster.h"

#include <stdlib.h>
#include <string.h>

struct trace {
    json_t *events;
    int processes; /* policies so far */
    const char *name[64];
};

static const char *const activity_names[] = {
    [EVENTS_COMPUTE] = "compute",
    [EVENTS_MOVE] = "move",
    [EVENTS_EXCHANGE] = "exchange",
};

enum ek_status trace_open(struct trace **t)
{
    struct trace *made = calloc(1, sizeof *made);
    if (made)
        made->events = json_array();
    if (!made || !made->events) {
        free(made);
        FAIL(EK_UNAVAILABLE, "trace: out of memory");
    }
    *t = made;
    return EK_OK;
}

void trace_close(struct trace *t)
{
    if (t)
        json_decref(t->events);
    free(t);
}

static void add_name(json_t *events, const char *what, int pid, int tid, const char *name)
{
    json_array_append_new(events, json_pack("{s:s s:s s:i s:i s:{s:s}}", "name", what, "ph", "M",
                                            "pid", pid, "tid", tid, "args", "name", name));
}

static void add_event(json_t *events, int pid, int tid, const struct events_entry *e)
{
    char name[64];
    const char *what = activity_names[e->activity];
    size_t count = e->tasks.end - e->tasks.begin;
    if (count == 0)
        snprintf(name, sizeof name, "%s", what);
    else if (count == 1)
        snprintf(name, sizeof name, "%s %zu", what, e->first);
    else
        snprintf(name, sizeof name, "%s %zu-%zu", what, e->first, e->last);
    json_array_append_new(events, json_pack("{s:s s:s s:s s:i s:i s:f s:f s:{s:i s:I s:I}}", "name",
                                            name, "cat", what, "ph", "X", "pid", pid, "tid", tid,
                                            "ts", 1e6 * e->start, "dur", 1e6 * e->seconds, "args",
                                            "step", e->step, "first", (json_int_t)e->first, "count",
                                            (json_int_t)count));
}

/* How many units the ranks before this one have. */
static int units_before(const struct cu_set *set)
{
    double *units = calloc((size_t)cluster_size(), sizeof *units), sum = 0;
    if (cluster_any(!units)) {
        free(units);
        return 0;
    }
    units[cluster_rank()] = set->n;
    cluster_sum(units, (size_t)cluster_size());
    for (int r = 0; r < cluster_rank(); r++)
        sum += units[r];
    free(units);
    return (int)sum;
}

/* This rank's units, numbered over all ranks. */
static json_t *own_events(const struct cu_set *set, const struct team *team, int pid)
{
    json_t *events = json_array();
    const int before = units_before(set);
    for (int c = 0; c < set->n; c++) {
        char name[128];
        const struct events *of = team_events(team, c);
        snprintf(name, sizeof name, "rank %d %s", cluster_rank(), set->cu[c].name);
        add_name(events, "thread_name", pid, before + c,
                 cluster_size() > 1 ? name : set->cu[c].name);
        for (size_t i = 0; i < of->n; i++)
            add_event(events, pid, before + c, &of->entry[i]);
    }
    return events;
}

enum ek_status trace_add(struct trace *t, const struct cu_set *set, const struct team *team,
                         const char *schedule)
{
    for (int p = 0; p < t->processes; p++)
        if (!strcmp(t->name[p], schedule))
            return EK_OK;
    if (t->processes == (int)(sizeof t->name / sizeof *t->name))
        return EK_OK;
    int pid = t->processes++;
    t->name[pid] = schedule;
    add_name(t->events, "process_name", pid, 0, schedule);
    json_t *all = result_gather(own_events(set, team, pid));
    if (!all)
        FAIL(EK_UNAVAILABLE, "trace: out of memory");
    json_array_extend(t->events, all);
    json_decref(all);
    return EK_OK;
}

enum ek_status trace_write(const struct trace *t, const char *path, const json_t *result)
{
    if (!path)
        return EK_OK;
    if (paje_wanted(path))
        return paje_write(path, t->events);
    json_t *root = json_pack("{s:O s:s s:{s:O}}", "traceEvents", t->events, "displayTimeUnit", "ms",
                             "otherData", "result", result);
    enum ek_status st =
        root ? json_write(path, root) : status_fail(EK_UNAVAILABLE, "trace: out of memory");
    json_decref(root);
    return st;
}

const json_t *trace_events(const struct trace *t)
{
    return t ? t->events : NULL;
}
