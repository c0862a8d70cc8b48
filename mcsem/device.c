/* mcsem/device.c – host threads pack the geometry of pairs into batches, the device computes plans
 * and sums from them. While the device computes a group of batches, one per host thread, the
 * threads pack the next group. */
#include "mcsem/device_internal.h"
#include "cu/team/thread_pool.h"
#include "src/kernel.h"

#include "mcsem/kernels/exact_plan.h"

enum { PLANS, WAVES, ADD, ROWS, SQUARES, KERNELS };
enum { GROUP = 64 };
static const struct backend_kernel kernels[KERNELS] = {
    [PLANS] = {"exact_plans", {GROUP, 1, 1}},
    [WAVES] = {"exact_waves", {GROUP, 1, 1}},
    [ADD] = {"exact_sums", {GROUP, 1, 1}},
    [ROWS] = {"exact_rows", {GROUP, 1, 1}},
    [SQUARES] = {"exact_squares", {GROUP, 1, 1}}};

/* Limits: MOST_PAIRS of a batch, or more if that gives each multiprocessor fewer than ITEMS
 * work-items; pairs of the first batch, after which sizes double; doubles in its sums. */
enum { MOST_PAIRS = 2048, ITEMS = 1024, FIRST_PAIRS = 32, MOST_SUMS = 1 << 26 };
/* Room for a pair with many points: levels, numbers of each, wavenumbers of the finest usual
 * filter. */
enum { TYPICAL_LEVELS = 8, TYPICAL_NUMBERS = 64, TYPICAL_WAVES = 192 };
#define SHARE_OF_MEMORY 0.25      /* for the work-items' scratch memory; for sums */
#define SHARE_OF_PLANS  (1. / 16) /* for the weights of a batch */
enum { MOST_FEEDERS = 16 };       /* threads that pack pairs */

_Static_assert(HANKEL_SHIFTS == EXACT_SHIFTS && (int)PAIR_FUNCTIONS == EXACT_FUNCTIONS, "plan.h");
_Static_assert(sizeof(struct device_weight) == EXACT_WEIGHT * sizeof(double), "plan.h");

/* A range of a slot's pairs to pack: the first one's share, index in it and number among all of the
 * slot's pairs, and how many are left. */
struct cursor {
    int share;
    size_t pair, number, left;
};

/* A batch, packed by one thread: its plans, on the host and on the device. */
struct batch {
    double *number;
    int *row;
    struct backend_mem *numbers, *plans;
    struct pair_plan plan; /* the current pair */
    struct cursor at;      /* pairs still to be packed */
    size_t first, pairs;   /* packed pairs: number of the first in the slot, and how many */
    struct counts used;    /* room used; the rows begin with those of the pairs */
    enum ek_status status;
};

/* ---- opening --------------------------------------------------------------------------------- */

/* Bytes of scratch memory for n pairs. */
static size_t scratch_bytes(const struct device *d, size_t n)
{
    const size_t items = n * (size_t)d->nfreq * EXACT_STRANDS;
    const size_t groups = (items + EXACT_BESIDE - 1) / EXACT_BESIDE;
    return groups * EXACT_BESIDE * (size_t)exact_numbers(d->layers) * sizeof(double);
}

static size_t sums(const struct device *d, size_t n)
{
    return device_call_pairs(n) * (size_t)d->nfreq * 2 * (1 + (size_t)d->layers);
}

static bool fits(const struct device *d, size_t n)
{
    const struct backend_info *info = &d->backend->info;
    const size_t place = scratch_bytes(d, n), numbers = sums(d, n) * sizeof(double);
    const double most = SHARE_OF_MEMORY * (double)info->memory;
    return place <= info->max_alloc && numbers <= info->max_alloc && (double)place <= most &&
           DEVICE_SLOTS * (double)numbers <= most && sums(d, n) <= MOST_SUMS;
}

