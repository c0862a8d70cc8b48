/* tests/test_okada_mogi_combinations.c – random combinations of all that jobs can specify: every
 * method accepts what the judge accepts trial by trial. EK_LONG=1 draws a thousand. */
#include "tests/okada_mogi.h"

static long draw(long n)
{
    return (long)job_random(0, (double)n);
}

static bool one_in(long n)
{
    return draw(n) == 0;
}

/* One of a few words separated by blanks. */
static const char *word(const char *words)
{
    static char text[8][64];
    static int turn;
    long n = 1;
    for (const char *c = words; *c; c++)
        n += *c == ' ';
    for (long skip = draw(n); skip; words++)
        skip -= *words == ' ';
    turn = (turn + 1) % 8;
    snprintf(text[turn], sizeof text[turn], "%.*s", (int)strcspn(words, " "), words);
    return text[turn];
}

/* The choices that a random job is built from. */
struct drawn {
    bool lattice, heights;
    int sources;
    char *at; /* end of the text so far */
};

static void say(struct drawn *d, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    d->at += vsprintf(d->at, format, list);
    va_end(list);
}

static double place(const struct drawn *d)
{
    return d->lattice ? 1e3 * (double)(draw(5) - 2) : job_random(-4e3, 4e3);
}

/* Points of scenes, some of them differences. Returns whether there are differences. */
static bool write_points(const struct drawn *d, const char *file)
{
    const bool two = one_in(5);
    FILE *f = fopen(job_file(file), "w");
    fprintf(f, "E_m,N_m,value_m,sigma_m,lE,lN,lU,z_m%s\n", two ? ",E2_m,N2_m" : "");
    for (long i = draw(3) ? draw(5) + 4 : 30; i; i--) {
        const double e = place(d), n = place(d);
        fprintf(f, "%g,%g,%g,%s,%s,%s", e, n, one_in(3) ? 0 : job_random(-0.1, 0.1),
                word("0.01 0.02"), word("0.6,0,0.8 -0.6,0,0.8 0,0,1 1,0,0"), word("0 500"));
        if (two && one_in(2))
            fprintf(f, ",%g,%g", e + 500, n + 100);
        else if (two)
            fputs(",,", f);
        fputc('\n', f);
    }
    fclose(f);
    return two;
}

static void write_stations(const struct drawn *d)
{
    FILE *f = fopen(job_file("stations.csv"), "w");
    fputs("E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m,correlation,z_m\n", f);
    const long n = 1 + draw(3);
    for (long i = 0; i < n; i++)
        fprintf(f, "%g,%g,%s,%s,%g,%s,0.02,%s,%s,%s\n", place(d) + 1e4 * (double)(i == 2),
                place(d) + 10 * (double)i, word("0 0.03 -0.07 nan"), word("0 0.03 -0.07 nan"),
                one_in(3) ? 0 : job_random(-0.1, 0.1), word("0.01 0.05"), word("0.01 0.05"),
                word("0 0 0.7 -0.999999"), word("0 300 1500"));
    fclose(f);
}

static void say_axis(struct drawn *d, const char *name, int source, double min, double max, long n)
{
    say(d, "%s{\"name\": \"%s", d->at[-1] == '[' ? "" : ", ", name);
    if (d->sources > 1)
        say(d, ".%d", source);
    if (n > 1)
        say(d, "\", \"min\": %g, \"max\": %g, \"n\": %ld}", min, max, n);
    else
        say(d, "\", \"value\": %g}", one_in(2) ? min : max);
}

static long few(const struct drawn *d)
{
    return 1 + draw(d->sources == 1 ? 3 : one_in(4) ? 2 : 1);
}

