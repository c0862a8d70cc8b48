/* tests/test_src_embed.c – joined kernel texts: every line where #line says, shared texts once. */
#include "src/embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const both[] = {"npb_mz/kernels/rhs.c", "npb_mz/kernels/sp.c"};

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* Line `number` (from 1) of an embedded text. */
static const char *line_of(const struct embed_text *t, int number)
{
    const char *at = t->text;
    while (--number > 0)
        at = strchr(at, '\n') + 1;
    return at;
}

static void every_line_is_where_the_compiler_says(void **state)
{
    char *text = embed_join(both, 2), path[256] = "";
    const struct embed_text *from = NULL;
    int number = 0, lines = 0;
    assert_non_null(text);
    for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
        if (sscanf(at, "#line %d \"%255[^\"]\"", &number, path) == 2) {
            from = embed_find(path);
            assert_non_null(from);
            continue;
        }
        const char *want = line_of(from, number++);
        assert_int_equal(strcspn(at, "\n"), strcspn(want, "\n"));
        assert_memory_equal(at, want, strcspn(want, "\n"));
        lines++;
    }
    assert_true(lines > 500);
    free(text);
}

static void a_shared_text_stands_once_before_its_users(void **state)
{
    char *text = embed_join(both, 2);
    assert_non_null(text);
    assert_int_equal(count(text, "#line 1 \"npb_mz/kernels/zone.h\"\n"), 1);
    assert_int_equal(count(text, "\n#include \""), 0);
    assert_true(strstr(text, "\nFN struct zone zone_at(") < strstr(text, "\nKERNEL(rhs_points,"));
    assert_ptr_equal(strstr(text, "#line 1"), text);
    assert_memory_equal(text, "#line 1 \"src/kernel.h\"\n", 23);
    free(text);
}

static void a_text_named_twice_is_joined_once(void **state)
{
    char *once = embed_join(both, 1);
    char *twice = embed_join((const char *const[]){both[0], both[0]}, 2);
    assert_string_equal(once, twice);
    free(once);
    free(twice);
}

static void a_path_that_is_not_embedded_joins_nothing(void **state)
{
    assert_null(embed_join((const char *const[]){both[0], "npb_mz/kernels/none.c"}, 2));
    assert_null(embed_find("npb_mz/bt.c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_where_the_compiler_says),
        cmocka_unit_test(a_shared_text_stands_once_before_its_users),
        cmocka_unit_test(a_text_named_twice_is_joined_once),
        cmocka_unit_test(a_path_that_is_not_embedded_joins_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
