/* kirchhoff/migrate.c – the plan of a migration: opens all input, sets weights, filters and
 * limits. */
#include "kirchhoff/migrate.h"
#include "cu/rank/cluster.h"
#include "src/kernel.h"
#include "src/sort.h"
#include "kirchhoff/kernels/migrate.h"

enum { SAMPLED_TRACES = 64 };

void migrate_defaults(struct migrate_options *o)
{
    *o = (struct migrate_options){.filter = -1,
                                  .aperture = INFINITY,
                                  .aperture_base = INFINITY,
                                  .dip = 90,
                                  .angle = 180,
                                  .taper = 0.2,
                                  .mute_taper = 0.04,
                                  .anti_alias = 1,
                                  .oversample = 2,
                                  .classes = 1,
                                  .max_memory = 2,
                                  .unfilled_most = 5,
                                  .failing_most = 10,
                                  .node_spacing = 200};
}

/* ---- tables -----------------------------------------------------------------------------------*/

static const double most_nodes = 1e8; /* of a surface; more means that coordinates are wrong */

static const double above = 20; /* m: tables begin this far above the highest end at most */

/* Surface nodes of computed tables, covering all ends with one more node on each side. They lie at
 * the ends' mean depth, or at the top of the image (`above` over the highest end at most) if that
 * is higher, as rays leave downwards; at depth 0 if ends are taken to lie at the surface. */
static enum ek_status cover(const struct migrate *m, struct tfolder_surface *surface)
{
    const struct segy *s = m->segy;
    const double spacing = m->o.node_spacing;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, n[2];
    double mean = 0, highest = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        const struct segy_trace *t = &s->trace[i];
        const double x[2][2] = {{t->sx, t->gx}, {t->sy, t->gy}};
        for (int a = 0; a < 2; a++) {
            low[a] = fmin(low[a], fmin(x[a][0], x[a][1]));
            high[a] = fmax(high[a], fmax(x[a][0], x[a][1]));
        }
        mean += 0.5 * (t->sz + t->gz) / (double)s->n;
        highest = fmin(highest, fmin(t->sz, t->gz));
    }
    surface->depth = m->o.datum == 1 ? 0 : fmin(mean, fmax(m->grid.origin[2], highest - above));
    for (int a = 0; a < 2; a++) {
        surface->step[a] = spacing;
        surface->origin[a] = spacing * (floor(low[a] / spacing + 1e-9) - 1);
        n[a] = 2 + ceil((high[a] - surface->origin[a]) / spacing - 1e-9);
    }
    if (!(n[0] * n[1] <= most_nodes))
        FAIL(EK_USAGE,
             "%s: sources and receivers from %g,%g to %g,%g m take %g surface nodes: are places "
             "amiss? --headers lists them; else a larger --node-spacing than %g m",
             s->path, low[0], low[1], high[0], high[1], n[0] * n[1], spacing);
    for (int a = 0; a < 2; a++)
        surface->n[a] = (int)n[a];
    return EK_OK;
}

/* A grid that covers the image, with cells of about 50 m. A thinner image gets one cell of 20 m or
 * more: the smallest step limits the rays of fronts, and finer ones would take minutes. */
static struct grid coarser(const struct grid *image)
{
    const double cell = 50, least = 20;
    struct grid g = *image;
    for (int a = 0; a < 3; a++) {
        const double length = image->step[a] * (image->n[a] - 1);
        const int cells = (int)fmax(1, ceil(length / cell));
        g.n[a] = image->n[a] > 1 ? cells + 1 : 1;
        g.step[a] = image->n[a] > 1 ? fmax(length / cells, least) : cell;
    }
    return g;
}

/* Checks the quality of all tables, as their index states it. */
static enum ek_status check_tables(const struct migrate *m)
{
    const struct tfolder *f = m->travel->folder;
    const char *name = m->travel->made ? f->velocity : f->path;
    const struct tfolder_total t = tfolder_total(f);
    const double holes = 100 * t.unfilled / t.nodes, wrong = 100 * t.failing / fmax(t.judged, 1);
    if (holes > m->o.unfilled_most)
        FAIL(EK_UNVERIFIED,
             "%s: %.3g %% of the tables' nodes have no time, more than --unfilled-max %g %%; make "
             "them anew, or accept holes in the image",
             name, holes, m->o.unfilled_most);
    if (wrong > m->o.failing_most)
        FAIL(EK_UNVERIFIED,
             "%s: %.3g %% of the tables' nodes disagree with the eikonal equation, more than "
             "--residual-max %g %%; smooth the velocity and make them anew",
             name, wrong, m->o.failing_most);
    return EK_OK;
}

