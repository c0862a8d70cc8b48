/* kirchhoff/filter_bank.h – traces as migration reads them: filtered, sampled more finely, and once
 * more for each of the low-pass levels that keep steep operators from aliasing.
 *
 * Level 0 holds all frequencies, level b those below half of the sampling frequency divided by
 * 2^(b/2); its last 30 % fade out. A trace takes stride samples a level: one zero, `factor` times
 * the trace's samples, zeros. The filter is -d/dt (3-D Kirchhoff: at the image point data are read
 * on the late side of the tangent), applied to frequencies; Claerbout (SEP-73) and Gray (1992) have
 * the idea of a bank. */
#pragma once

#include "src/status.h"
#include <stddef.h>

/* -d/dt; nothing; its half, (-d/dt)^1/2 = sqrt(omega) turned by -45 degrees, for the sum along a
 * line over data of point sources; |omega|, over data of line sources. */
enum filter_bank_filter { FILTER_DERIVATIVE, FILTER_NONE, FILTER_HALF, FILTER_RHO };

/* Of omega, that a filter multiplies by. */
double filter_bank_power(enum filter_bank_filter filter);

struct filter_bank_options {
    long ns;    /* samples of a trace */
    double dt;  /* s */
    int factor; /* finer sampling, 1 … 8 */
    int levels; /* 1 … MIGRATE_LEVELS */
    enum filter_bank_filter filter;
    double ricker; /* convolved with a Ricker wavelet of this peak frequency, Hz; 0: not */
};

struct filter_bank; /* plans and factors; shared by all threads */

/* EK_UNAVAILABLE: memory. Caller owns *b; close accepts NULL. One thread. */
enum ek_status filter_bank_open(const struct filter_bank_options *o, struct filter_bank **b);
void filter_bank_close(struct filter_bank *b);

/* Samples of one level, a multiple of 8; and of a whole trace. */
size_t filter_bank_stride(const struct filter_bank *b);
size_t filter_bank_size(const struct filter_bank *b);
/* Where the first sample lies in a level, and the last one. */
enum { FILTER_BANK_FIRST = 1 };
long filter_bank_last(const struct filter_bank *b);
/* Samples of a level per second. */
double filter_bank_rate(const struct filter_bank *b);
/* Highest frequency of a level, Hz. */
double filter_bank_cutoff(const struct filter_bank *b, int level);

/* Scratch for one thread. close accepts NULL. */
struct filter_bank_scratch;
enum ek_status filter_bank_scratch_open(const struct filter_bank *b,
                                        struct filter_bank_scratch **s);
void filter_bank_scratch_close(struct filter_bank_scratch *s);

/* trace [ns] to out [filter_bank_size()]. Any thread with scratch of its own. */
void filter_bank_fill(const struct filter_bank *b, struct filter_bank_scratch *s,
                      const float *trace, float *out);
/* Its adjoint: levels [filter_bank_size()] to trace [ns]. */
void filter_bank_adjoint(const struct filter_bank *b, struct filter_bank_scratch *s,
                         const double *levels, float *trace);
