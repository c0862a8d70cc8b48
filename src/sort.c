/* src/sort.c – comparators and medians. */
#include "src/sort.h"

#include <gsl/gsl_cdf.h>

#define ORDER(type, a, b)                                                                          \
    ((*(const type *)(a) > *(const type *)(b)) - (*(const type *)(a) < *(const type *)(b)))

static int by_double(const void *a, const void *b)
{
    return ORDER(double, a, b);
}

int sort_by_int(const void *a, const void *b)
{
    return ORDER(int, a, b);
}

int sort_by_u64(const void *a, const void *b)
{
    return ORDER(uint64_t, a, b);
}

int sort_places_up(const void *a, const void *b, void *numbers)
{
    const double *number = numbers;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int order = ORDER(double, &number[x], &number[y]);
    return order ? order : ORDER(size_t, a, b);
}

int sort_places_down(const void *a, const void *b, void *numbers)
{
    const double *number = numbers;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int order = ORDER(double, &number[y], &number[x]);
    return order ? order : ORDER(size_t, a, b);
}

void sort_numbers(double *x, size_t n)
{
    if (n)
        qsort(x, n, sizeof *x, by_double);
}

double sort_median(double *x, size_t n)
{
    sort_numbers(x, n);
    return n ? (x[n / 2] + x[(n - 1) / 2]) / 2 : NAN;
}

double sort_median_interval(double *x, size_t n, double *low, double *high)
{
    const double outside = 0.05;
    unsigned below = 0; /* numbers excluded at either end */
    while (2 * gsl_cdf_binomial_P(below + 1, 0.5, (unsigned)n) <= outside)
        below++;
    sort_numbers(x, n);
    *low = x[below];
    *high = x[n - 1 - below];
    return 1 - 2 * gsl_cdf_binomial_P(below, 0.5, (unsigned)n);
}
