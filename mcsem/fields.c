/* mcsem/fields.c – the library's entry: each pair with the filter that meets the tolerance. */
#include "mcsem/fields.h"
#include "mcsem/forward.h"
#include "src/owned.h"
#include "src/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = EARTH_WATER + EARTH_LAYERS };

static const double FLOOR = 1e-17; /* absolute accuracy is enough below this */

static double tolerance_of(const struct mcsem_survey *s)
{
    return s->tolerance > 0 ? s->tolerance : 1e-8;
}

static enum ek_status take_layers(const struct mcsem_layers *from, struct earth_layers *l)
{
    if (from->n < 2 || from->n > MOST_LAYERS)
        FAIL(EK_USAGE, "%d layers; 2 to %d can be computed", from->n, (int)MOST_LAYERS);
    l->n = l->sediments = from->n;
    for (int k = 0; k < l->n; k++) {
        const double lambda = from->aniso ? from->aniso[k] : 1;
        l->rho_h[k] = from->res[k];
        l->rho_v[k] = lambda * lambda * from->res[k];
        if (!earth_is_resistivity(l->rho_h[k]) || !(lambda > 0) ||
            !earth_is_resistivity(l->rho_v[k]))
            FAIL(EK_USAGE,
                 "layer %d: %g ohm m with anisotropy %g is not a resistivity from 1e-30 to 1e30",
                 k + 1, from->res[k], lambda);
    }
    for (int k = 0; k < l->n - 1; k++) {
        l->z[k] = from->depth[k];
        if (!isfinite(l->z[k]) || (k && !(l->z[k] > l->z[k - 1])))
            FAIL(EK_USAGE, "interface %d at %g m does not lie below the one before it", k + 1,
                 l->z[k]);
    }
    return EK_OK;
}

static struct survey_pair pair_of(const struct mcsem_survey *s, int src, int rec)
{
    const double degree = acos(-1) / 180;
    const double *from = s->src[src], *to = s->rec[rec];
    struct survey_pair p = {.source = {from[0], from[1], from[2]},
                            .azimuth = from[3] * degree,
                            .dip = from[4] * degree,
                            .length = from[5],
                            .receiver = {to[0], to[1], to[2]},
                            .magnetic = s->mrec,
                            .loop = s->msrc,
                            .line = (size_t)rec + 1};
    pair_axis(to[3] * degree, to[4] * degree, p.direction);
    return p;
}

/* Working memory of one thread. */
struct worker {
    struct forward *forward;
    double complex *field, *again, *jac; /* [nfreq], [nfreq], [nfreq][n] of one pair */
};

static enum ek_status worker_open(struct worker *w, int layers, int nfreq)
{
    w->field = calloc((size_t)nfreq * (2 + (size_t)layers), sizeof *w->field);
    w->again = w->field + nfreq;
    w->jac = w->again + nfreq;
    if (!w->field)
        FAIL(EK_UNAVAILABLE, "out of memory for fields at %d frequencies", nfreq);
    return forward_open(layers, nfreq, &w->forward);
}

static void worker_close(struct worker *w)
{
    if (w->forward)
        forward_close(w->forward);
    free(w->field);
}

/* Computes a pair and stores its numbers in field and jac; *error is relative. */
static enum ek_status compute(struct worker *w, const struct earth_layers *l,
                              const struct mcsem_survey *s, int src, int rec, double *field,
                              double *jac, struct forward_error *error)
{
    const struct forward_control control = {tolerance_of(s), FLOOR};
    const struct survey_pair p = pair_of(s, src, rec);
    int which;
    TRY(forward_choose(w->forward, l, &p, s->nfreq, s->freq, &control, &which, w->field, error));
    if (jac)
        TRY(forward_pair(w->forward, l, &p, s->nfreq, s->freq, which, FORWARD_ALL, w->again,
                         w->jac));
    const size_t n = (size_t)l->n;
    for (int q = 0; q < s->nfreq; q++) {
        const size_t at =
            ((size_t)q * (size_t)s->nrec + (size_t)rec) * (size_t)s->nsrc + (size_t)src;
        memcpy(field + 2 * at, &w->field[q], sizeof *w->field);
        if (jac)
            memcpy(jac + 2 * n * at, w->jac + (size_t)q * n, n * sizeof *w->jac);
    }
    return EK_OK;
}

/* Computes the pairs on all threads; after a failure the rest is skipped. */
static enum ek_status compute_all(const struct earth_layers *l, const struct mcsem_survey *s,
                                  double *field, double *jac, double *worst)
{
    const long npairs = (long)s->nsrc * s->nrec;
    enum ek_status failed = EK_OK;
#pragma omp parallel
    {
        struct worker w = {0};
        struct forward_error error = {0, 0};
        double most = 0;
        enum ek_status st = worker_open(&w, l->n, s->nfreq), before;
#pragma omp for schedule(dynamic, 1)
        for (long i = 0; i < npairs; i++) {
#pragma omp atomic read
            before = failed;
            if (!before && !st)
                st = compute(&w, l, s, (int)(i % s->nsrc), (int)(i / s->nsrc), field, jac, &error);
            if (st) {
#pragma omp atomic write
                failed = st;
            }
            most = fmax(most, error.likely);
        }
#pragma omp critical(mcsem_forward_worst)
        *worst = fmax(*worst, most);
        worker_close(&w);
    }
    return failed;
}

static enum ek_status check_pair(const struct mcsem_survey *s, int src, int rec, double surface)
{
    struct survey_pair below = pair_of(s, src, rec);
    char where[64];
    snprintf(where, sizeof where, "source %d, receiver", src + 1);
    below.source[2] -= surface;
    below.receiver[2] -= surface;
    TRY(survey_check_pair(&below, where));
    return pair_check(&below, FORWARD_TOLERANCE, where);
}

/* On the caller's thread, where the error message belongs. */
static enum ek_status check(const struct mcsem_survey *s, double surface)
{
    if (s->nsrc < 1 || s->nrec < 1 || s->nfreq < 1)
        FAIL(EK_USAGE, "%d sources, %d receivers, %d frequencies: at least one of each is needed",
             s->nsrc, s->nrec, s->nfreq);
    if (!(s->tolerance >= 0 && s->tolerance <= 1))
        FAIL(EK_USAGE, "a tolerance of %g: it may be up to 1, and 0 stands for 1e-8", s->tolerance);
    for (int q = 0; q < s->nfreq; q++)
        TRY(survey_check_freq(s->freq[q], "frequency", (size_t)q + 1));
    for (int i = 0; i < s->nsrc; i++)
        for (int r = 0; r < s->nrec; r++)
            TRY(check_pair(s, i, r, surface));
    return EK_OK;
}

enum ek_status mcsem_forward(const struct mcsem_layers *layers, const struct mcsem_survey *s,
                             double *field, double *jac)
{
    double worst = 0;
    OWNED_MEMORY NEW(struct earth_layers, l, 1, "out of memory for the layers");
    TRY(take_layers(layers, l));
    TRY(check(s, l->z[0]));
    TRY(compute_all(l, s, field, jac, &worst));
    if (!(worst <= tolerance_of(s)))
        FAIL(
            EK_UNVERIFIED,
            "all fields are computed, but the error of one is estimated at %.1e of it, above %g: a "
            "larger tolerance is kept",
            worst, tolerance_of(s));
    return EK_OK;
}
