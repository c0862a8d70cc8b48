/* kirchhoff/mute.c – parses and applies top mutes. */
#include "kirchhoff/migrate.h"

enum ek_status mute_parse(const char *text, double taper, struct mute *m)
{
    *m = (struct mute){.taper = taper};
    for (const char *at = text ? text : ""; *at; at += *at == ',') {
        double offset, time;
        int used = 0;
        if (sscanf(at, "%lf:%lf%n", &offset, &time, &used) != 2 || !used ||
            (at[used] && at[used] != ',') || !isfinite(offset) || !isfinite(time) || offset < 0)
            FAIL(EK_USAGE, "--mute '%s': '%s' is no OFFSET:TIME, e.g. 0:0.1,1000:0.8", text, at);
        if (m->n == MUTE_MOST || (m->n && !(offset > m->offset[m->n - 1])))
            FAIL(EK_USAGE, "--mute '%s': offsets are to grow, %d points at most", text, MUTE_MOST);
        m->offset[m->n] = offset;
        m->time[m->n++] = time;
        at += used;
    }
    return EK_OK;
}

double mute_time(const struct mute *m, double offset)
{
    int i = 0;
    while (i < m->n && m->offset[i] <= offset)
        i++;
    if (!m->n)
        return -INFINITY;
    if (i == 0 || i == m->n)
        return m->time[i ? i - 1 : 0];
    const double f = (offset - m->offset[i - 1]) / (m->offset[i] - m->offset[i - 1]);
    return m->time[i - 1] + f * (m->time[i] - m->time[i - 1]);
}

void mute_apply(const struct mute *m, double offset, double delay, double dt, long n, float *sample)
{
    const double from = mute_time(m, offset);
    const double rounded = 1e-3 * dt; /* a sample at the end is behind it, however times round */
    for (long i = 0; i < n && delay + (double)i * dt < from + m->taper - rounded; i++) {
        const double inside = delay + (double)i * dt - from;
        sample[i] *= inside <= 0 ? 0 : (float)(0.5 - 0.5 * cos(M_PI * inside / m->taper));
    }
}
