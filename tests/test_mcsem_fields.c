/* tests/test_mcsem_fields.c – the field functions of the library: reference numbers, the order of
 * results, refused input. */
#include "mcsem/cases.h"
#include "mcsem/fields.h"
#include "tests/mcsem.h"

#include <complex.h>

enum { LAYERS = EARTH_WATER + EARTH_LAYERS + 1 };
static struct cases_row row;
static double aniso[LAYERS], jac[LAYERS][2];

static const double degree = 57.29577951308232;

static void row_s_pair(double *src, double *rec)
{
    const struct survey_pair *p = &row.pair;
    const double *d = p->direction;
    const double from[] = {p->source[0],        p->source[1],    p->source[2],
                           p->azimuth * degree, p->dip * degree, p->length};
    const double to[] = {p->receiver[0], p->receiver[1], p->receiver[2], atan2(d[1], d[0]) * degree,
                         asin(d[2]) * degree};
    memcpy(src, from, sizeof from);
    memcpy(rec, to, sizeof to);
}

static struct mcsem_layers row_s_layers(void)
{
    for (int k = 0; k < row.layers.n; k++)
        aniso[k] = sqrt(row.layers.rho_v[k] / row.layers.rho_h[k]);
    return (struct mcsem_layers){row.layers.n, row.layers.z, row.layers.rho_h, aniso};
}

static void near_to(double a, double b, double off)
{
    assert_true(fabs(a - b) <= off);
}

static double number(const struct table *t, size_t r, const char *name)
{
    double x;
    assert_int_equal(table_number(t, r, table_find(t, name), &x), EK_OK);
    return x;
}

static void fields_are_the_reference_s(void **state)
{
    struct cases c;
    assert_int_equal(cases_open("tests/data/mcsem/fields.csv", &c), EK_OK);
    for (size_t r = 0; r < c.table->nrows; r += 13) {
        double src[1][6], rec[1][5], got[2];
        assert_int_equal(cases_read(&c, r, &row), EK_OK);
        row_s_pair(src[0], rec[0]);
        const struct mcsem_layers layers = row_s_layers();
        const struct mcsem_survey s = {1,    1,    1, src, rec, &row.freq, row.pair.magnetic,
                                       1e-6, false};
        assert_int_equal(mcsem_forward(&layers, &s, got, NULL), EK_OK);
        const double re = number(c.table, r, "re"), im = number(c.table, r, "im");
        assert_true(hypot(got[0] - re, got[1] - im) <= 1e-7 * hypot(re, im) + 1e-20);
    }
    cases_close(&c);
}

static void derivatives_are_the_reference_s(void **state)
{
    struct cases c;
    int compared = 0;
    assert_int_equal(cases_open("tests/data/mcsem/derivatives.csv", &c), EK_OK);
    for (size_t r = 0; r < c.table->nrows; r += 3) {
        double src[1][6], rec[1][5], got[2];
        if (!strcmp(table_text(c.table, r, table_find(c.table, "kind")), "rho_h"))
            continue; /* with respect to the horizontal resistivity only */
        const int layer = (int)number(c.table, r, "layer_k") - 1;
        assert_int_equal(cases_read(&c, r, &row), EK_OK);
        row_s_pair(src[0], rec[0]);
        const struct mcsem_layers layers = row_s_layers();
        const struct mcsem_survey s = {1, 1, 1, src, rec, &row.freq, row.pair.magnetic, 0, false};
        assert_int_equal(mcsem_forward(&layers, &s, got, jac[0]), EK_OK);
        assert_true(hypot(jac[layer][0] - number(c.table, r, "dre"),
                          jac[layer][1] - number(c.table, r, "dim")) <=
                    1e-7 * hypot(got[0], got[1]));
        compared++;
    }
    assert_true(compared > 20);
    cases_close(&c);
}

/* ---- many at once ---------------------------------------------------------------------------- */

