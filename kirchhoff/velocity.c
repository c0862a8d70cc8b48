/* kirchhoff/velocity.c – reads and evaluates velocity models. */
#include "kirchhoff/velocity.h"
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "kirchhoff/velocity_cube.h"
#include "src/opt.h"

#define AT(member) offsetof(struct words, member)

/* Parameters of const:, gradient: and lens:. */
struct words {
    double v, v0, k, kx, ky, kz, dv, x, y, z, sigma;
};

static const struct opt const_words[] = {{"v", OPT_REAL, AT(v), "V", "m/s", .min = 1, .max = 1e5},
                                         OPT_END};
static const struct opt gradient_words[] = {
    {"v0", OPT_REAL, AT(v0), "V", "at the origin, m/s", .min = -1e9, .max = 1e9},
    {"k", OPT_REAL, AT(k), "K", "along z, 1/s", .min = -100, .max = 100},
    {"kx", OPT_REAL, AT(kx), "K", "along x, 1/s", .min = -100, .max = 100},
    {"ky", OPT_REAL, AT(ky), "K", "along y, 1/s", .min = -100, .max = 100},
    {"kz", OPT_REAL, AT(kz), "K", "along z, 1/s", .min = -100, .max = 100},
    OPT_END,
};
static const struct opt lens_words[] = {
    {"v0", OPT_REAL, AT(v0), "V", "at the origin, m/s", .min = 1, .max = 1e5},
    {"kz", OPT_REAL, AT(kz), "K", "along z, 1/s", .min = -100, .max = 100},
    {"dv", OPT_REAL, AT(dv), "V", "how much slower the lens is, m/s", .min = -1e5, .max = 1e5},
    {"x", OPT_REAL, AT(x), "X", "its centre, m", .min = -1e7, .max = 1e7},
    {"y", OPT_REAL, AT(y), "Y", "its centre, m", .min = -1e7, .max = 1e7},
    {"z", OPT_REAL, AT(z), "Z", "its centre, m", .min = -1e7, .max = 1e7},
    {"sigma", OPT_REAL, AT(sigma), "M", "its size, m", .min = 1e-3, .max = 1e7},
    OPT_END,
};

/* ---- reading ----------------------------------------------------------------------------------*/

static enum ek_status open_const(const char *words, struct velocity *v)
{
    struct words w = {.v = NAN};
    TRY(opt_parse_list(const_words, &w, "const", words));
    if (isnan(w.v))
        FAIL(EK_USAGE, "velocity '%s': v is missing, e.g. const:v=1500", v->text);
    v->v0 = w.v;
    return EK_OK;
}

static enum ek_status open_gradient(const char *words, struct velocity *v)
{
    struct words w = {.v0 = NAN, .k = NAN, .kz = NAN};
    TRY(opt_parse_list(gradient_words, &w, "gradient", words));
    if (isnan(w.v0))
        FAIL(EK_USAGE, "velocity '%s': v0 is missing, e.g. gradient:v0=1500,k=0.6", v->text);
    if (!isnan(w.k) && !isnan(w.kz))
        FAIL(EK_USAGE, "velocity '%s': k and kz mean the same; give one of them", v->text);
    v->v0 = w.v0;
    v->k[0] = w.kx;
    v->k[1] = w.ky;
    v->k[2] = !isnan(w.k) ? w.k : !isnan(w.kz) ? w.kz : 0;
    return EK_OK;
}

static enum ek_status open_lens(const char *words, struct velocity *v)
{
    struct words w = {.v0 = NAN, .dv = NAN, .sigma = NAN};
    TRY(opt_parse_list(lens_words, &w, "lens", words));
    if (isnan(w.v0) || isnan(w.dv) || isnan(w.sigma))
        FAIL(EK_USAGE, "velocity '%s': v0, dv and sigma are needed", v->text);
    v->kind = VELOCITY_LENS;
    v->v0 = w.v0;
    v->k[2] = w.kz;
    v->dv = w.dv;
    v->centre[0] = w.x;
    v->centre[1] = w.y;
    v->centre[2] = w.z;
    v->sigma = w.sigma;
    return EK_OK;
}

static enum ek_status add_layer(struct velocity *v, double top, double speed)
{
    if (v->nlayers == VELOCITY_LAYERS_MOST)
        FAIL(EK_USAGE, "velocity '%s': more than %d layers", v->text, VELOCITY_LAYERS_MOST);
    if (v->nlayers && !(top > v->top[v->nlayers - 1]))
        FAIL(EK_USAGE, "velocity '%s': the layer at %g m does not lie below the one before it",
             v->text, top);
    if (!(speed > 0 && speed <= VELOCITY_MOST))
        FAIL(EK_USAGE, "velocity '%s': %g m/s is not between 0 and %g", v->text, speed,
             VELOCITY_MOST);
    v->top[v->nlayers] = top;
    v->speed[v->nlayers++] = speed;
    return EK_OK;
}

