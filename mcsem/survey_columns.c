/* mcsem/survey_columns.c – pairs from rows. */
#include "mcsem/survey_columns.h"

static const char *const components[] = {"Ex", "Ey", "Ez", "Hx", "Hy", "Hz"};
enum { COMPONENTS = 6 };

enum ek_status survey_columns_find(const struct table *t, struct survey_columns *c)
{
    const struct {
        const char *name;
        int *column;
    } needed[] = {
        {"src_x", &c->source[0]},         {"src_y", &c->source[1]},   {"src_z", &c->source[2]},
        {"src_azimuth_deg", &c->azimuth}, {"src_dip_deg", &c->dip},   {"src_len_m", &c->length},
        {"rec_x", &c->receiver[0]},       {"rec_y", &c->receiver[1]}, {"rec_z", &c->receiver[2]},
        {"component", &c->component},     {"freq_hz", &c->freq}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        TRY(table_need(t, needed[i].name, needed[i].column));
    c->kind = table_find(t, "src_kind");
    c->span = table_find(t, "rec_len_m");
    return EK_OK;
}

static enum ek_status read_component(const struct table *t, const struct survey_columns *c,
                                     size_t row, struct survey_pair *p)
{
    const char *text = table_text(t, row, c->component);
    for (int k = 0; k < COMPONENTS; k++)
        if (!strcmp(text, components[k])) {
            p->direction[k % 3] = 1;
            p->magnetic = k >= 3;
            return EK_OK;
        }
    FAIL(EK_USAGE, "%s:%zu: component '%s' is not one of Ex Ey Ez Hx Hy Hz", t->path, t->line[row],
         text);
}

static enum ek_status read_kind(const struct table *t, const struct survey_columns *c, size_t row,
                                struct survey_pair *p)
{
    const char *kind = c->kind < 0 ? "" : table_text(t, row, c->kind);
    p->loop = !strcmp(kind, "loop");
    if (!strcmp(kind, "point"))
        p->length = 0;
    else if (*kind && strcmp(kind, "bipole") && !p->loop)
        FAIL(EK_USAGE, "%s:%zu: src_kind '%s' is not one of point bipole loop", t->path,
             t->line[row], kind);
    return EK_OK;
}

enum ek_status survey_columns_pair(const struct table *t, const struct survey_columns *c,
                                   size_t row, struct survey_pair *p)
{
    const double degree = acos(-1) / 180;
    memset(p, 0, sizeof *p);
    for (int d = 0; d < 3; d++) {
        TRY(table_number(t, row, c->source[d], &p->source[d]));
        TRY(table_number(t, row, c->receiver[d], &p->receiver[d]));
        p->source[d] += 0.0; /* makes 0 of -0, as positions are compared by their bits */
        p->receiver[d] += 0.0;
    }
    TRY(table_number(t, row, c->azimuth, &p->azimuth));
    TRY(table_number(t, row, c->dip, &p->dip));
    TRY(table_number(t, row, c->length, &p->length));
    if (c->span >= 0)
        TRY(table_number(t, row, c->span, &p->span));
    TRY(read_kind(t, c, row, p));
    TRY(read_component(t, c, row, p));
    p->azimuth = p->azimuth * degree + 0.0;
    p->dip = p->dip * degree + 0.0;
    p->line = t->line[row];
    return EK_OK;
}

enum ek_status survey_check_freq(double freq, const char *path, size_t line)
{
    static const double LEAST = 1e-6, MOST = 1e6; /* Hz; beyond them there is a mistake */
    if (!(freq > 0))
        FAIL(EK_USAGE, "%s:%zu: frequency %g Hz is not positive", path, line, freq);
    if (freq < LEAST || freq > MOST)
        FAIL(EK_USAGE, "%s:%zu: frequency %g Hz is not within %g to %g", path, line, freq, LEAST,
             MOST);
    return EK_OK;
}

enum ek_status survey_columns_freq(const struct table *t, const struct survey_columns *c,
                                   size_t row, double *freq)
{
    TRY(table_number(t, row, c->freq, freq));
    return survey_check_freq(*freq, t->path, t->line[row]);
}

const char *survey_columns_component(const struct survey_pair *p)
{
    for (int axis = 0; axis < 3; axis++)
        if (p->direction[axis] > 1 - 1e-9)
            return components[axis + (p->magnetic ? 3 : 0)];
    return p->magnetic ? "H" : "E";
}
