/* okada_mogi/read_stations.c – reads tables of displacements with the usual names and orders. */
#include "okada_mogi/stations.h"
#include "okada_mogi/utm.h"
#include "src/checksum.h"
#include "src/table.h"

#include <strings.h>

enum {
    EAST,
    NORTH,
    LON,
    LAT,
    EAST_2,
    NORTH_2,
    LON_2,
    LAT_2,
    HEIGHT,
    CORRELATION,
    L_EAST,
    L_NORTH,
    L_UP,
    SITE,
    SCENE,
    U_EAST,
    U_NORTH,
    U_UP,
    S_EAST,
    S_NORTH,
    S_UP,
    VALUE,
    SIGMA,
    COLUMNS
};

/* Names of each column, without the unit; messages use the first. */
enum { NAMES = 6 }; /* most names of a column, and NULL */
static const char *const known[COLUMNS][NAMES] = {
    [EAST] = {"E", "x", "east", "easting"},
    [NORTH] = {"N", "y", "north", "northing"},
    [LON] = {"lon", "longitude"},
    [LAT] = {"lat", "latitude"},
    [EAST_2] = {"E2", "x2", "east2"},
    [NORTH_2] = {"N2", "y2", "north2"},
    [LON_2] = {"lon2", "longitude2"},
    [LAT_2] = {"lat2", "latitude2"},
    [HEIGHT] = {"z", "h", "height", "elevation", "elev"},
    [CORRELATION] = {"correlation", "corr", "rho", "coren"},
    [L_EAST] = {"lE", "losx", "lose"},
    [L_NORTH] = {"lN", "losy", "losn"},
    [L_UP] = {"lU", "losz", "losu"},
    [SCENE] = {"scene", "track"},
    [VALUE] = {"value", "obs", "data", "los"},
    [SIGMA] = {"sigma", "error"},
    [U_EAST] = {"uE", "dE", "ux", "ueast"},
    [U_NORTH] = {"uN", "dN", "uy", "unorth"},
    [U_UP] = {"uU", "uZ", "dU", "uup"},
    [S_EAST] = {"sE", "sigE", "sx", "seast"},
    [S_NORTH] = {"sN", "sigN", "sy", "snorth"},
    [S_UP] = {"sU", "sZ", "sigU", "sup"},
    [SITE] = {"site", "name", "station", "id"},
};

/* Column orders of files without a header: Trasatti's VSM and DESFramework, GeoDef, CSI and VMOD,
 * GMT's psvelo -Se. */
static const struct {
    const char *name, *columns;
} orders[] = {
    {"vsm", "E N uE uN uU sE sN sU"},
    {"vsm_sar", "E N value sigma lE lN lU"},
    {"geodef", "lon lat uE uN uU sE sN sU"},
    {"enu", "site lon lat uE uN uU sE sN sU"},
    {"psvelo", "lon lat uE uN sE sN correlation site*"},
};

static const struct {
    const char *suffix;
    double metres;
} units[] = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"km", 1000}, {"deg", 1}};

/* The arrays of numbers in struct stations; stations_sum() adds them in this order. */
static const struct {
    size_t at, each;
} fields[] = {
    {offsetof(struct stations, east), 1},        {offsetof(struct stations, north), 1},
    {offsetof(struct stations, observed), 3},    {offsetof(struct stations, sigma), 3},
    {offsetof(struct stations, along), 3},       {offsetof(struct stations, height), 1},
    {offsetof(struct stations, correlation), 1}, {offsetof(struct stations, second), 2},
};
static const size_t texts[] = {offsetof(struct stations, name), offsetof(struct stations, scene)};

enum { FIELDS = sizeof fields / sizeof *fields, TEXTS = sizeof texts / sizeof *texts };

static void *list_at(const struct stations *s, size_t at)
{
    void *list;
    memcpy(&list, (const char *)s + at, sizeof list);
    return list;
}

/* Column and unit of each quantity in a table. */
struct layout {
    const struct table *table;
    const struct stations_format *format;
    int column[COLUMNS]; /* -1: none */
    double unit[COLUMNS];
    bool named[COLUMNS]; /* the column's name has the unit */
};

static const char *columns_of(const char *columns)
{
    for (size_t i = 0; columns && i < sizeof orders / sizeof *orders; i++)
        if (!strcasecmp(columns, orders[i].name))
            return orders[i].columns;
    return columns;
}

