/* mcsem/results.c – verification of a run, its report, its output files. */
#include "mcsem/results.h"
#include "mcsem/write.h"
#include "mcsem/figures.h"
#include "mcsem/survey_columns.h"
#include "src/sort.h"

#include <unistd.h>

enum { WORST = 10 }; /* length of the lists of data and receivers */
#define MOST_OUTLIERS 0.1
enum { CHECKED_PAIRS = 16 }; /* pairs recomputed for the verification */

/* Largest difference of responses from exact mode with the finest filters, for pairs spread over
 * the survey, relative to max(|field|, floor). */
static enum ek_status compare(const struct inversion *s, double *worst)
{
    const struct survey *v = s->survey;
    *worst = 0;
    for (size_t k = 0; k < CHECKED_PAIRS; k++) {
        const size_t pair = (v->npairs - 1) * k / (CHECKED_PAIRS - 1);
        double difference;
        TRY(cell_check(v, s->inv->earth, &s->cell_options, pair,
                       s->response + pair * (size_t)v->nfreq, &difference));
        *worst = fmax(*worst, difference);
    }
    return EK_OK;
}

static enum ek_status write_files(struct inversion *s)
{
    uncertainty_close(s->uncertainty);
    s->uncertainty = NULL;
    if (s->want_uncertainty)
        TRY(uncertainty_open(s->inv, &s->uncertainty));
    TRY(write_model(s->model_out, s->inv->earth, s->uncertainty));
    TRY(write_history(s->history, s->inv));
    TRY(write_responses(s->responses, s->survey, s->start, s->response));
    TRY(write_cells(s->cells, s->survey, s->start, s->report, s->response));
    return EK_OK;
}

enum ek_status results_interrupted(void *st)
{
    struct inversion *s = st;
    if (cluster_rank() > 0 || !s->inv->nrecords)
        return EK_OK;
    TRY(write_model(s->model_out, s->inv->earth, NULL));
    return write_history(s->history, s->inv);
}

void results_written(void *st)
{
    const struct inversion *s = st;
    if (s->checkpoint)
        unlink(s->checkpoint);
}

/* Root mean square difference of log10(resistivity) of two models. */
static double model_distance(const struct earth *a, const struct earth *b)
{
    const size_t unknowns = earth_size(a);
    double sum = 0;
    for (size_t i = 0; i < unknowns; i++)
        sum += pow((a->m[i] - b->m[i]) / log(10), 2);
    return sqrt(sum / (double)unknowns);
}

/* ---- verification ---------------------------------------------------------------------------- */

/* The largest RMS of n numbers that reaches the target up to chance, plus 5 %. */
static double rms_limit(const struct inversion *s)
{
    return s->invert_options.target * (1.05 + 3 / sqrt(2 * s->inv->data));
}

static bool explains(const struct inversion *s)
{
    const struct misfit_summary m = invert_misfit(s->inv, s->inv->sums);
    return s->inv->rms <= rms_limit(s) && m.outliers <= MOST_OUTLIERS * m.data;
}

/* A datum, or all data of a receiver, and its misfit. */
struct unexplained {
    size_t pair;
    int freq;
    double square, numbers;
};

static int worst_first(const void *a, const void *b)
{
    const double x =
        ((const struct unexplained *)a)->square / ((const struct unexplained *)a)->numbers;
    const double y =
        ((const struct unexplained *)b)->square / ((const struct unexplained *)b)->numbers;
    return (x < y) - (x > y);
}

static double square_of(const struct inversion *s, size_t pair, int freq)
{
    const size_t at = pair * (size_t)s->survey->nfreq + (size_t)freq;
    const double size = cabs(misfit_of(&s->cell_options.misfit, &s->survey->pair[pair],
                                       &s->survey->datum[at], s->response[at])
                                 .residual);
    return size * size;
}

static size_t list_data(const struct inversion *s, struct unexplained *bad)
{
    size_t n = 0;
    for (size_t i = 0; i < s->survey->npairs; i++)
        for (int q = 0; q < s->survey->nfreq; q++) {
            const int numbers = survey_numbers(survey_at(s->survey, i, q));
            if (numbers)
                bad[n++] = (struct unexplained){i, q, square_of(s, i, q), numbers};
        }
    qsort(bad, n, sizeof *bad, worst_first);
    return n;
}

