/* okada_mogi/kernels/join.c – finds the rows of a table of predictions near given targets.
 *
 * v: columns [ncolumns][room] of the table in single precision; cell: first row of each cell of
 * columns 0 and 1, which `division` divides; within a cell rows ascend by column 2, if there is
 * one. target: [ncolumns][targets], of which the first ntargets are in use. JOIN_ITEMS neighbouring
 * items look up one target: neighbours read neighbouring rows. They add to found[0], which is 0,
 * the number of rows found, and append each with its target, in any order, as two ints. There is
 * room for `most`: an item that finds no room ends, so that the number cannot overflow. */
#include "okada_mogi/kernels/join.h"

FN long join_lower_bound(GLOBAL const float *v, long begin, long end, double value)
{
    while (begin < end) {
        const long middle = begin + (end - begin) / 2;
        if (v[middle] < value)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Half a window, with room for the table's rounding; slack: the column's. */
FN double join_width(double target, double reach, double slack)
{
    return reach * (1.0 + 1e-6) + 2.5e-7 * (fabs(target) + reach) + slack;
}

/* Cell of a value. division: first value, width and number of the cells. */
FN int join_cell(double value, GLOBAL const double *division)
{
    const double at = (value - division[0]) / division[1];
    return at > 0.0 ? (int)(at < division[2] - 1.0 ? at : division[2] - 1.0) : 0;
}

/* Whether the row is within reach of the target in every column. */
FN int join_within(GLOBAL const float *v, long room, int ncolumns, long row,
                   GLOBAL const double *target, int targets, int item, double reach,
                   GLOBAL const double *slack)
{
    for (int c = 0; c < ncolumns; c++) {
        const double middle = target[(long)c * targets + item];
        const double d = (double)v[c * room + row] - middle;
        if (!(fabs(d) <= join_width(middle, reach, slack[c])))
            return 0;
    }
    return 1;
}

/* First row of a target's window in a cell. */
FN long join_begin(GLOBAL const float *v, GLOBAL const long *cell, double low, int sorted)
{
    return sorted ? join_lower_bound(v, cell[0], cell[1], low) : cell[0];
}

KERNEL(join_find, 64, 1, 1)
(GLOBAL const float *v, long room, int ncolumns, GLOBAL const long *cell,
 GLOBAL const double *division, GLOBAL const double *target, int targets, int ntargets,
 double reach, GLOBAL const double *slack, int most, GLOBAL int *found)
{
    const int item = GID(0) / JOIN_ITEMS, lane = GID(0) % JOIN_ITEMS;
    if (item >= ntargets)
        return;
    const int sorted = ncolumns > 2;
    const double t2 = sorted ? target[2 * (long)targets + item] : 0.0;
    const double w2 = join_width(t2, reach, sorted ? slack[2] : 0.0);
    int begin[2], end[2];
    for (int c = 0; c < 2; c++) {
        const double t = c < ncolumns ? target[(long)c * targets + item] : 0.0;
        const double w = join_width(t, reach, c < ncolumns ? slack[c] : 0.0);
        begin[c] = join_cell(t - w, division + 3 * c);
        end[c] = join_cell(t + w, division + 3 * c);
    }
    for (int i = begin[0]; i <= end[0]; i++)
        for (int k = begin[1]; k <= end[1]; k++) {
            GLOBAL const long *at = cell + (long)i * (int)division[5] + k;
            long row = join_begin(v + 2 * sorted * room, at, t2 - w2, sorted) + lane;
            for (; row < at[1] && !(sorted && v[2 * room + row] > t2 + w2); row += JOIN_ITEMS)
                if (join_within(v, room, ncolumns, row, target, targets, item, reach, slack)) {
                    const int n = ATOMIC_ADD(found, 1);
                    if (n >= most)
                        return;
                    found[1 + 2 * n] = item;
                    found[2 + 2 * n] = (int)row;
                }
        }
}
