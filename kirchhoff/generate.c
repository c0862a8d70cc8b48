/* kirchhoff/generate.c – synthetic surveys. */
#include "kirchhoff/generate.h"
#include "kirchhoff/analytic.h"
#include "kirchhoff/segy.h"
#include "src/opt.h"

const struct generate_survey generate_surveys[GENERATE_SURVEYS] = {
    /* On the square that four shots of kirchhoff-tt span on a grid of 2 km. */
    {"small", "2x2 shots, 11x11 receivers, v = 1500 + 0.6 z", 2, 11, 500, 1000, 500, 100, 701,
     0.004, 15, 1500, 0.6},
    {"medium", "3x3 shots, 16x16 receivers", 3, 16, 1000, 500, 0, 200, 701, 0.004, 15, 2000, 0.5},
    {"s1", "6x6 shots, 31x31 receivers, 34,596 traces", 6, 31, 500, 400, 0, 100, 701, 0.004, 15,
     2000, 0.5},
};

static const struct generate_diffractor diffractors[] = {
    {{1500, 1500, 1000}, 1},
    {{1000, 1900, 600}, 0.5},
    {{2000, 1200, 1500}, 2},
    {{1333, 1777, 873}, 1},
};
static const struct generate_plane dipping[] = {{1200, 1500, 1500, {0.20, 0.10}, 0.1}};
static const struct generate_plane level[] = {{1000, 1500, 1500, {0, 0}, 0.1}};

const struct generate_events generate_events[GENERATE_EVENTS] = {
    {"diffractors", "four points", 4, 0, diffractors, NULL},
    {"plane", "a reflector that dips to the east and north", 0, 1, NULL, dipping},
    {"flat", "a level reflector", 0, 1, NULL, level},
    {"all", "the points and the dipping reflector", 4, 1, diffractors, dipping},
};

void generate_place(const struct generate_survey *g, int i, double source[3], double receiver[3])
{
    const int n = g->receivers * g->receivers, shot = i / n, channel = i % n;
    source[0] = g->first_shot + shot / g->shots * g->shot_step;
    source[1] = g->first_shot + shot % g->shots * g->shot_step;
    receiver[0] = g->first_receiver + channel / g->receivers * g->receiver_step;
    receiver[1] = g->first_receiver + channel % g->receivers * g->receiver_step;
    source[2] = receiver[2] = 0;
}

/* ---- one trace --------------------------------------------------------------------------------*/

static void add_wavelet(const struct generate_survey *g, double time, double amplitude, float *out)
{
    const double reach = 2 / g->peak; /* beyond, the wavelet is below 1e-15 */
    const long first = (long)fmax(0, ceil((time - reach) / g->dt));
    const long last = (long)fmin((double)g->ns - 1, floor((time + reach) / g->dt));
    for (long i = first; i <= last; i++) {
        const double a = M_PI * g->peak * ((double)i * g->dt - time);
        out[i] += (float)(amplitude * (1 - 2 * a * a) * exp(-a * a));
    }
}

static void arrive(const struct generate_survey *g, const double from[3], const double x[3],
                   struct analytic *c)
{
    const double k[3] = {0, 0, g->k};
    analytic_linear(g->v0, k, from, x, c);
}

static void add_diffractor(const struct generate_survey *g, const struct generate_diffractor *d,
                           const double source[3], const double receiver[3], float *out)
{
    struct analytic s, r;
    arrive(g, source, d->at, &s);
    arrive(g, receiver, d->at, &r);
    add_wavelet(g, s.time + r.time, d->strength / (16 * M_PI * M_PI * s.spread * r.spread), out);
}

/* ---- a reflection -----------------------------------------------------------------------------*/

/* The plane, parametrized by two lengths along it; then both arrivals at a point of it. */
struct along {
    const struct generate_survey *g;
    const double *source, *receiver;
    double origin[3], e[2][3];
};

struct arrivals {
    struct analytic s, r;
    double slope[2]; /* of the time along the plane */
    double x[3];
};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void evaluate(const struct along *a, const double u[2], struct arrivals *b)
{
    for (int i = 0; i < 3; i++)
        b->x[i] = a->origin[i] + u[0] * a->e[0][i] + u[1] * a->e[1][i];
    arrive(a->g, a->source, b->x, &b->s);
    arrive(a->g, a->receiver, b->x, &b->r);
    for (int i = 0; i < 2; i++)
        b->slope[i] = dot(b->s.p, a->e[i]) + dot(b->r.p, a->e[i]);
}

/* Second derivatives along the plane, from differences of the exact first ones over a metre. */
static void second_derivatives(const struct along *a, const double u[2], double h[2][2])
{
    for (int i = 0; i < 2; i++) {
        struct arrivals before, after;
        double v[2] = {u[0], u[1]};
        v[i] -= 0.5;
        evaluate(a, v, &before);
        v[i] += 1;
        evaluate(a, v, &after);
        for (int j = 0; j < 2; j++)
            h[i][j] = after.slope[j] - before.slope[j];
    }
}

