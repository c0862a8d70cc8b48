/* mcsem/write_csv.c – surveys as tables. */
#include "mcsem/survey_columns.h"
#include "mcsem/survey_file.h"
#include "mcsem/earth_list.h"
#include "mcsem/write.h"

#include <math.h>

/* What no column tells otherwise. */
static bool has_loops(const struct survey *s)
{
    for (size_t i = 0; i < s->npairs; i++)
        if (s->pair[i].loop)
            return true;
    return false;
}

static void write_preface(FILE *f, const struct survey *s, const struct earth *e, size_t rows)
{
    fprintf(f, "# survey of %zu pairs\n", s->npairs);
    fprintf(f, "# earth ");
    earth_list_write(f, e);
    fprintf(f, "\n# sea ");
    earth_list_write_sea(f, e);
    fprintf(f, "\n# rows %zu\n", rows);
    fprintf(f,
            "src_x,src_y,src_z,src_azimuth_deg,src_dip_deg,src_len_m,rec_x,rec_y,rec_z,"
            "component,freq_hz,re,im,sigma%s\n",
            has_loops(s) ? ",src_kind" : "");
}

static void write_pair(FILE *f, const struct survey *s, size_t i, const char *kind)
{
    const struct survey_pair *p = &s->pair[i];
    const double degree = acos(-1) / 180;
    char geometry[400];
    snprintf(geometry, sizeof geometry, "%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%s",
             p->source[0], p->source[1], p->source[2], p->azimuth / degree, p->dip / degree,
             p->length, p->receiver[0], p->receiver[1], p->receiver[2],
             survey_columns_component(p));
    for (int q = 0; q < s->nfreq; q++) {
        const struct survey_datum *d = &s->datum[i * (size_t)s->nfreq + (size_t)q];
        if (isfinite(d->sigma))
            fprintf(f, "%s,%.10g,%.10g,%.10g,%.10g%s\n", geometry, s->freq[q], d->re, d->im,
                    d->sigma, kind);
    }
}

enum ek_status write_csv(const char *path, const struct survey *s, const struct earth *e)
{
    struct write_text t;
    size_t rows = 0;
    for (size_t i = 0; i < s->npairs * (size_t)s->nfreq; i++)
        rows += isfinite(s->datum[i].sigma);
    for (size_t i = 0; i < s->npairs; i++)
        if (!survey_columns_component(&s->pair[i])[1])
            FAIL(EK_USAGE,
                 "%s: tables have channels along x, y and z; that of line %zu is turned: end the "
                 "name in .emdata",
                 path, s->pair[i].line);
    TRY(write_begin(path, &t));
    write_preface(t.f, s, e, rows);
    const bool kinds = has_loops(s);
    for (size_t i = 0; i < s->npairs; i++)
        write_pair(t.f, s, i, !kinds ? "" : s->pair[i].loop ? ",loop" : ",bipole");
    return write_end(&t);
}
