/* tests/test_mcsem_device.c – exact mode gives the host's bits on every available device: fields
 * and all derivatives, pairs of every kind, batches of any size. */
#include "tests/backends.h"
#include "tests/mcsem.h"
#include "cu/team/thread_pool.h"
#include "mcsem/cell.h"
#include "mcsem/device.h"
#include "mcsem/pair.h"

#include <omp.h>

enum { SOME = 2 * MCSEM_PAIRS, FREQUENCIES = 2, LAYERS = 8, SHARES = 4, FEEDERS = 3 };
static const double freq[FREQUENCIES] = {0.25, 2};

/* The pairs of every kind at ever larger offsets. */
static void spread(struct survey_pair *pair)
{
    for (int p = 0; p < SOME; p++) {
        pair[p] = mcsem_pairs[p % MCSEM_PAIRS];
        pair[p].receiver[0] += 700 * (p / MCSEM_PAIRS);
    }
}

/* Cuts the pairs into shares over different earths; one share is empty. */
static void cut(const struct survey_pair *pair, struct device_share share[SHARES], int filter)
{
    static const size_t n[SHARES] = {5, 0, 1, SOME - 6};
    for (int k = 0; k < SHARES; pair += n[k++]) {
        share[k] = (struct device_share){mcsem_sea_floor(), pair, n[k], filter + k % 2, false};
        for (int i = 1; i < share[k].layers.n; i++)
            share[k].layers.rho_h[i] *= 1 + 0.1 * k;
    }
}

static void same_bits(struct forward *f, struct device *d, enum forward_derivatives wanted,
                      int filter)
{
    static double complex sum[SOME * FREQUENCIES * (1 + LAYERS)];
    struct survey_pair pair[SOME];
    struct device_share share[SHARES];
    const double complex *got = sum;
    spread(pair);
    cut(pair, share, filter);
    assert_int_equal(mcsem_device_pairs(d, share, SHARES, FREQUENCIES, freq, wanted, sum), EK_OK);
    for (int p = 0, s = 0; p < SOME; p++) {
        double complex field[FREQUENCIES], derivative[FREQUENCIES * LAYERS] = {0};
        while (&pair[p] >= share[s].pair + share[s].n)
            s++;
        assert_int_equal(forward_pair(f, &share[s].layers, &pair[p], FREQUENCIES, freq,
                                      share[s].filter, wanted, field, derivative),
                         EK_OK);
        for (int q = 0; q < FREQUENCIES; q++, got += 1 + LAYERS) {
            assert_memory_equal(got, &field[q], sizeof *got);
            assert_memory_equal(got + 1, derivative + q * LAYERS, LAYERS * sizeof *got);
        }
    }
}

/* Batches of half the pairs, then of one pair (without and with all derivatives), in groups of two.
 * On fakes, kernels run as early as possible, then copies do (fake.h). */
static void devices_have_the_host_s_bits(void **state)
{
    const struct backend_ops *ops = *state;
    static const size_t batches[] = {SOME / 2, 1};
    struct backend *b;
    struct forward *f;
    struct device *d;
    assert_int_equal(forward_open(LAYERS, FREQUENCIES, &f), EK_OK);
    for (int k = 0; k < LENGTH(batches); k++) {
        setenv("FAKEGPU_EAGER", k ? "1" : "2", 1);
        assert_int_equal(backend_open((struct backend_device){ops, 0}, &b), EK_OK);
        assert_int_equal(mcsem_device_open(b, LAYERS, FREQUENCIES, batches[k], 1 + k, &d), EK_OK);
        assert_true(mcsem_device_batch(d) >= 1 && mcsem_device_batch(d) <= batches[k]);
        for (enum forward_derivatives wanted = FORWARD_FIELD; wanted <= FORWARD_HORIZONTAL;
             wanted += k ? FORWARD_HORIZONTAL : 1)
            same_bits(f, d, wanted, 2 + (int)wanted % 2);
        mcsem_device_close(d);
        backend_close(b);
    }
    unsetenv("FAKEGPU_EAGER");
    forward_close(f);
}

/* Wires with so many levels that a batch is full before it has all its pairs: the rest goes into
 * later batches, possibly of another thread. */
