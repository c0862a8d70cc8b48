/* tests/test_kirchhoff_mig.c – migration of data with known answers: point diffractors at their
 * place and strength, planes with their depth, dip and reflectivity, single spikes as isochrons. v
 * = 2000 + 0.5 z, exact tables on a grid. */
#include "kirchhoff/generate.h"
#include "src/table.h"
#include "kirchhoff/sum.h"
#include "src/random.h"
#include "tests/isa.h"
#include "tests/migrated.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"

#define assert_near(x, y, tolerance)                                                               \
    do {                                                                                           \
        const double x_ = (x), y_ = (y);                                                           \
        if (!(fabs(x_ - y_) <= (tolerance)))                                                       \
            fail_msg("%s = %.9g, not %.9g within %g", #x, x_, y_, (double)(tolerance));            \
    } while (0)

static char points_path[64], plane_path[64];

static struct migrate_options usual(const char *data)
{
    struct migrate_options o;
    migrate_defaults(&o);
    o.data = data;
    o.velocity = "gradient:v0=2000,k=0.5";
    o.anti_alias = 0;
    return o;
}

struct peak {
    double at[3], value, width[3]; /* in m; at -6 dB */
};

static double image_at(const struct migrate *m, int class, const int at[3])
{
    static float column[4096];
    image_column(m->image, class, (size_t)(at[0] * m->grid.n[1] + at[1]), true, column);
    return (double)column[at[2]];
}

/* Along one axis through the highest node: the top of a parabola, and the width at half height. */
static void refine(const struct migrate *m, int class, const int top[3], int axis, struct peak *p)
{
    int a[3], b[3];
    memcpy(a, top, sizeof a);
    memcpy(b, top, sizeof b);
    a[axis]--;
    b[axis]++;
    const double y0 = image_at(m, class, a), y1 = image_at(m, class, top),
                 y2 = image_at(m, class, b);
    const double shift = 0.5 * (y0 - y2) / (y0 - 2 * y1 + y2);
    p->at[axis] = grid_coordinate(&m->grid, axis, top[axis]) + shift * m->grid.step[axis];
    while (a[axis] > 0 && image_at(m, class, a) > 0.5 * y1)
        a[axis]--;
    while (b[axis] < m->grid.n[axis] - 1 && image_at(m, class, b) > 0.5 * y1)
        b[axis]++;
    p->width[axis] = (b[axis] - a[axis]) * m->grid.step[axis];
}

static struct peak find_peak(const struct migrate *m, int class)
{
    struct peak p = {.value = -INFINITY};
    int top[3] = {0}, at[3];
    for (at[0] = 0; at[0] < m->grid.n[0]; at[0]++)
        for (at[1] = 0; at[1] < m->grid.n[1]; at[1]++)
            for (at[2] = 0; at[2] < m->grid.n[2]; at[2]++)
                if (image_at(m, class, at) > p.value) {
                    p.value = image_at(m, class, at);
                    memcpy(top, at, sizeof top);
                }
    for (int axis = 0; axis < 3; axis++)
        refine(m, class, top, axis, &p);
    return p;
}

/* ---- diffractors ------------------------------------------------------------------------------*/

static void diffractors_come_back(void **state)
{
    const struct generate_events *e = &generate_events[GENERATE_POINTS];
    double least = INFINITY, most = 0;
    for (int d = 0; d < e->ndiffractors; d++) {
        const struct generate_diffractor *point = &e->diffractor[d];
        struct migrate_options o = usual(points_path);
        char grid[96];
        snprintf(grid, sizeof grid, "13x13x41:20x20x5@%g,%g,%g", point->at[0] - 120,
                 point->at[1] - 120, point->at[2] - 100);
        o.grid = grid;
        o.weight = MIGRATE_DIFFRACTOR;
        struct migrate *m = migrated(&o);
        const struct peak p = find_peak(m, 0);
        assert_near(p.at[0], point->at[0], 4);
        assert_near(p.at[1], point->at[1], 4);
        assert_near(p.at[2], point->at[2], 2.5);
        assert_near(p.value / point->strength, 1, 0.03);
        assert_true(p.width[0] <= 130 && p.width[1] <= 130 && p.width[2] <= 78);
        least = fmin(least, p.value / point->strength);
        most = fmax(most, p.value / point->strength);
        migrate_close(m);
    }
    assert_true(most / least < 1.03);
}

static void offset_classes_are_flat(void **state)
{
    struct migrate_options o = usual(points_path);
    o.grid = "7x7x41:20x20x5@1440,1440,900";
    o.weight = MIGRATE_DIFFRACTOR;
    o.classes = 4;
    o.class_width = 500;
    struct migrate *m = migrated(&o);
    for (int c = 0; c < 4; c++) {
        const struct peak p = find_peak(m, c);
        assert_near(p.at[2], 1000, 2.5);
        assert_near(p.value, 1, 0.06);
    }
    migrate_close(m);
}

/* ---- planes -----------------------------------------------------------------------------------*/

static double plane_depth(double x, double y)
{
    return 1200 + 0.2 * (x - 1500) + 0.1 * (y - 1500);
}

/* Depth of the image's peak in a column. */
static double depth_at(const struct migrate *m, int i, int j)
{
    int top[3] = {i, j, 1}, at[3] = {i, j, 0};
    struct peak p = {.value = 0};
    for (at[2] = 1; at[2] < m->grid.n[2] - 1; at[2]++)
        if (image_at(m, 0, at) > image_at(m, 0, top))
            top[2] = at[2];
    refine(m, 0, top, 2, &p);
    return p.at[2];
}

static void planes_have_depth_and_dip(void **state)
{
    struct migrate_options o = usual(plane_path);
    o.grid = "5x5x97:300x300x5@900,900,960";
    o.weight = MIGRATE_AMPLITUDE;
    struct migrate *m = migrated(&o);
    double sum = 0, slope_x = 0, slope_y = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            const double x = 900 + 300 * i, y = 900 + 300 * j, z = depth_at(m, i, j);
            assert_near(z, plane_depth(x, y), 5);
            sum += z - plane_depth(x, y);
            slope_x += (x - 1500) * z;
            slope_y += (y - 1500) * z;
        }
    const double squares = 25 * 2 * 90000; /* sum of (x - 1500)^2 */
    assert_near(sum / 25, 0, 2.5);
    assert_near(slope_x / squares, 0.2, 0.002);
    assert_near(slope_y / squares, 0.1, 0.001);
    migrate_close(m);
}

