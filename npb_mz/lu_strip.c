/* npb_mz/lu_strip.c – the steps of a strip, in blocks of LANES that are transposed in registers. */
#include "npb_mz/lu_strip.h"

#include "npb_mz/kernels/lu.h"

typedef long lanes_mask __attribute__((vector_size(8 * LANES)));

struct lu_equations {
    struct lu_axis axis[3];
    struct lu_diagonal diagonal;
};

static struct lu_equations equations_of(const struct mz *mz, double sign)
{
    const double *c = (const double *)&mz->consts;
    return (struct lu_equations){{lu_axis(c, 0, sign), lu_axis(c, 1, sign), lu_axis(c, 2, sign)},
                                 lu_diagonal(c)};
}

static inline struct lu_five load_five(const double *at)
{
    return (struct lu_five){LOAD(at, 0), LOAD(at, LANES), LOAD(at, 2 * LANES), LOAD(at, 3 * LANES),
                            LOAD(at, 4 * LANES)};
}

static inline void store_five(double *at, struct lu_five v)
{
    STORE(at, 0, v.r);
    STORE(at, LANES, v.x);
    STORE(at, 2 * LANES, v.y);
    STORE(at, 3 * LANES, v.z);
    STORE(at, 4 * LANES, v.e);
}

/* Zero in the lanes that are outside the zone at step c. */
static inline struct lu_five inside(struct lu_five v, const struct lu_strip *s, int c)
{
    lanes_mask in;
    for (int l = 0; l < LANES; l++)
        in[l] = l < s->rows && c - l >= 1 && c - l <= s->nx ? -1L : 0L;
    v.r = (lanes)((lanes_mask)v.r & in);
    v.x = (lanes)((lanes_mask)v.x & in);
    v.y = (lanes)((lanes_mask)v.y & in);
    v.z = (lanes)((lanes_mask)v.z & in);
    v.e = (lanes)((lanes_mask)v.e & in);
    return v;
}

#if LANES == 4
#define UP(own, other)   __builtin_shufflevector(other, own, 3, 4, 5, 6)
#define DOWN(own, other) __builtin_shufflevector(own, other, 1, 2, 3, 4)
#else
#define UP(own, other)   __builtin_shufflevector(other, own, 7, 8, 9, 10, 11, 12, 13, 14)
#define DOWN(own, other) __builtin_shufflevector(own, other, 1, 2, 3, 4, 5, 6, 7, 8)
#endif

/* Each lane receives from the lane before, the first one from the last of the other strip. */
static inline struct lu_five shift_up(struct lu_five own, struct lu_five other)
{
    return (struct lu_five){UP(own.r, other.r), UP(own.x, other.x), UP(own.y, other.y),
                            UP(own.z, other.z), UP(own.e, other.e)};
}

/* Each lane receives from the lane after, the last one from the first of the other strip. */
static inline struct lu_five shift_down(struct lu_five own, struct lu_five other)
{
    return (struct lu_five){DOWN(own.r, other.r), DOWN(own.x, other.x), DOWN(own.y, other.y),
                            DOWN(own.z, other.z), DOWN(own.e, other.e)};
}

/* LANES steps from c on of a field: lane l is at point c - l of its row. */
static inline void gather(const double *field, const long row[LANES], int c, lanes t[LANES])
{
    for (int l = 0; l < LANES; l++)
        t[l] = LOAD(field, row[l] + c - l);
    lanes_transpose(t);
}

/* Shares on their way along i and j, from the step before. */
struct lu_shares {
    struct lu_five along, across;
};

/* A node's correction goes to its three neighbours. */
static inline __attribute__((always_inline)) void send(const struct lu_equations *q,
                                                       const struct lu_strip *s,
                                                       struct lu_shares *shares, struct lu_node n,
                                                       struct lu_five w, int c)
{
    shares->along = lu_send(q->axis[0], 0, n, w);
    shares->across = lu_send(q->axis[1], 1, n, w);
    store_five(s->beside + c * LU_STRIP_STEP, shares->across);
    store_five(s->behind + c * LU_STRIP_STEP, lu_send(q->axis[2], 2, n, w));
}

static inline __attribute__((always_inline)) void lower_step(const struct lu_equations *q,
                                                             const struct lu_strip *s,
                                                             struct lu_shares *shares,
                                                             struct lu_node n, struct lu_five w,
                                                             int c, bool edge)
{
    const struct lu_five other = load_five(s->beside_in + (c + LANES - 1) * LU_STRIP_STEP);
    w = lu_sum(w, load_five(s->behind + c * LU_STRIP_STEP));
    w = lu_sum(w, lu_sum(shares->along, shift_up(shares->across, other)));
    w = lu_relax(q->diagonal, n, w);
    if (edge)
        w = inside(w, s, c);
    store_five(s->w + c * LU_STRIP_STEP, w);
    send(q, s, shares, n, w, c);
}

