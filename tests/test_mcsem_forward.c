/* tests/test_mcsem_forward.c – fields and derivatives in exact mode: reference numbers, closed
 * forms, and physical laws that need neither. */
#include "mcsem/cases.h"
#include "tests/isa.h"
#include "tests/mcsem.h"

enum { LAYERS = EARTH_WATER + EARTH_LAYERS + 1, FINE = 4 };
static struct forward *forward;
static struct cases_row row;

static double complex field_of(const struct earth_layers *layers, const struct survey_pair *pair,
                               double freq)
{
    double complex field;
    assert_int_equal(
        forward_pair(forward, layers, pair, 1, &freq, FINE, FORWARD_FIELD, &field, NULL), EK_OK);
    return field;
}

/* ---- reference numbers ----------------------------------------------------------------------- */

static double complex number(const struct table *t, size_t r, const char *re, const char *im)
{
    double x, y;
    assert_int_equal(table_number(t, r, table_find(t, re), &x), EK_OK);
    assert_int_equal(table_number(t, r, table_find(t, im), &y), EK_OK);
    return x + I * y;
}

static void fields_are_the_reference_s(void **state)
{
    const struct forward_control control = {1e-8, 1e-17};
    struct cases c;
    assert_int_equal(cases_open("tests/data/mcsem/fields.csv", &c), EK_OK);
    assert_int_equal(c.table->nrows, 414);
    for (size_t r = 0; r < c.table->nrows; r++) {
        const double complex want = number(c.table, r, "re", "im");
        double complex got;
        struct forward_error error;
        int which;
        assert_int_equal(cases_read(&c, r, &row), EK_OK);
        assert_int_equal(forward_choose(forward, &row.layers, &row.pair, 1, &row.freq, &control,
                                        &which, &got, &error),
                         EK_OK);
        assert_true(error.likely <= control.tolerance);
        close_to(got, want, fmax(cabs(want), control.floor), 0.5 * control.tolerance);
        close_to(got, want, cabs(want), fmax(1e-11, fmin(1e-7, 10 * error.most)));
    }
    cases_close(&c);
}

static void derivatives_are_the_reference_s(void **state)
{
    static double complex got[LAYERS];
    struct cases c;
    assert_int_equal(cases_open("tests/data/mcsem/derivatives.csv", &c), EK_OK);
    for (size_t r = 0; r < c.table->nrows; r++) {
        const char *kind = table_text(c.table, r, table_find(c.table, "kind"));
        double layer;
        double complex field;
        assert_int_equal(table_number(c.table, r, table_find(c.table, "layer_k"), &layer), EK_OK);
        assert_int_equal(cases_read(&c, r, &row), EK_OK);
        assert_int_equal(forward_pair(forward, &row.layers, &row.pair, 1, &row.freq, FINE,
                                      strcmp(kind, "rho_h") ? FORWARD_ALL : FORWARD_HORIZONTAL,
                                      &field, got),
                         EK_OK);
        close_to(got[(int)layer - 1], number(c.table, r, "dre", "dim"), cabs(field), 1e-9);
    }
    cases_close(&c);
}

/* ---- laws ------------------------------------------------------------------------------------ */

static void the_finest_filters_agree(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    for (int p = 0; p < MCSEM_PAIRS; p++) {
        double complex fine, finest;
        const double freq = 0.5;
        assert_int_equal(
            forward_pair(forward, &l, &mcsem_pairs[p], 1, &freq, 4, FORWARD_FIELD, &fine, NULL),
            EK_OK);
        assert_int_equal(
            forward_pair(forward, &l, &mcsem_pairs[p], 1, &freq, 5, FORWARD_FIELD, &finest, NULL),
            EK_OK);
        close_to(fine, finest, cabs(finest), 1e-10);
    }
}

static void fields_scale(void **state)
{
    const double s = 3;
    const struct earth_layers l = mcsem_sea_floor();
    struct earth_layers more = l;
    for (int k = 0; k < l.n; k++) {
        more.rho_h[k] *= s;
        more.rho_v[k] *= s;
    }
    for (int p = 0; p < MCSEM_PAIRS; p++) {
        const double complex one = field_of(&l, &mcsem_pairs[p], 0.5);
        close_to(field_of(&more, &mcsem_pairs[p], 0.5 * s), one * (mcsem_pairs[p].magnetic ? 1 : s),
                 cabs(one) * s, 1e-12);
    }
}

