/* tests/test_okada_mogi_expression.c – users' constraints: the grammar against C's, and constrained
 * searches against filtered unconstrained ones. */
#include "okada_mogi/expression.h"
#include "tests/okada_mogi.h"

static bool holds(const char *text, const double *x, const double *other)
{
    struct expression e;
    assert_int_equal(expression_read("test", "key", text, model_find("okada"), 3, &e), EK_OK);
    return expression_holds(&e, x, other);
}

/* Ec Nc d strike dip L W rake slip nu */
static const double a[] = {1, 2, 3, 30, 60, 20, 10, 90, 1.5, 0.25},
                    b[] = {-1, 5, 4, 0, 45, 5, 5, 0, -2, 0.25};

static void test_grammar(void **state)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        {"L_m / W_m < 4", true},
        {"L_m/W_m<2", false},
        {"L_m / W_m <= 2", true},
        {"1 < L_m / W_m < 4", true},
        {"2 < L_m / W_m < 4", false},
        {"1 < L_m / W_m < 2", false},
        {"4 > L_m / W_m >= 2 and d_m == 3", true},
        {"2 + 3 * d_m == 11", true},
        {"(2 + 3) * d_m == 15", true},
        {"10 - d_m - 2 == 5", true},
        {"60 / L_m / W_m < 1", true},
        {"2 ^ d_m ^ 2 == 512", true},
        {"-d_m ^ 2 == -9", true},
        {"2 ^ -d_m == 0.125", true},
        {"d_m - -1 == 4", true},
        {"!(d_m > 2) || L_m > 19", true},
        {"not d_m > 2 or L_m < 19", false},
        {"not d_m < 4", false},
        {"d_m > 2 || d_m > 2 && d_m > 100", true},
        {"(d_m > 2 || d_m > 2) && d_m > 100", false},
        {"sin(strike_deg) > 0.4999999 and sin(strike_deg) < 0.5000001", true},
        {"cos(rake_deg) == 0", true},
        {"d_m + W_m * sin(dip_deg) > 11.66", true},
        {"sqrt(abs(-9)) == d_m", true},
        {"max(d_m, min(L_m, W_m)) == 10", true},
        {"log(exp(d_m)) > 2.999999", true},
        {"log10(1e3) == d_m && pi > 3.14159", true},
        {"d_m != 3", false},
        {"0 / (d_m - 3) < 1", false},
        {"0 / (d_m - 3) >= 1", false},
        {"Ec_m\t<\t1.5e0", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (holds(cases[i].text, a, NULL) != cases[i].holds)
            fail_msg("%s", cases[i].text);
}

/* A random term as text, and its value by C's rules. */
static double random_term(int depth, char *text)
{
    static const char *const names[] = {"Ec_m", "Nc_m", "d_m", "L_m"};
    static const double values[] = {1, 2, 3, 20};
    if (depth == 0 || job_random(0, 1) < 0.2) {
        const int i = (int)job_random(0, 4);
        strcpy(text, names[i]);
        return values[i];
    }
    char left[2000], right[2000];
    const double x = random_term(depth - 1, left), y = random_term(depth - 1, right);
    const int what = (int)job_random(0, 4);
    sprintf(text, "(%s %c %s)", left, "+-*/"[what], right);
    return what == 0 ? x + y : what == 1 ? x - y : what == 2 ? x * y : x / y;
}

static void test_random(void **state)
{
    for (int i = 0; i < 500; i++) {
        char left[2000], right[2000], text[4100];
        const double x = random_term(3, left), y = random_term(2, right);
        sprintf(text, "%s < %s", left, right);
        assert_int_equal(holds(text, a, NULL), x < y);
    }
}

