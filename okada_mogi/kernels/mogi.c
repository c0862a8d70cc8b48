/* okada_mogi/kernels/mogi.c – searches for spheres on devices; see search.h. */
#include "okada_mogi/kernels/mogi.h"
#define VALUES  MOGI_VALUES
#define BASES   1
#define RESPOND mogi_respond
#include "okada_mogi/kernels/search.h"

KERNEL(mogi_brute, 64, 1, 1)
(GLOBAL const long *axes, int naxes, GLOBAL const double *table, GLOBAL const long *conditions,
 int nconditions, GLOBAL const int *allowed, GLOBAL const double *stations, int nstations,
 int nsources, long count, int span, GLOBAL int *found)
{
    search_brute(axes, naxes, table, conditions, nconditions, allowed, stations, nstations,
                 nsources, count, span, found);
}

KERNEL(mogi_probe, 64, 1, 1)
(GLOBAL const long *axes, int naxes, GLOBAL const double *table, GLOBAL const long *conditions,
 int nconditions, GLOBAL const int *allowed, GLOBAL const double *stations, int nstations,
 int ndirections, double least, double most, long count, int span, GLOBAL int *found)
{
    search_probe(axes, naxes, table, conditions, nconditions, allowed, stations, nstations,
                 ndirections, least, most, count, span, found);
}
