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

/* A cell whose pairs the device computes together with others'. */
struct cell_ahead {
    int cell;     /* -1: none any more */
    size_t first; /* its pairs' place in `brought` */
};

/* Cells of one call of the device. */
struct cell_call {
    int shares;
    struct device_share *share; /* [DEVICE_SHARES], whose pairs … */
    struct survey_pair *seen;   /* … [batch] stand here */
    double complex *brought;    /* [batch][nfreq][1 + layers] */
    struct cell_ahead ahead[DEVICE_SHARES];
};

/* Filter for pairs that are too few for a trial; samples of a cell, in trials. */
enum { CELL_FEW_FILTER = 4, CELL_SAMPLES = 6 };

struct cell_work {
    const struct survey *survey;
    const struct earth *earth;
    struct cell_options options;
    int width, columns;
    struct cell_worker *worker; /* [width] */
    struct shared *shared;
    struct device *device;         /* NULL: pairs in exact mode are the workers' */
    struct cell_call call[2];      /* those computed, those under way, by turns: */
    struct cell_call *done, *next; /* (done: NULL before the first) */
    double complex *sum;           /* [block][nfreq][1 + layers] for a block alone */
    struct device_share *trial;    /* [DEVICE_SHARES] filters tried, of … */
    struct survey_pair *tried;     /* … [DEVICE_SHARES][CELL_SAMPLES] */
    const double complex *has;     /* of the cell at hand, in `brought`, or NULL */
    size_t batch, block;           /* pairs that the device takes, and of a block, at most */
    struct survey_pair *pair;      /* [pairs of the largest cell] as the cell sees them */
    struct earth_layers layers;
    double *rows, *square; /* [block] rows; [columns][columns] */
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

static inline size_t cell_pairs(const struct cell_work *w)
{
    return w->survey->first[w->cell + 1] - w->survey->first[w->cell];
}

static inline double cell_floor(const struct cell_options *o, const struct survey_pair *p)
{
    return p->magnetic ? o->floor / CELL_IMPEDANCE : o->floor;
}

/* A pair's row, in exact mode; `k`: the calling thread's. As forward_pair(). */
enum ek_status cell_fill_exactly(const struct cell_work *w, struct cell_worker *k, size_t pair,
                                 int filter, double *row);

/* ---- cell_choose.c: how a cell is computed ---- */

/* How many pairs (they are sorted by offset) a table cannot follow: close to the source fields
 * change with depth faster than that. */
size_t cell_count_near(const struct cell_work *w);
/* The filter for pairs in exact mode, 0 .. w->near-1. */
enum ek_status cell_choose_filter(struct cell_work *w, struct cell_report *report);
/* The same for each share of the call, by the device. */
enum ek_status cell_choose_filters(struct cell_work *w, struct cell_call *call);
/* The coarsest table that is good enough for the others; none: report->density = -1. */
enum ek_status cell_choose_density(struct cell_work *w, struct thread_pool *pool,
                                   struct cell_report *report);
/* Whether so little is left of a pair's field, whose row the table gave, that the table's error may
 * be too much of it: then exact mode must compute it. `k`: the calling thread's. */
bool cell_cancels(const struct cell_work *w, struct cell_worker *k, size_t pair, const double *row);
