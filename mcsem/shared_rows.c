/* mcsem/shared_rows.c – interpolates pairs from a cell's table. */
#include "mcsem/matmul.h"
#include "mcsem/shared_table.h"

#include <complex.h>

/* Lagrange weights for position t among nodes 0 .. SHARED_STENCIL-1: the products of the distances
 * from all nodes before and behind, over those of the nodes themselves. */
static void lagrange(double t, double *weight)
{
    double before = 1, behind = 1, scale = 1;
    for (int i = 0; i < SHARED_STENCIL; i++) {
        weight[i] = before;
        before *= t - i;
    }
    for (int i = 1; i < SHARED_STENCIL; i++)
        scale /= i;
    for (int i = SHARED_STENCIL - 1; i >= 0; i--) {
        weight[i] *= behind * scale;
        behind *= i - t;
        scale *= (double)i / (SHARED_STENCIL - i);
    }
}

/* Lagrange weights in depth. */
static void lagrange_depth(const struct shared_depths *d, double z, double *weight)
{
    for (int i = 0; i < d->n; i++) {
        weight[i] = 1;
        for (int j = 0; j < d->n; j++)
            weight[i] *= j == i ? 1 : (z - d->z[j]) / (d->z[i] - d->z[j]);
    }
}

/* Nodes needed: begin .. end-1. */
struct window {
    int begin, end;
};

static double *weights_of(const struct shared *s, double *weight, int place, int view)
{
    return weight + ((size_t)place * (size_t)s->nviews + (size_t)view) * (size_t)s->nodes;
}

/* Adds an element to the interpolation weights of its pair. */
static void add_point(const struct shared *s, const struct pair_element *element, double share,
                      const double *receiver, double *weight)
{
    struct pair_term term[PAIR_TERMS];
    double along[SHARED_STENCIL], source[SHARED_DEPTHS];
    const double t = shared_position(s, element->r);
    const int first = (int)t - (SHARED_STENCIL / 2 - 1), n = pair_terms(element, term);
    lagrange(t - first, along);
    lagrange_depth(&s->source, element->z, source);
    for (int k = 0; k < n; k++)
        for (int v = 0; v < s->nviews; v++) {
            const double factor =
                share * term[k].factor * source[v / s->receiver.n] * receiver[v % s->receiver.n];
            double *to = weights_of(s, weight, s->place[term[k].integral], v) + first;
            for (int i = 0; i < SHARED_STENCIL; i++)
                to[i] += factor * along[i];
        }
}

/* Computes the weights of one pair and widens the window to the nodes that it needs. */
static void weigh_pair(const struct shared *s, const struct survey_pair *p, struct window *w,
                       double *weight)
{
    struct pair_element element[PAIR_ELEMENTS];
    double share[PAIR_ELEMENTS], receiver[SHARED_DEPTHS];
    const int n = pair_elements(p, s->earth, SHARED_WIRE_TOLERANCE, element, share);
    struct window own = {s->nodes, 0};
    for (int k = 0; k < n; k++) {
        const int first = (int)shared_position(s, element[k].r) - (SHARED_STENCIL / 2 - 1);
        own.begin = first < own.begin ? first : own.begin;
        own.end = first + SHARED_STENCIL > own.end ? first + SHARED_STENCIL : own.end;
    }
    w->begin = own.begin < w->begin ? own.begin : w->begin;
    w->end = own.end > w->end ? own.end : w->end;
    lagrange_depth(&s->receiver, p->receiver[2], receiver);
    for (int k = 0; k < n; k++)
        add_point(s, &element[k], share[k], receiver, weight);
}

void shared_rows(const struct shared *s, int thread, size_t first, int n, double *rows)
{
    double *weight = s->scratch[thread].weight.at;
    const size_t part = (size_t)s->nused * (size_t)s->nviews * (size_t)s->nodes;
    struct window w = {s->nodes, 0};
    memset(rows, 0, (size_t)n * shared_row(s) * sizeof *rows);
    for (int i = 0; i < n; i++)
        weigh_pair(s, &s->pair[first + (size_t)i], &w, weight + (size_t)i * part);
    for (int place = 0; place < s->nused; place++)
        for (int v = 0; v < s->nviews; v++) {
            double *first_weight = weights_of(s, weight, place, v) + w.begin;
            const struct matmul_view a = {first_weight, (long)part, 1};
            matmul_add(n, (int)shared_row(s), w.end - w.begin, a, shared_part(s, place, v, w.begin),
                       (long)shared_row(s), rows, (long)shared_row(s));
            for (int i = 0; i < n; i++)
                memset(first_weight + (size_t)i * part, 0,
                       (size_t)(w.end - w.begin) * sizeof *weight);
        }
}

/* cabs() for numbers whose squares are neither too large nor too small, in a third of the time. */
static double modulus(double complex z)
{
    return sqrt(creal(z) * creal(z) + cimag(z) * cimag(z));
}

/* Adds `share` times the sizes of the parts of an element's field, and the field itself. */
static void add_parts(const struct shared *s, const struct pair_element *element, double share,
                      int q, double *parts, double complex *field)
{
    struct pair_term term[PAIR_TERMS];
    const int n = pair_terms(element, term);
    const int node = (int)fmin(fmax(shared_position(s, element->r), 0), s->nodes - 1);
    for (int k = 0; k < n; k++) {
        const double *row = shared_part(s, s->place[term[k].integral], s->nviews / 2, node) +
                            (size_t)q * 2 * (size_t)s->columns;
        const double complex part = share * term[k].factor * (row[0] + I * row[s->columns]);
        *field += part;
        *parts += modulus(part);
    }
}

void shared_parts(const struct shared *s, size_t pair, double *parts, double *size)
{
    const struct survey_pair *p = &s->pair[pair];
    struct survey_pair point = *p;
    struct pair_element element[2 + PAIR_NEAR]; /* the middle and the ends of the wire */
    const int points = p->length > 0 ? 3 : 1;
    double axis[3];
    pair_axis(p->azimuth, p->dip, axis);
    point.length = point.span = 0;
    for (int i = 0; i < points; i++) {
        double all[PAIR_NEAR];
        for (int d = 0; d < 3; d++)
            point.source[d] = p->source[d] + (i - 3 * (i == 2)) * 0.5 * p->length * axis[d];
        pair_elements(&point, s->earth, SHARED_WIRE_TOLERANCE, &element[i], all);
    }
    for (int q = 0; q < s->nfreq; q++) {
        double complex field = 0;
        parts[q] = 0;
        for (int i = 0; i < points; i++)
            add_parts(s, &element[i], points == 1 ? 1 : i ? 0.25 : 0.5, q, &parts[q], &field);
        size[q] = modulus(field);
    }
}
