/* npb_mz/sp_lines.c – Gaussian elimination forward, node by node, then back substitution. */
#include "npb_mz/sp_lines.h"

#include "npb_mz/kernels/sp.h"

/* A node in scratch: c and d of each of the three matrices, then y, in x_s = y_s - c x_(s+1) - d
 * x_(s+2). Two nodes of zeros lie before node 1. */
enum { NODE = (6 + MZ_VARS) * LANES, NODES = SP_LINES * NODE, BEFORE = 2 };

/* A quantity along vectors of lines. */
struct place {
    const double *at;
    long step; /* doubles from node to node */
    int next;  /* from one vector of lines to the next; a compile-time constant where used */
};

/* Right-hand side, 1/rho, velocity along the lines, speed of sound. */
struct places {
    struct place w, ri, v, a;
};

long sp_along_size(int n)
{
    return (long)(n + BEFORE) * NODES + (sizeof(struct sp_row) / sizeof(double) * n + 7) / 8 * 8;
}

static struct sp_axis axis_of(const struct mz *mz, int d)
{
    return sp_axis((const double *)&mz->consts, d);
}

void sp_along_set(struct sp_along *a, const struct mz *mz, int d, int n, double *room)
{
    *a = (struct sp_along){.mz = mz, .d = d, .n = n, .scratch = room};
    a->rows = a->scratch + (long)(n + BEFORE) * NODES;
    for (int s = 0; s < n; s++) {
        const struct sp_row row = sp_row(axis_of(mz, d), s, n);
        memcpy(a->rows + s * sizeof row / sizeof *a->rows, &row, sizeof row);
    }
    memset(a->scratch, 0, BEFORE * NODES * sizeof *a->scratch);
}

/* The node before. Sixteen registers cannot hold what two nodes leave, so it is hidden from the
 * compiler and read where it is used. The thirty-two of AVX-512 can, which saves waiting for the
 * store. */
FN const double *node_before(const double *f)
{
    return LANES < 8 ? lanes_hidden(f - NODES) : f - NODES;
}

/* Eliminates one matrix at a node: entries m1, c and p1 of its row. Reads the c and d of the two
 * nodes before it and writes its own to f. */
FN struct sp_factor eliminate(struct sp_row row, lanes m1, lanes c, lanes p1, double *f)
{
    const double *f1 = node_before(f), *f2 = f1 - NODES;
    const struct sp_factor k =
        sp_factor(row, m1, c, p1, LOAD(f1, 0), LOAD(f1, LANES), LOAD(f2, 0), LOAD(f2, LANES));
    STORE(f, 0, k.c);
    STORE(f, LANES, k.d);
    return k;
}

/* Writes y of one right-hand side w to f. */
FN void reduce(struct sp_row row, struct sp_factor k, const double *w, double *f)
{
    const double *f1 = node_before(f), *f2 = f1 - NODES;
    STORE(f, 0, (LOAD(w, 0) - row.m2 * LOAD(f2, 0) - k.b1 * LOAD(f1, 0)) * k.ip);
}

/* Eliminates a node of one vector of lines, to f. Numbers are read where they are used: there are
 * not enough registers for all. */
FN void forward(struct sp_axis x, struct sp_row row, struct places q, int line, double *f)
{
    const double *w = q.w.at + line * q.w.next, *ri = q.ri.at + line * q.ri.next,
                 *v = q.v.at + line * q.v.next, *a = q.a.at + line * q.a.next;
    double *y = f + 6 * LANES;
    const lanes before = row.m1 - x.heat * LOAD(ri, -q.ri.step) - x.tau2 * LOAD(v, -q.v.step);
    const lanes after = row.p1 - x.heat * LOAD(ri, q.ri.step) + x.tau2 * LOAD(v, q.v.step);
    const lanes centre = row.c + 2.0 * x.heat * LOAD(ri, 0);
    struct sp_factor k = eliminate(row, before, centre, after, f);
    reduce(row, k, w, y);
    reduce(row, k, w + LANES, y + LANES);
    reduce(row, k, w + 2 * LANES, y + 2 * LANES);
    const lanes a1 = x.tau2 * LOAD(a, -q.a.step), a2 = x.tau2 * LOAD(a, q.a.step);
    k = eliminate(row, before - a1, centre, after + a2, f + 2 * LANES);
    reduce(row, k, w + 3 * LANES, y + 3 * LANES);
    k = eliminate(row, before + a1, centre, after - a2, f + 4 * LANES);
    reduce(row, k, w + 4 * LANES, y + 4 * LANES);
}

FN void forward_all(const struct sp_along *along, struct sp_axis x, struct places q, int count)
{
    const struct sp_row *row = (const struct sp_row *)along->rows;
    double *f = along->scratch + BEFORE * NODES;
    for (int s = 1; s < along->n - 1; s++, f += NODES) {
        q.w.at += q.w.step, q.ri.at += q.ri.step, q.v.at += q.v.step, q.a.at += q.a.step;
        forward(x, row[s], q, 0, f);
        if (count > 1)
            forward(x, row[s], q, 1, f + NODE);
    }
}

