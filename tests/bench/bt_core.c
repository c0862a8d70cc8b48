/* tests/bench/bt_core.c – BT-MZ on one core: nominal Mop/s, beside the core's own peaks measured
 * here and, where PEER_BT names the official Fortran binary of the same class, beside that,
 * interleaved. CLASS (A), STEPS of our runs (50), REPEAT (3). */
#include "npb_mz/lanes.h"
#include "npb_mz/mz.h"
#include "src/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 99, ROUNDS = 1000000, STREAM = 1 << 23 };

/* What this implementation issues to the multiply pipes per interior point and step: 304 a node
 * forward and 25 back on each of three lines, 140 in the operator, 12 for derived variables. */
static const double instructions_per_point = 3 * (304 + 25) + 140 + 12;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, n, sizeof *x, by_value);
    return x[n / 2];
}

/* Fused multiply-adds a second, counted in doubles: ten chains hide each other's latency. Named
 * variables, since an array would live in memory. */
static double fma_peak(void)
{
    const lanes m = (lanes){0} + 0.999, c = (lanes){0} + 1e-3;
    lanes a0 = c, a1 = c, a2 = c, a3 = c, a4 = c, a5 = c, a6 = c, a7 = c, a8 = c, a9 = c;
    double best = 0.0;
    for (int round = 0; round < 20; round++) {
        const double start = clock_now();
        for (int n = 0; n < ROUNDS; n++) {
            a0 = a0 * m + c, a1 = a1 * m + c, a2 = a2 * m + c, a3 = a3 * m + c, a4 = a4 * m + c;
            a5 = a5 * m + c, a6 = a6 * m + c, a7 = a7 * m + c, a8 = a8 * m + c, a9 = a9 * m + c;
            __asm__ volatile("" : "+x"(a0), "+x"(a1), "+x"(a2), "+x"(a3), "+x"(a4)); /* all made */
            __asm__ volatile("" : "+x"(a5), "+x"(a6), "+x"(a7), "+x"(a8), "+x"(a9));
        }
        const double rate = 10.0 * ROUNDS * LANES / (clock_now() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

/* Bytes a second of a copy much larger than the caches, reads and writes together. */
static double memory_rate(void)
{
    double best = 0.0, *a = malloc(STREAM * sizeof *a), *b = malloc(STREAM * sizeof *b);
    if (!a || !b)
        exit(3);
    memset(a, 1, STREAM * sizeof *a);
    for (int round = 0; round < 5; round++) {
        const double start = clock_now();
        memcpy(b, a, STREAM * sizeof *a);
        const double rate = 2.0 * STREAM * sizeof *a / (clock_now() - start);
        best = round && rate > best ? rate : best;
    }
    free(a);
    free(b);
    return best;
}

static double our_rate(struct mz *mz, struct mz_work *work, int steps)
{
    mz_reset(mz);
    const double start = clock_now();
    for (int s = 0; s < steps; s++)
        mz_step(mz, work);
    return mz_mop(mz) * steps / mz->class->steps / (clock_now() - start);
}

/* The peer's own figure, on one thread; 0 if it prints none. */
static double peer_rate(const char *path)
{
    char command[4200], line[256];
    double rate = 0.0;
    snprintf(command, sizeof command, "OMP_NUM_THREADS=1 '%s' 2>/dev/null", path);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "Mop/s total"))
            rate = atof(strchr(line, '=') + 1);
    if (f)
        pclose(f);
    return rate;
}

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    const int n = text ? atoi(text) : otherwise;
    return n > 0 && n <= 100000 ? n : otherwise;
}

static double interior(const struct mz *mz)
{
    double sum = 0.0;
    for (int i = 0; i < mz->nzones; i++)
        sum += (mz->zone[i].nx - 2.0) * (mz->zone[i].ny - 2.0) * (mz->zone[i].nz - 2.0);
    return sum;
}

/* Shares of the core's peaks: instructions issued on doubles, and the least traffic (u read twice
 * and written, forcing read) against what a copy reaches. */
static void print_shares(const struct mz *mz, double rate)
{
    const double steps = rate * mz->class->steps / mz_mop(mz), fma = fma_peak();
    const double bytes = 4.0 * MZ_VARS * sizeof(double) * mz->points, copy = memory_rate();
    printf("   arithmetic %.2f of the peak of %.1f Gfma/s, memory %.2f of %.1f GB/s\n",
           steps * interior(mz) * instructions_per_point / fma, fma * 1e-9, steps * bytes / copy,
           copy * 1e-9);
}

static void compare(struct mz *mz, struct mz_work *work, const char *peer, int repeat, int steps)
{
    double ours[MOST], theirs[MOST];
    for (int i = 0; i < repeat; i++) {
        ours[i] = our_rate(mz, work, steps);
        theirs[i] = peer ? peer_rate(peer) : 0.0;
    }
    const double rate = median(ours, repeat), other = median(theirs, repeat);
    printf("   bt-mz class %c, one core: %.0f Mop/s (median of %d, best %.0f)\n", mz->class->letter,
           rate, repeat, ours[repeat - 1]);
    print_shares(mz, rate);
    if (!peer)
        puts("   no comparison: PEER_BT names no binary of the official bt-mz of this class");
    else if (other <= 0.0)
        printf("   no comparison: %s printed no Mop/s\n", peer);
    else
        printf("   %s: %.0f Mop/s; ratio of medians %.2f\n", peer, other, rate / other);
}

int main(void)
{
    const char *letter = getenv("CLASS"), *peer = getenv("PEER_BT");
    const struct mz_class *class = mz_class_find("bt-mz", letter ? *letter : 'A', 0);
    const int repeat = setting("REPEAT", 3);
    struct mz *mz;
    struct mz_work *work;
    struct mz_norms norms;
    if (!class) {
        fprintf(stderr, "bt_core: no class %s; take one of S W A B C D E F\n", letter);
        return 2;
    }
    if (mz_open(mz_find("bt-mz"), class, &mz) || mz_work_open(mz, 1, &work))
        return 3;
    compare(mz, work, peer && *peer ? peer : NULL, repeat < MOST ? repeat : MOST,
            setting("STEPS", 50));
    our_rate(mz, work, class->steps);
    if (mz_verify(mz, work, &norms))
        return 3;
    printf("   whole run: worst deviation %.1e, %s\n", norms.worst,
           norms.verified ? "verified" : "WRONG");
    mz_work_close(work);
    mz_close(mz);
    return norms.verified ? 0 : 1;
}
