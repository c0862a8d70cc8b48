/* mcsem/invert.h – the inversion of all columns at once: the smoothest model that explains the
 * data.
 *
 *   Phi(m) = sum of losses of W (d - F(m)) + mu |R (m - reference)|^2   (prior.h)
 *
 * First the start is shifted as a whole, by factors, as long as that lowers the misfit: a wrong
 * overall resistivity puts phases off by whole turns, which no gradient can see. Then come
 * Levenberg-Marquardt steps, each with the largest smoothness expected to reduce the misfit by the
 * requested share, at most to the target (the discrepancy principle; Constable, Parker & Constable
 * 1987). More is requested after steps that kept their promise, less after others. A step that
 * raised Phi is shortened.
 *
 * An inversion goes from trial to trial: the caller computes the cells' sums for the trial model
 * (cell.h), invert_judge() accepts or rejects it, invert_step() finds the next one. The sums of an
 * accepted model contain the products of its Jacobian, so a rejected trial costs neither a new
 * Jacobian nor a new solution. */
#pragma once

#include "mcsem/cell.h"
#include "mcsem/normal.h"

enum invert_stop {
    INVERT_GOES_ON,
    INVERT_MISFIT,     /* below the target after the smallest number of iterations */
    INVERT_STALLED,    /* relative change below `stall` for `stall_times` iterations */
    INVERT_ITERATIONS, /* as many as allowed */
    INVERT_STUCK,      /* no step lowers Phi any further */
    INVERT_STOPS
};
extern const char *const invert_stop_text[INVERT_STOPS];

struct invert_options {
    int iterations, least_iterations, stall_times;
    double target, stall;        /* RMS misfit; relative change of it */
    enum misfit_robust robust;   /* as used for the cells' sums */
    struct prior_weights smooth; /* mu at level 1, over the mean diagonal of J'W^2 J */
    double damping;              /* the first lambda */
    double cooling,
        coolest; /* an iteration keeps at least `cooling` of the level; the least level */
    double step; /* largest change of ln rho in one iteration */
};

/* Record of a trial; INVERT_NUMBERS doubles from `rms` on are named by invert_numbers. */
struct invert_record {
    int iteration; /* 0: the starting model, and shifts of it by `step` */
    bool accepted;
    double rms, phi, phi_data, rough_v, rough_h; /* of the trial; rough: |Rv m|^2, |Rh m|^2 */
    double mu_v, mu_h, damping;                  /* used to find it */
    double gain, step;       /* actual / predicted decrease of Phi; largest change of ln rho */
    double rho_min, rho_max; /* of the trial */
    double seconds, cpu_s;   /* time to compute its fields, until the last is done; of all CPUs */
    double solve_s, solve_cpu_s; /* time to find it */
    double outliers;             /* number of data left out of rms (misfit_summary()) */
};
enum { INVERT_NUMBERS = 17 };
extern const char *const invert_numbers[INVERT_NUMBERS];

static inline double *invert_numbers_of(struct invert_record *r)
{
    return (double *)(void *)((char *)r + offsetof(struct invert_record, rms));
}

struct invert {
    const struct survey *survey; /* binned; borrowed */
    struct prior *prior;         /* borrowed */
    struct invert_options options;
    struct earth *earth;       /* the accepted model */
    double *trial;             /* [columns][unknowns] the model to compute */
    double *sums, *trial_sums; /* [columns][cell_sums()] of the accepted model, of the trial (filled
                                  in by the caller) */
    double data;               /* number of real numbers measured */
    struct normal *normal;     /* NULL if this process does not solve */
    double scale;              /* unit of mu */
    double damping, level;     /* lambda; factor of smoothness */
    double target_share;       /* share of the misfit that a step should leave */
    double predicted;          /* predicted decrease of Phi by the trial */
    double *spare;             /* [columns][unknowns] another step */
    double trial_spread, sums_spread; /* spread of robust losses (misfit.h) used for trial_sums and
                                         sums; a trial's loss is judged with the latter */
    struct invert_record *record;     /* [room] */
    int nrecords, room, iteration, stalls;
    bool resumed; /* the trial is the accepted model of a checkpoint: only its sums are missing */
    double phi, rms; /* of the accepted model */
    enum invert_stop stop;
    struct arena arena;
};

/* Starts from a copy of `start`, moved within the bounds. `solves`: this process will call
 * invert_judge() and invert_step(); others only receive the trial. EK_USAGE: no data;
 * EK_UNAVAILABLE: memory. Call everything here on one thread. */
enum ek_status invert_open(const struct survey *survey, const struct earth *start,
                           struct prior *prior, const struct invert_options *options, bool solves,
                           struct invert **inv);
void invert_close(struct invert *inv);

/* Returns to the start, which becomes the trial. */
void invert_reset(struct invert *inv, const struct earth *start);

/* Resumes from a checkpoint's accepted model m and its last trial, both [columns][unknowns]. Call
 * after invert_reset() and after restoring iteration, stalls, damping, level, target_share,
 * trial_spread and the records. */
void invert_resume(struct invert *inv, const double *m, const double *trial);

/* Judges the trial by its sums; `seconds` and `cpu_s` are the time they took. Sets inv->stop.
 * EK_UNVERIFIED: the fields of the starting model are not finite. */
enum ek_status invert_judge(struct invert *inv, double seconds, double cpu_s);

/* Whether a trial has been judged since invert_reset() or invert_resume(), so that the next one is
 * to be found. */
static inline bool invert_judged(const struct invert *inv)
{
    return inv->nrecords > 0 && !inv->resumed;
}

/* Finds the next trial, with more damping if the equations cannot be solved otherwise. */
enum ek_status invert_step(struct invert *inv);

/* mu of the last step; before the first step, its initial values. */
struct prior_weights invert_smoothness(const struct invert *inv);

/* Summary of the misfit in all cells' sums; without a robust loss every datum counts. */
struct misfit_summary invert_misfit(const struct invert *inv, const double *sums);
