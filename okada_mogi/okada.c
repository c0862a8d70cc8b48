/* okada_mogi/okada.c – the model of a rectangular fault: conventions, constraints, host code. */
#include "src/lanes.h"
#include "src/lanes_math.h"
#include "okada_mogi/kernels/okada.h"
#include "okada_mogi/angle.h"
#include "okada_mogi/model.h"
#include "okada_mogi/okada_textbook.h"

enum { EC, NC, TOP, STRIKE, DIP, LENGTH, WIDTH, RAKE, SLIP, NU, OPENING };
enum { REFERENCE = OPENING, RIGIDITY, PLACED_OPENING = RIGIDITY }; /* indices in other forms */
enum { MAGNITUDE = SLIP, STRIKE_SLIP = RAKE, DIP_SLIP = SLIP };
enum { PLACED_FORM = 1, BY_MAGNITUDE = 2, BY_COMPONENTS = 4 }; /* bits of struct model's form */

static void derive_strike(double degrees, double *value)
{
    angle_sincos(degrees, &value[0], &value[1]);
}

/* Sine, cosine, kappa, 1 / cosine. The last two stay finite at a vertical dip, where they are used
 * only in products with numbers as small as kappa. */
static void derive_dip(double degrees, double *value)
{
    angle_sincos(degrees, &value[0], &value[1]);
    const double c = value[1] > 1e-30 ? value[1] : 1e-30;
    value[2] = c / (1 + value[0]);
    value[3] = 1 / c;
}

static void derive_length(double length, double *value)
{
    value[0] = length / 2;
}

static void derive_medium(double nu, double *value)
{
    *value = 2 * (1 - 2 * nu);
}

/* The point that Ec, Nc refer to, along strike and up dip from the fault's middle, in lengths and
 * widths; and how far below the upper edge d is measured, in widths down dip. */
static const double references[][3] = {
    {0, 0, 0},      /* centre: coordinates of the middle, depth of the upper edge */
    {0, 0.5, 0},    /* top: middle of the upper edge */
    {-0.5, 0.5, 0}, /* corner: start of the upper edge */
    {0, 0, 0.5},    /* centroid: coordinates and depth of the middle */
};

static void derive_reference(double number, double *value)
{
    for (int i = 0; i < 3; i++)
        value[i] = references[(int)number][i];
}

/* A parameter that is no geometry: a direction or the amplitude. */
#define FREE(name, role, least, most)                                                              \
    {                                                                                              \
        name, role, least, most, 0, .derive = NULL                                                 \
    }
#define RAKED       FREE("rake_deg", MODEL_DIRECTION, -720, 720)
#define SLIPS(role) RAKED, FREE("slip_m", role, -1e4, 1e4)
#define WITHOUT(name, role, nvalues, from, least, most, otherwise)                                 \
    {                                                                                              \
        name, role, least, most, nvalues, from, .optional = true, .usual = otherwise               \
    }
#define OPENS  WITHOUT("opening_m", MODEL_DIRECTION, 0, NULL, -1e4, 1e4, 0)
#define PLACED WITHOUT("reference", MODEL_GEOMETRY, 3, derive_reference, 0, 3, 0)
#define PARAMETERS(...)                                                                            \
    {"Ec_m", MODEL_GEOMETRY, -1e9, 1e9, 1, .derive = NULL},                                        \
        {"Nc_m", MODEL_GEOMETRY, -1e9, 1e9, 1, .derive = NULL},                                    \
        {"d_m", MODEL_GEOMETRY, 0, 1e7, 1, .derive = NULL},                                        \
        {"strike_deg", MODEL_GEOMETRY, -720, 720, 2, .derive = derive_strike},                     \
        {"dip_deg", MODEL_GEOMETRY, 0, 90, 4, .derive = derive_dip},                               \
        {"L_m", MODEL_GEOMETRY, 1e-3, 1e7, 1, .derive = derive_length},                            \
        {"W_m", MODEL_GEOMETRY, 1e-3, 1e7, 1, .derive = NULL}, __VA_ARGS__,                        \
        WITHOUT("nu", MODEL_GEOMETRY, 1, derive_medium, -1, 0.5, 0.25)

