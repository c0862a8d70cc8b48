/* tests/test_okada_mogi_proof.c – certificates of faults: remainder() bounds the responses at
 * points of boxes, proofs are checked by other mathematics (quadrature of point sources with
 * derivatives in interval arithmetic, slips by trying all corners), and what they exclude is sought
 * by brute force. */
#include "okada_mogi/slips.h"
#include "tests/okada_mogi.h"

#include <jansson.h>

/* ---- remainders -------------------------------------------------------------------------------*/

/* Basis response b at a point, three components. */
static void respond(const struct model *m, const double *x, int b, const double *at, double *u)
{
    double y[MODEL_PARAMETERS];
    memcpy(y, x, sizeof y);
    if (m->nbasis == 1) {
        y[model_amplitude(m)] = 1;
        model_forward(m, y, at[0], at[1], u);
        return;
    }
    y[7] = b ? 90 : 0;
    y[8] = b < 2 ? 2 * M_PI : 0;
    y[10] = b < 2 ? 0 : 2 * M_PI;
    model_forward(m, y, at[0], at[1], u);
}

/* A random box; some edges have length zero, and some boxes are tiny. */
static void draw_box(const struct model *m, double size, struct model_range *x)
{
    static const double mogi[][2] = {{-5e3, 5e3}, {-5e3, 5e3}, {500, 8e3}, {1, 1}, {0, 0.4}};
    static const double okada[][2] = {{-5e3, 5e3}, {-5e3, 5e3}, {0, 8e3},   {-180, 180},
                                      {0, 90},     {1e3, 2e4},  {1e3, 1e4}, {0, 0},
                                      {1, 1},      {0, 0.4},    {0, 0}};
    for (int p = 0; p < m->nparameters; p++) {
        const double *r = m->nbasis == 1 ? mogi[p] : okada[p];
        x[p].min = job_random(r[0], r[1]);
        const double edge = job_random(-1, 2) < 0 ? 0 : size * (r[1] - r[0]);
        x[p].max = fmin(x[p].min + edge, r[1]);
    }
}

/* The middle of a box, a response there and its derivatives, by differences of `step` half edges.
 */
struct tangent {
    double middle[MODEL_PARAMETERS], u[3], slope[MODEL_PARAMETERS][3];
};
static struct tangent tangent_of(const struct model *m, const struct model_range *x, int b,
                                 const double *at, double step)
{
    struct tangent t = {.middle = {0}};
    for (int p = 0; p < m->nparameters; p++)
        t.middle[p] = x[p].min + (x[p].max - x[p].min) / 2;
    respond(m, t.middle, b, at, t.u);
    for (int p = 0; p < m->nparameters; p++) {
        const double h = step * (x[p].max - t.middle[p]);
        double y[MODEL_PARAMETERS], more[3], less[3];
        memcpy(y, t.middle, sizeof y);
        y[p] = t.middle[p] + h;
        respond(m, y, b, at, more);
        y[p] = t.middle[p] - h;
        respond(m, y, b, at, less);
        for (int c = 0; c < 3; c++)
            t.slope[p][c] = h > 0 ? (more[c] - less[c]) / (2 * h) : 0;
    }
    return t;
}

/* Size of the response at y, and how far it is from the tangent. */
static double departure(const struct model *m, const struct tangent *t, int b, const double *at,
                        const double *y, double *size)
{
    double u[3], off = 0, all = 0;
    respond(m, y, b, at, u);
    for (int c = 0; c < 3; c++) {
        double line = t->u[c];
        for (int p = 0; p < m->nparameters; p++)
            line += t->slope[p][c] * (y[p] - t->middle[p]);
        off += (u[c] - line) * (u[c] - line);
        all += u[c] * u[c];
    }
    *size = sqrt(all);
    return sqrt(off);
}

static void test_remainder(const struct model *m)
{
    int told = 0;
    for (int i = 0; i < 250; i++) {
        struct model_range x[MODEL_PARAMETERS];
        double size[3], rest[3];
        const double at[] = {job_random(-2e4, 2e4), i % 7 ? job_random(-2e4, 2e4) : 0};
        draw_box(m, pow(10, job_random(-4, -0.5)), x);
        m->remainder(m, x, at[0], at[1], size, rest);
        for (int b = 0; b < m->nbasis; b++) {
            if (!isfinite(rest[b]))
                continue;
            told++;
            const struct tangent t = tangent_of(m, x, b, at, 1e-3);
            for (int k = 0; k < 20; k++) {
                double y[MODEL_PARAMETERS], all;
                for (int p = 0; p < m->nparameters; p++) {
                    const double any[] = {x[p].min, x[p].max, job_random(x[p].min, x[p].max)};
                    y[p] = any[(int)job_random(0, 3)];
                }
                const double off = departure(m, &t, b, at, y, &all);
                assert_true(all <= size[b] * (1 + 1e-9));
                assert_true(off <= rest[b] * (1 + 1e-4) + 1e-8 * size[b]);
            }
        }
    }
    assert_true(told > 150);
}

