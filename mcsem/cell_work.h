/* mcsem/cell_work.h – internals shared by the cell*.c files. */
#pragma once

#include "mcsem/cell.h"
#include "mcsem/device.h"
#include "mcsem/shared.h"
#include "mcsem/tables.h"

/* Working memory of one thread. */
struct cell_worker {
    struct forward *forward;
    double complex *field, *derivative; /* [nfreq], [nfreq][layers] */
    double *parts, *size;               /* [nfreq] as shared_parts() */
    size_t exact;                       /* pairs of the cell that the table cannot serve */
    struct shared_needs needs;          /* of the pairs looked at: */
    bool unfit, full;      /* no table can serve one of them; no room for its elements */
    enum ek_status status; /* of this thread in the last phase */
};

/* Filter where there are too few pairs for trials; samples of a cell; filters tried on them (if
 * these disagree, the finest one is used). */
enum { CELL_FEW_FILTER = 4, CELL_SAMPLES = 6, CELL_TRIALS = HANKEL_FILTERS - 1 };

/* Pairs that a cell with a table on a device takes in a call beyond its own, at most: samples, once
 * in exact mode and once from the table, and what fills up groups. */
enum { CELL_ROUND = CELL_SAMPLES + 16 };

/* Numbers of sampled pairs. */
struct cell_samples {
    int n;
    size_t pair[CELL_SAMPLES];
};

/* A cell's table on the device: its pairs among those of all tables of the call (none: the host
 * makes the table, or there is none), and what comparing samples with exact mode tells. */
struct cell_table {
    struct device_span span;
    struct cell_samples sample; /* numbers in the span */
    double worth;               /* what a denser one may cost */
    bool good;                  /* dense enough; else the host goes on */
    double difference, error;   /* as in struct cell_report and struct cell_work */
    size_t cancelled;           /* pairs that exact mode has computed again */
};

/* One call of the device: the pairs of several cells, followed by those with which tables are to be
 * compared, by samples of later cells, each with several filters, and by the pairs that tables of
 * these cells serve. */
struct cell_call {
    int cells, shares;              /* the first `cells` shares are those of the cells */
    int checks;                     /* shares to compare tables with */
    size_t checked;                 /* their pairs */
    struct device_share *check;     /* [DEVICE_SQUARES] */
    size_t *check_at;               /* [DEVICE_SQUARES] a cell's first pair among them */
    struct survey_pair *check_pair; /* [DEVICE_SQUARES][CELL_SAMPLES] */
    double complex *exact;          /* the same, [nfreq][1 + layers]: field and derivatives */
    struct device_share *share;     /* [DEVICE_SHARES] */
    int *cell;                      /* [DEVICE_SQUARES] */
    size_t end;                     /* index in the list where the next call's cells begin */
    size_t pairs;                   /* pairs of all cells of this call */
    struct survey_pair *pair;       /* [batch] the cells' pairs, in the order of the shares */
    struct survey_pair *sample;     /* [DEVICE_SQUARES][CELL_SAMPLES] of this call's cells */
    bool has_trials; /* samples travel with an earlier call, so that the filters will be known */
    double complex *field; /* [2 batch][nfreq] fields of all shares */
    struct tables tables;
    struct cell_table *table;     /* [DEVICE_SQUARES] */
    size_t tabled;                /* index in `field` of the first pair that a table serves */
    double *parts;                /* [batch][nfreq][2] mcsem_device_parts() */
    double complex *interpolated; /* as `exact`, from the tables */
    unsigned char *cancels; /* [batch] whether the parts of a pair cancel, see cell_tables.c */
    double *squares;        /* [batch][nfreq] squared residuals; tables' pairs come last */
    struct device_weight *weight; /* [batch][nfreq] the same */
    double *triangle;             /* [DEVICE_SQUARES][columns (columns + 1) / 2] */
};

/* Calls in use, from the one whose cells are being consumed to the one whose samples come next. */
enum { CELL_AHEAD = 2, CELL_CALLS = 2 * CELL_AHEAD + 1 };

_Static_assert((CELL_TRIALS + 2) * DEVICE_SQUARES <= DEVICE_SHARES, "a call's shares");

struct cell_work {
    const struct survey *survey;
    const struct earth *earth;
    struct cell_options options;
    double compared; /* spread of the cells to compare with */
    int width, columns;
    struct cell_worker *worker; /* [width] */
    struct shared *shared;
    struct device *device;    /* NULL: the workers compute the pairs in exact mode */
    bool tables;              /* the device makes tables */
    struct cell_call *call;   /* [CELL_CALLS] a ring */
    struct thread_pool *pool; /* threads that feed the device */
    int turn;        /* number of the call whose cells are being consumed, from -CELL_AHEAD */
    const double *m; /* unknowns of the announced cells */
    const int *list; /* [nlist] the announced cells, of which the first ndone are done */
    size_t nlist, ndone;
    double complex *sum;       /* [block][nfreq][1 + layers] field and derivatives of one block */
    struct survey_pair *again; /* [batch] pairs to compute again, */
    struct device_share *again_share; /* [DEVICE_SQUARES] */
    double complex *again_field;      /* [batch][nfreq] */
    size_t batch, block;              /* largest number of pairs of a device call, and of a block */
    struct survey_pair
        *pair; /* [pairs of the largest cell] at their heights over this cell's seabed */
    struct earth_layers layers;
    double *rows, *square; /* [block] rows; [columns][columns] */
    double *squares;       /* [pairs of the largest cell][nfreq] squared residuals */
    double *parts;         /* the same: shared_parts() of the pairs that the table serves */
    /* the current block */
    int cell;
    size_t first, n; /* pairs of the block */
    size_t near;     /* pairs 0 .. near-1 of the cell are computed in exact mode */
    int filter;      /* filter of the pairs in exact mode */
    double error;    /* error of the table relative to the parts of a field, as seen in samples */
    double complex *response;
    struct arena arena;
};

