/* kirchhoff/velocity_cube.c – velocities on a grid: files, smoothing, interpolation. */
#include "kirchhoff/velocity_cube.h"
#include "src/demand.h"
#include "src/file.h"
#include "src/opt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a file's numbers are to be read. */
struct layout {
    struct grid grid;
    char path[1024];
    double smooth, scale;
    bool x_fastest;
};

/* ---- the numbers ------------------------------------------------------------------------------*/

static enum ek_status read_numbers(const char *path, const struct grid *g, float *speed)
{
    const size_t wanted = grid_nodes(g) * sizeof *speed;
    file_input(path);
    FILE *in = fopen(path, "rb");
    if (!in)
        FAIL(EK_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    fseek(in, 0, SEEK_END);
    const long size = ftell(in);
    rewind(in);
    const bool whole = size == (long)wanted && fread(speed, 1, wanted, in) == wanted;
    fclose(in);
    if (!whole)
        FAIL(EK_USAGE, "%s: has %ld bytes, but %dx%dx%d float32 numbers are %zu bytes", path, size,
             g->n[0], g->n[1], g->n[2], wanted);
    return EK_OK;
}

/* From x fastest to z fastest. */
static enum ek_status turn(const struct grid *g, float *speed)
{
    float *copy = malloc(grid_nodes(g) * sizeof *copy);
    if (!copy)
        FAIL(EK_UNAVAILABLE, "out of memory for a velocity cube");
    memcpy(copy, speed, grid_nodes(g) * sizeof *copy);
    const float *at = copy;
    for (int k = 0; k < g->n[2]; k++)
        for (int j = 0; j < g->n[1]; j++)
            for (int i = 0; i < g->n[0]; i++)
                speed[grid_index(g, i, j, k)] = *at++;
    free(copy);
    return EK_OK;
}

static enum ek_status load(const struct layout *l, struct velocity *v)
{
    float *speed = malloc(grid_nodes(&l->grid) * sizeof *speed);
    if (!speed)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %zu numbers", l->path, grid_nodes(&l->grid));
    enum ek_status st = read_numbers(l->path, &l->grid, speed);
    if (!st && l->x_fastest)
        st = turn(&l->grid, speed);
    for (size_t i = 0; !st && l->scale != 1 && i < grid_nodes(&l->grid); i++)
        speed[i] *= (float)l->scale;
    v->kind = VELOCITY_CUBE;
    v->grid = l->grid;
    if (!st)
        st = velocity_cube_fill(v, speed, l->smooth);
    free(speed);
    return st;
}

/* ---- headers ----------------------------------------------------------------------------------*/

static enum ek_status read_triple(const char *path, const json_t *root, const char *name,
                                  const struct demand *d, double x[3])
{
    const json_t *list = json_object_get(root, name);
    char key[64];
    TRY(demand_that(path, json_is_array(list) && json_array_size(list) == 3, name,
                    "a list of three numbers"));
    for (size_t a = 0; a < 3; a++) {
        snprintf(key, sizeof key, "%s[%zu]", name, a);
        TRY(demand_number(path, key, json_array_get(list, a), d, &x[a]));
    }
    return EK_OK;
}

static enum ek_status read_grid(const char *path, const json_t *root, struct grid *g)
{
    static const struct demand count = {1, 1 << 20, .whole = true}, step = {0, 1e9, .open = true};
    static const struct demand place = {.min = -1e9, .max = 1e9};
    double n[3];
    TRY(read_triple(path, root, "n", &count, n));
    TRY(read_triple(path, root, "step", &step, g->step));
    if (json_object_get(root, "origin"))
        TRY(read_triple(path, root, "origin", &place, g->origin));
    for (int a = 0; a < 3; a++)
        g->n[a] = (int)n[a];
    return EK_OK;
}

/* A file named in a header lies beside it. */
static void path_beside(const char *header, const char *name, char *path, size_t room)
{
    const char *slash = strrchr(header, '/');
    const int folder = slash && *name != '/' ? (int)(slash - header) + 1 : 0;
    snprintf(path, room, "%.*s%s", folder, header, name);
}

static enum ek_status read_header(const char *path, struct layout *l)
{
    static const struct demand length = {.min = 0, .max = 1e9}, factor = {0, 1e9, .open = true};
    json_t *root;
    TRY(demand_open(path, &root));
    enum ek_status st = read_grid(path, root, &l->grid);
    const char *data = json_string_value(json_object_get(root, "data"));
    const char *order = json_string_value(json_object_get(root, "order"));
    if (!st)
        st = demand_that(path, data != NULL, "data", "a file's name");
    if (!st)
        st = demand_that(path, !order || !strcmp(order, "zyx") || !strcmp(order, "xyz"), "order",
                         "zyx (z fastest) or xyz (x fastest)");
    if (!st)
        st = demand_optional(path, "", root, "smooth", &length, &l->smooth);
    if (!st)
        st = demand_optional(path, "", root, "scale", &factor, &l->scale);
    if (!st) {
        l->x_fastest = order && !strcmp(order, "xyz");
        path_beside(path, data, l->path, sizeof l->path);
    }
    json_decref(root);
    return st;
}

#define AT(member) offsetof(struct layout, member)
static const struct opt layout_words[] = {
    {"nx", OPT_INT, AT(grid.n[0]), "N", "nodes along x", .min = 1, .max = 1 << 20},
    {"ny", OPT_INT, AT(grid.n[1]), "N", "nodes along y", .min = 1, .max = 1 << 20},
    {"nz", OPT_INT, AT(grid.n[2]), "N", "nodes along z", .min = 1, .max = 1 << 20},
    {"dx", OPT_REAL, AT(grid.step[0]), "M", "step along x", .min = 1e-6, .max = 1e6},
    {"dy", OPT_REAL, AT(grid.step[1]), "M", "step along y", .min = 1e-6, .max = 1e6},
    {"dz", OPT_REAL, AT(grid.step[2]), "M", "step along z", .min = 1e-6, .max = 1e6},
    {"x0", OPT_REAL, AT(grid.origin[0]), "M", "first node", .min = -1e9, .max = 1e9},
    {"y0", OPT_REAL, AT(grid.origin[1]), "M", "first node", .min = -1e9, .max = 1e9},
    {"z0", OPT_REAL, AT(grid.origin[2]), "M", "first node", .min = -1e9, .max = 1e9},
    {"scale", OPT_REAL, AT(scale), "X", "m/s of the number 1 (1)", .min = 1e-9, .max = 1e9},
    {"smooth", OPT_REAL, AT(smooth), "M", "standard deviation (0)", .min = 0, .max = 1e6},
    OPT_END,
};

static enum ek_status check_layout(const char *text, const struct layout *l)
{
    for (int a = 0; a < 3; a++)
        if (!l->grid.n[a] || !(l->grid.step[a] > 0))
            FAIL(EK_USAGE,
                 "velocity '%s': n%c or d%c is missing; without them, name a header "
                 "FILE.json",
                 text, "xyz"[a], "xyz"[a]);
    return EK_OK;
}

enum ek_status velocity_cube_open(const char *words, struct velocity *v)
{
    struct layout l = {.scale = 1};
    const size_t name = strcspn(words, ",");
    snprintf(l.path, sizeof l.path, "%.*s", (int)name, words);
    if (name > 5 && !strcmp(l.path + name - 5, ".json")) {
        const char *path = strchr(v->text, ':') + 1;
        if (words[name])
            FAIL(EK_USAGE, "velocity '%s': what follows '%s' belongs into that header", v->text,
                 l.path);
        TRY(read_header(path, &l));
    } else {
        TRY(opt_parse_list(layout_words, &l, "cube", words[name] ? words + name + 1 : ""));
        TRY(check_layout(v->text, &l));
    }
    return load(&l, v);
}

/* ---- smoothing and gradients ------------------------------------------------------------------*/

/* A walk along one axis: where its lines begin, and the distance of neighbours. */
static size_t stride_of(const struct grid *g, int axis)
{
    return axis == 2 ? 1 : axis == 1 ? (size_t)g->n[2] : (size_t)g->n[1] * (size_t)g->n[2];
}

static void smooth_line(float *at, size_t stride, int n, const double *weight, int reach,
                        double *line)
{
    for (int i = 0; i < n; i++)
        line[i] = at[(size_t)i * stride];
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int d = -reach; d <= reach; d++) {
            const int j = i + d < 0 ? 0 : i + d >= n ? n - 1 : i + d;
            sum += weight[abs(d)] * line[j];
        }
        at[(size_t)i * stride] = (float)sum;
    }
}