/* Metres in the unit named by `length` characters of text; 0: unknown. */
static double unit_of(const char *text, size_t length)
{
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        if (strlen(units[u].suffix) == length && !strncasecmp(units[u].suffix, text, length))
            return units[u].metres;
    return 0;
}

/* The quantity named by the first `length` characters of a name, ignoring underscores; -1: none. */
static int stem_of(const char *name, size_t length)
{
    for (int q = 0; q < COLUMNS; q++)
        for (int i = 0; i < NAMES && known[q][i]; i++) {
            const char *stem = known[q][i];
            size_t at = 0;
            for (; at < length && (name[at] == '_' || (*stem && !strncasecmp(&name[at], stem, 1)));
                 at++)
                stem += name[at] != '_';
            if (at == length && !*stem)
                return q;
        }
    return -1;
}

/* "uE_mm", "u_east_mm" and "uE_mm/yr" are quantity U_EAST in units of 0.001 m. -1: none; *odd: it
 * is one in an unknown unit. */
static int quantity_of(const char *name, double *unit, bool *odd)
{
    const int whole = stem_of(name, strlen(name));
    *odd = false;
    *unit = 0;
    for (size_t at = strcspn(name, "_"); whole < 0 && name[at];
         at += 1 + strcspn(name + at + 1, "_")) {
        const int q = stem_of(name, at);
        *unit = q < 0 ? 0 : unit_of(name + at + 1, strcspn(name + at + 1, "_/"));
        *odd |= q >= 0 && q != HEIGHT && !(*unit > 0);
        if (*unit > 0)
            return q;
    }
    return whole;
}

/* Likewise, but heights count only if the format asks for them. */
static int quantity_in(const struct layout *l, const char *name, double *unit, bool *odd)
{
    const int q = quantity_of(name, unit, odd);
    return q == HEIGHT && !l->format->heights ? -1 : q;
}

static enum ek_status find_columns(struct layout *l)
{
    const struct table *t = l->table;
    for (int q = 0; q < COLUMNS; q++)
        l->column[q] = -1;
    for (int c = 0; c < t->ncolumns; c++) {
        double unit;
        bool odd;
        const int q = quantity_in(l, t->column[c], &unit, &odd);
        if (q < 0 && odd)
            FAIL(EK_USAGE, "%s: column '%s': unknown unit; write m, cm, mm, km or deg", t->path,
                 t->column[c]);
        if (q < 0)
            continue;
        if (l->column[q] >= 0)
            FAIL(EK_USAGE, "%s: columns '%s' and '%s' mean the same; remove one", t->path,
                 t->column[l->column[q]], t->column[c]);
        l->column[q] = c;
        l->named[q] = unit > 0;
        l->unit[q] = unit > 0 ? unit : q >= U_EAST ? l->format->unit : 1;
    }
    return EK_OK;
}

static bool is_unused(const void *layout, int column)
{
    const struct layout *l = layout;
    double unit;
    bool odd;
    return quantity_in(l, l->table->column[column], &unit, &odd) < 0;
}

static bool has(const struct layout *l, int quantity)
{
    return l->column[quantity] >= 0;
}

/* Whether there are columns of second points. */
static bool is_two(const struct layout *l)
{
    return has(l, has(l, EAST) && has(l, NORTH) ? EAST_2 : LON_2);
}

/* Warns of deviations without a unit beside data with one: most files do not mean metres then. */
static void tell_units(const struct layout *l)
{
    for (int c = 0; c < 4; c++) {
        const int u = c < 3 ? U_EAST + c : VALUE, s = c < 3 ? S_EAST + c : SIGMA;
        if (has(l, u) && has(l, s) && l->named[u] != l->named[s] && l->unit[u] != l->unit[s])
            status_warn("%s: '%s' is in units of %g m, but '%s' of %g m; name both units",
                        l->table->path, l->table->column[l->column[u]], l->unit[u],
                        l->table->column[l->column[s]], l->unit[s]);
    }
}

