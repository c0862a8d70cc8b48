/* mcsem/cell_work.h – what the parts of a cell's computation know of one another. */
#pragma once

#include "mcsem/cell.h"
#include "mcsem/device.h"
#include "mcsem/shared.h"
#include "src/arena.h"

/* What a thread of the unit has for itself. */
struct cell_worker {
    struct forward *forward;
    double complex *field, *derivative; /* [nfreq], [nfreq][layers] */
    double *parts, *left;               /* [nfreq] as shared_parts() */
    size_t exact;                       /* pairs of the cell that the table could not serve */
    enum ek_status status;              /* of the last phase */
};

/* Cells whose pairs the device computes together, and behind them samples of cells that come later,
 * by several filters. */
struct cell_call {
    int cells, shares;          /* cells: the first shares are theirs */
    struct device_share *share; /* [DEVICE_SHARES] */
    int *cell;                  /* [DEVICE_SQUARES] */
    size_t end;                 /* of the list: the next call's cells begin there */
    size_t pairs;               /* of the cells */
    struct survey_pair *seen;   /* [batch] these, in the share's order */
    struct survey_pair *tried; /* [DEVICE_SQUARES][CELL_SAMPLES] samples of this call's cells … */
    bool known;                /* … that have been tried: the shares have their filters */
    double complex *field;     /* [2 batch][nfreq] of the shares */
    double *miss;              /* [batch][nfreq] squares of residuals */
    struct device_weight *weight; /* [batch][nfreq] */
    double *triangle;             /* [DEVICE_SQUARES][columns (columns + 1) / 2] */
};

/* Calls from the one whose cells are taken up to the one whose samples are next. */
enum { CELL_AHEAD = 2, CELL_CALLS = 2 * CELL_AHEAD + 1 };

/* Filter for pairs that are too few for a trial; samples of a cell, filters that they are tried by:
 * if these do not agree, it is the finest one. */
enum { CELL_FEW_FILTER = 4, CELL_SAMPLES = 6, CELL_TRIALS = HANKEL_FILTERS - 1 };
_Static_assert((CELL_TRIALS + 1) * DEVICE_SQUARES <= DEVICE_SHARES, "a call's cells and trials");

struct cell_work {
    const struct survey *survey;
    const struct earth *earth;
    struct cell_options options;
    int width, columns;
    struct cell_worker *worker; /* [width] */
    struct shared *shared;
    struct device *device;    /* NULL: pairs in exact mode are the workers' */
    struct cell_call *call;   /* [CELL_CALLS] by turns */
    struct thread_pool *pool; /* that feeds the device */
    int turn;                 /* number of the call whose cells are taken up, from -CELL_AHEAD */
    const double *m;          /* of the cells [ncells] that are listed, of which … */
    const int *list;          /* … the first `taken` are done, */
    size_t listed, taken;
    double complex *sum;      /* [block][nfreq][1 + layers] for a block alone */
    size_t batch, block;      /* pairs that the device takes, and of a block, at most */
    struct survey_pair *pair; /* [pairs of the largest cell] as the cell sees them */
    struct earth_layers layers;
    double *rows, *square; /* [block] rows; [columns][columns] */
    double *miss;          /* [pairs of the largest cell][nfreq] squares of residuals */
    /* the block at hand */
    int cell;
    size_t first, n; /* pairs of the cell */
    size_t near;     /* pairs 0 .. near-1 are computed in exact mode */
    int filter;      /* of these */
    double error;    /* of the table, relative to the parts of a field, where that was seen */
    double complex *response;
    struct arena arena;
};

static inline size_t cell_row_size(const struct cell_work *w)
{
    return (size_t)w->survey->nfreq * 2 * (size_t)w->columns;
}

static inline double *cell_row(const struct cell_work *w, size_t i)
{
    return w->rows + i * cell_row_size(w);
}

/* Pairs of the survey's largest cell. */
size_t cell_largest(const struct survey *survey);

static inline size_t cell_pairs(const struct cell_work *w)
{
    return w->survey->first[w->cell + 1] - w->survey->first[w->cell];
}

/* The pair's datum at frequency q. */
static inline const struct survey_datum *cell_datum(const struct survey *s, size_t pair, int q)
{
    return &s->datum[pair * (size_t)s->nfreq + (size_t)q];
}

static inline double cell_floor(const struct cell_options *o, const struct survey_pair *p)
{
    return p->magnetic ? o->floor / CELL_IMPEDANCE : o->floor;
}

/* A pair's row, in exact mode; `k`: the calling thread's. As forward_pair(). */
enum ek_status cell_fill_exactly(const struct cell_work *w, struct cell_worker *k, size_t pair,
                                 int filter, double *row);

/* How a pair of the survey counts for its field at frequency q: but for `turn`; the square of its
 * residual. */
double cell_weigh(const struct cell_work *w, size_t pair, int q, double complex field,
                  struct device_weight *weight);
/* The cell at hand is c: its layers, its pairs, how many of them no table may serve. */
void cell_go_to(struct cell_work *w, const double *m, int c);

/* ---- cell_ahead.c: what the device does for cells to come ---- */

enum ek_status cell_ahead_open(struct cell_work *w, struct backend *device, int layers);
/* The next cell of the list is about to be computed; share *k of *call then has its pairs (NULL:
 * the device has none of them). */
enum ek_status cell_ahead_next(struct cell_work *w, int cell, const struct cell_call **call,
                               int *k);

/* ---- cell_choose.c: how a cell is computed ---- */

/* How many pairs (they are sorted by offset) a table cannot follow: close to the source fields
 * change with depth faster than that. */
size_t cell_count_near(const struct cell_work *w);
/* The filter for pairs in exact mode, 0 .. w->near-1. */
enum ek_status cell_choose_filter(struct cell_work *w, struct cell_report *report);
/* The same by a device: samples of the call's cells, by every filter that may do, become shares of
 * another call; and the filters follow from their fields. */
int cell_add_trials(struct cell_call *call, struct device_share *share);
void cell_judge_trials(struct cell_work *w, struct cell_call *call,
                       const struct device_share *trial, const double complex *field);
/* The coarsest table that is good enough for the others; none: report->density = -1. */
enum ek_status cell_choose_density(struct cell_work *w, struct thread_pool *pool,
                                   struct cell_report *report);
/* Where it can be told beforehand that there will be none: w->near are all pairs. */
enum ek_status cell_reject_table(struct cell_work *w);
/* Whether so little is left of a pair's field, whose row the table gave, that the table's error may
 * be too much of it: then exact mode must compute it. `k`: the calling thread's. */
bool cell_cancels(const struct cell_work *w, struct cell_worker *k, size_t pair, const double *row);
