/* tests/bench/kirchhoff_donation.c – what donation is worth: uneven shots on simulated units, with
 * devices left unused, fixed to workers, and donated; medians over random shot sets. */
#include "tests/donation.h"

#include <stdio.h>

enum { SEEDS = 201 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x)
{
    qsort(x, SEEDS, sizeof *x, ascending);
    return x[SEEDS / 2];
}

static void compare(const char *name, struct donation_case c)
{
    double fixed[SEEDS], given[SEEDS], gain[SEEDS], there[SEEDS], times[SEEDS];
    int worse = 0;
    for (int s = 0; s < SEEDS; s++) {
        c.seed = (uint64_t)s + 1;
        const struct donation_result off = donation_run(&c, DONATE_OFF);
        const struct donation_result still = donation_run(&c, DONATE_STATIC);
        const struct donation_result on = donation_run(&c, DONATE_ON);
        fixed[s] = off.seconds / still.seconds;
        given[s] = off.seconds / on.seconds;
        gain[s] = still.seconds / on.seconds;
        there[s] = on.on_device;
        times[s] = (double)on.donations / c.shots;
        worse += on.seconds > still.seconds;
    }
    printf("%-34s %7.2f %7.2f %8.1f %% %9d %8.0f %% %9.1f\n", name, median(fixed), median(given),
           100 * (median(gain) - 1), worse, 100 * median(there), median(times));
}

int main(void)
{
    const struct donation_case paper = {.workers = 16,
                                        .devices = 6,
                                        .share = 2,
                                        .shots = 24,
                                        .poll = 4,
                                        .ratio = 10,
                                        .host = 0.2,
                                        .overhead = 500,
                                        .skew = 0.8};
    struct donation_case c = paper;
    printf("speed-up over no device, medians of %d shot sets; worse: sets in which on takes longer "
           "than static\n%-34s %7s %7s %10s %9s %10s %9s\n",
           SEEDS, "workers, devices x share, shots", "static", "on", "on/static", "worse",
           "on device", "gifts/shot");
    compare("16, 6x2, 24 (as published)", c);
    c.shots = 12;
    compare("16, 6x2, 12", c);
    c.shots = 36;
    compare("16, 6x2, 36", c);
    c = paper;
    c.devices = 2;
    compare("16, 2x2, 24", c);
    c.share = 1;
    compare("16, 2x1, 24", c);
    c.workers = 4;
    c.devices = 1;
    compare("4, 1x1, 24", c);
    c.skew = 1.4;
    compare("4, 1x1, 24, skewed more", c);
    c = paper;
    c.skew = 0;
    compare("16, 6x2, 24, equal shots", c);
    c = paper;
    c.ratio = 2;
    compare("16, 6x2, 24, slow devices", c);
    return 0;
}
