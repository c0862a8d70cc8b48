/* mcsem/shared.h – shared mode: all pairs of a cell see the same layers, so the integrals that make
 * up their fields (pair.h) are tabulated once, over offset and depth, and interpolated.
 *
 * The functions of the wavenumber are computed on one logarithmic grid (kernels/field.h, one
 * wavenumber per lane). As filters have weights for every offset (hankel.h), each node of the table
 * is the product of its weights with these functions, for all layers at once, and a pair is the
 * product of its interpolation weights with the table. Nodes are evenly spaced in ln r
 * (interpolated by polynomials through SHARED_STENCIL of them) and at Chebyshev points in the
 * depths of sources and receivers.
 *
 * The work is done in phases, which the threads of a unit share. The bits do not depend on the
 * number of threads. */
#pragma once

#include "cu/team/thread_pool.h"
#include "mcsem/pair.h"

enum { SHARED_STENCIL = 12, SHARED_DENSITIES = 3 };

struct shared;
struct shared_needs; /* shared_table.h */

/* For earths of up to `layers` layers, with `width` threads. EK_UNAVAILABLE: memory. */
enum ek_status shared_open(int layers, int width, struct shared **shared);
void shared_close(struct shared *shared);

/* Makes the table for pairs [npairs] over these layers unless it costs more than *worth, in pairs
 * of exact mode; *worth is reduced by its cost. Everything is borrowed until the next call. *fits =
 * false, without a table: it costs too much, or a pair does not lie in the sea or passes its
 * receiver too closely; exact mode computes that pair or reports the error. EK_UNAVAILABLE:
 * memory. */
enum ek_status shared_make(struct shared *shared, const struct earth_layers *layers,
                           const struct survey_pair *pair, size_t npairs, int nfreq,
                           const double *freq, int density, double *worth, struct thread_pool *pool,
                           bool *fits);

/* The same without making the table; shared_place: for pairs with these needs. */
enum ek_status shared_plan(struct shared *shared, const struct earth_layers *layers,
                           const struct survey_pair *pair, size_t npairs, int nfreq,
                           const double *freq, int density, double *worth, bool *fits);
enum ek_status shared_place(struct shared *shared, const struct earth_layers *layers,
                            const struct survey_pair *pair, int nfreq, const double *freq,
                            const struct shared_needs *needs, int density, double *worth,
                            bool *fits);

/* Fields and derivatives of pairs first .. first+n-1, n <= SHARED_ROWS: rows
 * [n][nfreq][2][columns], real parts first; column 0 is the field, column 1 + k the derivative for
 * layer k of the sediments. Threads with different numbers `thread` may work at the same time. */
enum { SHARED_ROWS = 8 };
void shared_rows(const struct shared *shared, int thread, size_t first, int n, double *rows);

/* Per frequency, the sum of the sizes of the `parts` [nfreq] that make up a pair's field, and the
 * `size` [nfreq] of their sum, both approximate (from the nearest nodes). Errors of the table are
 * relative to the parts. Any thread. */
void shared_parts(const struct shared *shared, size_t pair, double *parts, double *size);

/* Columns of a row for nz layers: 1 + nz, rounded up. */
int shared_columns(int nz);
