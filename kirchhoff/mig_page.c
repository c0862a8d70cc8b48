/* kirchhoff/mig_page.c – data of the HTML page: slices of the image, velocity and fold through its
 * strongest point, gathers there and along the inline, and spectra of traces and image. */
#include "kirchhoff/mig.h"

enum { PIXELS = 400, TONES = 127 }; /* largest edge of a picture; tones of either sign */
enum { X, Y, Z, CLASS, GATHERS };   /* axes; GATHERS: the classes at PLACES along x, in a row */
enum { PLACES = 5, LINES = 200, SAMPLED = 64 }; /* gathers; frequencies, traces of a spectrum */

struct spot {
    int class, at[3];
};

/* A picture: rows of tones -127 … 127, the scaled values of get(), thinned to at most PIXELS. */
struct picture {
    const struct mig *p;
    struct spot spot;
    int across, down; /* axes */
    double (*get)(const struct mig *p, const struct spot *s);
};

static double image_value(const struct mig *p, const struct spot *s)
{
    const struct image *m = p->m->image;
    if (s->class == m->classes.n)
        return 0; /* gap between two gathers */
    const size_t column = (size_t)(s->at[0] * m->grid.n[1] + s->at[1]);
    const double sum = image_sum(m, s->class, column)[s->at[2]];
    const double fold = (double)image_fold(m, s->class, column)[s->at[2]];
    if (p->divide == MIG_FOLD)
        return fold > 0 ? sum / fold : 0;
    return p->divide == MIG_SHOTS ? sum / (double)p->m->survey->geometry.shots : sum;
}

static double fold_value(const struct mig *p, const struct spot *s)
{
    const struct image *m = p->m->image;
    double sum = 0;
    for (int class = 0; class < m->classes.n; class ++)
        sum += (double)image_fold(m, class, (size_t)(s->at[0] * m->grid.n[1] + s->at[1]))[s->at[2]];
    return sum;
}

/* m/s; 0 if the tables' velocity is unknown. */
static double velocity_value(const struct mig *p, const struct spot *s)
{
    float square = 0;
    const struct grid *g = &p->m->grid;
    const enum ek_status st = MUTED(traveltime_cache_emergence(
        p->m->travel, grid_coordinate(g, 0, s->at[0]), grid_coordinate(g, 1, s->at[1]),
        grid_coordinate(g, 2, s->at[2]), &square));
    return st ? 0 : 1 / sqrt((double)square);
}

static struct spot strongest(const struct mig *p)
{
    struct spot best = {0}, s;
    double most = -1;
    const struct grid *g = &p->m->grid;
    for (s.class = 0; s.class < p->m->classes.n; s.class ++)
        for (s.at[0] = 0; s.at[0] < g->n[0]; s.at[0]++)
            for (s.at[1] = 0; s.at[1] < g->n[1]; s.at[1]++)
                for (s.at[2] = 0; s.at[2] < g->n[2]; s.at[2]++) {
                    const double x = fabs(image_value(p, &s));
                    if (x > most) {
                        most = x;
                        best = s;
                    }
                }
    return best;
}

static int places(const struct mig *p)
{
    return p->m->grid.n[0] < PLACES ? p->m->grid.n[0] : PLACES;
}

static int place_at(const struct mig *p, int i)
{
    return (2 * i + 1) * p->m->grid.n[0] / (2 * places(p));
}

/* Adjacent gathers have a gap of one class. */
static int length_of(const struct mig *p, int axis)
{
    const int classes = p->m->classes.n;
    return axis == GATHERS ? places(p) * (classes + 1) - 1
           : axis == CLASS ? classes
                           : p->m->grid.n[axis];
}

static void move_to(const struct mig *p, struct spot *s, int axis, int i)
{
    const int apart = p->m->classes.n + 1;
    if (axis <= Z)
        s->at[axis] = i;
    else
        s->class = axis == CLASS ? i : i % apart;
    if (axis == GATHERS)
        s->at[0] = place_at(p, i / apart);
}

/* Name and limits of an axis; for GATHERS also the label of each gather. */
static json_t *range_of(const struct mig *p, int axis)
{
    static const char *const names[] = {"x, m", "y, m", "depth, m", "offset, m",
                                        "x of the gather, m"};
    json_t *labels = json_array();
    for (int i = 0; axis == GATHERS && i < places(p); i++)
        json_array_append_new(labels, json_real(grid_coordinate(&p->m->grid, 0, place_at(p, i))));
    const struct chunks_classes *c = &p->m->classes;
    const double from = axis <= Z ? p->m->grid.origin[axis] : c->first;
    const double to = axis <= Z ? grid_end(&p->m->grid, axis) : c->first + c->n * c->width;
    return json_pack("{s:s s:f s:f s:o}", "name", names[axis], "from", from, "to", to, "labels",
                     labels);
}

