/* cu/sched/line.h – medians and resistant lines: what a few wild measurements cannot spoil. */
#pragma once

#include <stddef.h>

/* x[0] + x[1] + … in this order. */
double line_sum(const double *x, size_t n);

/* The lower median of n > 0 numbers; reorders v. O(n). */
double line_median(double *v, size_t n);
/* The number that would be v[at] if the n numbers ascended; likewise. */
double line_select(double *v, size_t n, size_t at);

struct line {
    double a, b; /* y = a + b x */
};

/* A model of time by size through m > 0 points, of which x descends (Tukey's resistant line: the
 * slope between the medians of the outer thirds, the height by the median of what is left). A line
 * that would fall, or give time back for small sizes, is no model of work: then y = b x, the median
 * ratio. y is reordered; room [m] is overwritten. */
struct line line_fit(const double *x, double *y, double *room, size_t m);

static inline double line_at(struct line l, double x)
{
    return l.a + l.b * x;
}