enum { SRC = 3, REC = 4, FREQ = 2, FEW = 4 };
static const double depth[FEW - 1] = {0, 300, 1200}, res[FEW] = {1e12, 0.3, 2, 20};
static const struct mcsem_layers few = {FEW, depth, res, NULL};
static const double src[SRC][6] = {
    {0, 0, 250, 0, 0, 0}, {100, 50, 240, 30, -5, 200}, {-300, 0, 290, 0, 90, 0}};
static const double rec[REC][5] = {
    {2000, 0, 299, 0, 0}, {3000, 500, 299, 90, 0}, {4000, -700, 299, 45, 20}, {900, 1, 299, 0, 90}};
static const double freq[FREQ] = {0.1, 1.7};

/* Each field equals the one computed alone and stands where empymod puts it. */
static void each_is_in_its_place(void **state)
{
    const struct mcsem_survey all = {SRC, REC, FREQ, src, rec, freq, false, 0, false};
    double got[FREQ][REC][SRC][2], slope[FREQ][REC][SRC][FEW][2], one[2], its[FEW][2];
    assert_int_equal(mcsem_forward(&few, &all, got[0][0][0], slope[0][0][0][0]), EK_OK);
    for (int q = 0; q < FREQ; q++)
        for (int r = 0; r < REC; r++)
            for (int i = 0; i < SRC; i++) {
                const struct mcsem_survey s = {1,        1,     1, &src[i], &rec[r],
                                               &freq[q], false, 0, false};
                assert_int_equal(mcsem_forward(&few, &s, one, its[0]), EK_OK);
                const double size = hypot(one[0], one[1]);
                for (int x = 0; x < 2; x++) {
                    near_to(got[q][r][i][x], one[x], 1e-7 * size);
                    for (int k = 0; k < FEW; k++)
                        near_to(slope[q][r][i][k][x], its[k][x], 1e-6 * size);
                }
            }
}

/* Derivatives agree with finite differences of fields. */
static void derivatives_are_slopes(void **state)
{
    static const double deep[1][6] = {{0, 0, 500, 30, 40, 0}};
    const struct mcsem_survey surveys[] = {{1, 1, 1, src + 1, rec + 1, freq, true, 1e-10, false},
                                           {1, 1, 1, deep, rec + 2, freq + 1, true, 1e-10, true},
                                           {1, 1, 1, deep, rec + 2, freq + 1, false, 1e-10, true}};
    double changed[FEW], at[2], above[2], below[2], slope[FEW][2];
    const struct mcsem_layers other = {FEW, depth, changed, NULL};
    const double h = 1e-3;
    for (int n = 0; n < 3 * (FEW - 1); n++) {
        const struct mcsem_survey *s = &surveys[n / (FEW - 1)];
        const int k = 1 + n % (FEW - 1);
        assert_int_equal(mcsem_forward(&few, s, at, slope[0]), EK_OK);
        memcpy(changed, res, sizeof res);
        changed[k] = res[k] * exp(h);
        assert_int_equal(mcsem_forward(&other, s, above, NULL), EK_OK);
        changed[k] = res[k] * exp(-h);
        assert_int_equal(mcsem_forward(&other, s, below, NULL), EK_OK);
        for (int x = 0; x < 2; x++)
            near_to((above[x] - below[x]) / (2 * h), slope[k][x], 1e-5 * hypot(at[0], at[1]));
    }
}

/* A long wire that dips through a few skin depths of sea equals, seen from afar, the mean of
 * dipoles along it. */
static void wires_pass_through_skin_depths(void **state)
{
    enum { PIECES = 32 };
    const double z[] = {0, 300}, rho[] = {1e12, 0.25, 1}, high[] = {20}, half = 135;
    const double to[1][5] = {{2500, 100, 299.9, 0, 0}}, whole[1][6] = {{0, 0, 200, 0, 40, 270}};
    const struct mcsem_layers l = {3, z, rho, NULL};
    struct mcsem_survey s = {1, 1, 1, whole, to, high, true, 1e-8, false};
    double got[2], one[2], sum[2] = {0, 0};
    assert_int_equal(mcsem_forward(&l, &s, got, NULL), EK_OK);
    for (int k = 0; k < PIECES; k++) {
        const double at = half * (2 * k + 1 - PIECES) / PIECES;
        const double piece[1][6] = {
            {at * cos(40 / degree), 0, 200 + at * sin(40 / degree), 0, 40, 2 * half / PIECES}};
        s.src = piece;
        assert_int_equal(mcsem_forward(&l, &s, one, NULL), EK_OK);
        for (int x = 0; x < 2; x++)
            sum[x] += one[x] / PIECES;
    }
    for (int x = 0; x < 2; x++)
        near_to(got[x], sum[x], 2e-9 * hypot(got[0], got[1]));
}

