/* mcsem/pair.c – geometry becomes weights. */
#include "mcsem/pair.h"
#include "src/kernel.h"

#include "mcsem/kernels/exact_plan.h"
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_POINTS = 32, TURNS = 50 }; /* of a wire's panel, at most; of a search */
#define LEAST_PANEL 1e-5                /* half of it, in half wires */
#define NEAR        1e-2                /* least offset, in vertical distances */
#define TOO_NEAR                                                                                   \
    "the source touches the receiver, or wires are so long for their distance that the sum over "  \
    "them takes more than %d points"
#define ROUNDING   1e-15 /* of sines, for angles in radians are rounded */
#define NULL_SHARE 1e-6  /* of a field, that is none */

/* ---- depths ---------------------------------------------------------------------------------- */

/* The layer that holds z: on an interface the upper one, as what rests on the sea floor is in the
 * sea; but nothing is above the first interface. */
static int layer_at(const struct earth_layers *layers, double z)
{
    int layer = 0;
    while (layer < layers->n - 1 && (layer == 0 || layers->z[layer] < z))
        layer++;
    return layer;
}

/* First layer below depth z, at most the last one. */
static int base_below(const struct earth_layers *layers, double z)
{
    const int below = layer_at(layers, z) + 1;
    return below < layers->n ? below : layers->n - 1;
}

static double top_of(const struct earth_layers *layers, int layer)
{
    return layer ? layers->z[layer - 1] : -INFINITY;
}

static double bottom_of(const struct earth_layers *layers, int layer)
{
    return layer < layers->n - 1 ? layers->z[layer] : INFINITY;
}

/* What lies between depths `from` and `to` of one layer, if it is anything. */
static int add_part(const struct earth_layers *layers, int layer, double from, double to,
                    double *part)
{
    const double top = fmax(from, top_of(layers, layer)), end = fmin(to, bottom_of(layers, layer));
    if (!(end > top))
        return 0;
    part[0] = layers->rho_h[layer];
    part[1] = 1 / layers->rho_h[layer];
    part[2] = layers->rho_v[layer] / layers->rho_h[layer];
    part[3] = end - top;
    part[4] = layer;
    return 1;
}

void pair_cut(const struct earth_layers *layers, int base, double source, double receiver,
              struct pair_view *view)
{
    const double a = fmin(source, receiver), b = fmax(source, receiver);
    const double foot = top_of(layers, base);
    double *part = view->part;
    view->upper = layer_at(layers, a);
    view->lower = layer_at(layers, b);
    view->swapped = source > receiver;
    view->below = view->between = view->above = 0;
    for (int k = base; k >= view->lower; k--)
        view->below += add_part(layers, k, b, foot, part + PAIR_PART * view->below);
    part += PAIR_PART * view->below;
    for (int k = view->lower; k >= view->upper; k--)
        view->between += add_part(layers, k, a, b, part + PAIR_PART * view->between);
    part += PAIR_PART * view->between;
    for (int k = 1; k <= view->upper; k++)
        view->above += add_part(layers, k, layers->z[0], a, part + PAIR_PART * view->above);
}

/* ---- wires ----------------------------------------------------------------------------------- */

/* Gauss-Legendre abscissas and weights on -1 .. 1 by Newton's method; weights sum up to 1. */
static void gauss_legendre(int n, double *x, double *weight)
{
    for (int i = 0; i < n; i++) {
        double at = cos(acos(-1) * (i + 0.75) / (n + 0.5)), slope = 1, move = 1;
        for (int turn = 0; turn < 20 && fabs(move) > 1e-15; turn++) {
            double before = 1, here = at;
            for (int k = 2; k <= n; k++) {
                const double next = ((2 * k - 1) * at * here - (k - 1) * before) / k;
                before = here;
                here = next;
            }
            slope = n * (at * here - before) / (at * at - 1);
            move = here / slope;
            at -= move;
        }
        x[i] = at;
        weight[i] = 1 / ((1 - at * at) * slope * slope);
    }
}

/* All of them that a panel may have. */
static struct {
    pthread_once_t once;
    double x[PANEL_POINTS + 1][PANEL_POINTS], weight[PANEL_POINTS + 1][PANEL_POINTS];
} rules = {.once = PTHREAD_ONCE_INIT};

static void make_rules(void)
{
    for (int n = 1; n <= PANEL_POINTS; n++)
        gauss_legendre(n, rules.x[n], rules.weight[n]);
}

