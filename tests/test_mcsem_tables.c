/* tests/test_mcsem_tables.c – shared mode on devices gives the host's bits: tables of random cells,
 * several of them together. */
#include "tests/backends.h"
#include "tests/mcsem_cells.h"

enum { MOST_LAYERS = 20, MOST_PAIRS = 400 };
enum { MOST_SUMS = (1 + MOST_LAYERS) * (2 + MOST_LAYERS) / 2 + CELL_STATISTICS };

struct case_of_cells {
    int columns, layers, nkinds;
    const struct kind *kind;
    size_t pairs;
    double tolerance;
    enum misfit_robust robust;
    int again, denser; /* pairs whose parts cancel, tables that are too coarse, at least */
};

/* Cells of every kind: many pairs and one, one layer and twenty. */
static const struct case_of_cells cases[] = {
    {KINDS, 5, KINDS, kinds, 70, 1e-5, MISFIT_STUDENT, 0, 0},
    {20, 1, KINDS, kinds, 80, 1e-5, MISFIT_SQUARE, 0, 0},
    {1, 20, 1, &kinds[2], 20, 1e-5, MISFIT_STUDENT, 0, 0},
    {3, 7, 3, kinds, 3, 1e-5, MISFIT_SQUARE, 0, 0},
    {1, 5, 1, &kinds[2], 64, 1e-5, MISFIT_SQUARE, 0, 0},
    {4, 4, 4, kinds, 120, 2e-6, MISFIT_SQUARE, 0, 1},
    {4, 5, 1, kinds, 400, 6e-8, MISFIT_HUBER, 1, 0}, /* none are near */
};

static void same_cells(struct backend *b, const struct case_of_cells *of)
{
    static double sums[2][MOST_SUMS];
    static double complex response[2][MOST_PAIRS * FREQUENCIES];
    const struct cell_options options = {
        CELL_SHARED, {MISFIT_COMPLEX, of->robust, 1}, of->tolerance, 1e-15, true};
    struct earth *e = random_earth(of->columns, of->layers);
    struct survey *s = random_survey(of->nkinds, of->kind, of->pairs, e);
    struct cell_work *host, *device;
    struct cell_report report[2];
    int order[20], tables = 0, again = 0, denser = 0;
    assert_int_equal(cell_open(s, e, &options, 1, NULL, &host), EK_OK);
    assert_int_equal(cell_open(s, e, &options, 3, b, &device), EK_OK);
    for (int c = 0; c < of->columns; c++)
        order[c] = of->columns - 1 - c;
    for (int turn = 0; turn < 2; turn++) { /* another model, in the same memory */
        assert_int_equal(cell_begin(device, NULL, e->m, order, (size_t)of->columns), EK_OK);
        for (int k = 0; k < of->columns; k++) {
            const int c = order[k];
            const size_t pairs = s->first[c + 1] - s->first[c];
            assert_int_equal(cell_compute(host, NULL, e->m, c, sums[0], response[0], &report[0]),
                             EK_OK);
            assert_int_equal(cell_compute(device, NULL, e->m, c, sums[1], response[1], &report[1]),
                             EK_OK);
            assert_memory_equal(response[0], response[1],
                                pairs * FREQUENCIES * sizeof *response[0]);
            assert_memory_equal(sums[0], sums[1], cell_sums(of->layers) * sizeof *sums[0]);
            assert_int_equal(report[0].exact, report[1].exact);
            assert_int_equal(report[0].filter, report[1].filter);
            assert_int_equal(report[0].density, report[1].density);
            assert_memory_equal(&report[0].difference, &report[1].difference, sizeof(double));
            assert_true(report[1].ahead == (report[0].density == 0));
            tables += report[1].ahead;
            again += report[1].ahead ? (int)report[1].exact : 0;
            denser += report[1].density > 0;
        }
        for (int i = 0; i < of->columns * of->layers; i++)
            e->m[i] += 0.3 * sin(i);
    }
    if (!tables || again < of->again || denser < of->denser)
        fail_msg("case %d: %d tables, %d pairs again, %d denser tables", (int)(of - cases), tables,
                 again, denser);
    cell_close(device);
    cell_close(host);
    survey_close(s);
    earth_close(e);
}

static void tables_have_the_host_s_bits(void **state)
{
    struct backend *b;
    assert_int_equal(backend_open((struct backend_device){*state, 0}, &b), EK_OK);
    for (int i = 0; i < LENGTH(cases); i++) {
        srand48(11); /* no case changes the next ones */
        setenv("FAKEGPU_EAGER", i % 2 ? "1" : "2", 1);
        same_cells(b, &cases[i]);
    }
    unsetenv("FAKEGPU_EAGER");
    backend_close(b);
}

#if defined(__has_feature)
#define HOST_IS_SLOW __has_feature(thread_sanitizer)
#else
#define HOST_IS_SLOW false
#endif

/* The fakes of HIP compute as those of CUDA do. The host's kernels have one thread. */
static int tests_of(const struct backend_ops *ops)
{
    if (!strcmp(ops->name, "hip") || (HOST_IS_SLOW && !strcmp(ops->name, "host")))
        return 0;
    const struct CMUnitTest tests[] = {
        {"tables_have_the_host_s_bits", tables_have_the_host_s_bits, NULL, NULL, (void *)ops}};
    return _cmocka_run_group_tests(ops->name, tests, LENGTH(tests), NULL, NULL);
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
