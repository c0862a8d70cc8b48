/* kirchhoff/line.c – crooked lines: fits a line to the ends, and projects them onto it. */
#include "kirchhoff/migrate.h"
#include "src/file.h"
#include "src/table.h"

enum { PARTS = 64, ENDS_OF_A_PART = 16 };

struct polyline {
    size_t n, room;
    double (*at)[2]; /* [n] m */
};

static enum ek_status add_point(struct polyline *p, double x, double y)
{
    if (p->n && p->at[p->n - 1][0] == x && p->at[p->n - 1][1] == y)
        return EK_OK;
    TRY(arena_grow(&p->at, &p->room, p->n, sizeof *p->at, "points of a line"));
    p->at[p->n][0] = x;
    p->at[p->n++][1] = y;
    return EK_OK;
}

static enum ek_status read_points(const char *path, struct polyline *p)
{
    OWNED(owned_table_close) struct table *t = NULL;
    int column[2];
    double x[2];
    file_input(path);
    TRY(table_open(path, NULL, &t));
    TRY(table_need(t, "x", &column[0]));
    TRY(table_need(t, "y", &column[1]));
    for (size_t i = 0; i < t->nrows; i++) {
        for (int a = 0; a < 2; a++)
            TRY(table_number(t, i, column[a], &x[a]));
        TRY(add_point(p, x[0], x[1]));
    }
    return EK_OK;
}

/* ---- through the ends -------------------------------------------------------------------------*/

static void end_of(const struct segy *s, size_t i, double x[2])
{
    const struct segy_trace *t = &s->trace[i / 2];
    x[0] = i % 2 ? t->gx : t->sx;
    x[1] = i % 2 ? t->gy : t->sy;
}

/* Mean of the ends, and unit vector in their direction of largest variance, towards greater x. */
static void principal_axis(const struct segy *s, double mean[2], double axis[2])
{
    double x[2], xx = 0, xy = 0, yy = 0;
    const double n = 2 * (double)s->n;
    mean[0] = mean[1] = 0;
    for (size_t i = 0; i < 2 * s->n; i++) {
        end_of(s, i, x);
        mean[0] += x[0] / n;
        mean[1] += x[1] / n;
    }
    for (size_t i = 0; i < 2 * s->n; i++) {
        end_of(s, i, x);
        xx += (x[0] - mean[0]) * (x[0] - mean[0]);
        xy += (x[0] - mean[0]) * (x[1] - mean[1]);
        yy += (x[1] - mean[1]) * (x[1] - mean[1]);
    }
    const double angle = 0.5 * atan2(2 * xy, xx - yy); /* within 90 degrees of x */
    axis[0] = cos(angle);
    axis[1] = sin(angle);
}

/* Divides the principal axis into equal parts; the line goes through the mean of the ends in
 * each. */
static enum ek_status find_points(const struct segy *s, struct polyline *p)
{
    double mean[2], axis[2], x[2], low = INFINITY, high = -INFINITY, sum[PARTS][3] = {{0}};
    const size_t ends = 2 * s->n / ENDS_OF_A_PART;
    const int parts = ends < 2 ? 2 : ends < PARTS ? (int)ends : PARTS;
    principal_axis(s, mean, axis);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < 2 * s->n; i++) {
            end_of(s, i, x);
            const double u = (x[0] - mean[0]) * axis[0] + (x[1] - mean[1]) * axis[1];
            low = fmin(low, u);
            high = fmax(high, u);
            if (!pass || !(high > low))
                continue;
            const int part = (int)fmin(parts * (u - low) / (high - low), parts - 1);
            for (int a = 0; a < 2; a++)
                sum[part][a] += x[a];
            sum[part][2]++;
        }
    for (int i = 0; i < parts; i++)
        if (sum[i][2] > 0)
            TRY(add_point(p, sum[i][0] / sum[i][2], sum[i][1] / sum[i][2]));
    return EK_OK;
}

/* ---- along it ---------------------------------------------------------------------------------*/

/* Distance along the line of its point nearest to x; the first and last segments are extended to
 * infinity. */
