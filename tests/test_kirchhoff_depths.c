/* tests/test_kirchhoff_depths.c – images with any number of depths, from sources and receivers at
 * any elevation, against a sum in double that knows nothing of nodes, rows and blocks, only closed
 * forms and the wavelet's formula. */
#include "kirchhoff/analytic.h"
#include "kirchhoff/generate.h"
#include "tests/kirchhoff.h"
#include "tests/migrated.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

enum { NS = 1501, TRACES = 6, MOST_DEPTHS = 48 };
static const double dt = 0.004, v0 = 2000, k[3] = {0, 0, 0.5};
static char path[96];
static double at[TRACES][2][3], delay, pulses = 9; /* per second */

static double draw(double low, double high)
{
    return low + (high - low) * ((double)rand() / RAND_MAX);
}

/* Pulses all along the trace, so that every depth gets a signal. */
static double sample_at(double t)
{
    return cos(2 * M_PI * pulses * t) * (1 + 0.5 * cos(2 * M_PI * pulses / 7 * t));
}

static void name_file(void)
{
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_depths-%d.segy", (int)getpid());
}

static void write_traces(double above, double below)
{
    const struct segy_new file = {.ns = NS, .dt = dt};
    struct segy_writer *w;
    float sample[NS];
    srand(1807);
    name_file();
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    for (int i = 0; i < NS; i++)
        sample[i] = (float)sample_at(delay + i * dt);
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
                                     .gz = x[1][2],
                                     .delay = delay};
        assert_int_equal(segy_put(w, &put, sample), EK_OK);
    }
    assert_int_equal(segy_finish(w), EK_OK);
}

static int drop_traces(void **state)
{
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
        const double time = s.time + g.time;
        sum += time >= delay && time <= delay + (NS - 1) * dt ? sample_at(time) : 0;
    }
    return sum;
}

/* The run's own check passes, and fails once the deepest depths are spoilt (as an old fault
 * did). */
static void judge(const struct migrate *m)
{
    const int last = m->grid.n[2] - 1;
    assert_true(resum_judge(m->resum).good);
    double *deepest = image_sum(m->image, 0, 0);
    for (int i = last; i >= 0 && i > last - 3; i--)
        deepest[i] += 0.5 * TRACES;
    assert_false(resum_judge(m->resum).good);
}

/* The largest error over a column that starts at `top`, relative to the sum of perfect traces. */
static double error_at(const double top[3], int nz, double dz, const char *tables)
{
    struct migrate_options o;
    char grid[96];
    float column[MOST_DEPTHS];
    double most = 0;
    migrate_defaults(&o);
    snprintf(grid, sizeof grid, "1x1x%d:50x50x%.9g@%g,%g,%g", nz, dz, top[0], top[1], top[2]);
    o.data = path;
    o.velocity = "gradient:v0=2000,k=0.5";
    o.grid = grid;
    o.table_grid = tables;
    o.filter = 1;
    o.anti_alias = 0;
    o.oversample = 4;
    struct migrate *m = migrated(&o);
    image_column(m->image, 0, 0, false, column);
    judge(m);
    for (int i = 0; i < nz; i++)
        most = fmax(most, fabs((double)column[i] - brute(top[0], top[1], top[2] + dz * i)));
    migrate_close(m);
    return most / TRACES;
}

static double error_of(int nz, double dz, const char *tables)
{
    return error_at((const double[]){700, 800, 600}, nz, dz, tables);
}

