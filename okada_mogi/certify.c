/* okada_mogi/certify.c – branch and bound, level by level. */
#include "okada_mogi/certify.h"
#include "okada_mogi/judge.h"
#include "src/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Levels: 1e6 values an axis of three; those of boxes around something that fits. Boxes of a level.
 */
enum { LEVELS = 66, LEVELS_THAT_FIT = 21, MOST = 1 << 22, LISTED = 1000 };
#define HAIR 1e-12 /* of quotients, for their rounding: plenty */

/* What an observed component allows. */
struct datum {
    int station, component;
    double low, high;
};

struct box {
    struct model_range x[MODEL_PARAMETERS];
};

struct certifier {
    const struct job *job;
    struct arena arena;
    int ndata, nsplit;
    struct datum *datum;         /* [ndata] by station */
    int split[MODEL_PARAMETERS]; /* parameters that boxes are halved along */
    double scale[MODEL_PARAMETERS];
    struct box all;
    int amplitude; /* parameter */
    struct box *now, *next;
    char *verdict;
    trial_number boxes;
    bool fits; /* some point does */
    json_t *levels, *open;
    trial_number nopen;
    double smallest;
};

/* ---- amplitudes -------------------------------------------------------------------------------*/

/* Amplitudes of one sign, by size: those that a response in g may bring into low .. high. */
static struct model_range narrow(struct model_range a, struct model_range g, double low,
                                 double high)
{
    if (g.min > 0)
        a.max = fmin(a.max, high / g.min + HAIR * fabs(high / g.min));
    else if (g.min < 0)
        a.min = fmax(a.min, high / g.min - HAIR * fabs(high / g.min));
    else if (high < 0)
        a.max = -1;
    if (g.max > 0)
        a.min = fmax(a.min, low / g.max - HAIR * fabs(low / g.max));
    else if (g.max < 0)
        a.max = fmin(a.max, low / g.max + HAIR * fabs(low / g.max));
    else if (low > 0)
        a.max = -1;
    return a;
}

static struct model_range look_along(const double *along, const struct model_range *g)
{
    struct model_range sum = {0, 0};
    double size = 0;
    for (int c = 0; c < 3; c++) {
        const double a = along[c] * g[c].min, b = along[c] * g[c].max;
        sum.min += fmin(a, b);
        sum.max += fmax(a, b);
        size += fmax(fabs(a), fabs(b));
    }
    return (struct model_range){sum.min - 1e-15 * size, sum.max + 1e-15 * size};
}

/* Some amplitude of the range may explain all data with a geometry of the box; *last: the datum
 * that said no the last time is asked first. */
static bool may_fit(const struct certifier *c, const struct box *b, int *last)
{
    const struct stations *s = &c->job->stations;
    const struct model_range a = b->x[c->amplitude];
    struct model_range up = {fmax(a.min, 0), a.max}, down = {fmax(-a.max, 0), -a.min};
    struct model_range g[3];
    int station = -1;
    for (int i = 0; i < c->ndata; i++) {
        const int k = (i + *last) % c->ndata;
        const struct datum *d = &c->datum[k];
        if (d->station != station) {
            c->job->model->bounds(b->x, s->east[d->station], s->north[d->station], g);
            if (stations_scalar(s, d->station))
                g[0] = look_along(s->along + 3 * d->station, g);
        }
        station = d->station;
        const struct model_range way = g[d->component], back = {-way.max, -way.min};
        up = narrow(up, way, d->low, d->high);
        down = narrow(down, back, d->low, d->high);
        if (up.min > up.max && down.min > down.max) {
            *last = k;
            return false;
        }
    }
    return true;
}

/* The middle of a box fits, with some amplitude. */
static bool fits(const struct certifier *c, const struct box *b, int *last)
{
    struct box middle = *b;
    for (int i = 0; i < c->nsplit; i++) {
        struct model_range *x = &middle.x[c->split[i]];
        x->min = x->max = x->min + (x->max - x->min) / 2;
    }
    return may_fit(c, &middle, last);
}

/* ---- boxes ------------------------------------------------------------------------------------*/

