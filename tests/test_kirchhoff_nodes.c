/* tests/test_kirchhoff_nodes.c – values of sources and receivers at the nodes of image columns,
 * interpolated from far too coarse tables, against closed forms: at any depth, for any number of
 * nodes, at every instruction level. */
#include "kirchhoff/analytic.h"
#include "kirchhoff/nodes.h"
#include "src/kernel.h"
#include "kirchhoff/kernels/migrate.h"
#include "src/file.h"
#include "src/random.h"
#include "tests/isa.h"
#include "tests/kirchhoff.h"

#include <sys/resource.h>

enum { STEP = 4, ENDS = 4, CASES = 12, MOST = 6000 };

/* One case: tables, an image within them, sources and receivers. */
struct scene {
    double v0, k[3];
    struct traveltime_cache *travel;
    struct grid image;
    float par[PAR_COUNT];
    double end[ENDS][2];
};

static int draw(uint64_t *seed, int low, int high)
{
    return low + (int)random_below(seed, (uint64_t)(high - low + 1));
}

/* Sources every 150 to 250 m; tables with cells of 40 to 60 m and any number of nodes (also one
 * along x or y) that begin at the surface. Depths end where the tables do; the last node of a
 * column lies beyond. */
static void open_scene(uint64_t seed, bool front, struct scene *s)
{
    struct grid g = {.origin = {-37, 61, 0}};
    struct tfolder_surface surface = {.depth = 0};
    char text[160];
    *s = (struct scene){.v0 = draw(&seed, 1500, 2500)};
    for (int a = 0; a < 3; a++)
        s->k[a] = front && a < 2 ? 0 : 1.2 * (random_uniform(&seed) - (a < 2 ? 0.5 : 0));
    for (int a = 0; a < 3; a++) {
        const int most = (const int[]){6, 5, 11}[a];
        g.n[a] = draw(&seed, a == 2 ? 2 : 1, most);
        g.step[a] = draw(&seed, 40, 60);
        s->image.n[a] = a == 2 ? draw(&seed, 9, 60) : draw(&seed, 1, 3);
        s->image.step[a] = a == 2 ? (g.n[2] - 1) * g.step[2] / (s->image.n[2] - 0.5)
                                  : g.step[a] * (g.n[a] - 1) / 3;
        s->image.origin[a] = g.origin[a] + (a == 2 ? 0.5 * s->image.step[2] : 0);
        if (g.n[a] == 1)
            s->image.n[a] = 1, s->image.step[a] = g.step[a];
    }
    for (int a = 0; a < 2; a++) {
        surface.step[a] = draw(&seed, 150, 250);
        surface.origin[a] = g.origin[a] - 2 * surface.step[a]; /* one source lies on a node */
        surface.n[a] = 7;
    }
    for (int e = 0; e < ENDS; e++)
        for (int a = 0; a < 2; a++)
            s->end[e][a] = draw(&seed, -200, 400) + (e == 0 ? 0 : random_uniform(&seed));
    s->end[1][0] = g.origin[0]; /* above a column, and on a source */
    s->end[1][1] = g.origin[1];
    s->end[2][0] = surface.origin[0] + 2 * surface.step[0] + 20;
    s->end[2][1] = surface.origin[1] + 2 * surface.step[1];
    if (front)
        snprintf(text, sizeof text, "lens:v0=%g,kz=%.17g,dv=1e-9,x=0,y=0,z=500,sigma=500", s->v0,
                 s->k[2]);
    else
        snprintf(text, sizeof text, "gradient:v0=%g,kx=%.17g,ky=%.17g,kz=%.17g", s->v0, s->k[0],
                 s->k[1], s->k[2]);
    assert_int_equal(traveltime_cache_compute(text, &g, &surface, 1 << 30, &s->travel), EK_OK);
    assert_int_equal(tables_made(s->travel, 1), EK_OK);
    s->par[PAR_SAMPLES] = 1;
    s->par[PAR_HALF_STEP] = (float)(0.5 * STEP * s->image.step[2]);
    s->par[PAR_NEAR] = 1e-3F;
}

struct errors {
    double time, slowness, spread, change;
};

