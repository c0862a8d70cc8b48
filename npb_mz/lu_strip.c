/* npb_mz/lu_strip.c – the steps of a strip, in blocks of LANES that are transposed in registers. */
#include "npb_mz/lu_strip.h"

#include "npb_mz/rhs.h"
#include "npb_mz/kernels/lu.h"

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

/* Each lane receives from the lane before, the first one from the last of the other strip. */
FN struct lu_five shift_up(struct lu_five own, struct lu_five other)
{
    return (struct lu_five){lanes_back1(other.r, own.r), lanes_back1(other.x, own.x),
                            lanes_back1(other.y, own.y), lanes_back1(other.z, own.z),
                            lanes_back1(other.e, own.e)};
}

/* Each lane receives from the lane after, the last one from the first of the other strip. */
FN struct lu_five shift_down(struct lu_five own, struct lu_five other)
{
    return (struct lu_five){lanes_ahead1(own.r, other.r), lanes_ahead1(own.x, other.x),
                            lanes_ahead1(own.y, other.y), lanes_ahead1(own.z, other.z),
                            lanes_ahead1(own.e, other.e)};
}

/* Shares on their way along i and j, from the step before. */
struct lu_shares {
    struct lu_five along, across;
};

/* A node's correction goes to its three neighbours. */
FN void send(const struct lu_equations *q, const struct lu_strip *s, struct lu_shares *shares,
             struct lu_node n, struct lu_five w, int c)
{
    shares->along = lu_send(q->axis[0], 0, n, w);
    shares->across = lu_send(q->axis[1], 1, n, w);
    store_five(s->behind + c * LU_STRIP_STEP, lu_send(q->axis[2], 2, n, w));
}

/* ---- the lower sweep ------------------------------------------------------------------------- */

/* A block of steps: right-hand sides and nodes. */
struct lower {
    lanes w[LANES][MZ_VARS], node[LANES][MZ_VARS];
};

/* Records to steps: lane l of step c is point c - l of row l. The vectors of row l begin l points
 * before record b. */
FN void skew(const double *const row[LANES], long at, long record, lanes to[LANES][MZ_VARS], int m)
{
    lanes t[LANES];
    t[0] = LOAD(row[0], at);
#define SKEWED(l) t[l] = lanes_back(LOAD(row[l], at - record), LOAD(row[l], at), l)
    SKEWED(1);
    SKEWED(2);
    SKEWED(3);
#if LANES == 8
    SKEWED(4);
    SKEWED(5);
    SKEWED(6);
    SKEWED(7);
#endif
#undef SKEWED
    lanes_transpose(t);
    for (int i = 0; i < LANES; i++)
        to[i][m] = t[i];
}

static void lower_load(const struct lu_strip *s, int b, struct lower *l)
{
    for (int m = 0; m < MZ_VARS; m++)
        skew(s->rhs, (long)b * RHS_STATE + m * LANES, RHS_STATE, l->w, m);
    for (int m = 0; m < MZ_VARS; m++)
        skew(s->prim, (long)b * RHS_PRIM + m * LANES, RHS_PRIM, l->node, m);
}

FN struct lu_five five_of(const lanes v[MZ_VARS])
{
    return (struct lu_five){v[0], v[1], v[2], v[3], v[4]};
}

FN void lower_step(const struct lu_equations *q, const struct lu_strip *s, struct lu_shares *shares,
                   struct lu_five other, const struct lower *l, int c, int i)
{
    const struct lu_node n = {l->node[i][0], l->node[i][1], l->node[i][2], l->node[i][3],
                              l->node[i][4]};
    struct lu_five w = lu_sum(five_of(l->w[i]), load_five(s->behind + c * LU_STRIP_STEP));
    w = lu_sum(w, lu_sum(shares->along, shift_up(shares->across, other)));
    w = lu_relax(q->diagonal, n, w);
    store_five(s->w + c * LU_STRIP_STEP, w);
    send(q, s, shares, n, w, c);
}

/* What the strip before leaves for step c, and what this one leaves of it. */
FN struct lu_five lower_in(const struct lu_strip *s, int c)
{
    return load_five(s->beside_in + (c + LANES - 1) * LU_STRIP_STEP);
}

