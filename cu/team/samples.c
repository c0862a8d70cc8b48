/* cu/team/samples.c – a ring of measurements. */
#include "cu/team/samples.h"
#include "src/sort.h"

void samples_add(struct samples *s, double seconds)
{
    if (!s->count || seconds < s->least)
        s->least = seconds;
    s->seconds[s->count++ % SAMPLES] = (float)seconds;
}

double samples_median(const struct samples *s)
{
    const unsigned n = s->count < SAMPLES ? s->count : SAMPLES;
    double seconds[SAMPLES];
    for (unsigned i = 0; i < n; i++)
        seconds[i] = (double)s->seconds[i];
    return sort_median(seconds, n);
}