/* The highest value of a single-shot image near a point of the plane. */
static double reflectivity(const char *path, double x, double y)
{
    struct migrate_options o = usual(path);
    char grid[96];
    snprintf(grid, sizeof grid, "3x3x41:10x10x5@%g,%g,%g", x - 10, y - 10, plane_depth(x, y) - 100);
    o.grid = grid;
    o.weight = MIGRATE_AMPLITUDE;
    o.spacing_receiver = 100;
    o.chunk = 64;
    struct migrate *m = migrated(&o);
    double most = 0;
    for (int k = 1; k < 40; k++)
        most = fmax(most, image_at(m, 0, (int[]){1, 1, k}) * (double)image_fold(m->image, 0, 4)[k]);
    migrate_close(m);
    return most;
}

/* One shot over a square of receivers; specular points lie at least 800 m inside its edges. */
static void write_shot(const char *path, double x, double y)
{
    struct generate_survey g = generate_surveys[GENERATE_S1];
    const struct generate_events *e = &generate_events[GENERATE_PLANE];
    const struct segy_new file = {.ns = g.ns, .dt = g.dt};
    struct segy_writer *w;
    float sample[701];
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    for (int i = 0; i <= 30; i++)
        for (int j = 0; j <= 30; j++) {
            const double s[3] = {x, y, 0}, r[3] = {100 * i, 100 * j, 0};
            const struct segy_put put = {.sx = x, .sy = y, .gx = r[0], .gy = r[1]};
            generate_trace(&g, e, s, r, sample);
            assert_int_equal(segy_put(w, &put, sample), EK_OK);
        }
    assert_int_equal(segy_finish(w), EK_OK);
}

