/* tests/kernels/laws.c – small kernels for the laws that every back end keeps. */

CONSTANT double laws_table[4] = {1.0, 0.5, 0.25, 0.125};

FN double laws_poly(double x)
{
    return laws_table[0] + x * (laws_table[1] + x * (laws_table[2] + x * laws_table[3]));
}

/* Adds one to each of n cells: twice or never shows. */
KERNEL(laws_count, 64, 1, 1)(GLOBAL int *cell, int n)
{
    int i = GID(0);
    if (i < n)
        cell[i] = cell[i] + 1;
}

/* Each item of an nx * ny * nz grid writes its own three indices. */
KERNEL(laws_index, 4, 2, 2)(GLOBAL int *out, int nx, int ny, int nz)
{
    int x = GID(0), y = GID(1), z = GID(2);
    if (x < nx && y < ny && z < nz)
        out[(z * ny + y) * nx + x] = x + 1000 * y + 1000000 * z;
}

/* Local and group indices agree with the global ones. */
KERNEL(laws_group, 4, 2, 2)(GLOBAL int *out, int nx, int ny, int nz)
{
    int x = 4 * GROUP(0) + LID(0), y = 2 * GROUP(1) + LID(1), z = 2 * GROUP(2) + LID(2);
    if (x < nx && y < ny && z < nz)
        out[(z * ny + y) * nx + x] = x + 1000 * y + 1000000 * z;
}

/* Every type of argument, in an order that no alignment forgives. */
KERNEL(laws_arguments, 1, 1, 1)
(int i, GLOBAL double *out, long l, double d, GLOBAL const int *in, int j)
{
    out[0] = (double)i;
    out[1] = (double)(l / 1000000007L);
    out[2] = (double)(l % 1000000007L);
    out[3] = d;
    out[4] = (double)in[1];
    out[5] = (double)j;
}

/* y = a x + y and a chain of arithmetic that contraction would change. */
KERNEL(laws_arithmetic, 64, 1, 1)(GLOBAL const double *x, GLOBAL double *y, double a, int n)
{
    int i = GID(0);
    if (i < n) {
        double p = laws_poly(x[i]) / (1.0 + x[i] * x[i]);
        y[i] = a * x[i] + y[i] * p - sqrt(fabs(x[i] * y[i] - p));
    }
}

/* Writes `value` into cell[at], so that the order of kernels shows. */
KERNEL(laws_put, 1, 1, 1)(GLOBAL int *cell, int at, int value)
{
    cell[at] = value;
}

/* cell[to] = cell[from] + 1 after some work, so that whoever does not wait reads too early. */
KERNEL(laws_slow, 1, 1, 1)(GLOBAL int *cell, int from, int to, int turns)
{
    int v = cell[from];
    for (int t = 0; t < turns; t++)
        v = (v * 5 + t) & 0xffff;
    cell[to] = v;
}

/* Each of n items takes a number from cell[0] and leaves its own behind it there. */
KERNEL(laws_take, 64, 1, 1)(GLOBAL int *cell, int n)
{
    if (GID(0) < n)
        cell[1 + ATOMIC_ADD(cell, 1)] = GID(0);
}
