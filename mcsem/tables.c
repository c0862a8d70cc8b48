/* mcsem/tables.c – packs tables and pairs. */
#include "mcsem/tables.h"
#include "mcsem/forward.h"
#include "src/arena.h"
#include "src/kernel.h"

#include "mcsem/kernels/exact_plan.h"
#include "mcsem/kernels/table_plan.h"

/* Integers and doubles of a cell besides its record, at most. */
enum { CELL_PLANS = 2048, CELL_NUMBERS = 4096 };
_Static_assert((int)PAIR_H_TM == TABLE_E_INTEGRALS && (int)PAIR_LOOP_TM == TABLE_ALL,
               "table_plan.h");
_Static_assert((int)SHARED_STENCIL == TABLE_STENCIL && (int)SHARED_DEPTHS == TABLE_DEPTHS,
               "table_plan.h");

size_t tables_plans(const struct tables_limits *most)
{
    return most->cells * (TABLE_CELL + CELL_PLANS);
}

size_t tables_numbers(const struct tables_limits *most)
{
    return most->cells * CELL_NUMBERS;
}

void tables_open(struct tables *t, const struct tables_limits *most, struct arena *arena)
{
    t->most = *most;
    t->plan = ARENA_NEW(arena, tables_plans(most), int);
    t->number = ARENA_NEW(arena, tables_numbers(most), double);
    t->pair = ARENA_NEW(arena, most->pairs * TABLE_PAIR, double);
    t->element = ARENA_NEW(arena, most->elements * TABLE_ELEMENT, double);
}

void tables_empty(struct tables *t)
{
    t->cells = t->pairs = t->room = t->numbers = 0;
    t->plans = t->most.cells * TABLE_CELL; /* the cells' records come first */
    t->base = t->views = t->weights = t->nodes = t->entries = 0;
    atomic_store(&t->elements, 0);
}

