/* kirchhoff/kernels/device.h – layout of batches in a device's buffers, rows of ints and floats:
 * for the kernels and for the host, which fills them. */

/* An end. Ints: slots of up to four tables, how many, kind of weight (WEIGHT_…). Floats: weights of
 * the tables, x and y from their sources, m, then as in struct nodes_end. */
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
    END_BOX = 20,  /* bounds of its traces' midpoints: least and largest x, then y */
    END_FROM = 24, /* vector to the tables' first node */
    END_FLOATS = 28
};

enum { TRACE_SOURCE, TRACE_RECEIVER, TRACE_CLASS, TRACE_INTS };
enum { TRACE_START, TRACE_FIRST, TRACE_LAST, TRACE_MX, TRACE_MY, TRACE_FLOATS };

/* Sizes. `cells` and `parts` have axis x, axis y and the nodes in turn; `parts` goes on with
 * `step`, `beyond` and the `way` of each axis (struct nodes_plan). `places`: x of columns, y of
 * columns, aperture and its taper at each depth down to the last node. */
enum {
    SHAPE_IMAGE_X, /* image columns along x */
    SHAPE_IMAGE_Y,
    SHAPE_IMAGE_Z, /* depths of a column, whole blocks */
    SHAPE_NODES,
    SHAPE_DEPTHS,   /* nodes of a table's column */
    SHAPE_NY,       /* columns of a table along y */
    SHAPE_COLUMNS,  /* columns of a table */
    SHAPE_STRIDE_X, /* from a table's column to the next along x; 0: there is one */
    SHAPE_STRIDE_Y,
    SHAPE_LEVELS,
    SHAPE_STRIDE, /* samples of a level */
    SHAPE_STEPS,  /* index of the tables' steps in parts */
    SHAPE_END,    /* `end` of struct nodes_plan */
    SHAPE_FINE,   /* depths with nodes of their own */
    SHAPE_COUNT
};

enum { CLEAR_SPAN = 64 }; /* numbers that one work-item sets to 0 */
