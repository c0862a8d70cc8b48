/* npb_mz/kernels/zone.h – how kernels find their zone.
 *
 * Kernels take a table of zones, five longs each: nx ny nz pitch first, and work on the zones
 * zone0 + GID(2): so one launch serves a whole batch. `first` counts points: a zone's part of a
 * field of c components begins at c*first. */
#ifndef NPB_MZ_KERNELS_ZONE_H
#define NPB_MZ_KERNELS_ZONE_H

struct zone {
    int nx, ny, nz;
    long first, pitch, plane, field;
};

FN struct zone zone_at(GLOBAL const long *zones, int number)
{
    struct zone z;
    z.nx = (int)zones[5 * number];
    z.ny = (int)zones[5 * number + 1];
    z.nz = (int)zones[5 * number + 2];
    z.pitch = zones[5 * number + 3];
    z.first = zones[5 * number + 4];
    z.plane = z.pitch * z.ny;
    z.field = z.plane * z.nz;
    return z;
}

#endif