static enum ek_status check_columns(const struct layout *l)
{
    const char *path = l->table->path;
    if (has(l, EAST_2) != has(l, NORTH_2) || has(l, LON_2) != has(l, LAT_2))
        FAIL(EK_USAGE, "%s: a second point needs both E2_m and N2_m, or lon2 and lat2", path);
    if (l->format->heights && !has(l, HEIGHT))
        FAIL(EK_USAGE, "%s: there is no column z_m (or height_m, elevation_m)", path);
    if (is_two(l) && !has(l, VALUE))
        FAIL(EK_USAGE, "%s: a second point, but no column value", path);
    if (!(has(l, EAST) && has(l, NORTH)) && !(has(l, LON) && has(l, LAT)))
        FAIL(EK_USAGE,
             "%s: no columns E_m and N_m, nor lon and lat; name them in the first row or as "
             "\"columns\" in the job",
             path);
    if (!has(l, U_EAST) && !has(l, U_NORTH) && !has(l, U_UP) && !has(l, VALUE))
        FAIL(EK_USAGE, "%s: none of the columns uE, uN, uU and value is there", path);
    for (int c = 0; c < 3 && has(l, VALUE) && !(is_two(l) && !has(l, L_EAST)); c++)
        if (!has(l, L_EAST + c))
            FAIL(EK_USAGE, "%s: column value has no %s beside it: along which unit vector is it?",
                 path, known[L_EAST + c][0]);
    if (has(l, VALUE) && !has(l, SIGMA) && !(l->format->sigma[0] > 0))
        FAIL(EK_USAGE, "%s: column value has no sigma beside it; give \"sigma\" in the job", path);
    for (int c = 0; c < 3; c++)
        if (has(l, U_EAST + c) && !has(l, S_EAST + c) && !(l->format->sigma[c] > 0))
            FAIL(EK_USAGE, "%s: column %s has no %s beside it; give \"sigma\" in the job", path,
                 known[U_EAST + c][0], known[S_EAST + c][0]);
    return EK_OK;
}

/* ---- rows -------------------------------------------------------------------------------------*/

/* Removes rows without any observation from tables of values: pixels without data. */
static enum ek_status leave_out(struct table *t, const struct layout *l)
{
    static const int data[] = {VALUE, U_EAST, U_NORTH, U_UP};
    const size_t all = t->nrows, width = (size_t)t->ncolumns;
    size_t first = 0;
    if (!has(l, VALUE))
        return EK_OK;
    t->nrows = 0;
    for (size_t row = 0; row < all; row++) {
        double x = NAN;
        for (int k = 0; k < 4 && isnan(x); k++)
            if (has(l, data[k]))
                TRY(table_optional(t, row, l->column[data[k]], &x));
        if (isnan(x)) {
            first = first ? first : t->line[row];
            continue;
        }
        memmove(t->cell + t->nrows * width, t->cell + row * width, width * sizeof *t->cell);
        t->line[t->nrows++] = t->line[row];
    }
    if (all && !t->nrows)
        FAIL(EK_USAGE, "%s: none of its %zu rows holds an observation", t->path, all);
    if (first)
        status_warn("%s:%zu: no observation; %zu of %zu rows are left out", t->path, first,
                    all - t->nrows, all);
    return EK_OK;
}

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

/* Reads the correlation of east and north, if both are observed; the noise floor, which is
 * uncorrelated, reduces it. */
static enum ek_status read_correlation(const struct layout *l, size_t row, struct stations *s)
{
    const double *sigma = &s->sigma[3 * row];
    double c = NAN;
    if (has(l, CORRELATION))
        TRY(table_optional(l->table, row, l->column[CORRELATION], &c));
    if (isnan(c) || isnan(sigma[0]) || isnan(sigma[1]))
        return EK_OK;
    if (!(fabs(c) < 1))
        FAIL(EK_USAGE, "%s:%zu: correlation %g of station '%s' is not between -1 and 1",
             l->table->path, l->table->line[row], c, s->name[row]);
    for (int k = 0; k < 2; k++) {
        const double floor = l->format->floor[k] / sigma[k];
        c *= sqrt(1 - floor * floor);
    }
    s->correlation[row] = c;
    return EK_OK;
}

