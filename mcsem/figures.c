/* mcsem/figures.c – figures as JSON numbers. */
#include "mcsem/figures.h"
#include "mcsem/inversion.h"

enum { OFFSETS = 60 }; /* largest number of offset bins */

/* The first `keep` of each `stride` numbers, divided by `scale`, rounded to multiples of `unit`. */
static json_t *list_of(const double *x, size_t n, size_t stride, size_t keep, double scale,
                       double unit)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (i % stride < keep)
            json_array_append_new(list, figures_number(x[i] / scale, unit));
    return list;
}

static json_t *grid_of(const struct earth *e)
{
    json_t *tops = list_of(e->top, (size_t)e->nz, 1, 1, 1, 1e-3),
           *seabed = list_of(e->seabed, (size_t)earth_columns(e), 1, 1, 1, 0.1);
    return json_pack("{s:i s:i s:f s:f s:f s:f s:o s:o}", "nx", e->nx, "ny", e->ny, "x0", e->x0,
                     "y0", e->y0, "dx", e->dx, "dy", e->dy, "seabed", seabed, "tops", tops);
}

static json_t *model_of(const struct earth *e)
{
    return list_of(e->m, earth_size(e), (size_t)earth_unknowns(e), (size_t)e->nz, log(10), 1e-3);
}

json_t *figures_uncertainty(const struct inversion *s, bool all)
{
    const struct uncertainty *c = s->uncertainty;
    const size_t own = (size_t)earth_unknowns(s->start), n = earth_size(s->start);
    const size_t few = all ? own : (size_t)s->start->nz;
    if (!c)
        return json_null();
    return json_pack("{s:f s:o s:o s:o}", "smoothness", exp(c->smoother), "sigma_ln_rho",
                     list_of(c->sigma, n, own, few, 1, 1e-3), "resolution_m",
                     list_of(c->length, n, own, few, 1, 1), "investigated_m",
                     list_of(c->depth, (size_t)earth_columns(s->start), 1, 1, 1, 1));
}

/* Adds pairs, misfit and seconds of each cell. */
static void add_cells(const struct inversion *s, json_t *view)
{
    const struct survey *v = s->survey;
    json_t *pairs = json_array(), *rms = json_array(), *seconds = json_array();
    for (int c = 0; c < v->ncells; c++) {
        json_array_append_new(pairs, json_integer((json_int_t)(v->first[c + 1] - v->first[c])));
        json_array_append_new(rms, figures_number(survey_rms(v, s->response, -1, c), 1e-4));
        json_array_append_new(seconds, figures_number(s->report[c].cpu_s, 1e-6));
    }
    json_object_set_new(view, "pairs", pairs);
    json_object_set_new(view, "rms", rms);
    json_object_set_new(view, "seconds", seconds);
}

/* ---- offsets --------------------------------------------------------------------------------- */

struct bins {
    double step;
    int n;
    double *square, *data, *pairs; /* square, data: [nfreq][OFFSETS]; pairs: [OFFSETS] */
};

static void fill_bins(const struct inversion *s, struct bins *b)
{
    const struct survey *v = s->survey;
    double farthest = 0;
    for (size_t i = 0; i < v->npairs; i++)
        farthest = fmax(farthest, survey_offset(&v->pair[i]));
    b->step = fmax(1, ceil(farthest / OFFSETS / 50) * 50);
    b->n = (int)fmin(OFFSETS, floor(farthest / b->step) + 1);
    for (size_t i = 0; i < v->npairs; i++) {
        const int bin = (int)fmin(b->n - 1, survey_offset(&v->pair[i]) / b->step);
        b->pairs[bin]++;
        for (int q = 0; q < v->nfreq; q++) {
            const struct survey_datum *d = survey_at(v, i, q);
            const double complex field = s->response[i * (size_t)v->nfreq + (size_t)q];
            const double miss = cabs(survey_residual(d, field));
            b->square[q * OFFSETS + bin] += miss * miss;
            b->data[q * OFFSETS + bin] += survey_numbers(d);
        }
    }
}

static json_t *pack_bins(const struct survey *v, const struct bins *b)
{
    json_t *rms = json_array(), *count = json_array();
    for (int q = 0; q < v->nfreq; q++) {
        json_t *row = json_array();
        for (int i = 0; i < b->n; i++)
            json_array_append_new(
                row,
                figures_number(sqrt(b->square[q * OFFSETS + i] / b->data[q * OFFSETS + i]), 1e-3));
        json_array_append_new(rms, row);
    }
    for (int i = 0; i < b->n; i++)
        json_array_append_new(count, json_integer((json_int_t)b->pairs[i]));
    return json_pack("{s:f s:o s:o s:o}", "step", b->step, "freq",
                     json_numbers(v->freq, (size_t)v->nfreq), "rms", rms, "count", count);
}

static json_t *offsets_of(const struct inversion *s)
{
    const size_t n = (size_t)s->survey->nfreq * OFFSETS;
    OWNED_MEMORY double *room = calloc(2 * n + OFFSETS, sizeof *room);
    struct bins b = {.square = room, .data = room + n, .pairs = room + 2 * n};
    if (!room)
        return NULL;
    fill_bins(s, &b);
    return pack_bins(s->survey, &b);
}

enum ek_status figures_open(const struct inversion *s, json_t **view)
{
    *view = json_pack("{s:o s:o s:o s:o s:o s:o}", "uncertainty", figures_uncertainty(s, false),
                      "grid", grid_of(s->start), "model", model_of(s->inv->earth), "truth",
                      s->true_earth ? model_of(s->true_earth) : json_null(), "offsets",
                      offsets_of(s), "instruments", figures_instruments(s));
    if (!*view)
        FAIL(EK_UNAVAILABLE, "out of memory for the report's figures");
    add_cells(s, *view);
    return EK_OK;
}