/* Room for pairs with many points, and one very long wire. */
static struct counts room_for(const struct device *d, size_t pairs)
{
    const size_t groups = (size_t)d->nfreq, levels = TYPICAL_LEVELS * pairs + PAIR_POINTS;
    const size_t parts = PAIR_PART * (2 + (size_t)d->layers);
    const double plans = SHARE_OF_PLANS * (double)d->backend->info.memory / sizeof(double);
    struct counts n = {
        .numbers = TYPICAL_NUMBERS * levels + PAIR_POINTS * parts,
        .rows = EXACT_PAIR * pairs + (EXACT_LEVEL + EXACT_POINT + PAIR_ADDITIONS) * levels,
        .weights = (1 + PAIR_FUNCTIONS) *
                   (TYPICAL_LEVELS * TYPICAL_WAVES * pairs + (size_t)PAIR_POINTS * PAIR_WAVES),
        .deepest = groups * ((TYPICAL_WAVES * pairs + PAIR_WAVES) / PAIR_GROUP)};
    n.weights = (double)n.weights < plans ? n.weights : (size_t)plans;
    return n;
}

/* As many pairs as there are or as fit on the device, at least one. */
static void choose_batch(struct device *d, size_t pairs)
{
    const size_t items = ITEMS * (size_t)d->backend->info.compute_units;
    const size_t fill = items / ((size_t)d->nfreq * EXACT_STRANDS);
    const size_t most = fill > MOST_PAIRS ? fill : MOST_PAIRS;
    d->most_pairs = pairs < 1 ? 1 : pairs < most ? pairs : most;
    while (d->most_pairs > 1 && !fits(d, d->most_pairs))
        d->most_pairs /= 2;
    d->most = room_for(d, d->most_pairs);
}

static enum ek_status open_host(struct device *d)
{
    for (int k = 0; k < DEVICE_SLOTS; k++) {
        d->slot[k].table = ARENA_NEW(&d->arena, DEVICE_SHARES * 4 * (size_t)d->layers, double);
        d->slot[k].line = ARENA_NEW(&d->arena, d->nfreq, double);
    }
    d->batches = ARENA_NEW(&d->arena, GROUPS * d->width, struct batch);
    for (int f = 0; d->batches && f < GROUPS * d->width; f++) {
        d->batches[f].number = ARENA_NEW(&d->arena, d->most.numbers, double);
        d->batches[f].row = ARENA_NEW(&d->arena, d->most.rows, int);
    }
    TRY(arena_check(&d->arena, "plans of pairs for %s", d->backend->label));
    for (int f = 0; f < GROUPS * d->width; f++)
        TRY(pair_open(d->layers, &d->batches[f].plan));
    return EK_OK;
}

static enum ek_status open_slot(struct device *d, struct device_slot *s)
{
    const size_t cases = device_call_pairs(d->most_pairs) * (size_t)d->nfreq,
                 layers = (size_t)d->layers;
    TRY(backend_alloc(d->backend, DEVICE_SHARES * 4 * layers * sizeof(double), &s->tables));
    TRY(backend_alloc(d->backend, (size_t)d->nfreq * sizeof(double), &s->lines));
    TRY(backend_alloc(d->backend, sums(d, d->most_pairs) * sizeof(double), &s->sums));
    return backend_alloc(d->backend, 2 * cases * sizeof(double), &s->fields);
}

static enum ek_status open_buffers(struct device *d)
{
    const size_t cases = device_call_pairs(d->most_pairs) * (size_t)d->nfreq,
                 numbers = 1 + (size_t)d->layers;
    const size_t bytes[BUFFERS] = {[FILTERS] = sizeof(double[HANKEL_FILTERS][HANKEL_NUMBERS]),
                                   [WEIGHTS] = d->most.weights * sizeof(double),
                                   [DEEPEST] = d->most.deepest * sizeof(int),
                                   [SCRATCH] = scratch_bytes(d, d->most_pairs),
                                   [SPANS] = sizeof d->span,
                                   [CASE_WEIGHTS] = cases * sizeof(struct device_weight),
                                   [TRIANGLES] = DEVICE_SQUARES * (numbers * (numbers + 1) / 2) *
                                                 sizeof(double)};
    for (int b = 0; b < BUFFERS; b++)
        TRY(backend_alloc(d->backend, bytes[b], &d->buffer[b]));
    for (int k = 0; k < DEVICE_SLOTS; k++)
        TRY(open_slot(d, &d->slot[k]));
    for (int f = 0; f < GROUPS * d->width; f++) {
        struct batch *at = &d->batches[f];
        TRY(backend_alloc(d->backend, d->most.numbers * sizeof(double), &at->numbers));
        TRY(backend_alloc(d->backend, d->most.rows * sizeof(int), &at->plans));
    }
    return EK_OK;
}

