/* cu/sim/plan_case.c – reads a case for the simulator and refuses every number that makes no
 * sense. */
#include "cu/sim/plan_case_internal.h"
#include "src/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct demand STEPS = {1, PLAN_CASE_STEPS, false, true},
                           STEP = {0, PLAN_CASE_STEPS, false, true},
                           RATE = {1e-15, 1e15, false, false}, AMOUNT = {0, 1e15, false, false},
                           SHARE = {0, 10, false, false}, SEED = {0, 4294967295., false, true};

void *plan_case_own(struct plan_case_reader *r, size_t count, size_t size)
{
    void *array = arena_take(&r->c->arena, count, size);
    if (!array)
        status_fail(EK_UNAVAILABLE, "%s: out of memory for the case", r->path);
    return array;
}

/* A copy of a text; likewise. */
static const char *own_text(struct plan_case_reader *r, const char *text)
{
    char *copy = plan_case_own(r, strlen(text) + 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

enum ek_status plan_case_numbers(struct plan_case_reader *r, const char *key, const json_t *array,
                                 size_t n, const struct demand *d, const double **out,
                                 size_t *length)
{
    char text[160];
    TRY(demand_that(r->path, json_array_size(array) > 0, key, "a list of numbers, at least one"));
    size_t count = json_array_size(array);
    if (n && count != n)
        FAIL(EK_USAGE, "%s: %s has %zu numbers for %zu tasks", r->path, key, count, n);
    double *x = plan_case_own(r, count, sizeof *x);
    if (!x)
        return EK_UNAVAILABLE;
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%s[%zu]", key, i);
        TRY(demand_number(r->path, text, json_array_get(array, i), d, &x[i]));
    }
    *out = x;
    if (length)
        *length = count;
    return EK_OK;
}

/* ---- tasks ------------------------------------------------------------------------------------*/
static enum ek_status read_faces(struct plan_case_reader *r, const json_t *graph,
                                 const json_t *bytes)
{
    struct sched_job *job = &r->c->sim.job;
    size_t edges = 0;
    char key[160];
    TRY(demand_that(r->path, json_is_array(graph) && json_array_size(graph) == job->n,
                    "tasks.neighbours", "a list with a list for each task"));
    TRY(demand_that(r->path, !bytes || json_array_size(bytes) == job->n, "tasks.face_bytes",
                    "a list with a list for each task"));
    for (size_t t = 0; t < job->n; t++) {
        const json_t *row = json_array_get(graph, t), *width = json_array_get(bytes, t);
        snprintf(key, sizeof key, "tasks.neighbours[%zu]", t);
        TRY(demand_that(r->path, json_is_array(row), key, "a list of tasks"));
        snprintf(key, sizeof key, "tasks.face_bytes[%zu]", t);
        TRY(demand_that(r->path, !bytes || json_array_size(width) == json_array_size(row), key,
                        "a list with a number for each neighbour"));
        edges += json_array_size(row);
    }
    size_t *first = plan_case_own(r, job->n + 1, sizeof *first);
    size_t *neighbour = plan_case_own(r, edges, sizeof *neighbour);
    double *face = plan_case_own(r, edges, sizeof *face);
    if (!first || !neighbour || !face)
        return EK_UNAVAILABLE;
    const struct demand task = {0, (double)job->n - 1, false, true};
    for (size_t t = 0, e = 0; t < job->n; t++) {
        const json_t *row = json_array_get(graph, t), *width = json_array_get(bytes, t);
        for (size_t i = 0; i < json_array_size(row); i++, e++) {
            double x;
            snprintf(key, sizeof key, "tasks.neighbours[%zu][%zu]", t, i);
            TRY(demand_number(r->path, key, json_array_get(row, i), &task, &x));
            neighbour[e] = (size_t)x;
            snprintf(key, sizeof key, "tasks.face_bytes[%zu][%zu]", t, i);
            if (bytes)
                TRY(demand_number(r->path, key, json_array_get(width, i), &AMOUNT, &face[e]));
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

static enum ek_status read_tasks(struct plan_case_reader *r, const json_t *root)
{
    struct sched_job *job = &r->c->sim.job;
    const json_t *tasks = json_object_get(root, "tasks");
    TRY(demand_that(r->path, json_is_object(tasks), "tasks", "an object with the list \"cost\""));
    TRY(DEMAND_KEYS(r->path, "tasks", tasks, "cost", "bytes", "neighbours", "face_bytes"));
    TRY(plan_case_numbers(r, "tasks.cost", json_object_get(tasks, "cost"), 0, &AMOUNT, &job->cost,
                          &job->n));
    job->grain = 1;
    const json_t *bytes = task_member(root, tasks, "bytes");
    if (bytes)
        TRY(plan_case_numbers(r, "tasks.bytes", bytes, job->n, &AMOUNT, &job->bytes, NULL));
    const json_t *graph = task_member(root, tasks, "neighbours");
    return graph ? read_faces(r, graph, task_member(root, tasks, "face_bytes")) : EK_OK;
}

/* ---- the rest ---------------------------------------------------------------------------------*/
static enum ek_status read_link(struct plan_case_reader *r, const json_t *link)
{
    double latency, bandwidth;
    if (!link)
        return EK_OK;
    TRY(DEMAND_KEYS(r->path, "link", link, "latency_s", "bandwidth_Bps"));
    TRY(demand_member(r->path, "link", link, "latency_s", &AMOUNT, &latency));
    TRY(demand_member(r->path, "link", link, "bandwidth_Bps", &RATE, &bandwidth));
    struct sched_link *l = plan_case_own(r, 1, sizeof *l);
    if (!l)
        return EK_UNAVAILABLE;
    *l = (struct sched_link){latency, 1 / bandwidth};
    r->c->sim.job.link = l;
    return EK_OK;
}

static enum ek_status read_exchange(struct plan_case_reader *r, const json_t *exchange)
{
    if (!exchange)
        return EK_OK;
    struct sim_exchange *x = plan_case_own(r, 1, sizeof *x);
    if (!x)
        return EK_UNAVAILABLE;
    TRY(demand_keys(r->path, "exchange", exchange, sim_exchange_names, SIM_PARTS));
    for (int i = 0; i < SIM_PARTS; i++)
        TRY(demand_optional(r->path, "exchange", exchange, sim_exchange_names[i], &AMOUNT,
                            &x->seconds[i]));
    r->c->sim.exchange = x;
    return EK_OK;
}

static int in_time(const void *a, const void *b)
{
    const struct sim_change *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

static enum ek_status read_changes(struct plan_case_reader *r, const json_t *list)
{
    struct sim_case *sim = &r->c->sim;
    size_t n = json_array_size(list);
    if (!list)
        return EK_OK;
    TRY(demand_that(r->path, json_is_array(list), "changes", "a list"));
    struct sim_change *change = plan_case_own(r, n, sizeof *change);
    if (!change)
        return EK_UNAVAILABLE;
    const struct demand unit = {0, sim->ncu - 1, false, true};
    for (size_t i = 0; i < n; i++) {
        char where[96];
        const json_t *entry = json_array_get(list, i);
        double number[2];
        snprintf(where, sizeof where, "changes[%zu]", i);
        TRY(DEMAND_KEYS(r->path, where, entry, "unit", "step", "after_s", "factor"));
        TRY(demand_member(r->path, where, entry, "unit", &unit, &number[0]));
        TRY(demand_member(r->path, where, entry, "step", &STEP, &number[1]));
        change[i] = (struct sim_change){.unit = (int)number[0], .step = (int)number[1]};
        TRY(demand_optional(r->path, where, entry, "after_s", &AMOUNT, &change[i].after));
        TRY(demand_optional(r->path, where, entry, "factor", &AMOUNT, &change[i].factor));
        TRY(demand_that(r->path, change[i].factor == 0 || change[i].factor >= RATE.min,
                        strcat(where, ".factor"), "0 or at least 1e-15"));
    }
    qsort(change, n, sizeof *change, in_time);
    sim->change = change;
    sim->nchanges = (int)n;
    return EK_OK;
}

static enum ek_status read_root(struct plan_case_reader *r, const json_t *root)
{
    struct sim_case *sim = &r->c->sim;
    double steps = 1, seed = 1;
    TRY(DEMAND_KEYS(r->path, "", root, "name", "units", "tasks", "steps", "link", "between_s",
                    "exchange", "cold", "noise", "seed", "changes", "bytes", "neighbours",
                    "face_bytes"));
    TRY(read_tasks(r, root));
    TRY(plan_case_read_units(r, root));
    TRY(demand_member(r->path, "", root, "steps", &STEPS, &steps));
    TRY(demand_optional(r->path, "", root, "noise", &SHARE, &sim->noise));
    TRY(demand_optional(r->path, "", root, "seed", &SEED, &seed));
    sim->steps = (int)steps;
    sim->seed = (unsigned)seed;
    TRY(demand_flag(r->path, "", root, "cold", &sim->cold));
    TRY(demand_optional(r->path, "", root, "between_s", &AMOUNT, &sim->between));
    TRY(read_link(r, json_object_get(root, "link")));
    TRY(read_exchange(r, json_object_get(root, "exchange")));
    TRY(read_changes(r, json_object_get(root, "changes")));
    const char *name = json_string_value(json_object_get(root, "name"));
    r->c->name = own_text(r, name ? name : r->path);
    return r->c->name ? EK_OK : EK_UNAVAILABLE;
}

/* ---- records ----------------------------------------------------------------------------------*/
/* Of all repeats: a run that is reported because it did not verify need not be the median. */
static enum ek_status median_of_all(struct plan_case_reader *r, const char *where,
                                    const json_t *list, double *seconds)
{
    const double *all;
    size_t n;
    char key[64];
    snprintf(key, sizeof key, "%s.seconds_all", where);
    if (!json_array_size(list))
        return EK_OK;
    TRY(plan_case_numbers(r, key, list, 0, &AMOUNT, &all, &n));
    sort_numbers((double *)all, n);
    *seconds = all[(n - 1) / 2];
    return EK_OK;
}

static enum ek_status read_measured(struct plan_case_reader *r, const json_t *run, size_t i,
                                    struct plan_measured *m)
{
    char where[32];
    const char *name = json_string_value(json_object_get(run, "schedule"));
    snprintf(where, sizeof where, "runs[%zu]", i);
    TRY(demand_that(r->path, name, where, "a run with its schedule"));
    m->schedule = own_text(r, name);
    if (!m->schedule)
        return EK_UNAVAILABLE;
    TRY(demand_member(r->path, where, run, "seconds", &AMOUNT, &m->seconds));
    return median_of_all(r, where, json_object_get(run, "seconds_all"), &m->seconds);
}

/* What a program wrote: one run, or a comparison's. Interrupted runs are of no use. */
static enum ek_status read_record(struct plan_case_reader *r, const json_t *root)
{
    const json_t *runs = json_object_get(root, "runs");
    const size_t n = runs ? json_array_size(runs) : 1;
    struct plan_measured *m = plan_case_own(r, n, sizeof *m);
    if (!m)
        return EK_UNAVAILABLE;
    if (json_is_null(json_object_get(root, "case")))
        FAIL(EK_USAGE,
             "%s: case is null: some unit did nothing in these runs; record a comparison, or runs "
             "that know a profile",
             r->path);
    TRY(read_root(r, json_object_get(root, "case")));
    r->c->measured = m;
    for (size_t i = 0; i < n; i++) {
        const json_t *run = runs ? json_array_get(runs, i) : root;
        if (!json_is_true(json_object_get(run, "interrupted")))
            TRY(read_measured(r, run, i, &m[r->c->nmeasured++]));
    }
    return EK_OK;
}

/* A trace carries it beside its events. */
const json_t *plan_case_record(const json_t *root)
{
    const json_t *traced = json_object_get(json_object_get(root, "otherData"), "result");
    return traced ? traced : root;
}

enum ek_status plan_case_open(struct plan_case *c, const char *path)
{
    json_t *root;
    TRY(demand_open(path, &root));
    struct plan_case_reader r = {c, strcmp(path, "-") ? path : "standard input"};
    const json_t *record = plan_case_record(root);
    *c = (struct plan_case){0};
    enum ek_status st;
    if (json_object_get(record, "case"))
        st = read_record(&r, record);
    else if (json_object_get(record, "program") || json_object_get(record, "runs"))
        st = status_fail(EK_USAGE, "%s: has runs, but no case: several ranks, or too many tasks",
                         r.path);
    else
        st = read_root(&r, record);
    json_decref(root);
    if (st)
        plan_case_close(c);
    return st;
}

void plan_case_close(struct plan_case *c)
{
    arena_free(&c->arena);
    *c = (struct plan_case){0};
}
