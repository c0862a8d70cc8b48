/* tests/test_mcsem_survey.c – synthetic surveys with the published counts, survey files written and
 * read back, cells, refused input. */
#include "mcsem/generate.h"
#include "mcsem/seabed.h"
#include "mcsem/survey_file.h"
#include "src/table.h"
#include "tests/mcsem.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct survey_noise noise = {0.03, 1e-15, 1e-12, 0};

/* ---- generated --------------------------------------------------------------------------------*/

static double column_of(const struct table *t, size_t row, const char *name)
{
    double x;
    assert_int_equal(table_number(t, row, table_find(t, name), &x), EK_OK);
    return x;
}

/* Other random numbers move sources by metres and thus about one per cent of the pairs to other
 * cells. */
static void the_published_survey_has_its_counts(void **state)
{
    const struct generate_design *design;
    struct earth *earth;
    struct survey *s;
    struct table *t;
    double apart = 0, least = 1e9, most = 0;
    assert_int_equal(generate_find("published", &design), EK_OK);
    assert_int_equal(generate_earth(design, true, &earth), EK_OK);
    assert_int_equal(generate_survey(design, earth, 2022, &s), EK_OK);
    assert_int_equal(table_open("tests/data/mcsem/counts.csv", NULL, &t), EK_OK);
    assert_int_equal(s->npairs, 353682);
    assert_int_equal(s->nsources, 176841);
    assert_int_equal(s->nreceivers, 189);
    assert_int_equal(s->npairs * (size_t)s->nfreq, 1061046);
    assert_int_equal(t->nrows, 451);
    for (size_t c = 0; c < t->nrows; c++) {
        const double pairs = (double)(s->first[c + 1] - s->first[c]);
        const double want = column_of(t, c, "sr_pairs");
        apart += fabs(pairs - want);
        assert_true(fabs(pairs - want) < 0.1 * want);
        least = fmin(least, pairs);
        most = fmax(most, pairs);
    }
    assert_true(apart < 0.03 * 353682);
    assert_true(most / least > 3.9 && most / least < 4.4);
    table_close(t);
    survey_close(s);
    earth_close(earth);
}

static void a_seed_gives_one_survey(void **state)
{
    const struct generate_design *design;
    struct earth *earth;
    struct survey *a, *b, *c;
    assert_int_equal(generate_find("small", &design), EK_OK);
    assert_int_equal(generate_earth(design, true, &earth), EK_OK);
    assert_int_equal(generate_survey(design, earth, 1, &a), EK_OK);
    assert_int_equal(generate_survey(design, earth, 1, &b), EK_OK);
    assert_int_equal(generate_survey(design, earth, 2, &c), EK_OK);
    assert_int_equal(a->npairs, b->npairs);
    for (size_t i = 0; i < a->npairs; i++)
        assert_memory_equal(a->pair[i].source, b->pair[i].source, sizeof a->pair[i].source);
    assert_memory_not_equal(a->pair[0].source, c->pair[0].source, sizeof a->pair[0].source);
    survey_close(a);
    survey_close(b);
    survey_close(c);
    earth_close(earth);
}

static void unknown_designs_are_refused(void **state)
{
    const struct generate_design *design;
    status_mute(1);
    assert_int_equal(generate_find("smal", &design), EK_USAGE);
    status_mute(-1);
    assert_non_null(strstr(status_message(), "small"));
}

/* ---- files ------------------------------------------------------------------------------------*/

/* Channels along and across the axes, wires and points, E and H, a missing datum. */
static struct survey *mixed_survey(void)
{
    static const double across[3] = {0.48, 0.64, 0.6};
    struct survey *s;
    assert_int_equal(survey_open(6, 2, &s), EK_OK);
    s->freq[0] = 0.25;
    s->freq[1] = 1.5;
    for (size_t i = 0; i < 6; i++) {
        struct survey_pair *p = &s->pair[i];
        *p = (struct survey_pair){.source = {100 * (double)i, -50, 960 + (double)i},
                                  .azimuth = 0.3 * (double)i,
                                  .dip = -0.01 * (double)i,
                                  .length = i % 2 ? 270 : 0,
                                  .receiver = {4000, 10 * (double)i, 999.9},
                                  .magnetic = i > 3};
        p->direction[i % 3] = 1;
        if (i == 5)
            memcpy(p->direction, across, sizeof across);
        for (int q = 0; q < 2; q++)
            s->datum[2 * i + (size_t)q] = (struct survey_datum){
                1e-13 * (double)(i + 1), -2e-13 * (q + 1), 1e-15, SURVEY_BOTH};
    }
    s->datum[3].sigma = INFINITY;
    return s;
}

