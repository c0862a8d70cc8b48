/* kirchhoff/ray.c – the media of rays, and the rays of a front in the host's vectors. */
#include "kirchhoff/ray.h"
#include "kirchhoff/ray_lanes.h"

_Static_assert(RAY_LANES % (RAY_TOGETHER * LANES) == 0, "vectors do not cross the rows' padding");

/* ---- media ------------------------------------------------------------------------------------*/

static const double most_nodes = 1 << 28;  /* keeps indices within a device's int */
static const double step_angle = 0.03;     /* radians per step: ends within 1e-7 of the length */
static const double longest_step = 0.1;    /* s */
static const double layers_per_smooth = 8; /* samples within an interface */

/* The step of the samples along an axis; INFINITY: v does not change along it, so that one sample
 * is enough, or two along z, where samples are loaded in pairs. */
static double cell_along(const struct velocity *v, int axis, double cell)
{
    if (v->kind == VELOCITY_LAYERS)
        return axis < 2        ? INFINITY
               : v->smooth > 0 ? fmin(cell, v->smooth / layers_per_smooth)
                               : cell;
    if (v->kind == VELOCITY_CUBE)
        return v->grid.n[axis] > 1 ? fmin(cell, v->grid.step[axis]) : INFINITY;
    return fmin(cell, v->sigma / layers_per_smooth);
}

static enum ek_status choose_grid(const struct velocity *v, const double low[3],
                                  const double high[3], double cell, struct grid *g)
{
    double nodes = 1;
    for (int a = 0; a < 3; a++) {
        const double wanted = cell_along(v, a, cell);
        const double n = isinf(wanted) ? 1 + (a == 2) : ceil((high[a] - low[a]) / wanted) + 1;
        nodes *= n;
        if (!(nodes < most_nodes))
            FAIL(EK_USAGE,
                 "velocity %s: sampled at %g m, %.0f x %.0f x %.0f m are more than %.0f nodes; "
                 "take a coarser or smaller grid",
                 v->text, wanted, high[0] - low[0], high[1] - low[1], high[2] - low[2], most_nodes);
        g->n[a] = (int)n;
        g->origin[a] = low[a];
        g->step[a] = n > 1 ? (high[a] - low[a]) / (n - 1) : cell;
    }
    return EK_OK;
}

static void describe(const struct velocity *v, struct ray_field *f)
{
    const struct grid *g = &f->grid;
    struct ray_medium *m = &f->medium;
    const int stride[3] = {g->n[1] * g->n[2], g->n[2], 1};
    m->v0 = v->v0;
    m->cube = f->node != NULL;
    for (int a = 0; a < 3; a++) {
        m->k[a] = v->k[a];
        m->origin[a] = g->origin[a];
        m->inverse[a] = f->node ? 1 / g->step[a] : 0;
        m->last[a] = f->node ? g->n[a] - 1 : 0;
        m->stride[a] = f->node && g->n[a] > 1 ? stride[a] : 0;
    }
}

static enum ek_status sample(const struct velocity *v, const double low[3], const double high[3],
                             double cell, struct ray_field *f)
{
    double most, finest = INFINITY;
    TRY(choose_grid(v, low, high, cell, &f->grid));
    TRY(velocity_range(v, &f->grid, &f->slowest, &most));
    TRY(velocity_sample(v, &f->grid, &f->node));
    for (int a = 0; a < 3; a++)
        finest = f->grid.n[a] > 1 ? fmin(finest, f->grid.step[a]) : finest;
    f->step = fmin(longest_step, finest / most);
    return EK_OK;
}

enum ek_status ray_field_open(const struct velocity *v, const double low[3], const double high[3],
                              double cell, struct ray_field *f)
{
    memset(f, 0, sizeof *f);
    if (v->kind == VELOCITY_LINEAR) {
        struct grid box = {.n = {2, 2, 2}};
        double most;
        for (int a = 0; a < 3; a++) {
            box.origin[a] = low[a];
            box.step[a] = high[a] - low[a];
        }
        TRY(velocity_range(v, &box, &f->slowest, &most));
        f->step = fmin(longest_step, step_angle / (1e-9 + hypot(v->k[0], hypot(v->k[1], v->k[2]))));
    } else {
        TRY(sample(v, low, high, cell, f));
    }
    describe(v, f);
    return EK_OK;
}

void ray_field_close(struct ray_field *f)
{
    free(f->node);
    f->node = NULL;
}

double ray_field_at(const struct ray_field *f, const double x[3])
{
    const struct ray_speed w = ray_speed_at(f->medium, f->node, REAL(x[0]), REAL(x[1]), REAL(x[2]));
    return w.v[0];
}

/* ---- fronts -----------------------------------------------------------------------------------*/

FN struct ray_state load(const double *state, size_t pitch, size_t i)
{
    const struct ray_state s = {LOAD(state, i),
                                LOAD(state, pitch + i),
                                LOAD(state, 2 * pitch + i),
                                LOAD(state, 3 * pitch + i),
                                LOAD(state, 4 * pitch + i),
                                LOAD(state, 5 * pitch + i)};
    return s;
}

FN void store(double *state, size_t pitch, size_t i, struct ray_state s)
{
    STORE(state, i, s.x);
    STORE(state, pitch + i, s.y);
    STORE(state, 2 * pitch + i, s.z);
    STORE(state, 3 * pitch + i, s.px);
    STORE(state, 4 * pitch + i, s.py);
    STORE(state, 5 * pitch + i, s.pz);
}

FN void advance(struct ray_medium m, const float *node, double *state, size_t pitch, size_t first,
                size_t count, const struct ray_layer *layer, size_t layers)
{
    for (size_t i = first; i < first + count; i += RAY_TOGETHER * LANES) {
        struct ray_bundle s;
        for (size_t r = 0; r < RAY_TOGETHER; r++)
            s.of[r] = load(state, pitch, i + r * LANES);
        for (size_t l = 0; l < layers; l++)
            s = ray_advance_by(m, node, s, layer[l].h, layer[l].steps);
        for (size_t r = 0; r < RAY_TOGETHER; r++)
            store(state, pitch, i + r * LANES, s.of[r]);
    }
}

void ray_advance_front(const struct ray_field *f, double *state, size_t pitch, size_t first,
                       size_t count, const struct ray_layer *layer, size_t layers)
{
    struct ray_medium m = f->medium;
    m.cube = f->node != NULL; /* constant in either call: neither loop tests it */
    if (m.cube)
        advance(m, f->node, state, pitch, first, count, layer, layers);
    else
        advance(m, NULL, state, pitch, first, count, layer, layers);
}
