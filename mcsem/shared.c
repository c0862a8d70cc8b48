/* mcsem/shared.c – functions of the wavenumber, and the table that the filters make of them. */
#include "mcsem/shared.h"
#include "mcsem/forward.h"
#include "mcsem/matmul.h"
#include "mcsem/shared_table.h"

#include "mcsem/simd.h"
#include "mcsem/kernels/field.h"

/* Slots of functions: pair_function, TE's V without zhat, and a difference of two. */
enum { SLOT_PLAIN = PAIR_FUNCTIONS, SLOT_LESS, SLOTS };
#define PAIR_WORK                                                                                  \
    700.0 /* cost of a wavenumber and layer of a pair in exact mode, in multiply-adds */
enum { NODE_BLOCK = 8, COLUMN_BLOCK = 24 };

enum ek_status shared_open(int layers, int width, struct shared **shared)
{
    NEW(struct shared, s, 1, "out of memory for a cell's table");
    s->width = width;
    s->layers = layers;
    s->scratch = calloc((size_t)width, sizeof *s->scratch);
    if (!s->scratch) {
        shared_close(s);
        FAIL(EK_UNAVAILABLE, "out of memory for the tables of %d threads", width);
    }
    *shared = s;
    return EK_OK;
}

void shared_close(struct shared *s)
{
    if (!s)
        return;
    for (int t = 0; s->scratch && t < s->width; t++) {
        free(s->scratch[t].slot.at);
        free(s->scratch[t].kept.at);
        free(s->scratch[t].parts.at);
        free(s->scratch[t].weight.at);
    }
    struct shared_room *const rooms[] = {&s->part,   &s->node,  &s->wave, &s->layer,
                                         &s->weight, &s->reach, &s->base, &s->table};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        free(rooms[i]->at);
    free(s->scratch);
    free(s->deepest);
    free(s);
}

int shared_columns(int nz)
{
    return (1 + nz + MATMUL_PAD - 1) / MATMUL_PAD * MATMUL_PAD;
}

/* ---- first phase: the base ------------------------------------------------------------------- */

static double *reach_at(const struct shared *s, int q, int k)
{
    const size_t vector = (size_t)q * (size_t)(s->waves / LANES) + (size_t)(k / LANES);
    return s->reach.at + vector * (size_t)s->nz * 4 * LANES;
}

static double *base_at(const struct shared *s, int q, int k)
{
    const size_t vector = (size_t)q * (size_t)(s->waves / LANES) + (size_t)(k / LANES);
    return s->base.at + vector * 4 * LANES;
}

static int deepest_at(const struct shared *s, int q, int k)
{
    return s->deepest[q * (s->waves / PAIR_GROUP) + k / PAIR_GROUP];
}

static struct line_field field_at(const struct shared *s, int q, int k)
{
    const lanes wave = LOAD(s->wave.at, k);
    return (struct line_field){.l2 = wave * wave, .w = forward_line(s->freq[q])};
}

static struct field_room room_of(const struct shared *s, int thread)
{
    return (struct field_room){.kept = s->scratch[thread].kept.at,
                               .part = s->scratch[thread].parts.at,
                               .stride = LANES,
                               .derive = FIELD_BASE};
}

/* The layers below the seabed, for vector k of wavenumbers and frequency q. */
static void make_base(const struct shared *s, int thread, int q, int k)
{
    const int top = s->earth->sediments, deepest = deepest_at(s, q, k);
    const struct field_room room = room_of(s, thread);
    const struct field_base b = field_rise(field_at(s, q, k), s->layer.at, top, deepest, room);
    line_put(base_at(s, q, k), 0, LANES, b.tm);
    line_put(base_at(s, q, k), 1, LANES, b.te);
    field_reach(top, deepest, room, reach_at(s, q, k));
}

static void base_phase(void *arg, int thread)
{
    const struct shared *s = arg;
    const int vectors = s->waves / LANES;
    for (int i = thread; i < s->nfreq * vectors; i += s->width)
        make_base(s, thread, i / vectors, i % vectors * LANES);
}

/* ---- second phase: functions, and their products with filters -------------------------------- */

static int slot_of(enum pair_integral_number q)
{
    return q == PAIR_H_Z ? SLOT_PLAIN : (int)pair_integrals[q].function;
}

/* Weights that select one function, as a receiver in this view sees it. */
static struct field_weights unit_weights(int slot, const struct pair_view *view)
{
    double sign = 1;
    enum pair_function f = slot == SLOT_PLAIN ? PAIR_TE_V : (enum pair_function)slot;
    if (view->swapped)
        f = pair_function_below(f, &sign);
    const lanes one = REAL(sign), zero = REAL(0.0);
    return (struct field_weights){.v = f == PAIR_V ? one : zero,
                                  .i = f == PAIR_I ? one : zero,
                                  .v1 = f == PAIR_V1 ? one : zero,
                                  .i1 = f == PAIR_I1 ? one : zero,
                                  .te_v = f == PAIR_TE_V ? one : zero,
                                  .te_i = f == PAIR_TE_I ? one : zero};
}

