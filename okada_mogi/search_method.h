/* okada_mogi/search_method.h – what the methods of a search are made of; for search*.c only.
 *
 * A method is one file search_<name>.c with one const struct search_method_ops. */
#pragma once

#include "okada_mogi/judge.h"
#include "okada_mogi/search.h"

/* A point of the ground, in all lanes, and what is seen of it. */
struct search_point {
    int number, component; /* in the job; of what is along a vector: 0 */
    _Alignas(MODEL_ALIGN) double east[MODEL_LANES], north[MODEL_LANES], height[MODEL_LANES];
    double along[3], weight; /* the first component is weight * displacement along this vector */
};

enum { SEARCH_POINTS = 4 };

/* A station with what was observed there; missing components are left out. Or, of a scene with
 * unknowns, a contrast: a sum over several of its points in which the unknowns cancel. What stands
 * in a scene with unknowns is seen by its contrasts only. */
struct search_station {
    int npoints; /* 1: a station; 2: a difference; more: a contrast, which may have two, too */
    bool scalar, difference; /* it has one component, along vectors; of one datum of the job */
    struct search_point point[SEARCH_POINTS];
    int ncomponents, component[3];
    double observed[3], sigma[3];
    double rounding; /* of the judge's slack: sum of the points' |weight| */
};

/* Observed -+ reach sigma, and what rounding might add. */
struct search_window {
    double low[3], high[3];
};

struct search_method_ops {
    /* What is shared, into *shared; grain: see search_grain(). */
    enum ek_status (*open)(struct search *s, void **shared);
    void (*close)(void *shared);
    size_t (*bytes)(const struct job *job);
    double (*cost)(const struct search *s, struct trial_range range);
    /* A worker's own scratch, into *own. */
    enum ek_status (*worker_open)(const struct search *s, void **own);
    void (*worker_close)(void *own);
    enum ek_status (*run)(struct search_worker *w, struct trial_range range);
    /* Devices. They look at the trials of all axes, or (geometries) of the geometry axes only, and
     * name those that cannot be left out; finish() does the rest of trial or geometry `number`.
     * NULL: this method asks devices in its own way. */
    bool geometries;
    enum ek_status (*finish)(struct search_worker *w, trial_number number);
};

extern const struct search_method_ops search_brute, search_single, search_join;

/* The same as they are in force: methods.c. */
enum search_method_number { METHOD_BRUTE, METHOD_SINGLE, METHOD_JOIN };
const struct search_method_ops *search_method_at(enum search_method_number i);

struct search {
    const struct job *job;
    const struct search_method_ops *ops;
    void *shared;
    const struct grid *grid; /* that devices look at; NULL: joins */
    trial_number grain;
    trial_number order; /* trials are judged by ascending multiples of this; 0: in no order */
    bool decided;       /* its grid has decided all constraints before the judge is asked */
    double prepared;    /* evaluations that opening took */
    int nstations;
    struct search_station *station; /* [nstations], the most rejecting first */
    struct search_best *best;       /* NULL unless the job asks for the best */
    double slack;                   /* judge_slack(), */
    double deviations;              /* the same in the least standard deviation */
};

/* Who answers the questions of a join: which rows of the table are near `target` [columns]? It goes
 * with the trial of the other sources. */
struct search_asker {
    enum ek_status (*ask)(void *arg, trial_number trial, const double *target);
    void *arg;
};

struct search_worker {
    const struct search *search;
    void *own;
    struct judge *judge;
    struct search_window *window; /* [stations], as far as the search reaches now */
    double bound;                 /* of the misfit, when the windows were made */
    double evaluations;
    struct search_asker asker; /* of joins; ask NULL: they look the table up themselves */
    struct trial_range range;  /* at work, */
    struct accepted found;     /* accepted in it, */
    bool full;                 /* more than may be held: it is given up, and divided */
};

/* One of the job's. */
void search_set_station(struct search_station *to, const struct stations *s, int i);
/* Of data that are known up to unknowns of a scene: the sum of weight [n] times datum [n]. */
void search_set_contrast(struct search_station *to, const struct stations *s, int n,
                         const int *datum, const double *weight);

/* The order in which items reject most: the one that leaves the fewest of the samples comes first,
 * then the one that leaves the fewest of those, …: swap[i] is the place whose item changes its
 * place with that of place i, one after another; returns how many there are. keeps[sample][item]:
 * the sample survives the item. */
enum { SEARCH_ORDERED = 24 }; /* hardly a trial gets so far that is not accepted */
int search_order(const bool *keeps, int nsamples, int n, int swap[SEARCH_ORDERED]);
/* By random trials, which predict u [stations][3]: look(arg) says what each survives, keeps [n]. */
enum ek_status search_order_by_trials(const struct search *s, int n,
                                      void (*look)(const void *arg, const double *u, bool *keeps),
                                      const void *arg, int swap[SEARCH_ORDERED], int *nswaps);
void search_swap_stations(struct search *s, const int *swap, int nswaps);

/* search_run(), but each part is computed by by(arg): w->range says which. */
enum ek_status search_run_by(struct search_worker *w, struct trial_range range,
                             const struct search_sink *sink, enum ek_status (*by)(void *arg),
                             void *arg);

/* Responses of MODEL_LANES sources at a station, out [nbasis][3][MODEL_LANES]. */
void search_respond(const struct model *m, const double *const *value,
                    const struct search_station *station, double *out);
/* The same, [nbasis][3], or predictions [3] (nbasis 1), from what judge_basis() or the judge says
 * of all stations; maybe in `own` [nbasis][3]. */
const double *search_seen(const struct search_station *station, int nbasis, const double *all,
                          double *own);

/* How many standard deviations a component may be away in the batch at work, a little more. */
double search_reach(const struct search_worker *w);
/* And how large chi2 may be: judge_chi2(), and what is rounding where the data are explained. */
double search_chi2(const struct search_worker *w);
/* What that leaves of a station. */
struct search_window search_window(const struct search *s, int station, double reach);

/* Judges a candidate, of known basis responses or from its number alone, and keeps its record if it
 * is accepted, allowed and in the batch. */
enum ek_status search_judge_sources(struct search_worker *w, trial_number trial,
                                    const struct judge_source *source);
enum ek_status search_judge_trial(struct search_worker *w, trial_number trial);

/* The table of a join, NULL where it is made in blocks; what a row of it adds to the trial of the
 * other sources. */
struct join_table;
const struct join_table *search_join_table(const struct search *s);
trial_number search_join_row(const struct search *s, long row);

/* The trials of least misfit of all that any worker has found: search_best.c. */
enum ek_status search_best_open(const struct job *job, struct search_best **b);
void search_best_close(struct search_best *b);
/* A batch's records; the same trial may come again. b may be NULL. Any thread. */
enum ek_status search_best_note(struct search_best *b, const struct accepted_record *record,
                                size_t n);
/* The largest misfit that may still be among the best; b may be NULL: INFINITY. Any thread. */
double search_best_bound(const struct search_best *b);
