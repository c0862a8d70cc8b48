/* tests/test_cu_place.c – OMP_PLACES: read, written, compared with how the OpenMP runtime reads it,
 * and checked against layouts. */
#include "tests/places.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- reading --------------------------------------------------------------------------------- */

static void reads_the_grammar(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{0:2}:1:1, {2}:4:1", "0-1 2 3 4 5"}, /* the papers' table, row by row */
        {"{0:3}:1:1, {4}:1:1", "0-2 4"},
        {"{0:2}:4:2, {8}:1:1", "0-1 2-3 4-5 6-7 8"},
        {"{0:2}:7:2, {14}:2:1", "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14 15"},
        {"{0:4}:3:4, {12}:4:1", "0-3 4-7 8-11 12 13 14 15"},
        {"{0,1,2,3},{4:4}", "0-3 4-7"},
        {"{0:4}:2", "0-3 1-4"}, /* the default stride is 1 */
        {"{3}:4:-1", "3 2 1 0"},
        {"{6:3:-2}", "2,4,6"},
        {"{0:4:2,!2}", "0,4,6"},
        {"{!2,0:4}", "0-1,3"},
        {"{0},{1},{0},!{0}", "1 0"},
        {"{0:2}:3:2,!{2,3}", "0-1 4-5"},
        {"0,1", "0 1"},
        {"4:3:2", "4 6 8"},
        {" { 0 , 1 : 2 } : 2 : 4 ,\t{ 9 } ", "0-2 4-6 9"},
        {"{0}:3:0", "0 0 0"},
        {"{100:2}", "100-101"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place_list list = {0};
        assert_int_equal(place_parse(cases[i].text, NULL, NULL, &list), EK_OK);
        assert_string_equal(as_text(&list), cases[i].want);
        place_free(&list);
    }
}

static const char *const malformed[] = {
    "",           " ",          "{",
    "{0",         "{}",         "{0},",
    "{0} {1}",    "{0;1}",      "{-1}",
    "{0:0}",      "{0}:0",      "{0}::1",
    "{0:}",       "{0:2:}",     "{0:2}:1:1:1",
    "!{0}",       "{!0}",       "{0},!{1}",
    "{0},!{0}",   "{0:2:-1}",   "{0x1}",
    "{0},!{0}:1", "{1}:3:-1",   "Foo",
    "cores(",     "cores(1",    "cores()",
    "cores(0)",   "cores,{0}",  "cores 2",
    "{0}}",       "{0:2,!0:1}", "{99999999999999999999}",
};

static void refuses_with_a_column(void **state)
{
    status_mute(+1);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        struct place_list list = {.n = 77};
        if (place_parse(malformed[i], NULL, NULL, &list) != EK_USAGE)
            fail_msg("'%s' is accepted", malformed[i]);
        assert_int_equal(list.n, 77); /* unchanged */
        assert_non_null(strstr(status_message(), malformed[i]));
    }
    status_mute(-1);
}

static void names_of_hardware(void **state)
{
    static const struct {
        const char *text;
        int n, width;
    } cases[] = {
        {"threads", 16, 1},      {"cores", 8, 2},         {"cores(3)", 3, 2},
        {" Sockets ", 2, 8},     {"ll_caches", 4, 4},     {"numa_domains", 2, 8},
        {"THREADS ( 5 )", 5, 1}, {"ll_caches(99)", 4, 4},
    };
    hwloc_topology_t t;
    assert_int_equal(topology_open("pack:2 numa:1 l3:2 core:2 pu:2", &t), EK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place_list list = {0};
        assert_int_equal(place_parse(cases[i].text, t, NULL, &list), EK_OK);
        assert_int_equal(list.n, cases[i].n);
        for (int p = 0; p < list.n; p++)
            assert_int_equal(hwloc_bitmap_weight(list.cpus[p]), cases[i].width);
        place_free(&list);
    }
    topology_close(t);
}

