/* tests/test_kirchhoff_chunks.c – the parts below migration: filters follow their formulas, chunks
 * hold each trace once, tables stay within their budget. */
#include "kirchhoff/filter_bank.h"
#include "kirchhoff/generate.h"
#include "kirchhoff/chunks.h"
#include "src/kernel.h"
#include "src/random.h"
#include "kirchhoff/kernels/migrate.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { NS = 501 };

/* A burst of frequency f around t = 1 s, and its derivative. */
static double burst(double t, double f)
{
    return exp(-50 * (t - 1) * (t - 1)) * sin(2 * M_PI * f * t);
}

static double slope(double t, double f)
{
    return (burst(t + 1e-6, f) - burst(t - 1e-6, f)) / 2e-6;
}

static float *filled(const struct filter_bank *b, double f)
{
    float trace[NS], *out = malloc(b->size * sizeof *out);
    struct filter_bank_scratch *s;
    for (int i = 0; i < NS; i++)
        trace[i] = (float)burst(i * 0.004, f);
    assert_int_equal(filter_bank_scratch_open(b, &s), EK_OK);
    filter_bank_fill(b, s, trace, NS, out);
    filter_bank_scratch_close(s);
    return out;
}

static void traces_are_differentiated_and_refined(void **state)
{
    for (int derivative = 0; derivative < 2; derivative++)
        for (int factor = 1; factor <= 4; factor *= 2) {
            const struct filter_bank_options o = {
                NS, 0.004, factor, 1, derivative ? FILTER_DERIVATIVE : FILTER_NONE, 0};
            struct filter_bank *b;
            assert_int_equal(filter_bank_open(&o, &b), EK_OK);
            assert_int_equal(filter_bank_last(b, NS), 1 + factor * (NS - 1));
            float *x = filled(b, 25);
            for (long i = FILTER_BANK_FIRST; i <= filter_bank_last(b, NS); i++) {
                const double t = (double)(i - FILTER_BANK_FIRST) / b->rate;
                const double y = derivative ? -slope(t, 25) : burst(t, 25);
                assert_true(fabs((double)x[i] - y) < (derivative ? 0.05 : 3e-4));
            }
            assert_float_equal(x[0], 0, 0);
            free(x);
            filter_bank_close(b);
        }
}

/* A spike becomes the wavelet, centred on its sample. */
static void spikes_become_wavelets(void **state)
{
    for (int factor = 1; factor <= 4; factor += 3) {
        const struct filter_bank_options o = {NS, 0.004, factor, 1, FILTER_NONE, 17};
        struct filter_bank *b;
        struct filter_bank_scratch *s;
        float trace[NS] = {[NS / 3] = 2};
        assert_int_equal(filter_bank_open(&o, &b), EK_OK);
        float *x = malloc(b->size * sizeof *x);
        assert_non_null(x);
        assert_int_equal(filter_bank_scratch_open(b, &s), EK_OK);
        filter_bank_fill(b, s, trace, NS, x);
        for (long i = FILTER_BANK_FIRST; i <= filter_bank_last(b, NS); i++) {
            const double t = (double)(i - FILTER_BANK_FIRST) / b->rate - NS / 3 * 0.004;
            const double a = pow(M_PI * 17 * t, 2);
            assert_true(fabs((double)x[i] - 2 * (1 - 2 * a) * exp(-a)) < 1e-4);
        }
        free(x);
        filter_bank_scratch_close(s);
        filter_bank_close(b);
    }
}

/* -d/dt of noise, which has all frequencies, term by term: the real part of i w exp(i w t) for
 * every frequency of either sign; the highest one counts half for each. */
static void noise_is_differentiated(void **state)
{
    for (int factor = 1; factor <= 3; factor++) {
        const struct filter_bank_options o = {NS, 0.004, factor, 1, FILTER_DERIVATIVE, 0};
        struct filter_bank *b;
        struct filter_bank_scratch *s;
        float trace[NS];
        for (int i = 0; i < NS; i++)
            trace[i] = (float)sin(0.37 * i * i);
        assert_int_equal(filter_bank_open(&o, &b), EK_OK);
        float *x = malloc(b->size * sizeof *x);
        assert_non_null(x);
        assert_int_equal(filter_bank_scratch_open(b, &s), EK_OK);
        filter_bank_fill(b, s, trace, NS, x);
        for (long j = 0; j < factor * (NS - 1); j += 7) {
            double sum = 0;
            for (int k = 1; k <= b->n / 2; k++) {
                const double w = 2 * M_PI * k / (b->n * 0.004), t = (double)j / factor;
                for (int i = 0; i < NS; i++)
                    sum += (2 * k < b->n ? 2 : 1) * w * (double)trace[i] *
                           sin(2 * M_PI * k * (t - i) / b->n) / b->n;
            }
            assert_true(fabs((double)x[FILTER_BANK_FIRST + j] - sum) < 0.02);
        }
        free(x);
        filter_bank_scratch_close(s);
        filter_bank_close(b);
    }
}

