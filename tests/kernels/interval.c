/* tests/kernels/interval.c – the rule of intervals as devices compile it. */
#include "okada_mogi/kernels/interval.h"

/* row: g, low, high, least, most; narrowed: least, most. */
KERNEL(interval_narrow_rows, 64, 1, 1)(GLOBAL const double *row, int rows, GLOBAL double *narrowed)
{
    const int i = GID(0);
    if (i >= rows)
        return;
    real least = row[5 * i + 3], most = row[5 * i + 4];
    interval_narrow(row[5 * i], row[5 * i + 1], row[5 * i + 2], &least, &most);
    narrowed[2 * i] = least;
    narrowed[2 * i + 1] = most;
}
