/* kirchhoff/mute.h – top mutes: zero the samples before a time that depends on the offset. */
#pragma once

#include "src/base.h"

enum { MUTE_MOST = 64 };

struct mute {
    int n;                                     /* points; 0: nothing is muted */
    double offset[MUTE_MOST], time[MUTE_MOST]; /* m, ascending; s */
    double taper; /* s after the mute time over which samples fade in */
};

/* Parses "OFFSET:TIME,OFFSET:TIME,…"; NULL: no mute. EK_USAGE. */
enum ek_status mute_parse(const char *text, double taper, struct mute *m);

/* Linear between the points, constant outside; -INFINITY if nothing is muted. */
double mute_time(const struct mute *m, double offset);

/* Mutes sample [n]; the first is at `delay` s, the spacing is dt s. Without a taper, a sample at
 * the mute time stays. */
void mute_apply(const struct mute *m, double offset, double delay, double dt, long n,
                float *sample);
