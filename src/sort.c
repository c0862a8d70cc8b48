/* src/sort.c – comparators and medians. */
#include "src/sort.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ORDER(type, a, b)                                                                          \
    ((*(const type *)(a) > *(const type *)(b)) - (*(const type *)(a) < *(const type *)(b)))

int sort_by_double(const void *a, const void *b)
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

void sort_numbers(double *x, size_t n)
{
    if (n)
        qsort(x, n, sizeof *x, sort_by_double);
}

double sort_median(double *x, size_t n)
{
    sort_numbers(x, n);
    return n ? (x[n / 2] + x[(n - 1) / 2]) / 2 : NAN;
}
