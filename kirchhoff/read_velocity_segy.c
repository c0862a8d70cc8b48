/* kirchhoff/read_velocity_segy.c – reads velocities from SEG-Y or SU files, one trace per column in
 * any order; the grid is found from the traces' positions. */
#include "kirchhoff/segy.h"
#include "kirchhoff/velocity_cube.h"
#include "src/file.h"
#include "src/opt.h"
#include "src/sort.h"

enum { CDP_X = 181, CDP_Y = 185, SOURCE_X = 73, SOURCE_Y = 77 };

/* Distance from a node allowed for, in steps: positions may be rounded to their scalar. */
static const double SLACK = 0.02;

struct layout {
    char path[1024];
    int byte[2]; /* header words of x and y, 0: default */
    double dz, scale, smooth;
};

#define AT(member) offsetof(struct layout, member)
static const struct opt layout_words[] = {
    {"x", OPT_INT, AT(byte[0]), "BYTE", "header word of x (181, else 73)", .min = 1, .max = 237},
    {"y", OPT_INT, AT(byte[1]), "BYTE", "header word of y (185, else 77)", .min = 1, .max = 237},
    {"dz", OPT_REAL, AT(dz), "M", "step in depth (the sample interval)", .min = 1e-6, .max = 1e6},
    {"scale", OPT_REAL, AT(scale), "X", "m/s of the number 1 (1; feet: 0.3048)", .min = 1e-9,
     .max = 1e9},
    {"smooth", OPT_REAL, AT(smooth), "M", "standard deviation (0)", .min = 0, .max = 1e6},
    OPT_END,
};

/* ---- positions --------------------------------------------------------------------------------*/

static double place(const struct segy_trace *t, int axis)
{
    return axis ? t->sy : t->sx;
}

/* Finds the first node, step and number of nodes along an axis; the step of a single node is 0. */
static enum ek_status find_axis(const struct segy *s, int axis, struct grid *g)
{
    double least = INFINITY;
    OWNED_MEMORY NEW(double, x, s->n, "%s: out of memory for the places of %zu traces", s->path,
                     s->n);
    for (size_t i = 0; i < s->n; i++)
        x[i] = place(&s->trace[i], axis);
    sort_numbers(x, s->n);
    const double low = x[0], range = x[s->n - 1] - low;
    for (size_t i = 1; i < s->n; i++)
        if (x[i] - x[i - 1] > 1e-3 * range / (double)s->n) /* more than rounding */
            least = fmin(least, x[i] - x[i - 1]);
    const double steps = range > 0 ? round(range / least) : 0;
    if (steps >= (double)s->n)
        FAIL(EK_USAGE, "%s: traces lie %g m apart along %c and %g m in all: that is no full grid",
             s->path, least, "xy"[axis], range);
    g->origin[axis] = low;
    g->n[axis] = (int)steps + 1;
    g->step[axis] = steps > 0 ? range / steps : 0;
    return EK_OK;
}

/* Velocities on a line hold for all positions across it: any positive step will do. */
static void widen_line(struct grid *g)
{
    for (int a = 0; a < 2; a++)
        if (!(g->step[a] > 0))
            g->step[a] = g->step[1 - a] > 0 ? g->step[1 - a] : g->step[2];
}

static enum ek_status find_grid(const struct segy *s, const struct layout *l, struct grid *g)
{
    *g = (struct grid){.n = {0, 0, (int)s->ns},
                       .origin = {0, 0, 1000 * s->layout.unit * (double)s->trace[0].delay},
                       .step = {0, 0, l->dz > 0 ? l->dz : 1000 * s->layout.unit * s->dt}};
    TRY(find_axis(s, 0, g));
    TRY(find_axis(s, 1, g));
    widen_line(g);
    if ((size_t)g->n[0] * (size_t)g->n[1] != s->n)
        FAIL(EK_USAGE, "%s: %zu traces do not fill the grid of %d x %d places that they lie on",
             s->path, s->n, g->n[0], g->n[1]);
    return EK_OK;
}

/* The node of a trace along an axis, -1 if it lies beside the nodes. */
static int node_of(const struct grid *g, const struct segy_trace *t, int axis)
{
    const double at = (place(t, axis) - g->origin[axis]) / g->step[axis], near = round(at);
    return fabs(at - near) <= SLACK && near >= 0 && near < g->n[axis] ? (int)near : -1;
}

/* ---- the numbers ------------------------------------------------------------------------------*/

/* Reads a trace into its column. `seen` [columns]. */
static enum ek_status put_column(const struct segy *s, size_t i, const struct grid *g, bool *seen,
                                 float *speed)
{
    const struct segy_trace *t = &s->trace[i];
    const int x = node_of(g, t, 0), y = node_of(g, t, 1);
    if (x < 0 || y < 0 || seen[x * g->n[1] + y])
        FAIL(EK_USAGE, "%s: trace %ld at %g,%g is %s of the grid %g,%g every %g x %g m", s->path,
             t->number, t->sx, t->sy,
             x < 0 || y < 0 ? "beside the nodes" : "a second one at a node", g->origin[0],
             g->origin[1], g->step[0], g->step[1]);
    if (t->ns != (uint32_t)s->ns)
        FAIL(EK_USAGE, "%s: trace %ld has %u samples, others have %ld", s->path, t->number,
             (unsigned)t->ns, s->ns);
    seen[x * g->n[1] + y] = true;
    return segy_read(s, i, speed + grid_index(g, x, y, 0));
}

static enum ek_status load(const struct segy *s, const struct layout *l, struct velocity *v)
{
    TRY(find_grid(s, l, &v->grid));
    const size_t nodes = grid_nodes(&v->grid);
    OWNED_MEMORY float *speed = malloc(nodes * sizeof *speed);
    OWNED_MEMORY bool *seen = calloc(s->n, sizeof *seen);
    if (!speed || !seen)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %zu velocities", s->path, nodes);
    for (size_t i = 0; i < s->n; i++)
        TRY(put_column(s, i, &v->grid, seen, speed));
    const double scale = l->scale > 0 ? l->scale : s->layout.unit;
    for (size_t i = 0; scale != 1 && i < nodes; i++)
        speed[i] *= (float)scale;
    v->kind = VELOCITY_CUBE;
    return velocity_cube_fill(v, speed, l->smooth);
}

static enum ek_status open_at(const struct layout *l, int x, int y, struct segy **s)
{
    const struct segy_options o = {.sx = x, .sy = y};
    file_input(l->path);
    return segy_open(l->path, &o, s);
}

static bool one_place(const struct segy *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->trace[i].sx != s->trace[0].sx || s->trace[i].sy != s->trace[0].sy)
            return false;
    return true;
}

enum ek_status read_velocity_segy(const char *words, struct velocity *v)
{
    struct layout l = {.scale = 0};
    OWNED(owned_segy_close) struct segy *s = NULL;
    const size_t name = strcspn(words, ",");
    snprintf(l.path, sizeof l.path, "%.*s", (int)name, words);
    TRY(opt_parse_list(layout_words, &l, "segy", words[name] ? words + name + 1 : ""));
    TRY(open_at(&l, l.byte[0] ? l.byte[0] : CDP_X, l.byte[1] ? l.byte[1] : CDP_Y, &s));
    if (!l.byte[0] && !l.byte[1] && one_place(s)) {
        segy_close(s);
        s = NULL;
        TRY(open_at(&l, SOURCE_X, SOURCE_Y, &s));
    }
    if (!(l.dz > 0))
        TRY(segy_check(s));
    return load(s, &l, v);
}
