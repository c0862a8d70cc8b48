/* mcsem/shared_layout.c – the range that a cell's pairs need, and the layout of the table for
 * it, which is the same where a device makes the table. */
#include "mcsem/shared_table.h"

#include "mcsem/forward.h"

/* Densities of the table, from coarse to fine. */
static const struct {
    int filter;
    double spacing; /* spacing of the nodes in ln r */
    int depths;     /* nodes in depth, unless all depths are equal */
} densities[SHARED_DENSITIES] = {{3, 0.12, 4}, {3, 0.12, 6}, {4, 0.08, 8}};

enum { MOST_WAVES = 4 * PAIR_WAVES };
#define SKIN_DEPTHS 6.0 /* beyond this many, nodes are evenly spaced in r */

const struct shared_needs shared_nothing = {.r_first = INFINITY,
                                            .source = {0, INFINITY, -INFINITY, {0}},
                                            .receiver = {0, INFINITY, -INFINITY, {0}}};

enum ek_status shared_reserve(struct shared_room *r, size_t n)
{
    if (n <= r->n)
        return EK_OK;
    free(r->at);
    r->n = 0;
    r->at = aligned_alloc(64, (n * sizeof *r->at + 63) / 64 * 64);
    if (!r->at)
        FAIL(EK_UNAVAILABLE, "out of memory for a cell's table (%zu bytes)", n * sizeof *r->at);
    r->n = n;
    return EK_OK;
}

static void widen(struct shared_depths *d, double first, double last)
{
    d->first = fmin(d->first, first);
    d->last = fmax(d->last, last);
}

int shared_look(const struct earth_layers *earth, const struct survey_pair *p,
                struct shared_needs *n, struct pair_element *element, double *share)
{
    struct pair_term term[PAIR_TERMS];
    const double seabed = earth->z[earth->sediments - 1];
    const int points = pair_elements(p, earth, SHARED_WIRE_TOLERANCE, element, share);
    if (points > PAIR_ELEMENTS || p->receiver[2] >= seabed || p->loop)
        return 0;
    widen(&n->receiver, p->receiver[2], p->receiver[2]);
    for (int k = 0; k < points; k++) {
        if (!(element[k].r > 0) || element[k].z >= seabed)
            return 0;
        widen(&n->source, element[k].z, element[k].z);
        n->r_first = fmin(n->r_first, element[k].r);
        n->r_last = fmax(n->r_last, element[k].r);
        for (int t = pair_terms(&element[k], term) - 1; t >= 0; t--)
            n->used[term[t].integral] = true;
    }
    return points;
}

void shared_join(struct shared_needs *n, const struct shared_needs *other)
{
    n->r_first = fmin(n->r_first, other->r_first);
    n->r_last = fmax(n->r_last, other->r_last);
    widen(&n->source, other->source.first, other->source.last);
    widen(&n->receiver, other->receiver.first, other->receiver.last);
    for (int q = 0; q < PAIR_INTEGRALS; q++)
        n->used[q] |= other->used[q];
}

int shared_points(const struct earth_layers *earth, const struct survey_pair *p,
                  struct pair_element element[SHARED_POINTS], double share[SHARED_POINTS])
{
    const int points = p->length > 0 ? 3 : 1;
    struct survey_pair point = *p;
    double axis[3];
    pair_axis(p->azimuth, p->dip, axis);
    point.length = point.span = 0;
    for (int i = 0; i < points; i++) {
        struct pair_element near[PAIR_NEAR]; /* the first one is enough */
        double all[PAIR_NEAR];
        for (int d = 0; d < 3; d++)
            point.source[d] = p->source[d] + (i - 3 * (i == 2)) * 0.5 * p->length * axis[d];
        pair_elements(&point, earth, SHARED_WIRE_TOLERANCE, near, all);
        element[i] = near[0];
        element[i].direction = p->direction; /* not that of the copy, which ends here */
        share[i] = points == 1 ? 1 : i ? 0.25 : 0.5;
    }
    return points;
}

static void place_depths(struct shared_depths *d, int n)
{
    const double middle = 0.5 * (d->first + d->last), half = 0.5 * (d->last - d->first);
    d->n = half > 1e-6 ? n : 1;
    for (int k = 0; k < d->n; k++)
        d->z[k] = middle + (d->n > 1 ? half * cos(acos(-1) * (k + 0.5) / n) : 0);
}

/* Fields are smooth in ln r near the source, where they are powers of r, and in r far away, where
 * they decay with the skin depth. */
double shared_stretch(const struct shared *s, double r)
{
    return log(r) + r / s->bend;
}

/* The inverse of shared_stretch(), by Newton's method from a guess below it, where the function is
 * steeper. */
