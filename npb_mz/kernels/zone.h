/* npb_mz/kernels/zone.h – what a work-item works on: its zone, and which point or line of it. */
#ifndef NPB_MZ_KERNELS_ZONE_H
#define NPB_MZ_KERNELS_ZONE_H

#include "npb_mz/kernels/row.h"

struct zone {
    int number, item; /* item: see enum zone_grid */
    int nx, ny, nz;
    int pitch, plane, field; /* strides of j, k and a component */
    long first;
};

FN struct zone zone_at(GLOBAL const struct zone_row *rows, int number)
{
    struct zone z;
    z.number = number;
    z.item = 0;
    z.nx = rows[number].nx;
    z.ny = rows[number].ny;
    z.nz = rows[number].nz;
    z.pitch = rows[number].pitch;
    z.first = rows[number].first;
    z.plane = z.pitch * z.ny;
    z.field = z.plane * z.nz;
    return z;
}

/* The zone and the item of this work-item in a launch over the zones zone0 .. zone0+nzones-1. Last
 * zones first: they are BT's largest, and a launch should not end with its longest lines. Zones of
 * equal size are found at the first guess, others by bisection. */
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
    z.item = ZONE_GROUP * (group - rows[low].groups[grid]) + LID(0);
    return z;
}

/* Doubles before a zone's part of a field of `components`. */
FN long zone_part(struct zone z, int components)
{
    return ZONE_LEAD + components * z.first;
}

/* A point in memory. */
struct zone_point {
    int at, i, j, k;
    int outside, interior; /* padding or behind the zone; neither that nor at a boundary */
};

FN struct zone_point zone_point(struct zone z)
{
    struct zone_point p;
    p.at = z.item + 1;
    p.i = p.at % z.pitch;
    p.j = p.at / z.pitch % z.ny;
    p.k = p.at / z.plane;
    p.outside = p.i >= z.nx || p.k >= z.nz;
    p.interior = !p.outside && p.i > 0 && p.i < z.nx - 1 && p.j > 0 && p.j < z.ny - 1 && p.k > 0 &&
                 p.k < z.nz - 1;
    return p;
}

/* A line of an axis: its first point, and the distances along it, in doubles of one component. */
struct zone_line {
    int at, step;
    int points, lines; /* of the line; interior lines of the zone along this axis */
};

FN struct zone_line zone_line(struct zone z, int axis)
{
    struct zone_line l;
    const int across = (axis == 0 ? z.ny : z.nx) - 2;
    const int a = 1 + z.item % across, b = 1 + z.item / across;
    l.at = axis == 0 ? a * z.pitch + b * z.plane : axis == 1 ? a + b * z.plane : a + b * z.pitch;
    l.step = axis == 0 ? 1 : axis == 1 ? z.pitch : z.plane;
    l.points = axis == 0 ? z.nx : axis == 1 ? z.ny : z.nz;
    l.lines = across * ((axis == 2 ? z.ny : z.nz) - 2);
    return l;
}

#endif
