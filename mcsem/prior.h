/* mcsem/prior.h – what is wanted of a model besides that it explains the data: that it is smooth,
 * or as smooth as a reference, close to it, within bounds, as given in some cells.
 *
 *   sum over kinds of mu |R (m - reference)|^2,   low <= m <= high
 *
 * Each row of R is a difference of two or three unknowns, or one alone. Vertical smoothness may go
 * on below the last layer, where the reference is taken for true, or, where none is given, the
 * median of all layers (prior_settle()); it ends at horizons: interfaces that are known, from which
 * each column takes the nearest one of its own. */
#pragma once

#include "mcsem/earth.h"

enum prior_kind {
    PRIOR_VERTICAL, /* layers, one below the other: first or second differences */
    PRIOR_LATERAL,  /* columns side by side, in the same layer */
    PRIOR_PULL,     /* each unknown by itself: towards the reference */
    PRIOR_RATIO,    /* rho_v against rho_h, where both are unknown */
    PRIOR_KINDS
};

struct prior_weights {
    double of[PRIOR_KINDS]; /* mu */
};

struct prior_options {
    int differences;         /* vertical ones: first or second */
    int tied;                /* vertical smoothness goes on below the last layer */
    int transform;           /* bounds that a step comes close to, but does not meet */
    double rho_min, rho_max; /* ohm m */
    const char *reference;   /* a model (read_model.h), NULL: uniform */
    const char *horizons;    /* "500,floor.xyz": m below the sea floor, tables x, y, depth */
    const char *controls;    /* a table: column, layer, fixed, rho_min, rho_max, reference_ohmm */
};

struct prior_row {
    enum prior_kind kind;
    int n, at[3]; /* unknowns */
    double factor[3];
    double floats; /* what the median is taken times, 0 where references are given */
};

struct prior {
    bool transform;
    int nz;               /* of each column's horizontal resistivities, */
    size_t own, n, nrows; /* unknowns of a column, of all */
    struct prior_row *row;
    double *reference, *low, *high; /* [n] ln ohm m */
    double median;                  /* the same, of the model that was settled last */
    double *sorted;                 /* [n] for it */
    bool *fixed, *given;            /* [n]; given: a reference by the user */
    struct arena arena;
};

/* For an earth's grid. EK_USAGE: a file that says nothing of this grid, bounds that cross;
 * EK_UNAVAILABLE: memory. close accepts NULL. */
enum ek_status prior_open(const struct earth *earth, const struct prior_options *options,
                          struct prior **prior);
void prior_close(struct prior *prior);

/* From now on this model's median stands where no reference is given below the last layer: an
 * objective's values compare until the next call only. */
void prior_settle(struct prior *prior, const double *m);

/* A row's R (m - reference); the sum of the squares of all of a kind. */
double prior_row_value(const struct prior *prior, const struct prior_row *row, const double *m);
double prior_square(const struct prior *prior, enum prior_kind kind, const double *m);

/* What is left within the bounds of a change `step` of unknown i, which is m: 0 where it is fixed.
 * By the transform, of x = ln((m - low) / (high - m)). */
double prior_change(const struct prior *prior, size_t i, double m, double step);
