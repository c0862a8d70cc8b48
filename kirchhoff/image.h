/* kirchhoff/image.h – images under construction: sums of contributions and how many traces gave
 * them, for each offset class, column and depth.
 *
 * Sums are double: contributions that are rounded to multiples of one small number (par
 * PAR_ROUND) then add up to the same bits in any order. Units of a process share one image and lock
 * the tile that they add to. */
#pragma once

#include "kirchhoff/grid.h"
#include "kirchhoff/chunks.h"
#include <pthread.h>

enum { IMAGE_TILE = 4 }; /* columns that are worked on together */

struct image {
    struct grid grid;
    struct chunks_classes classes;
    size_t columns, tiles;
    int depths, nodes;     /* of a column: whole blocks; nodes with room for whole vectors */
    double *sum;           /* [class][column][depths] */
    float *fold;           /* [class][column][depths] */
    pthread_mutex_t *lock; /* [tiles] */
};

/* Bytes that an image takes. */
size_t image_bytes(const struct grid *grid, const struct chunks_classes *c);

/* fine: depths with nodes of their own (kernels/migrate.h). EK_UNAVAILABLE: memory. Caller owns
 * *image; close accepts NULL. */
enum ek_status image_open(const struct grid *grid, const struct chunks_classes *c, int fine,
                          struct image **image);
void image_close(struct image *image);
void image_clear(struct image *image);

static inline double *image_sum(const struct image *m, int class, size_t column)
{
    return m->sum + ((size_t) class * m->columns + column) * (size_t)m->depths;
}

static inline float *image_fold(const struct image *m, int class, size_t column)
{
    return m->fold + ((size_t) class * m->columns + column) * (size_t)m->depths;
}

/* Numbers in sum, as many as in fold. */
size_t image_points(const struct image *m);

/* Adds another image of the same shape; other units may add to tiles meanwhile. */
void image_add(struct image *to, const double *sum, const float *fold);

/* A column as it is written: out [grid.n[2]]. `divide`: by the fold, 0 where nothing came. */
void image_column(const struct image *m, int class, size_t column, bool divide, float *out);

/* Sums the images of all ranks, into each of them. Collective. */
void image_gather(struct image *image);
