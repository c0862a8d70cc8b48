/* tests/lanes_peak.c – at each instruction level: what a core computes at most. */
#include "tests/lanes_peak.h"
#include "src/clock.h"
#include "src/lanes.h"

enum { ROUNDS = 1000000 };

/* Ten chains hide each other's latency. Named variables, since an array would live in memory. */
double lanes_peak(void)
{
    volatile double sink;
    const lanes m = REAL(0.999), c = REAL(1e-3);
    lanes a0 = c, a1 = c, a2 = c, a3 = c, a4 = c, a5 = c, a6 = c, a7 = c, a8 = c, a9 = c;
    double best = 0.0;
    for (int round = 0; round < 20; round++) {
        const double start = clock_now();
        for (int n = 0; n < ROUNDS; n++) {
            a0 = a0 * m + c, a1 = a1 * m + c, a2 = a2 * m + c, a3 = a3 * m + c, a4 = a4 * m + c;
            a5 = a5 * m + c, a6 = a6 * m + c, a7 = a7 * m + c, a8 = a8 * m + c, a9 = a9 * m + c;
        }
        const lanes all = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7)) + (a8 + a9);
        sink = all[0];
        (void)sink;
        const double rate = 10.0 * ROUNDS * LANES / (clock_now() - start);
        best = rate > best ? rate : best;
    }
    return best;
}
