/* cu/unit/tune.h – finds a good setting by trying: from a first one along moves that make it
 * better, as long as they do. */
#pragma once

#include "src/status.h"
#include <stdbool.h>

enum { TUNE_NUMBERS = 17, TUNE_TRIALS = 256 };

/* A setting: as many numbers as the moves know of, the others 0. */
struct tune_point {
    int x[TUNE_NUMBERS];
};

struct tune_trial {
    struct tune_point point;
    double rate; /* 0: it cannot work */
};

struct tune_ops {
    /* *to = where move number m leads from there; false: nowhere. */
    bool (*move)(const void *ctx, int m, const struct tune_point *from, struct tune_point *to);
    /* The rate, higher is better. EK_STOPPED: there is no time for it, nor for others. */
    enum ek_status (*measure)(void *ctx, const struct tune_point *point, double *rate);
};

struct tune {
    struct tune_trial trial[TUNE_TRIALS]; /* in the order in which they were made */
    int n, best;                          /* best: number of the best trial, -1: none works */
};

/* Goes from `first` along nmoves moves; each is repeated while it wins more than the share `worth`,
 * none is measured twice. Ends when no move wins, or there is no time or room for more. A failed
 * measurement ends it with its status. */
enum ek_status tune_search(const struct tune_ops *ops, void *ctx, int nmoves,
                           const struct tune_point *first, double worth, struct tune *t);

/* Measures the two best ones again, in turns, at most `times` times each, while there is time: what
 * disturbs a trial makes it slower, so that the best rate of each counts. */
enum ek_status tune_confirm(const struct tune_ops *ops, void *ctx, int times, struct tune *t);