static void note(double off, double *most)
{
    if (!(off <= *most))
        *most = off;
}

/* Compares the nodes of a row that belong to the image. */
static void compare(const struct scene *s, const double end[2], const int column[2], int n,
                    const float *row, struct errors *most)
{
    const int last = (s->image.n[2] + STEP - 2) / STEP;
    const double source[3] = {end[0], end[1], 0};
    for (int k = 0; k <= last; k++) {
        struct analytic c;
        double x[3], p = 0, off = 0;
        grid_place(&s->image, column[0], column[1], STEP * k, x);
        analytic_linear(s->v0, s->k, source, x, &c);
        for (int a = 0; a < 3; a++)
            p += c.p[a] * c.p[a];
        for (int a = 0; a < 3; a++)
            off += pow((double)row[(NODE_X + a) * n + k] - c.p[a] / sqrt(p), 2);
        const double slope = fmax(fabs(c.takeoff[0]), fabs(c.takeoff[1])) /
                             (s->v0 + s->k[0] * source[0] + s->k[1] * source[1]);
        note(fabs((double)row[NODE_U * n + k] - c.time), &most->time);
        note(sqrt(off), &most->slowness);
        note(fabs((double)row[NODE_A * n + k] / c.spread - 1), &most->spread);
        note(fabs((double)row[NODE_S * n + k] - slope) * s->v0, &most->change);
        note(fabs((double)(row[NODE_V * n + k] / s->par[PAR_HALF_STEP]) - c.p[2]) * s->v0,
             &most->slowness);
    }
}

/* Writes all rows of a scene, at most MOST numbers, to `to` and returns how many; adds their
 * errors. */
static int fill_scene(const struct scene *s, double *to, struct errors *most)
{
    struct nodes_plan p;
    const int n = ((s->image.n[2] + 2) / STEP + 1 + 8) / 8 * 8;
    int count = 0;
    assert_int_equal(nodes_plan_open(&s->image, &s->travel->grid, n, 0, s->par, &p), EK_OK);
    float *scratch = malloc(nodes_scratch(&p) * sizeof *scratch),
          *row = malloc(nodes_row(&p) * sizeof *row);
    assert_true(scratch && row);
    for (int e = 0; e < ENDS; e++) {
        struct nodes_end end = {.scale = 1, .weight = WEIGHT_SPREAD, .spacing = {1, 1}};
        const struct traveltime_corners *c = &end.corners;
        assert_int_equal(
            traveltime_cache_corners(s->travel, s->end[e][0], s->end[e][1], "an end", &end.corners),
            EK_OK);
        assert_int_equal(traveltime_cache_hold(s->travel, c->node, c->n, NULL), EK_OK);
        for (int i = 0; i < s->image.n[0]; i++)
            for (int j = 0; j < s->image.n[1]; j++) {
                nodes_fill(&p, s->travel, &end, i, j, scratch, row);
                compare(s, s->end[e], (const int[]){i, j}, n, row, most);
                for (size_t f = 0; f < nodes_row(&p) && count < MOST; f++)
                    to[count++] = (double)row[f];
            }
        traveltime_cache_release(s->travel, c->node, c->n);
    }
    free(scratch);
    free(row);
    nodes_plan_close(&p);
    return count;
}

static void fill_again(void *arg, double *to)
{
    struct errors most = {0};
    fill_scene(arg, to, &most);
}

/* Errors are far below a sample, from formulas and from tables of fronts. */
static void every_depth(void **state)
{
    for (int c = 0; c < CASES / (getenv("EK_LONG") ? 1 : 2); c++) {
        const bool front = c % 6 == 5;
        struct scene s;
        double *to = calloc(MOST, sizeof *to);
        assert_non_null(to);
        open_scene(1000 + (uint64_t)c, front, &s);
        for (int level = isa_next(-1); level >= 0; level = isa_next(level)) {
            struct errors most = {0};
            fill_scene(&s, to, &most);
            if (!(most.time < (front ? 5e-6 : 5e-7) && most.slowness < (front ? 1e-3 : 3e-4) &&
                  most.spread < (front ? 0.02 : 3e-3) && most.change < 2e-4))
                fail_msg("case %d: times %.2g s off, slowness %.2g, spreading %.2g, change %.2g", c,
                         most.time, most.slowness, most.spread, most.change);
        }
        isa_compare("rows", fill_scene(&s, to, &(struct errors){0}), false, 0, fill_again, &s);
        traveltime_cache_close(s.travel);
        free(to);
    }
}

