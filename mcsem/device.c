/* mcsem/device.c – plans of pairs go to a device batch by batch, sums come back; while the device
 * computes one batch the host plans the next. */
#include "mcsem/device.h"
#include "src/kernel.h"

#include "mcsem/kernels/exact_plan.h"
#include "src/arena.h"

#include <stdlib.h>
#include <string.h>

/* Buffers, kernels. */
enum { LAYERS, LINES, PLACE, SUMS, BUFFERS };
enum { FLIGHT = 2, LANDED = 0, BROUGHT = FLIGHT }; /* batches under way; their events */
enum { WAVES, ADD, KERNELS };
static const struct backend_kernel kernels[KERNELS] = {
    [WAVES] = {"exact_waves", {64, 1, 1}}, [ADD] = {"exact_sums", {64, 1, 1}}};

/* Of a batch: pairs, doubles of their plans, sums; batches of a call. */
enum { MOST_PAIRS = 2048, MOST_NUMBERS = 1 << 23, MOST_SUMS = 1 << 26, MOST_BATCHES = 4 };
#define SHARE_OF_MEMORY 0.25      /* for the place where work-items work */
#define SHARE_OF_PLANS  (1. / 32) /* for each flight's */

/* A batch's plans, here and on the device. */
struct flight {
    double *number;
    int *row;
    struct backend_mem *numbers, *plans;
};

