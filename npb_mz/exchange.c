/* npb_mz/exchange.c – exchanges faces between zones on the host. A zone's boundary plane becomes
 * the neighbour's first interior plane; edges and the planes k = 0, nz-1 keep their values.
 *
 * In u, a face in x has one point per cache line. So a step reads boundary values from walls
 * instead: x walls are [k][j][m], y walls [m][k][i], without edges. The step also writes its first
 * interior planes to walls of the same shape, while their rows are in cache. An exchange then swaps
 * two pointers: what a zone wrote becomes its neighbour's boundary, and nothing is copied. */
#include "npb_mz/mz.h"

/* A plane of constant i or j without its edges, in u, a wall or a buffer. */
struct face {
    double *at;              /* its first point */
    long field, plane, step; /* strides of m, k and along the face */
    int along, across;       /* points along it, and in k */
};

static bool in_x(enum mz_side side)
{
    return side < MZ_SOUTH;
}

/* Plane `depth` (0 boundary, 1 first interior) of a side in u. */
static struct face face_of(const struct mz *mz, int zone, enum mz_side side, int depth)
{
    const struct mz_zone *z = &mz->zone[zone];
    const bool far = side == MZ_EAST || side == MZ_NORTH;
    const int n = in_x(side) ? z->nx : z->ny, row = far ? n - 1 - depth : depth;
    const long step = in_x(side) ? z->pitch : 1, normal = in_x(side) ? 1 : z->pitch;
    return (struct face){.at = mz_zone_u(mz, zone) + row * normal + step + z->plane,
                         .field = z->volume,
                         .plane = z->plane,
                         .step = step,
                         .along = (in_x(side) ? z->ny : z->nx) - 2,
                         .across = z->nz - 2};
}

/* The same plane in the zone's walls. */
static struct face wall_of(const struct mz *mz, int zone, enum mz_side side, int depth)
{
    const struct mz_zone *z = &mz->zone[zone];
    struct face f = {.across = z->nz - 2, .along = (in_x(side) ? z->ny : z->nx) - 2};
    f.at = mz->walled[zone].wall[depth][side];
    f.field = in_x(side) ? 1 : (long)f.across * f.along;
    f.plane = in_x(side) ? MZ_VARS * f.along : f.along;
    f.step = in_x(side) ? MZ_VARS : 1;
    return f;
}

/* A buffer, [m][k][along], for a face of the size of `like`. */
static struct face face_in(double *buffer, struct face like)
{
    like.at = buffer;
    like.step = 1;
    like.plane = like.along;
    like.field = (long)like.along * like.across;
    return like;
}

static void copy_row(double *to, long to_step, const double *from, long from_step, int n)
{
    if (to_step == 1 && from_step == 1)
        memcpy(to, from, n * sizeof *to);
    else
        for (int s = 0; s < n; s++)
            to[s * to_step] = from[s * from_step];
}

static void copy(struct face to, struct face from)
{
    for (int m = 0; m < MZ_VARS; m++)
        for (int k = 0; k < to.across; k++)
            copy_row(to.at + m * to.field + k * to.plane, to.step,
                     from.at + m * from.field + k * from.plane, from.step, to.along);
}

/* What the neighbour across `side` receives. */
static struct face sent(const struct mz *mz, int zone, enum mz_side side)
{
    return mz->walled[zone].out[side] ? wall_of(mz, zone, side, 1) : face_of(mz, zone, side, 1);
}

static void receive(struct mz *mz, int zone, enum mz_side side, struct face from)
{
    copy(wall_of(mz, zone, side, 0), from);
    mz->walled[zone].in[side] = true;
}

void mz_face_copy(struct mz *mz, int zone, enum mz_side side)
{
    const int behind = mz->zone[zone].neighbour[side];
    const enum mz_side back = (enum mz_side)(side ^ 1);
    struct mz_walled *to = &mz->walled[zone], *from = &mz->walled[behind];
    if (!from->out[back]) {
        receive(mz, zone, side, face_of(mz, behind, back, 1));
        return;
    }
    double *fresh = from->wall[1][back];
    from->wall[1][back] = to->wall[0][side];
    to->wall[0][side] = fresh;
    to->in[side] = true;
    from->out[back] = false;
}

size_t mz_face_size(const struct mz *mz, int zone, enum mz_side side)
{
    return (size_t)mz_wall_size(&mz->zone[zone], side);
}

void mz_face_pack(const struct mz *mz, int zone, enum mz_side side, double *buffer)
{
    const struct face f = sent(mz, zone, side);
    copy(face_in(buffer, f), f);
}

void mz_face_unpack(struct mz *mz, int zone, enum mz_side side, const double *buffer)
{
    receive(mz, zone, side, face_in((double *)buffer, wall_of(mz, zone, side, 0)));
}

void mz_walls_begin(struct mz *mz, int zone)
{
    for (int side = 0; side < MZ_SIDES; side++) {
        if (!mz->walled[zone].in[side])
            receive(mz, zone, (enum mz_side)side, face_of(mz, zone, (enum mz_side)side, 0));
        mz->walled[zone].out[side] = true;
    }
}

void mz_walls_keep(const struct mz *mz, int zone, int j0, int j1, int k0, int k1)
{
    for (int i = 0; i < MZ_SIDES; i++) {
        const enum mz_side side = (enum mz_side)i;
        struct face to = wall_of(mz, zone, side, 1), from = face_of(mz, zone, side, 1);
        const int row = side == MZ_SOUTH ? 1 : mz->zone[zone].ny - 2;
        to.at += (k0 - 1) * to.plane;
        from.at += (k0 - 1) * from.plane;
        to.across = k1 - k0;
        if (!in_x(side)) {
            if (row >= j0 && row < j1)
                copy(to, from);
            continue;
        }
        for (int k = 0; k < to.across; k++)
            for (int j = j0 - 1; j < j1 - 1; j++) {
                __builtin_prefetch(to.at + k * to.plane + (j + 3) * MZ_VARS, 1); /* to be written */
                for (int m = 0; m < MZ_VARS; m++)
                    to.at[k * to.plane + j * MZ_VARS + m] =
                        from.at[k * from.plane + j * from.step + m * from.field];
            }
    }
}

void mz_settle(const struct mz *mz, int zone)
{
    struct mz_walled *w = &mz->walled[zone];
    for (int side = 0; side < MZ_SIDES; side++) {
        if (w->in[side])
            copy(face_of(mz, zone, (enum mz_side)side, 0),
                 wall_of(mz, zone, (enum mz_side)side, 0));
        w->in[side] = w->out[side] = false;
    }
}

void mz_walls_forget(struct mz *mz, int zone)
{
    struct mz_walled *w = &mz->walled[zone];
    const long half = mz_walls_size(&mz->zone[zone]) / 2;
    *w = (struct mz_walled){.in = {false}};
    mz_walls_of(&mz->zone[zone], mz_zone_walls(mz, zone), w->wall[0]);
    mz_walls_of(&mz->zone[zone], mz_zone_walls(mz, zone) + half, w->wall[1]);
}
