/* cu/sim/capacity_answer.c – draws the conclusions from a finished table. */
#include "cu/sim/capacity_answer.h"
#include "src/sort.h"

static const struct capacity_cell *cell_of(const struct capacity *c, size_t scenario, int schedule)
{
    return &c->cell[scenario * (size_t)c->nschedules + (size_t)schedule];
}

/* ---- finding ----------------------------------------------------------------------------------*/
static void find_fastest(struct capacity_answer *a, const struct capacity *c)
{
    for (size_t i = 0; i < c->nscenarios; i++)
        for (int p = 0; p < c->nschedules; p++) {
            double makespan = cell_of(c, i, p)->makespan;
            if (!p || makespan < a->makespan[i]) {
                a->makespan[i] = makespan;
                a->schedule[i] = p;
            }
            if (makespan < cell_of(c, a->of_policy[p], p)->makespan)
                a->of_policy[p] = i;
        }
}

static bool is_cheaper(const struct capacity_machine *m, uint64_t x, uint64_t y)
{
    struct capacity_size a = capacity_size(m, x), b = capacity_size(m, y);
    if (m->priced && a.price != b.price)
        return a.price < b.price;
    if (a.cores != b.cores)
        return a.cores < b.cores;
    return a.devices < b.devices;
}

/* Among equally cheap scenarios the fastest, which is ranked first. */
static void find_cheapest(struct capacity_answer *a, const struct capacity *c)
{
    double limit = (1 + a->tolerance) * a->makespan[a->ranked[0]];
    a->cheapest = a->ranked[0];
    for (size_t r = 1; r < c->nscenarios && a->makespan[a->ranked[r]] <= limit; r++)
        if (is_cheaper(c->machine, c->scenario[a->ranked[r]], c->scenario[a->cheapest]))
            a->cheapest = a->ranked[r];
}

/* Share of the makespan saved by adding a node of this type to these counts; NAN: not known. */
static double saved(const struct capacity_answer *a, const struct capacity *c, const int *counts,
                    int type)
{
    int more[CAPACITY_TYPES];
    for (int t = 0; t < c->machine->ntypes; t++)
        more[t] = counts[t] + (t == type);
    if (more[type] > c->machine->node[type].count)
        return NAN;
    size_t before = capacity_find(c, capacity_number(c->machine, counts));
    size_t after = capacity_find(c, capacity_number(c->machine, more));
    if (before == c->nscenarios || after == c->nscenarios)
        return NAN;
    return 1 - a->makespan[after] / a->makespan[before];
}

static double saved_at_edge(const struct capacity_answer *a, const struct capacity *c, int type)
{
    int counts[CAPACITY_TYPES];
    const struct capacity_machine *m = c->machine;
    for (int t = 0; t < m->ntypes; t++)
        counts[t] = m->node[t].hypothetical ? 0 : m->node[t].count;
    if (!m->node[type].hypothetical && counts[type]-- == 0)
        return NAN;
    return saved(a, c, counts, type);
}

static void find_gain(struct capacity_answer *a, const struct capacity *c, int type)
{
    int counts[CAPACITY_TYPES];
    struct capacity_gain g = {.mean = 0, .best = NAN, .edge = saved_at_edge(a, c, type)};
    for (size_t i = 0; i < c->nscenarios; i++) {
        capacity_counts(c->machine, c->scenario[i], counts);
        double share = saved(a, c, counts, type);
        if (isnan(share))
            continue;
        g.mean += share;
        g.best = fmax(g.best, share);
        g.pairs++;
    }
    g.mean = g.pairs ? g.mean / (double)g.pairs : NAN;
    a->gain[type] = g;
}

enum ek_status capacity_answer_open(struct capacity_answer *a, const struct capacity *c,
                                    double tolerance)
{
    *a = (struct capacity_answer){.tolerance = tolerance};
    a->makespan = ARENA_NEW(&a->arena, c->nscenarios, double);
    a->schedule = ARENA_NEW(&a->arena, c->nscenarios, int);
    a->ranked = ARENA_NEW(&a->arena, c->nscenarios, size_t);
    a->of_policy = ARENA_NEW(&a->arena, c->nschedules, size_t);
    TRY(arena_check(&a->arena, "%zu scenarios", c->nscenarios));
    find_fastest(a, c);
    for (size_t i = 0; i < c->nscenarios; i++)
        a->ranked[i] = i;
    qsort_r(a->ranked, c->nscenarios, sizeof *a->ranked, sort_places_up, a->makespan);
    find_cheapest(a, c);
    for (int t = 0; t < c->machine->ntypes; t++)
        find_gain(a, c, t);
    return EK_OK;
}

void capacity_answer_close(struct capacity_answer *a)
{
    arena_free(&a->arena);
}