static char *path_of(const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/mcsem_survey_%d%s", (int)getpid(), name);
    return path;
}

/* The pair of `s` whose source stands at x. */
static size_t find_source(const struct survey *s, double x)
{
    size_t i = 0;
    while (i < s->npairs && fabs(s->pair[i].source[0] - x) > 1e-6)
        i++;
    assert_true(i < s->npairs);
    return i;
}

static void same_survey(const struct survey *a, const struct survey *b, size_t pairs)
{
    assert_int_equal(a->nfreq, b->nfreq);
    for (size_t i = 0; i < pairs; i++) {
        const size_t j = find_source(b, a->pair[i].source[0]);
        const struct survey_pair *p = &a->pair[i], *q = &b->pair[j];
        assert_int_equal(p->magnetic, q->magnetic);
        close_to(p->azimuth, q->azimuth, 1, 1e-9);
        close_to(p->dip, q->dip, 1, 1e-9);
        close_to(p->length, q->length, 1, 1e-9);
        for (int d = 0; d < 3; d++) {
            close_to(p->source[d], q->source[d], 1, 1e-6);
            close_to(p->receiver[d], q->receiver[d], 1, 1e-6);
            close_to(p->direction[d], q->direction[d], 1, 1e-9);
        }
        for (int f = 0; f < a->nfreq; f++) {
            const struct survey_datum *x = &a->datum[i * (size_t)a->nfreq + (size_t)f];
            const struct survey_datum *y = &b->datum[j * (size_t)b->nfreq + (size_t)f];
            assert_int_equal(isfinite(x->sigma), isfinite(y->sigma));
            if (!isfinite(x->sigma))
                continue;
            close_to(x->re + I * x->im, y->re + I * y->im, 1e-13, 1e-8);
            close_to(x->sigma, y->sigma, 1e-15, 1e-8);
        }
    }
}

static void surveys_survive_their_files(void **state)
{
    static const char *const names[] = {".csv", ".emdata"};
    struct survey *s = mixed_survey(), *back;
    struct earth *earth, *read;
    assert_int_equal(earth_open(5, 3, 7, 60, 1000, 2, &earth), EK_OK);
    earth->dx = 500;
    earth->x0 = 2000;
    earth->nwater = 2;
    earth->water_top[1] = 200;
    earth->water[1] = 0.28;
    for (int k = 0; k < 2; k++) {
        const char *path = path_of(names[k]);
        s->npairs = k ? 6 : 5; /* tables have no channels across the axes */
        assert_int_equal(survey_file_write(path, s, earth), EK_OK);
        assert_int_equal(survey_file_read(path, NULL, &noise, &back, &read), EK_OK);
        assert_int_equal(back->npairs, s->npairs);
        same_survey(s, back, s->npairs);
        assert_int_equal(read->nx * 100 + read->ny * 10 + read->nz, 537);
        close_to(read->x0 + read->dx + read->seabed[0] + read->top[1], 3560, 1, 1e-9);
        close_to(read->water_top[1] + read->water[1], 200.28, 1, 1e-9);
        close_to(read->m[0], log(2), 1, 1e-9);
        survey_close(back);
        earth_close(read);
        unlink(path);
    }
    s->npairs = 6;
    survey_close(s);
    earth_close(earth);
}

/* Reads a survey from EMData text. relative: of --noise. */
static enum ek_status read_noisy(const char *text, double relative, struct survey **s,
                                 struct earth **earth)
{
    const char *path = path_of(".text");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    status_mute(1);
    const struct survey_noise said = {relative, 1e-15, 1e-12, 0};
    const enum ek_status st = survey_file_read(path, NULL, &said, s, earth);
    status_mute(-1);
    unlink(path);
    return st;
}

static enum ek_status read_text(const char *text, struct survey **s, struct earth **earth)
{
    return read_noisy(text, 0, s, earth);
}

#define HEAD                                                                                       \
    "Format: EMData_2.2\n# CSEM Frequencies: 2\n1\n0.5\n# Transmitters: 1\n"                       \
    "0 0 950 90 0 0 edipole T\n# CSEM Receivers: 1\n3000 2000 999 90 0 0 0 R\n"

