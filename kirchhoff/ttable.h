/* kirchhoff/ttable.h – travel-time tables: what one source sends to every node of a grid.
 *
 * A table file begins with a header (struct ttable_header in ttable.c: magic, version, byte order,
 * grid, source, velocity, steps of the numbers, sum) of 1024 bytes; then, native byte order, node
 * numbers as in grid.h, for each column of z the time of its first filled node (float), and for
 * each node 11 bytes in arrays: int16 of T beyond what the filled node above and p say, T_a + (z -
 * z_a) (pz_a + pz) / 2; int16 of p along x, y, z; uint16 of log L (0: L is 0); kmah. An int16 is a
 * multiple of its step, which the largest one determines: T is off by 1/65534 of what p does not
 * explain of a step, at most of itself, p by that of the largest, L by 1/130000 of the logarithm of
 * its range. Files are written beside and renamed.
 *
 * Half-slowness rule, for interpolation from nodes (or sources) i with weights w_i: T(x) = sum w_i
 * [T_i + p_i.(x - x_i) / 2] is exact where T is quadratic; interpolating T alone is exact only
 * where it is linear. */
#pragma once

#include "kirchhoff/grid.h"
#include "kirchhoff/velocity.h"
#include "src/owned.h"
#include <stdbool.h>
#include <stdint.h>

/* In place of a number of caustics: nothing arrived; by the eikonal equation, which knows none. */
enum { TTABLE_UNFILLED = 255, TTABLE_EIKONAL = 254, TTABLE_KMAH_MOST = 253 };

struct ttable {
    struct grid grid;
    double source[3];             /* m */
    char velocity[VELOCITY_TEXT]; /* the model, as it was asked for */
    size_t unfilled, eikonal;     /* nodes that nothing reached, and those of first arrivals by the
                                     eikonal equation; counted by ttable_count() */
    size_t judged, failing;       /* sampled nodes, and those with a residual (certify.h) */
    float *time;                  /* [nodes] s; NAN where unfilled, as p and spread */
    float *p[3];                  /* [nodes] slowness grad T along x, y, z, s/m */
    float *spread;                /* [nodes] relative geometrical spreading L, m */
    uint8_t *kmah;                /* [nodes] caustics passed; TTABLE_UNFILLED: nothing arrived */
    void *packed;                 /* the file's bytes of what ttable_round() left, or NULL */
};

/* A file that is mapped as it is. */
struct ttable_file {
    char *name;
    void *memory;
    size_t bytes;
};

/* Bytes of a table's file. */
size_t ttable_bytes(const struct grid *g);

/* An empty table: all nodes unfilled. EK_UNAVAILABLE: memory. The caller owns *t; close accepts
 * NULL. */
enum ek_status ttable_make(const struct grid *grid, const double source[3], const char *velocity,
                           struct ttable **t);
void ttable_close(struct ttable *t);
OWNED_POINTER(struct ttable, ttable_close)

/* Before values change other than by what follows: they are no longer those that were rounded. */
void ttable_change(struct ttable *t);

/* Puts an arrival in place of what a node has. Any thread, but not the first after a rounding. */
static inline void ttable_put(struct ttable *t, size_t node, double time, const double p[3],
                              double spread, int kmah)
{
    if (t->packed)
        ttable_change(t);
    t->time[node] = (float)time;
    for (int a = 0; a < 3; a++)
        t->p[a][node] = (float)p[a];
    t->spread[node] = (float)spread;
    t->kmah[node] = (uint8_t)(kmah < TTABLE_KMAH_MOST ? kmah : TTABLE_KMAH_MOST);
}

/* A node as in another table of the same grid; empty. */
void ttable_copy(struct ttable *t, const struct ttable *from, size_t node);
void ttable_clear(struct ttable *t, size_t node);

/* Counts into t->unfilled and t->eikonal. */
void ttable_count(struct ttable *t);

/* What is left of numbers in a file; it will hold just these bits if nothing changes them before it
 * is written. EK_UNAVAILABLE: memory. */
enum ek_status ttable_round(struct ttable *t);

/* EK_UNAVAILABLE: no room on the disk, no such folder; what was there under this name stays
 * then. */
enum ek_status ttable_write(const struct ttable *t, const char *path);
/* EK_USAGE: it is no intact table of this version and byte order, or cannot be opened. The caller
 * closes *t. Any thread. */
enum ek_status ttable_open(const char *path, struct ttable **t);
/* The two halves of that: unmap accepts NULL. */
enum ek_status ttable_map(const char *path, struct ttable_file **f);
enum ek_status ttable_unpack(const struct ttable_file *f, struct ttable **t);
void ttable_unmap(struct ttable_file *f);
