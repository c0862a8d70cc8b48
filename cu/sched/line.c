/* cu/sched/line.c – Hoare's selection and Tukey's line. */
#include "cu/sched/line.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Few points that are off a line through the origin by no more than this are on it. */
static const double FEW_OFF = 0.05;

double line_sum(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double line_median(double *v, size_t n)
{
    return line_select(v, n, (n - 1) / 2);
}

/* Moves numbers below a pivot, or also those equal to it, to the front of v[low .. high-1]. Returns
 * where they end. No branch depends on a number: it could not be predicted. */
static size_t split(double *v, size_t low, size_t high, double pivot, bool equal)
{
    for (size_t i = low; i < high; i++) {
        const double x = v[i];
        v[i] = v[low];
        v[low] = x;
        low += (x < pivot) | (equal & (x == pivot));
    }
    return low;
}

double line_select(double *v, size_t n, size_t at)
{
    size_t low = 0, high = n;
    while (high - low > 1) {
        const double pivot = line_median_of_3(v[low], v[low + (high - low) / 2], v[high - 1]);
        const size_t above = split(v, low, high, pivot, false);
        if (at < above)
            high = above;
        else if (above > low)
            low = above;
        else {
            low = split(v, low, high, pivot, true);
            if (at < low || low == above) /* no number */
                return pivot;
        }
    }
    return v[at];
}

struct line line_through_origin(const double *x, double *y, size_t m)
{
    while (m > 0 && !(x[m - 1] > 0))
        m--;
    for (size_t i = 0; i < m; i++)
        y[i] /= x[i];
    return (struct line){0, m > 0 ? line_median(y, m) : 0};
}

/* Index, in a third, of its lower median by x. */
static size_t middle_of(size_t third)
{
    return third - 1 - (third - 1) / 2;
}

/* Distance in x between the middles of the largest and the smallest third. */
static double width(const double *x, size_t m, size_t third)
{
    return x[middle_of(third)] - x[m - third + middle_of(third)];
}

/* Sum of relative deviations of positive y from a line. */
static double misfit(struct line l, const double *x, const double *y, size_t m)
{
    double sum = 0;
    for (size_t i = 0; i < m; i++)
        sum += y[i] > 0 ? fabs(line_at(l, x[i]) / y[i] - 1) : 0;
    return sum;
}

/* Few points: the line through two of them that is nearest to all, if it is much nearer than one
 * through the origin. */
static struct line line_of_few(const double *x, double *y, double *scratch, size_t m)
{
    memcpy(scratch, y, m * sizeof *y);
    const struct line origin = line_through_origin(x, scratch, m);
    struct line best = origin;
    double least = fmax(0, misfit(origin, x, y, m) / 2 - FEW_OFF * (double)m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = i + 1; j < m && least > 0; j++) {
            const double b = (y[i] - y[j]) / (x[i] - x[j]), a = y[i] - b * x[i];
            const struct line l = {a, b};
            if (x[i] > x[j] && a >= 0 && b >= 0 && misfit(l, x, y, m) < least) {
                least = misfit(l, x, y, m);
                best = l;
            }
        }
    return best;
}

struct line line_fit(const double *x, double *y, double *scratch, size_t m)
{
    size_t third = m / 3;
    while (third > 2 && !(width(x, m, third) > 0)) /* nearly all have one size */
        third /= 2;
    if (m < 6)
        return line_of_few(x, y, scratch, m);
    if (!(width(x, m, third) > 0))
        return line_through_origin(x, y, m);
    const double wide = width(x, m, third);
    memcpy(scratch, y, third * sizeof *scratch);
    double large = line_median(scratch, third);
    memcpy(scratch, y + m - third, third * sizeof *scratch);
    const double b = fmax(0, (large - line_median(scratch, third)) / wide);
    for (size_t i = 0; i < m; i++)
        scratch[i] = y[i] - b * x[i];
    const struct line best = {line_median(scratch, m), b};
    if (best.a >= 0 && b > 0)
        return best;
    memcpy(scratch, y, m * sizeof *y);
    const struct line origin = line_through_origin(x, scratch, m);
    return best.a >= 0 && misfit(best, x, y, m) < misfit(origin, x, y, m) / 2 ? best : origin;
}
