/* mcsem/normal.c – assembles the matrix in CHOLMOD's columns; its pattern is fixed. Unknown c nz +
 * k is layer k of column c. The lower triangle is stored: each column has the rest of its diagonal
 * block, then the same layer of the next column in x and in y. */
#include "mcsem/normal_internal.h"
#include "mcsem/cell.h"

#include <cblas.h>
#include <dlfcn.h>
#include <omp.h>
#include <sys/mman.h>

#define LEAST_SHARE 1e-6  /* of the mean diagonal, for unknowns without data */
#define AT_BOUND    1e-12 /* distance in ln rho */

/* ---- opening --------------------------------------------------------------------------------- */

static size_t count_entries(const struct earth *e)
{
    const size_t own = (size_t)earth_unknowns(e);
    size_t n = 0;
    for (int c = 0; c < earth_columns(e); c++)
        n += own * (own + 1) / 2 +
             own * (size_t)((earth_next(e, c, 0) >= 0) + (earth_next(e, c, 1) >= 0));
    return n;
}

static void fill_pattern(const struct earth *e, cholmod_sparse *a)
{
    SuiteSparse_long *start = a->p, *row = a->i, at = 0;
    const int own = earth_unknowns(e);
    for (int c = 0; c < earth_columns(e); c++)
        for (int k = 0; k < own; k++) {
            *start++ = at;
            for (int below = k; below < own; below++)
                row[at++] = (SuiteSparse_long)c * own + below;
            for (int axis = 0; axis < 2; axis++)
                if (earth_next(e, c, axis) >= 0)
                    row[at++] = (SuiteSparse_long)earth_next(e, c, axis) * own + k;
        }
    *start = at;
}

/* OpenBLAS retries for ever if it cannot allocate its buffer. This checks for room, and makes the
 * first call, which keeps its buffer. */
static enum ek_status reserve_blas(void)
{
    enum { ROOM = 160 << 20, N = 64 }; /* the largest buffer is 128 MiB */
    void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        FAIL(EK_UNAVAILABLE, "no %d MiB of address space for OpenBLAS (ulimit -v)", ROOM >> 20);
    munmap(room, ROOM);
    double a[N * N] = {0}, b[N * N] = {0};
    for (int i = 0; i < N; i++)
        a[i * N + i] = 1;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, N, N, 1, a, N, b,
                N);
    return EK_OK;
}

