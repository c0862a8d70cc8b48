/* kirchhoff/resum.c – checks an image by summing some of its points again. */
#include "kirchhoff/resum.h"
#include "cu/rank/cluster.h"
#include "kirchhoff/analytic.h"
#include "kirchhoff/migrate.h"
#include "kirchhoff/ray.h"
#include "src/kernel.h"
#include "src/random.h"
#include "kirchhoff/kernels/migrate.h"

/* A point costs about as much as fifty points of the image, so one in EACH adds two thirds of a per
 * cent. Of every ENDS points one is among the ENDS deepest depths and one among the ENDS first. */
enum { LEAST = 20, EACH = 8000, ENDS = 4 };

/* Updates of the image for each trace that rays check. A ray takes about as long as a hundred
 * thousand updates, and a trace needs two. */
static const double updates_each = 1e8;
enum { LEAST_TRACES = 8 };

double migrate_updates(const struct migrate *m)
{
    const double disc = M_PI * m->o.aperture * m->o.aperture;
    const double area = m->grid.step[0] * m->grid.step[1];
    const double all = (double)m->whole.n[0] * m->whole.n[1];
    const double columns = fmin(all, disc / area);
    return (double)m->survey->n * columns * m->grid.n[2];
}

/* Decides which share of the traces rays check; none if the velocity cannot be read any more. */
static void plan_times(struct resum *r)
{
    const struct migrate *m = r->m;
    const bool known = !MUTED(traveltime_cache_velocity(m->travel));
    const double pairs = (double)m->survey->n * r->n;
    const double wanted = fmax(migrate_updates(m) / updates_each, LEAST_TRACES);
    r->formula = known && m->travel->velocity->kind == VELOCITY_LINEAR;
    const bool sharp = known && velocity_jumps(m->travel->velocity, m->travel->grid.step[2]);
    r->rays = known && !r->formula && !sharp ? fmin(wanted / pairs, 1) : 0;
}

enum ek_status resum_open(const struct migrate *m, struct resum **out)
{
    struct resum *r = calloc(1, sizeof *r);
    uint64_t seed = 100;
    const double share = (double)grid_nodes(&m->grid) * m->classes.n / EACH;
    const int points = (int)fmin(fmax(share, LEAST), RESUM_MOST);
    if (!r)
        FAIL(EK_UNAVAILABLE, "out of memory for the points of a check");
    pthread_mutex_init(&r->lock, NULL);
    r->m = m;
    r->n = points;
    plan_times(r);
    for (int q = 0; q < points; q++) {
        struct resum_point *p = &r->point[q];
        p->class = (int)random_below(&seed, (uint64_t)m->classes.n);
        for (int a = 0; a < 3; a++)
            p->at[a] = (int)random_below(&seed, (uint64_t)m->grid.n[a]);
        const int within = (int)fmin(q / ENDS % ENDS, m->grid.n[2] - 1);
        if (q % ENDS == 0)
            p->at[2] = m->grid.n[2] - 1 - within;
        else if (q % ENDS == 2)
            p->at[2] = within;
    }
    *out = r;
    return EK_OK;
}

