/* kirchhoff/kernels/device.h – how batches lie in a device's buffers: rows of ints and floats, for
 * the kernels and for the host that fills them. */

/* An end: slots of up to four tables, their number, role of its weight; then weights, ways from the
 * tables' sources, scale, 1/v^2, spacings, depth below the tables' sources and v there
 * (nodes.h). */
enum { END_SLOT = 0, END_CORNERS = 4, END_WEIGHT = 5, END_INTS = 6 };
enum {
    END_W = 0,
    END_DX = 4,
    END_DY = 8,
    END_SCALE = 12,
    END_EMERGENCE = 13,
    END_SPACING = 14,
    END_DATUM = 16,
    END_MIDWAY = 17,
    END_SQUARE = 18,
    END_TURN = 19,
    END_BOX = 20,  /* least and largest x and y of its traces' midpoints */
    END_FROM = 24, /* the way to the tables' first node */
    END_FLOATS = 28
};

enum { TRACE_SOURCE, TRACE_RECEIVER, TRACE_CLASS, TRACE_INTS };
enum { TRACE_START, TRACE_FIRST, TRACE_MX, TRACE_MY, TRACE_FLOATS };

/* Sizes. Cells and parts of axes x, y and of the nodes follow one another; behind the parts
 * stand the tables' steps, how far the end's node lies, and the ways of struct nodes_axis. Places:
 * x of columns, y of columns, reach and taper of nodes. */
enum {
    SHAPE_IMAGE_X, /* columns */
    SHAPE_IMAGE_Y,
    SHAPE_IMAGE_Z, /* depths of a column, whole blocks */
    SHAPE_NODES,
    SHAPE_DEPTHS, /* of the tables */
    SHAPE_NY,
    SHAPE_COLUMNS,  /* of a table */
    SHAPE_STRIDE_X, /* of the tables' columns */
    SHAPE_STRIDE_Y,
    SHAPE_LEVELS,
    SHAPE_STRIDE, /* samples of a level */
    SHAPE_STEPS,  /* where the tables' steps stand */
    SHAPE_END,    /* that node (struct nodes_plan) */
    SHAPE_FINE,   /* depths with nodes of their own */
    SHAPE_COUNT
};

enum { CLEAR_SPAN = 64 }; /* numbers that one item sets to 0 */