static enum ek_status open_tables(struct migrate *m)
{
    const struct migrate_options *o = &m->o;
    const size_t budget = (size_t)(o->max_memory * 0x1p30);
    if (!o->tables == !o->velocity)
        FAIL(EK_USAGE,
             "which travel times? --tables FOLDER (of kirchhoff-tt), or --velocity MODEL");
    if (o->tables) {
        TRY(traveltime_cache_open(o->tables, budget, &m->travel));
        return check_tables(m);
    }
    struct grid grid = coarser(&m->grid);
    struct tfolder_surface surface;
    if (o->table_grid)
        TRY(grid_parse("--table-grid", o->table_grid, &grid));
    TRY(cover(m, &surface));
    if (o->dimension != MIGRATE_3D) { /* all ends lie on the line */
        surface.n[1] = 1;
        surface.origin[1] = m->grid.origin[1];
    }
    return traveltime_cache_compute(o->velocity, &grid, &surface, budget, &m->travel);
}

static enum ek_status open_grid(struct migrate *m)
{
    if (m->o.grid)
        return grid_parse("--grid", m->o.grid, &m->grid);
    if (m->travel) {
        m->grid = m->travel->grid;
        return EK_OK;
    }
    FAIL(EK_USAGE, "which image? --grid NXxNYxNZ:STEP[@X,Y,Z]");
}

/* ---- weights ----------------------------------------------------------------------------------*/

const char *const migrate_weights[] = {"kinematic", "diffractor", "amplitude", "modelling", NULL};
const char *const migrate_filters[] = {"derivative", "none", "half", "rho", NULL};
const char *const migrate_datums[] = {"headers", "tables", NULL};
const char *const migrate_dimensions[] = {"3", "2.5", "2", NULL};

static const struct weight {
    enum filter_bank_filter filter[3]; /* for each dimension */
    int kind[2];                       /* WEIGHT_… of sources, receivers */
    float scale;                       /* of either */
    /* Node steps below the ends in which each depth has a node of its own. Interpolated linearly at
     * the distance of `bend` steps, L_s L_g and 1 / L_g miss by 0.25 / bend^2 at most, 1 / (L_s
     * L_g) by three times that. */
    double bend;
} weights[] = {
    [MIGRATE_KINEMATIC] = {{FILTER_DERIVATIVE, FILTER_HALF, FILTER_HALF},
                           {WEIGHT_ONE, WEIGHT_ONE},
                           1,
                           0},
    [MIGRATE_DIFFRACTOR] = {{FILTER_NONE, FILTER_NONE, FILTER_NONE},
                            {WEIGHT_SPREAD, WEIGHT_SPREAD},
                            (float)(4 * M_PI),
                            3.5},
    [MIGRATE_AMPLITUDE] = {{FILTER_DERIVATIVE, FILTER_HALF, FILTER_RHO},
                           {WEIGHT_SPREAD, WEIGHT_EMERGENCE},
                           1,
                           3.5},
    [MIGRATE_MODELLING] = {{FILTER_NONE, FILTER_NONE, FILTER_NONE},
                           {WEIGHT_DECAY, WEIGHT_DECAY},
                           (float)(0.25 / M_PI),
                           9},
};

/* Spacing of sources or receivers: the given one, else the usual one in the headers; 0: unknown or
 * to be ignored. */
static double spacing(double given, double found)
{
    return given > 0 ? given : given < 0 || !isfinite(found) ? 0 : found;
}

/* Sources and receivers sum to one image, and the denser kind keeps it from aliasing: the other
 * counts only if its spacing is given. */
