/* mcsem/forward_parts.c – preparation of a pair and its layers that does not profit from lanes. */
#include "mcsem/forward.h"
#include "src/kernel.h"

#include "mcsem/kernels/exact_plan.h"
#include "mcsem/kernels/field.h"

#define STEEP      0.3
#define LEAST_WIRE 1e-30 /* least tolerance of the sum over a wire */
#define LOSSES     10    /* factor of the decay that a quadrature rule must resolve */

enum ek_status forward_each(size_t n, int layers, int nfreq,
                            enum ek_status (*compute)(void *arg, struct forward *forward, size_t i),
                            void *arg)
{
    enum ek_status failed = EK_OK;
#pragma omp parallel
    {
        struct forward *f = NULL;
        enum ek_status st = forward_open(layers, nfreq, &f), before;
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < n; i++) {
#pragma omp atomic read
            before = failed;
            if (!before && !st)
                st = compute(arg, f, i);
            if (st) {
#pragma omp atomic write
                failed = st;
            }
        }
        forward_close(f);
    }
    return failed;
}

enum ek_status forward_check(const struct earth_layers *layers, const struct survey_pair *pair,
                             const char *path)
{
    struct survey_pair below = *pair;
    below.source[2] -= layers->z[0];
    below.receiver[2] -= layers->z[0];
    TRY(survey_check_pair(&below, path));
    return pair_check(pair, FORWARD_TOLERANCE, path);
}

double forward_line(double freq)
{
    return 8e-7 * acos(-1) * acos(-1) * freq;
}

void forward_layers(const struct earth_layers *layers, double *table)
{
    for (int k = 0; k < layers->n; k++) {
        double *row = table + 4 * k;
        row[0] = layers->rho_h[k];
        row[1] = 1 / layers->rho_h[k];
        row[2] = layers->rho_v[k] / layers->rho_h[k];
        row[3] = k && k < layers->n - 1 ? layers->z[k] - layers->z[k - 1] : 0;
    }
}

void forward_view(const struct pair_view *v, int parts, int *row)
{
    row[EXACT_BELOW] = v->below;
    row[EXACT_BETWEEN] = v->between;
    row[EXACT_ABOVE] = v->above;
    row[EXACT_SWAPPED] = v->swapped;
    row[EXACT_LOWER] = v->lower;
    row[EXACT_UPPER] = v->upper;
    row[EXACT_PARTS] = parts;
}

void forward_level(const struct pair_level *level, int parts, int weights, int *row)
{
    forward_view(&level->view, parts, row);
    row[EXACT_IN_LOWER] = (int)level->in_lower;
    row[EXACT_IN_UPPER] = (int)level->in_upper;
    row[EXACT_WEIGHTS] = weights;
}

int forward_derive(const struct earth_layers *layers, const struct pair_plan *plan,
                   enum forward_derivatives derivatives)
{
    static const int wanted[] = {FIELD_NONE, FIELD_BASE, FIELD_ALL, FIELD_ALL};
    const bool buried =
        plan->base > layers->sediments; /* the base omits sediments beside or above the pair */
    return derivatives == FORWARD_BELOW && buried ? FIELD_ALL : wanted[derivatives];
}

/* Where the receiver is almost below the wire, at a horizontal distance r and a vertical distance
 * d, the integrand extends down to l r = r / d, below the first point of coarser filters. */
int forward_filter(const struct survey_pair *p, int which)
{
    const double x = p->receiver[0] - p->source[0], y = p->receiver[1] - p->source[1];
    const double along = x * cos(p->azimuth) + y * sin(p->azimuth);
    const double across = y * cos(p->azimuth) - x * sin(p->azimuth);
    const double flat = 0.5 * p->length * cos(p->dip), rise = 0.5 * p->length * fabs(sin(p->dip));
    const double r = hypot(across, fmax(0, fabs(along) - flat)) - 0.5 * p->span;
    const double d = fabs(p->receiver[2] - p->source[2]) + rise;
    return r < STEEP * d && which < HANKEL_FILTERS ? HANKEL_FILTERS - 1 : which;
}

double forward_wire(const struct earth_layers *layers, const struct survey_pair *p, int nfreq,
                    const double *freq)
{
    const double rise = 0.5 * p->length * fabs(sin(p->dip));
    double loss = 0, most = 0;
    for (int q = 0; q < nfreq; q++)
        most = fmax(most, forward_line(freq[q]));
    for (int k = 0; k < layers->n && (!k || layers->z[k - 1] < p->source[2] + rise); k++)
        if (k == layers->n - 1 || layers->z[k] > p->source[2] - rise)
            loss = fmax(loss, sqrt(most / layers->rho_h[k]));
    return fmax(LEAST_WIRE, FORWARD_TOLERANCE * exp(-LOSSES * loss * rise));
}

double forward_difference(const double complex *field, const double complex *finer, size_t n,
                          double floor)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, cabs(field[i] - finer[i]) / fmax(cabs(finer[i]), floor));
    return worst;
}
