/* mcsem/generate.c – designs, shots, noise. */
#include "mcsem/generate.h"
#include "src/opt.h"
#include "src/random.h"
#include "src/sort.h"

static const struct generate_design designs[] = {
    {"tiny",
     .nx = 5,
     .ny = 3,
     .nz = 12,
     .dx = 1000,
     .dy = 1000,
     .dz = 150,
     .water = 1000,
     .rho = 1,
     .lines = 3,
     .receivers = {4, 4, 4},
     .tow = 1000,
     .shot = 250,
     .along = 5000,
     .across = 2000,
     .shots = 160,
     .nfreq = 2,
     .freq = {0.25, 1},
     .nbodies = 1,
     .body = {{{500, 3500}, {500, 1500}, {6, 8}, 30}}},
    {"small",
     .nx = 11,
     .ny = 5,
     .nz = 30,
     .dx = 500,
     .dy = 750,
     .dz = 80,
     .water = 1000,
     .rho = 1,
     .lines = 3,
     .receivers = {8, 8, 8},
     .tow = 750,
     .shot = 250,
     .along = 6000,
     .across = 1500,
     .shots = 2000,
     .nfreq = 3,
     .freq = {0.25, 0.75, 1.25},
     .nbodies = 1,
     .body = {{{1250, 3750}, {700, 2300}, {12, 15}, 30}}},
    {"published",
     .nx = 41,
     .ny = 11,
     .nz = 89,
     .dx = 500,
     .dy = 750,
     .dz = 47.2,
     .water = 1500,
     .rho = 1,
     .lines = 5,
     .receivers = {38, 38, 37, 38, 38},
     .tow = 750,
     .shot = 150,
     .along = 12000,
     .across = 7500,
     .shots = 176841,
     .nfreq = 3,
     .freq = {0.25, 0.75, 1.25},
     .nbodies = 3,
     .body = {{{4000, 14000}, {2250, 4500}, {32, 36}, 50}, /* the bar and the stem of a T */
              {{8000, 10000}, {750, 2250}, {32, 36}, 50},
              {{13000, 18000}, {3000, 6750}, {53, 56}, 100}}},
};
enum { DESIGNS = sizeof designs / sizeof *designs };

/* Standard deviations of the jitter; nominal altitude, wire and clearance. */
static const double JITTER_X = 10, JITTER_Y = 30, ALTITUDE = 35, JITTER_ALTITUDE = 3, /* m */
    JITTER_AZIMUTH = 3, JITTER_DIP = 1,                                               /* degrees */
    WIRE = 270, CLEARANCE = 0.1;                                                      /* m */

enum ek_status generate_find(const char *name, const struct generate_design **design)
{
    const char *names[DESIGNS];
    for (int i = 0; i < DESIGNS; i++) {
        names[i] = designs[i].name;
        if (!strcmp(name, names[i])) {
            *design = &designs[i];
            return EK_OK;
        }
    }
    FAIL(EK_USAGE, "there is no design '%s'%s; there are tiny, small and published", name,
         opt_suggest(name, names, DESIGNS));
}

struct generate_design generate_scaled(const struct generate_design *design, double scale)
{
    struct generate_design d = *design;
    d.shots = (size_t)fmax(1, round(scale * (double)design->shots));
    if (scale > 1)
        d.shot = design->shot / scale;
    return d;
}

/* ---- the sea floor --------------------------------------------------------------------------- */

static void put_body(const struct generate_body *b, struct earth *e)
{
    for (int c = 0; c < earth_columns(e); c++) {
        const double x = e->x0 + c % e->nx * e->dx, y = e->y0 + c / e->nx * e->dy;
        if (x < b->x[0] || x > b->x[1] || y < b->y[0] || y > b->y[1])
            continue;
        for (int k = b->layers[0]; k < b->layers[1]; k++)
            e->m[(size_t)c * (size_t)e->nz + (size_t)k] = log(b->rho);
    }
}

enum ek_status generate_earth(const struct generate_design *d, bool start, struct earth **earth)
{
    struct earth *e;
    TRY(earth_open(d->nx, d->ny, d->nz, d->dz, d->water, d->rho, &e));
    e->dx = d->dx;
    e->dy = d->dy;
    for (int b = 0; b < d->nbodies && !start; b++)
        put_body(&d->body[b], e);
    *earth = e;
    return EK_OK;
}

/* ---- random numbers -------------------------------------------------------------------------- */

/* A random number that depends on x alone. */
static uint64_t hash(uint64_t x)
{
    return random_bits(&x);
}

