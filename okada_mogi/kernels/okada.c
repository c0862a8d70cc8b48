/* okada_mogi/kernels/okada.c – searches for faults on devices; see search.h. */
#include "okada_mogi/kernels/okada.h"

/* The station is on the fault, which reaches the ground there: the displacement jumps, and rounding
 * decides to which side. */
FN int okada_jumps(const real *value, real east, real north)
{
    struct okada_view v;
    okada_look(value, east, north, &v);
    const real near = 1e-9 * (value[OKADA_HALF] + value[OKADA_WIDTH]);
    return ABS(v.q) < near && v.xi1 > -near && v.xi2 < near && v.eta1 > -near && v.eta2 < near;
}

/* No numbers where the displacement jumps: the host says what it takes it for. */
FN void okada_respond(const real *value, real east, real north, real *out)
{
    struct okada_terms t;
    okada_algebra(value, east, north, &t);
    okada_functions(&t);
    okada_displace(value, east, north, &t, out);
    if (okada_jumps(value, east, north))
        for (int k = 0; k < 6; k++)
            out[k] = 0.0 / 0.0;
}

#define VALUES  OKADA_VALUES
#define BASES   2
#define RESPOND okada_respond
#include "okada_mogi/kernels/search.h"

KERNEL(okada_brute, 64, 1, 1)
(GLOBAL const long *axes, int naxes, GLOBAL const double *table, GLOBAL const long *conditions,
 int nconditions, GLOBAL const int *allowed, GLOBAL const double *stations, int nstations,
 int nsources, long count, int span, GLOBAL int *found)
{
    search_brute(axes, naxes, table, conditions, nconditions, allowed, stations, nstations,
                 nsources, count, span, found);
}

KERNEL(okada_probe, 64, 1, 1)
(GLOBAL const long *axes, int naxes, GLOBAL const double *table, GLOBAL const long *conditions,
 int nconditions, GLOBAL const int *allowed, GLOBAL const double *stations, int nstations,
 int ndirections, double least, double most, long count, int span, GLOBAL int *found)
{
    search_probe(axes, naxes, table, conditions, nconditions, allowed, stations, nstations,
                 ndirections, least, most, count, span, found);
}
