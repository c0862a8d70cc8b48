/* okada_mogi/join_table.h – all trials of one source, to be looked up by their predictions.
 *
 * Predictions are in standard deviations, one column for each observed component, the most
 * selective first. Rows are sorted into cells by columns 0 and 1, within a cell by column 2.
 * Columns are in single precision, which suffices to exclude rows. */
#pragma once

#include "okada_mogi/grid.h"

/* Observed components in the order of their columns. */
struct join_columns {
    struct arena arena;
    int n;
    int *at;          /* [n] 3 * station + component */
    double *observed; /* [n] in standard deviations */
    double *sigma;    /* [n] m */
    double *slack;    /* [n] judge_slack() in standard deviations */
};

enum ek_status join_columns_open(const struct job *job, struct join_columns *c);
void join_columns_close(struct join_columns *c);

/* Exchanges columns swap[i] and i, one pair after another. */
void join_columns_swap(struct join_columns *c, const int *swap, int nswaps);

enum { JOIN_LANES = 8, JOIN_CELLS = 512 }; /* rows per vector; most cells along a column */

/* The trial of a row: index of its geometry; direction * namplitude + amplitude. */
struct join_row {
    unsigned geometry, linear;
};

struct join_table {
    struct arena arena; /* of what follows */
    const struct grid *grid;
    const struct join_columns *columns;
    long ngeometries, nrows, room;
    trial_number *outer; /* [ngeometries] outer place */
    long *entry;         /* [ngeometries] entry of the grid's inner list */
    double *basis;       /* [ngeometries][judge_basis_size()] */
    struct join_row *row;
    float *v;                  /* [columns][room] */
    double first[2], width[2]; /* of the cells along columns 0 and 1 */
    int ncells[2];
    long *cell; /* [ncells[0] * ncells[1] + 1] first row of each cell */
};

/* Upper bound on the rows of outer places begin .. end - 1. */
double join_table_rows(const struct grid *g, trial_number begin, trial_number end);
/* Upper bound on their bytes while the table is made. */
double join_table_bytes(const struct grid *g, trial_number begin, trial_number end);

/* Builds the table of the trials at outer places begin .. end - 1 that the source's own constraints
 * allow; cells are about `reach` standard deviations wide. Adds to *evaluations. EK_UNAVAILABLE:
 * out of memory. close accepts a zeroed one. */
enum ek_status join_table_open(const struct grid *g, const struct join_columns *columns,
                               trial_number begin, trial_number end, double reach,
                               struct join_table *t, double *evaluations);
void join_table_close(struct join_table *t);

/* Calls found(arg, row) for every row all of whose columns are within `reach` of the target r
 * [columns] (in standard deviations), and perhaps for a few just outside. window: scratch
 * [2 * columns]. Any thread. */
enum ek_status join_table_find(const struct join_table *t, const double *r, double reach,
                               float *window,
                               enum ek_status (*found)(void *arg, const struct join_row *row),
                               void *arg);
