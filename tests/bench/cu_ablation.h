/* tests/bench/cu_ablation.h – mechanisms that cu_ablation.c can switch off in evenkeel, whose
 * sources are compiled for it with this file included first. */
#pragma once

#define MECHANISMS(X)                                                                              \
    X(BOOTSTRAP)       /* late binding while nothing is known */                                   \
    X(LARGE)           /* large tasks are kept for devices */                                      \
    X(SMALL_FIRST)     /* devices begin with a small task */                                       \
    X(OUTRUN)          /* units begin nothing that faster ones would end before them */            \
    X(DOUBLING)        /* devices take growing ranges */                                           \
    X(SPEEDS_FIRST)    /* units begin with a small task, where one is a giant */                   \
    X(LONG_RANGES)     /* units with launches take consecutive tasks */                            \
    X(CARRYING)        /* waiting counts as transfers */                                           \
    X(SHRINKING)       /* estimates are drawn to their line */                                     \
    X(OFF_LINE)        /* what is far off the line is believed */                                  \
    X(DEVIATIONS)      /* tasks deviate alike on all kinds */                                      \
    X(ALIKE)           /* as far as they were seen to */                                           \
    X(TRY_DEVIANT)     /* tasks that tell whether kinds deviate alike */                           \
    X(PROPORTIONAL)    /* times in proportion to costs, where lines fit worse */                   \
    X(SECOND_THOUGHTS) /* who was misjudged in the first step */                                   \
    X(GUESSES)         /* tasks that are new to a kind tell less of its units */                   \
    X(OWN_KINDS)       /* units of a kind that are not alike */                                    \
    X(SUDDEN)          /* a changed speed is believed at once */                                   \
    X(DOUBT)           /* a unit slow in one range may be even slower */                           \
    X(WARINESS)        /* not of a unit that changes again and again */                            \
    X(MEDIAN_RATIO)    /* the median over a range's tasks tells its unit's speed */                \
    X(INTERRUPTIONS)   /* times of interrupted tasks do not count */                               \
    X(SKIPPED_SAMPLES) /* no times from units that just changed */                                 \
    X(OWN_LAUNCH)      /* a unit's own launch time */                                              \
    X(HIDDEN)          /* launches hidden in tasks' times */                                       \
    X(DECLARED_HIDDEN) /* declared launches that are hidden */                                     \
    X(HELP)            /* units help others that are behind */                                     \
    X(STAYING)         /* helpers keep what is still to be brought */                              \
    X(OFFERS)          /* a slow unit offers its last task */                                      \
    X(SHORTEST)        /* and begins with the shortest */                                          \
    X(TWO_TASKS)       /* two tasks where launches may hide */                                     \
    X(HALVES)          /* half of what is left, where nobody shares the memory */                  \
    X(ADOPTION)        /* who takes over a lost unit's tasks */                                    \
    X(RESTING)         /* idle units are not asked in short steps */                               \
    X(INCUMBENT)       /* return to the fastest partition after a failed one */                    \
    X(PATIENCE)        /* fewer searches after fruitless ones */                                   \
    X(WORTH)           /* a new partition must be worth the doubt */                               \
    X(TRY_AGAIN)       /* slow units are tried again */                                            \
    X(TRY_NEW)         /* units that have never worked are tried */                                \
    X(TRY_PAIRS)       /* two tasks together on a device */                                        \
    X(TRY_FACES)       /* one task across */                                                       \
    X(INTERFERENCE)    /* leaving out units that slow their neighbours */                          \
    X(LAUNCHES)        /* ranges have a launch time */                                             \
    X(PRICES)          /* division by the linear programme's prices */                             \
    X(BY_COST)         /* a list by cost, where times differ */                                    \
    X(STRETCHES)       /* consecutive tasks for each memory node or unit */                        \
    X(BACK)            /* stretches from the back */                                               \
    X(ONE_MEMORY)      /* all on one memory node */                                                \
    X(CONTINUING)      /* tasks are brought little by little */                                    \
    X(IMPROVEMENT)     /* moves and exchanges of tasks */                                          \
    X(RELOCATION)      /* moves to where tasks take less */                                        \
    X(TRADES)          /* one task for several */                                                  \
    X(DEMAND)          /* prices of many kinds that follow demand */                               \
    X(WITHIN)          /* prices that exclude kinds on which tasks are too long */                 \
    X(TABU)            /* tabu search where kinds differ by task */                                \
    X(MULTIFIT)        /* longest first, each on the first unit with room */                       \
    X(REPACK)          /* tasks of a few units packed anew */                                      \
    X(EXACT)           /* all divisions, for a few tasks */

#define MECHANISM(name) WITHOUT_##name,
enum { MECHANISMS(MECHANISM) WITHOUT_NOTHING };
#undef MECHANISM

extern int cu_ablation;
#define WITHOUT(mechanism) (cu_ablation == WITHOUT_##mechanism)
