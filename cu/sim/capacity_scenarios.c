/* cu/sim/capacity_scenarios.c – the combinations of nodes: their numbers, and which are simulated.
 */
#include "cu/sim/capacity.h"
#include "src/checksum.h"
#include "src/random.h"
#include "src/sort.h"

static const size_t MOST_SCENARIOS = 1000000;

void capacity_counts(const struct capacity_machine *m, uint64_t scenario, int *counts)
{
    for (int t = 0; t < m->ntypes; t++) {
        uint64_t radix = (uint64_t)m->node[t].count + 1;
        counts[t] = (int)(scenario % radix);
        scenario /= radix;
    }
}

uint64_t capacity_number(const struct capacity_machine *m, const int *counts)
{
    uint64_t number = 0;
    for (int t = m->ntypes - 1; t >= 0; t--)
        number = number * ((uint64_t)m->node[t].count + 1) + (uint64_t)counts[t];
    return number;
}

size_t capacity_find(const struct capacity *c, uint64_t scenario)
{
    size_t low = 0, high = c->nscenarios;
    SORT_BISECT(low, high, c->scenario[middle] < scenario)
    return low < c->nscenarios && c->scenario[low] == scenario ? low : c->nscenarios;
}

struct capacity_size capacity_size(const struct capacity_machine *m, uint64_t scenario)
{
    int counts[CAPACITY_TYPES];
    struct capacity_size size = {0};
    capacity_counts(m, scenario, counts);
    for (int t = 0; t < m->ntypes; t++) {
        size.nodes += counts[t];
        size.cores += counts[t] * m->node[t].cores;
        size.devices += counts[t] * m->node[t].devices;
        size.price += counts[t] * m->node[t].price;
    }
    return size;
}

/* Number of combinations without the empty one; 0: too many to be numbered. */
static uint64_t combinations(const struct capacity_machine *m)
{
    uint64_t product = 1;
    for (int t = 0; t < m->ntypes; t++)
        if (__builtin_mul_overflow(product, (uint64_t)m->node[t].count + 1, &product) ||
            product >= (uint64_t)1 << 53)
            return 0;
    return product - 1;
}

/* Draws distinct numbers from 1 to `possible`, ascending: draws, drops duplicates, draws again. */
static void draw_scenarios(struct capacity *c, unsigned seed)
{
    uint64_t state = seed;
    size_t have = 0;
    while (have < c->nscenarios) {
        while (have < c->nscenarios)
            c->scenario[have++] = 1 + random_below(&state, c->possible);
        qsort(c->scenario, have, sizeof *c->scenario, sort_by_u64);
        size_t kept = 1;
        for (size_t i = 1; i < have; i++)
            if (c->scenario[i] != c->scenario[kept - 1])
                c->scenario[kept++] = c->scenario[i];
        have = kept;
    }
}

static enum ek_status choose_scenarios(struct capacity *c, size_t sample, unsigned seed)
{
    c->possible = combinations(c->machine);
    if (!c->possible)
        FAIL(EK_USAGE, "%s: no nodes, or more combinations than 2^53", c->machine->name);
    bool all = !sample || sample >= c->possible;
    if (all && c->possible > MOST_SCENARIOS)
        FAIL(EK_USAGE, "%s: %llu combinations of nodes; take some of them with --sample K",
             c->machine->name, (unsigned long long)c->possible);
    c->nscenarios = all ? (size_t)c->possible : sample;
    c->scenario = ARENA_NEW(&c->arena, c->nscenarios, uint64_t);
    c->cell = ARENA_NEW(&c->arena, c->nscenarios * (size_t)c->nschedules, struct capacity_cell);
    TRY(arena_check(&c->arena, "%zu scenarios", c->nscenarios));
    for (size_t i = 0; all && i < c->nscenarios; i++)
        c->scenario[i] = i + 1;
    /* Drawing the last of more than half of all would take long. */
    if (!all && c->nscenarios > c->possible / 2 && c->possible > MOST_SCENARIOS)
        FAIL(EK_USAGE, "--sample %zu: more than half of all combinations; take fewer", sample);
    if (!all)
        draw_scenarios(c, seed);
    return EK_OK;
}

static void add_list(struct checksum *c, const double *x, size_t n)
{
    checksum_add_text(c, x ? "list" : "none");
    checksum_add(c, x, x ? n * sizeof *x : 0);
}

/* Checksum of everything a makespan depends on except the scenario and the policy. */
static uint64_t sum_inputs(const struct capacity *c)
{
    const struct capacity_work *w = c->work;
    const struct capacity_machine *m = c->machine;
    struct checksum sum;
    checksum_begin(&sum, "capacity plan");
    checksum_add(&sum, &c->steps, sizeof c->steps);
    checksum_add(&sum, &w->width, sizeof w->width);
    add_list(&sum, w->cost, w->n);
    add_list(&sum, w->device, w->n);
    add_list(&sum, w->bytes, w->n);
    for (int t = 0; t < m->ntypes; t++) {
        const struct capacity_node *k = &m->node[t];
        const double number[] = {k->count, k->cores,        k->devices,
                                 k->speed, k->device_speed, k->device_fixed};
        checksum_add_text(&sum, k->name);
        checksum_add(&sum, number, sizeof number);
        add_list(&sum, k->seconds, w->n);
        add_list(&sum, k->device_seconds, w->n);
    }
    const double link[] = {m->linked, m->link.latency, m->link.per_byte};
    checksum_add(&sum, link, sizeof link);
    return checksum_end(&sum);
}

enum ek_status capacity_open(struct capacity *c, const struct capacity_work *w,
                             const struct capacity_machine *m, const char *const *schedule,
                             int nschedules, int steps, size_t sample, unsigned seed)
{
    *c = (struct capacity){
        .work = w, .machine = m, .schedule = schedule, .nschedules = nschedules, .steps = steps};
    c->inputs = sum_inputs(c);
    return choose_scenarios(c, sample, seed);
}

void capacity_close(struct capacity *c)
{
    arena_free(&c->arena);
}
