/* cu/sched/line.h – medians and resistant lines: statistics that a few outliers cannot spoil. */
#pragma once

#include <stddef.h>

/* x[0] + x[1] + …, added in this order. */
double line_sum(const double *x, size_t n);

/* The lower median of n > 0 numbers, in O(n); reorders v. */
double line_median(double *v, size_t n);
/* The number that would be v[at] in ascending order; likewise. */
double line_select(double *v, size_t n, size_t at);

static inline double line_median_of_3(double a, double b, double c)
{
    const double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

struct line {
    double a, b; /* y = a + b x */
};

/* Fits time as a line over size through m > 0 points, x descending (Tukey's resistant line: the
 * slope joins the medians of the outer thirds, the height is the median of the residuals). Work
 * neither takes less time for larger sizes nor negative time for small ones: a line with a < 0 is
 * replaced by y = b x with the median ratio, and a falling one likewise unless y = a is much
 * nearer: among nearly equal sizes noise decides the slope, but a level line says that the largest
 * task takes no longer than the smallest. y is reordered; scratch [m] is overwritten space. */
struct line line_fit(const double *x, double *y, double *scratch, size_t m);
/* The line y = b x with the median ratio; points at x = 0 say nothing. y is reordered. */
struct line line_through_origin(const double *x, double *y, size_t m);

static inline double line_at(struct line l, double x)
{
    return l.a + l.b * x;
}