static void set_spacings(struct migrate *m, struct batch_weights *w)
{
    const struct migrate_options *o = &m->o;
    const double source = spacing(o->spacing_source, m->survey->geometry.spacing[0]);
    const double receiver = spacing(o->spacing_receiver, m->survey->geometry.spacing[1]);
    const bool dense = source > 0 && (receiver == 0 || source < receiver);
    if (dense || o->spacing_source > 0)
        w->spacing[0] = (float)(o->anti_alias * source);
    if (!dense || o->spacing_receiver > 0)
        w->spacing[1] = (float)(o->anti_alias * receiver);
}

static enum ek_status set_weights(struct migrate *m)
{
    const struct weight *weight = &weights[m->o.weight];
    struct batch_weights *w = &m->weights;
    const bool amplitude = m->o.weight == MIGRATE_AMPLITUDE, line = m->o.dimension != MIGRATE_3D;
    m->filter =
        m->o.filter < 0 ? weight->filter[m->o.dimension] : (enum filter_bank_filter)m->o.filter;
    w->emergence = amplitude;
    w->flat = m->o.datum == 1;
    set_spacings(m, w);
    for (int i = 0; i < 2; i++) {
        w->weight[i] = weight->kind[i];
        w->scale[i] = weight->scale;
    }
    if (!amplitude)
        return EK_OK;
    const double dx = m->o.spacing_receiver, found = m->survey->geometry.area;
    const double area = dx > 0 ? (line ? dx : dx * dx) : found;
    if (area <= 0)
        FAIL(EK_USAGE, "--weight amplitude wants the distance of receivers: --spacing-receiver M");
    w->scale[1] = (float)(2 * area);
    if (!line)
        return EK_OK;
    w->weight[0] = WEIGHT_SPREAD_LINE;
    w->weight[1] = WEIGHT_EMERGENCE_LINE;
    w->scale[0] = m->o.dimension == MIGRATE_25D ? (float)sqrt(2 * M_PI) : 1;
    m->par[PAR_LINE] = m->o.dimension == MIGRATE_25D ? 2 : 1;
    return EK_OK;
}

/* Median of the largest samples of some traces that are used (if these are silent, that of the
 * first one that is not), as a spike says nothing about the others; but 2^-20 of the largest at
 * least, so that a double holds sums of thousands of spikes. 0: all are silent. */
static enum ek_status usual_peak(const struct migrate *m, double *size)
{
    const size_t n = m->survey->n, stride = n / SAMPLED_TRACES + 1;
    double peak[SAMPLED_TRACES + 1];
    size_t found = 0;
    OWNED_MEMORY NEW(float, x, m->segy->ns, "out of memory for a trace");
    for (int pass = 0; pass < 2 && !found; pass++)
        for (size_t i = 0; i < n && !(pass && found); i += pass ? 1 : stride) {
            float most = 0;
            TRY(segy_read(m->segy, m->survey->order[i], x));
            for (long k = 0; k < m->segy->ns; k++)
                most = fmaxf(most, fabsf(x[k]));
            peak[found] = (double)most;
            found += most > 0;
        }
    sort_numbers(peak, found);
    *size = found ? fmax(peak[found / 2], ldexp(peak[found - 1], -20)) : 0;
    return EK_OK;
}

/* Typical size of a contribution: the usual peak of a trace times the weight at the bottom. */
static enum ek_status typical(const struct migrate *m, double *size)
{
    const struct batch_weights *w = &m->weights;
    const double depth = fmax(grid_end(&m->grid, 2), m->grid.step[2]);
    double most;
    TRY(usual_peak(m, &most));
    double weight = (double)w->scale[0] * (double)w->scale[1];
    if (w->emergence)
        weight *= 1e-3; /* 1 / v */
    else if (w->weight[0] == WEIGHT_SPREAD)
        weight *= depth * depth;
    else if (w->weight[0] == WEIGHT_DECAY)
        weight /= depth * depth;
    if (m->par[PAR_LINE] >= 2)
        weight *= sqrt(2000 * depth);
    *size = most * weight / pow(m->segy->dt, filter_bank_power(m->filter));
    return EK_OK;
}

/* Contributions are rounded to multiples of 2^-23 of a typical one, by adding and subtracting
 * PAR_ROUND. */
