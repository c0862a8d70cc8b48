/* npb_mz/lu_stream.c – the steps of a stream, in blocks of LANES steps; rows are transposed to
 * steps and back in registers. */
#include "npb_mz/lu_stream.h"

#include "npb_mz/kernels/lu.h"

struct equations {
    struct lu_axis axis[3];
    struct lu_diagonal diagonal;
};

static struct equations equations_of(const struct mz *mz, double sign)
{
    const double *c = (const double *)&mz->consts;
    return (struct equations){{lu_axis(c, 0, sign), lu_axis(c, 1, sign), lu_axis(c, 2, sign)},
                              lu_diagonal(c)};
}

FN struct five load_five(const double *at)
{
    return five_load(at, LANES);
}

/* ---- points and lanes ------------------------------------------------------------------------ */

void lu_stream_inside(double *inside, int nx, int strips, int rows)
{
    const int length = lu_blocks(nx) * LANES;
    for (int c = 0; c < lu_stream_blocks(nx, strips) * LANES; c++) {
        lanes_mask in;
        for (int l = 0; l < LANES; l++) {
            const int n = c - l, strip = n / length;
            const bool row = n >= 0 && (strip < strips - 1 || (strip == strips - 1 && l < rows));
            in[l] = row && n % length < nx ? -1 : 0;
        }
        STORE(inside, c * LANES, (lanes)in);
    }
}

FN struct five keep_inside(struct five v, const double *inside)
{
    const lanes_mask in = (lanes_mask)LOAD(inside, 0);
    v.r = (lanes)((lanes_mask)v.r & in);
    v.x = (lanes)((lanes_mask)v.x & in);
    v.y = (lanes)((lanes_mask)v.y & in);
    v.z = (lanes)((lanes_mask)v.z & in);
    v.e = (lanes)((lanes_mask)v.e & in);
    return v;
}

/* Each lane receives from the lane before it; the first one from the last lane of `other`. */
FN struct five shift_up(struct five own, struct five other)
{
    return (struct five){lanes_back1(other.r, own.r), lanes_back1(other.x, own.x),
                         lanes_back1(other.y, own.y), lanes_back1(other.z, own.z),
                         lanes_back1(other.e, own.e)};
}

