/* tests/test_kirchhoff_velocity.c – closed forms against reference values, models against their own
 * derivatives, tables and folders written, read back and damaged. */
#include "cu/rank/stop.h"
#include "kirchhoff/analytic.h"
#include "kirchhoff/segy.h"
#include "kirchhoff/tfolder.h"
#include "src/random.h"
#include "tests/kirchhoff.h"

#include <fcntl.h>

static const char *const source[] = {"sx", "sy", "sz"}, *const point[] = {"px", "py", "pz"};
static const char *const slowness[] = {"qx", "qy", "qz"}, *const slope[] = {"kx", "ky", "kz"};

/* ---- closed forms -----------------------------------------------------------------------------*/

static void check_row(const struct table *t, size_t row, const struct analytic *c, double first)
{
    double q[3], size = 0, off = 0;
    cells(t, row, slowness, q);
    for (int a = 0; a < 3; a++) {
        size += q[a] * q[a];
        off += (q[a] - c->p[a]) * (q[a] - c->p[a]);
    }
    assert_true(fabs(c->time - cell(t, row, "t_strong")) <= 1e-9 * c->time);
    assert_true(fabs(first - cell(t, row, "t_first")) <= 1e-9 * first);
    assert_true(fabs(c->spread - cell(t, row, "spread_L")) <= 2e-9 * c->spread);
    assert_true(sqrt(off / size) <= 2e-9);
    assert_true(fabs(c->takeoff[2] - cos(cell(t, row, "takeoff_polar_deg") * M_PI / 180)) <= 1e-9);
}

static void test_reference(void **state)
{
    struct table *t;
    int rows[2] = {0, 0};
    assert_int_equal(table_open(KIRCHHOFF_REFERENCE, NULL, &t), EK_OK);
    for (size_t row = 0; row < t->nrows; row++) {
        const char *model = table_text(t, row, table_find(t, "model"));
        double s[3], x[3], k[3];
        struct analytic c;
        cells(t, row, source, s);
        cells(t, row, point, x);
        if (!strcmp(model, "lens"))
            continue;
        const bool layers = !strcmp(model, "layer2");
        if (layers) {
            const struct analytic_layers m = {cell(t, row, "v0"), cell(t, row, "v2"),
                                              cell(t, row, "h")};
            double head;
            analytic_layers_strong(&m, s, x, &c);
            const bool has = analytic_layers_head(&m, s, x, &head);
            check_row(t, row, &c, has ? fmin(head, c.time) : c.time);
        } else {
            cells(t, row, slope, k);
            analytic_linear(cell(t, row, "v0"), k, s, x, &c);
            check_row(t, row, &c, c.time);
        }
        rows[layers]++;
    }
    assert_int_equal(rows[0], 126);
    assert_int_equal(rows[1], 42);
    table_close(t);
}

/* Time and spreading are the same in both directions. */
static void test_reciprocity(void **state)
{
    const struct analytic_layers m = {1500, 2500, 800};
    const double k[3] = {0.1, -0.2, 0.6};
    const double s[3] = {100, -50, 20}, x[3] = {1700, 900, 1900};
    struct analytic there, back;
    analytic_linear(1800, k, s, x, &there);
    analytic_linear(1800, k, x, s, &back);
    assert_true(fabs(there.time - back.time) < 1e-14);
    assert_true(fabs(there.spread - back.spread) < 1e-9);
    analytic_layers_strong(&m, s, x, &there);
    analytic_layers_strong(&m, x, s, &back);
    assert_true(fabs(there.time - back.time) < 1e-14);
    assert_true(fabs(there.spread - back.spread) < 1e-9 * there.spread);
    assert_true(fabs(there.p[0] * 2500 + back.takeoff[0]) < 1e-12);
}

/* Limits: a zero gradient equals a tiny one; the source itself. */
static void test_limits(void **state)
{
    const double none[3] = {0, 0, 0}, tiny[3] = {0, 0, 1e-9}, s[3] = {0, 0, 0}, x[3] = {3, 4, 12};
    struct analytic a, b;
    analytic_linear(2000, none, s, x, &a);
    analytic_linear(2000, tiny, s, x, &b);
    assert_true(fabs(a.time - 13.0 / 2000) < 1e-17);
    assert_true(fabs(a.time - b.time) < 1e-13);
    assert_true(fabs(a.spread - 13) < 1e-12);
    analytic_linear(2000, tiny, s, s, &a);
    assert_true(a.time == 0 && a.p[2] == 0);
}