/* ---- saying -----------------------------------------------------------------------------------*/
static void print_scenario(const struct capacity *c, FILE *out, const char *title, size_t i, int p)
{
    int counts[CAPACITY_TYPES];
    const char *comma = "  ";
    const struct capacity_cell *cell = cell_of(c, i, p);
    struct capacity_size size = capacity_size(c->machine, c->scenario[i]);
    fprintf(out, "%-24s %12.6g %7.3f %7d ", title, cell->makespan, cell->makespan / cell->bound,
            size.cores);
    if (c->machine->priced)
        fprintf(out, "%9.6g ", size.price);
    fprintf(out, " %s", c->schedule[p]);
    capacity_counts(c->machine, c->scenario[i], counts);
    for (int t = 0; t < c->machine->ntypes; t++)
        if (counts[t]) {
            fprintf(out, "%s%s %d", comma, c->machine->node[t].name, counts[t]);
            comma = ", ";
        }
    fputc('\n', out);
}

static void print_share(FILE *out, double share)
{
    if (isnan(share))
        fprintf(out, " %9s", "-");
    else
        fprintf(out, " %7.1f %%", 100 * share);
}

static void print_gains(const struct capacity_answer *a, const struct capacity *c, FILE *out)
{
    fprintf(out, "\n%-24s %9s %9s %9s  %s\n", "one more node saves", "mean", "largest", "at edge*",
            "pairs of scenarios");
    for (int t = 0; t < c->machine->ntypes; t++) {
        const struct capacity_gain *g = &a->gain[t];
        const struct capacity_node *node = &c->machine->node[t];
        char name[80];
        snprintf(name, sizeof name, "%s%s", node->name,
                 node->hypothetical ? " (hypothetical)" : "");
        fprintf(out, "%-24s", name);
        print_share(out, g->mean);
        print_share(out, g->best);
        print_share(out, g->edge);
        fprintf(out, "  %zu\n", g->pairs);
    }
    fputs("\n* the last one of all that there are; of a hypothetical type the first one beside "
          "them\n",
          out);
}

void capacity_answer_print(const struct capacity_answer *a, const struct capacity *c, FILE *out)
{
    char title[64];
    fprintf(out, "%s on %s: %zu of %llu combinations of nodes\n\n%-24s %12s %7s %7s ",
            c->work->name, c->machine->name, c->nscenarios, (unsigned long long)c->possible, "",
            "makespan s", "/bound", "cores");
    fprintf(out, "%s policy  nodes\n", c->machine->priced ? "    price " : "");
    for (int p = 0; p < c->nschedules; p++) {
        snprintf(title, sizeof title, "best of %s", c->schedule[p]);
        print_scenario(c, out, title, a->of_policy[p], p);
    }
    snprintf(title, sizeof title, "cheapest within %g %%", 100 * a->tolerance);
    print_scenario(c, out, title, a->cheapest, a->schedule[a->cheapest]);
    print_gains(a, c, out);
}

static json_t *scenario_json(const struct capacity *c, size_t i, int p)
{
    int counts[CAPACITY_TYPES];
    uint64_t number = c->scenario[i];
    struct capacity_size size = capacity_size(c->machine, number);
    json_t *nodes = json_object();
    capacity_counts(c->machine, number, counts);
    for (int t = 0; t < c->machine->ntypes; t++)
        json_object_set_new(nodes, c->machine->node[t].name, json_integer(counts[t]));
    return json_pack("{s:I s:s s:f s:o s:i s:i s:o s:o}", "scenario", (json_int_t)number,
                     "schedule", c->schedule[p], "makespan_s", cell_of(c, i, p)->makespan,
                     "lower_bound_s", json_number_or_null(cell_of(c, i, p)->bound), "cores",
                     size.cores, "devices", size.devices, "price",
                     c->machine->priced ? json_real(size.price) : json_null(), "nodes", nodes);
}

json_t *capacity_answer_json(const struct capacity_answer *a, const struct capacity *c)
{
    json_t *best = json_array(), *gains = json_array();
    for (int p = 0; p < c->nschedules; p++)
        json_array_append_new(best, scenario_json(c, a->of_policy[p], p));
    for (int t = 0; t < c->machine->ntypes; t++) {
        const struct capacity_gain *g = &a->gain[t];
        json_array_append_new(
            gains, json_pack("{s:s s:o s:o s:o s:I}", "node", c->machine->node[t].name, "mean",
                             json_number_or_null(g->mean), "best", json_number_or_null(g->best),
                             "edge", json_number_or_null(g->edge), "pairs", (json_int_t)g->pairs));
    }
    return json_pack("{s:s s:s s:I s:I s:I s:i s:o s:f s:o s:o}", "problem", c->work->name,
                     "machine", c->machine->name, "tasks", (json_int_t)c->work->n, "scenarios",
                     (json_int_t)c->nscenarios, "possible", (json_int_t)c->possible, "steps",
                     c->steps, "best", best, "tolerance", a->tolerance, "cheapest",
                     scenario_json(c, a->cheapest, a->schedule[a->cheapest]), "gains", gains);
}
