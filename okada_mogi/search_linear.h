/* okada_mogi/search_linear.h – which amplitudes a component allows: the displacement is
 * amplitude * g, so low <= amplitude * g <= high bounds the amplitude. */
#ifndef OKADA_MOGI_SEARCH_LINEAR_H
#define OKADA_MOGI_SEARCH_LINEAR_H

#include <stdbool.h>

/* Amplitudes from lo to hi; none where lo > hi. */
struct search_interval {
    double lo, hi;
};

/* Narrows *a; whatever is no number leaves it as it is, for the judge to see. */
static inline void search_narrow(struct search_interval *a, double g, double low, double high)
{
    const double x = low / g, y = high / g; /* g = 0: infinite, of the signs of low and high */
    const double lo = g < 0 ? y : x, hi = g < 0 ? x : y;
    a->lo = lo > a->lo ? lo : a->lo;
    a->hi = hi < a->hi ? hi : a->hi;
}

static inline bool search_empty(struct search_interval a)
{
    return a.lo > a.hi;
}

#endif
