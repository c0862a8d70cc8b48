/* cu/team/samples.c – a ring of measurements. */
#include "cu/team/samples.h"

#include <math.h>
#include <stdlib.h>

void samples_add(struct samples *s, double seconds)
{
    if (!s->count || seconds < s->least)
        s->least = seconds;
    s->seconds[s->count++ % SAMPLES] = (float)seconds;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

double samples_median(const struct samples *s)
{
    struct samples sorted = *s;
    unsigned n = s->count < SAMPLES ? s->count : SAMPLES;
    if (!n)
        return NAN;
    qsort(sorted.seconds, n, sizeof *sorted.seconds, by_value);
    return ((double)sorted.seconds[n / 2] + (double)sorted.seconds[(n - 1) / 2]) / 2;
}