double pair_cosine(double angle)
{
    const double x = cos(angle);
    return fabs(x) < ROUNDING ? 0 : x;
}

double pair_sine(double angle)
{
    const double x = sin(angle);
    return fabs(x) < ROUNDING ? 0 : x;
}

void pair_axis(double azimuth, double dip, double u[3])
{
    u[0] = pair_cosine(dip) * pair_cosine(azimuth);
    u[1] = pair_cosine(dip) * pair_sine(azimuth);
    u[2] = pair_sine(dip);
}

/* A wire, or a point. */
struct wire {
    double centre[3], half[3];
};

static struct wire source_of(const struct survey_pair *p)
{
    const double half = 0.5 * p->length, flat = half * pair_cosine(p->dip);
    return (struct wire){
        {p->source[0], p->source[1], p->source[2]},
        {flat * pair_cosine(p->azimuth), flat * pair_sine(p->azimuth), half * pair_sine(p->dip)}};
}

/* Level: all at one depth. */
static struct wire receiver_of(const struct survey_pair *p)
{
    const double half = 0.5 * p->span / fmax(hypot(p->direction[0], p->direction[1]), 1e-3);
    return (struct wire){{p->receiver[0], p->receiver[1], p->receiver[2]},
                         {half * p->direction[0], half * p->direction[1], 0}};
}

