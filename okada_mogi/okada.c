/* okada_mogi/okada.c – the model of a rectangular fault: conventions, constraints, host's code. */
#include "src/lanes.h"
#include "src/lanes_math.h"
#include "okada_mogi/kernels/okada.h"
#include "okada_mogi/angle.h"
#include "okada_mogi/model.h"

#include <math.h>
#include <stddef.h>

enum { EC, NC, TOP, STRIKE, DIP, LENGTH, WIDTH, RAKE, SLIP, NU, OPENING };

static void derive_strike(double degrees, double *value)
{
    angle_sincos(degrees, &value[0], &value[1]);
}

/* The last two stay finite where the dip is vertical: only their product with numbers as small as
 * kappa is used there. */
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

/* Slip is the amplitude, or one of several things that share the displacement. */
#define PARAMETERS(slip)                                                                           \
    {"Ec_m", MODEL_GEOMETRY, -1e9, 1e9, 1, .derive = NULL},                                        \
        {"Nc_m", MODEL_GEOMETRY, -1e9, 1e9, 1, .derive = NULL},                                    \
        {"d_m", MODEL_GEOMETRY, 0, 1e7, 1, .derive = NULL},                                        \
        {"strike_deg", MODEL_GEOMETRY, -720, 720, 2, .derive = derive_strike},                     \
        {"dip_deg", MODEL_GEOMETRY, 0, 90, 4, .derive = derive_dip},                               \
        {"L_m", MODEL_GEOMETRY, 1e-3, 1e7, 1, .derive = derive_length},                            \
        {"W_m", MODEL_GEOMETRY, 1e-3, 1e7, 1, .derive = NULL},                                     \
        {"rake_deg", MODEL_DIRECTION, -720, 720, 0, .derive = NULL},                               \
        {"slip_m", slip, -1e4, 1e4, 0, .derive = NULL},                                            \
    {                                                                                              \
        "nu", MODEL_GEOMETRY, -1, 0.5, 1, derive_medium, .optional = true, .usual = 0.25           \
    }

static const struct model_parameter parameters[] = {PARAMETERS(MODEL_AMPLITUDE)};
static const struct model_parameter opening_parameters[] = {
    PARAMETERS(MODEL_DIRECTION),
    {"opening_m", MODEL_DIRECTION, -1e4, 1e4, 0, NULL, .optional = true, .usual = 0}};

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
    }
    for (int i = 0; i < VECTORS; i++)
        okada_functions(&t[i]);
    for (int i = 0; i < VECTORS; i++) {
        okada_displace(x[i], LOAD(east, i * LANES), LOAD(north, i * LANES), &t[i], bases, u);
        for (int k = 0; k < 3 * bases; k++)
            STORE(out, k * MODEL_LANES + i * LANES, u[k]);
    }
}

static void respond(const double *const *value, const double *east, const double *north,
                    double *out)
{
    respond_bases(value, east, north, 2, out);
}

static void respond_opening(const double *const *value, const double *east, const double *north,
                            double *out)
{
    respond_bases(value, east, north, 3, out);
}

static const double per_turn = 0x1.45f306dc9c883p-3; /* 1 / (2 pi) */

/* Slip along strike and up dip; responses lack the paper's factor. */
static void weigh(const double *x, double *w)
{
    angle_sincos(x[RAKE], &w[1], &w[0]);
    w[0] *= -per_turn;
    w[1] *= -per_turn;
}

static void weigh_opening(const double *x, double *w)
{
    weigh(x, w);
    w[0] *= x[SLIP];
    w[1] *= x[SLIP];
    w[2] = per_turn * x[OPENING];
}

