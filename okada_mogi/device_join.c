/* okada_mogi/device_join.c – joins on a device: it holds the table and answers the queries of the
 * descent through the other sources, many at a time; meanwhile the descent goes on, and then the
 * answers are judged. */
#include "okada_mogi/join_table.h"
#include "okada_mogi/device.h"
#include "okada_mogi/kernels/join.h"
#include "src/sort.h"

#include <stdlib.h>

enum {
    V,
    CELL,
    DIVISION,
    SLACK,
    TARGET,
    FOUND = TARGET + 2,
    COUNT = FOUND + 2
}; /* two from TARGET on */
/* Queries in a launch, answers to each: a query with more is repeated on the host, at the price of
 * some hundred answers. */
enum { TARGETS = 16384, SLOTS = 64 };

/* Queries of a launch. */
struct query_batch {
    int n;
    trial_number *trial; /* [TARGETS] */
    double *target;      /* [columns][TARGETS] */
    int *count;          /* [TARGETS] */
    int *found;          /* [TARGETS][SLOTS] */
};

struct queries {
    struct arena arena;
    const struct join_table *table; /* NULL: made in blocks, which the worker does alone */
    struct query_batch batch[2];
    int filling;    /* which of the two collects queries */
    bool in_flight; /* the other one is on the device */
    float *window;  /* [width][2 columns] */
    double *one;    /* [width][columns] target of one query */
    const struct query_batch *judged;
};

static void close(struct search_device *d)
{
    struct queries *q = d->own;
    arena_free(&q->arena);
    free(q);
}

static enum ek_status open(struct search_device *d)
{
    struct queries *q = d->own = calloc(1, sizeof *q);
    if (!q)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for queries", d->search->job->path);
    q->table = search_join_table(d->search);
    if (!q->table)
        return EK_OK;
    const struct join_table *t = q->table;
    const size_t n = (size_t)t->columns->n;
    for (struct query_batch *a = q->batch; a < q->batch + 2; a++) {
        a->trial = ARENA_NEW(&q->arena, TARGETS, trial_number);
        a->target = ARENA_NEW(&q->arena, n * TARGETS, double);
        a->count = ARENA_NEW(&q->arena, TARGETS, int);
        a->found = ARENA_NEW(&q->arena, TARGETS * SLOTS, int);
    }
    q->window = ARENA_NEW(&q->arena, (size_t)d->width * 2 * n, float);
    q->one = ARENA_NEW(&q->arena, (size_t)d->width * n, double);
    TRY(arena_check(&q->arena, "queries of %s", d->search->job->path));
    const size_t cells = (size_t)t->ncells[0] * (size_t)t->ncells[1] + 1;
    TRY(search_device_write(d, V, t->v, n * (size_t)t->room * sizeof *t->v));
    TRY(search_device_write(d, CELL, t->cell, cells * sizeof *t->cell));
    const double division[] = {t->first[0], t->width[0], t->ncells[0],
                               t->first[1], t->width[1], t->ncells[1]};
    TRY(search_device_write(d, DIVISION, division, sizeof division));
    TRY(search_device_write(d, SLACK, t->columns->slack, n * sizeof *t->columns->slack));
    for (int slot = 0; slot < 2; slot++) {
        TRY(search_device_room(d, TARGET + slot, n * TARGETS * sizeof *q->batch->target));
        TRY(search_device_room(d, FOUND + slot, TARGETS * SLOTS * sizeof *q->batch->found));
        TRY(search_device_room(d, COUNT + slot, TARGETS * sizeof *q->batch->count));
    }
    return search_device_build(d, "okada_mogi/kernels/join.c", "join_find");
}

static enum ek_status launch(struct search_device *d, int slot)
{
    const struct queries *q = d->own;
    const struct join_table *t = q->table;
    const int n = q->batch[slot].n;
    const struct backend_arg arg[] = {
        backend_arg_mem(d->buffer[V].mem),
        backend_arg_long(t->room),
        backend_arg_int(t->columns->n),
        backend_arg_mem(d->buffer[CELL].mem),
        backend_arg_mem(d->buffer[DIVISION].mem),
        backend_arg_mem(d->buffer[TARGET + slot].mem),
        backend_arg_int(TARGETS),
        backend_arg_int(n),
        backend_arg_double(search_reach(d->worker[0])),
        backend_arg_mem(d->buffer[SLACK].mem),
        backend_arg_int(SLOTS),
        backend_arg_mem(d->buffer[COUNT + slot].mem),
        backend_arg_mem(d->buffer[FOUND + slot].mem),
    };
    return backend_launch_items(d->backend, d->program, 0, (size_t)n * JOIN_ITEMS,
                                sizeof arg / sizeof *arg, arg);
}

/* ---- judging ----------------------------------------------------------------------------------*/

/* A query whose answers did not fit: it is repeated on the host. */
struct again {
    struct search_device *d;
    struct search_worker *worker;
    trial_number trial;
};