/* Rays that graze the interface, and ends on it. Times by bisection in 70 digits. */
static void test_grazing(void **state)
{
    static const struct {
        struct analytic_layers m;
        double zs, X, zx, strong, first;
    } cases[] = {
        {{2000, 1000, 0}, -1e-5, 6650, 0.25, 3.3252165063509461, 3.3252165063509461},
        {{5400, 2700, 1371}, 1370.999999, 15804, 1371.1, 2.9266987416816216, 2.9266987416816216},
        {{470, 470.00005, 0}, -1e-4, 45000, 1, 95.744670689199485, 95.744670689199485},
        {{2000, 1000, 500}, 500, 1000, 500.1, 1.000000005, 0.50008660254037846},
        {{1000, 2000, 500}, 499.9, 1000, 500, 1.000000005, 0.50008660254037846},
        {{1000, 2000, 500}, 500, 1000, 500, 1, 0.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double s[3] = {0, 0, cases[i].zs}, x[3] = {cases[i].X, 0, cases[i].zx};
        struct analytic c;
        double head = INFINITY;
        analytic_layers_strong(&cases[i].m, s, x, &c);
        analytic_layers_head(&cases[i].m, s, x, &head);
        assert_true(fabs(c.time / cases[i].strong - 1) < 1e-10);
        assert_true(fabs(fmin(c.time, head) / cases[i].first - 1) < 1e-10);
        assert_true(isfinite(c.spread) && fabs(c.p[0] * c.p[0] + c.p[2] * c.p[2]) < INFINITY);
    }
}

/* ---- models -----------------------------------------------------------------------------------*/

static struct velocity *model(const char *text)
{
    struct velocity *v;
    assert_int_equal(velocity_open(text, &v), EK_OK);
    return v;
}

/* Gradients and curvatures agree with finite differences of v and of the gradient. */
static void check_derivatives(const struct velocity *v, const double x[3], double h, double error)
{
    static const int pair[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    double gradient[3], hessian[6];
    velocity_at(v, x, gradient);
    velocity_curvature(v, x, hessian);
    for (int a = 0; a < 3; a++) {
        double up[3], down[3], above[3], below[3];
        memcpy(up, x, sizeof up);
        memcpy(down, x, sizeof down);
        up[a] += h;
        down[a] -= h;
        const double slope_a = (velocity_at(v, up, above) - velocity_at(v, down, below)) / (2 * h);
        assert_true(fabs(slope_a - gradient[a]) <= error);
        for (int b = 0; b < 3; b++)
            assert_true(fabs((above[b] - below[b]) / (2 * h) - hessian[pair[a][b]]) <= error);
    }
}

static void test_derivatives(void **state)
{
    static const char *const texts[] = {"const:v=1500", "gradient:v0=1500,k=0.6",
                                        "gradient:v0=1500,kx=0.1,ky=-0.2,kz=0.6",
                                        "lens:v0=2000,kz=0.5,dv=500,x=200,y=-150,z=900,sigma=300",
                                        "layers:0:1500,800:2500,smooth=400"};
    const double x[3] = {310, 90, 770};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct velocity *v = model(texts[i]);
        check_derivatives(v, x, 0.1, 1e-6);
        velocity_close(v);
    }
}

static void test_values(void **state)
{
    const double x[3] = {1, 2, 1000};
    struct velocity *v = model("gradient:v0=1500,k=0.6");
    assert_true(velocity_at(v, x, NULL) == 2100);
    velocity_close(v);
    v = model("gradient:v0=-2.2e6,ky=0.5"); /* UTM */
    assert_true(velocity_at(v, (double[3]){4e5, 4.405e6, 0}, NULL) == 2500);
    velocity_close(v);
    v = model("layers:0:1500,800:2500,smooth=0");
    assert_true(velocity_at(v, (double[3]){0, 0, 799}, NULL) == 1500);
    assert_true(velocity_at(v, (double[3]){0, 0, 800}, NULL) == 2500);
    velocity_close(v);
}

static void test_bad_models(void **state)
{
    static const char *const texts[] = {"",
                                        "water",
                                        "const:",
                                        "const:v=-3",
                                        "const:v=x",
                                        "gradient:k=0.6",
                                        "gradient:v0=1500,k=1,kz=1",
                                        "gradient:v0=1500,q=2",
                                        "layers:",
                                        "layers:0:1500,0:2000",
                                        "layers:0:1500;800:2500",
                                        "layers:0:-1",
                                        "layers:0:1500,500:1e30",
                                        "layers:0:1500,smooth=-1",
                                        "cube:/nonexistent",
                                        "cube:/nonexistent.json",
                                        "lens:v0=2000"};
    struct velocity *v = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_fails(velocity_open(texts[i], &v), EK_USAGE);
    assert_null(v);
}

/* A cube sampled from a linear model equals that model; smoothing leaves its middle unchanged. */
static void test_cube(void **state)
{
    const struct grid g = {{11, 9, 13}, {-100, 50, 0}, {20, 25, 30}};
    struct velocity *linear = model("gradient:v0=1500,kx=0.1,ky=-0.2,kz=0.6"), *v = NULL;
    float *speed = malloc(grid_nodes(&g) * sizeof *speed), *node;
    assert_int_equal(velocity_sample(linear, &g, &node), EK_OK);
    for (size_t i = 0; i < grid_nodes(&g); i++)
        speed[i] = node[4 * i];
    for (int smooth = 0; smooth <= 10; smooth += 10) {
        const double x[3] = {-3, 147, 181};
        double gradient[3];
        assert_int_equal(cube_from(&g, speed, smooth, &v), EK_OK);
        assert_true(fabs(velocity_at(v, x, gradient) - velocity_at(linear, x, NULL)) < 1e-3);
        for (int a = 0; a < 3; a++)
            assert_true(fabs(gradient[a] - linear->k[a]) < 1e-5);
        velocity_close(v);
    }
    static const float none[] = {-1, 0, NAN, INFINITY, 1e30F}; /* as files mark gaps */
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        speed[7] = none[i];
        assert_fails(cube_from(&g, speed, 0, &v), EK_USAGE);
    }
    free(node);
    free(speed);
    velocity_close(linear);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void test_cube_files(void **state)
{
    char folder[64], path[128], text[256];
    float speed[24];
    struct velocity *v;
    scratch(folder);
    for (int i = 0; i < 24; i++)
        speed[i] = (float)(1500 + i);
    snprintf(path, sizeof path, "%s/v.bin", folder);
    write_file(path, speed, sizeof speed);
    snprintf(text, sizeof text, "cube:%s,nx=2,ny=3,nz=4,dx=10,dy=10,dz=10", path);
    v = model(text);
    assert_true(velocity_at(v, (double[3]){10, 20, 30}, NULL) == 1523);
    velocity_close(v);
    snprintf(text, sizeof text, "cube:%s,nx=2,ny=3,nz=5,dx=10,dy=10,dz=10", path);
    assert_fails(velocity_open(text, &v), EK_USAGE);
    assert_non_null(strstr(status_message(), "96 bytes"));
    const char *header = "{\"n\":[2,3,4],\"step\":[10,10,10],\"data\":\"v.bin\","
                         "\"order\":\"xyz\",\"scale\":2}";
    snprintf(path, sizeof path, "%s/v.json", folder);
    write_file(path, header, strlen(header));
    snprintf(text, sizeof text, "cube:%s", path);
    v = model(text);
    assert_true(velocity_at(v, (double[3]){10, 0, 0}, NULL) == 3002);
    velocity_close(v);
    write_file(path, "{\"n\":[2,3]}", 11);
    assert_fails(velocity_open(text, &v), EK_USAGE);
    unscratch(folder);
}

/* v = 1500 + (x y + y z + z x) / 1000 at the nodes; outside, it is as on the nearest face. */
static void test_outside_cube(void **state)
{
    const struct grid g = {{4, 4, 4}, {0, 0, 0}, {100, 100, 100}};
    float speed[64];
    struct velocity *v = NULL;
    for (int i = 0; i < 64; i++) {
        const double x = 100 * (i / 16), y = 100 * (i / 4 % 4), z = 100 * (i % 4);
        speed[i] = (float)(1500 + (x * y + y * z + z * x) / 1000);
    }
    assert_int_equal(cube_from(&g, speed, 0, &v), EK_OK);
    for (int where = 0; where < 27; where++) {
        static const double at[3] = {-150, 130, 420};
        check_derivatives(v, (double[]){at[where / 9], at[where / 3 % 3], at[where % 3]}, 0.1,
                          1e-5);
    }
    velocity_close(v);
}

/* 3 x 4 traces of 5 samples 10 m apart, v = 1500 + 0.1 x - 0.2 y + 0.6 z; one may be missing or
 * displaced. Located by cdp, or by source in SU files, which have no cdp. */
static void write_segy(const char *path, bool su, int without, double aside)
{
    const struct segy_new file = {.su = su, .format = 5, .ns = 5, .dt = 0.010};
    struct segy_writer *w;
    unlink(path); /* it was read before, and inputs are not overwritten */
    assert_int_equal(segy_create(path, &file, &w), EK_OK);
    for (int i = 0; i < 12; i++) {
        const int n = i * 5 % 12; /* in a scrambled order */
        const double x = 100 + 25 * (n / 4), y = 40 + 50 * (n % 4) + (n == 7 ? aside : 0);
        float speed[5];
        for (int k = 0; k < 5; k++)
            speed[k] = (float)(1500 + 0.1 * x - 0.2 * y + 0.6 * (10 * k));
        const struct segy_put place = {.cdpx = x, .cdpy = y, .sx = su ? x : 0, .sy = su ? y : 0};
        if (n != without)
            assert_int_equal(segy_put(w, &place, speed), EK_OK);
    }
    assert_int_equal(segy_finish(w), EK_OK);
}

static void test_segy_files(void **state)
{
    char folder[64], path[128], text[256];
    double gradient[3];
    struct velocity *v;
    scratch(folder);
    for (int su = 1; su >= 0; su--) {
        snprintf(path, sizeof path, "%s/v.%s", folder, su ? "su" : "segy");
        snprintf(text, sizeof text, "segy:%s%s", path, su ? ",dz=10" : "");
        write_segy(path, su, -1, 0);
        v = model(text);
        assert_int_equal(grid_nodes(&v->grid), 3 * 4 * 5);
        assert_true(fabs(velocity_at(v, (double[3]){130, 95, 17}, gradient) - 1504.2) < 1e-3);
        assert_true(fabs(gradient[1] + 0.2) < 1e-5 && fabs(gradient[2] - 0.6) < 1e-5);
        velocity_close(v);
    }
    write_segy(path, false, 6, 0);
    assert_fails(velocity_open(text, &v), EK_USAGE);
    assert_non_null(strstr(status_message(), "11 traces"));
    write_segy(path, false, -1, 5);
    assert_fails(velocity_open(text, &v), EK_USAGE);
    snprintf(text, sizeof text, "segy:%s/none", folder);
    assert_fails(velocity_open(text, &v), EK_USAGE);
    unscratch(folder);
}

/* ---- grids, tables, folders -------------------------------------------------------------------*/

static void test_grids(void **state)
{
    static const char *const bad[] = {"",          "10x10:5",    "10x10x10",         "0x1x1:5",
                                      "1.5x1x1:5", "9x9x9:-1",   "9x9x9:1x2",        "9x9x9:1@0,0",
                                      "9x9x9:1z",  "9x9x9:1@,,", "99999x99999x9:1",  "9mx9x9:1",
                                      "9x9x9m:1",  "9x9x9:1e10", "9x9x9:1@0,-1e10,0"};
    struct grid g = {.origin = {1, 2, 3}};
    char text[128];
    json_auto_t *large = json_loads("{\"n\":[9999,9999,9999],\"step\":[1,1,1]}", 0, NULL);
    json_auto_t *small = json_loads("{\"n\":[9,8,7],\"step\":[1,2,3]}", 0, NULL);
    assert_fails(grid_read("x.json", large, &g), EK_USAGE);
    assert_int_equal(grid_read("x.json", small, &g), EK_OK);
    assert_true(g.n[2] == 7 && g.step[1] == 2 && g.origin[0] == 0 && g.origin[2] == 0);
    assert_int_equal(grid_parse("--grid", "101x51x21:20m", &g), EK_OK);
    assert_int_equal(g.n[1], 51);
    assert_true(g.step[2] == 20 && g.origin[0] == 0);
    assert_int_equal(grid_parse("--grid", "3x4x5:10x20x30@-1,2.5,100", &g), EK_OK);
    assert_true(g.origin[1] == 2.5 && grid_end(&g, 2) == 220);
    grid_text(&g, text, sizeof text);
    assert_string_equal(text, "3x4x5:10x20x30@-1,2.5,100");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(grid_parse("--grid", bad[i], &g), EK_USAGE);
}

static void change_byte(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    const int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 1, f);
    fclose(f);
}