/* Along its longest edge. */
static char longest(const struct certifier *c, const struct box *b)
{
    int best = 0;
    double most = -1;
    for (int i = 0; i < c->nsplit; i++) {
        const struct model_range x = b->x[c->split[i]];
        const double length = (x.max - x.min) / c->scale[i];
        if (length > most) {
            most = length;
            best = i;
        }
    }
    return (char)('0' + best);
}

static void look_at(struct certifier *c, long n, int level)
{
    bool some = false;
#pragma omp parallel reduction(|| : some)
    {
        int last = 0, other = 0;
#pragma omp for schedule(dynamic, 256)
        for (long i = 0; i < n; i++) {
            if (!may_fit(c, &c->now[i], &last)) {
                c->verdict[i] = '.';
                continue;
            }
            c->verdict[i] = c->nsplit ? longest(c, &c->now[i]) : '?';
            some = some || (level % 3 == 0 && fits(c, &c->now[i], &other));
        }
    }
    c->fits |= some;
}

static void divide(const struct certifier *c, const struct box *b, int axis, struct box half[2])
{
    struct model_range *x[2];
    for (int i = 0; i < 2; i++) {
        half[i] = *b;
        x[i] = &half[i].x[c->split[axis]];
    }
    x[0]->max = x[1]->min = x[0]->min + (x[0]->max - x[0]->min) / 2;
}

static void leave_open(struct certifier *c, const struct box *b)
{
    double most = 0;
    json_t *row = c->nopen++ < LISTED ? json_array() : NULL;
    for (int i = 0; i < c->nsplit; i++) {
        const struct model_range x = b->x[c->split[i]], all = c->all.x[c->split[i]];
        most = fmax(most, (x.max - x.min) / (all.max - all.min));
        if (row)
            json_array_append_new(row, json_pack("[f,f]", x.min, x.max));
    }
    c->smallest = fmin(c->smallest, most);
    if (row)
        json_array_append_new(c->open, row);
}

static long next_level(struct certifier *c, long n, bool last)
{
    long more = 0;
    for (long i = 0; i < n; i++) {
        if (c->verdict[i] == '.')
            continue;
        if (last || c->verdict[i] == '?') {
            c->verdict[i] = '?';
            leave_open(c, &c->now[i]);
            continue;
        }
        divide(c, &c->now[i], c->verdict[i] - '0', &c->next[more]);
        more += 2;
    }
    c->boxes += (trial_number)n;
    json_array_append_new(c->levels, json_stringn(c->verdict, (size_t)n));
    struct box *const done = c->now;
    c->now = c->next;
    c->next = done;
    return more;
}

static void search(struct certifier *c)
{
    c->now[0] = c->all;
    for (long n = 1, level = 0; n; level++) {
        long left = 0;
        look_at(c, n, (int)level);
        for (long i = 0; i < n; i++)
            left += c->verdict[i] != '.';
        n = next_level(c, n, 2 * left > MOST || level >= (c->fits ? LEVELS_THAT_FIT : LEVELS));
    }
}

/* ---- the job ----------------------------------------------------------------------------------*/

static void list_data(struct certifier *c, double reach)
{
    const struct stations *s = &c->job->stations;
    const double slack = judge_slack(c->job);
    for (int i = 0; i < 3 * s->n; i++) {
        const double width = reach * s->sigma[i] + slack;
        if (!isnan(s->observed[i]) && !(c->job->scenes.n && c->job->scenes.of[i / 3] >= 0))
            c->datum[c->ndata++] =
                (struct datum){i / 3, i % 3, s->observed[i] - width, s->observed[i] + width};
    }
}

/* Lengths share a scale. */
static void set_scales(struct certifier *c)
{
    const struct model *m = c->job->model;
    double longest_length = 0;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < c->nsplit; i++) {
            const struct model_range x = c->all.x[c->split[i]];
            const char *name = m->parameter[c->split[i]].name;
            const bool length = !strcmp(name + strlen(name) - 2, "_m");
            longest_length = length ? fmax(longest_length, x.max - x.min) : longest_length;
            c->scale[i] = length ? longest_length : x.max - x.min;
        }
}