/* Sums up the data of each receiver; returns the number of receivers. */
static size_t list_receivers(const struct inversion *s, const struct unexplained *bad, size_t n,
                             struct unexplained *receiver)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct unexplained *r = &receiver[s->survey->pair[bad[i].pair].receiver_id];
        r->pair = bad[i].pair;
        r->square += bad[i].square;
        r->numbers += bad[i].numbers;
    }
    for (size_t r = 0; r < s->survey->nreceivers; r++)
        if (receiver[r].numbers > 0)
            receiver[kept++] = receiver[r];
    qsort(receiver, kept, sizeof *receiver, worst_first);
    return kept;
}

static json_t *pack_unexplained(const struct inversion *s, const struct unexplained *b,
                                bool receiver)
{
    const struct survey_pair *p = &s->survey->pair[b->pair];
    if (receiver)
        return json_pack("{s:f s:f s:f s:o s:i}", "x", p->receiver[0], "y", p->receiver[1], "z",
                         p->receiver[2], "rms", json_number_or_null(sqrt(b->square / b->numbers)),
                         "n_numbers", (int)b->numbers);
    return json_pack("{s:I s:s s:f s:o}", "line", (json_int_t)p->line, "component",
                     survey_columns_component(p), "freq_hz", s->survey->freq[b->freq], "residual",
                     json_number_or_null(sqrt(b->square)));
}

/* Warns why a run fails, and what may help. */
static void warn_unexplained(const struct inversion *s, const struct unexplained *worst)
{
    const struct misfit_summary m = invert_misfit(s->inv, s->inv->sums);
    const bool bad = m.outliers > MOST_OUTLIERS * m.data;
    char others[96] = "";
    if (m.outliers > 0)
        snprintf(others, sizeof others, ", and %.0f of %.0f data by more than %.0f", m.outliers,
                 m.data, fmin(m.limit, MISFIT_OUTLIER * m.spread));
    status_warn(
        "the data are not explained (%s): RMS %.3g, not %.3g; that of line %zu is off by %.0f "
        "errors%s; %s",
        invert_stop_text[s->inv->stop], s->inv->rms, rms_limit(s),
        s->survey->pair[worst->pair].line, sqrt(worst->square), others,
        s->inv->stop == INVERT_ITERATIONS ? "give more --iterations"
        : bad || !s->invert_options.robust
            ? "take out what is wrong (--json lists data and receivers), or give --robust student"
            : "are the errors (--noise) too small, or is the earth not layered?");
}

/* Adds the worst data and receivers to the JSON. */
static enum ek_status add_worst(const struct inversion *s, bool explained, json_t *detail)
{
    const size_t most = s->survey->npairs * (size_t)s->survey->nfreq;
    OWNED_MEMORY NEW(struct unexplained, bad, most + s->survey->nreceivers + 1,
                     "out of memory for the worst data");
    json_t *data = json_array(), *receivers = json_array();
    struct unexplained *receiver = bad + most;
    const size_t n = list_data(s, bad);
    for (size_t i = 0; i < n && i < WORST; i++)
        json_array_append_new(data, pack_unexplained(s, &bad[i], false));
    if (!explained)
        warn_unexplained(s, &bad[0]);
    const size_t nreceivers = list_receivers(s, bad, n, receiver);
    for (size_t i = 0; i < nreceivers && i < WORST; i++)
        json_array_append_new(receivers, pack_unexplained(s, &receiver[i], true));
    json_object_set_new(detail, "worst_data", data);
    json_object_set_new(detail, "worst_receivers", receivers);
    json_object_set_new(detail, "drift", drift_list(s->drift));
    json_object_set_new(detail, "uncertainty", figures_uncertainty(s, true));
    return EK_OK;
}

