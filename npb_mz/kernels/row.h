/* npb_mz/kernels/row.h – the table of zones that the host passes to kernels, in plain C for both.
 *
 * A launch serves a batch of zones of any size. Each zone gets as many work-groups as its points,
 * lines or runs fill, so that no lane idles because of a narrow zone. */
#ifndef NPB_MZ_KERNELS_ROW_H
#define NPB_MZ_KERNELS_ROW_H

/* What the work-items of a launch stand for, and the number of an item within its zone. */
enum zone_grid {
    ZONE_POINTS,  /* points, two patches of a plane in a group: zone_point() */
    ZONE_LINES_X, /* interior lines along x: j-1 + (ny-2)*(k-1) */
    ZONE_LINES_Y, /* along y: i-1 + (nx-2)*(k-1) */
    ZONE_LINES_Z, /* along z: i-1 + (nx-2)*(j-1) */
    ZONE_FACES,   /* points along the longest face, times five components, times interior planes */
    ZONE_RUNS,    /* tiles along x, one in each interior plane: i/ZONE_TILE + tiles*(k-1) */
    ZONE_GRIDS,
    /* For zones of equal size, not in the table: */
    ZONE_BLOCKS = ZONE_GRIDS, /* blocks of lines along x, in groups of BLOCK_GROUP */
    ZONE_BLOCK_POINTS /* their points, in groups of BLOCK_SLOTS: four lines, rows of points */
};

enum {
    ZONE_GROUP = 64, /* items of a work-group, in most kernels */
    ZONE_TILE = 4,   /* points of a tile of w and derived variables: a 32-byte sector */
    ZONE_PRIMS = 6,  /* derived variables per point, at most */
    ZONE_WIDE = 8,
    ZONE_HIGH = 4,     /* points of a patch along x and y, together half a group */
    FACES_EACH = 8,    /* numbers that an item copies of a face */
    BLOCK_GROUP = 288, /* items of a block's work-group: local memory of 45 KiB; */
    BLOCK_SLOTS = 128, /* of its points' */
    BLOCK_HIGH = 32,   /* most lines of a block along z, */
    BLOCK_WIDE = 8,    /* least along y if there are as many: both bound the mail */
    BLOCK_MAIL = 1,    /* doubles of mail between blocks per point, at most */
    ZONE_GAP = 40      /* doubles of padding behind each component of a zone: keeps the five
                           components of a point in different cache sets */
};

/* One row per zone, and one behind the last with the totals. A zone's part of u begins
 * MZ_VARS*place doubles into it, its part of the forcing MZ_VARS*forced. */
struct zone_row {
    long place, forced; /* on the device, points; -1: not there */
    long before;        /* points of all zones before this one, padding included */
    int nx, ny, nz, pitch;
    int groups[ZONE_GRIDS]; /* work-groups of all zones before this one */
};

#endif
