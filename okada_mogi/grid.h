/* okada_mogi/grid.h – a part of a job's grid, laid out for responses: the geometry of one source,
 * or all axes of all sources.
 *
 * A source's trials are  geometry x direction x amplitude; a grid's places are  outer x inner:
 *
 *   outer   the slow axes, walked place by place; their numbers are the same in all lanes
 *   inner   the fast axes, all their places in one list without those that the constraints forbid;
 *           its numbers lie side by side, so that lanes are loads
 *
 * Numbers of a source are the values that respond() takes; where all axes are in the grid, behind
 * them the weights of the basis responses and the amplitude. They are computed once for each place
 * of each axis, weights once for each entry of the list or outer place. A grid is only read after
 * grid_open(); a walk belongs to one thread. */
#pragma once

#include "okada_mogi/job.h"
#include "src/arena.h"

enum { GRID_ALL = -1, GRID_NUMBERS = MODEL_VALUES + MODEL_BASES + 1 };

struct grid_axis {
    int axis;      /* number in the job */
    int first, n;  /* its numbers are first .. first + n - 1 of its source's */
    double *table; /* [places][n]; NULL: a direction, which has weights with others only */
};

/* A constraint on a source, or on a pair, of the grid. */
struct grid_condition {
    const struct job_constraint *what;
    int a, b; /* the grid's sources; b = -1: one only */
    enum grid_moment { GRID_OUTER, GRID_INNER, GRID_LATE } when; /* it can be decided */
};

struct grid {
    struct arena arena; /* of what follows */
    const struct job *job;
    const struct model *model;
    int source, nsources; /* the first, in the job */
    int nnumbers;         /* of a source */
    int naxes, nouter;    /* slowest first; the outer ones */
    struct grid_axis axis[JOB_AXES];
    int nconditions;
    struct grid_condition *condition;
    trial_number outer;                      /* places of the outer axes */
    long inner;                              /* places of the inner axes */
    long nallowed;                           /* of them are allowed: */
    long *place;                             /* [nallowed] ascending */
    double *list[JOB_SOURCES][GRID_NUMBERS]; /* [nallowed, and MODEL_LANES more], NULL: outer */
    /* Of one source's geometry; else 1 of each. */
    long ndirections, namplitude, linear; /* linear = ndirections * namplitude: trials of a place */
    double *weight;                       /* [ndirections][nbasis] */
    double *direction; /* [ndirections][nparameters] parameters that direction, else 0 */
    trial_number
        *direction_offset; /* [ndirections] trials from a geometry's first to this direction's */
    trial_number amplitude_step; /* trials from one amplitude to the next */
    struct trial_axis amplitude; /* 1 of 1 where the model has none */
    trial_number step;           /* trials of the job from one of this source to the next */
};

/* A job's order of axes fits when each source's axes stand together and its linear ones last. */
bool grid_fits(const struct job *job);

/* Bytes that the grids of a job take at most, all sources together. */
size_t grid_bytes(const struct job *job);

/* Of the geometry of a source, or GRID_ALL. EK_UNAVAILABLE: out of memory. close accepts what was
 * never opened, zeroed. */
enum ek_status grid_open(const struct job *job, int source, struct grid *g);
void grid_close(struct grid *g);

/* Amplitude number a. */
double grid_amplitude(const struct grid *g, long a);
/* Number, among the source's trials, of the trial at amplitude a, direction m of a geometry. */
trial_number grid_trial(const struct grid *g, trial_number outer, long allowed, long m, long a);

/* Entry of the inner list with this inner place; -1: it is not allowed. */
long grid_entry(const struct grid *g, long place);

/* A walk over the outer places. */
struct grid_walk {
    const struct grid *grid;
    bool begun;
    long place[JOB_AXES]; /* of the outer axes */
    double x[JOB_AXES];   /* [source][parameter] outer parameters, else 0 */
    _Alignas(MODEL_ALIGN) double lane[JOB_SOURCES][GRID_NUMBERS][MODEL_LANES]; /* outer numbers */
};

void grid_walk_begin(struct grid_walk *w, const struct grid *g);
/* Goes to an outer place; false: the constraints forbid everything there. */
bool grid_walk_to(struct grid_walk *w, trial_number outer);
/* Goes over a range of the grid's trials: block(arg) gets n <= MODEL_LANES entries of the inner
 * list from number `first` on, of an outer place. Stops where that fails. */
enum ek_status grid_walk_over(struct grid_walk *w, struct trial_range range,
                              enum ek_status (*block)(void *arg, trial_number outer, long first,
                                                      long n),
                              void *arg);
/* A source's numbers of the inner list's entries i .. i + MODEL_LANES - 1; values are the first, as
 * respond() takes them. Lanes beyond the list repeat its last entry. */
void grid_walk_numbers(const struct grid_walk *w, int source, long i,
                       const double *number[GRID_NUMBERS]);
/* Of one source's geometry: values of entry i alone, [model's values]. */
void grid_walk_one(const struct grid_walk *w, long i, double *value);
/* Parameters of entry i with direction m and amplitude a. */
void grid_walk_parameters(const struct grid_walk *w, long i, long m, long a, double *x);

/* The job's constraints on this source alone that neither list nor walk knows of already hold. */
bool grid_late_allows(const struct grid *g, const double *x);
/* There are none of these. */
bool grid_decides(const struct grid *g);
