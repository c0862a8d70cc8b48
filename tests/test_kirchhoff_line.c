/* tests/test_kirchhoff_line.c – 2-D lines: reflectivity and phase of planes from point and line
 * sources, strength of a point, crooked lines; and the preparation of traces: mutes, tapers, silent
 * traces. Exact data of generate.h. */
#include "kirchhoff/generate.h"
#include "tests/kirchhoff.h"
#include "tests/migrated.h"

enum { NS = 701, NZ = 41 };
static const double DT = 0.004;
static char path[96];

/* A trace between two places, whose headers may name other ones. */
struct shot_line {
    struct segy_writer *w;
    struct generate_survey medium;
    struct generate_events events;
};

static void begin(struct shot_line *l, double k, const struct generate_events *e)
{
    const struct segy_new file = {.ns = NS, .dt = DT};
    snprintf(path, sizeof path, "/tmp/test_kirchhoff_line-%d.segy", (int)getpid());
    l->medium = generate_surveys[GENERATE_S1];
    l->medium.v0 = 2000;
    l->medium.k = k;
    l->events = *e;
    assert_int_equal(segy_create(path, &file, &l->w), EK_OK);
}

static void put(struct shot_line *l, const float *sample, const double s[3], const double g[3])
{
    const struct segy_put trace = {.sx = s[0], .sy = s[1], .gx = g[0], .gy = g[1]};
    assert_int_equal(segy_put(l->w, &trace, sample), EK_OK);
}

static void add_point_source(struct shot_line *l, const double s[3], const double g[3])
{
    float sample[NS];
    generate_trace(&l->medium, &l->events, s, g, sample);
    put(l, sample, s, g);
}

/* Adds up sources every `dy` m across the line, out to where they arrive after the record ends. */
static void add_line_source(struct shot_line *l, const double s[3], const double g[3])
{
    const double dy = 20;
    float sample[NS];
    double sum[NS] = {0};
    for (int i = -180; i <= 180; i++) {
        const double at[3] = {s[0], s[1] + dy * i, s[2]};
        generate_trace(&l->medium, &l->events, at, g, sample);
        for (int t = 0; t < NS; t++)
            sum[t] += dy * (double)sample[t];
    }
    for (int t = 0; t < NS; t++)
        sample[t] = (float)sum[t];
    put(l, sample, s, g);
}

static struct migrate_options usual(double k)
{
    struct migrate_options o;
    migrate_defaults(&o);
    o.data = path;
    o.velocity = k > 0 ? "gradient:v0=2000,k=0.5" : "const:v=2000";
    o.anti_alias = 0;
    o.dimension = MIGRATE_25D;
    return o;
}

/* Migrates all chunks and reads a column of NZ depths, divided by the fold if so asked. */
static void migrate(const struct migrate_options *o, bool divide, float column[NZ])
{
    struct migrate *m = migrated(o);
    assert_true(resum_judge(m->resum).good);
    image_column(m->image, 0, 0, divide, column);
    migrate_close(m);
}

struct peak {
    double value, at, skew; /* at: in nodes; skew: of the side lobes, relative to the peak */
};

static struct peak peak_of(const float column[NZ])
{
    int top = 1, low[2];
    for (int i = 1; i < NZ - 1; i++)
        top = column[i] > column[top] ? i : top;
    for (int side = 0; side < 2; side++) {
        low[side] = top;
        for (int i = top; i >= 0 && i < NZ; i += side ? 1 : -1)
            low[side] = column[i] < column[low[side]] ? i : low[side];
    }
    const double a = (double)column[top - 1], b = (double)column[top], c = (double)column[top + 1];
    return (struct peak){b - 0.125 * (a - c) * (a - c) / (a - 2 * b + c),
                         top + 0.5 * (a - c) / (a - 2 * b + c),
                         ((double)column[low[0]] - (double)column[low[1]]) / b};
}

/* ---- planes -----------------------------------------------------------------------------------*/

