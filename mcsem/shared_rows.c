/* mcsem/shared_rows.c – interpolates pairs from a cell's table. */
#include "mcsem/matmul.h"
#include "mcsem/shared_table.h"
#include "src/kernel.h"

#include "mcsem/kernels/table.h"
#include <complex.h>

_Static_assert((int)SHARED_STENCIL == TABLE_STENCIL && (int)SHARED_DEPTHS == TABLE_DEPTHS,
               "table_plan.h");

static void lagrange_depth(const struct shared_depths *d, double z, double *weight)
{
    for (int i = 0; i < d->n; i++)
        weight[i] = table_across(d->z, d->n, i, z);
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
    const int first = table_begin(t), n = pair_terms(element, term);
    table_along(t - first, along);
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
        const int first = table_begin(shared_position(s, element[k].r));
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
    struct pair_element element[SHARED_POINTS];
    double share[SHARED_POINTS];
    const int points = shared_points(s->earth, &s->pair[pair], element, share);
    for (int q = 0; q < s->nfreq; q++) {
        double complex field = 0;
        parts[q] = 0;
        for (int i = 0; i < points; i++)
            add_parts(s, &element[i], share[i], q, &parts[q], &field);
        size[q] = modulus(field);
    }
}
