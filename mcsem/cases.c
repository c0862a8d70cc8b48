/* mcsem/cases.c – reads a table of cases, writes a table of fields. */
#include "mcsem/cases.h"
#include "src/file.h"

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
    char where[4200];
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
        l->rho_v[k] = earth_rho_v(l->rho_h[k], l->rho_v[k]);
    l->sediments = l->n;
    snprintf(where, sizeof where, "%s:%zu", c->table->path, c->table->line[row]);
    return earth_check_layers(l, where);
}

enum ek_status cases_read(const struct cases *c, size_t row, struct cases_row *r)
{
    TRY(survey_columns_freq(c->table, &c->pair, row, &r->freq));
    TRY(survey_columns_pair(c->table, &c->pair, row, &r->pair));
    TRY(read_layers(c, row, &r->layers));
    return forward_check(&r->layers, &r->pair, c->table->path);
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct job {
    struct cases cases;
    const struct forward_control *control;
    double complex *field; /* [rows] */
    struct forward_error *error;
};

static enum ek_status compute(void *arg, struct forward *f, size_t row)
{
    const struct job *j = arg;
    struct cases_row r;
    int which;
    TRY(cases_read(&j->cases, row, &r));
    return forward_choose(f, &r.layers, &r.pair, 1, &r.freq, j->control, &which, &j->field[row],
                          &j->error[row]);
}

static enum ek_status write_fields(const struct job *j, const char *out)
{
    const struct cases *c = &j->cases;
    struct file *f;
    TRY(file_create(out, &f));
    FILE *to = file_stream(f);
    fprintf(to, "id,re,im\n");
    for (size_t row = 0; row < c->table->nrows; row++)
        fprintf(to, "%s,%.17g,%.17g\n", table_text(c->table, row, c->id), creal(j->field[row]),
                cimag(j->field[row]));
    return file_finish(f);
}

/* Fails or warns if a field may miss the tolerance. */
static enum ek_status check_errors(const struct job *j)
{
    const struct cases *c = &j->cases;
    const struct forward_control *control = j->control;
    const struct forward_error *error = j->error;
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
    const size_t rows = c.table->nrows;
    struct job j = {c, control, ARENA_NEW(&room, rows, double complex),
                    ARENA_NEW(&room, rows, struct forward_error)};
    TRY(arena_check(&room, "the fields of %s", path));
    TRY(forward_each(rows, EARTH_WATER + EARTH_LAYERS + 1, 1, compute, &j));
    TRY(write_fields(&j, out));
    return check_errors(&j);
}