/* E scales when rho and f are scaled together, so its derivatives add up to E. */
static void derivatives_obey_euler(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    const double step = 1e-4, freq[5] = {0.5, 0.5 * exp(step), 0.5 * exp(-step),
                                         0.5 * exp(2 * step), 0.5 * exp(-2 * step)};
    double complex derivative[8];
    for (int p = 0; p < MCSEM_PAIRS; p++) {
        double complex field[5], sum;
        for (int q = 0; q < 5; q++)
            field[q] = field_of(&l, &mcsem_pairs[p], freq[q]);
        assert_int_equal(forward_pair(forward, &l, &mcsem_pairs[p], 1, freq, FINE, FORWARD_ALL,
                                      field, derivative),
                         EK_OK);
        sum = (8 * (field[1] - field[2]) - (field[3] - field[4])) / (12 * step);
        for (int k = 0; k < l.n; k++)
            sum += derivative[k];
        close_to(sum, mcsem_pairs[p].magnetic ? 0 : field[0], cabs(field[0]), 1e-8);
    }
}

/* Every layer's derivative of both kinds agrees with fourth-order differences. */
static void derivatives_are_differences(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    const double step = 1e-3, freq = 0.5;
    double complex derivative[8], field, moved[4];
    for (int p = 0; p < MCSEM_PAIRS; p++)
        for (int alone = 0; alone < 2; alone++) {
            assert_int_equal(forward_pair(forward, &l, &mcsem_pairs[p], 1, &freq, FINE,
                                          alone ? FORWARD_HORIZONTAL : FORWARD_ALL, &field,
                                          derivative),
                             EK_OK);
            for (int k = 1; k < l.n; k++) {
                static const double by[4] = {1, -1, 2, -2};
                for (int m = 0; m < 4; m++) {
                    struct earth_layers other = l;
                    other.rho_h[k] *= exp(by[m] * step);
                    if (!alone)
                        other.rho_v[k] *= exp(by[m] * step);
                    moved[m] = field_of(&other, &mcsem_pairs[p], freq);
                }
                close_to(derivative[k],
                         (8 * (moved[0] - moved[1]) - (moved[2] - moved[3])) / (12 * step),
                         cabs(field), 2e-9);
            }
        }
}

static void layers_below_have_the_same_derivatives_alone(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    const double freq = 0.5;
    for (int p = 0; p < 6; p++) { /* both ends in the sea */
        double complex all[8], below[8], field;
        assert_int_equal(
            forward_pair(forward, &l, &mcsem_pairs[p], 1, &freq, FINE, FORWARD_ALL, &field, all),
            EK_OK);
        assert_int_equal(forward_pair(forward, &l, &mcsem_pairs[p], 1, &freq, FINE, FORWARD_BELOW,
                                      &field, below),
                         EK_OK);
        for (int k = 0; k < l.n; k++)
            assert_true(below[k] == (k < l.sediments ? 0 : all[k]));
    }
}

/* A level wire just below the sea floor, one that dips into it, one that reaches into the third
 * layer, and a receiver in the second: derivatives for the sediments agree with differences. */
static void sediments_beside_the_pair_have_derivatives(void **state)
{
    static const struct survey_pair buried[] = {
        {.source = {0, 0, 1001},
         .receiver = {800, 300, 999.9},
         .direction = {1, 0, 0},
         .length = 50},
        {.source = {0, 0, 965},
         .receiver = {1500, 300, 999.9},
         .direction = {0, 0.6, 0.8},
         .length = 270,
         .dip = 0.35},
        {.source = {0, 0, 1000},
         .receiver = {900, 0, 900},
         .direction = {1, 0, 0},
         .length = 400,
         .dip = 1,
         .magnetic = true},
        {.source = {0, 0, 960}, .receiver = {700, 200, 1150}, .direction = {0, 0, 1}}};
    const double freq = 0.5, step = 1e-4;
    struct earth_layers l = mcsem_sea_floor();
    for (size_t p = 0; p < sizeof buried / sizeof *buried; p++) {
        double complex derivative[8], field, moved[2];
        assert_int_equal(forward_pair(forward, &l, &buried[p], 1, &freq, FINE, FORWARD_BELOW,
                                      &field, derivative),
                         EK_OK);
        for (int k = l.sediments; k < l.n; k++) {
            for (int i = 0; i < 2; i++) {
                struct earth_layers other = l;
                other.rho_h[k] *= exp(i ? -step : step);
                other.rho_v[k] *= exp(i ? -step : step);
                assert_int_equal(forward_pair(forward, &other, &buried[p], 1, &freq, FINE,
                                              FORWARD_FIELD, &moved[i], NULL),
                                 EK_OK);
            }
            close_to(derivative[k], (moved[0] - moved[1]) / (2 * step), cabs(field), 1e-7);
        }
    }
}