static void say_source(struct drawn *d, bool fault, long kind, int s)
{
    static const struct {
        const char *name;
        double min, max;
    } places[] = {{"c_m", -2e3, 2e3}, {"d_m", 500, 3e3}, {"strike_deg", 0, 90},
                  {"dip_deg", 0, 90}, {"L_m", 1e3, 4e3}, {"W_m", 500, 2e3}};
    const long some = d->sources < 3 ? 5 : 2;
    say_axis(d, fault ? "Ec_m" : "Es_m", s, -2e3, 2e3, few(d));
    say_axis(d, fault ? "Nc_m" : "Ns_m", s, -1e3, 1e3, few(d));
    say_axis(d, "d_m", s, fault && one_in(3) ? 0 : 500, 3e3, few(d));
    for (int i = 2; fault && i < 6; i++)
        say_axis(d, places[i].name, s, i == 3 && one_in(2) ? 84.5 : places[i].min, places[i].max,
                 i == 5 ? 1 : few(d));
    if (!fault) {
        say_axis(d, "dV_m3", s, one_in(2) ? -1e6 : 0, 2e6, 2 + draw(some));
        return;
    }
    if (kind == 2) {
        say_axis(d, "strike_slip_m", s, -1, 1, 2 + draw(2));
        say_axis(d, "dip_slip_m", s, -1, 1, 2 + draw(2));
        return;
    }
    say_axis(d, "rake_deg", s, -180, 180, 1 + draw(some));
    if (kind == 3)
        say_axis(d, "Mw", s, 4.5, 6, 2 + draw(3));
    else
        say_axis(d, "slip_m", s, one_in(2) ? -1 : 0, 1, 2 + draw(some) / 2);
    if (kind == 1)
        say_axis(d, "opening_m", s, -1, 1, 2 + draw(2));
}

static void say_scene(struct drawn *d, const char *name)
{
    say(d, "%s\"%s\": {%s", d->at[-1] == '{' ? "" : ", ", name,
        word("\"offset\":true \"ramp\":true \"offset\":false"));
    if (one_in(2))
        say(d, ", \"sill_m2\": %s, \"range_m\": %s", word("1e-5 1e-4 4e-3"), word("300 2000 1e5"));
    say(d, "}");
}

/* Writes the files of a random job. */
static void draw_job(void)
{
    static const char *const accepts[] = {
        "\"k_sigma\": [1, %s]", "\"misfit\": \"rms\", \"misfit_below\": %s", "\"best\": %s",
        "\"misfit\": \"rms\", \"best\": %s", "\"misfit_below\": %s"};
    static char text[8000];
    struct drawn d = {
        .lattice = one_in(2), .heights = one_in(3), .sources = 1 + (int)draw(3), .at = text};
    const bool fault = !one_in(3);
    const long kind = draw(4), accept = draw(5);
    d.sources = one_in(2) ? 1 : d.sources;
    write_stations(&d);
    const bool two = write_points(&d, "asc.csv"), other = write_points(&d, "dsc.csv");
    const char *heights = d.heights ? "true" : "false";
    say(&d, "{\"model\": \"%s\", \"sources\": %d, \"stations\": [", fault ? "okada" : "mogi",
        d.sources);
    if (!one_in(4))
        say(&d, "{\"file\": \"stations.csv\", \"heights\": %s}, ", heights);
    say(&d, "{\"file\": \"asc.csv\", \"heights\": %s}, {\"file\": \"dsc.csv\", \"heights\": %s}], ",
        heights, heights);
    say(&d, "\"scenes\": {");
    if (!two)
        say_scene(&d, "asc");
    if (!other && one_in(2))
        say_scene(&d, "dsc");
    say(&d, "}, \"accept\": {");
    say(&d, accepts[accept], accept == 2 || accept == 3 ? word("1 7 40") : word("2 5 12"));
    say(&d, "}, ");
    if (fault && one_in(2))
        say(&d, "\"reference\": \"%s\", ", word("centre top corner centroid"));
    if (one_in(3))
        say(&d, "\"constraints\": [\"%s\"], ",
            d.sources > 1 && one_in(2) ? "d_m.1 <= d_m.2"
            : fault                    ? "d_m + W_m * sin(dip_deg) < 4e3"
                                       : "d_m > 800");
    say(&d, "\"parameters\": [");
    for (int s = 1; s <= d.sources; s++)
        say_source(&d, fault, kind, s);
    say(&d, "]}");
    job_write("job.json", text);
}

