/* mcsem/certainty.c – variances and shares become lengths and depths. */
#include "mcsem/certainty.h"
#include "src/arena.h"

#include <math.h>
#include <stdlib.h>

#define HALF        0.5  /* of a number that the data determine */
#define LEAST_SHARE 1e-9 /* of a layer, for a length */

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

enum ek_status certainty_open(struct invert *inv, struct certainty **certainty)
{
    const struct earth *e = inv->earth;
    const size_t columns = (size_t)earth_columns(e), n = earth_size(e);
    const size_t own = (size_t)earth_unknowns(e);
    NEW(struct certainty, c, 1, "out of memory for uncertainties");
    c->sigma = ARENA_NEW(&c->arena, n, double);
    c->length = ARENA_NEW(&c->arena, n, double);
    c->depth = ARENA_NEW(&c->arena, columns, double);
    double *share = ARENA_NEW(&c->arena, n, double);
    enum ek_status st = arena_check(&c->arena, "uncertainties of %zu unknowns", n);
    if (!st)
        st = normal_certainty(inv->normal, inv->sums, invert_smoothness(inv), c->sigma, share);
    if (st == EK_UNVERIFIED)
        st = status_fail(EK_USAGE, "--uncertainty: neither data nor smoothness determine a model");
    if (st) {
        certainty_close(c);
        return st;
    }
    for (size_t i = 0; i < n; i++)
        c->sigma[i] = sqrt(fmax(c->sigma[i], 0));
    for (size_t i = 0; i < columns; i++)
        describe_column(e, share + i * own, c->length + i * own, &c->depth[i]);
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