/* x_s = y_s - c x_(s+1) - d x_(s+2) of the node at f */
FN struct five back(const double *f, struct five x1, struct five x2)
{
    struct five y = five_load(f + 6 * LANES, LANES);
    const lanes c = LOAD(f, 0), d = LOAD(f, LANES);
    y.r = y.r - d * x2.r - c * x1.r;
    y.x = y.x - d * x2.x - c * x1.x;
    y.y = y.y - d * x2.y - c * x1.y;
    y.z = y.z - LOAD(f, 3 * LANES) * x2.z - LOAD(f, 2 * LANES) * x1.z;
    y.e = y.e - LOAD(f, 5 * LANES) * x2.e - LOAD(f, 4 * LANES) * x1.e;
    return y;
}

static const struct five zero;

/* Back substitution of one vector of x or y lines, transformed to the variables of the next axis.
 */
FN void back_one(const struct sp_along *along, int d, const double *f, double *w, long step)
{
    struct five x1 = zero, x2 = zero;
    f += (along->n - 1) * (long)NODES;
    w += (along->n - 2) * step;
    for (int s = along->n - 2; s > 0; s--, f -= NODES, w -= step) {
        const struct five x = back(f, x1, x2);
        five_store(w, LANES, d == 0 ? sp_turn_y(x) : sp_turn_z(x));
        x2 = x1, x1 = x;
    }
}

FN void back_all(const struct sp_along *along, int d, double *w, long step, int next, int count)
{
    for (int i = 0; i < count; i++)
        back_one(along, d, along->scratch + i * NODE, w + i * next, step);
}

FN void solve_x(const struct sp_along *along, double *lines, int count)
{
    const long step = (long)SP_LINES * SP_NODE_X;
    const double *node = lines + MZ_VARS * LANES;
    const struct places q = {{lines, step, SP_NODE_X},
                             {node, step, SP_NODE_X},
                             {node + LANES, step, SP_NODE_X},
                             {node + 2 * LANES, step, SP_NODE_X}};
    forward_all(along, axis_of(along->mz, 0), q, count);
    back_all(along, 0, lines, step, SP_NODE_X, count);
}

void sp_lines_x(const struct sp_along *along, double *lines, int count)
{
    if (count >= SP_LINES)
        solve_x(along, lines, SP_LINES);
    else
        solve_x(along, lines, 1);
}

FN void solve_y(const struct sp_along *along, double *w, long row, struct places q, int count)
{
    forward_all(along, axis_of(along->mz, 1), q, count);
    back_all(along, 1, w, row, RHS_STATE, count);
}

void sp_lines_y(const struct sp_along *along, double *w, long w_row, const double *flow,
                const double *node, int records, const double *speed, long speed_row, int count)
{
    const long flow_row = (long)records * RHS_FLOW, node_row = (long)records * RHS_NODE;
    const struct places q = {{w, w_row, RHS_STATE},
                             {node, node_row, RHS_NODE},
                             {flow + LANES, flow_row, RHS_FLOW},
                             {speed, speed_row, LANES}};
    if (count >= SP_LINES)
        solve_y(along, w, w_row, q, SP_LINES);
    else
        solve_y(along, w, w_row, q, 1);
}

/* Back substitution of one vector of z lines: u += solution. */
FN void leave_one(const struct sp_along *along, const double *f, struct place prim, double *u,
                  long field, long plane, int points)
{
    struct five x1 = zero, x2 = zero;
    f += (along->n - 1) * (long)NODES;
    const double *p = prim.at + (along->n - 2) * prim.step;
    u += (along->n - 2) * plane;
    for (int s = along->n - 2; s > 0; s--, f -= NODES, p -= prim.step, u -= plane) {
        const struct five x = back(f, x1, x2);
        const struct line_view view = {u, field, 0};
        sp_add(view, 0,
               sp_leave(x, LOAD(u, 0), LOAD(p, SP_VX * LANES), LOAD(p, SP_VY * LANES),
                        LOAD(p, SP_VZ * LANES), LOAD(p, SP_E * LANES), LOAD(p, SP_A * LANES)),
               points);
        x2 = x1, x1 = x;
    }
}

FN void solve_z(const struct sp_along *along, struct places q, double *u, long field, long plane,
                int points, int count)
{
    forward_all(along, axis_of(along->mz, 2), q, count);
    for (int i = 0; i < count; i++) {
        const struct place prim = {q.ri.at + i * SP_NODE_Z, q.ri.step, 0};
        leave_one(along, along->scratch + i * NODE, prim, u + i * LANES, field, plane,
                  points - i * LANES);
    }
}

void sp_lines_z(const struct sp_along *along, const double *w, long w_plane, const double *prim,
                long prim_row, double *u, long field, long plane, int points, int count)
{
    const struct places q = {{w, w_plane, RHS_STATE},
                             {prim, prim_row, SP_NODE_Z},
                             {prim + SP_VZ * LANES, prim_row, SP_NODE_Z},
                             {prim + SP_A * LANES, prim_row, SP_NODE_Z}};
    if (count >= SP_LINES)
        solve_z(along, q, u, field, plane, points, SP_LINES);
    else
        solve_z(along, q, u, field, plane, points, 1);
}
