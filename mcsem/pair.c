/* mcsem/pair.c – turns the geometry of a pair into weights. */
#include "mcsem/pair.h"
#include "src/kernel.h"

#include "mcsem/kernels/exact_plan.h"
#include <complex.h>
#include <pthread.h>

enum {
    PANEL_POINTS = 32,
    SEARCH_STEPS = 50
};                       /* largest number of points of a panel of a wire; steps of a search */
#define LEAST_PANEL 1e-5 /* half the length of the shortest panel, in half wires */
#define NEAR        1e-2 /* least offset, relative to the vertical distance */
#define TOO_NEAR                                                                                   \
    "the source touches the receiver, or wires are so long for their distance that the sum over "  \
    "them takes more than %d points"
#define ROUNDING   1e-15 /* rounding of sines due to rounded angles in radians */
#define NULL_SHARE 1e-6  /* share of a field that counts as zero */

/* ---- depths ---------------------------------------------------------------------------------- */

/* The layer that contains z. On an interface it is the upper one, since an instrument on the sea
 * floor is in the sea; but points are always below the first interface. */
static int layer_at(const struct earth_layers *layers, double z)
{
    int layer = 0;
    while (layer < layers->n - 1 && (layer == 0 || layers->z[layer] < z))
        layer++;
    return layer;
}

/* The first layer entirely below depth z, or the last one. */
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

/* Adds the part of a layer between two depths; returns 1, or 0 if there is none. */
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

