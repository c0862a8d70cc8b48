/* kirchhoff/mig_page.c – what the page shows of an image: slices through its strongest point, the
 * velocity and the fold there, and the gather above it. */
#include "kirchhoff/mig.h"

#include <math.h>

enum { PIXELS = 400, TONES = 127 }; /* most along an edge; of either sign */

struct spot {
    int class, at[3];
};

/* A picture: rows of tones -127 … 127 of what get() says, thinned to fit. */
struct picture {
    const struct mig *p;
    struct spot spot;
    int across, down; /* axes: 0 x, 1 y, 2 z, 3 class */
    double (*get)(const struct mig *p, const struct spot *s);
};

static double image_value(const struct mig *p, const struct spot *s)
{
    const struct image *m = p->m->image;
    const size_t column = (size_t)(s->at[0] * m->grid.n[1] + s->at[1]);
    const double sum = image_sum(m, s->class, column)[s->at[2]];
    const double fold = (double)image_fold_at(image_fold(m, s->class, column), s->at[2]);
    if (p->divide == MIG_FOLD)
        return fold > 0 ? sum / fold : 0;
    return p->divide == MIG_SHOTS ? sum / (double)p->m->survey->geometry.shots : sum;
}

static double fold_value(const struct mig *p, const struct spot *s)
{
    const struct image *m = p->m->image;
    double sum = 0;
    for (int class = 0; class < m->classes.n; class ++)
        sum += (double)image_fold_at(
            image_fold(m, class, (size_t)(s->at[0] * m->grid.n[1] + s->at[1])), s->at[2]);
    return sum;
}

/* m/s; 0 where the tables' velocity is not known here. */
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
    for (s.class = 0; s.class < p->m->input.classes.n; s.class ++)
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

static int length_of(const struct mig *p, int axis)
{
    return axis < 3 ? p->m->grid.n[axis] : p->m->input.classes.n;
}

static void move_to(struct spot *s, int axis, int i)
{
    if (axis < 3)
        s->at[axis] = i;
    else
        s->class = i;
}

/* Ends of an axis for its labels. */
static json_t *range_of(const struct mig *p, int axis)
{
    static const char *const names[] = {"x, m", "y, m", "depth, m", "offset, m"};
    const struct chunks_classes *c = &p->m->input.classes;
    const double from = axis < 3 ? p->m->grid.origin[axis] : c->first;
    const double to = axis < 3 ? grid_end(&p->m->grid, axis) : c->first + c->n * c->width;
    return json_pack("{s:s s:f s:f}", "name", names[axis], "from", from, "to", to);
}

static double largest(const struct picture *a, int stride[2])
{
    double most = 0;
    struct spot s = a->spot;
    for (int j = 0; j < length_of(a->p, a->down); j += stride[1])
        for (int i = 0; i < length_of(a->p, a->across); i += stride[0]) {
            move_to(&s, a->across, i);
            move_to(&s, a->down, j);
            most = fmax(most, fabs(a->get(a->p, &s)));
        }
    return most;
}

static json_t *paint(const struct picture *a, const char *title)
{
    const int n[2] = {length_of(a->p, a->across), length_of(a->p, a->down)};
    int stride[2] = {1 + (n[0] - 1) / PIXELS, 1 + (n[1] - 1) / PIXELS};
    const double most = largest(a, stride);
    struct spot s = a->spot;
    json_t *tones = json_array();
    for (int j = 0; j < n[1]; j += stride[1])
        for (int i = 0; i < n[0]; i += stride[0]) {
            move_to(&s, a->across, i);
            move_to(&s, a->down, j);
            json_array_append_new(
                tones, json_integer(most > 0 ? lrint(TONES * a->get(a->p, &s) / most) : 0));
        }
    return json_pack("{s:s s:i s:i s:f s:o s:o s:o}", "title", title, "width",
                     (n[0] + stride[0] - 1) / stride[0], "height",
                     (n[1] + stride[1] - 1) / stride[1], "largest", most, "across",
                     range_of(a->p, a->across), "down", range_of(a->p, a->down), "tones", tones);
}

/* The slab with the strongest point is the one at hand afterwards. */
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
    enum { X, Y, Z, CLASS };
    static const struct {
        const char *title;
        int across, down;
        double (*get)(const struct mig *, const struct spot *);
    } shown[] = {{"Inline: x and depth", X, Z, image_value},
                 {"Velocity there: x and depth", X, Z, velocity_value},
                 {"Crossline: y and depth", Y, Z, image_value},
                 {"Depth slice: x and y", X, Y, image_value},
                 {"Fold at that depth", X, Y, fold_value},
                 {"Gather: offset and depth", CLASS, Z, image_value}};
    const struct spot s = strongest_slab(p);
    const struct grid *g = &p->m->grid;
    json_t *pictures = json_array();
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (shown[i].get == velocity_value && !(velocity_value(p, &s) > 0))
            continue;
        const struct picture a = {p, s, shown[i].across, shown[i].down, shown[i].get};
        json_array_append_new(pictures, paint(&a, shown[i].title));
    }
    return json_pack("{s:[f f f] s:o s:o}", "at", grid_coordinate(g, 0, s.at[0]),
                     grid_coordinate(g, 1, s.at[1]), grid_coordinate(g, 2, s.at[2]), "pictures",
                     pictures, "residual", mig_residual(p));
}
