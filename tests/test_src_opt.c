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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct values {
    int colour;
    const char *in, *out;
};

static const char *const colours[] = {"red", "green", "blue", NULL};
static const struct opt table[] = {
    {"colour", OPT_NAME, offsetof(struct values, colour), "WORD", "colour (red)", .names = colours},
    {"in", OPT_FILE, offsetof(struct values, in), "FILE", "what is read", .env = NULL},
    {"out", OPT_TEXT, offsetof(struct values, out), "PREFIX", "of what is written", .env = NULL},
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
    assert_int_equal(parse(&v, "--out", ""), EK_USAGE);
    assert_null(v.in);
    assert_null(v.out);
    assert_int_equal(parse(&v, "-colour", "red"), EK_USAGE);
    assert_non_null(strstr(status_message(), "unknown option '-colour' (did you mean 'colour'?)"));
    assert_int_equal(parse(&v, "-c", "red"), EK_USAGE);
    assert_non_null(strstr(status_message(), "unknown option '-c'"));
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

struct every {
    bool loud;
    int number;
    double real;
    const char *text, *list;
};

static const struct opt every_table[] = {
    {"loud", OPT_FLAG, offsetof(struct every, loud), NULL, "a flag", .env = "EK_TEST_LOUD"},
    {"number", OPT_INT, offsetof(struct every, number), "N", "a number", .env = "EK_TEST_N",
     .min = 1, .max = 9},
    {"real", OPT_REAL, offsetof(struct every, real), "X", "any number", .env = NULL},
    {"text", OPT_TEXT, offsetof(struct every, text), "TEXT", "a text", .env = NULL},
    {"list", OPT_TEXT, offsetof(struct every, list), "LIST", "may stand alone", .optional = true},
    {"help", OPT_FLAG, offsetof(struct every, loud), NULL, "help", .env = NULL},
    OPT_END,
};

/* Parses a line of words; the rest goes to rest[0 .. *nrest - 1]. */
static enum ek_status parse_line(struct every *v, const char *line, const char **rest, int *nrest)
{
    static char copy[256];
    const struct opt_group group = {"test:", every_table, v};
    char *argv[16] = {copy};
    int argc = 1;
    snprintf(copy, sizeof copy, "test %s", line);
    for (char *c = copy; (c = strchr(c, ' '));) {
        *c++ = '\0';
        argv[argc++] = c;
    }
    *v = (struct every){0};
    status_mute(+1);
    return status_unmute(opt_parse(&group, 1, argc, argv, rest, nrest));
}

static void every_type_is_parsed(void **state)
{
    struct every v;
    const char *rest[16];
    int n = -1;
    assert_int_equal(
        parse_line(&v, "a --number 7 --real=-1e3 b --text x --list --loud c -- --d", rest, &n),
        EK_OK);
    assert_true(v.loud && v.number == 7 && v.real == -1000);
    assert_string_equal(v.text, "x");
    assert_string_equal(v.list, ""); /* an option follows */
    assert_int_equal(n, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(rest[i], ((const char *const[]){"a", "b", "c", "--d"})[i]);
    assert_int_equal(parse_line(&v, "--list one --number 9", NULL, NULL), EK_OK);
    assert_string_equal(v.list, "one");
    assert_int_equal(parse_line(&v, "--list=two", NULL, NULL), EK_OK);
    assert_string_equal(v.list, "two");
    assert_int_equal(parse_line(&v, "--list", NULL, NULL), EK_OK);
    assert_string_equal(v.list, "");
    assert_int_equal(parse_line(&v, "-h", NULL, NULL), EK_OK);
    assert_true(v.loud);
}

static void what_is_wrong_is_said(void **state)
{
    static const char *const wrong[][2] = {
        {"--number 10", "--number: 10 is out of range; allowed is 1 to 9"},
        {"--number 0", "--number: 0 is out of range"},
        {"--number 1.5", "'1.5' is not a whole number"},
        {"--number 99999999999", "is not a whole number"},
        {"--real nan", "--real: 'nan' is not a finite number"},
        {"--real 1x", "'1x' is not a finite number"},
        {"--real", "option '--real' needs an argument"},
        {"--numbre 3", "unknown option '--numbre' (did you mean 'number'?)"},
        {"--numberof=3", "unknown option '--numberof=3' (did you mean 'number'?)"},
        {"--loudness", "did you mean 'loud'"},
        {"--zzzzzzzzz", "unknown option '--zzzzzzzzz'; see"},
        {"a", "unexpected argument 'a'"},
        {"-- a", "unexpected argument 'a'"},
    };
    struct every v;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(parse_line(&v, wrong[i][0], NULL, NULL), EK_USAGE);
        if (!strstr(status_message(), wrong[i][1]))
            fail_msg("%s: '%s' is not in: %s", wrong[i][0], wrong[i][1], status_message());
    }
}

static void an_option_beats_its_variable(void **state)
{
    static const struct {
        const char *text;
        bool loud;
    } flags[] = {{"", false},      {"0", false}, {"false", false},
                 {"False", false}, {"1", true},  {"true", true}};
    struct every v;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        setenv("EK_TEST_LOUD", flags[i].text, 1);
        assert_int_equal(parse_line(&v, "--number 3", NULL, NULL), EK_OK);
        assert_int_equal(v.loud, flags[i].loud);
    }
    unsetenv("EK_TEST_LOUD");
    setenv("EK_TEST_N", "5", 1);
    assert_int_equal(parse_line(&v, "--real 1", NULL, NULL), EK_OK);
    assert_int_equal(v.number, 5);
    assert_int_equal(parse_line(&v, "--number 2", NULL, NULL), EK_OK);
    assert_int_equal(v.number, 2);
    setenv("EK_TEST_N", "50", 1);
    assert_int_equal(parse_line(&v, "--number 2", NULL, NULL), EK_USAGE);
    assert_non_null(strstr(status_message(), "EK_TEST_N: 50 is out of range"));
    unsetenv("EK_TEST_N");
}

