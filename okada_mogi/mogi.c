/* okada_mogi/mogi.c – the model of a small sphere that changes volume. */
#include "src/lanes.h"
#include "src/lanes_math.h"
#if LANES == 8 && defined __AVX512F__
/* AMD divides vectors of eight as fast as vectors of four; others do better by Newton's steps. The
 * bits are the same. */
#undef DIVIDE
#define DIVIDE(a, b) (__builtin_cpu_is("amd") ? (a) / (b) : lanes_quotient(a, b))
#endif
#include "okada_mogi/kernels/mogi.h"
#include "okada_mogi/model.h"

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

static void respond(const struct model *m, const double *const *value, const double *east,
                    const double *north, double *out)
{
    (void)m;
    for (int l = 0; l < MODEL_LANES; l += LANES) {
        const lanes x[MOGI_VALUES] = {LOAD(value[0], l), LOAD(value[1], l), LOAD(value[2], l),
                                      LOAD(value[3], l)};
        lanes u[COMPONENTS];
        mogi_respond(x, LOAD(east, l), LOAD(north, l), u);
        for (int c = 0; c < COMPONENTS; c++)
            STORE(out, c * MODEL_LANES + l, u[c]);
    }
}

/* Radius of a sphere with the volume |dV|. */
static double radius(const double *x)
{
    return cbrt(0.75 / 3.14159265358979323846 * fabs(x[VOLUME]));
}

/* The source is small compared with its depth, as the point source approximation needs. */
static bool radius_over_depth(const struct model_case *c)
{
    return radius(c->x) <= c->number[0] * c->x[DEPTH];
}

/* Two sources are too far apart to interact. */
static bool distance_over_radius(const struct model_case *c)
{
    const double *x = c->x, *y = c->other;
    const double e = x[ES] - y[ES], n = x[NS] - y[NS], d = x[DEPTH] - y[DEPTH];
    return sqrt(e * e + n * n + d * d) >= c->number[0] * fmax(radius(x), radius(y));
}

static double textbook(const struct model *m, const double *x, double east, double north,
                       double height, double *u)
{
    (void)m;
    const double r[] = {east - x[ES], north - x[NS], x[DEPTH] + height};
    const double distance = hypot(hypot(r[0], r[1]), r[2]);
    for (int c = 0; c < COMPONENTS; c++)
        u[c] = (1 - x[NU]) * x[VOLUME] / 3.14159265358979323846 * (r[c] / distance) / distance /
               distance;
    return 0;
}

static int outline(const struct model *m, const double *x, double corner[MODEL_CORNERS][2])
{
    (void)m;
    corner[0][0] = x[ES];
    corner[0][1] = x[NS];
    return 1;
}

/* ---- remainder --------------------------------------------------------------------------------*/

/* The least distance of a number from a range. */
static double least(double from, struct model_range x)
{
    return fmax(0, fmax(x.min - from, from - x.max));
}

/* u = -C grad(1/R); the kth derivatives of 1/R along any directions are at most k! / R^(k+1). */
static void remainder_of(const struct model *m, const struct model_range *x, double east,
                         double north, double *size, double *rest)
{
    (void)m;
    const double e = least(east, x[ES]), n = least(north, x[NS]), d = x[DEPTH].min;
    const double per_r = (1 + 1e-12) / sqrt(e * e + n * n + d * d);
    double motion = 0, most, last;
    for (int i = ES; i <= DEPTH; i++)
        motion += (x[i].max - x[i].min) * (x[i].max - x[i].min) / 4;
    motion = sqrt(motion) * per_r;
    derive_medium(x[NU].min, &most);
    derive_medium(x[NU].max, &last);
    *size = most * per_r * per_r;
    *rest = per_r * per_r * motion * (3 * most * motion + (most - last)) * (1 + 1e-12);
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
    .nparameters = PARAMETERS,
    .parameter = parameters,
    .constraint = constraints,
    .nbasis = 1,
    .respond = respond,
    .depth = DEPTH,
    .outline = outline,
    .remainder = remainder_of,
    .textbook = textbook,
    .text = "okada_mogi/kernels/mogi.c",
};