void resum_close(struct resum *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void resum_clear(struct resum *r)
{
    memset(r->total, 0, sizeof r->total);
}

/* ---- an end -----------------------------------------------------------------------------------*/

/* The wave from an end at a point: time, s; slowness, s/m; spreading, m; derivative of the time
 * with respect to the end's x and y, s/m. */
struct arrival {
    double time, p[3], spread, change[2];
};

static void by_formula(const struct velocity *v, const double end[3], const double x[3],
                       struct arrival *a)
{
    struct analytic c;
    analytic_linear(v->v0, v->k, end, x, &c);
    const double slowness = 1 / velocity_at(v, end, NULL);
    *a = (struct arrival){.time = c.time, .spread = c.spread};
    memcpy(a->p, c.p, sizeof a->p);
    for (int i = 0; i < 2; i++)
        a->change[i] = -slowness * c.takeoff[i];
}

/* Adds one table's part, from the eight nodes around x, each extrapolated along its gradient. As in
 * the tables, `time` is the mean slowness S and `spread` the spreading per time until
 * become_times(). from: of the end relative to the table's source, m. */
static void add_table(const struct traveltime_cache *t, const float *data, double weight,
                      const double from[2], const double x[3], struct arrival *a)
{
    const struct grid *g = &t->grid;
    int base[3];
    double part[3];
    for (int i = 0; i < 3; i++) {
        const double u = g->n[i] > 1 ? (x[i] - g->origin[i]) / g->step[i] : 0;
        base[i] = (int)fmax(fmin(u, g->n[i] - 2), 0);
        part[i] = u - base[i];
    }
    for (int corner = 0; corner < 8; corner++) {
        double w = weight, f[TABLE_FIELDS], way = 0;
        int at[3];
        for (int i = 0; i < 3; i++) {
            at[i] = base[i] + (corner >> i & 1);
            w *= corner >> i & 1 ? part[i] : 1 - part[i];
        }
        if (w == 0)
            continue;
        const size_t nz = (size_t)g->n[2], column = (size_t)(at[0] * g->n[1] + at[1]);
        for (size_t i = 0; i < TABLE_FIELDS; i++)
            f[i] = (double)data[(column * TABLE_FIELDS + i) * nz + (size_t)at[2]];
        for (int i = 0; i < 3; i++)
            way += g->n[i] > 1 ? f[TABLE_GX + i] * (x[i] - grid_coordinate(g, i, at[i])) : 0;
        for (int i = 0; i < 2; i++) {
            way += f[TABLE_HX + i] * from[i];
            a->change[i] += w * f[TABLE_HX + i];
        }
        for (int i = 0; i < 3; i++)
            a->p[i] += w * f[TABLE_GX + i];
        a->time += w * (f[TABLE_S] + 0.5 * way);
        a->spread += w * f[TABLE_L];
    }
}

/* Turns mean slownesses S into times r S, r the distance: (r S)' = S r' + r S'. */
static void become_times(const struct traveltime_cache *t, const struct traveltime_corners *c,
                         const double x[3], struct arrival *a)
{
    double source[3], way[3];
    traveltime_cache_place(t, c->node[0], source);
    source[0] += (double)c->dx[0];
    source[1] += (double)c->dy[0];
    for (int i = 0; i < 3; i++)
        way[i] = x[i] - source[i];
    const double r = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]), mean = a->time;
    for (int i = 0; i < 3; i++) {
        const double along = r > 0 ? mean * way[i] / r : 0;
        a->p[i] = along + r * a->p[i];
        if (i < 2)
            a->change[i] = r * a->change[i] - along;
    }
    a->time = mean * r;
    a->spread *= a->time;
}

/* Moves the end from the tables' surface to `datum` m below it: the ray between is straight, with
 * the slowness midway. */
static void lower(const struct nodes_end *end, struct arrival *a)
{
    const double h = (double)end->datum, slowness = (double)end->midway, turn = (double)end->turn;
    const double sine = fmin(hypot(a->change[0], a->change[1]) * sqrt((double)end->square), 1);
    const double length = a->time / slowness, down = length * sqrt(1 - sine * sine) - h;
    const double now = hypot(length * sine, down), by = now > 0 ? length / now * turn : 1;
    const double square = a->p[0] * a->p[0] + a->p[1] * a->p[1] + a->p[2] * a->p[2];
    a->time = slowness * now;
    a->spread *= now / length / sqrt(turn);
    for (int i = 0; i < 2; i++) {
        a->p[i] *= by;
        a->change[i] *= by;
    }
    const double rest = square - a->p[0] * a->p[0] - a->p[1] * a->p[1];
    a->p[2] = copysign(sqrt(fmax(rest, 0)), a->p[2] * length - h * slowness);
}

