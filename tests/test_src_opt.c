/* tests/test_src_opt.c – options of type OPT_NAME, empty names, input files, random numbers and
 * medians. */
#include "src/file.h"
#include "src/opt.h"
#include "src/random.h"
#include "src/sort.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct values {
    int colour;
    const char *in;
};

static const char *const colours[] = {"red", "green", "blue", NULL};
static const struct opt table[] = {
    {"colour", OPT_NAME, offsetof(struct values, colour), "WORD", "colour (red)", .names = colours},
    {"in", OPT_FILE, offsetof(struct values, in), "FILE", "what is read", .env = NULL},
    OPT_END,
};

static enum ek_status parse(struct values *v, const char *option, const char *word)
{
    const struct opt_group group = {"test:", table, v};
    static char name[] = "test", text[2][64]; /* the values point into it */
    char *argv[] = {name, text[0], text[1], NULL};
    snprintf(text[0], sizeof text[0], "%s", option);
    snprintf(text[1], sizeof text[1], "%s", word);
    return opt_parse(&group, 1, 3, argv, NULL, NULL);
}

static void words_become_numbers(void **state)
{
    struct values v = {0};
    for (int i = 0; colours[i]; i++) {
        assert_int_equal(parse(&v, "--colour", colours[i]), EK_OK);
        assert_int_equal(v.colour, i);
    }
    assert_int_equal(opt_parse_list(table, &v, "test", "colour=green"), EK_OK);
    assert_int_equal(v.colour, 1);
    status_mute(+1);
    assert_int_equal(parse(&v, "--colour", "bleu"), EK_USAGE);
    assert_int_equal(v.colour, 1);
    assert_non_null(strstr(status_message(), "--colour: 'bleu' is not one of red, green, blue"));
    assert_non_null(strstr(status_message(), "did you mean 'blue'"));
    assert_int_equal(parse(&v, "--colour", ""), EK_USAGE);
    assert_int_equal(parse(&v, "--in", ""), EK_USAGE);
    assert_null(v.in);
    assert_int_equal(parse(&v, "--colour", "red\n\033[2J"), EK_USAGE);
    assert_non_null(strstr(status_message(), "'red??[2J' is not")); /* one line, no terminal
                                                                     * commands */
    char *endless = malloc(20001); /* two bytes a character: none is cut */
    for (int i = 0; i < 20000; i++)
        endless[i] = "\xc3\xa9"[i % 2];
    endless[20000] = '\0';
    for (int shift = 0; shift < 2; shift++) {
        assert_int_equal(
            opt_choose("colour", endless + shift, colours, sizeof *colours, 3, &v.colour),
            EK_USAGE);
        const char *said = status_message(), *cut = strstr(said, " … ");
        assert_true(strlen(said) < 1000 && !strncmp(said, "colour: '", 9) && cut);
        assert_true(cut[-1] == '\xa9' && cut[5] == '\xc3');
        assert_non_null(strstr(cut, "' is not one of red, green, blue"));
    }
    free(endless);
    status_mute(-1);
}

static void names_are_found_in_structs(void **state)
{
    static const struct {
        double x;
        const char *name;
    } list[] = {{1, "one"}, {2, "two"}};
    int at = -1;
    assert_int_equal(opt_choose("number", "two", &list[0].name, sizeof *list, 2, &at), EK_OK);
    assert_int_equal(at, 1);
    status_mute(+1);
    assert_int_equal(opt_choose("number", "three", &list[0].name, sizeof *list, 2, &at), EK_USAGE);
    status_mute(-1);
    assert_int_equal(at, 1);
}

static void what_is_read_is_not_overwritten(void **state)
{
    struct values v = {0};
    char path[] = "/tmp/test_src_opt.XXXXXX";
    close(mkstemp(path));
    assert_int_equal(parse(&v, "--in", path), EK_OK);
    assert_string_equal(v.in, path);
    status_mute(+1);
    assert_int_equal(file_replace_text(path, "x"), EK_USAGE);
    status_mute(-1);
    unlink(path);
}

/* Mean and variance of a uniform number, and the published start for seed 0. */
static void random_numbers_are_even(void **state)
{
    enum { N = 100000 };
    uint64_t seed = 0;
    double sum = 0, squares = 0;
    int below[7] = {0};
    assert_true(random_bits(&seed) == 0xe220a8397b1dcdafu);
    for (int i = 0; i < N; i++) {
        const double x = random_uniform(&seed);
        assert_true(x > 0 && x < 1);
        sum += x;
        squares += x * x;
        below[random_below(&seed, 7)]++;
    }
    assert_true(fabs(sum / N - 0.5) < 0.005);
    assert_true(fabs(squares / N - 1.0 / 3) < 0.005);
    for (int i = 0; i < 7; i++)
        assert_true(abs(below[i] - N / 7) < N / 70);
}

static void medians_are_in_the_middle(void **state)
{
    double one[] = {3}, two[] = {5, 3}, odd[] = {9, -1, 4}, even[] = {1, 1e300, -0.0, 3};
    assert_true(isnan(sort_median(NULL, 0)));
    assert_true(sort_median(one, 1) == 3);
    assert_true(sort_median(two, 2) == 4);
    assert_true(sort_median(odd, 3) == 4);
    assert_true(sort_median(even, 4) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_numbers),
        cmocka_unit_test(names_are_found_in_structs),
        cmocka_unit_test(what_is_read_is_not_overwritten),
        cmocka_unit_test(random_numbers_are_even),
        cmocka_unit_test(medians_are_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
