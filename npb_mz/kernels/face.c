/* npb_mz/kernels/face.c – zone faces on a device: from zone to zone, and to and from a buffer.
 *
 * A face is the inner part of a boundary plane; it receives the neighbour's first interior plane,
 * which is its own plane 1 or n-2 seen from there. Sides: 0 west, 1 east, 2 south, 3 north. A face
 * in a buffer is [m][k][along], interior points only, m = 0 .. 4. */
struct face {
    long at, field, plane, step; /* first interior point; strides of m, k, along the face */
    int along, across;           /* interior points */
};

/* Plane `depth` (0 boundary, 1 first interior) of a side of a zone. */
FN struct face face_of(GLOBAL const long *zones, int number, int side, int depth)
{
    struct face f;
    const int nx = (int)zones[5 * number], ny = (int)zones[5 * number + 1];
    const int nz = (int)zones[5 * number + 2];
    const long pitch = zones[5 * number + 3], first = 5 * zones[5 * number + 4];
    const int far = side & 1, in_y = side >> 1;
    const long across = in_y ? pitch : 1, row = far ? (in_y ? ny : nx) - 1 - depth : depth;
    f.step = in_y ? 1 : pitch;
    f.plane = pitch * ny;
    f.field = f.plane * nz;
    f.at = first + row * across + f.step + f.plane;
    f.along = (in_y ? nx : ny) - 2;
    f.across = nz - 2;
    return f;
}

/* Both zones here; over (along, nz-2, 5). */
KERNEL(face_copy, 64, 1, 1)
(GLOBAL double *u, GLOBAL const long *zones, int zone, int side, int neighbour)
{
    struct face to = face_of(zones, zone, side, 0), from = face_of(zones, neighbour, side ^ 1, 1);
    if (GID(0) < to.along && GID(1) < to.across && GID(2) < 5)
        u[to.at + GID(2) * to.field + GID(1) * to.plane + GID(0) * to.step] =
            u[from.at + GID(2) * from.field + GID(1) * from.plane + GID(0) * from.step];
}

/* The plane that the neighbour behind `side` wants, to buffer[at ..]. */
KERNEL(face_pack, 64, 1, 1)
(GLOBAL const double *u, GLOBAL const long *zones, int zone, int side, GLOBAL double *buffer,
 long at)
{
    struct face f = face_of(zones, zone, side, 1);
    if (GID(0) < f.along && GID(1) < f.across && GID(2) < 5)
        buffer[at + ((long)GID(2) * f.across + GID(1)) * f.along + GID(0)] =
            u[f.at + GID(2) * f.field + GID(1) * f.plane + GID(0) * f.step];
}

/* What the neighbour behind `side` packed, into the boundary plane. */
KERNEL(face_unpack, 64, 1, 1)
(GLOBAL double *u, GLOBAL const long *zones, int zone, int side, GLOBAL const double *buffer,
 long at)
{
    struct face f = face_of(zones, zone, side, 0);
    if (GID(0) < f.along && GID(1) < f.across && GID(2) < 5)
        u[f.at + GID(2) * f.field + GID(1) * f.plane + GID(0) * f.step] =
            buffer[at + ((long)GID(2) * f.across + GID(1)) * f.along + GID(0)];
}