static void emdata_says_what_it_means(void **state)
{
    struct survey *s;
    struct earth *earth;
    /* Frequencies out of order, phase lags, a receiver turned by 90 degrees, B. */
    assert_int_equal(read_text(HEAD "# Data: 4\n21 2 1 1 2e-13 1e-14\n22 2 1 1 90 1\n"
                                    "11 1 1 1 1.2566370614359172D-18 1d-20\n12 1 1 1 0 1e-20\n",
                               &s, &earth),
                     EK_OK);
    assert_int_equal(s->npairs, 2);
    close_to(s->freq[0], 0.5, 1, 0);
    close_to(s->datum[0].re + I * s->datum[0].im, -2e-13 * I, 2e-13, 1e-12);
    close_to(s->datum[0].sigma, sqrt(0.5 * (1e-28 + pow(2e-13 * acos(-1) / 180, 2))), 1e-14, 1e-9);
    close_to(s->pair[0].direction[1], 1, 1, 1e-12);
    assert_true(s->pair[1].magnetic);
    close_to(s->datum[3].re, 1e-12, 1e-12, 1e-9);
    assert_false(isfinite(s->datum[1].sigma) || isfinite(s->datum[2].sigma));
    close_to(earth->seabed[0], 999.1, 1, 1e-9); /* the floor below the receiver */
    close_to(earth->x0, 1500, 1, 1e-9);
    survey_close(s);
    earth_close(earth);
}

/* An error of 0 is that of --noise, also if it is only one of a datum's two. */
static void errors_of_zero_are_usual(void **state)
{
    struct survey *s;
    struct earth *earth;
    const double usual = hypot(0.05 * 5e-13, 1e-15);
    static const struct {
        const char *text;
        double known; /* error, 0: both are usual */
    } with[] = {{"1 1 0 1 3e-13 1e-14\n2 1 0 1 4e-13 0\n", 1e-14},
                {"1 1 1 1 3e-13 0\n2 1 1 1 4e-13 2e-14\n", 2e-14},
                {"1 1 1 1 3e-13 0\n2 1 1 1 4e-13 0\n", 0},
                {"21 1 1 1 5e-13 3e-14\n22 1 1 1 10 0\n", 3e-14},
                {"21 1 1 1 5e-13 0\n22 1 1 1 10 1\n", 5e-13 * 3.14159265358979 / 180}};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        char text[1000];
        const double known = with[i].known > 0 ? with[i].known : usual;
        snprintf(text, sizeof text, HEAD "# Data: 2\n%s", with[i].text);
        assert_int_equal(read_noisy(text, 0.05, &s, &earth), EK_OK);
        close_to(s->datum[1].sigma, sqrt(0.5 * (known * known + usual * usual)), 1e-14, 1e-9);
        survey_close(s);
        earth_close(earth);
    }
}

/* As in MARE2DEM, the order of blocks does not matter: this is the survey from above. */
static void emdata_has_blocks_in_any_order(void **state)
{
    static const char *const block[] = {
        "# CSEM Frequencies: 2\n1\n0.5\n", "# Transmitters: 1\n0 0 950 90 0 0 edipole T\n",
        "# CSEM Receivers: 1\n3000 2000 999 90 0 0 0 R\n", "Phase Convention: lag\n",
        ("# Data: 3\n11 1 1 1 1.2566370614359172e-18 1e-20\n12 1 1 1 0 1e-20\n"
         "1 2 1 1 3e-13 1e-14\n")};
    enum { BLOCKS = sizeof block / sizeof *block };
    for (int first = 0; first < BLOCKS; first++) {
        char text[1000] = "Format: EMData_2.2\n";
        struct survey *s;
        struct earth *earth;
        for (int i = 0; i < BLOCKS; i++)
            strcat(text, block[(first + 2 * i) % BLOCKS]);
        assert_int_equal(read_text(text, &s, &earth), EK_OK);
        assert_int_equal(s->npairs, 2);
        close_to(s->datum[0].re, 3e-13, 3e-13, 1e-12);
        close_to(s->datum[3].re, 1e-12, 1e-12, 1e-9);
        survey_close(s);
        earth_close(earth);
    }
}

/* Table rows sorted by frequency, so that rows of a pair are apart; -0 equals 0; a repeated datum
 * is refused. */