/* Reads a datum along a unit vector, if the row has one. */
static enum ek_status read_scalar(const struct layout *l, size_t row, struct stations *s)
{
    const struct table *t = l->table;
    double *u = &s->observed[3 * row], *sigma = &s->sigma[3 * row], *along = &s->along[3 * row];
    double value = NAN, floor = 0, usual = 0, norm = 0;
    along[0] = along[1] = along[2] = NAN;
    if (has(l, VALUE))
        TRY(table_optional(t, row, l->column[VALUE], &value));
    if (isnan(value))
        return EK_OK;
    if (!isnan(u[0]) || !isnan(u[1]) || !isnan(u[2]))
        FAIL(EK_USAGE, "%s:%zu: station '%s' has both a value and components", t->path,
             t->line[row], s->name[row]);
    for (int c = 0; c < 3; c++) {
        along[c] = c == 0; /* until point_along() */
        if (has(l, L_EAST))
            TRY(table_number(t, row, l->column[L_EAST + c], &along[c]));
        norm += along[c] * along[c];
        floor += along[c] * l->format->floor[c] * along[c] * l->format->floor[c];
        usual += along[c] * l->format->sigma[c] * along[c] * l->format->sigma[c];
    }
    if (!(fabs(norm - 1) < 0.02))
        FAIL(EK_USAGE, "%s:%zu: lE, lN, lU have the length %.4g, not 1", t->path, t->line[row],
             sqrt(norm));
    double deviation = sqrt(usual);
    if (has(l, SIGMA)) {
        TRY(table_number(t, row, l->column[SIGMA], &deviation));
        deviation *= l->unit[SIGMA];
    }
    if (!(deviation > 0))
        FAIL(EK_USAGE, "%s:%zu: sigma = %g of station '%s' is not above 0", t->path, t->line[row],
             deviation, s->name[row]);
    *u = value * l->unit[VALUE];
    *sigma = sqrt(deviation * deviation + floor);
    s->ncomponents++;
    const char *slash = strrchr(t->path, '/'), *file = slash ? slash + 1 : t->path;
    s->scene[row] = has(l, SCENE) ? strdup(table_text(t, row, l->column[SCENE]))
                                  : strndup(file, strcspn(file, "."));
    if (!s->scene[row])
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the stations", t->path);
    return EK_OK;
}

/* Reads a row's height and second point. */
static enum ek_status read_place(const struct layout *l, size_t row, bool plane, struct stations *s)
{
    const struct table *t = l->table;
    double *height = &s->height[row];
    if (has(l, HEIGHT)) {
        TRY(table_number(t, row, l->column[HEIGHT], height));
        *height *= l->unit[HEIGHT];
    }
    if (!(*height >= 0))
        FAIL(EK_USAGE, "%s:%zu: station '%s' is %g m below the datum of depths", t->path,
             t->line[row], s->name[row], -*height);
    for (int c = 0; c < 2; c++) {
        const int q = (plane ? EAST_2 : LON_2) + c;
        double *second = &s->second[2 * row + (size_t)c];
        *second = NAN;
        if (has(l, q)) {
            TRY(table_optional(t, row, l->column[q], second));
            *second *= l->unit[q];
        }
    }
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
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the stations", t->path);
    TRY(table_number(t, row, l->column[plane ? EAST : LON], &s->east[row]));
    TRY(table_number(t, row, l->column[plane ? NORTH : LAT], &s->north[row]));
    s->east[row] *= l->unit[plane ? EAST : LON];
    s->north[row] *= l->unit[plane ? NORTH : LAT];
    if (!plane && !(fabs(s->north[row]) < 90 && fabs(s->east[row]) <= 360))
        FAIL(EK_USAGE, "%s:%zu: longitude %g, latitude %g are not degrees", t->path, t->line[row],
             s->east[row], s->north[row]);
    TRY(read_place(l, row, plane, s));
    const int before = s->ncomponents;
    for (int c = 0; c < 3; c++)
        TRY(read_component(l, row, c, s));
    TRY(read_correlation(l, row, s));
    TRY(read_scalar(l, row, s));
    const bool difference = stations_difference(s, (int)row);
    if (difference != !isnan(s->second[2 * row + 1]) || (difference && !s->scene[row]) ||
        (s->scene[row] && !difference && !has(l, L_EAST)))
        FAIL(EK_USAGE, "%s:%zu: station '%s' needs a value and a whole second point", t->path,
             t->line[row], s->name[row]);
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

/* Refuses neighbours in order of name, or of place, that are equal. */
static enum ek_status refuse_same(const struct table *t, const struct stations *s, const int *order,
                                  int n, bool place)
{
    for (int k = 1; k < n; k++) {
        const int j = order[k - 1], i = order[k];
        if (place && s->east[i] == s->east[j] && s->north[i] == s->north[j])
            FAIL(EK_USAGE, "%s:%zu: station '%s' has the coordinates of '%s' on line %zu", t->path,
                 t->line[i], s->name[i], s->name[j], t->line[j]);
        if (!place && !strcmp(s->name[i], s->name[j]))
            FAIL(EK_USAGE, "%s:%zu: station '%s' is there already, on line %zu", t->path,
                 t->line[i], s->name[i], t->line[j]);
    }
    return EK_OK;
}

static enum ek_status refuse_twins(const struct table *t, struct stations *s)
{
    OWNED_MEMORY NEW(int, order, s->n, "%s: out of memory for %d stations", t->path, s->n);
    for (int place = 0; place < 2; place++) {
        int n = 0;
        for (int i = 0; i < s->n; i++)
            if (!stations_scalar(s, i))
                order[n++] = i;
        qsort_r(order, (size_t)n, sizeof *order, place ? by_place : by_name, s);
        TRY(refuse_same(t, s, order, n, place));
    }
    return EK_OK;
}

/* Mean longitude, modulo 360: 179.9 and -179.9 are neighbours. */
static double middle_of(const struct stations *s)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        sum += remainder(s->east[i] - s->east[0], 360) / s->n;
    return s->east[0] + sum;
}