static inline __attribute__((always_inline)) void upper_step(const struct lu_equations *q,
                                                             const struct lu_strip *s,
                                                             struct lu_shares *shares,
                                                             struct lu_node n, int c, bool edge,
                                                             lanes correction[MZ_VARS])
{
    const struct lu_five other = load_five(s->beside_in + (c - LANES + 1) * LU_STRIP_STEP);
    struct lu_five sum = load_five(s->behind + c * LU_STRIP_STEP);
    sum = lu_sum(sum, lu_sum(shares->along, shift_down(shares->across, other)));
    struct lu_five w = lu_sum(load_five(s->w + c * LU_STRIP_STEP), lu_relax(q->diagonal, n, sum));
    if (edge)
        w = inside(w, s, c);
    send(q, s, shares, n, w, c);
    w = lu_rest(n, w);
    correction[0] = LU_FACTOR * w.r;
    correction[1] = LU_FACTOR * w.x;
    correction[2] = LU_FACTOR * w.y;
    correction[3] = LU_FACTOR * w.z;
    correction[4] = LU_FACTOR * w.e;
}

/* Offsets of the strip's rows; rows beyond the zone repeat the last one. */
static void set_rows(const struct mz_zone *z, int j0, long row[LANES])
{
    for (int l = 0; l < LANES; l++)
        row[l] = (long)(j0 + l < z->ny - 1 ? j0 + l : z->ny - 2) * z->pitch;
}

static bool at_edge(const struct lu_strip *s, int c)
{
    return s->rows < LANES || c < LANES || c + LANES - 1 > s->nx;
}

/* Residual and derived variables of a plane, strides of their components. */
struct plane {
    const double *w, *prim;
    long size, plane;
};

static inline __attribute__((always_inline)) void lower_block(
    const struct lu_equations *q, const struct lu_strip *s, struct lu_shares *shares,
    const struct plane *in, const long row[LANES], int c, bool edge)
{
    lanes w[MZ_VARS][LANES], p[MZ_VARS][LANES];
    for (int m = 0; m < MZ_VARS; m++)
        gather(in->w + m * in->size, row, c, w[m]);
    for (int m = 0; m < MZ_VARS; m++)
        gather(in->prim + m * in->plane, row, c, p[m]);
    for (int i = 0; i < LANES; i++)
        lower_step(q, s, shares, (struct lu_node){p[0][i], p[1][i], p[2][i], p[3][i], p[4][i]},
                   (struct lu_five){w[0][i], w[1][i], w[2][i], w[3][i], w[4][i]}, c + i, edge);
}

void lu_strip_lower(const struct mz *mz, const struct mz_zone *z, const struct lu_strip *s,
                    const double *w, long size, const double *prim)
{
    const struct lu_equations q = equations_of(mz, 1.0);
    const struct plane in = {w, prim, size, z->plane};
    struct lu_shares shares = {0};
    long row[LANES];
    set_rows(z, s->j0, row);
    for (int c = 1; c < s->nx + LANES; c += LANES)
        if (at_edge(s, c))
            lower_block(&q, s, &shares, &in, row, c, true);
        else
            lower_block(&q, s, &shares, &in, row, c, false);
}

static inline __attribute__((always_inline)) void upper_block(
    const struct lu_equations *q, const struct lu_strip *s, struct lu_shares *shares,
    const double *u, long field, const long row[LANES], int c, bool edge, double *rows, long pitch)
{
    lanes t[MZ_VARS][LANES], out[LANES][MZ_VARS];
    for (int m = 0; m < MZ_VARS; m++)
        gather(u + m * field, row, c, t[m]);
    for (int i = LANES - 1; i >= 0; i--)
        upper_step(q, s, shares, lu_node(t[0][i], t[1][i], t[2][i], t[3][i], t[4][i]), c + i, edge,
                   out[i]);
    for (int m = 0; m < MZ_VARS; m++) {
        lanes r[LANES];
        for (int i = 0; i < LANES; i++)
            r[i] = out[i][m];
        lanes_transpose(r);
        for (int l = 0; l < LANES; l++)
            STORE(rows, (m * LANES + l) * pitch + LU_STRIP_MARGIN + c - l, r[l]);
    }
}

/* u of the strip's rows += corrections */
static void add_rows(const struct mz_zone *z, double *u, const struct lu_strip *s,
                     const double *rows)
{
    const long pitch = lu_strip_pitch(z->nx);
    for (int m = 0; m < MZ_VARS; m++)
        for (int l = 0; l < s->rows; l++) {
            double *to = u + m * z->volume + (long)l * z->pitch;
            const double *from = rows + (m * LANES + l) * pitch + LU_STRIP_MARGIN;
            for (int i = 1; i <= s->nx; i++)
                to[i] += from[i];
        }
}

void lu_strip_upper(const struct mz *mz, const struct mz_zone *z, const struct lu_strip *s,
                    double *u, double *rows)
{
    const struct lu_equations q = equations_of(mz, -1.0);
    const long pitch = lu_strip_pitch(z->nx);
    struct lu_shares shares = {0};
    long row[LANES];
    set_rows(z, s->j0, row);
    for (int c = lanes_ceil(s->nx + LANES - 1) - LANES + 1; c > 0; c -= LANES)
        if (at_edge(s, c))
            upper_block(&q, s, &shares, u, z->volume, row, c, true, rows, pitch);
        else
            upper_block(&q, s, &shares, u, z->volume, row, c, false, rows, pitch);
    add_rows(z, u + (long)s->j0 * z->pitch, s, rows);
}