/* Boxes in which hill climbing found the bounds least generous: faults that are small against their
 * distance, and those parameters that `half` says differ. `share` of the remainder is reached. */
enum { MOVING = 6 };
static const int moving[MOVING] = {2, 3, 4, 5, 6, 9}; /* depth, strike, dip, length, width, nu */
static const struct tight {
    int basis;
    double middle[MOVING], half[MOVING], at[2], share;
} tight[] = {
    {0, {36, 157, 90, 36, 30, 0.49}, {0, 1.64}, {-3044, 1236}, 0.6},
    {0, {160, -170, 88.4, 30, 30, 0.49}, {0, 1.05}, {-1973, 2790}, 0.6},
    {1, {936, 151.6, 28.8, 41, 30, 0.49}, {0, 0, 1.33}, {-3055, -1708}, 0.6},
    {1, {773, -137.5, 31.3, 30, 30, 0.49}, {0, 0, 4.14}, {-3008, 2710}, 0.6},
    {0, {1075, 100, 60, 30, 30, 0.49}, {0, 0, 0, 3.6, 2.5}, {-2437, -1412}, 0.6},
    {1, {2123, 92, 4, 30, 30, 0.49}, {0, 0, 0, 0.15, 0.1}, {-21, -2445}, 0.6},
    {2, {2141, -130, 47, 31.6, 34.6, 0.49}, {0, 0, 0, 1.76, 1.2}, {-1346, 1842}, 0.8},
    {1, {1, -65, 45, 42, 35, 0.25}, {0, 0, 0, 0, 0.16, 0.25}, {1438, 3227}, 0.2},
    {2, {5, -65, 90, 42, 35, 0.25}, {0, 0, 0, 0, 0.8, 0.25}, {-2284, -3004}, 0.2},
};

static void test_tight_boxes(void **state)
{
    const struct model *m = model_with(model_find("okada"), "opening_m", 9);
    for (const struct tight *w = tight; w < tight + sizeof tight / sizeof *tight; w++) {
        struct model_range x[MODEL_PARAMETERS] = {[8] = {1, 1}};
        double size[3], rest[3], most = 0;
        for (int k = 0; k < MOVING; k++) {
            const double at = w->middle[k], by = w->half[k];
            x[moving[k]] = (struct model_range){at - by, at + by};
        }
        m->remainder(m, x, w->at[0], w->at[1], size, rest);
        const struct tangent t = tangent_of(m, x, w->basis, w->at, 0.02);
        for (int corner = 0; corner < 1 << MOVING; corner++) {
            double y[MODEL_PARAMETERS], all;
            memcpy(y, t.middle, sizeof y);
            for (int k = 0; k < MOVING; k++)
                y[moving[k]] = corner >> k & 1 ? x[moving[k]].max : x[moving[k]].min;
            most = fmax(most, departure(m, &t, w->basis, w->at, y, &all) / rest[w->basis]);
            assert_true(all <= size[w->basis]);
        }
        if (!(most <= 1 && most >= w->share))
            fail_msg("box %td: %.3f of the remainder is reached", w - tight, most);
    }
}

static void test_remainders(void **state)
{
    test_remainder(model_find("mogi"));
    test_remainder(model_find("okada"));
    test_remainder(model_with(model_find("okada"), "opening_m", 9));
}

/* Halving the edges divides the remainder by four; for a point it is zero. */
static void test_order(void **state)
{
    static const double at[] = {0, 0, 4e3, 30, 50, 1e4, 6e3, 0, 1, 0.25},
                        by[] = {300, 300, 300, 2, 2, 300, 300, 0, 0, 0.02};
    double before = 0;
    for (int i = 0; i < 6; i++) {
        struct model_range x[MODEL_PARAMETERS];
        double size[2], rest[2];
        for (int p = 0; p < 10; p++) {
            const double half = i < 5 ? ldexp(by[p], -i) : 0;
            x[p] = (struct model_range){at[p] - half, at[p] + half};
        }
        model_find("okada")->remainder(model_find("okada"), x, 5e3, 2e3, size, rest);
        assert_true(i == 0 || i == 5 || fabs(rest[0] / before - 0.25) < 0.1);
        assert_true(i < 5 || rest[0] == 0);
        before = rest[0];
    }
}

