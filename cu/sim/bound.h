/* cu/sim/bound.h – how fast a step could be at best: the bound that every makespan is compared
 * with. */
#pragma once

#include <stddef.h>

/* Smallest makespan, in seconds, that any assignment of n tasks could reach on units of `nkinds`
 * kinds, of which there are units[k] (kinds without units do not count). seconds[k] is an array
 * [n]: the time of each task on one unit of kind k.
 *
 * It is the optimum of the linear programme in which tasks may be divided among units but never run
 * on two at once, hence at least the longest task on its fastest unit:
 *   one kind, or times in fixed proportion: closed form (Horvath, Lam & Sethi 1977);
 *   two kinds: filled in order of the ratio of the two times (Lawler & Labetoulle 1978);
 *   more: the dual of the area bound by cutting planes (GLPK), and the longest task.
 * NAN when a time is missing (negative or not finite) or memory is; 0 for no tasks. One thread. */
double bound_step(size_t n, int nkinds, const int *units, const double *const *seconds);

/* Prices of a second on each kind that balance them, price [nkinds]: units[k] * price[k] add up to
 * 1, and the sum over tasks of their cheapest price * seconds, which is returned, is the area bound
 * of that step: the linear programme's dual. 0 for kinds without units. NAN, and no prices, as
 * above. */
double bound_prices(size_t n, int nkinds, const int *units, const double *const *seconds,
                    double *price);

/* bound_step() for units that differ in speed alone: task i takes cost[i] / speed[c] seconds on
 * unit c of ncu. Room for n + ncu numbers, however many speeds there are. */
double bound_uniform(size_t n, const double *cost, int ncu, const double *speed);
