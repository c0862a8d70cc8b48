/* mcsem/kernels/exact.c – exact mode on devices: one strand of wavenumbers of one pair at one
 * frequency in each work-item. Build with -DKERNEL_NO_FMA for the host's bits. */
#include "mcsem/kernels/exact.h"

FN long exact_place(int item, int layers)
{
    return (long)(item / EXACT_BESIDE) * EXACT_BESIDE * exact_numbers(layers) + item % EXACT_BESIDE;
}

/* Sums of all strands. layers: of all earths, nlayers each; line [frequencies]: w mu0; number,
 * plan: what the pairs' plans hold. */
KERNEL(exact_waves, 64, 1, 1)
(GLOBAL const double *layers, int nlayers, GLOBAL const double *line, int nfreq,
 GLOBAL const double *number, GLOBAL const int *plan, int npairs, double alone,
 GLOBAL double *place)
{
    const int item = GID(0), strand = item % EXACT_STRANDS;
    const int pair = item / EXACT_STRANDS % npairs, q = item / EXACT_STRANDS / npairs;
    if (q >= nfreq)
        return;
    GLOBAL const int *row = plan + EXACT_PAIR * pair;
    const int nwaves = row[EXACT_NWAVES];
    GLOBAL const int *deepest = plan + row[EXACT_DEEPEST] + q * (nwaves / EXACT_STRANDS);
    GLOBAL const double *wave = number + row[EXACT_WAVES];
    struct exact_plan p;
    struct field_room room;
    struct line_field at;
    p.number = number;
    p.level = plan + row[EXACT_LEVELS];
    p.nlevels = row[EXACT_NLEVELS];
    p.stride = nwaves;
    p.base = row[EXACT_BASE];
    p.magnetic = row[EXACT_MAGNETIC];
    room.sum = place + exact_place(item, nlayers);
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
        exact_wave(at, layers + row[EXACT_LAYERS], p, k, deepest[k / EXACT_STRANDS], room);
    }
}

/* The strands' sums, added: sum [pairs][frequencies][1 + layers][2]. */
KERNEL(exact_sums, 64, 1, 1)
(GLOBAL const double *place, int nlayers, int nfreq, int npairs, GLOBAL double *sum)
{
    const int numbers = 2 * (1 + nlayers);
    const int item = GID(0), number = item % numbers;
    const int q = item / numbers % nfreq, pair = item / numbers / nfreq;
    double s[EXACT_STRANDS];
    if (pair >= npairs)
        return;
    UNROLL
    for (int k = 0; k < EXACT_STRANDS; k++)
        s[k] = place[exact_place((q * npairs + pair) * EXACT_STRANDS + k, nlayers) +
                     (long)number * EXACT_BESIDE];
    UNROLL
    for (int k = 0; k < EXACT_STRANDS / 2; k++)
        s[k] += s[k + EXACT_STRANDS / 2];
    sum[item] = (s[0] + s[2]) + (s[1] + s[3]);
}
