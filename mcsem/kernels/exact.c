/* mcsem/kernels/exact.c – exact mode on devices: one work-group per pair computes its weights; then
 * each work-item sums one strand of wavenumbers of one pair at one frequency. Build with
 * -DKERNEL_NO_FMA to get the host's bits. */
#include "mcsem/kernels/exact.h"

FN long exact_scratch(int item, int layers)
{
    return (long)(item / EXACT_BESIDE) * EXACT_BESIDE * exact_numbers(layers) + item % EXACT_BESIDE;
}

/* Index of a column of J among a case's sums: the field, then the sediments. */
FN int exact_number(int column, int sediments)
{
    return column ? sediments + column : 0;
}

FN int exact_least(int a, int b)
{
    return a < b ? a : b;
}

/* The weights of a level's functions for wavenumber k, `stride` apart: the sum of its points'
 * additions, in order. */
FN void exact_weigh(GLOBAL const double *series, int taps, GLOBAL const double *number,
                    GLOBAL const int *plan, GLOBAL const int *level, int k, double wave,
                    GLOBAL double *weight, int stride)
{
    double sum[EXACT_FUNCTIONS];
    int at = level[EXACT_FIRST];
    UNROLL
    for (int f = 0; f < EXACT_FUNCTIONS; f++)
        sum[f] = 0.0;
    for (int point = 0; point < level[EXACT_POINTS]; point++) {
        const int i = k - plan[at + EXACT_PLACES], n = plan[at + EXACT_ADDITIONS];
        GLOBAL const double *scale = number + plan[at + EXACT_SCALES];
        at += EXACT_POINT;
        if (i >= 0 && i < taps) {
            const double w0 = exact_tap(series, taps, i, scale[0]);
            const double w1 = exact_tap(series + EXACT_SHIFTS * taps, taps, i, scale[0]);
            for (int a = 0; a < n; a++) {
                const int what = plan[at + a];
                double x = scale[1 + a] * (EXACT_NU(what) ? w1 : w0);
                for (int power = 0; power < EXACT_POWER(what); power++)
                    x *= wave;
                UNROLL
                for (int f = 0; f < EXACT_FUNCTIONS; f++)
                    sum[f] += f == EXACT_FUNCTION(what) ? x : 0.0;
            }
        }
        at += n;
    }
    UNROLL
    for (int f = 0; f < EXACT_FUNCTIONS; f++)
        weight[f * stride] = sum[f];
}

/* Computes what pair_outline() leaves out: wavenumbers, weights at each level, deepest layers.
 * filters: for each the ladder of wavenumbers, then the series (hankel.h). Other arguments as
 * below. */
KERNEL(exact_plans, 64, 1, 1)
(GLOBAL const double *layers, int nlayers, GLOBAL const double *line, int nfreq,
 GLOBAL const double *filters, int ladder, GLOBAL const double *number, GLOBAL const int *plan,
 int npairs, GLOBAL double *weight, GLOBAL int *deepest)
{
    const int pair = GROUP(0);
    if (pair >= npairs)
        return;
    GLOBAL const int *row = plan + EXACT_PAIR * pair;
    GLOBAL const double *filter = filters + row[EXACT_FILTER];
    const int nwaves = row[EXACT_NWAVES];
    const double longest = number[row[EXACT_LONGEST]];
    for (int k = LID(0); k < nwaves; k += 64) {
        const double wave = filter[k] / longest;
        weight[row[EXACT_WAVES] + k] = wave;
        for (int n = 0; n < row[EXACT_NLEVELS]; n++) {
            GLOBAL const int *level = plan + row[EXACT_LEVELS] + EXACT_LEVEL * n;
            exact_weigh(filter + ladder, row[EXACT_TAPS], number, plan, level, k, wave,
                        weight + level[EXACT_WEIGHTS] + k, nwaves);
        }
    }
    for (int q = LID(0); q < nfreq; q += 64)
        exact_deepest(nlayers, row[EXACT_BASE], layers + row[EXACT_LAYERS], nwaves, filter, longest,
                      line[q], deepest + row[EXACT_DEEPEST] + q * (nwaves / EXACT_STRANDS));
}

/* Sums of all strands. layers: of all earths, nlayers each; line [frequencies]: w mu0; number,
 * plan: the pairs' plans; weight, deepest: from exact_plans(). */
KERNEL(exact_waves, 64, 1, 1)
(GLOBAL const double *layers, int nlayers, GLOBAL const double *line, int nfreq,
 GLOBAL const double *number, GLOBAL const int *plan, GLOBAL const double *weight,
 GLOBAL const int *deepest, int npairs, double alone, GLOBAL double *scratch)
{
    const int item = GID(0), strand = item % EXACT_STRANDS;
    const int pair = item / EXACT_STRANDS % npairs, q = item / EXACT_STRANDS / npairs;
    if (q >= nfreq)
        return;
    GLOBAL const int *row = plan + EXACT_PAIR * pair;
    const int nwaves = row[EXACT_NWAVES];
    GLOBAL const int *deep = deepest + row[EXACT_DEEPEST] + q * (nwaves / EXACT_STRANDS);
    GLOBAL const double *wave = weight + row[EXACT_WAVES];
    struct exact_plan p;
    struct field_room room;
    struct line_field at;
    p.number = number;
    p.weight = weight;
    p.level = plan + row[EXACT_LEVELS];
    p.nlevels = row[EXACT_NLEVELS];
    p.stride = nwaves;
    p.base = row[EXACT_BASE];
    p.magnetic = row[EXACT_MAGNETIC];
    room.sum = scratch + exact_scratch(item, nlayers);
    room.kept = room.sum + 2L * (1 + nlayers) * EXACT_BESIDE;
    room.part = room.kept + 8L * nlayers * EXACT_BESIDE;
    room.stride = EXACT_BESIDE;
    room.derive = row[EXACT_DERIVE];
    at.w = line[q];
    at.alone = alone;
    for (int i = 0; i < 2 * (1 + nlayers); i++)
        room.sum[i * EXACT_BESIDE] = 0.0;
    for (int k = strand; k < nwaves; k += EXACT_STRANDS) {
        at.l2 = wave[k] * wave[k];
        exact_wave(at, layers + row[EXACT_LAYERS], p, k, deep[k / EXACT_STRANDS], room);
    }
}