/* Stores a function's value and derivatives for LANES wavenumbers, a row of 2 columns for each. */
static void put_rows(const struct shared *s, struct field_share f, int te, const double *reach,
                     int below, double *to)
{
    for (int c = 0; c < s->columns; c += LANES) {
        lanes re[LANES], im[LANES];
        for (int i = 0; i < LANES; i++) {
            const int layer = c + i - 1;
            struct cx z = {REAL(0.0), REAL(0.0)};
            if (layer < 0)
                z = f.value;
            else if (layer <= below)
                z = cx_mul(f.seed, line_get(reach, 2L * layer + te, LANES));
            re[i] = z.re;
            im[i] = z.im;
        }
        lanes_transpose(re);
        lanes_transpose(im);
        for (int i = 0; i < LANES; i++) {
            STORE(to + (long)i * 2 * s->columns, c, re[i]);
            STORE(to + (long)i * 2 * s->columns, c + s->columns, im[i]);
        }
    }
}

static double *slot_at(const struct shared *s, int thread, int slot)
{
    return s->scratch[thread].slot.at + (size_t)slot * (size_t)s->waves * 2 * (size_t)s->columns;
}

static void make_function(const struct shared *s, int thread, int q, int v, int slot)
{
    const struct pair_view *view = &s->view[v];
    const struct field_view fv = {.part = view->part,
                                  .below = view->below,
                                  .between = view->between,
                                  .above = view->above,
                                  .swapped = view->swapped,
                                  .lower = view->lower,
                                  .upper = view->upper};
    const struct field_weights w = unit_weights(slot, view);
    const int te = slot == SLOT_PLAIN || slot == PAIR_TE_V || slot == PAIR_TE_I;
    double *to = slot_at(s, thread, slot);
    for (int k = 0; k < s->waves; k += LANES) {
        const struct line_field f = field_at(s, q, k);
        const struct cx zhat =
            slot == SLOT_PLAIN ? cx_of(REAL(1.0), REAL(0.0)) : cx_of(REAL(0.0), REAL(f.w));
        const struct cx base = line_get(base_at(s, q, k), te, LANES);
        const struct field_share share =
            field_mode(f, fv, w, zhat, s->layer.at, base, te, room_of(s, thread));
        put_rows(s, share, te, reach_at(s, q, k), deepest_at(s, q, k) - s->earth->sediments,
                 to + (size_t)k * 2 * (size_t)s->columns);
    }
}

/* Number of wavenumbers to which layer `below` of the sediments matters. */
static int waves_of_layer(const struct shared *s, int q, int below)
{
    int k = s->waves;
    while (k > PAIR_GROUP && deepest_at(s, q, k - PAIR_GROUP) - s->earth->sediments < below)
        k -= PAIR_GROUP;
    return k;
}

/* Makes the rows of integral `place`; a block of nodes shares all wavenumbers that any of them
 * needs. */
static void make_nodes(const struct shared *s, int q, int v, int place, const double *function)
{
    for (int j = 0; j < s->nodes; j += NODE_BLOCK) {
        const int n = s->nodes - j < NODE_BLOCK ? s->nodes - j : NODE_BLOCK;
        const int first = shared_places(s, j + n - 1);
        const int last = shared_places(s, j) + s->filter->n;
        const double *weight =
            s->weight.at + ((size_t)place * (size_t)s->nodes + (size_t)j) * (size_t)s->waves;
        double *to = shared_part(s, place, v, j) + (size_t)q * 2 * (size_t)s->columns;
        for (int i = 0; i < n; i++)
            memset(to + (size_t)i * shared_row(s), 0, 2 * (size_t)s->columns * sizeof *to);
        for (int c = 0; c < 2 * s->columns; c += COLUMN_BLOCK) {
            const int columns =
                2 * s->columns - c < COLUMN_BLOCK ? 2 * s->columns - c : COLUMN_BLOCK;
            const int layer = c % s->columns + columns > s->columns ? 0 : c % s->columns - 1;
            const int reach = waves_of_layer(s, q, layer), end = reach < last ? reach : last;
            const struct matmul_view a = {weight + first, s->waves, 1};
            if (end > first)
                matmul_add(n, columns, end - first, a,
                           function + (size_t)first * 2 * (size_t)s->columns + c, 2 * s->columns,
                           to + c, (long)shared_row(s));
        }
    }
}

static void subtract(const struct shared *s, const double *a, const double *b, double *to)
{
    for (size_t i = 0; i < (size_t)s->waves * 2 * (size_t)s->columns; i++)
        to[i] = a[i] - b[i];
}