static const struct model_parameter
    parameters[] = {PARAMETERS(SLIPS(MODEL_AMPLITUDE))},
    opening[] = {PARAMETERS(SLIPS(MODEL_DIRECTION)), OPENS},
    placed[] = {PARAMETERS(SLIPS(MODEL_AMPLITUDE)), PLACED},
    placed_opening[] = {PARAMETERS(SLIPS(MODEL_DIRECTION)), PLACED, OPENS},
    by_magnitude[] = {PARAMETERS(RAKED, FREE("Mw", MODEL_DIRECTION, -10, 12)), PLACED,
                      WITHOUT("rigidity_Pa", MODEL_DIRECTION, 0, NULL, 1, 1e15, 30e9)},
    by_components[] = {PARAMETERS(FREE("strike_slip_m", MODEL_DIRECTION, -1e4, 1e4),
                                  FREE("dip_slip_m", MODEL_DIRECTION, -1e4, 1e4)),
                       PLACED};

enum { VECTORS = MODEL_LANES / LANES };

FN void respond_bases(const double *const *value, const double *east, const double *north,
                      int bases, double *out)
{
    struct okada_terms t[VECTORS];
    lanes x[VECTORS][OKADA_VALUES], u[9];
    for (int i = 0; i < VECTORS; i++) {
        for (int p = 0; p < OKADA_VALUES; p++)
            x[i][p] = LOAD(value[p], i * LANES);
        okada_algebra(x[i], LOAD(east, i * LANES), LOAD(north, i * LANES), &t[i]);
        /* Force these through memory: otherwise, if one vector holds all lanes, the compiler shares
         * products with okada_displace() and contracts other multiply-adds than with two vectors,
         * so that instruction levels would differ in the last bit. */
        __asm__("" : "+m"(x[i]), "+m"(t[i]));
    }
    for (int i = 0; i < VECTORS; i++)
        okada_functions(&t[i]);
    for (int i = 0; i < VECTORS; i++) {
        okada_displace(x[i], LOAD(east, i * LANES), LOAD(north, i * LANES), &t[i], bases, u);
        for (int k = 0; k < 3 * bases; k++)
            STORE(out, k * MODEL_LANES + i * LANES, u[k]);
    }
}

enum { FAULT_ALONG = OKADA_VALUES, FAULT_UP, FAULT_DOWN }; /* values of the reference point */

/* Converts faults given by another reference point: of [OKADA_VALUES] are their values by centre
 * and upper edge; the new ones are stored in `place`. */
static void find_middles(const double *const *value, double (*place)[MODEL_LANES],
                         const double **of)
{
    for (int v = 0; v < OKADA_VALUES; v++)
        of[v] = v <= OKADA_TOP ? place[v] : value[v];
    for (int l = 0; l < MODEL_LANES; l++) {
        const double along = value[FAULT_ALONG][l] * 2 * of[OKADA_HALF][l],
                     up = value[FAULT_UP][l] * of[OKADA_WIDTH][l] * of[OKADA_C][l],
                     down = value[FAULT_DOWN][l] * of[OKADA_WIDTH][l] * of[OKADA_S][l],
                     top = value[OKADA_TOP][l] - down, ss = of[OKADA_SS][l], cs = of[OKADA_CS][l];
        place[OKADA_EC][l] = value[OKADA_EC][l] - along * ss + up * cs;
        place[OKADA_NC][l] = value[OKADA_NC][l] - along * cs - up * ss;
        place[OKADA_TOP][l] = top > 0 ? top : 0;
    }
}

/* The plain forms, without a reference point, are the ones that devices can run, too. */
static void respond(const struct model *m, const double *const *value, const double *east,
                    const double *north, double *out)
{
    (void)m;
    respond_bases(value, east, north, 2, out);
}

static void respond_opening(const struct model *m, const double *const *value, const double *east,
                            const double *north, double *out)
{
    (void)m;
    respond_bases(value, east, north, 3, out);
}

