/* npb_mz/kernels/zone.h – which zone, and which point or line of it, a work-item works on. */
#ifndef NPB_MZ_KERNELS_ZONE_H
#define NPB_MZ_KERNELS_ZONE_H

#include "npb_mz/kernels/row.h"

struct zone {
    int item; /* see enum zone_grid */
    int nx, ny, nz;
    int pitch, plane, field; /* strides of j, k and a component */
    long first, forced;      /* points before it in u and in the forcing */
    long batch;              /* points before it in w, derived variables and scratch of the batch */
};

FN struct zone zone_at(GLOBAL const struct zone_row *rows, int number)
{
    struct zone z;
    z.item = 0;
    z.nx = rows[number].nx;
    z.ny = rows[number].ny;
    z.nz = rows[number].nz;
    z.pitch = rows[number].pitch;
    z.first = rows[number].place;
    z.forced = rows[number].forced;
    z.batch = rows[number].before;
    z.plane = z.pitch * z.ny;
    z.field = z.plane * z.nz + ZONE_GAP;
    return z;
}

/* The zone and item of this work-item in a launch over the zones zone0 .. zone0+nzones-1. The last
 * zones come first: they are the largest in BT, and a launch should not end with its longest lines.
 * Zones of equal size are found with the first guess, others by bisection. */
FN struct zone zone_of(GLOBAL const struct zone_row *rows, int zone0, int nzones, int grid)
{
    const int before = rows[zone0].groups[grid], all = rows[zone0 + nzones].groups[grid] - before;
    const int group = before + all - 1 - GROUP(0);
    int low = zone0, high = zone0 + nzones, guess;
    for (guess = zone0 + (int)((long)(group - before) * nzones / all); high - low > 1;
         guess = (low + high) / 2) {
        if (rows[guess].groups[grid] > group)
            high = guess;
        else if (rows[guess + 1].groups[grid] > group)
            low = guess, high = guess + 1;
        else
            low = guess + 1;
    }
    struct zone z = zone_at(rows, low);
    z.batch -= rows[zone0].before;
    z.item = ZONE_GROUP * (group - rows[low].groups[grid]) + LID(0);
    return z;
}

/* Offset of point (i, j, k) in w and in derived variables: rows are cut into tiles of ZONE_TILE
 * points; the tiles of all rows of a plane with the same i follow one another. Work-items along x
 * read whole tiles. Work-items that each follow an x line of their own find the tiles of
 * neighbouring lines side by side, a stretch of memory that serves ZONE_TILE nodes; in plain rows
 * each item would load a cache line for every number. */
FN int zone_tile(struct zone z, int i, int j, int k)
{
    return k * z.plane + (i / ZONE_TILE * z.ny + j) * ZONE_TILE + i % ZONE_TILE;
}

/* A point. */
struct zone_point {
    int i, j, k;
    int at, tile;          /* offset in u, in w */
    int outside, interior; /* beyond the zone; neither that nor on the boundary */
};

/* A group has two patches, as a rule side by side: neighbours are read from cache, and whole tiles
 * are written side by side. Sixteen items in a row go along x, eight in each patch. */
FN struct zone_point zone_point(struct zone z)
{
    const int wide = (z.nx + ZONE_WIDE - 1) / ZONE_WIDE, high = (z.ny + ZONE_HIGH - 1) / ZONE_HIGH;
    const int group = z.item / ZONE_GROUP, in = z.item % ZONE_GROUP;
    const int patch = 2 * group + in / ZONE_WIDE % 2, row = patch / wide;
    struct zone_point p;
    p.i = (patch - row * wide) * ZONE_WIDE + in % ZONE_WIDE;
    p.j = row % high * ZONE_HIGH + in / (2 * ZONE_WIDE);
    p.k = row / high;
    p.at = p.i + p.j * z.pitch + p.k * z.plane;
    p.tile = zone_tile(z, p.i, p.j, p.k);
    p.outside = p.i >= z.nx || p.j >= z.ny || p.k >= z.nz;
    p.interior = !p.outside && p.i > 0 && p.i < z.nx - 1 && p.j > 0 && p.j < z.ny - 1 && p.k > 0 &&
                 p.k < z.nz - 1;
    return p;
}

/* A line along an axis. */
struct zone_line {
    int at, step, tile; /* in w: offset of its first point, steps as in line.h */
    int points, lines;  /* points of the line; interior lines of the zone along this axis */
    int stride;         /* doubles from one number of each line to the next number in scratch */
    int first, plane;   /* in u, for z lines: offset of its first point, step */
};

FN struct zone_line zone_line(struct zone z, int axis)
{
    struct zone_line l;
    const int across = (axis == 0 ? z.ny : z.nx) - 2;
    const int a = 1 + z.item % across, b = 1 + z.item / across;
    l.at = axis == 0   ? zone_tile(z, 0, a, b)
           : axis == 1 ? zone_tile(z, a, 0, b)
                       : zone_tile(z, a, b, 0);
    l.step = axis == 0 ? 1 : axis == 1 ? ZONE_TILE : z.plane;
    l.tile = ZONE_TILE * (axis == 0 ? z.ny : l.step);
    l.points = axis == 0 ? z.nx : axis == 1 ? z.ny : z.nz;
    l.lines = across * ((axis == 2 ? z.ny : z.nz) - 2);
    l.stride = (l.lines + 15) / 16 * 16; /* whole cache lines; still less than a plane across it */
    l.first = a + b * z.pitch;
    l.plane = z.plane;
    return l;
}

#endif