static void reflectivity_comes_back(void **state)
{
    static const double shot[][2] = {{1900, 1500}, {1700, 1300}, {1500, 1700}};
    static const double point[][2] = {{1500, 1500}, {1450, 1400}};
    char path[80];
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_mig-%d-shot.segy", (int)getpid());
    double sum = 0;
    for (int s = 0; s < 3; s++) {
        write_shot(path, shot[s][0], shot[s][1]);
        for (int p = 0; p < 2; p++) {
            const double r = reflectivity(path, point[p][0], point[p][1]);
            assert_near(r, 0.1, 0.01);
            sum += r / 6;
        }
    }
    assert_near(sum, 0.1, 0.005);
    unlink(path);
}

/* ---- one spike --------------------------------------------------------------------------------*/

/* A trace with one spike images its isochron; tests/data has points on it. */
static void spikes_become_isochrons(void **state)
{
    enum { NS = 1001 };
    struct table *t;
    int column[8];
    static const char *const names[] = {"v0", "k", "t0", "sx", "gx", "x", "y", "z"};
    assert_int_equal(table_open("tests/data/kirchhoff/isochron.csv", NULL, &t), EK_OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(table_need(t, names[i], &column[i]), EK_OK);
    char path[80];
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_mig-%d-spike.segy", (int)getpid());
    int checked = 0;
    for (size_t row = 0; row < t->nrows; row += 3) {
        double x[8];
        for (int i = 0; i < 8; i++)
            assert_int_equal(table_number(t, row, column[i], &x[i]), EK_OK);
        const struct segy_new file = {.ns = NS, .dt = 0.004};
        const struct segy_put put = {.sx = x[3], .sy = 1500, .gx = x[4], .gy = 1500};
        float sample[NS] = {0}, depth[64];
        struct segy_writer *w;
        sample[lrint(x[2] / 0.004)] = 1;
        assert_int_equal(segy_create(path, &file, &w), EK_OK);
        assert_int_equal(segy_put(w, &put, sample), EK_OK);
        assert_int_equal(segy_finish(w), EK_OK);
        struct migrate_options o = usual(path);
        char grid[96], velocity[64];
        const double from = fmax(0, x[7] - 40);
        snprintf(velocity, sizeof velocity, "gradient:v0=%g,k=%g", x[0], x[1]);
        snprintf(grid, sizeof grid, "2x2x41:50x50x2@%g,%g,%.6f", x[5], x[6], from);
        o.grid = grid;
        o.velocity = velocity;
        o.filter = 1;
        struct migrate *m = migrated(&o);
        image_column(m->image, 0, 0, false, depth);
        int top = 0;
        for (int k = 0; k < 41; k++)
            top = depth[k] > depth[top] ? k : top;
        assert_near(from + 2 * top, x[7], 3);
        checked++;
        migrate_close(m);
    }
    assert_true(checked > 20);
    table_close(t);
    unlink(path);
}

/* ---- limits -----------------------------------------------------------------------------------*/

/* The image of one trace on a line across it, at a depth that both ends see under wide angles. */
static void across_one_trace(const char *path, double dip, double *to)
{
    struct migrate_options o = usual(path);
    o.velocity = "const:v=2000";
    o.grid = "37x1x2:50x1x5@-900,0,400";
    o.filter = 1;
    o.dip = dip;
    struct migrate *m = migrated(&o);
    for (int i = 0; i < 37; i++)
        to[i] = image_at(m, 0, (int[]){i, 0, 0});
    migrate_close(m);
}

static double drawn(uint64_t *seed, double low, double high)
{
    return low + (high - low) * random_uniform(seed);
}

/* Writes one trace between random places and draws an image grid near it. */
static void put_drawn(const char *path, uint64_t *seed, char grid[80])
{
    float sample[501];
    struct segy_writer *w;
    const struct segy_new file = {.ns = 501, .dt = 0.004};
    const struct segy_put put = {.sx = drawn(seed, -1000, 0), .gx = drawn(seed, 0, 1000)};
    for (int i = 0; i < file.ns; i++)
        sample[i] = 1 + 0.001F * (float)i;
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    assert_int_equal(segy_put(w, &put, sample), EK_OK);
    assert_int_equal(segy_finish(w), EK_OK);
    snprintf(grid, 80, "9x1x%d:%.0fx1x%.0f@%.0f,0,%.0f", 2 + (int)random_below(seed, 4),
             drawn(seed, 20, 150), drawn(seed, 10, 50), drawn(seed, -800, 0),
             drawn(seed, 100, 900));
}

/* Taper of a trace's limits at (x, 0, z), if v is constant. */
static double tapered(const struct migrate_options *o, double source, double receiver, double x,
                      double z)
{
    const double degrees = acos(-1) / 180;
    const double s = atan2(x - source, z), g = atan2(x - receiver, z);
    const double half = fabs(s - g) / 2, dip = fabs(s + g) / 2;
    const double reach =
        fmin(o->aperture, o->aperture_base + z * tan(fmin(o->dip, 89.9) * degrees));
    const double inside =
        (reach - fabs(x - (source + receiver) / 2)) / fmax(o->taper * reach, 1e-3);
    const struct {
        double is, most;
    } limit[] = {{half, o->angle / 2 * degrees}, {dip, o->dip * degrees}};
    double left = isfinite(reach) ? fmin(fmax(inside, 0), 1) : 1;
    for (int i = 0; i < 2; i++) {
        const double end = pow(cos(limit[i].most), 2);
        const double full = pow(cos(fmax(limit[i].most - 5 * degrees, 0)), 2);
        if (limit[i].most < acos(-1) / 2 - 1e-9)
            left *= fmin(fmax((pow(cos(limit[i].is), 2) - end) / (full - end), 0), 1);
    }
    return left;
}

/* The limits of one constant trace at v = 2000, against their definition at each depth. */
static void limits_are_exact_at_each_depth(void **state)
{
    enum { NS = 2000 };
    const struct segy_new file = {.ns = NS, .dt = 0.004};
    uint64_t seed = 5;
    float sample[NS];
    char path[80], grid[80];
    double worst = 0;
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_mig-%d-exact.segy", (int)getpid());
    for (int i = 0; i < NS; i++)
        sample[i] = 1 + 1e-5F * (float)i;
    for (int i = 0; i < 60; i++) {
        const struct segy_put put = {.sx = round(drawn(&seed, -1000, 0)),
                                     .gx = round(drawn(&seed, 0, 1000))};
        const double x = round(drawn(&seed, -900, 900)), dz = round(drawn(&seed, 5, 20)),
                     top = round(drawn(&seed, 20, 300));
        struct migrate_options o = usual(path);
        struct segy_writer *w;
        assert_int_equal(segy_create(path, &file, &w), EK_OK);
        assert_int_equal(segy_put(w, &put, sample), EK_OK);
        assert_int_equal(segy_finish(w), EK_OK);
        snprintf(grid, sizeof grid, "1x1x100:1x1x%g@%g,0,%g", dz, x, top);
        o.velocity = "const:v=2000";
        o.grid = grid;
        o.weight = MIGRATE_KINEMATIC;
        o.filter = 1;
        o.taper = i % 2 ? 0.2 : 0;
        o.dip = i % 3 == 0 ? 90 : drawn(&seed, 10, 60);
        o.angle = i % 3 == 1 ? 180 : drawn(&seed, 40, 140);
        o.aperture_base = i % 4 > 1 ? INFINITY : drawn(&seed, 50, 500);
        o.aperture = i % 5 ? INFINITY : fabs(x - (put.sx + put.gx) / 2) + drawn(&seed, 5, 500);
        o.trust_geometry = true;
        struct migrate *m = migrated(&o);
        for (int k = 0; k < 100; k++) {
            const double z = top + dz * k;
            const double u = (hypot(x - put.sx, z) + hypot(x - put.gx, z)) / 2000 / 0.004;
            const double is = image_sum(m->image, 0, 0)[k] / (1 + 1e-5 * u);
            const double want = u < NS - 2 ? tapered(&o, put.sx, put.gx, x, z) : is;
            worst = fmax(worst, fabs(is - want));
            if (!(fabs(is - want) < 0.02))
                fail_msg("trace %d, depth %g m: weight %g, not %g", i, z, is, want);
            if (fabs(want - 0.5) < 0.49 && u < NS - 2) /* not at a rounded edge */
                assert_true(image_fold(m->image, 0, 0)[k] == 1);
            if (tapered(&o, put.sx, put.gx, x, z + 0.1) == 0) /* they grow with the depth */
                assert_true(image_fold(m->image, 0, 0)[k] == 0);
        }
        migrate_close(m);
    }
    print_message("limits are at most %.2g off\n", worst);
    unlink(path);
}

/* A one-trace image consists mostly of its limits: the check must know where they cut. */
static void limited_images_are_judged(void **state)
{
    uint64_t seed = 1;
    char path[80], grid[80];
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_mig-%d-limits.segy", (int)getpid());
    for (int i = 0; i < 60; i++) {
        struct migrate_options o = usual(path);
        put_drawn(path, &seed, grid);
        o.grid = grid;
        o.weight = i % 4;
        o.spacing_receiver = 25;
        o.dip = i % 3 == 0 ? 90 : drawn(&seed, 10, 60);
        o.angle = i % 3 == 1 ? 180 : drawn(&seed, 40, 140);
        o.aperture_base = i % 5 ? INFINITY : drawn(&seed, 50, 500);
        o.trust_geometry = true;
        struct migrate *m = migrated(&o);
        const struct resum_verdict v = resum_judge(m->resum);
        if (!v.good)
            fail_msg("image %d, %s: %d of %d points fail, by %.3g %%", i, grid, v.failing, v.points,
                     100 * v.share);
        migrate_close(m);
    }
    unlink(path);
}

/* The dip limit is the same for rays of any opening angle: everything up to five degrees below it
 * is kept, nothing above it. */
static void dips_are_limited_at_any_angle(void **state)
{
    enum { NS = 1001 };
    const struct segy_new file = {.ns = NS, .dt = 0.004};
    const struct segy_put put = {.sx = -1000, .gx = 1000};
    struct segy_writer *w;
    float sample[NS];
    double all[37], some[37];
    char path[80];
    int kept = 0, left = 0;
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_mig-%d-dips.segy", (int)getpid());
    for (int i = 0; i < NS; i++)
        sample[i] = 1 + 0.001F * (float)i;
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    assert_int_equal(segy_put(w, &put, sample), EK_OK);
    assert_int_equal(segy_finish(w), EK_OK);
    across_one_trace(path, 90, all);
    for (double most = 10; most < 70; most += 20) {
        across_one_trace(path, most, some);
        for (int i = 0; i < 37; i++) {
            const double x = 50 * i - 900, s = atan2(x + 1000, 400), g = atan2(x - 1000, 400);
            const double dip = fabs(s + g) / 2 * 180 / acos(-1);
            if (dip < most - 5)
                assert_near(some[i] / all[i], 1, 1e-3);
            if (dip > most)
                assert_near(some[i], 0, 0);
            kept += dip < most - 5;
            left += dip > most;
        }
    }
    assert_true(kept > 20 && left > 10);
    unlink(path);
}

static int write_surveys(void **state)
{
    snprintf(points_path, sizeof points_path, "/tmp/test_kirchhoff_mig-%d-d.segy", (int)getpid());
    snprintf(plane_path, sizeof plane_path, "/tmp/test_kirchhoff_mig-%d-p.segy", (int)getpid());
    return generate_file("medium", "diffractors", points_path) ||
           generate_file("s1", "plane", plane_path);
}

static int drop_surveys(void **state)
{
    unlink(points_path);
    unlink(plane_path);
    return 0;
}

/* ---- instruction levels -----------------------------------------------------------------------*/

/* A small image with one level of anti-aliasing and with eight. */
static void migrate_small(void *arg, double *to)
{
    for (int alias = 0; alias < 2; alias++) {
        struct migrate_options o = usual(points_path);
        o.grid = "3x3x41:60x60x5@1500,1500,700";
        o.aperture = 1200;
        o.anti_alias = alias;
        struct migrate *m = migrated(&o);
        for (int k = 0; k < 9 * 41; k++)
            *to++ = image_at(m, 0, (int[3]){k / 123, k / 41 % 3, k % 41});
        migrate_close(m);
    }
}

static void every_level_has_the_same_bits(void **state)
{
    isa_compare("image", 2 * 9 * 41, false, 0, migrate_small, NULL);
}

enum { DEPTHS = 128, NODES = 56, LEVELS = 3, SAMPLES = 1400, SLOPES = 200, SPAN = 4 * NODES };

/* Nodes whose times advance by about `slope` samples; weights and spacings between 0 and 1. */
static void random_row(double slope, uint64_t *seed, float *row)
{
    double time = slope < 0 ? 600 : 20 + 300 * random_uniform(seed);
    for (int k = 0; k < NODES; k++) {
        row[NODE_U * NODES + k] = (float)time;
        row[NODE_V * NODES + k] = (float)(0.5 * slope + 0.2 * random_uniform(seed));
        for (int f = NODE_A; f < NODE_FIELDS; f++)
            row[f * NODES + k] = (float)random_uniform(seed);
        time += slope * (0.9 + 0.2 * random_uniform(seed));
    }
}

/* Cuts the second of a file's two traces of ns samples. */
static void shorten_second(const char *path, int ns, int shorter)
{
    const off_t second = 3600 + 240 + 4 * (off_t)ns;
    const unsigned char word[2] = {(unsigned char)(shorter >> 8), (unsigned char)shorter};
    const int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "\0\0", 2, 3502), 2); /* lengths are not fixed */
    assert_int_equal(pwrite(file, word, 2, second + 114), 2);
    assert_int_equal(ftruncate(file, second + 240 + 4 * (off_t)shorter), 0);
    close(file);
}

