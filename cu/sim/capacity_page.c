/* cu/sim/capacity_page.c – the data of cu/sim/plan.html. */
#include "cu/sim/capacity_page.h"
#include "src/page.h"

enum {
    MOST_POINTS = 12000,  /* more make the chart slow: beyond the best, scenarios are thinned out */
    MOST_ENTRIES = 15000, /* units and tasks of all schedules on the page, about 30 bytes each */
};

/* Rounds to six digits, more than a screen shows. */
static json_t *rounded(double x)
{
    if (!isfinite(x))
        return json_null();
    double unit = x != 0 ? pow(10, floor(log10(fabs(x))) - 5) : 1;
    return json_real(round(x / unit) * unit);
}

/* ---- scenarios --------------------------------------------------------------------------------*/
static json_t *machine_json(const struct capacity_machine *m)
{
    json_t *nodes = json_array();
    for (int t = 0; t < m->ntypes; t++) {
        const struct capacity_node *k = &m->node[t];
        json_array_append_new(nodes, json_pack("{s:s s:i s:i s:i s:b s:o}", "name", k->name,
                                               "count", k->count, "cores", k->cores, "devices",
                                               k->devices, "hypothetical", (int)k->hypothetical,
                                               "speed", rounded(k->speed)));
    }
    return nodes;
}

/* nodes: number of each type; makespan: one for each policy. */
static json_t *scenario_json(const struct capacity *c, size_t rank, size_t i)
{
    int counts[CAPACITY_TYPES];
    struct capacity_size size = capacity_size(c->machine, c->scenario[i]);
    const struct capacity_cell *cell = &c->cell[i * (size_t)c->nschedules];
    json_t *makespan = json_array();
    capacity_counts(c->machine, c->scenario[i], counts);
    for (int p = 0; p < c->nschedules; p++)
        json_array_append_new(makespan, rounded(cell[p].makespan));
    return json_pack("{s:I s:I s:o s:i s:i s:o s:o s:o}", "id", (json_int_t)c->scenario[i], "rank",
                     (json_int_t)rank + 1, "nodes",
                     json_integers(counts, (size_t)c->machine->ntypes), "cores", size.cores,
                     "devices", size.devices, "price",
                     c->machine->priced ? rounded(size.price) : json_null(), "bound",
                     rounded(cell->bound), "makespan", makespan);
}

/* The best scenarios (a tenth of the room) in full, then every stride-th. */
static json_t *scenarios_json(const struct capacity *c, const struct capacity_answer *a)
{
    size_t room = (size_t)(MOST_POINTS / c->nschedules), first = room / 10;
    size_t stride = c->nscenarios > room ? 1 + (c->nscenarios - first) / (room - first) : 1;
    json_t *list = json_array();
    for (size_t r = 0; r < c->nscenarios; r++)
        if (r < first || (r - first) % stride == 0 || a->ranked[r] == a->cheapest)
            json_array_append_new(list, scenario_json(c, r, a->ranked[r]));
    return list;
}

/* ---- details ----------------------------------------------------------------------------------*/
struct recorder {
    json_t *tasks; /* [unit, task, start, seconds, …] */
    int last;      /* the step to record */
};

static void note_task(void *arg, const struct sim_event *e)
{
    struct recorder *r = arg;
    if (e->step != r->last)
        return;
    json_array_append_new(r->tasks, json_integer(e->unit));
    json_array_append_new(r->tasks, json_integer((json_int_t)e->task));
    json_array_append_new(r->tasks, rounded(e->start));
    json_array_append_new(r->tasks, rounded(e->seconds));
}

/* {"units": ["draco 0 core 3", …], "types": […], "tasks": {"heft": […], …}} */
static enum ek_status add_detail(const struct capacity *c, size_t i, json_t *details)
{
    char key[32], name[96];
    int n = capacity_units(c, c->scenario[i], NULL);
    OWNED_MEMORY struct capacity_unit *unit = calloc((size_t)n, sizeof *unit);
    json_t *names = json_array(), *types = json_array(), *tasks = json_object();
    struct capacity_cell cell;
    enum ek_status st = unit ? EK_OK : status_fail(EK_UNAVAILABLE, "out of memory for %d units", n);
    if (unit)
        capacity_units(c, c->scenario[i], unit);
    for (int u = 0; unit && u < n; u++) {
        snprintf(name, sizeof name, "%s %d %s %d", c->machine->node[unit[u].type].name,
                 unit[u].node, unit[u].device ? "device" : "core", unit[u].index);
        json_array_append_new(names, json_string(name));
        json_array_append_new(types, json_integer(unit[u].type));
    }
    for (int p = 0; !st && p < c->nschedules; p++) {
        struct recorder r = {json_array(), c->steps - 1};
        st = capacity_simulate(c, c->scenario[i], c->schedule[p], note_task, &r, &cell);
        json_object_set_new(tasks, c->schedule[p], r.tasks);
    }
    snprintf(key, sizeof key, "%llu", (unsigned long long)c->scenario[i]);
    json_object_set_new(details, key,
                        json_pack("{s:o s:o s:o}", "units", names, "types", types, "tasks", tasks));
    return st;
}

static bool has(const struct capacity *c, const json_t *details, size_t i)
{
    char key[32];
    snprintf(key, sizeof key, "%llu", (unsigned long long)c->scenario[i]);
    return json_object_get(details, key);
}

/* Entries of a scenario's details. */
static size_t entries(const struct capacity *c, size_t i)
{
    return (size_t)capacity_units(c, c->scenario[i], NULL) + (size_t)c->nschedules * c->work->n;
}

/* Adds details of the cheapest scenario, the best of each policy, then evenly spaced ranks, as far
 * as there is room. */
static enum ek_status add_details(const struct capacity *c, const struct capacity_answer *a,
                                  json_t *details)
{
    const size_t fixed = 1 + (size_t)c->nschedules;
    size_t all = 0, left = MOST_ENTRIES;
    for (size_t i = 0; i < c->nscenarios; i++)
        all += entries(c, i);
    const double share = all > left ? (double)left / (double)all : 1;
    const size_t even = (size_t)(share * (double)c->nscenarios);
    for (size_t k = 0; k < fixed + even; k++) {
        const size_t i = k == 0      ? a->cheapest
                         : k < fixed ? a->of_policy[k - 1]
                                     : a->ranked[(k - fixed) * c->nscenarios / even];
        if (has(c, details, i) || entries(c, i) > left)
            continue;
        left -= entries(c, i);
        TRY(add_detail(c, i, details));
    }
    return EK_OK;
}

enum ek_status capacity_page_write(const char *path, const struct capacity *c,
                                   const struct capacity_answer *a)
{
    char title[640];
    json_t *schedules = json_array(), *details = json_object();
    for (int p = 0; p < c->nschedules; p++)
        json_array_append_new(schedules, json_string(c->schedule[p]));
    enum ek_status st = add_details(c, a, details);
    json_auto_t *data = json_pack("{s:o s:o s:o s:o s:o}", "answer", capacity_answer_json(a, c),
                                  "nodes", machine_json(c->machine), "schedules", schedules,
                                  "scenarios", scenarios_json(c, a), "details", details);
    snprintf(title, sizeof title, "%s on %s", c->work->name, c->machine->name);
    return st ? st : page_write(path, "cu/sim/plan.html", title, NULL, data);
}
