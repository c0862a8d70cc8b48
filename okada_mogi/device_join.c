/* okada_mogi/device_join.c – joins on a device: it holds the table and answers the questions
 * that the descent through the other sources asks, many at a time. */
#include "okada_mogi/join_table.h"
#include "okada_mogi/device.h"

#include <stdlib.h>

enum { V, CELL, DIVISION, TARGET, SLACK, FOUND };
enum { TARGETS = 16384, SLOTS = 16 }; /* questions in a launch, answers to each */

struct questions {
    struct arena arena;
    const struct join_table *table; /* NULL: made in blocks, which the worker does alone */
    int n;
    trial_number *trial; /* [TARGETS] */
    double *target;      /* [columns][TARGETS] */
    int *found;          /* [TARGETS][SLOTS] */
    float *window;
    double *one; /* [columns] target of one question */
};

void search_device_join_close(struct search_device *d)
{
    struct questions *q = d->own;
    arena_free(&q->arena);
    free(q);
}

enum ek_status search_device_join_open(struct search_device *d)
{
    struct questions *q = d->own = calloc(1, sizeof *q);
    if (!q)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for questions", d->search->job->path);
    q->table = search_join_table(d->search);
    if (!q->table)
        return EK_OK;
    const struct join_table *t = q->table;
    const size_t n = (size_t)t->columns->n;
    q->trial = ARENA_NEW(&q->arena, TARGETS, trial_number);
    q->target = ARENA_NEW(&q->arena, n * TARGETS, double);
    q->found = ARENA_NEW(&q->arena, TARGETS * SLOTS, int);
    q->window = ARENA_NEW(&q->arena, 2 * n, float);
    q->one = ARENA_NEW(&q->arena, n, double);
    TRY(arena_check(&q->arena, "questions of %s", d->search->job->path));
    const size_t cells = (size_t)t->ncells[0] * (size_t)t->ncells[1] + 1;
    TRY(search_device_write(d, V, t->v, n * (size_t)t->room * sizeof *t->v));
    TRY(search_device_write(d, CELL, t->cell, cells * sizeof *t->cell));
    const double division[] = {t->first[0], t->width[0], t->ncells[0],
                               t->first[1], t->width[1], t->ncells[1]};
    TRY(search_device_write(d, DIVISION, division, sizeof division));
    TRY(search_device_write(d, SLACK, t->columns->slack, n * sizeof *t->columns->slack));
    TRY(search_device_room(d, FOUND, TARGETS * SLOTS * sizeof *q->found));
    return search_device_build(d, "okada_mogi/kernels/join.c", "join_find");
}

static enum ek_status launch(struct search_device *d)
{
    const struct questions *q = d->own;
    const struct join_table *t = q->table;
    const struct backend_arg arg[] = {
        backend_arg_mem(d->buffer[V].mem),
        backend_arg_long(t->room),
        backend_arg_int(t->columns->n),
        backend_arg_mem(d->buffer[CELL].mem),
        backend_arg_mem(d->buffer[DIVISION].mem),
        backend_arg_mem(d->buffer[TARGET].mem),
        backend_arg_int(TARGETS),
        backend_arg_int(q->n),
        backend_arg_double(search_reach(d->worker)),
        backend_arg_mem(d->buffer[SLACK].mem),
        backend_arg_int(SLOTS),
        backend_arg_mem(d->buffer[FOUND].mem),
    };
    return backend_launch_items(d->backend, d->program, 0, (size_t)q->n, sizeof arg / sizeof *arg,
                                arg);
}

/* Where the answers did not fit: one question, answered on the host. */
struct again {
    struct search_device *d;
    trial_number trial;
};

static enum ek_status judge_row(void *arg, const struct join_row *row)
{
    const struct again *a = arg;
    const struct questions *q = a->d->own;
    return search_judge_trial(a->d->worker,
                              a->trial + search_join_row(a->d->search, row - q->table->row));
}

static enum ek_status ask_host(struct search_device *d, int i)
{
    struct questions *q = d->own;
    struct again again = {d, q->trial[i]};
    const int n = q->table->columns->n;
    for (int c = 0; c < n; c++)
        q->one[c] = q->target[c * TARGETS + i];
    return join_table_find(q->table, q->one, search_reach(d->worker), q->window, judge_row, &again);
}

/* Puts all questions to the device and judges its answers. */
static enum ek_status answer(struct search_device *d)
{
    struct questions *q = d->own;
    const size_t columns = (size_t)q->table->columns->n;
    if (!q->n)
        return EK_OK;
    TRY(search_device_write(d, TARGET, q->target, columns * TARGETS * sizeof *q->target));
    TRY(launch(d));
    TRY(search_device_read(d, FOUND, q->found, (size_t)q->n * SLOTS * sizeof *q->found));
    for (int i = 0; i < q->n; i++) {
        const int *found = q->found + i * SLOTS;
        if (found[0] >= SLOTS)
            TRY(ask_host(d, i));
        for (int k = 1; k <= found[0] && found[0] < SLOTS; k++)
            TRY(search_judge_trial(d->worker, q->trial[i] + search_join_row(d->search, found[k])));
    }
    q->n = 0;
    return EK_OK;
}

static enum ek_status ask(void *arg, trial_number trial, const double *target)
{
    struct search_device *d = arg;
    struct questions *q = d->own;
    for (int c = 0; c < q->table->columns->n; c++)
        q->target[c * TARGETS + q->n] = target[c];
    q->trial[q->n++] = trial;
    return q->n == TARGETS ? answer(d) : EK_OK;
}

enum ek_status search_device_join_run(void *device)
{
    struct search_device *d = device;
    struct questions *q = d->own;
    if (!q->table)
        return d->search->ops->run(d->worker, d->worker->range);
    q->n = 0;
    d->worker->asker = (struct search_asker){ask, d};
    const enum ek_status st = d->search->ops->run(d->worker, d->worker->range);
    return st ? st : answer(d);
}
