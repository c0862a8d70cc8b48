/* okada_mogi/forward.c – rows lie in the lanes. */
#include "okada_mogi/forward.h"
#include "src/file.h"
#include "src/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the input, by parameter. */
struct columns {
    int id, east, north, parameter[MODEL_PARAMETERS];
};

static enum ek_status find_columns(const struct table *t, const struct model *m, struct columns *c)
{
    c->id = table_find(t, "id");
    TRY(table_need(t, "E_m", &c->east));
    TRY(table_need(t, "N_m", &c->north));
    for (int p = 0; p < m->nparameters; p++)
        TRY(table_need(t, m->parameter[p].name, &c->parameter[p]));
    return EK_OK;
}

static enum ek_status read_row(const struct table *t, const struct model *m,
                               const struct columns *c, size_t row, double *x, double at[2])
{
    TRY(table_number(t, row, c->east, &at[0]));
    TRY(table_number(t, row, c->north, &at[1]));
    for (int p = 0; p < m->nparameters; p++) {
        TRY(table_number(t, row, c->parameter[p], &x[p]));
        if (x[p] < m->parameter[p].min || x[p] > m->parameter[p].max)
            FAIL(EK_USAGE, "%s:%zu: %s = %g is out of range, model %s takes %g to %g", t->path,
                 t->line[row], m->parameter[p].name, x[p], m->name, m->parameter[p].min,
                 m->parameter[p].max);
    }
    return EK_OK;
}

static enum ek_status write_rows(const struct table *t, const struct model *m,
                                 const struct columns *c, FILE *out)
{
    double x[MODEL_PARAMETERS], at[2], u[3];
    fputs("id,uE_m,uN_m,uU_m\n", out);
    for (size_t row = 0; row < t->nrows; row++) {
        TRY(read_row(t, m, c, row, x, at));
        model_forward(m, x, at[0], at[1], u);
        if (c->id < 0)
            fprintf(out, "%zu", row + 1);
        else
            fputs(table_text(t, row, c->id), out);
        fprintf(out, ",%.17g,%.17g,%.17g\n", u[0], u[1], u[2]);
    }
    return EK_OK;
}

enum ek_status forward_table(const struct model *model, const char *path, const char *out)
{
    struct table *t;
    struct columns c;
    struct file *f;
    TRY(table_open(path, NULL, &t));
    enum ek_status st = find_columns(t, model, &c);
    if (!st)
        st = file_create(out, &f);
    if (!st && (st = write_rows(t, model, &c, file_stream(f))))
        file_abandon(f);
    else if (!st)
        st = file_finish(f);
    table_close(t);
    return st;
}
