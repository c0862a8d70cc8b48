/* mcsem/seabed.c – interpolates the depth of the sea floor. */
#include "mcsem/seabed.h"
#include "mcsem/poly.h"
#include "src/file.h"
#include "src/table.h"
#include "src/sort.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

enum { NEAREST = 6 };
#define ABOVE       0.1  /* m, height of receivers above the floor */
#define ALIKE       1.0  /* m, range of depths of receivers on a flat floor */
#define MOST_RELIEF 50.0 /* m, largest range of depths of receivers above a given flat floor */
#define BURIED      5.0  /* m, tolerated depth below the floor of a table */
#define STEEP       0.09 /* slope, 5 degrees */
#define DIFFERENT   0.2  /* range of depths, relative to the deepest */
#define FLATTEN     1e-3 /* stabilises the plane if the points lie on a line */

struct point {
    double x, y, z;
    double strip; /* number of its strip, for sorting */
};

/* Points in strips along y, sorted by y within each, so that near ones are found without looking at
 * all. */
struct floor {
    struct point *point;       /* [n] */
    size_t n, nstrips, *strip; /* strip [nstrips + 1]: index of each one's first point */
    double first, width;       /* strip i begins at x = first + i width */
    bool section;              /* the floor depends on y only: one strip */
};

static void close_floor(struct floor *f)
{
    free(f->point);
    free(f->strip);
}

/* ---- between points -------------------------------------------------------------------------- */

SORT_BY(by_place, struct point, SORT_UP(x) ?: SORT_UP(y))

/* Index of the first of the points low .. high-1 beyond y, or high. */
static size_t first_beyond(const struct floor *f, size_t low, size_t high, double y)
{
    SORT_BISECT(low, high, f->point[middle].y <= y)
    return low;
}

struct near {
    const struct point *point;
    double square; /* squared distance */
};

/* Inserts a point into the n nearest ones, which are sorted by distance, equal ones from west to
 * east. */
static int add_near(const struct point *p, double x, double y, int n, struct near near[NEAREST])
{
    const double square = (p->x - x) * (p->x - x) + (p->y - y) * (p->y - y);
    int k = n;
    while (k > 0 && (near[k - 1].square > square ||
                     (near[k - 1].square == square && by_place(near[k - 1].point, p) > 0)))
        k--;
    if (k == NEAREST)
        return n;
    n += n < NEAREST;
    memmove(near + k + 1, near + k, (size_t)(n - 1 - k) * sizeof *near);
    near[k] = (struct near){p, square};
    return n;
}

/* Whether no point at this distance can be among the nearest. */
static bool too_far(double distance, int n, const struct near near[NEAREST])
{
    return isinf(distance) || (n == NEAREST && distance * distance > near[n - 1].square);
}

/* Searches strip i from y outwards. */
static int search_strip(const struct floor *f, size_t i, double x, double y, int n,
                        struct near near[NEAREST])
{
    const size_t begin = f->strip[i], end = f->strip[i + 1];
    size_t low = first_beyond(f, begin, end, y), high = low; /* low .. high - 1 are done */
    for (;;) {
        const double before = low > begin ? y - f->point[low - 1].y : INFINITY;
        const double beyond = high < end ? f->point[high].y - y : INFINITY;
        if (too_far(fmin(before, beyond), n, near))
            return n;
        n = add_near(&f->point[before < beyond ? --low : high++], x, y, n, near);
    }
}

/* Searches strips from the place outwards until no farther point can be nearer. */
static int find_near(const struct floor *f, double x, double y, struct near near[NEAREST])
{
    const double slack = 1e-9 * f->width; /* rounding of the strips' edges */
    size_t high = (size_t)fmax(0, fmin((x - f->first) / f->width, (double)f->nstrips - 1));
    size_t low = high; /* strips low .. high - 1 are done */
    int n = 0;
    for (;;) {
        const double west = low > 0 ? x - (f->first + (double)low * f->width) - slack : INFINITY;
        const double east =
            high < f->nstrips ? f->first + (double)high * f->width - x - slack : INFINITY;
        if (too_far(fmax(0, fmin(west, east)), n, near))
            return n;
        n = search_strip(f, west < east ? --low : high++, x, y, n, near);
    }
}

/* Linear interpolation between the two points beside y; constant outside. */
static double depth_along(const struct floor *f, double y)
{
    const size_t last = f->n - 1, behind = first_beyond(f, 0, f->n, y);
    const size_t high = behind < last ? behind + !behind : last, low = high ? high - 1 : 0;
    const struct point *a = &f->point[low], *b = &f->point[high];
    const double share = b->y > a->y ? (y - a->y) / (b->y - a->y) : 0;
    return a->z + (b->z - a->z) * fmax(0, fmin(1, share));
}

