/* kirchhoff/times.c – answers single cases: travel times by closed forms, single rays. */
#include "kirchhoff/tt.h"
#include "kirchhoff/analytic.h"
#include "kirchhoff/ray.h"
#include "src/file.h"
#include "src/opt.h"
#include "src/table.h"

enum model { CONST, GRADZ, GRAD3, LAYER2, LENS, MODELS };
static const char *const model_names[MODELS] = {"const", "gradz", "grad3", "layer2", "lens"};

/* Columns; those before ALWAYS are required, others only if the row's model uses them. */
/* clang-format off */
#define COLUMN_LIST(X)                                                                             \
    X(KX, "kx") X(KY, "ky") X(KZ, "kz") X(H, "h") X(V2, "v2") X(DV, "lens_dv")                     \
    X(LX, "lens_x") X(LY, "lens_y") X(LZ, "lens_z") X(SIGMA, "lens_sigma")                         \
    X(PX, "px") X(PY, "py") X(PZ, "pz")                                                            \
    X(POLAR, "takeoff_polar_deg") X(AZIMUTH, "takeoff_azim_deg") X(TIME, "t_strong")
/* clang-format on */
#define NUMBER(word, name) word,
#define NAME(word, name)   name,
enum column { ID, MODEL, V0, SX, SY, SZ, ALWAYS, BEFORE = ALWAYS - 1, COLUMN_LIST(NUMBER) COLUMNS };
static const char *const column_names[COLUMNS] = {"id", "model",          "v0", "sx", "sy",
                                                  "sz", COLUMN_LIST(NAME)};

struct cases {
    struct table *table;
    int column[COLUMNS];
};

static enum ek_status open_cases(const char *path, struct cases *c)
{
    file_input(path);
    TRY(table_open(path, NULL, &c->table));
    for (int i = 0; i < COLUMNS; i++) {
        c->column[i] = table_find(c->table, column_names[i]);
        if (i < ALWAYS)
            TRY(table_need(c->table, column_names[i], &c->column[i]));
    }
    return EK_OK;
}

/* Reads `n` numbers from columns that are consecutive in enum column. */
static enum ek_status numbers(const struct cases *c, size_t row, enum column first, int n,
                              double *x)
{
    for (int i = 0; i < n; i++) {
        int column;
        TRY(table_need(c->table, column_names[first + (enum column)i], &column));
        TRY(table_number(c->table, row, column, &x[i]));
    }
    return EK_OK;
}

static enum ek_status model_of(const struct cases *c, size_t row, enum model *model)
{
    char where[256];
    int at;
    snprintf(where, sizeof where, "%.200s:%zu: column model", c->table->path, c->table->line[row]);
    TRY(opt_choose(where, table_text(c->table, row, c->column[MODEL]), model_names,
                   sizeof *model_names, MODELS, &at));
    *model = (enum model)at;
    return EK_OK;
}

static enum ek_status positive(const struct cases *c, size_t row, double v, const char *where)
{
    if (!(v > 0))
        FAIL(EK_USAGE, "%s:%zu: the velocity %s is %g m/s, not positive", c->table->path,
             c->table->line[row], where, v);
    return EK_OK;
}

/* ---- times ------------------------------------------------------------------------------------*/

static enum ek_status time_layers(const struct cases *c, size_t row, const double s[3],
                                  const double x[3], double time[2])
{
    struct analytic_layers m;
    struct analytic strong;
    double head;
    TRY(numbers(c, row, V0, 1, &m.v1));
    TRY(numbers(c, row, V2, 1, &m.v2));
    TRY(numbers(c, row, H, 1, &m.h));
    TRY(positive(c, row, m.v1, "of the upper layer"));
    TRY(positive(c, row, m.v2, "of the lower layer"));
    analytic_layers_strong(&m, s, x, &strong);
    time[0] = time[1] = strong.time;
    if (analytic_layers_head(&m, s, x, &head))
        time[1] = fmin(time[1], head);
    return EK_OK;
}

/* The row's velocity gradient; zero for constant velocities, whatever the columns hold. */
static enum ek_status slope_of(const struct cases *c, size_t row, enum model model, double k[3])
{
    if (model != CONST)
        return numbers(c, row, KX, 3, k);
    memset(k, 0, 3 * sizeof *k);
    return EK_OK;
}