static void set_plane(const struct generate_plane *p, struct along *a)
{
    const double sx = p->slope[0], sy = p->slope[1];
    const double n1 = sqrt(1 + sx * sx), n2 = sqrt(1 + sx * sx + sy * sy);
    const double e[2][3] = {{1 / n1, 0, sx / n1}, {-sx * sy / (n1 * n2), n1 / n2, sy / (n1 * n2)}};
    const double origin[3] = {p->x0, p->y0, p->z0};
    memcpy(a->e, e, sizeof e);
    memcpy(a->origin, origin, sizeof origin);
}

/* Newton's method for the least time, which is convex around the specular point. */
static void find_specular(const struct along *a, double u[2], double h[2][2])
{
    struct arrivals b;
    for (int i = 0; i < 50; i++) {
        evaluate(a, u, &b);
        second_derivatives(a, u, h);
        const double det = h[0][0] * h[1][1] - h[0][1] * h[1][0];
        const double du = (h[1][1] * b.slope[0] - h[0][1] * b.slope[1]) / det;
        const double dv = (h[0][0] * b.slope[1] - h[1][0] * b.slope[0]) / det;
        u[0] -= du;
        u[1] -= dv;
        if (fabs(du) + fabs(dv) < 1e-9)
            return;
    }
}

static void add_reflection(const struct generate_survey *g, const struct generate_plane *p,
                           const double source[3], const double receiver[3], float *out)
{
    struct along a = {.g = g, .source = source, .receiver = receiver};
    struct arrivals b;
    double h[2][2], sum[3];
    set_plane(p, &a);
    double u[2] = {0.5 * (source[0] + receiver[0]) - p->x0,
                   0.5 * (source[1] + receiver[1]) - p->y0};
    find_specular(&a, u, h);
    evaluate(&a, u, &b);
    for (int i = 0; i < 3; i++)
        sum[i] = b.s.p[i] + b.r.p[i];
    const double v = g->v0 + g->k * b.x[2], cosine = 0.5 * v * sqrt(dot(sum, sum));
    const double det = fabs(h[0][0] * h[1][1] - h[0][1] * h[1][0]);
    const double inverse = cosine / (v * b.s.spread * b.r.spread * sqrt(det));
    add_wavelet(g, b.s.time + b.r.time, p->reflectivity / (4 * M_PI) * inverse, out);
}

void generate_trace(const struct generate_survey *g, const struct generate_events *e,
                    const double source[3], const double receiver[3], float *out)
{
    memset(out, 0, (size_t)g->ns * sizeof *out);
    for (int i = 0; i < e->ndiffractors; i++)
        add_diffractor(g, &e->diffractor[i], source, receiver, out);
    for (int i = 0; i < e->nplanes; i++)
        add_reflection(g, &e->plane[i], source, receiver, out);
}

/* ---- a file -----------------------------------------------------------------------------------*/

static enum ek_status put_trace(const struct generate_survey *g, const struct generate_events *e,
                                int i, struct segy_writer *w, float *x)
{
    double s[3], r[3];
    const int n = g->receivers * g->receivers;
    generate_place(g, i, s, r);
    generate_trace(g, e, s, r, x);
    const struct segy_put put = {.sx = s[0],
                                 .sy = s[1],
                                 .sz = s[2],
                                 .gx = r[0],
                                 .gy = r[1],
                                 .gz = r[2],
                                 .cdpx = 0.5 * (s[0] + r[0]),
                                 .cdpy = 0.5 * (s[1] + r[1]),
                                 .shot = i / n + 1,
                                 .channel = i % n + 1,
                                 .offset = hypot(r[0] - s[0], r[1] - s[1])};
    return segy_put(w, &put, x);
}

static enum ek_status write_all(const struct generate_survey *g, const struct generate_events *e,
                                struct segy_writer *w)
{
    const int n = g->shots * g->shots * g->receivers * g->receivers;
    OWNED_MEMORY NEW(float, x, g->ns, "out of memory for a trace");
    for (int i = 0; i < n; i++)
        TRY(put_trace(g, e, i, w, x));
    return EK_OK;
}

enum ek_status generate_file(const char *survey, const char *event, const char *path)
{
    struct segy_writer *w;
    int s, c;
    TRY(opt_choose("--generate", survey, &generate_surveys->name, sizeof *generate_surveys,
                   GENERATE_SURVEYS, &s));
    TRY(opt_choose("--events", event, &generate_events->name, sizeof *generate_events,
                   GENERATE_EVENTS, &c));
    const struct generate_survey *g = &generate_surveys[s];
    const struct generate_events *e = &generate_events[c];
    char velocity[76];
    snprintf(velocity, sizeof velocity, "v = %g m/s + %g 1/s z", g->v0, g->k);
    const struct segy_new file = {
        .ns = g->ns, .dt = g->dt, .text = {g->summary, e->summary, velocity}};
    TRY(segy_create(path, &file, &w));
    TRY_OR(write_all(g, e, w), segy_abandon(w));
    return segy_finish(w);
}
