/* mcsem/device.c – outlines of pairs go to a device batch by batch, which makes plans of them, sums
 * come back; while the device computes one batch the host outlines the next. */
#include "mcsem/device.h"
#include "src/kernel.h"

#include "mcsem/kernels/exact_plan.h"
#include "src/arena.h"

#include <stdlib.h>
#include <string.h>

/* Buffers, kernels. */
enum { LAYERS, LINES, FILTERS, WEIGHTS, DEEPEST, PLACE, SUMS, BUFFERS };
enum { FLIGHT = 2, LANDED = 0, BROUGHT = FLIGHT }; /* batches under way; their events */
enum { PLANS, WAVES, ADD, KERNELS };
enum { GROUP = 64 };
static const struct backend_kernel kernels[KERNELS] = {[PLANS] = {"exact_plans", {GROUP, 1, 1}},
                                                       [WAVES] = {"exact_waves", {GROUP, 1, 1}},
                                                       [ADD] = {"exact_sums", {GROUP, 1, 1}}};

/* Pairs of a batch, or as many as give each multiprocessor so many work-items; its sums; batches of
 * a call. */
enum { MOST_PAIRS = 2048, ITEMS = 1024, MOST_SUMS = 1 << 26, MOST_BATCHES = 4 };
/* What an ample pair takes: levels, points, numbers of both, waves of the finest usual filter. */
enum { AMPLE = 8, AMPLE_NUMBERS = 64, AMPLE_WAVES = 192 };
#define SHARE_OF_MEMORY 0.25      /* for the place where work-items work */
#define SHARE_OF_PLANS  (1. / 16) /* for the weights of a batch */

/* A batch's plans, here and on the device. */
struct flight {
    double *number;
    int *row;
    struct backend_mem *numbers, *plans;
};

_Static_assert(HANKEL_SHIFTS == EXACT_SHIFTS && (int)PAIR_FUNCTIONS == EXACT_FUNCTIONS, "plan.h");

/* What somebody wants to know, NULL: nothing. */
struct call {
    const struct device_share *share;
    int shares, nfreq;
    enum forward_derivatives derivatives;
    double complex *sum;
};

/* What plans take: doubles and integers that the host sends, weights and deepest layers that the
 * device adds. */
struct counts {
    size_t numbers, rows, weights, deepest;
};

struct device {
    struct backend *backend;
    struct backend_program *program;
    struct backend_mem *buffer[BUFFERS];
    int layers, nfreq;
    size_t call, batch; /* pairs of a call, of a batch, at most */
    struct counts most; /* of a batch */
    bool has[HANKEL_FILTERS];
    struct flight flight[FLIGHT];
    struct pair_plan plan;
    double *table, *line; /* table: [DEVICE_SHARES][4 * layers] */
    struct arena arena;
    struct call call_at;
    /* the batch at hand */
    struct flight *at;
    size_t pairs;
    struct counts used; /* the first rows are the pairs' */
};

