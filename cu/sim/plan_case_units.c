/* cu/sim/plan_case_units.c – reads the units of a case: what they are, where they live, and how
 * they slow one another. */
#include "cu/sim/plan_case_internal.h"
#include "src/arena.h"
#include "src/owned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 4096 };

static const struct demand COUNT = {1, PLAN_CASE_UNITS, false, true},
                           RATE = {1e-15, 1e15, false, false}, AMOUNT = {0, 1e15, false, false},
                           SLOWNESS = {0, 1e6, false, false};

/* Names of memory nodes, or of nodes, in the order in which they first appear; borrowed, NULL =
 * nameless. */
struct places {
    const char *what;
    int first; /* number of the first one */
    int n;
    const char *name[MOST_PLACES];
};

struct reader {
    struct plan_case_reader *r;
    struct places memories, nodes;
};

/* The number of a named place; without a name, that of a new one. */
static enum ek_status find_place(struct reader *r, struct places *p, const char *key,
                                 const char *name, int *number)
{
    for (int i = 0; name && i < p->n; i++)
        if (p->name[i] && !strcmp(p->name[i], name)) {
            *number = p->first + i;
            return EK_OK;
        }
    if (p->n == MOST_PLACES)
        FAIL(EK_USAGE, "%s: %s: more than %d %s", r->r->path, key, MOST_PLACES, p->what);
    *number = p->first + p->n;
    p->name[p->n++] = name;
    return EK_OK;
}

/* A member that is a name, or is not there. */
static enum ek_status read_name(struct reader *r, const char *where, const json_t *entry,
                                const char *member, char key[96], const char **name)
{
    const json_t *value = json_object_get(entry, member);
    snprintf(key, 96, "%s.%s", where, member);
    TRY(demand_that(r->r->path, !value || json_is_string(value), key, "a name"));
    *name = json_string_value(value);
    return EK_OK;
}

/* A device without a memory node has one of its own. */
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

/* Units slow one another if they share a node; without a name, if they share a memory node. */
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
/* Points from a number (one busy neighbour's share) or from [[busy, share], …]. */
static enum ek_status read_curve(struct reader *r, const char *key, const json_t *value,
                                 struct sim_curve *curve)
{
    const char *path = r->r->path;
    const bool list = json_is_array(value);
    const size_t n = list ? json_array_size(value) : 1;
    double(*point)[2] = plan_case_own(r->r, n, sizeof *point);
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
                        "for more units than the one before"));
    }
    if (!list) {
        point[0][0] = 1;
        TRY(demand_number(path, key, value, &SLOWNESS, &point[0][1]));
    }
    *curve = (struct sim_curve){(int)n, (const double(*)[2])point};
    return EK_OK;
}

/* One curve for all neighbours, or one for each kind of them. */
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
    return demand_that(r->r->path, device || (kind && !strcmp(kind, "cpu")), key,
                       "\"cpu\" or \"device\"");
}

static enum ek_status read_speed(struct reader *r, const char *where, const json_t *entry,
                                 struct sim_unit *u)
{
    const char *path = r->r->path;
    const json_t *seconds = json_object_get(entry, "seconds");
    double width = 1;
    char key[96];
    TRY((seconds ? demand_optional : demand_member)(path, where, entry, "speed", &RATE, &u->speed));
    TRY(demand_optional(path, where, entry, "width", &COUNT, &width));
    TRY(demand_optional(path, where, entry, "fixed_s", &AMOUNT, &u->fixed));
    TRY(demand_optional(path, where, entry, "launch_s", &AMOUNT, &u->launch));
    u->width = (int)width;
    snprintf(key, sizeof key, "%s.seconds", where);
    if (seconds)
        TRY(plan_case_numbers(r->r, key, seconds, r->r->c->sim.job.n, &AMOUNT, &u->seconds, NULL));
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
    TRY(plan_case_numbers(r->r, key, noise, 0, &AMOUNT, &u->noise, &n));
    u->nnoise = (int)n;
    return EK_OK;
}

static enum ek_status read_count(struct reader *r, const json_t *entry, size_t i, int *count)
{
    double number;
    char where[64];
    snprintf(where, sizeof where, "units[%zu]", i);
    TRY(DEMAND_KEYS(r->r->path, where, entry, "kind", "count", "name", "speed", "space", "node",
                    "width", "fixed_s", "launch_s", "contention", "seconds", "noise"));
    TRY(demand_member(r->r->path, where, entry, "count", &COUNT, &number));
    *count = (int)number;
    return EK_OK;
}

/* One entry of the list: `count` units from `unit` on. */
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
    for (int j = 0; j < count; j++) {
        TRY(read_memory(r, where, entry, &u));
        TRY(read_node(r, where, entry, &u));
        unit[j] = u;
    }
    return EK_OK;
}

static enum ek_status read_list(struct reader *r, const json_t *list)
{
    struct sim_case *sim = &r->r->c->sim;
    double total = 0;
    int count;
    for (size_t i = 0; i < json_array_size(list); i++) {
        TRY(read_count(r, json_array_get(list, i), i, &count));
        total += count;
    }
    if (total > PLAN_CASE_UNITS)
        FAIL(EK_USAGE, "%s: units: %g of them are more than %d", r->r->path, total,
             PLAN_CASE_UNITS);
    struct sim_unit *unit = plan_case_own(r->r, (size_t)total, sizeof *unit);
    if (!unit)
        return EK_UNAVAILABLE;
    sim->unit = unit;
    for (size_t i = 0; i < json_array_size(list); i++, sim->ncu += count) {
        TRY(read_count(r, json_array_get(list, i), i, &count));
        TRY(read_entry(r, json_array_get(list, i), i, count, unit + sim->ncu));
    }
    return EK_OK;
}

/* Nodes with names are numbered behind the memory nodes, so that they are none of the nameless
 * ones. */
enum ek_status plan_case_read_units(struct plan_case_reader *reader, const json_t *root)
{
    const json_t *list = json_object_get(root, "units");
    TRY(demand_that(reader->path, json_array_size(list) > 0, "units", "a list of units"));
    OWNED_MEMORY NEW(struct reader, r, 1, "%s: out of memory for the units", reader->path);
    r->r = reader;
    r->memories = (struct places){.what = "spaces", .first = 1};
    r->nodes = (struct places){.what = "nodes", .first = 1 + MOST_PLACES};
    return read_list(r, list);
}
