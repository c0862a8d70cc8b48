/* tests/bench/npb_mz_exchange.c – the exchange against a plain memcpy of the same bytes,
 * interleaved; and an open problem's resident memory against its fields. CLASS (A) selects the
 * class. */
#include "npb_mz/mz.h"
#include "src/clock.h"
#include "tests/mz_alone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 201 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x)
{
    qsort(x, ROUNDS, sizeof *x, by_value);
    return x[ROUNDS / 2];
}

static double resident_mb(void)
{
    char line[256];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %lf kB", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb * 1024e-6;
}

int main(void)
{
    const char *class = getenv("CLASS");
    static double exchange_s[ROUNDS], memcpy_s[ROUNDS];
    struct mz *mz;
    struct mz_work *work;
    const double before = resident_mb();
    if (mz_open(mz_find("bt-mz"), mz_class_find("bt-mz", class ? class[0] : 'A', 0), &mz) ||
        mz_work_open(mz, 1, &work))
        return 3;
    mz_step(mz, work);
    const double used = resident_mb() - before;
    size_t bytes = 0;
    double points = 0;
    for (int i = 0; i < mz->nzones; i++) {
        points += (double)mz->zone[i].nx * mz->zone[i].ny * mz->zone[i].nz;
        for (int side = 0; side < MZ_SIDES; side++)
            bytes += 8 * mz_face_size(mz, i, (enum mz_side)side);
    }
    char *from = malloc(bytes), *to = malloc(bytes);
    if (!from || !to)
        return 3;
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < mz->nzones; i++) /* as after a step */
            memset(mz->walled[i].out, true, sizeof mz->walled[i].out);
        double t = clock_now();
        for (int i = 0; i < mz->nzones; i++)
            mz_exchange(mz, i);
        exchange_s[r] = clock_now() - t;
        t = clock_now();
        memcpy(to, from, bytes);
        __asm__ volatile("" ::"r"(to) : "memory");
        memcpy_s[r] = clock_now() - t;
    }
    const double e = median(exchange_s), m = median(memcpy_s), fields = 15 * 8e-6 * points;
    printf("exchange of %.2f MB: %.1f us, memcpy of the same: %.1f us, ratio %.2f\n", 1e-6 * bytes,
           1e6 * e, 1e6 * m, e / m);
    printf("memory: %.1f MB resident, u + rhs + forcing are %.1f MB, ratio %.2f\n", used, fields,
           used / fields);
    free(from);
    free(to);
    mz_work_close(work);
    mz_close(mz);
    return 0;
}
