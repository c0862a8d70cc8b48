/* kirchhoff/filter_bank.h – traces as migration reads them: filtered, resampled more finely, and
 * repeated for each of the low-pass levels that keep steep operators from aliasing.
 *
 * Level 0 holds all frequencies, level b those below half the sampling frequency divided by
 * 2^(b/2), of which the last 30 % fade out. A trace takes `stride` samples per level: one zero,
 * `factor` times the trace's samples, zeros. The filter, by default -d/dt (3-D Kirchhoff: at the
 * image point data are read on the late side of the tangent), is applied to frequencies. Claerbout
 * (SEP-73) and Gray (1992) describe such banks. */
#pragma once

#include "src/base.h"
#include <fftw3.h>

/* -d/dt; none; half of it, (-d/dt)^1/2 = sqrt(omega) turned by -45 degrees, for sums along a line
 * over data from point sources; |omega|, the same from line sources. */
enum filter_bank_filter { FILTER_DERIVATIVE, FILTER_NONE, FILTER_HALF, FILTER_RHO };

/* The power of omega that a filter multiplies by. */
double filter_bank_power(enum filter_bank_filter filter);

struct filter_bank_options {
    long ns;    /* samples of a trace */
    double dt;  /* s */
    int factor; /* finer samples per sample, 1 … 8 */
    int levels; /* 1 … MIGRATE_LEVELS */
    enum filter_bank_filter filter;
    double ricker; /* peak frequency of a Ricker wavelet to convolve with, Hz; 0: none */
};

/* Shared by all threads. */
struct filter_bank {
    struct filter_bank_options o;
    int n, fine;         /* points of the transforms: n samples, and factor * n finer ones */
    size_t stride, size; /* samples of one level, a multiple of 8; of all levels of a trace */
    double rate;         /* samples of a level per second */
    /* Executed with each thread's own arrays; the last two are for the adjoint. */
    fftwf_plan forward, back, fine_forward, coarse_back;
    float *gain;         /* [levels][n / 2 + 1] */
    fftwf_complex *fold; /* [fine / 4 + 1] i exp(2 pi i k / fine) */
};

/* EK_UNAVAILABLE: memory. Caller owns *b; close accepts NULL. From one thread at a time. */
enum ek_status filter_bank_open(const struct filter_bank_options *o, struct filter_bank **b);
void filter_bank_close(struct filter_bank *b);

/* Positions in a level of the first and last of a trace's n samples. */
enum { FILTER_BANK_FIRST = 1 };
long filter_bank_last(const struct filter_bank *b, long n);
/* Highest frequency of a level, Hz. */
double filter_bank_cutoff(const struct filter_bank *b, int level);

/* Scratch for one thread. close accepts NULL. */
struct filter_bank_scratch;
enum ek_status filter_bank_scratch_open(const struct filter_bank *b,
                                        struct filter_bank_scratch **s);
void filter_bank_scratch_close(struct filter_bank_scratch *s);
OWNED_POINTER(struct filter_bank_scratch, filter_bank_scratch_close)

/* Filters a trace's n samples, up to ns, to out [size], which is 0 behind the last
 * one. Any thread with its own scratch. */
void filter_bank_fill(const struct filter_bank *b, struct filter_bank_scratch *s,
                      const float *trace, long n, float *out);
/* The adjoint: levels [size] to trace [ns], 0 behind sample n. */
void filter_bank_adjoint(const struct filter_bank *b, struct filter_bank_scratch *s,
                         const double *levels, long n, float *trace);
