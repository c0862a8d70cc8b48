/* mcsem/earth_list.c – flat earths from and to text. */
#include "mcsem/earth_list.h"
#include "src/opt.h"

#define AT(member) offsetof(struct earth_list, member)
static const struct opt keys[] = {
    {"nx", OPT_INT, AT(nx), "N", "columns in x", .min = 1, .max = 1e5},
    {"ny", OPT_INT, AT(ny), "N", "columns in y", .min = 1, .max = 1e5},
    {"nz", OPT_INT, AT(nz), "N", "layers of sediment", .min = 1, .max = EARTH_LAYERS},
    {"x0", OPT_REAL, AT(x0), "M", .help = "first column"},
    {"y0", OPT_REAL, AT(y0), "M", .help = "first column"},
    {"dx", OPT_REAL, AT(dx), "M", "distance of columns", .min = 1e-3, .max = 1e7},
    {"dy", OPT_REAL, AT(dy), "M", "distance of columns", .min = 1e-3, .max = 1e7},
    {"dz", OPT_REAL, AT(dz), "M", "thickness of layers", .min = 1e-3, .max = 1e7},
    {"seabed", OPT_REAL, AT(seabed), "M", "depth of the sea", .min = 1e-3, .max = 1e7},
    {"sea", OPT_REAL, AT(sea), "RHO", "resistivity of the sea", .min = 1e-6, .max = 1e15},
    {"air", OPT_REAL, AT(air), "RHO", "resistivity of the air", .min = 1e-6, .max = 1e15},
    {"start", OPT_REAL, AT(start), "RHO", "resistivity of the sediments", .min = 1e-6, .max = 1e15},
    {"anisotropy", OPT_REAL, AT(anisotropy), "A", "rho_v / rho_h", .min = 1e-3, .max = 1e3},
    OPT_END,
};

#define SOMEWHERE 1e5 /* m, placeholder for a seabed that seabed_set() will set */

const struct earth_list earth_list_defaults = {.nx = 1,
                                               .ny = 1,
                                               .nz = 40,
                                               .dx = 500,
                                               .dy = 500,
                                               .dz = 100,
                                               .seabed = 0,
                                               .sea = 0.3125,
                                               .air = 1e12,
                                               .start = 1,
                                               .anisotropy = 1};

enum ek_status earth_list_read(const char *where, const char *text, struct earth_list *list)
{
    return opt_parse_list(keys, list, where, text);
}

enum ek_status earth_list_read_sea(const char *where, const char *text, struct earth_list *list)
{
    const char *at = text;
    int n = 0;
    while (*at && n < EARTH_WATER) {
        char *end;
        double top = 0, rho = strtod(at, &end);
        const bool pair = end > at && *end == ':';
        if (pair) {
            top = rho;
            rho = strtod(end + 1, &end);
        }
        if (end == at || (*end && *end != ';') || (!pair && (n || *end)))
            break;
        list->layers.top[n] = top;
        list->layers.rho[n++] = rho;
        at = *end ? end + 1 : end;
    }
    if (*at || !n)
        FAIL(EK_USAGE,
             "%s: '%s' is neither a resistivity of the sea nor depth:resistivity;… of at most %d "
             "layers",
             where, text, EARTH_WATER);
    list->layers.n = n;
    return EK_OK;
}

static void fill(const struct earth_list *l, struct earth *e)
{
    e->x0 = l->x0;
    e->y0 = l->y0;
    e->dx = l->dx;
    e->dy = l->dy;
    e->air = l->air;
    e->water[0] = l->sea;
    for (int k = 0; k < l->layers.n; k++) {
        e->water_top[k] = l->layers.top[k];
        e->water[k] = l->layers.rho[k];
    }
    e->nwater = l->layers.n ? l->layers.n : 1;
    for (int k = 0; k < e->nz; k++)
        e->anisotropy[k] = l->anisotropy;
}

enum ek_status earth_list_open(const char *where, const struct earth_list *l, struct earth **earth)
{
    struct earth *e;
    TRY(earth_open(l->nx, l->ny, l->nz, l->dz, l->seabed > 0 ? l->seabed : SOMEWHERE, l->start,
                   &e));
    fill(l, e);
    const enum ek_status st = earth_check(e, where);
    return HAND_OUT(st, e, earth, earth_close);
}

void earth_list_write(FILE *out, const struct earth *e)
{
    fprintf(out,
            "nx=%d,ny=%d,x0=%.10g,y0=%.10g,dx=%.10g,dy=%.10g,nz=%d,dz=%.10g,seabed=%.10g,air=%.10g,"
            "start=%.10g,anisotropy=%.10g",
            e->nx, e->ny, e->x0, e->y0, e->dx, e->dy, e->nz, e->nz > 1 ? e->top[1] : 100.0,
            e->seabed[0], e->air, exp(e->m[0]), e->anisotropy[0]);
}

void earth_list_write_sea(FILE *out, const struct earth *e)
{
    for (int k = 0; k < e->nwater; k++)
        fprintf(out, "%s%.10g:%.10g", k ? ";" : "", e->water_top[k], e->water[k]);
}
