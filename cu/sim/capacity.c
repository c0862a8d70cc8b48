/* cu/sim/capacity.c – simulates the policies on combinations of nodes. */
#include "cu/sim/capacity.h"
#include "cu/rank/stop.h"
#include "src/progress.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- one scenario -----------------------------------------------------------------------------*/
/* CPU units of a node: as wide as those whose times are known; at least one. */
static int cpu_units(const struct capacity *c, const struct capacity_node *k)
{
    int units = k->cores / c->work->width;
    return units > 0 ? units : 1;
}

static int count_units(const struct capacity *c, const int *counts)
{
    int units = 0;
    for (int t = 0; t < c->machine->ntypes; t++)
        units += counts[t] * (cpu_units(c, &c->machine->node[t]) + c->machine->node[t].devices);
    return units;
}

/* Makes the units in order of types, nodes, CPU units, devices. unit and sim may be NULL. */
static int make_units(const struct capacity *c, uint64_t scenario, struct capacity_unit *unit,
                      struct sim_unit *sim)
{
    int counts[CAPACITY_TYPES], made = 0, memory = 0, host = 0;
    const struct capacity_machine *m = c->machine;
    capacity_counts(m, scenario, counts);
    for (int t = 0; t < m->ntypes; t++)
        for (int node = 0; node < counts[t]; node++) {
            const struct capacity_node *k = &m->node[t];
            int cores = cpu_units(c, k);
            host = m->linked ? memory++ : 0;
            for (int i = 0; i < cores + k->devices; i++, made++) {
                bool device = i >= cores;
                if (unit)
                    unit[made] = (struct capacity_unit){t, node, device ? i - cores : i, device};
                if (sim)
                    sim[made] = (struct sim_unit){
                        .kind = device ? CU_DEVICE : CU_CPU,
                        .width = device ? 1 : c->work->width,
                        .memory = !device     ? host
                                  : m->linked ? memory++
                                              : ++memory,
                        .speed = device ? k->device_speed : k->speed,
                        .fixed = device && !k->device_seconds ? k->device_fixed : 0,
                        .seconds = device ? k->device_seconds : k->seconds};
            }
        }
    return made;
}

int capacity_units(const struct capacity *c, uint64_t scenario, struct capacity_unit *unit)
{
    int counts[CAPACITY_TYPES];
    capacity_counts(c->machine, scenario, counts);
    return unit ? make_units(c, scenario, unit, NULL) : count_units(c, counts);
}

enum ek_status capacity_simulate(const struct capacity *c, uint64_t scenario, const char *schedule,
                                 void (*on_task)(void *, const struct sim_event *), void *arg,
                                 struct capacity_cell *cell)
{
    int ncu = capacity_units(c, scenario, NULL);
    struct sim_result result;
    OWNED_MEMORY NEW(struct sim_unit, unit, ncu, "out of memory for %d units", ncu);
    make_units(c, scenario, NULL, unit);
    const struct sim_case sim = {.job = {.n = c->work->n,
                                         .grain = 1,
                                         .cost = c->work->cost,
                                         .bytes = c->work->bytes,
                                         .link = c->machine->linked ? &c->machine->link : NULL},
                                 .unit = unit,
                                 .ncu = ncu,
                                 .steps = c->steps,
                                 .on_task = on_task,
                                 .on_task_arg = arg};
    TRY(sim_run(&sim, schedule, NULL, &result));
    *cell = (struct capacity_cell){result.makespan, result.lower_bound};
    return EK_OK;
}

/* ---- all of them ------------------------------------------------------------------------------*/
struct sweep {
    struct capacity *c;
    FILE *part; /* the .part file, or NULL */
    size_t done;
    atomic_int status;
};

/* Stores a finished cell: each line is flushed before the next. */
static enum ek_status keep(struct sweep *s, size_t scenario, int schedule)
{
    enum ek_status st = EK_OK;
#pragma omp critical(capacity_keep)
    {
        if (s->part) {
            capacity_csv_line(s->c, s->part, scenario, schedule);
            if (fflush(s->part))
                st =
                    status_fail(EK_UNAVAILABLE, "the table cannot be written: %s", strerror(errno));
        }
        progress_at((double)++s->done);
    }
    return st;
}

static void simulate_scenario(struct sweep *s, size_t i)
{
    struct capacity *c = s->c;
    for (int p = 0; p < c->nschedules; p++) {
        struct capacity_cell *cell = &c->cell[i * (size_t)c->nschedules + (size_t)p];
        int none = EK_OK;
        if (cell->makespan > 0 || stop_requested() || atomic_load(&s->status))
            continue;
        enum ek_status st = capacity_simulate(c, c->scenario[i], c->schedule[p], NULL, NULL, cell);
        THEN(st, keep(s, i, p));
        if (st)
            atomic_compare_exchange_strong(&s->status, &none, (int)st);
    }
}

static enum ek_status sweep(struct capacity *c, int jobs, FILE *part)
{
    struct sweep s = {.c = c, .part = part};
    size_t cells = c->nscenarios * (size_t)c->nschedules - c->known;
    if (!cells)
        return EK_OK;
    progress_begin("cu-plan", (double)cells, "simulations");
    /* The largest combinations have the highest numbers and take longest: they begin first. */
#pragma omp parallel for num_threads(jobs) schedule(dynamic)
    for (size_t i = 0; i < c->nscenarios; i++)
        simulate_scenario(&s, c->nscenarios - 1 - i);
    progress_end();
    enum ek_status st = (enum ek_status)atomic_load(&s.status);
    return !st && stop_requested() ? EK_STOPPED : st;
}

enum ek_status capacity_run(struct capacity *c, int jobs, const char *csv)
{
    char part[4096];
    if (!csv || !file_replaceable(csv)) { /* a pipe or device: cannot be resumed */
        const enum ek_status done = sweep(c, jobs, NULL);
        return done || !csv ? done : capacity_csv_save(c, csv);
    }
    if (snprintf(part, sizeof part, "%s.part", csv) >= (int)sizeof part)
        FAIL(EK_USAGE, "%s: file name is too long", csv);
    TRY(capacity_csv_load(c, csv));
    TRY(capacity_csv_load(c, part));
    TRY(capacity_csv_save(c, part)); /* drops a truncated line */
    FILE *out = fopen(part, "a");
    if (!out)
        FAIL(EK_UNAVAILABLE, "%s: cannot be written: %s", part, strerror(errno));
    enum ek_status st = sweep(c, jobs, out);
    if (fclose(out) && !st)
        st = status_fail(EK_UNAVAILABLE, "%s: cannot be written: %s", part, strerror(errno));
    THEN(st, capacity_csv_save(c, csv));
    if (!st)
        unlink(part);
    return st;
}