static int outline(const double *x, double corner[MODEL_CORNERS][2])
{
    static const double along[] = {-0.5, 0.5, 0.5, -0.5}, up[] = {0.5, 0.5, -0.5, -0.5};
    double ss, cs, s, c;
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

static bool within(double value, const double *limits)
{
    return value > limits[0] && value < limits[1];
}

static bool length_over_width(const double *number, const double *x, const double *other)
{
    (void)other;
    return within(x[LENGTH] / x[WIDTH], number);
}

static bool slip_over_length(const double *number, const double *x, const double *other)
{
    (void)other;
    return within(fabs(x[SLIP]) / x[LENGTH], number);
}

static double moment(const double *x, double rigidity)
{
    return rigidity * x[LENGTH] * x[WIDTH] * fabs(x[SLIP]);
}

static double moment_opening(const double *x, double rigidity)
{
    return rigidity * x[LENGTH] * x[WIDTH] * hypot(x[SLIP], x[OPENING]);
}

static bool magnitude(const double *number, const double *x, const double *other)
{
    (void)other;
    return within(model_magnitude(moment(x, number[2])), number);
}

/* The point (east, north, depth) is at most so far from the rectangle. */
static bool contains(const double *number, const double *x, const double *other)
{
    (void)other;
    double ss, cs, s, c;
    angle_sincos(x[STRIKE], &ss, &cs);
    angle_sincos(x[DIP], &s, &c);
    const double e = number[0] - x[EC], n = number[1] - x[NC];
    const double y = n * ss - e * cs, z = x[TOP] + x[WIDTH] / 2 * s - number[2]; /* up: positive */
    const double along = fabs(e * ss + n * cs) - x[LENGTH] / 2;
    const double up = fabs(y * c + z * s) - x[WIDTH] / 2, off = y * s - z * c;
    const double a = fmax(along, 0), b = fmax(up, 0);
    return a * a + b * b + off * off <= number[3] * number[3];
}

/* Between the middles of the upper edges, at least. */
static bool distance(const double *number, const double *x, const double *other)
{
    const double e = x[EC] - other[EC], n = x[NC] - other[NC], d = x[TOP] - other[TOP];
    return e * e + n * n + d * d >= number[0] * number[0];
}

#define BIT(parameter) (1u << (parameter))
static const struct model_constraint constraints[] = {
    {"length_over_width", "[more than, less than]", 2, false, BIT(LENGTH) | BIT(WIDTH),
     length_over_width},
    {"slip_over_length", "[more than, less than]", 2, false, BIT(SLIP) | BIT(LENGTH),
     slip_over_length},
    {"magnitude", "[more than, less than], Mw", 2, false, BIT(LENGTH) | BIT(WIDTH) | BIT(SLIP),
     magnitude},
    {"contains", "[east, north, depth, at most so far away], m", 4, false,
     BIT(EC) | BIT(NC) | BIT(TOP) | BIT(STRIKE) | BIT(DIP) | BIT(LENGTH) | BIT(WIDTH), contains},
    {"distance", "between two faults' centres and upper edges at least, m", 1, true,
     BIT(EC) | BIT(NC) | BIT(TOP), distance},
    {.name = NULL},
};

static const struct model model_okada_opening = {
    .name = "okada",
    .summary = "rectangular fault of uniform slip and opening (Okada 1985)",
    .nparameters = sizeof opening_parameters / sizeof *opening_parameters,
    .parameter = opening_parameters,
    .constraint = constraints,
    .nbasis = 3,
    .respond = respond_opening,
    .weigh = weigh_opening,
    .moment = moment_opening,
    .outline = outline,
    .text = "okada_mogi/kernels/okada_opening.c",
};

const struct model model_okada = {
    .name = "okada",
    .summary = "rectangular fault of uniform slip (Okada 1985)",
    .nparameters = sizeof parameters / sizeof *parameters,
    .parameter = parameters,
    .constraint = constraints,
    .nbasis = 2,
    .respond = respond,
    .weigh = weigh,
    .moment = moment,
    .outline = outline,
    .text = "okada_mogi/kernels/okada.c",
    .wider = &model_okada_opening,
};