static void rows_of_a_pair_may_be_apart(void **state)
{
    char text[4000] = "# earth nz=3,seabed=1000\nsrc_x,src_y,src_z,src_azimuth_deg,src_dip_deg,"
                      "src_len_m,rec_x,rec_y,rec_z,component,freq_hz,re,im\n";
    struct survey *s;
    struct earth *earth;
    for (int q = 2; q > 0; q--)
        for (int i = 0; i < 12; i++)
            sprintf(text + strlen(text), "%d,%s,960,0,0,0,%d,0,999.9,%s,%d,%de-15,1e-15\n",
                    100 * (i / 3), q > 1 ? "0" : "-0.0", 3000 + i % 2, i % 3 ? "Ex" : "Ez", q,
                    i + 1);
    assert_int_equal(read_text(text, &s, &earth), EK_OK);
    assert_int_equal(s->npairs, 12);
    assert_int_equal(s->nsources, 4);
    assert_int_equal(s->nreceivers, 2);
    for (size_t i = 0; i < 24; i++)
        close_to(s->datum[i].re, 1e-15 * (double)(i / 2 + 1), 1e-15, 1e-9);
    survey_close(s);
    earth_close(earth);
    strcat(text, "0,0,960,0,0,0,3001,0,999.9,Ex,1,2e-15,1e-15\n");
    assert_int_equal(read_text(text, &s, &earth), EK_USAGE);
    assert_non_null(strstr(status_message(), ".text:27: this pair has a datum"));
}

static void wrong_emdata_is_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {HEAD "# Data: 1\n1 3 1 1 1 1\n", ".text:10: frequency 3, there are 1 to 2"},
        {HEAD "# Data: 1\n1 1 1 2 1 1\n", ".text:10: receiver 2"},
        {HEAD "# Data: 2\n1 1 1 1 1 1\n", "cut short: row 2 of 2"},
        {HEAD "# Data: 1\n1 1 1 1 1\n", ".text:10: a datum is"},
        {HEAD "# Data: 1\n1 1 1 1 inf 1\n", ".text:10: 'inf'"},
        {HEAD "# Data: 2\n1 1 1 1 1 0\n2 1 1 1 1 1\n", ".text:10: standard error 0"},
        {HEAD "# Data: 1\n21 1 1 1 -1e-13 1e-15\n", ".text:10: amplitude -1e-13 is negative"},
        {"Format: EMData_2.2\n# Data: 1\n1 1 1 1 1 1\n", ".text:3: the file has no table"},
        {HEAD "# Data: x\n", ".text:9: 'x' is not a number of rows"},
        {HEAD "# Data: 1\n1 1 1 1 1 1\n# Data: 1\n1 1 1 1 1 1\n", ".text:11: a second block"},
        {HEAD, "there is no block '# Data'"},
        {HEAD "# Data: 0\n", "there are no data"},
        {HEAD "nonsense\n", ".text:9: 'nonsense' is not a line"},
        {"Format: EMData_3.0\n", ".text:1: format 'EMData_3.0'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct survey *s;
        struct earth *earth;
        assert_int_equal(read_text(cases[i].text, &s, &earth), EK_USAGE);
        if (!strstr(status_message(), cases[i].words))
            fail_msg("'%s' is not in '%s'", cases[i].words, status_message());
    }
}

/* ---- cells ------------------------------------------------------------------------------------*/

static void pairs_go_to_the_nearest_column(void **state)
{
    struct survey *s;
    struct earth *earth;
    const double x[] = {-600, -251, -250, 249.9, 250, 1249, 1250, 1800};
    const int clipped[] = {0, 0, 0, 0, 1, 2, 2, 2};
    assert_int_equal(earth_open(3, 1, 4, 100, 1000, 1, &earth), EK_OK);
    earth->dx = 500;
    for (int clip = 0; clip < 2; clip++) {
        size_t count[3] = {0};
        assert_int_equal(survey_open(8, 1, &s), EK_OK);
        for (int i = 0; i < 8; i++) {
            s->pair[i].source[0] = x[i] - 300;
            s->pair[i].receiver[0] = x[i] + 300;
            if (clip || (x[i] >= -250 && x[i] < 1250))
                count[clipped[i]]++;
        }
        assert_int_equal(survey_bin(s, earth, clip), EK_OK);
        for (int c = 0; c < 3; c++)
            assert_int_equal(s->first[c + 1] - s->first[c], count[c]);
        assert_int_equal(s->ndropped, clip ? 0 : 4);
        survey_close(s);
    }
    earth_close(earth);
}

