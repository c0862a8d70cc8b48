/* cu/unit/tune.h – hill climbing by measurement: starts from a first setting and follows moves as
 * long as they improve it. */
#pragma once

#include "src/base.h"

enum { TUNE_NUMBERS = 17, TUNE_TRIALS = 256 };

/* A setting; numbers that the moves do not use are 0. */
struct tune_point {
    int x[TUNE_NUMBERS];
};

struct tune_trial {
    struct tune_point point;
    double rate; /* 0: this setting does not work */
};

struct tune_ops {
    /* Sets *to to where move m leads from *from; false: nowhere. */
    bool (*move)(const void *ctx, int m, const struct tune_point *from, struct tune_point *to);
    /* Measures the rate, higher is better. EK_STOPPED: no time left, the search ends. */
    enum ek_status (*measure)(void *ctx, const struct tune_point *point, double *rate);
};

struct tune {
    struct tune_trial trial[TUNE_TRIALS]; /* in order of time */
    int n, best;                          /* best: index of the best trial, -1: none works */
};

/* Searches from `first` along nmoves moves; repeats each while it gains more than the fraction
 * `worth`, and measures no point twice. Ends when no move gains, or there is no time or room for
 * more. A failed measurement ends it with its status. */
enum ek_status tune_search(const struct tune_ops *ops, void *ctx, int nmoves,
                           const struct tune_point *first, double worth, struct tune *t);

/* Measures the two best points again, alternating, at most `times` times each while there is time.
 * The best rate of each counts, because disturbances only slow a trial down. */
enum ek_status tune_confirm(const struct tune_ops *ops, void *ctx, int times, struct tune *t);