/* A wire through interfaces of sea and sediment equals the mean of its pieces between them, along
 * which the fields are smooth. */
static void wires_pass_through_interfaces(void **state)
{
    static const double cut[] = {-1, -0.6, 0.3, 1};
    const double dips[] = {90, -35}, half = 60;
    for (int n = 0; n < 4; n++) {
        const double dip = dips[n % 2] / degree, rise = half * sin(dip);
        const double z[] = {0, 120, 180, 400}, rho[] = {1e12, 0.25, 0.33, 40, 3};
        const double below[] = {0, 200 + fmin(cut[1] * rise, cut[2] * rise),
                                200 + fmax(cut[1] * rise, cut[2] * rise), 400};
        const struct mcsem_layers l = {5, n < 2 ? below : z, rho, NULL};
        const double to[1][5] = {{n < 2 ? 300 : 60, 70, 190, 30, n < 2 ? 0 : 20}};
        const double whole[1][6] = {{0, 0, 200, 25, dip * degree, 2 * half}};
        struct mcsem_survey s = {1, 1, 1, whole, to, freq + 1, n % 2, 1e-6, false};
        double got[2], one[2], sum[2] = {0, 0};
        assert_int_equal(mcsem_forward(&l, &s, got, NULL), EK_OK);
        for (int k = 0; k < 3; k++) {
            const double at = 0.5 * (cut[k] + cut[k + 1]) * half, flat = at * cos(dip);
            const double share = 0.5 * (cut[k + 1] - cut[k]);
            const double piece[1][6] = {{flat * cos(25 / degree), flat * sin(25 / degree),
                                         200 + at * sin(dip), 25, dip * degree, 2 * half * share}};
            s.src = piece;
            assert_int_equal(mcsem_forward(&l, &s, one, NULL), EK_OK);
            for (int x = 0; x < 2; x++)
                sum[x] += share * one[x];
        }
        for (int x = 0; x < 2; x++)
            near_to(got[x], sum[x], 1e-8 * hypot(got[0], got[1]));
    }
}

/* A point on an interface belongs to the layer above, as in empymod: fields and derivatives are the
 * limits from above. Nothing lies above the first interface, so there it is the limit from
 * below. */
static void on_an_interface_is_above_it(void **state)
{
    const double z[] = {0, 900, 950, 1300}, rho[] = {1e12, 0.3, 2, 50, 7}, step = 1e-7;
    const struct mcsem_layers l = {5, z, rho, NULL};
    for (int n = 0; n < 12; n++) {
        const double on = z[n % 4], off = on > 0 ? on - step : on + step;
        const double at[2][6] = {{0, 0, n < 8 ? on : 700, 20, 50, 0},
                                 {0, 0, n < 8 ? off : 700, 20, 50, 0}};
        const double to[2][5] = {{700, 300, n < 4 ? 850 : on, 40, -35},
                                 {700, 300, n < 4 ? 850 : off, 40, -35}};
        double got[2][2], slope[2][5][2];
        for (int k = 0; k < 2; k++) {
            const struct mcsem_survey s = {1, 1, 1, at + k, to + k, freq, n % 3 == 2, 1e-6, false};
            assert_int_equal(mcsem_forward(&l, &s, got[k], slope[k][0]), EK_OK);
        }
        const double size = hypot(got[0][0], got[0][1]);
        for (int x = 0; x < 2; x++)
            near_to(got[0][x], got[1][x], 1e-6 * size);
        for (int k = 0; k < 10; k++)
            near_to(slope[0][k / 2][k % 2], slope[1][k / 2][k % 2], 1e-6 * size);
    }
}