static void levels_pass_what_lies_below(void **state)
{
    const struct filter_bank_options o = {NS, 0.004, 2, MIGRATE_LEVELS, FILTER_NONE, 0};
    struct filter_bank *b;
    assert_int_equal(filter_bank_open(&o, &b), EK_OK);
    for (int level = 1; level < MIGRATE_LEVELS; level++) {
        const double cutoff = filter_bank_cutoff(b, level);
        double most[3] = {0, 0, 0};
        for (int at = 0; at < 3; at++) { /* below, above, in the middle of the last 30 % */
            float *x = filled(b, at == 0   ? 0.5 * cutoff
                                 : at == 1 ? fmin(cutoff + 8, 115)
                                           : 0.85 * cutoff);
            const size_t ends = at == 2 ? b->stride / 3 : 0;
            for (size_t i = ends; i < b->stride - ends; i++)
                most[at] = fmax(most[at], fabs((double)x[(size_t)level * b->stride + i]));
            free(x);
        }
        assert_true(most[0] > 0.9 && most[1] < 0.02 && fabs(most[2] - 0.5) < 0.02);
    }
    filter_bank_close(b);
}

/* ---- chunks and tables ------------------------------------------------------------------------*/

static struct segy *medium_survey(void)
{
    char path[64];
    const struct segy_options usual = {0};
    struct segy *s;
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_chunks-%d.segy", (int)getpid());
    assert_int_equal(generate_file("medium", "diffractors", path), EK_OK);
    assert_int_equal(segy_open(path, &usual, &s), EK_OK);
    unlink(path);
    return s;
}

static struct traveltime_cache *few_tables(size_t budget)
{
    const struct grid grid = {{3, 3, 5}, {1000, 1000, 500}, {500, 500, 250}};
    const struct tfolder_surface surface = {{9, 9}, {-500, -500}, {500, 500}, 0};
    struct traveltime_cache *t;
    assert_int_equal(
        traveltime_cache_compute("gradient:v0=2000,k=0.5", &grid, &surface, budget, &t), EK_OK);
    return t;
}

static void chunks_hold_each_trace_once(void **state)
{
    struct segy *segy = medium_survey();
    struct traveltime_cache *t = few_tables(1 << 20);
    for (long wanted = 1; wanted <= 5000; wanted *= 8) {
        const struct chunks_options o = {
            {1, 0, 0, 0}, INFINITY, {{1000, 2000}, {1000, 2000}}, wanted, GEOMETRY_NONE};
        struct chunks *s;
        assert_int_equal(chunks_open(segy, t, &o, &s), EK_OK);
        char *seen = calloc(segy->n, 1);
        for (size_t i = 0; i < s->n; i++)
            seen[s->order[i]]++;
        for (size_t i = 0; i < segy->n; i++)
            assert_int_equal(seen[i], 1);
        assert_int_equal(s->first[0], 0);
        assert_int_equal(s->first[s->nchunks], s->n);
        for (size_t c = 0; c < s->nchunks; c++)
            assert_in_range(s->first[c + 1] - s->first[c], 1, 2 * (size_t)wanted);
        assert_int_equal(s->geometry.shots, 9);
        assert_true(s->geometry.spacing[0] == 500 && s->geometry.spacing[1] == 200);
        free(seen);
        chunks_close(s);
    }
    traveltime_cache_close(t);
    segy_close(segy);
}

static void traces_without_use_are_counted(void **state)
{
    struct segy *segy = medium_survey();
    struct traveltime_cache *t = few_tables(1 << 20);
    const struct chunks_options o = {
        {2, 500, 500, 0}, 400, {{1400, 1600}, {1400, 1600}}, 64, GEOMETRY_NONE};
    struct chunks *s;
    size_t used = 0, far = 0, other = 0;
    for (size_t i = 0; i < segy->n; i++) {
        const struct segy_trace *x = &segy->trace[i];
        const double offset = hypot(x->gx - x->sx, x->gy - x->sy);
        const double dx = fmax(0, fabs(0.5 * (x->sx + x->gx) - 1500) - 100);
        const double dy = fmax(0, fabs(0.5 * (x->sy + x->gy) - 1500) - 100);
        if (offset < 500 || offset >= 1500)
            other++;
        else if (hypot(dx, dy) > 400)
            far++;
        else
            used++;
    }
    assert_int_equal(chunks_open(segy, t, &o, &s), EK_OK);
    assert_int_equal(s->count[CHUNKS_USED], used);
    assert_int_equal(s->count[CHUNKS_FAR], far);
    assert_int_equal(s->count[CHUNKS_OFFSET], other);
    assert_int_equal(s->n, used);
    chunks_close(s);
    traveltime_cache_close(t);
    segy_close(segy);
}