/* ---- slips ------------------------------------------------------------------------------------*/

/* Whether a convex piece holds u: it lies on no outer side, or on two sides of one, by more than
 * rounding. */
static bool piece_holds(const struct slips_piece *p, const double *u)
{
    double most = -INFINITY, least = INFINITY, size = 1e-30;
    for (int i = 0; i < p->n; i++)
        size = fmax(size, fmax(fabs(p->corner[i][0]), fabs(p->corner[i][1])));
    for (int i = 0; i < p->n; i++) {
        const double *a = p->corner[i], *b = p->corner[(i + 1) % p->n];
        const double way[] = {b[0] - a[0], b[1] - a[1]}, length = hypot(way[0], way[1]);
        const double off = length > 0 ? (way[0] * (u[1] - a[1]) - way[1] * (u[0] - a[0])) / length
                                      : hypot(u[0] - a[0], u[1] - a[1]);
        most = fmax(most, off);
        least = fmin(least, off);
    }
    return p->n && (most < 1e-10 * size || least > -1e-10 * size) &&
           (p->n > 2 || fmax(most, -least) < 1e-10 * size);
}

static bool slips_hold(const struct slips *s, const double *u)
{
    bool any = false;
    for (int i = 0; i < s->n; i++)
        any |= piece_holds(&s->piece[i], u);
    return any;
}

static double either(double a, double b, double min, double max)
{
    const int how = (int)job_random(0, 4);
    return how == 0 ? a : how == 1 ? b : job_random(min, max);
}

/* Every slip is among those listed, and stays there while its own data narrow them: windows that it
 * just reaches, with responses anywhere within what is known of them. */
static void test_slips(void **state)
{
    static const double turns[] = {-180, -90, 0, 30, 90, 135, 360};
    for (int i = 0; i < 400; i++) {
        const struct model *m = model_find(i % 8 ? "okada" : "mogi");
        const int turning = model_amplitude(m) - 1;
        const double scale = pow(10, job_random(-3, 3)), from = turns[(int)job_random(0, 5)],
                     least = scale * either(0, -1, -1, 1);
        const struct model_range amplitude = {least, least + scale * either(0, 1, 0, 2)},
                                 direction = {
                                     from, from + either(0, turns[(int)job_random(2, 7)], 0, 360)};
        for (int k = 0; k < 20; k++) {
            struct slips s = {.n = 0};
            double x[MODEL_PARAMETERS] = {0}, w[MODEL_BASES] = {0}, u[2] = {0};
            const double size = either(amplitude.min, amplitude.max, amplitude.min, amplitude.max);
            x[turning] = either(direction.min, direction.max, direction.min, direction.max);
            model_weigh(m, x, w);
            for (int b = 0; b < m->nbasis; b++)
                u[b] = size * w[b];
            slips_list(m, amplitude, direction, &s);
            assert_true(slips_hold(&s, u));
            for (int datum = 0; datum < 5; datum++) {
                struct model_range g[MODEL_BASES] = {{0, 0}};
                double seen = 0;
                for (int b = 0; b < m->nbasis; b++) {
                    const double low = job_random(-1, 1), wide = either(0, 0.1, 0, 1);
                    g[b] = (struct model_range){low, low + wide};
                    seen += u[b] * either(low, low + wide, low, low + wide);
                }
                const double below = scale * either(0, 0, 0, 1), above = scale * either(0, 0, 0, 1);
                assert_true(slips_narrow(&s, g, seen - below, seen + above));
                assert_true(slips_hold(&s, u));
            }
        }
    }
}

/* ---- interval arithmetic ----------------------------------------------------------------------*/

enum { FREE = 3, NODES = 6, STATIONS = 5, GEOMETRY = 7, OPENING = GEOMETRY, PARAMETERS };

struct span {
    double min, max;
};
/* A range of values, and of the derivatives by the free parameters. */
struct dual {
    struct span v, d[FREE];
};

static struct span wide(double a, double b)
{
    const double rounding = 1e-15 * fmax(fabs(a), fabs(b));
    return (struct span){a - rounding, b + rounding};
}

static struct span plus(struct span a, struct span b)
{
    return wide(a.min + b.min, a.max + b.max);
}

