/* mcsem/prior.h – prior wishes for a model: smooth, or as smooth as a reference; close to the
 * reference; within bounds; fixed in some cells.
 *
 *   sum over kinds of mu |R (m - reference)|^2,   low <= m <= high
 *
 * Each row of R is a difference of two or three unknowns, or a single one. Vertical smoothness may
 * continue below the last layer, where the earth is assumed to equal the reference or, without one,
 * the median of all layers (prior_update_median()). It is interrupted at horizons: known
 * interfaces, which each column rounds to the nearest of its own. */
#pragma once

#include "mcsem/earth.h"

enum prior_kind {
    PRIOR_VERTICAL, /* between vertical neighbours: first or second differences */
    PRIOR_LATERAL,  /* between adjacent columns, in the same layer */
    PRIOR_PULL,     /* each unknown alone: towards the reference */
    PRIOR_RATIO,    /* rho_v relative to rho_h, where both are unknown */
    PRIOR_KINDS
};

struct prior_weights {
    double of[PRIOR_KINDS]; /* mu */
};

struct prior_options {
    int differences;         /* order of the vertical differences, 1 or 2 */
    int tied;                /* vertical smoothness continues below the last layer */
    int transform;           /* steps approach the bounds without reaching them */
    double rho_min, rho_max; /* ohm m */
    const char *reference;   /* a model (read_model.h), NULL: uniform */
    const char *horizons;    /* "500,floor.xyz": m below the sea floor, tables x, y, depth */
    const char *controls;    /* a table: column, layer, fixed, rho_min, rho_max, reference_ohmm */
};

struct prior_row {
    enum prior_kind kind;
    int n, at[3]; /* unknowns */
    double factor[3];
    double median_factor; /* factor of the median, 0 where references are given */
};

struct prior {
    bool transform;
    int nz;               /* horizontal resistivities of a column */
    size_t own, n, nrows; /* unknowns of a column, of all columns */
    struct prior_row *row;
    double *reference, *low, *high; /* [n] ln ohm m */
    double median;                  /* ln ohm m, of the model passed to prior_update_median() */
    double *sorted;                 /* [n] scratch for the median */
    bool *fixed, *given;            /* [n]; given: the user gave a reference */
    struct arena arena;
};

/* For an earth's grid. EK_USAGE: a file that does not fit this grid, bounds that cross;
 * EK_UNAVAILABLE: memory. close accepts NULL. */
enum ek_status prior_open(const struct earth *earth, const struct prior_options *options,
                          struct prior **prior);
void prior_close(struct prior *prior);

/* Takes the median of this model as the reference below the last layer where none is given. Values
 * of the objective are comparable only between two calls. */
void prior_update_median(struct prior *prior, const double *m);

/* A row's R (m - reference); the sum of squares of all rows of a kind. */
double prior_row_value(const struct prior *prior, const struct prior_row *row, const double *m);
double prior_square(const struct prior *prior, enum prior_kind kind, const double *m);

/* The part of a change `step` of unknown i, now m, that stays within the bounds; 0 if it is fixed.
 * With the transform, `step` is converted to x = ln((m - low) / (high - m)). */
double prior_change(const struct prior *prior, size_t i, double m, double step);