static enum ek_status send_filters(struct device *d)
{
    for (int which = 0; which < HANKEL_FILTERS; which++) {
        const struct hankel *filter;
        TRY(hankel_open(which, &filter));
        const size_t numbers = HANKEL_LADDER + (size_t)(2 * HANKEL_SHIFTS * filter->n);
        const struct backend_rect box = backend_linear(
            (size_t)which * HANKEL_NUMBERS * sizeof(double), 0, numbers * sizeof(double));
        TRY(backend_write(d->backend, BACKEND_FEED, d->buffer[FILTERS], filter->ladder, &box));
    }
    return backend_wait(d->backend, BACKEND_FEED);
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
    d->next = FIRST_PAIRS;
    TRY(open_host(d));
    TRY(open_buffers(d));
    TRY(send_filters(d));
    return build(d);
}

enum ek_status mcsem_device_open(struct backend *backend, int layers, int nfreq, size_t pairs,
                                 int width, struct device **device)
{
    NEW(struct device, d, 1, "%s: out of memory", backend->label);
    d->backend = backend;
    d->layers = layers;
    d->nfreq = nfreq;
    d->width = width < MOST_FEEDERS ? width : MOST_FEEDERS;
    const enum ek_status st = open_all(d, pairs);
    return HAND_OUT(st, d, device, mcsem_device_close);
}

void mcsem_device_close(struct device *d)
{
    if (!d)
        return;
    (void)MUTED(mcsem_device_wait(d));
    for (int b = 0; b < BUFFERS; b++)
        backend_free(d->backend, d->buffer[b]);
    for (struct device_slot *s = d->slot; s < d->slot + DEVICE_SLOTS; s++) {
        backend_free(d->backend, s->tables);
        backend_free(d->backend, s->lines);
        backend_free(d->backend, s->sums);
        backend_free(d->backend, s->fields);
    }
    for (int f = 0; d->batches && f < GROUPS * d->width; f++) {
        backend_free(d->backend, d->batches[f].numbers);
        backend_free(d->backend, d->batches[f].plans);
        pair_close(&d->batches[f].plan);
    }
    backend_unbuild(d->backend, d->program);
    arena_free(&d->arena);
    free(d);
}

size_t mcsem_device_batch(const struct device *d)
{
    return d->most_pairs;
}

const struct backend_info *mcsem_device_info(const struct device *d)
{
    return &d->backend->info;
}

