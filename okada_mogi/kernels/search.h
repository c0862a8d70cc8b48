/* okada_mogi/kernels/search.h – finds the trials or geometries that may be acceptable, for any
 * model; the host judges those.
 *
 * A model's file defines VALUES, BASES and RESPOND(value, east, north, out) before it includes
 * this one.
 *
 * axes [naxes] rows of 8 longs, slowest first:
 *   n | place at the launch's first trial | kind: 0 geometry, 1 direction, 2 amplitude | source |
 *   offset of its table | width of a table row | geometry: index of its first value, direction:
 *   step | offset of the source's weights
 * table: values of geometry axes [n][width], amplitudes [n], weights [directions][BASES]
 * conditions [nconditions] rows of 10 longs: number of axes | offset | axis, step | axis, step | …
 * allowed: bit (offset + sum of place * step) says whether the condition holds
 * stations [nstations] rows of 11: east, north, low and high of each component, and a vector: if it
 *   is not 0, the first component is along it and there are no others
 *
 * Each item tests `span` consecutive trials, at most 32, and reports those that may be acceptable
 * and the number of responses that it computed: found.h. */
#ifndef OKADA_MOGI_KERNELS_SEARCH_H
#define OKADA_MOGI_KERNELS_SEARCH_H

#include "okada_mogi/kernels/found.h"
#include "okada_mogi/kernels/interval.h"

#define SEARCH_SOURCES 8   /* most sources, */
#define SEARCH_AXES    128 /* and most axes, as JOB_SOURCES and JOB_AXES */
#define SEARCH_PROBES  12  /* stations that a geometry is tested at */

struct search_trial {
    real value[SEARCH_SOURCES * VALUES];
    real amplitude[SEARCH_SOURCES];
    long weights[SEARCH_SOURCES]; /* offsets in the table */
    int place[SEARCH_AXES];
};

/* Moves an axis to a place. */
FN void search_set(GLOBAL const long *axes, GLOBAL const double *table, int a, int place,
                   struct search_trial *t)
{
    GLOBAL const long *axis = axes + 8 * a;
    const long kind = axis[2], source = axis[3], width = axis[5];
    if (kind == 0) {
        for (long v = 0; v < width; v++)
            t->value[source * VALUES + axis[6] + v] = table[axis[4] + place * width + v];
    } else if (kind == 1) {
        t->weights[source] += BASES * axis[6] * (place - t->place[a]);
    } else {
        t->amplitude[source] = table[axis[4] + place];
    }
    t->place[a] = place;
}

/* Begins with the trial `offset` after the launch's first. */
FN void search_begin(GLOBAL const long *axes, int naxes, GLOBAL const double *table, long offset,
                     struct search_trial *t)
{
    for (int s = 0; s < SEARCH_SOURCES; s++)
        t->amplitude[s] = 1.0;
    for (int a = naxes - 1; a >= 0; a--) {
        const long n = axes[8 * a], at = axes[8 * a + 1] + offset % n;
        offset = offset / n + at / n;
        t->weights[axes[8 * a + 3]] = axes[8 * a + 7];
        t->place[a] = (int)(at % n);
    }
    for (int a = 0; a < naxes; a++) {
        const int place = t->place[a];
        t->place[a] = 0;
        search_set(axes, table, a, place, t);
    }
}

FN void search_next(GLOBAL const long *axes, int naxes, GLOBAL const double *table,
                    struct search_trial *t)
{
    int a = naxes - 1;
    while (a > 0 && t->place[a] + 1 == axes[8 * a])
        search_set(axes, table, a--, 0, t);
    search_set(axes, table, a, t->place[a] + 1 == axes[8 * a] ? 0 : t->place[a] + 1, t);
}

FN int search_allows(GLOBAL const long *conditions, int nconditions, GLOBAL const int *allowed,
                     const struct search_trial *t)
{
    for (int c = 0; c < nconditions; c++) {
        GLOBAL const long *row = conditions + 10 * c;
        long at = row[1];
        for (long i = 0; i < row[0]; i++)
            at += t->place[row[2 + 2 * i]] * row[3 + 2 * i];
        if (!(allowed[at / 32] >> (at % 32) & 1))
            return 0;
    }
    return 1;
}

FN void search_leave(GLOBAL int *found, int bits, int responses)
{
    GLOBAL int *tally = found + 1 + 2 * (GID(0) % FOUND_TALLIES);
    ATOMIC_ADD(tally, responses & 0xffff);
    if (responses >> 16)
        ATOMIC_ADD(tally + 1, responses >> 16);
    if (bits) {
        const int at = FOUND_ITEMS + 2 * ATOMIC_ADD(found, 1);
        found[at] = GID(0);
        found[at + 1] = bits;
    }
}

