/* cu/sim/capacity_read.c – reads tasks and machines for capacity plans, and rejects every absurd
 * number. */
#include "cu/sim/capacity.h"
#include "cu/sim/plan_case.h"
#include "cu/sched/profile.h"
#include "src/demand.h"
#include "src/file.h"

enum { MOST_UNITS = 1 << 20 };

/* ---- numbers ----------------------------------------------------------------------------------*/
/* Range of a node's member, and where it is stored: as an int if it must be whole. */
struct member {
    const char *name;
    size_t offset;
    struct demand demand;
};

#define AT(field) offsetof(struct capacity_node, field)
static const struct member node_members[] = {
    {"count", AT(count), {0, 100000, false, true}},
    {"cores", AT(cores), {1, 100000, false, true}},
    {"speed", AT(speed), {1e-15, 1e15, false, false}},
    {"price", AT(price), {0, 1e15, false, false}},
};
static const struct member device_members[] = {
    {"count", AT(devices), {0, 1000, false, true}},
    {"speed", AT(device_speed), {1e-15, 1e15, false, false}},
    {"fixed_s", AT(device_fixed), {0, 1e6, false, false}},
};
static const struct demand TIMES = {0, 1e6, true, false}, LATENCY = {0, 1e6, false, false},
                           RATE = {1e-15, 1e15, false, false}, AMOUNT = {0, 1e15, false, false};
#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* Reads every member that is present into the node. */
static enum ek_status take_all(const char *path, const char *where, const json_t *object,
                               const struct member *list, size_t n, struct capacity_node *node)
{
    for (size_t i = 0; i < n; i++) {
        double x;
        if (!json_object_get(object, list[i].name))
            continue;
        TRY(demand_member(path, where, object, list[i].name, &list[i].demand, &x));
        if (list[i].demand.whole)
            *(int *)((char *)node + list[i].offset) = (int)x;
        else
            *(double *)((char *)node + list[i].offset) = x;
    }
    return EK_OK;
}

static enum ek_status read_list(struct capacity_work *w, const char *path, const char *key,
                                const json_t *list, double scale, double **out)
{
    char where[64];
    double *x = ARENA_NEW(&w->arena, w->n, double);
    TRY(arena_check(&w->arena, "%zu tasks", w->n));
    if (json_array_size(list) != w->n)
        FAIL(EK_USAGE, "%s: %s has %zu numbers for %zu tasks", path, key, json_array_size(list),
             w->n);
    for (size_t i = 0; i < w->n; i++) {
        snprintf(where, sizeof where, "%s[%zu]", key, i);
        TRY(demand_number(path, where, json_array_get(list, i), &AMOUNT, &x[i]));
        x[i] *= scale;
    }
    *out = x;
    return EK_OK;
}

/* more + x / times, [n]; NULL if x is, or the arena has failed. */
static double *scaled(struct arena *arena, const double *x, size_t n, double times, double more)
{
    double *made = x ? ARENA_NEW(arena, n, double) : NULL;
    for (size_t t = 0; made && t < n; t++)
        made[t] = more + x[t] / times;
    return made;
}

/* ---- tasks ------------------------------------------------------------------------------------*/
static const struct profile_kind *kind_of(const struct profile *p, enum cu_kind kind)
{
    for (int k = 0; k < p->nkinds; k++)
        if (p->kind[k].kind == kind)
            return &p->kind[k];
    return NULL;
}

static enum ek_status from_profile(struct capacity_work *w, const char *path)
{
    struct profile p;
    TRY(profile_read(path, &p));
    const struct profile_kind *cpu = kind_of(&p, CU_CPU), *device = kind_of(&p, CU_DEVICE);
    snprintf(w->name, sizeof w->name, "%s %s", p.program, p.problem);
    w->n = p.n;
    w->width = cpu ? cpu->width : 1;
    w->cost = scaled(&w->arena, cpu ? cpu->seconds : NULL, p.n, 1, 0);
    w->device = scaled(&w->arena, device ? device->seconds : NULL, p.n, 1, 0);
    profile_close(&p);
    TRY(arena_check(&w->arena, "%zu tasks", w->n));
    if (!cpu)
        FAIL(EK_USAGE,
             "%s: the profile has no times for CPU units; make it with a layout that has some",
             path);
    return EK_OK;
}

static int width_of(const json_t *run)
{
    size_t i;
    json_t *unit;
    json_array_foreach(json_object_get(run, "units"), i, unit)
    {
        const char *kind = json_string_value(json_object_get(unit, "kind"));
        if (kind && !strcmp(kind, "cpu"))
            return (int)json_integer_value(json_object_get(unit, "width"));
    }
    return 1;
}