static struct span times(struct span a, struct span b)
{
    const double p = a.min * b.min, q = a.min * b.max, r = a.max * b.min, s = a.max * b.max;
    return wide(fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)));
}

static struct dual number(double x)
{
    return (struct dual){.v = {x, x}};
}

static struct dual sum(struct dual a, struct dual b)
{
    struct dual r = {.v = plus(a.v, b.v)};
    for (int i = 0; i < FREE; i++)
        r.d[i] = plus(a.d[i], b.d[i]);
    return r;
}

static struct dual product(struct dual a, struct dual b)
{
    struct dual r = {.v = times(a.v, b.v)};
    for (int i = 0; i < FREE; i++)
        r.d[i] = plus(times(a.d[i], b.v), times(a.v, b.d[i]));
    return r;
}

/* Applies the chain rule with this value and derivative of the outer function. */
static struct dual chain(struct dual a, struct span value, struct span derivative)
{
    struct dual r = {.v = value};
    for (int i = 0; i < FREE; i++)
        r.d[i] = times(derivative, a.d[i]);
    return r;
}

static struct dual scaled(struct dual a, double by)
{
    return product(number(by), a);
}

static struct dual less(struct dual a, struct dual b)
{
    return sum(a, scaled(b, -1));
}

static struct dual squared(struct dual a)
{
    const double p = a.v.min * a.v.min, q = a.v.max * a.v.max;
    return chain(a, wide(a.v.min <= 0 && a.v.max >= 0 ? 0 : fmin(p, q), fmax(p, q)),
                 wide(2 * a.v.min, 2 * a.v.max));
}

static struct dual root(struct dual a) /* a > 0 */
{
    const double p = sqrt(a.v.min), q = sqrt(a.v.max);
    return chain(a, wide(p, q), wide(0.5 / q, 0.5 / p));
}

static struct dual inverse(struct dual a) /* a > 0 */
{
    const double p = 1 / a.v.min, q = 1 / a.v.max;
    return chain(a, wide(q, p), wide(-p * p, -q * q));
}

/* The slopes of sine and cosine are at most 1. */
static struct dual sine(struct dual degrees, double ahead)
{
    const double radian = M_PI / 180, at = (degrees.v.min + degrees.v.max) / 2,
                 half = (degrees.v.max - degrees.v.min) / 2 * radian + 1e-15;
    const double s = sin((at + ahead) * radian), c = cos((at + ahead) * radian);
    return chain(degrees, wide(s - half, s + half), wide((c - half) * radian, (c + half) * radian));
}

/* ---- point sources ----------------------------------------------------------------------------*/

/* Displacement of a point by a point of the fault, eqs. (8) to (10) of Okada (1985) for lambda =
 * mu, times -2 pi (opening: 2 pi): x along strike, y up dip, d down. */
static void point_source(struct dual x, struct dual y, struct dual d, struct dual s, struct dual c,
                         struct dual (*u)[3])
{
    const struct dual p = sum(product(y, c), product(d, s)), q = less(product(y, s), product(d, c));
    const struct dual xx = squared(x), yy = squared(y), rr = sum(sum(xx, yy), squared(d)),
                      r = root(rr), per_r = inverse(r), per_rd = inverse(sum(r, d)),
                      per_r3 = product(per_r, inverse(rr)), per_r5 = product(per_r3, inverse(rr));
    const struct dual twice = squared(per_rd), a = product(per_r, twice),
                      b = product(product(sum(scaled(r, 3), d), per_r3), product(twice, per_rd)),
                      k = product(product(sum(scaled(r, 2), d), per_r3), twice);
    const struct dual i1 = scaled(product(y, less(a, product(xx, b))), 0.5),
                      i2 = scaled(product(x, less(a, product(yy, b))), 0.5),
                      i3 = less(scaled(product(x, per_r3), 0.5), i2),
                      i4 = scaled(product(product(x, y), k), -0.5),
                      i5 = scaled(less(product(per_r, per_rd), product(xx, k)), 0.5),
                      sc = product(s, c), s2 = squared(s);
    const struct dual from[] = {x, y, d}, strike[] = {i1, i2, i4}, dip[] = {i3, i1, i5};
    for (int j = 0; j < 3; j++) {
        const struct dual far = scaled(product(product(from[j], q), per_r5), 3);
        u[0][j] = sum(product(far, x), product(strike[j], s));
        u[1][j] = less(product(far, p), product(dip[j], sc));
        u[2][j] = less(product(far, q), product(dip[j], s2));
    }
}

/* The displacement by the whole fault, by Gauss quadrature; the fault is far enough away for its
 * error of 1e-7 not to matter. */