static enum ek_status write(struct device *d, int buffer, const void *from, size_t bytes)
{
    return backend_send(d->backend, BACKEND_FEED, d->buffer[buffer], from, bytes);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Bytes of the place for n pairs. */
static size_t place_bytes(const struct device *d, size_t n)
{
    const size_t items = n * (size_t)d->nfreq * EXACT_STRANDS;
    const size_t groups = (items + EXACT_BESIDE - 1) / EXACT_BESIDE;
    return groups * EXACT_BESIDE * (size_t)exact_numbers(d->layers) * sizeof(double);
}

static size_t sums(const struct device *d, size_t n)
{
    return n * (size_t)d->nfreq * 2 * (1 + (size_t)d->layers);
}

static bool fits(const struct device *d, size_t n)
{
    const struct backend_info *info = &d->backend->info;
    const size_t bytes = place_bytes(d, n);
    return bytes <= info->max_alloc && (double)bytes <= SHARE_OF_MEMORY * (double)info->memory &&
           sums(d, n) <= MOST_SUMS;
}

/* Room for ample pairs and a very long one. */
static struct counts room_for(const struct device *d, size_t pairs)
{
    const size_t groups = (size_t)d->nfreq, levels = AMPLE * pairs + PAIR_POINTS;
    const size_t parts = PAIR_PART * (2 + (size_t)d->layers);
    const double plans = SHARE_OF_PLANS * (double)d->backend->info.memory / sizeof(double);
    struct counts n = {
        .numbers = AMPLE_NUMBERS * levels + PAIR_POINTS * parts,
        .rows = EXACT_PAIR * pairs + (EXACT_LEVEL + EXACT_POINT + PAIR_ADDITIONS) * levels,
        .weights =
            (1 + PAIR_FUNCTIONS) * (AMPLE * AMPLE_WAVES * pairs + (size_t)PAIR_POINTS * PAIR_WAVES),
        .deepest = groups * ((AMPLE_WAVES * pairs + PAIR_WAVES) / PAIR_GROUP)};
    n.weights = (double)n.weights < plans ? n.weights : (size_t)plans;
    return n;
}

/* As many pairs as there are or the device has room for, one at least; a call's batches are of
 * equal size. */
static void choose_batch(struct device *d, size_t pairs)
{
    const size_t items = ITEMS * (size_t)d->backend->info.compute_units;
    const size_t fill = items / ((size_t)d->nfreq * EXACT_STRANDS);
    const size_t most = fill > MOST_PAIRS ? fill : MOST_PAIRS;
    pairs = pairs > 0 ? pairs : 1;
    const size_t batches = (pairs + most - 1) / most;
    d->batch = batches < MOST_BATCHES ? (pairs + batches - 1) / batches : most;
    while (d->batch > 1 && !fits(d, d->batch))
        d->batch /= 2;
    d->call = MOST_BATCHES * d->batch < pairs ? MOST_BATCHES * d->batch : pairs;
    d->most = room_for(d, d->batch);
}

static enum ek_status open_host(struct device *d)
{
    d->table = ARENA_NEW(&d->arena, DEVICE_SHARES * 4 * (size_t)d->layers, double);
    d->line = ARENA_NEW(&d->arena, d->nfreq, double);
    for (int f = 0; f < FLIGHT; f++) {
        d->flight[f].number = ARENA_NEW(&d->arena, d->most.numbers, double);
        d->flight[f].row = ARENA_NEW(&d->arena, d->most.rows, int);
    }
    TRY(arena_check(&d->arena, "plans of pairs for %s", d->backend->label));
    return pair_open(d->layers, &d->plan);
}

static enum ek_status open_buffers(struct device *d)
{
    const size_t bytes[BUFFERS] = {[LAYERS] =
                                       DEVICE_SHARES * 4 * (size_t)d->layers * sizeof(double),
                                   [LINES] = (size_t)d->nfreq * sizeof(double),
                                   [FILTERS] = sizeof(double[HANKEL_FILTERS][HANKEL_NUMBERS]),
                                   [WEIGHTS] = d->most.weights * sizeof(double),
                                   [DEEPEST] = d->most.deepest * sizeof(int),
                                   [PLACE] = place_bytes(d, d->batch),
                                   [SUMS] = sums(d, d->batch) * sizeof(double)};
    for (int b = 0; b < BUFFERS; b++)
        TRY(backend_alloc(d->backend, bytes[b], &d->buffer[b]));
    for (int f = 0; f < FLIGHT; f++) {
        struct flight *at = &d->flight[f];
        TRY(backend_alloc(d->backend, d->most.numbers * sizeof(double), &at->numbers));
        TRY(backend_alloc(d->backend, d->most.rows * sizeof(int), &at->plans));
    }
    return EK_OK;
}

static enum ek_status build(struct device *d)
{
    const char *const text = "mcsem/kernels/exact.c";
    return backend_build_texts(d->backend, &text, 1, "-DKERNEL_NO_FMA", kernels, KERNELS,
                               &d->program);
}

static enum ek_status open_all(struct device *d, size_t pairs)
{
    if (!d->backend->info.fp64)
        FAIL(EK_UNAVAILABLE, "%s has no double precision; leave it out", d->backend->label);
    choose_batch(d, pairs);
    TRY(open_host(d));
    TRY(open_buffers(d));
    return build(d);
}

enum ek_status mcsem_device_open(struct backend *backend, int layers, int nfreq, size_t pairs,
                                 struct device **device)
{
    NEW(struct device, d, 1, "%s: out of memory", backend->label);
    d->backend = backend;
    d->layers = layers;
    d->nfreq = nfreq;
    const enum ek_status st = open_all(d, pairs);
    if (st)
        mcsem_device_close(d);
    else
        *device = d;
    return st;
}

void mcsem_device_close(struct device *d)
{
    if (!d)
        return;
    (void)MUTED(mcsem_device_end(d));
    for (int b = 0; b < BUFFERS; b++)
        backend_free(d->backend, d->buffer[b]);
    for (int f = 0; f < FLIGHT; f++) {
        backend_free(d->backend, d->flight[f].numbers);
        backend_free(d->backend, d->flight[f].plans);
    }
    backend_unbuild(d->backend, d->program);
    pair_close(&d->plan);
    arena_free(&d->arena);
    free(d);
}

size_t mcsem_device_batch(const struct device *d)
{
    return d->call;
}

/* ---- packing --------------------------------------------------------------------------------- */

static int parts_of(const struct pair_view *v)
{
    return v->below + v->between + v->above;
}

/* What the plan at hand takes. */
static struct counts plan_counts(const struct device *d)
{
    const struct pair_plan *p = &d->plan;
    const size_t nwaves = (size_t)p->nwaves, levels = (size_t)p->nlevels;
    struct counts n = {.numbers = 1,
                       .rows = EXACT_PAIR + EXACT_LEVEL * levels,
                       .weights = nwaves * (1 + PAIR_FUNCTIONS * levels),
                       .deepest = (size_t)d->nfreq * (nwaves / PAIR_GROUP)};
    const struct pair_point *point = p->point;
    for (size_t k = 0; k < levels; k++) {
        n.numbers += (size_t)(PAIR_PART * parts_of(&p->level[k].view));
        for (int i = 0; i < p->level[k].points; i++, point++) {
            n.numbers += 1 + (size_t)point->additions;
            n.rows += EXACT_POINT + (size_t)point->additions;
        }
    }
    return n;
}

static bool there_is_room(const struct device *d)
{
    const struct counts n = plan_counts(d), *has = &d->used, *most = &d->most;
    return has->numbers + n.numbers <= most->numbers && has->rows + n.rows <= most->rows &&
           has->weights + n.weights <= most->weights && has->deepest + n.deepest <= most->deepest;
}

static int add_numbers(struct device *d, const double *from, size_t n)
{
    const size_t at = d->used.numbers;
    memcpy(d->at->number + at, from, n * sizeof *from);
    d->used.numbers += n;
    return (int)at;
}

static void add_point(struct device *d, const struct pair_point *p)
{
    const double place = hankel_place(d->plan.filter, p->shift);
    int *row = d->at->row + d->used.rows;
    row[EXACT_PLACES] = p->places;
    row[EXACT_ADDITIONS] = p->additions;
    row[EXACT_SCALES] = add_numbers(d, &place, 1);
    for (int a = 0; a < p->additions; a++) {
        row[EXACT_POINT + a] = p->addition[a].what;
        add_numbers(d, &p->addition[a].scale, 1);
    }
    d->used.rows += EXACT_POINT + (size_t)p->additions;
}

/* Levels stand one after another, then all their points. */
static void add_levels(struct device *d)
{
    const struct pair_point *point = d->plan.point;
    int *row = d->at->row + d->used.rows;
    d->used.rows += (size_t)(EXACT_LEVEL * d->plan.nlevels);
    for (int k = 0; k < d->plan.nlevels; k++, row += EXACT_LEVEL) {
        const struct pair_level *level = &d->plan.level[k];
        const size_t parts = (size_t)(PAIR_PART * parts_of(&level->view));
        forward_level(level, add_numbers(d, level->view.part, parts), (int)d->used.weights, row);
        row[EXACT_POINTS] = level->points;
        row[EXACT_FIRST] = (int)d->used.rows;
        for (int i = 0; i < level->points; i++)
            add_point(d, point++);
        d->used.weights += (size_t)(PAIR_FUNCTIONS * d->plan.nwaves);
    }
}

/* The plan, by filter number `filter`, becomes the batch's next pair, over earth number `share`. */
static void add_plan(struct device *d, int filter, int share, int derive)
{
    const struct pair_plan *p = &d->plan;
    int *row = d->at->row + EXACT_PAIR * d->pairs++;
    row[EXACT_NWAVES] = p->nwaves;
    row[EXACT_NLEVELS] = p->nlevels;
    row[EXACT_BASE] = p->base;
    row[EXACT_MAGNETIC] = p->magnetic;
    row[EXACT_DERIVE] = derive;
    row[EXACT_FILTER] = filter * HANKEL_NUMBERS;
    row[EXACT_TAPS] = p->filter->n;
    row[EXACT_LONGEST] = add_numbers(d, &p->longest, 1);
    row[EXACT_LAYERS] = share * 4 * p->layers;
    row[EXACT_WAVES] = (int)d->used.weights;
    d->used.weights += (size_t)p->nwaves;
    row[EXACT_DEEPEST] = (int)d->used.deepest;
    d->used.deepest += (size_t)(d->nfreq * (p->nwaves / PAIR_GROUP));
    row[EXACT_LEVELS] = (int)d->used.rows;
    add_levels(d);
}

/* ---- launching ------------------------------------------------------------------------------- */

static enum ek_status launch_batch(struct device *d)
{
    const struct call *c = &d->call_at;
    const int nlayers = c->share->layers.n, nfreq = c->nfreq;
    const struct backend_arg plans[] = {
        backend_arg_mem(d->buffer[LAYERS]),  backend_arg_int(nlayers),
        backend_arg_mem(d->buffer[LINES]),   backend_arg_int(nfreq),
        backend_arg_mem(d->buffer[FILTERS]), backend_arg_int(HANKEL_LADDER),
        backend_arg_mem(d->at->numbers),     backend_arg_mem(d->at->plans),
        backend_arg_int((int)d->pairs),      backend_arg_mem(d->buffer[WEIGHTS]),
        backend_arg_mem(d->buffer[DEEPEST])};
    const struct backend_arg waves[] = {backend_arg_mem(d->buffer[LAYERS]),
                                        backend_arg_int(nlayers),
                                        backend_arg_mem(d->buffer[LINES]),
                                        backend_arg_int(nfreq),
                                        backend_arg_mem(d->at->numbers),
                                        backend_arg_mem(d->at->plans),
                                        backend_arg_mem(d->buffer[WEIGHTS]),
                                        backend_arg_mem(d->buffer[DEEPEST]),
                                        backend_arg_int((int)d->pairs),
                                        backend_arg_double(c->derivatives == FORWARD_HORIZONTAL),
                                        backend_arg_mem(d->buffer[PLACE])};
    const struct backend_arg add[] = {backend_arg_mem(d->buffer[PLACE]), backend_arg_int(nlayers),
                                      backend_arg_int(nfreq), backend_arg_int((int)d->pairs),
                                      backend_arg_mem(d->buffer[SUMS])};
    const size_t cases = d->pairs * (size_t)nfreq;
    TRY(backend_launch_items(d->backend, d->program, PLANS, d->pairs * GROUP,
                             sizeof plans / sizeof *plans, plans));
    TRY(backend_launch_items(d->backend, d->program, WAVES, cases * EXACT_STRANDS,
                             sizeof waves / sizeof *waves, waves));
    return backend_launch_items(d->backend, d->program, ADD, cases * 2 * (1 + (size_t)nlayers),
                                sizeof add / sizeof *add, add);
}

/* Sums of a pair. */
static size_t call_numbers(const struct call *c)
{
    return (size_t)c->nfreq * (1 + (size_t)c->share->layers.n);
}

/* The batch at hand sets off. */
static enum ek_status begin_batch(struct device *d, double complex *sum)
{
    const struct flight *at = d->at;
    const int number = (int)(at - d->flight);
    struct backend *b = d->backend;
    TRY(backend_send(b, BACKEND_FEED, at->numbers, at->number,
                     d->used.numbers * sizeof *at->number));
    TRY(backend_send(b, BACKEND_FEED, at->plans, at->row, d->used.rows * sizeof *at->row));
    TRY(backend_record(b, BACKEND_FEED, BROUGHT + number));
    TRY(backend_after(b, BACKEND_COMPUTE, BROUGHT + number));
    TRY(launch_batch(d));
    TRY(backend_fetch(b, BACKEND_COMPUTE, sum, d->buffer[SUMS],
                      d->pairs * call_numbers(&d->call_at) * sizeof *sum));
    return backend_record(b, BACKEND_COMPUTE, LANDED + number);
}

/* Waits until a flight is free for the next batch. */
static enum ek_status land(struct device *d, int flight)
{
    double nothing;
    return backend_elapsed(d->backend, LANDED + flight, LANDED + flight, &nothing);
}

static enum ek_status wait_all(struct device *d)
{
    TRY(backend_wait(d->backend, BACKEND_FEED));
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

/* The filter, which the device has from then on. */
static enum ek_status bring_filter(struct device *d, int which, const struct hankel **filter)
{
    TRY(hankel_open(which, filter));
    if (d->has[which])
        return EK_OK;
    const size_t numbers = HANKEL_LADDER + (size_t)(2 * HANKEL_SHIFTS * (*filter)->n);
    const struct backend_rect box = backend_linear((size_t)which * HANKEL_NUMBERS * sizeof(double),
                                                   0, numbers * sizeof(double));
    d->has[which] = true;
    return backend_write(d->backend, BACKEND_FEED, d->buffer[FILTERS], (*filter)->ladder, &box);
}

/* The next pair to be packed, and how many are left. */
struct cursor {
    int share;
    size_t pair, left;
};

/* Packs pairs until the batch is full or all are in. */
static enum ek_status fill_batch(struct device *d, const double *freq, struct cursor *at)
{
    const struct call *c = &d->call_at;
    const size_t most = at->left < d->batch ? at->left : d->batch;
    d->pairs = 0;
    d->used = (struct counts){.rows = EXACT_PAIR * most};
    while (d->pairs < most) {
        const struct device_share *s = &c->share[at->share];
        const struct hankel *filter;
        struct survey_pair seen;
        if (at->pair == s->n) {
            at->share++;
            at->pair = 0;
            continue;
        }
        seen = pair_seen(&s->pair[at->pair]);
        const int which = forward_filter(&seen, s->filter);
        TRY(bring_filter(d, which, &filter));
        TRY(pair_outline(&s->layers, &seen, filter, forward_wire(&s->layers, &seen, c->nfreq, freq),
                         &d->plan));
        if (!there_is_room(d))
            break; /* to the next batch, or never */
        add_plan(d, which, at->share, forward_derive(&s->layers, &d->plan, c->derivatives));
        at->pair++;
        at->left--;
    }
    if (!d->pairs)
        FAIL(EK_UNAVAILABLE, "%s: its memory, %.1f MB, is too small for a wire of %d levels",
             d->backend->label, 1e-6 * (double)d->backend->info.memory, d->plan.nlevels);
    return EK_OK;
}

static enum ek_status begin_batches(struct device *d, const double *freq, struct cursor at)
{
    double complex *sum = d->call_at.sum;
    for (int turn = 0; at.left; turn++) {
        d->at = &d->flight[turn % FLIGHT];
        if (turn >= FLIGHT)
            TRY(land(d, turn % FLIGHT));
        TRY(fill_batch(d, freq, &at));
        TRY(begin_batch(d, sum));
        sum += d->pairs * call_numbers(&d->call_at);
    }
    return EK_OK;
}

/* What the sums of magnetic dipoles lack: the fields', and their derivatives' where there are. */
static void turn_loops(const struct device *d, const struct call *c)
{
    const size_t numbers = 1 + (size_t)c->share->layers.n, nfreq = (size_t)c->nfreq;
    double complex *sum = c->sum;
    for (const struct device_share *s = c->share; s < c->share + c->shares; s++)
        for (size_t i = 0; i < s->n * nfreq; i++, sum += numbers)
            pair_factor(&s->pair[i / nfreq], d->line[i % nfreq],
                        c->derivatives == FORWARD_FIELD ? 1 : numbers, sum);
}

enum ek_status mcsem_device_end(struct device *d)
{
    if (!d->call_at.share)
        return EK_OK;
    const struct call c = d->call_at;
    d->call_at.share = NULL;
    TRY(wait_all(d));
    turn_loops(d, &c);
    return EK_OK;
}

enum ek_status mcsem_device_begin(struct device *d, const struct device_share *share, int shares,
                                  int nfreq, const double *freq,
                                  enum forward_derivatives derivatives, double complex *sum)
{
    const int nlayers = share->layers.n;
    struct cursor at = {0};
    TRY(mcsem_device_end(d));
    for (int s = 0; s < shares; s++) {
        forward_layers(&share[s].layers, d->table + s * 4 * nlayers);
        at.left += share[s].n;
    }
    if (!at.left)
        return EK_OK;
    for (int q = 0; q < nfreq; q++)
        d->line[q] = forward_line(freq[q]);
    d->call_at = (struct call){share, shares, nfreq, derivatives, sum};
    TRY(write(d, LAYERS, d->table, (size_t)(shares * 4 * nlayers) * sizeof *d->table));
    TRY(write(d, LINES, d->line, (size_t)nfreq * sizeof *d->line));
    const enum ek_status st = begin_batches(d, freq, at);
    if (st) { /* what is under way must not reach the caller's memory later */
        (void)MUTED(wait_all(d));
        d->call_at.share = NULL;
    }
    return st;
}

enum ek_status mcsem_device_pairs(struct device *d, const struct device_share *share, int shares,
                                  int nfreq, const double *freq,
                                  enum forward_derivatives derivatives, double complex *sum)
{
    TRY(mcsem_device_begin(d, share, shares, nfreq, freq, derivatives, sum));
    return mcsem_device_end(d);
}
