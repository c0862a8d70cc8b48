/* okada_mogi/mogi.c – the model of a small sphere that changes its volume. */
#include "src/lanes.h"
#include "src/lanes_math.h"
#include "okada_mogi/kernels/mogi.h"
#include "okada_mogi/model.h"

#include <math.h>
#include <stddef.h>

enum { ES, NS, DEPTH, VOLUME, NU, PARAMETERS };
enum { COMPONENTS = 3 };

static void derive_medium(double nu, double *value)
{
    *value = (1 - nu) / 0.75 * 0x1.e8ec8a4aeacc4p-3; /* 0.75 / pi */
}

static const struct model_parameter parameters[PARAMETERS] = {
    {"Es_m", MODEL_GEOMETRY, -1e9, 1e9, 1, .derive = NULL},
    {"Ns_m", MODEL_GEOMETRY, -1e9, 1e9, 1, .derive = NULL},
    {"d_m", MODEL_GEOMETRY, 1e-3, 1e9, 1, .derive = NULL},
    {"dV_m3", MODEL_AMPLITUDE, -1e18, 1e18, 0, .derive = NULL},
    {"nu", MODEL_GEOMETRY, -1, 0.5, 1, derive_medium, .optional = true, .usual = 0.25},
};

static void respond(const double *const *value, const double *east, const double *north,
                    double *out)
{
    for (int l = 0; l < MODEL_LANES; l += LANES) {
        const lanes x[MOGI_VALUES] = {LOAD(value[0], l), LOAD(value[1], l), LOAD(value[2], l),
                                      LOAD(value[3], l)};
        lanes u[COMPONENTS];
        mogi_respond(x, LOAD(east, l), LOAD(north, l), u);
        for (int c = 0; c < COMPONENTS; c++)
            STORE(out, c * MODEL_LANES + l, u[c]);
    }
}

/* Of a sphere as large as the change of volume. */
static double radius(const double *x)
{
    return cbrt(0.75 / 3.14159265358979323846 * fabs(x[VOLUME]));
}

/* The source is small against its depth. */
static bool radius_over_depth(const double *number, const double *x, const double *other)
{
    (void)other;
    return radius(x) <= number[0] * x[DEPTH];
}

/* Two sources do not feel each other. */
static bool distance_over_radius(const double *number, const double *x, const double *other)
{
    const double e = x[ES] - other[ES], n = x[NS] - other[NS], d = x[DEPTH] - other[DEPTH];
    return sqrt(e * e + n * n + d * d) >= number[0] * fmax(radius(x), radius(other));
}

static int outline(const double *x, double corner[MODEL_CORNERS][2])
{
    corner[0][0] = x[ES];
    corner[0][1] = x[NS];
    return 1;
}

/* ---- bounds -----------------------------------------------------------------------------------*/

/* x / (x^2 + s)^(3/2) for x >= 0: grows up to x^2 = s / 2, then falls. */
static double pull(double x, double s)
{
    const double r2 = x * x + s;
    return r2 > 0 ? x / (r2 * sqrt(r2)) : INFINITY;
}

/* Of all x and s in these ranges, s > 0. It is odd in x, and smaller in size for larger s: so it is
 * largest at the least s, at the top if that is among the x, else at the end next to it; and least
 * at the largest s, at one of the ends. */
static struct model_range pulls(struct model_range x, struct model_range s)
{
    if (x.max <= 0 && x.min < 0) {
        const struct model_range r = pulls((struct model_range){-x.max, -x.min}, s);
        return (struct model_range){-r.max, -r.min};
    }
    const double top = sqrt(s.min / 2), least = fmax(x.min, 0);
    const double high = pull(fmin(fmax(top, least), x.max), s.min);
    const double low =
        x.min < 0 ? -pull(fmin(top, -x.min), s.min) : fmin(pull(x.min, s.max), pull(x.max, s.max));
    return (struct model_range){low, high};
}

static struct model_range square(struct model_range x)
{
    const double a = x.min * x.min, b = x.max * x.max;
    return (struct model_range){x.min <= 0 && x.max >= 0 ? 0 : fmin(a, b), fmax(a, b)};
}

static struct model_range difference(double from, struct model_range x)
{
    const double hair = 4e-16 * fmax(fabs(from), fmax(fabs(x.min), fabs(x.max)));
    return (struct model_range){from - x.max - hair, from - x.min + hair};
}

static void bounds(const struct model_range *x, double east, double north,
                   struct model_range *response)
{
    const double rounding = 1e-13;
    const struct model_range at[] = {difference(east, x[ES]), difference(north, x[NS]), x[DEPTH]};
    double most, least;
    derive_medium(x[NU].min, &most);
    derive_medium(x[NU].max, &least);
    for (int c = 0; c < COMPONENTS; c++) {
        const struct model_range a = square(at[(c + 1) % 3]), b = square(at[(c + 2) % 3]);
        const struct model_range s = {(a.min + b.min) * (1 - rounding),
                                      (a.max + b.max) * (1 + rounding)};
        const struct model_range p = pulls(at[c], s);
        response[c].min = p.min * (p.min < 0 ? most * (1 + rounding) : least * (1 - rounding));
        response[c].max = p.max * (p.max > 0 ? most * (1 + rounding) : least * (1 - rounding));
    }
}

#define BIT(parameter) (1u << (parameter))
static const struct model_constraint constraints[] = {
    {"radius_over_depth", "at most", 1, false, BIT(DEPTH) | BIT(VOLUME), radius_over_depth},
    {"distance_over_radius", "at least", 1, true, BIT(ES) | BIT(NS) | BIT(DEPTH) | BIT(VOLUME),
     distance_over_radius},
    {.name = NULL},
};

const struct model model_mogi = {
    .name = "mogi",
    .summary = "change of volume of a small sphere (Mogi 1958)",
    .nparameters = PARAMETERS,
    .parameter = parameters,
    .constraint = constraints,
    .nbasis = 1,
    .respond = respond,
    .outline = outline,
    .bounds = bounds,
    .text = "okada_mogi/kernels/mogi.c",
};
