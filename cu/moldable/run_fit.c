/* cu/moldable/run_fit.c – GSL's Levenberg-Marquardt on (ln a, sqrt b, sqrt c), which keeps them
 * above 0. */
#include "cu/moldable/run_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>

struct samples {
    const int *cores;
    const double *seconds;
    int n;
    bool linear; /* b = 1 */
};

static struct moldable_law law_of(const struct samples *s, const gsl_vector *x)
{
    const double c = gsl_vector_get(x, 1), b = s->linear ? 1 : gsl_vector_get(x, 2);
    return (struct moldable_law){.a = exp(gsl_vector_get(x, 0)), .b = b * b, .c = c * c};
}

static int residuals(const gsl_vector *x, void *samples, gsl_vector *f)
{
    const struct samples *s = samples;
    struct moldable_law law = law_of(s, x);
    for (int i = 0; i < s->n; i++)
        gsl_vector_set(f, (size_t)i, moldable_seconds(&law, s->cores[i]) / s->seconds[i] - 1);
    return GSL_SUCCESS;
}

/* Starts with half of the largest work as the parallel part. */
static enum ek_status minimise(struct samples *s, struct moldable_law *law)
{
    enum { MOST_STEPS = 500 };
    size_t unknowns = s->linear ? 2 : 3;
    double longest = 0;
    int info;
    /* Without fmax(), on whose vector form gcc 12 for aarch64 ends with an internal error. */
    for (int i = 0; i < s->n; i++) {
        const double work = s->seconds[i] * s->cores[i];
        longest = work > longest ? work : longest;
    }
    gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf system = {
        .f = residuals, .n = (size_t)s->n, .p = unknowns, .params = s};
    gsl_vector *x = gsl_vector_alloc(unknowns);
    gsl_multifit_nlinear_workspace *w =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, (size_t)s->n, unknowns);
    if (x && w) {
        const double start[] = {log(longest / 2), sqrt(longest / 20), sqrt(0.8)};
        for (size_t i = 0; i < unknowns; i++)
            gsl_vector_set(x, i, start[i]);
        gsl_multifit_nlinear_init(x, &system, w);
        gsl_multifit_nlinear_driver(MOST_STEPS, 1e-10, 1e-10, 0, NULL, NULL, &info, w);
        *law = law_of(s, gsl_multifit_nlinear_position(w));
    }
    bool room = x && w;
    gsl_multifit_nlinear_free(w);
    gsl_vector_free(x);
    return room ? EK_OK
                : status_fail(EK_UNAVAILABLE, "out of memory for a fit of %d run times", s->n);
}

static int distinct(const int *cores, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < i && cores[k] != cores[i])
            k++;
        count += k == i;
    }
    return count;
}

enum ek_status run_fit(const int *cores, const double *seconds, int n, struct moldable_law *law,
                       double *rms)
{
    int kinds = distinct(cores, n);
    struct samples s = {cores, seconds, n, kinds < 3};
    double sum = 0;
    gsl_set_error_handler_off();
    if (kinds < 2) {
        for (int i = 0; i < n; i++)
            sum += seconds[i] / n;
        *law = (struct moldable_law){.c = sum};
    } else {
        TRY(minimise(&s, law));
    }
    sum = 0;
    for (int i = 0; i < n; i++)
        sum += pow(moldable_seconds(law, cores[i]) / seconds[i] - 1, 2) / n;
    *rms = sqrt(sum);
    return EK_OK;
}
