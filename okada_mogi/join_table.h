/* okada_mogi/join_table.h – all trials of one source by what they predict, to be found by it.
 *
 * Predictions are in standard deviations, one column for each observed component, the most
 * selective first. Rows are sorted into cells by columns 0 and 1, within a cell by column 2.
 * Columns are in single precision: they only say what cannot be meant. */
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

/* Columns swap[i] and i change their places, one after another. */
void join_columns_swap(struct join_columns *c, const int *swap, int nswaps);

enum { JOIN_LANES = 8, JOIN_CELLS = 512 }; /* rows in a vector; most cells along a column */

/* A trial of a row: entry of the geometries' list, direction, amplitude. */
struct join_row {
    unsigned geometry, linear;
};

struct join_table {
    struct arena arena; /* of what follows */
    const struct grid *grid;
    const struct join_columns *columns;
    long ngeometries, nrows, room;
    trial_number *outer; /* [ngeometries] place of each */
    long *entry;         /* [ngeometries] and entry of the inner list */
    double *basis;       /* [ngeometries][judge_basis_size()] */
    struct join_row *row;
    float *v;                  /* [columns][room] */
    double first[2], width[2]; /* of the cells along columns 0 and 1 */
    int ncells[2];
    long *cell; /* [ncells[0] * ncells[1] + 1] first row of each */
};

/* Rows that outer places begin .. end - 1 have at most. */
double join_table_rows(const struct grid *g, trial_number begin, trial_number end);
/* Bytes that they take at most while the table is made. */
double join_table_bytes(const struct grid *g, trial_number begin, trial_number end);

/* Builds the table of the trials at outer places begin .. end - 1 that the source's own constraints
 * allow; cells are about `reach` standard deviations wide. *evaluations += what was computed.
 * EK_UNAVAILABLE: out of memory. close accepts what was never opened, zeroed. */
enum ek_status join_table_open(const struct grid *g, const struct join_columns *columns,
                               trial_number begin, trial_number end, double reach,
                               struct join_table *t, double *evaluations);
void join_table_close(struct join_table *t);

/* Calls found(arg, row) for every row whose columns lie within reach of the target r [columns] (in
 * standard deviations), and perhaps for a few that are out by rounding. window: scratch,
 * [2 * columns]. Any thread. */
enum ek_status join_table_find(const struct join_table *t, const double *r, double reach,
                               float *window,
                               enum ek_status (*found)(void *arg, const struct join_row *row),
                               void *arg);