/* With Mw as a parameter, responses are per unit of potency (moment / rigidity, m^3). */
static void respond_placed(const struct model *m, const double *const *value, const double *east,
                           const double *north, double *out)
{
    _Alignas(MODEL_ALIGN) double place[3][MODEL_LANES];
    const double *of[OKADA_VALUES];
    find_middles(value, place, of);
    (m->nbasis == 2 ? respond : respond_opening)(m, of, east, north, out);
    for (int k = 0; k < 6 && m->form & BY_MAGNITUDE; k++)
        for (int l = 0; l < MODEL_LANES; l++)
            out[k * MODEL_LANES + l] /= 2 * value[OKADA_HALF][l] * value[OKADA_WIDTH][l];
}

static const double per_turn = 0x1.45f306dc9c883p-3; /* 1 / (2 pi) */

/* Index of the opening parameter; 0: this form has none. */
static int opening_of(const struct model *m)
{
    return m->nbasis < 3 ? 0 : m->form & PLACED_FORM ? PLACED_OPENING : OPENING;
}

/* Slip along strike and up dip, and opening; times the factor of 1 / (2 pi) and the sign that the
 * kernel's responses lack. */
static void weigh(const struct model *m, const double *x, double *w)
{
    const double amplitude = m->form & BY_MAGNITUDE
                                 ? pow(10, 1.5 * x[MAGNITUDE] + 9.1) / x[RIGIDITY]
                             : opening_of(m) ? x[SLIP]
                                             : 1;
    if (m->form & BY_COMPONENTS) {
        w[0] = -per_turn * x[STRIKE_SLIP];
        w[1] = -per_turn * x[DIP_SLIP];
        return;
    }
    angle_sincos(x[RAKE], &w[1], &w[0]);
    for (int b = 0; b < 2; b++)
        w[b] = w[b] * -per_turn * amplitude;
    if (opening_of(m))
        w[2] = per_turn * x[opening_of(m)];
}

/* Converts a fault to coordinates of its middle and depth of its upper edge; false: it would reach
 * above the ground. */
static bool place_middle(const double *x, double *y)
{
    const double *r = references[(int)x[REFERENCE]];
    double ss, cs, s, c;
    angle_sincos(x[STRIKE], &ss, &cs);
    angle_sincos(x[DIP], &s, &c);
    const double along = r[0] * x[LENGTH], up = r[1] * x[WIDTH] * c,
                 top = x[TOP] - r[2] * x[WIDTH] * s;
    memcpy(y, x, REFERENCE * sizeof *y);
    y[EC] = x[EC] - along * ss + up * cs;
    y[NC] = x[NC] - along * cs - up * ss;
    y[TOP] = top > 0 ? top : 0;
    return top >= -1e-9 * x[WIDTH];
}

/* The fault by its middle and upper edge: x itself, or in scratch [REFERENCE]. */
static const double *middle_of(const struct model *m, const double *x, double *scratch)
{
    if (!(m->form & PLACED_FORM))
        return x;
    place_middle(x, scratch);
    return scratch;
}

/* The displacement jumps where the fault reaches the ground, and is unbounded at the ends of such a
 * trace; rounding would decide to which side of the trace a point belongs. */
static bool undefined(const struct model *m, const double *value, double east, double north,
                      double height)
{
    const double half = value[OKADA_HALF], width = value[OKADA_WIDTH], near = 1e-9 * (half + width);
    const double ss = value[OKADA_SS], cs = value[OKADA_CS], s = value[OKADA_S], c = value[OKADA_C];
    const bool referred = m->form & PLACED_FORM;
    const double top = value[OKADA_TOP] + height - (referred ? value[FAULT_DOWN] * width * s : 0);
    if (top > near)
        return false;
    const double along = referred ? value[FAULT_ALONG] * 2 * half : 0,
                 up = referred ? value[FAULT_UP] * width * c : 0;
    const double e = east - value[OKADA_EC] + along * ss - up * cs,
                 n = north - value[OKADA_NC] + along * cs + up * ss;
    const double y = n * ss - e * cs - 0.5 * c * width, eta = y * c + top * s;
    return fabs(y * s - top * c) < near && fabs(e * ss + n * cs) < half + near &&
           eta > -width - near && eta < near;
}

