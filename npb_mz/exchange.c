/* npb_mz/exchange.c – faces between zones on the host. A zone's boundary plane takes the
 * neighbour's first interior plane; edges and the planes k = 0, nz-1 keep their values. */
#include "npb_mz/mz.h"

#include <string.h>

/* The inner part of a plane of constant i or j. */
struct face {
    double *at;              /* its first point */
    long field, plane, step; /* strides of m, k and along the face */
    int along, across;       /* points along it, and in k */
};

/* Plane `depth` (0 boundary, 1 first interior) of a side. */
static struct face face_of(const struct mz *mz, int zone, enum mz_side side, int depth)
{
    const struct mz_zone *z = &mz->zone[zone];
    const int in_y = side >= MZ_SOUTH, far = side == MZ_EAST || side == MZ_NORTH;
    const int n = in_y ? z->ny : z->nx, row = far ? n - 1 - depth : depth;
    const long step = in_y ? 1 : z->pitch, normal = in_y ? z->pitch : 1;
    return (struct face){.at = mz_zone_u(mz, zone) + row * normal + step + z->plane,
                         .field = z->volume,
                         .plane = z->plane,
                         .step = step,
                         .along = (in_y ? z->nx : z->ny) - 2,
                         .across = z->nz - 2};
}

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

static enum mz_side opposite(enum mz_side side)
{
    return (enum mz_side)(side ^ 1);
}

void mz_face_copy(struct mz *mz, int zone, enum mz_side side)
{
    copy(face_of(mz, zone, side, 0),
         face_of(mz, mz->zone[zone].neighbour[side], opposite(side), 1));
}

void mz_exchange(struct mz *mz, int zone)
{
    for (int side = 0; side < MZ_SIDES; side++)
        mz_face_copy(mz, zone, (enum mz_side)side);
}

size_t mz_face_size(const struct mz *mz, int zone, enum mz_side side)
{
    struct face f = face_of(mz, zone, side, 0);
    return (size_t)MZ_VARS * f.along * f.across;
}

void mz_face_pack(const struct mz *mz, int zone, enum mz_side side, double *buffer)
{
    struct face f = face_of(mz, zone, side, 1);
    copy(face_in(buffer, f), f);
}

void mz_face_unpack(struct mz *mz, int zone, enum mz_side side, const double *buffer)
{
    struct face f = face_of(mz, zone, side, 0);
    copy(f, face_in((double *)buffer, f));
}