/* Output of a program's --json or --trace, with or without --compare. */
static enum ek_status from_run(struct capacity_work *w, const char *path, const json_t *root)
{
    const json_t *seconds = json_object_get(root, "task_seconds");
    const json_t *cpu = json_object_get(seconds, "cpu");
    const json_t *device = json_object_get(seconds, "device");
    const json_t *run = json_array_get(json_object_get(root, "runs"), 0);
    if (!run)
        run = root;
    const char *program = json_string_value(json_object_get(run, "program"));
    const char *problem = json_string_value(json_object_get(run, "problem"));
    snprintf(w->name, sizeof w->name, "%s %s", program ? program : "?", problem ? problem : "?");
    w->n = json_array_size(cpu);
    w->width = width_of(run);
    if (!w->n || w->width < 1)
        FAIL(EK_USAGE, "%s: task_seconds.cpu: some task never ran on a CPU unit; make a --profile",
             path);
    TRY(read_list(w, path, "task_seconds.cpu", cpu, 1, &w->cost));
    return json_is_array(device) ? read_list(w, path, "task_seconds.device", device, 1, &w->device)
                                 : EK_OK;
}

static enum ek_status from_tasks(struct capacity_work *w, const char *path, const json_t *root)
{
    const json_t *tasks = json_object_get(root, "tasks"), *cost = json_object_get(tasks, "cost");
    const json_t *bytes = json_object_get(tasks, "bytes");
    const char *name = json_string_value(json_object_get(root, "name"));
    double factor = 1;
    snprintf(w->name, sizeof w->name, "%s", name ? name : path);
    w->n = json_array_size(cost);
    if (!w->n)
        FAIL(
            EK_USAGE,
            "%s: tasks.cost is missing or not a list; give a program's --json output, a profile or "
            "{\"tasks\": {\"cost\": [...]}}",
            path);
    TRY(demand_optional(path, "tasks", tasks, "seconds_per_cost", &RATE, &factor));
    TRY(read_list(w, path, "tasks.cost", cost, factor, &w->cost));
    return bytes ? read_list(w, path, "tasks.bytes", bytes, 1, &w->bytes) : EK_OK;
}

enum ek_status capacity_work_open(struct capacity_work *w, const char *path)
{
    json_auto_t *root = NULL;
    *w = (struct capacity_work){.width = 1};
    TRY(demand_open(path, &root));
    const json_t *record = plan_case_record(root);
    enum ek_status st = json_object_get(root, "format")           ? from_profile(w, path)
                        : json_object_get(record, "task_seconds") ? from_run(w, path, record)
                                                                  : from_tasks(w, path, root);
    if (st)
        capacity_work_close(w);
    return st;
}

void capacity_work_close(struct capacity_work *w)
{
    arena_free(&w->arena);
}

/* ---- machines ---------------------------------------------------------------------------------*/
/* Times measured on this type of node; the path is relative to the machine's file. */
static enum ek_status read_profile(const char *path, const char *where, const json_t *name,
                                   const struct capacity_work *w, struct arena *arena,
                                   struct capacity_node *node)
{
    char file[4096];
    struct capacity_work own;
    const char *text = json_string_value(name);
    if (!text)
        FAIL(EK_USAGE, "%s: %s.profile must be a file name", path, where);
    TRY(file_beside(path, text, file, sizeof file));
    TRY(capacity_work_open(&own, file));
    if (own.n != w->n || own.width != w->width) {
        size_t n = own.n;
        capacity_work_close(&own);
        FAIL(EK_USAGE, "%s: %zu tasks on units of %d cores, the problem has %zu on %d", file, n,
             own.width, w->n, w->width);
    }
    node->seconds = scaled(arena, own.cost, own.n, 1, 0);
    node->device_seconds = scaled(arena, own.device, own.n, 1, 0);
    capacity_work_close(&own);
    return EK_OK;
}

/* The members that a type takes over from one further up. */
static enum ek_status begin_like(const char *path, const char *where, const json_t *entry,
                                 struct capacity_machine *m, const struct capacity_work *w,
                                 struct capacity_node *node)
{
    const json_t *like = json_object_get(entry, "like");
    double times = 1;
    *node = (struct capacity_node){.count = -1, .device_speed = 1, .price = -1};
    TRY(demand_optional(path, where, entry, "times", &TIMES, &times));
    if (!like)
        return EK_OK;
    for (int t = 0; t < m->ntypes; t++) {
        if (!json_is_string(like) || strcmp(m->node[t].name, json_string_value(like)))
            continue;
        *node = m->node[t];
        node->count = -1;
        node->speed *= times;
        node->device_speed *= times;
        node->seconds = scaled(&m->arena, m->node[t].seconds, w->n, times, 0);
        node->device_seconds = scaled(&m->arena, m->node[t].device_seconds, w->n, times, 0);
        return EK_OK;
    }
    FAIL(EK_USAGE, "%s: %s.like names no type further up", path, where);
}

