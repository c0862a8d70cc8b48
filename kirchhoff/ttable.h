/* kirchhoff/ttable.h – travel-time tables: times, slownesses and amplitudes from one source to
 * every node of a grid.
 *
 * A file has a header of 1024 bytes (struct ttable_header in ttable.c: magic, version, byte order,
 * grid, source, velocity, quantization steps, checksum); then, in native byte order, for each
 * column the time of its first filled node (float), and arrays of 11 bytes per node, numbered as in
 * grid.h: int16 T minus the time expected from the filled node a above, T_a + (z - z_a) (pz_a + pz)
 * / 2; int16 p along x, y, z; uint16 log L (0: L is 0); kmah. An int16 counts steps that suit the
 * largest value in the table. Largest errors: T 1/65534 of the largest such difference, p 1/65534
 * of the largest component, log L 1/130000 of its range. Files are written under another name and
 * renamed.
 *
 * Half-slowness rule for interpolation from nodes (or sources) i with weights w_i: T(x) = sum w_i
 * [T_i + p_i.(x - x_i) / 2] is exact where T is quadratic; interpolating T alone is exact only
 * where it is linear. */
#pragma once

#include "kirchhoff/grid.h"
#include "kirchhoff/velocity.h"

/* Special values of kmah: nothing arrived; a time of the eikonal equation, which knows no caustics;
 * and the largest number of caustics. */
enum { TTABLE_UNFILLED = 255, TTABLE_EIKONAL = 254, TTABLE_KMAH_MOST = 253 };

struct ttable {
    struct grid grid;
    double source[3];             /* m */
    char velocity[VELOCITY_TEXT]; /* the model's text (velocity.h) */
    size_t unfilled, eikonal;     /* nodes that nothing reached; nodes with times of the eikonal
                                     equation; counted by ttable_count() */
    size_t judged, failing;       /* nodes sampled, and those that fail (certify.h) */
    float *time;                  /* [nodes] s; like p and spread NAN where unfilled */
    float *p[3];                  /* [nodes] slowness grad T along x, y, z, s/m */
    float *spread;                /* [nodes] relative geometrical spreading L, m */
    uint8_t *kmah;                /* [nodes] caustics passed, or TTABLE_UNFILLED, TTABLE_EIKONAL */
    void *packed;                 /* the file's bytes after ttable_round(), or NULL */
};

/* A table's file, mapped into memory. */
struct ttable_file {
    char *name;
    void *memory;
    size_t bytes;
};

/* Size of a table's file. */
size_t ttable_bytes(const struct grid *g);

/* An empty table: all nodes unfilled. EK_UNAVAILABLE: memory. The caller owns *t; close accepts
 * NULL. */
enum ek_status ttable_make(const struct grid *grid, const double source[3], const char *velocity,
                           struct ttable **t);
void ttable_close(struct ttable *t);
OWNED_POINTER(struct ttable, ttable_close)

/* Call this before changing values other than by the functions below: it drops t->packed. */
void ttable_change(struct ttable *t);

/* Replaces a node's arrival. Several threads may put different nodes at once, but not the first
 * one after ttable_round(), which drops t->packed. */
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

/* Copies a node from another table of the same grid; empties a node. */
void ttable_copy(struct ttable *t, const struct ttable *from, size_t node);
void ttable_clear(struct ttable *t, size_t node);

/* Sets t->unfilled and t->eikonal. */
void ttable_count(struct ttable *t);

/* Rounds all values as a file does: ttable_write() will store exactly these, unless they change
 * before. EK_UNAVAILABLE: memory. */
enum ek_status ttable_round(struct ttable *t);

/* EK_UNAVAILABLE: no room on the disk, no such folder; an existing file is left as it was. */
enum ek_status ttable_write(const struct ttable *t, const char *path);
/* EK_USAGE: cannot be opened, or is not an intact table of this version and byte order. The caller
 * closes *t. Any thread. */
enum ek_status ttable_open(const char *path, struct ttable **t);
/* ttable_open() in two steps: map a file, decode it. unmap accepts NULL. */
enum ek_status ttable_map(const char *path, struct ttable_file **f);
enum ek_status ttable_unpack(const struct ttable_file *f, struct ttable **t);
void ttable_unmap(struct ttable_file *f);