static void fault(const struct dual *x, const double *at, struct dual (*out)[3])
{
    static const double node[] = {-0.932469514203152, -0.661209386466265, -0.238619186083197,
                                  0.238619186083197,  0.661209386466265,  0.932469514203152},
                        weight[] = {0.171324492379170, 0.360761573048139, 0.467913934572691,
                                    0.467913934572691, 0.360761573048139, 0.171324492379170};
    const struct dual ss = sine(x[3], 0), cs = sine(x[3], 90), s = sine(x[4], 0),
                      c = sine(x[4], 90), e = less(number(at[0]), x[0]),
                      n = less(number(at[1]), x[1]);
    const struct dual along = sum(product(e, ss), product(n, cs)),
                      across = less(product(n, ss), product(e, cs)), area = product(x[5], x[6]);
    struct dual all[3][3];
    memset(all, 0, sizeof all);
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++) {
            struct dual u[3][3];
            const double down = 0.5 + node[j] / 2;
            point_source(less(along, scaled(x[5], node[i] / 2)),
                         less(across, product(scaled(x[6], 0.5 - down), c)),
                         sum(x[2], product(scaled(x[6], down), s)), s, c, u);
            for (int k = 0; k < 9; k++)
                all[k / 3][k % 3] =
                    sum(all[k / 3][k % 3], scaled(u[k / 3][k % 3], weight[i] * weight[j] / 4));
        }
    for (int b = 0; b < 3; b++) {
        out[b][0] = product(area, less(product(ss, all[b][0]), product(cs, all[b][1])));
        out[b][1] = product(area, sum(product(cs, all[b][0]), product(ss, all[b][1])));
        out[b][2] = product(area, all[b][2]);
    }
}

/* ---- the checker ------------------------------------------------------------------------------*/

struct proof {
    int nfree, at[FREE];
    struct span all[PARAMETERS];
    double slip, station[STATIONS][2], low[STATIONS][3], high[STATIONS][3];
};

/* Some corner of the half-planes a0 u0 + a1 u1 >= b lies within all of them. */
static bool some_slip(int n, const double (*line)[3], double most)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const double *p = line[i], *q = line[j], det = p[0] * q[1] - p[1] * q[0];
            const double u[] = {(p[2] * q[1] - p[1] * q[2]) / det,
                                (p[0] * q[2] - p[2] * q[0]) / det};
            bool right = det != 0 && u[0] * u[0] + u[1] * u[1] <= most * most;
            for (int k = 0; k < n && right; k++)
                right = line[k][0] * u[0] + line[k][1] * u[1] >= line[k][2] - 1e-9;
            if (right)
                return true;
        }
    return false;
}

/* Some slip together with some of these openings moves all responses within g into the windows. */
static bool explains(const struct proof *p, struct span (*g)[3][3], struct span opening,
                     double most)
{
    const struct span weight = {opening.min / (2 * M_PI), opening.max / (2 * M_PI)};
    for (int quadrant = 0; quadrant < 4; quadrant++) {
        const double sign[] = {quadrant & 1 ? -1 : 1, quadrant & 2 ? -1 : 1};
        double line[6 * STATIONS + 4][3] = {
            {sign[0], 0, 0}, {0, sign[1], 0}, {-sign[0], 0, -most}, {0, -sign[1], -most}};
        int n = 4;
        for (int i = 0; i < STATIONS; i++)
            for (int c = 0; c < 3; c++) {
                for (int b = 0; b < 2; b++) {
                    const struct span s = g[i][b][c];
                    line[n][b] = sign[b] > 0 ? s.max : s.min;
                    line[n + 1][b] = sign[b] > 0 ? -s.min : -s.max;
                }
                const struct span opened = times(weight, g[i][2][c]);
                line[n][2] = p->low[i][c] - opened.max;
                line[n + 1][2] = opened.min - p->high[i][c];
                n += 2;
            }
        if (some_slip(n, line, 2 * most))
            return true;
    }
    return false;
}

