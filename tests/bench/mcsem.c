/* tests/bench/mcsem.c – one core of mcsem: pairs per second in exact and shared mode with all
 * derivatives, the difference between the modes, and the cost of a cell, a + b pairs. 3
 * frequencies, 1.5 km of sea over 40 or 91 layers, sources 0.5 to 12 km from the receiver. Medians
 * of this thread's cpu time. The equations of the published case come first, or alone with the
 * argument "uncertainty". PEER_DIPOLE1D and PEER_EMPYMOD name other programs to run on the same
 * case. */
#include "mcsem/cell.h"
#include "mcsem/forward.h"
#include "mcsem/normal.h"
#include "src/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FREQUENCIES = 3, PAIRS = 784, RUNS = 5, SIZES = 4, EXACT_SIZES = 3 };
static const double freq[FREQUENCIES] = {0.25, 0.75, 1.25};
#define WATER 1500.0
#define FLOOR 1e-15

static void must(enum ek_status st)
{
    if (st)
        exit((int)st);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

/* ---- the case -------------------------------------------------------------------------------- */

/* One column: 1 ohm m with a reservoir of 50 ohm m in the middle. */
static struct earth *sea_floor(int layers)
{
    struct earth *e;
    must(earth_open(1, 1, layers, 4200.0 / layers, WATER, 1, &e));
    for (int k = layers / 3; k < layers / 3 + 3; k++)
        e->m[k] = log(50);
    return e;
}

/* How the source is towed: a level point, or a 270 m wire that strays as real ones do. */
struct tow {
    const char *name;
    double length, stray, dip;
};
static const struct tow tows[] = {{"point, level", 0, 0, 0}, {"wire, strays", 270, 3, 0.017}};
enum { TOWS = sizeof tows / sizeof *tows };

/* The sum of a few uniform numbers is nearly normally distributed. */
static double stray(double by)
{
    return by * (drand48() + drand48() + drand48() + drand48() - 2) * sqrt(3);
}

static struct survey *towed(const struct tow *t, size_t npairs, const struct earth *earth)
{
    struct survey *s;
    must(survey_open(npairs, FREQUENCIES, &s));
    memcpy(s->freq, freq, sizeof freq);
    srand48(1);
    for (size_t i = 0; i < npairs; i++) {
        const double offset = 500 + 11500 * ((double)i + 0.5) / (double)npairs;
        s->pair[i] = (struct survey_pair){.source = {-offset / 2, 0, WATER - 40 + stray(t->stray)},
                                          .receiver = {offset / 2, 0, WATER - 0.1},
                                          .direction = {1, 0, 0},
                                          .length = t->length,
                                          .dip = stray(t->dip),
                                          .azimuth = stray(3 * t->dip)};
        for (int q = 0; q < FREQUENCIES; q++)
            s->datum[i * FREQUENCIES + (size_t)q] =
                (struct survey_datum){1e-12, 0, 1e-13, SURVEY_BOTH};
    }
    must(survey_bin(s, earth, true));
    return s;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Seconds of a cell: fields, derivatives and normal equations. */
static double cell_seconds(enum cell_mode mode, const struct survey *s, const struct earth *e,
                           int runs, struct cell_report *report, double complex *response)
{
    const struct cell_options options = {
        mode, {MISFIT_COMPLEX, MISFIT_SQUARE, 1}, 1e-5, FLOOR, true};
    double *sums = malloc(cell_sums(e->nz) * sizeof *sums), seconds[RUNS];
    struct cell_work *w;
    must(cell_open(s, e, &options, 1, NULL, &w));
    for (int r = 0; r < runs; r++) {
        const double start = clock_cpu();
        must(cell_compute(w, NULL, e->m, 0, sums, response, report));
        seconds[r] = clock_cpu() - start;
    }
    cell_close(w);
    free(sums);
    return median(seconds, runs);
}

/* Fits a + b n to the points by relative least squares. */
static void fit(int points, const double *n, const double *seconds, double *a, double *b)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < points; i++) {
        const double weight = 1 / (seconds[i] * seconds[i]);
        w += weight;
        x += weight * n[i];
        y += weight * seconds[i];
        xx += weight * n[i] * n[i];
        xy += weight * n[i] * seconds[i];
    }
    *b = (w * xy - x * y) / (w * xx - x * x);
    *a = (y - *b * x) / w;
}

