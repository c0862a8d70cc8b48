/* npb_mz/kernels/lu_blocks.c – LU on devices whose work-groups may wait for one another.
 *
 * One launch is a whole sweep. A work-item follows a line along x, point by point, each line one
 * point behind those before it in y and in z. A work-group has a block of lines; within it,
 * contributions to the next lines pass through local memory, with a barrier after each point.
 *
 * Contributions to lines of other blocks are mail: doubles in global memory that are LU_EMPTY until
 * they have been sent. A number is its own notice, so nothing depends on the order in which two of
 * them become visible. Groups take the numbers of their blocks when they start, and a block gets
 * mail from blocks of smaller number only: whatever order a device starts groups in, and however
 * few at a time, one of those that have started can always go on.
 *
 * w and derived variables lie in the order in which the sweeps read them: block by block, in rows
 * of one number per line, the points that are due at the same step. The last points of lines that
 * are due late share rows with the first points of others.
 *
 * Lines and points are counted in the interior, from 0; where it says so, in the order of the
 * sweep. */
#include "npb_mz/kernels/lu.h"
#include "npb_mz/kernels/point.h"

/* The scratch begins with the number of groups that have started in the lower sweep and in the
 * upper one; then, for each zone, the mail. */
enum { LU_HEAD = 8 };

/* Not a contribution: -DBL_MAX. */
#define LU_EMPTY (-1.7976931348623157e308)

FN int lu_least(int a, int b)
{
    return a < b ? a : b;
}

/* Doubles of mail along y; along z they follow. */
FN int lu_mail_y(struct zone z, int wide)
{
    return 5 * (z.nx - 2) * (z.nz - 2) * ((z.ny - 3) / wide);
}

