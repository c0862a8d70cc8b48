/* mcsem/fields.c – the library's entry: each pair with the filter that meets the tolerance. */
#include "mcsem/fields.h"
#include "mcsem/forward.h"
#include "mcsem/survey_columns.h"

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
        l->rho_h[k] = from->res[k];
        l->rho_v[k] = earth_rho_v(from->res[k], from->aniso ? from->aniso[k] : 1);
    }
    memcpy(l->z, from->depth, (size_t)(l->n - 1) * sizeof *l->z);
    return earth_check_layers(l, "layers");
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

struct job {
    const struct earth_layers *layers;
    const struct mcsem_survey *survey;
    double *field, *jac;         /* of the caller; jac may be NULL */
    struct forward_error *error; /* [nrec][nsrc] relative */
};

/* Computes pair number `pair` of [nrec][nsrc] and stores its numbers. */
static enum ek_status compute(void *arg, struct forward *f, size_t pair)
{
    const struct job *j = arg;
    const struct mcsem_survey *s = j->survey;
    const size_t nsrc = (size_t)s->nsrc, nfreq = (size_t)s->nfreq, n = (size_t)j->layers->n;
    const struct forward_control control = {tolerance_of(s), FLOOR};
    const struct survey_pair p = pair_of(s, (int)(pair % nsrc), (int)(pair / nsrc));
    OWNED_MEMORY NEW(double complex, field, nfreq *(2 + n), "out of memory for %d frequencies",
                     s->nfreq);
    double complex *again = field + nfreq, *jac = again + nfreq;
    int which;
    TRY(forward_choose(f, j->layers, &p, s->nfreq, s->freq, &control, &which, field,
                       &j->error[pair]));
    if (j->jac)
        TRY(forward_pair(f, j->layers, &p, s->nfreq, s->freq, which, FORWARD_ALL, again, jac));
    for (size_t q = 0; q < nfreq; q++) {
        const size_t at = q * (size_t)s->nrec * nsrc + pair;
        memcpy(j->field + 2 * at, &field[q], sizeof *field);
        if (j->jac)
            memcpy(j->jac + 2 * n * at, jac + q * n, n * sizeof *jac);
    }
    return EK_OK;
}

/* On the caller's thread, where the error message belongs. */
static enum ek_status check(const struct earth_layers *l, const struct mcsem_survey *s)
{
    char where[64];
    if (s->nsrc < 1 || s->nrec < 1 || s->nfreq < 1)
        FAIL(EK_USAGE, "%d sources, %d receivers, %d frequencies: at least one of each is needed",
             s->nsrc, s->nrec, s->nfreq);
    if (!(s->tolerance >= 0 && s->tolerance <= 1))
        FAIL(EK_USAGE, "a tolerance of %g: it may be up to 1, and 0 stands for 1e-8", s->tolerance);
    for (int q = 0; q < s->nfreq; q++)
        TRY(survey_check_freq(s->freq[q], "frequency", (size_t)q + 1));
    for (int i = 0; i < s->nsrc; i++) {
        snprintf(where, sizeof where, "source %d, receiver", i + 1);
        for (int r = 0; r < s->nrec; r++) {
            const struct survey_pair p = pair_of(s, i, r);
            TRY(forward_check(l, &p, where));
        }
    }
    return EK_OK;
}

enum ek_status mcsem_forward(const struct mcsem_layers *layers, const struct mcsem_survey *s,
                             double *field, double *jac)
{
    double worst = 0;
    OWNED_MEMORY NEW(struct earth_layers, l, 1, "out of memory for the layers");
    TRY(take_layers(layers, l));
    TRY(check(l, s));
    const size_t pairs = (size_t)s->nsrc * (size_t)s->nrec;
    OWNED_MEMORY NEW(struct forward_error, error, pairs, "out of memory for %zu pairs", pairs);
    struct job j = {l, s, field, jac, error};
    TRY(forward_each(pairs, l->n, s->nfreq, compute, &j));
    for (size_t i = 0; i < pairs; i++)
        worst = fmax(worst, error[i].likely);
    if (!(worst <= tolerance_of(s)))
        FAIL(
            EK_UNVERIFIED,
            "all fields are computed, but the error of one is estimated at %.1e of it, above %g: a "
            "larger tolerance is kept",
            worst, tolerance_of(s));
    return EK_OK;
}
