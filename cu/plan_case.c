/* cu/plan_case.c – reads a case for the simulator and refuses every number that makes no sense. */
#include "cu/plan_case.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNITS = 1 << 20, MOST_STEPS = 1 << 24, MOST_SPACES = 4096 };

/* Where we are: for messages and for what is to be freed. */
struct reader {
    struct plan_case *c;
    const char *path;
    const char *space[MOST_SPACES]; /* names of spaces 1, 2, …, borrowed; NULL = nameless */
    int nspaces;
};

/* ---- numbers ----------------------------------------------------------------------------------*/
/* What a member must be. */
struct range {
    double min, max;
    bool open; /* min itself is not allowed */
    bool whole;
};

static const struct range COUNT = {1, MOST_UNITS, false, true},
                          STEPS = {1, MOST_STEPS, false, true}, STEP = {0, MOST_STEPS, false, true},
                          RATE = {0, 1e15, true, false}, AMOUNT = {0, 1e15, false, false},
                          SHARE = {0, 10, false, false}, SEED = {0, 4294967295., false, true};

static enum ek_status check(struct reader *r, const char *key, const json_t *value,
                            const struct range *range, double *out)
{
    if (!value)
        FAIL(EK_USAGE, "%s: %s is missing", r->path, key);
    if (!json_is_number(value))
        FAIL(EK_USAGE, "%s: %s is not a (finite) number", r->path, key);
    double x = json_number_value(value);
    if (!(x >= range->min && x <= range->max) || (range->open && x == range->min))
        FAIL(EK_USAGE, "%s: %s = %g is out of range, it must be %s %g and at most %g", r->path, key,
             x, range->open ? "more than" : "at least", range->min, range->max);
    if (range->whole && x != floor(x))
        FAIL(EK_USAGE, "%s: %s = %g is not a whole number", r->path, key, x);
    *out = x;
    return EK_OK;
}

/* A member of an object, which must be there. */
static enum ek_status member(struct reader *r, const char *where, const json_t *object,
                             const char *name, const struct range *range, double *out)
{
    char key[160];
    snprintf(key, sizeof key, "%s%s%s", where, *where ? "." : "", name);
    return check(r, key, json_object_get(object, name), range, out);
}

/* One that need not be; *out keeps its value then. */
static enum ek_status optional(struct reader *r, const char *where, const json_t *object,
                               const char *name, const struct range *range, double *out)
{
    return json_object_get(object, name) ? member(r, where, object, name, range, out) : EK_OK;
}

static enum ek_status need(struct reader *r, bool right, const char *key, const char *what)
{
    if (!right)
        FAIL(EK_USAGE, "%s: %s must be %s", r->path, key, what);
    return EK_OK;
}

/* A zeroed array that lives as long as the case; NULL = out of memory, which has been said. */
static void *own(struct reader *r, size_t count, size_t size)
{
    struct plan_case *c = r->c;
    void **more = realloc(c->owned, ((size_t)c->nowned + 1) * sizeof *more);
    void *array = more ? calloc(count ? count : 1, size) : NULL;
    if (more)
        c->owned = more;
    if (array)
        c->owned[c->nowned++] = array;
    else
        status_fail(EK_LACK, "%s: out of memory for the case", r->path);
    return array;
}

/* An array of n numbers (n = 0: of any length, which goes to *length). */
static enum ek_status numbers(struct reader *r, const char *key, const json_t *array, size_t n,
                              const struct range *range, const double **out, size_t *length)
{
    char text[160];
    TRY(need(r, json_is_array(array) && json_array_size(array), key, "a list of numbers"));
    size_t count = json_array_size(array);
    if (n && count != n)
        FAIL(EK_USAGE, "%s: %s has %zu numbers for %zu tasks", r->path, key, count, n);
    double *x = own(r, count, sizeof *x);
    if (!x)
        return EK_LACK;
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%s[%zu]", key, i);
        TRY(check(r, text, json_array_get(array, i), range, &x[i]));
    }
    *out = x;
    if (length)
        *length = count;
    return EK_OK;
}

