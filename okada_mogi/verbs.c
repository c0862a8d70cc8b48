/* okada_mogi/verbs.c – tasks are ranges of trials; they have no data to move, and accepted trials
 * go into the results. */
#include "okada_mogi/verbs.h"
#include "cu/rank/stop.h"
#include "src/clock.h"

#include <stdlib.h>

enum { MANY = 1 << 30 }; /* steps */

enum ek_status search_describe(struct program *p)
{
    TRY(pieces_cut(&p->tasks, p->search, &p->batch, 1, p->set->n));
    *p->described = (struct sched_job){.n = p->tasks.n, .grain = 1, .cost = p->tasks.cost};
    if (p->tasks.n <= p->nwas)
        return EK_OK;
    int *was = realloc(p->was, p->tasks.n * sizeof *was);
    if (!was)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %zu tasks", p->path, p->tasks.n);
    p->was = was;
    while (p->nwas < p->tasks.n)
        p->was[p->nwas++] = -1;
    return EK_OK;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct program *p = ctx;
    const struct search_sink sink = {node_put, p->node};
    return units_compute(p->units, cu, &p->tasks.range[r.begin], r.end - r.begin, &sink, seconds);
}

/* Reports the last batch and gets the next. */
static enum ek_status next_batch(struct program *p)
{
    const double evaluations = units_evaluations(p->units);
    const struct node_report r = {evaluations - p->reported, units_rate(p->units)};
    p->reported = evaluations;
    TRY(node_next(p->node, &r, &p->batch));
    p->seconds = clock_now() - p->start;
    return p->batch.count ? search_describe(p) : EK_OK;
}

static enum ek_status finish(void *ctx, const struct team_step *step, bool *last)
{
    struct program *p = ctx;
    (void)step;
    TRY(next_batch(p));
    *last = !p->batch.count && !stop_requested();
    return EK_OK;
}

static enum ek_status repartition(void *ctx, const struct team_step *step,
                                  const struct sched_job **job, const int **was)
{
    struct program *p = ctx;
    (void)step;
    if (p->batch.count) {
        *job = p->described;
        *was = p->was;
    }
    return EK_OK;
}

const struct team_ops search_verbs = {
    .compute = compute, .cpu_batch = 1, .finish = finish, .repartition = repartition};

/* The number of batches is unknown in advance, unless one is everything. */
int search_steps(const void *st)
{
    const struct program *p = st;
    return !p->batch.count ? 0 : p->batch.count == p->range.count ? 1 : MANY;
}

void search_schedule(void *st, const char *spec)
{
    ((struct program *)st)->schedule = spec;
}

enum ek_status search_reset(void *st)
{
    struct program *p = st;
    p->reported = 0;
    units_begin(p->units);
    TRY(node_begin(p->node, p->schedule));
    p->start = clock_now();
    return next_batch(p);
}
