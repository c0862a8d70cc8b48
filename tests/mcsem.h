/* tests/mcsem.h – shared by the mcsem tests: layers with a sea floor, pairs of every kind over it,
 * and a comparison of numbers with a tolerance. */
#pragma once

#include "mcsem/forward.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static inline void close_to(double complex a, double complex b, double scale, double tolerance)
{
    if (!(cabs(a - b) <= tolerance * scale))
        fail_msg("%g%+gi is not %g%+gi: apart by %.1e of %g", creal(a), cimag(a), creal(b),
                 cimag(b), cabs(a - b) / scale, scale);
}

/* Two layers of sea over five of sediment, two of which are anisotropic. */
static inline struct earth_layers mcsem_sea_floor(void)
{
    return (struct earth_layers){.n = 8,
                                 .sediments = 3,
                                 .z = {0, 300, 1000, 1100, 1400, 1900, 1980},
                                 .rho_h = {1e12, 0.25, 0.3125, 0.7, 1.5, 2, 40, 3},
                                 .rho_v = {1e12, 0.25, 0.3125, 1.4, 1.5, 5, 40, 3}};
}

/* Pairs of every kind: sources above or below the receiver or in another layer, tilted, long. */
static const struct survey_pair mcsem_pairs[] = {
    {.source = {0, 0, 960}, .receiver = {2000, 0, 999.9}, .direction = {1, 0, 0}},
    {.source = {0, 0, 960}, .receiver = {800, 1800, 999.9}, .direction = {0, 1, 0}, .azimuth = 0.4},
    {.source = {0, 0, 960}, .receiver = {2500, 500, 999.9}, .direction = {0, 0, 1}, .length = 270},
    {.source = {0, 0, 960},
     .receiver = {1500, 900, 999.9},
     .direction = {0.6, 0, 0.8},
     .azimuth = 2,
     .dip = 0.3,
     .length = 200},
    {.source = {0, 0, 960},
     .receiver = {1700, 400, 999.9},
     .direction = {0, 1, 0},
     .magnetic = true},
    {.source = {0, 0, 960},
     .receiver = {900, -700, 999.9},
     .direction = {0.6, 0, 0.8},
     .magnetic = true,
     .azimuth = 1,
     .dip = -0.5},
    {.source = {0, 0, 990}, .receiver = {1200, 300, 150}, .direction = {0, 0.6, 0.8}, .dip = 0.2},
    {.source = {0, 0, 1200},
     .receiver = {1100, 600, 900},
     .direction = {0.8, 0, 0.6},
     .dip = 0.7,
     .magnetic = true},
    {.source = {0, 0, 1950}, .receiver = {700, 900, 1500}, .direction = {0.6, 0.8, 0}, .dip = 1},
    {.source = {0, 0, 700}, .receiver = {900, 200, 2500}, .direction = {0, 0, 1}, .dip = 0.4},
    {.source = {0, 0, 960},
     .receiver = {900, -700, 999.9},
     .direction = {0.6, 0, 0.8},
     .magnetic = true,
     .loop = true,
     .azimuth = 1,
     .dip = -0.5},
    {.source = {0, 0, 1950},
     .receiver = {700, 900, 1200},
     .direction = {0.6, 0.64, 0.48},
     .magnetic = true,
     .loop = true,
     .azimuth = -2,
     .dip = 0.9},
    {.source = {0, 0, 960},
     .receiver = {1500, 900, 1250},
     .direction = {0.6, 0, 0.8},
     .loop = true,
     .azimuth = 2,
     .dip = 0.3},
};
enum { MCSEM_PAIRS = sizeof mcsem_pairs / sizeof *mcsem_pairs };
