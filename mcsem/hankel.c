/* mcsem/hankel.c – computes the weights: an inverse Fourier transform by the trapezoidal rule in
 * extended precision at a few shifts, from which Chebyshev series in the shift follow. */
#include "mcsem/hankel.h"

#include <complex.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SHIFTS = HANKEL_SHIFTS, ORDERS = 2 };
enum { FOLDED = 4 };        /* samples used for the extrapolation to x = 0 */
#define FREQUENCY_STEP 0.5L /* of the trapezoidal rule in s, whose images are PERIOD apart in u */
#define PERIOD         (2 * acosl(-1) / FREQUENCY_STEP)
/* What the window changes at one u it changes up to this distance, in units of step / width, where
 * its Gaussian factor exp(-(width t / 2 step)^2) is below 1e-24. So far beyond x = pi / step the
 * weights are nothing but rounding, which kernels that grow like x^2, of instruments at one depth,
 * would make larger than fields of many skin depths: no filter goes further (x_last). */
#define REACH 15

/* Largest errors over 414 fields of six sea floors, of those above 1e-15 V/(A m^2) and of all. */
static const struct design {
    double step, width, x_first, x_last;
} designs[HANKEL_DESIGNS] = {
    {0.14, 0.50, 4e-2, 300},  /*  64 points, 3e-4,  4e-2 */
    {0.12, 0.40, 3e-2, 600},  /*  84 points, 4e-6,  9e-4 */
    {0.09, 0.35, 2e-2, 600},  /* 116 points, 7e-9,  4e-6 */
    {0.08, 0.35, 1e-2, 600},  /* 138 points, 2e-10, 2e-7 */
    {0.065, 0.35, 5e-3, 900}, /* 187 points, 7e-11, 7e-9 */
    {0.05, 0.35, 1e-6, 600},  /* 405 points: the rest */
    {0.14, 0.50, 1e-6, 300},  /* 140 points: the first one without extrapolation */
    {0.065, 0.35, 1e-6, 900}, /* 318 points: the last but one without extrapolation */
};

/* ln Gamma(z), re z > 0: Stirling's series after a shift to re z >= 12. POWER divides long doubles
 * at run time only. */
static long double complex log_gamma(long double complex z)
{
    const long double bernoulli[] = {
        1 / 12.0L,        -1 / 360.0L, 1 / 1260.0L,       -1 / 1680.0L,      1 / 1188.0L,
        -691 / 360360.0L, 1 / 156.0L,  -3617 / 122400.0L, 43867 / 244188.0L, -174611 / 125400.0L};
    long double complex shift = 0, series = 0;
    for (; creall(z) < 12; z += 1)
        shift -= clogl(z);
    long double complex power = 1 / z;
    for (int k = 0; k < 10; k++) {
        series += bernoulli[k] * power;
        power /= z * z;
    }
    return shift + series + (z - 0.5L) * clogl(z) - z + 0.5L * logl(2 * acosl(-1));
}

/* Spectrum of J_nu times that of the cardinal function, at s. */
static long double complex spectrum(const struct design *d, int nu, long double s)
{
    const long double pi = acosl(-1), t = s * d->step;
    const long double complex is = I * s;
    const long double window = 0.25L * erfcl((t - pi) / d->width) * erfcl((-t - pi) / d->width);
    const long double complex gamma = log_gamma((1 + nu + is) / 2);
    return window * cexpl(is * logl(2) + gamma - conjl(gamma));
}

/* Frequencies beyond which the window is below 1e-20. */
static int frequencies(const struct design *d)
{
    return (int)((acosl(-1) + 7 * d->width) / d->step / FREQUENCY_STEP) + 1;
}

/* Up to here x J_nu(x) has no frequencies that the window changes; it cuts at x = pi / step. */
static bool is_resolved(const struct design *d, long double u)
{
    return u < logl(acosl(-1) / d->step) - REACH * d->step / d->width;
}

/* w(u) there. */
static long double resolved(const struct design *d, int nu, long double u)
{
    const long double x = expl(u);
    return d->step * x * jnl(nu, x);
}

/* w(u) of both orders from their spectra at s = k FREQUENCY_STEP, k = 0 .. n-1; the negative halves
 * are conjugate. Images from below u are resolved, those from above are beyond the window. */
static void transform(const struct design *d, long double complex (*at)[ORDERS], int n,
                      long double u, long double *w)
{
    const long double c = cosl(FREQUENCY_STEP * u), s = sinl(FREQUENCY_STEP * u);
    long double re = c, im = -s; /* exp(-i s_k u) */
    long double sum[ORDERS] = {0.5L * creall(at[0][0]), 0.5L * creall(at[0][1])};
    for (int k = 1; k < n; k++) {
        const long double was = re;
        for (int nu = 0; nu < ORDERS; nu++)
            sum[nu] += creall(at[k][nu]) * re - cimagl(at[k][nu]) * im;
        re = c * re + s * im;
        im = c * im - s * was;
    }
    for (int nu = 0; nu < ORDERS; nu++) {
        w[nu] = sum[nu] * FREQUENCY_STEP * d->step / acosl(-1);
        for (long double image = u - PERIOD; image > -50; image -= PERIOD)
            w[nu] -= resolved(d, nu, image);
    }
}

