/* kirchhoff/filter_bank.c – the filter bank, with FFTW. */
#include "kirchhoff/filter_bank.h"
#include "kirchhoff/sum.h"

/* TAIL: zeros against wrapping; FADE_PERCENT: of a level's band; BEHIND: zeros behind a level,
 * where windows are read. */
enum { TAIL = 128, FADE_PERCENT = 30, BEHIND = SUM_BEHIND };

struct filter_bank_scratch {
    float *x;                           /* [fine] */
    fftwf_complex *spectrum, *filtered; /* [n / 2 + 1], [fine / 2 + 1] */
};

/* The next even number that is a power of two times 1, 5 or 25: for others FFTW takes longer, even
 * for somewhat smaller ones. */
static int good_length(int n)
{
    for (;; n++) {
        const int odd = n / (n & -n);
        if (n % 2 == 0 && (odd == 1 || odd == 5 || odd == 25))
            return n;
    }
}

double filter_bank_cutoff(const struct filter_bank *b, int level)
{
    return 0.5 / b->o.dt * exp2(-0.5 * level);
}

static double fade(double f, double top)
{
    const double from = (100 - FADE_PERCENT) * 0.01 * top;
    return f <= from ? 1 : f >= top ? 0 : 0.5 + 0.5 * cos(M_PI * (f - from) / (top - from));
}

double filter_bank_power(enum filter_bank_filter filter)
{
    return (const double[]){1, 0, 0.5, 1}[filter];
}

/* Spectrum of a Ricker wavelet of height 1 and peak frequency `peak`, in samples; peak 0: 1. */
static double ricker(double f, double peak, double dt)
{
    const double square = f / peak * (f / peak);
    return peak > 0 ? 2 / sqrt(M_PI) * square * exp(-square) / (peak * dt) : 1;
}

/* Factors of all frequencies, including the transforms' scale. */
static void fill_gain(struct filter_bank *b)
{
    const int bins = b->n / 2 + 1;
    for (int level = 0; level < b->o.levels; level++)
        for (int i = 0; i < bins; i++) {
            const double f = i / (b->n * b->o.dt);
            const double low = level ? fade(f, filter_bank_cutoff(b, level)) : 1;
            const double slope = pow(2 * M_PI * f, filter_bank_power(b->o.filter));
            const double wavelet = ricker(f, b->o.ricker, b->o.dt);
            b->gain[level * bins + i] = (float)(low * slope * wavelet / b->n);
        }
}

enum ek_status filter_bank_scratch_open(const struct filter_bank *b,
                                        struct filter_bank_scratch **out)
{
    struct filter_bank_scratch *s = calloc(1, sizeof *s);
    if (s) {
        s->x = fftwf_alloc_real((size_t)b->fine);
        s->spectrum = fftwf_alloc_complex((size_t)b->n / 2 + 1);
        s->filtered = fftwf_alloc_complex((size_t)b->fine / 2 + 1);
    }
    if (!s || !s->x || !s->spectrum || !s->filtered) {
        filter_bank_scratch_close(s);
        FAIL(EK_UNAVAILABLE, "out of memory for filters of %d samples", b->fine);
    }
    *out = s;
    return EK_OK;
}

void filter_bank_scratch_close(struct filter_bank_scratch *s)
{
    if (!s)
        return;
    fftwf_free(s->x);
    fftwf_free(s->spectrum);
    fftwf_free(s->filtered);
    free(s);
}

/* Estimated plans are the same in every process, and so are the bits of the results. */
static enum ek_status make_plans(struct filter_bank *b)
{
    OWNED(owned_filter_bank_scratch_close) struct filter_bank_scratch *s = NULL;
    TRY(filter_bank_scratch_open(b, &s));
    b->forward = fftwf_plan_dft_r2c_1d(b->n, s->x, s->spectrum, FFTW_ESTIMATE);
    b->back = fftwf_plan_dft_1d(b->fine / 2, s->filtered, (fftwf_complex *)s->x, FFTW_BACKWARD,
                                FFTW_ESTIMATE);
    b->fine_forward = fftwf_plan_dft_r2c_1d(b->fine, s->x, s->filtered, FFTW_ESTIMATE);
    b->coarse_back = fftwf_plan_dft_c2r_1d(b->n, s->spectrum, s->x, FFTW_ESTIMATE);
    if (!b->forward || !b->back || !b->fine_forward || !b->coarse_back)
        FAIL(EK_UNAVAILABLE, "FFTW has no plan for %d samples", b->fine);
    return EK_OK;
}

enum ek_status filter_bank_open(const struct filter_bank_options *o, struct filter_bank **out)
{
    NEW(struct filter_bank, b, 1, "out of memory for filters");
    b->o = *o;
    b->n = good_length((int)o->ns + TAIL);
    b->fine = o->factor * b->n;
    b->stride = ((size_t)o->factor * (size_t)o->ns + FILTER_BANK_FIRST + BEHIND + 7) / 8 * 8;
    b->size = b->stride * (size_t)o->levels;
    b->rate = o->factor / o->dt;
    b->gain = calloc((size_t)o->levels * ((size_t)b->n / 2 + 1), sizeof *b->gain);
    b->fold = calloc((size_t)b->fine / 4 + 1, sizeof *b->fold);
    enum ek_status st =
        b->gain && b->fold ? make_plans(b)
                           : status_fail(EK_UNAVAILABLE, "out of memory for %d filters", o->levels);
    TRY_OR(st, filter_bank_close(b));
    fill_gain(b);
    for (int k = 0; k <= b->fine / 4; k++) {
        b->fold[k][0] = (float)-sin(2 * M_PI * k / b->fine);
        b->fold[k][1] = (float)cos(2 * M_PI * k / b->fine);
    }
    *out = b;
    return EK_OK;
}