/* Gauss-Legendre abscissas and weights on -1 .. 1, by Newton's method; the weights add up to 1. */
static void gauss_legendre(int n, double *x, double *weight)
{
    for (int i = 0; i < n; i++) {
        double at = cos(acos(-1) * (i + 0.75) / (n + 0.5)), slope = 1, move = 1;
        for (int step = 0; step < 20 && fabs(move) > 1e-15; step++) {
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

/* All rules that a panel may use. */
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

/* A wire, or a point (half = 0). */
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

/* Receivers' wires are horizontal. */
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

/* Position of a point of another wire relative to this one, in half lengths: along the axis, plus i
 * times the distance from the axis. t = 0: the other's middle, -1 and 1: its ends. */
static double complex seen_from_wire(const struct wire *w, const struct wire *other, double t)
{
    const double square = product(w->half, w->half);
    double to[3];
    for (int d = 0; d < 3; d++)
        to[d] = other->centre[d] + t * other->half[d] - w->centre[d];
    const double along = product(to, w->half) / square;
    return along + I * sqrt(fmax(0, product(to, to) / square - along * along));
}

/* A quadrature rule on -1 .. 1 along a wire, under construction. */
struct rule {
    const struct wire *wire, *other; /* the other wire, whose distance determines the panels */
    double tolerance;
    int n; /* number of points; more than PAIR_POINTS: failed */
    double *x, *weight;
};

/* Sum of the semi-axes of the ellipse with foci at a panel's ends that passes through a point of
 * the other wire: 1 on the panel itself, which rounding must not lower. */
static double ellipse(const struct rule *rule, double centre, double half, double t)
{
    const double complex z = (seen_from_wire(rule->wire, rule->other, t) - centre) / half;
    const double complex root = csqrt(z * z - 1);
    return fmax(1, fmax(cabs(z + root), cabs(z - root)));
}

/* Number of points that a panel needs. The field is analytic along the wire up to the other one:
 * the error is R^(-2 n), with R the sum of the semi-axes of the smallest ellipse that meets the
 * other wire. Ellipses are convex, so there is one minimum along that wire. */
static double points_of_panel(const struct rule *rule, double centre, double half)
{
    double a = -1, b = 1;
    for (int step = 0; step < SEARCH_STEPS && !is_point(rule->other); step++) {
        const double c = a + (b - a) / 3, d = b - (b - a) / 3;
        const bool right = ellipse(rule, centre, half, c) > ellipse(rule, centre, half, d);
        *(right ? &a : &b) = right ? c : d;
    }
    return ceil(log(1 / rule->tolerance) / (2 * log(ellipse(rule, centre, half, 0.5 * (a + b))))) +
           1;
}

/* Adds panels on centre - half .. centre + half, halved repeatedly towards a receiver nearby. */
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

/* Abscissas in -1 .. 1 and weights that add up to 1; returns their number, PAIR_POINTS + 1 if more
 * would be needed. The field has a kink or a step where the wire crosses an interface: panels end
 * there. */
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
        const int k = rise > 0 ? i : first + last - 1 - i; /* in order along the wire */
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
    [PAIR_E_Z] = {PAIR_I, PAIR_NONE, 1, 2},
    [PAIR_E_VED] = {PAIR_V1, PAIR_NONE, 1, 2},
    [PAIR_E_VED_Z] = {PAIR_I1, PAIR_NONE, 0, 3},
    [PAIR_H_TM] = {PAIR_I, PAIR_NONE, 0, 1},
    [PAIR_H_TE] = {PAIR_TE_I, PAIR_NONE, 0, 1},
    [PAIR_H_BOTH] = {PAIR_I, PAIR_TE_I, 1, 0},
    [PAIR_H_Z] = {PAIR_TE_V, PAIR_NONE, 1, 2},
    [PAIR_H_VED] = {PAIR_I1, PAIR_NONE, 1, 2},
    [PAIR_LOOP_TM] = {PAIR_I1, PAIR_NONE, 0, 1},
    [PAIR_LOOP_TE] = {PAIR_TE_I1, PAIR_NONE, 0, 1},
    [PAIR_LOOP_BOTH] = {PAIR_TE_I1, PAIR_I1, 1, 0},
    [PAIR_LOOP_Z] = {PAIR_TE_V1, PAIR_NONE, 1, 2},
    [PAIR_LOOP_VMD] = {PAIR_TE_I, PAIR_NONE, 1, 2},
    [PAIR_LOOP_VMD_Z] = {PAIR_TE_V, PAIR_NONE, 0, 3},
};

static int add_term(struct pair_term *term, int n, enum pair_integral_number integral,
                    double factor)
{
    term[n] = (struct pair_term){integral, factor / (2 * acos(-1))};
    return factor != 0 ? n + 1 : n;
}

/* Components of the channel: along and across the dipole, along and around the direction to the
 * receiver, and the combination that multiplies J2. */
struct channel {
    double along, across, twice, radial, around, c, s; /* c, s: cos and sin of phi */
};

static struct channel project_channel(const struct pair_element *p)
{
    const double *u = p->direction, x = p->x / p->r, y = p->y / p->r;
    struct channel a;
    a.along = u[0] * p->cos_azimuth + u[1] * p->sin_azimuth;
    a.across = u[1] * p->cos_azimuth - u[0] * p->sin_azimuth;
    a.c = x * p->cos_azimuth + y * p->sin_azimuth;
    a.s = y * p->cos_azimuth - x * p->sin_azimuth;
    a.radial = u[0] * x + u[1] * y;
    a.around = u[1] * x - u[0] * y;
    a.twice = p->magnetic && !p->loop
                  ? a.across * (a.c * a.c - a.s * a.s) - a.along * 2 * a.c * a.s
                  : a.along * (a.c * a.c - a.s * a.s) + a.across * 2 * a.c * a.s;
    a.twice *= p->odd_scale * p->odd_scale;
    a.c *= p->odd_scale;
    a.s *= p->odd_scale;
    a.radial *= p->odd_scale;
    a.around *= p->odd_scale;
    return a;
}

/* With phi the angle from the dipole to the receiver, S_n{F} = 1 / 2 pi int F J_n l dl and J2 = 2
 * J1 / (l r) - J0, a horizontal dipole gives
 *   E along   = -1/2 S0{V + V_te} + 1/2 cos 2 phi S2{V - V_te}
 *   E across  =  1/2 sin 2 phi S2{V - V_te}
 *   E z       =  cos phi rho_v S1{l I}
 * and a vertical one E r = rho_v S1{l V'}, E z = rho_v rho_v S0{l^2 I'}. */
static int electric_terms(const struct pair_element *p, struct pair_term *term)
{
    const struct channel a = project_channel(p);
    const double up = p->direction[2];
    int n = add_term(term, 0, PAIR_E_TM, -0.5 * p->cos_dip * (a.along + a.twice));
    n = add_term(term, n, PAIR_E_TE, -0.5 * p->cos_dip * (a.along - a.twice));
    n = add_term(term, n, PAIR_E_BOTH, p->cos_dip * a.twice / p->r);
    n = add_term(term, n, PAIR_E_Z, p->cos_dip * up * p->receiver_rho * a.c);
    n = add_term(term, n, PAIR_E_VED, p->sin_dip * a.radial * p->source_rho);
    return add_term(term, n, PAIR_E_VED_Z, p->sin_dip * up * p->source_rho * p->receiver_rho);
}

/*   H along   = -1/2 sin 2 phi S2{I - I_te}
 *   H across  = -1/2 S0{I + I_te} + 1/2 cos 2 phi S2{I - I_te}
 *   H z       =  sin phi S1{l V_te} / zhat
 * and for a vertical dipole H phi = rho_v S1{l I'}. */
static int magnetic_terms(const struct pair_element *p, struct pair_term *term)
{
    const struct channel a = project_channel(p);
    int n = add_term(term, 0, PAIR_H_TM, -0.5 * p->cos_dip * (a.across + a.twice));
    n = add_term(term, n, PAIR_H_TE, -0.5 * p->cos_dip * (a.across - a.twice));
    n = add_term(term, n, PAIR_H_BOTH, p->cos_dip * a.twice / p->r);
    n = add_term(term, n, PAIR_H_Z, p->cos_dip * p->direction[2] * a.s);
    return add_term(term, n, PAIR_H_VED, p->sin_dip * a.around * p->source_rho);
}

/* H of a magnetic dipole over zhat is dual to E of an electric one: TE replaces TM, currents of
 * series voltages replace voltages of shunt currents, 1 / zhat replaces rho_v. */
static int loop_terms(const struct pair_element *p, struct pair_term *term)
{
    const struct channel a = project_channel(p);
    const double up = p->direction[2];
    int n = add_term(term, 0, PAIR_LOOP_TE, -0.5 * p->cos_dip * (a.along + a.twice));
    n = add_term(term, n, PAIR_LOOP_TM, -0.5 * p->cos_dip * (a.along - a.twice));
    n = add_term(term, n, PAIR_LOOP_BOTH, p->cos_dip * a.twice / p->r);
    n = add_term(term, n, PAIR_LOOP_Z, p->cos_dip * up * a.c);
    n = add_term(term, n, PAIR_LOOP_VMD, p->sin_dip * a.radial);
    return add_term(term, n, PAIR_LOOP_VMD_Z, p->sin_dip * up);
}

int pair_terms(const struct pair_element *element, struct pair_term *term)
{
    return (element->loop       ? loop_terms
            : element->magnetic ? magnetic_terms
                                : electric_terms)(element, term);
}

struct survey_pair pair_reciprocal(const struct survey_pair *p)
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

double pair_loop_factor(const struct survey_pair *p, double line)
{
    return !p->loop ? 0 : p->magnetic ? line : -line;
}

void pair_scale_loop(const struct survey_pair *p, double line, size_t n, double complex *z)
{
    for (size_t i = 0; p->loop && i < n; i++)
        z[i] *= I * pair_loop_factor(p, line);
}

enum pair_function pair_function_below(enum pair_function function, double *sign)
{
    *sign = function == PAIR_I || function == PAIR_V1 ? -1 : 1;
    return function == PAIR_I ? PAIR_V1 : function == PAIR_V1 ? PAIR_I : function;
}

bool pair_is_null(const struct survey_pair *measured)
{
    const struct survey_pair seen = pair_reciprocal(measured), *pair = &seen;
    static const struct earth_layers whole = {.n = 1, .rho_h = {1}, .rho_v = {1}};
    struct pair_element element[PAIR_ELEMENTS];
    struct pair_term term[PAIR_TERMS];
    double share[PAIR_ELEMENTS], sum[PAIR_INTEGRALS] = {0}, nearest = INFINITY, most = 0;
    const int n = pair_elements(pair, &whole, 1e-2, element, share);
    for (int k = 0; k < n; k++)
        nearest = fmin(nearest, element[k].r);
    for (int k = 0; n <= PAIR_ELEMENTS && k < n; k++)
        for (int t = pair_terms(&element[k], term) - 1; t >= 0; t--) {
            const bool both =
                pair_integrals[term[t].integral].less != PAIR_NONE; /* it has a factor 1 / r */
            sum[term[t].integral] += share[k] * term[t].factor * (both ? element[k].r : 1) *
                                     pow(nearest / element[k].r, 3);
        }
    for (int q = 0; q < PAIR_INTEGRALS; q++)
        most = fmax(most, fabs(sum[q]) * 2 * acos(-1));
    return n <= PAIR_ELEMENTS && most < NULL_SHARE;
}

/* Adds a point, whose filter weights of J0 and J1 are w, to the level's weights. */
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

/* The elements of a pair. */
struct points {
    const struct survey_pair *pair;
    int n;
    double share[PAIR_ELEMENTS];
    struct pair_element element[PAIR_ELEMENTS];
};

/* Almost straight above the receiver a filter would need unlimited wavenumbers. There the field is
 * even in r, or r or r^2 times an even function, and is interpolated from offsets `near` and its
 * multiples. */
static int add_near_elements(struct pair_element s, double share, double near,
                             struct pair_element *element, double *shares)
{
    const double t = s.r / near * (s.r / near);
    const double x = s.r > 0 ? s.x / s.r : 1, y = s.r > 0 ? s.y / s.r : 0;
    for (int k = 0; k < PAIR_NEAR; k++) {
        const double r = near * (1 + k);
        element[k] = s;
        element[k].odd_scale = s.r / r;
        element[k].x = r * x;
        element[k].y = r * y;
        element[k].r = r;
        shares[k] = share;
        for (int j = 0; j < PAIR_NEAR; j++) /* Lagrange weights in r^2 */
            shares[k] *=
                j == k ? 1 : (t - (1 + j) * (1 + j)) / ((1 + k) * (1 + k) - (1 + j) * (1 + j));
    }
    return PAIR_NEAR;
}

/* The least factor by which anisotropy shortens vertical distances. */
static double flattest(const struct earth_layers *layers)
{
    double least = 1;
    for (int k = 0; k < layers->n; k++)
        least = fmin(least, layers->rho_v[k] / layers->rho_h[k]);
    return sqrt(least);
}

int pair_elements(const struct survey_pair *p, const struct earth_layers *layers, double tolerance,
                  struct pair_element *element, double *share)
{
    double x[PAIR_POINTS], whole[PAIR_POINTS], along[PAIR_POINTS], part[PAIR_POINTS];
    const struct wire source = source_of(p), receiver = receiver_of(p);
    const int points = points_of(&source, &receiver, layers, tolerance, x, whole);
    struct pair_element s = {.odd_scale = 1,
                             .cos_azimuth = pair_cosine(p->azimuth),
                             .sin_azimuth = pair_sine(p->azimuth),
                             .cos_dip = pair_cosine(p->dip),
                             .sin_dip = pair_sine(p->dip),
                             .direction = p->direction,
                             .magnetic = p->magnetic,
                             .loop = p->loop,
                             .receiver_rho = layers->rho_v[layer_at(layers, p->receiver[2])]};
    int n = 0;
    if (points > PAIR_POINTS)
        return PAIR_ELEMENTS + 1;
    for (int k = 0; k < points; k++) {
        struct wire point = source;
        for (int d = 0; d < 3; d++) {
            point.centre[d] += x[k] * source.half[d];
            point.half[d] = 0;
        }
        const int seen = points_of(&receiver, &point, layers, tolerance, along, part);
        if (seen > PAIR_POINTS)
            return PAIR_ELEMENTS + 1;
        double near = NEAR * fabs(p->receiver[2] - point.centre[2]);
        s.z = point.centre[2];
        s.source_rho = layers->rho_v[layer_at(layers, s.z)];
        for (int i = 0; i < seen; i++) {
            s.x = p->receiver[0] + along[i] * receiver.half[0] - point.centre[0];
            s.y = p->receiver[1] + along[i] * receiver.half[1] - point.centre[1];
            s.r = hypot(s.x, s.y);
            if (s.r < near)
                near = NEAR * flattest(layers) * fabs(p->receiver[2] - s.z);
            if (n + (s.r < near ? PAIR_NEAR : 1) > PAIR_ELEMENTS)
                return PAIR_ELEMENTS + 1;
            if (s.r < near) {
                n += add_near_elements(s, whole[k] * part[i], near, element + n, share + n);
            } else {
                share[n] = whole[k] * part[i];
                element[n++] = s;
            }
        }
    }
    return n;
}

enum ek_status pair_check(const struct survey_pair *p, double tolerance, const char *path)
{
    static const struct earth_layers any = {.n = 1};
    struct pair_element element[PAIR_ELEMENTS];
    double share[PAIR_ELEMENTS];
    const bool here = !memcmp(p->source, p->receiver, sizeof p->source);
    if (p->length == 0 && p->span == 0
            ? here
            : pair_elements(p, &any, tolerance, element, share) > PAIR_ELEMENTS)
        FAIL(EK_USAGE, "%s:%zu: " TOO_NEAR, path, p->line, PAIR_ELEMENTS);
    return EK_OK;
}

/* Places the points' filters on common wavenumbers; false: too many wavenumbers. */
static bool place_points(const struct hankel *h, const struct points *w, struct pair_plan *plan)
{
    int n = 0;
    plan->filter = h;
    plan->longest = 0;
    for (int k = 0; k < w->n; k++)
        plan->longest = fmax(plan->longest, w->element[k].r);
    plan->longest *= exp(plan->lead * h->step);
    for (int k = 0; k < w->n; k++) {
        struct pair_point *p = &plan->point[k];
        if (!(w->element[k].r > 0))
            return false;
        const double above = log(plan->longest / w->element[k].r);
        p->places = (int)ceil(above / h->step);
        p->shift = p->places * h->step - above;
        if (p->places + h->n > PAIR_WAVES - PAIR_GROUP)
            return false;
        n = p->places + h->n > n ? p->places + h->n : n;
    }
    plan->nwaves = (n + PAIR_GROUP - 1) / PAIR_GROUP * PAIR_GROUP;
    return true;
}

/* The level of element k: the last one if the depth is the same, else a new one. */
static struct pair_level *level_for(struct pair_plan *plan, const struct earth_layers *layers,
                                    const struct points *w, int k)
{
    if (k && w->element[k].z == w->element[k - 1].z)
        return &plan->level[plan->nlevels - 1];
    struct pair_level *level = &plan->level[plan->nlevels++];
    pair_cut(layers, plan->base, w->element[k].z, w->pair->receiver[2], &level->view);
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
    const int terms = pair_terms(&w->element[k], term);
    const bool below =
        level->view.swapped && !w->pair->loop; /* the kernel handles swapped loops itself */
    level->points++;
    p->additions = 0;
    for (int t = 0; t < terms; t++) {
        const struct pair_integral *i = &pair_integrals[term[t].integral];
        const double scale = w->share[k] * term[t].factor / w->element[k].r;
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
    w.n = pair_elements(pair, layers, tolerance, w.element, w.share);
    if (w.n > PAIR_ELEMENTS || !place_points(h, &w, plan))
        FAIL(EK_USAGE, "line %zu: " TOO_NEAR, pair->line, PAIR_ELEMENTS);
    double lowest = pair->receiver[2];
    for (int k = 0; k < w.n; k++)
        lowest = fmax(lowest, w.element[k].z);
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