/* Reduces responses out [n][3] to what the station observes. */
FN void search_look(GLOBAL const double *station, int n, real *out)
{
    const double e = station[8], north = station[9], up = station[10];
    if (e * e + north * north + up * up > 0.0)
        for (int b = 0; b < n; b++)
            out[3 * b] = e * out[3 * b] + north * out[3 * b + 1] + up * out[3 * b + 2];
}

/* Whether the sum of all sources may fit at one station. */
FN int search_fits(GLOBAL const double *table, GLOBAL const double *station, int nsources,
                   const struct search_trial *t)
{
    real u[3], out[3 * BASES];
    u[0] = u[1] = u[2] = 0.0;
    for (int s = 0; s < nsources; s++) {
        RESPOND(t->value + s * VALUES, station[0], station[1], out);
        for (int c = 0; c < 3; c++) {
            real sum = 0.0;
            for (int b = 0; b < BASES; b++)
                sum += table[t->weights[s] + b] * out[3 * b + c];
            u[c] += t->amplitude[s] * sum;
        }
    }
    search_look(station, 1, u);
    for (int c = 0; c < 3; c++) /* NaN passes: the judge decides */
        if (u[c] < station[2 + 2 * c] || u[c] > station[3 + 2 * c])
            return 0;
    return 1;
}

FN void search_brute(GLOBAL const long *axes, int naxes, GLOBAL const double *table,
                     GLOBAL const long *conditions, int nconditions, GLOBAL const int *allowed,
                     GLOBAL const double *stations, int nstations, int nsources, long count,
                     int span, GLOBAL int *found)
{
    const long first = (long)GID(0) * span;
    struct search_trial t;
    int bits = 0, responses = 0;
    if (first >= count)
        return;
    search_begin(axes, naxes, table, first, &t);
    for (int i = 0; i < span && first + i < count; i++) {
        if (i)
            search_next(axes, naxes, table, &t);
        int fits = search_allows(conditions, nconditions, allowed, &t);
        for (int k = 0; fits && k < nstations; k++) {
            fits = search_fits(table, stations + 11 * k, nsources, &t);
            responses += nsources;
        }
        if (fits)
            bits |= (int)(1u << i);
    }
    search_leave(found, bits, responses);
}

/* Whether some direction has amplitudes within [least, most] that the first n stations allow. */
FN int search_directions(GLOBAL const double *weights, int ndirections,
                         GLOBAL const double *stations, const real *basis, int n, double least,
                         double most)
{
    ROLLED
    for (int m = 0; m < ndirections; m++) {
        real lo = least, hi = most;
        ROLLED
        for (int k = 0; k < n && lo <= hi; k++)
            for (int c = 0; c < 3; c++) {
                real g = 0.0;
                for (int b = 0; b < BASES; b++)
                    g += weights[m * BASES + b] * basis[3 * BASES * k + 3 * b + c];
                interval_narrow(g, stations[11 * k + 2 + 2 * c], stations[11 * k + 3 + 2 * c], &lo,
                                &hi);
            }
        if (!(lo > hi))
            return 1;
    }
    return 0;
}

/* Geometries of source 0: trials of its geometry axes. The table begins with its weights
 * [ndirections][BASES]. */
FN void search_probe(GLOBAL const long *axes, int naxes, GLOBAL const double *table,
                     GLOBAL const long *conditions, int nconditions, GLOBAL const int *allowed,
                     GLOBAL const double *stations, int nstations, int ndirections, double least,
                     double most, long count, int span, GLOBAL int *found)
{
    const long first = (long)GID(0) * span;
    const int probes = nstations < SEARCH_PROBES ? nstations : SEARCH_PROBES;
    struct search_trial t;
    real basis[SEARCH_PROBES * 3 * BASES];
    int bits = 0, responses = 0;
    if (first >= count)
        return;
    search_begin(axes, naxes, table, first, &t);
    for (int i = 0; i < span && first + i < count; i++) {
        if (i)
            search_next(axes, naxes, table, &t);
        int fits = search_allows(conditions, nconditions, allowed, &t);
        ROLLED
        for (int k = 0; fits && k < probes; k++) {
            RESPOND(t.value, stations[11 * k], stations[11 * k + 1], basis + 3 * BASES * k);
            search_look(stations + 11 * k, BASES, basis + 3 * BASES * k);
            fits = search_directions(table, ndirections, stations, basis, k + 1, least, most);
            responses++;
        }
        if (fits)
            bits |= (int)(1u << i);
    }
    search_leave(found, bits, responses);
}

#endif