size_t tables_padded(size_t n)
{
    return (n + TABLE_GROUP - 1) / TABLE_GROUP * TABLE_GROUP;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void put_element(const struct pair_element *from, double share, double *to)
{
    struct pair_term term[PAIR_TERMS];
    const int n = pair_terms(from, term);
    to[TABLE_R] = from->r;
    to[TABLE_LN_R] = log(from->r);
    to[TABLE_Z] = from->z;
    to[TABLE_SHARE] = share;
    for (int i = 0; i < TABLE_E_INTEGRALS; i++)
        to[TABLE_FACTORS + i] = 0;
    for (int k = 0; k < n; k++)
        to[TABLE_FACTORS + (int)term[k].integral - (from->magnetic ? TABLE_E_INTEGRALS : 0)] =
            term[k].factor;
}

bool tables_put(struct tables *t, size_t i, const struct earth_layers *earth,
                const struct survey_pair *p, const struct pair_element *element,
                const double *share, int elements)
{
    struct pair_element point[SHARED_POINTS];
    double shares[SHARED_POINTS];
    const int points = shared_points(earth, p, point, shares);
    const size_t n = (size_t)(elements + points), first = atomic_fetch_add(&t->elements, n);
    if (t->pairs + i >= t->most.pairs || first + n > t->most.elements)
        return false;
    double *to = t->element + first * TABLE_ELEMENT, *pair = t->pair + (t->pairs + i) * TABLE_PAIR;
    for (int k = 0; k < elements; k++, to += TABLE_ELEMENT)
        put_element(&element[k], share[k], to);
    for (int k = 0; k < points; k++, to += TABLE_ELEMENT)
        put_element(&point[k], shares[k], to);
    pair[TABLE_FIRST] = (double)first;
    pair[TABLE_ELEMENTS] = elements;
    pair[TABLE_POINTS] = points;
    pair[TABLE_MAGNETIC] = p->magnetic;
    pair[TABLE_DEPTH] = p->receiver[2];
    return true;
}

void tables_drop(struct tables *t, size_t elements)
{
    atomic_store(&t->elements, elements);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Functions that the integrals need: pair_function, or TE's V without zhat. */
enum { PLAIN = PAIR_FUNCTIONS, ALL_FUNCTIONS };

/* A cell being packed. */
struct packing {
    struct tables *t;
    const struct shared *s;
    int *cell;
    int functions, function[ALL_FUNCTIONS], place[ALL_FUNCTIONS]; /* place: -1 if not used */
};

static int *add_plans(struct tables *t, int *at, size_t n)
{
    *at = (int)t->plans;
    t->plans += n;
    return t->plan + *at;
}

static double *add_numbers(struct tables *t, int *at, size_t n)
{
    *at = (int)t->numbers;
    t->numbers += n;
    return t->number + *at;
}

static int add_function(struct packing *p, int function)
{
    if (p->place[function] < 0) {
        p->place[function] = p->functions;
        p->function[p->functions++] = function;
    }
    return p->place[function];
}

static void pack_integrals(struct packing *p)
{
    const struct shared *s = p->s;
    int *place = add_plans(p->t, &p->cell[TABLE_PLACE], TABLE_ALL);
    int *to = add_plans(p->t, &p->cell[TABLE_INTEGRALS], (size_t)s->nused * TABLE_INTEGRAL);
    for (int q = 0; q < TABLE_ALL; q++) {
        const struct pair_integral *i = &pair_integrals[q];
        place[q] = s->place[q];
        if (place[q] < 0)
            continue;
        to[TABLE_FUNCTION] = add_function(p, q == PAIR_H_Z ? PLAIN : (int)i->function);
        to[TABLE_LESS] = i->less == PAIR_NONE ? -1 : add_function(p, (int)i->less);
        to[TABLE_NU] = i->nu;
        to[TABLE_POWER] = i->power;
        to += TABLE_INTEGRAL;
    }
    p->cell[TABLE_USED] = s->nused;
    p->cell[TABLE_FUNCTIONS] = p->functions;
}

static void pack_choices(const struct packing *p, const struct pair_view *view, int *to)
{
    for (int n = 0; n < p->functions; n++, to += TABLE_CHOICE) {
        const bool plain = p->function[n] == PLAIN;
        enum pair_function f = plain ? PAIR_TE_V : (enum pair_function)p->function[n];
        double sign = 1;
        to[TABLE_TE] = f == PAIR_TE_V || f == PAIR_TE_I;
        to[TABLE_PLAIN] = plain;
        if (view->swapped)
            f = pair_function_below(f, &sign);
        to[TABLE_WEIGHT] = (int)f;
        to[TABLE_SIGN] = (int)sign;
    }
}

static void pack_views(struct packing *p)
{
    const size_t views = (size_t)p->s->nviews;
    p->cell[TABLE_MOST] = 0;
    int *to = add_plans(p->t, &p->cell[TABLE_VIEWS], views * EXACT_VIEW);
    int *choices =
        add_plans(p->t, &p->cell[TABLE_CHOICES], views * (size_t)p->functions * TABLE_CHOICE);
    for (size_t v = 0; v < views; v++, to += EXACT_VIEW) {
        const struct pair_view *view = &p->s->view[v];
        const size_t parts = (size_t)pair_parts(view);
        int at;
        memcpy(add_numbers(p->t, &at, PAIR_PART * parts), view->part,
               PAIR_PART * parts * sizeof(double));
        forward_view(view, at, to);
        pack_choices(p, view, choices + v * (size_t)p->functions * TABLE_CHOICE);
        p->cell[TABLE_MOST] = (int)parts > p->cell[TABLE_MOST] ? (int)parts : p->cell[TABLE_MOST];
    }
}

static void pack_nodes(struct packing *p)
{
    const struct shared *s = p->s;
    const double last = s->node.at[s->nodes - 1];
    int *places = add_plans(p->t, &p->cell[TABLE_PLACES], (size_t)s->nodes);
    double *to = add_numbers(p->t, &p->cell[TABLE_NUMBERS], TABLE_NODE + 2 * (size_t)s->nodes);
    to[TABLE_BEND] = s->bend;
    to[TABLE_SPACING] = s->spacing;
    to[TABLE_ORIGIN] = shared_stretch(s, s->node.at[0]);
    to[TABLE_LAST] = last;
    memcpy(to + TABLE_SOURCE, s->source.z, sizeof s->source.z);
    memcpy(to + TABLE_RECEIVER, s->receiver.z, sizeof s->receiver.z);
    to += TABLE_NODE;
    for (int j = 0; j < s->nodes; j++) {
        places[j] = shared_places(s, j);
        to[2 * j] = s->node.at[j];
        to[2 * j + 1] = hankel_place(s->filter, shared_shift(s, j));
    }
}

/* Takes n doubles of the device's room. */
static void take(struct tables *t, int *at, size_t n)
{
    *at = (int)t->room;
    t->room += n;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Doubles of scratch memory for n work-items of `each`. */
static size_t scratch(size_t n, size_t each)
{
    return (n + EXACT_BESIDE - 1) / EXACT_BESIDE * EXACT_BESIDE * each;
}

/* Divides the room, and counts work-items. */
static void take_room(struct packing *p)
{
    struct tables *t = p->t;
    const struct shared *s = p->s;
    const size_t cases = (size_t)s->nfreq * (size_t)s->waves, views = (size_t)s->nviews;
    const size_t nodes = (size_t)s->nodes, used = (size_t)s->nused, nz = (size_t)s->nz;
    const size_t blocks = (nodes + TABLE_BLOCK - 1) / TABLE_BLOCK;
    take(t, &p->cell[TABLE_SCRATCH],
         larger(scratch(cases, TABLE_BASE_SCRATCH((size_t)s->earth->n)),
                scratch(cases * views, TABLE_VIEW_SCRATCH((size_t)p->cell[TABLE_MOST]))));
    take(t, &p->cell[TABLE_REACH], 4 * cases * nz);
    take(t, &p->cell[TABLE_BASE], 4 * cases);
    take(t, &p->cell[TABLE_SEEDS], 4 * cases * views * (size_t)p->functions);
    take(t, &p->cell[TABLE_WEIGHTS], used * nodes * (size_t)s->waves);
    take(t, &p->cell[TABLE_ROWS], used * views * nodes * (size_t)s->nfreq * (1 + nz) * 2);
    t->base = larger(t->base, cases);
    t->views = larger(t->views, cases * views);
    t->weights = larger(t->weights, nodes * (size_t)s->waves);
    t->nodes = larger(t->nodes, used * views * (size_t)s->nfreq * blocks * (1 + nz));
    t->entries = larger(t->entries, used * views);
}

/* Numbers the cell's pairs, adds samples, and fills up groups by pairs without elements. */
static void finish_pairs(struct packing *p, size_t n, const size_t *sample, size_t nsamples)
{
    struct tables *t = p->t;
    const size_t weights = (size_t)(p->s->nused * p->s->nviews * p->s->nodes);
    const size_t end = tables_padded(n), all = end + tables_padded(nsamples);
    double *pair = t->pair + t->pairs * TABLE_PAIR;
    for (size_t i = n; i < all; i++)
        if (i >= end && i < end + nsamples)
            memcpy(pair + i * TABLE_PAIR, pair + sample[i - end] * TABLE_PAIR,
                   TABLE_PAIR * sizeof *pair);
        else
            memset(pair + i * TABLE_PAIR, 0, TABLE_PAIR * sizeof *pair);
    for (size_t i = 0; i < all; i++, t->room += weights) {
        pair[i * TABLE_PAIR + TABLE_OF] = (double)t->cells;
        pair[i * TABLE_PAIR + TABLE_AT] = (double)t->room;
        pair[i * TABLE_PAIR + TABLE_COPY] = i >= end;
    }
    t->pairs += all;
}

/* Doubles of the room that do not belong to a cell: elements' weights and pairs' windows. */
static size_t rest_of_room(const struct tables *t)
{
    return TABLE_INTERPOLATE * atomic_load(&t->elements) + 2 * t->pairs;
}

/* Integers and doubles that the cell needs at most. */
static bool there_is_room(const struct tables *t, const struct shared *s, size_t pairs)
{
    const size_t nodes = (size_t)s->nodes, views = (size_t)s->nviews;
    const size_t parts = views * PAIR_PART * (size_t)(s->earth->n + 2);
    return t->cells < t->most.cells && t->pairs + pairs <= t->most.pairs &&
           s->waves <= HANKEL_LADDER &&
           t->plans + nodes + TABLE_ALL * (1 + TABLE_INTEGRAL) +
                   views * (EXACT_VIEW + ALL_FUNCTIONS * TABLE_CHOICE) <=
               tables_plans(&t->most) &&
           t->numbers + TABLE_NODE + 2 * nodes + parts <= tables_numbers(&t->most);
}

enum ek_status tables_add(struct tables *t, struct shared *s, size_t n, const size_t *sample,
                          size_t nsamples, int layers, bool *fits)
{
    struct packing p = {t, s, t->plan + t->cells * TABLE_CELL, 0, {0}, {0}};
    const size_t plans = t->plans, numbers = t->numbers, room = t->room, pairs = t->pairs;
    for (int f = 0; f < ALL_FUNCTIONS; f++)
        p.place[f] = -1;
    *fits = there_is_room(t, s, tables_padded(n) + tables_padded(nsamples));
    if (!*fits)
        return EK_OK;
    TRY(shared_cut(s));
    p.cell[TABLE_WAVES] = s->waves;
    p.cell[TABLE_NODES] = s->nodes;
    p.cell[TABLE_SOURCES] = s->source.n;
    p.cell[TABLE_RECEIVERS] = s->receiver.n;
    p.cell[TABLE_FILTER] = s->which * HANKEL_NUMBERS;
    p.cell[TABLE_TAPS] = s->filter->n;
    p.cell[TABLE_LAYERS] = layers;
    pack_integrals(&p);
    pack_views(&p);
    pack_nodes(&p);
    take_room(&p);
    finish_pairs(&p, n, sample, nsamples);
    *fits = t->room + rest_of_room(t) <= t->most.room;
    if (*fits) {
        t->cells++;
    } else {
        t->plans = plans;
        t->numbers = numbers;
        t->room = room;
        t->pairs = pairs;
    }
    return EK_OK;
}
