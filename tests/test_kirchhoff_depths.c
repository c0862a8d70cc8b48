/* tests/test_kirchhoff_depths.c – every depth of an image, whatever their number, from sources and
 * receivers at any elevation, against a sum that knows nothing of nodes, rows and blocks: closed
 * forms and a wavelet's formula in double. */
#include "kirchhoff/analytic.h"
#include "kirchhoff/migrate.h"
#include "tests/kirchhoff.h"

enum { NS = 1501, TRACES = 6, MOST_DEPTHS = 48 };
static const double dt = 0.004, v0 = 2000, k[3] = {0, 0, 0.5};
static char path[96];
static double at[TRACES][2][3];

static double draw(double low, double high)
{
    return low + (high - low) * ((double)rand() / RAND_MAX);
}

/* Pulses all along the trace, so that every depth has something to see. */
static double sample_at(double t)
{
    return sin(2 * M_PI * 9 * t) * (1 + 0.5 * cos(2 * M_PI * 1.3 * t));
}

static void write_traces(double above, double below)
{
    const struct segy_new file = {.ns = NS, .dt = dt};
    struct segy_writer *w;
    float sample[NS];
    srand(1807);
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_depths-%d.segy", (int)getpid());
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    for (int i = 0; i < NS; i++)
        sample[i] = (float)sample_at(i * dt);
    for (int t = 0; t < TRACES; t++) {
        for (int end = 0; end < 2; end++)
            for (int a = 0; a < 3; a++)
                at[t][end][a] = round(a < 2 ? draw(0, 1500) : draw(above, below));
        const double(*x)[3] = at[t];
        const struct segy_put put = {.sx = x[0][0],
                                     .sy = x[0][1],
                                     .sz = x[0][2],
                                     .gx = x[1][0],
                                     .gy = x[1][1],
                                     .gz = x[1][2]};
        assert_int_equal(segy_put(w, &put, sample), EK_OK);
    }
    assert_int_equal(segy_finish(w), EK_OK);
}

static int drop_traces(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static double brute(double x, double y, double z)
{
    double sum = 0;
    for (int t = 0; t < TRACES; t++) {
        const double point[3] = {x, y, z};
        struct analytic s, g;
        analytic_linear(v0, k, at[t][0], point, &s);
        analytic_linear(v0, k, at[t][1], point, &g);
        sum += sample_at(s.time + g.time);
    }
    return sum;
}

/* The run's own check agrees, and does not where the deepest depths are spoilt, as they once were.
 */
static void judge(const struct migrate *m)
{
    const int last = m->grid.n[2] - 1;
    assert_true(resum_judge(m->resum).good);
    double *deepest = image_sum(m->image, 0, 0);
    for (int i = last; i >= 0 && i > last - 3; i--)
        deepest[i] += 0.5 * TRACES;
    assert_false(resum_judge(m->resum).good);
}

/* The largest error over the column, relative to as many traces as there are. */
static double error_of(int nz, double dz, const char *tables)
{
    struct migrate_options o;
    struct migrate *m;
    struct migrate_worker *w;
    char grid[96];
    float column[MOST_DEPTHS];
    double most = 0;
    migrate_defaults(&o);
    snprintf(grid, sizeof grid, "1x1x%d:50x50x%.9g@700,800,600", nz, dz);
    o.data = path;
    o.velocity = "gradient:v0=2000,k=0.5";
    o.grid = grid;
    o.table_grid = tables;
    o.filter = "none";
    o.anti_alias = 0;
    o.oversample = 4;
    assert_int_equal(migrate_open(&o, &m), EK_OK);
    assert_int_equal(migrate_worker_open(m, 1, &w), EK_OK);
    for (size_t c = 0; c < m->survey->nchunks; c++)
        assert_int_equal(migrate_chunk(w, NULL, c), EK_OK);
    image_column(m->image, 0, 0, false, column);
    judge(m);
    for (int i = 0; i < nz; i++)
        most = fmax(most, fabs((double)column[i] - brute(700, 800, 600 + dz * i)) / TRACES);
    migrate_worker_close(w);
    migrate_close(m);
    return most;
}

/* Tables that end where the image does, and tables that go on. */
static void every_number_of_depths(void **state)
{
    (void)state;
    write_traces(0, 0);
    for (int nz = 1; nz <= MOST_DEPTHS; nz++)
        for (int step = 0; step < 3; step++) {
            const double dz = (const double[]){5, 40, 17.3}[step];
            const double own = error_of(nz, dz, NULL);
            const double deep = nz > 1 ? error_of(nz, dz, "2x2x61:60x60x50@690,790,590") : 0;
            if (!(own < 0.02) || !(deep < 0.02))
                fail_msg("%d depths every %g m: %g, %g with deeper tables", nz, dz, own, deep);
        }
}

/* On mountains, in boreholes, on the sea floor. */
static void any_elevation(void **state)
{
    (void)state;
    static const double range[][2] = {{-150, 0}, {0, 100}, {-80, 80}, {-60, -50}, {40, 40}};
    for (int i = 0; i < 5; i++) {
        write_traces(range[i][0], range[i][1]);
        const double error = error_of(38, 12.5, NULL);
        if (!(error < 0.05))
            fail_msg("from %g to %g m: %g", range[i][0], range[i][1], error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_of_depths),
                                       cmocka_unit_test(any_elevation)};
    return cmocka_run_group_tests(tests, NULL, drop_traces);
}
