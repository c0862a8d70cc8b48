/* npb_mz/kernels/row.h – what the host tells kernels of its zones: plain C for both sides.
 *
 * A launch serves a batch of zones of any size. Its work-groups are dealt to the zones: each gets
 * as many as its points, lines or runs fill, so that no lane waits beside a narrow zone. */
#ifndef NPB_MZ_KERNELS_ROW_H
#define NPB_MZ_KERNELS_ROW_H

/* What the items of a launch are, and an item's number in its zone. */
enum zone_grid {
    ZONE_POINTS,  /* points in memory, padding included: i + pitch*(j + ny*k) */
    ZONE_LINES_X, /* interior lines along x: j-1 + (ny-2)*(k-1) */
    ZONE_LINES_Y, /* along y: i-1 + (nx-2)*(k-1) */
    ZONE_LINES_Z, /* along z: i-1 + (nx-2)*(j-1) */
    ZONE_FACES,   /* points along the longest face, times five components, times interior planes */
    ZONE_RUNS,    /* tiles along x, one in each interior plane: i/ZONE_TILE + tiles*(k-1) */
    ZONE_GRIDS
};

enum {
    ZONE_GROUP = 64, /* items of a work-group, in all kernels */
    ZONE_TILE = 4,   /* points of a tile of w and derived variables: a sector of memory */
    ZONE_PRIMS = 6,  /* derived variables a point, at most */
    ZONE_GAP = 40    /* doubles behind each component of a zone: keeps the five of a point in
                         different sets of the cache */
};

/* One for each zone and one behind the last, whose sums are those over all. A zone's part of a
 * field of c components begins c*place doubles into u, c*forced into the forcing. */
struct zone_row {
    long place, forced; /* where the zone lies on the device; -1: elsewhere */
    long before;        /* points of the zones before this one, padding included */
    int nx, ny, nz, pitch;
    int groups[ZONE_GRIDS]; /* of the zones before this one */
};

#endif
