/* mcsem/shared.h – shared mode: all pairs of a cell see the same layers, so the integrals of which
 * their fields are made (pair.h) are tabulated once, over offset and depth, and interpolated.
 *
 * The functions of the wavenumber are computed on one logarithmic grid (kernels/field.h, one
 * wavenumber a lane). As filters have weights for every offset (hankel.h), each node of the table
 * is a product of its weights with these functions, for all layers at once; a pair is a product of
 * interpolation weights with the table. Nodes lie evenly in ln r (polynomials through
 * SHARED_STENCIL of them) and at Chebyshev's points in the depths of sources and receivers.
 *
 * Work is done in phases; the threads of a unit share each phase, and meet between two. The bits do
 * not depend on how many they are. */
#pragma once

#include "cu/team/thread_pool.h"
#include "mcsem/pair.h"

enum { SHARED_STENCIL = 8, SHARED_DENSITIES = 4 };

struct shared;

/* For earths of up to `layers` layers; `width` threads work on it. EK_UNAVAILABLE: memory. */
enum ek_status shared_open(int layers, int width, struct shared **shared);
void shared_close(struct shared *shared);

/* The table for pairs [npairs] over these layers, unless it costs more than *worth pairs in exact
 * mode, which is lowered by its cost; everything is borrowed until the next call.
 * *fits = false, and no table: a pair does not lie in the sea or passes its receiver too closely;
 * exact mode computes it or says what is wrong. EK_UNAVAILABLE: memory. */
enum ek_status shared_make(struct shared *shared, const struct earth_layers *layers,
                           const struct survey_pair *pair, size_t npairs, int nfreq,
                           const double *freq, int density, double *worth, struct thread_pool *pool,
                           bool *fits);

/* The same without the table: whether there would be one. */
enum ek_status shared_plan(struct shared *shared, const struct earth_layers *layers,
                           const struct survey_pair *pair, size_t npairs, int nfreq,
                           const double *freq, int density, double *worth, bool *fits);

/* Fields and derivatives of pairs first .. first+n-1, n <= SHARED_ROWS: rows
 * [n][nfreq][2][columns], real parts before imaginary ones; column 0 is the field, 1 + k the k-th
 * layer of the sediments. Thread `thread` of the unit, others may do other pairs at the same
 * time. */
enum { SHARED_ROWS = 8 };
void shared_rows(const struct shared *shared, int thread, size_t first, int n, double *rows);

/* Sizes, per frequency, of the parts [nfreq] of which a pair's field is made, and of what is `left`
 * [nfreq] of them, the field: by the nearest nodes, about. Errors of the table are relative to the
 * parts. Any thread. */
void shared_parts(const struct shared *shared, size_t pair, double *parts, double *left);

/* Columns of a row for nz layers: 1 + nz, rounded up. */
int shared_columns(int nz);
