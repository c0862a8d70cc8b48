/* tests/bench/kirchhoff_donation.c – the gain of donation: uneven shots on simulated units with
 * devices unused, fixed to workers, and donated; medians over random sets of shots.
 *
 * With numbers of shots as arguments it prints instead, as JSON for tests/replay.py, the result of
 * each way for SEEDS sets of that many shots on the paper's node, and the schedule of one of
 * them. */
#include "tests/donation.h"

#include <stdio.h>
#include <string.h>

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
    double worst = 0;
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
        worse += on.seconds > 1.02 * still.seconds;
        worst = fmax(worst, on.seconds / still.seconds);
    }
    printf("%-34s %7.2f %7.2f %8.1f %% %9d %9.3f %8.0f %% %9.1f\n", name, median(fixed),
           median(given), 100 * (median(gain) - 1), worse, worst, 100 * median(there),
           median(times));
}

static const struct donation_case PAPER = {.workers = 16,
                                           .devices = 6,
                                           .share = 2,
                                           .shots = 24,
                                           .poll = 4,
                                           .ratio = 10,
                                           .host = 0.2,
                                           .overhead = 500,
                                           .skew = 0.8};

/* ---- for the replay ---------------------------------------------------------------------------*/
/* A worker's current activity; printed when the worker changes to another. */
struct bar {
    int shot;
    bool device;
    double start, end;
};

static void end_bar(const struct bar *b, int worker)
{
    if (b->end > b->start)
        printf("[%d, %d, %d, %.6g, %.6g],\n  ", worker, b->shot, b->device, b->start, b->end);
}

static void draw(void *arg, int worker, int shot, bool device, double start, double end)
{
    struct bar *b = (struct bar *)arg + worker;
    if (b->shot == shot && b->device == device && b->end == start) {
        b->end = end;
        return;
    }
    end_bar(b, worker);
    *b = (struct bar){shot, device, start, end};
}

static void print_bars(struct donation_case c, enum donate_mode mode)
{
    struct bar bar[DONATION_WORKERS] = {{0}};
    c.on_steps = draw;
    c.arg = bar;
    donation_run(&c, mode);
    for (int w = 0; w < c.workers; w++)
        end_bar(&bar[w], w);
}

static void print_set(struct donation_case c)
{
    printf("\"%d\": {", c.shots);
    for (int m = 0; m < 3; m++) {
        printf("%s\n \"%s\": [", m ? "," : "", donate_modes[m]);
        for (c.seed = 1; c.seed <= SEEDS; c.seed++)
            printf("%s%.6g", c.seed > 1 ? "," : "", donation_run(&c, (enum donate_mode)m).seconds);
        printf("],\n \"%s bars\": [", donate_modes[m]);
        c.seed = 1;
        print_bars(c, (enum donate_mode)m);
        printf("0]"); /* ends the list */
    }
    printf("}");
}

static void print_json(int nsets, char **shots)
{
    for (int i = 0; i < nsets; i++) {
        struct donation_case c = PAPER;
        c.shots = atoi(shots[i]);
        if (c.shots < 1 || c.shots > DONATION_SHOTS)
            exit(2);
        printf("%s", i ? ",\n" : "{");
        print_set(c);
    }
    puts("}");
}

int main(int argc, char **argv)
{
    struct donation_case c = PAPER;
    if (argc > 1) {
        print_json(argc - 1, argv + 1);
        return 0;
    }
    printf("speed-up over no device, medians of %d shot sets; worse: sets in which on takes 2 %% "
           "longer than static; worst: the largest ratio\n%-34s %7s %7s %10s %9s %9s %10s %9s\n",
           SEEDS, "workers, devices x share, shots", "static", "on", "on/static", "worse", "worst",
           "on device", "gifts/shot");
    compare("16, 6x2, 24 (as published)", c);
    c.shots = 12;
    compare("16, 6x2, 12", c);
    c.shots = 36;
    compare("16, 6x2, 36", c);
    c = PAPER;
    c.devices = 2;
    compare("16, 2x2, 24", c);
    c.share = 1;
    compare("16, 2x1, 24", c);
    c.workers = 4;
    c.devices = 1;
    compare("4, 1x1, 24", c);
    c.skew = 1.4;
    compare("4, 1x1, 24, skewed more", c);
    c = PAPER;
    c.skew = 0;
    compare("16, 6x2, 24, equal shots", c);
    c = PAPER;
    c.ratio = 2;
    compare("16, 6x2, 24, slow devices", c);
    return 0;
}
