/* tests/bench/cu_ablation.h – mechanisms that cu_ablation.c can switch off in evenkeel, whose
 * sources are compiled for it with this file included first. */
#pragma once

#define MECHANISMS(X)                                                                              \
    X(BOOTSTRAP)    /* late binding while nothing is known */                                      \
    X(HELP)         /* units help others that are behind */                                        \
    X(ADOPTION)     /* who takes over a lost unit's tasks */                                       \
    X(SUDDEN)       /* a changed speed is believed at once */                                      \
    X(INCUMBENT)    /* return to the fastest partition after a failed one */                       \
    X(TRIALS)       /* idle units are retried */                                                   \
    X(INTERFERENCE) /* leaving out units that slow their neighbours */                             \
    X(LAUNCHES)     /* ranges have a launch time */                                                \
    X(PRICES)       /* division by the linear programme's prices */                                \
    X(STRETCHES)    /* consecutive tasks for each memory node or unit */                           \
    X(IMPROVEMENT)  /* moves and exchanges of tasks */                                             \
    X(EXACT)        /* all divisions, for a few tasks */

#define MECHANISM(name) WITHOUT_##name,
enum { MECHANISMS(MECHANISM) WITHOUT_NOTHING };
#undef MECHANISM

extern int cu_ablation;
#define WITHOUT(mechanism) (cu_ablation == WITHOUT_##mechanism)