/* Times cells of several sizes; stores the response of a cell with PAIRS pairs. */
static double bench_mode(enum cell_mode mode, const struct tow *tow, const struct earth *e,
                         double complex *response)
{
    static const size_t sizes[2][SIZES] = {{50, 200, PAIRS, 0}, {50, 200, PAIRS, 3136}};
    const int points = mode == CELL_EXACT ? EXACT_SIZES : SIZES;
    double n[SIZES], seconds[SIZES], a, b, whole = 0;
    struct cell_report of_whole = {0};
    for (int i = 0; i < points; i++) {
        struct cell_report report;
        struct survey *s = towed(tow, sizes[mode][i], e);
        double complex *to = calloc(s->npairs * FREQUENCIES, sizeof *to);
        n[i] = (double)s->npairs;
        seconds[i] = cell_seconds(mode, s, e, mode == CELL_EXACT ? 1 : RUNS, &report, to);
        if (s->npairs == PAIRS) {
            memcpy(response, to, PAIRS * FREQUENCIES * sizeof *to);
            whole = seconds[i];
            of_whole = report;
        }
        free(to);
        survey_close(s);
    }
    fit(points, n, seconds, &a, &b);
    printf("%-6d %-13s %-7s %10.0f %10.0f %9.3f %10.3f", e->nz, tow->name,
           mode == CELL_EXACT ? "exact" : "shared", PAIRS / whole, 1 / b, 1e3 * a, 1e6 * b);
    if (mode == CELL_EXACT)
        printf("   filter %d\n", of_whole.filter);
    else
        printf("   table %d, %zu pairs exact, it reports %.1e", of_whole.density, of_whole.exact,
               of_whole.difference);
    return whole;
}

static void bench_case(int layers, const struct tow *tow)
{
    static double complex exact[PAIRS * FREQUENCIES], shared[PAIRS * FREQUENCIES];
    struct earth *e = sea_floor(layers);
    double worst = 0;
    bench_mode(CELL_EXACT, tow, e, exact);
    bench_mode(CELL_SHARED, tow, e, shared);
    for (int i = 0; i < PAIRS * FREQUENCIES; i++)
        worst = fmax(worst, cabs(shared[i] - exact[i]) / fmax(cabs(exact[i]), FLOOR));
    printf(", seen %.1e\n", worst);
    earth_close(e);
}

/* ---- single pairs ---------------------------------------------------------------------------- */

/* Exact mode by filter, with and without derivatives. */
static void bench_filters(int layers)
{
    struct earth *e = sea_floor(layers);
    struct survey *s = towed(&tows[0], 40, e);
    static struct earth_layers l;
    struct forward *f;
    double complex field[FREQUENCIES], *derivative;
    earth_column(e, 0, NULL, &l);
    must(forward_open(l.n, FREQUENCIES, &f));
    derivative = calloc((size_t)(FREQUENCIES * l.n), sizeof *derivative);
    for (int filter = 0; filter < HANKEL_FILTERS; filter++) {
        double rate[2];
        for (int d = 0; d < 2; d++) {
            double seconds[RUNS];
            for (int r = 0; r < RUNS; r++) {
                const double start = clock_cpu();
                for (size_t i = 0; i < s->npairs; i++)
                    must(forward_pair(f, &l, &s->pair[i], FREQUENCIES, freq, filter,
                                      d ? FORWARD_BELOW : FORWARD_FIELD, field, derivative));
                seconds[r] = clock_cpu() - start;
            }
            rate[d] = (double)s->npairs / median(seconds, RUNS);
        }
        printf("%-6d %-8d %12.0f %14.0f\n", layers, filter, rate[0], rate[1]);
    }
    free(derivative);
    forward_close(f);
    survey_close(s);
    earth_close(e);
}