/* By a Gaussian along each axis in turn; the outermost nodes stand for what lies beyond. */
static enum ek_status smooth_axis(const struct grid *g, float *speed, double sigma, int axis)
{
    const double nodes = sigma / g->step[axis];
    const int n = g->n[axis], reach = (int)fmin(ceil(4 * nodes), 4096);
    const size_t stride = stride_of(g, axis), all = grid_nodes(g);
    double *weight = calloc((size_t)reach + 1, sizeof *weight), sum = 0;
    double *line = calloc((size_t)n, sizeof *line);
    if (weight && line) {
        for (int d = 0; d <= reach; d++) {
            weight[d] = exp(-0.5 * d * d / (nodes * nodes));
            sum += (d ? 2 : 1) * weight[d];
        }
        for (int d = 0; d <= reach; d++)
            weight[d] /= sum;
        for (size_t i = 0; i < all; i++)
            if (i / stride % (size_t)n == 0)
                smooth_line(speed + i, stride, n, weight, reach, line);
    }
    const bool done = weight && line;
    free(weight);
    free(line);
    return done ? EK_OK : status_fail(EK_UNAVAILABLE, "out of memory for smoothing velocities");
}

/* A parabola through a node and its neighbours, one-sided at the faces. */
static double difference(const float *v, size_t stride, int i, int n, double step)
{
    const ptrdiff_t s = (ptrdiff_t)stride;
    if (n == 1)
        return 0;
    if (n == 2)
        return i ? (v[0] - v[-s]) / step : (v[s] - v[0]) / step;
    if (i == 0)
        return (-3.0 * v[0] + 4.0 * v[s] - v[2 * s]) / (2 * step);
    if (i == n - 1)
        return (3.0 * v[0] - 4.0 * v[-s] + v[-2 * s]) / (2 * step);
    return ((double)v[s] - v[-s]) / (2 * step);
}