static void from_tables(const struct traveltime_cache *t, const struct nodes_end *end,
                        const double x[3], struct arrival *a)
{
    const struct traveltime_corners *c = &end->corners;
    *a = (struct arrival){.time = 0};
    for (int m = 0; m < c->n; m++)
        add_table(t, t->table[c->node[m]].data, (double)c->weight[m],
                  (const double[]){(double)c->dx[m], (double)c->dy[m]}, x, a);
    become_times(t, c, x, a);
    if (end->datum != 0 && a->time > 0)
        lower(end, a);
}

/* An end's part in a trace's weight at one depth. */
struct part {
    double weight, sigma, direction[3];
};

/* What a trace needs from one of its ends. */
struct end {
    double time, slope;
    struct part at;
};

static double slope_of(const struct nodes_end *end, const struct arrival *a)
{
    return fmax(fabs(a->change[0]) * (double)end->spacing[0],
                fabs(a->change[1]) * (double)end->spacing[1]);
}

static void arrive(const struct resum *r, const struct batch *b, int e, const double x[3],
                   struct arrival *a)
{
    const struct traveltime_cache *t = r->m->travel;
    if (r->formula)
        by_formula(t->velocity, b->place[e], x, a);
    else
        from_tables(t, &b->end[e], x, a);
}

/* The image takes the anti-alias level from the middle of a block of depths, or from its last node
 * if that comes before. */
static double middle_slope(const struct resum *r, const struct batch *b, int e, int depth,
                           const double x[3])
{
    const int middle = depth / MIGRATE_BLOCK * MIGRATE_BLOCK + MIGRATE_STEP;
    const int end = migrate_depth(r->m->nodes.end, r->m->sum.fine);
    const double z = grid_coordinate(&r->m->grid, 2, middle < end ? middle : end);
    const double last = r->formula ? INFINITY : fmax(grid_end(&r->m->travel->grid, 2), x[2]);
    struct arrival a;
    arrive(r, b, e, (const double[]){x[0], x[1], fmin(z, last)}, &a);
    return slope_of(&b->end[e], &a);
}

