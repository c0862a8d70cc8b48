/* kirchhoff/source_positions.c – positions of the sources that tables are computed for. */
#include "kirchhoff/tt.h"
#include "src/file.h"
#include "src/table.h"

enum { MOST = 1 << 24 };

static enum ek_status make_room(struct source_positions *p, size_t n)
{
    p->at = calloc(n, sizeof *p->at);
    if (!p->at)
        FAIL(EK_UNAVAILABLE, "out of memory for %zu sources", n);
    p->n = n;
    return EK_OK;
}

static enum ek_status on_surface(struct source_positions *p)
{
    const struct tfolder_surface *s = &p->surface;
    TRY(make_room(p, (size_t)s->n[0] * (size_t)s->n[1]));
    for (size_t i = 0; i < p->n; i++) {
        p->at[i][0] = s->origin[0] + (double)(i / (size_t)s->n[1]) * s->step[0];
        p->at[i][1] = s->origin[1] + (double)(i % (size_t)s->n[1]) * s->step[1];
        p->at[i][2] = s->depth;
    }
    return EK_OK;
}

/* A grid of full rows, as close to a square as possible, each source in the middle of its share. */
static enum ek_status spread(int shots, const struct grid *g, struct source_positions *p)
{
    struct tfolder_surface *s = &p->surface;
    int rows = (int)sqrt(shots);
    while (shots % rows)
        rows--;
    s->n[0] = shots / rows;
    s->n[1] = rows;
    s->depth = g->origin[2];
    for (int a = 0; a < 2; a++) {
        const double length = (g->n[a] - 1) * g->step[a];
        s->step[a] = length > 0 ? length / s->n[a] : g->step[a];
        s->origin[a] = g->origin[a] + (length > 0 ? s->step[a] / 2 : 0);
    }
    return on_surface(p);
}

static enum ek_status read_file(const char *path, struct source_positions *p)
{
    OWNED(owned_table_close) struct table *t = NULL;
    int x, y;
    TRY(table_open(path, NULL, &t));
    const int z = table_find(t, "z");
    TRY(table_need(t, "x", &x));
    TRY(table_need(t, "y", &y));
    if (!t->nrows)
        FAIL(EK_USAGE, "%s: has no rows, so there are no sources", path);
    TRY(make_room(p, t->nrows));
    for (size_t i = 0; i < p->n; i++) {
        TRY(table_number(t, i, x, &p->at[i][0]));
        TRY(table_number(t, i, y, &p->at[i][1]));
        if (z >= 0)
            TRY(table_number(t, i, z, &p->at[i][2]));
    }
    return EK_OK;
}

static enum ek_status read_surface(const char *text, const struct grid *g,
                                   struct source_positions *p)
{
    struct tfolder_surface *s = &p->surface;
    double step = 0;
    int used = 0, more = 0, depth = 0;
    *s = (struct tfolder_surface){.origin = {g->origin[0], g->origin[1]}, .depth = g->origin[2]};
    const bool good = sscanf(text, "%dx%d:%lf%n", &s->n[0], &s->n[1], &step, &used) == 3 && used;
    const char *at = text + used + (good && text[used] == 'm');
    if (good && *at == '@') {
        sscanf(at, "@%lf,%lf%n", &s->origin[0], &s->origin[1], &more);
        at += more;
        sscanf(at, ",%lf%n", &s->depth, &depth);
        at += depth;
    }
    if (!good || *at || !(step > 0) || !isfinite(step) || s->n[0] < 1 || s->n[1] < 1 ||
        (double)s->n[0] * s->n[1] > MOST || !isfinite(s->origin[0] + s->origin[1] + s->depth))
        FAIL(EK_USAGE,
             "--sources '%s': neither NXxNY:STEP[@X,Y[,Z]], e.g. 16x16:200@0,0, nor a FILE.csv "
             "with columns x, y, z",
             text);
    s->step[0] = s->step[1] = step;
    return on_surface(p);
}

/* As in the files of tables; a front from beyond would take for ever to arrive. */
static enum ek_status check_places(const char *text, const struct source_positions *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (int a = 0; a < 3; a++)
            if (!(fabs(p->at[i][a]) <= grid_places.max))
                FAIL(EK_USAGE, "--sources %s: source %zu is at %g m along %c; -%g to %g will do",
                     text, i, p->at[i][a], "xyz"[a], grid_places.max, grid_places.max);
    return EK_OK;
}

enum ek_status source_positions_open(const char *text, int shots, const struct grid *grid,
                                     struct source_positions *p)
{
    memset(p, 0, sizeof *p);
    if (!text)
        return spread(shots, grid, p);
    TRY(file_ends_in(text, ".csv") ? read_file(text, p) : read_surface(text, grid, p));
    return check_places(text, p);
}

void source_positions_close(struct source_positions *p)
{
    free(p->at);
    p->at = NULL;
}
