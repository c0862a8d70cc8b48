/* tests/test_npb_mz_classes.c – the class tables against the reference's, row by row: meshes,
 * zones, steps, norms, nominal work. Source: NASA's NPB 3.3.1-MZ. */
#include "npb_mz/mz.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static FILE *open_rows(const char *path)
{
    FILE *f = fopen(path, "r");
    char heading[200];
    assert_non_null(f);
    assert_non_null(fgets(heading, sizeof heading, f));
    return f;
}

/* Converts a name to ours: "BT-MZ" is "bt-mz" here. */
static const char *solver(char *name)
{
    for (char *c = name; *c; c++)
        *c = (char)tolower(*c);
    return name;
}

static void classes_are_the_reference_s(void **state)
{
    FILE *f = open_rows("tests/data/npb_mz/classes.csv");
    char name[8], letter;
    int points[3], zones[2], steps, rows = 0;
    double ratio, dt;
    while (fscanf(f, "%7[^,],%c,%d,%d,%d,%d,%d,%lf,%d,%lf\n", name, &letter, points, points + 1,
                  points + 2, zones, zones + 1, &ratio, &steps, &dt) == 10) {
        const struct mz_ops *ops = mz_find(solver(name));
        const struct mz_class *class = mz_class_find(name, letter, 0);
        const struct mz_mesh *mesh = mz_mesh_find(letter);
        assert_memory_equal(mesh->points, points, sizeof points);
        assert_int_equal(mz_zones_along(ops, mesh, 0), zones[0]);
        assert_int_equal(mz_zones_along(ops, mesh, 1), zones[1]);
        assert_true((letter == 'S' ? ops->ratio_s : ops->ratio) == ratio);
        assert_int_equal(class->steps, steps);
        assert_true(class->dt == dt);
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 3 * 8);
}

static double norm(const struct mz_class *c, const char *metric, int index)
{
    if (!strcmp(metric, "xcr"))
        return c->residual[index - 1];
    return strcmp(metric, "xce") ? c->surface : c->error[index - 1];
}

static void norms_are_the_reference_s(void **state)
{
    FILE *f = open_rows("tests/data/npb_mz/verify.csv");
    char name[8], letter, metric[8];
    int steps, index, rows = 0;
    double dt, value;
    while (fscanf(f, "%7[^,],%c,%lf,%d,%*[^,],%7[^,],%d,%lf\n", name, &letter, &dt, &steps, metric,
                  &index, &value) == 7) {
        const struct mz_class *class = mz_class_find(solver(name), letter, steps);
        assert_non_null(class);
        assert_true(class->dt == dt);
        assert_true(norm(class, metric, index) == value);
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 9 * 10 + 9 * 10 + 9 * 11); /* eight classes, a short run of F */
}

static void the_surface_is_a_norm_of_lu_alone(void **state)
{
    for (int i = 0; mz_at(i); i++)
        for (const char *l = "SWABCDEF"; *l; l++) {
            const struct mz_class *c = mz_class_find(mz_at(i)->name, *l, 0);
            assert_int_equal(c->surface != 0.0, !strcmp(c->solver, "lu-mz"));
        }
}

/* Nominal work of whole runs in Gop, computed by hand from the formula. Any machine can describe
 * the zones of any class, because they take memory only when claimed. */
static void work_is_the_nominal_one(void **state)
{
    static const struct {
        const char *solver;
        double gop[8];
    } want[] = {
        {"bt-mz", {0.381834, 14.352, 146.211, 601.201, 2426.98, 51496.9, 1.08205e6, 2.23088e7}},
        {"sp-mz", {0.162901, 7.29031, 73.7702, 303.353, 1224.75, 25991, 546647, 1.12788e7}},
        {"lu-mz", {0.0464695, 11.6488, 102.632, 448.922, 1920.51, 37617.4, 780737, 1.59074e7}},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        for (int c = 0; c < 8; c++) {
            struct mz *mz;
            const struct mz_class *class = mz_class_find(want[i].solver, "SWABCDEF"[c], 0);
            assert_int_equal(
                mz_open_mesh(mz_find(want[i].solver), class, mz_mesh_find(class->letter), &mz),
                EK_OK);
            assert_true(fabs(mz_mop(mz) * 1e-3 / want[i].gop[c] - 1) < 1e-5);
            mz_close(mz);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_the_reference_s),
        cmocka_unit_test(norms_are_the_reference_s),
        cmocka_unit_test(the_surface_is_a_norm_of_lu_alone),
        cmocka_unit_test(work_is_the_nominal_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
