/* mcsem/normal_covariance.c – selected inversion, from the last supernode to the first.
 *
 * The columns J of a supernode and the rows I below them have, with Y = L_IJ L_JJ^-1,
 *   C_IJ = -C_II Y,   C_JJ = (L_JJ L_JJ')^-1 - Y' C_IJ,
 * and C_II is known by then: the factor's pattern contains every pair of rows of I in later
 * columns. */
#include "mcsem/normal_internal.h"
#include "src/sort.h"

#include <cblas.h>

struct inverse {
    const cholmod_factor *factor;
    const SuiteSparse_long *super, *rows, *row, *first; /* CHOLMOD's super, pi, s, px */
    double *c;                                          /* laid out as the factor's x */
    SuiteSparse_long *super_of, *place, *was; /* [n] supernode of a column; place of a row in the
                                                 current supernode; inverse of the ordering */
    double *y, *below;                        /* scratch for the largest supernode */
};

static SuiteSparse_long width_of(const struct inverse *v, SuiteSparse_long s)
{
    return v->super[s + 1] - v->super[s];
}

static SuiteSparse_long height_of(const struct inverse *v, SuiteSparse_long s)
{
    return v->rows[s + 1] - v->rows[s];
}

static void close_inverse(struct inverse *v)
{
    free(v->c);
    free(v->super_of);
    free(v->y);
    free(v->below);
}

static enum ek_status open_inverse(const cholmod_factor *factor, struct inverse *v)
{
    const SuiteSparse_long *perm = factor->Perm, n = (SuiteSparse_long)factor->n;
    size_t tall = 1, room = 1;
    *v = (struct inverse){.factor = factor,
                          .super = factor->super,
                          .rows = factor->pi,
                          .row = factor->s,
                          .first = factor->px};
    for (SuiteSparse_long s = 0; s < (SuiteSparse_long)factor->nsuper; s++) {
        const size_t below = (size_t)(height_of(v, s) - width_of(v, s));
        tall = below > tall ? below : tall;
        room = below * (size_t)width_of(v, s) > room ? below * (size_t)width_of(v, s) : room;
    }
    v->c = calloc(factor->xsize + 1, sizeof *v->c);
    v->super_of = calloc(3 * (size_t)n + 1, sizeof *v->super_of);
    v->y = malloc(room * sizeof *v->y);
    v->below = malloc(tall * tall * sizeof *v->below);
    if (!v->c || !v->super_of || !v->y || !v->below) {
        close_inverse(v);
        FAIL(EK_UNAVAILABLE, "out of memory for the uncertainties of %ld unknowns", (long)n);
    }
    v->place = v->super_of + n;
    v->was = v->super_of + 2 * n;
    for (SuiteSparse_long s = 0; s < (SuiteSparse_long)factor->nsuper; s++)
        for (SuiteSparse_long j = v->super[s]; j < v->super[s + 1]; j++)
            v->super_of[j] = s;
    for (SuiteSparse_long j = 0; j < n; j++)
        v->was[perm[j]] = j;
    return EK_OK;
}

/* The lower triangle of C over the n rows r. */
static void gather(struct inverse *v, const SuiteSparse_long *r, SuiteSparse_long n)
{
    SuiteSparse_long at = -1;
    for (SuiteSparse_long a = 0; a < n; a++) {
        const SuiteSparse_long s = v->super_of[r[a]], height = height_of(v, s);
        const SuiteSparse_long *rows = v->row + v->rows[s];
        for (SuiteSparse_long p = 0; s != at && p < height; p++)
            v->place[rows[p]] = p;
        at = s;
        const double *column = v->c + v->first[s] + (r[a] - v->super[s]) * height;
        for (SuiteSparse_long b = a; b < n; b++)
            v->below[a * n + b] = column[v->place[r[b]]];
    }
}

static void invert_supernode(struct inverse *v, SuiteSparse_long s)
{
    const int width = (int)width_of(v, s), height = (int)height_of(v, s), below = height - width;
    const double *l = (const double *)v->factor->x + v->first[s];
    double *c = v->c + v->first[s];
    for (int j = 0; j < width; j++)
        c[(size_t)j * (size_t)height + (size_t)j] = 1;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, width, width, 1,
                l, height, c, height);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, width, width, 1, l,
                height, c, height);
    if (!below)
        return;
    for (int j = 0; j < width; j++)
        memcpy(v->y + (size_t)j * (size_t)below, l + (size_t)j * (size_t)height + width,
               (size_t)below * sizeof *v->y);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, below, width, 1,
                l, height, v->y, below);
    gather(v, v->row + v->rows[s] + width, below);
    cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, below, width, -1, v->below, below, v->y,
                below, 0, c + width, height);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, width, width, below, -1, v->y, below,
                c + width, height, 1, c, height);
}

/* The entry of C for two coupled unknowns. */
static double entry(const struct inverse *v, size_t a, size_t b)
{
    const SuiteSparse_long p = v->was[a], q = v->was[b];
    const SuiteSparse_long column = p < q ? p : q, row = p < q ? q : p, s = v->super_of[column];
    const SuiteSparse_long *rows = v->row + v->rows[s], height = height_of(v, s);
    SuiteSparse_long low = 0, high = height - 1;
    SORT_BISECT(low, high, rows[middle] < row)
    return v->c[v->first[s] + (column - v->super[s]) * height + low];
}

/* Each unknown's variance, and its share: 1 less the shares that the rows of the prior
 * determine. */
static void take_all(const struct inverse *v, const struct prior *p, struct prior_weights mu,
                     double *variance, double *share)
{
    for (size_t i = 0; i < p->n; i++) {
        variance[i] = p->fixed[i] ? 0 : entry(v, i, i);
        share[i] = p->fixed[i] ? 0 : 1;
    }
    for (size_t q = 0; q < p->nrows; q++) {
        const struct prior_row *r = &p->row[q];
        for (int i = 0; i < r->n; i++)
            for (int j = 0; j < r->n && mu.of[r->kind] > 0; j++)
                if (!p->fixed[r->at[i]] && !p->fixed[r->at[j]])
                    share[r->at[i]] -= mu.of[r->kind] * r->factor[i] * r->factor[j] *
                                       entry(v, (size_t)r->at[i], (size_t)r->at[j]);
    }
}

enum ek_status normal_covariance(struct normal *n, const double *sums, struct prior_weights mu,
                                 double *variance, double *share)
{
    struct inverse v;
    memcpy(n->held, n->prior->fixed, n->prior->n * sizeof *n->held);
    TRY(normal_factorize(n, sums, mu, 0));
    if (n->common.status < 0 || !n->factor->is_super)
        FAIL(EK_UNAVAILABLE, "out of memory for a factor of %.3g numbers", n->common.lnz);
    TRY(open_inverse(n->factor, &v));
    for (SuiteSparse_long s = (SuiteSparse_long)n->factor->nsuper - 1; s >= 0; s--)
        invert_supernode(&v, s);
    take_all(&v, n->prior, mu, variance, share);
    close_inverse(&v);
    return EK_OK;
}
