/* kirchhoff/shot.c – the steps of a wavefront. */
#include "kirchhoff/shot.h"
#include "cu/team/thread_pool.h"
#include "kirchhoff/ray_device.h"
#include "src/clock.h"

static const double first_nodes = 2.5; /* radius of the ball filled by closed form, in grid steps */
static const double least_share =
    0.06; /* shortest edge to be halved, as a share of the distance travelled */
static const double thickness = 0.75;  /* of a step's layer, in longest edges */
static const double growth = 0.2;      /* longest step, as a share of the time so far */
static const double icosahedron = 1.3; /* its edge seen from the source, radians, rounded up */
/* Edges this many times as long as on a sphere in constant v are torn: what passes between is too
 * weak to be the strongest arrival. */
static const double tear = 20;
/* A front is given up at this number of torn triangles per ray, of rays traced per ray allowed in a
 * front, or at this limit of the angle between rays after raising; or when it could have crossed
 * the box this many times, since the rays left are trapped. */
static const double torn_most = 1 / 6.0, traced_most = 4, no_front = M_PI / 3, trapped = 2;
/* With fewer rays the host finishes before a device would have started. */
static const size_t worth_a_launch = 1024;
enum { ROUNDS = 12 };

/* ---- opening ----------------------------------------------------------------------------------*/

enum ek_status shot_open(const struct shot_job *job, const double source[3], struct shot **s)
{
    const struct shot_options *o = &job->options;
    NEW(struct shot, made, 1, "out of memory for a shot");
    made->job = job;
    made->limits = (struct front_limits){
        .edge = o->edge, .angle = o->angle * M_PI / 180, .most = (size_t)o->most};
    made->speed = ray_field_at(&job->field, source);
    memcpy(made->source, source, sizeof made->source);
    const int level = (int)fmax(ceil(log2(icosahedron / made->limits.angle)), 0);
    enum ek_status st = ttable_make(&job->grid, source, job->velocity->text, &made->table);
    THEN(st, front_open(&made->front, source, made->speed, level));
    made->numbers.rays = made->front.n;
    made->numbers.longest = made->front.n;
    return HAND_OUT(st, made, s, shot_close);
}

void shot_close(struct shot *s)
{
    if (!s)
        return;
    ttable_close(s->table);
    front_close(&s->front);
    free(s->slivers.corner);
    free(s->layer);
    free(s->length);
    free(s->gone);
    free(s);
}

struct ttable *shot_take(struct shot *s)
{
    struct ttable *t = s->table;
    ttable_count(t);
    s->table = NULL;
    return t;
}

/* ---- the threads of a unit --------------------------------------------------------------------*/

struct parts {
    struct shot *s;
    int width;
    size_t first, count; /* rays */
    const struct ray_layer *layer;
    size_t nlayers;
    double before;
    void (*fill)(const struct parts *p, const struct fill *f);
};

static void run_parts(struct parts *p, const struct cu *cu, void (*part)(void *p, int thread))
{
    p->width = thread_pool_width(cu);
    thread_pool_run_on(cu, part, p);
}

/* A thread's share of the rays, in whole vectors. */
static void advance_part(void *arg, int thread)
{
    const struct parts *p = arg;
    struct front *f = &p->s->front;
    const size_t vectors = (p->count + RAY_LANES - 1) / RAY_LANES;
    const size_t width = (size_t)p->width, t = (size_t)thread;
    const size_t begin = vectors * t / width * RAY_LANES;
    const size_t end = vectors * (t + 1) / width * RAY_LANES;
    ray_advance_front(&p->s->job->field, f->state, f->room, p->first + begin, end - begin, p->layer,
                      p->nlayers);
}

/* A thread's rows of the table. */
static void fill_part(void *arg, int thread)
{
    const struct parts *p = arg;
    const struct shot_job *job = p->s->job;
    const long rows = job->grid.n[1];
    const struct fill f = {p->s->table, (int)(rows * thread / p->width),
                           (int)(rows * (thread + 1) / p->width)};
    if (f.begin < f.end)
        p->fill(p, &f);
}

static void fill_ball(const struct parts *p, const struct fill *f)
{
    double gradient[3];
    velocity_at(p->s->job->velocity, p->s->source, gradient);
    fill_source(f, p->s->speed, gradient, p->s->time);
}