static enum ek_status check_speeds(const struct velocity *v, const float *speed)
{
    const struct grid *g = &v->grid;
    for (size_t i = 0; i < grid_nodes(g); i++)
        if (!(speed[i] > 0) || !isfinite(speed[i])) {
            const size_t k = i % (size_t)g->n[2], j = i / (size_t)g->n[2] % (size_t)g->n[1];
            FAIL(EK_USAGE, "velocity %s: node (%zu, %zu, %zu) is %g m/s, not positive", v->text,
                 i / ((size_t)g->n[1] * (size_t)g->n[2]), j, k, (double)speed[i]);
        }
    return EK_OK;
}

enum ek_status velocity_cube_fill(struct velocity *v, float *speed, double smooth)
{
    const struct grid *g = &v->grid;
    TRY(check_speeds(v, speed));
    for (int a = 0; a < 3 && smooth > 0; a++)
        TRY(smooth_axis(g, speed, smooth, a));
    v->node = malloc(grid_nodes(g) * 4 * sizeof *v->node);
    if (!v->node)
        FAIL(EK_UNAVAILABLE, "velocity %s: out of memory for %zu nodes", v->text, grid_nodes(g));
    float *node = v->node;
    for (int i = 0; i < g->n[0]; i++)
        for (int j = 0; j < g->n[1]; j++)
            for (int k = 0; k < g->n[2]; k++, node += 4) {
                const float *at = speed + grid_index(g, i, j, k);
                const int place[3] = {i, j, k};
                node[0] = *at;
                for (int a = 0; a < 3; a++)
                    node[1 + a] =
                        (float)difference(at, stride_of(g, a), place[a], g->n[a], g->step[a]);
            }
    return EK_OK;
}

/* ---- interpolation ----------------------------------------------------------------------------*/

/* Cell and place in it along one axis; outside, the nearest face. */
static int cell_of(const struct grid *g, int axis, double x, double *t)
{
    const int n = g->n[axis];
    double u = (x - g->origin[axis]) / g->step[axis];
    u = fmin(fmax(u, 0), n - 1);
    const int i = (int)fmin(u, n > 1 ? n - 2 : 0);
    *t = u - i;
    return i;
}

/* The four numbers at x; with slope [3][4] their derivatives. */
static void interpolate(const struct grid *g, const float *node, const double x[3], double value[4],
                        double (*slope)[4])
{
    double t[3];
    size_t base = 0, next[3];
    for (int a = 0; a < 3; a++) {
        base += (size_t)cell_of(g, a, x[a], &t[a]) * stride_of(g, a);
        next[a] = g->n[a] > 1 ? stride_of(g, a) : 0;
    }
    memset(value, 0, 4 * sizeof *value);
    for (int corner = 0; corner < 8; corner++) {
        const int bit[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        double w[3];
        size_t at = base;
        for (int a = 0; a < 3; a++) {
            w[a] = bit[a] ? t[a] : 1 - t[a];
            at += bit[a] ? next[a] : 0;
        }
        for (int c = 0; c < 4; c++) {
            const double number = node[4 * at + (size_t)c];
            value[c] += w[0] * w[1] * w[2] * number;
            for (int a = 0; slope && a < 3; a++)
                slope[a][c] +=
                    (bit[a] ? 1 : -1) / g->step[a] * w[(a + 1) % 3] * w[(a + 2) % 3] * number;
        }
    }
}

void velocity_cube_at(const struct grid *g, const float *node, const double x[3], double value[4],
                      double h[6])
{
    double slope[3][4] = {{0}};
    interpolate(g, node, x, value, h ? slope : NULL);
    for (int a = 0; a < 3; a++) /* constant outside: the slope towards the face ends there */
        if (x[a] < g->origin[a] || x[a] > grid_end(g, a))
            value[1 + a] = 0;
    if (!h)
        return;
    for (int a = 0; a < 3; a++)
        h[a] = slope[a][1 + a];
    h[3] = 0.5 * (slope[0][2] + slope[1][1]);
    h[4] = 0.5 * (slope[0][3] + slope[2][1]);
    h[5] = 0.5 * (slope[1][3] + slope[2][2]);
}
