/* cu/unit/tune_layout.c – a point is {CPU units, cores of each, set of devices, feeding threads of
 * each device minus one}. */
#include "cu/unit/tune_layout.h"

enum { UNITS, WIDTH, DEVICES, MORE };

/* Changes of the number of units, from large to small, and of their width. */
static const struct {
    int units[2], width[2]; /* as fractions */
} changes[] = {
    {{1, 2}, {2, 1}},        {{2, 1}, {1, 2}},         {{1, 2}, {1, 1}}, {{3, 4}, {1, 1}},
    {{7, 8}, {1, 1}},        {{2, 1}, {1, 1}},         {{4, 3}, {1, 1}}, {{8, 7}, {1, 1}},
    {{9999, 10000}, {1, 1}}, {{10001, 10000}, {1, 1}}, /* by one unit: fine */
};
enum { CHANGES = sizeof changes / sizeof *changes, COARSE = CHANGES - 2 };

static int count(unsigned set)
{
    return __builtin_popcount(set);
}

/* Most units of this width that leave the devices' threads their cores, if these are kept. */
static int most_units(const struct tune_room *room, int width, const struct tune_point *p)
{
    const int n = count((unsigned)p->x[DEVICES]);
    const int cores = room->cores - (room->keeps ? n * (1 + p->x[MORE]) : 0);
    return cores > 0 ? cores / width : 0;
}

struct cu_layout tune_layout_of(const struct tune_point *point, unsigned *devices)
{
    *devices = (unsigned)point->x[DEVICES];
    return (struct cu_layout){point->x[UNITS], point->x[UNITS] ? point->x[WIDTH] : 0,
                              count(*devices), *devices > 0 ? 1 + point->x[MORE] : 0};
}

struct tune_point tune_layout_first(const struct tune_room *room)
{
    struct tune_point p = {{[WIDTH] = room->width, [DEVICES] = (1 << room->ndev) - 1}};
    p.x[UNITS] = most_units(room, room->width, &p);
    return p;
}

int tune_layout_moves(const struct tune_room *room)
{
    return 2 * room->ndev + 4 + (room->fine ? CHANGES : COARSE);
}

/* Adds or removes a device. With `refill`, units that filled all cores fill the remaining ones. */
static bool toggle(const struct tune_room *room, int device, bool refill,
                   const struct tune_point *from, struct tune_point *to)
{
    const int width = from->x[WIDTH];
    to->x[DEVICES] = from->x[DEVICES] ^ (1 << device);
    if (!to->x[DEVICES])
        to->x[MORE] = 0;
    if (refill && from->x[UNITS] == most_units(room, width, from))
        to->x[UNITS] = most_units(room, width, to);
    return to->x[UNITS] || to->x[DEVICES];
}

/* Changes x by at least one, so that small numbers change, too. */
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
    if (widens && from->x[UNITS] == most_units(room, from->x[WIDTH], from))
        to->x[UNITS] = to->x[WIDTH] ? most_units(room, to->x[WIDTH], to) : 0;
    if (widens && to->x[UNITS] == 0) /* then one unit shares a core with a device's thread */
        to->x[UNITS] = 1;
    return !(widens && (room->rigid || !from->x[UNITS])) && to->x[WIDTH] > 0 && to->x[UNITS] > 0 &&
           to->x[UNITS] * to->x[WIDTH] <= room->cores;
}

/* As many units of the preferred width as there is room for. */
static bool prefer(const struct tune_room *room, const struct tune_point *from,
                   struct tune_point *to)
{
    if (room->rigid || !room->preferred || room->preferred == from->x[WIDTH])
        return false;
    to->x[WIDTH] = room->preferred;
    to->x[UNITS] = most_units(room, room->preferred, to);
    return to->x[UNITS] > 0;
}

/* Doubles or halves the threads that feed each device; units get the remaining cores. */
static bool feed(const struct tune_room *room, bool more, const struct tune_point *from,
                 struct tune_point *to)
{
    const int n = count((unsigned)from->x[DEVICES]), feeders = 1 + from->x[MORE];
    to->x[MORE] = (more ? 2 * feeders : feeders / 2) - 1;
    if (!room->keeps || !n || to->x[MORE] < 0 || n * (1 + to->x[MORE]) > room->cores)
        return false;
    const int most = from->x[UNITS] ? most_units(room, from->x[WIDTH], to) : 0;
    if (from->x[UNITS] > most || from->x[UNITS] == most_units(room, from->x[WIDTH], from))
        to->x[UNITS] = most;
    return true;
}

/* Devices alone. */
static bool park_all(const struct tune_room *room, const struct tune_point *from,
                     struct tune_point *to)
{
    to->x[UNITS] = 0;
    to->x[WIDTH] = room->width;
    return from->x[UNITS] > 0 && from->x[DEVICES];
}

static bool move(const struct tune_room *room, int m, const struct tune_point *from,
                 struct tune_point *to)
{
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
    if (m < 2)
        return feed(room, m == 0, from, to);
    m -= 2;
    return m == 0 ? prefer(room, from, to) : change(room, m - 1, from, to);
}

/* A device's only thread may share a core with a unit; several may not. */
static bool has_room(const struct tune_room *room, const struct tune_point *p)
{
    const int feeding = count((unsigned)p->x[DEVICES]) * (1 + p->x[MORE]);
    return !p->x[MORE] || p->x[UNITS] * p->x[WIDTH] + feeding <= room->cores;
}

bool tune_layout_move(const void *ctx, int m, const struct tune_point *from, struct tune_point *to)
{
    return move(ctx, m, from, to) && has_room(ctx, to);
}