/* ---- the sea floor --------------------------------------------------------------------------- */

enum { POINTS = 400, QUERIES = 60, NEAREST = 6 };

static double cloud[POINTS][3];

/* Points spread evenly, in clusters, or on a line. */
static void scatter(int kind)
{
    for (int i = 0; i < POINTS; i++) {
        const double spread = kind == 1 ? 40 : 20000;
        cloud[i][0] = (kind == 1 ? 9000 * (i % 3) : 0) + spread * drand48();
        cloud[i][1] = kind == 2 ? 3 * cloud[i][0] : spread * drand48();
        cloud[i][2] = 100 + 4000 * drand48();
    }
}

static int nearer(const void *a, const void *b)
{
    const double *p = *(double *const *)a, *q = *(double *const *)b;
    return (p[2] > q[2]) - (p[2] < q[2]);
}

/* The floor below a receiver at (x, y, z) according to the file `path`; -1: none. */
static double floor_under(const char *path, double x, double y, double z)
{
    struct earth *earth;
    struct survey *s;
    assert_int_equal(earth_open(1, 1, 1, 100, 1000, 1, &earth), EK_OK);
    assert_int_equal(survey_open(1, 1, &s), EK_OK);
    s->pair[0].receiver[0] = s->pair[0].source[0] = x;
    s->pair[0].receiver[1] = s->pair[0].source[1] = y;
    s->pair[0].receiver[2] = z;
    const double floor =
        MUTED(seabed_set("survey", path, false, s, earth)) ? -1 : s->pair[0].floor[1];
    survey_close(s);
    earth_close(earth);
    return floor;
}

static double floor_by(const char *path, double x, double y)
{
    return floor_under(path, x, y, 0);
}

/* The floor at (x, y) interpolated through the listed points. */
static double floor_below(double x, double y, double (*const point)[3], const int *which, int n)
{
    char path[] = "/tmp/mcsem-floor-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    assert_non_null(f);
    for (int i = 0; i < n; i++)
        fprintf(f, "%.17g %.17g %.17g\n", point[which ? which[i] : i][0],
                point[which ? which[i] : i][1], point[which ? which[i] : i][2]);
    fclose(f);
    const double floor = floor_by(path, x, y);
    unlink(path);
    return floor;
}

/* Removing all but the nearest points leaves the floor the same to the last bit. */
static void the_floor_follows_its_nearest_points(void **state)
{
    srand48(11);
    for (int kind = 0; kind < 3; kind++) {
        scatter(kind);
        for (int q = 0; q < QUERIES; q++) {
            const double x = -5000 + 30000 * drand48(), y = -5000 + 30000 * drand48();
            double by[POINTS][3], *order[POINTS];
            int which[NEAREST];
            for (int i = 0; i < POINTS; i++) {
                by[i][0] = i;
                by[i][2] = pow(cloud[i][0] - x, 2) + pow(cloud[i][1] - y, 2);
                order[i] = by[i];
            }
            qsort(order, POINTS, sizeof *order, nearer);
            for (int i = 0; i < NEAREST; i++)
                which[i] = (int)order[i][0];
            assert_true(floor_below(x, y, cloud, NULL, POINTS) ==
                        floor_below(x, y, cloud, which, NEAREST));
        }
    }
}

/* A section of land, a slope, a cliff and a plain, with a layer and a body below; nodes are
 * numbered from 1 in any order. The sea ends at y = 0 and y = 9000. */