/* One shot at 1900 m; receivers every `dx` m, moved by up to `jitter` m. */
static void write_plane(double k, double dip, bool line_source, double dx, double jitter)
{
    const struct generate_plane plane = {1000, 1500, 1500, {dip, 0}, 0.1};
    const struct generate_events e = {.nplanes = 1, .plane = &plane};
    struct shot_line l;
    begin(&l, k, &e);
    for (double x = -1000; x <= 3400; x += dx) {
        const double off = jitter * (2.0 * rand() / RAND_MAX - 1);
        const double s[3] = {1900, 1500, 0}, g[3] = {round(100 * (x + off)) / 100, 1500, 0};
        (line_source ? add_line_source : add_point_source)(&l, s, g);
    }
    assert_int_equal(segy_finish(l.w), EK_OK);
}

static void planes_have_their_reflectivity(void **state)
{
    static const struct {
        double k, dip, dx, jitter, near;
        bool line_source;
    } cases[] = {{0, 0, 20, 0, 0.03, false},     {0, 0.2, 20, 0, 0.03, false},
                 {0.5, 0, 20, 0, 0.03, false},   {0.5, -0.1, 13, 0, 0.03, false},
                 {0.5, 0.1, 20, 6, 0.05, false}, {0, 0, 25, 0, 0.03, true},
                 {0.5, 0.2, 25, 0, 0.04, true}};
    srand(25);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float column[NZ];
        struct migrate_options o = usual(cases[i].k);
        write_plane(cases[i].k, cases[i].dip, cases[i].line_source, cases[i].dx, cases[i].jitter);
        o.grid = "1x1x41:10x10x7@1500,1500,860";
        o.weight = MIGRATE_AMPLITUDE;
        o.dimension = cases[i].line_source ? MIGRATE_2D : MIGRATE_25D;
        migrate(&o, false, column);
        const struct peak p = peak_of(column);
        if (!(fabs(p.value / 0.1 - 1) < cases[i].near) || !(fabs(860 + 7 * p.at - 1000) < 3) ||
            !(fabs(p.skew) < 0.08))
            fail_msg("case %zu: reflectivity %g at %g m, side lobes differ by %g", i, p.value,
                     860 + 7 * p.at, p.skew);
    }
}

/* The 3-D filter and weight are both wrong for a line. */
static void space_is_no_line(void **state)
{
    float column[NZ];
    struct migrate_options o = usual(0);
    write_plane(0, 0, false, 20, 0);
    o.grid = "1x1x41:10x10x7@1500,1500,860";
    o.weight = MIGRATE_AMPLITUDE;
    o.filter = FILTER_DERIVATIVE;
    migrate(&o, false, column);
    assert_true(fabs(peak_of(column).skew) > 0.1);
    o = usual(0);
    o.grid = "3x3x41:10x10x7@1500,1490,860";
    assert_fails(migrate_open(&o, &(struct migrate *){NULL}), EK_USAGE);
    o.grid = "1x1x41:10x10x7@1500,1300,860";
    assert_fails(migrate_open(&o, &(struct migrate *){NULL}), EK_USAGE);
}

/* ---- points -----------------------------------------------------------------------------------*/

static void write_points(int silent, double moved)
{
    const struct generate_diffractor point = {{1500, 1500, 1000}, 1};
    const struct generate_events e = {.ndiffractors = 1, .diffractor = &point};
    struct shot_line l;
    begin(&l, 0.5, &e);
    for (int s = 0; s < 7; s++)
        for (int g = 0; g < 31; g++) {
            const double from[3] = {750 + 250 * s, 1500 + moved, 0}, to[3] = {100 * g, 1500, 0};
            if (silent && g % silent == 0)
                put(&l, (float[NS]){0}, from, to);
            else
                add_point_source(&l, from, to);
        }
    assert_int_equal(segy_finish(l.w), EK_OK);
}

static double strength(const struct migrate_options *o)
{
    float column[NZ];
    migrate(o, true, column);
    const struct peak p = peak_of(column);
    assert_true(fabs(860 + 7 * p.at - 1000) < 3);
    return p.value;
}

