/* mcsem/normal.c – assembly in CHOLMOD's columns, whose pattern never changes. Unknown c nz + k is
 * layer k of column c; of a symmetric matrix the lower triangle is stored: below each entry of the
 * diagonal the rest of its block, then the same layer of the next column in x and in y. */
#include "mcsem/normal_internal.h"
#include "mcsem/cell.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int normal_next(const struct earth *e, int c, int axis)
{
    if (axis == 0)
        return c % e->nx + 1 < e->nx ? c + 1 : -1;
    return c + e->nx < earth_columns(e) ? c + e->nx : -1;
}

/* ---- opening --------------------------------------------------------------------------------- */

static size_t count_entries(const struct earth *e)
{
    const size_t nz = (size_t)e->nz;
    size_t n = 0;
    for (int c = 0; c < earth_columns(e); c++)
        n += nz * (nz + 1) / 2 +
             nz * (size_t)((normal_next(e, c, 0) >= 0) + (normal_next(e, c, 1) >= 0));
    return n;
}

static void fill_pattern(const struct earth *e, cholmod_sparse *a)
{
    SuiteSparse_long *start = a->p, *row = a->i, at = 0;
    for (int c = 0; c < earth_columns(e); c++)
        for (int k = 0; k < e->nz; k++) {
            *start++ = at;
            for (int below = k; below < e->nz; below++)
                row[at++] = (SuiteSparse_long)c * e->nz + below;
            for (int axis = 0; axis < 2; axis++)
                if (normal_next(e, c, axis) >= 0)
                    row[at++] = (SuiteSparse_long)normal_next(e, c, axis) * e->nz + k;
        }
    *start = at;
}

enum ek_status normal_open(const struct earth *earth, struct normal **normal)
{
    struct normal *n = calloc(1, sizeof *n);
    if (!n)
        FAIL(EK_UNAVAILABLE, "out of memory for the normal equations");
    const size_t unknowns = (size_t)earth_columns(earth) * (size_t)earth->nz;
    n->earth = earth;
    openblas_set_num_threads(1);
    n->started = cholmod_l_start(&n->common);
    n->common.supernodal = CHOLMOD_SUPERNODAL;
    n->common.print = 0;
    n->matrix = cholmod_l_allocate_sparse(unknowns, unknowns, count_entries(earth), true, true, -1,
                                          CHOLMOD_REAL, &n->common);
    n->right = cholmod_l_zeros(unknowns, 1, CHOLMOD_REAL, &n->common);
    if (n->matrix && n->right) {
        fill_pattern(earth, n->matrix);
        n->factor = cholmod_l_analyze(n->matrix, &n->common);
    }
    if (!n->factor) {
        normal_close(n);
        FAIL(EK_UNAVAILABLE, "out of memory for the normal equations of %zu unknowns", unknowns);
    }
    *normal = n;
    return EK_OK;
}

void normal_close(struct normal *n)
{
    if (!n)
        return;
    cholmod_l_free_sparse(&n->matrix, &n->common);
    cholmod_l_free_dense(&n->right, &n->common);
    cholmod_l_free_factor(&n->factor, &n->common);
    if (n->started)
        cholmod_l_finish(&n->common);
    free(n);
}

struct normal_size normal_size(const struct normal *n)
{
    return (struct normal_size){n->common.lnz, n->common.fl};
}

const char *normal_blas(void)
{
    Dl_info info;
    void *dgemm = dlsym(RTLD_DEFAULT, "dgemm_"); /* as CHOLMOD finds it, too */
    return dgemm && dladdr(dgemm, &info) ? info.dli_fname : NULL;
}

/* ---- assembly -------------------------------------------------------------------------------- */

double normal_scale(const struct earth *e, const double *sums)
{
    double sum = 0, n = 0;
    for (int c = 0; c < earth_columns(e); c++, sums += cell_sums(e->nz))
        for (int k = 0; k < e->nz; k++) {
            const double own = sums[cell_sum_at(1 + k, 1 + k)];
            sum += own;
            n += own > 0;
        }
    return n > 0 ? sum / n : 1;
}

/* How many neighbours an unknown has below and above, in x and y. */
static int vertical_neighbours(const struct earth *e, int k)
{
    return (k > 0) + (k < e->nz - 1);
}

static int lateral_neighbours(const struct earth *e, int c)
{
    const int ix = c % e->nx, iy = c / e->nx;
    return (ix > 0) + (ix < e->nx - 1) + (iy > 0) + (iy < e->ny - 1);
}

static void fill_values(const struct earth *e, const double *sums, struct normal_smoothness mu,
                        double damping, double *x)
{
    for (int c = 0; c < earth_columns(e); c++, sums += cell_sums(e->nz))
        for (int k = 0; k < e->nz; k++) {
            *x = sums[cell_sum_at(1 + k, 1 + k)] + damping +
                 mu.vertical * vertical_neighbours(e, k) + mu.lateral * lateral_neighbours(e, c);
            x++;
            for (int below = k + 1; below < e->nz; below++)
                *x++ = sums[cell_sum_at(1 + below, 1 + k)] - (below == k + 1 ? mu.vertical : 0);
            for (int axis = 0; axis < 2; axis++)
                if (normal_next(e, c, axis) >= 0)
                    *x++ = -mu.lateral;
        }
}