/* ---- tasks ------------------------------------------------------------------------------------*/
static enum ek_status read_faces(struct reader *r, const json_t *graph, const json_t *bytes)
{
    struct sched_job *job = &r->c->sim.job;
    size_t edges = 0;
    char key[160];
    TRY(need(r, json_is_array(graph) && json_array_size(graph) == job->n, "tasks.neighbours",
             "a list with a list for each task"));
    for (size_t t = 0; t < job->n; t++)
        edges += json_array_size(json_array_get(graph, t));
    size_t *first = own(r, job->n + 1, sizeof *first);
    size_t *neighbour = own(r, edges, sizeof *neighbour);
    double *face = own(r, edges, sizeof *face);
    if (!first || !neighbour || !face)
        return EK_LACK;
    const struct range task = {0, (double)job->n - 1, false, true};
    for (size_t t = 0, e = 0; t < job->n; t++) {
        const json_t *row = json_array_get(graph, t), *width = json_array_get(bytes, t);
        for (size_t i = 0; i < json_array_size(row); i++, e++) {
            double x;
            snprintf(key, sizeof key, "tasks.neighbours[%zu][%zu]", t, i);
            TRY(check(r, key, json_array_get(row, i), &task, &x));
            neighbour[e] = (size_t)x;
            snprintf(key, sizeof key, "tasks.face_bytes[%zu][%zu]", t, i);
            if (bytes)
                TRY(check(r, key, json_array_get(width, i), &AMOUNT, &face[e]));
        }
        first[t + 1] = e;
    }
    job->first = first;
    job->neighbour = neighbour;
    job->face_bytes = face;
    return EK_OK;
}

/* A member of tasks, or one beside it. */
static const json_t *task_member(const json_t *root, const json_t *tasks, const char *name)
{
    const json_t *value = json_object_get(tasks, name);
    if (!value)
        value = json_object_get(root, name);
    return json_is_null(value) ? NULL : value;
}

static enum ek_status read_tasks(struct reader *r, const json_t *root)
{
    struct sched_job *job = &r->c->sim.job;
    const json_t *tasks = json_object_get(root, "tasks");
    TRY(need(r, json_is_object(tasks), "tasks", "an object with the list \"cost\""));
    TRY(numbers(r, "tasks.cost", json_object_get(tasks, "cost"), 0, &AMOUNT, &job->cost, &job->n));
    job->grain = 1;
    const json_t *bytes = task_member(root, tasks, "bytes");
    if (bytes)
        TRY(numbers(r, "tasks.bytes", bytes, job->n, &AMOUNT, &job->bytes, NULL));
    const json_t *graph = task_member(root, tasks, "neighbours");
    return graph ? read_faces(r, graph, task_member(root, tasks, "face_bytes")) : EK_OK;
}

/* ---- units ------------------------------------------------------------------------------------*/
static enum ek_status find_space(struct reader *r, const char *key, const char *name, int *space)
{
    *space = 0;
    if (name && !strcmp(name, "host"))
        return EK_OK;
    for (int i = 0; name && i < r->nspaces; i++)
        if (r->space[i] && !strcmp(r->space[i], name)) {
            *space = i + 1;
            return EK_OK;
        }
    if (r->nspaces == MOST_SPACES)
        FAIL(EK_USAGE, "%s: %s: more than %d spaces", r->path, key, MOST_SPACES);
    r->space[r->nspaces++] = name;
    *space = r->nspaces;
    return EK_OK;
}

