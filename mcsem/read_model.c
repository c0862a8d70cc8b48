/* mcsem/read_model.c – resistivities from a table or a VTK file. */
#include "mcsem/read_model.h"
#include "src/file.h"
#include "src/table.h"

#define NEAR 1e-6 /* relative, or m */

/* v: vertical resistivity; 0: use the given ratio. */
static void put(struct earth *e, int c, int k, double rho, double v)
{
    double *m = e->m + (size_t)c * (size_t)earth_unknowns(e) + k;
    *m = log(rho);
    if (e->vertical)
        m[e->nz] = log(v > 0 ? v : rho * e->anisotropy[k]);
}

/* EK_USAGE: the row lies elsewhere than in the earth, its layer was read before, or it has a
 * vertical resistivity that this earth cannot have. */
static enum ek_status check_row(const struct table *t, size_t row, const struct earth *e, int c,
                                int k, double ratio)
{
    static const char *const names[] = {"x", "y", "top_m"};
    const double wanted[] = {e->x0 + c % e->nx * e->dx, e->y0 + c / e->nx * e->dy, e->top[k]};
    for (int i = 0; i < 3; i++) {
        double x = wanted[i];
        const int at = table_find(t, names[i]);
        if (at >= 0)
            TRY(table_number(t, row, at, &x));
        if (fabs(x - wanted[i]) > NEAR * fmax(1, fabs(x)))
            FAIL(EK_USAGE,
                 "%s:%zu: %s of layer %d of column %d is %.10g, in the survey's earth %.10g: it is "
                 "a model of another grid (--earth)",
                 t->path, t->line[row], names[i], k, c, x, wanted[i]);
    }
    if (!isnan(e->m[(size_t)c * (size_t)earth_unknowns(e) + (size_t)k]))
        FAIL(EK_USAGE, "%s:%zu: layer %d of column %d is given twice", t->path, t->line[row], k, c);
    if (ratio > 0 && !e->vertical && fabs(ratio / e->anisotropy[k] - 1) > NEAR)
        FAIL(EK_USAGE,
             "%s:%zu: rho_v_ohmm is %g times rho_ohmm, not the survey's %g: give --vertical",
             t->path, t->line[row], ratio, e->anisotropy[k]);
    return EK_OK;
}

static enum ek_status read_rows(const struct table *t, struct earth *e)
{
    int column, layer, rho;
    TRY(table_need(t, "column", &column));
    TRY(table_need(t, "layer", &layer));
    TRY(table_need(t, "rho_ohmm", &rho));
    const int vertical = table_find(t, "rho_v_ohmm");
    if (t->nrows != (size_t)earth_columns(e) * (size_t)e->nz)
        FAIL(EK_USAGE, "%s: %zu rows are not %d columns of %d layers", t->path, t->nrows,
             earth_columns(e), e->nz);
    for (size_t i = 0; i < earth_size(e); i++)
        e->m[i] = NAN; /* not yet read */
    for (size_t row = 0; row < t->nrows; row++) {
        double c, k, x, v = 0;
        TRY(table_number(t, row, column, &c));
        TRY(table_number(t, row, layer, &k));
        TRY(table_number(t, row, rho, &x));
        if (c < 0 || c >= earth_columns(e) || k < 0 || k >= e->nz || c != floor(c) || k != floor(k))
            FAIL(EK_USAGE, "%s:%zu: there is no layer %g of column %g", t->path, t->line[row], k,
                 c);
        if (vertical >= 0)
            TRY(table_number(t, row, vertical, &v));
        if (!(x > 0) || (vertical >= 0 && !(v > 0)))
            FAIL(EK_USAGE, "%s:%zu: resistivity %g ohm m is not positive", t->path, t->line[row],
                 x > 0 ? v : x);
        TRY(check_row(t, row, e, (int)c, (int)k, v / x));
        put(e, (int)c, (int)k, x, v);
    }
    return EK_OK;
}

/* ---- VTK ------------------------------------------------------------------------------------- */

