/* okada_mogi/stations.c – tables of displacements, in the orders and names that people use. */
#include "okada_mogi/stations.h"
#include "okada_mogi/utm.h"
#include "src/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EAST, NORTH, LON, LAT, U_EAST, U_NORTH, U_UP, S_EAST, S_NORTH, S_UP, SITE, COLUMNS };

/* Names of each column, the part before the unit; the first is the one that messages say. */
static const char *const known[COLUMNS][6] = {
    [EAST] = {"E", "x", "east", "easting"},
    [NORTH] = {"N", "y", "north", "northing"},
    [LON] = {"lon", "longitude"},
    [LAT] = {"lat", "latitude"},
    [U_EAST] = {"uE", "dE", "ux"},
    [U_NORTH] = {"uN", "dN", "uy"},
    [U_UP] = {"uU", "uZ", "dU"},
    [S_EAST] = {"sE", "sigE", "sx"},
    [S_NORTH] = {"sN", "sigN", "sy"},
    [S_UP] = {"sU", "sZ", "sigU"},
    [SITE] = {"site", "name", "station", "id"},
};

/* Orders of files that have no names in them: Trasatti's VSM and DESFramework, GeoDef, CSI and
 * VMOD, GMT's psvelo -Se. */
static const struct {
    const char *name, *columns;
} orders[] = {
    {"vsm", "E N uE uN uU sE sN sU"},
    {"geodef", "lon lat uE uN uU sE sN sU"},
    {"enu", "site lon lat uE uN uU sE sN sU"},
    {"psvelo", "lon lat uE uN sE sN correlation site"},
};

static const struct {
    const char *suffix;
    double metres;
} units[] = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"km", 1000}, {"deg", 1}};

/* Where each quantity stands in a table, and in which unit. */
struct layout {
    const struct table *table;
    const struct stations_format *format;
    int column[COLUMNS]; /* -1: there is none */
    double unit[COLUMNS];
};

static const char *columns_of(const char *columns)
{
    for (size_t i = 0; columns && i < sizeof orders / sizeof *orders; i++)
        if (!strcasecmp(columns, orders[i].name))
            return orders[i].columns;
    return columns;
}

/* "uE_mm" is quantity U_EAST in units of 0.001 m; -1 if it is none. */
static int quantity_of(const char *name, double *unit)
{
    const size_t n = strcspn(name, "_");
    if (name[n]) {
        const char *suffix = name + n + 1;
        const size_t length = strcspn(suffix, "_/"); /* mm of mm/yr */
        size_t u = 0;
        while (u < sizeof units / sizeof *units &&
               (strlen(units[u].suffix) != length || strncasecmp(suffix, units[u].suffix, length)))
            u++;
        if (u == sizeof units / sizeof *units)
            return -1;
        *unit = units[u].metres;
    }
    for (int q = 0; q < COLUMNS; q++)
        for (int i = 0; i < 6 && known[q][i]; i++)
            if (strlen(known[q][i]) == n && !strncasecmp(known[q][i], name, n))
                return q;
    return -1;
}

static enum ek_status find_columns(struct layout *l)
{
    const struct table *t = l->table;
    for (int q = 0; q < COLUMNS; q++)
        l->column[q] = -1;
    for (int c = 0; c < t->ncolumns; c++) {
        double unit = 0;
        const int q = quantity_of(t->column[c], &unit);
        if (q < 0)
            continue;
        if (l->column[q] >= 0)
            FAIL(EK_USAGE, "%s: columns '%s' and '%s' mean the same; remove one", t->path,
                 t->column[l->column[q]], t->column[c]);
        l->column[q] = c;
        l->unit[q] = unit > 0 ? unit : q >= U_EAST ? l->format->unit : 1;
    }
    return EK_OK;
}

static bool has(const struct layout *l, int quantity)
{
    return l->column[quantity] >= 0;
}