/* One entry of the list: `count` units from `unit` on (unit NULL: only counts them). */
static enum ek_status read_unit(struct reader *r, const json_t *entry, size_t i,
                                struct sim_unit *unit, int *count)
{
    char where[64], key[96];
    double number = 1, width = 1;
    struct sim_unit u = {.speed = 1};
    snprintf(where, sizeof where, "units[%zu]", i);
    TRY(need(r, json_is_object(entry), where, "an object"));
    TRY(member(r, where, entry, "count", &COUNT, &number));
    *count = (int)number;
    if (!unit)
        return EK_OK;
    snprintf(key, sizeof key, "%s.kind", where);
    const char *kind = json_string_value(json_object_get(entry, "kind"));
    bool device = kind && !strcmp(kind, "device");
    TRY(need(r, device || (kind && !strcmp(kind, "cpu")), key, "\"cpu\" or \"device\""));
    u.kind = device ? CU_DEVICE : CU_CPU;
    const json_t *seconds = json_object_get(entry, "seconds");
    TRY((seconds ? optional : member)(r, where, entry, "speed", &RATE, &u.speed));
    TRY(optional(r, where, entry, "width", &COUNT, &width));
    TRY(optional(r, where, entry, "fixed_s", &AMOUNT, &u.fixed));
    TRY(optional(r, where, entry, "contention", &SHARE, &u.contention));
    u.width = (int)width;
    snprintf(key, sizeof key, "%s.seconds", where);
    if (seconds)
        TRY(numbers(r, key, seconds, r->c->sim.job.n, &AMOUNT, &u.seconds, NULL));
    const json_t *space = json_object_get(entry, "space");
    snprintf(key, sizeof key, "%s.space", where);
    TRY(need(r, !space || json_is_string(space), key, "a name"));
    for (int j = 0; j < *count; j++) {
        if (space || device)
            TRY(find_space(r, key, json_string_value(space), &u.space));
        unit[j] = u;
    }
    return EK_OK;
}

static enum ek_status read_units(struct reader *r, const json_t *root)
{
    struct sim_case *sim = &r->c->sim;
    const json_t *list = json_object_get(root, "units");
    double total = 0;
    int count;
    TRY(need(r, json_is_array(list) && json_array_size(list), "units", "a list of units"));
    for (size_t i = 0; i < json_array_size(list); i++) {
        TRY(read_unit(r, json_array_get(list, i), i, NULL, &count));
        total += count;
    }
    if (total > MOST_UNITS)
        FAIL(EK_USAGE, "%s: units: %g of them are more than %d", r->path, total, MOST_UNITS);
    struct sim_unit *unit = own(r, (size_t)total, sizeof *unit);
    if (!unit)
        return EK_LACK;
    sim->unit = unit;
    for (size_t i = 0; i < json_array_size(list); i++, sim->ncu += count)
        TRY(read_unit(r, json_array_get(list, i), i, unit + sim->ncu, &count));
    return EK_OK;
}

/* ---- the rest ---------------------------------------------------------------------------------*/
static enum ek_status read_link(struct reader *r, const json_t *link)
{
    double latency, bandwidth;
    if (!link)
        return EK_OK;
    TRY(need(r, json_is_object(link), "link", "an object"));
    TRY(member(r, "link", link, "latency_s", &AMOUNT, &latency));
    TRY(member(r, "link", link, "bandwidth_Bps", &RATE, &bandwidth));
    struct sched_link *l = own(r, 1, sizeof *l);
    if (!l)
        return EK_LACK;
    *l = (struct sched_link){latency, 1 / bandwidth};
    r->c->sim.job.link = l;
    return EK_OK;
}

