/* tests/bench/kirchhoff.c – image updates per second on one core: the innermost loop with weights,
 * limits and anti-alias levels, and whole chunks with everything they need. Medians over several
 * runs of the thread's cpu time. */
#include "kirchhoff/generate.h"
#include "kirchhoff/migrate.h"
#include "tests/bench/kirchhoff_column.h"
#include "src/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 5 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median and minimum seconds of work(arg). */
static void measure(void (*work)(void *), void *arg, double *median, double *least)
{
    double s[RUNS];
    work(arg);
    for (int r = 0; r < RUNS; r++) {
        const double start = clock_cpu();
        work(arg);
        s[r] = clock_cpu() - start;
    }
    qsort(s, RUNS, sizeof *s, ascending);
    *median = s[RUNS / 2];
    *least = s[0];
}

static void print_rate(const char *what, double updates, double median, double least)
{
    printf("%-58s %7.0f M updates/s (best %.0f)\n", what, 1e-6 * updates / median,
           1e-6 * updates / least);
}

/* ---- the innermost loop -----------------------------------------------------------------------*/

static void sum_columns(void *arg)
{
    column_sum(arg);
}

static void bench_inner(void)
{
    static const struct {
        const char *what;
        int levels;
    } kind[] = {{"sum_column: weights, limits, one level", 1},
                {"sum_column: weights, limits, 8 anti-alias levels", 8}};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        struct column c;
        double median, least;
        column_open(&c, 304, kind[i].levels);
        measure(sum_columns, &c, &median, &least);
        print_rate(kind[i].what, column_updates(&c), median, least);
        column_close(&c);
    }
}

/* ---- whole chunks -----------------------------------------------------------------------------*/

struct whole_run {
    struct migrate *m;
    struct migrate_worker *w;
    size_t chunks;
    struct batch *again;
};

/* The certificate's cost per chunk. */
static void sum_again(void *arg)
{
    struct whole_run *r = arg;
    struct resum_sum sum = {0};
    for (int q = 0; q < r->m->resum->n; q++)
        resum_add(r->m->resum, r->again, q, &sum);
}

static void run_chunks(void *arg)
{
    struct whole_run *r = arg;
    for (size_t c = 0; c < r->chunks; c++)
        if (migrate_chunk(r->w, NULL, c))
            exit(3);
}

/* S1: chunks from the file to the image, everything but the computation of tables. */
static int bench_chunks(const char *path, double anti_alias)
{
    struct migrate_options o;
    struct whole_run r = {.chunks = 1};
    char what[96];
    double median, least;
    migrate_defaults(&o);
    o.data = path;
    o.velocity = "gradient:v0=2000,k=0.5";
    o.grid = "31x31x201:25x25x5@1100,1100,300";
    o.weight = MIGRATE_DIFFRACTOR;
    o.aperture = 1500;
    o.anti_alias = anti_alias;
    if (migrate_open(&o, &r.m) || migrate_worker_open(r.m, 1, &r.w))
        return 3;
    measure(run_chunks, &r, &median, &least);
    snprintf(what, sizeof what, "S1 chunks of %zu traces%s: reading, filters, tables and sums",
             r.m->survey->first[1], anti_alias > 0 ? ", 8 levels" : "");
    print_rate(what, migrate_updates(r.m) * (double)r.m->survey->first[1] / (double)r.m->survey->n,
               median, least);
    const double whole = median;
    if (batch_open(r.m, 1, &r.again) || batch_begin(r.again, 0, 1, NULL) ||
        batch_fill(r.again, 0, r.again->ntraces, NULL))
        return 3;
    measure(sum_again, &r, &median, &least);
    printf("%-58s %7.2f %% for %d points\n", "of that, points summed again", 100 * median / whole,
           r.m->resum->n);
    batch_close(r.again);
    migrate_worker_close(r.w);
    migrate_close(r.m);
    return 0;
}

int main(void)
{
    char path[64];
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(path, sizeof path, "/tmp/bench_kirchhoff-%d.segy", (int)getpid());
    bench_inner();
    int rc = generate_file("s1", "diffractors", path);
    for (int aa = 0; aa < 2 && !rc; aa++)
        rc = bench_chunks(path, aa);
    unlink(path);
    return rc;
}
