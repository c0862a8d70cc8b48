/* cu/sim/plan_case.c – reads a case for the simulator and rejects every absurd number. */
#include "src/sort.h"
#include "cu/sim/plan_case.h"
#include "src/demand.h"

enum { MOST_UNITS = 1 << 20, MOST_STEPS = 1 << 24, MOST_PLACES = 4096 };

/* Names of memory nodes or of nodes, in order of appearance; borrowed, NULL = nameless. */
struct places {
    const char *what;
    int first; /* number of the first */
    int n;
    const char *name[MOST_PLACES];
};

/* The case being read, and the file name for messages. */
struct reader {
    struct plan_case *c;
    const char *path;
    struct places memories, nodes;
};

static const struct demand STEPS = {1, MOST_STEPS, false, true},
                           STEP = {0, MOST_STEPS, false, true}, RATE = {1e-15, 1e15, false, false},
                           AMOUNT = {0, 1e15, false, false}, SHARE = {0, 10, false, false},
                           SEED = {0, 4294967295., false, true},
                           COUNT = {1, MOST_UNITS, false, true}, SLOWNESS = {0, 1e6, false, false};

/* A zeroed array that lives as long as the case; NULL: out of memory, already reported. */
static void *own(struct reader *r, size_t count, size_t size)
{
    void *array = arena_take(&r->c->arena, count, size);
    if (!array)
        status_fail(EK_UNAVAILABLE, "%s: out of memory for the case", r->path);
    return array;
}

