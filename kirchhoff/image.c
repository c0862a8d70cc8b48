/* kirchhoff/image.c – images under construction. */
#include "kirchhoff/image.h"
#include "cu/memory.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

#include <stdlib.h>
#include <string.h>

static int depths_of(const struct grid *g)
{
    return (g->n[2] + MIGRATE_BLOCK - 1) / MIGRATE_BLOCK * MIGRATE_BLOCK;
}

static int nodes_of(const struct grid *g)
{
    return (depths_of(g) / MIGRATE_STEP + 1 + 7) / 8 * 8;
}

static size_t columns_of(const struct grid *g)
{
    return (size_t)g->n[0] * (size_t)g->n[1];
}

size_t image_bytes(const struct grid *g, const struct survey_classes *c)
{
    return (size_t)c->n * columns_of(g) *
           ((size_t)depths_of(g) * sizeof(double) + (size_t)nodes_of(g) * sizeof(float));
}

enum ek_status image_open(const struct grid *grid, const struct survey_classes *c,
                          struct image **out)
{
    char size[32];
    struct image *m = calloc(1, sizeof *m);
    if (!m)
        FAIL(EK_LACK, "out of memory for an image");
    m->grid = *grid;
    m->classes = *c;
    m->columns = columns_of(grid);
    m->depths = depths_of(grid);
    m->nodes = nodes_of(grid);
    m->tiles = (m->columns + IMAGE_TILE - 1) / IMAGE_TILE;
    m->sum = calloc((size_t)c->n * m->columns * (size_t)m->depths, sizeof *m->sum);
    m->fold = calloc((size_t)c->n * m->columns * (size_t)m->nodes, sizeof *m->fold);
    m->lock = calloc(m->tiles, sizeof *m->lock);
    if (!m->sum || !m->fold || !m->lock) {
        image_close(m);
        FAIL(EK_LACK, "out of memory for an image of %s; take fewer classes or a smaller --grid",
             memory_text(image_bytes(grid, c), size, sizeof size));
    }
    for (size_t t = 0; t < m->tiles; t++)
        pthread_mutex_init(&m->lock[t], NULL);
    *out = m;
    return EK_OK;
}

void image_close(struct image *m)
{
    if (!m)
        return;
    for (size_t t = 0; m->lock && t < m->tiles; t++)
        pthread_mutex_destroy(&m->lock[t]);
    free(m->lock);
    free(m->sum);
    free(m->fold);
    free(m);
}

static size_t sums(const struct image *m)
{
    return (size_t)m->classes.n * m->columns * (size_t)m->depths;
}

static size_t folds(const struct image *m)
{
    return (size_t)m->classes.n * m->columns * (size_t)m->nodes;
}

void image_clear(struct image *m)
{
    memset(m->sum, 0, sums(m) * sizeof *m->sum);
    memset(m->fold, 0, folds(m) * sizeof *m->fold);
}

void image_add(struct image *to, const double *sum, const float *fold)
{
    for (size_t i = 0; i < sums(to); i++)
        to->sum[i] += sum[i];
    for (size_t i = 0; i < folds(to); i++)
        to->fold[i] += fold[i];
}

void image_column(const struct image *m, int class, size_t column, bool divide, float *out)
{
    const double *sum = image_sum(m, class, column);
    const float *fold = image_fold(m, class, column);
    for (int k = 0; k < m->grid.n[2]; k++) {
        const float n = divide ? image_fold_at(fold, k) : 1;
        out[k] = n > 0 ? (float)(sum[k] / (double)n) : 0;
    }
}
