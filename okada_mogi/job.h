/* okada_mogi/job.h – a search as stated by its job file.
 *
 * {"model": "okada", "sources": 1, "stations": "stations.csv",
 *  "accept": {"k_sigma": 2.0},
 *  "constraints": {"length_over_width": [1, 4], "expressions": "d_m > 0.3 * W_m"},
 *  "parameters": [{"name": "Ec_m", "min": 40000, "max": 67500, "n": 12}, …]}
 *
 * Trials are numbered by the parameters' order as in Eq. (4): the last one runs fastest. With
 * several sources names end in .1, .2, …. README.md lists all keys. */
#pragma once

#include "okada_mogi/expression.h"
#include "okada_mogi/model.h"
#include "okada_mogi/scenes.h"
#include "okada_mogi/stations.h"
#include "okada_mogi/trial.h"

#include <jansson.h>

enum { JOB_SOURCES = 8, JOB_AXES = JOB_SOURCES * MODEL_PARAMETERS, JOB_LEVELS = 32 };
/* Largest accept.best: these trials are held in memory, several times. */
enum { JOB_BEST = 250000 };

/* Measures of misfit; r = (predicted - observed) / sigma. */
enum job_misfit {
    JOB_MISFIT_MAX, /* max |r|: what k_sigma bounds */
    JOB_MISFIT_RMS, /* sqrt(sum r^2 / number of components) */
};

/* What makes a trial acceptable. NaN never is. */
struct job_accept {
    int nk;
    double k[JOB_LEVELS];   /* ascending: every |predicted - observed| <= k sigma; the search uses
                               the largest and reports the smallest that accepts anything */
    enum job_misfit misfit; /* measure of `below`, `best` and records */
    double below;           /* misfit < below; INFINITY: no bound */
    long best;              /* only this many, of least misfit; 0: all */
    bool all;               /* keep_all: every trial that meets the constraints, whatever k is */
};

/* A constraint of the model with its numbers, or an expression. */
struct job_constraint {
    const struct model *model;
    const struct model_constraint *what;
    double number[MODEL_NUMBERS + 1]; /* the last one is the rigidity */
    struct expression *expression;    /* NULL: the model's */
};

struct job {
    const struct model *model;
    int nsources;
    struct stations stations;
    struct scenes scenes; /* those with unknowns or a covariance */
    double rigidity;      /* Pa */
    int reference;        /* "reference" of a fault's coordinates; 0: centre */
    struct job_accept accept;
    int nconstraints;
    struct job_constraint *constraint; /* [nconstraints] of `room` */
    size_t room;
    /* The grid, in the file's order: axis a is parameter[a] of source[a]. */
    int naxes;
    struct trial_axis axis[JOB_AXES];
    int source[JOB_AXES], parameter[JOB_AXES];
    const char *name[JOB_AXES]; /* as in the file: "Es_m.1"; NULL: not in the file, default value */
    trial_number trials;
    struct trial_range wanted; /* all trials, unless the caller narrows it */
    const char *path;
    json_t *root;       /* as read */
    struct arena arena; /* of names, expressions, the path */
};

/* Reads and checks a job of this model (NULL: of any). Paths in it are relative to the job file's
 * folder. EK_USAGE with file and line: malformed JSON; unknown or missing keys, parameters and
 * constraints (with the nearest known name); min > max; n < 1; values out of the model's range;
 * more than 2^127 trials; bad stations. The caller owns *job. */
enum ek_status job_open(const char *path, const struct model *model, struct job **job);
/* The same from JSON; `path` is used in messages, and paths are relative to its folder. */
enum ek_status job_take(const char *path, json_t *root, const struct model *model,
                        struct job **job);
void job_close(struct job *job);

/* Index of an axis's parameter in x[nsources][nparameters]. */
int job_at(const struct job *job, int axis);
enum model_role job_role(const struct job *job, int axis);
/* Fills table [n][job_width()] for an axis: the numbers that respond() takes if it is geometry,
 * else the values themselves. */
int job_width(const struct job *job, int axis);
void job_tabulate(const struct job *job, int axis, double *table);

/* A checksum of everything that the results of a range depend on. */
uint64_t job_sum(const struct job *job, struct trial_range range);

/* Parameters x[nsources][nparameters] of a trial. */
void job_parameters(const struct job *job, trial_number trial, double *x);

/* Whether a largest residual is within k[level] standard deviations. Rounding excludes no residual
 * that is k sigma exactly in decimal numbers, such as 0.07 at k = 7 and sigma = 0.01. */
bool job_within(const struct job_accept *a, int level, double most);

/* Seismic moment of all sources together, N m, and its magnitude; NAN if the model has none. */
double job_moment(const struct job *job, const double *x);
double job_magnitude(const struct job *job, const double *x);

/* Whether the constraint is about source a (b = -1), or about the pair a, b < a. */
bool job_concerns(const struct job_constraint *c, int a, int b);
/* Whether it holds for these sources. */
bool job_holds(const struct job_constraint *c, const double *x, const double *other);
/* Whether all constraints hold for the sources x[nsources][nparameters]. */
bool job_allows(const struct job *job, const double *x);