static json_t *describe(const struct inversion *s, double difference)
{
    const struct misfit_summary m = invert_misfit(s->inv, s->inv->sums);
    const struct invert *inv = s->inv;
    const double apart = s->true_earth ? model_distance(s->true_earth, inv->earth) : NAN;
    json_t *by_frequency = json_array();
    for (int q = 0; q < s->survey->nfreq; q++)
        json_array_append_new(by_frequency,
                              json_number_or_null(survey_rms(s->survey, s->response, q, -1)));
    return json_pack(
        "{s:b s:b s:f s:o s:i s:s s:o s:o s:o s:o s:o s:o}", "converged",
        inv->stop != INVERT_ITERATIONS, "explained", explains(s), "outliers", m.outliers,
        "rms_limit", json_number_or_null(rms_limit(s)), "iterations", inv->iteration, "stop",
        invert_stop_text[inv->stop], "rms", json_number_or_null(inv->rms), "rms_at_start",
        json_number_or_null(inv->record[0].rms), "rms_complex",
        json_number_or_null(survey_rms(s->survey, s->response, -1, -1)), "rms_by_frequency",
        by_frequency, "difference_from_exact", json_number_or_null(difference),
        "log10_rho_from_truth", json_number_or_null(apart));
}

/* Collects all ranks' reports on rank 0. */
static enum ek_status gather_reports(struct inversion *s)
{
    const size_t cells = (size_t)s->survey->ncells;
    OWNED_MEMORY NEW(double, x, 2 * cells, "out of memory for the reports of %zu cells", cells);
    for (size_t t = 0; t < s->ntasks; t++) {
        x[s->cell[t]] = s->report[s->cell[t]].cpu_s;
        x[cells + (size_t)s->cell[t]] = (double)s->report[s->cell[t]].exact;
    }
    cluster_sum(x, 2 * cells);
    for (size_t c = 0; c < cells; c++) {
        s->report[c].cpu_s = x[c];
        s->report[c].exact = (size_t)x[cells + c];
    }
    return EK_OK;
}

/* Sets the peak signal-to-noise ratio of the run's ln resistivities against the first run's, in dB;
 * infinite if they are equal to the last bit. */
static enum ek_status compare_with_first(struct inversion *s)
{
    const struct earth *e = s->inv->earth;
    const size_t unknowns = earth_size(e);
    double peak = 0, square = 0;
    if (!s->first_model) {
        s->first_model = malloc(unknowns * sizeof *s->first_model);
        if (!s->first_model)
            FAIL(EK_UNAVAILABLE, "out of memory to compare models");
        memcpy(s->first_model, e->m, unknowns * sizeof *e->m);
    }
    for (size_t i = 0; i < unknowns; i++) {
        peak = fmax(peak, fabs(s->first_model[i]));
        square += pow(e->m[i] - s->first_model[i], 2) / (double)unknowns;
    }
    s->psnr = memcmp(s->first_model, e->m, unknowns * sizeof *e->m)
                  ? 10 * log10(peak * peak / square)
                  : INFINITY;
    return EK_OK;
}

/* Responses of other ranks' cells are 0 here, so the sums are exact. */
enum ek_status results_judge(void *st, enum bench_verdict *verified, json_t **detail)
{
    struct inversion *s = st;
    double difference = 0;
    enum ek_status done = EK_OK;
    cluster_sum((double *)s->response, 2 * s->survey->npairs * (size_t)s->survey->nfreq);
    cluster_max(&s->worst_difference, 1);
    TRY(gather_reports(s));
    *verified = true;
    *detail = NULL;
    if (cluster_rank() > 0)
        return EK_OK;
    done = compare_with_first(s);
    if (!done)
        done = compare(s, &difference);
    if (!done)
        done = write_files(s);
    if (done)
        return done;
    /* without iterations only the fields are verified */
    const bool explained = s->invert_options.iterations == 0 || explains(s);
    *verified =
        explained && difference <= 10 * s->cell_options.tolerance ? BENCH_VERIFIED : BENCH_WRONG;
    *detail = describe(s, difference);
    if (!*detail)
        FAIL(EK_UNAVAILABLE, "out of memory for the results");
    json_decref(s->verdict);
    s->verdict = json_incref(*detail);
    return add_worst(s, explained, *detail);
}

