/* tests/bench/npb_core.c – the NPB-MZ solvers on one core: nominal Mop/s, beside the core's own
 * peaks measured here and, where PEER_BT, PEER_SP or PEER_LU names the official Fortran binary of
 * the same class, beside that binary, interleaved. SOLVERS (bt sp lu), CLASS (A), STEPS of our runs
 * (50), REPEAT (3). */
#include "npb_mz/mz.h"
#include "src/clock.h"
#include "tests/lanes_peak.h"
#include "tests/mz_alone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 99, STREAM = 1 << 23 };

/* Instructions that this implementation issues to the multiply pipes per interior point and step:
 * 120 in the operator and 12 for derived variables (again before a sweep or line that lacks them),
 * and BT 304 per node forward and 25 back on each of three lines; SP 195 along x and y together and
 * 105 along z; LU 93 in the lower and 109 in the upper sweep. */
static const struct {
    const char *word, *solver, *peer;
    double instructions_per_point;
} cores[] = {
    {"bt", "bt-mz", "PEER_BT", 132 + 3 * (304 + 25) + 12},
    {"sp", "sp-mz", "PEER_SP", 132 + 195 + 105},
    {"lu", "lu-mz", "PEER_LU", 132 + 93 + 109},
};

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

/* Bytes per second of a copy much larger than the caches, reads plus writes. */
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

/* The peer's own figure on one thread; 0 if it prints none. */
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

/* Shares of the core's peaks: of the rate of double-precision instructions, and of a copy's
 * bandwidth by the least traffic (u read twice and written, forcing read). */
static void print_shares(const struct mz *mz, double rate, double instructions_per_point)
{
    const double steps = rate * mz->class->steps / mz_mop(mz), fma = lanes_peak();
    const double bytes = 4.0 * MZ_VARS * sizeof(double) * mz->points, copy = memory_rate();
    printf("   arithmetic %.2f of the peak of %.1f Gfma/s, memory %.2f of %.1f GB/s\n",
           steps * interior(mz) * instructions_per_point / fma, fma * 1e-9, steps * bytes / copy,
           copy * 1e-9);
}

static void compare(struct mz *mz, struct mz_work *work, int core, int repeat, int steps)
{
    const char *set = getenv(cores[core].peer), *peer = set && *set ? set : NULL;
    double ours[MOST], theirs[MOST];
    for (int i = 0; i < repeat; i++) {
        ours[i] = our_rate(mz, work, steps);
        theirs[i] = peer ? peer_rate(peer) : 0.0;
    }
    const double rate = median(ours, repeat), other = median(theirs, repeat);
    printf("   %s class %c, one core: %.0f Mop/s (median of %d, best %.0f)\n", cores[core].solver,
           mz->class->letter, rate, repeat, ours[repeat - 1]);
    print_shares(mz, rate, cores[core].instructions_per_point);
    if (!peer)
        printf("   no comparison: %s names no binary of the official %s of this class\n",
               cores[core].peer, cores[core].solver);
    else if (other <= 0.0)
        printf("   no comparison: %s printed no Mop/s\n", peer);
    else
        printf("   %s: %.0f Mop/s; ratio of medians %.2f\n", peer, other, rate / other);
}

/* Returns 0, 1 for a wrong result, 3 if memory is short. */
static int measure(int core, const struct mz_class *class)
{
    const int repeat = setting("REPEAT", 3);
    struct mz *mz;
    struct mz_work *work;
    struct mz_norms norms;
    if (mz_open(mz_find(cores[core].solver), class, &mz) || mz_work_open(mz, 1, &work))
        return 3;
    compare(mz, work, core, repeat < MOST ? repeat : MOST, setting("STEPS", 50));
    our_rate(mz, work, class->steps);
    if (mz_verify(mz, work, &norms))
        return 3;
    printf("   whole run: worst deviation %.1e, %s\n", norms.worst,
           norms.verified ? "verified" : "WRONG");
    mz_work_close(work);
    mz_close(mz);
    return norms.verified ? 0 : 1;
}

int main(void)
{
    const char *letter = getenv("CLASS"), *solvers = getenv("SOLVERS");
    int worst = 0;
    for (size_t core = 0; core < sizeof cores / sizeof *cores; core++) {
        const struct mz_class *class = mz_class_find(cores[core].solver, letter ? *letter : 'A', 0);
        if (!class) {
            fprintf(stderr, "npb_core: no class %s; take one of S W A B C D E F\n", letter);
            return 2;
        }
        if (solvers && !strstr(solvers, cores[core].word))
            continue;
        const int status = measure((int)core, class);
        worst = status > worst ? status : worst;
    }
    return worst;
}