static double offset_at(const struct shared *s, double stretched, double guess)
{
    double r = guess;
    for (int step = 0; step < 60; step++) {
        const double move = (stretched - shared_stretch(s, r)) / (1 / r + 1 / s->bend);
        r = fmax(r + move, 0.1 * r);
        if (fabs(move) < 1e-14 * r)
            break;
    }
    return r;
}

double shared_position(const struct shared *s, double r)
{
    return (shared_stretch(s, r) - shared_stretch(s, s->node.at[0])) / s->spacing;
}

int shared_places(const struct shared *s, int j)
{
    return (int)ceil(log(s->node.at[s->nodes - 1] / s->node.at[j]) / s->filter->step);
}

double shared_shift(const struct shared *s, int j)
{
    return shared_places(s, j) * s->filter->step - log(s->node.at[s->nodes - 1] / s->node.at[j]);
}

/* The smallest skin depth of the sediments. */
static double skin_depth(const struct shared *s)
{
    double least = INFINITY;
    for (int k = s->earth->sediments; k < s->earth->n; k++)
        least = fmin(least, sqrt(2 * s->earth->rho_h[k] / forward_line(s->freq[s->nfreq - 1])));
    return least;
}

/* Nodes extend beyond both ends, so that every stencil is complete. */
static enum ek_status place_nodes(struct shared *s, const struct shared_needs *n, double spacing,
                                  bool *fits)
{
    const double before = SHARED_STENCIL / 2 - 0.5;
    s->spacing = spacing;
    s->bend = SKIN_DEPTHS * skin_depth(s);
    const double first = shared_stretch(s, n->r_first), last = shared_stretch(s, n->r_last);
    s->nodes = SHARED_STENCIL + 1 + (int)ceil((last - first) / spacing);
    TRY(shared_reserve(&s->node, (size_t)s->nodes));
    for (int j = 0; j < s->nodes; j++)
        s->node.at[j] =
            offset_at(s, first + (j - before) * spacing, j ? s->node.at[j - 1] : n->r_first);
    const double waves = s->filter->n + shared_places(s, 0);
    *fits = waves <= MOST_WAVES;
    if (!*fits)
        return EK_OK;
    s->waves = ((int)waves + PAIR_GROUP - 1) / PAIR_GROUP * PAIR_GROUP;
    TRY(shared_reserve(&s->wave, (size_t)s->waves));
    for (int k = 0; k < s->waves; k++)
        s->wave.at[k] = exp((s->filter->first + k) * s->filter->step) / s->node.at[s->nodes - 1];
    return EK_OK;
}

/* Weights of node j for all integrals used. */
static void weigh_node(struct shared *s, int j)
{
    double w[2][HANKEL_POINTS];
    const double r = s->node.at[j];
    const int places = shared_places(s, j);
    hankel_weights(s->filter, shared_shift(s, j), w[0], w[1]);
    for (int q = 0; q < PAIR_INTEGRALS; q++) {
        if (s->place[q] < 0)
            continue;
        double *to =
            s->weight.at + ((size_t)s->place[q] * (size_t)s->nodes + (size_t)j) * (size_t)s->waves;
        memset(to, 0, (size_t)s->waves * sizeof *to);
        for (int i = 0; i < s->filter->n; i++) {
            double x = w[pair_integrals[q].nu][i] / r;
            for (int p = 0; p < pair_integrals[q].power; p++)
                x *= s->wave.at[places + i];
            to[places + i] = x;
        }
    }
}

enum ek_status shared_cut(struct shared *s)
{
    const size_t room = PAIR_PART * ((size_t)s->earth->n + 2);
    TRY(shared_reserve(&s->part, room * (size_t)s->nviews));
    for (int v = 0; v < s->nviews; v++) {
        s->view[v].part = s->part.at + (size_t)v * room;
        pair_cut(s->earth, s->earth->sediments, s->source.z[v / s->receiver.n],
                 s->receiver.z[v % s->receiver.n], &s->view[v]);
    }
    return EK_OK;
}

enum ek_status shared_lay_out(struct shared *s, const struct shared_needs *n, int density,
                              bool *fits)
{
    TRY(hankel_open(densities[density].filter, &s->filter));
    s->which = densities[density].filter;
    s->source = n->source;
    s->receiver = n->receiver;
    place_depths(&s->source, densities[density].depths);
    place_depths(&s->receiver, densities[density].depths);
    s->nviews = s->source.n * s->receiver.n;
    s->nused = 0;
    for (int q = 0; q < PAIR_INTEGRALS; q++)
        s->place[q] = n->used[q] ? s->nused++ : -1;
    return place_nodes(s, n, densities[density].spacing, fits);
}

enum ek_status shared_weigh(struct shared *s)
{
    TRY(shared_reserve(&s->weight, (size_t)s->nused * (size_t)s->nodes * (size_t)s->waves));
    for (int j = 0; j < s->nodes; j++)
        weigh_node(s, j);
    return shared_cut(s);
}
