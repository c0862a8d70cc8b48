/* okada_mogi/grid.h – one source's part of a job's grid, laid out for responses.
 *
 * A source's trials are  geometry x direction x amplitude,  geometry = outer x inner:
 *
 *   outer   the slow geometry axes, walked place by place; their values are the same in all lanes
 *   inner   the fast geometry axes, all their places in one list without those that the
 *           constraints forbid; its values lie side by side, so that lanes are loads
 *   direction  weights of the basis responses
 *
 * Values (numbers that respond() takes) are computed once for each place of each axis. A grid is
 * only read after grid_open(); a walk belongs to one thread. */
#pragma once

#include "okada_mogi/job.h"
#include "src/arena.h"

struct grid_axis {
    int axis;      /* number in the job */
    int first, n;  /* its values are numbers first .. first + n - 1 of the model's */
    double *table; /* [places][n] */
};

struct grid {
    struct arena arena; /* of what follows */
    const struct job *job;
    const struct model *model;
    int source;
    int naxes, nouter; /* geometry axes, slowest first; the outer ones */
    struct grid_axis axis[MODEL_PARAMETERS];
    trial_number outer;          /* places of the outer axes */
    long inner;                  /* places of the inner axes */
    long nallowed;               /* of them are allowed: */
    long *place;                 /* [nallowed] ascending */
    double *value[MODEL_VALUES]; /* [nallowed, and MODEL_LANES more] inner ones, or NULL */
    long ndirections, namplitude,
        linear;        /* linear = ndirections * namplitude: trials of a geometry */
    double *weight;    /* [ndirections][nbasis] */
    double *direction; /* [ndirections][nparameters] parameters that direction, else 0 */
    trial_number
        *direction_offset; /* [ndirections] trials from a geometry's first to this direction's */
    trial_number amplitude_step; /* trials from one amplitude to the next */
    struct trial_axis amplitude; /* 1 of 1 where the model has none */
    trial_number trials;         /* of this source */
    trial_number step;           /* trials of the job from one of them to the next */
};

/* A job's order of axes fits when each source's axes stand together and its linear ones last. */
bool grid_fits(const struct job *job);

/* Bytes that the grids of a job take at most, all sources together. */
size_t grid_bytes(const struct job *job);

/* EK_UNAVAILABLE: out of memory. close accepts what was never opened, zeroed. */
enum ek_status grid_open(const struct job *job, int source, struct grid *g);
void grid_close(struct grid *g);

/* Amplitude number a. */
double grid_amplitude(const struct grid *g, long a);
/* Number, among the source's trials, of the trial at amplitude a, direction m of a geometry. */
trial_number grid_trial(const struct grid *g, trial_number outer, long allowed, long m, long a);

/* First of n ascending places that is not before `place`; n: there is none. */
long grid_from(const long *places, long n, trial_number place);
/* Entry of the inner list with this inner place; -1: it is not allowed. */
long grid_entry(const struct grid *g, long place);

/* A walk over the outer places. */
struct grid_walk {
    const struct grid *grid;
    bool begun, allowed;
    long place[MODEL_PARAMETERS];                                 /* of the outer axes */
    double x[MODEL_PARAMETERS];                                   /* outer parameters, else 0 */
    _Alignas(MODEL_ALIGN) double lane[MODEL_VALUES][MODEL_LANES]; /* outer values in all lanes */
};

void grid_walk_begin(struct grid_walk *w, const struct grid *g);
/* Goes to an outer place; false: the constraints forbid everything there. */
bool grid_walk_to(struct grid_walk *w, trial_number outer);
/* Values of the inner list's entries i .. i + MODEL_LANES - 1, [model's values], for respond().
 * Lanes beyond the list repeat its last entry. */
void grid_walk_values(const struct grid_walk *w, long i, const double *value[MODEL_VALUES]);
/* Values of entry i alone, [model's values]. */
void grid_walk_one(const struct grid_walk *w, long i, double *value);
/* Parameters of entry i with direction m and amplitude a. */
void grid_walk_parameters(const struct grid_walk *w, long i, long m, long a, double *x);

/* The job's constraints on this source alone that neither list nor walk knows of already hold. */
bool grid_late_allows(const struct grid *g, const double *x);
