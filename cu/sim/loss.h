/* cu/sim/loss.h – why a run takes longer than its lower bound: lost time by cause.
 *
 * A second of a unit is priced by bound_prices() (cu/sim/bound.h); all units' prices add up to 1,
 * so that the time between bound and run is divided completely:
 *   contention  tasks that took longer than at best: busy neighbours, slow cores
 *   launch      beginning and ending ranges of tasks
 *   transfer    exchanges, and bringing tasks to where they are computed
 *   imbalance   the rest: idle units, and tasks on units that suit others better */
#pragma once

#include "src/json.h"
#include "src/base.h"

enum { LOSS_IMBALANCE, LOSS_LAUNCH, LOSS_TRANSFER, LOSS_CONTENTION, LOSS_CAUSES };

/* Seconds by cause; NAN where there is no bound. */
struct loss {
    double seconds[LOSS_CAUSES];
};

/* Work of the units that share a price, summed over units and steps, in seconds. */
struct loss_share {
    double price;
    double rule;  /* best times of their tasks, as in the bound */
    double tasks; /* measured times of their tasks */
    double launches, moving;
};

/* Divides a run of `computation` + `communication` seconds whose computation could have taken
 * `bound` (NAN: not known; then all causes are). */
struct loss loss_of(double computation, double communication, double bound, int n,
                    const struct loss_share *share);

/* {"imbalance_s": …}; nulls where unknown. New reference, NULL: out of memory. */
json_t *loss_json(const struct loss *l);

/* Prints a table of lost seconds and their share of `total`; the names take `width` columns. */
void loss_print_heading(FILE *out, int width);
void loss_print(FILE *out, int width, const char *name, const struct loss *l, double total);
