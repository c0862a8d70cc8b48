/* mcsem/write_tables.c – output tables. */
#include "mcsem/write.h"
#include "mcsem/survey_columns.h"
#include "mcsem/seabed.h"
#include "mcsem/survey_file.h"
#include "src/json.h"
#include "src/file.h"

static bool named(const char *path)
{
    return path && *path;
}

/* ---- models ---------------------------------------------------------------------------------- */

static void write_row(FILE *f, const struct earth *e, const struct uncertainty *u, int c, int k)
{
    const size_t at = (size_t)c * (size_t)earth_unknowns(e) + (size_t)k, nz = (size_t)e->nz;
    fprintf(f, "%d,%d,%.10g,%.10g,%.10g,%.17g", c, k, e->x0 + c % e->nx * e->dx,
            e->y0 + c / e->nx * e->dy, e->top[k], exp(e->m[at]));
    if (e->vertical)
        fprintf(f, ",%.17g", exp(e->m[at + nz]));
    if (u)
        fprintf(f, ",%.6g,%.6g,%.6g", u->sigma[at], u->length[at], u->depth[c]);
    if (u && e->vertical)
        fprintf(f, ",%.6g,%.6g", u->sigma[at + nz], u->length[at + nz]);
    fprintf(f, "\n");
}

enum ek_status write_model(const char *path, const struct earth *e, const struct uncertainty *u)
{
    struct file *f;
    if (!named(path))
        return EK_OK;
    if (file_ends_in(path, ".vtk"))
        return write_vtk(path, e, u);
    TRY(file_create(path, &f));
    FILE *to = file_stream(f);
    fprintf(to, "column,layer,x,y,top_m,rho_ohmm%s%s%s\n", e->vertical ? ",rho_v_ohmm" : "",
            u ? ",sigma_ln_rho,resolution_m,investigated_m" : "",
            u && e->vertical ? ",sigma_ln_rho_v,resolution_v_m" : "");
    for (int c = 0; c < earth_columns(e); c++)
        for (int k = 0; k < e->nz; k++)
            write_row(to, e, u, c, k);
    return file_finish(f);
}

/* ---- tables ---------------------------------------------------------------------------------- */

enum ek_status write_history(const char *path, const struct invert *inv)
{
    struct file *f;
    if (!named(path))
        return EK_OK;
    TRY(file_create(path, &f));
    FILE *to = file_stream(f);
    fprintf(to, "iteration,accepted");
    for (int k = 0; k < INVERT_NUMBERS; k++)
        fprintf(to, ",%s", invert_numbers[k]);
    for (int i = 0; i < inv->nrecords; i++) {
        fprintf(to, "\n%d,%d", inv->record[i].iteration, inv->record[i].accepted);
        for (int k = 0; k < INVERT_NUMBERS; k++)
            fprintf(to, ",%.10g", invert_numbers_of(&inv->record[i])[k]);
    }
    fprintf(to, "\n");
    return file_finish(f);
}

enum ek_status write_responses(const char *path, const struct survey *s, const struct earth *e,
                               const double complex *response)
{
    struct file *f;
    if (!named(path))
        return EK_OK;
    if (file_ends_in(path, ".resp"))
        return write_emresp(path, s, e, response);
    TRY(file_create(path, &f));
    FILE *to = file_stream(f);
    fprintf(to, "line,src_x,src_y,src_z,rec_x,rec_y,rec_z,component,freq_hz,re,im,sigma,response_"
                "re,response_im,residual_re,residual_im\n");
    for (size_t i = 0; i < s->npairs; i++)
        for (int q = 0; q < s->nfreq; q++) {
            const struct survey_pair *p = &s->pair[i];
            const size_t at = i * (size_t)s->nfreq + (size_t)q;
            const struct survey_datum *d = &s->datum[at];
            if (!isfinite(d->sigma))
                continue;
            fprintf(to,
                    "%zu,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%s,%.10g,%.10g,%.10g,%.10g,%.10g,%."
                    "10g,%.6g,%.6g\n",
                    p->line, p->source[0], p->source[1], p->source[2], p->receiver[0],
                    p->receiver[1], p->receiver[2], survey_columns_component(p), s->freq[q], d->re,
                    d->im, d->sigma, creal(response[at]), cimag(response[at]),
                    creal(survey_residual(d, response[at])),
                    cimag(survey_residual(d, response[at])));
        }
    return file_finish(f);
}

/* The format in which cu-plan reads tasks. */
static enum ek_status write_tasks(const char *path, int cells, const struct cell_report *report)
{
    json_t *cost = json_array();
    for (int c = 0; c < cells; c++)
        json_array_append_new(cost, json_real(report[c].cpu_s));
    json_auto_t *root = json_pack("{s:s s:{s:o s:i}}", "name", "cells", "tasks", "cost", cost,
                                  "seconds_per_cost", 1);
    return json_write(path, root);
}

enum ek_status write_cells(const char *path, const struct survey *s, const struct earth *e,
                           const struct cell_report *report, const double complex *response)
{
    struct file *f;
    if (!named(path))
        return EK_OK;
    if (file_ends_in(path, ".json"))
        return write_tasks(path, s->ncells, report);
    TRY(file_create(path, &f));
    FILE *to = file_stream(f);
    fprintf(to, "cell_id,n_pairs,x,y,rms,seconds,exact_pairs,seabed_m,slope_deg,rough\n");
    for (int c = 0; c < s->ncells; c++) {
        const struct seabed_cell cell = seabed_cell(s, c);
        fprintf(to, "%d,%zu,%.10g,%.10g,%.6g,%.6g,%zu,%.10g,%.3g,%d\n", c,
                s->first[c + 1] - s->first[c], e->x0 + c % e->nx * e->dx, e->y0 + c / e->nx * e->dy,
                survey_rms(s, response, -1, c), report[c].cpu_s, report[c].exact, e->seabed[c],
                atan(cell.slope) * 180 / acos(-1), seabed_is_rough(&cell));
    }
    return file_finish(f);
}