static double along(const struct polyline *p, const double x[2], double *beside)
{
    double before = 0, best = 0, least = INFINITY;
    for (size_t i = 0; i + 1 < p->n; i++) {
        const double *a = p->at[i], *b = p->at[i + 1];
        const double length = hypot(b[0] - a[0], b[1] - a[1]);
        double u = ((x[0] - a[0]) * (b[0] - a[0]) + (x[1] - a[1]) * (b[1] - a[1])) / length;
        u = i ? fmax(u, 0) : u;
        u = i + 2 < p->n ? fmin(u, length) : u;
        const double far = hypot(a[0] + u / length * (b[0] - a[0]) - x[0],
                                 a[1] + u / length * (b[1] - a[1]) - x[1]);
        if (far < least) {
            least = far;
            best = before + u;
        }
        before += length;
    }
    *beside = least;
    return best;
}

static int by_source(const void *a, const void *b)
{
    const struct segy_trace *const *x = a, *const *y = b;
    const double d = (*x)->sx != (*y)->sx ? (*x)->sx - (*y)->sx : (*x)->sy - (*y)->sy;
    return (d > 0) - (d < 0);
}

/* Numbers the shots by true source position: true offsets move a source along the line a little
 * from trace to trace. */
static enum ek_status number_shots(struct segy *s)
{
    int shot = 0;
    OWNED_MEMORY NEW(struct segy_trace *, by, s->n, "%s: out of memory for the sources of a line",
                     s->path);
    for (size_t i = 0; i < s->n; i++)
        by[i] = &s->trace[i];
    qsort(by, s->n, sizeof *by, by_source);
    for (size_t i = 0; i < s->n; i++) {
        shot += i == 0 || by_source(&by[i - 1], &by[i]) != 0;
        by[i]->shot = shot;
    }
    return EK_OK;
}

static void project(struct segy *s, const struct polyline *p, double y, struct line_fit *fit)
{
    double low = INFINITY, high = -INFINITY, beside;
    *fit = (struct line_fit){.length = 0};
    for (size_t i = 0; i < s->n; i++) {
        struct segy_trace *t = &s->trace[i];
        double d[2], x[2];
        for (size_t e = 0; e < 2; e++) {
            end_of(s, 2 * i + e, x);
            d[e] = along(p, x, &beside);
            low = fmin(low, d[e]);
            high = fmax(high, d[e]);
            fit->beside = fmax(fit->beside, beside);
        }
        const double half = copysign(0.5 * segy_offset(t), d[1] - d[0]);
        t->sx = 0.5 * (d[0] + d[1]) - half;
        t->gx = 0.5 * (d[0] + d[1]) + half;
        t->sy = t->gy = y;
    }
    for (size_t i = 0; i < s->n; i++) {
        s->trace[i].sx -= low;
        s->trace[i].gx -= low;
    }
    fit->length = high - low;
}

enum ek_status line_project(struct segy *s, const char *where, double y, struct line_fit *fit)
{
    struct polyline p = {.n = 0};
    enum ek_status st = strcmp(where, "auto") ? read_points(where, &p) : find_points(s, &p);
    if (!st && p.n < 2)
        st = status_fail(EK_USAGE, "--line %s: %s: that is no line, it has %zu points", where,
                         s->path, p.n);
    THEN(st, number_shots(s));
    if (!st)
        project(s, &p, y, fit);
    free(p.at);
    return st;
}

enum ek_status line_check(const struct segy *s, double y)
{
    double low = INFINITY, high = -INFINITY, x[2];
    for (size_t i = 0; i < 2 * s->n; i++) {
        end_of(s, i, x);
        low = fmin(low, x[0]);
        high = fmax(high, x[0]);
    }
    for (size_t i = 0; i < 2 * s->n; i++) {
        end_of(s, i, x);
        if (!(fabs(x[1] - y) <= 1 + 0.02 * (high - low)))
            FAIL(EK_USAGE,
                 "%s: trace %ld has an end at y = %g m, %g m beside the image's line; --line auto "
                 "takes distances along the survey's own",
                 s->path, s->trace[i / 2].number, x[1], fabs(x[1] - y));
    }
    return EK_OK;
}
