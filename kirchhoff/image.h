/* kirchhoff/image.h – images under construction: the sum of the contributions and the number of
 * contributing traces (fold) for each offset class, column and depth.
 *
 * Sums are double: contributions that are rounded to multiples of one small number (PAR_ROUND) then
 * add up to the same bits in any order. The units of a process share one image and lock the tile
 * that they add to. */
#pragma once

#include "kirchhoff/grid.h"
#include "kirchhoff/chunks.h"
#include <pthread.h>
#include <stdatomic.h>

enum { IMAGE_TILE = 4 }; /* columns that are processed together */

struct image {
    struct grid grid;
    struct chunks_classes classes;
    size_t columns, tiles;
    int depths, nodes;     /* of a column, padded to whole blocks; nodes, padded to whole vectors */
    atomic_long silent;    /* traces without signal in all chunks so far */
    double *sum;           /* [class][column][depths] */
    float *fold;           /* [class][column][depths] */
    pthread_mutex_t *lock; /* [tiles] */
};

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

/* A column as it is written, to out [grid.n[2]]. `divide`: by the fold; 0 where that is 0. */
void image_column(const struct image *m, int class, size_t column, bool divide, float *out);

/* Replaces each rank's image by the sum of all ranks' images. Collective. */
void image_gather(struct image *image);
