/* mcsem/invert.h – all columns at once: Levenberg-Marquardt on log-resistivities with vertical and
 * lateral smoothness.
 *
 *   Phi(m) = |W (d - F(m))|^2 + mu_v |Rv (m - m_ref)|^2 + mu_h |Rh (m - m_ref)|^2
 *
 * The Jacobian is never stored: each cell accumulates its J'W^2 J and J'W^2 r (normal.h solves). */
#ifndef MCSEM_INVERT_H
#define MCSEM_INVERT_H

#include "mcsem/forward.h"

enum invert_stop {
    INVERT_GOES_ON,
    INVERT_MISFIT,     /* below the target after the smallest number of iterations */
    INVERT_STALLED,    /* relative change below `stall` for `stall_times` iterations */
    INVERT_ITERATIONS, /* as many as were asked for */
    INVERT_STUCK,      /* no step lowers Phi any more: damping overflows or the step is zero */
    INVERT_STOPS
};
extern const char *const invert_stop_text[INVERT_STOPS];

struct invert_options {
    int iterations, least_iterations, stall_times;
    double target, stall;      /* RMS misfit; relative change of it */
    double smooth_v, smooth_h; /* mu_v, mu_h of the first iteration */
    double cooling, coolest;   /* both times `cooling` per iteration, down to this share */
    double damping;          /* Levenberg-Marquardt's first lambda, a share of the mean diagonal */
    double step;             /* largest change of ln rho in one iteration */
    double rho_min, rho_max; /* ohm m */
};

/* What one iteration did. */
struct invert_record {
    int iteration; /* 0 is the starting model */
    bool accepted; /* of its trial model; the numbers below are the trial's */
    double rms, phi, phi_data, phi_v, phi_h;
    double damping, gain, step; /* lambda; actual / predicted decrease; largest change */
    double mu_v, mu_h;
    double rho_min, rho_max; /* of the model */
    double forward_s, solve_s;
};

/* What is left to explain: what reports are drawn from. */
struct invert_outcome {
    const struct earth *earth;          /* the last accepted model */
    const struct survey *survey;        /* binned */
    const double complex *response;     /* [npairs][nfreq] fields of that model */
    const struct invert_record *record; /* [nrecords] */
    int nrecords;
    enum invert_stop stop;
};

#endif
