/* mcsem/figures_data.c – instruments, and the data beside the model's responses. */
#include "mcsem/figures.h"
#include "mcsem/inversion.h"
#include "mcsem/survey_columns.h"

enum { MOST_SOURCES = 3000, MOST_DATA = 24000 }; /* approximate limits for a page */

json_t *figures_number(double x, double unit)
{
    return json_number_or_null(round(x / unit) * unit);
}

/* A datum of a figure: log10 of the amplitude, phase in degrees, relative error; the same of the
 * model, with its phase within half a turn of the datum's. Real or imaginary parts alone have
 * neither amplitude nor phase. */
static json_t *datum_of(const char *channel, int freq, double offset, const struct survey_datum *d,
                        double complex field)
{
    const double complex data = d->re + I * d->im;
    const double degree = 180 / acos(-1), phase = carg(data) * degree;
    const bool polar = d->part != SURVEY_REAL && d->part != SURVEY_IMAGINARY;
    const bool size = polar && d->part != SURVEY_PHASE, turn = polar && d->part != SURVEY_AMPLITUDE;
    const double off = carg(field * conj(data)) * degree;
    return json_pack("[s,i,o,o,o,o,o,o]", channel, freq, figures_number(offset, 1),
                     figures_number(size ? log10(cabs(data)) : NAN, 1e-4),
                     figures_number(turn ? phase : NAN, 0.01),
                     figures_number(d->sigma / cabs(data), 1e-4),
                     figures_number(size ? log10(cabs(field)) : NAN, 1e-4),
                     figures_number(turn ? phase + off : NAN, 0.01));
}

/* A receiver's entry under construction. */
struct station {
    const double *at;
    double square, data;
    size_t pairs;
    json_t *rows;
};

static void add_pair(const struct inversion *s, size_t pair, bool shown, struct station *to)
{
    const struct survey *v = s->survey;
    const struct survey_pair *p = &v->pair[pair];
    for (int q = 0; q < v->nfreq; q++) {
        const size_t at = pair * (size_t)v->nfreq + (size_t)q;
        const struct survey_datum *d = &v->datum[at];
        if (!survey_numbers(d))
            continue;
        to->square += pow(cabs(survey_residual(d, s->response[at])), 2);
        to->data += survey_numbers(d);
        if (shown)
            json_array_append_new(to->rows, datum_of(survey_columns_component(p), q,
                                                     survey_offset(p), d, s->response[at]));
    }
}

/* Receivers with their RMS misfit and the data of every `every`-th pair. */
static json_t *stations_of(const struct inversion *s, size_t every, struct station *station)
{
    const struct survey *v = s->survey;
    json_t *list = json_array();
    for (size_t i = 0; i < v->npairs; i++) {
        struct station *to = &station[v->pair[i].receiver_id];
        to->at = v->pair[i].receiver;
        to->rows = to->rows ? to->rows : json_array();
        add_pair(s, i, to->pairs++ % every == 0, to);
    }
    for (size_t r = 0; r < v->nreceivers; r++)
        if (station[r].rows)
            json_array_append_new(
                list, json_pack("{s:o s:o s:o s:o}", "x", figures_number(station[r].at[0], 0.1),
                                "y", figures_number(station[r].at[1], 0.1), "rms",
                                figures_number(sqrt(station[r].square / station[r].data), 1e-3),
                                "data", station[r].rows));
    return list;
}

/* Positions of sources, thinned to MOST_SOURCES. */
static json_t *sources_of(const struct survey *v, bool *seen)
{
    const int every = (int)((v->nsources + MOST_SOURCES - 1) / MOST_SOURCES);
    json_t *list = json_array();
    for (size_t i = 0; i < v->npairs; i++) {
        const struct survey_pair *p = &v->pair[i];
        if (p->source_id % every || seen[p->source_id])
            continue;
        seen[p->source_id] = true;
        json_array_append_new(list, json_pack("[o,o]", figures_number(p->source[0], 1),
                                              figures_number(p->source[1], 1)));
    }
    return list;
}

json_t *figures_instruments(const struct inversion *s)
{
    const struct survey *v = s->survey;
    const size_t every = (v->npairs * (size_t)v->nfreq + MOST_DATA - 1) / MOST_DATA;
    OWNED(arena_free) struct arena room = {0};
    struct station *station = ARENA_NEW(&room, v->nreceivers + 1, struct station);
    bool *seen = ARENA_NEW(&room, v->nsources + 1, bool);
    if (arena_check(&room, "the figures of %zu receivers", v->nreceivers))
        return NULL;
    return json_pack("{s:o s:o s:I}", "sources", sources_of(v, seen), "receivers",
                     stations_of(s, every, station), "every", (json_int_t)every);
}