/* The plane through the nearest points by weighted least squares. */
static double depth_at(const struct floor *f, double x, double y)
{
    if (f->section)
        return depth_along(f, y);
    struct near near[NEAREST] = {{f->point, INFINITY}};
    const int n = find_near(f, x, y, near);
    double w = 0, mx = 0, my = 0, mz = 0, xx = 0, xy = 0, yy = 0, xz = 0, yz = 0;
    double low = INFINITY, high = -INFINITY;
    if (near[0].square < 1e-6)
        return near[0].point->z;
    for (int k = 0; k < n; k++) {
        const double weight = near[0].square / near[k].square;
        w += weight;
        mx += weight * (near[k].point->x - x);
        my += weight * (near[k].point->y - y);
        mz += weight * near[k].point->z;
        low = fmin(low, near[k].point->z);
        high = fmax(high, near[k].point->z);
    }
    mx /= w;
    my /= w;
    mz /= w;
    for (int k = 0; k < n; k++) {
        const double weight = near[0].square / near[k].square;
        const double dx = near[k].point->x - x - mx, dy = near[k].point->y - y - my;
        xx += weight * dx * dx;
        xy += weight * dx * dy;
        yy += weight * dy * dy;
        xz += weight * dx * (near[k].point->z - mz);
        yz += weight * dy * (near[k].point->z - mz);
    }
    const double hold = FLATTEN * (xx + yy);
    const double det = (xx + hold) * (yy + hold) - xy * xy;
    if (!(det > 0))
        return mz;
    const double sx = ((yy + hold) * xz - xy * yz) / det, sy = ((xx + hold) * yz - xy * xz) / det;
    return fmax(low, fmin(high, mz - sx * mx - sy * my));
}

/* ---- points ---------------------------------------------------------------------------------- */

/* One point per place, with the deepest instrument there. */
static enum ek_status points_from_receivers(const struct survey *s, struct floor *f)
{
    f->point = calloc(s->npairs + 1, sizeof *f->point);
    if (!f->point)
        FAIL(EK_UNAVAILABLE, "out of memory for the sea floor");
    for (size_t i = 0; i < s->npairs; i++) {
        const double *at = s->pair[i].receiver;
        if (!i || memcmp(at, s->pair[i - 1].receiver, sizeof s->pair->receiver))
            f->point[f->n++] = (struct point){at[0], at[1], at[2] + ABOVE, 0};
    }
    qsort(f->point, f->n, sizeof *f->point, by_place);
    size_t kept = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (kept && !by_place(&f->point[kept - 1], &f->point[i]))
            f->point[kept - 1].z = fmax(f->point[kept - 1].z, f->point[i].z);
        else
            f->point[kept++] = f->point[i];
    }
    f->n = kept;
    return EK_OK;
}

/* Default column names if the table's first row has numbers already, else NULL. */
static const char *default_names(const char *text)
{
    while (*text == '#' || isspace((unsigned char)*text))
        text += *text == '#' ? strcspn(text, "\n") : 1;
    if (!isdigit((unsigned char)*text) && *text != '-' && *text != '+' && *text != '.')
        return NULL;
    const size_t first = strcspn(text, "\n");
    double x;
    char rest;
    char row[256];
    snprintf(row, sizeof row, "%.*s", (int)fmin(first, sizeof row - 1), text);
    return sscanf(row, "%lf%*[ ,\t\r]%lf%*[ ,\t\r]%c", &x, &x, &rest) < 3 ? "y depth" : "x y depth";
}

static enum ek_status points_from_table(const struct table *t, struct floor *f)
{
    static const char *const names[] = {"x", "y", "depth"};
    int column[3];
    f->section = table_find(t, "x") < 0;
    for (int k = f->section; k < 3; k++)
        TRY(table_need(t, names[k], &column[k]));
    f->point = calloc(t->nrows + 1, sizeof *f->point);
    if (!f->point)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the sea floor", t->path);
    for (; f->n < t->nrows; f->n++) {
        double x[3] = {0};
        for (int k = f->section; k < 3; k++)
            TRY(table_number(t, f->n, column[k], &x[k]));
        if (!(x[2] > 0))
            FAIL(EK_USAGE, "%s:%zu: the sea floor lies %g m deep; depths are positive down",
                 t->path, t->line[f->n], x[2]);
        f->point[f->n] = (struct point){x[0], x[1], x[2], 0};
    }
    if (!f->n)
        FAIL(EK_USAGE, "%s: there is no depth of the sea floor", t->path);
    if (f->section)
        qsort(f->point, f->n, sizeof *f->point, by_place);
    return EK_OK;
}

