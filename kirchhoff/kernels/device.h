/* kirchhoff/kernels/device.h – what a batch of traces consists of, for the kernels and for the host
 * that fills it. Members take four bytes each, so all compilers lay these structs out alike. */
#ifndef KIRCHHOFF_KERNELS_DEVICE_H
#define KIRCHHOFF_KERNELS_DEVICE_H

enum { TRAVELTIME_CORNERS = 4 };

/* The nodes around a place, their weights, and the vector (dx, dy) from each to the place, m;
 * `from`: vector from the place, at the surface, to the tables' first grid node, m. */
struct traveltime_corners {
    int n, node[TRAVELTIME_CORNERS];
    float weight[TRAVELTIME_CORNERS], dx[TRAVELTIME_CORNERS], dy[TRAVELTIME_CORNERS], from[3];
};

/* A source or receiver. */
struct nodes_end {
    struct traveltime_corners corners;
    float scale, emergence, spacing[2]; /* as in kernels/migrate.h; m */
    float datum;                        /* depth below the tables' sources, m */
    float midway, square, turn;         /* arguments of migrate_lower() for that depth */
    int weight;                         /* WEIGHT_… */
    /* On a device: where the corners' tables are; least and largest x, then y, of midpoints. */
    int slot[TRAVELTIME_CORNERS];
    float box[4];
};

struct batch_trace {
    int source, receiver; /* numbers of its ends */
    int gather;           /* offset class */
    float start;          /* added to a time, in samples, to get its position in a level */
    float first;          /* first sample that counts: the trace's first, or its mute's end */
    float last;           /* the trace's last sample */
    float mx, my; /* midpoint from the image's first column, m; far away if it has no signal */
};

/* Sizes and strides of image and tables. Arrays `cells` and `parts` have axis x, axis y and the
 * nodes in turn; `parts` goes on with the `way` of each axis (struct nodes_plan), and with
 * `places`: x of columns and y of columns, from the image's first, aperture and its taper at each
 * depth down to the last node. */
struct migrate_shape {
    int nx, ny, nz;       /* image columns; depths of a column, whole blocks */
    int nodes, fine, end; /* of a row; depths with nodes of their own; as in struct nodes_plan */
    int depths, rows;     /* of a table: depths of a column, columns along y */
    int columns;          /* of a table */
    int stride[2];        /* from a table's column to the next along x, y; 0: there is one */
    int levels, level_stride; /* samples of a level */
    float step[3], beyond;    /* of the tables, m; as in struct nodes_plan */
};

enum { CLEAR_SPAN = 64 }; /* numbers that one work-item sets to 0 */

#endif
