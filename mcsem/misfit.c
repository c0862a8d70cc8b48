/* mcsem/misfit.c – residuals and losses. */
#include "mcsem/misfit.h"

#define LOG_SIGNAL 4.0   /* least |d| / sigma for a logarithmic residual */
#define HUBER      2.5   /* one complex residual in 23 is larger by chance */
#define STUDENT    4.0   /* degrees of freedom */
#define LEAST      1e-60 /* least field that has a logarithm */
#define FIRST_EDGE 0.5
#define MOST       1e300 /* largest square */
#define INLIERS    0.9   /* share of the data that are not outliers */

const char *const misfit_residuals[] = {"complex", "log", NULL};
const char *const misfit_losses[] = {"none", "huber", "student", NULL};

bool misfit_is_log(const struct misfit_options *o, const struct survey_pair *pair,
                   const struct survey_datum *d)
{
    const bool part = d->part == SURVEY_REAL || d->part == SURVEY_IMAGINARY;
    return d->part == SURVEY_PHASE || (o->residual == MISFIT_LOG && !pair->null && !part &&
                                       hypot(d->re, d->im) / d->sigma >= LOG_SIGNAL);
}

/* ln(d / F) to within rounding of 1, far below any error; clog() is more accurate but takes ten
 * times as long. */
struct misfit misfit_of(const struct misfit_options *o, const struct survey_pair *pair,
                        const struct survey_datum *d, double complex field)
{
    const double size = hypot(d->re, d->im), signal = size / d->sigma; /* 0: no datum */
    const bool re = d->part != SURVEY_IMAGINARY && d->part != SURVEY_PHASE;
    const bool im = d->part == SURVEY_BOTH || !re;
    if (!isfinite(d->sigma) || (pair->null && d->part == SURVEY_PHASE))
        return (struct misfit){0, 0, false, false};
    double all = cabs(field);
    if (all < LEAST)
        field = all = LEAST;
    const double x = creal(field) / all, y = cimag(field) / all; /* F = all (x + iy) */
    if (misfit_is_log(o, pair, d)) {
        const double turn = atan2(d->im * x - d->re * y, d->re * x + d->im * y);
        return (struct misfit){re * (signal * log(size / all)) + I * (im * (signal * turn)),
                               signal / all * x - I * (signal / all * y), re, im};
    }
    const double complex turn = d->part == SURVEY_AMPLITUDE ? x - I * y : 1;
    return (struct misfit){survey_residual(d, field), turn / d->sigma, re, im};
}

double misfit_loss(const struct misfit_options *o, double square)
{
    const double limit = HUBER * o->spread, width = STUDENT * o->spread * o->spread;
    const double cut = MISFIT_OUTLIER * o->spread, size = fmin(sqrt(square), cut);
    if (o->robust == MISFIT_HUBER && square > limit * limit)
        return limit * (2 * size - limit + cut * log(square / (size * size)));
    return o->robust == MISFIT_STUDENT ? width * log1p(square / width) : square;
}

double misfit_weight(const struct misfit_options *o, double square)
{
    const double limit = HUBER * o->spread, width = STUDENT * o->spread * o->spread;
    if (o->robust == MISFIT_HUBER && square > limit * limit)
        return limit / sqrt(square) * fmin(1, MISFIT_OUTLIER * o->spread / sqrt(square));
    return o->robust == MISFIT_STUDENT ? 1 / (1 + square / width) : 1;
}

/* ---- outliers -------------------------------------------------------------------------------- */

/* Upper edge of bin b; the last bin has none. */
static double edge(int bin)
{
    return FIRST_EDGE * pow(2, 0.5 * bin);
}

int misfit_bin(double square)
{
    int bin; /* ceil(log2(square / the first edge's)) */
    const double part = frexp(fmin(square, MOST) / (FIRST_EDGE * FIRST_EDGE), &bin);
    bin -= part == 0.5;
    return isnan(square) || bin < 0 ? 0 /* the sums will be NaN, too */
           : bin < MISFIT_BINS      ? bin
                                    : MISFIT_BINS - 1;
}

/* Standard deviation of a number, from the size that the share INLIERS of the residuals stays
 * below. */
static double spread(const struct misfit_bin *bin, double data)
{
    double below = 0;
    int b = 0;
    while (b < MISFIT_BINS - 1 && below + bin[b].data < INLIERS * data)
        below += bin[b++].data;
    const double low = b ? edge(b - 1) : 0, share = (INLIERS * data - below) / fmax(1, bin[b].data);
    const double size = (low + share * (edge(b) - low)) / sqrt(-2 * log(1 - INLIERS));
    return size > 1 ? pow(2, 0.5 * ceil(2 * log2(size) - 0.5)) : 1;
}

struct misfit_summary misfit_summary(const struct misfit_options *o, const struct misfit_bin *bin)
{
    struct misfit_summary s = {0};
    double square = 0, kept = 0;
    for (int b = 0; b < MISFIT_BINS; b++)
        s.data += bin[b].data;
    s.spread = spread(bin, s.data);
    s.limit = INFINITY;
    for (int b = 0; b < MISFIT_BINS && isinf(s.limit); b++) {
        kept += bin[b].data;
        square += bin[b].square;
        s.kept += bin[b].data > 0 ? bin[b].data * misfit_loss(o, bin[b].square / bin[b].data) : 0;
        if (edge(b) >= MISFIT_OUTLIER * s.spread && b < MISFIT_BINS - 1)
            s.limit = edge(b);
    }
    s.outliers = s.data - kept;
    s.rms = sqrt(square / (2 * kept));
    return s;
}
