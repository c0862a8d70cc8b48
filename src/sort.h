/* src/sort.h – sorting, bisection, and medians of numbers. */
#pragma once

#include "src/base.h"

/* Comparators for qsort() and bsearch(), ascending; also for structs that begin with such a member.
 */
int sort_by_int(const void *a, const void *b);
int sort_by_u64(const void *a, const void *b);

/* For qsort_r() of places, size_t, in an array of numbers: the smallest or the largest first, equal
 * ones by place. */
int sort_places_up(const void *a, const void *b, void *numbers);
int sort_places_down(const void *a, const void *b, void *numbers);

/* Defines a comparator of structs, by one member or several: SORT_UP(this) ?: SORT_DOWN(that). */
#define SORT_BY(name, type, order)                                                                 \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const type *x = a, *y = b;                                                                 \
        return order;                                                                              \
    }
#define SORT_UP(member)   ((x->member > y->member) - (x->member < y->member))
#define SORT_DOWN(member) (-SORT_UP(member))

/* Bisection: moves `begin` and `end` to the first index for which `before`, about `middle`, is
 * false; it must not become true again. */
#define SORT_BISECT(begin, end, before)                                                            \
    while ((begin) < (end)) {                                                                      \
        const __typeof__(begin) middle = (begin) + ((end) - (begin)) / 2;                          \
        if (before)                                                                                \
            (begin) = middle + 1;                                                                  \
        else                                                                                       \
            (end) = middle;                                                                        \
    }

void sort_numbers(double *x, size_t n);

/* The median of n numbers (the mean of the middle two if n is even), NAN if n is 0. Sorts x. */
double sort_median(double *x, size_t n);

/* Confidence interval *low .. *high of the median, made of two of the numbers; returns its
 * confidence, which holds for any distribution: the narrowest symmetric pair of ranks with at least
 * 0.95 (needs six numbers; fewer give the whole range, one number gives confidence 0). Order
 * statistics: David and Nagaraja, Order Statistics, 7.1. n > 0. Sorts x. */
double sort_median_interval(double *x, size_t n, double *low, double *high);