/* Responses in a box: those at its middle plus derivatives times half its edges. */
static void respond_within(const struct proof *p, const struct span *box, struct span (*g)[3][3])
{
    struct dual x[PARAMETERS], middle[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
        x[i] = (struct dual){.v = box[i]};
        middle[i] = number((box[i].min + box[i].max) / 2);
    }
    for (int f = 0; f < p->nfree; f++)
        x[p->at[f]].d[f] = (struct span){1, 1};
    for (int i = 0; i < STATIONS; i++) {
        struct dual u[3][3], v[3][3];
        fault(x, p->station[i], u);
        fault(middle, p->station[i], v);
        for (int k = 0; k < 9; k++) {
            struct span *r = &g[i][k / 3][k % 3];
            *r = v[k / 3][k % 3].v;
            for (int f = 0; f < p->nfree; f++) {
                const double half = (box[p->at[f]].max - box[p->at[f]].min) / 2;
                *r = plus(*r, times(u[k / 3][k % 3].d[f], (struct span){-half, half}));
            }
        }
    }
}

static bool is_out(const struct proof *p, const struct span *box, int depth)
{
    struct span g[STATIONS][3][3], half[PARAMETERS];
    double most = 0;
    int axis = 0;
    respond_within(p, box, g);
    if (!explains(p, g, box[OPENING], p->slip / (2 * M_PI)))
        return true;
    memcpy(half, box, sizeof half);
    for (int f = 0; f < p->nfree; f++) {
        const int i = p->at[f];
        const double part = (box[i].max - box[i].min) / (p->all[i].max - p->all[i].min);
        if (part > most) {
            most = part;
            axis = i;
        }
    }
    if (depth == 0 || most == 0)
        return false;
    half[axis].max = (box[axis].min + box[axis].max) / 2;
    if (!is_out(p, half, depth - 1))
        return false;
    half[axis] = (struct span){half[axis].max, box[axis].max};
    return is_out(p, half, depth - 1);
}

static const char *const names[] = {"Ec_m",    "Nc_m", "d_m", "strike_deg",
                                    "dip_deg", "L_m",  "W_m", "opening_m"};
static const int at_of[] = {0, 1, 2, 3, 4, 5, 6, 10}; /* positions among the model's parameters */

static double at(const json_t *object, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(object, key), i));
}

static void read_proof(const json_t *root, struct proof *p)
{
    const json_t *list = json_object_get(root, "parameters"), *s;
    *p = (struct proof){.slip = at(root, "amplitude", 1)};
    assert_int_equal(json_array_size(json_object_get(root, "stations")), STATIONS);
    assert_true(at(root, "amplitude", 0) == 0 && at(root, "direction", 0) == -180 &&
                at(root, "direction", 1) == 180);
    for (int i = 0; i < PARAMETERS; i++) {
        const double fixed =
            json_number_value(json_object_get(json_object_get(root, "fixed"), names[i]));
        p->all[i] = (struct span){fixed, fixed};
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *q = json_array_get(list, k);
            if (strcmp(json_string_value(json_object_get(q, "name")), names[i]) == 0) {
                p->at[k] = i;
                p->nfree = (int)json_array_size(list);
                p->all[i] = (struct span){json_number_value(json_object_get(q, "min")),
                                          json_number_value(json_object_get(q, "max"))};
            }
        }
    }
    for (size_t i = 0; i < STATIONS; i++) {
        s = json_array_get(json_object_get(root, "stations"), i);
        p->station[i][0] = json_number_value(json_object_get(s, "east"));
        p->station[i][1] = json_number_value(json_object_get(s, "north"));
        for (size_t c = 0; c < 3; c++) {
            p->low[i][c] = at(s, "low", c);
            p->high[i][c] = at(s, "high", c);
        }
    }
}

/* Searches the box for points that fit: random ones, ends and middles of edges. */
static bool found_by_force(const struct job *job, const struct proof *p, const struct span *box,
                           double most)
{
    double x[MODEL_PARAMETERS] = {0};
    struct span g[STATIONS][3][3] = {{{{0}}}}; /* openings too, even where there are none */
    x[9] = 0.25;
    for (int i = 0; i < PARAMETERS; i++) {
        const int how = (int)job_random(0, 4);
        x[i] = how == 0   ? box[i].min
               : how == 1 ? box[i].max
               : how == 2 ? (box[i].min + box[i].max) / 2
                          : job_random(box[i].min, box[i].max);
    }
    const struct span opening = {x[OPENING], x[OPENING]};
    for (int i = 0; i < STATIONS; i++)
        for (int b = 0; b < job->model->nbasis; b++) {
            double u[3];
            respond(job->model, x, b, p->station[i], u);
            for (int c = 0; c < 3; c++) { /* slip has negative weights */
                const double response = b < 2 ? -u[c] : u[c];
                g[i][b][c] = (struct span){response - 1e-12, response + 1e-12};
            }
        }
    return explains(p, g, opening, most);
}

