/* tests/test_mcsem_prior.c – what decides which model explains the data best, by definition: rows
 * of the prior for earths with and without vertical resistivities, quantiles and losses of
 * residuals, planted calibration errors, uncertainties by dense matrices. */
#include "mcsem/drift.h"
#include "mcsem/uncertainty.h"
#include "src/random.h"
#include "tests/mcsem.h"

#include <unistd.h>

static uint64_t dice = 3;

static double drawn(double min, double max)
{
    return min + (max - min) * random_uniform(&dice);
}

static int one_of(int n)
{
    return (int)drawn(0, n);
}

/* ---- the prior --------------------------------------------------------------------------------*/

enum { MOST = 200 };

/* Thicknesses, ratios, sea floor and resistivities differ. */
static struct earth *draw_earth(int nx, int ny, int nz, bool vertical)
{
    struct earth *e;
    assert_int_equal(earth_open(nx, ny, nz, 100, 1000, 1, &e), EK_OK);
    for (int k = 0; k < nz; k++) {
        e->anisotropy[k] = drawn(1, 3);
        e->top[k] = k ? e->top[k - 1] + drawn(30, 200) : 0;
    }
    for (int c = 0; c < nx * ny; c++)
        e->seabed[c] = drawn(900, 1100);
    if (vertical)
        earth_add_vertical(e);
    assert_true(earth_size(e) <= MOST);
    for (size_t i = 0; i < earth_size(e); i++)
        e->m[i] = drawn(-2, 2);
    return e;
}

/* Options and, by unknown [columns][halves][layers], what they mean. */
struct wishes {
    struct prior_options options;
    double reference[MOST], low[MOST], high[MOST];
    bool given[MOST], fixed[MOST], cut[MOST]; /* cut: below the layer */
    char controls[32], reference_file[32], table[32], horizons[96];
};

static FILE *file_for(char *path, const char *pattern)
{
    strcpy(path, pattern);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    return fdopen(file, "w");
}

/* Rows of controls; later ones win. */
static void draw_controls(const struct earth *e, struct wishes *w)
{
    const int own = earth_unknowns(e), nz = e->nz;
    FILE *f = file_for(w->controls, "/tmp/mcsem-controls-XXXXXX");
    fputs("column,layer,fixed,rho_min,rho_max,reference_ohmm\n", f);
    for (int row = 0; row < 4; row++) {
        const int column = one_of(2) ? one_of(earth_columns(e)) : -1;
        const int layer = one_of(3) ? one_of(nz) : -1, fixed = one_of(3) - 1;
        const double low = one_of(2) ? drawn(0.01, 0.9) : 0, high = one_of(2) ? drawn(1, 90) : 0,
                     reference = one_of(2) ? drawn(0.5, 20) : 0;
        char text[3][32] = {"", "", ""}, place[2][16] = {"", ""}, held[16] = "";
        for (int k = 0; k < 3; k++)
            if ((const double[]){low, high, reference}[k] > 0)
                sprintf(text[k], "%.17g", (const double[]){low, high, reference}[k]);
        for (int k = 0; k < 2; k++)
            if ((k ? layer : column) >= 0)
                sprintf(place[k], "%d", k ? layer : column);
        if (fixed >= 0)
            sprintf(held, "%d", fixed);
        fprintf(f, "%s,%s,%s,%s,%s,%s\n", place[0], place[1], held, text[0], text[1], text[2]);
        for (int c = 0; c < earth_columns(e); c++)
            for (int i = 0; i < own; i++) {
                const int at = c * own + i, k = i % nz;
                if ((column >= 0 && c != column) || (layer >= 0 && k != layer))
                    continue;
                w->fixed[at] = fixed < 0 ? w->fixed[at] : fixed;
                w->low[at] = low > 0 ? log(low) : w->low[at];
                w->high[at] = high > 0 ? log(high) : w->high[at];
                if (reference > 0) {
                    w->given[at] = true;
                    w->reference[at] = log(reference * (i < nz ? 1 : e->anisotropy[k]));
                }
            }
    }
    fclose(f);
    w->options.controls = w->controls;
}