void mcsem_device_feed(struct device *d, struct thread_pool *pool)
{
    d->pool = pool;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Room that the current plan needs. */
static struct counts plan_counts(const struct device *d, const struct batch *f)
{
    const struct pair_plan *p = &f->plan;
    const size_t nwaves = (size_t)p->nwaves, levels = (size_t)p->nlevels;
    struct counts n = {.numbers = 1,
                       .rows = EXACT_PAIR + EXACT_LEVEL * levels,
                       .weights = nwaves * (1 + PAIR_FUNCTIONS * levels),
                       .deepest = (size_t)d->nfreq * (nwaves / PAIR_GROUP)};
    const struct pair_point *point = p->point;
    for (size_t k = 0; k < levels; k++) {
        n.numbers += (size_t)(PAIR_PART * pair_parts(&p->level[k].view));
        for (int i = 0; i < p->level[k].points; i++, point++) {
            n.numbers += 1 + (size_t)point->additions;
            n.rows += EXACT_POINT + (size_t)point->additions;
        }
    }
    return n;
}

static bool there_is_room(const struct device *d, const struct batch *f)
{
    const struct counts n = plan_counts(d, f), *has = &f->used, *most = &d->most;
    return has->numbers + n.numbers <= most->numbers && has->rows + n.rows <= most->rows &&
           has->weights + n.weights <= most->weights && has->deepest + n.deepest <= most->deepest;
}

static int add_numbers(struct batch *f, const double *from, size_t n)
{
    const size_t at = f->used.numbers;
    memcpy(f->number + at, from, n * sizeof *from);
    f->used.numbers += n;
    return (int)at;
}

static void add_point(struct batch *f, const struct pair_point *p)
{
    const double place = hankel_place(f->plan.filter, p->shift);
    int *row = f->row + f->used.rows;
    row[EXACT_PLACES] = p->places;
    row[EXACT_ADDITIONS] = p->additions;
    row[EXACT_SCALES] = add_numbers(f, &place, 1);
    for (int a = 0; a < p->additions; a++) {
        row[EXACT_POINT + a] = p->addition[a].what;
        add_numbers(f, &p->addition[a].scale, 1);
    }
    f->used.rows += EXACT_POINT + (size_t)p->additions;
}

/* Adds the levels, one after another, then all their points. */
static void add_levels(struct batch *f)
{
    const struct pair_point *point = f->plan.point;
    int *row = f->row + f->used.rows;
    f->used.rows += (size_t)(EXACT_LEVEL * f->plan.nlevels);
    for (int k = 0; k < f->plan.nlevels; k++, row += EXACT_LEVEL) {
        const struct pair_level *level = &f->plan.level[k];
        const size_t parts = (size_t)(PAIR_PART * pair_parts(&level->view));
        forward_level(level, add_numbers(f, level->view.part, parts), (int)f->used.weights, row);
        row[EXACT_POINTS] = level->points;
        row[EXACT_FIRST] = (int)f->used.rows;
        for (int i = 0; i < level->points; i++)
            add_point(f, point++);
        f->used.weights += (size_t)(PAIR_FUNCTIONS * f->plan.nwaves);
    }
}

/* Adds the current plan, with filter number `filter`, as the batch's next pair, over earth
 * `share`. */
static void add_plan(const struct device *d, struct batch *f, int filter, int share, int derive)
{
    const struct pair_plan *p = &f->plan;
    int *row = f->row + EXACT_PAIR * f->pairs++;
    row[EXACT_NWAVES] = p->nwaves;
    row[EXACT_NLEVELS] = p->nlevels;
    row[EXACT_BASE] = p->base;
    row[EXACT_MAGNETIC] = p->magnetic;
    row[EXACT_DERIVE] = derive;
    row[EXACT_FILTER] = filter * HANKEL_NUMBERS;
    row[EXACT_TAPS] = p->filter->n;
    row[EXACT_LONGEST] = add_numbers(f, &p->longest, 1);
    row[EXACT_LAYERS] = share * 4 * p->layers;
    row[EXACT_WAVES] = (int)f->used.weights;
    f->used.weights += (size_t)p->nwaves;
    row[EXACT_DEEPEST] = (int)f->used.deepest;
    f->used.deepest += (size_t)(d->nfreq * (p->nwaves / PAIR_GROUP));
    row[EXACT_LEVELS] = (int)f->used.rows;
    add_levels(f);
}

/* ---- launching ------------------------------------------------------------------------------- */

static enum ek_status launch_batch(struct device *d, const struct device_slot *s,
                                   const struct batch *f)
{
    const int nlayers = s->share->layers.n, nfreq = s->nfreq;
    const struct backend_arg plans[] = {
        backend_arg_mem(s->tables),          backend_arg_int(nlayers),
        backend_arg_mem(s->lines),           backend_arg_int(nfreq),
        backend_arg_mem(d->buffer[FILTERS]), backend_arg_int(HANKEL_LADDER),
        backend_arg_mem(f->numbers),         backend_arg_mem(f->plans),
        backend_arg_int((int)f->pairs),      backend_arg_mem(d->buffer[WEIGHTS]),
        backend_arg_mem(d->buffer[DEEPEST])};
    const struct backend_arg waves[] = {backend_arg_mem(s->tables),
                                        backend_arg_int(nlayers),
                                        backend_arg_mem(s->lines),
                                        backend_arg_int(nfreq),
                                        backend_arg_mem(f->numbers),
                                        backend_arg_mem(f->plans),
                                        backend_arg_mem(d->buffer[WEIGHTS]),
                                        backend_arg_mem(d->buffer[DEEPEST]),
                                        backend_arg_int((int)f->pairs),
                                        backend_arg_double(s->derivatives == FORWARD_HORIZONTAL),
                                        backend_arg_mem(d->buffer[SCRATCH])};
    const struct backend_arg add[] = {backend_arg_mem(d->buffer[SCRATCH]),
                                      backend_arg_int(nlayers),
                                      backend_arg_int(nfreq),
                                      backend_arg_int((int)f->pairs),
                                      backend_arg_int((int)f->first),
                                      backend_arg_mem(s->sums),
                                      backend_arg_mem(s->fields)};
    const size_t cases = f->pairs * (size_t)nfreq;
    TRY(backend_launch_items(d->backend, d->program, PLANS, f->pairs * GROUP,
                             sizeof plans / sizeof *plans, plans));
    TRY(backend_launch_items(d->backend, d->program, WAVES, cases * EXACT_STRANDS,
                             sizeof waves / sizeof *waves, waves));
    return backend_launch_items(d->backend, d->program, ADD, cases * 2 * (1 + (size_t)nlayers),
                                sizeof add / sizeof *add, add);
}

/* Sends a batch of group `group` and launches its kernels. */
static enum ek_status begin_batch(struct device *d, const struct device_slot *s,
                                  const struct batch *f, int group)
{
    struct backend *b = d->backend;
    TRY(backend_send(b, BACKEND_FEED, f->numbers, f->number, f->used.numbers * sizeof *f->number));
    TRY(backend_send(b, BACKEND_FEED, f->plans, f->row, f->used.rows * sizeof *f->row));
    TRY(backend_record(b, BACKEND_FEED, EVENT_SENT + group));
    TRY(backend_after(b, BACKEND_COMPUTE, EVENT_SENT + group));
    return launch_batch(d, s, f);
}

/* Waits until a group's batches can be reused. */
static enum ek_status wait_for_group(struct device *d, int group)
{
    return backend_reach(d->backend, EVENT_COMPUTED + group);
}

enum ek_status mcsem_device_wait(struct device *d)
{
    d->next = FIRST_PAIRS;
    TRY(backend_wait(d->backend, BACKEND_FEED));
    return backend_wait(d->backend, BACKEND_COMPUTE);
}

/* Packs pairs until the batch is full or all are packed. Any thread. */
static enum ek_status fill_batch(const struct device *d, const struct device_slot *c,
                                 const double *freq, struct batch *f)
{
    struct cursor *at = &f->at;
    f->first = at->number;
    f->pairs = 0;
    f->used = (struct counts){.rows = EXACT_PAIR * at->left};
    while (at->left) {
        const struct device_share *s = &c->share[at->share];
        const struct hankel *filter;
        struct survey_pair seen;
        if (at->pair == s->n) {
            at->share++;
            at->pair = 0;
            continue;
        }
        seen = pair_reciprocal(&s->pair[at->pair]);
        const int which = forward_filter(&seen, s->filter);
        TRY(hankel_open(which, &filter));
        TRY(pair_outline(&s->layers, &seen, filter, forward_wire(&s->layers, &seen, c->nfreq, freq),
                         &f->plan));
        if (!there_is_room(d, f))
            break; /* goes into a later batch, or never fits */
        add_plan(d, f, which, at->share,
                 forward_derive(&s->layers, &f->plan, s->fields ? FORWARD_FIELD : c->derivatives));
        at->pair++;
        at->number++;
        at->left--;
    }
    if (!f->pairs)
        FAIL(EK_UNAVAILABLE, "%s: its memory, %.1f MB, is too small for a wire of %d levels",
             d->backend->label, 1e-6 * (double)d->backend->info.memory, f->plan.nlevels);
    return EK_OK;
}

/* The packing of a group: its batches, and the slot's remaining pairs, with ranges left over from
 * batches that were full. */
struct packing {
    struct device *d;
    const struct device_slot *slot;
    const double *freq;
    struct batch *batches; /* [n] */
    int n;
    struct cursor rest, leftover[MOST_FEEDERS];
    int nleftover;
};

/* Takes n pairs from the rest. */
static struct cursor take_pairs(struct packing *p, size_t n)
{
    struct cursor *rest = &p->rest, part = *rest;
    part.left = n;
    rest->number += n;
    rest->left -= n;
    for (rest->pair += n; rest->left && rest->pair >= p->slot->share[rest->share].n; rest->share++)
        rest->pair -= p->slot->share[rest->share].n;
    return part;
}

/* Gives the batches equal numbers of pairs, as far as there are enough. */
static void assign_pairs(struct packing *p)
{
    const struct device *d = p->d;
    const size_t width = (size_t)d->width, few = d->next < d->most_pairs ? d->next : d->most_pairs;
    const size_t even = (p->rest.left + width - 1) / width;
    const size_t most = even > FIRST_PAIRS ? even : FIRST_PAIRS, n = few < most ? few : most;
    for (p->n = 0; p->n < d->width && (p->nleftover || p->rest.left); p->n++)
        p->batches[p->n].at = p->nleftover ? p->leftover[--p->nleftover]
                                           : take_pairs(p, p->rest.left < n ? p->rest.left : n);
}

static void fill_part(void *arg, int thread)
{
    const struct packing *p = arg;
    if (thread < p->n)
        p->batches[thread].status = fill_batch(p->d, p->slot, p->freq, &p->batches[thread]);
}

/* Returns pairs that did not fit; the range just before the rest is merged with it. */
static void return_leftover(struct packing *p, const struct cursor *at)
{
    if (!at->left)
        return;
    if (at->number + at->left == p->rest.number) {
        const size_t left = at->left + p->rest.left;
        p->rest = *at;
        p->rest.left = left;
    } else {
        p->leftover[p->nleftover++] = *at;
    }
}

static enum ek_status begin_group(struct packing *p, int group)
{
    struct device *d = p->d;
    bool full = true;
    thread_pool_run(d->pool, d->width, fill_part, p);
    for (int f = 0; f < p->n; f++) {
        TRY(p->batches[f].status);
        TRY(begin_batch(d, p->slot, &p->batches[f], group));
        full &= p->batches[f].pairs >= d->next;
    }
    for (int f = p->n - 1; f >= 0; f--)
        return_leftover(p, &p->batches[f].at);
    if (full)
        d->next *= 2;
    return backend_record(d->backend, BACKEND_COMPUTE, EVENT_COMPUTED + group);
}

static enum ek_status begin_batches(struct device *d, const struct device_slot *s,
                                    const double *freq)
{
    struct packing p = {.d = d, .slot = s, .freq = freq, .rest = {.left = s->pairs}};
    for (; p.rest.left || p.nleftover; d->turn++) {
        const int group = (int)(d->turn % GROUPS);
        p.batches = d->batches + group * d->width;
        if (d->turn >= GROUPS)
            TRY(wait_for_group(d, group));
        assign_pairs(&p);
        TRY(begin_group(&p, group));
    }
    return EK_OK;
}

static enum ek_status begin(struct device *d, struct device_slot *s, const double *freq)
{
    const int nlayers = s->share->layers.n;
    for (int k = 0; k < s->shares; k++) {
        forward_layers(&s->share[k].layers, s->table + k * 4 * nlayers);
        s->pairs += s->share[k].n;
    }
    if (s->pairs > device_call_pairs(d->most_pairs))
        FAIL(EK_USAGE, "%s: %zu pairs in one call", d->backend->label, s->pairs);
    for (int q = 0; q < s->nfreq; q++)
        s->line[q] = forward_line(freq[q]);
    TRY(backend_send(d->backend, BACKEND_FEED, s->tables, s->table,
                     (size_t)(s->shares * 4 * nlayers) * sizeof *s->table));
    TRY(backend_send(d->backend, BACKEND_FEED, s->lines, s->line,
                     (size_t)s->nfreq * sizeof *s->line));
    TRY(begin_batches(d, s, freq));
    return backend_record(d->backend, BACKEND_COMPUTE, EVENT_SUMS + (int)(s - d->slot));
}

enum ek_status mcsem_device_begin(struct device *d, int slot, const struct device_share *share,
                                  int shares, int nfreq, const double *freq,
                                  enum forward_derivatives derivatives)
{
    struct device_slot *s = &d->slot[slot];
    s->share = share;
    s->shares = shares;
    s->nfreq = nfreq;
    s->pairs = s->tabled = 0;
    s->derivatives = derivatives;
    const enum ek_status st = begin(d, s, freq);
    if (st) /* running commands must not read memory that the caller frees */
        (void)MUTED(mcsem_device_wait(d));
    return st;
}

/* ---- what comes back ------------------------------------------------------------------------- */

enum ek_status device_fetch(struct device *d, int event, struct backend_mem *from, void *to,
                            size_t bytes)
{
    TRY(backend_after(d->backend, BACKEND_FEED, event));
    TRY(backend_fetch(d->backend, BACKEND_FEED, to, from, bytes));
    return backend_wait(d->backend, BACKEND_FEED);
}

/* Applies the loop factor to the sums, n of each `numbers`. */
static void scale_loops(const struct device_slot *c, size_t n, size_t numbers, double complex *sum)
{
    const size_t nfreq = (size_t)c->nfreq;
    for (const struct device_share *s = c->share; s < c->share + c->shares; s++)
        for (size_t i = 0; i < s->n * nfreq; i++, sum += numbers)
            pair_scale_loop(&s->pair[i / nfreq], c->line[i % nfreq], n, sum);
}

enum ek_status mcsem_device_fields(struct device *d, int slot, double complex *field)
{
    const struct device_slot *s = &d->slot[slot];
    const size_t cases = (s->pairs + s->tabled) * (size_t)s->nfreq;
    TRY(device_fetch(d, EVENT_SUMS + slot, s->fields, field, cases * sizeof *field));
    scale_loops(s, 1, 1, field);
    return EK_OK;
}

enum ek_status mcsem_device_sums(struct device *d, int slot, size_t first, size_t n,
                                 double complex *sum)
{
    const struct device_slot *s = &d->slot[slot];
    const size_t pair = (size_t)s->nfreq * (1 + (size_t)s->share->layers.n) * sizeof *sum;
    const struct backend_rect part = backend_linear(0, first * pair, n * pair);
    TRY(backend_read(d->backend, BACKEND_FEED, sum, s->sums, &part));
    return backend_wait(d->backend, BACKEND_FEED);
}

enum ek_status mcsem_device_pairs(struct device *d, const struct device_share *share, int shares,
                                  int nfreq, const double *freq,
                                  enum forward_derivatives derivatives, double complex *sum)
{
    const int slot = DEVICE_SLOTS - 1;
    const size_t numbers = 1 + (size_t)share->layers.n;
    const struct device_slot *s = &d->slot[slot];
    TRY(mcsem_device_begin(d, slot, share, shares, nfreq, freq, derivatives));
    TRY(device_fetch(d, EVENT_SUMS + slot, s->sums, sum,
                     s->pairs * (size_t)s->nfreq * numbers * sizeof *sum));
    scale_loops(s, s->derivatives == FORWARD_FIELD ? 1 : numbers, numbers, sum);
    return EK_OK;
}

/* ---- squares --------------------------------------------------------------------------------- */

/* Turns the sums of n pairs from `first` on into rows. */
static enum ek_status launch_rows(struct device *d, const struct device_slot *s, size_t first,
                                  size_t n)
{
    const int nlayers = s->share->layers.n, sediments = s->share->layers.sediments;
    const size_t nfreq = (size_t)s->nfreq, columns = (size_t)(1 + nlayers - sediments);
    const struct backend_arg rows[] = {backend_arg_mem(s->sums),
                                       backend_arg_int(nlayers),
                                       backend_arg_int(sediments),
                                       backend_arg_int((int)(first * nfreq)),
                                       backend_arg_int((int)((first + n) * nfreq)),
                                       backend_arg_mem(d->buffer[CASE_WEIGHTS])};
    return n ? backend_launch_items(d->backend, d->program, ROWS, n * nfreq * columns,
                                    sizeof rows / sizeof *rows, rows)
             : EK_OK;
}

static enum ek_status launch_squares(struct device *d, const struct device_slot *s)
{
    const int nlayers = s->share->layers.n, sediments = s->share->layers.sediments;
    const size_t columns = (size_t)(1 + nlayers - sediments);
    const size_t tiles = (columns + EXACT_TILE - 1) / EXACT_TILE;
    d->triangles = (size_t)d->squares * (columns * (columns + 1) / 2);
    const struct backend_arg squares[] = {backend_arg_mem(s->sums),
                                          backend_arg_int(nlayers),
                                          backend_arg_int(sediments),
                                          backend_arg_int(s->nfreq),
                                          backend_arg_mem(d->buffer[SPANS]),
                                          backend_arg_int(d->squares),
                                          backend_arg_mem(d->buffer[TRIANGLES])};
    return backend_launch_items(d->backend, d->program, SQUARES,
                                (size_t)d->squares * (tiles * (tiles + 1) / 2),
                                sizeof squares / sizeof *squares, squares);
}

/* Sends the weights of n pairs, to those of the slot from `first` on. */
static enum ek_status send_weights(struct device *d, const struct device_slot *s, size_t first,
                                   size_t n, const struct device_weight *weight)
{
    const size_t pair = (size_t)s->nfreq * sizeof *weight;
    const struct backend_rect box = backend_linear(first * pair, 0, n * pair);
    return backend_write(d->backend, BACKEND_FEED, d->buffer[CASE_WEIGHTS], weight, &box);
}

enum ek_status mcsem_device_square(struct device *d, int slot, int shares,
                                   const struct device_span *table,
                                   const struct device_weight *weight)
{
    const struct device_slot *s = &d->slot[slot];
    struct backend *b = d->backend;
    size_t pairs = 0;
    for (int k = 0; k < shares; pairs += s->share[k++].n) {
        d->span[4 * k] = (int)pairs;
        d->span[4 * k + 1] = (int)s->share[k].n;
        d->span[4 * k + 2] = (int)(s->pairs + table[k].first);
        d->span[4 * k + 3] = (int)table[k].n;
    }
    d->squares = shares;
    TRY(backend_send(b, BACKEND_FEED, d->buffer[SPANS], d->span,
                     4 * (size_t)shares * sizeof *d->span));
    TRY(send_weights(d, s, 0, pairs, weight));
    TRY(send_weights(d, s, s->pairs, s->tabled, weight + pairs * (size_t)s->nfreq));
    TRY(backend_record(b, BACKEND_FEED, EVENT_WEIGHTS));
    TRY(backend_after(b, BACKEND_COMPUTE, EVENT_WEIGHTS));
    TRY(launch_rows(d, s, 0, pairs));
    TRY(launch_rows(d, s, s->pairs, s->tabled));
    TRY(launch_squares(d, s));
    return backend_record(b, BACKEND_COMPUTE, EVENT_SQUARES);
}

enum ek_status mcsem_device_squares(struct device *d, double *to)
{
    return device_fetch(d, EVENT_SQUARES, d->buffer[TRIANGLES], to, d->triangles * sizeof *to);
}