static void lists_are_parsed(void **state)
{
    char longest[100];
    struct every v = {0};
    assert_int_equal(opt_parse_list(every_table, &v, "what", "number=4,loud,real=2.5"), EK_OK);
    assert_true(v.loud && v.number == 4 && v.real == 2.5);
    status_mute(+1);
    assert_int_equal(opt_parse_list(every_table, &v, "what", "real=1,real=2"), EK_USAGE);
    assert_non_null(strstr(status_message(), "'real' is given twice"));
    assert_int_equal(opt_parse_list(every_table, &v, "what", "text=1"), EK_USAGE);
    assert_int_equal(opt_parse_list(every_table, &v, "what", "reel=1"), EK_USAGE);
    assert_non_null(strstr(status_message(), "what has no option 'reel' (did you mean 'real'?)"));
    for (int digits = 63; digits <= 64; digits++) { /* a longer one would lose its end */
        snprintf(longest, sizeof longest, "real=%0*d", digits, 7);
        assert_int_equal(opt_parse_list(every_table, &v, "what", longest),
                         digits < 64 ? EK_OK : EK_USAGE);
        assert_true(v.real == 7);
    }
    status_mute(-1);
}

static void texts_are_trimmed_and_wrapped(void **state)
{
    char text[] = " \ta b\n ", blank[] = "  ", *out;
    size_t size;
    FILE *f = open_memstream(&out, &size);
    assert_string_equal(opt_trim(text), "a b");
    assert_string_equal(opt_trim(blank), "");
    for (int i = 0; i < 2; i++) { /* 80 columns, and one more; e with an accent is one */
        char line[100];
        snprintf(line, sizeof line, "%.*s \xc3\xa9%.*s", 69 + i,
                 "0123456789012345678901234567890123456789"
                 "0123456789012345678901234567890123456789",
                 4, "eeee");
        opt_wrap(f, 5, line);
    }
    fclose(f);
    assert_int_equal(strchr(out, '\n') - out, 76); /* bytes */
    assert_non_null(strstr(out, "9\n     \xc3\xa9"
                                "eeee\n"));
    free(out);
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

/* Ranks by the exact sums of binomial coefficients. */
static void intervals_have_their_confidence(void **state)
{
    for (int n = 1; n < 60; n++) {
        double x[60], low, high, term = 1, sum = 1; /* of X <= below, X heads of n coins */
        int below = 0;
        for (int i = 0; i < n; i++)
            x[i] = n - 1 - i;
        for (double next;
             next = term * (n - below) / (below + 1), 2 * (sum + next) <= 0.05 * exp2(n); below++)
            sum += term = next;
        const double confidence = sort_median_interval(x, (size_t)n, &low, &high);
        assert_true(low == below && high == n - 1 - below);
        assert_true(fabs(confidence - (1 - 2 * sum / exp2(n))) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_numbers),
        cmocka_unit_test(every_type_is_parsed),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(an_option_beats_its_variable),
        cmocka_unit_test(lists_are_parsed),
        cmocka_unit_test(texts_are_trimmed_and_wrapped),
        cmocka_unit_test(names_are_found_in_structs),
        cmocka_unit_test(what_is_read_is_not_overwritten),
        cmocka_unit_test(random_numbers_are_even),
        cmocka_unit_test(medians_are_in_the_middle),
        cmocka_unit_test(intervals_have_their_confidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