static int in_time(const void *a, const void *b)
{
    const struct sim_change *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

static enum ek_status read_changes(struct reader *r, const json_t *list)
{
    struct sim_case *sim = &r->c->sim;
    size_t n = json_array_size(list);
    if (!list)
        return EK_OK;
    TRY(need(r, json_is_array(list), "changes", "a list"));
    struct sim_change *change = own(r, n, sizeof *change);
    if (!change)
        return EK_LACK;
    const struct range unit = {0, sim->ncu - 1, false, true};
    for (size_t i = 0; i < n; i++) {
        char key[2][96];
        const json_t *entry = json_array_get(list, i);
        double number[2];
        snprintf(key[0], sizeof key[0], "changes[%zu].unit", i);
        TRY(check(r, key[0], json_object_get(entry, "unit"), &unit, &number[0]));
        snprintf(key[1], sizeof key[1], "changes[%zu].step", i);
        TRY(check(r, key[1], json_object_get(entry, "step"), &STEP, &number[1]));
        change[i] = (struct sim_change){.unit = (int)number[0], .step = (int)number[1]};
        snprintf(key[0], sizeof key[0], "changes[%zu]", i);
        TRY(optional(r, key[0], entry, "after_s", &AMOUNT, &change[i].after));
        TRY(optional(r, key[0], entry, "factor", &AMOUNT, &change[i].factor));
    }
    qsort(change, n, sizeof *change, in_time);
    sim->change = change;
    sim->nchanges = (int)n;
    return EK_OK;
}

static enum ek_status read_root(struct reader *r, const json_t *root)
{
    struct sim_case *sim = &r->c->sim;
    double steps = 1, seed = 1;
    TRY(need(r, json_is_object(root), "the case", "an object"));
    TRY(read_tasks(r, root));
    TRY(read_units(r, root));
    TRY(member(r, "", root, "steps", &STEPS, &steps));
    TRY(optional(r, "", root, "noise", &SHARE, &sim->noise));
    TRY(optional(r, "", root, "seed", &SEED, &seed));
    sim->steps = (int)steps;
    sim->seed = (unsigned)seed;
    sim->cold = json_is_true(json_object_get(root, "cold"));
    TRY(read_link(r, json_object_get(root, "link")));
    TRY(read_changes(r, json_object_get(root, "changes")));
    const char *name = json_string_value(json_object_get(root, "name"));
    r->c->name = strdup(name ? name : r->path);
    return r->c->name ? EK_OK : status_fail(EK_LACK, "%s: out of memory", r->path);
}

/* JSON has no NaN, infinity or 1e999, but programs write them. They become {}, which is no number
 * either, so that the reader meets them where it knows the key. */
static void blank_non_numbers(char *text)
{
    for (char *p = text; *p;) {
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++)
                if (*p == '\\' && p[1])
                    p++;
            p += *p == '"';
            continue;
        }
        size_t n = strspn(p, "+-.0123456789abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        char *end;
        double x = n ? strtod(p, &end) : 0;
        bool whole = n && strspn(p, "+-0123456789") == n;
        if (n >= 2 && end == p + n && (!isfinite(x) || (whole && fabs(x) > 9e18))) {
            memset(p, ' ', n);
            memcpy(p, "{}", 2);
        }
        p += n ? n : 1;
    }
}

enum ek_status plan_case_parse(struct plan_case *c, const char *path, const char *text)
{
    *c = (struct plan_case){0};
    struct reader *r = calloc(1, sizeof *r);
    char *copy = strdup(text);
    json_t *root = NULL;
    json_error_t error;
    enum ek_status st;
    if (!r || !copy) {
        st = status_fail(EK_LACK, "%s: out of memory", path);
    } else {
        r->c = c;
        r->path = path;
        blank_non_numbers(copy);
        root = json_loads(copy, JSON_REJECT_DUPLICATES, &error);
        st = root ? read_root(r, root)
                  : status_fail(EK_USAGE, "%s:%d: %s", path, error.line, error.text);
    }
    json_decref(root);
    free(copy);
    free(r);
    if (st)
        plan_case_close(c);
    return st;
}

static char *read_all(FILE *in)
{
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    while (text) {
        used += fread(text + used, 1, room - used - 1, in);
        if (used < room - 1)
            break;
        char *more = realloc(text, room *= 2);
        if (!more)
            free(text);
        text = more;
    }
    if (text)
        text[used] = 0;
    return text;
}

enum ek_status plan_case_open(struct plan_case *c, const char *path)
{
    FILE *in = strcmp(path, "-") ? fopen(path, "r") : stdin;
    if (!in)
        FAIL(EK_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    char *text = read_all(in);
    bool bad = ferror(in);
    if (in != stdin)
        fclose(in);
    enum ek_status st;
    if (!text || bad)
        st = status_fail(EK_USAGE, "%s: cannot be read", path);
    else
        st = plan_case_parse(c, in == stdin ? "standard input" : path, text);
    free(text);
    return st;
}

void plan_case_close(struct plan_case *c)
{
    for (int i = 0; i < c->nowned; i++)
        free(c->owned[i]);
    free(c->owned);
    free(c->name);
    *c = (struct plan_case){0};
}
