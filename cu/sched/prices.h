/* cu/sched/prices.h – prices of a second on each kind of unit: the dual of the linear programme
 * that divides tasks among kinds of units, in parts if need be. Tasks go where they are cheapest;
 * if a second of all units together costs 1, no partition ends before the sum of what they pay, at
 * any prices. The best prices balance the kinds. */
#pragma once

#include <math.h>
#include <stddef.h>

struct prices {
    size_t n;
    int kinds;
    const double **seconds; /* [kinds][n] on a unit of speed 1 */
    double *longest;        /* [kinds] tasks that take longer do not go there */
    double *capacity;       /* [kinds] sum of its units' speeds, > 0 */
    double *price;          /* [kinds] of a second on a unit of speed 1, > 0 */
    double *area;           /* [kinds] seconds sold */
    double *best;           /* [kinds] scratch of prices_follow() */
    double *pays;           /* [n] */
    int *cheapest;          /* [n] the kind to which the task goes */
};

/* What a task pays on a kind; INFINITY: it is too long for it. */
static inline double prices_of(const struct prices *p, int kind, size_t task)
{
    const double sec = p->seconds[kind][task];
    return sec <= p->longest[kind] ? p->price[kind] * sec : INFINITY;
}

/* Each task goes to the kind where it is cheapest, the first of several. Writes area, pays,
 * cheapest; returns the lower bound of a step, in seconds. O(n kinds), like each turn below. */
double prices_sell(struct prices *p);

/* Lets prices follow demand for so many turns by steps that shrink (multiplicative weights, see
 * Arora, Hazan & Kale, Theory of Computing 8, 2012); leaves those of the highest bound and returns
 * it. After 60 turns usually within a thousandth of the best bound; with hardly more tasks than
 * units, within a hundredth. */
double prices_follow(struct prices *p, int turns);