enum ek_status normal_open(const struct earth *earth, const struct prior *prior,
                           struct normal **normal)
{
    TRY(reserve_blas());
    NEW(struct normal, n, 1, "out of memory for the normal equations");
    const size_t unknowns = earth_size(earth);
    n->earth = earth;
    n->prior = prior;
    openblas_set_num_threads(1);
    n->started = cholmod_l_start(&n->common);
    n->common.supernodal = CHOLMOD_SUPERNODAL;
    n->common.print = 0;
    n->matrix = cholmod_l_allocate_sparse(unknowns, unknowns, count_entries(earth), true, true, -1,
                                          CHOLMOD_REAL, &n->common);
    n->right = cholmod_l_zeros(unknowns, 1, CHOLMOD_REAL, &n->common);
    n->held = calloc(unknowns, sizeof *n->held);
    if (n->matrix && n->right && n->held) {
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
    free(n->held);
    cholmod_l_free_factor(&n->factor, &n->common);
    if (n->started)
        cholmod_l_finish(&n->common);
    free(n);
}

struct normal_size normal_size(const struct normal *n)
{
    return (struct normal_size){n->common.lnz, n->common.fl};
}

/* CHOLMOD's BLAS, or ours if that is a different one: GSL may bring a slow one. */
const char *normal_blas(void)
{
    static const char *const names[] = {"dgemm_", "cblas_dgemm"};
    const char *name = NULL;
    for (int k = 0; k < 2 && (!k || (name && strstr(name, "openblas"))); k++) {
        Dl_info info;
        void *symbol = dlsym(RTLD_DEFAULT, names[k]);
        name = symbol && dladdr(symbol, &info) ? info.dli_fname : NULL;
    }
    return name;
}

/* ---- assembly -------------------------------------------------------------------------------- */

double normal_scale(const struct earth *e, const double *sums)
{
    double sum = 0, n = 0;
    for (int c = 0; c < earth_columns(e); c++, sums += cell_sums(earth_unknowns(e)))
        for (int k = 0; k < earth_unknowns(e); k++) {
            const double own = sums[cell_sum_at(1 + k, 1 + k)];
            sum += own;
            n += own > 0;
        }
    return n > 0 ? sum / n : 1;
}

/* The entry, in the lower triangle, of two unknowns of one column or of adjacent columns. */
static double *entry_of(const struct normal *n, int a, int b)
{
    const SuiteSparse_long *start = n->matrix->p;
    const int low = a < b ? a : b, high = a < b ? b : a, own = earth_unknowns(n->earth);
    double *x = n->matrix->x;
    if (low / own == high / own)
        return x + start[low] + (high - low);
    const int place = earth_next(n->earth, low / own, 0) == high / own ? own - low % own : 0;
    return x + (place ? start[low] + place : start[low + 1] - 1);
}

/* Rows and columns of unknowns that do not change become those of the identity. */
static void hold(const struct normal *n)
{
    const SuiteSparse_long *start = n->matrix->p, *row = n->matrix->i;
    double *x = n->matrix->x;
    for (size_t i = 0; i < n->prior->n; i++)
        for (SuiteSparse_long p = start[i]; p < start[i + 1]; p++)
            if (n->held[i] || n->held[row[p]])
                x[p] = row[p] == (SuiteSparse_long)i;
}

static void fill_values(struct normal *n, const double *sums, struct prior_weights mu,
                        double damping)
{
    const struct earth *e = n->earth;
    const int own = earth_unknowns(e);
    const double least = damping * LEAST_SHARE * normal_scale(e, sums);
    double *x = n->matrix->x;
    for (int c = 0; c < earth_columns(e); c++, sums += cell_sums(own))
        for (int k = 0; k < own; k++) {
            for (int below = k; below < own; below++)
                *x++ = sums[cell_sum_at(1 + below, 1 + k)] * (below == k ? 1 + damping : 1) +
                       (below == k ? least : 0);
            for (int axis = 0; axis < 2; axis++)
                if (earth_next(e, c, axis) >= 0)
                    *x++ = 0;
        }
    for (size_t q = 0; q < n->prior->nrows; q++) {
        const struct prior_row *r = &n->prior->row[q];
        for (int i = 0; i < r->n && mu.of[r->kind] > 0; i++)
            for (int j = 0; j <= i; j++)
                *entry_of(n, r->at[i], r->at[j]) += mu.of[r->kind] * r->factor[i] * r->factor[j];
    }
    hold(n);
}

/* Fills the right-hand side and finds the unknowns that do not change. */
static void fill_right(const struct normal *n, const double *sums, const double *m,
                       struct prior_weights mu, bool bounded, double *right)
{
    const size_t own = (size_t)earth_unknowns(n->earth);
    for (size_t i = 0; i < n->prior->n; i++)
        right[i] = sums[i / own * cell_sums((int)own) + cell_sum_at(1 + (int)(i % own), 0)];
    for (size_t q = 0; q < n->prior->nrows; q++) {
        const struct prior_row *r = &n->prior->row[q];
        const double force = mu.of[r->kind] * prior_row_value(n->prior, r, m);
        for (int i = 0; i < r->n; i++)
            right[r->at[i]] -= r->factor[i] * force;
    }
    for (size_t i = 0; i < n->prior->n; i++) {
        const double way = copysign(1, right[i]);
        n->held[i] = n->prior->fixed[i] ||
                     (bounded && fabs(prior_change(n->prior, i, m[i], way)) < AT_BOUND);
        right[i] = n->held[i] ? 0 : right[i];
    }
}

/* ---- solving --------------------------------------------------------------------------------- */

/* CHOLMOD opens teams of four threads. Inside a bound team of ours they would share one CPU and
 * wait for each other, so nesting is disabled; on one thread it is many times faster. */
static void factorize_alone(struct normal *n)
{
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(omp_get_active_level());
    cholmod_l_factorize(n->matrix, n->factor, &n->common);
    omp_set_max_active_levels(levels);
}

enum ek_status normal_factorize(struct normal *n, const double *sums, struct prior_weights mu,
                                double damping)
{
    fill_values(n, sums, mu, damping);
    factorize_alone(n);
    return n->common.status == CHOLMOD_NOT_POSDEF ? EK_UNVERIFIED : EK_OK;
}

enum ek_status normal_solve(struct normal *n, const double *sums, const double *m,
                            struct prior_weights mu, double damping, bool bounded, double *dm)
{
    fill_right(n, sums, m, mu, bounded, n->right->x);
    TRY(normal_factorize(n, sums, mu, damping));
    cholmod_dense *solution =
        n->common.status < 0 ? NULL : cholmod_l_solve(CHOLMOD_A, n->factor, n->right, &n->common);
    if (!solution)
        FAIL(EK_UNAVAILABLE, "out of memory for a factor of %.3g numbers", n->common.lnz);
    memcpy(dm, solution->x, solution->nrow * sizeof *dm);
    cholmod_l_free_dense(&solution, &n->common);
    return EK_OK;
}

/* Adds g'd with g = J'W^2 r, and d'J'W^2 J d, of one cell. */
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
    const size_t own = (size_t)earth_unknowns(e);
    for (size_t c = 0; c < (size_t)earth_columns(e); c++)
        cell_product((int)own, sums + c * cell_sums((int)own), dm + c * own, &linear, &square);
    return 2 * linear - square;
}
