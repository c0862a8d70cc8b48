/* cu/sim/bound.h – the lower bound of a step, with which every makespan is compared. */
#pragma once

#include "src/base.h"

/* Lower bound, in seconds, of the makespan of any assignment of n tasks to units of `nkinds` kinds
 * with units[k] units each (kinds without units do not count). seconds[k] is an array [n]: the time
 * of each task on one unit of kind k.
 *
 * It is the optimum of the linear programme in which a task may be divided among units but never
 * runs on two at once, hence at least the longest task on its fastest unit:
 *   one kind, or times in fixed proportion: closed form (Horvath, Lam & Sethi 1977);
 *   two kinds: filled in order of the ratio of the two times (Lawler & Labetoulle 1978);
 *   more: the dual of the area bound by cutting planes (GLPK), and the longest task.
 * NAN when a time is missing (negative or not finite) or memory is; 0 for no tasks. One thread. */
double bound_step(size_t n, int nkinds, const int *units, const double *const *seconds);

/* Prices of a second on each kind that balance the kinds, price [nkinds], 0 for kinds without
 * units: the dual of the linear programme. The sum of units[k] * price[k] is 1, and the sum over
 * tasks of their cheapest price * seconds, which is returned, is the area bound of the step. NAN,
 * and no prices, as above. */
double bound_prices(size_t n, int nkinds, const int *units, const double *const *seconds,
                    double *price);

/* bound_step() for units that differ only in speed: task i takes cost[i] / speed[c] seconds on unit
 * c of ncu. Memory for n + ncu numbers, however many speeds there are. */
double bound_uniform(size_t n, const double *cost, int ncu, const double *speed);
