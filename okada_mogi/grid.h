/* okada_mogi/grid.h – part of a job's grid, laid out for computing responses in lanes: the geometry
 * axes of one source, or all axes of all sources.
 *
 * A source's trials are  geometry x direction x amplitude; a grid's places are  outer x inner:
 *
 *   outer   the slow axes, walked place by place; their numbers are the same in all lanes
 *   inner   the fast axes: a list of the places that the constraints allow; its numbers are
 *           contiguous, so that lanes can be loaded directly
 *
 * The numbers of a source are the values that respond() takes, followed (if the grid has all axes)
 * by the weights of the basis responses and the amplitude. Values are computed once for each place
 * of each axis, weights once for each list entry or outer place. A grid is read-only after
 * grid_open(); a walk belongs to one thread. */
#pragma once

#include "okada_mogi/job.h"

enum { GRID_ALL = -1, GRID_NUMBERS = MODEL_VALUES + MODEL_BASES + 1 };

struct grid_axis {
    int axis;      /* index in the job */
    int first, n;  /* it sets numbers first .. first + n - 1 of its source */
    double *table; /* [places][n]; NULL: a direction: weights depend on all directions together */
};

/* A constraint on one source of the grid, or on a pair. */
struct grid_condition {
    const struct job_constraint *what;
    int a, b; /* sources of the grid; b = -1: about one only */
    enum grid_moment { GRID_OUTER, GRID_INNER, GRID_LATE } when; /* when it can be decided */
};

struct grid {
    struct arena arena; /* of what follows */
    const struct job *job;
    const struct model *model;
    int source, nsources; /* first source (index in the job), number of sources */
    int nnumbers;         /* numbers of a source */
    int naxes, nouter;    /* axes 0 .. nouter - 1 are the outer ones; slowest first */
    struct grid_axis axis[JOB_AXES];
    int nconditions;
    struct grid_condition *condition;
    trial_number outer;                      /* places of the outer axes */
    long inner;                              /* places of the inner axes */
    long nallowed;                           /* number of inner places that are allowed */
    long *place;                             /* [nallowed] those places, ascending */
    double *list[JOB_SOURCES][GRID_NUMBERS]; /* [nallowed + MODEL_LANES]; NULL: an outer number */
    /* In the grid of one source's geometry; else 1 each. */
    long ndirections, namplitude, linear; /* linear = ndirections * namplitude: trials of a place */
    double *weight;                       /* [ndirections][nbasis] */
    double *direction; /* [ndirections][nparameters] the direction parameters, 0 elsewhere */
    trial_number *direction_offset; /* [ndirections] trials from a geometry's first to the first of
                                       this direction */
    trial_number amplitude_step;    /* trials from one amplitude to the next */
    struct trial_axis amplitude;    /* the single value 1 if the model has none */
    trial_number step; /* trials of the job from one trial of this source to its next */
};

/* Whether the short cuts apply to a job's order of axes: each source's axes stand together, its
 * directions and amplitude last. */
bool grid_fits(const struct job *job);

/* Upper bound on the bytes of a job's grids, all sources together. */
size_t grid_bytes(const struct job *job);

/* Opens the grid of one source's geometry, or of all axes (GRID_ALL). EK_UNAVAILABLE: out of
 * memory. close accepts a zeroed one. */
enum ek_status grid_open(const struct job *job, int source, struct grid *g);
void grid_close(struct grid *g);

/* Value of amplitude a; how far limits of amplitudes are widened for rounding. */
double grid_amplitude(const struct grid *g, long a);
double grid_amplitude_slack(const struct grid *g);
/* Index, among the source's trials, of the trial with direction m and amplitude a of the geometry
 * at an outer place and entry `allowed` of the inner list. */
trial_number grid_trial(const struct grid *g, trial_number outer, long allowed, long m, long a);

/* Entry of the inner list with this inner place; -1: the constraints forbid it. */
long grid_entry(const struct grid *g, long place);

/* A walk over the outer places; one thread's. */
struct grid_walk {
    const struct grid *grid;
    bool begun;
    long place[JOB_AXES]; /* of the outer axes */
    double x[JOB_AXES];   /* [source][parameter] outer parameters, 0 elsewhere */
    _Alignas(MODEL_ALIGN) double lane[JOB_SOURCES][GRID_NUMBERS][MODEL_LANES]; /* outer numbers */
};

void grid_walk_begin(struct grid_walk *w, const struct grid *g);
/* Moves to an outer place; false: the constraints forbid everything there. */
bool grid_walk_to(struct grid_walk *w, trial_number outer);
/* Visits a range of the grid's trials: calls block(arg) for every n <= MODEL_LANES entries of the
 * inner list, beginning with entry `first`, at each outer place. Stops at the first failure. */
enum ek_status grid_walk_over(struct grid_walk *w, struct trial_range range,
                              enum ek_status (*block)(void *arg, trial_number outer, long first,
                                                      long n),
                              void *arg);
/* A source's numbers at entries i .. i + MODEL_LANES - 1 of the inner list; the first are the
 * values, as respond() takes them. Lanes beyond the list repeat its last entry. */
void grid_walk_numbers(const struct grid_walk *w, int source, long i,
                       const double *number[GRID_NUMBERS]);
/* Grid of one source: the values [model_values()] of entry i alone. */
void grid_walk_one(const struct grid_walk *w, long i, double *value);
/* Grid of one source: its parameters x at entry i with direction m and amplitude a. */
void grid_walk_parameters(const struct grid_walk *w, long i, long m, long a, double *x);

/* Whether x meets those constraints on this source that neither list nor walk has decided. */
bool grid_late_allows(const struct grid *g, const double *x);
/* Whether there are no such constraints. */
bool grid_decides(const struct grid *g);