static void fill_layer(const struct parts *p, const struct fill *f)
{
    fill_step(f, &p->s->front, p->before, p->s->time);
}

static void fill_halves(const struct parts *p, const struct fill *f)
{
    fill_slivers(f, &p->s->front, &p->s->slivers, p->s->time);
}

static void fill_with(struct shot *s, const struct cu *cu, double before,
                      void (*fill)(const struct parts *, const struct fill *))
{
    struct parts p = {.s = s, .before = before, .fill = fill};
    const double start = clock_now();
    run_parts(&p, cu, fill_part);
    s->numbers.fill_s += clock_now() - start;
}

/* ---- integrate --------------------------------------------------------------------------------*/

static enum ek_status advance_on(struct ray_device *d, const struct parts *p)
{
    struct front *f = &p->s->front;
    TRY(ray_device_start(d, f, p->first, p->count, p->layer, p->nlayers));
    return ray_device_finish(d, f);
}

/* Advances rays first .. first+count-1 through the layers. If the device fails, the rays are
 * unchanged and the CPU does its work. */
static void advance(struct shot *s, const struct cu *cu, struct ray_device *device, size_t first,
                    size_t count, const struct ray_layer *layer, size_t nlayers)
{
    struct parts p = {.s = s, .first = first, .count = count, .layer = layer, .nlayers = nlayers};
    const double start = clock_now();
    const bool by_device = device && !s->lost && count >= worth_a_launch;
    if (by_device)
        s->lost = advance_on(device, &p);
    if (!by_device || s->lost)
        run_parts(&p, cu, advance_part);
    for (size_t l = 0; l < nlayers; l++)
        s->numbers.point_steps += (double)count * layer[l].steps;
    s->numbers.integrate_s += clock_now() - start;
}

/* Length of the next step, s: makes the layer about as thick as the longest edge. */
static double next_step(const struct shot *s)
{
    const struct front *f = &s->front;
    const double *p = f->state + 3 * f->room;
    double least = INFINITY;
    if (s->time == 0)
        return first_nodes * grid_step(&s->job->grid) / s->speed;
    for (size_t i = 0; i < f->n; i++)
        least = fmin(least, p[i] * p[i] + p[f->room + i] * p[f->room + i] +
                                p[2 * f->room + i] * p[2 * f->room + i]);
    return fmin(thickness * s->limits.edge * sqrt(least), growth * s->time);
}

static struct ray_layer divide(const struct shot *s, double seconds)
{
    const double n = fmax(ceil(seconds / s->job->field.step), 1);
    return (struct ray_layer){seconds / n, (int)n};
}

static enum ek_status note_layer(struct shot *s, struct ray_layer layer)
{
    const size_t n = s->numbers.steps;
    if (n == s->layer_room) {
        const size_t room = 2 * n + 64;
        struct ray_layer *layers = realloc(s->layer, room * sizeof *layers);
        s->layer = layers ? layers : s->layer;
        int *lengths = realloc(s->length, room * sizeof *lengths);
        s->length = lengths ? lengths : s->length;
        if (!layers || !lengths)
            FAIL(EK_UNAVAILABLE, "out of memory for the steps of a shot");
        s->layer_room = room;
    }
    s->layer[n] = layer;
    s->length[n] = (int)s->front.n;
    s->numbers.steps++;
    return EK_OK;
}

/* ---- split ------------------------------------------------------------------------------------*/

/* Edges below a grid step make no difference at the nodes; near the source all edges are shorter,
 * hence the second limit. */
static double least_edge(const struct shot *s)
{
    return fmin(grid_finest(&s->job->grid), least_share * s->speed * s->time);
}

static enum ek_status refine(struct shot *s, const struct cu *cu, struct ray_device *device)
{
    s->limits.least = least_edge(s);
    s->limits.tear = tear * s->speed * s->time;
    for (int round = 0; round < ROUNDS; round++) {
        size_t added;
        const double start = clock_now();
        s->slivers.n = 0;
        const enum ek_status st =
            front_split(&s->front, s->source, &s->limits, &s->slivers, &added, &s->numbers.raised);
        s->numbers.shape_s += clock_now() - start;
        if (st || !added)
            return st;
        /* new rays start at the source and catch up with the front */
        advance(s, cu, device, s->front.n - added, added, s->layer, s->numbers.steps);
        s->numbers.rays += added;
        front_measure(&s->front, s->time);
        fill_with(s, cu, s->time, fill_halves);
    }
    return EK_OK;
}