static json_t *paint(const struct picture *a, const char *title)
{
    const int n[2] = {length_of(a->p, a->across), length_of(a->p, a->down)};
    const int stride[2] = {1 + (n[0] - 1) / PIXELS, 1 + (n[1] - 1) / PIXELS};
    const int wide = (n[0] - 1) / stride[0] + 1, high = (n[1] - 1) / stride[1] + 1;
    struct spot s = a->spot;
    double most = 0;
    OWNED_MEMORY double *value = malloc((size_t)wide * (size_t)high * sizeof *value);
    json_t *tones = json_array();
    for (int i = 0; value && i < wide * high; i++) {
        move_to(a->p, &s, a->across, i % wide * stride[0]);
        move_to(a->p, &s, a->down, i / wide * stride[1]);
        value[i] = a->get(a->p, &s);
        most = fmax(most, fabs(value[i]));
    }
    for (int i = 0; value && i < wide * high; i++)
        json_array_append_new(tones, json_integer(most > 0 ? lrint(TONES * value[i] / most) : 0));
    return json_pack("{s:s s:i s:i s:f s:o s:o s:o}", "title", title, "width", wide, "height", high,
                     "largest", most, "across", range_of(a->p, a->across), "down",
                     range_of(a->p, a->down), "tones", tones);
}

/* ---- spectra ----------------------------------------------------------------------------------*/

/* Adds the squared amplitudes of x [n] at LINES frequencies up to Nyquist's, by Goertzel's
 * recurrence, with the ends of x tapered. */
static void add_spectrum(const float *x, long n, double *power)
{
    double turn[LINES], a[LINES] = {0}, b[LINES] = {0};
    for (int l = 0; l < LINES; l++)
        turn[l] = 2 * cos(M_PI * (l + 1) / LINES);
    for (long i = 0; i < n; i++) {
        const double fade = sin(M_PI * ((double)i + 0.5) / (double)n);
        const double faded = fade * fade * (double)x[i];
        for (int l = 0; l < LINES; l++) {
            const double now = faded + turn[l] * a[l] - b[l];
            b[l] = a[l];
            a[l] = now;
        }
    }
    for (int l = 0; l < LINES; l++)
        power[l] += a[l] * a[l] + b[l] * b[l] - turn[l] * a[l] * b[l];
}

/* The amplitudes relative to the largest one; an empty list if all are 0. */
static json_t *amplitudes(const char *name, const char *unit, double last, const double *power)
{
    double most = 0;
    json_t *y = json_array();
    for (int l = 0; l < LINES; l++)
        most = fmax(most, power[l]);
    for (int l = 0; l < LINES && most > 0; l++)
        json_array_append_new(y, json_real(rint(1e4 * sqrt(fmax(power[l], 0) / most)) / 1e4));
    return json_pack("{s:s s:s s:f s:o}", "name", name, "unit", unit, "last", last, "amplitude", y);
}

static json_t *trace_spectrum(const struct mig *p)
{
    const struct segy *s = p->m->segy;
    double power[LINES] = {0};
    OWNED_MEMORY float *x = malloc((size_t)s->ns * sizeof *x);
    for (size_t i = 0; x && i < s->n; i += s->n / SAMPLED + 1)
        if (!MUTED(segy_read(s, i, x)))
            add_spectrum(x, s->ns, power);
    return amplitudes("Traces", "Hz", 0.5 / s->dt, power);
}

static json_t *image_spectrum(const struct mig *p)
{
    const struct grid *g = &p->m->grid;
    const size_t columns = p->m->image->columns;
    double power[LINES] = {0};
    OWNED_MEMORY float *x = malloc((size_t)g->n[2] * sizeof *x);
    for (size_t c = 0; x && c < columns; c += columns / SAMPLED + 1)
        for (int class = 0; class < p->m->classes.n; class ++) {
            mig_column(p, class, c, x);
            add_spectrum(x, g->n[2], power);
        }
    return amplitudes("Image", "cycles per km of depth", 500 / g->step[2], power);
}

/* Finds the strongest point of all slabs, and leaves its slab in memory. */
static struct spot strongest_slab(struct mig *p)
{
    double most = -1;
    int best = 0;
    for (int slab = 0; p->m->slabs > 1 && slab < p->m->slabs; slab++) {
        if (MUTED(mig_slab_take(p, slab)))
            continue;
        const struct spot s = strongest(p);
        const double x = fabs(image_value(p, &s));
        best = x > most ? slab : best;
        most = fmax(x, most);
    }
    (void)MUTED(mig_slab_take(p, best));
    return strongest(p);
}

json_t *mig_page(struct mig *p)
{
    static const struct {
        const char *title;
        int across, down;
        double (*get)(const struct mig *, const struct spot *);
    } shown[] = {{"Inline: x and depth", X, Z, image_value},
                 {"Velocity there: x and depth", X, Z, velocity_value},
                 {"Crossline: y and depth", Y, Z, image_value},
                 {"Depth slice: x and y", X, Y, image_value},
                 {"Fold at that depth", X, Y, fold_value},
                 {"Gather: offset and depth", CLASS, Z, image_value},
                 {"Gathers along the inline, small offsets left", GATHERS, Z, image_value}};
    const struct spot s = strongest_slab(p);
    const struct grid *g = &p->m->grid;
    json_t *pictures = json_array();
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if ((shown[i].get == velocity_value && !(velocity_value(p, &s) > 0)) ||
            (shown[i].across == GATHERS && p->m->classes.n == 1))
            continue;
        const struct picture a = {p, s, shown[i].across, shown[i].down, shown[i].get};
        json_array_append_new(pictures, paint(&a, shown[i].title));
    }
    return json_pack("{s:[f f f] s:o s:o s:[o o]}", "at", grid_coordinate(g, 0, s.at[0]),
                     grid_coordinate(g, 1, s.at[1]), grid_coordinate(g, 2, s.at[2]), "pictures",
                     pictures, "residual", mig_residual(p), "spectra", trace_spectrum(p),
                     image_spectrum(p));
}