/* Makes all integrals of one frequency and view. */
static void make_view(const struct shared *s, int thread, int q, int v)
{
    bool made[SLOTS] = {false};
    for (int i = 0; i < PAIR_INTEGRALS; i++) {
        if (s->place[i] < 0)
            continue;
        const int slot[2] = {slot_of((enum pair_integral_number)i), (int)pair_integrals[i].less};
        for (int k = 0; k < (slot[1] == PAIR_NONE ? 1 : 2); k++)
            if (!made[slot[k]]) {
                make_function(s, thread, q, v, slot[k]);
                made[slot[k]] = true;
            }
        double *function = slot_at(s, thread, slot[0]);
        if (slot[1] != PAIR_NONE) {
            function = slot_at(s, thread, SLOT_LESS);
            subtract(s, slot_at(s, thread, slot[0]), slot_at(s, thread, slot[1]), function);
        }
        make_nodes(s, q, v, s->place[i], function);
    }
}

static void view_phase(void *arg, int thread)
{
    const struct shared *s = arg;
    for (int i = thread; i < s->nfreq * s->nviews; i += s->width)
        make_view(s, thread, i / s->nviews, i % s->nviews);
}

/* ---- the table ------------------------------------------------------------------------------- */

static enum ek_status take_room(struct shared *s)
{
    const size_t frequencies = (size_t)s->nfreq, waves = (size_t)s->waves, nz = (size_t)s->nz;
    const size_t rows = (size_t)s->nused * (size_t)s->nviews * (size_t)s->nodes;
    const size_t layers = (size_t)s->earth->n, columns = 2 * (size_t)s->columns;
    const size_t groups = frequencies * waves / PAIR_GROUP;
    TRY(shared_reserve(&s->layer, 4 * layers));
    TRY(shared_reserve(&s->reach, frequencies * waves * nz * 4));
    TRY(shared_reserve(&s->base, frequencies * waves * 4));
    TRY(shared_reserve(&s->table, rows * shared_row(s)));
    for (int t = 0; t < s->width; t++) {
        TRY(shared_reserve(&s->scratch[t].slot, SLOTS * waves * columns));
        TRY(shared_reserve(&s->scratch[t].kept, layers * 8 * LANES));
        TRY(shared_reserve(&s->scratch[t].parts, (layers + 2) * 8 * LANES));
        TRY(shared_reserve(&s->scratch[t].weight, SHARED_ROWS * rows));
        memset(s->scratch[t].weight.at, 0, SHARED_ROWS * rows * sizeof(double));
    }
    if (groups > s->ndeepest) {
        free(s->deepest);
        s->deepest = calloc(groups, sizeof *s->deepest);
        s->ndeepest = s->deepest ? groups : 0;
    }
    if (!s->deepest)
        FAIL(EK_UNAVAILABLE, "out of memory for %d wavenumbers", s->waves);
    return EK_OK;
}

/* Cost of the table in pairs of exact mode; the products dominate it. */
static double cost(const struct shared *s)
{
    const double product = 4.0 * s->nused * s->nodes * s->waves * s->columns * s->nviews;
    return product / (PAIR_WORK * s->filter->n * s->earth->n);
}

enum ek_status shared_place(struct shared *s, const struct earth_layers *earth,
                            const struct survey_pair *pair, int nfreq, const double *freq,
                            const struct shared_needs *needs, int density, double *worth,
                            bool *fits)
{
    s->earth = earth;
    s->pair = pair;
    s->nfreq = nfreq;
    s->freq = freq;
    s->nz = earth->n - earth->sediments;
    s->columns = shared_columns(s->nz);
    TRY(shared_lay_out(s, needs, density, fits));
    *worth -= *fits ? cost(s) : 0;
    *fits = *fits && *worth >= 0;
    return EK_OK;
}

enum ek_status shared_plan(struct shared *s, const struct earth_layers *earth,
                           const struct survey_pair *pair, size_t npairs, int nfreq,
                           const double *freq, int density, double *worth, bool *fits)
{
    struct shared_needs needs = shared_nothing;
    struct pair_element element[PAIR_ELEMENTS];
    double share[PAIR_ELEMENTS];
    *fits = true;
    for (size_t p = 0; p < npairs && *fits; p++)
        *fits = shared_look(earth, &pair[p], &needs, element, share) > 0;
    return *fits ? shared_place(s, earth, pair, nfreq, freq, &needs, density, worth, fits) : EK_OK;
}

enum ek_status shared_make(struct shared *s, const struct earth_layers *earth,
                           const struct survey_pair *pair, size_t npairs, int nfreq,
                           const double *freq, int density, double *worth, struct thread_pool *pool,
                           bool *fits)
{
    TRY(shared_plan(s, earth, pair, npairs, nfreq, freq, density, worth, fits));
    if (!*fits)
        return EK_OK;
    TRY(shared_weigh(s));
    TRY(take_room(s));
    forward_layers(earth, s->layer.at);
    for (int q = 0; q < nfreq; q++)
        forward_deepest(earth->n, earth->sediments, s->layer.at, s->waves, s->wave.at,
                        forward_line(freq[q]), s->deepest + q * (s->waves / PAIR_GROUP));
    thread_pool_run(pool, s->width, base_phase, s);
    thread_pool_run(pool, s->width, view_phase, s);
    return EK_OK;
}
