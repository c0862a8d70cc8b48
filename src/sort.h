/* src/sort.h – order and medians of numbers. */
#ifndef SRC_SORT_H
#define SRC_SORT_H

#include <stddef.h>

/* For qsort(), bsearch() and structs that begin with such a member; ascending. */
int sort_by_double(const void *a, const void *b);
int sort_by_int(const void *a, const void *b);
int sort_by_u64(const void *a, const void *b);

void sort_numbers(double *x, size_t n);

/* The middle of n numbers, or the mean of the two in the middle; NAN where n is 0. Sorts x. */
double sort_median(double *x, size_t n);

#endif
