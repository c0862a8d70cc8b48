/* mcsem/write_csv.c – writes surveys as tables. */
#include "mcsem/survey_columns.h"
#include "mcsem/survey_file.h"
#include "mcsem/earth_list.h"
#include "src/file.h"

/* Optional columns. */
struct extra {
    bool kinds, spans;
};

static struct extra extra_of(const struct survey *s)
{
    struct extra x = {false, false};
    for (size_t i = 0; i < s->npairs; i++) {
        x.kinds = x.kinds || s->pair[i].loop;
        x.spans = x.spans || s->pair[i].span > 0;
    }
    return x;
}

static void write_preface(FILE *f, const struct survey *s, const struct earth *e, size_t rows,
                          struct extra x)
{
    fprintf(f, "# survey of %zu pairs\n", s->npairs);
    fprintf(f, "# earth ");
    earth_list_write(f, e);
    fprintf(f, "\n# sea ");
    earth_list_write_sea(f, e);
    fprintf(f, *s->floor ? "\n# seabed %s" : "%s", s->floor);
    fprintf(f, "\n# rows %zu\n", rows);
    fprintf(f,
            "src_x,src_y,src_z,src_azimuth_deg,src_dip_deg,src_len_m,rec_x,rec_y,rec_z,component,"
            "freq_hz,re,im,sigma%s%s\n",
            x.kinds ? ",src_kind" : "", x.spans ? ",rec_len_m" : "");
}

static void write_pair(FILE *f, const struct survey *s, size_t i, struct extra x)
{
    const struct survey_pair *p = &s->pair[i];
    const double degree = acos(-1) / 180;
    char geometry[400], span[40];
    snprintf(span, sizeof span, ",%.10g", p->span);
    snprintf(geometry, sizeof geometry, "%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%s",
             p->source[0], p->source[1], p->source[2], p->azimuth / degree, p->dip / degree,
             p->length, p->receiver[0], p->receiver[1], p->receiver[2],
             survey_columns_component(p));
    for (int q = 0; q < s->nfreq; q++) {
        const struct survey_datum *d = survey_at(s, i, q);
        if (isfinite(d->sigma))
            fprintf(f, "%s,%.10g,%.10g,%.10g,%.10g%s%s\n", geometry, s->freq[q], d->re, d->im,
                    d->sigma,
                    !x.kinds  ? ""
                    : p->loop ? ",loop"
                              : ",bipole",
                    x.spans ? span : "");
    }
}

enum ek_status write_csv(const char *path, const struct survey *s, const struct earth *e)
{
    const struct extra x = extra_of(s);
    struct file *f;
    size_t rows = 0;
    for (size_t i = 0; i < s->npairs * (size_t)s->nfreq; i++)
        rows += isfinite(s->datum[i].sigma);
    for (size_t i = 0; i < s->npairs; i++)
        if (!survey_columns_component(&s->pair[i])[1])
            FAIL(EK_USAGE,
                 "%s: tables have channels along x, y and z; that of line %zu is turned: end the "
                 "name in .emdata",
                 path, s->pair[i].line);
    TRY(file_create(path, &f));
    FILE *to = file_stream(f);
    write_preface(to, s, e, rows, x);
    for (size_t i = 0; i < s->npairs; i++)
        write_pair(to, s, i, x);
    return file_finish(f);
}
