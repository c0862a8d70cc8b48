/* cu/bench/trace.c – writes events in the "Trace Event Format" (ph X = complete, M = metadata,
 * times in microseconds) or in the Paje format. */
#include "cu/bench/trace.h"
#include "cu/bench/result.h"
#include "cu/rank/cluster.h"
#include "src/file.h"
#include "src/sort.h"

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
    NEW(struct trace, made, 1, "trace: out of memory");
    made->events = json_array();
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

/* Number of units of the ranks before this one. */
static int units_before(const struct cu_set *set)
{
    OWNED_MEMORY double *units = calloc((size_t)cluster_size(), sizeof *units);
    double sum = 0;
    if (cluster_any(!units))
        return 0;
    units[cluster_rank()] = set->n;
    cluster_sum(units, (size_t)cluster_size());
    for (int r = 0; r < cluster_rank(); r++)
        sum += units[r];
    return (int)sum;
}

/* The events of this rank's units, which are numbered over all ranks. */
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
    json_auto_t *all = result_gather(own_events(set, team, pid));
    if (!all)
        FAIL(EK_UNAVAILABLE, "trace: out of memory");
    json_array_extend(t->events, all);
    return EK_OK;
}

/* ---- the Paje format --------------------------------------------------------------------------*/

/* For ViTE, pajeng, and the tools of StarPU and SimGrid (Paje Trace File, Schnorr 2016): a
 * container for each policy contains one for each unit, whose state changes when an event begins or
 * ends. */

/* Numbers of the events, and their fields beside the number. */
enum { CONTAINER_TYPE = 1, STATE_TYPE, VALUE, CREATE, DESTROY, SET };
static const struct {
    int number;
    const char *name, *fields;
} definitions[] = {
    {CONTAINER_TYPE, "PajeDefineContainerType", "Alias string\n% Type string\n% Name string"},
    {STATE_TYPE, "PajeDefineStateType", "Alias string\n% Type string\n% Name string"},
    {VALUE, "PajeDefineEntityValue", "Alias string\n% Type string\n% Name string\n% Color color"},
    {CREATE, "PajeCreateContainer",
     "Time date\n% Alias string\n% Type string\n% Container string\n% Name string"},
    {DESTROY, "PajeDestroyContainer", "Time date\n% Type string\n% Name string"},
    {SET, "PajeSetState",
     "Time date\n% Type string\n% Container string\n% Value string\n% Tasks string\n% Step int"},
};
static const struct {
    const char *name, *color;
} values[] = {{"idle", "0.9 0.9 0.9"},
              {"compute", "0.2 0.5 0.7"},
              {"move", "0.8 0.5 0.2"},
              {"exchange", "0.6 0.3 0.6"}};

/* A change of a unit's state: to that of `event`, or to idle. */
struct change {
    double time; /* seconds */
    bool begins;
    const json_t *event;
};

static const char *text(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

static bool is_state(const json_t *event)
{
    return !strcmp(text(event, "ph"), "X");
}

/* By time; ends come before beginnings at the same time. */
SORT_BY(by_time, struct change, SORT_UP(time) ?: SORT_UP(begins))

static size_t list_changes(const json_t *events, struct change *list)
{
    size_t i, n = 0;
    json_t *e;
    json_array_foreach(events, i, e)
    {
        if (!is_state(e))
            continue;
        const double start = 1e-6 * json_number_of(e, "ts");
        list[n++] = (struct change){start, true, e};
        list[n++] = (struct change){start + 1e-6 * json_number_of(e, "dur"), false, e};
    }
    qsort(list, n, sizeof *list, by_time);
    return n;
}

static void put_definitions(FILE *out)
{
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        fprintf(out, "%%EventDef %s %d\n%% %s\n%%EndEventDef\n", definitions[i].name,
                definitions[i].number, definitions[i].fields);
    fprintf(out, "%d P 0 \"Policy\"\n%d U P \"Unit\"\n%d S U \"State\"\n", CONTAINER_TYPE,
            CONTAINER_TYPE, STATE_TYPE);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        fprintf(out, "%d %s S \"%s\" \"%s\"\n", VALUE, values[i].name, values[i].name,
                values[i].color);
}

/* Creates (`end` NULL) or destroys the containers of one kind. */
static void put_containers(FILE *out, const json_t *events, const char *kind, const double *end)
{
    const bool units = !strcmp(kind, "thread_name");
    size_t i;
    json_t *e;
    json_array_foreach(events, i, e)
    {
        char self[48], above[48] = "0";
        if (strcmp(text(e, "name"), kind))
            continue;
        snprintf(self, sizeof self, "p%.0f", json_number_of(e, "pid"));
        if (units) {
            memcpy(above, self, sizeof above);
            snprintf(self, sizeof self, "p%.0fu%.0f", json_number_of(e, "pid"),
                     json_number_of(e, "tid"));
        }
        if (end)
            fprintf(out, "%d %.9f %s %s\n", DESTROY, *end, units ? "U" : "P", self);
        else
            fprintf(out, "%d 0 %s %s %s \"%s\"\n", CREATE, self, units ? "U" : "P", above,
                    text(json_object_get(e, "args"), "name"));
    }
}

static void put_changes(FILE *out, const struct change *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *e = list[i].event;
        const char *name = text(e, "name"), *tasks = strchr(name, ' ');
        fprintf(out, "%d %.9f S p%.0fu%.0f %s \"%s\" %.0f\n", SET, list[i].time,
                json_number_of(e, "pid"), json_number_of(e, "tid"),
                list[i].begins ? text(e, "cat") : "idle", list[i].begins && tasks ? tasks + 1 : "",
                json_number_of(json_object_get(e, "args"), "step"));
    }
}

/* Whether the file's name asks for this format. */
static bool paje_wanted(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && !strcmp(path + n - 5, ".paje");
}

static enum ek_status paje_write(const char *path, const json_t *events)
{
    struct file *f;
    OWNED_MEMORY NEW(struct change, list, 2 * json_array_size(events) + 1, "trace: out of memory");
    TRY(file_create(path, &f));
    FILE *out = file_stream(f);
    const size_t n = list_changes(events, list);
    const double end = n ? list[n - 1].time : 0;
    put_definitions(out);
    put_containers(out, events, "process_name", NULL);
    put_containers(out, events, "thread_name", NULL);
    put_changes(out, list, n);
    put_containers(out, events, "thread_name", &end);
    put_containers(out, events, "process_name", &end);
    return file_finish(f);
}

/* ---- writing ----------------------------------------------------------------------------------*/

enum ek_status trace_write(const struct trace *t, const char *path, const json_t *result)
{
    if (!path)
        return EK_OK;
    if (paje_wanted(path))
        return paje_write(path, t->events);
    json_auto_t *root = json_pack("{s:O s:s s:{s:O}}", "traceEvents", t->events, "displayTimeUnit",
                                  "ms", "otherData", "result", result);
    return json_write(path, root);
}

const json_t *trace_events(const struct trace *t)
{
    return t ? t->events : NULL;
}