/* E at (x, y, z) of a magnetic dipole m in a whole space: -i w mu0 (1 + ikr) exp(-ikr) m x r / (4
 * pi r^3). */
static void magnetic_sources_are_loops(void **state)
{
    const double pi = acos(-1), z[] = {0}, rho[] = {2, 2}, high[2] = {5, 0.3};
    const double loop[2][6] = {{10, -20, 300, 40, 25, 0}, {0, 0, 500, 0, -90, 0}};
    const double to[2][5] = {{250, 90, 420, 10, -35}, {400, 0, 300, 90, 0}};
    const struct mcsem_layers whole = {2, z, rho, NULL};
    struct mcsem_survey s = {2, 2, 2, loop, to, high, false, 1e-8, true};
    double got[2][2][2][2], slope[2][2][2][2][2];
    assert_int_equal(mcsem_forward(&whole, &s, got[0][0][0], slope[0][0][0][0]), EK_OK);
    for (int n = 0; n < 8; n++) {
        const int q = n / 4, j = n / 2 % 2, i = n % 2;
        double d[3], m[3], u[3], cross = 0, r = 0;
        for (int x = 0; x < 3; x++)
            r = hypot(r, d[x] = to[j][x] - loop[i][x]);
        for (int x = 0; x < 3; x++) {
            m[x] = x == 2 ? sin(loop[i][4] / degree)
                          : cos(loop[i][4] / degree) *
                                (x ? sin(loop[i][3] / degree) : cos(loop[i][3] / degree));
            u[x] = x == 2 ? sin(to[j][4] / degree)
                          : cos(to[j][4] / degree) *
                                (x ? sin(to[j][3] / degree) : cos(to[j][3] / degree));
        }
        for (int x = 0; x < 3; x++)
            cross += u[x] * (m[(x + 1) % 3] * d[(x + 2) % 3] - m[(x + 2) % 3] * d[(x + 1) % 3]);
        const double line = 8e-7 * pi * pi * high[q], k = sqrt(line / 4); /* 1/m: w mu0 / 2 rho */
        const double complex ikr = (1 + I) * k * r;
        const double complex want =
            -I * line * (1 + ikr) * cexp(-ikr) * cross / (4 * pi * r * r * r);
        const double complex by_rho = want * ikr * ikr / (1 + ikr) / 2; /* dE / d ln rho */
        const double size = fmax(cabs(want), line / (4 * pi * r * r) * 1e-6);
        const double complex field = got[q][j][i][0] + I * got[q][j][i][1];
        double complex sum = 0;
        for (int l = 0; l < 2; l++)
            sum += slope[q][j][i][l][0] + I * slope[q][j][i][l][1];
        near_to(cabs(field - want), 0, 1e-8 * size);
        near_to(cabs(sum - by_rho), 0, 1e-6 * size);
    }
    s.src = src + 1;
    assert_int_equal(mcsem_forward(&whole, &s, got[0][0][0], NULL), EK_USAGE);
}

/* Azimuth and dip of two directions a and b that form a right-handed frame with a loop's axis. */
static void across(const double *loop, double a[2], double b[2])
{
    a[0] = loop[3] + 90; /* horizontal */
    a[1] = 0;
    b[0] = loop[3]; /* axis x a */
    b[1] = loop[4] + 90;
}

static void point(const double *angles, double u[3])
{
    u[0] = cos(angles[1] / degree) * cos(angles[0] / degree);
    u[1] = cos(angles[1] / degree) * sin(angles[0] / degree);
    u[2] = sin(angles[1] / degree);
}