static double textbook(const struct model *m, const double *x, double east, double north,
                       double height, double *u)
{
    double scratch[REFERENCE];
    const double *y = middle_of(m, x, scratch);
    struct okada_fault f = {.east = y[EC],
                            .north = y[NC],
                            .top = y[TOP] + height,
                            .length = x[LENGTH],
                            .width = x[WIDTH],
                            .nu = x[NU]};
    angle_sincos(x[STRIKE], &f.ss, &f.cs);
    angle_sincos(x[DIP], &f.s, &f.c);
    if (m->form & BY_COMPONENTS) {
        f.slip[0] = x[STRIKE_SLIP];
        f.slip[1] = x[DIP_SLIP];
    } else {
        const double slip = m->form & BY_MAGNITUDE ? pow(10, 1.5 * x[MAGNITUDE] + 9.1) /
                                                         (x[RIGIDITY] * x[LENGTH] * x[WIDTH])
                                                   : x[SLIP];
        angle_sincos(x[RAKE], &f.slip[1], &f.slip[0]);
        f.slip[0] *= slip;
        f.slip[1] *= slip;
        f.slip[2] = opening_of(m) ? x[opening_of(m)] : 0;
    }
    return okada_textbook(&f, east, north, u);
}

static int outline(const struct model *m, const double *x, double corner[MODEL_CORNERS][2])
{
    static const double along[] = {-0.5, 0.5, 0.5, -0.5}, up[] = {0.5, 0.5, -0.5, -0.5};
    double scratch[REFERENCE], ss, cs, s, c;
    x = middle_of(m, x, scratch);
    angle_sincos(x[STRIKE], &ss, &cs);
    angle_sincos(x[DIP], &s, &c);
    for (int i = 0; i < 4; i++) {
        const double l = along[i] * x[LENGTH], w = up[i] * x[WIDTH] * c;
        corner[i][0] = x[EC] + l * ss - w * cs;
        corner[i][1] = x[NC] + l * cs + w * ss;
    }
    return 4;
}

/* ---- constraints ------------------------------------------------------------------------------*/

static bool below_ground(const struct model_case *c)
{
    double y[REFERENCE];
    return c->x[REFERENCE] == floor(c->x[REFERENCE]) && place_middle(c->x, y);
}

static bool within(double value, const double *limits)
{
    return value > limits[0] && value < limits[1];
}

static bool length_over_width(const struct model_case *c)
{
    return within(c->x[LENGTH] / c->x[WIDTH], c->number);
}

static bool slip_over_length(const struct model_case *c)
{
    return within(fabs(c->x[SLIP]) / c->x[LENGTH], c->number);
}

static double moment(const struct model *m, const double *x, double rigidity)
{
    const double slip = m->form & BY_COMPONENTS ? hypot(x[STRIKE_SLIP], x[DIP_SLIP])
                        : opening_of(m)         ? hypot(x[SLIP], x[opening_of(m)])
                                                : fabs(x[SLIP]);
    return rigidity * x[LENGTH] * x[WIDTH] * slip;
}

static bool magnitude(const struct model_case *c)
{
    return within(model_magnitude(moment(c->model, c->x, c->number[2])), c->number);
}

/* The point number[0 .. 2] (east, north, depth) is within number[3] of the rectangle. */
static bool contains(const struct model_case *of)
{
    double scratch[REFERENCE], ss, cs, s, c;
    const double *x = middle_of(of->model, of->x, scratch), *number = of->number;
    angle_sincos(x[STRIKE], &ss, &cs);
    angle_sincos(x[DIP], &s, &c);
    const double e = number[0] - x[EC], n = number[1] - x[NC];
    const double y = n * ss - e * cs, z = x[TOP] + x[WIDTH] / 2 * s - number[2]; /* up: positive */
    const double along = fabs(e * ss + n * cs) - x[LENGTH] / 2;
    const double up = fabs(y * c + z * s) - x[WIDTH] / 2, off = y * s - z * c;
    const double a = fmax(along, 0), b = fmax(up, 0);
    return a * a + b * b + off * off <= number[3] * number[3];
}

