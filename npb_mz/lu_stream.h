/* npb_mz/lu_stream.h – LU's sweeps over a thread's rows of a plane, kernels/lu.h in the lanes.
 *
 * Rows go into the lanes as strips of LANES rows. Lane l works on row l of each strip in turn and
 * is l points behind lane 0: in step c it is at point c - l of the stream, in which each strip
 * takes lu_blocks() blocks of LANES points, the last of them beyond the ends of its rows. So what a
 * lane needs of the row before was computed one step earlier by the lane before, and no lane waits
 * at the end of a row. Everything is kept in the order of the steps, five vectors a step. */
#pragma once

#include "npb_mz/rhs.h"

/* Doubles of a step, and of a block of LANES steps. */
enum { LU_STEP = MZ_VARS * LANES, LU_BLOCK = LANES * LU_STEP };

/* Blocks of a strip with nx interior points in a row. */
static inline int lu_blocks(int nx)
{
    return nx / LANES + 1;
}

/* Blocks of a stream: the last lane is behind. */
static inline long lu_stream_blocks(int nx, int strips)
{
    return (long)strips * lu_blocks(nx) + 1;
}

/* Blocks of shares that are kept for the next strip, or for the next thread's first one. */
static inline long lu_ring_blocks(int nx)
{
    return lu_blocks(nx) + 1;
}

/* One thread's stream in one plane. */
struct lu_stream {
    const struct mz *mz;
    int nx, strips;       /* interior points of a row; strips of the thread */
    double *w, *node;     /* between the sweeps: corrections in the nodes' own frames, nodes */
    double *behind;       /* shares in the equations of the next plane, which it becomes */
    double *ring;         /* shares in the equations of the next row */
    const double *other;  /* the ring of the thread that the sweep comes from, or zeros */
    int other_strips;     /* its strips */
    const double *inside; /* a vector a step, from lu_stream_inside() */
    double shares[2 * LU_STEP]; /* on their way along i and j; zeros at the beginning */
};

/* Rows of a strip, their point i = 1 first; those beyond the zone repeat the last one. */
struct lu_rows {
    /* Lower sweep: records of right-hand sides and of derived variables; one more may be read
     * behind a row's last one. */
    const double *rhs[LANES], *flow[LANES], *node[LANES];
    /* Upper sweep: u, and from component to component of it. */
    double *u[LANES];
    long field;
};

/* All bits set in the lanes that are points of the zone; its last strip has `rows` rows. */
void lu_stream_inside(double *inside, int nx, int strips, int rows);

/* Lower sweep, strip after strip; when `strip` is their number, what the last one has left over.
 * Rows of that strip and of the one before. */
void lu_stream_lower(struct lu_stream *s, int strip, const struct lu_rows *before,
                     const struct lu_rows *here);
/* Upper sweep and update of u, likewise in the opposite order; `before` the first strip: the rows
 * that come next. */
void lu_stream_upper(struct lu_stream *s, int strip, const struct lu_rows *before,
                     const struct lu_rows *here);