/* A model as reference. */
static void draw_reference(const struct earth *e, struct wishes *w)
{
    FILE *f = file_for(w->reference_file, "/tmp/mcsem-reference-XXXXXX");
    fputs("column,layer,rho_ohmm\n", f);
    for (int c = 0; c < earth_columns(e); c++)
        for (int k = 0; k < e->nz; k++) {
            const double rho = drawn(0.5, 20);
            fprintf(f, "%d,%d,%.17g\n", c, k, rho);
            for (int half = 0; half < earth_unknowns(e) / e->nz; half++) {
                const int at = c * earth_unknowns(e) + half * e->nz + k;
                w->reference[at] = log(rho * (half ? e->anisotropy[k] : 1));
                w->given[at] = true;
            }
        }
    fclose(f);
    w->options.reference = w->reference_file;
}

/* Horizons at depths below the floor, and below the surface in a table: in every column at its
 * nearest interface, but not at the floor itself. */
static void draw_horizons(const struct earth *e, struct wishes *w)
{
    const double level = drawn(950, 1000 + e->top[e->nz - 1]),
                 depth[] = {drawn(1, 0.4 * e->top[1]), drawn(1, 1.2 * e->top[e->nz - 1])};
    FILE *f = file_for(w->table, "/tmp/mcsem-horizon-XXXXXX");
    fprintf(f, "x,y,depth\n0,0,%.17g\n500,0,%.17g\n0,300,%.17g\n", level, level, level);
    fclose(f);
    sprintf(w->horizons, "%.17g,%s,%.17g", depth[0], w->table, depth[1]);
    for (int c = 0; c < earth_columns(e); c++)
        for (int h = 0; h < 3; h++) {
            const double at = h < 2 ? depth[h] : level - e->seabed[c];
            int nearest = 0;
            for (int k = 1; k < e->nz; k++)
                nearest = fabs(e->top[k] - at) < fabs(e->top[nearest] - at) ? k : nearest;
            if (nearest)
                w->cut[c * e->nz + nearest - 1] = true;
        }
    w->options.horizons = w->horizons;
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Of horizontal resistivities. */
static double median_of(const struct earth *e, const double *m)
{
    double sorted[MOST];
    int n = 0;
    for (size_t i = 0; i < earth_size(e); i++)
        if (i % (size_t)earth_unknowns(e) < (size_t)e->nz)
            sorted[n++] = m[i];
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* The sums of squares, from differences of d = m - reference, which goes on below the last layer as
 * 0 or, without a reference, as what turns m into the median. */
static void expect(const struct earth *e, const struct wishes *w, const double *m, double *square)
{
    const int own = earth_unknowns(e), nz = e->nz, order = w->options.differences;
    const double median = median_of(e, m);
    memset(square, 0, PRIOR_KINDS * sizeof *square);
    for (int c = 0; c < earth_columns(e); c++)
        for (int i = 0; i < own; i++) {
            const int at = c * own + i, k = i % nz;
            const double d = m[at] - w->reference[at];
            double row = 0;
            bool whole = k + order < nz || w->options.tied;
            for (int j = 0; j <= order; j++) {
                const double factor = order == 1 ? 1 - 2 * j : j == 1 ? -2 : 1;
                if (k + j >= nz)
                    continue;
                whole = whole && !(j < order && k + j + 1 < nz && w->cut[c * nz + k + j]);
                const double tie = k + order >= nz && !w->given[at + j] ? median : 0;
                row += factor * (m[at + j] - w->reference[at + j] - tie);
            }
            square[PRIOR_VERTICAL] += whole ? row * row : 0;
            square[PRIOR_PULL] += d * d;
            for (int axis = 0; axis < 2; axis++)
                if (axis ? c + e->nx < earth_columns(e) : c % e->nx + 1 < e->nx) {
                    const int there = at + (axis ? e->nx : 1) * own;
                    square[PRIOR_LATERAL] += pow(d - (m[there] - w->reference[there]), 2);
                }
            if (i >= nz)
                square[PRIOR_RATIO] += pow(d - (m[at - nz] - w->reference[at - nz]), 2);
        }
}

static void the_prior_is_what_its_options_say(void **state)
{
    for (int i = 0; i < 120; i++) {
        struct earth *e = draw_earth(1 + one_of(3), 1 + one_of(3), 2 + one_of(5), i % 3);
        struct wishes w = {.options = {.differences = 1 + i % 2,
                                       .tied = i / 2 % 2,
                                       .transform = one_of(2),
                                       .rho_min = 1e-3,
                                       .rho_max = 1e3}};
        struct prior *p;
        double square[PRIOR_KINDS], m[MOST];
        for (size_t k = 0; k < earth_size(e); k++) {
            const size_t in = k % (size_t)earth_unknowns(e), nz = (size_t)e->nz;
            w.low[k] = log(1e-3);
            w.high[k] = log(1e3);
            w.reference[k] = in < nz ? 0 : log(e->anisotropy[in % nz]);
        }
        if (one_of(3) == 0)
            draw_reference(e, &w);
        if (one_of(3))
            draw_controls(e, &w);
        if (one_of(2))
            draw_horizons(e, &w);
        assert_int_equal(prior_open(e, &w.options, &p), EK_OK);
        prior_update_median(p, e->m);
        expect(e, &w, e->m, square);
        for (int kind = 0; kind < PRIOR_KINDS; kind++)
            close_to(prior_square(p, (enum prior_kind)kind, e->m), square[kind], 1 + square[kind],
                     1e-9);
        for (size_t k = 0; k < earth_size(e); k++) {
            m[k] = e->m[k] + prior_change(p, k, e->m[k], drawn(-20, 20));
            assert_true(w.fixed[k] ? m[k] == e->m[k]
                                   : m[k] >= w.low[k] - 1e-12 && m[k] <= w.high[k] + 1e-12);
            assert_true(w.fixed[k] || w.options.transform ||
                        fabs(prior_change(p, k, w.low[k], 99) - (w.high[k] - w.low[k])) < 1e-9);
        }
        prior_close(p);
        earth_close(e);
        unlink(w.controls);
        unlink(w.reference_file);
        unlink(w.table);
    }
}

/* ---- residuals --------------------------------------------------------------------------------*/

static void bins_end_at_their_edges(void **state)
{
    for (int b = 0; b < MISFIT_BINS - 1; b++) {
        const double edge = 0.25 * ldexp(1, b); /* squared */
        assert_int_equal(misfit_bin(edge), b);
        assert_int_equal(misfit_bin(nextafter(edge, INFINITY)), b + 1);
    }
    assert_int_equal(misfit_bin(0), 0);
    assert_int_equal(misfit_bin(NAN), 0);
    assert_int_equal(misfit_bin(INFINITY), MISFIT_BINS - 1);
}

/* Residuals with exactly the quantiles of complex normal numbers, and a few that are far off. */
static void outliers_are_told_from_the_rest(void **state)
{
    const struct misfit_options o = {.robust = MISFIT_SQUARE, .spread = 1};
    for (int i = 0; i < 60; i++) {
        enum { N = 2000 };
        const int step = i % 8, far = i % 3 * 50; /* of the spread, sqrt(2) each; outliers */
        const double s = pow(2, 0.5 * (step + drawn(-0.35, 0.35)));
        struct misfit_bin bin[MISFIT_BINS] = {{0, 0}};
        double kept = 0;
        for (int k = 0; k < N + far; k++) {
            const double square =
                k < N ? -2 * s * s * log(1 - (k + 0.5) / N) : pow(s * drawn(9, 40), 2);
            bin[misfit_bin(square)].data++;
            bin[misfit_bin(square)].square += square;
            kept += k < N ? square : 0;
        }
        const struct misfit_summary found = misfit_summary(&o, bin);
        assert_true(found.data == N + far && found.outliers == far);
        close_to(found.rms, sqrt(kept / (2 * N)), found.rms, 1e-12);
        assert_true(found.limit >= MISFIT_OUTLIER * found.spread &&
                    found.limit < 1.42 * MISFIT_OUTLIER * found.spread);
        if (!far) /* outliers move the quantile */
            close_to(found.spread, pow(2, 0.5 * step), found.spread, 1e-12);
    }
}

/* The weight is the derivative of the loss; both begin like the square. */
static void weights_are_slopes_of_losses(void **state)
{
    for (int i = 0; i < 600; i++) {
        const struct misfit_options o = {.robust = (enum misfit_robust)(i % 3),
                                         .spread = pow(2, 0.5 * one_of(4))};
        const double square = pow(10, drawn(-3, 4)), step = 1e-4 * square;
        const double slope =
            (misfit_loss(&o, square + step) - misfit_loss(&o, square - step)) / (2 * step);
        close_to(misfit_weight(&o, square), slope, 1, 2e-4);
        close_to(misfit_loss(&o, 1e-9), 1e-9, 1e-9, 1e-6);
    }
}

/* ---- drift ------------------------------------------------------------------------------------*/

enum { RECEIVERS = 3, FREQUENCIES = 2, PAIRS = 60 };

static int sensor_of(const struct survey_pair *p, int f)
{
    return (2 * p->receiver_id + p->magnetic) * FREQUENCIES + f;
}

static double complex value_of(const struct survey_datum *d)
{
    return d->re + I * d->im;
}

/* What a sensor with factor exp(g) measures of F. */
static struct survey_datum measure(double complex field, double complex g, enum survey_part part)
{
    double complex z = field * cexp(g);
    z = part == SURVEY_REAL ? creal(z) : part == SURVEY_IMAGINARY ? I * cimag(z) : z;
    z = part == SURVEY_AMPLITUDE ? cabs(z) : part == SURVEY_PHASE ? z / cabs(z) : z;
    return (struct survey_datum){creal(z), cimag(z), 1e-3 * cabs(z), part};
}

static void planted_drifts_are_found(void **state)
{
    const struct misfit_options o = {.residual = MISFIT_LOG, .robust = MISFIT_SQUARE, .spread = 1};
    for (int i = 0; i < 8; i++) {
        const bool held = i == 7; /* the prior holds every factor near 0 */
        struct survey *s;
        struct drift *d;
        double complex field[PAIRS * FREQUENCIES], g[2 * RECEIVERS * FREQUENCIES];
        struct survey_datum before[PAIRS * FREQUENCIES], first[PAIRS * FREQUENCIES];
        assert_int_equal(survey_open(PAIRS, FREQUENCIES, &s), EK_OK);
        s->nreceivers = RECEIVERS;
        for (int k = 0; k < 2 * RECEIVERS * FREQUENCIES; k++)
            g[k] = drawn(-0.5, 0.5) + I * drawn(-0.8, 0.8);
        for (int k = 0; k < PAIRS * FREQUENCIES; k++) {
            struct survey_pair *p = &s->pair[k / FREQUENCIES];
            p->receiver_id = k / FREQUENCIES % RECEIVERS;
            p->magnetic = k / FREQUENCIES / RECEIVERS % 2;
            field[k] = cexp(drawn(-3, 3) + I * drawn(-3, 3));
            s->datum[k] = before[k] =
                measure(field[k], g[sensor_of(p, k % FREQUENCIES)],
                        one_of(2) ? SURVEY_BOTH : (enum survey_part)one_of(5));
        }
        assert_int_equal(drift_open(s, held ? 1e-3 : 10, &d), EK_OK);
        for (int turn = 0; turn < 4; turn++) {
            drift_update(d, &o, field);
            for (int k = 0; k < PAIRS * FREQUENCIES; k++) {
                const double complex now = value_of(&s->datum[k]), was = value_of(&before[k]);
                const double complex shift =
                    g[sensor_of(&s->pair[k / FREQUENCIES], k % FREQUENCIES)];
                const double gain = before[k].part == SURVEY_PHASE ? 0 : creal(shift);
                const bool turns = before[k].part == SURVEY_BOTH || before[k].part == SURVEY_PHASE;
                if (held)
                    assert_true(cabs(clog(now / was)) <= 1.5 * DRIFT_MOST * 1e-3);
                else
                    close_to(now, was * cexp(-gain - I * (turns ? cimag(shift) : 0)), cabs(was),
                             1e-6);
                close_to(s->datum[k].sigma / cabs(now), before[k].sigma / cabs(was), 1e-3, 1e-9);
                first[k] = turn ? first[k] : s->datum[k];
            }
            if (turn == 2) { /* a new run begins with what was measured */
                drift_reset(d);
                assert_memory_equal(s->datum, before, sizeof before);
            }
        }
        for (int k = 0; k < PAIRS * FREQUENCIES; k++)
            close_to(value_of(&s->datum[k]), value_of(&first[k]), cabs(value_of(&first[k])), 1e-12);
        drift_close(d);
        survey_close(s);
    }
}

/* ---- uncertainty ------------------------------------------------------------------------------*/

enum { SMALL = 16, DATA = 6 };

/* Solves a x = b, n unknowns, for several b; a is positive definite. */
static void solve(int n, double (*a)[SMALL], int columns, double (*b)[SMALL + 1])
{
    for (int p = 0; p < n; p++)
        for (int i = 0; i < n; i++) {
            const double f = i == p ? 0 : a[i][p] / a[p][p];
            for (int j = 0; f != 0 && j < n; j++)
                a[i][j] -= f * a[p][j];
            for (int j = 0; f != 0 && j < columns; j++)
                b[i][j] -= f * b[p][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < columns; j++)
            b[i][j] /= a[i][i];
}

/* Random rows [r J] of every column; `normal`, if not NULL, gets J'J and, last, J'r. */
static void draw_sums(const struct earth *e, double *sums, double (*normal)[SMALL + 1])
{
    const int own = earth_unknowns(e), n = (int)earth_size(e);
    memset(sums, 0, (size_t)earth_columns(e) * cell_sums(own) * sizeof *sums);
    memset(normal, 0, (size_t)n * sizeof *normal);
    for (int c = 0; c < earth_columns(e); c++, sums += cell_sums(own))
        for (int i = 0; i < DATA; i++) {
            double row[1 + SMALL] = {drawn(-3, 3)};
            for (int k = 0; k < own; k++)
                row[1 + k] = drawn(-2, 2) * exp(-0.7 * (k % e->nz));
            for (int a = 0; a <= own; a++)
                for (int b = 0; b <= a; b++)
                    sums[cell_sum_at(a, b)] += row[a] * row[b];
            for (int a = 0; a < own; a++) {
                normal[c * own + a][n] += row[1 + a] * row[0];
                for (int b = 0; b < own; b++)
                    normal[c * own + a][c * own + b] += row[1 + a] * row[1 + b];
            }
        }
}

/* Compares with dense matrices; returns whether the smoothness is the likeliest. */
static bool compare_uncertainty(const struct invert *inv, double (*normal)[SMALL + 1],
                                const struct uncertainty *u)
{
    const struct earth *e = inv->earth;
    const struct prior *p = inv->prior;
    const int n = (int)earth_size(e), own = earth_unknowns(e), nz = e->nz;
    double a[SMALL][SMALL], b[SMALL][SMALL + 1] = {{0}}, share[SMALL], m[SMALL];
    double rough = 0, determined = 0;
    for (int i = 0; i < n; i++) {
        b[i][i] = 1;
        b[i][n] = normal[i][n];
        memcpy(a[i], normal[i], sizeof a[i]);
    }
    for (size_t r = 0; r < p->nrows; r++) {
        const struct prior_row *row = &p->row[r];
        const double mu = inv->options.smooth.of[row->kind] * exp(u->smoother);
        for (int i = 0; i < row->n; i++) {
            b[row->at[i]][n] -= mu * row->factor[i] * prior_row_value(p, row, e->m);
            for (int k = 0; k < row->n; k++)
                a[row->at[i]][row->at[k]] += mu * row->factor[i] * row->factor[k];
        }
    }
    solve(n, a, n + 1, b);
    for (int i = 0; i < n; i++) {
        share[i] = 0;
        for (int k = 0; k < n; k++)
            share[i] += b[i][k] * normal[k][i];
        const int k = i % own % nz, above = k + 1 < nz ? k : k - 1;
        const double thick = e->top[above + 1] - e->top[above];
        close_to(u->sigma[i], sqrt(b[i][i] + b[i][n] * b[i][n]), u->sigma[i], 1e-6);
        close_to(u->length[i], thick / fmax(share[i], 1e-9), u->length[i], 1e-6);
        m[i] = e->m[i] + b[i][n];
        determined += share[i];
    }
    for (int c = 0; c < earth_columns(e); c++) {
        double depth = 0;
        for (int k = 0; k < nz; k++) { /* the deepest layer with half a number from there on */
            double tail = 0;
            for (int i = 0; i < own; i++)
                tail += i % nz >= k ? fmax(share[c * own + i], 0) : 0;
            if (tail >= 0.5)
                depth = k + 1 < nz ? e->top[k + 1] : 2 * e->top[k] - e->top[k - 1];
        }
        close_to(u->depth[c], depth, 1, 1e-9);
    }
    for (int k = 0; k < PRIOR_KINDS; k++)
        rough +=
            inv->options.smooth.of[k] * exp(u->smoother) * prior_square(p, (enum prior_kind)k, m);
    return fabs(log(determined / rough)) < 0.2 + 1e-6;
}

static void uncertainties_are_those_of_dense_matrices(void **state)
{
    int likeliest = 0;
    for (int i = 0; i < 40; i++) {
        const int nz = 2 + one_of(3);
        struct earth *e = draw_earth(1 + one_of(2), 1, nz, i % 2);
        const struct prior_options po = {.differences = 1, .rho_min = 1e-9, .rho_max = 1e9};
        const struct invert_options o = {
            .iterations = 1, .smooth = {{drawn(0.1, 9), drawn(0.1, 9), drawn(0.01, 1), 0.3}}};
        double normal[SMALL][SMALL + 1];
        struct uncertainty *u;
        struct survey *s;
        struct prior *p;
        struct invert *inv;
        assert_int_equal(survey_open(1, 1, &s), EK_OK);
        s->datum[0].sigma = 1;
        assert_int_equal(prior_open(e, &po, &p), EK_OK);
        assert_int_equal(invert_open(s, e, p, &o, true, &inv), EK_OK);
        inv->scale = 1;
        draw_sums(e, inv->sums, normal);
        assert_int_equal(uncertainty_open(inv, &u), EK_OK);
        likeliest += compare_uncertainty(inv, normal, u);
        uncertainty_close(u);
        invert_close(inv);
        prior_close(p);
        survey_close(s);
        earth_close(e);
    }
    assert_true(likeliest >= 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_prior_is_what_its_options_say),
        cmocka_unit_test(bins_end_at_their_edges),
        cmocka_unit_test(outliers_are_told_from_the_rest),
        cmocka_unit_test(weights_are_slopes_of_losses),
        cmocka_unit_test(planted_drifts_are_found),
        cmocka_unit_test(uncertainties_are_those_of_dense_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