void filter_bank_close(struct filter_bank *b)
{
    if (!b)
        return;
    const fftwf_plan plans[] = {b->forward, b->back, b->fine_forward, b->coarse_back};
    for (int i = 0; i < 4; i++)
        if (plans[i])
            fftwf_destroy_plan(plans[i]);
    free(b->gain);
    free(b->fold);
    free(b);
}

long filter_bank_last(const struct filter_bank *b, long n)
{
    return FILTER_BANK_FIRST + b->o.factor * (n - 1);
}

/* What a filter multiplies by beside a power of omega; -d/dt: -i. */
static const float turns[][2] = {{0, -1}, {1, 0}, {(float)M_SQRT1_2, -(float)M_SQRT1_2}, {1, 0}};

/* Folds the half spectrum X of a real signal of 2 m samples, 0 above `top`, in place to that of the
 * complex signal of m whose parts are its even and its odd samples: Z[k] = s + d, Z[m - k] =
 * conj(s - d) with s = X[k] + conj(X[m - k]), d = i exp(i pi k / m) (X[k] - conj(X[m - k])). FFTW
 * transforms that in half the time, and the samples come in their order. */
static void fold(const struct filter_bank *b, int top, fftwf_complex *x)
{
    const int m = b->fine / 2, last = top < m / 2 ? top : m / 2;
    for (int k = 0; k <= last; k++) {
        const float re = x[k][0] - x[m - k][0], im = x[k][1] + x[m - k][1];
        const float s[2] = {x[k][0] + x[m - k][0], x[k][1] - x[m - k][1]};
        const float d[2] = {b->fold[k][0] * re - b->fold[k][1] * im,
                            b->fold[k][0] * im + b->fold[k][1] * re};
        x[m - k][0] = s[0] - d[0];
        x[m - k][1] = d[1] - s[1];
        x[k][0] = s[0] + d[0];
        x[k][1] = s[1] + d[1];
    }
}

/* Filters the spectrum, turned, to the samples x. */
static void filter(const struct filter_bank *b, struct filter_bank_scratch *s, int level)
{
    const int half = b->n / 2, m = b->fine / 2;
    const int top = level ? (int)(filter_bank_cutoff(b, level) * b->o.dt * b->n) : half;
    const float *gain = b->gain + (size_t)level * ((size_t)half + 1);
    for (int i = 0; i <= top; i++) {
        s->filtered[i][0] = gain[i] * s->spectrum[i][0];
        s->filtered[i][1] = gain[i] * s->spectrum[i][1];
    }
    memset(s->filtered + top + 1, 0, (size_t)(m - top) * sizeof *s->filtered);
    if (m > half) { /* the highest frequency stands for two, of either sign */
        s->filtered[half][0] *= 0.5f;
        s->filtered[half][1] *= 0.5f;
    }
    s->filtered[m][1] = 0; /* as that of a real signal */
    fold(b, top, s->filtered);
    fftwf_execute_dft(b->back, s->filtered, (fftwf_complex *)s->x);
}

void filter_bank_fill(const struct filter_bank *b, struct filter_bank_scratch *s,
                      const float *trace, long n, float *out)
{
    const size_t count = (size_t)(filter_bank_last(b, n) - FILTER_BANK_FIRST + 1);
    const float *turn = turns[b->o.filter];
    memset(s->x, 0, (size_t)b->n * sizeof *s->x);
    memcpy(s->x, trace, (size_t)n * sizeof *s->x);
    fftwf_execute_dft_r2c(b->forward, s->x, s->spectrum);
    for (int i = 0; i <= b->n / 2; i++) {
        const float re = s->spectrum[i][0], im = s->spectrum[i][1];
        s->spectrum[i][0] = re * turn[0] - im * turn[1];
        s->spectrum[i][1] = re * turn[1] + im * turn[0];
    }
    for (int level = 0; level < b->o.levels; level++, out += b->stride) {
        filter(b, s, level);
        memset(out, 0, FILTER_BANK_FIRST * sizeof *out);
        memcpy(out + FILTER_BANK_FIRST, s->x, count * sizeof *out);
        memset(out + FILTER_BANK_FIRST + count, 0,
               (b->stride - FILTER_BANK_FIRST - count) * sizeof *out);
    }
}

/* Multiplies frequencies by the conjugate of their factors. The highest one stands for two
 * there and for one here, so it is not halved. */
void filter_bank_adjoint(const struct filter_bank *b, struct filter_bank_scratch *s,
                         const double *levels, long n, float *trace)
{
    const int bins = b->n / 2 + 1, count = (int)filter_bank_last(b, n) - FILTER_BANK_FIRST + 1;
    const float *turn = turns[b->o.filter];
    memset(s->spectrum, 0, (size_t)bins * sizeof *s->spectrum);
    for (int level = 0; level < b->o.levels; level++, levels += b->stride) {
        const float *gain = b->gain + (size_t)level * (size_t)bins;
        memset(s->x, 0, (size_t)b->fine * sizeof *s->x);
        for (int i = 0; i < count; i++)
            s->x[i] = (float)levels[FILTER_BANK_FIRST + i];
        fftwf_execute_dft_r2c(b->fine_forward, s->x, s->filtered);
        for (int i = 0; i < bins; i++) {
            const float re = gain[i] * s->filtered[i][0], im = gain[i] * s->filtered[i][1];
            s->spectrum[i][0] += re * turn[0] + im * turn[1];
            s->spectrum[i][1] += im * turn[0] - re * turn[1];
        }
    }
    fftwf_execute_dft_c2r(b->coarse_back, s->spectrum, s->x);
    memset(trace, 0, (size_t)b->o.ns * sizeof *trace);
    memcpy(trace, s->x, (size_t)n * sizeof *trace);
}
