/* kirchhoff/write_image.c – writes images as SEG-Y and as raw numbers with a JSON header. */
#include "kirchhoff/mig.h"
#include "src/file.h"

#include <unistd.h>

/* Number of different sources. */
static double shots(const struct mig *p)
{
    return (double)p->m->survey->geometry.shots;
}

void mig_column(const struct mig *p, int class, size_t column, float *out)
{
    image_column(p->m->image, class, column, p->divide == MIG_FOLD, out);
    if (p->divide == MIG_SHOTS)
        for (int k = 0; k < p->m->grid.n[2]; k++)
            out[k] = (float)((double)out[k] / shots(p));
}

/* Offset in the middle of a class, m. */
static double class_offset(const struct chunks_classes *c, int class)
{
    return c->width > 0 ? c->first + (class + 0.5) * c->width : 0;
}

static enum ek_status put_column(const struct mig *p, struct segy_writer *w, int class,
                                 size_t column, float *x)
{
    const struct grid *g = &p->m->grid;
    const int i = (int)(column / (size_t)g->n[1]), j = (int)(column % (size_t)g->n[1]);
    const int before = p->m->slab * p->m->across; /* columns along x in slabs before this one */
    const double at[2] = {grid_coordinate(g, 0, i), grid_coordinate(g, 1, j)};
    const double offset = class_offset(&p->m->classes, class);
    const struct segy_put put = {.sx = at[0],
                                 .sy = at[1],
                                 .gx = at[0],
                                 .gy = at[1],
                                 .cdpx = at[0],
                                 .cdpy = at[1],
                                 .iline = before + i + 1,
                                 .xline = j + 1,
                                 .cdp = before * g->n[1] + (int)column + 1,
                                 .offset = offset,
                                 .delay = 1e-3 * g->origin[2]};
    mig_column(p, class, column, x);
    return segy_put(w, &put, x);
}

static enum ek_status put_slab(struct mig *p, struct segy_writer *w, int slab, float *x)
{
    TRY(mig_slab_take(p, slab));
    for (size_t c = 0; c < p->m->image->columns; c++)
        for (int class = 0; class < p->m->classes.n; class ++)
            TRY(put_column(p, w, class, c, x));
    return EK_OK;
}

/* Gathers: a column's classes are consecutive traces. Depths are stored as times: a metre becomes a
 * millisecond. */
static enum ek_status write_segy(struct mig *p, const char *path)
{
    const struct migrate *m = p->m;
    struct segy_writer *w;
    char grid[76], how[76], least[76] = "";
    grid_text(&m->whole, grid, sizeof grid);
    snprintf(how, sizeof how, "weight %s, filter %s", migrate_weights[m->o.weight],
             migrate_filters[m->filter]);
    if (p->lsm)
        snprintf(least, sizeof least, "least squares, %d iterations of conjugate gradients",
                 p->lsm->at.done);
    const struct segy_new file = {.depth = true,
                                  .ns = m->grid.n[2],
                                  .dt = 1e-3 * m->grid.step[2],
                                  .text = {"Kirchhoff depth migration, evenkeel", grid, how,
                                           "samples are depths, a metre is stored as a millisecond",
                                           least}};
    OWNED_MEMORY NEW(float, x, m->grid.n[2], "%s: out of memory", path);
    enum ek_status st = EK_OK;
    TRY(segy_create(path, &file, &w));
    for (int slab = 0; slab < m->slabs && !st; slab++)
        st = put_slab(p, w, slab, x);
    TRY_OR(st, segy_abandon(w));
    return segy_finish(w);
}

/* ---- raw numbers ------------------------------------------------------------------------------*/

static void fold_column(const struct mig *p, int class, size_t column, float *out)
{
    memcpy(out, image_fold(p->m->image, class, column), (size_t)p->m->grid.n[2] * sizeof *out);
}

static enum ek_status write_class(struct mig *p, struct file *w, int class, float *x,
                                  void (*get)(const struct mig *, int, size_t, float *))
{
    const size_t bytes = (size_t)p->m->grid.n[2] * sizeof *x;
    for (int slab = 0; slab < p->m->slabs; slab++) {
        TRY(mig_slab_take(p, slab));
        for (size_t c = 0; c < p->m->image->columns; c++) {
            get(p, class, c, x);
            TRY(file_write(w, x, bytes));
        }
    }
    return EK_OK;
}

/* Writes all classes' columns, which `get` provides, to the file PREFIX + suffix. */
static enum ek_status write_floats(struct mig *p, const char *prefix, const char *suffix,
                                   void (*get)(const struct mig *, int, size_t, float *))
{
    char path[4096];
    struct file *w;
    if (snprintf(path, sizeof path, "%s%s", prefix, suffix) >= (int)sizeof path)
        FAIL(EK_USAGE, "--raw: the name is too long");
    OWNED_MEMORY NEW(float, x, p->m->grid.n[2], "%s: out of memory", path);
    enum ek_status st = EK_OK;
    TRY(file_create(path, &w));
    for (int class = 0; class < p->m->classes.n && !st; class ++)
        st = write_class(p, w, class, x, get);
    return file_end(w, st);
}

static enum ek_status write_raw(struct mig *p, const char *prefix)
{
    char path[4096];
    const struct grid *g = &p->m->whole;
    const struct chunks_classes *c = &p->m->classes;
    TRY(write_floats(p, prefix, ".f32", mig_column));
    TRY(write_floats(p, prefix, ".fold.f32", fold_column));
    snprintf(path, sizeof path, "%s.json", prefix);
    json_auto_t *head = json_pack(
        "{s:s s:s s:[i i i i] s:[f f f] s:[f f f] s:{s:f s:f} s:s s:i}", "type", "float32", "order",
        "class, x, y, z (fastest)", "n", c->n, g->n[0], g->n[1], g->n[2], "origin_m", g->origin[0],
        g->origin[1], g->origin[2], "step_m", g->step[0], g->step[1], g->step[2], "offset_m",
        "first", c->first, "width", c->width, "weight", migrate_weights[p->m->o.weight],
        "least_squares_iterations", p->lsm ? p->lsm->at.done : 0);
    return json_write(path, head);
}

/* Whether an image or a --raw one stands there: that of another run, which is not to be lost. */
static bool is_taken(const char *path)
{
    char raw[4200];
    snprintf(raw, sizeof raw, "%s.f32", path);
    return !access(path, F_OK) || !access(raw, F_OK);
}

enum ek_status mig_write_anywhere(struct mig *p, const char *path,
                                  enum ek_status (*write)(struct mig *, const char *))
{
    const char *slash = strrchr(path, '/'), *tmp = getenv("TMPDIR");
    const char *const folders[] = {".", tmp && *tmp ? tmp : "/tmp"};
    const enum ek_status st = write(p, path);
    for (int i = 0; st == EK_UNAVAILABLE && i < 2; i++) {
        char other[4096];
        snprintf(other, sizeof other, "%s/%s", folders[i], slash ? slash + 1 : path);
        if (is_taken(other) || MUTED(write(p, other)))
            continue;
        status_warn("what does not fit %s is in %s", path, other);
        break;
    }
    return st;
}

enum ek_status mig_write(struct mig *p)
{
    if (p->partial)
        TRY(mig_part_write(p, p->partial));
    if (p->raw)
        TRY(mig_write_anywhere(p, p->raw, write_raw));
    return p->out ? mig_write_anywhere(p, p->out, write_segy) : EK_OK;
}
