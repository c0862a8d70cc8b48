/* npb_mz/zones.c – finds solvers by name; sizes, offsets and neighbours of the zones. */
#include "npb_mz/mz.h"

const struct mz_ops *mz_find(const char *name)
{
    for (int i = 0; mz_at(i); i++)
        if (!strcmp(mz_at(i)->name, name))
            return mz_at(i);
    return NULL;
}

void mz_zone_sizes(int points, int zones, double ratio, int *size)
{
    const bool grows = zones > 1 && fabs(ratio - 1.0) > 1e-10;
    const double r = grows ? pow(ratio, 1.0 / (zones - 1)) : 1.0;
    const double smallest = grows ? points * (r - 1.0) / (pow(r, zones) - 1.0) : 0.0;
    for (int i = 1, before = 0; i <= zones; i++) {
        int end = (int)((long)i * points / zones);
        /* 0.45 instead of 0.5, as in the reference: with it the sizes never decrease */
        if (grows)
            end = (int)(smallest * (pow(r, i) - 1.0) / (r - 1.0) + 0.45);
        size[i - 1] = end - before;
        before = end;
    }
}

static double ratio_of(const struct mz_ops *ops, char letter)
{
    return letter == 'S' ? ops->ratio_s : ops->ratio;
}

static int round_up(int n, int unit)
{
    return (n + unit - 1) / unit * unit;
}

int mz_zones_along(const struct mz_ops *ops, const struct mz_mesh *mesh, int d)
{
    return d == 2 ? 1 : ops->zones[d] ? ops->zones[d] : mesh->zones[d];
}

/* Doubles from row to row. If planes were a multiple of 2 KiB apart, the neighbours in z of a point
 * would compete for the same few cache sets; such rows get one more vector. */
static int pitch_of(int nx, int ny)
{
    const int pitch = round_up(nx, ZONES_ALIGN);
    return (long)pitch * ny % 256 ? pitch : pitch + ZONES_ALIGN;
}

struct zones_size zones_layout(const struct mz_ops *ops, const struct mz_mesh *mesh,
                               struct mz_zone *zone)
{
    const int X = mz_zones_along(ops, mesh, 0), Y = mz_zones_along(ops, mesh, 1);
    int nx[ZONES_MAX], ny[ZONES_MAX];
    struct zones_size sum = {0};
    mz_zone_sizes(mesh->points[0], X, ratio_of(ops, mesh->letter), nx);
    mz_zone_sizes(mesh->points[1], Y, ratio_of(ops, mesh->letter), ny);
    const bool equal = nx[0] == nx[X - 1] && ny[0] == ny[Y - 1]; /* sizes never decrease */
    for (int y = 0; y < Y; y++)
        for (int x = 0; x < X; x++) {
            struct mz_zone z = {.nx = nx[x], .ny = ny[y], .nz = mesh->points[2]};
            z.pitch = pitch_of(z.nx, z.ny);
            z.plane = (long)z.pitch * z.ny;
            z.volume = z.plane * z.nz + ZONE_GAP;
            z.first = sum.points;
            z.forced = equal ? 0 : sum.points;
            z.carried = sum.carried;
            z.walls = sum.walls;
            z.neighbour[MZ_WEST] = y * X + (x + X - 1) % X;
            z.neighbour[MZ_EAST] = y * X + (x + 1) % X;
            z.neighbour[MZ_SOUTH] = (y + Y - 1) % Y * X + x;
            z.neighbour[MZ_NORTH] = (y + 1) % Y * X + x;
            sum.points += z.volume;
            sum.forced = equal ? z.volume : sum.points;
            sum.carried += (long)mz_carried(ops, &z);
            sum.walls += mz_walls_size(&z);
            if (zone)
                zone[y * X + x] = z;
        }
    return sum;
}

size_t mz_bytes(const struct mz_ops *ops, const struct mz_mesh *mesh)
{
    const struct zones_size size = zones_layout(ops, mesh, NULL);
    return sizeof(double) *
           (size_t)(MZ_VARS * (size.points + size.forced) + size.carried + size.walls);
}

double mz_zone_mop(const struct mz *mz, int zone)
{
    const struct mz_zone *z = &mz->zone[zone];
    const double x = z->nx, y = z->ny, t = z->nz, *c = mz->ops->work;
    return 1e-6 *
           (c[0] * x * y * t + c[1] * (x * y + x * t + y * t) / 3 + c[2] * (x + y + t) / 3 + c[3]);
}

double mz_mop(const struct mz *mz)
{
    double sum = 0.0;
    for (int z = 0; z < mz->nzones; z++)
        sum += mz_zone_mop(mz, z);
    return sum * mz->class->steps;
}

/* Work-items of a zone in a launch over a grid. */
static int items(const struct mz_zone *z, enum zone_grid grid)
{
    const int nx = z->nx - 2, ny = z->ny - 2, nz = z->nz - 2;
    const int wide = (z->nx + ZONE_WIDE - 1) / ZONE_WIDE,
              high = (z->ny + ZONE_HIGH - 1) / ZONE_HIGH;
    const int table[ZONE_GRIDS] = {[ZONE_POINTS] = wide * high * z->nz * ZONE_WIDE * ZONE_HIGH,
                                   [ZONE_LINES_X] = ny * nz,
                                   [ZONE_LINES_Y] = nx * nz,
                                   [ZONE_LINES_Z] = nx * ny,
                                   [ZONE_FACES] = (nx > ny ? nx : ny) * MZ_VARS * nz,
                                   [ZONE_RUNS] = (nx / ZONE_TILE + 1) * nz};
    return table[grid];
}

void mz_zone_rows(const struct mz *mz, struct zone_row *rows)
{
    struct zone_row row = {0};
    for (int i = 0; i < mz->nzones; i++) {
        const struct mz_zone *z = &mz->zone[i];
        row.place = row.forced = -1;
        row.before = z->first;
        row.nx = z->nx;
        row.ny = z->ny;
        row.nz = z->nz;
        row.pitch = z->pitch;
        rows[i] = row;
        for (int g = 0; g < ZONE_GRIDS; g++)
            row.groups[g] += (items(z, g) + ZONE_GROUP - 1) / ZONE_GROUP;
    }
    row.before = mz->points;
    rows[mz->nzones] = row;
}

size_t mz_carried(const struct mz_ops *ops, const struct mz_zone *zone)
{
    return ops->carried ? ops->carried(zone) : 0;
}
