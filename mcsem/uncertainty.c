/* mcsem/uncertainty.c – finds the smoothness that the data make likeliest; converts variances and
 * shares to lengths and depths. */
#include "mcsem/uncertainty.h"

#define HALF        0.5  /* number determined by the data */
#define LEAST_SHARE 1e-9 /* share of a layer, to keep lengths finite */

/* The search for the likeliest smoothness: tolerance, largest step and largest distance in ln
 * mu. */
#define NEAR     0.2
#define FARTHEST 2.5
#define RANGE    9.0
enum { ITERATIONS = 8 };

/* The last layer counts as thick as the one above it. */
static double thickness(const struct earth *e, int k)
{
    const int at = k + 1 < e->nz ? k : k - 1;
    return e->nz > 1 ? e->top[at + 1] - e->top[at] : 100;
}

/* Resolution length: thickness over the share that the data determine. Depth of investigation: from
 * the bottom up, where the shares add up to HALF. */
static void describe_column(const struct earth *e, const double *share, double *length,
                            double *depth)
{
    double below = 0;
    *depth = 0;
    for (int i = earth_unknowns(e) - 1; i >= 0; i--)
        length[i] = thickness(e, i % e->nz) / fmax(share[i], LEAST_SHARE);
    for (int k = e->nz - 1; k >= 0 && *depth == 0; k--) {
        below += fmax(share[k], 0) + (e->vertical ? fmax(share[e->nz + k], 0) : 0);
        if (below >= HALF)
            *depth = e->top[k] + thickness(e, k);
    }
}

/* An iterate of the search: variances, shares, the step to the likeliest model, that model. */
struct iterate {
    double *variance, *share, *step, *likeliest;
};

/* mu is the likeliest one, given the data, if the likeliest model at mu (for linearised data) has a
 * roughness mu |R m|^2 equal to the number of parameters that the data determine, the sum of all
 * shares (MacKay 1992). *excess: ln(that number / roughness), by which ln mu is too small; infinite
 * where nothing is rough. */
static enum ek_status weigh(struct invert *inv, struct prior_weights mu, const struct iterate *t,
                            double *excess)
{
    const size_t n = earth_size(inv->earth);
    double rough = 0, determined = 0;
    TRY(normal_solve(inv->normal, inv->sums, inv->earth->m, mu, 0, false, t->step));
    TRY(normal_covariance(inv->normal, inv->sums, mu, t->variance, t->share));
    for (size_t i = 0; i < n; i++) {
        t->likeliest[i] = inv->earth->m[i] + t->step[i];
        determined += t->share[i];
    }
    for (int k = 0; k < PRIOR_KINDS; k++)
        if (mu.of[k] > 0)
            rough += mu.of[k] * prior_square(inv->prior, (enum prior_kind)k, t->likeliest);
    *excess = log(determined / rough);
    return EK_OK;
}

static struct prior_weights times(struct prior_weights mu, double factor)
{
    for (int k = 0; k < PRIOR_KINDS; k++)
        mu.of[k] *= factor;
    return mu;
}

/* Secant iteration from the last step's smoothness to the likeliest one; *at: ln of their ratio. */
static enum ek_status find_smoothness(struct invert *inv, const struct iterate *t, double *at)
{
    double excess, before = 0, x = 0, was = 0;
    for (int iteration = 0;; iteration++) {
        TRY(weigh(inv, times(invert_smoothness(inv), exp(x)), t, &excess));
        *at = x;
        if (iteration == ITERATIONS || !(fabs(excess) > NEAR))
            return EK_OK;
        const double slope = iteration ? (excess - before) / (x - was) : -1;
        const double way = slope < -0.1 ? -excess / slope : excess;
        before = excess;
        was = x;
        x = fmax(-RANGE, fmin(RANGE, x + fmax(-FARTHEST, fmin(FARTHEST, way))));
        if (x == was)
            return EK_OK;
    }
}

enum ek_status uncertainty_open(struct invert *inv, struct uncertainty **uncertainty)
{
    const struct earth *e = inv->earth;
    const size_t columns = (size_t)earth_columns(e), n = earth_size(e);
    const size_t own = (size_t)earth_unknowns(e);
    NEW(struct uncertainty, c, 1, "out of memory for uncertainties");
    c->sigma = ARENA_NEW(&c->arena, n, double);
    c->length = ARENA_NEW(&c->arena, n, double);
    c->depth = ARENA_NEW(&c->arena, columns, double);
    const struct iterate t = {c->sigma, ARENA_NEW(&c->arena, n, double),
                              ARENA_NEW(&c->arena, n, double), ARENA_NEW(&c->arena, n, double)};
    enum ek_status st = arena_check(&c->arena, "uncertainties of %zu unknowns", n);
    THEN(st, find_smoothness(inv, &t, &c->smoother));
    if (st == EK_UNVERIFIED)
        st = status_fail(EK_USAGE, "--uncertainty: neither data nor smoothness determine a model");
    TRY_OR(st, uncertainty_close(c));
    for (size_t i = 0; i < n; i++)
        c->sigma[i] = inv->prior->fixed[i] ? 0 : sqrt(fmax(c->sigma[i], 0) + t.step[i] * t.step[i]);
    for (size_t i = 0; i < columns; i++)
        describe_column(e, t.share + i * own, c->length + i * own, &c->depth[i]);
    *uncertainty = c;
    return EK_OK;
}

ARENA_CLOSE(uncertainty_close, struct uncertainty)
