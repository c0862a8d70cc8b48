/* kirchhoff/ttable.h – travel-time tables: what one source sends to every node of a grid.
 *
 * A table file begins with a header (struct ttable_header in ttable.c: magic, version, byte order,
 * grid, source, velocity, sum) of 1024 bytes; the arrays follow in the order of struct ttable,
 * native byte order, node numbers as in grid.h. Files are written beside and renamed.
 *
 * Half-slowness rule, for interpolation from nodes (or sources) i with weights w_i: T(x) = sum w_i
 * [T_i + p_i.(x - x_i) / 2] is exact where T is quadratic; interpolating T alone is exact only
 * where it is linear. */
#pragma once

#include "kirchhoff/grid.h"
#include "kirchhoff/velocity.h"
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
    void *memory;                 /* that the arrays lie in */
    size_t bytes;
    bool mapped; /* memory is a private map of the file */
};

/* Bytes of a table's file. */
size_t ttable_bytes(const struct grid *g);

/* An empty table: all nodes unfilled. EK_UNAVAILABLE: memory. The caller owns *t; close accepts
 * NULL. */
enum ek_status ttable_make(const struct grid *grid, const double source[3], const char *velocity,
                           struct ttable **t);
void ttable_close(struct ttable *t);

/* Puts an arrival in place of what a node has. */
static inline void ttable_put(struct ttable *t, size_t node, double time, const double p[3],
                              double spread, int kmah)
{
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

/* EK_UNAVAILABLE: no room on the disk, no such folder; what was there under this name stays
 * then. */
enum ek_status ttable_write(const struct ttable *t, const char *path);
/* Maps the file; its arrays may be written to, the file does not change. EK_USAGE: it is no intact
 * table of this version and byte order, or cannot be opened. The caller closes *t. Any thread. */
enum ek_status ttable_open(const char *path, struct ttable **t);