static void names_respect_what_is_allowed(void **state)
{
    hwloc_topology_t t;
    struct place_list list = {0};
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(allowed, 3, 6);
    assert_int_equal(topology_open("pack:2 core:2 pu:2", &t), EK_OK);
    assert_int_equal(place_parse("cores", t, allowed, &list), EK_OK);
    assert_string_equal(as_text(&list), "3 4-5 6");
    place_free(&list);
    hwloc_bitmap_free(allowed);
    topology_close(t);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void random_place(hwloc_bitmap_t cpus)
{
    unsigned first = any_below(40), n = 1 + any_below(6), stride = 1 + any_below(3);
    for (unsigned i = 0; i < n; i++)
        hwloc_bitmap_set(cpus, first + i * stride);
    if (any_below(3) == 0)
        hwloc_bitmap_set(cpus, any_below(64));
}

static void written_lists_read_back(void **state)
{
    for (int round = 0; round < 500; round++) {
        struct place_list list = {0}, again = {0};
        int n = 1 + (int)any_below(12);
        while (list.n < n) {
            hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
            random_place(cpus);
            for (unsigned k = 0, copies = 1 + any_below(3); k < copies; k++)
                assert_int_equal(place_append(&list, hwloc_bitmap_dup(cpus)), EK_OK);
            hwloc_bitmap_free(cpus);
        }
        char *text = place_format(&list);
        assert_int_equal(place_parse(text, NULL, NULL, &again), EK_OK);
        assert_true(place_equal(&list, &again));
        free(text);
        place_free(&again);
        place_free(&list);
    }
}

static void writes_the_papers_forms(void **state)
{
    static const char *const texts[] = {"{0:2}:7:2,{14}:2:1",
                                        "{0:4}:3:4,{12}:4:1",
                                        "{0},{5:2}:2:-3",
                                        "{0,64}:4:1",
                                        "{0:4:2}",
                                        "{1,3,9}",
                                        "{0:2},{2}:4:1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct place_list list = {0};
        assert_int_equal(place_parse(texts[i], NULL, NULL, &list), EK_OK);
        char *text = place_format(&list);
        assert_string_equal(text, texts[i]);
        free(text);
        place_free(&list);
    }
}

/* ---- agreement with the OpenMP runtime ------------------------------------------------------- */

static char self[4096];

/* Asks a child process how this machine's OpenMP runtime reads `text`; false if the runtime
 * complains. */
static bool ask_runtime(const char *text, char *answer, size_t room)
{
    char command[8192], line[4096];
    snprintf(command, sizeof command, "OMP_PLACES='%s' OMP_PROC_BIND=close '%s' --runtime 2>&1",
             text, self);
    FILE *pipe = popen(command, "r");
    bool complains = false;
    answer[0] = 0;
    while (pipe && fgets(line, sizeof line, pipe)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "PLACES ", 7))
            snprintf(answer, room, "%s", line + 7);
        else
            complains |= line[0] != 0;
    }
    assert_non_null(pipe);
    assert_int_equal(pclose(pipe), 0);
    return !complains;
}

static int print_runtime(void)
{
    struct place_list list = {0};
    if (place_runtime(&list))
        return 1;
    printf("PLACES %s\n", as_text(&list));
    place_free(&list);
    return 0;
}

/* A random text of the grammar with cpu numbers below n. It has exclusions only for libgomp, which
 * reads them as the standard says. */
static void random_text(unsigned n, char *text, size_t room)
{
#ifdef __clang__
    bool exclusions = false;
#else
    bool exclusions = true;
#endif
    static const char *const blank[] = {"", "", " "};
    int at = 0;
    for (unsigned p = 0, places = 1 + any_below(3); p < places; p++) {
        at += snprintf(text + at, room - (size_t)at, "%s%s{", p ? "," : "", blank[any_below(3)]);
        for (unsigned r = 0, list = 1 + any_below(3); r < list; r++) {
            const char *memory = blank[any_below(3)];
            at += snprintf(text + at, room - (size_t)at, "%s", r ? "," : "");
            if (r && exclusions && any_below(4) == 0) /* libgomp allows no blank before this '!' */
                at += snprintf(text + at, room - (size_t)at, "!%s%u", memory, any_below(n));
            else if (any_below(2))
                at += snprintf(text + at, room - (size_t)at, "%s%u", memory, any_below(n));
            else
                at += snprintf(text + at, room - (size_t)at, "%s%u:%u:%d", memory, any_below(n),
                               1 + any_below(n), (int)any_below(3));
        }
        at += snprintf(text + at, room - (size_t)at, "}%s", blank[any_below(3)]);
        if (any_below(2))
            at += snprintf(text + at, room - (size_t)at, ":%u:%d", 1 + any_below(3),
                           (int)any_below(3) - 1);
    }
}

/* Whether all cpus of the list are in `allowed`; the runtime drops others. */
static bool is_here(const struct place_list *list, hwloc_const_bitmap_t allowed)
{
    hwloc_bitmap_t all = hwloc_bitmap_alloc();
    place_union(list, all);
    bool here = hwloc_bitmap_isincluded(all, allowed);
    hwloc_bitmap_free(all);
    return here;
}

static void agree_on(const char *text, hwloc_const_bitmap_t allowed)
{
    char theirs[4096];
    struct place_list list = {0};
    assert_int_equal(place_parse(text, NULL, allowed, &list), EK_OK);
    if (!ask_runtime(text, theirs, sizeof theirs))
        fail_msg("the runtime refuses '%s'", text);
    if (strcmp(theirs, as_text(&list)))
        fail_msg("'%s' is '%s' to us, '%s' to the runtime", text, as_text(&list), theirs);
    place_free(&list);
}