/* Minimum distance between two faults' reference points: centre at the depth of the upper edge. */
static bool distance(const struct model_case *c)
{
    double one[REFERENCE], two[REFERENCE];
    const double *x = middle_of(c->model, c->x, one), *y = middle_of(c->model, c->other, two);
    const double e = x[EC] - y[EC], n = x[NC] - y[NC], d = x[TOP] - y[TOP];
    return e * e + n * n + d * d >= c->number[0] * c->number[0];
}

/* ---- remainder --------------------------------------------------------------------------------*/

/* Slip along s of a point of the fault with normal n displaces the ground, at the vector r from
 * that point (length R, vertical component: the depth), by a sum of
 *   r d_n d_s (1/R)   and   (1 - 2 nu) grad d_a d_b f,   f = depth ln(R + depth) - R,
 * a and b horizontal (eqs. (8)-(10) of the paper). The kth derivatives of 1/R along unit vectors
 * are at most k! / R^(k+1). Those of f are at most k! w(k) w(k-1) / R^(k-1), where w(k) is the
 * integral of (1 + t^2)^-(k+1)/2 from 0 to infinity: d f / d depth = ln(R + depth), the depth
 * derivative of that is 1/R, and a point t further up is at least sqrt(R^2 + t^2) away. */
static const double whole_space[] = {2, 8, 36}, half_space[] = {4.713, 12.567, 47.13};

/* A box of faults: its middle, half its edges, and bounds on how its faults differ. */
struct moves {
    double at[OPENING], by[OPENING];
    double ss, cs, s, c;
    double angle, place, area, area1, area2; /* largest area; its first and second derivative */
    double rock, rock1;                      /* likewise 1 - 2 nu */
};

/* A rectangular part of the fault by its middle and edges: along -1/2 .. 1/2, down 0 .. 1. */
struct part {
    double along, down, length, width;
};

/* Sums over the fault's parts for one of the two terms. */
struct sums {
    double size, rest;
};

static const double radian = 0x1.1df46a2529d39p-6;

static void begin_moves(const struct model_range *x, struct moves *m)
{
    for (int p = 0; p < OPENING; p++) {
        m->at[p] = x[p].min + (x[p].max - x[p].min) / 2;
        m->by[p] = fmax(x[p].max - m->at[p], m->at[p] - x[p].min);
    }
    angle_sincos(m->at[STRIKE], &m->ss, &m->cs);
    angle_sincos(m->at[DIP], &m->s, &m->c);
    m->by[STRIKE] *= radian;
    m->by[DIP] *= radian;
    m->angle = m->by[STRIKE] + m->by[DIP];
    m->place = sqrt(m->by[EC] * m->by[EC] + m->by[NC] * m->by[NC] + m->by[TOP] * m->by[TOP]);
    m->area = x[LENGTH].max * x[WIDTH].max;
    m->area1 = m->by[LENGTH] * x[WIDTH].max + x[LENGTH].max * m->by[WIDTH];
    m->area2 = 2 * m->by[LENGTH] * m->by[WIDTH];
    m->rock = 1 - 2 * x[NU].min;
    m->rock1 = 2 * m->by[NU];
}

/* Bounds on the first and second derivative of a point of the part, as the box is crossed. */
static void move(const struct moves *m, const struct part *p, const struct model_range *x,
                 double *first, double *second)
{
    const double along = fabs(p->along) + p->length / 2,
                 across = fabs(0.5 - p->down) + p->width / 2,
                 out = fmax(across, p->down + p->width / 2);
    const double turn = m->by[STRIKE], tilt = m->by[DIP];
    *first = m->place + along * hypot(m->by[LENGTH], x[LENGTH].max * turn) +
             out * (m->by[WIDTH] + x[WIDTH].max * tilt) + across * x[WIDTH].max * turn;
    *second = along * (2 * m->by[LENGTH] * turn + x[LENGTH].max * turn * turn) +
              2 * m->by[WIDTH] * (out * tilt + across * turn) +
              x[WIDTH].max * (out * tilt * tilt + across * turn * (2 * tilt + turn));
}

