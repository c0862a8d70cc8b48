/* mcsem/kernels/table_plan.h – the format in which the host passes the tables of cells, and the
 * pairs to be read from them, to kernels/table.c. */
#ifndef MCSEM_KERNELS_TABLE_PLAN_H
#define MCSEM_KERNELS_TABLE_PLAN_H

/* Nodes of an interpolation in offset (SHARED_STENCIL), and the most in depth (SHARED_DEPTHS). */
#define TABLE_STENCIL 12
#define TABLE_DEPTHS  8

/* Integers of a cell: numbers of wavenumbers, nodes, depths of the source and of the receiver, and
 * used integrals; functions of the wavenumber that these need; offset and number of points of the
 * filter; offset of the earth's layers; offsets of the cell's numbers, and of its other integers;
 * offsets, in the room for results, of scratch memory and of what each kernel makes; most parts of
 * a view. */
#define TABLE_WAVES     0
#define TABLE_NODES     1
#define TABLE_SOURCES   2
#define TABLE_RECEIVERS 3
#define TABLE_USED      4
#define TABLE_FUNCTIONS 5
#define TABLE_FILTER    6
#define TABLE_TAPS      7
#define TABLE_LAYERS    8
#define TABLE_NUMBERS   9
#define TABLE_PLACES    10
#define TABLE_PLACE     11
#define TABLE_INTEGRALS 12
#define TABLE_VIEWS     13
#define TABLE_CHOICES   14
#define TABLE_SCRATCH   15
#define TABLE_REACH     16
#define TABLE_BASE      17
#define TABLE_SEEDS     18
#define TABLE_WEIGHTS   19
#define TABLE_ROWS      20
#define TABLE_MOST      21
#define TABLE_CELL      22

/* Numbers of a cell: nodes are evenly spaced in ln r + r / bend; its value at the first node; the
 * largest offset of a node; depths of the sources and of the receivers; then for each node its
 * offset and the place of its filter's shift (hankel_place()); parts of the views. */
#define TABLE_BEND     0
#define TABLE_SPACING  1
#define TABLE_ORIGIN   2
#define TABLE_LAST     3
#define TABLE_SOURCE   4
#define TABLE_RECEIVER (TABLE_SOURCE + TABLE_DEPTHS)
#define TABLE_NODE     (TABLE_RECEIVER + TABLE_DEPTHS)

/* Integers at TABLE_PLACES: for each node, the index of its first wavenumber.
 * At TABLE_PLACE: for the integrals of E, then of H, in the order of pair.h, the index of each
 * among those used, or -1. */
#define TABLE_E_INTEGRALS 6
#define TABLE_ALL         11
/* At TABLE_INTEGRALS, for each integral used: its function, the one to subtract or -1, the order of
 * J0 or J1, the power of the wavenumber. */
#define TABLE_FUNCTION 0
#define TABLE_LESS     1
#define TABLE_NU       2
#define TABLE_POWER    3
#define TABLE_INTEGRAL 4
/* At TABLE_VIEWS, for each view: EXACT_VIEW integers (exact_plan.h). */
/* At TABLE_CHOICES, for each view and function: which of field_weights it is, in that order, and
 * its sign; the mode; whether TE's V is taken without zhat. */
#define TABLE_WEIGHT 0
#define TABLE_SIGN   1
#define TABLE_TE     2
#define TABLE_PLAIN  3
#define TABLE_CHOICE 4

/* Doubles of a pair: its cell; its first element, the number of elements, and of those behind them
 * that its parts are added up from; whether it is H; the receiver's depth; the offset of its
 * interpolation weights; whether its elements are also another pair's, which comes first. */
#define TABLE_OF       0
#define TABLE_FIRST    1
#define TABLE_ELEMENTS 2
#define TABLE_POINTS   3
#define TABLE_MAGNETIC 4
#define TABLE_DEPTH    5
#define TABLE_AT       6
#define TABLE_COPY     7
#define TABLE_PAIR     8

/* Doubles of an element: its offset and the logarithm of it, the source's depth, its share, the
 * factors of its integrals. */
#define TABLE_R       0
#define TABLE_LN_R    1
#define TABLE_Z       2
#define TABLE_SHARE   3
#define TABLE_FACTORS 4
#define TABLE_ELEMENT (TABLE_FACTORS + TABLE_E_INTEGRALS)

/* Doubles of an element that a kernel adds: weights of nodes and of sources' depths, first node. */
#define TABLE_ALONG       0
#define TABLE_ACROSS      TABLE_STENCIL
#define TABLE_BEGIN       (TABLE_STENCIL + TABLE_DEPTHS)
#define TABLE_INTERPOLATE (TABLE_BEGIN + 1)

/* Nodes, and pairs, per work-item. */
#define TABLE_BLOCK 8
#define TABLE_GROUP 4

/* Doubles of scratch memory of a work-item: for a wavenumber's base, for a view of `parts`. */
#define TABLE_BASE_SCRATCH(layers) (12 * (layers))
#define TABLE_VIEW_SCRATCH(parts)  (8 * (parts))

#endif
