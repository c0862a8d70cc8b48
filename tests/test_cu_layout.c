/* tests/test_cu_layout.c – the text form of layouts. */
#include "cu/unit/cu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void reads(void **state)
{
    static const struct {
        const char *text;
        struct cu_layout want;
        int units, threads, workers;
    } cases[] = {
        {"7x2+2", {7, 2, 2, 1}, 9, 16, 16},
        {"1x2+4", {1, 2, 4, 1}, 5, 6, 6},
        {"3x4 + 4", {3, 4, 4, 1}, 7, 16, 16},
        {"2x1", {2, 1, 0, 0}, 2, 2, 2},
        {"2x1+0", {2, 1, 0, 0}, 2, 2, 2},
        {"0x0+1", {0, 0, 1, 1}, 1, 1, 1},
        {"0x8+1", {0, 0, 1, 1}, 1, 1, 1},
        {" 4 X 8 ", {4, 8, 0, 0}, 4, 32, 32},
        {"1024x1024", {1024, 1024, 0, 0}, 1024, 1 << 20, 1 << 20},
        {"7x2+2x1", {7, 2, 2, 1}, 9, 16, 16},
        {"7x2+2x3", {7, 2, 2, 3}, 9, 20, 16},
        {"0x0+2x3", {0, 0, 2, 3}, 2, 6, 2},
        {" 1 x 1 + 1 X 4 ", {1, 1, 1, 4}, 2, 5, 2},
        {"1x1+0x4", {1, 1, 0, 0}, 1, 1, 1},
        {"1x1+0x0", {1, 1, 0, 0}, 1, 1, 1},
        {"0x0+1024x1024", {0, 0, 1024, 1024}, 1024, 1 << 20, 1024},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cu_layout got = {-1, -1, -1, -1};
        assert_int_equal(cu_layout_parse(cases[i].text, &got), EK_OK);
        assert_memory_equal(&got, &cases[i].want, sizeof got);
        assert_int_equal(cu_layout_units(&got), cases[i].units);
        assert_int_equal(cu_layout_threads(&got), cases[i].threads);
        assert_int_equal(cu_layout_workers(&got), cases[i].workers);
    }
}

static void writes_what_it_reads(void **state)
{
    static const char *const texts[] = {"7x2+2",    "1x1",   "0x0+3",   "1048576x1",
                                        "512x2048", "1x1+9", "0x0+2x3", "1x1+1x1048575"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct cu_layout l;
        assert_int_equal(cu_layout_parse(texts[i], &l), EK_OK);
        assert_string_equal(cu_layout_text(&l), texts[i]);
    }
}

static void refuses(void **state)
{
    static const char *const texts[] = {
        "",
        "x",
        "7",
        "7x",
        "x2",
        "7x2+",
        "7x2+-1",
        "-1x2",
        "7x2+2+1",
        "1x1+1x0",
        "1x1+x2",
        "1x1+1x",
        "1x1+1x-2",
        "1x1+1x2x3",
        "1x1+1x2+1",
        "1x1x1",
        "0x0+0x2",
        "0x0+2x1048576",
        "1x1+1x1048576",
        "1x1+0x1048577",
        "7x2 2",
        "axb",
        "1.5x2",
        "0x0",
        "0x0+0",
        "4x0",
        "4x0+1",
        "1048577x1",
        "1024x1024+1",
        "99999999999999999999x1",
        "7*2+2",
    };
    status_mute(+1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct cu_layout l = {5, 6, 7, 8};
        assert_int_equal(cu_layout_parse(texts[i], &l), EK_USAGE);
        assert_non_null(strstr(status_message(), texts[i]));
        assert_int_equal(l.ncpu + l.width + l.ndev + l.feeders, 26); /* unchanged */
    }
    status_mute(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