static enum ek_status time_linear(const struct cases *c, size_t row, enum model model,
                                  const double s[3], const double x[3], double time[2])
{
    double v0, k[3];
    struct analytic a;
    TRY(numbers(c, row, V0, 1, &v0));
    TRY(slope_of(c, row, model, k));
    TRY(positive(c, row, v0 + k[0] * s[0] + k[1] * s[1] + k[2] * s[2], "at the source"));
    TRY(positive(c, row, v0 + k[0] * x[0] + k[1] * x[1] + k[2] * x[2], "at the point"));
    analytic_linear(v0, k, s, x, &a);
    time[0] = time[1] = a.time;
    return EK_OK;
}

static enum ek_status write_time(const struct cases *c, size_t row, FILE *out)
{
    enum model model = CONST;
    double s[3], x[3], time[2];
    TRY(model_of(c, row, &model));
    fprintf(out, "%s,", table_text(c->table, row, c->column[ID]));
    if (model == LENS) {
        fputs(",\n", out);
        return EK_OK;
    }
    TRY(numbers(c, row, SX, 3, s));
    TRY(numbers(c, row, PX, 3, x));
    if (model == LAYER2)
        TRY(time_layers(c, row, s, x, time));
    else
        TRY(time_linear(c, row, model, s, x, time));
    fprintf(out, "%.17g,%.17g\n", time[0], time[1]);
    return EK_OK;
}

/* ---- rays -------------------------------------------------------------------------------------*/

static const double ray_step = 1e-3; /* s */

static enum ek_status medium_of(const struct cases *c, size_t row, enum model model,
                                struct velocity *v)
{
    snprintf(v->text, sizeof v->text, "of line %zu", c->table->line[row]);
    TRY(numbers(c, row, V0, 1, &v->v0));
    TRY(slope_of(c, row, model, v->k));
    if (model != LENS)
        return EK_OK;
    v->kind = VELOCITY_LENS;
    TRY(numbers(c, row, DV, 1, &v->dv));
    TRY(numbers(c, row, LX, 3, v->centre));
    TRY(numbers(c, row, SIGMA, 1, &v->sigma));
    return positive(c, row, v->sigma, "lens' size");
}

static enum ek_status write_ray(const struct cases *c, size_t row, FILE *out)
{
    enum model model = CONST;
    struct velocity v = {.kind = VELOCITY_LINEAR};
    struct ray_end e;
    double s[3], angle[2], time;
    TRY(model_of(c, row, &model));
    fprintf(out, "%s,", table_text(c->table, row, c->column[ID]));
    if (model == LAYER2) {
        fputs(",,,,,,,,\n", out);
        return EK_OK;
    }
    TRY(medium_of(c, row, model, &v));
    TRY(numbers(c, row, SX, 3, s));
    TRY(numbers(c, row, POLAR, 2, angle));
    TRY(numbers(c, row, TIME, 1, &time));
    TRY(positive(c, row, velocity_at(&v, s, NULL), "at the source"));
    const double polar = angle[0] * M_PI / 180, azimuth = angle[1] * M_PI / 180;
    const double d[3] = {sin(polar) * cos(azimuth), sin(polar) * sin(azimuth), cos(polar)};
    TRY(ray_trace(&v, s, d, time, ray_step, &e));
    fprintf(out, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d\n", e.x[0], e.x[1], e.x[2],
            e.p[0], e.p[1], e.p[2], e.spread, e.deepest, e.kmah);
    return EK_OK;
}

/* ---- whole tables -----------------------------------------------------------------------------*/

static enum ek_status write_rows(const struct cases *c, const char *heading, const char *out,
                                 enum ek_status (*write)(const struct cases *, size_t, FILE *))
{
    OWNED_MEMORY char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", out);
    fputs(heading, f);
    enum ek_status st = EK_OK;
    for (size_t row = 0; row < c->table->nrows && !st; row++)
        st = write(c, row, f);
    if (fclose(f) && !st)
        st = status_fail(EK_UNAVAILABLE, "%s: out of memory", out);
    THEN(st, file_replace_text(out, text));
    return st;
}

static enum ek_status answer(const char *path, const char *out, const char *heading,
                             enum ek_status (*write)(const struct cases *, size_t, FILE *))
{
    struct cases c = {.table = NULL};
    enum ek_status st = open_cases(path, &c);
    THEN(st, write_rows(&c, heading, out, write));
    table_close(c.table);
    return st;
}

enum ek_status times_run(const char *path, const char *out)
{
    return answer(path, out, "id,t_strong,t_first\n", write_time);
}

enum ek_status times_rays(const char *path, const char *out)
{
    return answer(path, out, "id,x,y,z,qx,qy,qz,spread_L,zmax,kmah\n", write_ray);
}
