/* kirchhoff/lsm.c – conjugate gradients: the vector operations between migration and
 * demigration. */
#include "kirchhoff/lsm.h"
#include "cu/rank/cluster.h"

static size_t samples(const struct migrate *m)
{
    return m->segy->n * (size_t)m->segy->ns;
}

size_t lsm_bytes(const struct migrate *m)
{
    return 3 * (samples(m) * sizeof(float) + image_points(m->image) * sizeof(double));
}

static enum ek_status read_traces(struct lsm *l)
{
    const struct segy *s = l->m->segy;
    for (size_t i = l->first; i < l->end; i++) {
        const size_t trace = l->m->survey->order[i];
        TRY(segy_read(s, trace, l->observed + trace * (size_t)s->ns));
    }
    return EK_OK;
}

enum ek_status lsm_open(struct migrate *m, int iterations, size_t begin, size_t end,
                        struct lsm **out)
{
    NEW(struct lsm, l, 1, "out of memory");
    *l = (struct lsm){.m = m,
                      .iterations = iterations,
                      .n = image_points(m->image),
                      .first = m->survey->first[begin],
                      .end = m->survey->first[end]};
    float **const data[] = {&l->observed, &l->residual, &l->modelled};
    double **const image[] = {&l->x, &l->direction, &l->gradient};
    for (int i = 0; i < 3; i++) {
        *data[i] = ARENA_NEW(&l->arena, samples(m), float);
        *image[i] = ARENA_NEW(&l->arena, l->n, double);
    }
    l->norm = ARENA_NEW(&l->arena, iterations + 1, double);
    enum ek_status st = arena_check(&l->arena, "--lsm: all traces three times, and three images");
    THEN(st, read_traces(l));
    TRY_OR(st, lsm_close(l));
    m->observed = l->observed;
    m->residual = l->residual;
    lsm_reset(l);
    *out = l;
    return EK_OK;
}

ARENA_CLOSE(lsm_close, struct lsm)

/* ---- traces and images ------------------------------------------------------------------------*/

/* <a, b> over all ranks' traces, summed in the order of the survey. */
static double data_product(const struct lsm *l, const float *a, const float *b)
{
    const size_t ns = (size_t)l->m->segy->ns;
    double sum = 0;
    for (size_t i = l->first; i < l->end; i++) {
        const size_t at = l->m->survey->order[i] * ns;
        for (size_t k = 0; k < ns; k++)
            sum += (double)a[at + k] * (double)b[at + k];
    }
    cluster_sum(&sum, 1);
    return sum;
}

static double image_product(const struct lsm *l, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Clears the depths that pad columns to whole blocks. */
static void clear_padding(struct image *image)
{
    const int depth = image->grid.n[2];
    for (size_t at = 0; at < image_points(image); at += (size_t)image->depths)
        memset(image->sum + at + depth, 0, (size_t)(image->depths - depth) * sizeof *image->sum);
}

static double relative_norm(const struct lsm *l)
{
    return l->energy > 0 ? sqrt(data_product(l, l->residual, l->residual) / l->energy) : 0;
}

void lsm_reset(struct lsm *l)
{
    memcpy(l->residual, l->observed, samples(l->m) * sizeof *l->residual);
    memset(l->x, 0, l->n * sizeof *l->x);
    l->at = (struct lsm_state){.done = 0};
    l->energy = data_product(l, l->observed, l->observed);
    l->norm[0] = relative_norm(l);
}

void lsm_pieces(struct lsm *l, void *piece[LSM_PIECES], uint64_t bytes[LSM_PIECES])
{
    memset(bytes, 0, LSM_PIECES * sizeof *bytes);
    if (!l)
        return;
    void *const at[] = {&l->at, l->norm, l->residual, l->x, l->direction, l->gradient};
    const uint64_t image = l->n * sizeof *l->x;
    const uint64_t size[] = {sizeof l->at,
                             ((uint64_t)l->iterations + 1) * sizeof *l->norm,
                             samples(l->m) * sizeof *l->residual,
                             image,
                             image,
                             image};
    memcpy(piece, at, sizeof at);
    memcpy(bytes, size, sizeof size);
}

/* ---- a step -----------------------------------------------------------------------------------*/

static void take_gradient(struct lsm *l)
{
    struct image *image = l->m->image;
    image_gather(image);
    clear_padding(image);
    const double square = image_product(l, image->sum, image->sum);
    const double by = l->at.done ? square / l->at.square : 0;
    if (!l->at.done)
        memcpy(l->gradient, image->sum, l->n * sizeof *image->sum);
    for (size_t i = 0; square > 0 && i < l->n; i++)
        l->direction[i] = image->sum[i] + by * l->direction[i];
    l->at.square = square;
}

/* Moves along the direction to where the residual is smallest. */
static void move_along(struct lsm *l)
{
    const double length = data_product(l, l->modelled, l->modelled);
    const double way = length > 0 ? l->at.square / length : 0;
    const size_t n = samples(l->m);
    for (size_t i = 0; i < l->n; i++)
        l->x[i] += way * l->direction[i];
    for (size_t i = 0; i < n; i++)
        l->residual[i] -= (float)(way * (double)l->modelled[i]);
    l->norm[++l->at.done] = relative_norm(l);
}

void lsm_step(struct lsm *l, int number, bool *last)
{
    struct image *image = l->m->image;
    if (lsm_migrates(number)) {
        take_gradient(l);
        *last = !(l->at.square > 0);
    } else {
        move_along(l);
        *last = l->at.done == l->iterations;
    }
    if (*last)
        memcpy(image->sum, l->x, l->n * sizeof *l->x);
    else if (!lsm_migrates(number))
        image_clear(image);
}

double lsm_mismatch(const struct lsm *l)
{
    const double length = data_product(l, l->modelled, l->modelled) * l->energy;
    const double both = data_product(l, l->modelled, l->observed);
    return length > 0 ? fabs(both - image_product(l, l->direction, l->gradient)) / sqrt(length) : 0;
}