static enum ek_status set_rounding(struct migrate *m)
{
    double size = 0;
    int power;
    m->par[PAR_ROUND] = 0;
    if (!m->o.deterministic)
        return EK_OK;
    TRY(typical(m, &size));
    frexp(size, &power);
    m->par[PAR_ROUND] = size > 0 ? (float)ldexp(1.5, power) : 0;
    return EK_OK;
}

/* ---- limits -----------------------------------------------------------------------------------*/

static double square(double x)
{
    return x * x;
}

/* Contributions fade from 0 at the limit to full strength 5 degrees inside it. */
static void set_limits(struct migrate *m)
{
    const double fade = 5 * M_PI / 180, half = 0.5 * m->o.angle * M_PI / 180,
                 dip = m->o.dip * M_PI / 180;
    float *par = m->par;
    par[PAR_ANGLE0] = m->o.angle >= 180 ? -1e3f : (float)(4 * square(cos(half)));
    par[PAR_ANGLE1] =
        m->o.angle >= 180
            ? 1
            : (float)(1 / (4 * (square(cos(fmax(half - fade, 0))) - square(cos(half))) + 1e-6));
    par[PAR_DIP0] = m->o.dip >= 90 ? -1e3f : (float)square(cos(dip));
    par[PAR_DIP1] = (float)(1 / (square(cos(fmax(dip - fade, 0))) - square(cos(dip)) + 1e-6));
}

static enum ek_status set_aperture(struct migrate *m)
{
    const int nodes = m->sum.nodes, depths = migrate_span(nodes, m->sum.fine);
    const double base = m->o.aperture_base, slope = tan(fmin(m->o.dip, 89.9) * M_PI / 180);
    float *reach = ARENA_NEW(&m->arena, depths + nodes, float), *reach_at = reach + nodes;
    float *taper = ARENA_NEW(&m->arena, depths + nodes, float), *taper_at = taper + nodes;
    TRY(arena_check(&m->arena, "an aperture"));
    for (int k = 0; k < depths; k++) {
        const double z = fmax(grid_coordinate(&m->grid, 2, k), 0);
        const double radius = fmin(m->o.aperture, isfinite(base) ? base + z * slope : INFINITY);
        reach_at[k] = (float)fmin(radius, 1e9);
        taper_at[k] = (float)(1 / fmax(m->o.taper * reach_at[k], 1e-3));
    }
    for (int k = 0; k < nodes; k++) {
        reach[k] = reach_at[migrate_depth(k, m->sum.fine)];
        taper[k] = taper_at[migrate_depth(k, m->sum.fine)];
    }
    m->sum.reach = reach;
    m->sum.taper = taper;
    m->sum.reach_at = reach_at;
    m->sum.taper_at = taper_at;
    return EK_OK;
}

/* Number of depths at the top that have nodes of their own. Interpolation by a parabola between
 * nodes h apart, a below an end, misses T by 0.0045 h^3 / (v a^2) at most, for either end; by a
 * cubic through four nodes, an angle by 0.2 (h / a)^4. */
static int fine_depths(const struct migrate *m)
{
    const double most = 1e-4, usual = 1500, dz = m->grid.step[2]; /* s, m/s */
    const struct segy_trace *first = m->segy->trace;
    double lowest = m->travel->surface.depth;
    float square;
    for (size_t i = 0; i < m->segy->n && m->o.datum != 1; i++)
        lowest = fmax(lowest, fmax(m->segy->trace[i].sz, m->segy->trace[i].gz));
    if (MUTED(traveltime_cache_emergence(m->travel, first->sx, first->sy, lowest, &square)))
        square = (float)(1 / (usual * usual));
    const double below = sqrt(0.009 * pow(MIGRATE_STEP * dz, 3) * sqrt((double)square) / most);
    const double steps = fmax(weights[m->o.weight].bend, m->sum.limited ? 3 : 0);
    const double depths =
        m->sum.limited && m->grid.n[2] <= 4 * MIGRATE_STEP
            ? m->grid.n[2]
            : (lowest + fmax(below, steps * MIGRATE_STEP * dz) - m->grid.origin[2]) / dz;
    const double blocks = ceil(fmin(fmax(depths, 0), m->grid.n[2]) / MIGRATE_BLOCK);
    return (int)blocks * MIGRATE_BLOCK;
}

