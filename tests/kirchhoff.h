/* tests/kirchhoff.h – helpers for the tests of kirchhoff/: reference tables, folders, models. */
#pragma once

#include "kirchhoff/analytic.h"
#include "kirchhoff/ttable.h"
#include "kirchhoff/velocity_cube.h"
#include "src/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* 202 rows of closed forms and of rays traced by DOP853 with a tolerance of 1e-12. */
#define KIRCHHOFF_REFERENCE "tests/data/kirchhoff/tt_public.csv"

static inline double cell(const struct table *t, size_t row, const char *name)
{
    double x;
    int column;
    assert_int_equal(table_need(t, name, &column), EK_OK);
    assert_int_equal(table_optional(t, row, column, &x), EK_OK);
    return x;
}

static inline void cells(const struct table *t, size_t row, const char *const name[3], double x[3])
{
    for (int a = 0; a < 3; a++)
        x[a] = cell(t, row, name[a]);
}

/* Makes a new folder in /tmp; path [64]. */
static inline void scratch(char *path)
{
    strcpy(path, "/tmp/kirchhoff-XXXXXX");
    assert_non_null(mkdtemp(path));
}

/* Removes the folder and its contents. */
static inline void unscratch(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}

/* A cube from speeds in memory, which are smoothed in place; the caller closes *v. */
static inline enum ek_status cube_from(const struct grid *g, float *speed, double smooth,
                                       struct velocity **v)
{
    struct velocity *made = calloc(1, sizeof *made);
    assert_non_null(made);
    strcpy(made->text, "memory");
    made->kind = VELOCITY_CUBE;
    made->grid = *g;
    const enum ek_status st = velocity_cube_fill(made, speed, smooth);
    if (st)
        velocity_close(made);
    else
        *v = made;
    return st;
}

/* Fills all nodes by the closed form of a linear velocity. */
static inline void fill_exactly(struct ttable *t, const struct velocity *v)
{
    const struct grid *g = &t->grid;
    for (int i = 0; i < g->n[0]; i++)
        for (int j = 0; j < g->n[1]; j++)
            for (int k = 0; k < g->n[2]; k++) {
                struct analytic c;
                double x[3];
                grid_place(g, i, j, k, x);
                analytic_linear(v->v0, v->k, t->source, x, &c);
                ttable_put(t, grid_index(g, i, j, k), c.time, c.p, c.spread, 0);
            }
    t->unfilled = 0;
}

/* A sharp body with a wavy top in a box of 600 x 480 x 480 m: fast, 4500 m/s in a slower gradient,
 * or slow, 900 m/s in 4500 m/s. */
static inline struct velocity *salt(bool fast)
{
    const struct grid g = {{61, 49, 49}, {0, 0, 0}, {10, 10, 10}};
    float *speed = malloc(grid_nodes(&g) * sizeof *speed);
    struct velocity *v = NULL;
    assert_non_null(speed);
    for (int i = 0; i < g.n[0]; i++)
        for (int j = 0; j < g.n[1]; j++)
            for (int k = 0; k < g.n[2]; k++) {
                const double x[3] = {10.0 * i, 10.0 * j, 10.0 * k}, a = (x[0] - 300) / 170,
                             b = (x[1] - 230) / 150, c = (x[2] - 260) / 110;
                const bool inside =
                    a * a + b * b + c * c < 1 || (x[2] > 200 + 30 * sin(x[0] / 40) && x[2] < 300);
                speed[grid_index(&g, i, j, k)] = inside == fast ? 4500
                                                 : fast         ? (float)(1700 + 0.7 * x[2])
                                                                : 900;
            }
    assert_int_equal(cube_from(&g, speed, 0, &v), EK_OK);
    free(speed);
    return v;
}

/* Asserts that `call` fails with this status and a message, which is not printed. */
#define assert_fails(call, status)                                                                 \
    do {                                                                                           \
        status_mute(1);                                                                            \
        assert_int_equal(call, status);                                                            \
        status_mute(-1);                                                                           \
        assert_true(*status_message());                                                            \
    } while (0)
