/* okada_mogi/kernels/okada_opening.c – searches for faults that slip and open on devices. */
#define BASES 3
#include "okada_mogi/kernels/okada.h"
#define VALUES  OKADA_VALUES
#define RESPOND okada_respond
#include "okada_mogi/kernels/search.h"

KERNEL(okada_opening_brute, 64, 1, 1)
(GLOBAL const long *axes, int naxes, GLOBAL const double *table, GLOBAL const long *conditions,
 int nconditions, GLOBAL const int *allowed, GLOBAL const double *stations, int nstations,
 int nsources, long count, int span, GLOBAL int *found)
{
    search_brute(axes, naxes, table, conditions, nconditions, allowed, stations, nstations,
                 nsources, count, span, found);
}

KERNEL(okada_opening_probe, 64, 1, 1)
(GLOBAL const long *axes, int naxes, GLOBAL const double *table, GLOBAL const long *conditions,
 int nconditions, GLOBAL const int *allowed, GLOBAL const double *stations, int nstations,
 int ndirections, double least, double most, long count, int span, GLOBAL int *found)
{
    search_probe(axes, naxes, table, conditions, nconditions, allowed, stations, nstations,
                 ndirections, least, most, count, span, found);
}
