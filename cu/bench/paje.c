/* cu/bench/paje.c – writes events in the Paje format (Paje Trace File, Schnorr 2016): a container
 * for each policy, in it one for each unit, whose state changes where an event begins and ends. */
#include "cu/bench/paje.h"
#include "src/arena.h"
#include "src/file.h"

#include <stdlib.h>
#include <string.h>

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

/* A unit's state changes: to what `event` says, or to idle. */
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

/* By time; at the same time ends come first. */
static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->begins - y->begins;
}

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

/* Opens (with `end` NULL) or closes the containers of one kind. */
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

bool paje_wanted(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && !strcmp(path + n - 5, ".paje");
}

enum ek_status paje_write(const char *path, const json_t *events)
{
    struct file *f;
    NEW(struct change, list, 2 * json_array_size(events) + 1, "trace: out of memory");
    enum ek_status st = file_create(path, &f);
    if (!st) {
        FILE *out = file_stream(f);
        const size_t n = list_changes(events, list);
        const double end = n ? list[n - 1].time : 0;
        put_definitions(out);
        put_containers(out, events, "process_name", NULL);
        put_containers(out, events, "thread_name", NULL);
        put_changes(out, list, n);
        put_containers(out, events, "thread_name", &end);
        put_containers(out, events, "process_name", &end);
        st = file_finish(f);
    }
    free(list);
    return st;
}