static void set_samples(struct migrate *m)
{
    float *par = m->par;
    par[PAR_SAMPLES] = (float)m->bank->rate;
    par[PAR_HALF_STEP] = (float)(0.5 * MIGRATE_STEP * m->grid.step[2]);
    par[PAR_TOP] = (float)(filter_bank_last(m->bank, m->segy->ns) + 2);
    par[PAR_NEAR] = (float)m->grid.step[2];
    for (int b = 1; b < MIGRATE_LEVELS; b++)
        par[PAR_LEVEL + b - 1] = (float)(0.5 / filter_bank_cutoff(m->bank, b - 1));
}

/* ---- opening ----------------------------------------------------------------------------------*/

/* Warns if the image begins above the highest source, receiver or given surface node. */
static void warn_above(const struct migrate *m)
{
    const bool laid = m->o.tables || m->o.datum == 1; /* the user knows where the surface is */
    double ground = laid ? m->travel->surface.depth : INFINITY;
    for (size_t i = 0; i < m->segy->n && m->o.datum != 1; i++)
        ground = fmin(ground, fmin(m->segy->trace[i].sz, m->segy->trace[i].gz));
    if (m->grid.origin[2] < ground && cluster_launch().rank == 0)
        status_warn("the image begins at depth %g m, above the ground at %g m: what lies between "
                    "is no picture of anything; move --grid …@X,Y,Z",
                    m->grid.origin[2], ground);
}

static enum ek_status open_survey(struct migrate *m)
{
    const struct migrate_options *o = &m->o;
    const struct chunks_options so = {
        .classes = {o->class_width > 0 ? o->classes : 1, o->class_first, o->class_width,
                    o->offset_most},
        .reach = o->aperture,
        .box = {{m->grid.origin[0], grid_end(&m->grid, 0)},
                {m->grid.origin[1], grid_end(&m->grid, 1)}},
        .chunk = o->chunk,
        .share = o->weight != MIGRATE_AMPLITUDE || o->spacing_receiver > 0 ? GEOMETRY_NONE
                 : o->dimension == MIGRATE_3D                              ? GEOMETRY_AREA
                                                                           : GEOMETRY_LENGTH};
    m->classes = so.classes;
    TRY(chunks_open(m->segy, m->travel, &so, &m->survey));
    return o->trust_geometry ? EK_OK : geometry_check(m->segy, m->survey->n, &m->survey->geometry);
}

/* Largest change of time from trace to trace: the spacing over the smallest v at an end; INFINITY
 * if v is unknown. */
static double most_change(const struct migrate *m)
{
    const float *spacing = m->weights.spacing;
    double most = 0;
    if (MUTED(traveltime_cache_velocity(m->travel)))
        return INFINITY;
    for (size_t i = 0; i < m->segy->n; i++) {
        const struct segy_trace *t = &m->segy->trace[i];
        const double end[2][3] = {{t->sx, t->sy, t->sz}, {t->gx, t->gy, t->gz}};
        for (int e = 0; e < 4; e++) {
            double x[3] = {end[e / 2][0], end[e / 2][1], end[e / 2][2]};
            if (e % 2)
                x[2] = m->travel->surface.depth;
            const double v = velocity_at(m->travel->velocity, x, NULL);
            most = fmax(most, v > 0 ? (double)spacing[e / 2] / v : INFINITY);
        }
    }
    return most;
}

/* Number of low-pass levels that may be used: level l of filter_bank.h is for times that change by
 * more than 2^((l - 1) / 2) samples from trace to trace. */
static int count_levels(const struct migrate *m)
{
    const double blended = 1.25, most = blended * most_change(m) / m->segy->dt;
    int levels = most > 0;
    while (levels < MIGRATE_LEVELS && exp2(0.5 * (levels - 1)) < most)
        levels++;
    return levels > 1 ? levels : 1;
}

