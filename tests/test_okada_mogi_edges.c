/* tests/test_okada_mogi_edges.c – trials on the edge of what is accepted: residuals of exactly k
 * sigma, and stations on the trace of a fault. */
#include "tests/okada_mogi.h"

/* Residuals that are k sigma in decimal numbers are accepted, whatever their quotient rounds to. */
static void test_equality(void **state)
{
    static const char *const cases[][3] = {{"0.07", "0.01", "7"},   {"0.03", "0.01", "3"},
                                           {"0.3", "0.1", "3"},     {"0.29", "0.01", "29"},
                                           {"0.021", "0.007", "3"}, {"0.0057", "0.0001", "57"}};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 2; k++) { /* k, and less by a millionth */
            char text[1024];
            struct job *job;
            snprintf(text, sizeof text, "E_m,N_m,uE_m,uN_m,uU_m\n0,0,%s,0,0\n9,9,0,-%s,%s\n",
                     cases[i][0], cases[i][0], cases[i][0]);
            job_write("stations.csv", text);
            snprintf(text, sizeof text,
                     "{\"model\": \"mogi\", \"stations\": {\"file\": \"stations.csv\", \"sigma\": "
                     "%s}, \"accept\": {\"k_sigma\": %.9g}, \"parameters\": ["
                     "{\"name\": \"Es_m\", \"value\": 0}, {\"name\": \"Ns_m\", \"value\": 0}, "
                     "{\"name\": \"d_m\", \"value\": 1000}, "
                     "{\"name\": \"dV_m3\", \"min\": -1e9, \"max\": 1e9, \"n\": 3}]}",
                     cases[i][1], atof(cases[i][2]) * (1 - 1e-6 * k));
            job = job_read(text, NULL);
            for (int method = SEARCH_EXACT; method <= SEARCH_BRUTE; method++) {
                struct accepted found = job_search(job, (enum search_method)method, 1);
                assert_int_equal(found.n, !k);
                assert_true(k || found.record[0].trial == 1);
                accepted_free(&found);
            }
            job_close(job);
        }
}

/* No trial is accepted with a station on the trace of its fault, whatever explains the data: half
 * of these trials. */
static void test_on_trace(void **state)
{
    static const char *const more[] = {
        "\"accept\": {\"k_sigma\": 1e9}", "\"accept\": {\"keep_all\": true}",
        "\"accept\": {\"misfit\": \"rms\", \"misfit_below\": 1e9}",
        "\"translation\": true, \"accept\": {\"k_sigma\": 1e9}",
        "\"scenes\": {\"stations\": {\"offset\": true}}, \"accept\": {\"k_sigma\": 1e9}"};
    for (int i = 0; i < 5; i++) {
        char text[1024];
        struct job *job;
        job_write("stations.csv", i == 4 ? "E_m,N_m,value_m,sigma_m,lE,lN,lU\n0,0,0.1,1,0.6,0,0.8\n"
                                           "900,0,0.1,1,0.6,0,0.8\n0,700,0.1,1,0.6,0,0.8\n"
                                         : "E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n"
                                           "0,0,0.1,0,0,1,1,1\n900,70,0.1,0,0,1,1,1\n");
        snprintf(text, sizeof text,
                 "{\"model\": \"okada\", \"stations\": \"stations.csv\", %s, \"parameters\": ["
                 "{\"name\": \"Ec_m\", \"value\": 0}, {\"name\": \"Nc_m\", \"value\": 0}, "
                 "{\"name\": \"d_m\", \"min\": 0, \"max\": 500, \"n\": 2}, "
                 "{\"name\": \"strike_deg\", \"value\": 30}, "
                 "{\"name\": \"dip_deg\", \"value\": 90}, {\"name\": \"L_m\", \"value\": 4000}, "
                 "{\"name\": \"W_m\", \"value\": 2000}, "
                 "{\"name\": \"rake_deg\", \"min\": 0, \"max\": 90, \"n\": 4}, "
                 "{\"name\": \"slip_m\", \"min\": 0.1, \"max\": 1, \"n\": 5}]}",
                 more[i]);
        job = job_read(text, NULL);
        for (int method = SEARCH_EXACT; method <= SEARCH_BRUTE; method++) {
            struct accepted found = job_search(job, (enum search_method)method, 1);
            assert_int_equal(found.n, 20);
            assert_true(found.record[0].trial == 20); /* those at 500 m */
            accepted_free(&found);
        }
        job_close(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_on_trace),
    };
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