/* The projection's error in length grows with the square of the distance from its meridian. */
static enum ek_status check_zone(const struct table *t, int zone, const struct stations *s)
{
    const double degree = 0x1.1df46a2529d39p-6;
    int far = 0;
    double most = 0;
    for (int i = 0; i < s->n; i++) {
        const double away = fabs(remainder(s->east[i] - (6 * zone - 183), 360));
        if (away > most) {
            most = away;
            far = i;
        }
    }
    const double angle = most * degree * cos(s->north[far] * degree);
    if (most > 45)
        FAIL(EK_USAGE,
             "%s:%zu: station '%s' is %.4g degrees away from UTM zone %d; choose another utm_zone, "
             "or give E_m and N_m",
             t->path, t->line[far], s->name[far], most, zone);
    if (angle * angle / 2 > 0.01)
        status_warn("%s:%zu: station '%s' is %.3g degrees away from the middle of UTM zone %d, "
                    "where lengths are wrong by %.2g %%",
                    t->path, t->line[far], s->name[far], most, zone, 50 * angle * angle);
    return EK_OK;
}

static void set_zone(struct stations *s, int zone)
{
    s->zone = zone;
    if (zone)
        snprintf(s->projection, sizeof s->projection, "UTM %d%c", abs(zone), zone < 0 ? 'S' : 'N');
}

static enum ek_status project(const struct layout *l, struct stations *s)
{
    double lat = 0;
    for (int i = 0; i < s->n; i++)
        lat += s->north[i] / s->n;
    const int usual = l->format->usual, given = l->format->zone ? l->format->zone : usual;
    const int zone = given ? abs(given) : utm_zone(middle_of(s));
    const bool south = given < 0 || (lat < 0 && (!usual || given != usual));
    TRY(check_zone(l->table, zone, s));
    set_zone(s, south ? -zone : zone);
    for (int i = 0; i < s->n; i++) {
        double *two = s->second + 2 * i;
        utm_project(zone, south, s->east[i], s->north[i], &s->east[i], &s->north[i]);
        if (stations_difference(s, i))
            utm_project(zone, south, two[0], two[1], &two[0], &two[1]);
    }
    return EK_OK;
}

void stations_place(const struct stations *s, double east, double north, double at[2])
{
    at[0] = east;
    at[1] = north;
    if (s->zone)
        utm_invert(abs(s->zone), s->zone < 0, east, north, &at[0], &at[1]);
}

/* Measured lines: sets the unit vector from one point to the other. */
static enum ek_status point_along(const struct table *t, struct stations *s)
{
    for (int i = 0; i < s->n; i++) {
        const double e = s->second[2 * i] - s->east[i], n = s->second[2 * i + 1] - s->north[i];
        if (!stations_difference(s, i))
            continue;
        if (!(hypot(e, n) > 0))
            FAIL(EK_USAGE, "%s:%zu: both points of '%s' are the same", t->path, t->line[i],
                 s->name[i]);
        s->along[3 * i] = e / hypot(e, n);
        s->along[3 * i + 1] = n / hypot(e, n);
        s->along[3 * i + 2] = 0;
    }
    return EK_OK;
}