static inline size_t cell_row_size(const struct cell_work *w)
{
    return (size_t)w->survey->nfreq * 2 * (size_t)w->columns;
}

/* Numbers of a pair's sums: the field and its derivatives at all frequencies. */
static inline size_t cell_numbers(const struct cell_work *w)
{
    return (size_t)w->survey->nfreq * (1 + (size_t)w->layers.n);
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

/* ---- cell_pair.c: a pair of a cell ---- */

/* Number of pairs of the largest cell. */
size_t cell_largest(const struct survey *survey);
/* The pair at its heights over the floor of column c. */
struct survey_pair cell_shift(const struct earth *e, int c, const struct survey_pair *pair);
/* Stores sums [nfreq][1 + layers] of a device as a row. */
void cell_put_sums(const struct cell_work *w, const double complex *sum, double *row);
/* Computes a pair's row in exact mode; `k` is the calling thread's worker. As forward_pair(). */
enum ek_status cell_fill_exactly(const struct cell_work *w, struct cell_worker *k, size_t pair,
                                 int filter, double *row);

/* Sets the weight (all but `loop`) of a pair's field at frequency q; returns the squared
 * residual. */
double cell_weigh(const struct cell_work *w, size_t pair, int q, double complex field,
                  struct device_weight *weight);

/* ---- cell_ahead.c: what the device computes ahead ---- */

enum ek_status cell_ahead_open(struct cell_work *w, struct backend *device, int layers);
/* To be called before the next announced cell is computed; then share *k of *call has its pairs
 * (*call is NULL if the device has none of them). */
enum ek_status cell_ahead_next(struct cell_work *w, int cell, const struct cell_call **call,
                               int *k);

/* ---- cell_tables.c: tables that the device makes ---- */

/* Gets ready for them, if there is memory. */
enum ek_status cell_tables_open(struct cell_work *w);
/* Pairs of the current cell in a call, at most; 0: the device makes no table for it. */
size_t cell_table_pairs(const struct cell_work *w);
/* Adds the current cell's table and pairs to the call, as its cell number c->cells; sets w->near to
 * all pairs as cell_reject_table(). *fits = false: no room. */
enum ek_status cell_table_add(struct cell_work *w, struct cell_call *c, bool *fits);
/* Judges the tables of a call in this slot, whose fields are there, and has the device compute
 * again what cancels. */
enum ek_status cell_tables_judge(struct cell_work *w, struct cell_call *c, int slot);

/* ---- cell_choose.c: how a cell is computed ---- */

/* Makes c the current cell: its layers, its pairs, and how many of them a table cannot serve,
 * being so close to the source that fields change too fast with depth. */
void cell_select(struct cell_work *w, const double *m, int c);
/* Chooses the filter for the pairs in exact mode, 0 .. w->near-1. */
enum ek_status cell_choose_filter(struct cell_work *w, struct cell_report *report);
/* The same on a device: add_trials appends samples of the call's cells, with every candidate
 * filter, as shares of another call and returns their number; judge_trials sets the filters from
 * their fields. */
int cell_add_trials(struct cell_call *call, struct device_share *share);
void cell_judge_trials(struct cell_work *w, struct cell_call *call,
                       const struct device_share *trial, const double complex *field);
/* The pairs of the current cell with which its table will be compared, as a share; share->n = 0:
 * there will be no table. */
void cell_add_samples(const struct cell_work *w, struct survey_pair *pair,
                      struct device_share *share);
/* Samples of pairs first .. last-1. */
struct cell_samples cell_choose_samples(const struct survey_pair *pair, size_t first, size_t last);
/* Largest difference of two rows, field or derivative, relative to `sizes` [nfreq] (NULL: the
 * second one's field), or to `floor` if that is larger. */
double cell_difference(const struct cell_work *w, const double *row, const double *exact,
                       const double *sizes, double floor);
/* Whether an error of the table relative to the parts of a field may exceed the tolerance after
 * these cancel. */
bool cell_error_dominates(const struct cell_work *w, double error, double parts, double size,
                          double floor);
/* How many of a table's pairs may need exact mode. */
size_t cell_few_others(size_t pairs, int density);
/* What a table may cost, in pairs of exact mode. */
double cell_worth(const struct cell_work *w);
/* Makes the coarsest table that is good enough for the other pairs; none: report->density = -1.
 * `exact`: the sums of cell_add_samples()'s pairs, or NULL: the unit's threads compute them.
 * `coarsest`: the device's table, which was not good enough, or NULL. */
enum ek_status cell_choose_density(struct cell_work *w, struct thread_pool *pool,
                                   const double complex *exact, const struct cell_table *coarsest,
                                   struct cell_report *report);
/* Sets w->near to all pairs if it is clear beforehand that there will be no table. */
enum ek_status cell_reject_table(struct cell_work *w);
/* Whether the parts of a pair's field, which the table gave as `row`, cancel so far that the
 * table's error may be too large; then exact mode must compute it. */
bool cell_cancels(const struct cell_work *w, size_t pair, const double *row);