static void points_have_their_strength(void **state)
{
    struct migrate_options o = usual(0.5);
    o.grid = "1x1x41:10x10x7@1500,1500,860";
    o.weight = MIGRATE_DIFFRACTOR;
    write_points(0, 0);
    const double all = strength(&o);
    assert_true(fabs(all - 1) < 0.03);
    write_points(0, 20); /* slightly off the line */
    assert_true(fabs(strength(&o) - 1) < 0.04);
    /* Silent traces not marked as dead count for nothing, not even in the fold. */
    write_points(3, 0);
    assert_true(fabs(strength(&o) / all - 1) < 0.02);
    /* The same holds for muted samples and for traces beyond the largest offset. */
    write_points(0, 0);
    o.mute = "0:0,1200:0.4,1201:2.7";
    assert_true(fabs(strength(&o) / all - 1) < 0.03);
    o.mute = NULL;
    o.offset_most = 1100;
    assert_true(fabs(strength(&o) / all - 1) < 0.03);
    o.offset_taper = 500;
    assert_true(strength(&o) < 0.97 * all);
}

static void silent_traces_are_counted(void **state)
{
    struct migrate_options o = usual(0.5);
    o.grid = "1x1x3:10x10x7@1500,1500,860";
    write_points(2, 0);
    struct migrate *m = migrated(&o);
    assert_int_equal(m->image->silent, 7 * 16);
    migrate_close(m);
}

/* A single sample is a signal unless it is 0; a single trace is a line. */
static void one_trace_of_one_sample(void **state)
{
    for (int zero = 0; zero < 2; zero++) {
        const struct segy_new file = {.ns = 1, .dt = DT};
        const struct segy_put one = {.sx = 1400, .sy = 3, .gx = 1600, .gy = -3, .delay = 1};
        struct migrate_options o = usual(0);
        struct segy_writer *w;
        assert_int_equal(segy_create(path, &file, &w), EK_OK);
        assert_int_equal(segy_put(w, &one, (float[]){zero ? 0 : 3}), EK_OK);
        assert_int_equal(segy_finish(w), EK_OK);
        o.grid = "1x1x7:10x10x7@100,0,970";
        o.line = "auto";
        struct migrate *m = migrated(&o);
        assert_int_equal(m->image->silent, zero);
        migrate_close(m);
    }
}

static void mutes_are_linear(void **state)
{
    struct mute m;
    float sample[100];
    assert_int_equal(mute_parse("100:0.2,300:0.6,301:1", 0.05, &m), EK_OK);
    static const double known[][2] = {{0, 0.2}, {100, 0.2}, {200, 0.4}, {300, 0.6}, {5000, 1}};
    for (int i = 0; i < 5; i++)
        assert_true(fabs(mute_time(&m, known[i][0]) - known[i][1]) < 1e-12);
    for (int i = 0; i < 100; i++)
        sample[i] = 1;
    mute_apply(&m, 200, -0.1, 0.01, 100, sample);
    for (int i = 0; i < 100; i++) {
        const double t = -0.1 + 0.01 * i;
        assert_true(t < 0.4 - 1e-9    ? sample[i] == 0
                    : t > 0.45 + 1e-9 ? sample[i] == 1
                                      : sample[i] <= 1);
    }
    /* They fade in smoothly, symmetrically about the middle. */
    assert_true(sample[51] < 0.15F && fabsf(sample[51] + sample[54] - 1) < 1e-5F &&
                fabsf(sample[52] + sample[53] - 1) < 1e-5F);
    /* Without a taper, samples from the mute time itself on are whole, however sums of times round.
     */
    for (int d = -30; d <= 60; d++)
        for (int us = 500; us <= 16000; us *= 2) {
            const double dt = 1e-6 * us;
            m = (struct mute){.n = 1, .time = {0.001 * d + 50 * dt}};
            for (int i = 0; i < 100; i++)
                sample[i] = 1;
            mute_apply(&m, 0, (float)(0.001 * d), dt, 100, sample);
            assert_true(sample[49] == 0 && sample[50] == 1);
        }
    assert_int_equal(mute_parse(NULL, 0, &m), EK_OK);
    assert_true(isinf(mute_time(&m, 7)));
    static const char *const bad[] = {"5", "5:x", "5:1,5:2", "-1:1", "5:1;6:2", "nan:1"};
    for (int i = 0; i < 6; i++)
        assert_fails(mute_parse(bad[i], 0, &m), EK_USAGE);
}