static void test_sources(void **state)
{
    struct expression e;
    const struct model *m = model_find("okada");
    assert_int_equal(expression_read("test", "key", "d_m < 5", m, 3, &e), EK_OK);
    assert_true(e.source[0] == -1 && !e.as.pair && e.as.looks_at == 1u << 2);
    assert_int_equal(expression_read("test", "key", "d_m.2 < W_m.2", m, 3, &e), EK_OK);
    assert_true(e.source[0] == 1 && e.source[1] == -1 && !e.as.pair);
    assert_true(expression_holds(&e, a, NULL));
    assert_int_equal(expression_read("test", "key", "d_m.1 < d_m.3 - 0.5", m, 3, &e), EK_OK);
    assert_true(e.source[0] == 2 && e.source[1] == 0 && e.as.pair);
    assert_true(expression_holds(&e, b, a)); /* 3 < 4 - 0.5 */
    assert_false(expression_holds(&e, a, b));
    static const char *const wrong[] = {"",
                                        "L_m",
                                        "L_m / W_m",
                                        "L_m < ",
                                        "L_m < 4)",
                                        "(L_m < 4",
                                        "1 < 2",
                                        "L < 4",
                                        "L_m.4 < 1",
                                        "L_m.0 < 1",
                                        "L_m. < 1",
                                        "L_m.1 < W_m",
                                        "sin L_m < 1",
                                        "min(L_m) < 1",
                                        "1 < L_m < 3 < 4",
                                        "L_m < 1e999",
                                        "d_m.1 + d_m.2 + d_m.3 > 1",
                                        "L_m < 4 W_m"};
    status_mute(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (expression_read("test", "key", wrong[i], m, 3, &e) != EK_USAGE)
            fail_msg("'%s' is taken", wrong[i]);
    char deep[500];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(expression_read("test", "key", deep, m, 3, &e), EK_USAGE);
    memset(deep, '-', sizeof deep - 1);
    assert_int_equal(expression_read("test", "key", deep, m, 3, &e), EK_USAGE);
    status_mute(-1);
}

/* ---- searches ---------------------------------------------------------------------------------*/

static struct job *open_job(int sources, const char *constraints)
{
    char text[4096];
    int used = snprintf(text, sizeof text,
                        "{\"model\": \"mogi\", \"sources\": %d, \"stations\": \"stations.csv\", "
                        "\"accept\": {\"k_sigma\": 3}, %s\"parameters\": [",
                        sources, constraints);
    for (int s = 1; s <= sources; s++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"name\": \"Es_m.%d\", \"min\": -3000, \"max\": 3000, \"n\": 7}, "
                         "{\"name\": \"Ns_m.%d\", \"min\": -3000, \"max\": 3000, \"n\": 5}, "
                         "{\"name\": \"d_m.%d\", \"min\": 1000, \"max\": 4000, \"n\": 5}, "
                         "{\"name\": \"dV_m3.%d\", \"min\": -4e6, \"max\": 4e6, \"n\": 5}",
                         s > 1 ? ", " : "", s, s, s, s);
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    return job_read(text, NULL);
}

static bool upper(const double *x)
{
    return x[0] + x[1] >= 0 && x[2] / 1000 < 3;
}

static bool first(const double *x)
{
    const double *y = x + model_find("mogi")->nparameters;
    return x[2] < y[2] && y[3] > 0 && fabs(y[0] - x[0]) <= 2000;
}

/* The other search's trials that satisfy the constraints. */
static void sift(int sources, const char *constraints, bool (*keeps)(const double *x))
{
    struct job *plain = open_job(sources, ""), *job = open_job(sources, constraints);
    struct accepted all = job_search(plain, SEARCH_EXACT, 3), kept = {0};
    struct accepted exact = job_search(job, SEARCH_EXACT, 3),
                    brute = job_search(job, SEARCH_BRUTE, 1);
    for (size_t i = 0; i < all.n; i++) {
        double x[JOB_AXES];
        job_parameters(job, all.record[i].trial, x);
        if (keeps(x))
            assert_int_equal(accepted_add(&kept, &all.record[i]), EK_OK);
    }
    assert_true(kept.n > 10 && kept.n < all.n);
    assert_same(&kept, &exact);
    assert_same(&kept, &brute);
    assert_true(job_sum(plain, plain->wanted) != job_sum(job, job->wanted));
    accepted_free(&all);
    accepted_free(&kept);
    accepted_free(&exact);
    accepted_free(&brute);
    job_close(plain);
    job_close(job);
}

static void test_searches(void **state)
{
    job_write("stations.csv", "E_m,N_m,uU_m,sU_m\n0,0,0.02,0.05\n2500,-500,0.01,0.05\n");
    sift(1, "\"constraints\": [\"Es_m + Ns_m >= 0 and d_m / 1000 < 3\"], ", upper);
    sift(1, "\"constraints\": {\"expressions\": [\"Es_m >= -Ns_m\", \"3e3 > d_m\"]}, ", upper);
    sift(2,
         "\"constraints\": {\"expressions\": [\"d_m.1 < d_m.2\", \"dV_m3.2 > 0\", "
         "\"abs(Es_m.2 - Es_m.1) <= 2000\"]}, ",
         first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar), cmocka_unit_test(test_random),
        cmocka_unit_test(test_sources), cmocka_unit_test(test_searches)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