static double length_of(const double p[3])
{
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

static void weigh(const struct resum *r, const struct nodes_end *end, const struct arrival *a,
                  struct part *to)
{
    const double near = (double)r->m->par[PAR_NEAR];
    const double spread = fmax(a->spread, near), p = length_of(a->p);
    const double up =
        (double)end->emergence - a->change[0] * a->change[0] - a->change[1] * a->change[1];
    to->sigma = p > 0 ? spread / sqrt(p * sqrt((double)end->emergence)) : 0;
    to->weight = (double)end->scale;
    if (end->weight == WEIGHT_SPREAD || end->weight == WEIGHT_SPREAD_LINE)
        to->weight *= spread;
    else if (end->weight == WEIGHT_DECAY)
        to->weight /= spread;
    else if (end->weight != WEIGHT_ONE)
        to->weight *= sqrt(fmax(up, 0)) / spread;
    if (end->weight == WEIGHT_SPREAD_LINE || end->weight == WEIGHT_EMERGENCE_LINE)
        to->weight *= pow(to->sigma, end->weight == WEIGHT_SPREAD_LINE ? -0.5 : 0.5);
    for (int i = 0; i < 3; i++)
        to->direction[i] = p > 0 ? a->p[i] / p : 0;
}

static void find_end(const struct resum *r, const struct batch *b, int e, int depth,
                     const double x[3], struct end *to)
{
    const struct nodes_end *end = &b->end[e];
    struct arrival a;
    arrive(r, b, e, x, &a);
    weigh(r, end, &a, &to->at);
    to->time = a.time;
    to->slope = r->m->sum.levels > 1 ? middle_slope(r, b, e, depth, x) : 0;
}

/* ---- checking times by rays -------------------------------------------------------------------*/

static const double ray_step = 25; /* m, about */
enum { LEAST_STEPS = 20, MOST_STEPS = 400 };
static const double astray = 0.05; /* share of the distance: a ray that misses by more is ignored */

/* True minus given time at x of a wave from `end`, s. A ray traced back from x for the given time
 * ends on a wavefront around x, and the distance of `end` from that front is the error. NAN: the
 * ray ends too far beside `end`, or leaves the region where v is positive. */
static double time_error(const struct velocity *v, const double end[3], const double x[3],
                         const struct arrival *a)
{
    const double back[3] = {-a->p[0], -a->p[1], -a->p[2]};
    double along = 0, off = 0, slow = 0, r = 0;
    struct ray_end e;
    for (int i = 0; i < 3; i++)
        r += (end[i] - x[i]) * (end[i] - x[i]);
    r = sqrt(r);
    const double steps = fmin(fmax(r / ray_step, LEAST_STEPS), MOST_STEPS);
    if (!(a->time > 0 && r > 0) || MUTED(ray_trace(v, x, back, a->time, a->time / steps, &e)))
        return NAN;
    for (int i = 0; i < 3; i++) {
        along += e.p[i] * (end[i] - e.x[i]);
        off += (end[i] - e.x[i]) * (end[i] - e.x[i]);
        slow += e.p[i] * e.p[i];
    }
    const double across = fmax(off - along * along / slow, 0); /* squared */
    return across < astray * astray * r * r ? along + 0.5 * across * sqrt(slow) / r : NAN;
}

/* Along an axis with only one row of table sources, ends are taken to lie in that row. */
static void judge_time(const struct resum *r, const struct batch *b, int e, const double x[3],
                       struct resum_sum *sum)
{
    const struct traveltime_cache *t = r->m->travel;
    double end[3];
    struct arrival a;
    for (int i = 0; i < 3; i++)
        end[i] = i < 2 && t->surface.n[i] == 1 ? t->surface.origin[i] : b->place[e][i];
    from_tables(t, &b->end[e], x, &a);
    if (isnan(a.time))
        return;
    const double late = time_error(t->velocity, end, x, &a);
    sum->rays++;
    sum->missed += isnan(late);
    sum->wrong += fabs(late) > 2 * r->m->segy->dt;
    sum->square += isnan(late) ? 0 : late * late;
}

/* Draws traces by their number in the index: the same ones for any layout and chunks. */
static void judge_times(const struct resum *r, const struct batch *b, int q, const double x[3],
                        struct resum_sum *sum)
{
    for (int t = 0; r->rays > 0 && t < b->ntraces; t++) {
        uint64_t state = (uint64_t)b->index[t] * RESUM_MOST + (uint64_t)q;
        if (random_uniform(&state) >= r->rays)
            continue;
        judge_time(r, b, b->trace[t].source, x, sum);
        judge_time(r, b, b->trace[t].receiver, x, sum);
    }
}

/* ---- a point ----------------------------------------------------------------------------------*/

static double clamp(double x)
{
    return fmin(fmax(x, 0), 1);
}

static double limits(const struct migrate *m, const double *s, const double *g)
{
    const float *par = m->par;
    double d[3], square = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = s[i] + g[i];
        square += d[i] * d[i];
    }
    const double upright = d[2] * fabs(d[2]) / (square + 1e-12);
    return clamp((square - (double)par[PAR_ANGLE0]) * (double)par[PAR_ANGLE1]) *
           clamp((upright - (double)par[PAR_DIP0]) * (double)par[PAR_DIP1]);
}

static double weight_of(const struct migrate *m, const struct batch_trace *t, const struct part *s,
                        const struct part *g, const double x[3], int depth)
{
    const double far =
        hypot(x[0] - m->whole.origin[0] - (double)t->mx, x[1] - m->whole.origin[1] - (double)t->my);
    const double across = m->par[PAR_LINE] >= 2 ? sqrt(s->sigma + g->sigma) : 1;
    const double left =
        clamp(((double)m->sum.reach_at[depth] - far) * (double)m->sum.taper_at[depth]);
    return left * limits(m, s->direction, g->direction) * across * s->weight * g->weight;
}