/* Adds a part no point of which comes nearer than 1 / per_r: a bound on the size and on half the
 * second derivative of area * tensor * response. */
static void add_part(const struct moves *m, const double *k, double first, double second,
                     double per_r, double part, double rock, double rock1, struct sums *s)
{
    const double v = first * per_r, w = second * per_r, turn = 2 * m->angle;
    const double k0 = k[0] * per_r * per_r, k1 = k[1] * per_r * per_r, k2 = k[2] * per_r * per_r;
    const double once = m->area * (k1 * v + turn * k0) + m->area1 * k0;
    const double twice = m->area * (k2 * v * v + k1 * w + 2 * turn * k1 * v + turn * turn * k0) +
                         2 * m->area1 * (k1 * v + turn * k0) + m->area2 * k0;
    s->size += part * rock * m->area * k0;
    s->rest += part * (0.5 * rock * twice + rock1 * once);
}

/* From the station to the part's middle. */
static double distance_to(const struct moves *m, const struct part *p, double east, double north)
{
    const double l = p->along * m->at[LENGTH], w = (0.5 - p->down) * m->at[WIDTH] * m->c;
    const double e = east - m->at[EC] - l * m->ss + w * m->cs,
                 n = north - m->at[NC] - l * m->cs - w * m->ss,
                 d = m->at[TOP] + p->down * m->at[WIDTH] * m->s;
    return sqrt(e * e + n * n + d * d);
}

/* Halves parts until they are small against their distance; false: a point of the fault may come
 * arbitrarily near to the station. */
static bool add_parts(const struct moves *m, const struct model_range *x, double east, double north,
                      struct sums *sum)
{
    enum { DEEPEST = 10 };
    struct part stack[DEEPEST + 1] = {{0, 0.5, 1, 1}};
    int level[DEEPEST + 1] = {0};
    for (int n = 1; n;) {
        struct part p = stack[--n];
        const double length = p.length * m->at[LENGTH], width = p.width * m->at[WIDTH],
                     radius = hypot(length, width) / 2;
        double first, second;
        move(m, &p, x, &first, &second);
        const double middle = distance_to(m, &p, east, north),
                     near = (middle - radius - first) * (1 - 1e-12);
        if (radius > 0.4 * near && level[n] < DEEPEST && middle + radius > m->place) {
            struct part half = p;
            *(length > width ? &half.length : &half.width) /= 2;
            *(length > width ? &half.along : &half.down) -=
                (length > width ? half.length : half.width) / 2;
            stack[n] = half;
            *(length > width ? &half.along : &half.down) +=
                length > width ? half.length : half.width;
            stack[n + 1] = half;
            level[n + 1] = ++level[n];
            n += 2;
            continue;
        }
        if (!(near > 0))
            return false;
        const double part = p.length * p.width;
        add_part(m, whole_space, first, second, 1 / near, part, 1, 0, &sum[0]);
        add_part(m, half_space, first, second, 1 / near, part, m->rock, m->rock1, &sum[1]);
    }
    return true;
}

/* Dip slip has half of the second term's tensor. Opening adds -grad(1/R) to the first term, whose
 * derivatives are at most half of that term's bounds. */
static void remainder_of(const struct model *model, const struct model_range *x, double east,
                         double north, double *size, double *rest)
{
    static const double first[] = {1, 1, 1.5}, second[] = {1, 0.5, 1};
    struct moves m;
    struct sums sum[2] = {{0, 0}, {0, 0}};
    begin_moves(x, &m);
    const bool known = add_parts(&m, x, east, north, sum);
    for (int b = 0; b < model->nbasis; b++) {
        size[b] = first[b] * sum[0].size + second[b] * sum[1].size;
        rest[b] = first[b] * sum[0].rest + second[b] * sum[1].rest;
        size[b] = known ? size[b] * (1 + 1e-12) : INFINITY;
        rest[b] = known ? rest[b] * (1 + 1e-12) : INFINITY;
    }
}