/* The pair with source and receiver exchanged. */
static struct survey_pair turned_round(const struct survey_pair *p)
{
    const double *u = p->direction;
    struct survey_pair r = {
        .azimuth = atan2(u[1], u[0]), .dip = asin(u[2]), .magnetic = p->magnetic, .loop = p->loop};
    memcpy(r.source, p->receiver, sizeof r.source);
    memcpy(r.receiver, p->source, sizeof r.receiver);
    r.direction[0] = cos(p->dip) * cos(p->azimuth);
    r.direction[1] = cos(p->dip) * sin(p->azimuth);
    r.direction[2] = sin(p->dip);
    return r;
}

static void source_and_receiver_change_places(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    for (int p = 0; p < MCSEM_PAIRS; p++) {
        struct survey_pair there = mcsem_pairs[p];
        there.length = 0;
        if (there.magnetic != there.loop)
            continue;
        const struct survey_pair back = turned_round(&there);
        const double complex field = field_of(&l, &there, 0.5);
        close_to(field_of(&l, &back, 0.5), field, cabs(field), 1e-11);
    }
}

/* E along a receiver's wire equals that of the wire as a source; if both are wires, it is the mean
 * over points along one of them. */
static void receivers_may_be_wires(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    for (int p = 0; p < 3; p++) {
        struct survey_pair there = mcsem_pairs[p];
        there.source[0] = p == 2 ? 1700 : 1400; /* 350 to 1900 m away */
        there.length = 0;
        there.span = 250;
        there.direction[0] = there.direction[1] = sqrt(0.5);
        there.direction[2] = 0;
        struct survey_pair back = turned_round(&there);
        back.length = there.span;
        const double complex field = field_of(&l, &there, 0.5);
        close_to(field_of(&l, &back, 0.5), field, cabs(field), 1e-10);
        there.length = 200;
        back.span = 200;
        const double complex both = field_of(&l, &there, 0.5);
        close_to(field_of(&l, &back, 0.5), both, cabs(both), 1e-9);
        double complex mean = 0;
        for (int k = 0; k < 3; k++) { /* Simpson's rule on 16 pieces of the receiver's wire */
            const int n = 16 << k;
            double complex sum = 0;
            for (int i = 0; i <= 2 * n; i++) {
                struct survey_pair point = there;
                point.span = 0;
                for (int d = 0; d < 2; d++)
                    point.receiver[d] += 125 * ((double)i / n - 1) * there.direction[d];
                sum += field_of(&l, &point, 0.5) * (i % (2 * n) == 0 ? 1 : i % 2 ? 4 : 2);
            }
            mean = sum / (6 * n);
        }
        close_to(both, mean, cabs(both), 1e-8);
    }
}

/* Wires whose ends come close although their middles are far apart. */
static void wires_may_come_close(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    static const double x[] = {650, 350, 800}, span[] = {1000, 400, 1000};
    enum { PIECES = 400 };
    for (int k = 0; k < 3; k++) {
        const struct survey_pair wires = {.source = {x[k], 0, 900},
                                          .receiver = {0, 0, 999.9},
                                          .direction = {1, 0, 0},
                                          .length = 270,
                                          .span = span[k]};
        const double complex field = field_of(&l, &wires, 0.5);
        double complex sum = 0;
        for (int i = 0; i <= 2 * PIECES; i++) { /* Simpson's rule */
            struct survey_pair point = wires;
            point.span = 0;
            point.receiver[0] = 0.5 * span[k] * ((double)i / PIECES - 1);
            sum += field_of(&l, &point, 0.5) * (i % (2 * PIECES) == 0 ? 1 : i % 2 ? 4 : 2);
        }
        close_to(field, sum / (6 * PIECES), cabs(field), 1e-7);
    }
}

