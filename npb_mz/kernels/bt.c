/* npb_mz/kernels/bt.c – BT's line solves on devices. */
#include "npb_mz/kernels/bt.h"
#include "npb_mz/kernels/zone.h"

FN struct bt_col bt_zero(void)
{
    struct bt_col zero;
    zero.r = zero.p = zero.a = zero.b = zero.e = 0.0;
    return zero;
}

/* Each item solves one line along `axis`. `scratch` has 25 doubles per point of the batch, which
 * begins with zone zone0. The z lines add their solution to u. */
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
    line.scratch = scratch + 25 * z.batch + z.item;
    line.step = on.lines;
    line.boost = axis == 0;
    struct bt_past past;
    past.X.r = past.X.p = past.X.a = past.X.b = past.X.e = past.y = bt_zero();
    for (int s = 1; s < on.points - 1; s++)
        past = bt_forward(x, line, s, past);
    struct bt_col y = bt_zero();
    for (int s = on.points - 2; s > 0; s--) {
        y = bt_back(x, line, y, s);
        if (axis < 2)
            bt_store(line.out, x, s, y);
        else
            bt_store(sum, x, s,
                     bt_sum(bt_load(sum, x, s), bt_boost(y, bt_load(line.prim, x, s), 1.0)));
    }
}
