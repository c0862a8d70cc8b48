/* mcsem/cell.h – the work on one cell: fields and derivatives of its pairs, and what the inversion
 * needs of them, J'W^2 J and J'W^2 r. The Jacobian lives for a block of pairs only.
 *
 * Columns differ in the depth of their seabed; a cell sees each source and receiver at its own
 * height above the seabed. Instruments on the seabed count as CELL_CLEARANCE above it, in the
 * sea. */
#pragma once

#include "backends/backend.h"
#include "cu/team/thread_pool.h"
#include "mcsem/misfit.h"

#define CELL_CLEARANCE 0.1 /* m */

enum cell_mode { CELL_EXACT, CELL_SHARED };
extern const char *const cell_modes[]; /* their names, then NULL */

struct cell_options {
    enum cell_mode mode;
    struct misfit_options misfit;
    double
        tolerance; /* largest difference of shared from exact mode, relative to max(|E|, floor) */
    double floor;  /* of E; that of H is floor / CELL_IMPEDANCE */
    bool always;   /* tables also where they do not pay */
};
#define CELL_IMPEDANCE 1e-3 /* E / H of fields that matter alike, ohm */

/* What a cell's computation was like. */
struct cell_report {
    size_t exact;      /* pairs in exact mode: all, or those close to their source */
    int filter;        /* of those (hankel.h) */
    int density;       /* of the table for the others (shared.h), -1: there is none */
    double difference; /* of the two modes, where that was checked */
    double cpu_s;      /* of all threads of the unit, set by who calls cell_compute() */
};

struct cell_work; /* of one unit */

/* For any cell of the survey (binned, borrowed like the earth) on `width` threads; with a device
 * (else NULL), which computes the pairs in exact mode, to the same bits; where vertical
 * resistivities are unknown all pairs are computed in exact mode, on the host. On the unit's
 * thread. EK_UNAVAILABLE. */
enum ek_status cell_open(const struct survey *survey, const struct earth *earth,
                         const struct cell_options *options, int width, struct backend *device,
                         struct cell_work **work);
void cell_close(struct cell_work *work);
/* Changes the spread of robust losses for the cells to come. */
void cell_set_spread(struct cell_work *work, double spread);

/* Numbers of a cell's sums: the lower triangle, row by row, of [r J]'W^2 [r J], r the residuals:
 * first |W r|^2; row 1 + k begins with (J'W^2 r)_k. With a robust loss W^2 has its weights, and the
 * sum of losses stands in place of |W r|^2. Behind the triangle there are MISFIT_BINS struct
 * misfit_bin. */
size_t cell_sums(int nz);
static inline struct misfit_bin *cell_bins(double *sums, int nz)
{
    return (struct misfit_bin *)(void *)(sums + (size_t)(1 + nz) * (size_t)(2 + nz) / 2);
}
static inline size_t cell_sum_at(int row, int column)
{
    return (size_t)row * (size_t)(row + 1) / 2 + (size_t)column;
}

/* Cell c for resistivities m [columns][nz]: sums [cell_sums()], response [pairs of the
 * cell][nfreq]. The bits depend on m and the survey alone. EK_USAGE: a pair that cannot be
 * computed, with its line; EK_UNAVAILABLE. pool: the unit's threads, or NULL. */
enum ek_status cell_compute(struct cell_work *work, struct thread_pool *pool, const double *m,
                            int c, double *sums, double complex *response,
                            struct cell_report *report);

/* cell_compute() will be called for these cells [n], in this order, with this m: a device begins
 * with them, many cells together, since one cell's pairs are too few for it, and stays ahead. All
 * three and the pool borrowed until the last of them, or the next such call. Errors as above. */
enum ek_status cell_begin(struct cell_work *work, struct thread_pool *pool, const double *m,
                          const int *cell, size_t n);

/* Largest difference of a pair's response [nfreq] from exact mode with the finest filters, relative
 * to max(|field|, floor). EK_USAGE, EK_UNAVAILABLE as above. */
enum ek_status cell_check(const struct survey *survey, const struct earth *earth,
                          const struct cell_options *options, size_t pair,
                          const double complex *response, double *difference);