static enum ek_status fill(struct certifier *c, double reach)
{
    const struct job *job = c->job;
    c->amplitude = model_amplitude(job->model);
    c->datum = ARENA_NEW(&c->arena, job->stations.ncomponents, struct datum);
    c->now = ARENA_NEW(&c->arena, MOST, struct box);
    c->next = ARENA_NEW(&c->arena, MOST, struct box);
    c->verdict = ARENA_NEW(&c->arena, MOST, char);
    TRY(arena_check(&c->arena, "the boxes of %s", job->path));
    for (int a = 0; a < job->naxes; a++) {
        const struct trial_axis *axis = &job->axis[a];
        c->all.x[job->parameter[a]] = (struct model_range){axis->min, axis->max};
        if (axis->max > axis->min && job->parameter[a] != c->amplitude)
            c->split[c->nsplit++] = job->parameter[a];
    }
    set_scales(c);
    list_data(c, reach);
    c->levels = json_array();
    c->open = json_array();
    c->smallest = 1;
    return EK_OK;
}

/* ---- the proof --------------------------------------------------------------------------------*/

static json_t *windows(const struct certifier *c, int station, bool high)
{
    json_t *list = json_pack("[n,n,n]");
    for (int k = 0; k < c->ndata; k++)
        if (c->datum[k].station == station)
            json_array_set_new(list, (size_t)c->datum[k].component,
                               json_real(high ? c->datum[k].high : c->datum[k].low));
    return list;
}

static json_t *parameters_json(const struct certifier *c)
{
    json_t *list = json_array();
    for (int i = 0; i < c->nsplit; i++)
        json_array_append_new(
            list, json_pack("{s:s s:f s:f}", "name", c->job->model->parameter[c->split[i]].name,
                            "min", c->all.x[c->split[i]].min, "max", c->all.x[c->split[i]].max));
    return list;
}

/* Parameters of one value. */
static json_t *fixed_json(const struct certifier *c)
{
    const struct model *m = c->job->model;
    json_t *fixed = json_object();
    for (int p = 0; p < m->nparameters; p++)
        if (c->all.x[p].min == c->all.x[p].max)
            json_object_set_new(fixed, m->parameter[p].name, json_real(c->all.x[p].min));
    return fixed;
}

static enum ek_status write_proof(const struct certifier *c, double reach, const char *path)
{
    const struct stations *s = &c->job->stations;
    const struct model_range a = c->all.x[c->amplitude];
    json_t *stations = json_array();
    for (int i = 0; i < s->n; i++)
        json_array_append_new(stations,
                              json_pack("{s:s s:f s:f s:o s:o}", "name", s->name[i], "east",
                                        s->east[i], "north", s->north[i], "low",
                                        windows(c, i, false), "high", windows(c, i, true)));
    json_t *root = json_pack("{s:i s:s s:f s:o s:o s:[f,f] s:o s:O s:O}", "certificate", 1, "model",
                             c->job->model->name, "reach", reach, "parameters", parameters_json(c),
                             "fixed", fixed_json(c), "amplitude", a.min, a.max, "stations",
                             stations, "levels", c->levels, "open", c->open);
    if (!root)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the proof", path);
    const enum ek_status st = json_write_exact(path, root);
    json_decref(root);
    return st;
}

enum ek_status certify(const struct job *job, const char *path, struct certificate *out)
{
    struct certifier c = {.job = job};
    const double reach = judge_reach(job, INFINITY);
    if (!job->model->bounds || job->nsources > 1)
        FAIL(EK_USAGE, "%s: --certify knows bounds of one source of model mogi, not of %d of %s",
             job->path, job->nsources, job->model->name);
    if (isinf(reach))
        FAIL(EK_USAGE, "%s: --certify needs accept.k_sigma or accept.misfit_below", job->path);
    enum ek_status st = fill(&c, reach);
    if (!st) {
        search(&c);
        st = write_proof(&c, reach, path);
    }
    if (!st)
        *out = (struct certificate){!c.nopen, reach, c.boxes, c.nopen, c.smallest};
    json_decref(c.levels);
    json_decref(c.open);
    arena_free(&c.arena);
    return st;
}
