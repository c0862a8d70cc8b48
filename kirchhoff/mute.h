/* kirchhoff/mute.h – top mutes: what comes before a time that depends on the offset is taken
 * out. */
#pragma once

#include "src/status.h"

enum { MUTE_MOST = 64 };

struct mute {
    int n;                                     /* points; 0: nothing is muted */
    double offset[MUTE_MOST], time[MUTE_MOST]; /* m, ascending; s */
    double taper;                              /* s behind it in which samples fade in */
};

/* Reads "OFFSET:TIME,OFFSET:TIME,…"; NULL: none. EK_USAGE. */
enum ek_status mute_parse(const char *text, double taper, struct mute *m);

/* Linear between the points, constant beyond them; -INFINITY where nothing is muted. */
double mute_time(const struct mute *m, double offset);

/* Mutes sample [n], the first at `delay` s, every dt s. */
void mute_apply(const struct mute *m, double offset, double delay, double dt, long n,
                float *sample);