static enum ek_status check_columns(const struct layout *l)
{
    const char *path = l->table->path;
    if (!(has(l, EAST) && has(l, NORTH)) && !(has(l, LON) && has(l, LAT)))
        FAIL(EK_USAGE,
             "%s: no columns E_m and N_m, nor lon and lat; name them in the first row or as "
             "\"columns\" in the job",
             path);
    if (!has(l, U_EAST) && !has(l, U_NORTH) && !has(l, U_UP))
        FAIL(EK_USAGE, "%s: none of the columns uE, uN and uU is there", path);
    for (int c = 0; c < 3; c++)
        if (has(l, U_EAST + c) && !has(l, S_EAST + c) && !(l->format->sigma[c] > 0))
            FAIL(EK_USAGE, "%s: column %s has no %s beside it; give \"sigma\" in the job", path,
                 known[U_EAST + c][0], known[S_EAST + c][0]);
    return EK_OK;
}

/* ---- rows -------------------------------------------------------------------------------------*/

static enum ek_status read_component(const struct layout *l, size_t row, int c, struct stations *s)
{
    double *u = &s->observed[3 * row + (size_t)c], *sigma = &s->sigma[3 * row + (size_t)c];
    *u = *sigma = NAN;
    if (!has(l, U_EAST + c))
        return EK_OK;
    TRY(table_optional(l->table, row, l->column[U_EAST + c], u));
    if (isnan(*u))
        return EK_OK;
    *u *= l->unit[U_EAST + c];
    *sigma = l->format->sigma[c];
    if (has(l, S_EAST + c)) {
        TRY(table_number(l->table, row, l->column[S_EAST + c], sigma));
        *sigma *= l->unit[S_EAST + c];
    }
    if (!(*sigma > 0))
        FAIL(EK_USAGE, "%s:%zu: %s = %g of station '%s' is not above 0", l->table->path,
             l->table->line[row], known[S_EAST + c][0], *sigma, s->name[row]);
    *sigma = hypot(*sigma, l->format->floor[c]);
    s->ncomponents++;
    return EK_OK;
}

static enum ek_status read_row(const struct layout *l, size_t row, struct stations *s)
{
    const struct table *t = l->table;
    const bool plane = has(l, EAST) && has(l, NORTH);
    char number[32];
    snprintf(number, sizeof number, "S%02zu", row + 1);
    const char *name = has(l, SITE) ? table_text(t, row, l->column[SITE]) : number;
    s->name[row] = strdup(*name ? name : number);
    if (!s->name[row])
        FAIL(EK_LACK, "%s: out of memory for the stations", t->path);
    TRY(table_number(t, row, l->column[plane ? EAST : LON], &s->east[row]));
    TRY(table_number(t, row, l->column[plane ? NORTH : LAT], &s->north[row]));
    s->east[row] *= l->unit[plane ? EAST : LON];
    s->north[row] *= l->unit[plane ? NORTH : LAT];
    if (!plane && !(fabs(s->north[row]) < 90 && fabs(s->east[row]) <= 360))
        FAIL(EK_USAGE, "%s:%zu: longitude %g, latitude %g are not degrees", t->path, t->line[row],
             s->east[row], s->north[row]);
    const int before = s->ncomponents;
    for (int c = 0; c < 3; c++)
        TRY(read_component(l, row, c, s));
    if (s->ncomponents == before)
        FAIL(EK_USAGE, "%s:%zu: station '%s' has no observation", t->path, t->line[row],
             s->name[row]);
    return EK_OK;
}

static int by_name(const void *a, const void *b, void *stations)
{
    const struct stations *s = stations;
    const int i = *(const int *)a, j = *(const int *)b, order = strcmp(s->name[i], s->name[j]);
    return order ? order : i - j;
}

static int by_place(const void *a, const void *b, void *stations)
{
    const struct stations *s = stations;
    const int i = *(const int *)a, j = *(const int *)b;
    const int east = (s->east[i] > s->east[j]) - (s->east[i] < s->east[j]);
    const int north = (s->north[i] > s->north[j]) - (s->north[i] < s->north[j]);
    return east ? east : north ? north : i - j;
}

