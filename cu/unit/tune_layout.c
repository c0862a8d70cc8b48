/* cu/unit/tune_layout.c – points are {CPU units, cores of one, set of devices}. */
#include "cu/unit/tune_layout.h"

enum { UNITS, WIDTH, DEVICES };

/* Changes of the number of units, from great to small, and of their width. */
static const struct {
    int units[2], width[2]; /* times the first, divided by the second */
} changes[] = {
    {{1, 2}, {2, 1}},        {{2, 1}, {1, 2}},         {{1, 2}, {1, 1}}, {{3, 4}, {1, 1}},
    {{7, 8}, {1, 1}},        {{2, 1}, {1, 1}},         {{4, 3}, {1, 1}}, {{8, 7}, {1, 1}},
    {{9999, 10000}, {1, 1}}, {{10001, 10000}, {1, 1}}, /* by one: fine ones */
};
enum { CHANGES = sizeof changes / sizeof *changes, COARSE = CHANGES - 2 };

static int count(unsigned set)
{
    return __builtin_popcount(set);
}

/* As many units as leave the devices' threads their cores, where that is wanted. */
static int most_units(const struct tune_room *room, int width, unsigned devices)
{
    int cores = room->cores - (room->keeps ? count(devices) : 0);
    return cores > 0 ? cores / width : 0;
}

struct cu_layout tune_layout_of(const struct tune_point *point, unsigned *devices)
{
    *devices = (unsigned)point->x[DEVICES];
    return (struct cu_layout){point->x[UNITS], point->x[UNITS] ? point->x[WIDTH] : 0,
                              count(*devices), *devices > 0};
}

struct tune_point tune_layout_first(const struct tune_room *room)
{
    struct tune_point p = {{[WIDTH] = room->width, [DEVICES] = (1 << room->ndev) - 1}};
    p.x[UNITS] = most_units(room, room->width, (unsigned)p.x[DEVICES]);
    return p;
}

int tune_layout_moves(const struct tune_room *room)
{
    return 2 * room->ndev + 2 + (room->fine ? CHANGES : COARSE);
}

/* A device more or less. Where `refill`, units that filled the cores fill what is left of them. */
static bool toggle(const struct tune_room *room, int device, bool refill,
                   const struct tune_point *from, struct tune_point *to)
{
    const int width = from->x[WIDTH];
    const unsigned before = (unsigned)from->x[DEVICES];
    to->x[DEVICES] = from->x[DEVICES] ^ (1 << device);
    if (refill && from->x[UNITS] == most_units(room, width, before))
        to->x[UNITS] = most_units(room, width, (unsigned)to->x[DEVICES]);
    return to->x[UNITS] || to->x[DEVICES];
}

/* At least by one, so that small numbers change, too. */
static int scale(int x, const int ratio[2])
{
    int y = (x * ratio[0] + ratio[1] / 2) / ratio[1];
    if (y == x && ratio[0] != ratio[1])
        y += ratio[0] > ratio[1] ? 1 : -1;
    return y;
}

static bool change(const struct tune_room *room, int c, const struct tune_point *from,
                   struct tune_point *to)
{
    const bool widens = changes[c].width[0] != changes[c].width[1];
    to->x[WIDTH] = scale(from->x[WIDTH], changes[c].width);
    to->x[UNITS] = scale(from->x[UNITS], changes[c].units);
    if (widens && from->x[UNITS] == most_units(room, from->x[WIDTH], (unsigned)from->x[DEVICES]))
        to->x[UNITS] = to->x[WIDTH] ? most_units(room, to->x[WIDTH], (unsigned)to->x[DEVICES]) : 0;
    if (widens && to->x[UNITS] == 0) /* one unit that shares a core with a device's thread */
        to->x[UNITS] = 1;
    return !(widens && (room->rigid || !from->x[UNITS])) && to->x[WIDTH] > 0 && to->x[UNITS] > 0 &&
           to->x[UNITS] * to->x[WIDTH] <= room->cores;
}

/* As many units of the proposed width as there is room for. */
static bool prefer(const struct tune_room *room, const struct tune_point *from,
                   struct tune_point *to)
{
    if (room->rigid || !room->preferred || room->preferred == from->x[WIDTH])
        return false;
    to->x[WIDTH] = room->preferred;
    to->x[UNITS] = most_units(room, room->preferred, (unsigned)from->x[DEVICES]);
    return to->x[UNITS] > 0;
}

/* Devices alone. */
static bool park_all(const struct tune_room *room, const struct tune_point *from,
                     struct tune_point *to)
{
    to->x[UNITS] = 0;
    to->x[WIDTH] = room->width;
    return from->x[UNITS] > 0 && from->x[DEVICES];
}

bool tune_layout_move(const void *ctx, int m, const struct tune_point *from, struct tune_point *to)
{
    const struct tune_room *room = ctx;
    *to = *from;
    if (m < room->ndev)
        return toggle(room, m, true, from, to);
    m -= room->ndev;
    if (m == 0)
        return park_all(room, from, to);
    m -= 1;
    if (m < room->ndev)
        return toggle(room, m, false, from, to);
    m -= room->ndev;
    return m == 0 ? prefer(room, from, to) : change(room, m - 1, from, to);
}