/* s: the survey whose receivers lie on the floor, or NULL. */
static enum ek_status points_from_poly(const char *path, const struct survey *s, struct floor *f)
{
    OWNED(close_floor) struct floor on = {.n = 0};
    OWNED_MEMORY double(*profile)[2] = NULL;
    if (s)
        TRY(points_from_receivers(s, &on));
    OWNED_MEMORY double(*receiver)[2] = calloc(on.n + 1, sizeof *receiver);
    for (size_t i = 0; receiver && i < on.n; i++) {
        receiver[i][0] = on.point[i].y;
        receiver[i][1] = on.point[i].z;
    }
    if (receiver)
        TRY(poly_floor(path, (const double(*)[2])receiver, on.n, &profile, &f->n));
    f->section = true;
    f->point = calloc(f->n + 1, sizeof *f->point);
    if (!receiver || !f->point)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the sea floor", path);
    for (size_t i = 0; i < f->n; i++)
        f->point[i] = (struct point){0, profile[i][0], profile[i][1], 0};
    return EK_OK;
}

static enum ek_status points_from_file(const char *path, const struct survey *s, struct floor *f)
{
    OWNED(owned_table_close) struct table *t = NULL;
    OWNED_MEMORY char *text = NULL;
    file_input(path);
    if (poly_is(path))
        return points_from_poly(path, s, f);
    TRY(file_read_text(path, &text));
    TRY(table_open(path, default_names(text), &t));
    return points_from_table(t, f);
}

SORT_BY(by_strip, struct point, SORT_UP(strip) ?: SORT_UP(y))

/* Makes strips, each with about as many points as there are strips. */
static enum ek_status sort_points(struct floor *f)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < f->n; i++) {
        low = fmin(low, f->point[i].x);
        high = fmax(high, f->point[i].x);
    }
    f->nstrips = high > low ? (size_t)sqrt((double)f->n) + 1 : 1;
    f->first = low;
    f->width = high > low ? (high - low) / (double)f->nstrips : 1;
    f->strip = calloc(f->nstrips + 1, sizeof *f->strip);
    if (!f->strip)
        FAIL(EK_UNAVAILABLE, "out of memory for the sea floor");
    for (size_t i = 0; i < f->n; i++) {
        struct point *p = &f->point[i];
        p->strip = fmin(floor((p->x - low) / f->width), (double)f->nstrips - 1);
        f->strip[(size_t)p->strip + 1]++;
    }
    for (size_t i = 0; i < f->nstrips; i++)
        f->strip[i + 1] += f->strip[i];
    if (!f->section)
        qsort(f->point, f->n, sizeof *f->point, by_strip);
    return EK_OK;
}

/* ---- setting the floor ----------------------------------------------------------------------- */

/* The floor below an instrument, at least at its depth; just below it if only receivers tell where
 * the floor is. */
static enum ek_status set_floor_below(const char *path, const struct floor *f, bool table,
                                      size_t line, const double at[3], double *floor)
{
    const double depth = depth_at(f, at[0], at[1]);
    if (table && at[2] > depth + BURIED)
        FAIL(EK_USAGE, "%s:%zu: an instrument %g m deep lies below the sea floor, %g m deep there",
             path, line, at[2], depth);
    *floor = fmax(depth, at[2] + (table ? 0 : ABOVE));
    return EK_OK;
}

static enum ek_status set_pair_floors(const char *path, const struct floor *f, bool table,
                                      struct survey *s)
{
    for (size_t i = 0; i < s->npairs; i++) {
        struct survey_pair *p = &s->pair[i];
        const bool same[2] = {i && !memcmp(p->source, p[-1].source, sizeof p->source),
                              i && !memcmp(p->receiver, p[-1].receiver, sizeof p->receiver)};
        p->floor[0] = i ? p[-1].floor[0] : 0;
        p->floor[1] = i ? p[-1].floor[1] : 0;
        if (!same[0])
            TRY(set_floor_below(path, f, table, p->line, p->source, &p->floor[0]));
        if (!same[1])
            TRY(set_floor_below(path, f, table, p->line, p->receiver, &p->floor[1]));
    }
    return EK_OK;
}

static double depth_below(const struct floor *f, const struct earth *e, int c)
{
    return depth_at(f, e->x0 + c % e->nx * e->dx, e->y0 + c / e->nx * e->dy);
}