FN void put_beside(const struct lu_strip *s, int c, const struct lu_shares *shares)
{
    store_five(s->beside + c * LU_STRIP_STEP, shares->across);
}

static void lower_one(const struct lu_equations *q, const struct lu_strip *s,
                      struct lu_shares *shares, int b)
{
    struct lower l;
    lower_load(s, b, &l);
    for (int i = 0, c = 1 + b * LANES; i < LANES; i++, c++) {
        lower_step(q, s, shares, lower_in(s, c), &l, c, i);
        put_beside(s, c, shares);
    }
}

/* Block b of the first strip and block b - 1 of the second: it needs what the first one made a step
 * ago. */
static void lower_two(const struct lu_equations *q, const struct lu_strip *s,
                      struct lu_shares *shares, int b)
{
    struct lower l0, l1;
    lower_load(s, b, &l0);
    lower_load(s + 1, b - 1, &l1);
    for (int i = 0, c = 1 + b * LANES; i < LANES; i++, c++) {
        lower_step(q, s + 1, shares + 1, shares[0].across, &l1, c - LANES, i);
        put_beside(s + 1, c - LANES, shares + 1);
        lower_step(q, s, shares, lower_in(s, c), &l0, c, i);
    }
}

static void lower_last(const struct lu_equations *q, const struct lu_strip *s,
                       struct lu_shares *shares, int b)
{
    struct lower l;
    lower_load(s, b, &l);
    for (int i = 0, c = 1 + b * LANES; i < LANES; i++, c++) {
        lower_step(q, s, shares + 1, shares[0].across, &l, c, i);
        put_beside(s, c, shares + 1);
    }
}

/* The upper sweep begins at the far ends: what is outside the zone there must be 0. */
static void clear_outside(const struct lu_strip *s)
{
    for (int c = 1; c <= lu_strip_steps(s->nx); c++)
        for (int l = 0; l < LANES; l++)
            if (l >= s->rows || c - l > s->nx)
                for (int m = 0; m < MZ_VARS; m++)
                    s->w[c * LU_STRIP_STEP + m * LANES + l] = 0.0;
}

void lu_strip_lower(const struct mz *mz, const struct lu_strip *s, int count)
{
    const struct lu_equations q = equations_of(mz, 1.0);
    const int blocks = lu_strip_steps(s->nx) / LANES;
    struct lu_shares shares[LU_STRIPS] = {0};
    if (count < LU_STRIPS) {
        for (int b = 0; b < blocks; b++)
            lower_one(&q, s, shares, b);
    } else {
        lower_one(&q, s, shares, 0);
        for (int b = 1; b < blocks; b++)
            lower_two(&q, s, shares, b);
        lower_last(&q, s + 1, shares, blocks - 1);
    }
    for (int i = 0; i < count; i++)
        clear_outside(s + i);
}

/* ---- the upper sweep ------------------------------------------------------------------------- */

/* A block of steps: u, then the corrections. */
struct upper {
    lanes u[LANES][MZ_VARS], more[LANES][MZ_VARS];
};

static void upper_load(const struct lu_strip *s, int b, struct upper *p)
{
    for (int m = 0; m < MZ_VARS; m++) {
        lanes t[LANES];
        for (int l = 0; l < LANES; l++)
            t[l] = LOAD(s->u[l], m * s->field + b * LANES - l);
        lanes_transpose(t);
        for (int i = 0; i < LANES; i++)
            p->u[i][m] = t[i];
    }
}

FN void upper_step(const struct lu_equations *q, const struct lu_strip *s, struct lu_shares *shares,
                   struct lu_five other, struct upper *p, int c, int i)
{
    const struct lu_node n = lu_node(p->u[i][0], p->u[i][1], p->u[i][2], p->u[i][3], p->u[i][4]);
    struct lu_five sum = load_five(s->behind + c * LU_STRIP_STEP);
    sum = lu_sum(sum, lu_sum(shares->along, shift_down(shares->across, other)));
    struct lu_five w = lu_sum(load_five(s->w + c * LU_STRIP_STEP), lu_relax(q->diagonal, n, sum));
    send(q, s, shares, n, w, c);
    w = lu_rest(n, w);
    p->more[i][0] = LU_FACTOR * w.r;
    p->more[i][1] = LU_FACTOR * w.x;
    p->more[i][2] = LU_FACTOR * w.y;
    p->more[i][3] = LU_FACTOR * w.z;
    p->more[i][4] = LU_FACTOR * w.e;
}

