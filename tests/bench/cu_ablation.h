/* tests/bench/cu_ablation.h – what cu_ablation.c leaves out of evenkeel, whose sources are compiled
 * for it with this file included first. */
#pragma once

#define MECHANISMS(X)                                                                              \
    X(BOOTSTRAP)    /* binding late while nothing is known */                                      \
    X(HELP)         /* others take over from who is behind */                                      \
    X(ADOPTION)     /* who takes what a lost unit leaves */                                        \
    X(SUDDEN)       /* a unit that changes is believed at once */                                  \
    X(INCUMBENT)    /* the fastest partition comes back after a failure */                         \
    X(TRIALS)       /* idle units are tried again */                                               \
    X(INTERFERENCE) /* units are left out that slow their neighbours */                            \
    X(LAUNCHES)     /* ranges cost something */                                                    \
    X(PRICES)       /* the linear programme's way to divide */                                     \
    X(STRETCHES)    /* consecutive tasks for each memory node or unit */                           \
    X(IMPROVEMENT)  /* moves and exchanges */                                                      \
    X(EXACT)        /* all divisions of a few tasks */

#define MECHANISM(name) WITHOUT_##name,
enum { MECHANISMS(MECHANISM) WITHOUT_NOTHING };
#undef MECHANISM

extern int cu_ablation;
#define WITHOUT(mechanism) (cu_ablation == WITHOUT_##mechanism)