/* The mean of both ends of all pairs; without pairs, the floor below the column. */
static enum ek_status set_column_floors(const struct floor *f, const struct survey *s,
                                        struct earth *e)
{
    const size_t columns = (size_t)earth_columns(e);
    NEW(double, count, columns, "out of memory for the sea floor of %zu columns", columns);
    memset(e->seabed, 0, columns * sizeof *e->seabed);
    for (size_t i = 0; i < s->npairs; i++) {
        const struct survey_pair *p = &s->pair[i];
        const int c = earth_find(e, 0.5 * (p->source[0] + p->receiver[0]),
                                 0.5 * (p->source[1] + p->receiver[1]), true);
        e->seabed[c] += 0.5 * (p->floor[0] + p->floor[1]);
        count[c]++;
    }
    for (int c = 0; c < earth_columns(e); c++)
        e->seabed[c] = count[c] > 0 ? e->seabed[c] / count[c] : depth_below(f, e, c);
    free(count);
    return EK_OK;
}

struct depths {
    double first, last, lowest; /* first, last: of receivers; lowest: of all instruments */
};

static struct depths depths_of(const struct survey *s)
{
    struct depths d = {INFINITY, 0, 0};
    for (size_t i = 0; i < s->npairs; i++) {
        d.first = fmin(d.first, s->pair[i].receiver[2]);
        d.last = fmax(d.last, s->pair[i].receiver[2]);
        d.lowest = fmax(d.lowest, fmax(s->pair[i].receiver[2], s->pair[i].source[2]));
    }
    return d;
}

static enum ek_status check_flat(const char *path, const char *how, const struct depths *d,
                                 double seabed)
{
    if (d->lowest > seabed + ALIKE)
        FAIL(EK_USAGE,
             "%s: the sea floor is said to lie %g m deep, and an instrument %g m: give seabed=%g, "
             "or --seabed receivers or FILE where it is not flat",
             path, seabed, d->lowest, d->lowest + ABOVE);
    if (!how && d->last - d->first > MOST_RELIEF)
        FAIL(EK_USAGE,
             "%s: receivers lie %g to %g m deep over one sea floor at %g m: give --seabed "
             "receivers, --seabed FILE, or --seabed flat if they hang in the sea",
             path, d->first, d->last, seabed);
    return EK_OK;
}

/* Stores in the survey where its floor came from, a file by its absolute name. */
static enum ek_status record_source(const char *how, struct survey *s)
{
    char whole[PATH_MAX];
    if (!strcmp(how, "flat") || !strcmp(how, "receivers"))
        strcpy(whole, how);
    else if (!realpath(how, whole))
        FAIL(EK_USAGE, "%s: %s", how, strerror(errno));
    if (strlen(whole) >= sizeof s->floor)
        FAIL(EK_USAGE, "%s: the name has more than %zu letters", whole, sizeof s->floor - 1);
    strcpy(s->floor, whole);
    return EK_OK;
}

enum ek_status seabed_set(const char *path, const char *how, bool given, struct survey *s,
                          struct earth *e)
{
    const struct depths d = depths_of(s);
    OWNED(close_floor) struct floor f = {.n = 0};
    const bool receivers = how ? !strcmp(how, "receivers") : !given;
    const bool flat = how ? !strcmp(how, "flat") : given || d.last - d.first <= ALIKE;
    if (flat && given)
        TRY(check_flat(path, how, &d, e->seabed[0]));
    for (int c = 0; flat && !given && c < earth_columns(e); c++)
        e->seabed[c] = d.lowest + ABOVE;
    if (flat)
        return how ? record_source(how, s) : EK_OK;
    TRY(receivers ? points_from_receivers(s, &f) : points_from_file(how, s, &f));
    TRY(sort_points(&f));
    TRY(set_pair_floors(path, &f, !receivers, s));
    TRY(set_column_floors(&f, s, e));
    return record_source(receivers ? "receivers" : how, s);
}

enum ek_status seabed_depths(const char *table, const struct earth *e, double *depth)
{
    OWNED(close_floor) struct floor f = {.n = 0};
    TRY(points_from_file(table, NULL, &f));
    TRY(sort_points(&f));
    for (int c = 0; c < earth_columns(e); c++)
        depth[c] = depth_below(&f, e, c);
    return EK_OK;
}

/* ---- where a layered earth fails ------------------------------------------------------------- */

struct seabed_cell seabed_cell(const struct survey *s, int cell)
{
    struct seabed_cell r = {0, INFINITY, 0};
    for (size_t i = s->first[cell]; i < s->first[cell + 1]; i++) {
        const struct survey_pair *p = &s->pair[i];
        r.slope = fmax(r.slope, fabs(p->floor[0] - p->floor[1]) / fmax(survey_offset(p), 1));
        r.shallowest = fmin(r.shallowest, fmin(p->floor[0], p->floor[1]));
        r.deepest = fmax(r.deepest, fmax(p->floor[0], p->floor[1]));
    }
    return r;
}

bool seabed_is_rough(const struct seabed_cell *c)
{
    return c->slope > STEEP || c->deepest - c->shallowest > DIFFERENT * c->deepest;
}
