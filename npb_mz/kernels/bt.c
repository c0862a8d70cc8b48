/* npb_mz/kernels/bt.c – BT's line solves on devices. */
#include "npb_mz/kernels/bt.h"
#include "npb_mz/kernels/zone.h"

/* What elimination leaves of a node is kept in `scratch`: y_s of all nodes; X_s, five times as many
 * numbers, of every other one only, since memory sets the pace: back substitution computes the
 * others again, from the one below. The last node's X is not needed. */
enum { BT_VECTOR = 5, BT_BLOCK = 25, BT_KEPT = 18 /* a node, at most */ };

FN int bt_keeps(struct bt_line l, int s)
{
    return (l.n - s) % 2 == 0 && s < l.n - 2;
}

FN GLOBAL double *bt_vector_at(struct bt_line l, int s)
{
    return l.scratch + BT_VECTOR * s * l.step;
}

FN GLOBAL double *bt_block_at(struct bt_line l, int s)
{
    return l.scratch + (BT_VECTOR * l.n + BT_BLOCK * ((s - 1) / 2)) * l.step;
}

FN struct bt_col bt_zero(void)
{
    struct bt_col zero;
    zero.r = zero.p = zero.a = zero.b = zero.e = 0.0;
    return zero;
}

FN struct bt_block bt_no_block(void)
{
    struct bt_block X;
    X.r = X.p = X.a = X.b = X.e = bt_zero();
    return X;
}

FN void bt_keep_block(GLOBAL double *at, int step, struct bt_block X)
{
    bt_keep(at, step, 0, X.r);
    bt_keep(at, step, 1, X.p);
    bt_keep(at, step, 2, X.a);
    bt_keep(at, step, 3, X.b);
    bt_keep(at, step, 4, X.e);
}

/* Eliminates all nodes. A node's right-hand side and its neighbour's derived variables are loaded
 * long before they are needed: otherwise each would wait for memory. */
FN void bt_eliminate(struct bt_axis x, struct bt_line l)
{
    struct bt_past past;
    struct bt_col before = bt_load(l.prim, x, 0), here = bt_load(l.prim, x, 1);
    past.X = bt_no_block();
    past.y = bt_zero();
    for (int s = 1; s < l.n - 1; s++) {
        const struct bt_col after = bt_load(l.prim, x, s + 1);
        struct bt_col c = bt_load(l.in, x, s);
        const struct bt_left left = bt_left(x, before, here);
        const struct bt_factor f = bt_pivot(x, left, here, past.X);
        if (l.boost > 0)
            c = bt_boost(c, here, -1.0);
        c = bt_sum(c, bt_couple(left, past.y));
        past.X = bt_super(f, x, after, here, l.scratch, 0, 0);
        past.y = bt_solve_col(f, c);
        bt_keep(bt_vector_at(l, s), l.step, 0, past.y);
        if (bt_keeps(l, s))
            bt_keep_block(bt_block_at(l, s), l.step, past.X);
        before = here;
        here = after;
    }
}

/* Stores the solution at node s; the z lines add it to u, in the frame at rest. */
FN void bt_put(struct bt_axis x, struct bt_line l, struct line_view u, int s, struct bt_col w,
               struct bt_col flow)
{
    if (l.boost < 0)
        bt_store(u, x, s, bt_sum(bt_load(u, x, s), bt_boost(w, flow, 1.0)));
    else
        bt_store(l.out, x, s, w);
}

/* Substitutes back, two nodes at a time: s, whose X was not kept, and the one below. */
FN void bt_return(struct bt_axis x, struct bt_line l, struct line_view u)
{
    struct bt_col w = bt_kept(bt_vector_at(l, l.n - 2), l.step, 0);
    struct bt_col after = bt_load(l.prim, x, l.n - 2);
    bt_put(x, l, u, l.n - 2, w, after);
    for (int s = l.n - 3; s > 0; s -= 2) {
        struct bt_block X = bt_no_block();
        struct bt_col y = bt_zero();
        const struct bt_col here = bt_load(l.prim, x, s), before = bt_load(l.prim, x, s - 1);
        if (s > 1) {
            X = bt_kept_block(bt_block_at(l, s - 1), l.step);
            y = bt_kept(bt_vector_at(l, s - 1), l.step, 0);
        }
        const struct bt_factor f = bt_pivot(x, bt_left(x, before, here), here, X);
        w = bt_substitute(bt_kept(bt_vector_at(l, s), l.step, 0),
                          bt_super(f, x, after, here, l.scratch, 0, 0), w);
        bt_put(x, l, u, s, w, here);
        if (s > 1) {
            w = bt_substitute(y, X, w);
            bt_put(x, l, u, s - 1, w, before);
        }
        after = before;
    }
}

/* Each item solves one line along `axis`. `scratch` has BT_KEPT doubles per point of the batch,
 * which begins with zone zone0. The z lines add their solution to u. */
KERNEL(bt_solve, 64, 1, 1)
(GLOBAL double *restrict u, GLOBAL double *restrict w, GLOBAL double *restrict prim,
 GLOBAL double *restrict scratch, GLOBAL const double *restrict consts,
 GLOBAL const struct zone_row *restrict rows, int zone0, int nzones, int axis)
{
    const struct zone z = zone_of(rows, zone0, nzones, ZONE_LINES_X + axis);
    const struct zone_line on = zone_line(z, axis);
    if (z.item >= on.lines)
        return;
    const struct bt_axis x = bt_axis(consts, axis);
    const struct line_view sum =
        line_view(u + 5 * z.first + on.first, z.field, on.plane, ZONE_TILE * on.plane);
    struct bt_line line;
    line.in = line.out = line_view(w + 5 * z.batch + on.at, z.field, on.step, on.tile);
    line.prim = line_view(prim + ZONE_PRIMS * z.batch + on.at, z.field, on.step, on.tile);
    line.scratch = scratch + BT_KEPT * z.batch + z.item;
    line.step = on.stride;
    line.n = on.points;
    line.boost = axis == 0 ? 1 : axis == 2 ? -1 : 0;
    bt_eliminate(x, line);
    bt_return(x, line, sum);
}