/* Adds to LANES points of a row from i = first on, those of 1 .. nx that there are. */
static void add_some(double *u, int first, lanes x, int nx)
{
    for (int l = 0; l < LANES; l++)
        if (first + l >= 1 && first + l <= nx)
            u[first + l - 1] += x[l];
}

/* True if every lane of the block is in the zone. */
static bool is_inside(const struct lu_strip *s, int b)
{
    return s->rows == LANES && b > 0 && (b + 1) * LANES <= s->nx;
}

FN void upper_add(const struct lu_strip *s, int b, const struct upper *p, bool inside)
{
    for (int m = 0; m < MZ_VARS; m++) {
        lanes t[LANES];
        for (int i = 0; i < LANES; i++)
            t[i] = p->more[i][m];
        lanes_transpose(t);
        for (int l = 0; l < LANES; l++) {
            double *u = s->u[l] + m * s->field;
            const int at = b * LANES - l;
            if (inside)
                STORE(u, at, LOAD(u, at) + t[l]);
            else if (l < s->rows)
                add_some(u, 1 + at, t[l], s->nx);
        }
    }
}

static void upper_store(const struct lu_strip *s, int b, const struct upper *p)
{
    if (is_inside(s, b))
        upper_add(s, b, p, true);
    else
        upper_add(s, b, p, false);
}

FN struct lu_five upper_in(const struct lu_strip *s, int c)
{
    return load_five(s->beside_in + (c - LANES + 1) * LU_STRIP_STEP);
}

static void upper_one(const struct lu_equations *q, const struct lu_strip *s,
                      struct lu_shares *shares, int b)
{
    struct upper p;
    upper_load(s, b, &p);
    for (int i = LANES - 1, c = (1 + b) * LANES; i >= 0; i--, c--) {
        upper_step(q, s, shares, upper_in(s, c), &p, c, i);
        put_beside(s, c, shares);
    }
    upper_store(s, b, &p);
}

/* Block b of the first strip and block b + 1 of the second. */
static void upper_two(const struct lu_equations *q, const struct lu_strip *s,
                      struct lu_shares *shares, int b)
{
    struct upper p0, p1;
    upper_load(s, b, &p0);
    upper_load(s + 1, b + 1, &p1);
    for (int i = LANES - 1, c = (1 + b) * LANES; i >= 0; i--, c--) {
        upper_step(q, s + 1, shares + 1, shares[0].across, &p1, c + LANES, i);
        put_beside(s + 1, c + LANES, shares + 1);
        upper_step(q, s, shares, upper_in(s, c), &p0, c, i);
    }
    upper_store(s, b, &p0);
    upper_store(s + 1, b + 1, &p1);
}

static void upper_last(const struct lu_equations *q, const struct lu_strip *s,
                       struct lu_shares *shares, int b)
{
    struct upper p;
    upper_load(s, b, &p);
    for (int i = LANES - 1, c = (1 + b) * LANES; i >= 0; i--, c--) {
        upper_step(q, s, shares + 1, shares[0].across, &p, c, i);
        put_beside(s, c, shares + 1);
    }
    upper_store(s, b, &p);
}

void lu_strip_upper(const struct mz *mz, const struct lu_strip *s, int count)
{
    const struct lu_equations q = equations_of(mz, -1.0);
    const int blocks = lu_strip_steps(s->nx) / LANES;
    struct lu_shares shares[LU_STRIPS] = {0};
    if (count < LU_STRIPS) {
        for (int b = blocks - 1; b >= 0; b--)
            upper_one(&q, s, shares, b);
        return;
    }
    upper_one(&q, s, shares, blocks - 1);
    for (int b = blocks - 2; b >= 0; b--)
        upper_two(&q, s, shares, b);
    upper_last(&q, s + 1, shares, 0);
}