static void a_layer_may_be_two(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    const double freq = 0.5;
    for (int cut = 1; cut < l.n; cut++) {
        struct earth_layers two = l;
        two.n++;
        for (int k = l.n; k > cut; k--) {
            two.rho_h[k] = l.rho_h[k - 1];
            two.rho_v[k] = l.rho_v[k - 1];
            two.z[k - 1] = k > cut + 1 ? l.z[k - 2] : 0;
        }
        two.z[cut] = cut < l.n - 1 ? 0.3 * l.z[cut - 1] + 0.7 * l.z[cut] : l.z[cut - 1] + 333;
        for (int k = cut + 1; k < two.n - 1; k++)
            two.z[k] = l.z[k - 1];
        for (int p = 0; p < MCSEM_PAIRS; p++) {
            double complex one, other, a[8], b[9];
            forward_pair(forward, &l, &mcsem_pairs[p], 1, &freq, FINE, FORWARD_ALL, &one, a);
            forward_pair(forward, &two, &mcsem_pairs[p], 1, &freq, FINE, FORWARD_ALL, &other, b);
            close_to(other, one, cabs(one), 1e-11);
            for (int k = 0; k < l.n; k++)
                close_to(k < cut    ? b[k]
                         : k == cut ? b[k] + b[k + 1]
                                    : b[k + 1],
                         a[k], cabs(one), 1e-10);
        }
    }
}

static void the_vertical_resistivity_counts_where_it_differs(void **state)
{
    struct earth_layers l = mcsem_sea_floor();
    const struct survey_pair *hz = &(const struct survey_pair){.source = {0, 0, 960},
                                                               .receiver = {900, 1500, 999.9},
                                                               .direction = {0, 0, 1},
                                                               .magnetic = true};
    const double complex e = field_of(&l, &mcsem_pairs[0], 0.5), h = field_of(&l, hz, 0.5);
    l.rho_v[5] *= 1 + 1e-14; /* the same numbers by the anisotropic path */
    close_to(field_of(&l, &mcsem_pairs[0], 0.5), e, cabs(e), 1e-12);
    l.rho_v[5] *= 2;
    close_to(field_of(&l, hz, 0.5), h, cabs(h), 1e-14); /* TE mode only */
    assert_true(cabs(field_of(&l, &mcsem_pairs[0], 0.5) - e) > 1e-4 * cabs(e));
}

/* ---- closed form ----------------------------------------------------------------------------- */

/* A whole space: k^2 = -i w mu sigma, im k < 0. */
static double complex whole_space(const struct survey_pair *p, double rho, double freq)
{
    const double w = 2 * acos(-1) * freq, mu = 4e-7 * acos(-1);
    const double s[3] = {cos(p->dip) * cos(p->azimuth), cos(p->dip) * sin(p->azimuth), sin(p->dip)};
    double x[3], r = 0, xs = 0;
    for (int d = 0; d < 3; d++) {
        x[d] = p->receiver[d] - p->source[d];
        r += x[d] * x[d];
        xs += x[d] * s[d];
    }
    r = sqrt(r);
    double complex k = csqrt(-I * w * mu / rho), sum = 0;
    k = cimag(k) > 0 ? -k : k;
    const double complex ikr = I * k * r, e = cexp(-ikr);
    for (int d = 0; d < 3; d++) {
        const int a = (d + 1) % 3, b = (d + 2) % 3;
        const double complex electric =
            rho * e / (4 * acos(-1) * r * r * r) *
            (x[d] * xs / (r * r) * (ikr * ikr + 3 * ikr + 3) + s[d] * (-ikr * ikr - ikr - 1));
        const double complex magnetic =
            (ikr + 1) * e / (4 * acos(-1) * r * r * r) * (s[a] * x[b] - s[b] * x[a]);
        const double complex of_loop = p->magnetic ? electric / rho : -I * w * mu * magnetic;
        sum += p->direction[d] * (p->loop ? of_loop : p->magnetic ? magnetic : electric);
    }
    return sum;
}

/* Resistivities, frequencies and distances unlike any survey's: wrong results must be reported as
 * such. */
