/* tests/test_src_demand.c – errors in JSON name the line of the key. */
#include "src/demand.h"
#include "tests/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void line_is(const char *key, int line)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s:%d", scratch, line);
    assert_string_equal(demand_at(scratch, key), wanted);
}

static void test_lines(void **state)
{
    FILE *f = fopen(scratch, "w");
    assert_non_null(f);
    fputs("{\n"                                                /* 1 */
          " \"a\": 1, \"text\": \"b\\\": {[ \", \"list\": [\n" /* 2 */
          "  {\"x\": [1, 2], \"y\": NaN},\n"                   /* 3 */
          "  {\"x\": [],\n"                                    /* 4 */
          "   \"y\": {\"z\": [3,\n"                            /* 5 */
          "     4]}}],\n"                                      /* 6 */
          " \"b\": 2\n}\n",                                    /* 7 */
          f);
    fclose(f);
    line_is("a", 2);
    line_is("b", 7);
    line_is("list[0].y", 3);
    line_is("list[1]", 4);
    line_is("list[1].y.z[0]", 5);
    line_is("list[1].y.z[1]", 6);
    line_is("list[1].missing", 4); /* the object that should contain it */
    line_is("missing", 1);
    assert_string_equal(demand_at("no such file", "a"), "no such file");
}

static void test_message(void **state)
{
    static const struct demand share = {0, 1, false, false};
    json_t *root;
    double x = 5;
    assert_int_equal(demand_open(scratch, &root), EK_OK);
    status_mute(1);
    assert_int_equal(demand_member(scratch, "", root, "b", &share, &x), EK_USAGE);
    assert_non_null(strstr(status_message(), ":7: b = 2 is out of range"));
    assert_int_equal(demand_member(scratch, "list[0]",
                                   json_array_get(json_object_get(root, "list"), 0), "y", &share,
                                   &x),
                     EK_USAGE);
    assert_non_null(strstr(status_message(), ":3: list[0].y is not a (finite) number"));
    assert_int_equal(demand_that(scratch, false, "", "an object"), EK_USAGE);
    assert_non_null(strstr(status_message(), ": the file must be an object"));
    status_mute(-1);
    assert_true(x == 5);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_message)};
    return cmocka_run_group_tests(tests, scratch_file, scratch_remove);
}
