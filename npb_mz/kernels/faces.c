/* npb_mz/kernels/faces.c – copies zone faces on a device, many in one launch: from zone to zone,
 * and to and from a buffer.
 *
 * A face is a boundary plane without its edges; it receives the neighbour's first interior plane.
 * Sides: 0 west, 1 east, 2 south, 3 north. In a buffer a face is [m][k][along]. Each row of `faces`
 * has three longs, listed at each kernel. A launch has one row of work-groups per face, as many as
 * the largest needs. An item copies FACES_EACH numbers, all of which it reads before it writes any:
 * one by one, each would wait for memory. */
#include "npb_mz/kernels/zone.h"

/* A plane of a zone at one of its sides. */
struct faces_plane {
    long first;             /* offset of its first component in u, of the point k = 0, s = 0 */
    int field, plane, step; /* strides of a component, of k, of s along the plane */
    int along, deep;        /* interior points along it, and in k */
};

/* Plane `depth` (0 boundary, 1 first interior) of a side of a zone. */
FN struct faces_plane faces_plane(GLOBAL const struct zone_row *rows, long zone, long side,
                                  int depth)
{
    const struct zone z = zone_at(rows, (int)zone);
    const int far = (int)side & 1, in_y = (int)side >> 1;
    const int across = (in_y ? z.ny : z.nx) - 1, row = far ? across - depth : depth;
    struct faces_plane p;
    p.first = 5 * z.first + (in_y ? row * z.pitch : row);
    p.field = z.field;
    p.plane = z.plane;
    p.step = in_y ? 1 : z.pitch;
    p.along = (in_y ? z.nx : z.ny) - 2;
    p.deep = z.nz - 2;
    return p;
}

/* The number of this work-item's n-th point, from 0. */
FN int faces_item(int n)
{
    return (GROUP(0) * FACES_EACH + n) * ZONE_GROUP + LID(0);
}

FN int faces_has(struct faces_plane p, int item)
{
    return item < 5 * p.deep * p.along;
}

/* Offset in u of a point of the plane. */
FN long faces_at(struct faces_plane p, int item)
{
    const int row = item / p.along, m = row / p.deep;
    return p.first + m * p.field + (1 + row - m * p.deep) * p.plane +
           (1 + item - row * p.along) * p.step;
}

/* faces: zone, side, neighbour across it; both zones are on this device. */
KERNEL(faces_copy, 64, 1, 1)
(GLOBAL double *u, GLOBAL const struct zone_row *rows, GLOBAL const long *faces)
{
    GLOBAL const long *face = faces + 3 * GROUP(1);
    const struct faces_plane to = faces_plane(rows, face[0], face[1], 0);
    const struct faces_plane from = faces_plane(rows, face[2], face[1] ^ 1, 1);
    double v[FACES_EACH];
    UNROLL
    for (int n = 0; n < FACES_EACH; n++)
        if (faces_has(from, faces_item(n)))
            v[n] = u[faces_at(from, faces_item(n))];
    UNROLL
    for (int n = 0; n < FACES_EACH; n++)
        if (faces_has(to, faces_item(n)))
            u[faces_at(to, faces_item(n))] = v[n];
}

/* faces: zone, side, place in the buffer. Packs the first interior plane at that side. */
KERNEL(faces_pack, 64, 1, 1)
(GLOBAL const double *restrict u, GLOBAL const struct zone_row *restrict rows,
 GLOBAL const long *restrict faces, GLOBAL double *restrict buffer)
{
    GLOBAL const long *face = faces + 3 * GROUP(1);
    const struct faces_plane from = faces_plane(rows, face[0], face[1], 1);
    UNROLL
    for (int n = 0; n < FACES_EACH; n++)
        if (faces_has(from, faces_item(n)))
            buffer[face[2] + faces_item(n)] = u[faces_at(from, faces_item(n))];
}

/* faces: zone, side, place in the buffer. Unpacks into the boundary plane at that side. */
KERNEL(faces_unpack, 64, 1, 1)
(GLOBAL double *restrict u, GLOBAL const struct zone_row *restrict rows,
 GLOBAL const long *restrict faces, GLOBAL const double *restrict buffer)
{
    GLOBAL const long *face = faces + 3 * GROUP(1);
    const struct faces_plane to = faces_plane(rows, face[0], face[1], 0);
    UNROLL
    for (int n = 0; n < FACES_EACH; n++)
        if (faces_has(to, faces_item(n)))
            u[faces_at(to, faces_item(n))] = buffer[face[2] + faces_item(n)];
}
