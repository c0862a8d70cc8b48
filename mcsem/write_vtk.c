/* mcsem/write_vtk.c – VTK grids with cells centred on the columns, below each column's sea
 * floor. */
#include "mcsem/write.h"
#include "src/file.h"

static void write_axis(FILE *f, char name, int n, double first, double step)
{
    fprintf(f, "%c_COORDINATES %d double\n", name, n + 1);
    for (int i = 0; i <= n; i++)
        fprintf(f, "%.10g\n", first + (i - 0.5) * step);
}

/* Depth of layer k's top below the seabed; k = nz: the bottom of the last layer as drawn. */
static double top_of(const struct earth *e, int k)
{
    const double last = e->nz > 1 ? e->top[e->nz - 1] - e->top[e->nz - 2] : 100;
    return k < e->nz ? e->top[k] : e->top[e->nz - 1] + last;
}

static bool is_flat(const struct earth *e)
{
    for (int c = 1; c < earth_columns(e); c++)
        if (e->seabed[c] != e->seabed[0])
            return false;
    return true;
}

/* The mean floor of the columns around corner (i, j). */
static double floor_at(const struct earth *e, int i, int j)
{
    double sum = 0, n = 0;
    for (int iy = j - 1; iy <= j; iy++)
        for (int ix = i - 1; ix <= i; ix++)
            if (ix >= 0 && ix < e->nx && iy >= 0 && iy < e->ny) {
                sum += e->seabed[iy * e->nx + ix];
                n++;
            }
    return sum / n;
}

/* A rectilinear grid, or one whose layers follow the sea floor. */
static void write_grid(FILE *f, const struct earth *e)
{
    const bool flat = is_flat(e);
    fprintf(f, "DATASET %s_GRID\nDIMENSIONS %d %d %d\n", flat ? "RECTILINEAR" : "STRUCTURED",
            e->nx + 1, e->ny + 1, e->nz + 1);
    if (flat) {
        write_axis(f, 'X', e->nx, e->x0, e->dx);
        write_axis(f, 'Y', e->ny, e->y0, e->dy);
        fprintf(f, "Z_COORDINATES %d double\n", e->nz + 1);
        for (int k = e->nz; k >= 0; k--)
            fprintf(f, "%.10g\n", -(e->seabed[0] + top_of(e, k)));
        return;
    }
    fprintf(f, "POINTS %d double\n", (e->nx + 1) * (e->ny + 1) * (e->nz + 1));
    for (int k = e->nz; k >= 0; k--)
        for (int j = 0; j <= e->ny; j++)
            for (int i = 0; i <= e->nx; i++)
                fprintf(f, "%.10g %.10g %.10g\n", e->x0 + (i - 0.5) * e->dx,
                        e->y0 + (j - 0.5) * e->dy, -(floor_at(e, i, j) + top_of(e, k)));
}

/* Cells from the deepest layer up, x fastest. */
static void put_values(FILE *f, const struct earth *e, const char *name, const double *value,
                       double (*as)(double), int first)
{
    fprintf(f, "SCALARS %s double 1\nLOOKUP_TABLE default\n", name);
    for (int k = e->nz - 1; k >= 0; k--)
        for (int c = 0; c < earth_columns(e); c++)
            fprintf(f, "%.10g\n",
                    as(value[(size_t)c * (size_t)earth_unknowns(e) + (size_t)(first + k)]));
}

static double decades(double ln)
{
    return ln / log(10);
}

enum ek_status write_vtk(const char *path, const struct earth *e, const struct uncertainty *u)
{
    struct file *f;
    TRY(file_create(path, &f));
    FILE *to = file_stream(f);
    fprintf(to, "# vtk DataFile Version 3.0\nresistivity of the sediments\nASCII\n");
    write_grid(to, e);
    fprintf(to, "CELL_DATA %d\n", earth_columns(e) * e->nz);
    put_values(to, e, "rho_ohmm", e->m, exp, 0);
    put_values(to, e, "log10_rho", e->m, decades, 0);
    if (e->vertical)
        put_values(to, e, "rho_v_ohmm", e->m, exp, e->nz);
    if (u) {
        put_values(to, e, "sigma_ln_rho", u->sigma, fabs, 0);
        put_values(to, e, "resolution_m", u->length, fabs, 0);
        fprintf(to, "SCALARS investigated_m double 1\nLOOKUP_TABLE default\n");
        for (int i = 0; i < earth_columns(e) * e->nz; i++)
            fprintf(to, "%.10g\n", u->depth[i % earth_columns(e)]);
    }
    if (u && e->vertical)
        put_values(to, e, "sigma_ln_rho_v", u->sigma, fabs, e->nz);
    return file_finish(f);
}
