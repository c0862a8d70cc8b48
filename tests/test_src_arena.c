/* tests/test_src_arena.c – arenas give zeroed, aligned, disjoint memory and report once if there
 * was none; arrays grow without losing their contents. */
#include "src/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void pieces_are_zero_aligned_and_apart(void **state)
{
    enum { PIECES = 400 };
    struct arena a = {0};
    unsigned char *piece[PIECES];
    size_t size[PIECES];
    for (int i = 0; i < PIECES; i++) {
        size[i] = (size_t)i * (size_t)i * 7 % 9001 * (i % 50 == 49 ? 100 : 1);
        piece[i] = arena_take(&a, size[i], 1);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % 64, 0);
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(piece[i][k], 0);
        memset(piece[i], i % 251 + 1, size[i]);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(piece[i][k], i % 251 + 1);
    assert_int_equal(arena_check(&a, "it"), EK_OK);
    arena_free(&a);
    assert_null(a.block);
    arena_free(&a);
}

static void copies_are_apart(void **state)
{
    struct arena a = {0};
    double x[] = {1, -0., 3};
    double *y = arena_copy(&a, x, 3, sizeof *x);
    assert_memory_equal(x, y, sizeof x);
    x[0] = 7;
    assert_true(y[0] == 1);
    assert_string_equal(arena_text(&a, "word"), "word");
    assert_string_equal(arena_text(&a, NULL), "");
    assert_null(arena_copy(&a, NULL, 5, sizeof *x));
    assert_int_equal(arena_check(&a, "it"), EK_OK);
    assert_null(arena_copy(&a, x, SIZE_MAX, sizeof *x));
    assert_int_not_equal(a.failed, 0);
    arena_free(&a);
}

static void failure_is_remembered(void **state)
{
    struct arena a = {0};
    assert_null(arena_take(&a, SIZE_MAX / 2, 3));
    assert_non_null(arena_take(&a, 8, 8));
    status_mute(+1);
    assert_int_equal(arena_check(&a, "%d tasks", 7), EK_UNAVAILABLE);
    status_mute(-1);
    assert_string_equal(status_message(), "out of memory for 7 tasks");
    arena_free(&a);
    assert_int_equal(arena_check(&a, "it"), EK_OK);
    assert_null(arena_take(&a, SIZE_MAX - 10, 1));
    assert_true(a.failed);
    arena_free(&a);
}

static void arrays_grow(void **state)
{
    struct triple {
        int x[3];
    } *list = NULL;
    size_t room = 0;
    for (size_t n = 0; n < 1000; n++) {
        assert_int_equal(arena_grow(&list, &room, n, sizeof *list, "triples"), EK_OK);
        assert_true(room > n);
        list[n] = (struct triple){{(int)n, 1, 2}};
    }
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(list[n].x[0], n);
    status_mute(+1);
    room = SIZE_MAX / 8;
    assert_int_equal(arena_grow(&list, &room, room, sizeof *list, "triples"), EK_UNAVAILABLE);
    status_mute(-1);
    assert_int_equal(list[999].x[0], 999);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zero_aligned_and_apart),
        cmocka_unit_test(copies_are_apart),
        cmocka_unit_test(failure_is_remembered),
        cmocka_unit_test(arrays_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
