/* okada_mogi/device_join.c – joins on a device: it holds the table and answers the queries of the
 * descent through the other sources, many at a time; meanwhile the descent goes on, and then the
 * answers are judged. */
#include "okada_mogi/join_table.h"
#include "okada_mogi/device.h"
#include "okada_mogi/kernels/join.h"

enum { V, CELL, DIVISION, SLACK, TARGET, FOUND = TARGET + 2 }; /* two from TARGET on */
/* Queries in a launch, and the most answers to all of them: with more, the host repeats them. */
enum { TARGETS = 16384, ANSWERS = 1 << 19 };

/* Queries of a launch. */
struct query_batch {
    int n;
    trial_number *trial; /* [TARGETS] */
    double *target;      /* [columns][TARGETS] */
    int *found;          /* [1 + 2 ANSWERS] number of answers; query and row of each */
};

struct queries {
    struct arena arena;
    const struct join_table *table; /* NULL: made in blocks, which the worker does alone */
    struct query_batch batch[2];
    int filling;    /* which of the two collects queries */
    bool in_flight; /* the other one is on the device */
    double *one;    /* [width][columns] target of one query */
    int *first;     /* [TARGETS + 1] each query's answers in */
    int *row;       /* [ANSWERS][2] the answers in the order of queries */
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
    d->part = ANSWERS;
    for (struct query_batch *a = q->batch; a < q->batch + 2; a++) {
        a->trial = ARENA_NEW(&q->arena, TARGETS, trial_number);
        a->target = ARENA_NEW(&q->arena, n * TARGETS, double);
        a->found = ARENA_NEW(&q->arena, 1 + 2 * ANSWERS, int);
    }
    q->first = ARENA_NEW(&q->arena, TARGETS + 1, int);
    q->row = ARENA_NEW(&q->arena, 2 * ANSWERS, int);
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
        TRY(search_device_room(d, FOUND + slot, (1 + 2 * ANSWERS) * sizeof *q->batch->found));
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
        backend_arg_int((int)d->part),
        backend_arg_mem(d->buffer[FOUND + slot].mem),
    };
    return backend_launch_items(d->backend, d->program, 0, (size_t)n * JOIN_ITEMS,
                                sizeof arg / sizeof *arg, arg);
}

/* ---- judging ----------------------------------------------------------------------------------*/

/* Repeats query i on the host. */
static enum ek_status ask_host(struct search_device *d, int thread, size_t i)
{
    struct queries *q = d->own;
    const size_t n = (size_t)q->table->columns->n;
    double *one = q->one + (size_t)thread * n;
    for (size_t c = 0; c < n; c++)
        one[c] = q->judged->target[c * TARGETS + i];
    return search_join_ask(d->worker[thread], q->judged->trial[i], one);
}

/* Answers in the order of queries, which is that of trials; the device's is any. */
static void sort_answers(struct queries *q, const struct query_batch *a)
{
    const int *found = a->found + 1, *end = found + 2 * (size_t)a->found[0];
    memset(q->first, 0, (TARGETS + 1) * sizeof *q->first);
    for (const int *f = found; f < end; f += 2)
        q->first[f[0] + 1]++;
    for (int i = 0; i < TARGETS; i++)
        q->first[i + 1] += q->first[i];
    for (const int *f = found; f < end; f += 2)
        memcpy(q->row + 2 * q->first[f[0]]++, f, 2 * sizeof *f);
}

static enum ek_status judge_answer(struct search_device *d, int thread, size_t i)
{
    const struct queries *q = d->own;
    const int *row = q->row + 2 * i;
    return search_join_judge(d->worker[thread], q->judged->trial[row[0]], row[1]);
}

/* Waits for the answers to the queries in a slot and judges them. */
static enum ek_status judge(struct search_device *d, int slot)
{
    struct queries *q = d->own;
    struct query_batch *a = &q->batch[slot];
    const size_t n = (size_t)a->n;
    a->n = 0;
    q->judged = a;
    TRY(search_device_found(d, slot, FOUND + slot, 1, (int)d->part, a->found));
    if (a->found[0] > d->part)
        return search_device_judge(d, n, ask_host);
    sort_answers(q, a);
    return search_device_judge(d, (size_t)a->found[0], judge_answer);
}

/* ---- asking -----------------------------------------------------------------------------------*/

/* Sends the queries collected to the device and judges its answers to those before. */
static enum ek_status answer(struct search_device *d)
{
    static const int none = 0;
    struct queries *q = d->own;
    struct backend *b = d->backend;
    const int slot = q->filling;
    const bool was_in_flight = q->in_flight;
    const double *target = q->batch[slot].target;
    if (!q->batch[slot].n)
        return EK_OK;
    TRY(backend_send(b, BACKEND_COMPUTE, d->buffer[TARGET + slot].mem, target,
                     (size_t)q->table->columns->n * TARGETS * sizeof *target));
    TRY(backend_send(b, BACKEND_COMPUTE, d->buffer[FOUND + slot].mem, &none, sizeof none));
    TRY(launch(d, slot));
    TRY(backend_record(b, BACKEND_COMPUTE, slot));
    q->in_flight = true;
    q->filling = !slot;
    return was_in_flight ? judge(d, !slot) : EK_OK;
}

/* Completes all queries. */
static enum ek_status answer_all(struct search_device *d)
{
    struct queries *q = d->own;
    TRY(answer(d));
    if (!q->in_flight)
        return EK_OK;
    q->in_flight = false;
    return judge(d, !q->filling);
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