/* Each lane receives from the lane after it; the last one from the first lane of `other`. */
FN struct five shift_down(struct five own, struct five other)
{
    return (struct five){lanes_ahead1(own.r, other.r), lanes_ahead1(own.x, other.x),
                         lanes_ahead1(own.y, other.y), lanes_ahead1(own.z, other.z),
                         lanes_ahead1(own.e, other.e)};
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* Terms that the contributions along the three axes share: the correction's energy in the frame at
 * rest, the enthalpy, the viscous and the pressure part. The correction's energy is known last, so
 * what depends on it comes last in each sum. */
struct common {
    lanes energy, enthalpy, friction, pressure;
};

FN struct common common_of(struct five n, struct five w)
{
    const lanes kinetic = lu_kinetic(n), work = n.x * w.x + (n.y * w.y + n.z * w.z);
    return (struct common){.energy = w.e + (kinetic * w.r + work),
                           .enthalpy = 1.4 * n.e + kinetic,
                           .friction = (1.96 * n.r) * w.e + n.r * (work - 1.96 * (n.e * w.r)),
                           .pressure = 0.4 * w.e};
}

/* The same as lu_send(), with the common terms computed once. */
FN struct five share(struct lu_axis a, int d, struct five n, struct five w, struct common k)
{
    const lanes v = five_along(n, d), m = five_along(w, d);
    const lanes t = a.tau2 * m, c = a.tau2 * v + a.spread, side = a.visc * n.r + c;
    const lanes push = a.tau2 * k.pressure + (a.visc / 3.0) * (n.r * m);
    struct five s;
    s.r = c * w.r + t;
    s.x = side * w.x + n.x * s.r;
    s.y = side * w.y + n.y * s.r;
    s.z = side * w.z + n.z * s.r;
    s.e = v * push + (a.visc * k.friction + (c * k.energy + t * k.enthalpy));
    return five_push(s, d, push);
}

/* The same as lu_relax(), in shorter dependency chains. */
FN struct five relax(struct lu_diagonal g, struct five n, struct five w)
{
    const lanes dx = g.g0 + g.x * n.r, dy = g.g0 + g.y * n.r, dz = g.g0 + g.z * n.r;
    const lanes heat = g.e * n.r, de = g.g0 + heat;
    struct five v;
    v.r = g.inverse * w.r;
    v.x = (1.0 / dx) * (w.x - n.x * w.r);
    v.y = (w.y - n.y * w.r) * (1.0 / dy);
    v.z = (w.z - n.z * w.r) * (1.0 / dz);
    v.e = ((w.e + (lu_kinetic(n) + g.inverse * (heat * n.e)) * w.r) -
           (n.x * w.x + (n.y * w.y + n.z * w.z))) *
          (1.0 / de);
    return v;
}

/* ---- the lower sweep ------------------------------------------------------------------------- */

/* Transposes records to steps: lane l takes the points that begin l before the record at here[l] +
 * at; the first l of them are in the record at before[l] + from. */
FN void skew(const double *const before[LANES], const double *const here[LANES], long from, long at,
             double *to)
{
    lanes t[LANES];
    t[0] = LOAD(here[0], at);
    (void)before, (void)from; /* unused if there is one lane */
#define SKEWED(l) t[l] = lanes_back(LOAD(before[l], from), LOAD(here[l], at), l)
#if LANES >= 4
    SKEWED(1);
    SKEWED(2);
    SKEWED(3);
#endif
#if LANES == 8
    SKEWED(4);
    SKEWED(5);
    SKEWED(6);
    SKEWED(7);
#endif
#undef SKEWED
    lanes_transpose(t);
    for (int i = 0; i < LANES; i++)
        STORE(to, i * LU_STEP, t[i]);
}

/* Loads right-hand sides and nodes of a block, from record `at` and the one before it, `from`. */
FN void load_block(const struct lu_rows *before, int from, const struct lu_rows *here, int at,
                   double *w, double *node)
{
    for (int m = 0; m < MZ_VARS; m++)
        skew(before->rhs, here->rhs, from * RHS_STATE + m * LANES, at * RHS_STATE + m * LANES,
             w + m * LANES);
    for (int m = 0; m < 4; m++)
        skew(before->flow, here->flow, from * RHS_FLOW + m * LANES, at * RHS_FLOW + m * LANES,
             node + (1 + m) * LANES);
    skew(before->node, here->node, from * RHS_NODE, at * RHS_NODE, node);
}

/* Contributions to lane 0 from the row before, in step i of block t. */
FN const double *lower_other(const struct lu_stream *s, int strip, long t, int i)
{
    const long blocks = lu_blocks(s->nx), ring = lu_ring_blocks(s->nx);
    const long from = t - blocks + (i > 0) + (strip == 0) * s->other_strips * blocks;
    const double *rows = strip == 0 ? s->other : s->ring;
    return rows + (from + ring) % ring * LU_BLOCK + (i + LANES - 1) % LANES * LU_STEP;
}

static void lower_block(struct lu_stream *s, const struct equations *q, int strip, long t,
                        const double *rhs)
{
    struct five along = load_five(s->shares), across = load_five(s->shares + LU_STEP);
    const double *node = s->node + t * LU_BLOCK, *inside = s->inside + t * LANES * LANES;
    double *w = s->w + t * LU_BLOCK, *behind = s->behind + t * LU_BLOCK;
    double *ring = s->ring + t % lu_ring_blocks(s->nx) * LU_BLOCK;
    const double *first = lower_other(s, strip, t, 0), *rest = lower_other(s, strip, t, 1);
    for (int i = 0; i < LANES; i++) {
        const struct five n = load_five(node + i * LU_STEP);
        const struct five other = load_five(i == 0 ? first : rest + (i - 1) * LU_STEP);
        struct five v = five_sum(load_five(rhs + i * LU_STEP), load_five(behind + i * LU_STEP));
        v = five_sum(v, five_sum(along, shift_up(across, other)));
        v = keep_inside(relax(q->diagonal, n, v), inside + i * LANES);
        five_store(w + i * LU_STEP, LANES, v);
        const struct common k = common_of(n, v);
        five_store(behind + i * LU_STEP, LANES, share(q->axis[2], 2, n, v, k));
        across = share(q->axis[1], 1, n, v, k);
        five_store(ring + i * LU_STEP, LANES, across);
        along = share(q->axis[0], 0, n, v, k);
    }
    five_store(s->shares, LANES, along);
    five_store(s->shares + LU_STEP, LANES, across);
}

void lu_stream_lower(struct lu_stream *s, int strip, const struct lu_rows *before,
                     const struct lu_rows *here)
{
    const struct equations q = equations_of(s->mz, 1.0);
    const int blocks = lu_blocks(s->nx);
    double rhs[LU_BLOCK];
    for (int b = 0; b < (strip < s->strips ? blocks : 1); b++) {
        const long t = (long)strip * blocks + b;
        load_block(b > 0 ? here : before, (b > 0 ? b : blocks) - 1, here, b, rhs,
                   s->node + t * LU_BLOCK);
        lower_block(s, &q, strip, t, rhs);
    }
}

/* ---- the upper sweep ------------------------------------------------------------------------- */

/* Contributions to the last lane from the row after, in step i of block t. */
FN const double *upper_other(const struct lu_stream *s, long t, int i)
{
    const long blocks = lu_blocks(s->nx), ring = lu_ring_blocks(s->nx);
    const bool last = t - (i < LANES - 1) >= (s->strips - 1) * blocks;
    const long from = t + blocks - (i < LANES - 1) - last * s->strips * blocks;
    const double *rows = last ? s->other : s->ring;
    return rows + (from + ring) % ring * LU_BLOCK + (i + 1) % LANES * LU_STEP;
}

static void upper_block(struct lu_stream *s, const struct equations *q, long t, double *more)
{
    struct five along = load_five(s->shares), across = load_five(s->shares + LU_STEP);
    const double *node = s->node + t * LU_BLOCK, *inside = s->inside + t * LANES * LANES;
    const double *w = s->w + t * LU_BLOCK;
    double *behind = s->behind + t * LU_BLOCK;
    double *ring = s->ring + t % lu_ring_blocks(s->nx) * LU_BLOCK;
    const double *first = upper_other(s, t, LANES - 1), *rest = upper_other(s, t, 0);
    for (int i = LANES - 1; i >= 0; i--) {
        const struct five n = load_five(node + i * LU_STEP);
        const struct five other = load_five(i == LANES - 1 ? first : rest + i * LU_STEP);
        struct five v = five_sum(load_five(behind + i * LU_STEP), along);
        v = relax(q->diagonal, n, five_sum(v, shift_down(across, other)));
        v = keep_inside(five_sum(load_five(w + i * LU_STEP), v), inside + i * LANES);
        const struct common k = common_of(n, v);
        five_store(more + i * LU_STEP, LANES,
                   (struct five){LU_FACTOR * v.r, LU_FACTOR * (v.x + n.x * v.r),
                                 LU_FACTOR * (v.y + n.y * v.r), LU_FACTOR * (v.z + n.z * v.r),
                                 LU_FACTOR * k.energy});
        five_store(behind + i * LU_STEP, LANES, share(q->axis[2], 2, n, v, k));
        across = share(q->axis[1], 1, n, v, k);
        five_store(ring + i * LU_STEP, LANES, across);
        along = share(q->axis[0], 0, n, v, k);
    }
    five_store(s->shares, LANES, along);
    five_store(s->shares + LU_STEP, LANES, across);
}

FN void add_to(double *u, lanes x)
{
    STORE(u, 0, LOAD(u, 0) + x);
}

FN void add_some(double *u, lanes x, int count)
{
    for (int i = 0; i < count; i++)
        u[i] += x[i];
}

/* Keeps the first l lanes and sets the others to 0. */
FN lanes first_lanes(lanes x, int l)
{
    static const long long number[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    lanes_mask in;
    memcpy(&in, number, sizeof in);
    return (lanes)((lanes_mask)x & (in < l));
}

/* Transposes component m of a block's corrections to rows. */
FN void rows_of(const double *more, int m, lanes t[LANES])
{
    for (int i = 0; i < LANES; i++)
        t[i] = LOAD(more, i * LU_STEP + m * LANES);
    lanes_transpose(t);
}

/* Adds a block's corrections to u. Points outside the zone have 0, so whole vectors can be added;
 * beyond the end of a row they reach only rows of the same thread. */
static void add_inner(const struct lu_rows *here, int b, const double *more)
{
    for (int m = 0; m < MZ_VARS; m++) {
        lanes t[LANES];
        rows_of(more, m, t);
        for (int l = 0; l < LANES; l++)
            add_to(here->u[l] + m * here->field + b * LANES - l, t[l]);
    }
}

/* The same for a strip's first block, where the first l points of lane l are the last ones of the
 * strip before. */
static void add_first(const struct lu_stream *s, int strip, const struct lu_rows *before,
                      const struct lu_rows *here, const double *more)
{
    const int length = lu_blocks(s->nx) * LANES;
    for (int m = 0; m < MZ_VARS; m++) {
        lanes t[LANES];
        rows_of(more, m, t);
        for (int l = 0; l < LANES; l++) {
            const lanes old = first_lanes(t[l], l);
            if (strip > 0 && s->nx + l > length)
                add_some(before->u[l] + m * before->field + length - l, old, s->nx + l - length);
            if (strip < s->strips)
                add_to(here->u[l] + m * here->field - l, t[l] - old);
        }
    }
}

/* Prefetches block b of the rows that come next: u has left the cache since the lower sweep, and
 * these are more streams than hardware prefetchers follow. */
FN void prefetch(const struct lu_rows *next, long b)
{
    enum { LINE = 8 };
    if (b * LANES % LINE)
        return;
    for (int m = 0; m < MZ_VARS; m++)
        for (int l = 0; l < LANES; l++)
            __builtin_prefetch(next->u[l] + m * next->field + b * LANES, 1);
}

void lu_stream_upper(struct lu_stream *s, int strip, const struct lu_rows *before,
                     const struct lu_rows *here)
{
    const struct equations q = equations_of(s->mz, -1.0);
    const int blocks = lu_blocks(s->nx);
    double more[LU_BLOCK];
    for (int b = strip < s->strips ? blocks - 1 : 0; b >= 0; b--) {
        prefetch(before, b);
        upper_block(s, &q, (long)strip * blocks + b, more);
        if (b > 0)
            add_inner(here, b, more);
        else
            add_first(s, strip, before, here, more);
    }
}
