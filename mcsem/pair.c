/* mcsem/pair.c – geometry becomes weights. */
#include "mcsem/pair.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- depths ---------------------------------------------------------------------------------- */

int pair_layer(const struct earth_layers *layers, double z)
{
    int layer = 0;
    while (layer < layers->n - 1 && layers->z[layer] <= z)
        layer++;
    return layer;
}

int pair_base(const struct earth_layers *layers, double z)
{
    const int below = pair_layer(layers, z) + 1;
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
    view->upper = pair_layer(layers, a);
    view->lower = pair_layer(layers, b);
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

/* Where along the wire's axis the receiver stands, and how far from it, in half lengths. */
static double complex seen_from_wire(const struct survey_pair *pair)
{
    const double axis[3] = {cos(pair->dip) * cos(pair->azimuth),
                            cos(pair->dip) * sin(pair->azimuth), sin(pair->dip)};
    double along = 0, square = 0;
    for (int d = 0; d < 3; d++) {
        const double to = pair->receiver[d] - pair->source[d];
        along += to * axis[d];
        square += to * to;
    }
    const double across = sqrt(fmax(0, square - along * along));
    return (along + I * across) / (0.5 * pair->length);
}

/* The field is analytic along the wire up to the receiver: the rule's error is R^(-2 n), where R is
 * the sum of the half axes of the ellipse through the receiver with foci at the wire's ends. */
int pair_points(const struct survey_pair *pair, double tolerance, double *x, double *weight)
{
    if (pair->length == 0) {
        x[0] = 0;
        weight[0] = 1;
        return 1;
    }
    const double complex z = seen_from_wire(pair), root = csqrt(z * z - 1);
    const double r = fmax(cabs(z + root), cabs(z - root));
    const double points = ceil(log(1 / tolerance) / (2 * log(r))) + 1;
    if (!(points <= PAIR_POINTS))
        return PAIR_POINTS + 1;
    gauss_legendre((int)points, x, weight);
    return (int)points;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* What a point dipole adds to a field: factor / 2 pi int function J_nu l^power dl. */
struct term {
    enum pair_function function;
    int nu, power;
    double factor;
};

/* A point of the wire as the receiver's channel sees it. */
struct point {
    double r;                        /* horizontal offset */
    double psi;                      /* direction to the receiver */
    double source_rho, receiver_rho; /* rho_v of their layers */
    int n;
    struct term term[8];
};

static void add_term(struct point *p, enum pair_function function, int nu, int power, double factor)
{
    if (factor != 0)
        p->term[p->n++] = (struct term){function, nu, power, factor};
}

/* The channel's horizontal part, along the dipole and across it. */
static void turn(const struct survey_pair *pair, double *along, double *across)
{
    const double *u = pair->direction, c = cos(pair->azimuth), s = sin(pair->azimuth);
    *along = u[0] * c + u[1] * s;
    *across = u[1] * c - u[0] * s;
}

/* With phi the angle from the dipole to the receiver, S_n{F} = 1 / 2 pi int F J_n l dl and
 * J2 = 2 J1 / (l r) - J0, a horizontal dipole gives
 *   E along   = -1/2 S0{V + V_te} + 1/2 cos 2 phi S2{V - V_te}
 *   E across  =  1/2 sin 2 phi S2{V - V_te}
 *   E z       =  cos phi rho_v S1{l I}
 * and a vertical one E r = rho_v S1{l V'}, E z = rho_v rho_v S0{l^2 I'}. */
static void see_electric(const struct survey_pair *pair, struct point *p)
{
    double along, across;
    turn(pair, &along, &across);
    const double *u = pair->direction, phi = p->psi - pair->azimuth;
    const double flat = cos(pair->dip), steep = sin(pair->dip);
    const double twice = along * cos(2 * phi) + across * sin(2 * phi);
    const double radial = u[0] * cos(p->psi) + u[1] * sin(p->psi);
    add_term(p, PAIR_V, 0, 1, -0.5 * flat * (along + twice));
    add_term(p, PAIR_V, 1, 0, flat * twice / p->r);
    add_term(p, PAIR_TE_V, 0, 1, -0.5 * flat * (along - twice));
    add_term(p, PAIR_TE_V, 1, 0, -flat * twice / p->r);
    add_term(p, PAIR_I, 1, 2, flat * u[2] * p->receiver_rho * cos(phi));
    add_term(p, PAIR_V1, 1, 2, steep * radial * p->source_rho);
    add_term(p, PAIR_I1, 0, 3, steep * u[2] * p->source_rho * p->receiver_rho);
}

/*   H along   = -1/2 sin 2 phi S2{I - I_te}
 *   H across  = -1/2 S0{I + I_te} + 1/2 cos 2 phi S2{I - I_te}
 *   H z       =  sin phi S1{l V_te} / zhat
 * and of a vertical dipole H phi = rho_v S1{l I'}. */
static void see_magnetic(const struct survey_pair *pair, struct point *p)
{
    double along, across;
    turn(pair, &along, &across);
    const double *u = pair->direction, phi = p->psi - pair->azimuth;
    const double flat = cos(pair->dip), steep = sin(pair->dip);
    const double twice = across * cos(2 * phi) - along * sin(2 * phi);
    const double around = u[1] * cos(p->psi) - u[0] * sin(p->psi);
    add_term(p, PAIR_I, 0, 1, -0.5 * flat * (across + twice));
    add_term(p, PAIR_I, 1, 0, flat * twice / p->r);
    add_term(p, PAIR_TE_I, 0, 1, -0.5 * flat * (across - twice));
    add_term(p, PAIR_TE_I, 1, 0, -flat * twice / p->r);
    add_term(p, PAIR_TE_V, 1, 2, flat * u[2] * sin(phi));
    add_term(p, PAIR_I1, 1, 2, steep * around * p->source_rho);
}

/* Reciprocity for a source below the receiver: V' = -I, I = -V'; TE's I changes its form only. */
static void swap_functions(struct point *p)
{
    for (int k = 0; k < p->n; k++) {
        struct term *t = &p->term[k];
        if (t->function == PAIR_I || t->function == PAIR_V1) {
            t->function = t->function == PAIR_I ? PAIR_V1 : PAIR_I;
            t->factor = -t->factor;
        }
    }
}

/* Adds `share` of a point to the weights; its filter begins `places` wavenumbers up, shifted. */
static void add_point(const struct hankel *h, const struct point *p, double share, int places,
                      double shift, const double *wave, double *weight)
{
    double w[2][HANKEL_POINTS];
    hankel_weights(h, shift, w[0], w[1]);
    for (int k = 0; k < p->n; k++) {
        const struct term *t = &p->term[k];
        const double scale = share * t->factor / (2 * acos(-1) * p->r);
        double *to = weight + (size_t)t->function * PAIR_WAVES + places;
        for (int i = 0; i < h->n; i++) {
            double x = scale * w[t->nu][i];
            for (int power = 0; power < t->power; power++)
                x *= wave[places + i];
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
        FAIL(EK_LACK, "out of memory for the plan of a source-receiver pair");
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

/* The wire's points: offset from its centre x half lengths along its axis. */
struct wire {
    const struct survey_pair *pair;
    int n;
    double x[PAIR_POINTS], share[PAIR_POINTS];
    double z[PAIR_POINTS], r[PAIR_POINTS], psi[PAIR_POINTS];
    double longest; /* largest r */
};

static void place_points(struct wire *w)
{
    const struct survey_pair *p = w->pair;
    const double reach = cos(p->dip) * 0.5 * p->length;
    w->longest = 0;
    for (int k = 0; k < w->n; k++) {
        const double x = p->receiver[0] - p->source[0] - w->x[k] * reach * cos(p->azimuth);
        const double y = p->receiver[1] - p->source[1] - w->x[k] * reach * sin(p->azimuth);
        w->z[k] = p->source[2] + w->x[k] * 0.5 * p->length * sin(p->dip);
        /* straight above the field is even in r: this much changes it by 1e-8 */
        w->r[k] = fmax(hypot(x, y), 1e-4 * fabs(p->receiver[2] - w->z[k]));
        w->psi[k] = atan2(y, x);
        w->longest = fmax(w->longest, w->r[k]);
    }
}

/* Whole filter steps by which a point's grid begins above that of the longest offset. */
static int places_of(const struct hankel *h, const struct wire *w, int k)
{
    return (int)ceil(log(w->longest / w->r[k]) / h->step);
}

/* Wavenumbers for all points; false: too many. */
static bool make_waves(const struct hankel *h, const struct wire *w, struct pair_plan *plan)
{
    int n = 0;
    for (int k = 0; k < w->n; k++) {
        if (!(w->r[k] > 0) || places_of(h, w, k) + h->n > PAIR_WAVES - PAIR_GROUP)
            return false;
        n = places_of(h, w, k) + h->n > n ? places_of(h, w, k) + h->n : n;
    }
    plan->nwaves = (n + PAIR_GROUP - 1) / PAIR_GROUP * PAIR_GROUP;
    for (int i = 0; i < plan->nwaves; i++)
        plan->wave[i] = exp((h->first + i) * h->step) / w->longest;
    return true;
}

/* A level for the point: the last one where the depth is the same. */
static struct pair_level *level_for(struct pair_plan *plan, const struct earth_layers *layers,
                                    const struct wire *w, int k)
{
    if (k && w->z[k] == w->z[k - 1])
        return &plan->level[plan->nlevels - 1];
    struct pair_level *level = &plan->level[plan->nlevels++];
    pair_cut(layers, plan->base, w->z[k], w->pair->receiver[2], &level->view);
    const double source = 1, receiver = w->pair->magnetic ? 0 : 1;
    level->in_lower = level->view.swapped ? source : receiver;
    level->in_upper = level->view.swapped ? receiver : source;
    for (int f = 0; f < PAIR_FUNCTIONS; f++)
        memset(level->weight + (size_t)f * PAIR_WAVES, 0, (size_t)plan->nwaves * sizeof(double));
    return level;
}

static void weigh_point(struct pair_plan *plan, const struct earth_layers *layers,
                        const struct hankel *h, const struct wire *w, int k)
{
    struct pair_level *level = level_for(plan, layers, w, k);
    struct point p = {.r = w->r[k], .psi = w->psi[k]};
    p.source_rho = layers->rho_v[pair_layer(layers, w->z[k])];
    p.receiver_rho = layers->rho_v[pair_layer(layers, w->pair->receiver[2])];
    (w->pair->magnetic ? see_magnetic : see_electric)(w->pair, &p);
    if (level->view.swapped)
        swap_functions(&p);
    const int places = places_of(h, w, k);
    const double shift = places * h->step - log(w->longest / w->r[k]);
    add_point(h, &p, w->share[k], places, shift, plan->wave, level->weight);
}

enum ek_status pair_make(const struct earth_layers *layers, const struct survey_pair *pair,
                         const struct hankel *h, double tolerance, struct pair_plan *plan)
{
    struct wire w = {.pair = pair};
    w.n = pair_points(pair, tolerance, w.x, w.share);
    if (w.n <= PAIR_POINTS)
        place_points(&w);
    if (w.n > PAIR_POINTS || !make_waves(h, &w, plan))
        FAIL(EK_USAGE, "line %zu: the source touches the receiver or passes it too closely",
             pair->line);
    double lowest = pair->receiver[2];
    for (int k = 0; k < w.n; k++)
        lowest = fmax(lowest, w.z[k]);
    plan->layers = layers->n;
    plan->base = pair_base(layers, lowest);
    plan->magnetic = pair->magnetic;
    plan->nlevels = 0;
    for (int k = 0; k < w.n; k++)
        weigh_point(plan, layers, h, &w, k);
    return EK_OK;
}