static enum ek_status judge_row(void *arg, const struct join_row *row)
{
    const struct again *a = arg;
    const struct queries *q = a->d->own;
    return search_judge_trial(a->worker,
                              a->trial + search_join_row(a->d->search, row - q->table->row));
}

static enum ek_status ask_host(struct search_device *d, int thread, size_t i)
{
    struct queries *q = d->own;
    struct again again = {d, d->worker[thread], q->judged->trial[i]};
    const size_t n = (size_t)q->table->columns->n, t = (size_t)thread;
    double *one = q->one + t * n;
    for (size_t c = 0; c < n; c++)
        one[c] = q->judged->target[c * TARGETS + i];
    return join_table_find(q->table, one, search_reach(d->worker[0]), q->window + 2 * t * n,
                           judge_row, &again);
}

/* Judges the answers to query i. */
static enum ek_status judge_query(struct search_device *d, int thread, size_t i)
{
    struct queries *q = d->own;
    const struct query_batch *a = q->judged;
    const int count = a->count[i];
    int *found = a->found + i * SLOTS;
    if (count > SLOTS)
        return ask_host(d, thread, i);
    if (count > 1)
        qsort(found, (size_t)count, sizeof *found, sort_by_int);
    for (int k = 0; k < count; k++)
        TRY(search_judge_trial(d->worker[thread],
                               a->trial[i] + search_join_row(d->search, found[k])));
    return EK_OK;
}

static enum ek_status judge(struct search_device *d, struct query_batch *a)
{
    struct queries *q = d->own;
    const size_t n = (size_t)a->n;
    a->n = 0;
    q->judged = a;
    return search_device_judge(d, n, judge_query);
}

/* ---- asking -----------------------------------------------------------------------------------*/

/* Sends the queries collected to the device; the answers to those before are here on return. */
static enum ek_status begin(struct search_device *d, int slot)
{
    static const int none[TARGETS];
    const struct queries *q = d->own;
    const struct query_batch *a = &q->batch[slot];
    struct backend *b = d->backend;
    const size_t columns = (size_t)q->table->columns->n;
    TRY(backend_send(b, BACKEND_COMPUTE, d->buffer[TARGET + slot].mem, a->target,
                     columns * TARGETS * sizeof *a->target));
    TRY(backend_send(b, BACKEND_COMPUTE, d->buffer[COUNT + slot].mem, none, sizeof none));
    TRY(launch(d, slot));
    TRY(backend_record(b, BACKEND_COMPUTE, slot));
    if (q->in_flight)
        TRY(backend_wait(b, BACKEND_FEED));
    TRY(backend_after(b, BACKEND_FEED, slot));
    TRY(backend_fetch(b, BACKEND_FEED, a->count, d->buffer[COUNT + slot].mem,
                      (size_t)a->n * sizeof *a->count));
    return backend_fetch(b, BACKEND_FEED, a->found, d->buffer[FOUND + slot].mem,
                         (size_t)a->n * SLOTS * sizeof *a->found);
}

/* Sends the queries collected to the device and judges its answers to those before. */
static enum ek_status answer(struct search_device *d)
{
    struct queries *q = d->own;
    const int slot = q->filling;
    const bool was_in_flight = q->in_flight;
    if (!q->batch[slot].n)
        return EK_OK;
    TRY(begin(d, slot));
    q->in_flight = true;
    q->filling = !slot;
    return was_in_flight ? judge(d, &q->batch[!slot]) : EK_OK;
}

/* Completes all queries. */
static enum ek_status answer_all(struct search_device *d)
{
    struct queries *q = d->own;
    TRY(answer(d));
    if (!q->in_flight)
        return EK_OK;
    TRY(backend_wait(d->backend, BACKEND_FEED));
    q->in_flight = false;
    return judge(d, &q->batch[!q->filling]);
}

static enum ek_status ask(void *arg, trial_number trial, const double *target)
{
    struct search_device *d = arg;
    struct queries *q = d->own;
    struct query_batch *a = &q->batch[q->filling];
    for (int c = 0; c < q->table->columns->n; c++)
        a->target[c * TARGETS + a->n] = target[c];
    a->trial[a->n++] = trial;
    return a->n == TARGETS ? answer(d) : EK_OK;
}

static enum ek_status run(void *device)
{
    struct search_device *d = device;
    struct queries *q = d->own;
    struct search_worker *leader = d->worker[0];
    if (!q->table)
        return d->search->ops->run(leader, leader->range);
    q->batch[0].n = q->batch[1].n = 0;
    q->in_flight = false;
    leader->asker = (struct search_asker){ask, d};
    enum ek_status st = d->search->ops->run(leader, leader->range);
    THEN(st, answer_all(d));
    if (st) { /* copies in flight must not reach our memory later */
        (void)MUTED(backend_wait(d->backend, BACKEND_FEED));
        (void)MUTED(backend_wait(d->backend, BACKEND_COMPUTE));
    }
    return st;
}

const struct search_device_ops search_device_join = {.open = open, .close = close, .run = run};
