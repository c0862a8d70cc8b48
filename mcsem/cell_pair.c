/* mcsem/cell_pair.c – a pair of a cell: its place over the cell's floor, its row in exact mode, its
 * weight. */
#include "mcsem/cell_work.h"

size_t cell_largest(const struct survey *s)
{
    size_t most = 1;
    for (int c = 0; c < s->ncells; c++)
        most = s->first[c + 1] - s->first[c] > most ? s->first[c + 1] - s->first[c] : most;
    return most;
}

/* The depth at which a point keeps its height over the floor when moved to column c. `floor`: depth
 * of the floor below the point, 0: that of the column there. */
static double depth_over(const struct earth *e, int c, const double *at, double floor)
{
    const double seabed = e->seabed[c];
    const double below = floor > 0 ? floor : e->seabed[earth_find(e, at[0], at[1], true)];
    const double z = at[2] - below + seabed;
    return fmax(0, z < seabed + CELL_SUNK ? fmin(z, seabed - CELL_CLEARANCE) : z);
}

struct survey_pair cell_shift(const struct earth *e, int c, const struct survey_pair *p)
{
    struct survey_pair seen = *p;
    seen.source[2] = depth_over(e, c, p->source, p->floor[0]);
    seen.receiver[2] = depth_over(e, c, p->receiver, p->floor[1]);
    return seen;
}

/* Stores a pair's fields and derivatives, which are `field_step` and `step` apart, as a row. */
static void put_row(const struct cell_work *w, const double complex *field, int field_step,
                    const double complex *derivative, int step, double *row)
{
    memset(row, 0, cell_row_size(w) * sizeof *row);
    for (int q = 0; q < w->survey->nfreq; q++, row += 2 * w->columns, derivative += step) {
        row[0] = creal(field[q * field_step]);
        row[w->columns] = cimag(field[q * field_step]);
        for (int l = 0; l < w->earth->nz; l++) {
            row[1 + l] = creal(derivative[w->layers.sediments + l]);
            row[w->columns + 1 + l] = cimag(derivative[w->layers.sediments + l]);
        }
    }
}

/* Adds the derivatives for vertical resistivities to a row that has those for horizontal ones, by
 * subtraction from those for both together. */
static void add_vertical(const struct cell_work *w, const double complex *both, double *row)
{
    const int nz = w->earth->nz;
    for (int q = 0; q < w->survey->nfreq; q++, row += 2 * w->columns, both += w->layers.n)
        for (int l = 0; l < nz; l++) {
            const double complex total = both[w->layers.sediments + l];
            row[1 + nz + l] = creal(total) - row[1 + l];
            row[w->columns + 1 + nz + l] = cimag(total) - row[w->columns + 1 + l];
        }
}

enum ek_status cell_fill_exactly(const struct cell_work *w, struct cell_worker *k, size_t pair,
                                 int filter, double *row)
{
    const struct survey *s = w->survey;
    const bool vertical = w->earth->vertical;
    TRY(forward_pair(k->forward, &w->layers, &w->pair[pair], s->nfreq, s->freq, filter,
                     vertical ? FORWARD_HORIZONTAL : FORWARD_BELOW, k->field, k->derivative));
    put_row(w, k->field, 1, k->derivative, w->layers.n, row);
    if (!vertical)
        return EK_OK;
    TRY(forward_pair(k->forward, &w->layers, &w->pair[pair], s->nfreq, s->freq, filter, FORWARD_ALL,
                     k->field, k->derivative));
    add_vertical(w, k->derivative, row);
    return EK_OK;
}

void cell_put_sums(const struct cell_work *w, const double complex *sum, double *row)
{
    const int step = 1 + w->layers.n;
    put_row(w, sum, step, sum + 1, step, row);
}

double cell_weigh(const struct cell_work *w, size_t pair, int q, double complex field,
                  struct device_weight *to)
{
    const struct misfit_options *o = &w->options.misfit;
    const struct misfit miss =
        misfit_of(o, &w->survey->pair[pair], survey_at(w->survey, pair, q), field);
    const double square = misfit_square(&miss), weight = sqrt(misfit_weight(o, square));
    *to = (struct device_weight){.re = weight * creal(miss.factor),
                                 .im = weight * cimag(miss.factor),
                                 .has_re = miss.re,
                                 .has_im = miss.im,
                                 .residual_re = weight * creal(miss.residual),
                                 .residual_im = weight * cimag(miss.residual)};
    return square;
}