static void long_wires_wait_for_the_next_batch(void **state)
{
    enum { WIRES = 52, BATCH = 28, TOO_MANY = (8 * BATCH + PAIR_POINTS) / 25 };
    static double complex sum[WIRES * FREQUENCIES * (1 + LAYERS)];
    static double complex field[WIRES * FREQUENCIES]; /* the host's, once for all devices */
    struct survey_pair pair[WIRES];
    struct device_share share = {mcsem_sea_floor(), pair, WIRES, 2, false};
    struct pair_plan plan;
    const struct hankel *filter;
    struct backend *b;
    struct forward *f;
    struct device *d;
    for (int i = 0; i < WIRES; i++)
        pair[i] = (struct survey_pair){.source = {0, 0, 1950},
                                       .receiver = {500 + i, 300, 999.9},
                                       .direction = {1, 0, 0},
                                       .dip = 1.2,
                                       .length = 1100};
    assert_int_equal(pair_open(LAYERS, &plan), EK_OK);
    assert_int_equal(hankel_open(2, &filter), EK_OK);
    assert_int_equal(pair_outline(&share.layers, &pair[WIRES - 1], filter,
                                  forward_wire(&share.layers, pair, FREQUENCIES, freq), &plan),
                     EK_OK);
    assert_true(plan.nlevels > TOO_MANY);
    pair_close(&plan);
    assert_int_equal(backend_open((struct backend_device){*state, 0}, &b), EK_OK);
    assert_int_equal(forward_open(LAYERS, FREQUENCIES, &f), EK_OK);
    for (int p = 0; p < WIRES && field[WIRES * FREQUENCIES - 1] == 0; p++)
        assert_int_equal(forward_pair(f, &share.layers, &pair[p], FREQUENCIES, freq, 2,
                                      FORWARD_FIELD, field + p * FREQUENCIES, NULL),
                         EK_OK);
    for (int width = getenv("EK_LONG") ? 1 : 3; width <= 3; width += 2) {
        const double complex *got = sum;
        assert_int_equal(mcsem_device_open(b, LAYERS, FREQUENCIES, BATCH, width, &d), EK_OK);
        memset(sum, 0, sizeof sum);
        assert_int_equal(mcsem_device_pairs(d, &share, 1, FREQUENCIES, freq, FORWARD_FIELD, sum),
                         EK_OK);
        for (int i = 0; i < WIRES * FREQUENCIES; i++, got += 1 + LAYERS)
            assert_memory_equal(got, &field[i], sizeof *got);
        mcsem_device_close(d);
    }
    forward_close(f);
    backend_close(b);
}

/* A pair that cannot be computed is named in the message; the pair before it succeeds in the next
 * call. */
static void what_touches_is_refused(void **state)
{
    struct survey_pair pair[2] = {mcsem_pairs[0], mcsem_pairs[0]};
    struct device_share share = {mcsem_sea_floor(), pair, 2, 2, false};
    struct backend *b;
    struct device *d;
    static double complex sum[2 * FREQUENCIES * (1 + LAYERS)];
    memcpy(pair[1].receiver, pair[1].source, sizeof pair[1].receiver);
    pair[1].line = 17;
    assert_int_equal(backend_open((struct backend_device){*state, 0}, &b), EK_OK);
    assert_int_equal(mcsem_device_open(b, LAYERS, FREQUENCIES, 2, 1, &d), EK_OK);
    ASSERT_FAILS(EK_USAGE, mcsem_device_pairs(d, &share, 1, FREQUENCIES, freq, FORWARD_FIELD, sum),
                 "line 17");
    share.n = 1;
    assert_int_equal(mcsem_device_pairs(d, &share, 1, FREQUENCIES, freq, FORWARD_FIELD, sum),
                     EK_OK);
    assert_true(cabs(sum[0]) > 0);
    mcsem_device_close(d);
    backend_close(b);
}

/* ---- cells -----------------------------------------------------------------------------------*/

enum { COLUMNS = 100, UNKNOWN = 5, OF_CELLS = 720, OF_SUMS = 21 + CELL_STATISTICS };

/* Columns 2 km apart whose cells have many, few or no pairs. Near pairs need finer filters than far
 * ones, in some cells more than in others. There are more pairs than one call holds. */
static struct survey *survey_of_cells(const struct earth *e)
{
    static const int cells[] = {0, 1, 1, 2, 2, 2, 4, 4, 5, 6, 6, 7, 7, 7, 9, 9, 10, 11, 12, 12};
    struct survey *s;
    assert_int_equal(survey_open(OF_CELLS, FREQUENCIES, &s), EK_OK);
    memcpy(s->freq, freq, sizeof freq);
    for (int i = 0; i < OF_CELLS; i++) {
        const int last = (OF_CELLS - 1 - i) / 2;
        const int cell = i < 12 ? 0 : last < 86 ? 14 + last : cells[i % LENGTH(cells)];
        const int kind = cell % 5;
        struct survey_pair p = mcsem_pairs[kind == 1 ? i % 2 : i % MCSEM_PAIRS];
        const double half = kind == 2   ? 150 + 2 * i
                            : kind == 4 ? 15 + i
                            : kind == 1 ? 7000 + 5 * i
                                        : 900 + 5 * i;
        p.source[0] = 2000 * cell - half;
        p.receiver[0] = 2000 * cell + half;
        p.receiver[1] = i % 7;
        s->pair[i] = p;
        for (int q = 0; q < FREQUENCIES; q++)
            s->datum[i * FREQUENCIES + q] =
                (struct survey_datum){1e-13 * (1 + i % 3), -1e-13, 1e-14, SURVEY_BOTH};
    }
    assert_int_equal(survey_bin(s, e, true), EK_OK);
    return s;
}