/* ---- uncertainty ----------------------------------------------------------------------------- */

/* The published grid, 40,139 unknowns, with sums of random rows: a solution, and all unknowns'
 * variances, resolution and depth from the factor. */
static void bench_uncertainty(void)
{
    const struct prior_options options = {.differences = 1, .rho_min = 0.1, .rho_max = 1e4};
    const struct prior_weights mu = {{1, 0.03}};
    struct earth *e;
    struct prior *p;
    struct normal *n;
    must(earth_open(41, 11, 89, 47.2, WATER, 1, &e));
    must(prior_open(e, &options, &p));
    must(normal_open(e, p, &n));
    const size_t unknowns = earth_size(e), cell = cell_sums(e->nz);
    double *sums = calloc((size_t)earth_columns(e) * cell, sizeof *sums);
    double *variance = malloc(unknowns * sizeof *variance),
           *share = calloc(unknowns, sizeof *share);
    double seconds[2][3], least = INFINITY, most = 0;
    srand48(1);
    for (int c = 0; c < earth_columns(e); c++)
        for (int r = 0; r < 5; r++) {
            double row[90];
            for (int i = 0; i < 90; i++)
                row[i] = (drand48() - 0.5) * exp(-0.05 * i);
            for (int i = 0; i < 90; i++)
                for (int j = 0; j <= i; j++)
                    sums[(size_t)c * cell + cell_sum_at(i, j)] += row[i] * row[j];
        }
    for (int r = 0; r < 3; r++) {
        double start = clock_cpu();
        must(normal_solve(n, sums, share, mu, 0.01, false, variance));
        seconds[0][r] = clock_cpu() - start;
        start = clock_cpu();
        must(normal_covariance(n, sums, mu, variance, share));
        seconds[1][r] = clock_cpu() - start;
    }
    for (size_t i = 0; i < unknowns; i++) {
        least = fmin(least, sqrt(variance[i]));
        most = fmax(most, sqrt(variance[i]));
    }
    printf(
        "\n%zu unknowns: a solution %.2f s; standard deviations of all (%.2f to %.2f), shares of "
        "the data %.2f s\n",
        unknowns, median(seconds[0], 3), least, most, median(seconds[1], 3));
    free(sums);
    free(variance);
    free(share);
    normal_close(n);
    prior_close(p);
    earth_close(e);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void bench_peer(const char *variable, const char *what)
{
    const char *command = getenv(variable);
    if (!command)
        printf("%s skipped: %s is not set (%s)\n", variable, variable, what);
    else if (system(command))
        printf("%s: '%s' failed\n", variable, command);
}

int main(int argc, char **argv)
{
    static const int layers[] = {40, 91};
    bench_uncertainty();
    if (argc > 1 && !strcmp(argv[1], "uncertainty"))
        return 0;
    printf("exact mode by filter: pairs a second of %d frequencies\n", FREQUENCIES);
    printf("%-6s %-8s %12s %14s\n", "layers", "filter", "fields", "+ derivatives");
    for (int i = 0; i < 2; i++)
        bench_filters(layers[i]);
    printf("\na cell of %d pairs: fields, derivatives, J'W^2 J; it costs a + b pairs\n", PAIRS);
    printf("%-6s %-13s %-7s %10s %10s %9s %10s\n", "layers", "source", "mode", "pairs/s", "1/b",
           "a, ms", "b, us");
    for (int i = 0; i < 2; i++)
        for (int t = 0; t < TOWS; t++)
            bench_case(layers[i], &tows[t]);
    bench_peer("PEER_EMPYMOD", "a command that times empymod on this case");
    bench_peer("PEER_DIPOLE1D", "a command that times Dipole1D on this case");
    return 0;
}