static void errors_are_told_at_the_extremes(void **state)
{
    const struct forward_control control = {1e-8, 1e-17};
    struct earth_layers l = mcsem_sea_floor();
    for (int n = 0; n < 600; n++) {
        struct survey_pair p = mcsem_pairs[n % MCSEM_PAIRS];
        const double rho = pow(10, 20 * fmod(n * sqrt(2), 1) - 8);
        const double freq = pow(10, 8 * fmod(n * sqrt(3), 1) - 4);
        const double near = pow(10, 2 * fmod(n * sqrt(5), 1) - 2);
        double complex got;
        struct forward_error error;
        int which;
        for (int k = 0; k < l.n; k++)
            l.rho_h[k] = l.rho_v[k] = rho;
        p.length = 0;
        for (int d = 0; d < 3; d++)
            p.receiver[d] = p.source[d] + near * (p.receiver[d] - p.source[d]);
        const double complex want = whole_space(&p, rho, freq);
        assert_int_equal(forward_choose(forward, &l, &p, 1, &freq, &control, &which, &got, &error),
                         EK_OK);
        if (error.most <= control.tolerance)
            close_to(got, want, fmax(cabs(want), 1e-12), control.tolerance);
    }
}

static void equal_layers_are_a_whole_space(void **state)
{
    struct earth_layers l = mcsem_sea_floor();
    for (int k = 0; k < l.n; k++)
        l.rho_h[k] = l.rho_v[k] = 1.3;
    for (int p = 0; p < MCSEM_PAIRS; p++) {
        struct survey_pair point = mcsem_pairs[p];
        point.length = 0;
        for (double near = 1; near > 0.01; near *= 0.3) { /* offsets down to metres */
            for (int d = 0; d < 3; d++)
                point.receiver[d] =
                    point.source[d] + near * (mcsem_pairs[p].receiver[d] - point.source[d]);
            const double complex want = whole_space(&point, 1.3, 0.5);
            int which;
            const double freq = 0.5;
            double complex got;
            assert_int_equal(forward_choose(forward, &l, &point, 1, &freq,
                                            &(struct forward_control){1e-9, 0}, &which, NULL, NULL),
                             EK_OK);
            assert_int_equal(
                forward_pair(forward, &l, &point, 1, &freq, which, FORWARD_FIELD, &got, NULL),
                EK_OK);
            close_to(got, want, cabs(want), 1e-8);
        }
    }
}

/* Instruments at one depth, or nearly, where the integrands grow with the wavenumber, and eight
 * skin depths apart: the finest filter is at least as good as the tolerance that it is the last
 * hope of, and its error is told. */
static void fields_far_off_at_one_depth(void **state)
{
    const struct forward_control control = {1e-8, 1e-40};
    const double freq = 1, apart[] = {0, 1e-3, 0.1};
    struct earth_layers l = mcsem_sea_floor();
    for (int k = 0; k < l.n; k++)
        l.rho_h[k] = l.rho_v[k] = 1;
    for (int n = 0; n < 6; n++) {
        struct survey_pair p = {.source = {0, 0, 500},
                                .receiver = {4800, 3600, 500 + apart[n / 2]}};
        p.dip = n % 2 ? 0 : acos(-1) / 2;
        p.direction[n % 2 ? 0 : 2] = 1; /* along the source */
        const double complex want = whole_space(&p, 1, freq);
        double complex got;
        struct forward_error error;
        int which;
        assert_int_equal(
            forward_pair(forward, &l, &p, 1, &freq, HANKEL_FILTERS - 1, FORWARD_FIELD, &got, NULL),
            EK_OK);
        close_to(got, want, cabs(want), 1e-8);
        assert_int_equal(forward_choose(forward, &l, &p, 1, &freq, &control, &which, &got, &error),
                         EK_OK);
        assert_true(error.likely <= control.tolerance);
        close_to(got, want, cabs(want), control.tolerance);
    }
}

static void a_wire_is_its_points(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    double last = 0;
    for (double length = 200; length >= 50; length /= 2) {
        struct survey_pair wire = mcsem_pairs[1], point = mcsem_pairs[1];
        wire.length = length;
        wire.dip = point.dip = 0.1;
        const double complex one = field_of(&l, &point, 0.5);
        const double error = cabs(field_of(&l, &wire, 0.5) - one) / cabs(one);
        if (last > 0)
            assert_true(fabs(last / error - 4) < 0.1); /* second order in the length */
        last = error;
    }
}