/* The field of a square of four wires with this side, the loop's axis and a moment of 1 A m^2. */
static void square(const struct mcsem_layers *l, const struct mcsem_survey *loop, double side,
                   double sum[2])
{
    double angles[2][2], u[2][3], one[2];
    across(loop->src[0], angles[0], angles[1]);
    point(angles[0], u[0]);
    point(angles[1], u[1]);
    sum[0] = sum[1] = 0;
    for (int k = 0; k < 4; k++) { /* a wire along u[k % 2], displaced along the other direction */
        const double sign = k < 2 ? 1 : -1, beside = k % 2 ? sign : -sign;
        double wire[1][6] = {{0, 0, 0, angles[k % 2][0], angles[k % 2][1], side}};
        for (int x = 0; x < 3; x++)
            wire[0][x] = loop->src[0][x] + 0.5 * side * beside * u[1 - k % 2][x];
        struct mcsem_survey s = *loop;
        s.src = wire;
        s.msrc = false;
        assert_int_equal(mcsem_forward(l, &s, one, NULL), EK_OK);
        for (int x = 0; x < 2; x++)
            sum[x] += sign * one[x] / side;
    }
}

/* The E and H of a loop in layers are those of a small square of wires. */
static void loops_are_squares_of_wires(void **state)
{
    static const double stretch[] = {1, 1, 1.4, 1.2}, high[] = {3};
    static const double loop[][6] = {
        {0, 0, 250, 30, 20, 0}, {0, 0, 700, -50, -60, 0}, {0, 0, 280, 0, -90, 0}};
    static const double to[][5] = {{500, 200, 299, 70, -10}, {-300, 350, 650, 10, 40}};
    const struct mcsem_layers l = {FEW, depth, res, stretch};
    for (int n = 0; n < 12; n++) {
        struct mcsem_survey s = {1,    1,          1,     loop + n % 3, to + n / 3 % 2,
                                 high, n / 6 == 1, 1e-10, true};
        double got[2], wide[2], narrow[2];
        assert_int_equal(mcsem_forward(&l, &s, got, NULL), EK_OK);
        square(&l, &s, 16, wide);
        square(&l, &s, 8, narrow);
        for (int x = 0; x < 2; x++) /* extrapolated to a side of zero */
            near_to(got[x], (4 * narrow[x] - wide[x]) / 3, 1e-6 * hypot(got[0], got[1]));
    }
}

/* Fields of x, y, z at x0 and at 1 and 2 steps from there along each axis, both ways. */
enum { POINTS = 13 };
static void around(const struct mcsem_layers *l, struct mcsem_survey s, const double x0[3],
                   double step, double complex to[POINTS][3])
{
    static const double angles[3][2] = {{0, 0}, {90, 0}, {0, 90}};
    static const int way[] = {-2, -1, 1, 2};
    double at[3 * POINTS][5], got[3 * POINTS][2];
    for (int p = 0; p < POINTS; p++)
        for (int a = 0; a < 3; a++) {
            double *point = at[3 * p + a];
            memcpy(point, x0, 3 * sizeof *point);
            memcpy(point + 3, angles[a], sizeof angles[a]);
            if (p)
                point[(p - 1) / 4] += step * way[(p - 1) % 4];
        }
    s.nrec = 3 * POINTS;
    s.rec = (const double(*)[5])at;
    assert_int_equal(mcsem_forward(l, &s, got[0], NULL), EK_OK);
    for (int p = 0; p < 3 * POINTS; p++)
        to[p / 3][p % 3] = got[p][0] + I * got[p][1];
}

/* Curl by differences of fourth order; returns the size of the derivatives. */
static double curl(double complex field[POINTS][3], double step, double complex to[3])
{
    double complex d[3][3];
    double most = 0;
    for (int x = 0; x < 3; x++)
        for (int a = 0; a < 3; a++) {
            double complex(*f)[3] = field + 1 + 4 * x;
            d[x][a] = (f[0][a] - 8 * f[1][a] + 8 * f[2][a] - f[3][a]) / (12 * step);
            most = fmax(most, cabs(d[x][a]));
        }
    for (int a = 0; a < 3; a++)
        to[a] = d[(a + 1) % 3][(a + 2) % 3] - d[(a + 2) % 3][(a + 1) % 3];
    return most;
}

