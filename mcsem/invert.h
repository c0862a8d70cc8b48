/* mcsem/invert.h – all columns at once: the smoothest model that explains the data.
 *
 *   Phi(m) = sum of losses of W (d - F(m)) + mu |R (m - reference)|^2   (prior.h)
 *
 * First the start is shifted as a whole, by factors, as long as that lowers the misfit: a wrong
 * level of resistivity puts phases off by whole turns, which no gradient sees. Then steps of
 * Levenberg and Marquardt, each with the largest smoothness that should lower the misfit by the
 * share that is asked for, at most to the target (the discrepancy principle; Constable, Parker &
 * Constable 1987): much is asked for after steps that kept what they promised, little after others.
 * A step that raised Phi is shortened.
 *
 * An inversion goes from trial to trial: whoever computes fills in the cells' sums for the trial
 * model (cell.h), invert_judge() accepts or rejects it, invert_step() finds the next one. Sums of
 * an accepted model carry its Jacobian's products, so that a rejected trial costs no Jacobian anew
 * and no solution. */
#pragma once

#include "mcsem/cell.h"
#include "mcsem/normal.h"
#include "src/arena.h"

enum invert_stop {
    INVERT_GOES_ON,
    INVERT_MISFIT,     /* below the target after the smallest number of iterations */
    INVERT_STALLED,    /* relative change below `stall` for `stall_times` iterations */
    INVERT_ITERATIONS, /* as many as were asked for */
    INVERT_STUCK,      /* no step lowers Phi any more */
    INVERT_STOPS
};
extern const char *const invert_stop_text[INVERT_STOPS];

struct invert_options {
    int iterations, least_iterations, stall_times;
    double target, stall;        /* RMS misfit; relative change of it */
    enum misfit_robust robust;   /* as the cells' sums have it */
    struct prior_weights smooth; /* mu at level 1, over the mean diagonal of J'W^2 J */
    double damping;              /* the first lambda */
    double cooling, coolest; /* an iteration leaves at least `cooling` of the level; the least */
    double step;             /* largest change of ln rho in one iteration */
};

/* What one trial was worth: INVERT_NUMBERS numbers from `rms` on, called as in invert_numbers. */
struct invert_record {
    int iteration; /* 0 is the starting model, and shifts of it by `step` */
    bool accepted;
    double rms, phi, phi_data, rough_v, rough_h; /* of the trial; rough: |Rv m|^2, |Rh m|^2 */
    double mu_v, mu_h, damping;                  /* that led to it */
    double gain, step;           /* actual / predicted decrease of Phi; largest change of ln rho */
    double rho_min, rho_max;     /* of the trial */
    double seconds, cpu_s;       /* computing its fields: until the last is done; of all cpus */
    double solve_s, solve_cpu_s; /* finding it */
    double outliers;             /* data that rms leaves out (misfit_summary()) */
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
    double *trial;             /* [columns][nz] the model to be computed */
    double *sums, *trial_sums; /* [columns][cell_sums()] of both; the trial's is to be filled in */
    double data;               /* real numbers measured */
    struct normal *normal;     /* NULL where this process does not solve */
    double scale;              /* unit of mu */
    double damping, level;     /* lambda; of smoothness */
    double ask;                /* share of the misfit that a step is to leave */
    double predicted;          /* decrease of Phi by the trial */
    double *other;             /* [columns][nz] another step */
    double trial_spread, sums_spread; /* of robust losses (misfit.h), in trial_sums and sums */
    struct invert_record *record;     /* [iterations of trials] */
    int nrecords, room, iteration, stalls;
    bool resumed; /* the trial is the accepted model of a former run: only its sums are missing */
    double phi, rms; /* of the accepted model */
    enum invert_stop stop;
    struct arena arena;
};

/* Starts from an earth (copied), within its bounds. `solves`: this process will call invert_judge()
 * and invert_step(); the others only share the trial. EK_USAGE: no data; EK_UNAVAILABLE: memory.
 * One thread, like all here. */
enum ek_status invert_open(const struct survey *survey, const struct earth *start,
                           struct prior *prior, const struct invert_options *options, bool solves,
                           struct invert **inv);
void invert_close(struct invert *inv);

/* Back to the start, which becomes the trial. */
void invert_reset(struct invert *inv, const struct earth *start);

/* After invert_reset() and after iteration, stalls, damping, level, ask, trial_spread and the
 * records of a former run have been put back: goes on from its accepted model m and its last trial,
 * both [columns][nz]. */
void invert_resume(struct invert *inv, const double *m, const double *trial);

/* Judges the trial by its sums; `seconds`, `cpu_s`: what they took. Sets inv->stop. EK_UNVERIFIED:
 * the start's fields are not finite. */
enum ek_status invert_judge(struct invert *inv, double seconds, double cpu_s);

/* Has a trial been judged since invert_reset() or invert_resume()? Then the next one is to be
 * found. */
static inline bool invert_judged(const struct invert *inv)
{
    return inv->nrecords > 0 && !inv->resumed;
}

/* The next trial. Damping grows until the equations can be solved. */
enum ek_status invert_step(struct invert *inv);

/* mu of the last step; before any, those with which it would begin. */
struct prior_weights invert_smoothness(const struct invert *inv);

/* What all cells' sums say of the misfit; without a robust loss every datum counts. */
struct misfit_summary invert_misfit(const struct invert *inv, const double *sums);
