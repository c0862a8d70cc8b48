/* tests/test_src_table.c – tables: lines become rows, cells become numbers; errors are reported. */
#include "src/table.h"
#include "tests/scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void write_text(const char *text)
{
    FILE *f = fopen(scratch, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static struct table *opened(const char *text, const char *names)
{
    struct table *t = NULL;
    write_text(text);
    assert_int_equal(table_open(scratch, names, &t), EK_OK);
    return t;
}

static void refused(const char *text, const char *names, const char *word)
{
    struct table *t = NULL;
    write_text(text);
    status_mute(1);
    assert_int_equal(table_open(scratch, names, &t), EK_USAGE);
    status_mute(-1);
    assert_null(t);
    if (!strstr(status_message(), word))
        fail_msg("'%s' is not in: %s", word, status_message());
}

static double number(const struct table *t, size_t row, const char *name)
{
    int c;
    double x;
    assert_int_equal(table_need(t, name, &c), EK_OK);
    assert_int_equal(table_number(t, row, c, &x), EK_OK);
    return x;
}

static void test_separators(void **state)
{
    static const char *const same[] = {
        "# heading\n\nsite,E_m, N_m\nA,1,-2.5\nB,3e3,4\n",
        "site E_m  N_m\r\nA 1\t-2.5\r\n  # between\r\nB 3e3 4",
        "\xef\xbb\xbf\"site\",E_m,N_m\n\"A\", 1 ,-2.5\nB,3e3,4\n",
        "site;E_m; N_m\nA; 1;-2.5\nB;3e3;4\n",
    };
    for (int i = 0; i < 4; i++) {
        struct table *t = opened(same[i], NULL);
        assert_string_equal(t->preface, i ? "" : "# heading\n");
        assert_int_equal(t->ncolumns, 3);
        assert_int_equal(t->nrows, 2);
        assert_string_equal(table_text(t, 0, table_find(t, "site")), "A");
        assert_true(number(t, 0, "N_m") == -2.5 && number(t, 1, "E_m") == 3000);
        assert_int_equal(table_find(t, "uE_m"), -1);
        table_close(t);
    }
}

static void test_named_by_the_caller(void **state)
{
    struct table *t = opened("1 2\n3 4\n", "a b");
    assert_int_equal(t->nrows, 2);
    assert_true(number(t, 1, "a") == 3 && number(t, 0, "b") == 2);
    table_close(t);
    status_mute(1);
    t = opened("> segment\nEast, North\n1,2\nnan,4\n", "a b"); /* other names */
    status_mute(-1);
    assert_int_equal(t->nrows, 2);
    assert_true(number(t, 0, "a") == 1 && number(t, 1, "b") == 4);
    table_close(t);
    refused("1,2\nx,y,z\n", "a b", ":2: 3 cells where there are 2");
}

/* The last column is text with blanks, possibly empty. */
static void test_text_last(void **state)
{
    static const char *const same[] = {"1 2 Piz  Nair \n3 4\n5 6 X\n",
                                       "1,2,Piz  Nair\n3,4\n5,6,X\n"};
    for (int i = 0; i < 2; i++) {
        struct table *t = opened(same[i], "a b site*");
        assert_int_equal(t->ncolumns, 3);
        assert_string_equal(table_text(t, 0, table_find(t, "site")), "Piz  Nair");
        assert_string_equal(table_text(t, 1, 2), "");
        assert_string_equal(table_text(t, 2, 2), "X");
        assert_true(number(t, 1, "b") == 4);
        table_close(t);
    }
    refused("1 2 A\n3\n", "a b site*", ":2: 1 cells where there are 3");
}

static void test_missing_values(void **state)
{
    struct table *t = opened("a,b,c,d\n,-,NaN,7\n", NULL);
    double x;
    for (int c = 0; c < 3; c++) {
        assert_int_equal(table_optional(t, 0, c, &x), EK_OK);
        assert_true(isnan(x));
        status_mute(1);
        assert_int_equal(table_number(t, 0, c, &x), EK_USAGE);
        status_mute(-1);
    }
    assert_int_equal(table_optional(t, 0, 3, &x), EK_OK);
    assert_true(x == 7);
    table_close(t);
}

static void test_what_is_refused(void **state)
{
    refused("a,b\n1,2\n3\n", NULL, ":3: 1 cells where there are 2 columns");
    refused("a b\n\n1 2 3\n", NULL, ":3: 3 cells where there are 2");
    refused("a,b,a\n", NULL, "two columns are called 'a'");
    refused("# nothing\n\n", NULL, "no rows");
    refused("1,2,3\n4,5,6\n", NULL, ":1: numbers where");
    struct table *t = opened("east,north\n1,x2\n", NULL);
    double x;
    int c;
    status_mute(1);
    assert_int_equal(table_number(t, 0, 1, &x), EK_USAGE);
    assert_non_null(strstr(status_message(), ":2: north is 'x2'"));
    assert_int_equal(table_need(t, "nort", &c), EK_USAGE);
    assert_non_null(strstr(status_message(), "mean 'north'"));
    assert_int_equal(table_open("/nonexistent/file", NULL, &t), EK_USAGE);
    status_mute(-1);
    table_close(t);
}

static bool not_used(const void *arg, int column)
{
    return column != *(const int *)arg;
}

/* Zeros and blanks say nothing; a column that says something in any row, the first too, is told. */
static void test_unused_columns(void **state)
{
    static const char *const cells[] = {"0", "-0.0", "", "1", "x", "0e5", "1e-300"};
    static const bool says[] = {false, false, false, true, true, false, true};
    static const int used = 1;
    struct table *t = opened("a,b,c,d,e\n1,1,0,,0\n0,1,0,,x\n", NULL);
    char said[200] = "";
    const int standard = dup(STDERR_FILENO);
    int pipe_of[2];
    assert_int_equal(pipe(pipe_of), 0);
    dup2(pipe_of[1], STDERR_FILENO);
    table_warn_unused(t, not_used, &used);
    dup2(standard, STDERR_FILENO);
    assert_true(read(pipe_of[0], said, sizeof said - 1) > 0);
    assert_non_null(strstr(said, "not used: 'a', 'e'\n"));
    close(standard);
    close(pipe_of[0]);
    close(pipe_of[1]);
    table_close(t);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char text[32];
        snprintf(text, sizeof text, "a,b\n%s,0\n", cells[i]);
        t = opened(text, NULL);
        assert_int_equal(table_says(t, 0, 0), says[i]);
        table_close(t);
    }
}

/* Every spelling gives strtod()'s bits, or is refused if strtod() refuses it. */
static void test_numbers(void **state)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+7",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993",
                                        "0.1",
                                        ".5",
                                        "5.",
                                        "1E-5",
                                        "-3.25e+3",
                                        "1.7976931348623157e308",
                                        "4.9e-324",
                                        "0x1p3",
                                        "inf",
                                        "123456789012345678901234567890",
                                        "59530.299999999996",
                                        "3.534108305465578779224746e-03",
                                        "",
                                        ".",
                                        "1e",
                                        "1e 5",
                                        "1.2.3",
                                        "--1",
                                        "1,5",
                                        "e5",
                                        "12a"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *end;
        double wanted = strtod(texts[i], &end), x = NAN;
        bool valid = end != texts[i] && !*end;
        assert_int_equal(table_parse(texts[i], &x), valid);
        if (!valid)
            continue;
        wanted = wanted == 0 ? 0 : wanted;
        assert_memory_equal(&x, &wanted, sizeof x);
    }
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        char text[64];
        double x;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        snprintf(text, sizeof text, "%.*g", 1 + (int)(seed >> 33) % 17,
                 ldexp((double)(int64_t)seed, (int)(seed >> 20) % 200 - 160));
        assert_true(table_parse(text, &x));
        assert_true(x == strtod(text, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separators),      cmocka_unit_test(test_named_by_the_caller),
        cmocka_unit_test(test_text_last),       cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_unused_columns),
    };
    return cmocka_run_group_tests(tests, scratch_file, scratch_remove);
}