/* curl E = -i w mu H and curl H = E / rho in each layer, around dipoles, wires and loops. */
static void fields_obey_maxwell_s_equations(void **state)
{
    static const double stretch[] = {1, 1, 1.4, 1.2}, f[] = {1};
    static const double from[][6] = {
        {0, 0, 250, 30, 20, 0}, {0, 0, 255, -50, 5, 270}, {0, 0, 700, 10, -60, 100}};
    static const double to[][3] = {{900, 200, 200}, {-700, 350, 500}, {500, -800, 1500}};
    const struct mcsem_layers l = {FEW, depth, res, stretch};
    const double step = 10, mu = 4e-7 * acos(-1);
    for (int n = 0; n < 12; n++) {
        const double *x = to[n % 3];
        struct mcsem_survey s = {1,     1,     1,         from + (n / 3 < 3 ? n / 3 : 0), NULL, f,
                                 false, 1e-10, n / 3 == 3};
        double complex e[POINTS][3], h[POINTS][3], curl_e[3], curl_h[3];
        int layer = 0;
        while (layer < FEW - 1 && x[2] > depth[layer])
            layer++;
        around(&l, s, x, step, e);
        s.mrec = true;
        around(&l, s, x, step, h);
        const double most_e = curl(e, step, curl_e), most_h = curl(h, step, curl_h);
        for (int a = 0; a < 3; a++) {
            const double rho = res[layer] * (a == 2 ? pow(stretch[layer], 2) : 1);
            near_to(cabs(curl_e[a] + I * 2 * acos(-1) * f[0] * mu * h[0][a]), 0, 1e-5 * most_e);
            near_to(cabs(curl_h[a] - e[0][a] / rho), 0, 1e-5 * most_h);
        }
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    const struct mcsem_survey good = {1, 1, 1, src, rec, freq, false, 0, false};
    const double high[1][5] = {{2000, 0, -1, 0, 0}}, on[1][5] = {{0, 0, 250, 0, 0}}, still[] = {0};
    const double crossed[] = {0, 300, 300}, negative[] = {1e12, 0.3, -2, 20};
    double got[2] = {7, 7};
    struct mcsem_survey s = good;
    s.rec = high;
    assert_int_equal(mcsem_forward(&few, &s, got, NULL), EK_USAGE);
    s.rec = on;
    assert_int_equal(mcsem_forward(&few, &s, got, NULL), EK_USAGE);
    s = good;
    s.freq = still;
    assert_int_equal(mcsem_forward(&few, &s, got, NULL), EK_USAGE);
    s = good;
    s.nrec = 0;
    assert_int_equal(mcsem_forward(&few, &s, got, NULL), EK_USAGE);
    struct mcsem_layers l = few;
    l.depth = crossed;
    assert_int_equal(mcsem_forward(&l, &good, got, NULL), EK_USAGE);
    l = few;
    l.res = negative;
    assert_int_equal(mcsem_forward(&l, &good, got, NULL), EK_USAGE);
    for (int k = 0; k < 4; k++) {
        const double beyond[] = {k == 0 ? 1e300 : 1e12, k == 1 ? 1e-300 : 0.3, 2,
                                 k == 2 ? NAN : 20};
        const double stretched[] = {1, 1, k == 3 ? 1e20 : 1, 1};
        l = (struct mcsem_layers){FEW, depth, beyond, stretched};
        assert_int_equal(mcsem_forward(&l, &good, got, NULL), EK_USAGE);
        s = good;
        s.tolerance = (const double[]){NAN, -1, 2, INFINITY}[k];
        assert_int_equal(mcsem_forward(&few, &s, got, NULL), EK_USAGE);
    }
    l = few;
    l.n = 1;
    assert_int_equal(mcsem_forward(&l, &good, got, NULL), EK_USAGE);
    assert_true(got[0] == 7 && got[1] == 7);
}

int main(void)
{
    status_mute(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_the_reference_s),
        cmocka_unit_test(derivatives_are_the_reference_s),
        cmocka_unit_test(each_is_in_its_place),
        cmocka_unit_test(derivatives_are_slopes),
        cmocka_unit_test(wires_pass_through_skin_depths),
        cmocka_unit_test(wires_pass_through_interfaces),
        cmocka_unit_test(on_an_interface_is_above_it),
        cmocka_unit_test(magnetic_sources_are_loops),
        cmocka_unit_test(loops_are_squares_of_wires),
        cmocka_unit_test(fields_obey_maxwell_s_equations),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