static void tables_stay_within_their_budget(void **state)
{
    const size_t bytes = 45 * TABLE_FIELDS * sizeof(float);
    struct traveltime_cache *t = few_tables(5 * bytes);
    const int sets[][4] = {{0, 1, 9, 10}, {1, 2, 10, 11}, {0, 1, 9, 10}, {70, 71, 79, 80}};
    static const size_t loads[] = {4, 6, 7, 11}; /* four tables to load, then two, one, four */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(traveltime_cache_hold(t, sets[i], 4, NULL), EK_OK);
        assert_true(t->resident <= 5);
        for (int k = 0; k < 4; k++)
            assert_non_null(t->table[sets[i][k]].data);
        traveltime_cache_release(t, sets[i], 4);
        assert_int_equal(t->loads, loads[i]);
    }
    const int many[] = {0, 1, 2, 3, 4, 5};
    status_mute(1);
    assert_int_equal(traveltime_cache_hold(t, many, 6, NULL), EK_UNAVAILABLE);
    status_mute(-1);
    traveltime_cache_close(t);
}

/* Threads hold their own tables while others release theirs; at any time more than half of the
 * budget is held. Each thread must get the same tables as if it ran alone. */
static void units_share_what_they_bring(void **state)
{
    const size_t bytes = 45 * TABLE_FIELDS * sizeof(float);
    struct traveltime_cache *t = few_tables(14 * bytes), *alone = few_tables(200 * bytes);
    atomic_int wrong = 0;
#pragma omp parallel num_threads(3)
    for (int round = 0; round < 200; round++) {
        uint64_t draw = (uint64_t)(round * 3 + omp_get_thread_num());
        const int node = (int)(random_uniform(&draw) * (t->nodes - 3));
        const int set[4] = {node, node + 1, node + 2, node + 3};
        wrong += traveltime_cache_hold(t, set, 4, NULL) != EK_OK;
        for (int k = 0; k < 4; k++)
            wrong += !t->table[set[k]].data;
#pragma omp critical
        {
            wrong += traveltime_cache_hold(alone, set, 4, NULL) != EK_OK;
            for (int k = 0; k < 4; k++)
                wrong += memcmp(t->table[set[k]].data, alone->table[set[k]].data, bytes) != 0;
        }
        traveltime_cache_release(t, set, 4);
    }
    assert_int_equal(wrong, 0);
    assert_true(t->resident <= 14);
    size_t here = 0;
    for (int i = 0; i < t->nodes; i++) {
        assert_int_equal(t->table[i].holders, 0);
        here += t->table[i].data != NULL;
    }
    assert_int_equal(here, t->resident);
    traveltime_cache_close(t);
    traveltime_cache_close(alone);
}

static void corners_blend_to_the_place(void **state)
{
    struct traveltime_cache *t = few_tables(1 << 20);
    struct traveltime_corners c;
    static const double place[][3] = {{0, 0, 1}, {250, 0, 2}, {0, 3300, 2}, {1234, 777, 4}};
    for (int i = 0; i < 4; i++) {
        double sum = 0, x = 0, y = 0;
        assert_int_equal(traveltime_cache_corners(t, place[i][0], place[i][1], "it", &c), EK_OK);
        assert_int_equal(c.n, (int)place[i][2]);
        for (int m = 0; m < c.n; m++) {
            sum += (double)c.weight[m];
            x += (double)c.weight[m] * (double)c.dx[m];
            y += (double)c.weight[m] * (double)c.dy[m];
        }
        assert_true(fabs(sum - 1) < 1e-6 && fabs(x) < 1e-3 && fabs(y) < 1e-3);
    }
    status_mute(1);
    assert_int_equal(traveltime_cache_corners(t, -501, 0, "it", &c), EK_USAGE);
    status_mute(-1);
    traveltime_cache_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_differentiated_and_refined),
        cmocka_unit_test(spikes_become_wavelets),
        cmocka_unit_test(noise_is_differentiated),
        cmocka_unit_test(levels_pass_what_lies_below),
        cmocka_unit_test(chunks_hold_each_trace_once),
        cmocka_unit_test(traces_without_use_are_counted),
        cmocka_unit_test(tables_stay_within_their_budget),
        cmocka_unit_test(units_share_what_they_bring),
        cmocka_unit_test(corners_blend_to_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
