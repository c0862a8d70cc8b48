/* tests/bench/kirchhoff.c – image updates per second on one core: the innermost loop with weights,
 * limits and anti-alias levels, ways to read samples, and whole chunks with all that they need.
 * Times are of the thread's cpu, the median of several runs. */
#include "kirchhoff/generate.h"
#include "kirchhoff/migrate.h"
#include "kirchhoff/sum.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { RUNS = 5, TRACES = 64, COLUMNS = 4 };

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median and least seconds of work(arg). */
static void measure(void (*work)(void *), void *arg, double *median, double *least)
{
    double s[RUNS];
    work(arg);
    for (int r = 0; r < RUNS; r++) {
        const double start = cpu_now();
        work(arg);
        s[r] = cpu_now() - start;
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

struct inner {
    struct sum_plan plan;
    struct sum_nodes nodes;
    struct sum_trace trace[TRACES];
    float par[PAR_COUNT];
    double *sum;
    float *fold;
    int repeat;
};

static float *floats(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    memset(x, 0, (n * sizeof *x + 63) / 64 * 64);
    return x;
}

/* v = 2000 + 0.5 z above a column, depths 10 m apart, ends some hundred metres away. */
static void fill_row(const struct sum_plan *p, float *row, double away, double samples)
{
    for (int k = 0; k < p->nodes; k++) {
        const double z = 40.0 * k + 20, r = hypot(away, z), v = 2000 + 0.25 * z;
        const int n = p->nodes;
        row[NODE_U * n + k] = (float)(r / v * samples);
        row[NODE_V * n + k] = (float)(20 * z / r / v * samples);
        row[NODE_A * n + k] = (float)r;
        row[NODE_S * n + k] = (float)(100 * away / r / v);
        row[NODE_X * n + k] = (float)(away / r);
        row[NODE_Z * n + k] = (float)(z / r);
    }
}

static void open_inner(struct inner *s, int depths, int levels, int step)
{
    const int ns = 1408;
    s->plan =
        (struct sum_plan){.depths = depths, .nodes = (depths / 4 + 8) / 8 * 8, .levels = levels};
    const int n = s->plan.nodes;
    float *reach = floats((size_t)n), *taper = floats((size_t)n);
    for (int k = 0; k < n; k++) {
        reach[k] = 3000;
        taper[k] = 1.0f / 600;
    }
    s->plan.reach = reach;
    s->plan.taper = taper;
    s->plan.par = s->par;
    s->par[PAR_ANGLE0] = 0.5f;
    s->par[PAR_ANGLE1] = 2;
    s->par[PAR_DIP0] = 0.1f;
    s->par[PAR_DIP1] = 2;
    s->par[PAR_FIRST] = 1;
    s->par[PAR_LAST] = ns - 8;
    s->par[PAR_TOP] = ns - 6;
    for (int b = 0; b < MIGRATE_LEVELS - 1; b++)
        s->par[PAR_LEVEL + b] = (float)(0.004 * exp2(0.5 * b));
    s->nodes = (struct sum_nodes){floats((size_t)n), floats((size_t)n), floats((size_t)n),
                                  (int *)floats((size_t)n)};
    for (int t = 0; t < TRACES; t++) {
        float *sample = floats((size_t)levels * (size_t)ns), *a = floats(7 * (size_t)n),
              *b = floats(7 * (size_t)n);
        for (int i = 1; i < levels * ns; i++)
            sample[i] = (float)sin(0.1 * i);
        fill_row(&s->plan, a, 100 + 7 * t, 500.0 / step);
        fill_row(&s->plan, b, 50 + 5 * t, 500.0 / step);
        s->trace[t] = (struct sum_trace){a, b, sample, (size_t)ns, 1, (float)(300 + 10 * t)};
    }
    s->sum = calloc((size_t)depths, sizeof *s->sum);
    s->fold = floats((size_t)n);
    s->repeat = 50;
}

static void inner_loop(void *arg)
{
    struct inner *s = arg;
    for (int r = 0; r < s->repeat; r++)
        for (int t = 0; t < TRACES; t++)
            sum_column(&s->plan, &s->trace[t], &s->nodes, s->sum, s->fold);
}

static void bench_inner(void)
{
    static const struct {
        const char *what;
        int levels, step;
    } kind[] = {{"sum_column: weights, limits, one level", 1, 1},
                {"sum_column: weights, limits, 8 anti-alias levels", 8, 1}};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        struct inner s = {.repeat = 0};
        double median, least;
        open_inner(&s, 304, kind[i].levels, kind[i].step);
        measure(inner_loop, &s, &median, &least);
        print_rate(kind[i].what, 304.0 * TRACES * s.repeat, median, least);
    }
}

/* ---- reading samples --------------------------------------------------------------------------*/

#ifdef __AVX2__

enum { READS = 4096 };

struct reads {
    float *sample, *u, *out;
};

static void by_gather(void *arg)
{
    struct reads *r = arg;
    for (int n = 0; n < 100; n++)
        for (int i = 0; i < READS; i += 8) {
            const __m256 u = _mm256_load_ps(r->u + i);
            const __m256i at = _mm256_cvttps_epi32(u);
            const __m256 a = _mm256_i32gather_ps(r->sample, at, 4);
            const __m256 b = _mm256_i32gather_ps(r->sample + 1, at, 4);
            _mm256_store_ps(r->out + i, a + (u - _mm256_cvtepi32_ps(at)) * (b - a));
        }
}

static void by_pairs(void *arg)
{
    struct reads *r = arg;
    for (int n = 0; n < 100; n++)
        for (int i = 0; i < READS; i += 8) {
            const __m256 u = _mm256_load_ps(r->u + i);
            const __m256i at = _mm256_cvttps_epi32(u);
            __m256 a, b;
            sum_load_pairs(r->sample, at, &a, &b);
            _mm256_store_ps(r->out + i, a + (u - _mm256_cvtepi32_ps(at)) * (b - a));
        }
}

/* Eight reads within 15 samples of the first: two windows of eight, each for both neighbours. */
static void by_window(void *arg)
{
    struct reads *r = arg;
    for (int n = 0; n < 100; n++)
        for (int i = 0; i < READS; i += 8) {
            const __m256 u = _mm256_load_ps(r->u + i);
            const __m256i at = _mm256_cvttps_epi32(u);
            const int first = _mm_cvtsi128_si32(_mm256_castsi256_si128(at));
            __m256 a, b;
            sum_load_window(r->sample + first, _mm256_sub_epi32(at, _mm256_set1_epi32(first)), &a,
                            &b);
            _mm256_store_ps(r->out + i, a + (u - _mm256_cvtepi32_ps(at)) * (b - a));
        }
}

static void bench_reads(void)
{
    static const struct {
        const char *what;
        void (*work)(void *);
    } way[] = {{"read: two gathers", by_gather},
               {"read: eight pairs, sorted out", by_pairs},
               {"read: windows of 16 samples, permuted", by_window}};
    struct reads r = {floats(READS + 64), floats(READS), floats(READS)};
    for (int i = 0; i < READS; i++) {
        r.sample[i] = (float)sin(0.1 * i);
        r.u[i] = 1.7f * (float)(i % 800);
    }
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        double median, least;
        measure(way[i].work, &r, &median, &least);
        print_rate(way[i].what, 100.0 * READS, median, least);
    }
    free(r.sample);
    free(r.u);
    free(r.out);
}

