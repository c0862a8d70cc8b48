/* mcsem/cases.c – reads a table of cases, writes a table of fields. */
#include "mcsem/cases.h"
#include "src/arena.h"
#include "src/file.h"
#include "src/owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum ek_status cases_open(const char *path, struct cases *c)
{
    memset(c, 0, sizeof *c);
    TRY(table_open(path, NULL, &c->table));
    TRY(table_need(c->table, "id", &c->id));
    TRY(survey_columns_find(c->table, &c->pair));
    TRY(table_need(c->table, "interfaces_z_m", &c->interfaces));
    TRY(table_need(c->table, "rho_h_ohmm", &c->rho_h));
    c->rho_v = table_find(c->table, "rho_v_ohmm");
    c->anisotropy = table_find(c->table, "aniso_lambda");
    c->count = table_find(c->table, "n_layers");
    return EK_OK;
}

void cases_close(struct cases *c)
{
    table_close(c->table);
    c->table = NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Parses a list "1.0;2.5" into x [at most `room`] and its length into *n. */
static enum ek_status read_list(const struct cases *c, size_t row, int column, int room, double *x,
                                int *n)
{
    const char *text = table_text(c->table, row, column);
    for (*n = 0; *text && *n < room; (*n)++) {
        char *end;
        x[*n] = strtod(text, &end);
        if (end == text || !isfinite(x[*n]) || (*end && *end != ';'))
            FAIL(EK_USAGE, "%s:%zu: column %s: '%.20s' does not begin with a number",
                 c->table->path, c->table->line[row], c->table->column[column], text);
        text = *end ? end + 1 : end;
    }
    if (*text)
        FAIL(EK_USAGE, "%s:%zu: column %s: more than %d numbers", c->table->path,
             c->table->line[row], c->table->column[column], room);
    return EK_OK;
}

static enum ek_status check_layers(const struct cases *c, size_t row, const struct earth_layers *l)
{
    for (int k = 0; k < l->n; k++)
        if (!earth_is_resistivity(l->rho_h[k]) || !earth_is_resistivity(l->rho_v[k]))
            FAIL(EK_USAGE, "%s:%zu: resistivity of layer %d is %g ohm m, not from 1e-30 to 1e30",
                 c->table->path, c->table->line[row], k + 1, fmin(l->rho_h[k], l->rho_v[k]));
    for (int k = 1; k < l->n - 1; k++)
        if (!(l->z[k] > l->z[k - 1]))
            FAIL(EK_USAGE, "%s:%zu: interface %d at %g m does not lie below the one before it",
                 c->table->path, c->table->line[row], k + 1, l->z[k]);
    return EK_OK;
}

/* The column n_layers, if there is one, must match. */
static enum ek_status check_count(const struct cases *c, size_t row, int layers)
{
    double count = layers;
    if (c->count >= 0)
        TRY(table_number(c->table, row, c->count, &count));
    if (count != layers)
        FAIL(EK_USAGE, "%s:%zu: column n_layers: %g, but %d resistivities", c->table->path,
             c->table->line[row], count, layers);
    return EK_OK;
}

static enum ek_status read_layers(const struct cases *c, size_t row, struct earth_layers *l)
{
    enum { ROOM = EARTH_WATER + EARTH_LAYERS };
    int interfaces, vertical;
    TRY(read_list(c, row, c->interfaces, ROOM, l->z, &interfaces));
    TRY(read_list(c, row, c->rho_h, ROOM + 1, l->rho_h, &l->n));
    vertical = l->n;
    memcpy(l->rho_v, l->rho_h, sizeof l->rho_v);
    if (c->rho_v >= 0 || c->anisotropy >= 0)
        TRY(read_list(c, row, c->rho_v >= 0 ? c->rho_v : c->anisotropy, ROOM + 1, l->rho_v,
                      &vertical));
    if (l->n < 2 || interfaces != l->n - 1 || vertical != l->n)
        FAIL(EK_USAGE,
             "%s:%zu: %d interfaces do not fit %d horizontal and %d vertical resistivities",
             c->table->path, c->table->line[row], interfaces, l->n, vertical);
    TRY(check_count(c, row, l->n));
    for (int k = 0; k < l->n && c->rho_v < 0 && c->anisotropy >= 0; k++)
        l->rho_v[k] *= l->rho_v[k] * l->rho_h[k]; /* rho_v held sqrt(rho_v / rho_h) */
    l->sediments = l->n;
    return check_layers(c, row, l);
}

enum ek_status cases_read(const struct cases *c, size_t row, struct cases_row *r)
{
    TRY(survey_columns_freq(c->table, &c->pair, row, &r->freq));
    TRY(survey_columns_pair(c->table, &c->pair, row, &r->pair));
    TRY(read_layers(c, row, &r->layers));
    struct survey_pair below = r->pair; /* with depths below the sea surface */
    below.source[2] -= r->layers.z[0];
    below.receiver[2] -= r->layers.z[0];
    TRY(survey_check_pair(&below, c->table->path));
    return pair_check(&r->pair, FORWARD_TOLERANCE, c->table->path);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static enum ek_status compute(const struct cases *c, const struct forward_control *control,
                              struct forward *f, struct cases_row *r, size_t row,
                              double complex *field, struct forward_error *error)
{
    int which;
    TRY(cases_read(c, row, r));
    return forward_choose(f, &r->layers, &r->pair, 1, &r->freq, control, &which, field, error);
}

/* Computes the rows on all threads; after a failure the rest is skipped. */
static enum ek_status compute_rows(const struct cases *c, const struct forward_control *control,
                                   double complex *field, struct forward_error *error)
{
    enum ek_status failed = EK_OK;
#pragma omp parallel
    {
        struct forward *f = NULL;
        struct cases_row *r = malloc(sizeof *r);
        enum ek_status st = r ? forward_open(EARTH_WATER + EARTH_LAYERS + 1, 1, &f)
                              : status_fail(EK_UNAVAILABLE, "out of memory for a case");
#pragma omp for schedule(dynamic, 1)
        for (size_t row = 0; row < c->table->nrows; row++) {
            enum ek_status before;
#pragma omp atomic read
            before = failed;
            if (!before && !st)
                st = compute(c, control, f, r, row, &field[row], &error[row]);
            if (st) {
#pragma omp atomic write
                failed = st;
            }
        }
        forward_close(f);
        free(r);
    }
    return failed;
}

static enum ek_status write_fields(const struct cases *c, const double complex *field,
                                   const char *out)
{
    struct file *f;
    TRY(file_create(out, &f));
    FILE *to = file_stream(f);
    fprintf(to, "id,re,im\n");
    for (size_t row = 0; row < c->table->nrows; row++)
        fprintf(to, "%s,%.17g,%.17g\n", table_text(c->table, row, c->id), creal(field[row]),
                cimag(field[row]));
    return file_finish(f);
}

/* Fails or warns if a field may miss the tolerance. */
static enum ek_status check_errors(const struct cases *c, const struct forward_control *control,
                                   const struct forward_error *error)
{
    size_t n = 0, unsure = 0, worst = 0, doubtful = 0;
    for (size_t row = 0; row < c->table->nrows; row++) {
        n += !(error[row].likely <= control->tolerance);
        unsure += !(error[row].most <= control->tolerance);
        worst = error[row].likely > error[worst].likely ? row : worst;
        doubtful = error[row].most > error[doubtful].most ? row : doubtful;
    }
    if (n)
        FAIL(EK_UNVERIFIED,
             "%s:%zu: %zu fields, written as they are, may not keep --tolerance %g; here the error "
             "is estimated at %.1e: a larger tolerance is kept",
             c->table->path, c->table->line[worst], n, control->tolerance, error[worst].likely);
    if (unsure)
        status_warn("%s:%zu: rounding of %zu small fields may exceed --tolerance %g; here the "
                    "error is %.1e at most, less most likely",
                    c->table->path, c->table->line[doubtful], unsure, control->tolerance,
                    error[doubtful].most);
    return EK_OK;
}

enum ek_status cases_run(const char *path, const char *out, const struct forward_control *control)
{
    OWNED(cases_close) struct cases c = {0};
    OWNED(arena_free) struct arena room = {0};
    TRY(cases_open(path, &c));
    double complex *field = ARENA_NEW(&room, c.table->nrows, double complex);
    struct forward_error *error = ARENA_NEW(&room, c.table->nrows, struct forward_error);
    TRY(arena_check(&room, "the fields of %s", path));
    TRY(compute_rows(&c, control, field, error));
    TRY(write_fields(&c, field, out));
    return check_errors(&c, control, error);
}
