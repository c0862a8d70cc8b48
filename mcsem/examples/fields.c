/* mcsem/examples/fields.c – what a resistive layer 1 km below a sea floor at 1 km does to the
 * inline field of a dipole 50 m above it: amplitude with and without the layer against offset, and
 * which share of the field a change of the layer's resistivity by one per cent would change.
 *
 * cc fields.c $(pkg-config --cflags --libs evenkeel) -lm -o fields */
#include <evenkeel/mcsem/fields.h>
#include <math.h>
#include <stdio.h>

enum { OFFSETS = 8, LAYERS = 5, RESERVOIR = 3 };

static const double depth[LAYERS - 1] = {0, 1000, 2000, 2100};
static const double barren[LAYERS] = {1e12, 0.3, 1, 1, 1}, oil[LAYERS] = {1e12, 0.3, 1, 50, 1};
static const double source[1][6] = {{0, 0, 950, 0, 0, 0}}, freq[1] = {0.25};

static double size(const double *x)
{
    return hypot(x[0], x[1]);
}

int main(void)
{
    static double receiver[OFFSETS][5], without[OFFSETS][2], with[OFFSETS][2];
    static double jac[OFFSETS][LAYERS][2];
    const struct mcsem_survey survey = {
        .nsrc = 1, .nrec = OFFSETS, .nfreq = 1, .src = source, .rec = receiver, .freq = freq};
    for (int i = 0; i < OFFSETS; i++) {
        receiver[i][0] = 1000 * (i + 1);
        receiver[i][2] = 999.9;
    }
    if (mcsem_forward(&(struct mcsem_layers){LAYERS, depth, barren, NULL}, &survey, without[0],
                      NULL) ||
        mcsem_forward(&(struct mcsem_layers){LAYERS, depth, oil, NULL}, &survey, with[0],
                      jac[0][0]))
        return 1; /* it has said why */
    printf("offset m   without V/m    with V/m   ratio   share of a change by 1 %%\n");
    for (int i = 0; i < OFFSETS; i++)
        printf("%8g   %11.3e %11.3e %7.3f   %.5f %%\n", receiver[i][0], size(without[i]),
               size(with[i]), size(with[i]) / size(without[i]),
               size(jac[i][RESERVOIR]) / size(with[i]));
    return 0;
}
