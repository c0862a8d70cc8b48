/* src/sort.h – order and medians of numbers. */
#pragma once

#include <stddef.h>

/* For qsort(), bsearch() and structs that begin with such a member; ascending. */
int sort_by_int(const void *a, const void *b);
int sort_by_u64(const void *a, const void *b);

void sort_numbers(double *x, size_t n);

/* The middle of n numbers, or the mean of the two in the middle; NAN where n is 0. Sorts x. */
double sort_median(double *x, size_t n);

/* *low .. *high = two of the numbers between which the median of what they are drawn from lies, and
 * the confidence in that, whatever its distribution: the narrowest pair of ranks, the same from
 * either end, with 0.95 or more, which takes six numbers; of fewer the whole range, of one 0. Order
 * statistics: David and Nagaraja, Order Statistics, 7.1. n > 0. Sorts x. */
double sort_median_interval(double *x, size_t n, double *low, double *high);