static void agrees_with_the_runtime(void **state)
{
    static const char *const names[] = {
        "threads",        "cores", "sockets", "cores(1)", "Threads(1)",
#ifndef __clang__
        " threads ( 1 )", /* libomp allows no blanks here */
#endif
    };
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    assert_int_equal(topology_process_cpus(allowed), EK_OK);
    int compared = 0;
    for (int round = 0; round < 2000 && compared < 60; round++) {
        char text[512];
        struct place_list list = {0};
        random_text((unsigned)hwloc_bitmap_last(allowed) + 1, text, sizeof text);
        status_mute(+1);
        bool fine = !place_parse(text, NULL, NULL, &list) && is_here(&list, allowed);
        status_mute(-1);
        place_free(&list);
        if (fine)
            agree_on(text, allowed);
        compared += fine;
    }
    assert_true(compared >= 20);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        agree_on(names[i], allowed);
    hwloc_bitmap_free(allowed);
}

static void refuses_what_the_runtime_refuses(void **state)
{
#ifdef __clang__
    skip(); /* libomp accepts some texts outside the grammar and crashes on others */
#endif
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        char theirs[4096];
        /* libgomp insists on closing brackets, but reads "cores(0)" as all cores */
        if (ask_runtime(malformed[i], theirs, sizeof theirs))
            fail_msg("the runtime reads '%s' as '%s'", malformed[i], theirs);
    }
}

/* ---- against a layout ------------------------------------------------------------------------ */

static void compares_with_the_layout(void **state)
{
    static const struct {
        const char *layout, *places, *words; /* words NULL: agrees */
    } cases[] = {
        {"1x2+4", "{0:2}:1:1, {2}:4:1", NULL},
        {"1x4+1", "{0:3}:1:1, {4}:1:1", "0-2, 3 wide, but a CPU unit of layout 1x4+1 is 4 wide"},
        {"4x2+1", "{0:2}:4:2, {8}:1:1", NULL},
        {"7x2+2", "{0:2}:7:2, {14}:2:1", NULL},
        {"3x4+4", "{0:4}:3:4, {12}:4:1", NULL},
        {"2x1+1", "{0}:1:1,{1}:1:1", "has 2 places, but layout 2x1+1 needs 3"},
        {"2x2", "{0:2},{2:3}", "place 1 is cpus 2-4, 3 wide"},
        {"1x1+1", "{0},{1:5}", NULL}, /* a device's place may be wider */
        {"1x1+1x3", "{0},{1:3}", NULL},
        {"1x1+1x2", "{0},{1:5}", NULL},
        {"1x1+2x3", "{0},{1:3},{4:2}", "place 2 is cpus 4-5, 2 wide, but 3 threads feed"},
        {"1x3+1x2", "{0:3},{3}", "place 1 is cpus 3, 1 wide, but 2 threads feed"},
    };
    status_mute(+1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cu_layout layout;
        struct place_list list = {0};
        assert_int_equal(cu_layout_parse(cases[i].layout, &layout), EK_OK);
        assert_int_equal(place_parse(cases[i].places, NULL, NULL, &list), EK_OK);
        enum ek_status st = place_check(&list, &layout, cases[i].places);
        assert_int_equal(st, cases[i].words ? EK_USAGE : EK_OK);
        if (cases[i].words && !strstr(status_message(), cases[i].words))
            fail_msg("'%s' is not in '%s'", cases[i].words, status_message());
        place_free(&list);
    }
    status_mute(-1);
}

static void infers_the_layout(void **state)
{
    static const struct {
        const char *places;
        int ndev;
        const char *layout; /* NULL: refused */
    } cases[] = {
        {"{0:2}:7:2, {14}:2:1", 2, "7x2+2"},
        {"{0:2}:7:2, {14}:2:1", 0, NULL},
        {"{0:2}:7:2, {14}:2:1", 9, "0x0+9"},
        {"{0:2}:7:2, {14}:2:1", 10, NULL},
        {"{0}:4:1", 0, "4x1"},
        {"{0}:4:1", 1, "3x1+1"},
        {"{0}:3:1,{3:4}", 1, "3x1+1"}, /* several threads per device must be given by a layout */
    };
    status_mute(+1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cu_layout layout;
        struct place_list list = {0};
        assert_int_equal(place_parse(cases[i].places, NULL, NULL, &list), EK_OK);
        enum ek_status st = place_infer(&list, cases[i].ndev, cases[i].places, &layout);
        assert_int_equal(st, cases[i].layout ? EK_OK : EK_USAGE);
        if (!st)
            assert_string_equal(cu_layout_text(&layout), cases[i].layout);
        place_free(&list);
    }
    status_mute(-1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--runtime"))
        return print_runtime();
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_grammar),
        cmocka_unit_test(refuses_with_a_column),
        cmocka_unit_test(names_of_hardware),
        cmocka_unit_test(names_respect_what_is_allowed),
        cmocka_unit_test(written_lists_read_back),
        cmocka_unit_test(writes_the_papers_forms),
        cmocka_unit_test(agrees_with_the_runtime),
        cmocka_unit_test(refuses_what_the_runtime_refuses),
        cmocka_unit_test(compares_with_the_layout),
        cmocka_unit_test(infers_the_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