static void test_table(void **state)
{
    const struct grid g = {{5, 6, 7}, {0, 0, 0}, {20, 20, 20}};
    const double s[3] = {40, 30, 0};
    char folder[64], path[128];
    struct ttable *t, *read;
    struct velocity *v = model("gradient:v0=1500,k=0.6");
    scratch(folder);
    snprintf(path, sizeof path, "%s/a.tt", folder);
    assert_int_equal(ttable_make(&g, s, v->text, &t), EK_OK);
    ttable_count(t);
    assert_int_equal(t->unfilled, 210);
    fill_exactly(t, v);
    assert_int_equal(ttable_write(t, path), EK_OK);
    assert_int_equal(ttable_open(path, &read), EK_OK);
    assert_int_equal(read->unfilled, 0);
    assert_string_equal(read->velocity, v->text);
    for (int i = 0; i < 210; i++) {
        assert_true(fabs((double)(read->time[i] - t->time[i])) < 1e-7);
        assert_true(fabs((double)(read->spread[i] - t->spread[i])) <= 1e-4 * (double)t->spread[i]);
        for (int a = 0; a < 3; a++)
            assert_true(fabs((double)(read->p[a][i] - t->p[a][i])) < 1.1e-8);
    }
    assert_memory_equal(read->kmah, t->kmah, 210);
    ttable_close(read);
    for (long at = 0; at < (long)ttable_bytes(&g); at += at < 440 ? 1 : 97) {
        const bool sealed = at < 432 || at >= 1024; /* the rest of the header is unused */
        change_byte(path, at);
        if (sealed)
            assert_fails(ttable_open(path, &read), EK_USAGE);
        change_byte(path, at);
    }
    assert_int_equal(truncate(path, 700), 0);
    assert_fails(ttable_open(path, &read), EK_USAGE);
    assert_fails(ttable_write(t, "/proc/none/x.tt"), EK_UNAVAILABLE);
    ttable_close(t);
    velocity_close(v);
    unscratch(folder);
}