/* At v = 2000 a depth counts the traces that have a sample at its time, also when a trace ends
 * between two nodes, or before the other one; behind its end it adds nothing. Each image has two
 * traces; places, lengths and steps are random. */
static void folds_count_depths(void **state)
{
    uint64_t seed = 3;
    char path[80], grid[80];
    float zero[1000];
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_mig-%d-fold.segy", (int)getpid());
    for (int i = 0; i < 1000; i++)
        zero[i] = (float)(i % 7);
    for (int i = 0; i < 40; i++) {
        const double step = 5 + (double)random_below(&seed, 40);
        const int nz = 1 + (int)random_below(&seed, 60), ns = 200 + (int)random_below(&seed, 800);
        const int length[2] = {ns, i % 2 ? ns : ns / 2 + (int)random_below(&seed, 100)};
        const struct segy_new file = {.ns = ns, .dt = 0.002};
        struct segy_put put[2];
        struct segy_writer *w;
        assert_int_equal(segy_create(path, &file, &w), EK_OK);
        for (int t = 0; t < 2; t++) {
            put[t] =
                (struct segy_put){.sx = drawn(&seed, -900, 900), .gx = drawn(&seed, -900, 900)};
            put[t].sx = round(put[t].sx);
            put[t].gx = round(put[t].gx);
            assert_int_equal(segy_put(w, &put[t], zero), EK_OK);
        }
        assert_int_equal(segy_finish(w), EK_OK);
        shorten_second(path, ns, length[1]);
        snprintf(grid, sizeof grid, "1x1x%d:1x1x%g@0,0,100", nz, step);
        struct migrate_options o = usual(path);
        o.velocity = "const:v=2000";
        o.grid = grid;
        o.trust_geometry = true;
        struct migrate *m = migrated(&o);
        for (int k = 0; k < nz; k++) {
            const double z = 100 + step * k;
            int count = 0, near = 0;
            for (int t = 0; t < 2; t++) {
                const double u = (hypot(put[t].sx, z) + hypot(put[t].gx, z)) / 2000 / file.dt;
                count += u <= length[t] - 1;
                near += fabs(u - (length[t] - 1)) < 1; /* times and samples are interpolated */
            }
            if (!near && count == 0)
                assert_true(image_sum(m->image, 0, 0)[k] == 0);
            if (!near && image_fold(m->image, 0, 0)[k] != (float)count)
                fail_msg("survey %d, %s, depth %d: fold %g, not %d", i, grid, k,
                         (double)image_fold(m->image, 0, 0)[k], count);
        }
        migrate_close(m);
    }
    unlink(path);
}