static enum ek_status open_bank(struct migrate *m)
{
    const struct filter_bank_options bo = {.ns = m->segy->ns,
                                           .dt = m->segy->dt,
                                           .factor = m->o.oversample,
                                           .levels = count_levels(m),
                                           .filter = m->filter,
                                           .ricker = m->o.wavelet};
    m->sum.levels = bo.levels;
    return filter_bank_open(&bo, &m->bank);
}

enum ek_status migrate_input(const struct migrate_options *o, struct segy **s)
{
    struct segy_options words = {.geometry = o->geometry};
    if (!o->data)
        FAIL(EK_USAGE, "which traces? kirchhoff-mig DATA.segy; see --help");
    TRY(segy_options_parse(o->words, o->set, &words));
    return segy_open(o->data, &words, s);
}

/* Moves the ends to the image's line (--line), or checks that they lie on it. */
static enum ek_status place_line(struct migrate *m)
{
    if (m->o.line && m->o.dimension == MIGRATE_3D)
        m->o.dimension = MIGRATE_25D;
    if (m->o.dimension == MIGRATE_3D)
        return EK_OK;
    if (m->grid.n[1] != 1)
        FAIL(EK_USAGE, "--dimension %s: the image of a line has one y: --grid NXx1xNZ:STEP[@X,Y,Z]",
             migrate_dimensions[m->o.dimension]);
    const double y = m->grid.origin[1];
    return m->o.line ? line_project(m->segy, m->o.line, y, &m->line) : line_check(m->segy, y);
}

static enum ek_status open_input(struct migrate *m)
{
    TRY(migrate_input(&m->o, &m->segy));
    TRY(segy_check(m->segy));
    TRY(mute_parse(m->o.mute, m->o.mute_taper, &m->mute));
    if (m->o.offset_taper > 0 && !(m->o.offset_most > 0))
        FAIL(EK_USAGE, "--offset-taper %g: up to which offset? --offset-max M", m->o.offset_taper);
    if (m->o.tables)
        TRY(open_tables(m));
    TRY(open_grid(m));
    TRY(place_line(m));
    return m->o.tables ? EK_OK : open_tables(m);
}

static enum ek_status fill(struct migrate *m)
{
    m->par = ARENA_NEW(&m->arena, PAR_COUNT, float);
    TRY(arena_check(&m->arena, "a migration"));
    TRY(open_input(m));
    TRY(open_survey(m));
    TRY(set_weights(m));
    TRY(open_bank(m));
    TRY(nodes_plan_open(&m->grid, &m->travel->grid, 1, 0, m->par, &m->nodes)); /* does it fit? */
    m->sum.limited = m->o.angle < 180 || m->o.dip < 90 || isfinite(m->o.aperture_base);
    m->sum.fine = fine_depths(m);
    TRY(migrate_slabs_plan(m));
    TRY(migrate_slab(m, 0));
    m->sum.depths = m->image->depths;
    m->sum.nodes = m->image->nodes;
    m->sum.end = m->nodes.end;
    m->sum.par = m->par;
    set_samples(m);
    set_limits(m);
    TRY(set_aperture(m));
    TRY(set_rounding(m));
    return EK_OK;
}

enum ek_status migrate_begin(struct migrate *m, int threads)
{
    warn_above(m);
    if (m->travel->velocity && !m->travel->folder)
        velocity_warn(m->travel->velocity, &m->travel->grid);
    TRY(tables_made(m->travel, threads));
    return m->travel->made ? check_tables(m) : EK_OK;
}

enum ek_status migrate_open(const struct migrate_options *o, struct migrate **out)
{
    NEW(struct migrate, m, 1, "out of memory");
    m->o = *o;
    const enum ek_status st = fill(m);
    return HAND_OUT(st, m, out, migrate_close);
}

void migrate_close(struct migrate *m)
{
    if (!m)
        return;
    nodes_plan_close(&m->nodes);
    resum_close(m->resum);
    image_close(m->image);
    filter_bank_close(m->bank);
    chunks_close(m->survey);
    traveltime_cache_close(m->travel);
    segy_close(m->segy);
    arena_free(&m->arena);
    free(m);
}

size_t migrate_bytes(const struct migrate *m, int units)
{
    return image_bytes(&m->grid, &m->classes) + (size_t)units * batch_bytes(m) +
           m->segy->n * sizeof *m->segy->trace;
}