/* Holes, some of them whole columns, and numbers without any pattern. */
static struct ttable *random_table(const int n[3], uint64_t *seed)
{
    const struct grid g = {{n[0], n[1], n[2]}, {0, 0, 0}, {20, 25, 30}};
    struct ttable *t;
    bool empty = false;
    assert_int_equal(ttable_make(&g, (double[3]){7, 8, 0}, "random", &t), EK_OK);
    for (size_t i = 0; i < grid_nodes(&g); i++) {
        double p[3];
        for (int a = 0; a < 3; a++)
            p[a] = 1e-3 * (random_uniform(seed) - 0.5);
        empty = i % (size_t)n[2] ? empty : random_below(seed, 5) == 0;
        if (!empty && random_below(seed, 4))
            ttable_put(t, i, 2 * random_uniform(seed), p,
                       random_below(seed, 9) ? exp(9 * random_uniform(seed)) : 0,
                       (int)random_below(seed, 9));
    }
    return t;
}

static void assert_same_table(const struct ttable *a, const struct ttable *b)
{
    const size_t n = grid_nodes(&a->grid);
    assert_memory_equal(a->time, b->time, n * sizeof(float));
    for (int axis = 0; axis < 3; axis++)
        assert_memory_equal(a->p[axis], b->p[axis], n * sizeof(float));
    assert_memory_equal(a->spread, b->spread, n * sizeof(float));
    assert_memory_equal(a->kmah, b->kmah, n);
    assert_int_equal(a->unfilled, b->unfilled);
    assert_int_equal(a->judged, b->judged);
    assert_int_equal(a->failing, b->failing);
}