/* Sums over times that advance slowly or fast, run backwards or leave the trace, so that sixteen
 * depths need windows of each size or fit in none, over columns of any number of blocks. The buffer
 * ends with the last sample that may be read. */
static void sum_any(void *arg, double *to)
{
    enum { STRIDE = SAMPLES + SUM_BEHIND };
    float par[PAR_COUNT] = {[PAR_TOP] = SAMPLES - 2};
    float reach[NODES], taper[NODES], row[2][NODE_FIELDS * NODES], u[NODES], c[NODES], w[NODES];
    float counts[NODES] = {0}, fold[DEPTHS] = {0}, fade[NODES], open[NODES], upright[NODES],
          reach_at[SPAN], taper_at[SPAN], *sample = calloc(LEVELS * STRIDE, sizeof *sample);
    int level[NODES];
    uint64_t seed = 7;
    const struct sum_nodes nodes = {u, c, w, open, upright, fade, level};
    assert_non_null(sample);
    par[PAR_ANGLE1] = par[PAR_DIP1] = 5;
    par[PAR_LEVEL] = 0.8F;
    par[PAR_LEVEL + 1] = 0.95F;
    for (int i = 0; i < LEVELS * STRIDE; i++)
        sample[i] = (float)random_uniform(&seed);
    for (int k = 0; k < NODES; k++) {
        reach[k] = 100;
        taper[k] = 1;
    }
    for (int z = 0; z < SPAN; z++) {
        reach_at[z] = reach[0];
        taper_at[z] = taper[0];
    }
    memset(to, 0, SLOPES * 2 * DEPTHS * sizeof *to);
    for (int s = 0; s < SLOPES; s++)
        for (int levels = 1; levels <= LEVELS; levels += LEVELS - 1, to += DEPTHS) {
            const int blocks = 1 + (int)random_below(&seed, DEPTHS / MIGRATE_BLOCK);
            const struct sum_plan plan = {.depths = blocks * MIGRATE_BLOCK,
                                          .nodes = NODES,
                                          .par = par,
                                          .reach = reach,
                                          .taper = taper,
                                          .levels = levels,
                                          .fine = (int)random_below(&seed, 3) * MIGRATE_BLOCK,
                                          .end = NODES - 1,
                                          .limited = s % 2,
                                          .reach_at = reach_at,
                                          .taper_at = taper_at};
            const struct sum_trace t = {row[0], row[1], sample, STRIDE, 1.5F, 0, SAMPLES - 3, 10};
            const double slope = s ? 0.3 * exp(0.025 * s) : -4;
            random_row(slope, &seed, row[0]);
            random_row(slope, &seed, row[1]);
            sum_column(&plan, &t, &nodes, to, counts, fold);
        }
    free(sample);
}

static void every_level_sums_the_same(void **state)
{
    isa_compare("sum", SLOPES * 2 * DEPTHS, false, 0, sum_any, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diffractors_come_back),
        cmocka_unit_test(offset_classes_are_flat),
        cmocka_unit_test(planes_have_depth_and_dip),
        cmocka_unit_test(folds_count_depths),
        cmocka_unit_test(reflectivity_comes_back),
        cmocka_unit_test(spikes_become_isochrons),
        cmocka_unit_test(dips_are_limited_at_any_angle),
        cmocka_unit_test(limits_are_exact_at_each_depth),
        cmocka_unit_test(limited_images_are_judged),
        cmocka_unit_test(every_level_has_the_same_bits),
        cmocka_unit_test(every_level_sums_the_same),
    };
    return cmocka_run_group_tests(tests, write_surveys, drop_surveys);
}
