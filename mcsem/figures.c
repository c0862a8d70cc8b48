/* mcsem/figures.c – figures in numbers. */
#include "mcsem/figures.h"
#include "mcsem/inversion.h"

#include <math.h>
#include <stdlib.h>

enum { OFFSETS = 60 }; /* bins of offset, at most */

/* To as many digits as a figure shows. */
static json_t *rounded(double x, double unit)
{
    return json_number_or_null(round(x / unit) * unit);
}

static json_t *grid_of(const struct earth *e)
{
    json_t *tops = json_array(), *seabed = json_array();
    for (int k = 0; k < e->nz; k++)
        json_array_append_new(tops, rounded(e->top[k], 1e-3));
    for (int c = 0; c < earth_columns(e); c++)
        json_array_append_new(seabed, rounded(e->seabed[c], 0.1));
    return json_pack("{s:i s:i s:f s:f s:f s:f s:o s:o}", "nx", e->nx, "ny", e->ny, "x0", e->x0,
                     "y0", e->y0, "dx", e->dx, "dy", e->dy, "seabed", seabed, "tops", tops);
}

static json_t *model_of(const struct earth *e)
{
    const size_t own = (size_t)earth_unknowns(e);
    json_t *list = json_array();
    for (size_t i = 0; i < earth_size(e); i++)
        if (i % own < (size_t)e->nz)
            json_array_append_new(list, rounded(e->m[i] / log(10), 1e-3));
    return list;
}

/* Of each `own` numbers the first `few`. */
static json_t *list_of(const double *x, size_t n, size_t own, size_t few, double unit)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (i % own < few)
            json_array_append_new(list, rounded(x[i], unit));
    return list;
}

json_t *figures_certainty(const struct inversion *s, bool all)
{
    const struct certainty *c = s->sure;
    const size_t own = (size_t)earth_unknowns(s->start), n = earth_size(s->start);
    const size_t few = all ? own : (size_t)s->start->nz;
    if (!c)
        return json_null();
    return json_pack("{s:f s:o s:o s:o}", "smoothness", exp(c->smoother), "sigma_ln_rho",
                     list_of(c->sigma, n, own, few, 1e-3), "resolution_m",
                     list_of(c->length, n, own, few, 1), "investigated_m",
                     list_of(c->depth, (size_t)earth_columns(s->start), 1, 1, 1));
}

/* ---- cells ----------------------------------------------------------------------------------- */

static json_t *pairs_of(const struct survey *s)
{
    json_t *list = json_array();
    for (int c = 0; c < s->ncells; c++)
        json_array_append_new(list, json_integer((json_int_t)(s->first[c + 1] - s->first[c])));
    return list;
}

static json_t *rms_of(const struct inversion *s)
{
    json_t *list = json_array();
    for (int c = 0; c < s->survey->ncells; c++)
        json_array_append_new(list, rounded(survey_rms(s->survey, s->response, -1, c), 1e-4));
    return list;
}

static json_t *seconds_of(const struct inversion *s)
{
    json_t *list = json_array();
    for (int c = 0; c < s->survey->ncells; c++)
        json_array_append_new(list, rounded(s->report[c].cpu_s, 1e-6));
    return list;
}

/* ---- offsets --------------------------------------------------------------------------------- */

struct bins {
    double step;
    int n;
    double *square, *data, *pairs; /* [nfreq][OFFSETS] twice, [OFFSETS] */
};

static double offset_of(const struct survey_pair *p)
{
    return hypot(p->source[0] - p->receiver[0], p->source[1] - p->receiver[1]);
}

static void fill_bins(const struct inversion *s, struct bins *b)
{
    const struct survey *v = s->survey;
    double farthest = 0;
    for (size_t i = 0; i < v->npairs; i++)
        farthest = fmax(farthest, offset_of(&v->pair[i]));
    b->step = fmax(1, ceil(farthest / OFFSETS / 50) * 50);
    b->n = (int)fmin(OFFSETS, floor(farthest / b->step) + 1);
    for (size_t i = 0; i < v->npairs; i++) {
        const int bin = (int)fmin(b->n - 1, offset_of(&v->pair[i]) / b->step);
        b->pairs[bin]++;
        for (int q = 0; q < v->nfreq; q++) {
            const struct survey_datum *d = &v->datum[i * (size_t)v->nfreq + (size_t)q];
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
                row, rounded(sqrt(b->square[q * OFFSETS + i] / b->data[q * OFFSETS + i]), 1e-3));
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
    double *room = calloc(2 * n + OFFSETS, sizeof *room);
    struct bins b = {.square = room, .data = room + n, .pairs = room + 2 * n};
    if (!room)
        return NULL;
    fill_bins(s, &b);
    json_t *out = pack_bins(s->survey, &b);
    free(room);
    return out;
}

enum ek_status figures_open(const struct inversion *s, json_t **view)
{
    *view =
        json_pack("{s:o s:o s:o s:o s:o s:o s:o s:o s:o}", "certainty", figures_certainty(s, false),
                  "grid", grid_of(s->start), "model", model_of(s->inv->earth), "truth",
                  s->true_earth ? model_of(s->true_earth) : json_null(), "pairs",
                  pairs_of(s->survey), "rms", rms_of(s), "seconds", seconds_of(s), "offsets",
                  offsets_of(s), "instruments", figures_instruments(s));
    if (!*view)
        FAIL(EK_UNAVAILABLE, "out of memory for the report's figures");
    return EK_OK;
}