static struct ttable *written(const struct ttable *t, const char *path)
{
    struct ttable *read;
    assert_int_equal(ttable_write(t, path), EK_OK);
    assert_int_equal(ttable_open(path, &read), EK_OK);
    return read;
}

/* Every way to change a table after it was rounded: the new value must be written, not the old
 * one. */
static void change(struct ttable *t, int way, size_t node, const struct ttable *other)
{
    if (way == 0)
        ttable_put(t, node, 3.5, (double[3]){2e-4, 0, 1e-4}, 70, 3);
    else if (way == 1)
        ttable_copy(t, other, node);
    else
        ttable_clear(t, node);
    ttable_count(t);
}

static void test_rounded(void **state)
{
    static const int shape[][3] = {{5, 6, 7}, {1, 1, 40}, {9, 1, 2}, {4, 8, 1}};
    char folder[64], path[128];
    uint64_t seed = 20;
    scratch(folder);
    snprintf(path, sizeof path, "%s/a.tt", folder);
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int way = 0; way < 3; way++) {
            struct ttable *t = random_table(shape[s], &seed),
                          *other = random_table(shape[s], &seed);
            const size_t node = random_below(&seed, grid_nodes(&t->grid));
            assert_int_equal(ttable_round(t), EK_OK);
            ttable_count(t);
            t->judged = 11; /* as judged on rounded numbers */
            t->failing = 2;
            struct ttable *read = written(t, path);
            assert_same_table(t, read);
            ttable_close(read);
            change(t, way, node, other);
            read = written(t, path);
            assert_int_equal(read->kmah[node], t->kmah[node]);
            assert_true(isnan(read->time[node]) ? isnan(t->time[node])
                                                : fabsf(read->time[node] - t->time[node]) < 1e-3F);
            ttable_close(read);
            assert_int_equal(ttable_round(t), EK_OK);
            read = written(t, path);
            assert_same_table(t, read);
            ttable_close(read);
            ttable_close(other);
            ttable_close(t);
        }
    unscratch(folder);
}

