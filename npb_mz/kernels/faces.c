/* npb_mz/kernels/faces.c – zone faces on a device, many in one launch: from zone to zone, and to
 * and from a buffer.
 *
 * A face is the inner part of a boundary plane; it receives the neighbour's first interior plane.
 * Sides: 0 west, 1 east, 2 south, 3 north. In a buffer a face is [m][k][along]. Rows of `zones` are
 * nx ny nz pitch first; rows of `faces` are three longs, stated at each kernel. Every launch is
 * over (points along the longest face, 5*(nz-2), faces). */
struct faces_plane {
    long at, field, plane, step; /* first interior point; strides of m, k, and along the face */
    int along, across;           /* interior points */
};

/* Plane `depth` (0 boundary, 1 first interior) of a side of a zone. */
FN struct faces_plane faces_plane(GLOBAL const long *zones, long number, long side, int depth)
{
    struct faces_plane f;
    const int nx = (int)zones[5 * number], ny = (int)zones[5 * number + 1];
    const int nz = (int)zones[5 * number + 2];
    const long pitch = zones[5 * number + 3], first = 5 * zones[5 * number + 4];
    const int far = (int)side & 1, in_y = (int)side >> 1;
    const long normal = in_y ? pitch : 1, row = far ? (in_y ? ny : nx) - 1 - depth : depth;
    f.step = in_y ? 1 : pitch;
    f.plane = pitch * ny;
    f.field = f.plane * nz;
    f.at = first + row * normal + f.step + f.plane;
    f.along = (in_y ? nx : ny) - 2;
    f.across = nz - 2;
    return f;
}

FN long faces_point(struct faces_plane f, int s, int km)
{
    return f.at + (km / f.across) * f.field + (km % f.across) * f.plane + s * f.step;
}

/* faces: zone, side, neighbour; both zones on this device. */
KERNEL(faces_copy, 64, 1, 1)
(GLOBAL double *u, GLOBAL const long *zones, GLOBAL const long *faces, int nfaces)
{
    if (GID(2) >= nfaces)
        return;
    const long zone = faces[3 * GID(2)], side = faces[3 * GID(2) + 1];
    struct faces_plane to = faces_plane(zones, zone, side, 0);
    struct faces_plane from = faces_plane(zones, faces[3 * GID(2) + 2], side ^ 1, 1);
    if (GID(0) < to.along && GID(1) < 5 * to.across)
        u[faces_point(to, GID(0), GID(1))] = u[faces_point(from, GID(0), GID(1))];
}

/* faces: zone, side, place in the buffer. The first interior plane behind that side. */
KERNEL(faces_pack, 64, 1, 1)
(GLOBAL const double *u, GLOBAL const long *zones, GLOBAL const long *faces, int nfaces,
 GLOBAL double *buffer)
{
    if (GID(2) >= nfaces)
        return;
    struct faces_plane f = faces_plane(zones, faces[3 * GID(2)], faces[3 * GID(2) + 1], 1);
    if (GID(0) < f.along && GID(1) < 5 * f.across)
        buffer[faces[3 * GID(2) + 2] + (long)GID(1) * f.along + GID(0)] =
            u[faces_point(f, GID(0), GID(1))];
}

/* faces: zone, side, place in the buffer. The boundary plane at that side. */
KERNEL(faces_unpack, 64, 1, 1)
(GLOBAL double *u, GLOBAL const long *zones, GLOBAL const long *faces, int nfaces,
 GLOBAL const double *buffer)
{
    if (GID(2) >= nfaces)
        return;
    struct faces_plane f = faces_plane(zones, faces[3 * GID(2)], faces[3 * GID(2) + 1], 0);
    if (GID(0) < f.along && GID(1) < 5 * f.across)
        u[faces_point(f, GID(0), GID(1))] =
            buffer[faces[3 * GID(2) + 2] + (long)GID(1) * f.along + GID(0)];
}