static void the_floor_is_the_first_segment_below_the_sea(void **state)
{
    static const char section[] =
        "# a model\n14 2 0 1\n1 -9000 -20 0\n2 0 0 0\n3 4000 400 0\n4 4000 700 # a cliff\n"
        "5 9000 700\n6 9000 0\n7 -9000 900 0\n8 9000 1100 0\n9 -20000 -50\n10 2000 500\n"
        "11 3000 450\n12 3000 650\n13 2000 0 0\n14 9000 1200 0\n"
        "\n13 1 # segments\n1 9 1 2\n2 1 2 2\n3 3 2 2\n4 3 4 2\n5 5 4 2\n6 2 13\n7 13 6\n8 7 8\n"
        "9 10 11\n10 11 12\n11 12 10\n12 5 8\n13 8 14\n0\n0\n";
    static const double want[][2] = {{50, 5},     {2000, 200}, {2500, 250}, {3999, 399.9},
                                     {4001, 700}, {8000, 700}, {9500, 700}};
    static const struct {
        const char *was, *is;
    } wrong[] = {{"14 2", "140 2"},  {"9 1 2", "9 15 2"},       {"2 0 0", "2 0 x"},
                 {"3 400", "4 400"}, {"13 1 #", "2000000 1 #"}, {"13 2000 0", "13 2000 -9"}};
    char path[] = "/tmp/mcsem-floor-XXXXXX.poly", table[] = "/tmp/mcsem-floor-XXXXXX";
    FILE *f = fdopen(mkstemps(path, 5), "w");
    assert_non_null(f);
    fputs(section, f);
    fclose(f);
    assert_true(close(mkstemp(table)) == 0);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++)
        for (double x = -1e5; x <= 1e5; x += 1e5)
            close_to(floor_by(path, x, want[k][0]), want[k][1], 1, 1e-9);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const char *at = strstr(section, wrong[k].was);
        f = fopen(path, "w");
        fprintf(f, "%.*s%s%s", (int)(at - section), section, wrong[k].is,
                at + strlen(wrong[k].was));
        fclose(f);
        assert_true(floor_by(path, 0, 100) == -1);
    }
    f = fopen(table, "w");
    fputs("0 1\r\n9000 700\n4001 700\n4000 400\n", f);
    fclose(f);
    close_to(floor_by(table, 7, 4000.5), 550, 1, 1e-9);
    close_to(floor_by(table, 7, -100), 1, 1, 1e-9);
    f = fopen(table, "w");
    fputs("depth,y\n100,0\n300,1000\n", f);
    fclose(f);
    close_to(floor_by(table, 7, 250), 150, 1, 1e-9);
    unlink(path);
    unlink(table);
}

/* Two interfaces within the sea, 400 and 600 m deep, end at a slope that falls from 300 m on the
 * left to 1100 m. Receivers on the slope belong to the sea below the interfaces; one that lies at
 * no floor is refused. */
static void layers_of_the_sea_are_no_floor(void **state)
{
    static const char section[] =
        "12 2 0 0\n1 0 0\n2 8000 0\n3 0 300\n4 1000 400\n5 3000 600\n6 8000 1100\n7 5000 400\n"
        "8 8000 400\n9 8000 600\n10 0 2000\n11 8000 2000\n12 6000 600\n"
        "12 0\n1 1 2\n2 3 4\n3 4 5\n4 5 6\n5 4 7\n6 7 8\n7 5 12\n8 12 9\n9 10 11\n10 2 8\n11 8 "
        "9\n12 9 6\n";
    char path[] = "/tmp/mcsem-floor-XXXXXX.poly";
    FILE *f = fdopen(mkstemps(path, 5), "w");
    assert_non_null(f);
    fputs(section, f);
    fclose(f);
    for (double y = 500; y < 8000; y += 500) {
        const double slope = 300 + 0.1 * y;
        close_to(floor_under(path, 0, y, slope - 0.1), slope, 1, 1e-9);
        close_to(floor_under(path, 0, y, slope + 1), slope + 1, 1, 1e-9);
        if (y > 1000) /* above it the file makes the upper interface the floor */
            close_to(floor_under(path, 0, y, 350), 400, 1, 1e-9);
        assert_true(floor_under(path, 0, y, slope + 60) == -1);
        if (slope > 700)
            assert_true(floor_under(path, 0, y, 450) == -1);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_the_sea_are_no_floor),
        cmocka_unit_test(the_published_survey_has_its_counts),
        cmocka_unit_test(a_seed_gives_one_survey),
        cmocka_unit_test(unknown_designs_are_refused),
        cmocka_unit_test(surveys_survive_their_files),
        cmocka_unit_test(emdata_says_what_it_means),
        cmocka_unit_test(errors_of_zero_are_usual),
        cmocka_unit_test(emdata_has_blocks_in_any_order),
        cmocka_unit_test(rows_of_a_pair_may_be_apart),
        cmocka_unit_test(wrong_emdata_is_refused),
        cmocka_unit_test(pairs_go_to_the_nearest_column),
        cmocka_unit_test(the_floor_follows_its_nearest_points),
        cmocka_unit_test(the_floor_is_the_first_segment_below_the_sea),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