static void test_folder(void **state)
{
    const struct grid g = {{3, 3, 3}, {0, 0, 0}, {20, 20, 20}};
    const struct tfolder_surface surface = {{2, 1}, {0, 10}, {20, 0.5}, 5};
    const double place[2][3] = {{0, 10, 5}, {20, 10, 5}};
    char root[64], path[128], file[4096];
    struct tfolder *f, *read;
    struct ttable *t;
    scratch(root);
    snprintf(path, sizeof path, "%s/tt", root);
    assert_fails(tfolder_open(path, &read), EK_USAGE);
    assert_int_equal(tfolder_make(path, &g, "const:v=1500", &surface, 2, place, &f), EK_OK);
    assert_int_equal(tfolder_write(f), EK_OK);
    assert_int_equal(tfolder_open(path, &read), EK_OK);
    assert_int_equal(read->nsources, 2);
    assert_true(read->source[1].at[0] == 20 && read->surface.step[1] == 0.5);
    assert_fails(tfolder_table(read, 1, &t), EK_USAGE);
    tfolder_path(read, 1, file);
    assert_int_equal(ttable_make(&g, place[1], "const:v=1500", &t), EK_OK);
    assert_int_equal(ttable_write(t, file), EK_OK);
    ttable_close(t);
    assert_int_equal(tfolder_table(read, 1, &t), EK_OK);
    ttable_close(t);
    assert_int_equal(ttable_make(&g, place[0], "const:v=1500", &t), EK_OK);
    assert_int_equal(ttable_write(t, file), EK_OK);
    ttable_close(t);
    assert_fails(tfolder_table(read, 1, &t), EK_USAGE);
    snprintf(file, sizeof file, "%s/index.json", path);
    change_byte(file, 90);
    tfolder_close(read);
    assert_fails(tfolder_open(path, &read), EK_USAGE);
    tfolder_close(f);
    unscratch(root);
}

/* Sampling a large model takes long. */
static void test_a_stop_ends_sampling(void **state)
{
    const struct grid g = {{3, 3, 3}, {0, 0, 0}, {100, 100, 100}};
    struct velocity *v = model("lens:v0=2000,kz=0.5,dv=200,x=50,y=50,z=100,sigma=50");
    float *node = NULL;
    double least = -1, most = -1;
    stop_request(); /* last, as it cannot be withdrawn */
    assert_int_equal(velocity_sample(v, &g, &node), EK_STOPPED);
    assert_int_equal(velocity_range(v, &g, &least, &most), EK_STOPPED);
    assert_true(!node && least == -1 && most == -1);
    velocity_close(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),   cmocka_unit_test(test_reciprocity),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_grazing),
        cmocka_unit_test(test_derivatives), cmocka_unit_test(test_values),
        cmocka_unit_test(test_bad_models),  cmocka_unit_test(test_cube),
        cmocka_unit_test(test_cube_files),  cmocka_unit_test(test_grids),
        cmocka_unit_test(test_table),       cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_folder),      cmocka_unit_test(test_outside_cube),
        cmocka_unit_test(test_segy_files),  cmocka_unit_test(test_a_stop_ends_sampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