/* The `which`-th normally distributed number of this key (Box & Muller). */
static double random_normal(uint64_t key, int which)
{
    const uint64_t a = hash(key + 2 * (uint64_t)which), b = hash(key + 2 * (uint64_t)which + 1);
    const double u = ((double)(a >> 11) + 1) * 0x1p-53, v = (double)(b >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

/* ---- shots ----------------------------------------------------------------------------------- */

struct shot {
    uint64_t hash; /* first member: sort_by_u64 */
    double x, y;
    int receiver[2]; /* the duo */
};

struct acquisition {
    const struct generate_design *design;
    unsigned seed;
    int nreceivers;
    double (*receiver)[2]; /* [nreceivers] x, y */
    struct shot *shot;
    size_t nshots, room;
};

static double width_of(const struct generate_design *d)
{
    return (d->nx - 1) * d->dx;
}

static double height_of(const struct generate_design *d)
{
    return (d->ny - 1) * d->dy;
}

static void place_receivers(struct acquisition *f)
{
    const struct generate_design *d = f->design;
    f->nreceivers = 0;
    for (int l = 0; l < d->lines; l++)
        for (int i = 0; i < d->receivers[l]; i++) {
            f->receiver[f->nreceivers][0] = width_of(d) * i / (d->receivers[l] - 1);
            f->receiver[f->nreceivers++][1] = d->lines > 1 ? height_of(d) * l / (d->lines - 1) : 0;
        }
}

static enum ek_status add_shot(struct acquisition *f, struct shot s)
{
    TRY(arena_grow(&f->shot, &f->room, f->nshots, sizeof *f->shot, "shots"));
    f->shot[f->nshots++] = s;
    return EK_OK;
}

/* Whether the midpoints with both receivers lie over the columns. */
static bool midpoints_in_grid(const struct acquisition *f, const struct shot *s)
{
    const struct generate_design *d = f->design;
    for (int k = 0; k < 2; k++) {
        const double x = 0.5 * (s->x + f->receiver[s->receiver[k]][0]);
        if (x < -0.5 * d->dx || x > width_of(d) + 0.5 * d->dx)
            return false;
    }
    const double y = 0.5 * (s->y + f->receiver[s->receiver[0]][1]);
    return y >= -0.5 * d->dy && y <= height_of(d) + 0.5 * d->dy;
}

/* Adds the shots of duo number `duo`. */
static enum ek_status add_duo_shots(struct acquisition *f, int duo, int first, int second)
{
    const struct generate_design *d = f->design;
    const double x = 0.5 * (f->receiver[first][0] + f->receiver[second][0]);
    const double y = f->receiver[first][1];
    const int lines = (int)(d->across / d->tow + height_of(d) / d->tow) + 1;
    const int shots = (int)(d->along / d->shot);
    for (int t = -lines; t <= 2 * lines; t++)
        for (int k = -shots; k <= shots && fabs(t * d->tow - y) <= d->across; k++) {
            const uint64_t number =
                ((uint64_t)duo << 40) + ((uint64_t)(t + 512) << 20) + (uint64_t)(k + 65536);
            const struct shot s = {hash(f->seed * (uint64_t)1000003 + number),
                                   x + k * d->shot,
                                   t * d->tow,
                                   {first, second}};
            if (midpoints_in_grid(f, &s))
                TRY(add_shot(f, s));
        }
    return EK_OK;
}

/* Neighbours on a line form duos; a last single one is paired with its predecessor. */
static enum ek_status add_all_shots(struct acquisition *f)
{
    const struct generate_design *d = f->design;
    int duo = 0, line = 0;
    for (int l = 0; l < d->lines; line += d->receivers[l++])
        for (int i = 0; i < d->receivers[l]; i += 2) {
            const int first = i + 1 < d->receivers[l] ? i : i - 1;
            TRY(add_duo_shots(f, duo++, line + first, line + first + 1));
        }
    return EK_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void fill_pairs(const struct acquisition *f, struct survey *s)
{
    const struct generate_design *d = f->design;
    const double degree = acos(-1) / 180;
    for (size_t i = 0; i < f->nshots; i++)
        for (int k = 0; k < 2; k++) {
            const struct shot *shot = &f->shot[i];
            const uint64_t key = hash(shot->hash);
            const double *receiver = f->receiver[shot->receiver[k]];
            s->pair[2 * i + (size_t)k] = (struct survey_pair){
                .source = {shot->x + JITTER_X * random_normal(key, 0),
                           shot->y + JITTER_Y * random_normal(key, 1),
                           d->water - ALTITUDE - JITTER_ALTITUDE * random_normal(key, 2)},
                .azimuth = JITTER_AZIMUTH * degree * random_normal(key, 3),
                .dip = JITTER_DIP * degree * random_normal(key, 4),
                .length = WIRE,
                .receiver = {receiver[0], receiver[1], d->water - CLEARANCE},
                .direction = {1, 0, 0},
                .source_id = (int)i,
                .receiver_id = shot->receiver[k]};
        }
}

static enum ek_status make_survey(struct acquisition *f, const struct earth *earth,
                                  struct survey **survey)
{
    const struct generate_design *d = f->design;
    struct survey *s;
    place_receivers(f);
    TRY(add_all_shots(f));
    qsort(f->shot, f->nshots, sizeof *f->shot, sort_by_u64);
    if (d->shots && d->shots < f->nshots)
        f->nshots = d->shots;
    TRY(survey_open(2 * f->nshots, d->nfreq, &s));
    memcpy(s->freq, d->freq, (size_t)d->nfreq * sizeof *s->freq);
    s->nsources = f->nshots;
    s->nreceivers = (size_t)f->nreceivers;
    fill_pairs(f, s);
    const enum ek_status st = survey_bin(s, earth, true);
    return HAND_OUT(st, s, survey, survey_close);
}

enum ek_status generate_survey(const struct generate_design *design, const struct earth *earth,
                               unsigned seed, struct survey **survey)
{
    struct acquisition f = {.design = design, .seed = seed};
    int receivers = 0;
    for (int l = 0; l < design->lines; l++)
        receivers += design->receivers[l];
    f.receiver = calloc((size_t)receivers, sizeof *f.receiver);
    const enum ek_status st = f.receiver
                                  ? make_survey(&f, earth, survey)
                                  : status_fail(EK_UNAVAILABLE, "out of memory for receivers");
    free(f.receiver);
    free(f.shot);
    return st;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Replaces the data of one cell by its fields. */
static enum ek_status compute_cell(struct survey *s, struct cell_work *w, const struct earth *earth,
                                   bool all, int c, double *sums, double complex *field)
{
    struct cell_report report;
    const size_t nfreq = (size_t)s->nfreq, first = s->first[c] * nfreq;
    TRY(cell_compute(w, NULL, earth->m, c, sums, field + first, &report));
    for (size_t i = first; i < s->first[c + 1] * nfreq; i++) {
        if (!all && isinf(s->datum[i].sigma))
            continue;
        s->datum[i].re = creal(field[i]);
        s->datum[i].im = cimag(field[i]);
        s->datum[i].sigma = NAN;
    }
    return EK_OK;
}

static enum ek_status compute_fields(struct survey *s, const struct earth *earth,
                                     const struct cell_options *options, double complex *field)
{
    enum ek_status failed = EK_OK;
    bool all = true;
    for (size_t i = 0; i < s->npairs * (size_t)s->nfreq; i++)
        all = all && isinf(s->datum[i].sigma);
#pragma omp parallel
    {
        struct cell_work *w = NULL;
        enum ek_status st = cell_open(s, earth, options, 1, NULL, &w);
        double *sums = calloc(cell_sums(earth_unknowns(earth)), sizeof *sums);
        if (!st && !sums)
            st = status_fail(EK_UNAVAILABLE, "out of memory for a cell");
#pragma omp for schedule(dynamic, 1)
        for (int c = 0; c < s->ncells; c++) {
            THEN(st, compute_cell(s, w, earth, all, c, sums, field));
            if (st) {
#pragma omp atomic write
                failed = st;
            }
        }
        cell_close(w);
        free(sums);
    }
    return failed;
}

/* A number for each channel of a receiver, so that each has its own noise; 0: Ex. */
static uint64_t channel_of(const struct survey_pair *p)
{
    return (uint64_t)llround(2000 * p->direction[1]) * 8192 +
           (uint64_t)llround(2000 * p->direction[2]) * 2 + p->magnetic;
}

enum ek_status generate_data(struct survey *s, const struct earth *earth,
                             const struct cell_options *options, const struct survey_noise *noise,
                             bool add_noise, unsigned seed)
{
    const size_t n = s->npairs * (size_t)s->nfreq;
    OWNED_MEMORY NEW(double complex, field, n + 1, "out of memory for %zu fields", n);
    TRY(compute_fields(s, earth, options, field));
    survey_set_errors(s, noise);
    for (size_t i = 0; i < s->npairs; i++)
        for (int q = 0; q < s->nfreq; q++) {
            struct survey_datum *d = survey_at(s, i, q);
            const struct survey_pair *p = &s->pair[i];
            const uint64_t number = (uint64_t)p->source_id * 4096 + (uint64_t)p->receiver_id;
            const uint64_t key =
                hash(hash(seed) + number * 64 + (uint64_t)q + (channel_of(p) << 38));
            const double sigma = add_noise && isfinite(d->sigma) ? d->sigma : 0;
            d->part = SURVEY_BOTH;
            d->re += sigma * random_normal(key, 0);
            d->im += sigma * random_normal(key, 1);
        }
    return EK_OK;
}