/* A copy of a text; likewise. */
static const char *own_text(struct reader *r, const char *text)
{
    char *copy = own(r, strlen(text) + 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* Reads an array of n numbers (n = 0: any length, which is stored in *length). */
static enum ek_status read_numbers(struct reader *r, const char *key, const json_t *array, size_t n,
                                   const struct demand *d, const double **out, size_t *length)
{
    char text[160];
    TRY(demand_that(r->path, json_array_size(array) > 0, key, "a list of at least one number"));
    size_t count = json_array_size(array);
    if (n && count != n)
        FAIL(EK_USAGE, "%s: %s has %zu numbers for %zu tasks", r->path, key, count, n);
    double *x = own(r, count, sizeof *x);
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
/* Both lists have a list for each task, of equal lengths; *edges: their sum. */
static enum ek_status check_faces(const struct reader *r, const json_t *graph, const json_t *bytes,
                                  size_t *edges)
{
    const size_t n = r->c->sim.job.n;
    char key[160];
    TRY(demand_that(r->path, json_is_array(graph) && json_array_size(graph) == n,
                    "tasks.neighbours", "a list with a list for each task"));
    TRY(demand_that(r->path, !bytes || json_array_size(bytes) == n, "tasks.face_bytes",
                    "a list with a list for each task"));
    *edges = 0;
    for (size_t t = 0; t < n; t++) {
        const json_t *row = json_array_get(graph, t), *width = json_array_get(bytes, t);
        snprintf(key, sizeof key, "tasks.neighbours[%zu]", t);
        TRY(demand_that(r->path, json_is_array(row), key, "a list of tasks"));
        snprintf(key, sizeof key, "tasks.face_bytes[%zu]", t);
        TRY(demand_that(r->path, !bytes || json_array_size(width) == json_array_size(row), key,
                        "a list with a number for each neighbour"));
        *edges += json_array_size(row);
    }
    return EK_OK;
}

static enum ek_status read_faces(struct reader *r, const json_t *graph, const json_t *bytes)
{
    struct sched_job *job = &r->c->sim.job;
    size_t edges;
    char key[160];
    TRY(check_faces(r, graph, bytes, &edges));
    size_t *first = own(r, job->n + 1, sizeof *first);
    size_t *neighbour = own(r, edges, sizeof *neighbour);
    double *face = own(r, edges, sizeof *face);
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

/* A member of `tasks`, or of the root. */
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
    TRY(demand_that(r->path, json_is_object(tasks), "tasks", "an object with the list \"cost\""));
    TRY(DEMAND_KEYS(r->path, "tasks", tasks, "cost", "bytes", "neighbours", "face_bytes"));
    TRY(read_numbers(r, "tasks.cost", json_object_get(tasks, "cost"), 0, &AMOUNT, &job->cost,
                     &job->n));
    job->grain = 1;
    const json_t *bytes = task_member(root, tasks, "bytes");
    if (bytes)
        TRY(read_numbers(r, "tasks.bytes", bytes, job->n, &AMOUNT, &job->bytes, NULL));
    const json_t *graph = task_member(root, tasks, "neighbours");
    return graph ? read_faces(r, graph, task_member(root, tasks, "face_bytes")) : EK_OK;
}

/* ---- where units live -------------------------------------------------------------------------*/
/* The number of a named place; without a name, that of a new place. */
static enum ek_status find_place(struct reader *r, struct places *p, const char *key,
                                 const char *name, int *number)
{
    for (int i = 0; name && i < p->n; i++)
        if (p->name[i] && !strcmp(p->name[i], name)) {
            *number = p->first + i;
            return EK_OK;
        }
    if (p->n == MOST_PLACES)
        FAIL(EK_USAGE, "%s: %s: more than %d %s", r->path, key, MOST_PLACES, p->what);
    *number = p->first + p->n;
    p->name[p->n++] = name;
    return EK_OK;
}

/* An optional member that is a name. */
static enum ek_status read_name(struct reader *r, const char *where, const json_t *entry,
                                const char *member, char key[96], const char **name)
{
    const json_t *value = json_object_get(entry, member);
    snprintf(key, 96, "%s.%s", where, member);
    TRY(demand_that(r->path, !value || json_is_string(value), key, "a name"));
    *name = json_string_value(value);
    return EK_OK;
}

/* A device without a named memory node has its own. */
static enum ek_status read_memory(struct reader *r, const char *where, const json_t *entry,
                                  struct sim_unit *u)
{
    char key[96];
    const char *name;
    TRY(read_name(r, where, entry, "space", key, &name));
    u->memory = CU_HOST_MEMORY;
    if (name ? !strcmp(name, "host") : u->kind == CU_CPU)
        return EK_OK;
    return find_place(r, &r->memories, key, name, &u->memory);
}

/* Units of one node slow one another; without a name the memory node counts. */
static enum ek_status read_node(struct reader *r, const char *where, const json_t *entry,
                                struct sim_unit *u)
{
    char key[96];
    const char *name;
    TRY(read_name(r, where, entry, "node", key, &name));
    u->node = u->memory;
    return name ? find_place(r, &r->nodes, key, name, &u->node) : EK_OK;
}

/* ---- how neighbours slow a unit ---------------------------------------------------------------*/
/* Reads a curve: a number (one busy neighbour's share) or [[busy, share], …]. */
static enum ek_status read_curve(struct reader *r, const char *key, const json_t *value,
                                 struct sim_curve *curve)
{
    const char *path = r->path;
    const bool list = json_is_array(value);
    const size_t n = list ? json_array_size(value) : 1;
    double(*point)[2] = own(r, n, sizeof *point);
    if (!point)
        return EK_UNAVAILABLE;
    for (size_t i = 0; list && i < n; i++) {
        char name[192];
        const json_t *pair = json_array_get(value, i);
        snprintf(name, sizeof name, "%s[%zu]", key, i);
        TRY(demand_that(path, json_array_size(pair) == 2, name, "[units, share]"));
        TRY(demand_number(path, name, json_array_get(pair, 0), &COUNT, &point[i][0]));
        TRY(demand_number(path, name, json_array_get(pair, 1), &SLOWNESS, &point[i][1]));
        TRY(demand_that(path, i == 0 || point[i][0] > point[i - 1][0], name,
                        "for more units than the point before"));
    }
    if (!list) {
        point[0][0] = 1;
        TRY(demand_number(path, key, value, &SLOWNESS, &point[0][1]));
    }
    *curve = (struct sim_curve){(int)n, (const double(*)[2])point};
    return EK_OK;
}

/* One curve for all neighbours, or one for each kind. */
static enum ek_status read_contention(struct reader *r, const char *where, const json_t *entry,
                                      struct sim_unit *u)
{
    static const char *const kinds[] = {[CU_CPU] = "cpu", [CU_DEVICE] = "device"};
    const json_t *value = json_object_get(entry, "contention");
    const bool each = json_is_object(value);
    for (int kind = 0; value && kind < 2; kind++) {
        char key[112];
        const json_t *curve = each ? json_object_get(value, kinds[kind]) : value;
        snprintf(key, sizeof key, "%s.contention%s%s", where, each ? "." : "",
                 each ? kinds[kind] : "");
        if (curve)
            TRY(read_curve(r, key, curve, &u->slowed[kind]));
    }
    return EK_OK;
}

/* ---- units ------------------------------------------------------------------------------------*/
static enum ek_status read_kind(struct reader *r, const char *where, const json_t *entry,
                                struct sim_unit *u)
{
    char key[96];
    const char *kind = json_string_value(json_object_get(entry, "kind"));
    const bool device = kind && !strcmp(kind, "device");
    snprintf(key, sizeof key, "%s.kind", where);
    u->kind = device ? CU_DEVICE : CU_CPU;
    return demand_that(r->path, device || (kind && !strcmp(kind, "cpu")), key,
                       "\"cpu\" or \"device\"");
}

static enum ek_status read_speed(struct reader *r, const char *where, const json_t *entry,
                                 struct sim_unit *u)
{
    const char *path = r->path;
    const json_t *seconds = json_object_get(entry, "seconds");
    double width = 1;
    char key[96];
    TRY((seconds ? demand_optional : demand_member)(path, where, entry, "speed", &RATE, &u->speed));
    TRY(demand_optional(path, where, entry, "width", &COUNT, &width));
    TRY(demand_optional(path, where, entry, "fixed_s", &AMOUNT, &u->fixed));
    TRY(demand_optional(path, where, entry, "launch_s", &AMOUNT, &u->launch));
    TRY(demand_flag(path, where, entry, "batches", &u->batches));
    u->width = (int)width;
    snprintf(key, sizeof key, "%s.seconds", where);
    if (seconds)
        TRY(read_numbers(r, key, seconds, r->c->sim.job.n, &AMOUNT, &u->seconds, NULL));
    return EK_OK;
}

/* Factors of each task in several steps. */
static enum ek_status read_usual(struct reader *r, const char *where, const json_t *steps,
                                 struct sim_unit *u)
{
    const size_t count = json_array_size(steps);
    const double **usual = own(r, count, sizeof *usual);
    if (!usual)
        return EK_UNAVAILABLE;
    for (size_t i = 0; i < count; i++) {
        char key[128];
        snprintf(key, sizeof key, "%s[%zu]", where, i);
        TRY(read_numbers(r, key, json_array_get(steps, i), r->c->sim.job.n, &AMOUNT, &usual[i],
                         NULL));
    }
    u->usual = usual;
    u->nusual = (int)count;
    return EK_OK;
}

static enum ek_status read_noise(struct reader *r, const char *where, const json_t *entry,
                                 struct sim_unit *u)
{
    const json_t *noise = json_object_get(entry, "noise");
    char key[96];
    size_t n;
    snprintf(key, sizeof key, "%s.noise", where);
    if (!noise)
        return EK_OK;
    if (json_is_array(json_array_get(noise, 0)))
        return read_usual(r, key, noise, u);
    TRY(read_numbers(r, key, noise, 0, &AMOUNT, &u->noise, &n));
    u->nnoise = (int)n;
    return EK_OK;
}

static enum ek_status read_interrupted(struct reader *r, const char *where, const json_t *entry,
                                       struct sim_unit *u)
{
    const json_t *interrupted = json_object_get(entry, "interrupted");
    char key[96];
    snprintf(key, sizeof key, "%s.interrupted", where);
    if (!interrupted)
        return EK_OK;
    TRY(DEMAND_KEYS(r->path, key, interrupted, "per_s", "seconds"));
    TRY(demand_member(r->path, key, interrupted, "per_s", &AMOUNT, &u->interruptions));
    return demand_member(r->path, key, interrupted, "seconds", &AMOUNT, &u->interruption);
}

static enum ek_status read_count(struct reader *r, const json_t *entry, size_t i, int *count)
{
    double number;
    char where[64];
    snprintf(where, sizeof where, "units[%zu]", i);
    TRY(DEMAND_KEYS(r->path, where, entry, "kind", "count", "name", "speed", "space", "node",
                    "width", "fixed_s", "launch_s", "batches", "contention", "seconds", "noise",
                    "interrupted"));
    TRY(demand_member(r->path, where, entry, "count", &COUNT, &number));
    *count = (int)number;
    return EK_OK;
}

/* Reads one entry of the list: `count` units, from `unit` on. */
static enum ek_status read_entry(struct reader *r, const json_t *entry, size_t i, int count,
                                 struct sim_unit *unit)
{
    struct sim_unit u = {.speed = 1};
    char where[64];
    snprintf(where, sizeof where, "units[%zu]", i);
    TRY(read_kind(r, where, entry, &u));
    TRY(read_speed(r, where, entry, &u));
    TRY(read_contention(r, where, entry, &u));
    TRY(read_noise(r, where, entry, &u));
    TRY(read_interrupted(r, where, entry, &u));
    for (int j = 0; j < count; j++) {
        TRY(read_memory(r, where, entry, &u));
        TRY(read_node(r, where, entry, &u));
        unit[j] = u;
    }
    return EK_OK;
}

static enum ek_status read_list(struct reader *r, const json_t *list)
{
    struct sim_case *sim = &r->c->sim;
    double total = 0;
    int count;
    for (size_t i = 0; i < json_array_size(list); i++) {
        TRY(read_count(r, json_array_get(list, i), i, &count));
        total += count;
    }
    if (total > MOST_UNITS)
        FAIL(EK_USAGE, "%s: units: %g are more than %d", r->path, total, MOST_UNITS);
    struct sim_unit *unit = own(r, (size_t)total, sizeof *unit);
    if (!unit)
        return EK_UNAVAILABLE;
    sim->unit = unit;
    for (size_t i = 0; i < json_array_size(list); i++, sim->ncu += count) {
        TRY(read_count(r, json_array_get(list, i), i, &count));
        TRY(read_entry(r, json_array_get(list, i), i, count, unit + sim->ncu));
    }
    return EK_OK;
}

/* Reads the case's units, after its tasks. Named nodes are numbered beyond the memory nodes, so
 * that they differ from the nameless ones. */
static enum ek_status read_units(struct reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "units");
    TRY(demand_that(r->path, json_array_size(list) > 0, "units", "a list of units"));
    r->memories = (struct places){.what = "spaces", .first = 1};
    r->nodes = (struct places){.what = "nodes", .first = 1 + MOST_PLACES};
    return read_list(r, list);
}

/* ---- the rest ---------------------------------------------------------------------------------*/
static enum ek_status read_link(struct reader *r, const json_t *link)
{
    double latency, bandwidth;
    if (!link)
        return EK_OK;
    TRY(DEMAND_KEYS(r->path, "link", link, "latency_s", "bandwidth_Bps", "waits"));
    TRY(demand_member(r->path, "link", link, "latency_s", &AMOUNT, &latency));
    TRY(demand_member(r->path, "link", link, "bandwidth_Bps", &RATE, &bandwidth));
    TRY(demand_optional(r->path, "link", link, "waits", &AMOUNT, &r->c->sim.waits));
    struct sched_link *l = own(r, 1, sizeof *l);
    if (!l)
        return EK_UNAVAILABLE;
    *l = (struct sched_link){latency, 1 / bandwidth};
    r->c->sim.job.link = l;
    return EK_OK;
}

static enum ek_status read_exchange(struct reader *r, const json_t *exchange)
{
    if (!exchange)
        return EK_OK;
    struct sim_exchange *x = own(r, 1, sizeof *x);
    if (!x)
        return EK_UNAVAILABLE;
    TRY(demand_keys(r->path, "exchange", exchange, sim_exchange_names, SIM_PARTS));
    for (int i = 0; i < SIM_PARTS; i++)
        TRY(demand_optional(r->path, "exchange", exchange, sim_exchange_names[i], &AMOUNT,
                            &x->seconds[i]));
    r->c->sim.exchange = x;
    return EK_OK;
}

SORT_BY(in_time, struct sim_change, SORT_UP(step) ?: SORT_UP(after))

static enum ek_status read_changes(struct reader *r, const json_t *list)
{
    struct sim_case *sim = &r->c->sim;
    size_t n = json_array_size(list);
    if (!list)
        return EK_OK;
    TRY(demand_that(r->path, json_is_array(list), "changes", "a list"));
    struct sim_change *change = own(r, n, sizeof *change);
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

static enum ek_status read_root(struct reader *r, const json_t *root)
{
    struct sim_case *sim = &r->c->sim;
    double steps = 1, seed = 1;
    TRY(DEMAND_KEYS(r->path, "", root, "name", "units", "tasks", "steps", "link", "between_s",
                    "exchange", "cold", "noise", "hold", "seed", "changes", "bytes", "neighbours",
                    "face_bytes"));
    TRY(read_tasks(r, root));
    TRY(read_units(r, root));
    TRY(demand_member(r->path, "", root, "steps", &STEPS, &steps));
    TRY(demand_optional(r->path, "", root, "noise", &SHARE, &sim->noise));
    TRY(demand_optional(r->path, "", root, "hold", &AMOUNT, &sim->hold));
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
/* The median of all repeats: the reported run, if it failed verification, need not be the median.
 */
static enum ek_status median_of_all(struct reader *r, const char *where, const json_t *list,
                                    double *seconds)
{
    const double *all;
    size_t n;
    char key[64];
    snprintf(key, sizeof key, "%s.seconds_all", where);
    if (!json_array_size(list))
        return EK_OK;
    TRY(read_numbers(r, key, list, 0, &AMOUNT, &all, &n));
    sort_numbers((double *)all, n);
    *seconds = all[(n - 1) / 2];
    return EK_OK;
}

static enum ek_status read_measured(struct reader *r, const json_t *run, size_t i,
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

/* A program's output: one run or a comparison. Interrupted runs are skipped. */
static enum ek_status read_record(struct reader *r, const json_t *root)
{
    const json_t *runs = json_object_get(root, "runs");
    const size_t n = runs ? json_array_size(runs) : 1;
    struct plan_measured *m = own(r, n, sizeof *m);
    if (!m)
        return EK_UNAVAILABLE;
    if (json_is_null(json_object_get(root, "case")))
        FAIL(EK_USAGE,
             "%s: case is null: some unit did nothing in these runs; record a comparison, or runs "
             "with a profile",
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

/* A trace has the result beside its events. */
const json_t *plan_case_record(const json_t *root)
{
    const json_t *traced = json_object_get(json_object_get(root, "otherData"), "result");
    return traced ? traced : root;
}

enum ek_status plan_case_open(struct plan_case *c, const char *path)
{
    json_auto_t *root = NULL;
    TRY(demand_open(path, &root));
    struct reader r = {.c = c, .path = strcmp(path, "-") ? path : "standard input"};
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
    if (st)
        plan_case_close(c);
    return st;
}

void plan_case_close(struct plan_case *c)
{
    arena_free(&c->arena);
    *c = (struct plan_case){0};
}