/* Tables that end with the image, and deeper ones. */
static void every_number_of_depths(void **state)
{
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

/* One column and many, odd and prime numbers of them; traces that begin before and after the
 * shot. */
static void every_shape(void **state)
{
    static const int shape[][3] = {{1, 1, 1}, {2, 1, 13}, {1, 2, 2}, {5, 3, 31}, {3, 7, 1}};
    for (int i = 0; i < 5; i++) {
        struct migrate_options o;
        const int *n = shape[i];
        char grid[96];
        float column[MOST_DEPTHS];
        delay = (const double[]){0, -0.1, 0.2, -0.7, 0.3}[i];
        write_traces(0, 0);
        migrate_defaults(&o);
        snprintf(grid, sizeof grid, "%dx%dx%d:37x41x23@500,600,400", n[0], n[1], n[2]);
        o.data = path;
        o.velocity = "gradient:v0=2000,k=0.5";
        o.grid = grid;
        o.filter = 1;
        o.anti_alias = 0;
        o.oversample = 4;
        struct migrate *m = migrated(&o);
        for (int c = 0; c < n[0] * n[1]; c++) {
            image_column(m->image, 0, (size_t)c, false, column);
            for (int d = 0; d < n[2]; d++) {
                const double x = 500 + 37 * (c / n[1]), y = 600 + 41 * (c % n[1]), z = 400 + 23 * d;
                if (!(fabs((double)column[d] - brute(x, y, z)) < 0.02 * TRACES))
                    fail_msg("%g, %g, %g: %g, not %g", x, y, z, (double)column[d], brute(x, y, z));
            }
        }
        migrate_close(m);
    }
    delay = 0;
}

/* Ends on mountains, in boreholes, on the sea floor. */
static void any_elevation(void **state)
{
    static const double range[][2] = {{-150, 0}, {0, 100},     {-80, 80},     {-60, -50},
                                      {40, 40},  {-900, -700}, {-1400, -1350}};
    for (int i = 0; i < 7; i++) {
        write_traces(range[i][0], range[i][1]);
        const double error = error_of(38, 12.5, NULL);
        if (!(error < 0.02))
            fail_msg("from %g to %g m: %g", range[i][0], range[i][1], error);
    }
}

/* The image begins above the sources and receivers, which are in boreholes: times are right there,
 * too. */
static void above_the_ends(void **state)
{
    write_traces(100, 300);
    const double most = error_at((const double[]){700, 800, 80}, 45, 5, NULL);
    if (!(most < 0.05))
        fail_msg("%g", most);
}

/* Just beside and below a source, where times curve most from depth to depth. */
static void coarse_and_shallow(void **state)
{
    pulses = 40;
    write_traces(0, 0);
    for (int i = 0; i < 9; i++) {
        const double dz = (const double[]){40, 25, 10}[i % 3],
                     z = (const double[]){10, 20, 60}[i / 3];
        const double top[] = {at[0][0][0] + 70, at[0][0][1] + 20, z},
                     most = error_at(top, 40, dz, NULL);
        if (!(most < 0.02))
            fail_msg("every %g m from %g m: %g", dz, z, most);
    }
    pulses = 9;
}

/* However dense the traces, no operator is as steep as the first low-pass level that is not
 * computed. */
static void levels_that_are_read(void **state)
{
    write_traces(0, 0);
    for (double spacing = 2; spacing < 500; spacing *= 1.3) {
        struct migrate_options o;
        struct migrate *m;
        migrate_defaults(&o);
        o.data = path;
        o.velocity = "gradient:v0=2000,k=0.5";
        o.grid = "1x1x45:50x50x5@700,800,80";
        o.spacing_receiver = spacing;
        o.spacing_source = -1;
        assert_int_equal(migrate_open(&o, &m), EK_OK);
        const int n = m->sum.levels;
        const double steepest = spacing / v0;
        assert_true(n == MIGRATE_LEVELS || (double)m->par[PAR_LEVEL + n - 1] > steepest);
        assert_true(n == 1 || (double)m->par[PAR_LEVEL + n - 2] < 1.3 * steepest);
        migrate_close(m);
    }
}

/* The image and its check take the same level at the last depths, which fill no whole block. */
static void levels_of_the_last_depths(void **state)
{
    pulses = 40;
    write_traces(0, 0);
    for (int nz = 1; nz <= MOST_DEPTHS; nz++) {
        struct migrate_options o;
        char grid[96];
        migrate_defaults(&o);
        snprintf(grid, sizeof grid, "9x9x%d:50x50x40@500,600,80", nz);
        o.data = path;
        o.velocity = "gradient:v0=2000,k=0.5";
        o.grid = grid;
        o.spacing_receiver = 60;
        struct migrate *m = migrated(&o);
        const struct resum_verdict v = resum_judge(m->resum);
        if (v.failing || !(v.share < 0.01))
            fail_msg("%d depths: %d points fail, %g of all contributions", nz, v.failing, v.share);
        migrate_close(m);
    }
    pulses = 9;
}

/* The largest relative error of a weight over a column, with traces that hardly vary. */
static double weight_error(enum migrate_weight weight, const char *grid)
{
    float column[MOST_DEPTHS];
    struct migrate_options o;
    double most = 0;
    migrate_defaults(&o);
    o.data = path;
    o.velocity = "gradient:v0=2000,k=0.5";
    o.grid = grid;
    o.weight = weight;
    o.anti_alias = 0;
    struct migrate *m = migrated(&o);
    image_column(m->image, 0, 0, false, column);
    for (int i = 0; i < m->grid.n[2]; i++) {
        double sum = 0, point[3];
        grid_place(&m->grid, 0, 0, i, point);
        for (int t = 0; t < TRACES; t++) {
            struct analytic s, g;
            analytic_linear(v0, k, at[t][0], point, &s);
            analytic_linear(v0, k, at[t][1], point, &g);
            const double spread = 16 * M_PI * M_PI * s.spread * g.spread;
            sum +=
                (weight == MIGRATE_DIFFRACTOR ? spread : 1 / spread) * sample_at(s.time + g.time);
        }
        most = fmax(most, fabs((double)column[i] / sum - 1));
    }
    migrate_close(m);
    return most;
}

/* Near the surface, with sources farther apart than the image is deep. */
static void shallow_spreading(void **state)
{
    pulses = 0.02;
    write_traces(0, 0);
    assert_true(weight_error(MIGRATE_DIFFRACTOR, "1x1x31:50x50x7@700,800,90") < 0.01);
    pulses = 9;
}

/* Straight below an end, where weights bend most from depth to depth. */
static void weights_below_the_ends(void **state)
{
    char grid[96];
    pulses = 0.02;
    write_traces(0, 0);
    for (int t = 0; t < TRACES; t++) {
        snprintf(grid, sizeof grid, "1x1x48:50x50x10@%g,%g,20", at[t][0][0] + 5, at[t][0][1]);
        const double spread = weight_error(MIGRATE_DIFFRACTOR, grid),
                     decay = weight_error(MIGRATE_MODELLING, grid);
        if (!(spread < 0.01) || !(decay < 0.01))
            fail_msg("below source %d: %g of L L, %g of 1 / (L L)", t, spread, decay);
    }
    pulses = 9;
}

/* Writes a survey over these events; each end has its own height between `above` and `below`. */
static void write_survey(const struct generate_survey *g, int event, double above, double below)
{
    const struct segy_new file = {.ns = g->ns, .dt = g->dt};
    const int receivers = g->receivers * g->receivers, n = g->shots * g->shots * receivers;
    struct segy_writer *w;
    float *sample = malloc((size_t)g->ns * sizeof *sample);
    double height[2] = {0, 0};
    srand(44);
    name_file();
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    for (int i = 0; i < n; i++) {
        double s[3], r[3];
        if (i % receivers == 0)
            height[0] = round(draw(above, below));
        height[1] = round(draw(above, below));
        generate_place(g, i, s, r);
        s[2] = height[0];
        r[2] = height[1];
        generate_trace(g, &generate_events[event], s, r, sample);
        const struct segy_put put = {
            .sx = s[0], .sy = s[1], .sz = s[2], .gx = r[0], .gy = r[1], .gz = r[2]};
        assert_int_equal(segy_put(w, &put, sample), EK_OK);
    }
    assert_int_equal(segy_finish(w), EK_OK);
    free(sample);
}

/* The height of the image's peak at a place, and its depth. */
static double peak_of(enum migrate_weight weight, const char *velocity, const char *grid,
                      const char *tables, double *deep)
{
    struct migrate_options o;
    float column[64];
    int best = 0;
    migrate_defaults(&o);
    o.data = path;
    o.velocity = velocity;
    o.weight = weight;
    o.grid = grid;
    o.table_grid = tables;
    o.anti_alias = 0;
    struct migrate *m = migrated(&o);
    image_column(m->image, 0, 0, true, column);
    for (int i = 0; i < m->grid.n[2]; i++)
        best = column[i] > column[best] ? i : best;
    assert_true(best > 0 && best < m->grid.n[2] - 1);
    const double low = (double)column[best - 1], peak = (double)column[best],
                 high = (double)column[best + 1];
    const double shift = 0.5 * (low - high) / (low - 2 * peak + high);
    *deep = grid_coordinate(&m->grid, 2, best) + shift * m->grid.step[2];
    migrate_close(m);
    return peak - 0.25 * (low - high) * shift;
}

/* Exact data of points and of a plane from ends at any height: a point's strength and place, and a
 * plane's reflectivity, come out as from a level survey. */
static void images_from_any_elevation(void **state)
{
    static const double range[][2] = {{0, 0}, {-150, 50}, {0, 120}};
    static const struct {
        double v0, k;
    } media[] = {{2000, 0.5}, {2200, 0}};
    static const char tables[] = "25x25x47:50x50x20@900,900,560";
    for (int m = 0; m < 2; m++) {
        struct generate_survey g = generate_surveys[GENERATE_MEDIUM];
        char velocity[64];
        double level[2] = {0};
        g.shots = 2;
        g.v0 = media[m].v0;
        g.k = media[m].k;
        snprintf(velocity, sizeof velocity, media[m].k > 0 ? "gradient:v0=%g,k=%g" : "const:v=%g",
                 g.v0, g.k);
        for (int i = 0; i < 3; i++) {
            double z[2];
            if (i == 2 - m && !getenv("EK_LONG"))
                continue;
            write_survey(&g, GENERATE_POINTS, range[i][0], range[i][1]);
            const double point = peak_of(MIGRATE_DIFFRACTOR, velocity,
                                         "1x1x41:50x50x5@1500,1500,900", tables, &z[0]);
            write_survey(&g, GENERATE_FLAT, range[i][0], range[i][1]);
            const double plane =
                peak_of(MIGRATE_AMPLITUDE, velocity, "1x1x41:50x50x5@1500,1500,900", tables, &z[1]);
            level[0] = i ? level[0] : point;
            level[1] = i ? level[1] : plane;
            assert_true(fabs(z[0] - 1000) < 5 && fabs(z[1] - 1000) < 5);
            assert_true(fabs(point / level[0] - 1) < 0.01 && fabs(plane / level[1] - 1) < 0.05);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_of_depths),
                                       cmocka_unit_test(every_shape),
                                       cmocka_unit_test(any_elevation),
                                       cmocka_unit_test(above_the_ends),
                                       cmocka_unit_test(coarse_and_shallow),
                                       cmocka_unit_test(levels_that_are_read),
                                       cmocka_unit_test(levels_of_the_last_depths),
                                       cmocka_unit_test(shallow_spreading),
                                       cmocka_unit_test(weights_below_the_ends),
                                       cmocka_unit_test(images_from_any_elevation)};
    return cmocka_run_group_tests(tests, NULL, drop_traces);
}