/* Grows the array at offset `at` to n elements of `size` bytes. */
static bool grow_list(struct stations *s, size_t at, size_t n, size_t size)
{
    void *more = realloc(list_at(s, at), n * size + 1);
    if (!more)
        return false;
    memcpy((char *)s + at, &more, sizeof more);
    memset((char *)more + (size_t)s->n * size, 0, (n - (size_t)s->n) * size);
    return true;
}

/* Makes room for n stations, at least as many as there are; new ones are zeroed. */
static enum ek_status grow(const char *path, struct stations *s, size_t n)
{
    bool done = true;
    for (int f = 0; f < FIELDS; f++)
        done = done && grow_list(s, fields[f].at, n, fields[f].each * sizeof(double));
    for (int t = 0; t < TEXTS; t++)
        done = done && grow_list(s, texts[t], n, sizeof(char *));
    if (!done)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %zu stations", path, n);
    return EK_OK;
}

static enum ek_status fill(const struct layout *l, struct stations *s)
{
    const size_t n = l->table->nrows;
    if (n < 1 || n > 1 << 20)
        FAIL(EK_USAGE, "%s: %zu stations; there must be 1 to %d", l->table->path, n, 1 << 20);
    TRY(grow(l->table->path, s, n));
    s->n = (int)n;
    for (size_t row = 0; row < n; row++)
        TRY(read_row(l, row, s));
    TRY(refuse_twins(l->table, s));
    table_warn_unused(l->table, is_unused, l);
    tell_units(l);
    if (!has(l, EAST) || !has(l, NORTH))
        TRY(project(l, s));
    else
        set_zone(s, l->format->zone);
    return is_two(l) && !has(l, L_EAST) ? point_along(l->table, s) : EK_OK;
}

enum ek_status stations_read(const char *path, const struct stations_format *format,
                             struct stations *s)
{
    struct table *t;
    struct stations made = {0};
    TRY(table_open(path, columns_of(format->columns), &t));
    struct layout l = {.table = t, .format = format};
    enum ek_status st = find_columns(&l);
    THEN(st, check_columns(&l));
    THEN(st, leave_out(t, &l));
    THEN(st, fill(&l, &made));
    table_close(t);
    if (st)
        stations_close(&made);
    else
        *s = made;
    return st;
}

/* Refuses a station that is in both. */
static enum ek_status refuse_both(const char *path, const struct stations *all,
                                  const struct stations *more)
{
    for (int i = 0; i < more->n; i++)
        for (int k = 0; k < all->n && !stations_scalar(more, i); k++)
            if (!stations_scalar(all, k) && !strcmp(more->name[i], all->name[k]) &&
                (more->east[i] == all->east[k] && more->north[i] == all->north[k]))
                FAIL(EK_USAGE, "%s: station '%s' is in another file already", path, more->name[i]);
    return EK_OK;
}

static void move(struct stations *all, const struct stations *more, size_t at, size_t size)
{
    memcpy((char *)list_at(all, at) + (size_t)all->n * size, list_at(more, at),
           (size_t)more->n * size);
}

enum ek_status stations_add(const char *path, struct stations *all, struct stations *more)
{
    if (all->n && strcmp(all->projection, more->projection))
        FAIL(EK_USAGE, "%s: coordinates are of '%s', those of the files before it of '%s'", path,
             more->projection, all->projection);
    TRY(refuse_both(path, all, more));
    TRY(grow(path, all, (size_t)all->n + (size_t)more->n));
    for (int f = 0; f < FIELDS; f++)
        move(all, more, fields[f].at, fields[f].each * sizeof(double));
    for (int t = 0; t < TEXTS; t++)
        move(all, more, texts[t], sizeof(char *));
    all->n += more->n;
    all->ncomponents += more->ncomponents;
    all->zone = more->zone;
    memcpy(all->projection, more->projection, sizeof all->projection);
    more->n = 0; /* names and scenes have another owner */
    return EK_OK;
}

void stations_sum(const struct stations *s, struct checksum *sum)
{
    for (int f = 0; f < FIELDS; f++)
        checksum_add(sum, list_at(s, fields[f].at), (size_t)s->n * fields[f].each * sizeof(double));
}

void stations_close(struct stations *s)
{
    for (int t = 0; t < TEXTS; t++) {
        char **list = list_at(s, texts[t]);
        for (int i = 0; list && i < s->n; i++)
            free(list[i]);
        free(list);
    }
    for (int f = 0; f < FIELDS; f++)
        free(list_at(s, fields[f].at));
    *s = (struct stations){0};
}
