/* kirchhoff/image.c – images under construction. */
#include "kirchhoff/image.h"
#include "cu/rank/cluster.h"
#include "cu/bench/memory.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

static int depths_of(const struct grid *g)
{
    return (g->n[2] + MIGRATE_BLOCK - 1) / MIGRATE_BLOCK * MIGRATE_BLOCK;
}

static int nodes_of(const struct grid *g, int fine)
{
    return (migrate_node(depths_of(g), fine) + MIGRATE_BLOCK) / MIGRATE_BLOCK * MIGRATE_BLOCK;
}

size_t image_bytes(const struct grid *g, const struct chunks_classes *c)
{
    return (size_t)c->n * grid_columns(g) * (size_t)depths_of(g) * (sizeof(double) + sizeof(float));
}

enum ek_status image_open(const struct grid *grid, const struct chunks_classes *c, int fine,
                          struct image **out)
{
    char size[32];
    NEW(struct image, m, 1, "out of memory for an image");
    m->grid = *grid;
    m->classes = *c;
    m->columns = grid_columns(grid);
    m->depths = depths_of(grid);
    m->nodes = nodes_of(grid, fine);
    m->tiles = (m->columns + IMAGE_TILE - 1) / IMAGE_TILE;
    m->sum = calloc((size_t)c->n * m->columns * (size_t)m->depths, sizeof *m->sum);
    m->fold = calloc((size_t)c->n * m->columns * (size_t)m->depths, sizeof *m->fold);
    m->lock = calloc(m->tiles, sizeof *m->lock);
    if (!m->sum || !m->fold || !m->lock) {
        image_close(m);
        FAIL(EK_UNAVAILABLE,
             "out of memory for an image of %s; take fewer classes or a smaller --grid",
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

size_t image_points(const struct image *m)
{
    return (size_t)m->classes.n * m->columns * (size_t)m->depths;
}

void image_clear(struct image *m)
{
    memset(m->sum, 0, image_points(m) * sizeof *m->sum);
    memset(m->fold, 0, image_points(m) * sizeof *m->fold);
}

static void add_column(struct image *to, int class, size_t column, const double *sum,
                       const float *fold)
{
    const size_t at = (size_t) class * to->columns + column;
    double *s = image_sum(to, class, column);
    float *f = image_fold(to, class, column);
    sum += at * (size_t)to->depths;
    fold += at * (size_t)to->depths;
    for (int k = 0; k < to->depths; k++) {
        s[k] += sum[k];
        f[k] += fold[k];
    }
}

void image_add(struct image *to, const double *sum, const float *fold)
{
    for (size_t c = 0; c < to->columns; c++) {
        LOCKED(&to->lock[c / IMAGE_TILE]);
        for (int class = 0; class < to->classes.n; class ++)
            add_column(to, class, c, sum, fold);
    }
}

/* In pieces whose length fits MPI's int. */
void image_gather(struct image *m)
{
    enum { PIECE = 1 << 20 };
    double fold[1024];
    if (cluster_size() == 1)
        return;
    for (size_t i = 0; i < image_points(m); i += PIECE)
        cluster_sum(m->sum + i, image_points(m) - i < PIECE ? image_points(m) - i : PIECE);
    for (size_t i = 0; i < image_points(m); i += 1024) {
        const size_t n = image_points(m) - i < 1024 ? image_points(m) - i : 1024;
        for (size_t k = 0; k < n; k++)
            fold[k] = (double)m->fold[i + k];
        cluster_sum(fold, n);
        for (size_t k = 0; k < n; k++)
            m->fold[i + k] = (float)fold[k];
    }
}

void image_column(const struct image *m, int class, size_t column, bool divide, float *out)
{
    const double *sum = image_sum(m, class, column);
    const float *fold = image_fold(m, class, column);
    for (int k = 0; k < m->grid.n[2]; k++) {
        const double by = divide ? (double)fold[k] : 1;
        out[k] = by > 0 ? (float)(sum[k] / by) : 0;
    }
}