FN int lu_mail_z(struct zone z, int high)
{
    return 5 * (z.nx - 2) * (z.ny - 2) * ((z.nz - 3) / high);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A block of lines j .. j+wide-1, k .. k+high-1. */
struct lu_block {
    int j, k, wide, high;
    int row, rows; /* its number along y, and how many there are */
    int at;        /* numbers of the blocks before it */
};

/* Blocks have at most wide x high lines. */
FN struct lu_block lu_block(struct zone z, int wide, int high, int number)
{
    struct lu_block b;
    b.rows = (z.ny - 3) / wide + 1;
    b.row = number % b.rows;
    b.j = b.row * wide;
    b.k = number / b.rows * high;
    b.wide = lu_least(wide, z.ny - 2 - b.j);
    b.high = lu_least(high, z.nz - 2 - b.k);
    b.at = (z.nx - 2) * (b.k * (z.ny - 2) + b.j * b.high);
    return b;
}

/* Zone `number` of a batch. */
FN struct zone lu_zone(GLOBAL const struct zone_row *rows, int zone0, int number)
{
    struct zone z = zone_at(rows, zone0 + number);
    z.batch -= rows[zone0].before;
    return z;
}

/* ---- point by point -------------------------------------------------------------------------- */

/* A point: its offset in w, and its indices among all points of the zone. */
struct lu_slot {
    struct zone z;
    int item; /* of the zone */
    int at, i, j, k;
    int none; /* the item has no point */
};

/* The point of an item. A group of BLOCK_SLOTS items has four neighbouring lines, for whole sectors
 * of w, and so many rows that u is read in stretches, too. */
FN struct lu_slot lu_slot(GLOBAL const struct zone_row *rows, int zone0, int nzones, int wide,
                          int high)
{
    struct lu_slot s;
    struct zone z = lu_zone(rows, zone0, 0);
    const int nx = z.nx - 2, deep = BLOCK_SLOTS / 4;
    const int quads = (wide * high + 3) / 4, parts = (nx + deep - 1) / deep;
    const int blocks = ((z.ny - 3) / wide + 1) * ((z.nz - 3) / high + 1);
    const int group = GROUP(0) % (blocks * quads * parts);
    s.z = lu_zone(rows, zone0, GROUP(0) / (blocks * quads * parts));
    const struct lu_block b = lu_block(z, wide, high, group / (quads * parts));
    const int row = group % parts * deep + LID(0) / 4;
    const int lane = group / parts % quads * 4 + LID(0) % 4;
    const int a = lane % b.wide, c = lane / b.wide;
    s.item = BLOCK_SLOTS * group + LID(0);
    s.none = row >= nx || c >= b.high;
    s.at = b.at + row * b.wide * b.high + lane;
    s.i = 1 + (row + (a + c) * (nx - 1)) % nx;
    s.j = 1 + b.j + a;
    s.k = 1 + b.k + c;
    return s;
}

/* Computes derived variables and w = dt (R(u) + g). Also empties all mail and sets the counts of
 * groups to 0. Blocks have at most wide x high lines. */
KERNEL(lu_blocks_points, 128, 1, 1)
(GLOBAL const double *restrict u, GLOBAL double *restrict prim, GLOBAL const double *restrict g,
 GLOBAL double *restrict w, GLOBAL double *restrict scratch, GLOBAL const double *restrict consts,
 GLOBAL const struct zone_row *restrict rows, int zone0, int nzones, int wide, int high)
{
    const struct lu_slot s = lu_slot(rows, zone0, nzones, wide, high);
    const struct zone z = s.z;
    const int mail = lu_mail_y(z, wide) + lu_mail_z(z, high);
    if (GROUP(0) == 0 && LID(0) < 2)
        ((GLOBAL int *)scratch)[LID(0)] = 0;
    for (int at = s.item; at < mail; at += (z.nx - 2) * (z.ny - 2) * (z.nz - 2))
        scratch[LU_HEAD + BLOCK_MAIL * z.batch + at] = LU_EMPTY;
    if (s.none)
        return;
    const long here = s.k * z.plane + s.j * z.pitch + s.i;
    u += 5 * z.first + here;
    const struct five v = five_load(u, z.field);
    const struct rhs_prim q = point_prim(v);
    point_keep(prim + ZONE_PRIMS * z.batch + s.at, z.field, q);
    const struct five r = point_rhs(u, z, s.i, s.j, s.k, v, q, consts);
    five_store(w + 5 * z.batch + s.at, z.field,
               five_add(r, 1.0, five_load(g + 5 * z.forced + here, z.field)));
}

/* u += w / (omega (2 - omega)) */
KERNEL(lu_blocks_update, 128, 1, 1)
(GLOBAL double *restrict u, GLOBAL const double *restrict w, GLOBAL const double *restrict prim,
 GLOBAL const struct zone_row *restrict rows, int zone0, int nzones, int wide, int high)
{
    const struct lu_slot s = lu_slot(rows, zone0, nzones, wide, high);
    const struct zone z = s.z;
    if (s.none)
        return;
    const struct five n = five_load(prim + ZONE_PRIMS * z.batch + s.at, z.field);
    const struct five v = five_load(w + 5 * z.batch + s.at, z.field);
    u += 5 * z.first + s.k * z.plane + s.j * z.pitch + s.i;
    five_store(u, z.field, five_add(five_load(u, z.field), LU_FACTOR, lu_rest(n, v)));
}

/* ---- where an item's line is ----------------------------------------------------------------- */

struct lu_line {
    int steps;              /* of the block: every item passes as many barriers */
    int delay;              /* step at which the line's first point is due */
    int n;                  /* points; 0: the item has no line */
    int before_y, before_z; /* items to the line before it in the sweep, 0: not in the block */
    int mail_y, mail_z;     /* offset of mail that it gets, -1: none */
    int post_y, post_z;     /* that it sends */
};

/* Mail passes between a line, of the block that has it first or last along an axis, and the block
 * below it (-1) or above. */
FN struct lu_line lu_line(struct zone z, struct lu_block b, int wide, int high, int sign)
{
    struct lu_line l;
    const int nx = z.nx - 2, ny = z.ny - 2, nz = z.nz - 2, size = 5 * nx;
    const int a = LID(0) % b.wide, c = LID(0) / b.wide, j = b.j + a, k = b.k + c;
    const int y = size * (b.row * nz + k), low_y = y - size * nz; /* above and below the block */
    const int z0 = lu_mail_y(z, wide) + size * (b.k / high * ny + j), low_z = z0 - size * ny;
    const int south = a == 0 && b.j > 0 ? low_y : -1;
    const int north = a == b.wide - 1 && j + 1 < ny ? y : -1;
    const int bottom = c == 0 && b.k > 0 ? low_z : -1;
    const int top = c == b.high - 1 && k + 1 < nz ? z0 : -1;
    l.steps = nx + b.wide + b.high - 2;
    l.delay = sign > 0 ? a + c : b.wide - 1 - a + b.high - 1 - c;
    l.n = c < b.high ? nx : 0;
    l.before_y = (sign > 0 ? a > 0 : a < b.wide - 1) ? sign : 0;
    l.before_z = (sign > 0 ? c > 0 : c < b.high - 1) ? sign * b.wide : 0;
    l.mail_y = sign > 0 ? south : north;
    l.mail_z = sign > 0 ? bottom : top;
    l.post_y = sign > 0 ? north : south;
    l.post_z = sign > 0 ? top : bottom;
    return l;
}

/* ---- mail ------------------------------------------------------------------------------------ */

FN struct five lu_nothing(void)
{
    struct five v;
    v.r = v.x = v.y = v.z = v.e = 0.0;
    return v;
}

FN int lu_missing(struct five v)
{
    return v.r == LU_EMPTY || v.x == LU_EMPTY || v.y == LU_EMPTY || v.z == LU_EMPTY ||
           v.e == LU_EMPTY;
}

/* What has come for point i of a line whose mail begins at `from`; zeros if it gets none. */
FN struct five lu_mail(GLOBAL double *mail, int from, int i, int n)
{
    struct five v = lu_nothing();
    if (from < 0 || i < 0 || i >= n)
        return v;
    mail += from + 5 * i;
    v.r = PEEK(mail);
    v.x = PEEK(mail + 1);
    v.y = PEEK(mail + 2);
    v.z = PEEK(mail + 3);
    v.e = PEEK(mail + 4);
    return v;
}

FN double lu_sendable(double x)
{
    return x == LU_EMPTY ? 0.5 * x : x;
}

FN void lu_post(GLOBAL double *mail, struct five v)
{
    POKE(mail, lu_sendable(v.r));
    POKE(mail + 1, lu_sendable(v.x));
    POKE(mail + 2, lu_sendable(v.y));
    POKE(mail + 3, lu_sendable(v.z));
    POKE(mail + 4, lu_sendable(v.e));
}

FN void lu_empty(GLOBAL double *mail)
{
    for (int m = 0; m < 5; m++)
        mail[m] = LU_EMPTY;
}

/* Within a block: [m][item]. */
FN struct five lu_take(LOCAL_AT const double *at)
{
    struct five v;
    v.r = at[0];
    v.x = at[BLOCK_GROUP];
    v.y = at[2 * BLOCK_GROUP];
    v.z = at[3 * BLOCK_GROUP];
    v.e = at[4 * BLOCK_GROUP];
    return v;
}

FN void lu_leave(LOCAL_AT double *at, struct five v)
{
    at[0] = v.r;
    at[BLOCK_GROUP] = v.x;
    at[2 * BLOCK_GROUP] = v.y;
    at[3 * BLOCK_GROUP] = v.z;
    at[4 * BLOCK_GROUP] = v.e;
}

/* ---- a sweep --------------------------------------------------------------------------------- */

/* A point's derived variables and w. */
struct lu_point {
    struct five n, w;
};

struct lu_sweep {
    GLOBAL double *w, *mail; /* w of the item's line in row 0; mail of the zone */
    GLOBAL const double *prim;
    int sign;         /* 1: lower; -1: upper */
    int field, lines; /* of the block */
    struct lu_line line;
};

/* Offset of the row that is due at a step. */
FN int lu_row(struct lu_sweep s, int step)
{
    return (s.sign > 0 ? step : s.line.steps - 1 - step) % s.line.n * s.lines;
}

/* What is due at a step; zeros if nothing is. */
FN struct lu_point lu_fetch(struct lu_sweep s, int step)
{
    struct lu_point p;
    p.n = p.w = lu_nothing();
    if (step < s.line.delay || step >= s.line.delay + s.line.n)
        return p;
    const int row = lu_row(s, step);
    p.n = five_load(s.prim + row, s.field);
    p.w = five_load(s.w + row, s.field);
    return p;
}

/* The correction at a point, from its contributions along y and z together, and along x. */
FN struct five lu_correct(int sign, struct lu_diagonal g, struct lu_point p, struct five aside,
                          struct five ahead)
{
    return sign > 0 ? lu_relax(g, p.n, five_sum(five_sum(p.w, aside), ahead))
                    : five_sum(p.w, lu_relax(g, p.n, five_sum(aside, ahead)));
}

/* Loads are issued two steps, and mail along y is looked for one step, before they are needed; few
 * zones are high enough for mail along z. along [2][2][5][BLOCK_GROUP]: contributions along y and
 * z, of this step and the one before. */
FN void lu_sweep(struct lu_sweep s, LOCAL_AT double *along, GLOBAL const double *consts)
{
    LOCAL_AT double *const along_y = along, *const along_z = along + 10 * BLOCK_GROUP;
    const struct lu_axis x = lu_axis(consts, 0, s.sign), y = lu_axis(consts, 1, s.sign);
    const struct lu_axis z = lu_axis(consts, 2, s.sign);
    const struct lu_diagonal g = lu_diagonal(consts);
    const struct lu_line l = s.line;
    struct five ahead = lu_nothing(), next_y = lu_mail(s.mail, l.mail_y, -l.delay, l.n);
    struct lu_point here, next = lu_fetch(s, 0), after = lu_fetch(s, 1);
    ROLLED
    for (int step = 0; step < l.steps; step++) {
        const int i = step - l.delay; /* in the order of the sweep */
        const int now = LID(0) + 5 * BLOCK_GROUP * (step & 1);
        const int before = LID(0) + 5 * BLOCK_GROUP * (~step & 1);
        struct five from_y = next_y;
        here = next;
        next = after;
        after = lu_fetch(s, step + 2);
        next_y = lu_mail(s.mail, l.mail_y, i + 1, l.n);
        if (i >= 0 && i < l.n) {
            while (lu_missing(from_y))
                from_y = lu_mail(s.mail, l.mail_y, i, l.n);
            struct five from_z = lu_mail(s.mail, l.mail_z, i, l.n);
            while (lu_missing(from_z))
                from_z = lu_mail(s.mail, l.mail_z, i, l.n);
            if (s.sign > 0 && l.mail_y >= 0) /* for the upper sweep */
                lu_empty(s.mail + l.mail_y + 5 * i);
            if (s.sign > 0 && l.mail_z >= 0)
                lu_empty(s.mail + l.mail_z + 5 * i);
            if (l.before_y)
                from_y = lu_take(along_y + before - l.before_y);
            if (l.before_z)
                from_z = lu_take(along_z + before - l.before_z);
            const struct five v = lu_correct(s.sign, g, here, five_sum(from_y, from_z), ahead);
            const struct five to_y = lu_send(y, 1, here.n, v), to_z = lu_send(z, 2, here.n, v);
            lu_leave(along_y + now, to_y);
            lu_leave(along_z + now, to_z);
            if (l.post_y >= 0)
                lu_post(s.mail + l.post_y + 5 * i, to_y);
            if (l.post_z >= 0)
                lu_post(s.mail + l.post_z + 5 * i, to_z);
            five_store(s.w + lu_row(s, step), s.field, v);
            ahead = lu_send(x, 0, here.n, v);
        }
        BARRIER;
    }
}

/* What the number-th group to start has to do: zones take turns, so that all of them advance. */
FN struct lu_sweep lu_task(GLOBAL double *w, GLOBAL const double *prim, GLOBAL double *scratch,
                           GLOBAL const struct zone_row *rows, int zone0, int nzones, int wide,
                           int high, int number, int sign)
{
    struct lu_sweep s;
    const struct zone z = lu_zone(rows, zone0, number % nzones);
    const int blocks = ((z.ny - 3) / wide + 1) * ((z.nz - 3) / high + 1);
    const int nth = number / nzones;
    const struct lu_block b = lu_block(z, wide, high, sign > 0 ? nth : blocks - 1 - nth);
    s.sign = sign;
    s.field = z.field;
    s.lines = b.wide * b.high;
    s.line = lu_line(z, b, wide, high, sign);
    s.w = w + 5 * z.batch + b.at + LID(0);
    s.prim = prim + ZONE_PRIMS * z.batch + b.at + LID(0);
    s.mail = scratch + LU_HEAD + BLOCK_MAIL * z.batch;
    return s;
}

/* The group's place among those that have started. */
FN int lu_ticket(GLOBAL int *started, LOCAL_AT int *number)
{
    if (LID(0) == 0)
        *number = ATOMIC_ADD(started, 1);
    BARRIER;
    return *number;
}

/* The lower sweep: turns w = dt (R(u) + g) into a correction in the nodes' frames. */
KERNEL(lu_blocks_lower, 288, 1, 1)
(GLOBAL double *restrict w, GLOBAL const double *restrict prim, GLOBAL double *restrict scratch,
 GLOBAL const double *restrict consts, GLOBAL const struct zone_row *restrict rows, int zone0,
 int nzones, int wide, int high)
{
    LOCAL double along[20 * BLOCK_GROUP];
    LOCAL int number;
    const int nth = lu_ticket((GLOBAL int *)scratch, &number);
    lu_sweep(lu_task(w, prim, scratch, rows, zone0, nzones, wide, high, nth, 1), along, consts);
}

/* The upper sweep. */
KERNEL(lu_blocks_upper, 288, 1, 1)
(GLOBAL double *restrict w, GLOBAL const double *restrict prim, GLOBAL double *restrict scratch,
 GLOBAL const double *restrict consts, GLOBAL const struct zone_row *restrict rows, int zone0,
 int nzones, int wide, int high)
{
    LOCAL double along[20 * BLOCK_GROUP];
    LOCAL int number;
    const int nth = lu_ticket((GLOBAL int *)scratch + 1, &number);
    lu_sweep(lu_task(w, prim, scratch, rows, zone0, nzones, wide, high, nth, -1), along, consts);
}