struct device {
    struct backend *backend;
    struct backend_program *program;
    struct backend_mem *buffer[BUFFERS];
    int layers, nfreq;
    size_t call, batch, most_rows, most_numbers; /* call: pairs of one, at most */
    struct flight flight[FLIGHT];
    struct pair_plan plan;
    double *table, *line; /* table: [DEVICE_SHARES][4 * layers] */
    int *deepest;         /* [PAIR_WAVES / PAIR_GROUP] */
    struct arena arena;
    /* the batch at hand */
    struct flight *at;
    size_t pairs, numbers, rows; /* rows: numbers in row[], the first ones are the pairs' */
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

/* As many pairs as there are or the device has room for, one at least; a call's batches are of
 * equal size. */
static void choose_batch(struct device *d, size_t pairs)
{
    const size_t groups = (size_t)d->nfreq * (PAIR_WAVES / PAIR_GROUP);
    pairs = pairs > 0 ? pairs : 1;
    const size_t batches = (pairs + MOST_PAIRS - 1) / MOST_PAIRS;
    d->batch = batches < MOST_BATCHES ? (pairs + batches - 1) / batches : MOST_PAIRS;
    while (d->batch > 1 && !fits(d, d->batch))
        d->batch /= 2;
    d->call = MOST_BATCHES * d->batch < pairs ? MOST_BATCHES * d->batch : pairs;
    const double plans = SHARE_OF_PLANS * (double)d->backend->info.memory / sizeof(double);
    d->most_numbers = plans < MOST_NUMBERS ? (size_t)plans : MOST_NUMBERS;
    d->most_rows =
        d->batch * (EXACT_PAIR + 4 * EXACT_LEVEL + groups / 4) + PAIR_POINTS * EXACT_LEVEL + groups;
}

static enum ek_status open_host(struct device *d)
{
    d->table = ARENA_NEW(&d->arena, DEVICE_SHARES * 4 * (size_t)d->layers, double);
    d->line = ARENA_NEW(&d->arena, d->nfreq, double);
    d->deepest = ARENA_NEW(&d->arena, PAIR_WAVES / PAIR_GROUP, int);
    for (int f = 0; f < FLIGHT; f++) {
        d->flight[f].number = ARENA_NEW(&d->arena, d->most_numbers, double);
        d->flight[f].row = ARENA_NEW(&d->arena, d->most_rows, int);
    }
    TRY(arena_check(&d->arena, "plans of pairs for %s", d->backend->label));
    return pair_open(d->layers, &d->plan);
}

static enum ek_status open_buffers(struct device *d)
{
    const size_t bytes[BUFFERS] = {[LAYERS] =
                                       DEVICE_SHARES * 4 * (size_t)d->layers * sizeof(double),
                                   [LINES] = (size_t)d->nfreq * sizeof(double),
                                   [PLACE] = place_bytes(d, d->batch),
                                   [SUMS] = sums(d, d->batch) * sizeof(double)};
    for (int b = 0; b < BUFFERS; b++)
        TRY(backend_alloc(d->backend, bytes[b], &d->buffer[b]));
    for (int f = 0; f < FLIGHT; f++) {
        struct flight *at = &d->flight[f];
        TRY(backend_alloc(d->backend, d->most_numbers * sizeof(double), &at->numbers));
        TRY(backend_alloc(d->backend, d->most_rows * sizeof(int), &at->plans));
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

/* Numbers of a plan in the buffers: doubles, ints. */
static size_t plan_numbers(const struct pair_plan *p)
{
    size_t n = (size_t)p->nwaves;
    for (int k = 0; k < p->nlevels; k++)
        n += (size_t)(PAIR_PART * parts_of(&p->level[k].view) + PAIR_FUNCTIONS * p->nwaves);
    return n;
}
static size_t plan_rows(const struct device *d)
{
    return (size_t)(EXACT_LEVEL * d->plan.nlevels + d->nfreq * (d->plan.nwaves / PAIR_GROUP));
}

static int add_numbers(struct device *d, const double *from, size_t n)
{
    const size_t at = d->numbers;
    memcpy(d->at->number + at, from, n * sizeof *from);
    d->numbers += n;
    return (int)at;
}

static void add_level(struct device *d, const struct pair_level *level)
{
    const size_t nwaves = (size_t)d->plan.nwaves;
    const int parts =
        add_numbers(d, level->view.part, (size_t)(PAIR_PART * parts_of(&level->view)));
    const int weights = (int)d->numbers;
    for (int f = 0; f < PAIR_FUNCTIONS; f++)
        add_numbers(d, level->weight + f * PAIR_WAVES, nwaves);
    forward_level(level, parts, weights, d->at->row + d->rows);
    d->rows += EXACT_LEVEL;
}

/* The plan becomes the batch's next pair, over earth number `share`. */
static void add_plan(struct device *d, int nfreq, int share, int derive)
{
    const struct pair_plan *p = &d->plan;
    int *row = d->at->row + EXACT_PAIR * d->pairs++;
    row[EXACT_NWAVES] = p->nwaves;
    row[EXACT_NLEVELS] = p->nlevels;
    row[EXACT_BASE] = p->base;
    row[EXACT_MAGNETIC] = p->magnetic;
    row[EXACT_DERIVE] = derive;
    row[EXACT_WAVES] = add_numbers(d, p->wave, (size_t)p->nwaves);
    row[EXACT_LEVELS] = (int)d->rows;
    row[EXACT_LAYERS] = share * 4 * p->layers;
    for (int k = 0; k < p->nlevels; k++)
        add_level(d, &p->level[k]);
    row[EXACT_DEEPEST] = (int)d->rows;
    for (int q = 0; q < nfreq; q++) {
        forward_deepest(p->layers, p->base, d->table + row[EXACT_LAYERS], p->nwaves, p->wave,
                        d->line[q], d->at->row + d->rows);
        d->rows += (size_t)(p->nwaves / PAIR_GROUP);
    }
}

/* ---- launching ------------------------------------------------------------------------------- */

static enum ek_status launch_batch(struct device *d, int nlayers, int nfreq,
                                   enum forward_derivatives derivatives)
{
    const struct backend_arg waves[] = {
        backend_arg_mem(d->buffer[LAYERS]), backend_arg_int(nlayers),
        backend_arg_mem(d->buffer[LINES]),  backend_arg_int(nfreq),
        backend_arg_mem(d->at->numbers),    backend_arg_mem(d->at->plans),
        backend_arg_int((int)d->pairs),     backend_arg_double(derivatives == FORWARD_HORIZONTAL),
        backend_arg_mem(d->buffer[PLACE])};
    const struct backend_arg add[] = {backend_arg_mem(d->buffer[PLACE]), backend_arg_int(nlayers),
                                      backend_arg_int(nfreq), backend_arg_int((int)d->pairs),
                                      backend_arg_mem(d->buffer[SUMS])};
    const size_t cases = d->pairs * (size_t)nfreq;
    TRY(backend_launch_items(d->backend, d->program, WAVES, cases * EXACT_STRANDS,
                             sizeof waves / sizeof *waves, waves));
    return backend_launch_items(d->backend, d->program, ADD, cases * 2 * (1 + (size_t)nlayers),
                                sizeof add / sizeof *add, add);
}

/* The batch at hand sets off. */
static enum ek_status begin_batch(struct device *d, int nlayers, int nfreq,
                                  enum forward_derivatives derivatives, double complex *sum)
{
    const struct flight *at = d->at;
    const int number = (int)(at - d->flight);
    struct backend *b = d->backend;
    TRY(backend_send(b, BACKEND_FEED, at->numbers, at->number, d->numbers * sizeof *at->number));
    TRY(backend_send(b, BACKEND_FEED, at->plans, at->row, d->rows * sizeof *at->row));
    TRY(backend_record(b, BACKEND_FEED, BROUGHT + number));
    TRY(backend_after(b, BACKEND_COMPUTE, BROUGHT + number));
    TRY(launch_batch(d, nlayers, nfreq, derivatives));
    TRY(backend_fetch(b, BACKEND_COMPUTE, sum, d->buffer[SUMS],
                      d->pairs * (size_t)nfreq * (1 + (size_t)nlayers) * sizeof *sum));
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

/* The next pair to be packed, and how many are left. */
struct cursor {
    int share;
    size_t pair, left;
};

/* Packs pairs until the batch is full or all are in. */
static enum ek_status fill_batch(struct device *d, const struct device_share *share, int nfreq,
                                 const double *freq, enum forward_derivatives derivatives,
                                 struct cursor *at)
{
    const size_t most = at->left < d->batch ? at->left : d->batch;
    d->pairs = d->numbers = 0;
    d->rows = EXACT_PAIR * most;
    while (d->pairs < most) {
        const struct device_share *s = &share[at->share];
        const struct hankel *filter;
        struct survey_pair seen;
        if (at->pair == s->n) {
            at->share++;
            at->pair = 0;
            continue;
        }
        seen = pair_seen(&s->pair[at->pair]);
        TRY(hankel_open(forward_filter(&seen, s->filter), &filter));
        TRY(pair_make(&s->layers, &seen, filter, forward_wire(&s->layers, &seen, nfreq, freq),
                      &d->plan));
        if (d->numbers + plan_numbers(&d->plan) > d->most_numbers ||
            d->rows + plan_rows(d) > d->most_rows)
            break; /* to the next batch, or never */
        add_plan(d, nfreq, at->share, forward_derive(&s->layers, &d->plan, derivatives));
        at->pair++;
        at->left--;
    }
    if (!d->pairs)
        FAIL(EK_UNAVAILABLE, "%s: its memory, %.1f MB, is too small for a wire of %d levels",
             d->backend->label, 1e-6 * (double)d->backend->info.memory, d->plan.nlevels);
    return EK_OK;
}

static enum ek_status run_batches(struct device *d, const struct device_share *share, int nfreq,
                                  const double *freq, enum forward_derivatives derivatives,
                                  struct cursor at, double complex *sum)
{
    const int nlayers = share->layers.n;
    for (int turn = 0; at.left; turn++) {
        d->at = &d->flight[turn % FLIGHT];
        if (turn >= FLIGHT)
            TRY(land(d, turn % FLIGHT));
        TRY(fill_batch(d, share, nfreq, freq, derivatives, &at));
        TRY(begin_batch(d, nlayers, nfreq, derivatives, sum));
        sum += d->pairs * (size_t)nfreq * (1 + (size_t)nlayers);
    }
    return wait_all(d);
}

/* What the sums of magnetic dipoles lack: the fields', and their derivatives' where there are. */
static void turn_loops(const struct device *d, const struct device_share *share, int shares,
                       int nfreq, bool derive, double complex *sum)
{
    const size_t numbers = 1 + (size_t)share->layers.n;
    for (int s = 0; s < shares; s++)
        for (size_t i = 0; i < share[s].n * (size_t)nfreq; i++, sum += numbers)
            pair_factor(&share[s].pair[i / (size_t)nfreq], d->line[i % (size_t)nfreq],
                        derive ? numbers : 1, sum);
}

enum ek_status mcsem_device_pairs(struct device *d, const struct device_share *share, int shares,
                                  int nfreq, const double *freq,
                                  enum forward_derivatives derivatives, double complex *sum)
{
    const int nlayers = share->layers.n;
    struct cursor at = {0};
    for (int s = 0; s < shares; s++) {
        forward_layers(&share[s].layers, d->table + s * 4 * nlayers);
        at.left += share[s].n;
    }
    if (!at.left)
        return EK_OK;
    for (int q = 0; q < nfreq; q++)
        d->line[q] = forward_line(freq[q]);
    TRY(write(d, LAYERS, d->table, (size_t)(shares * 4 * nlayers) * sizeof *d->table));
    TRY(write(d, LINES, d->line, (size_t)nfreq * sizeof *d->line));
    const enum ek_status st = run_batches(d, share, nfreq, freq, derivatives, at, sum);
    if (st) /* what is under way must not reach the caller's memory later */
        (void)MUTED(wait_all(d));
    else
        turn_loops(d, share, shares, nfreq, derivatives != FORWARD_FIELD, sum);
    return st;
}