/* The surface of a half-space (Wait 1961): with u = (1 + ikr) e^-ikr, E along and across the
 * direction to the receiver is rho / (2 pi r^3) (cos phi (1 + u), sin phi (2 - u)). */
static void the_surface_of_a_half_space(void **state)
{
    const double rho = 2.5, freq = 0.5, mu = 4e-7 * acos(-1);
    struct earth_layers l = mcsem_sea_floor();
    for (int k = 1; k < l.n; k++)
        l.rho_h[k] = l.rho_v[k] = rho;
    for (double r = 100; r < 10000; r *= 2.3)
        for (int axis = 0; axis < 2; axis++) {
            const double phi = 0.7;
            struct survey_pair p = {.receiver = {r * cos(phi), r * sin(phi), 0}};
            p.direction[axis] = 1;
            double complex k = csqrt(-I * 2 * acos(-1) * freq * mu / rho);
            k = cimag(k) > 0 ? -k : k;
            const double complex u = (1 + I * k * r) * cexp(-I * k * r);
            const double complex radial = cos(phi) * (1 + u), around = sin(phi) * (2 - u);
            const double complex want = rho / (2 * acos(-1) * r * r * r) *
                                        (axis ? radial * sin(phi) + around * cos(phi)
                                              : radial * cos(phi) - around * sin(phi));
            close_to(field_of(&l, &p, freq), want, cabs(want), 1e-8);
        }
}

/* At any distance of the receiver: the rule halves its panels towards it. */
static void a_wire_is_its_pieces(void **state)
{
    enum { PIECES = 5 };
    const struct earth_layers l = mcsem_sea_floor();
    for (double below = 40; below > 0.5; below /= 3)
        for (double along = 0; along < 200; along += 67) {
            struct survey_pair wire = mcsem_pairs[0];
            double complex sum = 0;
            wire.length = 200;
            wire.receiver[0] = along;
            wire.receiver[1] = 3;
            wire.receiver[2] = wire.source[2] + below;
            for (int k = 0; k < PIECES; k++) {
                struct survey_pair piece = wire;
                piece.length = wire.length / PIECES;
                piece.source[0] += (k - PIECES / 2) * piece.length;
                sum += field_of(&l, &piece, 0.5) / PIECES;
            }
            close_to(field_of(&l, &wire, 0.5), sum, cabs(sum), 1e-6);
        }
}

/* Wires so many skin depths deep that the rule's points cannot follow the field: either the error
 * is reported or the result is right. */
static void long_wires_in_conductors_are_told(void **state)
{
    const struct earth_layers sea = {.n = 2, .rho_h = {1e12, 0.25}, .rho_v = {1e12, 0.25}};
    const struct forward_control control = {1e-8, 1e-17};
    for (double freq = 0.1; freq < 1e4; freq *= 5) {
        const struct survey_pair whole = {.source = {0, 0, 1220.2},
                                          .receiver = {8000, 0, 0},
                                          .direction = {0, 1, 0},
                                          .azimuth = 0.3,
                                          .dip = -1,
                                          .length = 2900,
                                          .magnetic = true};
        double complex sum = 0, field;
        struct forward_error error;
        int which;
        assert_int_equal(
            forward_choose(forward, &sea, &whole, 1, &freq, &control, &which, &field, &error),
            EK_OK);
        for (int k = 0; k < 100; k++) {
            struct survey_pair piece = whole;
            const double at = whole.length * ((k + 0.5) / 100 - 0.5);
            piece.length /= 100;
            piece.source[0] += at * cos(whole.dip) * cos(whole.azimuth);
            piece.source[1] += at * cos(whole.dip) * sin(whole.azimuth);
            piece.source[2] += at * sin(whole.dip);
            sum += field_of(&sea, &piece, freq) / 100;
        }
        assert_true(cabs(sum - field) <= 2 * fmax(error.most, 1e-8) * fmax(cabs(field), 1e-17));
    }
}

/* The static potential of a current I is I rho_h a / (4 pi R), R^2 = r^2 + a^2 z^2, a^2 = rho_v /
 * rho_h. With a small a, R is small even far below the source. */
