/* mcsem/certainty.c – how smooth the earth is, by the data; variances and shares become lengths and
 * depths. */
#include "mcsem/certainty.h"
#include "src/arena.h"

#include <math.h>
#include <stdlib.h>

#define HALF        0.5  /* of a number that the data determine */
#define LEAST_SHARE 1e-9 /* of a layer, for a length */

/* The search for the likeliest smoothness: how near in ln mu, how far in a turn and in all. */
#define NEAR     0.2
#define FARTHEST 2.5
#define RANGE    9.0
enum { TURNS = 8 };

/* The last layer counts as thick as the one above it. */
static double thickness(const struct earth *e, int k)
{
    const int at = k + 1 < e->nz ? k : k - 1;
    return e->nz > 1 ? e->top[at + 1] - e->top[at] : 100;
}

/* A layer's thickness over the share of it that the data determine; what is left below it. */
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

/* What a turn of the search has: variances, shares, and the way to the likeliest model. */
struct turn {
    double *variance, *share, *way, *there;
};

/* At mu the model that is likeliest, were the data linear, is as rough as it should be where
 * mu |R m|^2 is the number of what the data determine, the sum of all shares: then mu is the
 * likeliest one, given the data (MacKay 1992). *excess: the logarithm of that number over it, by
 * which ln mu is too small, or infinite where nothing is rough. */
static enum ek_status weigh(struct invert *inv, struct prior_weights mu, const struct turn *t,
                            double *excess)
{
    const size_t n = earth_size(inv->earth);
    double rough = 0, determined = 0;
    TRY(normal_solve(inv->normal, inv->sums, inv->earth->m, mu, 0, t->way));
    TRY(normal_certainty(inv->normal, inv->sums, mu, t->variance, t->share));
    for (size_t i = 0; i < n; i++) {
        t->there[i] = inv->earth->m[i] + t->way[i];
        determined += t->share[i];
    }
    for (int k = 0; k < PRIOR_KINDS; k++)
        if (mu.of[k] > 0)
            rough += mu.of[k] * prior_square(inv->prior, (enum prior_kind)k, t->there);
    *excess = log(determined / rough);
    return EK_OK;
}

static struct prior_weights times(struct prior_weights mu, double factor)
{
    for (int k = 0; k < PRIOR_KINDS; k++)
        mu.of[k] *= factor;
    return mu;
}

/* From the last step's smoothness to the likeliest one, by secants of what weigh() says; *at:
 * ln of the one over the other. */
static enum ek_status find_smoothness(struct invert *inv, const struct turn *t, double *at)
{
    double excess, before = 0, x = 0, was = 0;
    for (int turn = 0;; turn++) {
        TRY(weigh(inv, times(invert_smoothness(inv), exp(x)), t, &excess));
        *at = x;
        if (turn == TURNS || !(fabs(excess) > NEAR))
            return EK_OK;
        const double slope = turn ? (excess - before) / (x - was) : -1;
        const double way = slope < -0.1 ? -excess / slope : excess;
        before = excess;
        was = x;
        x = fmax(-RANGE, fmin(RANGE, x + fmax(-FARTHEST, fmin(FARTHEST, way))));
        if (x == was)
            return EK_OK;
    }
}

enum ek_status certainty_open(struct invert *inv, struct certainty **certainty)
{
    const struct earth *e = inv->earth;
    const size_t columns = (size_t)earth_columns(e), n = earth_size(e);
    const size_t own = (size_t)earth_unknowns(e);
    NEW(struct certainty, c, 1, "out of memory for uncertainties");
    c->sigma = ARENA_NEW(&c->arena, n, double);
    c->length = ARENA_NEW(&c->arena, n, double);
    c->depth = ARENA_NEW(&c->arena, columns, double);
    const struct turn t = {c->sigma, ARENA_NEW(&c->arena, n, double),
                           ARENA_NEW(&c->arena, n, double), ARENA_NEW(&c->arena, n, double)};
    enum ek_status st = arena_check(&c->arena, "uncertainties of %zu unknowns", n);
    THEN(st, find_smoothness(inv, &t, &c->smoother));
    if (st == EK_UNVERIFIED)
        st = status_fail(EK_USAGE, "--uncertainty: neither data nor smoothness determine a model");
    TRY_OR(st, certainty_close(c));
    for (size_t i = 0; i < n; i++)
        c->sigma[i] = inv->prior->fixed[i] ? 0 : sqrt(fmax(c->sigma[i], 0) + t.way[i] * t.way[i]);
    for (size_t i = 0; i < columns; i++)
        describe_column(e, t.share + i * own, c->length + i * own, &c->depth[i]);
    *certainty = c;
    return EK_OK;
}

void certainty_close(struct certainty *c)
{
    if (!c)
        return;
    arena_free(&c->arena);
    free(c);
}