/* ---- compact ----------------------------------------------------------------------------------*/

/* Bit 2 a + side is set if x lies beyond that face of the box. */
static int beyond(const double box[2][3], const double x[3])
{
    int faces = 0;
    for (int a = 0; a < 3; a++)
        faces |= (x[a] < box[0][a]) << (2 * a) | (x[a] > box[1][a]) << (2 * a + 1);
    return faces;
}

/* Whether a ray beyond a face moves away from it without bending back: it is gone for good. */
static bool leaves(const struct shot_job *job, const double x[3], const double p[3], int faces)
{
    double gradient[3];
    velocity_at(job->velocity, x, gradient);
    for (int face = 0; face < 6; face++) {
        const double out = face & 1 ? 1 : -1;
        if (faces >> face & 1 && p[face / 2] * out > 0 && gradient[face / 2] * out <= 0)
            return true;
    }
    return false;
}

static bool is_gone(const struct shot *s, const int triangle[3])
{
    const struct front *f = &s->front;
    int inner = 63, outer = 63;
    double x[3][3], p[3][3];
    for (int c = 0; c < 3; c++) {
        for (size_t a = 0; a < 3; a++) {
            x[c][a] = f->state[a * f->room + (size_t)triangle[c]];
            p[c][a] = f->state[(3 + a) * f->room + (size_t)triangle[c]];
        }
        inner &= beyond(s->job->inner, x[c]);
        outer &= beyond(s->job->outer, x[c]);
    }
    if (outer || !inner)
        return outer;
    for (int c = 0; c < 3; c++)
        if (!leaves(s->job, x[c], p[c], inner))
            return false;
    return true;
}

static enum ek_status compact(struct shot *s)
{
    const double start = clock_now();
    struct front *f = &s->front;
    size_t gone = 0;
    if (f->ntriangles > s->gone_room) {
        free(s->gone);
        s->gone_room = 2 * f->ntriangles;
        s->gone = malloc(s->gone_room * sizeof *s->gone);
        if (!s->gone) {
            s->gone_room = 0;
            FAIL(EK_UNAVAILABLE, "out of memory for a front of %zu triangles", f->ntriangles);
        }
    }
    for (size_t t = 0; t < f->ntriangles; t++) {
        const bool torn = front_torn(f, &s->limits, f->triangle[t]);
        s->numbers.torn += torn;
        gone += s->gone[t] = torn || is_gone(s, f->triangle[t]);
    }
    if (gone)
        front_drop(f, s->gone);
    s->numbers.shape_s += clock_now() - start;
    return EK_OK;
}

/* ---- a step -----------------------------------------------------------------------------------*/

static bool is_hopeless(const struct shot *s)
{
    const struct shot_job *job = s->job;
    const struct shot_numbers *n = &s->numbers;
    double square = 0;
    for (int a = 0; a < 3; a++)
        square += pow(job->outer[1][a] - job->outer[0][a], 2);
    return (double)n->torn > torn_most * (double)n->rays ||
           (double)n->rays > traced_most * (double)s->limits.most || s->limits.angle > no_front ||
           s->time * job->field.slowest > trapped * sqrt(square);
}

enum ek_status shot_step(struct shot *s, const struct cu *cu, struct ray_device *device, bool *done)
{
    const double before = s->time, last = s->job->options.last;
    const double seconds = next_step(s);
    const struct ray_layer layer = divide(s, seconds);
    front_remember(&s->front);
    const bool there = device && s->front.n >= worth_a_launch;
    s->lost = EK_OK;
    advance(s, cu, device, 0, s->front.n, &layer, 1);
    TRY(note_layer(s, layer));
    s->time += seconds;
    s->numbers.device_steps += there && !s->lost;
    front_measure(&s->front, s->time);
    fill_with(s, cu, before, before > 0 ? fill_layer : fill_ball);
    TRY(refine(s, cu, device));
    s->numbers.longest = s->front.n > s->numbers.longest ? s->front.n : s->numbers.longest;
    TRY(compact(s));
    s->numbers.edge = s->limits.edge;
    s->numbers.last = s->time;
    s->numbers.given_up = s->front.ntriangles && is_hopeless(s);
    *done = !s->front.ntriangles || s->numbers.given_up || (last > 0 && s->time >= last);
    return EK_OK;
}