static void weigh(const struct design *d, long double complex (*at)[ORDERS], int n, long double u,
                  long double *w)
{
    if (!is_resolved(d, u))
        return transform(d, at, n, u, w);
    for (int nu = 0; nu < ORDERS; nu++)
        w[nu] = resolved(d, nu, u);
}

/* Adds to the weights w [FOLDED samples, `stride` apart] the contribution of x below the first
 * sample, where K/l is the cubic through these samples and w(u) = step x J_nu(x). */
static void fold(const struct design *d, int nu, double u_first, int stride, double *w)
{
    double at[FOLDED];
    for (int p = 0; p < FOLDED; p++)
        at[p] = exp(u_first + p * stride * d->step);
    for (double u = u_first - d->step; u > u_first - 40; u -= d->step) {
        const double x = exp(u);
        for (int p = 0; p < FOLDED; p++) {
            double share = x / at[p];
            for (int q = 0; q < FOLDED; q++)
                share *= q == p ? 1 : (x - at[q]) / (at[p] - at[q]);
            w[p * stride] += d->step * x * jn(nu, x) * share;
        }
    }
}

/* The shift at Chebyshev node j. */
static double node(const struct design *d, int j)
{
    return 0.5 * d->step * (1 + cos(acos(-1) * (j + 0.5) / SHIFTS));
}

/* Weights at every node, w [ORDERS][SHIFTS][n]. */
static void sample(const struct design *d, const struct hankel *h,
                   long double complex (*at)[ORDERS], double *w)
{
    const int ns = frequencies(d), stride = (int)(0.35 / d->step) + 1;
    for (int k = 0; k < ns; k++)
        for (int nu = 0; nu < ORDERS; nu++)
            at[k][nu] = spectrum(d, nu, k * FREQUENCY_STEP);
    for (int j = 0; j < SHIFTS; j++) {
        double *of[ORDERS] = {w + j * h->n, w + (SHIFTS + j) * h->n};
        for (int i = 0; i < h->n; i++) {
            const long double u = (h->first + i) * (long double)d->step + node(d, j);
            long double here[ORDERS];
            weigh(d, at, ns, u, here);
            for (int nu = 0; nu < ORDERS; nu++)
                of[nu][i] = (double)here[nu];
        }
        for (int nu = 0; nu < ORDERS; nu++)
            fold(d, nu, h->first * d->step + node(d, j), stride, of[nu]);
    }
}

/* Chebyshev coefficients [SHIFTS][n] of samples [SHIFTS][n]. */
static void analyse(int n, const double *w, double *series)
{
    for (int p = 0; p < SHIFTS; p++)
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < SHIFTS; j++)
                sum += w[j * n + i] * cos(acos(-1) * p * (j + 0.5) / SHIFTS);
            series[p * n + i] = sum * (p ? 2.0 : 1.0) / SHIFTS;
        }
}

static enum ek_status make(const struct design *d, struct hankel *h)
{
    h->step = d->step;
    h->first = (int)floor(log(d->x_first) / d->step);
    h->n = (int)ceil(log(d->x_last) / d->step) - h->first;
    const size_t size = (size_t)SHIFTS * (size_t)h->n;
    OWNED_MEMORY long double complex(*at)[ORDERS] = calloc((size_t)frequencies(d), sizeof *at);
    OWNED_MEMORY double *w = calloc(ORDERS * size, sizeof *w);
    h->ladder = calloc(HANKEL_LADDER + ORDERS * size, sizeof *h->ladder);
    h->series = h->ladder ? h->ladder + HANKEL_LADDER : NULL;
    for (int i = 0; i < HANKEL_LADDER && h->ladder; i++)
        h->ladder[i] = exp((h->first + i) * h->step);
    if (!at || !w || !h->series) {
        free(h->ladder);
        FAIL(EK_UNAVAILABLE, "out of memory for a filter of %d points", h->n);
    }
    sample(d, h, at, w);
    for (size_t nu = 0; nu < ORDERS; nu++)
        analyse(h->n, w + nu * size, h->series + nu * size);
    return EK_OK;
}

enum ek_status hankel_open(int which, const struct hankel **filter)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct hankel made[HANKEL_DESIGNS];
    static atomic_bool ready[HANKEL_DESIGNS];
    *filter = &made[which];
    if (ready[which])
        return EK_OK;
    LOCKED(&lock);
    if (!ready[which])
        TRY(make(&designs[which], &made[which]));
    ready[which] = true;
    return EK_OK;
}

void hankel_weights(const struct hankel *h, double shift, double *w0, double *w1)
{
    const double x = hankel_place(h, shift);
    const size_t n = (size_t)h->n, order = SHIFTS * n;
    double t[SHIFTS] = {1, x};
    for (int p = 2; p < SHIFTS; p++)
        t[p] = 2 * x * t[p - 1] - t[p - 2];
    for (size_t i = 0; i < n; i++) {
        double sum0 = 0, sum1 = 0;
        for (int p = SHIFTS - 1; p >= 0; p--) {
            sum0 += t[p] * h->series[(size_t)p * n + i];
            sum1 += t[p] * h->series[order + (size_t)p * n + i];
        }
        w0[i] = sum0;
        w1[i] = sum1;
    }
}
