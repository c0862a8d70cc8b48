/* okada_mogi/search_method.h – internals that the methods of a search share; for search*.c and
 * device*.c only.
 *
 * A method is one file search_<name>.c with one const struct search_method_ops. */
#pragma once

#include "okada_mogi/judge.h"
#include "okada_mogi/search.h"

/* A point of the ground, repeated in all lanes, and how its displacement is observed. */
struct search_point {
    int number, component; /* of the job's station; component 0 for data along a vector */
    _Alignas(MODEL_ALIGN) double east[MODEL_LANES], north[MODEL_LANES], height[MODEL_LANES];
    double along[3], weight; /* the first component is weight * displacement along this vector */
};

enum { SEARCH_POINTS = 4 };

/* A station and its observed components. Or a contrast: a weighted sum over points of a scene with
 * unknowns in which these cancel; data of such scenes are searched through contrasts only. */
struct search_station {
    int npoints;             /* 1: a station; 2: a difference or a contrast; 4: a contrast */
    bool scalar, difference; /* a single component along vectors; a difference of two points */
    struct search_point point[SEARCH_POINTS];
    int ncomponents, component[3];
    double observed[3], sigma[3];
    double rounding; /* multiple of the judge's slack: sum of the points' |weight| */
};

/* Observed -+ reach sigma, widened for rounding. */
struct search_window {
    double low[3], high[3];
};

struct search_method_ops {
    /* Makes the shared data, *shared, and sets s->grain and the like. */
    enum ek_status (*open)(struct search *s, void **shared);
    void (*close)(void *shared);
    size_t (*bytes)(const struct job *job);
    double (*cost)(const struct search *s, struct trial_range range);
    /* Makes a worker's scratch, *own. */
    enum ek_status (*worker_open)(const struct search *s, void **own);
    void (*worker_close)(void *own);
    enum ek_status (*run)(struct search_worker *w, struct trial_range range);
    /* Devices test all trials, or (geometries) all places of the geometry axes, and report those
     * that may be acceptable; finish() then completes trial or geometry `number` on the host. NULL:
     * a join, which uses devices differently. */
    bool geometries;
    enum ek_status (*finish)(struct search_worker *w, trial_number number);
};

extern const struct search_method_ops search_brute, search_single, search_join;

/* The same at the instruction level in force: methods.c. */
enum search_method_number { METHOD_BRUTE, METHOD_SINGLE, METHOD_JOIN };
const struct search_method_ops *search_method_at(enum search_method_number i);

struct search {
    const struct job *job;
    const struct search_method_ops *ops;
    void *shared;
    const struct grid *grid; /* that devices search; NULL: a join */
    trial_number grain;
    trial_number
        order;       /* blocks of this many trials are judged in ascending order; 0: in no order */
    bool decided;    /* the grid has decided all constraints before the judge is asked */
    double prepared; /* evaluations that opening took */
    int nstations;
    struct search_station *station; /* [nstations], the most rejecting first */
    struct search_best *best;       /* NULL unless the job asks for the best trials */
    double slack;                   /* judge_slack(), m, */
    double deviations;              /* and in units of the smallest standard deviation */
};

/* Answers a join's queries for the rows of the table near `target` [columns]; `trial`: that of the
 * other sources. */
struct search_asker {
    enum ek_status (*ask)(void *arg, trial_number trial, const double *target);
    void *arg;
};

struct search_worker {
    const struct search *search;
    void *own;
    struct judge *judge;
    struct search_window *window; /* [stations] for the present bound */
    double bound;                 /* of the misfit, when the windows were made */
    double evaluations;
    struct search_asker asker; /* joins; ask NULL: the worker looks up the table itself */
    struct trial_range range;  /* being searched */
    struct accepted found;     /* trials accepted in it */
    bool full;                 /* found holds no more: the range is cut short */
};

/* Sets *to to a contrast: the sum of weight [n] times datum [n]. */
void search_set_contrast(struct search_station *to, const struct stations *s, int n,
                         const int *datum, const double *weight);

/* Orders n items greedily by rejection: first the one that the fewest samples survive, then the one
 * that the fewest of those survive, …. keeps[sample][item]: the sample survives the item. Returns a
 * number of swaps, to be applied one after another: items i and swap[i]. */
enum { SEARCH_ORDERED = 24 }; /* hardly any trial gets further without being accepted */
int search_order(const bool *keeps, int nsamples, int n, int swap[SEARCH_ORDERED]);
/* Likewise, with random trials as samples: set_keeps(arg) gets a trial's prediction u [stations][3]
 * and sets keeps [n]. */
enum ek_status search_order_by_trials(const struct search *s, int n,
                                      void (*set_keeps)(const void *arg, const double *u,
                                                        bool *keeps),
                                      const void *arg, int swap[SEARCH_ORDERED], int *nswaps);
void search_swap_stations(struct search *s, const int *swap, int nswaps);

/* search_run(), but by(arg) computes each part, w->range. */
enum ek_status search_run_by(struct search_worker *w, struct trial_range range,
                             const struct search_sink *sink, enum ek_status (*by)(void *arg),
                             void *arg);

/* Responses of MODEL_LANES sources at a station, out [nbasis][3][MODEL_LANES]. */
void search_respond(const struct model *m, const double *const *value,
                    const struct search_station *station, double *out);
/* The responses [nbasis][3] at a station, or predictions [3] (nbasis 1), taken from those at all of
 * the job's stations, as judge_basis() or the judge computes them; `own` [nbasis][3] is scratch. */
const double *search_seen(const struct search_station *station, int nbasis, const double *all,
                          double *own);

/* Largest |r| that is acceptable now, in standard deviations, widened for rounding. */
double search_reach(const struct search_worker *w);
/* Likewise the largest chi2: judge_chi2(), widened for rounding of nearly perfect predictions. */
double search_chi2(const struct search_worker *w);
/* A station's window for a given reach. */
struct search_window search_window(const struct search *s, int station, double reach);

/* Judges a candidate, by its sources' basis responses or from its number alone; keeps its record if
 * it is accepted, allowed and in the worker's range. */
enum ek_status search_judge_sources(struct search_worker *w, trial_number trial,
                                    const struct judge_source *source);
enum ek_status search_judge_trial(struct search_worker *w, trial_number trial);

/* The table of a join, NULL if it is made in blocks. */
struct join_table;
const struct join_table *search_join_table(const struct search *s);
/* Judges a row of it, or all rows near `target` [columns], together with the other sources, of
 * which `trial` is the first. */
enum ek_status search_join_judge(struct search_worker *w, trial_number trial, long row);
enum ek_status search_join_ask(struct search_worker *w, trial_number trial, const double *target);

/* The trials of least misfit found by any worker so far: search_best.c. */
enum ek_status search_best_open(const struct job *job, struct search_best **b);
void search_best_close(struct search_best *b);
/* Adds a batch's records; trials may repeat. b may be NULL. Any thread. */
enum ek_status search_best_note(struct search_best *b, const struct accepted_record *record,
                                size_t n);
/* Largest misfit that may still be among the best; INFINITY if b is NULL. Any thread. */
double search_best_bound(const struct search_best *b);
