/* mcsem/vtk.c – a grid whose cells are centred on the columns. */
#include "mcsem/vtk.h"
#include "src/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void write_axis(FILE *f, char name, int n, double first, double step)
{
    fprintf(f, "%c_COORDINATES %d double\n", name, n + 1);
    for (int i = 0; i <= n; i++)
        fprintf(f, "%.10g\n", first + (i - 0.5) * step);
}

static void write_depths(FILE *f, const struct earth *e)
{
    bool flat = true;
    for (int c = 1; c < earth_columns(e); c++)
        flat = flat && e->seabed[c] == e->seabed[0];
    const double seabed = flat ? e->seabed[0] : 0;
    const double last = e->nz > 1 ? e->top[e->nz - 1] - e->top[e->nz - 2] : 100;
    fprintf(f, "Z_COORDINATES %d double\n", e->nz + 1);
    fprintf(f, "%.10g\n", -(seabed + e->top[e->nz - 1] + last));
    for (int k = e->nz - 1; k >= 0; k--)
        fprintf(f, "%.10g\n", -(seabed + e->top[k]));
}

/* Cells from the deepest layer up, x fastest. */
static void write_cells(FILE *f, const struct earth *e, const char *name, double factor)
{
    fprintf(f, "SCALARS %s double 1\nLOOKUP_TABLE default\n", name);
    for (int k = e->nz - 1; k >= 0; k--)
        for (int c = 0; c < earth_columns(e); c++) {
            const double m = e->m[(size_t)c * (size_t)e->nz + (size_t)k];
            fprintf(f, "%.10g\n", factor > 0 ? m * factor : exp(m));
        }
}

enum ek_status vtk_write_earth(const char *path, const struct earth *e)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    fprintf(f,
            "# vtk DataFile Version 3.0\nresistivity of the sediments\nASCII\n"
            "DATASET RECTILINEAR_GRID\nDIMENSIONS %d %d %d\n",
            e->nx + 1, e->ny + 1, e->nz + 1);
    write_axis(f, 'X', e->nx, e->x0, e->dx);
    write_axis(f, 'Y', e->ny, e->y0, e->dy);
    write_depths(f, e);
    fprintf(f, "CELL_DATA %d\n", earth_columns(e) * e->nz);
    write_cells(f, e, "rho_ohmm", 0);
    write_cells(f, e, "log10_rho", 1 / log(10));
    const enum ek_status st = fclose(f) ? status_fail(EK_UNAVAILABLE, "%s: out of memory", path)
                                        : file_replace_text(path, text);
    free(text);
    return st;
}