static enum ek_status open_layers(const char *words, struct velocity *v)
{
    v->kind = VELOCITY_LAYERS;
    v->smooth = 100;
    for (const char *at = words; *at; at += *at == ',') {
        double top, speed;
        int used = 0;
        if (sscanf(at, "smooth=%lf%n", &v->smooth, &used) == 1 && used) {
            if (!(v->smooth >= 0) || !isfinite(v->smooth))
                FAIL(EK_USAGE, "velocity '%s': smooth must be 0 m or more", v->text);
        } else if (sscanf(at, "%lf:%lf%n", &top, &speed, &used) == 2 && used && isfinite(top) &&
                   isfinite(speed)) {
            TRY(add_layer(v, top, speed));
        } else {
            used = 0;
        }
        at += used;
        if (!used || (*at && *at != ','))
            FAIL(EK_USAGE, "velocity '%s': '%s' is no TOP:VELOCITY, e.g. layers:0:1500,800:2500",
                 v->text, at);
    }
    if (!v->nlayers)
        FAIL(EK_USAGE, "velocity '%s': no layers; write e.g. layers:0:1500,800:2500", v->text);
    return EK_OK;
}

static const struct {
    const char *name;
    enum ek_status (*open)(const char *words, struct velocity *v);
} kinds[] = {{"const", open_const},   {"gradient", open_gradient},  {"lens", open_lens},
             {"layers", open_layers}, {"cube", velocity_cube_open}, {"segy", read_velocity_segy}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static enum ek_status open_text(const char *text, struct velocity *v)
{
    const size_t length = strcspn(text, ":");
    char word[VELOCITY_TEXT];
    int i;
    if (strlen(text) >= sizeof v->text)
        FAIL(EK_USAGE, "velocity '%.40s…' is longer than %d characters", text, VELOCITY_TEXT - 1);
    strcpy(v->text, text);
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    TRY(opt_choose("velocity", word, &kinds->name, sizeof *kinds, KINDS, &i));
    return kinds[i].open(text[length] ? text + length + 1 : "", v);
}

enum ek_status velocity_open(const char *text, struct velocity **v)
{
    NEW(struct velocity, made, 1, "out of memory for a velocity model");
    const enum ek_status st = open_text(text, made);
    return HAND_OUT(st, made, v, velocity_close);
}

void velocity_close(struct velocity *v)
{
    if (!v)
        return;
    free(v->node);
    free(v);
}

/* ---- values -----------------------------------------------------------------------------------*/

/* The lens's Gaussian, m/s; d: vector from its centre. */
static double lens_bell(const struct velocity *v, const double x[3], double d[3])
{
    double square = 0;
    for (int a = 0; a < 3; a++) {
        d[a] = x[a] - v->centre[a];
        square += d[a] * d[a];
    }
    return v->dv * exp(-square / (2 * v->sigma * v->sigma));
}

/* Rises from 0 to 1 as t goes from -1/2 to 1/2: value and two derivatives, all continuous. */
static void smooth_step(double t, double value[3])
{
    const double c = fmin(fmax(t + 0.5, 0), 1);
    value[0] = c * c * c * (10 + c * (6 * c - 15));
    value[1] = 30 * c * c * (1 - c) * (1 - c);
    value[2] = 60 * c * (1 - c) * (1 - 2 * c);
}

/* v, dv/dz, d2v/dz2. */
static void layers_at(const struct velocity *v, double z, double value[3])
{
    value[0] = v->speed[0];
    value[1] = value[2] = 0;
    for (int l = 1; l < v->nlayers; l++) {
        const double jump = v->speed[l] - v->speed[l - 1];
        double s[3] = {z >= v->top[l], 0, 0};
        if (v->smooth > 0)
            smooth_step((z - v->top[l]) / v->smooth, s);
        value[0] += jump * s[0];
        if (v->smooth > 0) {
            value[1] += jump * s[1] / v->smooth;
            value[2] += jump * s[2] / (v->smooth * v->smooth);
        }
    }
}

static double linear_at(const struct velocity *v, const double x[3])
{
    return v->v0 + v->k[0] * x[0] + v->k[1] * x[1] + v->k[2] * x[2];
}

double velocity_at(const struct velocity *v, const double x[3], double gradient[3])
{
    double value[4] = {linear_at(v, x), v->k[0], v->k[1], v->k[2]}, d[3];
    switch (v->kind) {
    case VELOCITY_LINEAR:
        break;
    case VELOCITY_LENS: {
        const double bell = lens_bell(v, x, d);
        value[0] -= bell;
        for (int a = 0; a < 3; a++)
            value[1 + a] += bell * d[a] / (v->sigma * v->sigma);
        break;
    }
    case VELOCITY_LAYERS:
        layers_at(v, x[2], d);
        value[0] = d[0];
        value[3] = d[1];
        break;
    case VELOCITY_CUBE:
        velocity_cube_at(&v->grid, v->node, x, value, NULL);
        break;
    }
    if (gradient)
        memcpy(gradient, value + 1, 3 * sizeof *gradient);
    return value[0];
}

void velocity_curvature(const struct velocity *v, const double x[3], double hessian[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double d[3], value[4];
    memset(hessian, 0, 6 * sizeof *hessian);
    if (v->kind == VELOCITY_LENS) {
        const double bell = lens_bell(v, x, d), s2 = v->sigma * v->sigma;
        for (int i = 0; i < 6; i++)
            hessian[i] = bell / s2 * ((row[i] == column[i]) - d[row[i]] * d[column[i]] / s2);
    } else if (v->kind == VELOCITY_LAYERS) {
        layers_at(v, x[2], d);
        hessian[2] = d[2];
    } else if (v->kind == VELOCITY_CUBE) {
        velocity_cube_at(&v->grid, v->node, x, value, hessian);
    }
}

/* ---- on grids ---------------------------------------------------------------------------------*/

bool velocity_jumps(const struct velocity *v, double step)
{
    return v->kind == VELOCITY_LAYERS && v->nlayers > 1 && v->smooth < 2 * step;
}

bool velocity_same_layer(const struct velocity *v, double a, double b, double beside)
{
    const double low = fmin(a, b) - beside, high = fmax(a, b) + beside;
    bool same = true;
    for (int l = 1; l < v->nlayers; l++)
        same = same && (v->top[l] <= low || v->top[l] >= high);
    return same;
}

static enum ek_status fill_nodes(const struct velocity *v, const struct grid *g, float *at)
{
    double x[3], gradient[3];
    for (int i = 0; i < g->n[0]; i++)
        for (int j = 0; j < g->n[1]; j++) {
            if (stop_heard())
                return EK_STOPPED;
            for (int k = 0; k < g->n[2]; k++, at += 4) {
                grid_place(g, i, j, k, x);
                at[0] = (float)velocity_at(v, x, gradient);
                for (int a = 0; a < 3; a++)
                    at[1 + a] = (float)gradient[a];
            }
        }
    return EK_OK;
}

enum ek_status velocity_sample(const struct velocity *v, const struct grid *g, float **node)
{
    float *made = malloc(grid_nodes(g) * 4 * sizeof *made);
    if (!made)
        FAIL(EK_UNAVAILABLE, "velocity %s: out of memory for %zu nodes", v->text, grid_nodes(g));
    const enum ek_status st = fill_nodes(v, g, made);
    return HAND_OUT(st, made, node, free);
}

static enum ek_status node_range(const struct velocity *v, const double x[3], double *least,
                                 double *most)
{
    const double speed = velocity_at(v, x, NULL);
    if (!(speed > 0))
        FAIL(EK_USAGE, "velocity %s is %g m/s at (%g, %g, %g) m; rays need it positive", v->text,
             speed, x[0], x[1], x[2]);
    *least = fmin(*least, speed);
    *most = fmax(*most, speed);
    return EK_OK;
}

enum ek_status velocity_range(const struct velocity *v, const struct grid *g, double *least,
                              double *most)
{
    /* If v is linear, its extremes are at the corners; if it depends on depth alone, the columns
     * at the corners have them. */
    const bool corners = v->kind == VELOCITY_LINEAR, column = v->kind == VELOCITY_LAYERS;
    double x[3], low = INFINITY, high = 0;
    int step[3];
    for (int a = 0; a < 3; a++)
        step[a] = (corners || (column && a < 2)) && g->n[a] > 1 ? g->n[a] - 1 : 1;
    for (int i = 0; i < g->n[0]; i += step[0])
        for (int j = 0; j < g->n[1]; j += step[1]) {
            if (stop_heard())
                return EK_STOPPED;
            for (int k = 0; k < g->n[2]; k += step[2]) {
                grid_place(g, i, j, k, x);
                TRY(node_range(v, x, &low, &high));
            }
        }
    *least = low;
    *most = high;
    return EK_OK;
}

void velocity_warn(const struct velocity *v, const struct grid *g)
{
    enum { SLOW = 50 }; /* m/s; slower than any ground */
    const double speed = velocity_at(v, g->origin, NULL);
    if (cluster_launch().rank > 0)
        return;
    if (speed < SLOW)
        status_warn(
            "velocity %s is %g m/s at the grid's first node: is it in km/s? Cubes take scale=1000",
            v->text, speed);
    for (int a = 0; a < 3 && v->kind == VELOCITY_CUBE; a++) {
        const double low = v->grid.origin[a], high = grid_end(&v->grid, a);
        const double first = g->origin[a], last = grid_end(g, a);
        const double over = fmax(low - first, last - high);
        if (v->grid.n[a] > 1 && over > v->grid.step[a]) /* with one node, v is constant along a */
            status_warn("velocity %s ends at %c = %g and %g m, the grid at %g and %g m: what lies "
                        "beyond is taken to be as its faces",
                        v->text, "xyz"[a], low, high, first, last);
    }
}
