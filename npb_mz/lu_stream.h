/* npb_mz/lu_stream.h – LU's sweeps over a thread's rows of a plane, kernels/lu.h in the lanes.
 *
 * Rows are grouped into strips of LANES rows. Lane l works on row l of each strip in turn and is l
 * points behind lane 0: in step c it is at point c - l of the stream. Each strip occupies
 * lu_blocks() blocks of LANES points, which reach beyond the ends of its rows. So the lane before
 * has computed what a lane needs of the row before it one step earlier, and no lane waits at the
 * end of a row. All data is stored in the order of the steps, five vectors per step.
 *
 * A contribution is what a node adds to the right-hand side of a neighbour (lu_send()). */
#pragma once

#include "npb_mz/rhs.h"

/* Doubles of a step, and of a block of LANES steps. */
enum { LU_STEP = MZ_VARS * LANES, LU_BLOCK = LANES * LU_STEP };

/* Blocks of a strip whose rows have nx interior points. */
static inline int lu_blocks(int nx)
{
    return nx / LANES + 1;
}

/* Blocks of a stream; one more than its strips take, since the last lane is behind. */
static inline long lu_stream_blocks(int nx, int strips)
{
    return (long)strips * lu_blocks(nx) + 1;
}

/* Blocks of contributions that are kept for the next strip, or for the first one of the next
 * thread. */
static inline long lu_ring_blocks(int nx)
{
    return lu_blocks(nx) + 1;
}

/* One thread's stream in one plane. */
struct lu_stream {
    const struct mz *mz;
    int nx, strips;       /* interior points of a row; strips of the thread */
    double *w, *node;     /* kept between the sweeps: corrections in the nodes' frames, nodes */
    double *behind;       /* contributions to this plane, replaced by those to the next one */
    double *ring;         /* contributions to the next row */
    const double *other;  /* the ring of the thread that the sweep comes from, or zeros */
    int other_strips;     /* strips of that thread */
    const double *inside; /* a vector per step, from lu_stream_inside() */
    double shares[2 * LU_STEP]; /* contributions along i and j to the next step; zeros at first */
};

/* Rows of a strip, from the point i = 1 on; rows beyond the zone repeat its last one. */
struct lu_rows {
    /* Lower sweep: records of right-hand sides and of derived variables. One record beyond the end
     * of a row may be read. */
    const double *rhs[LANES], *flow[LANES], *node[LANES];
    /* Upper sweep: u, and the doubles from one of its components to the next. */
    double *u[LANES];
    long field;
};

/* Masks: all bits set in lanes that hold points of the zone. The last strip has `rows` rows. */
void lu_stream_inside(double *inside, int nx, int strips, int rows);

/* Lower sweep over a strip; call it for strip = 0 .. strips, where the last call finishes what the
 * last lanes have left over. `here` and `before`: rows of this strip and of the one before. */
void lu_stream_lower(struct lu_stream *s, int strip, const struct lu_rows *before,
                     const struct lu_rows *here);
/* Upper sweep and update of u, with strip = strips .. 0. `before`: the rows that come next in this
 * sweep. */
void lu_stream_upper(struct lu_stream *s, int strip, const struct lu_rows *before,
                     const struct lu_rows *here);