#define BIT(parameter) (1u << (parameter))
enum {
    SHAPE = BIT(STRIKE) | BIT(DIP) | BIT(LENGTH) | BIT(WIDTH),
    PLACE = BIT(EC) | BIT(NC) | BIT(TOP)
};
/* "more": parameters that only some forms have. */
#define WHEN(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define BY_SHAPE                                                                                   \
    WHEN("length_over_width", "[more than, less than]", 2, false, BIT(LENGTH) | BIT(WIDTH),        \
         length_over_width)
#define BY_SLIP(more)                                                                              \
    WHEN("slip_over_length", "[more than, less than]", 2, false, BIT(SLIP) | BIT(LENGTH),          \
         slip_over_length),                                                                        \
        WHEN("magnitude", "[more than, less than], Mw", 2, false,                                  \
             BIT(LENGTH) | BIT(WIDTH) | BIT(SLIP) | (more), magnitude)
#define BY_PLACE(more)                                                                             \
    WHEN("contains", "[east, north, depth, at most so far away], m", 4, false,                     \
         PLACE | SHAPE | (more), contains),                                                        \
        WHEN("distance", "between two faults' centres and upper edges at least, m", 1, true,       \
             PLACE | (more), distance)
#define BY_REFERENCE                                                                               \
    BY_PLACE(SHAPE | BIT(REFERENCE)),                                                              \
        WHEN("below ground", NULL, 0, false, PLACE | SHAPE | BIT(REFERENCE), below_ground),        \
        WHEN(.name = NULL)

static const struct model_constraint
    constraints[] = {BY_SHAPE, BY_SLIP(0), BY_PLACE(0), {.name = NULL}},
    with_opening[] = {BY_SHAPE, BY_SLIP(BIT(OPENING)), BY_PLACE(0), {.name = NULL}},
    when_placed[] = {BY_SHAPE, BY_SLIP(0), BY_REFERENCE},
    placed_with_opening[] = {BY_SHAPE, BY_SLIP(BIT(PLACED_OPENING)), BY_REFERENCE},
    without_slip[] = {BY_SHAPE, BY_REFERENCE};

#define FAULT(list, conditions, bases, responds, which)                                            \
    .name = "okada", .nparameters = sizeof(list) / sizeof *(list), .parameter = list,              \
    .constraint = conditions, .nbasis = bases, .respond = responds, .depth = OKADA_TOP,            \
    .weigh = weigh, .outline = outline, .textbook = textbook, .undefined = undefined,              \
    .form = which

static const struct model model_okada_components = {
    FAULT(by_components, without_slip, 2, respond_placed, PLACED_FORM | BY_COMPONENTS),
    .moment = moment,
};

static const struct model model_okada_magnitude = {
    FAULT(by_magnitude, without_slip, 2, respond_placed, PLACED_FORM | BY_MAGNITUDE),
    .wider = &model_okada_components,
};

static const struct model model_okada_placed_opening = {
    FAULT(placed_opening, placed_with_opening, 3, respond_placed, PLACED_FORM),
    .moment = moment,
    .wider = &model_okada_magnitude,
};

static const struct model model_okada_placed = {
    FAULT(placed, when_placed, 2, respond_placed, PLACED_FORM),
    .moment = moment,
    .wider = &model_okada_placed_opening,
};

static const struct model model_okada_opening = {
    FAULT(opening, with_opening, 3, respond_opening, 0),
    .moment = moment,
    .remainder = remainder_of,
    .text = "okada_mogi/kernels/okada_opening.c",
    .wider = &model_okada_placed,
};

const struct model model_okada = {
    FAULT(parameters, constraints, 2, respond, 0),
    .moment = moment,
    .remainder = remainder_of,
    .text = "okada_mogi/kernels/okada.c",
    .wider = &model_okada_opening,
};