/* Cells from the deepest layer up, x fastest, as write_vtk() writes them. */
static enum ek_status take_values(const char *path, const char *at, const struct earth *e,
                                  double *m)
{
    at = at ? strstr(at, "LOOKUP_TABLE") : NULL;
    at = at ? strchr(at, '\n') : NULL;
    if (!at)
        FAIL(EK_USAGE, "%s: there are no 'SCALARS rho_ohmm' with a LOOKUP_TABLE", path);
    for (int k = e->nz - 1; k >= 0; k--)
        for (int c = 0; c < earth_columns(e); c++) {
            char *end;
            const double rho = strtod(at, &end);
            if (end == at || !(rho > 0) || !isfinite(rho))
                FAIL(EK_USAGE, "%s: resistivity of column %d, layer %d: '%.12s'", path, c, k, at);
            m[(size_t)c * (size_t)earth_unknowns(e) + (size_t)k] = log(rho);
            at = end;
        }
    return EK_OK;
}

static enum ek_status take_vtk(const char *path, const char *text, struct earth *e)
{
    int n[3];
    const size_t nz = (size_t)e->nz;
    const char *size = strstr(text, "DIMENSIONS");
    if (!size || sscanf(size, "DIMENSIONS %d %d %d", &n[0], &n[1], &n[2]) != 3)
        FAIL(EK_USAGE, "%s: there are no DIMENSIONS of a grid", path);
    if (n[0] != e->nx + 1 || n[1] != e->ny + 1 || n[2] != e->nz + 1)
        FAIL(EK_USAGE, "%s: %d x %d x %d cells are not %d x %d columns of %d layers", path,
             n[0] - 1, n[1] - 1, n[2] - 1, e->nx, e->ny, e->nz);
    TRY(take_values(path, strstr(text, "SCALARS rho_ohmm"), e, e->m));
    const char *vertical = e->vertical ? strstr(text, "SCALARS rho_v_ohmm") : NULL;
    for (size_t i = 0; e->vertical && i < earth_size(e); i++)
        if (i / nz % 2)
            e->m[i] = e->m[i - nz] + log(e->anisotropy[i % nz]);
    return vertical ? take_values(path, vertical, e, e->m + nz) : EK_OK;
}

/* ---- either ---------------------------------------------------------------------------------- */

enum ek_status read_model(const char *path, struct earth *e)
{
    OWNED(owned_table_close) struct table *t = NULL;
    char *text;
    if (file_ends_in(path, ".vtk")) {
        TRY(file_read_text(path, &text));
        const enum ek_status taken = take_vtk(path, text, e);
        free(text);
        return taken;
    }
    TRY(table_open(path, NULL, &t));
    return read_rows(t, e);
}

/* The columns of a table are in grid order, each from the top down. */
static enum ek_status take_grid(const struct table *t, struct earth_list *list)
{
    static const char *const names[] = {"column", "x", "y", "top_m"};
    enum { COLUMN, X, Y, TOP, NUMBERS };
    double first[NUMBERS] = {0}, now[NUMBERS] = {0};
    int at[NUMBERS], columns = 0;
    struct earth_list l = *list;
    for (int k = 0; k < NUMBERS; k++)
        TRY(table_need(t, names[k], &at[k]));
    l.nx = l.nz = 0;
    for (size_t row = 0; row < t->nrows; row++) {
        for (int k = 0; k < NUMBERS; k++)
            TRY(table_number(t, row, at[k], &now[k]));
        if (row == 0)
            memcpy(first, now, sizeof first);
        if (!(now[COLUMN] >= 0 && now[COLUMN] < (double)t->nrows))
            FAIL(EK_USAGE, "%s:%zu: column %g, in a table of %zu rows", t->path, t->line[row],
                 now[COLUMN], t->nrows);
        columns = (int)now[COLUMN] + 1;
        l.nz += columns == 1;
        if (columns == 1 && l.nz == 2)
            l.dz = now[TOP] - first[TOP];
        if (columns == 2 && now[Y] == first[Y])
            l.dx = now[X] - first[X];
        if (!l.nx && now[Y] != first[Y]) {
            l.nx = columns - 1;
            l.dy = now[Y] - first[Y];
        }
    }
    l.nx = l.nx ? l.nx : columns;
    if (!l.nx || columns % l.nx)
        FAIL(EK_USAGE, "%s: %d columns do not make a grid", t->path, columns);
    l.ny = columns / l.nx;
    l.x0 = first[X];
    l.y0 = first[Y];
    *list = l;
    return EK_OK;
}

enum ek_status read_model_grid(const char *path, struct earth_list *list)
{
    OWNED(owned_table_close) struct table *t = NULL;
    if (file_ends_in(path, ".vtk"))
        return EK_OK;
    TRY(table_open(path, NULL, &t));
    return take_grid(t, list);
}
