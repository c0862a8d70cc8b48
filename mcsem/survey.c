/* mcsem/survey.c – pairs, their data and their cells. */
#include "mcsem/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum ek_status survey_open(size_t npairs, int nfreq, struct survey **survey)
{
    struct survey *s = calloc(1, sizeof *s);
    const size_t pairs = npairs ? npairs : 1, data = pairs * (size_t)(nfreq > 0 ? nfreq : 1);
    if (!s)
        FAIL(EK_LACK, "out of memory for a survey");
    s->npairs = npairs;
    s->nfreq = nfreq;
    s->freq = calloc((size_t)(nfreq > 0 ? nfreq : 1), sizeof *s->freq);
    s->pair = calloc(pairs, sizeof *s->pair);
    s->datum = calloc(data, sizeof *s->datum);
    if (!s->freq || !s->pair || !s->datum) {
        survey_close(s);
        FAIL(EK_LACK, "out of memory for %zu pairs at %d frequencies", npairs, nfreq);
    }
    for (size_t i = 0; i < data; i++)
        s->datum[i].sigma = INFINITY;
    *survey = s;
    return EK_OK;
}

void survey_close(struct survey *s)
{
    if (!s)
        return;
    free(s->freq);
    free(s->pair);
    free(s->datum);
    free(s->first);
    free(s);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool finite_numbers(const double *x, int n)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

enum ek_status survey_check_pair(const struct survey_pair *p, const char *path)
{
    const double *u = p->direction;
    const double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    const double rise = 0.5 * p->length * fabs(sin(p->dip));
    if (!finite_numbers(p->source, 3) || !finite_numbers(p->receiver, 3) || !finite_numbers(u, 3) ||
        !isfinite(p->azimuth + p->dip + p->length))
        FAIL(EK_USAGE, "%s:%zu: a position or direction is no finite number", path, p->line);
    if (p->length < 0)
        FAIL(EK_USAGE, "%s:%zu: the source is %g m long, which is negative", path, p->line,
             p->length);
    if (p->receiver[2] < 0)
        FAIL(EK_USAGE, "%s:%zu: the receiver is %g m above the sea surface (z is positive down)",
             path, p->line, -p->receiver[2]);
    if (p->source[2] - rise < 0)
        FAIL(EK_USAGE, "%s:%zu: the source reaches %g m above the sea surface (z is positive down)",
             path, p->line, rise - p->source[2]);
    if (fabs(length - 1) > 1e-6)
        FAIL(EK_USAGE, "%s:%zu: the receiver's direction has length %g, not 1", path, p->line,
             length);
    return EK_OK;
}

static enum ek_status check_data(const struct survey *s, size_t pair, const char *path)
{
    for (int q = 0; q < s->nfreq; q++) {
        const struct survey_datum *d = &s->datum[pair * (size_t)s->nfreq + (size_t)q];
        if (!(d->sigma > 0))
            FAIL(EK_USAGE, "%s:%zu: standard error %g at %g Hz is not positive", path,
                 s->pair[pair].line, d->sigma, s->freq[q]);
        if (isfinite(d->sigma) && !isfinite(d->re + d->im))
            FAIL(EK_USAGE, "%s:%zu: the field at %g Hz is no finite number", path,
                 s->pair[pair].line, s->freq[q]);
    }
    return EK_OK;
}

enum ek_status survey_check(const struct survey *s, const char *path)
{
    for (int q = 0; q < s->nfreq; q++)
        if (!(s->freq[q] > 0) || !isfinite(s->freq[q]) || (q && s->freq[q] <= s->freq[q - 1]))
            FAIL(EK_USAGE, "%s: frequency %g Hz is not positive or not above the one before it",
                 path, s->freq[q]);
    if (!s->npairs || s->nfreq < 1)
        FAIL(EK_USAGE, "%s: there are no data", path);
    for (size_t i = 0; i < s->npairs; i++) {
        TRY(survey_check_pair(&s->pair[i], path));
        TRY(check_data(s, i, path));
    }
    return EK_OK;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A stable counting sort: where each pair goes; first [cells + 1] is filled. */
static void place_pairs(const int *cell, size_t n, int cells, size_t *first, size_t *place)
{
    for (size_t i = 0; i < n; i++)
        if (cell[i] >= 0)
            first[cell[i] + 1]++;
    for (int c = 0; c < cells; c++)
        first[c + 1] += first[c];
    for (size_t i = 0; i < n; i++)
        if (cell[i] >= 0)
            place[i] = first[cell[i]]++;
    for (int c = cells; c > 0; c--)
        first[c] = first[c - 1];
    first[0] = 0;
}

/* Pairs and data to their places in new arrays, which replace the old ones. */
static enum ek_status move_pairs(struct survey *s, const int *cell, const size_t *place,
                                 size_t left)
{
    const size_t row = (size_t)s->nfreq * sizeof *s->datum;
    struct survey_pair *pair = calloc(left, sizeof *pair);
    struct survey_datum *datum = calloc(left, row);
    if (!pair || !datum) {
        free(pair);
        free(datum);
        FAIL(EK_LACK, "out of memory to sort %zu pairs by cell", left);
    }
    for (size_t i = 0; i < s->npairs; i++)
        if (cell[i] >= 0) {
            pair[place[i]] = s->pair[i];
            memcpy(datum + place[i] * (size_t)s->nfreq, s->datum + i * (size_t)s->nfreq, row);
        }
    free(s->pair);
    free(s->datum);
    s->pair = pair;
    s->datum = datum;
    s->ndropped += s->npairs - left;
    s->npairs = left;
    return EK_OK;
}

/* Cell of every pair, -1: none; how many have one. */
static size_t find_cells(const struct survey *s, const struct earth *earth, bool clip, int *cell)
{
    size_t found = 0;
    for (size_t i = 0; i < s->npairs; i++) {
        const struct survey_pair *p = &s->pair[i];
        cell[i] = earth_find(earth, 0.5 * (p->source[0] + p->receiver[0]),
                             0.5 * (p->source[1] + p->receiver[1]), clip);
        found += cell[i] >= 0;
    }
    return found;
}

enum ek_status survey_bin(struct survey *s, const struct earth *earth, bool clip)
{
    const int cells = earth_columns(earth);
    int *cell = calloc(s->npairs + 1, sizeof *cell);
    size_t *place = calloc(s->npairs + 1, sizeof *place);
    size_t *first = calloc((size_t)cells + 1, sizeof *first);
    enum ek_status st = EK_OK;
    if (!cell || !place || !first)
        st = status_fail(EK_LACK, "out of memory to sort %zu pairs by cell", s->npairs);
    const size_t left = st ? 0 : find_cells(s, earth, clip, cell);
    if (!st && !left)
        st = status_fail(EK_USAGE, "no pair's midpoint lies in the grid of %d x %d cells",
                         earth->nx, earth->ny);
    if (!st) {
        place_pairs(cell, s->npairs, cells, first, place);
        st = move_pairs(s, cell, place, left);
    }
    free(cell);
    free(place);
    if (st) {
        free(first);
        return st;
    }
    free(s->first);
    s->first = first;
    s->ncells = cells;
    return EK_OK;
}

void survey_weigh(struct survey *s, const struct survey_noise *noise)
{
    for (size_t i = 0; i < s->npairs; i++) {
        const double floor = s->pair[i].magnetic ? noise->floor_h : noise->floor_e;
        for (int q = 0; q < s->nfreq; q++) {
            struct survey_datum *d = &s->datum[i * (size_t)s->nfreq + (size_t)q];
            const double size = hypot(d->re, d->im);
            if (isfinite(d->sigma))
                d->sigma =
                    size < noise->reject * floor ? INFINITY : hypot(noise->relative * size, floor);
        }
    }
}