static json_t *history(const struct invert *inv)
{
    json_t *list = json_array();
    for (int i = 0; i < inv->nrecords; i++) {
        const struct invert_record *r = &inv->record[i];
        json_array_append_new(
            list,
            json_pack("{s:i s:b s:o s:o s:o s:o s:o s:o s:o s:o}", "iteration", r->iteration,
                      "accepted", r->accepted, "rms", json_number_or_null(r->rms), "phi",
                      json_number_or_null(r->phi), "damping", json_number_or_null(r->damping), "mu",
                      json_number_or_null(r->mu_v), "compute_s", json_number_or_null(r->seconds),
                      "compute_cpu_s", json_number_or_null(r->cpu_s), "solve_s",
                      json_number_or_null(r->solve_s), "solve_cpu_s",
                      json_number_or_null(r->solve_cpu_s)));
    }
    return list;
}

/* Number of data with logarithmic residuals. */
static size_t count_logarithms(const struct inversion *s)
{
    const struct survey *v = s->survey;
    size_t n = 0;
    for (size_t i = 0; i < v->npairs * (size_t)v->nfreq; i++)
        n += isfinite(v->datum[i].sigma) &&
             misfit_is_log(&s->cell_options.misfit, &v->pair[i / (size_t)v->nfreq], &v->datum[i]);
    return n;
}

json_t *results_facts(const void *st)
{
    static const char *const first[] = {"converged", "explained", "rms", "worst_data",
                                        "worst_receivers"}; /* shown at the top level, too */
    const struct inversion *s = st;
    OWNED_MEMORY int *empty = calloc((size_t)s->survey->ncells, sizeof *empty);
    if (!empty)
        return NULL;
    const int n = inversion_cells_without_data(s, empty);
    const struct normal_size size =
        s->inv->normal ? normal_size(s->inv->normal) : (struct normal_size){0, 0};
    json_t *out =
        json_pack("{s:s s:I s:i s:I s:I s:I s:i s:o s:f s:f s:f s:s* s:o s:o}", "mode",
                  cell_modes[s->cell_options.mode], "pairs", (json_int_t)s->survey->npairs, "cells",
                  s->survey->ncells, "data", (json_int_t)(s->inv->data / 2), "log_data",
                  (json_int_t)count_logarithms(s), "dropped_pairs", (json_int_t)s->survey->ndropped,
                  "layers", s->start->nz, "empty_cells", json_integers(empty, (size_t)n),
                  "shared_difference", s->worst_difference, "factor_nonzeros", size.nonzeros,
                  "factor_flops", size.flops, "blas", normal_blas(), "psnr_db",
                  isinf(s->psnr) ? json_string("infinite") : json_number_or_null(s->psnr),
                  "history", history(s->inv));
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        json_object_set(out, first[k], json_object_get(s->verdict, first[k]));
    return out;
}

/* Median of a member of the trials' records, without the start, which had no step to find. */
static double median_of(const json_t *records, const char *key)
{
    const size_t n = json_array_size(records);
    OWNED_MEMORY double *x = calloc(n, sizeof *x);
    for (size_t i = 1; x && i < n; i++)
        x[i - 1] = json_number_of(json_array_get(records, i), key);
    return x && n > 1 ? sort_median(x, n - 1) : 0;
}

void results_remark(FILE *out, const void *st, const json_t *run)
{
    (void)st;
    const json_t *v = json_object_get(run, "history");
    const size_t n = json_array_size(v);
    if (!n)
        return;
    const json_t *first = json_array_get(v, 0), *last = first;
    for (size_t i = 1; i < n; i++)
        if (json_is_true(json_object_get(json_array_get(v, i), "accepted")))
            last = json_array_get(v, i);
    const long long data = json_integer_value(json_object_get(run, "data"));
    const long long logs = json_integer_value(json_object_get(run, "log_data"));
    fprintf(out, "residuals: %lld of logarithms, %lld, not above the noise, of fields\n", logs,
            data - logs);
    fprintf(out, "RMS misfit %.3f at the start, %.3f after %lld iterations and %zu trials\n",
            json_number_of(first, "rms"), json_number_of(last, "rms"),
            (long long)json_integer_value(json_object_get(last, "iteration")), n);
    fprintf(
        out,
        "a trial: fields %.2f s (%.2f s of all cpus), normal equations %.2f s (%.2f s); medians\n",
        median_of(v, "compute_s"), median_of(v, "compute_cpu_s"), median_of(v, "solve_s"),
        median_of(v, "solve_cpu_s"));
    fprintf(out, "BLAS: %s\n", json_string_value(json_object_get(run, "blas")));
}