static double product(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool is_point(const struct wire *w)
{
    return product(w->half, w->half) == 0;
}

/* Where along a wire's axis, and how far from it, in half wires, a place of another one is: the
 * middle for t = 0, an end for 1 and -1. */
static double complex seen_from_wire(const struct wire *w, const struct wire *other, double t)
{
    const double square = product(w->half, w->half);
    double to[3];
    for (int d = 0; d < 3; d++)
        to[d] = other->centre[d] + t * other->half[d] - w->centre[d];
    const double along = product(to, w->half) / square;
    return along + I * sqrt(fmax(0, product(to, to) / square - along * along));
}

/* A rule for the sum over a wire from -1 to 1, as it grows. */
struct rule {
    const struct wire *wire, *other; /* from where it is seen */
    double tolerance;
    int n; /* points, more than PAIR_POINTS: it fails */
    double *x, *weight;
};

/* The sum of the half axes of the ellipse with foci at a panel's ends through a place of the other
 * wire. */
static double ellipse(const struct rule *rule, double centre, double half, double t)
{
    const double complex z = (seen_from_wire(rule->wire, rule->other, t) - centre) / half;
    const double complex root = csqrt(z * z - 1);
    return fmax(cabs(z + root), cabs(z - root));
}

/* Points that one panel needs. The field is analytic along the wire up to the other one: the error
 * is R^(-2 n), where R is the sum of the half axes of the least ellipse that meets it. Ellipses are
 * convex, so that there is one minimum along the other wire. */
static double points_of_panel(const struct rule *rule, double centre, double half)
{
    double a = -1, b = 1;
    for (int turn = 0; turn < TURNS && !is_point(rule->other); turn++) {
        const double c = a + (b - a) / 3, d = b - (b - a) / 3;
        const bool right = ellipse(rule, centre, half, c) > ellipse(rule, centre, half, d);
        *(right ? &a : &b) = right ? c : d;
    }
    return ceil(log(1 / rule->tolerance) / (2 * log(ellipse(rule, centre, half, 0.5 * (a + b))))) +
           1;
}

/* Panels over centre - half .. centre + half: halves of halves towards a receiver close by. */
static void add_panels(struct rule *rule, double centre, double half)
{
    const double points = points_of_panel(rule, centre, half);
    if (points > PANEL_POINTS && half > LEAST_PANEL && rule->n <= PAIR_POINTS) {
        add_panels(rule, centre - 0.5 * half, 0.5 * half);
        add_panels(rule, centre + 0.5 * half, 0.5 * half);
        return;
    }
    if (!(points + rule->n <= PAIR_POINTS)) {
        rule->n = PAIR_POINTS + 1;
        return;
    }
    double x[PAIR_POINTS], weight[PAIR_POINTS];
    const int n = (int)points;
    pthread_once(&rules.once, make_rules);
    if (n > PANEL_POINTS)
        gauss_legendre(n, x, weight);
    for (int k = 0; k < n; k++, rule->n++) {
        rule->x[rule->n] = centre + half * (n > PANEL_POINTS ? x[k] : rules.x[n][k]);
        rule->weight[rule->n] = (n > PANEL_POINTS ? weight[k] : rules.weight[n][k]) * half;
    }
}

/* Abscissas in -1 .. 1 and weights that sum up to 1; PAIR_POINTS + 1: more would be needed. At an
 * interface that the wire passes through the field has a kink, or leaps: panels end there. */
static int points_of(const struct wire *wire, const struct wire *other,
                     const struct earth_layers *layers, double tolerance, double *x, double *weight)
{
    const double rise = wire->half[2];
    struct rule rule = {wire, other, tolerance, 0, x, weight};
    double from = -1;
    x[0] = 0;
    weight[0] = 1;
    if (is_point(wire))
        return 1;
    const int first = layer_at(layers, wire->centre[2] - fabs(rise));
    const int last = layer_at(layers, wire->centre[2] + fabs(rise));
    for (int i = first; i <= last; i++) {
        const int k = rise > 0 ? i : first + last - 1 - i; /* in the order along the wire */
        const bool inside = i < last && fabs(layers->z[k] - wire->centre[2]) < fabs(rise);
        const double to = inside ? (layers->z[k] - wire->centre[2]) / rise : 1;
        if (inside || i == last) {
            add_panels(&rule, 0.5 * (from + to), 0.5 * (to - from));
            from = to;
        }
    }
    return rule.n;
}

/* ---- weights --------------------------------------------------------------------------------- */

const struct pair_integral pair_integrals[PAIR_INTEGRALS] = {
    [PAIR_E_TM] = {PAIR_V, PAIR_NONE, 0, 1},
    [PAIR_E_TE] = {PAIR_TE_V, PAIR_NONE, 0, 1},
    [PAIR_E_BOTH] = {PAIR_V, PAIR_TE_V, 1, 0},
    [PAIR_E_UP] = {PAIR_I, PAIR_NONE, 1, 2},
    [PAIR_E_ROD] = {PAIR_V1, PAIR_NONE, 1, 2},
    [PAIR_E_ROD_UP] = {PAIR_I1, PAIR_NONE, 0, 3},
    [PAIR_H_TM] = {PAIR_I, PAIR_NONE, 0, 1},
    [PAIR_H_TE] = {PAIR_TE_I, PAIR_NONE, 0, 1},
    [PAIR_H_BOTH] = {PAIR_I, PAIR_TE_I, 1, 0},
    [PAIR_H_UP] = {PAIR_TE_V, PAIR_NONE, 1, 2},
    [PAIR_H_ROD] = {PAIR_I1, PAIR_NONE, 1, 2},
    [PAIR_LOOP_TM] = {PAIR_I1, PAIR_NONE, 0, 1},
    [PAIR_LOOP_TE] = {PAIR_TE_I1, PAIR_NONE, 0, 1},
    [PAIR_LOOP_BOTH] = {PAIR_TE_I1, PAIR_I1, 1, 0},
    [PAIR_LOOP_UP] = {PAIR_TE_V1, PAIR_NONE, 1, 2},
    [PAIR_LOOP_ROD] = {PAIR_TE_I, PAIR_NONE, 1, 2},
    [PAIR_LOOP_ROD_UP] = {PAIR_TE_V, PAIR_NONE, 0, 3},
};

static int add_term(struct pair_term *term, int n, enum pair_integral_number integral,
                    double factor)
{
    term[n] = (struct pair_term){integral, factor / (2 * acos(-1))};
    return factor != 0 ? n + 1 : n;
}

/* The parts of the channel that count: along and across the dipole, what J2's angle 2 phi makes of
 * them, and along and across the direction to the receiver. */
struct channel {
    double along, across, twice, radial, around, c, s; /* c, s: cos and sin of phi */
};

static struct channel turn(const struct pair_sight *p)
{
    const double *u = p->direction, x = p->x / p->r, y = p->y / p->r;
    struct channel a;
    a.along = u[0] * p->cosine + u[1] * p->sine;
    a.across = u[1] * p->cosine - u[0] * p->sine;
    a.c = x * p->cosine + y * p->sine;
    a.s = y * p->cosine - x * p->sine;
    a.radial = u[0] * x + u[1] * y;
    a.around = u[1] * x - u[0] * y;
    a.twice = p->magnetic && !p->loop
                  ? a.across * (a.c * a.c - a.s * a.s) - a.along * 2 * a.c * a.s
                  : a.along * (a.c * a.c - a.s * a.s) + a.across * 2 * a.c * a.s;
    a.twice *= p->lift * p->lift;
    a.c *= p->lift;
    a.s *= p->lift;
    a.radial *= p->lift;
    a.around *= p->lift;
    return a;
}

/* With phi the angle from the dipole to the receiver, S_n{F} = 1 / 2 pi int F J_n l dl and
 * J2 = 2 J1 / (l r) - J0, a horizontal dipole gives
 *   E along   = -1/2 S0{V + V_te} + 1/2 cos 2 phi S2{V - V_te}
 *   E across  =  1/2 sin 2 phi S2{V - V_te}
 *   E z       =  cos phi rho_v S1{l I}
 * and a vertical one E r = rho_v S1{l V'}, E z = rho_v rho_v S0{l^2 I'}. */
static int see_electric(const struct pair_sight *p, struct pair_term *term)
{
    const struct channel a = turn(p);
    const double up = p->direction[2];
    int n = add_term(term, 0, PAIR_E_TM, -0.5 * p->flat * (a.along + a.twice));
    n = add_term(term, n, PAIR_E_TE, -0.5 * p->flat * (a.along - a.twice));
    n = add_term(term, n, PAIR_E_BOTH, p->flat * a.twice / p->r);
    n = add_term(term, n, PAIR_E_UP, p->flat * up * p->receiver_rho * a.c);
    n = add_term(term, n, PAIR_E_ROD, p->steep * a.radial * p->source_rho);
    return add_term(term, n, PAIR_E_ROD_UP, p->steep * up * p->source_rho * p->receiver_rho);
}

/*   H along   = -1/2 sin 2 phi S2{I - I_te}
 *   H across  = -1/2 S0{I + I_te} + 1/2 cos 2 phi S2{I - I_te}
 *   H z       =  sin phi S1{l V_te} / zhat
 * and of a vertical dipole H phi = rho_v S1{l I'}. */
static int see_magnetic(const struct pair_sight *p, struct pair_term *term)
{
    const struct channel a = turn(p);
    int n = add_term(term, 0, PAIR_H_TM, -0.5 * p->flat * (a.across + a.twice));
    n = add_term(term, n, PAIR_H_TE, -0.5 * p->flat * (a.across - a.twice));
    n = add_term(term, n, PAIR_H_BOTH, p->flat * a.twice / p->r);
    n = add_term(term, n, PAIR_H_UP, p->flat * p->direction[2] * a.s);
    return add_term(term, n, PAIR_H_ROD, p->steep * a.around * p->source_rho);
}

/* H of a magnetic dipole over zhat is dual to E of an electric one: TE for TM, currents of series
 * voltages for voltages of shunt currents, 1 / zhat for rho_v. */
static int see_loop(const struct pair_sight *p, struct pair_term *term)
{
    const struct channel a = turn(p);
    const double up = p->direction[2];
    int n = add_term(term, 0, PAIR_LOOP_TE, -0.5 * p->flat * (a.along + a.twice));
    n = add_term(term, n, PAIR_LOOP_TM, -0.5 * p->flat * (a.along - a.twice));
    n = add_term(term, n, PAIR_LOOP_BOTH, p->flat * a.twice / p->r);
    n = add_term(term, n, PAIR_LOOP_UP, p->flat * up * a.c);
    n = add_term(term, n, PAIR_LOOP_ROD, p->steep * a.radial);
    return add_term(term, n, PAIR_LOOP_ROD_UP, p->steep * up);
}

int pair_terms(const struct pair_sight *sight, struct pair_term *term)
{
    return (sight->loop ? see_loop : sight->magnetic ? see_magnetic : see_electric)(sight, term);
}

struct survey_pair pair_seen(const struct survey_pair *p)
{
    struct survey_pair q = *p;
    if (!p->loop || p->magnetic)
        return q;
    memcpy(q.source, p->receiver, sizeof q.source);
    memcpy(q.receiver, p->source, sizeof q.receiver);
    q.azimuth = atan2(p->direction[1], p->direction[0]);
    q.dip = atan2(p->direction[2], hypot(p->direction[0], p->direction[1]));
    pair_axis(p->azimuth, p->dip, q.direction);
    q.floor[0] = p->floor[1];
    q.floor[1] = p->floor[0];
    q.loop = false;
    q.magnetic = true;
    q.length = p->span;
    q.span = 0;
    return q;
}

double pair_turn(const struct survey_pair *p, double line)
{
    return !p->loop ? 0 : p->magnetic ? line : -line;
}

void pair_factor(const struct survey_pair *p, double line, size_t n, double complex *z)
{
    for (size_t i = 0; p->loop && i < n; i++)
        z[i] *= I * pair_turn(p, line);
}

enum pair_function pair_function_below(enum pair_function function, double *sign)
{
    *sign = function == PAIR_I || function == PAIR_V1 ? -1 : 1;
    return function == PAIR_I ? PAIR_V1 : function == PAIR_V1 ? PAIR_I : function;
}

bool pair_is_null(const struct survey_pair *measured)
{
    const struct survey_pair seen = pair_seen(measured), *pair = &seen;
    static const struct earth_layers whole = {.n = 1, .rho_h = {1}, .rho_v = {1}};
    struct pair_sight sight[PAIR_SIGHTS];
    struct pair_term term[PAIR_TERMS];
    double share[PAIR_SIGHTS], sum[PAIR_INTEGRALS] = {0}, nearest = INFINITY, most = 0;
    const int n = pair_sights(pair, &whole, 1e-2, sight, share);
    for (int k = 0; k < n; k++)
        nearest = fmin(nearest, sight[k].r);
    for (int k = 0; n <= PAIR_SIGHTS && k < n; k++)
        for (int t = pair_terms(&sight[k], term) - 1; t >= 0; t--) {
            const bool both = pair_integrals[term[t].integral].less != PAIR_NONE; /* with 1 / r */
            sum[term[t].integral] +=
                share[k] * term[t].factor * (both ? sight[k].r : 1) * pow(nearest / sight[k].r, 3);
        }
    for (int q = 0; q < PAIR_INTEGRALS; q++)
        most = fmax(most, fabs(sum[q]) * 2 * acos(-1));
    return n <= PAIR_SIGHTS && most < NULL_SHARE;
}

/* Adds what a point's filter, whose weights w of J0 and J1 are, gives to the level's weights. */
static void add_weights(const struct pair_plan *plan, const struct pair_point *p,
                        double w[2][HANKEL_POINTS], double *weight)
{
    for (const struct pair_addition *a = p->addition; a < p->addition + p->additions; a++) {
        double *to = weight + (size_t)EXACT_FUNCTION(a->what) * PAIR_WAVES + p->places;
        for (int i = 0; i < plan->filter->n; i++) {
            double x = a->scale * w[EXACT_NU(a->what)][i];
            for (int n = 0; n < EXACT_POWER(a->what); n++)
                x *= plan->wave[p->places + i];
            to[i] += x;
        }
    }
}

/* ---- plans ----------------------------------------------------------------------------------- */

enum ek_status pair_open(int layers, struct pair_plan *plan)
{
    const size_t parts = (size_t)PAIR_PART * ((size_t)layers + 2);
    const size_t weights = (size_t)PAIR_FUNCTIONS * PAIR_WAVES;
    memset(plan, 0, sizeof *plan);
    plan->room =
        aligned_alloc(64, (PAIR_POINTS * (parts + weights) * sizeof(double) + 63) / 64 * 64);
    if (!plan->room)
        FAIL(EK_UNAVAILABLE, "out of memory for the plan of a source-receiver pair");
    for (int k = 0; k < PAIR_POINTS; k++) {
        plan->level[k].weight = plan->room + (size_t)k * weights;
        plan->level[k].view.part = plan->room + PAIR_POINTS * weights + (size_t)k * parts;
    }
    return EK_OK;
}

void pair_close(struct pair_plan *plan)
{
    free(plan->room);
    plan->room = NULL;
}

/* The points of both wires. */
struct points {
    const struct survey_pair *pair;
    int n;
    double share[PAIR_SIGHTS];
    struct pair_sight sight[PAIR_SIGHTS];
};

/* Almost straight above filters would need wavenumbers without end. The field is even in r, or r
 * times that, or r^2 times that: it follows from those at `near` and a few times as far. */
static int add_sights(struct pair_sight s, double share, double near, struct pair_sight *sight,
                      double *shares)
{
    const double t = s.r / near * (s.r / near);
    const double x = s.r > 0 ? s.x / s.r : 1, y = s.r > 0 ? s.y / s.r : 0;
    for (int k = 0; k < PAIR_NEAR; k++) {
        const double r = near * (1 + k);
        sight[k] = s;
        sight[k].lift = s.r / r;
        sight[k].x = r * x;
        sight[k].y = r * y;
        sight[k].r = r;
        shares[k] = share;
        for (int j = 0; j < PAIR_NEAR; j++) /* Lagrange's weights in r^2 */
            shares[k] *=
                j == k ? 1 : (t - (1 + j) * (1 + j)) / ((1 + k) * (1 + k) - (1 + j) * (1 + j));
    }
    return PAIR_NEAR;
}

/* By how much vertical distances count less than horizontal ones, at most. */
static double flattest(const struct earth_layers *layers)
{
    double least = 1;
    for (int k = 0; k < layers->n; k++)
        least = fmin(least, layers->rho_v[k] / layers->rho_h[k]);
    return sqrt(least);
}

int pair_sights(const struct survey_pair *p, const struct earth_layers *layers, double tolerance,
                struct pair_sight *sight, double *share)
{
    double x[PAIR_POINTS], whole[PAIR_POINTS], along[PAIR_POINTS], part[PAIR_POINTS];
    const struct wire source = source_of(p), receiver = receiver_of(p);
    const int points = points_of(&source, &receiver, layers, tolerance, x, whole);
    struct pair_sight s = {.lift = 1,
                           .cosine = pair_cosine(p->azimuth),
                           .sine = pair_sine(p->azimuth),
                           .flat = pair_cosine(p->dip),
                           .steep = pair_sine(p->dip),
                           .direction = p->direction,
                           .magnetic = p->magnetic,
                           .loop = p->loop,
                           .receiver_rho = layers->rho_v[layer_at(layers, p->receiver[2])]};
    int n = 0;
    if (points > PAIR_POINTS)
        return PAIR_SIGHTS + 1;
    for (int k = 0; k < points; k++) {
        struct wire point = source;
        for (int d = 0; d < 3; d++) {
            point.centre[d] += x[k] * source.half[d];
            point.half[d] = 0;
        }
        const int seen = points_of(&receiver, &point, layers, tolerance, along, part);
        if (seen > PAIR_POINTS)
            return PAIR_SIGHTS + 1;
        double near = NEAR * fabs(p->receiver[2] - point.centre[2]);
        s.z = point.centre[2];
        s.source_rho = layers->rho_v[layer_at(layers, s.z)];
        for (int i = 0; i < seen; i++) {
            s.x = p->receiver[0] + along[i] * receiver.half[0] - point.centre[0];
            s.y = p->receiver[1] + along[i] * receiver.half[1] - point.centre[1];
            s.r = hypot(s.x, s.y);
            if (s.r < near)
                near = NEAR * flattest(layers) * fabs(p->receiver[2] - s.z);
            if (n + (s.r < near ? PAIR_NEAR : 1) > PAIR_SIGHTS)
                return PAIR_SIGHTS + 1;
            if (s.r < near) {
                n += add_sights(s, whole[k] * part[i], near, sight + n, share + n);
            } else {
                share[n] = whole[k] * part[i];
                sight[n++] = s;
            }
        }
    }
    return n;
}

enum ek_status pair_check(const struct survey_pair *p, double tolerance, const char *path)
{
    static const struct earth_layers any = {.n = 1};
    struct pair_sight sight[PAIR_SIGHTS];
    double share[PAIR_SIGHTS];
    const bool here = !memcmp(p->source, p->receiver, sizeof p->source);
    if (p->length == 0 && p->span == 0
            ? here
            : pair_sights(p, &any, tolerance, sight, share) > PAIR_SIGHTS)
        FAIL(EK_USAGE, "%s:%zu: " TOO_NEAR, path, p->line, PAIR_SIGHTS);
    return EK_OK;
}

/* Where each point's filter stands on common wavenumbers, and how many these are; false: too
 * many. */
static bool place_points(const struct hankel *h, const struct points *w, struct pair_plan *plan)
{
    int n = 0;
    plan->filter = h;
    plan->longest = 0;
    for (int k = 0; k < w->n; k++)
        plan->longest = fmax(plan->longest, w->sight[k].r);
    for (int k = 0; k < w->n; k++) {
        struct pair_point *p = &plan->point[k];
        if (!(w->sight[k].r > 0))
            return false;
        const double above = log(plan->longest / w->sight[k].r);
        p->places = (int)ceil(above / h->step);
        p->shift = p->places * h->step - above;
        if (p->places + h->n > PAIR_WAVES - PAIR_GROUP)
            return false;
        n = p->places + h->n > n ? p->places + h->n : n;
    }
    plan->nwaves = (n + PAIR_GROUP - 1) / PAIR_GROUP * PAIR_GROUP;
    return true;
}

/* A level for the point: the last one where the depth is the same. */
static struct pair_level *level_for(struct pair_plan *plan, const struct earth_layers *layers,
                                    const struct points *w, int k)
{
    if (k && w->sight[k].z == w->sight[k - 1].z)
        return &plan->level[plan->nlevels - 1];
    struct pair_level *level = &plan->level[plan->nlevels++];
    pair_cut(layers, plan->base, w->sight[k].z, w->pair->receiver[2], &level->view);
    const double source = w->pair->loop ? 0 : 1, receiver = w->pair->magnetic ? 0 : 1;
    level->in_lower = level->view.swapped ? source : receiver;
    level->in_upper = level->view.swapped ? receiver : source;
    level->points = 0;
    return level;
}

static void add_function(struct pair_point *p, enum pair_function function, int nu, int power,
                         double scale, bool below)
{
    double sign = 1;
    if (below)
        function = pair_function_below(function, &sign);
    p->addition[p->additions++] =
        (struct pair_addition){EXACT_WHAT((int)function, nu, power), sign * scale};
}

static void outline_point(struct pair_plan *plan, const struct earth_layers *layers,
                          const struct points *w, int k)
{
    struct pair_level *level = level_for(plan, layers, w, k);
    struct pair_point *p = &plan->point[k];
    struct pair_term term[PAIR_TERMS];
    const int terms = pair_terms(&w->sight[k], term);
    const bool below = level->view.swapped && !w->pair->loop; /* of these the kernel knows */
    level->points++;
    p->additions = 0;
    for (int t = 0; t < terms; t++) {
        const struct pair_integral *i = &pair_integrals[term[t].integral];
        const double scale = w->share[k] * term[t].factor / w->sight[k].r;
        add_function(p, i->function, i->nu, i->power, scale, below);
        if (i->less != PAIR_NONE)
            add_function(p, i->less, i->nu, i->power, -scale, below);
    }
}

enum ek_status pair_outline(const struct earth_layers *layers, const struct survey_pair *pair,
                            const struct hankel *h, double tolerance, struct pair_plan *plan)
{
    struct points w;
    w.pair = pair;
    w.n = pair_sights(pair, layers, tolerance, w.sight, w.share);
    if (w.n > PAIR_SIGHTS || !place_points(h, &w, plan))
        FAIL(EK_USAGE, "line %zu: " TOO_NEAR, pair->line, PAIR_SIGHTS);
    double lowest = pair->receiver[2];
    for (int k = 0; k < w.n; k++)
        lowest = fmax(lowest, w.sight[k].z);
    plan->layers = layers->n;
    plan->base = base_below(layers, lowest);
    plan->magnetic = pair->loop ? EXACT_LOOP : pair->magnetic ? EXACT_H : EXACT_E;
    plan->nlevels = 0;
    for (int k = 0; k < w.n; k++)
        outline_point(plan, layers, &w, k);
    return EK_OK;
}

enum ek_status pair_make(const struct earth_layers *layers, const struct survey_pair *pair,
                         const struct hankel *h, double tolerance, struct pair_plan *plan)
{
    double weight[2][HANKEL_POINTS];
    TRY(pair_outline(layers, pair, h, tolerance, plan));
    const struct pair_point *p = plan->point;
    for (int i = 0; i < plan->nwaves; i++)
        plan->wave[i] = h->ladder[i] / plan->longest;
    for (struct pair_level *level = plan->level; level < plan->level + plan->nlevels; level++) {
        for (int f = 0; f < PAIR_FUNCTIONS; f++)
            memset(level->weight + (size_t)f * PAIR_WAVES, 0,
                   (size_t)plan->nwaves * sizeof(double));
        for (int k = 0; k < level->points; k++, p++) {
            hankel_weights(h, p->shift, weight[0], weight[1]);
            add_weights(plan, p, weight, level->weight);
        }
    }
    return EK_OK;
}