/* Moves the limits of acceptance to one of the accepted trials, which is then accepted just so. */
static void tighten(struct job *job)
{
    struct accepted all = job_judge_all(job);
    struct job_accept *a = &job->accept;
    if (all.n && !a->best) {
        const struct accepted_record *last = &all.record[draw((long)all.n)];
        if (a->nk)
            a->k[a->nk - 1] = last->most;
        else
            a->below = nextafter(last->misfit, INFINITY);
    }
    accepted_free(&all);
}

/* Compares both methods' lists with the judge's; returns its length. */
static size_t compare(const struct job *job)
{
    struct accepted all = job_judge_all(job), exact = job_search(job, SEARCH_EXACT, 2),
                    brute = job_search(job, SEARCH_BRUTE, 1);
    job_keep_best(job, &all);
    const size_t n = all.n;
    job_keep_best(job, &exact);
    job_keep_best(job, &brute);
    assert_same(&exact, &all);
    assert_same(&brute, &all);
    accepted_free(&all);
    accepted_free(&exact);
    accepted_free(&brute);
    return n;
}

/* Three points of a scene with offset and ramp: every trial explains them, and the last bits alone
 * decide which does so best. */
static void test_explained(void **state)
{
    struct job *job;
    job_write("asc.csv", "E_m,N_m,value_m,sigma_m,lE,lN,lU\n1000,200,0.03,0.005,0.6,0,0.8\n"
                         "-2100,300,0.02,0.005,0.6,0,0.8\n700,-1900,0.01,0.005,0.6,0,0.8\n");
    job_write("job.json", "{\"model\": \"mogi\", \"stations\": \"asc.csv\", \"scenes\": {\"asc\": "
                          "{\"offset\": true, \"ramp\": true}}, \"accept\": {\"misfit\": \"rms\", "
                          "\"best\": 5}, \"parameters\": ["
                          "{\"name\": \"Es_m\", \"min\": -2000, \"max\": 2000, \"n\": 7}, "
                          "{\"name\": \"Ns_m\", \"min\": -1000, \"max\": 2000, \"n\": 7}, "
                          "{\"name\": \"d_m\", \"min\": 1000, \"max\": 4000, \"n\": 3}, "
                          "{\"name\": \"dV_m3\", \"min\": 1e6, \"max\": 5e6, \"n\": 7}]}");
    assert_int_equal(job_open(job_file("job.json"), NULL, &job), EK_OK);
    assert_int_equal(compare(job), 5);
    job_close(job);
    unlink(job_file("asc.csv"));
}

static void test_combinations(void **state)
{
    const int most = getenv("EK_LONG") ? 1000 : 50;
    size_t kept = 0;
    int decided = 0;
    status_mute(1);
    for (int i = 0; i < most; i++) {
        struct job *job;
        job_seed = (uint64_t)i * 0x9e3779b97f4a7c15u + 7;
        draw_job();
        if (job_open(job_file("job.json"), NULL, &job)) /* points too near, or on a line */
            continue;
        if (job->trials < 20000) {
            if (i % 3)
                tighten(job);
            const size_t n = compare(job);
            kept += n;
            decided += n > 0 && n < job->trials;
        }
        job_close(job);
    }
    status_mute(-1);
    printf("%d of %d jobs with %zu trials\n", decided, most, kept);
    assert_true(decided > most / 4);
    unlink(job_file("asc.csv"));
    unlink(job_file("dsc.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_explained),
                                       cmocka_unit_test(test_combinations)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
