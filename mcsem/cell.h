/* mcsem/cell.h – the work on one cell: fields and derivatives of its pairs, reduced to the sums
 * that the inversion needs, J'W^2 J and J'W^2 r. The Jacobian is only ever stored for a block of
 * pairs.
 *
 * Seabed depths differ between columns; a pair keeps its instruments' own heights above the seabed
 * of its cell. Instruments on the seabed, or less than CELL_SUNK below it, are placed
 * CELL_CLEARANCE above it, in the sea. */
#pragma once

#include "backends/backend.h"
#include "cu/team/thread_pool.h"
#include "mcsem/misfit.h"

#define CELL_CLEARANCE 1e-8 /* m; changes fields by 1e-8 or so */
#define CELL_SUNK      0.1  /* m */

enum cell_mode { CELL_EXACT, CELL_SHARED };
extern const char *const cell_modes[]; /* names, then NULL */

struct cell_options {
    enum cell_mode mode;
    struct misfit_options misfit;
    double tolerance; /* largest error of shared mode, relative to max(|E|, floor) */
    double floor;     /* of E; the floor of H is floor / CELL_IMPEDANCE */
    bool always;      /* use tables even where they do not pay */
};
#define CELL_IMPEDANCE 1e-3 /* typical E / H, ohm */

/* How a cell was computed. */
struct cell_report {
    size_t exact;      /* pairs computed in exact mode */
    int filter;        /* their filter (hankel.h) */
    int density;       /* of the table for the other pairs (shared.h), -1: no table */
    double difference; /* largest difference of the two modes in the samples checked */
    bool ahead;        /* a device has made the table and served all pairs, with other cells' */
    double cpu_s;      /* of all threads of the unit; set by the caller of cell_compute() */
};

struct cell_work; /* working memory of one unit */

/* For all cells of a binned survey (borrowed, like the earth), on `width` threads. A device, if not
 * NULL, computes the pairs in exact mode, and the coarsest tables and their pairs, with the same
 * bits; with unknown vertical resistivities all pairs are computed in exact mode on the host. Call
 * on the unit's thread. EK_UNAVAILABLE. */
enum ek_status cell_open(const struct survey *survey, const struct earth *earth,
                         const struct cell_options *options, int width, struct backend *device,
                         struct cell_work **work);
void cell_close(struct cell_work *work);
/* Sets the spread of the robust loss for the cells that follow, and the spread of those with which
 * they are to be compared. */
void cell_set_spread(struct cell_work *work, double spread, double compared);

/* Doubles in a cell's sums: the lower triangle, row by row, of [r J]'W^2 [r J] with residuals r:
 * element 0 is |W r|^2, and row 1 + k begins with (J'W^2 r)_k. A robust loss adds its weights to
 * W^2, and the sum of losses replaces |W r|^2. MISFIT_BINS struct misfit_bin follow the triangle,
 * then the sum of losses with the spread to compare with. */
enum { CELL_STATISTICS = 2 * MISFIT_BINS + 1 };
size_t cell_sums(int nz);
static inline struct misfit_bin *cell_bins(double *sums, int nz)
{
    return (struct misfit_bin *)(void *)(sums + (size_t)(1 + nz) * (size_t)(2 + nz) / 2);
}
static inline size_t cell_sum_at(int row, int column)
{
    return (size_t)row * (size_t)(row + 1) / 2 + (size_t)column;
}

/* Computes cell c for the unknowns m [columns][nz]: sums [cell_sums()] and response [pairs of the
 * cell][nfreq]. The bits depend on m and the survey only. pool: the unit's threads, or NULL.
 * EK_USAGE: a pair that cannot be computed, with its line; EK_UNAVAILABLE. */
enum ek_status cell_compute(struct cell_work *work, struct thread_pool *pool, const double *m,
                            int c, double *sums, double complex *response,
                            struct cell_report *report);

/* Announces that cell_compute() will be called for these cells [n], in this order, with this m. One
 * cell's pairs are too few for a device, so it starts on many cells at once and stays ahead. The
 * three arrays and the pool are borrowed until the last cell is computed or the next cell_begin().
 * Errors as above. */
enum ek_status cell_begin(struct cell_work *work, struct thread_pool *pool, const double *m,
                          const int *cell, size_t n);

/* Largest difference of a pair's response [nfreq] from exact mode with the finest filters, relative
 * to max(|field|, floor). EK_USAGE, EK_UNAVAILABLE as above. */
enum ek_status cell_check(const struct survey *survey, const struct earth *earth,
                          const struct cell_options *options, size_t pair,
                          const double complex *response, double *difference);