static enum ek_status check_complete(const char *path, const char *where,
                                     const struct capacity_machine *m,
                                     const struct capacity_node *node)
{
    const struct {
        const char *name;
        bool there;
    } needed[] = {{"name", *node->name},
                  {"count", node->count >= 0},
                  {"cores", node->cores > 0},
                  {"speed", node->speed > 0 || node->seconds}};
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (!needed[i].there)
            FAIL(EK_USAGE, "%s: %s.%s is missing", path, where, needed[i].name);
    for (int t = 0; t < m->ntypes; t++)
        if (!strcmp(m->node[t].name, node->name))
            FAIL(EK_USAGE, "%s: %s.name = \"%s\" occurs twice", path, where, node->name);
    return EK_OK;
}

static enum ek_status read_node(struct capacity_machine *m, const char *path, const json_t *entry,
                                const struct capacity_work *w)
{
    struct capacity_node *node = &m->node[m->ntypes];
    char where[32], inner[48];
    snprintf(where, sizeof where, "nodes[%d]", m->ntypes);
    snprintf(inner, sizeof inner, "%s.devices", where);
    TRY(DEMAND_KEYS(path, where, entry, "name", "count", "cores", "speed", "price", "devices",
                    "hypothetical", "like", "times", "profile"));
    TRY(begin_like(path, where, entry, m, w, node));
    const char *name = json_string_value(json_object_get(entry, "name"));
    const json_t *devices = json_object_get(entry, "devices");
    const json_t *profile = json_object_get(entry, "profile");
    snprintf(node->name, sizeof node->name, "%s", name ? name : "");
    TRY(demand_flag(path, where, entry, "hypothetical", &node->hypothetical));
    TRY(take_all(path, where, entry, node_members, COUNT_OF(node_members), node));
    if (devices) {
        TRY(DEMAND_KEYS(path, inner, devices, "count", "speed", "fixed_s"));
        TRY(take_all(path, inner, devices, device_members, COUNT_OF(device_members), node));
    }
    if (profile)
        TRY(read_profile(path, where, profile, w, &m->arena, node));
    TRY(check_complete(path, where, m, node));
    m->ntypes++;
    return EK_OK;
}

static enum ek_status read_link(struct capacity_machine *m, const char *path, const json_t *link)
{
    double bandwidth;
    if (!link)
        return EK_OK;
    TRY(DEMAND_KEYS(path, "link", link, "latency_s", "bandwidth_Bps"));
    TRY(demand_member(path, "link", link, "latency_s", &LATENCY, &m->link.latency));
    TRY(demand_member(path, "link", link, "bandwidth_Bps", &RATE, &bandwidth));
    m->link.per_byte = 1 / bandwidth;
    m->linked = true;
    return EK_OK;
}

/* All nodes together must not be more than can be simulated. */
static enum ek_status check_units(const struct capacity_machine *m, const char *path)
{
    double units = 0;
    for (int t = 0; t < m->ntypes; t++)
        units += (double)m->node[t].count * (m->node[t].cores + m->node[t].devices);
    if (units > MOST_UNITS)
        FAIL(EK_USAGE, "%s: nodes have %.0f cores and devices together, at most %d can be planned",
             path, units, MOST_UNITS);
    return EK_OK;
}

static enum ek_status read_machine(struct capacity_machine *m, const char *path, const json_t *root,
                                   const struct capacity_work *w)
{
    const json_t *nodes = json_object_get(root, "nodes");
    const char *name = json_string_value(json_object_get(root, "name"));
    TRY(DEMAND_KEYS(path, "", root, "name", "nodes", "link"));
    snprintf(m->name, sizeof m->name, "%s", name ? name : path);
    size_t count = json_array_size(nodes);
    if (!count || count > CAPACITY_TYPES)
        FAIL(EK_USAGE, "%s: nodes must be a list of 1 to %d types", path, CAPACITY_TYPES);
    m->priced = true;
    for (size_t i = 0; i < count; i++) {
        TRY(read_node(m, path, json_array_get(nodes, i), w));
        m->priced &= m->node[i].price >= 0;
    }
    for (struct capacity_node *k = m->node; k < m->node + m->ntypes; k++)
        if (k->devices && w->device && !k->device_seconds) /* scaled by speed */
            k->device_seconds =
                scaled(&m->arena, w->device, w->n, k->device_speed, k->device_fixed);
    TRY(arena_check(&m->arena, "%s: the times of %zu tasks", path, w->n));
    TRY(check_units(m, path));
    return read_link(m, path, json_object_get(root, "link"));
}

enum ek_status capacity_machine_open(struct capacity_machine *m, const char *path,
                                     const struct capacity_work *w)
{
    json_auto_t *root = NULL;
    *m = (struct capacity_machine){0};
    TRY(demand_open(path, &root));
    enum ek_status st = read_machine(m, path, root, w);
    if (st)
        capacity_machine_close(m);
    return st;
}

void capacity_machine_close(struct capacity_machine *m)
{
    arena_free(&m->arena);
}