/* The number of open boxes, -1 for an invalid proof. *holds: one of them holds the truth. */
static long check_proof(const struct job *job, const json_t *root, const double *truth,
                        bool rigorous, bool *holds)
{
    struct proof p;
    read_proof(root, &p);
    struct span(*box)[PARAMETERS] = malloc(sizeof *box);
    memcpy(box[0], p.all, sizeof p.all);
    const json_t *levels = json_object_get(root, "levels");
    size_t n = 1;
    long open = 0;
    bool right = true;
    for (size_t level = 0; level < json_array_size(levels); level++) {
        const char *verdict = json_string_value(json_array_get(levels, level));
        struct span(*next)[PARAMETERS] = malloc((2 * n + 1) * sizeof *next);
        size_t more = 0;
        right = right && strlen(verdict) == n;
        for (size_t i = 0; i < n && right; i++) {
            if (verdict[i] == '.') {
                for (int k = 0; k < 4; k++)
                    right = right && !found_by_force(job, &p, box[i], p.slip / (2 * M_PI) * 0.7);
                right = right && (!rigorous || is_out(&p, box[i], 12));
            } else if (verdict[i] == '?') {
                bool in = true;
                for (int k = 0; k < PARAMETERS; k++)
                    in &= truth[at_of[k]] >= box[i][k].min && truth[at_of[k]] <= box[i][k].max;
                *holds |= in;
                open++;
            } else {
                const int axis = p.at[verdict[i] - '0'];
                const double middle = box[i][axis].min + (box[i][axis].max - box[i][axis].min) / 2;
                for (int side = 0; side < 2; side++) {
                    memcpy(next[more], box[i], sizeof *next);
                    *(side ? &next[more][axis].min : &next[more][axis].max) = middle;
                    more++;
                }
            }
        }
        free(box);
        box = next;
        n = more;
    }
    free(box);
    return right && n == 0 ? open : -1;
}

/* ---- jobs -------------------------------------------------------------------------------------*/

/* Five stations with the true source's displacements. */
static void write_stations(const struct model *m, const double *truth)
{
    FILE *f = fopen(job_file("stations.csv"), "w");
    fputs("E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\n", f);
    for (int i = 0; i < STATIONS; i++) {
        const double e = job_random(-15e3, 15e3), n = job_random(-15e3, 15e3);
        double u[3];
        model_forward(m, truth, e, n, u);
        fprintf(f, "%.17g,%.17g,%.17g,%.17g,%.17g,0.005,0.005,0.01\n", e, n, u[0], u[1], u[2]);
    }
    fclose(f);
}

/* Free parameters (bits) get a range that holds the truth or begins beyond it. A source that does
 * not slip may only open. */
static struct job *open_job(const double *truth, unsigned free_ones, bool inside, double k)
{
    static const double before[] = {3000, 3000, 2000, 20, 20, 2000, 2000, 1},
                        behind[] = {4000, 2500, 4000, 25, 5, 4000, 4000, 1.5};
    const bool opens = truth[at_of[OPENING]] != 0;
    const struct model *m = model_find("okada");
    char text[4096];
    write_stations(opens ? model_with(m, "opening_m", 9) : m, truth);
    int used = snprintf(text, sizeof text,
                        "{\"model\": \"okada\", \"stations\": \"stations.csv\", \"accept\": "
                        "{\"k_sigma\": %g}, \"parameters\": [",
                        k);
    for (int i = 0; i < (opens ? PARAMETERS : GEOMETRY); i++) {
        const bool open = free_ones >> i & 1;
        const double low = truth[at_of[i]] + (open ? (inside ? -before[i] : before[i]) : 0);
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "{\"name\": \"%s\", \"min\": %.17g, \"max\": %.17g, \"n\": %d}, ",
                         names[i], low, open ? low + before[i] + behind[i] : low, open ? 2 : 1);
    }
    snprintf(text + used, sizeof text - (size_t)used,
             "{\"name\": \"rake_deg\", \"min\": -180, \"max\": 180, \"n\": 5}, "
             "{\"name\": \"slip_m\", \"min\": 0, \"max\": %d, \"n\": %d}]}",
             truth[8] > 0 ? 5 : 0, truth[8] > 0 ? 5 : 1);
    return job_read(text, NULL);
}

/* A proof that excludes the truth is refused. */
static void refuse_hole(const struct job *job, json_t *root, const double *truth)
{
    bool holds = false;
    json_t *levels = json_object_get(root, "levels");
    const size_t last = json_array_size(levels) - 1;
    char *text = strdup(json_string_value(json_array_get(levels, last)));
    for (char *hole = text; (hole = strchr(hole, '?'));)
        *hole = '.';
    json_array_set_new(levels, last, json_string(text));
    free(text);
    assert_int_equal(check_proof(job, root, truth, true, &holds), -1);
}

