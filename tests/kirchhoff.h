/* tests/kirchhoff.h – what tests of kirchhoff/ share: reading reference tables, scratch folders. */
#ifndef TESTS_KIRCHHOFF_H
#define TESTS_KIRCHHOFF_H

#include "src/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* 202 rows of closed forms and of rays by DOP853 at 1e-12. */
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

/* A new folder below the build's; [64]. */
static inline void scratch(char *path)
{
    strcpy(path, "/tmp/kirchhoff-XXXXXX");
    assert_non_null(mkdtemp(path));
}

/* Removes it with what is in it. */
static inline void unscratch(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}

/* A mute failure with this status and a line. */
#define assert_fails(call, status)                                                                 \
    do {                                                                                           \
        status_mute(1);                                                                            \
        assert_int_equal(call, status);                                                            \
        status_mute(-1);                                                                           \
        assert_true(*status_message());                                                            \
    } while (0)

#endif