/* Adds up the strands: sum [pairs][frequencies][1 + layers][2], starting at pair `first`, and a
 * copy of the field alone, field [pairs][frequencies][2]. */
KERNEL(exact_sums, 64, 1, 1)
(GLOBAL const double *scratch, int nlayers, int nfreq, int npairs, int first, GLOBAL double *sum,
 GLOBAL double *field)
{
    const int numbers = 2 * (1 + nlayers);
    const int item = GID(0), number = item % numbers, nth = item / numbers;
    const int q = nth % nfreq, pair = nth / nfreq;
    const long at = (long)first * nfreq + nth;
    double s[EXACT_STRANDS];
    if (pair >= npairs)
        return;
    UNROLL
    for (int k = 0; k < EXACT_STRANDS; k++)
        s[k] = scratch[exact_scratch((q * npairs + pair) * EXACT_STRANDS + k, nlayers) +
                       (long)number * EXACT_BESIDE];
    UNROLL
    for (int k = 0; k < EXACT_STRANDS / 2; k++)
        s[k] += s[k + EXACT_STRANDS / 2];
    sum[at * numbers + number] = (s[0] + s[2]) + (s[1] + s[3]);
    if (number < 2)
        field[2 * at + number] = (s[0] + s[2]) + (s[1] + s[3]);
}

/* Turns the sums of cases first .. last-1 into rows of [r J] / sigma: weight [cases][EXACT_WEIGHT],
 * a case is a pair at a frequency; one work-item per column (the field, each derivative for the
 * sediments). */
KERNEL(exact_rows, 64, 1, 1)
(GLOBAL double *sum, int nlayers, int sediments, int first, int last, GLOBAL const double *weight)
{
    const int columns = 1 + nlayers - sediments, item = GID(0);
    const int c = item % columns, nth = first + item / columns;
    if (nth >= last)
        return;
    GLOBAL double *at = sum + 2 * ((long)nth * (1 + nlayers) + exact_number(c, sediments));
    GLOBAL const double *w = weight + (long)nth * EXACT_WEIGHT;
    const double loop = w[EXACT_LOOP_FACTOR];
    const double x = loop != 0.0 ? 0.0 - at[1] * loop : at[0];
    const double y = loop != 0.0 ? at[0] * loop : at[1];
    at[0] = c ? w[EXACT_HAS_RE] * (w[EXACT_RE] * x - w[EXACT_IM] * y) : w[EXACT_RESIDUAL_RE];
    at[1] = c ? w[EXACT_HAS_IM] * (w[EXACT_RE] * y + w[EXACT_IM] * x) : w[EXACT_RESIDUAL_IM];
}

/* J'W^2 J of two spans of pairs each, span [nspans][2][2] = first pair, number: lower triangles,
 * row by row. One work-item per tile; each element is a chain of fused operations over pairs,
 * frequencies, real and imaginary parts, in the order of matmul.h. */
KERNEL(exact_squares, 64, 1, 1)
(GLOBAL const double *row, int nlayers, int sediments, int nfreq, GLOBAL const int *span,
 int nspans, GLOBAL double *triangle)
{
    const int columns = 1 + nlayers - sediments, tiles = (columns + EXACT_TILE - 1) / EXACT_TILE;
    const int all = tiles * (tiles + 1) / 2, item = GID(0), nth = item / all;
    double sum[EXACT_TILE][EXACT_TILE];
    long down[EXACT_TILE], across[EXACT_TILE];
    int j = item % all, i = 0;
    if (nth >= nspans)
        return;
    while (j > i)
        j -= ++i;
    UNROLL
    for (int a = 0; a < EXACT_TILE; a++) {
        down[a] = 2L * exact_number(exact_least(EXACT_TILE * i + a, columns - 1), sediments);
        across[a] = 2L * exact_number(exact_least(EXACT_TILE * j + a, columns - 1), sediments);
        UNROLL
        for (int b = 0; b < EXACT_TILE; b++)
            sum[a][b] = 0.0;
    }
    const long some = (long)span[4 * nth + 1] * nfreq,
               all_rows = some + (long)span[4 * nth + 3] * nfreq;
    const long begin = (long)span[4 * nth] * nfreq, other = (long)span[4 * nth + 2] * nfreq - some;
    for (long n = 0; n < all_rows; n++) {
        GLOBAL const double *from = row + 2 * (n + (n < some ? begin : other)) * (1 + nlayers);
        UNROLL
        for (int part = 0; part < 2; part++) {
            UNROLL
            for (int a = 0; a < EXACT_TILE; a++) {
                UNROLL
                for (int b = 0; b < EXACT_TILE; b++)
                    sum[a][b] = MAD(from[down[a] + part], from[across[b] + part], sum[a][b]);
            }
        }
    }
    GLOBAL double *to = triangle + (long)nth * (columns * (columns + 1) / 2);
    UNROLL
    for (int a = 0; a < EXACT_TILE; a++) {
        const int r = EXACT_TILE * i + a;
        UNROLL
        for (int b = 0; b < EXACT_TILE; b++)
            if (r < columns && EXACT_TILE * j + b <= r)
                to[r * (r + 1) / 2 + EXACT_TILE * j + b] = sum[a][b];
    }
}
