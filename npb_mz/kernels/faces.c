/* npb_mz/kernels/faces.c – copies zone faces on a device, many in one launch: from zone to zone,
 * and to and from a buffer.
 *
 * A face is a boundary plane without its edges; it receives the neighbour's first interior plane.
 * Sides: 0 west, 1 east, 2 south, 3 north. In a buffer a face is [m][k][along]. Each row of `faces`
 * has three longs, listed at each kernel. A launch has one row of work-groups per face, as many as
 * the largest needs. */
#include "npb_mz/kernels/zone.h"

/* The point of a face that a work-item copies. */
struct faces_point {
    long at;    /* offset in u */
    int inside; /* 0: the face has no such point */
};

/* Plane `depth` (0 boundary, 1 first interior) of a side of a zone. */
FN struct faces_point faces_point(GLOBAL const struct zone_row *rows, long zone, long side,
                                  int depth, int item)
{
    const struct zone z = zone_at(rows, (int)zone);
    const int far = (int)side & 1, in_y = (int)side >> 1;
    const int across = (in_y ? z.ny : z.nx) - 1, along = (in_y ? z.nx : z.ny) - 2;
    const int row = far ? across - depth : depth, km = item / along;
    const int m = km / (z.nz - 2), k = 1 + km % (z.nz - 2), s = 1 + item % along;
    struct faces_point p;
    p.inside = m < 5;
    p.at = 5 * z.first + m * z.field + k * z.plane + (in_y ? row * z.pitch + s : s * z.pitch + row);
    return p;
}

/* faces: zone, side, neighbour across it; both zones are on this device. */
KERNEL(faces_copy, 64, 1, 1)
(GLOBAL double *u, GLOBAL const struct zone_row *rows, GLOBAL const long *faces)
{
    GLOBAL const long *face = faces + 3 * GROUP(1);
    const int item = GID(0);
    const struct faces_point to = faces_point(rows, face[0], face[1], 0, item);
    const struct faces_point from = faces_point(rows, face[2], face[1] ^ 1, 1, item);
    if (to.inside)
        u[to.at] = u[from.at];
}

/* faces: zone, side, place in the buffer. Packs the first interior plane at that side. */
KERNEL(faces_pack, 64, 1, 1)
(GLOBAL const double *restrict u, GLOBAL const struct zone_row *restrict rows,
 GLOBAL const long *restrict faces, GLOBAL double *restrict buffer)
{
    GLOBAL const long *face = faces + 3 * GROUP(1);
    const int item = GID(0);
    const struct faces_point from = faces_point(rows, face[0], face[1], 1, item);
    if (from.inside)
        buffer[face[2] + item] = u[from.at];
}

/* faces: zone, side, place in the buffer. Unpacks into the boundary plane at that side. */
KERNEL(faces_unpack, 64, 1, 1)
(GLOBAL double *restrict u, GLOBAL const struct zone_row *restrict rows,
 GLOBAL const long *restrict faces, GLOBAL const double *restrict buffer)
{
    GLOBAL const long *face = faces + 3 * GROUP(1);
    const int item = GID(0);
    const struct faces_point to = faces_point(rows, face[0], face[1], 0, item);
    if (to.inside)
        u[to.at] = buffer[face[2] + item];
}