/* Checks that the job's proof is valid. Returns whether it excludes everything. */
static bool prove(const double *truth, unsigned free_ones, bool inside, double k)
{
    struct job *job = open_job(truth, free_ones, inside, k);
    struct certificate c;
    bool holds = false;
    json_t *root = job_certify(job, &c);
    assert_int_equal(check_proof(job, root, truth, c.boxes < 300, &holds), (long)c.open);
    assert_int_equal(c.certified, c.open == 0);
    assert_true(!inside || (!c.certified && holds));
    if (inside && c.boxes < 300)
        refuse_hole(job, root, truth);
    json_decref(root);
    job_close(job);
    return c.certified;
}

static int rounds(void)
{
    return getenv("EK_LONG") ? 60 : 10;
}

/* Proof i of a series, with a truth drawn from these ranges; a range of width zero is a
 * constant. */
static bool prove_one(int i, const double range[MODEL_PARAMETERS][2], unsigned free_ones)
{
    double truth[MODEL_PARAMETERS];
    for (int p = 0; p < MODEL_PARAMETERS; p++)
        truth[p] = range[p][0] < range[p][1] ? job_random(range[p][0], range[p][1]) : range[p][0];
    return prove(truth, free_ones, i % 2, i % 4 == 3 ? 0.5 : 1);
}

static void test_proofs(void **state)
{
    static const unsigned bits[] = {1, 4, 5, 3, 8, 16, 32 + 64, 9, 2 + 4 + 16, 1 + 2};
    int certified = 0;
    job_seed = 7;
    for (int i = 0; i < rounds(); i++) {
        const double range[MODEL_PARAMETERS][2] = {{-3e3, 3e3},
                                                   {-3e3, 3e3},
                                                   {6e3, 8e3},
                                                   {0, 360},
                                                   {i % 5 ? 30 : 45, 45},
                                                   {5e3, 8e3},
                                                   {5e3, 7e3},
                                                   {i % 3 ? -180 : 90, i % 3 ? 180 : 90},
                                                   {1.5, 2.5},
                                                   {0.25, 0.25}};
        certified += prove_one(i, range, bits[i % 10]);
    }
    assert_true(certified >= rounds() / 4);
}

/* Dikes and sills, some of which close, also slip or have an unknown opening. */
static void test_openings(void **state)
{
    static const unsigned bits[] = {128 + 1, 1, 4, 16, 1, 2 + 4, 5, 128 + 8, 128 + 4, 5};
    int certified = 0;
    job_seed = 5;
    for (int i = 0; i < rounds(); i++) {
        const double range[MODEL_PARAMETERS][2] = {
            {-3e3, 3e3},
            {-3e3, 3e3},
            {6e3, 8e3},
            {0, 360},
            {i % 3 ? 50 : 25, i % 3 ? 80 : 25},
            {5e3, 8e3},
            {4e3, 6e3},
            {-180, 180},
            {i % 3 == 1 ? 0.6 : 0, i % 3 == 1 ? 0.6 : 0},
            {0.25, 0.25},
            {i % 4 < 2 ? 1.5 : -2.5, i % 4 < 2 ? 2.5 : -1.5}};
        certified += prove_one(i, range, bits[i % 10]);
    }
    assert_true(certified >= rounds() / 4);
}

/* The checker's responses agree with the model's. */
static void test_quadrature(void **state)
{
    const double x[MODEL_PARAMETERS] = {0, 0, 6e3, 70, 40, 8e3, 7e3, 0, 1, 0.25},
                 place[] = {4e3, -7e3};
    struct dual y[GEOMETRY], u[3][3];
    for (int i = 0; i < GEOMETRY; i++)
        y[i] = number(x[i]);
    fault(y, place, u);
    for (int b = 0; b < 3; b++) {
        double v[3];
        respond(model_with(model_find("okada"), "opening_m", 9), x, b, place, v);
        for (int c = 0; c < 3; c++) /* times -2 pi */
            assert_true(fabs(v[c] + (b < 2 ? 1 : -1) * u[b][c].v.min) < 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remainders), cmocka_unit_test(test_tight_boxes),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_slips),
        cmocka_unit_test(test_quadrature), cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_openings)};
    return cmocka_run_group_tests(tests, job_set_up, job_tear_down);
}
