/* cu/sim/loss.h – where the time goes that a run takes beyond its lower bound: priced by cause.
 *
 * A second of a unit is worth what bound_prices() (cu/sim/bound.h) says: all units' prices add up
 * to 1, so that the seconds between bound and run, which all units spend, are divided without a
 * rest: contention  tasks that took longer than they do at best: busy neighbours, slow cores
 *   launch      what beginning and ending a range of tasks takes over and above the tasks
 *   transfer    exchanges, and bringing tasks to where they are computed
 *   imbalance   the rest: units that had nothing to do, and tasks on units that others suit
 * better */
#pragma once

#include "src/json.h"
#include <stdio.h>

enum { LOSS_IMBALANCE, LOSS_LAUNCH, LOSS_TRANSFER, LOSS_CONTENTION, LOSS_CAUSES };

/* Seconds by cause; NAN where there is no bound. */
struct loss {
    double seconds[LOSS_CAUSES];
};

/* What units that share a price did, sums over them and over the steps, in seconds. */
struct loss_share {
    double price;
    double rule;  /* what their tasks take at best, as the bound has it */
    double tasks; /* what they took */
    double launches, moving;
};

/* A run of `computation` + `communication` seconds whose computation could have taken `bound`
 * (NAN: not known, then all is). */
struct loss loss_of(double computation, double communication, double bound, int n,
                    const struct loss_share *share);

/* {"imbalance_s": …}; nulls where it is not known. New reference, NULL: out of memory. */
json_t *loss_json(const struct loss *l);

/* A table of which each row begins with a name, `width` wide: seconds by cause, and their share of
 * `total`. */
void loss_print_heading(FILE *out, int width);
void loss_print(FILE *out, int width, const char *name, const struct loss *l, double total);
