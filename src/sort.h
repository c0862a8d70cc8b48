/* src/sort.h – order and medians of numbers. */
#pragma once

#include <stddef.h>

/* For qsort(), bsearch() and structs that begin with such a member; ascending. */
int sort_by_int(const void *a, const void *b);
int sort_by_u64(const void *a, const void *b);

/* Defines a comparator of structs, ascending by a member, or by one and then by another. */
#define SORT_ORDER(x, y, member) (((x)->member > (y)->member) - ((x)->member < (y)->member))
#define SORT_BY(name, type, member)                                                                \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        return SORT_ORDER((const type *)a, (const type *)b, member);                               \
    }
#define SORT_BY_BOTH(name, type, member, next)                                                     \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const int first = SORT_ORDER((const type *)a, (const type *)b, member);                    \
        return first ? first : SORT_ORDER((const type *)a, (const type *)b, next);                 \
    }

void sort_numbers(double *x, size_t n);

/* The middle of n numbers, or the mean of the two in the middle; NAN where n is 0. Sorts x. */
double sort_median(double *x, size_t n);

/* *low .. *high = two of the numbers between which the median of what they are drawn from lies, and
 * the confidence in that, whatever its distribution: the narrowest pair of ranks, the same from
 * either end, with 0.95 or more, which takes six numbers; of fewer the whole range, of one 0. Order
 * statistics: David and Nagaraja, Order Statistics, 7.1. n > 0. Sorts x. */
double sort_median_interval(double *x, size_t n, double *low, double *high);
