/* tests/test_src_isa.c – the choice among instruction levels, and the vectors' operations at
 * each. */
#include "tests/isa.h"
#include "tests/lanes_twins.h"

static const struct isa *level(const char *name)
{
    for (int i = 0; isa_at(i); i++)
        if (!strcmp(isa_at(i)->name, name))
            return isa_at(i);
    return NULL;
}

static void the_highest_is_in_force(void **state)
{
    int highest = -1;
    for (int i = 0; isa_at(i); i++)
        if (isa_at(i)->built && isa_at(i)->runs)
            highest = i;
    assert_int_equal(isa_choose(NULL), EK_OK);
    assert_int_equal(isa_now(), highest);
    assert_int_equal(isa_choose(""), EK_OK);
    assert_int_equal(isa_now(), highest);
    assert_string_equal(isa_name(), isa_at(highest)->name);
}

static void any_lower_one_may_be_chosen(void **state)
{
    int n = 0;
    for (int i = isa_next(-1); i >= 0; i = isa_next(i), n++)
        assert_int_equal(isa_now(), i);
    assert_true(n >= 3);
    assert_true(level("lanes1")->runs && (level("lanes8")->built || level("v4")->runs));
}

static void others_are_refused(void **state)
{
    static const char *const wrong[] = {"v9", "v", " ", "v3 ", "plain v2", "lanes", "V3"};
    const int before = isa_now();
    status_mute(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(isa_choose(wrong[i]), EK_USAGE);
    for (int i = 0; isa_at(i); i++)
        if (!isa_at(i)->built)
            assert_int_equal(isa_choose(isa_at(i)->name), EK_USAGE);
        else if (!isa_at(i)->runs)
            assert_int_equal(isa_choose(isa_at(i)->name), EK_UNAVAILABLE);
    status_mute(-1);
    assert_int_equal(isa_now(), before);
}

/* Objects of one level must not be passed to another, so the level cannot change later. */
static void too_late_is_refused(void **state)
{
    const int now = isa_now();
    status_mute(1);
    for (int i = 0; isa_at(i); i++)
        if (isa_at(i)->built && isa_at(i)->runs && i != now) {
            assert_int_equal(isa_choose(isa_at(i)->name), EK_UNAVAILABLE);
            assert_non_null(strstr(status_message(), "in use already"));
            assert_int_equal(isa_now(), now);
        }
    status_mute(-1);
    assert_int_equal(isa_choose(isa_at(now)->name), EK_OK);
}

/* Zeros of both signs, the smallest and the largest numbers, and many in between. */
static void vectors_compute_as_each_lane(void **state)
{
    enum { N = 600 };
    static const double odd[] = {0,        -0.0,      1,      -1, 5e-324, 2.2250738585072014e-308,
                                 1.79e308, -1.79e308, 1e-300, 3,  1e16,   0x1.fffffffffffffp-1,
                                 INFINITY, 7};
    double x[N];
    srand48(3);
    for (int i = 0; i < N; i++)
        x[i] = i % 3 ? ldexp(drand48() - 0.5, (int)(lrand48() % 200) - 100)
                     : odd[lrand48() % (long)(sizeof odd / sizeof *odd)];
    for (int i = isa_next(-1); i >= 0; i = isa_next(i))
        if (lanes_twins(x, N))
            fail_msg("level %s: %d operations differ", isa_at(i)->name, lanes_twins(x, N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_is_in_force),
        cmocka_unit_test(any_lower_one_may_be_chosen),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(too_late_is_refused),
        cmocka_unit_test(vectors_compute_as_each_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