/* Adds `factor` (mu_v Rv'Rv + mu_h Rh'Rh) m to `to`. */
static void add_roughness(const struct earth *e, const double *m, struct normal_smoothness mu,
                          double factor, double *to)
{
    for (int c = 0; c < earth_columns(e); c++)
        for (int k = 0; k < e->nz; k++) {
            const size_t here = (size_t)c * (size_t)e->nz + (size_t)k;
            if (k + 1 < e->nz) {
                const double force = factor * mu.vertical * (m[here] - m[here + 1]);
                to[here] += force;
                to[here + 1] -= force;
            }
            for (int axis = 0; axis < 2; axis++) {
                const int next = normal_next(e, c, axis);
                if (next < 0)
                    continue;
                const size_t there = (size_t)next * (size_t)e->nz + (size_t)k;
                const double force = factor * mu.lateral * (m[here] - m[there]);
                to[here] += force;
                to[there] -= force;
            }
        }
}

static void fill_right(const struct earth *e, const double *sums, const double *m,
                       struct normal_smoothness mu, double *right)
{
    const size_t nz = (size_t)e->nz;
    for (int c = 0; c < earth_columns(e); c++)
        for (size_t k = 0; k < nz; k++)
            right[(size_t)c * nz + k] =
                sums[(size_t)c * cell_sums(e->nz) + cell_sum_at(1 + (int)k, 0)];
    add_roughness(e, m, mu, -1, right);
}

/* ---- solving --------------------------------------------------------------------------------- */

enum ek_status normal_factorize(struct normal *n, const double *sums, struct normal_smoothness mu,
                                double damping)
{
    fill_values(n->earth, sums, mu, damping, n->matrix->x);
    cholmod_l_factorize(n->matrix, n->factor, &n->common);
    return n->common.status == CHOLMOD_NOT_POSDEF ? EK_UNVERIFIED : EK_OK;
}

enum ek_status normal_solve(struct normal *n, const double *sums, const double *m,
                            struct normal_smoothness mu, double damping, double *dm)
{
    const struct earth *e = n->earth;
    TRY(normal_factorize(n, sums, mu, damping));
    fill_right(e, sums, m, mu, n->right->x);
    cholmod_dense *solution =
        n->common.status < 0 ? NULL : cholmod_l_solve(CHOLMOD_A, n->factor, n->right, &n->common);
    if (!solution)
        FAIL(EK_UNAVAILABLE, "out of memory for a factor of %.3g numbers", n->common.lnz);
    memcpy(dm, solution->x, solution->nrow * sizeof *dm);
    cholmod_l_free_dense(&solution, &n->common);
    return EK_OK;
}

/* ---- Phi's parts ----------------------------------------------------------------------------- */

double normal_roughness_v(const struct earth *e, const double *m)
{
    double sum = 0;
    for (int c = 0; c < earth_columns(e); c++, m += e->nz)
        for (int k = 0; k + 1 < e->nz; k++)
            sum += (m[k + 1] - m[k]) * (m[k + 1] - m[k]);
    return sum;
}

double normal_roughness_h(const struct earth *e, const double *m)
{
    double sum = 0;
    for (int c = 0; c < earth_columns(e); c++)
        for (int axis = 0; axis < 2; axis++) {
            const int next = normal_next(e, c, axis);
            const double *here = m + (size_t)c * (size_t)e->nz;
            const double *there = m + (size_t)next * (size_t)e->nz;
            for (int k = 0; next >= 0 && k < e->nz; k++)
                sum += (there[k] - here[k]) * (there[k] - here[k]);
        }
    return sum;
}

/* g'd for g = J'W^2 r, and d'J'W^2 J d, of one cell. */
static void cell_product(int nz, const double *sums, const double *d, double *linear,
                         double *square)
{
    for (int i = 0; i < nz; i++) {
        double row = 0;
        for (int j = 0; j < i; j++)
            row += sums[cell_sum_at(1 + i, 1 + j)] * d[j];
        *linear += sums[cell_sum_at(1 + i, 0)] * d[i];
        *square += d[i] * (2 * row + sums[cell_sum_at(1 + i, 1 + i)] * d[i]);
    }
}

double normal_predict(const struct earth *e, const double *sums, const double *dm)
{
    double linear = 0, square = 0;
    for (int c = 0; c < earth_columns(e); c++)
        cell_product(e->nz, sums + (size_t)c * cell_sums(e->nz), dm + (size_t)c * (size_t)e->nz,
                     &linear, &square);
    return 2 * linear - square;
}