/* Three threads feed one device. */
static void cells_together(const struct backend_ops *ops, enum cell_mode mode)
{
    const struct cell_options options = {
        mode, {MISFIT_COMPLEX, MISFIT_SQUARE, 1}, 1e-5, 1e-30, true};
    int order[COLUMNS];
    static double sums[2][OF_SUMS];
    static double complex response[2][OF_CELLS * FREQUENCIES];
    struct cell_work *host, *device;
    struct cell_report report[2];
    struct backend *b;
    struct earth *e;
    struct thread_pool pool;
    unsigned filters = 0;
    int tables = 0;
    assert_int_equal(earth_open(COLUMNS, 1, UNKNOWN, 120, 1000, 1.5, &e), EK_OK);
    e->dx = 2000;
    e->nwater = 3; /* columns 5 and 12 have only one and two of them */
    for (int k = 1; k < 3; k++) {
        e->water_top[k] = 500 + 200 * k;
        e->water[k] = 0.3 - 0.02 * k;
    }
    e->seabed[5] = 400;
    e->seabed[12] = 800;
    struct survey *s = survey_of_cells(e);
    assert_int_equal(backend_open((struct backend_device){ops, 0}, &b), EK_OK);
    assert_int_equal(cell_open(s, e, &options, 1, NULL, &host), EK_OK);
    assert_int_equal(cell_open(s, e, &options, FEEDERS, b, &device), EK_OK);
    for (int k = 0; k < COLUMNS; k++)
        order[k] = (7 * k + 2) % COLUMNS;
    thread_pool_init(&pool, FEEDERS, true);
#pragma omp parallel num_threads(FEEDERS)
    if (omp_get_thread_num() > 0) {
        thread_pool_serve(&pool, omp_get_thread_num());
    } else {
        assert_int_equal(cell_begin(device, &pool, e->m, order, COLUMNS), EK_OK);
        for (size_t k = 0; k < COLUMNS; k++) {
            for (int on = 0; on < 2; on++)
                assert_int_equal(cell_compute(on ? device : host, on ? &pool : NULL, e->m, order[k],
                                              sums[on], response[on], &report[on]),
                                 EK_OK);
            const size_t pairs = s->first[order[k] + 1] - s->first[order[k]];
            assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
            assert_memory_equal(response[0], response[1],
                                pairs * FREQUENCIES * sizeof *response[0]);
            assert_int_equal(report[0].filter, report[1].filter);
            assert_int_equal(report[0].density, report[1].density);
            tables += report[0].density >= 0;
            filters |= pairs > 32 ? 1U << report[0].filter : 0;
        }
        thread_pool_dismiss(&pool);
    }
    assert_true(mode == CELL_SHARED || (filters & (filters - 1)) != 0); /* not all the same */
    assert_true((tables > 0) == (mode == CELL_SHARED));
    cell_close(device);
    cell_close(host);
    backend_close(b);
    survey_close(s);
    earth_close(e);
}

static void cells_go_to_a_device_together(void **state)
{
    for (enum cell_mode mode = CELL_EXACT; mode <= CELL_SHARED; mode++)
        cells_together(*state, mode);
}

static int tests_of(const struct backend_ops *ops)
{
    const struct CMUnitTest tests[] = {
        {"devices_have_the_host_s_bits", devices_have_the_host_s_bits, NULL, NULL, (void *)ops},
        {"what_touches_is_refused", what_touches_is_refused, NULL, NULL, (void *)ops},
        {"long_wires_wait_for_the_next_batch", long_wires_wait_for_the_next_batch, NULL, NULL,
         (void *)ops},
        {"cells_go_to_a_device_together", cells_go_to_a_device_together, NULL, NULL, (void *)ops}};
    /* Batches are the same code on all: without EK_LONG, one of the fakes, the slow host and, if
     * there are fakes, PoCL are left out. */
    const bool batches = getenv("EK_LONG") || (strcmp(ops->name, fakes() ? "hip" : "host") &&
                                               (strcmp(ops->name, "opencl") || !fakes_can_be()));
    return _cmocka_run_group_tests(ops->name, tests, LENGTH(tests) - 2 * !batches, NULL, NULL);
}

static int all_devices(void)
{
    return over_backends(tests_of);
}

int main(void)
{
    int failed = in_process(NULL, all_devices);
    if (!fakes())
        failed += with_fakes("fakegpu");
    return failed;
}