static void close_to(float is, double wanted, double slack)
{
    if (!(fabs((double)is - wanted) <= 2e-7 * fabs(wanted) + slack))
        fail_msg("%g, not %g", (double)is, wanted);
}

/* Compares a node's fields, which are n numbers apart. */
static void compare_table(const struct velocity *v, const double source[3], const double x[3],
                          const float *field, int n)
{
    struct analytic c;
    analytic_linear(v->v0, v->k, source, x, &c);
    const double vs = velocity_at(v, source, NULL),
                 way[] = {x[0] - source[0], x[1] - source[1], x[2] - source[2]};
    const double r = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    const double mean = r > 0 ? c.time / r : 1 / vs;
    close_to(field[TABLE_S * n], mean, 0);
    close_to(field[TABLE_L * n], r > 0 ? c.spread / c.time : vs, 0);
    for (int a = 0; a < 3; a++) {
        const double there = -0.5 * v->k[a] / (vs * vs), along = r > 0 ? mean * way[a] / r : 0;
        const double slack = r > 0 ? 1e-11 * mean / r : 0;
        close_to(field[(TABLE_GX + a) * n], r > 0 ? (c.p[a] - along) / r : there, slack);
        if (a < 2)
            close_to(field[(TABLE_HX + a) * n], r > 0 ? (along - c.takeoff[a] / vs) / r : there,
                     slack);
    }
}

/* Tables by formula, including the node at the source. */
static void tables_have_the_closed_forms(void **state)
{
    float data[3 * 2 * TABLE_FIELDS * 13];
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t seed = i;
        const int nz = draw(&seed, 1, 13);
        const double step = pow(10, 1 + 2 * random_uniform(&seed));
        const struct grid g = {.n = {3, 2, nz}, .origin = {-70, 30, 5}, .step = {step, 33, step}};
        struct velocity v = {.kind = VELOCITY_LINEAR, .v0 = draw(&seed, 1500, 5000)};
        double source[3], x[3];
        for (int a = 0; a < 3 && i % 5; a++)
            v.k[a] = random_uniform(&seed) - (a < 2 ? 0.5 : 0);
        grid_place(&g, 1, 0, 0, source);
        source[2] -= i % 2 ? 100 * random_uniform(&seed) : 0;
        tables_linear(&v, &g, source, data);
        for (int k = 0; k < 6 * nz; k++) {
            grid_place(&g, k / nz / 2, k / nz % 2, k % nz, x);
            compare_table(&v, source, x, data + k / nz * TABLE_FIELDS * nz + k % nz, nz);
        }
    }
}

/* A long name does not push out why a table of the run's own cannot be written. */
static void a_lost_table_says_why(void **state)
{
    static const char lens[] = "lens:v0=2000,dv=10,x=0,y=0,z=0,sigma=99";
    const struct grid g = {.n = {2, 2, 2}, .origin = {0, 0, 0}, .step = {50, 50, 50}};
    const struct tfolder_surface surface = {.n = {1, 1}, .step = {100, 100}};
    struct traveltime_cache *t;
    struct rlimit before, none;
    char root[64], folder[1024];
    scratch(root);
    snprintf(folder, sizeof folder, "%s/%0200d/%0200d/%0200d/", root, 0, 0, 0);
    file_make_folders(folder);
    setenv("TMPDIR", folder, 1);
    assert_int_equal(traveltime_cache_compute(lens, &g, &surface, 1 << 30, &t), EK_OK);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_fails(tables_made(t, 1), EK_UNAVAILABLE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    unsetenv("TMPDIR");
    assert_non_null(strstr(status_message(), "Too many open files; choose another place"));
    traveltime_cache_close(t);
    unscratch(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_depth),
                                       cmocka_unit_test(tables_have_the_closed_forms),
                                       cmocka_unit_test(a_lost_table_says_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