static void straight_above_in_flat_layers(void **state)
{
    const double rho = 2, a = 0.02, z = 300, freq = 1e-6;
    const struct earth_layers flat = {
        .n = 2, .rho_h = {rho, rho}, .rho_v = {a * a * rho, a * a * rho}};
    for (double x = 0.5; x < 8; x *= 2) {
        const struct survey_pair p = {
            .source = {0, 0, 100}, .receiver = {x, 0, 100 + z}, .direction = {1, 0, 0}};
        const double r = sqrt(x * x + a * a * z * z);
        const double want = a * rho / (4 * acos(-1)) * (3 * x * x / (r * r) - 1) / (r * r * r);
        close_to(field_of(&flat, &p, freq), want, fabs(want), 1e-6);
    }
}

static void what_touches_is_refused(void **state)
{
    const struct earth_layers l = mcsem_sea_floor();
    const double freq = 0.5;
    double complex field;
    struct survey_pair p = mcsem_pairs[0];
    memcpy(p.receiver, p.source, sizeof p.receiver);
    status_mute(1);
    assert_int_equal(forward_pair(forward, &l, &p, 1, &freq, FINE, FORWARD_FIELD, &field, NULL),
                     EK_USAGE);
    p.length = 100;
    for (int n = 0; n < 400; n++) { /* anywhere on the wire, in any direction */
        double u[3];
        p.length = pow(10, 3 * drand48());
        p.azimuth = acos(-1) / 2 * (n % 4);
        p.dip = n % 8 < 4 ? 0 : acos(-1) / 2;
        pair_axis(p.azimuth, p.dip, u);
        const double at = p.length * (drand48() - 0.5);
        for (int d = 0; d < 3; d++)
            p.receiver[d] = p.source[d] + at * u[d];
        assert_int_equal(pair_check(&p, FORWARD_TOLERANCE, "survey"), EK_USAGE);
        assert_int_equal(forward_pair(forward, &l, &p, 1, &freq, FINE, FORWARD_FIELD, &field, NULL),
                         EK_USAGE);
    }
    status_mute(-1);
}

static int set_up(void **state)
{
    return forward_open(LAYERS, 1, &forward);
}

static int tear_down(void **state)
{
    forward_close(forward);
    return 0;
}

/* The fields and all derivatives of all pairs. */
static void compute_pairs(void *arg, double *to)
{
    const struct earth_layers l = mcsem_sea_floor();
    const double freq[] = {0.25, 2};
    struct forward *f;
    assert_int_equal(forward_open(l.n, 2, &f), EK_OK);
    for (int p = 0; p < MCSEM_PAIRS; p++) {
        double complex field[2], derivative[2 * 8];
        assert_int_equal(
            forward_pair(f, &l, &mcsem_pairs[p], 2, freq, 1, FORWARD_ALL, field, derivative),
            EK_OK);
        memcpy(to, field, sizeof field);
        memcpy(to + 4, derivative, sizeof derivative);
        to += 4 + 32;
    }
    forward_close(f);
}

static void every_level_has_the_same_bits(void **state)
{
    isa_compare("exact mode", (int)MCSEM_PAIRS * 36, false, 0, compute_pairs, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_the_reference_s),
        cmocka_unit_test(derivatives_are_the_reference_s),
        cmocka_unit_test(the_finest_filters_agree),
        cmocka_unit_test(fields_scale),
        cmocka_unit_test(every_level_has_the_same_bits),
        cmocka_unit_test(derivatives_obey_euler),
        cmocka_unit_test(derivatives_are_differences),
        cmocka_unit_test(layers_below_have_the_same_derivatives_alone),
        cmocka_unit_test(sediments_beside_the_pair_have_derivatives),
        cmocka_unit_test(source_and_receiver_change_places),
        cmocka_unit_test(receivers_may_be_wires),
        cmocka_unit_test(wires_may_come_close),
        cmocka_unit_test(a_layer_may_be_two),
        cmocka_unit_test(the_vertical_resistivity_counts_where_it_differs),
        cmocka_unit_test(errors_are_told_at_the_extremes),
        cmocka_unit_test(equal_layers_are_a_whole_space),
        cmocka_unit_test(fields_far_off_at_one_depth),
        cmocka_unit_test(a_wire_is_its_points),
        cmocka_unit_test(the_surface_of_a_half_space),
        cmocka_unit_test(a_wire_is_its_pieces),
        cmocka_unit_test(long_wires_in_conductors_are_told),
        cmocka_unit_test(straight_above_in_flat_layers),
        cmocka_unit_test(what_touches_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