static double term(const struct migrate *m, const struct batch *b, int trace, const struct end *s,
                   const struct end *g, double weight)
{
    const struct batch_trace *t = &b->trace[trace];
    const double u = fmin(fmax((s->time + g->time) * m->bank->rate + (double)t->start, 0),
                          (double)m->par[PAR_TOP]);
    const size_t whole = (size_t)u;
    size_t level = 0;
    for (int l = 1; l < m->sum.levels; l++)
        level += fmax(s->slope, g->slope) > (double)m->par[PAR_LEVEL + l - 1];
    const float *x = b->sample + (size_t)trace * m->bank->size + level * m->bank->stride + whole;
    return weight * ((double)x[0] + (u - (double)whole) * ((double)x[1] - (double)x[0]));
}

void resum_add(const struct resum *r, const struct batch *b, int q, struct resum_sum *sum)
{
    const struct migrate *m = r->m;
    const struct resum_point *p = &r->point[q];
    double x[3];
    OWNED_MEMORY struct end *end = malloc((size_t)b->nends * sizeof *end);
    for (int a = 0; a < 3; a++)
        x[a] = grid_coordinate(&m->grid, a, p->at[a]);
    for (int e = 0; end && e < b->nends; e++)
        find_end(r, b, e, p->at[2], x, &end[e]);
    if (!end)
        sum->sum = NAN; /* makes resum_judge()'s share NAN */
    judge_times(r, b, q, x, sum);
    for (int t = 0; end && t < b->ntraces; t++) {
        const struct batch_trace *trace = &b->trace[t];
        const struct end *s = &end[trace->source], *g = &end[trace->receiver];
        if (trace->gather != p->class || isnan(s->time + g->time))
            continue;
        const double weight = weight_of(m, trace, &s->at, &g->at, x, p->at[2]);
        if (!(weight > 0))
            continue;
        const double y = term(m, b, t, s, g, weight);
        sum->sum += y;
        sum->size += fabs(y);
        sum->terms++;
    }
}

void resum_take(struct resum *r, struct resum_sum *sum)
{
    LOCKED(&r->lock);
    double *total = &r->total->sum;
    for (int i = 0; i < RESUM_SUMS * r->n; i++)
        total[i] += (&sum->sum)[i];
    memset(sum, 0, (size_t)r->n * sizeof *sum);
}

/* ---- the verdict ------------------------------------------------------------------------------*/

struct resum_verdict resum_judge(struct resum *r)
{
    const struct image *image = r->m->image;
    struct resum_verdict v = {.points = r->n};
    const double rounded = ldexp((double)r->m->par[PAR_ROUND], -24); /* error per term, about */
    double off = 0, size = 0, most = 0;
    double square = 0;
    cluster_sum(&r->total->sum, RESUM_SUMS * (size_t)r->n);
    for (int q = 0; q < r->n; q++) {
        const struct resum_sum *total = &r->total[q];
        most = fmax(most, total->size);
        size += total->size;
        v.rays += total->rays;
        v.missed += total->missed;
        v.wrong += total->wrong;
        square += total->square;
    }
    for (int q = 0; q < r->n; q++) {
        const struct resum_point *p = &r->point[q];
        const size_t column = (size_t)(p->at[0] * image->grid.n[1] + p->at[1]);
        const double is = image_sum(image, p->class, column)[p->at[2]];
        const double wrong = fdim(fabs(is - r->total[q].sum), rounded * r->total[q].terms);
        off += wrong;
        v.failing += !(wrong <= 0.1 * r->total[q].size + 1e-3 * most);
    }
    v.share = size > 0 ? off / size : off;
    const double told = v.rays - v.missed;
    v.rms = told > 0 ? sqrt(square / told) : NAN;
    v.timed = 2 * told >= v.rays && told > 0;
    v.good = v.share < 0.05 && 10 * v.failing <= v.points && !(v.timed && 10 * v.wrong > told);
    return v;
}