/* Neighbours in order of name, or of place, that are the same in it. */
static enum ek_status refuse_same(const struct table *t, const struct stations *s, const int *order,
                                  bool place)
{
    for (int k = 1; k < s->n; k++) {
        const int j = order[k - 1], i = order[k];
        if (place && s->east[i] == s->east[j] && s->north[i] == s->north[j])
            FAIL(EK_USAGE, "%s:%zu: station '%s' stands where '%s' of line %zu does", t->path,
                 t->line[i], s->name[i], s->name[j], t->line[j]);
        if (!place && !strcmp(s->name[i], s->name[j]))
            FAIL(EK_USAGE, "%s:%zu: station '%s' is there already, on line %zu", t->path,
                 t->line[i], s->name[i], t->line[j]);
    }
    return EK_OK;
}

static enum ek_status refuse_twins(const struct table *t, struct stations *s)
{
    int *order = calloc((size_t)s->n, sizeof *order);
    if (!order)
        FAIL(EK_LACK, "%s: out of memory for %d stations", t->path, s->n);
    enum ek_status st = EK_OK;
    for (int place = 0; place < 2 && !st; place++) {
        for (int i = 0; i < s->n; i++)
            order[i] = i;
        qsort_r(order, (size_t)s->n, sizeof *order, place ? by_place : by_name, s);
        st = refuse_same(t, s, order, place);
    }
    free(order);
    return st;
}

static void project(const struct stations_format *format, struct stations *s)
{
    double lon = 0, lat = 0;
    for (int i = 0; i < s->n; i++) {
        lon += s->east[i] / s->n;
        lat += s->north[i] / s->n;
    }
    const int zone = format->zone ? format->zone : utm_zone(lon);
    snprintf(s->projection, sizeof s->projection, "UTM %d%c", zone, lat < 0 ? 'S' : 'N');
    for (int i = 0; i < s->n; i++)
        utm_project(zone, lat < 0, s->east[i], s->north[i], &s->east[i], &s->north[i]);
}

static enum ek_status fill(const struct layout *l, struct stations *s)
{
    const size_t n = l->table->nrows;
    if (n < 1 || n > 1 << 20)
        FAIL(EK_USAGE, "%s: %zu stations; there must be 1 to %d", l->table->path, n, 1 << 20);
    s->name = calloc(n, sizeof *s->name);
    s->east = calloc(n, sizeof *s->east);
    s->north = calloc(n, sizeof *s->north);
    s->observed = calloc(3 * n, sizeof *s->observed);
    s->sigma = calloc(3 * n, sizeof *s->sigma);
    if (!s->name || !s->east || !s->north || !s->observed || !s->sigma)
        FAIL(EK_LACK, "%s: out of memory for %zu stations", l->table->path, n);
    s->n = (int)n;
    for (size_t row = 0; row < n; row++)
        TRY(read_row(l, row, s));
    TRY(refuse_twins(l->table, s));
    if (!has(l, EAST) || !has(l, NORTH))
        project(l->format, s);
    return EK_OK;
}

enum ek_status stations_read(const char *path, const struct stations_format *format,
                             struct stations *s)
{
    struct table *t;
    struct stations made = {0};
    TRY(table_open(path, columns_of(format->columns), &t));
    struct layout l = {.table = t, .format = format};
    enum ek_status st = find_columns(&l);
    if (!st)
        st = check_columns(&l);
    if (!st)
        st = fill(&l, &made);
    table_close(t);
    if (st)
        stations_close(&made);
    else
        *s = made;
    return st;
}

void stations_close(struct stations *s)
{
    for (int i = 0; s->name && i < s->n; i++)
        free(s->name[i]);
    free(s->name);
    free(s->east);
    free(s->north);
    free(s->observed);
    free(s->sigma);
    *s = (struct stations){0};
}