#else

static void bench_reads(void)
{
    printf("read: no AVX2 here, samples are read one by one\n");
}

#endif

/* ---- whole chunks -----------------------------------------------------------------------------*/

struct whole_run {
    struct migrate *m;
    struct migrate_worker *w;
    size_t chunks;
};

static void run_chunks(void *arg)
{
    struct whole_run *r = arg;
    for (size_t c = 0; c < r->chunks; c++)
        if (migrate_chunk(r->w, NULL, c))
            exit(3);
}

/* S1: chunks from the file to the image, all included but the computing of tables. */
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
    o.weight = "diffractor";
    o.aperture = 1500;
    o.anti_alias = anti_alias;
    if (migrate_open(&o, &r.m) || migrate_worker_open(r.m, 1, &r.w))
        return 3;
    measure(run_chunks, &r, &median, &least);
    snprintf(what, sizeof what, "S1 chunks of %zu traces%s: reading, filters, tables and sums",
             r.m->survey->first[1], anti_alias > 0 ? ", 8 levels" : "");
    print_rate(what, migrate_updates(r.m) * (double)r.m->survey->first[1] / (double)r.m->survey->n,
               median, least);
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
    bench_reads();
    int rc = generate_file("s1", "diffractors", path);
    for (int aa = 0; aa < 2 && !rc; aa++)
        rc = bench_chunks(path, aa);
    unlink(path);
    return rc;
}