/* ---- crooked lines ----------------------------------------------------------------------------*/

/* The place at `s` m along an arc of radius r, then rotated. */
static void on_arc(double s, double r, double beside, double x[3])
{
    const double a = s / r;
    x[0] = 5000 + (r + beside) * sin(a) * 0.8 - (r - (r + beside) * cos(a)) * 0.6;
    x[1] = -300 + (r + beside) * sin(a) * 0.6 + (r - (r + beside) * cos(a)) * 0.8;
    x[2] = 0;
}

static void crooked_lines_are_straightened(void **state)
{
    const struct generate_plane plane = {1000, 5000, 0, {0, 0}, 0.1};
    const struct generate_events e = {.nplanes = 1, .plane = &plane};
    static const double radius[] = {1e9, 9000, 4000};
    srand(7);
    for (int i = 0; i < 3; i++) {
        struct shot_line l;
        struct migrate_options o = usual(0.5);
        struct segy_options none = {0};
        struct line_fit fit;
        struct segy *s;
        float column[NZ];
        begin(&l, 0.5, &e);
        for (int shot = 0; shot < 5; shot++)
            for (int k = 0; k < 121; k++) {
                double from[3], to[3];
                on_arc(500 + 600 * shot, radius[i], 0, from);
                on_arc(30 * k, radius[i], 5 * (2.0 * rand() / RAND_MAX - 1), to);
                add_point_source(&l, from, to);
            }
        assert_int_equal(segy_finish(l.w), EK_OK);
        assert_int_equal(segy_open(path, &none, &s), EK_OK);
        const double offset =
            hypot(s->trace[9].gx - s->trace[9].sx, s->trace[9].gy - s->trace[9].sy);
        assert_int_equal(line_project(s, "auto", 70, &fit), EK_OK);
        assert_true(fabs(fit.length - 3600) < 20 && fit.beside < 12);
        assert_true(fabs(s->trace[9].gx - s->trace[9].sx + offset) < 1e-6);
        for (size_t t = 0; t < s->n; t++) {
            assert_true(s->trace[t].sy == 70 && s->trace[t].gy == 70);
            const double is = 0.5 * (s->trace[t].sx + s->trace[t].gx);
            const double was = 0.5 * (500 + 600 * (double)(t / 121) + 30 * (double)(t % 121));
            assert_true(fabs(is - was) < 12);
        }
        segy_close(s);
        o.grid = "1x1x41:10x10x7@1800,70,860";
        o.line = "auto";
        o.dimension = MIGRATE_3D; /* 2.5-D is the default of lines */
        o.weight = MIGRATE_AMPLITUDE;
        migrate(&o, false, column);
        const struct peak p = peak_of(column);
        if (!(fabs(860 + 7 * p.at - 1000) < 4) || !(fabs(p.skew) < 0.1))
            fail_msg("radius %g: %g at %g m, skew %g", radius[i], p.value, 860 + 7 * p.at, p.skew);
    }
}

static int drop(void **state)
{
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_have_their_reflectivity),
        cmocka_unit_test(space_is_no_line),
        cmocka_unit_test(points_have_their_strength),
        cmocka_unit_test(silent_traces_are_counted),
        cmocka_unit_test(one_trace_of_one_sample),
        cmocka_unit_test(mutes_are_linear),
        cmocka_unit_test(crooked_lines_are_straightened),
    };
    return cmocka_run_group_tests(tests, NULL, drop);
}
