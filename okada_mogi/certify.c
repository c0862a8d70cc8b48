/* okada_mogi/certify.c – branch and bound, level by level. */
#include "okada_mogi/certify.h"
#include "cu/rank/stop.h"
#include "okada_mogi/judge.h"
#include "okada_mogi/slips.h"

/* Edges are halved down to 2^-20 of their range; only to 2^-7 once a point that fits is known. */
enum { AXES = 9, FINEST = 20, FINEST_THAT_FITS = 7 };
enum { MOST = 1 << 20, LISTED = 1000 }; /* most boxes of a level, and in the list of open ones */
enum { AT_A_TIME = 64, POINTS = (AXES / MODEL_LANES + 1) * MODEL_LANES };
#define BUDGET 1e7    /* boxes x stations to examine */
#define ASIDE  0x1p-6 /* step of difference quotients, in half edges */

/* Interval at[i] of the 2^halved[i] equal ones of each range. */
struct box {
    uint32_t at[AXES];
    uint8_t halved[AXES];
};

struct certifier {
    const struct job *job;
    const struct model *slipping; /* the job's model, without opening */
    int opening;                  /* index of the opening parameter; 0: none */
    struct arena arena;
    double *low, *high;                  /* [3 stations] windows; NAN: none */
    int nsplit, split[AXES];             /* parameters that boxes are halved along */
    const struct trial_axis *grid[AXES]; /* if only their values on the grid count; else NULL */
    double scale[AXES];                  /* of their edges, for comparing them */
    struct model_range all[MODEL_PARAMETERS]; /* the job's ranges */
    struct slips slips;                       /* all slips of the job */
    long most;                                /* boxes of a level */
    struct box *now, *next;
    char *verdict;
    trial_number boxes;
    double visits, budget;
    int finest;
    json_t *levels, *open;
    trial_number nopen;
    double smallest;
    struct certify_rest *rest; /* takes the open boxes of a grid; else NULL */
    size_t room;               /* of that list */
    enum ek_status listed;
};

/* A box being examined. */
struct examination {
    /* Values for respond(), of the middle and of a point beside it along each axis. */
    _Alignas(MODEL_ALIGN) double value[MODEL_VALUES][POINTS];
    struct model_range x[MODEL_PARAMETERS];
    double half[AXES], aside[AXES]; /* half edges; distances of those points */
    struct slips slips;             /* that are left */
    struct model_range opening;     /* weight of responses to opening */
    double slope[AXES], rest;       /* variation of predictions, linear and not, in windows, added
                                       up: they decide which edge to halve */
    int worst;                      /* the station with the largest rest */
    double worst_rest;
};

/* ---- a box ------------------------------------------------------------------------------------*/

/* The points of an axis with n points in its interval `at` of 2^halved, whose upper end belongs to
 * the next one. */
struct points {
    long first, last;
};
static struct points points_within(long n, uint32_t at, int halved)
{
    const long intervals = n - 1, parts = 1L << halved;
    return (struct points){((long)at * intervals + parts - 1) / parts,
                           at + 1 == parts ? intervals
                                           : (((long)at + 1) * intervals + parts - 1) / parts - 1};
}

/* An edge, or on a grid what its points span; max < min: there is no point. */
static struct model_range edge(const struct certifier *c, const struct box *b, int axis)
{
    const struct model_range all = c->all[c->split[axis]];
    const double size = all.max - all.min, part = ldexp(size, -b->halved[axis]);
    const bool last = b->at[axis] + 1 == 1u << b->halved[axis];
    if (c->grid[axis]) {
        const struct points in = points_within(c->grid[axis]->n, b->at[axis], b->halved[axis]);
        return (struct model_range){trial_value(c->grid[axis], in.first),
                                    trial_value(c->grid[axis], in.last)};
    }
    return (struct model_range){all.min + part * b->at[axis],
                                last ? all.max : all.min + part * (b->at[axis] + 1)};
}

static bool is_void(const struct certifier *c, const struct box *b)
{
    for (int i = 0; i < c->nsplit; i++) {
        const struct model_range x = edge(c, b, i);
        if (x.max < x.min)
            return true;
    }
    return false;
}

static void put_values(const struct certifier *c, struct examination *l, int lane, const double *x)
{
    double value[MODEL_VALUES];
    model_derive_all(c->job->model, x, value);
    for (int v = 0; v < model_values(c->job->model); v++)
        l->value[v][lane] = value[v];
}

/* Weight of the response to opening. */
static double opening_weight(const struct certifier *c, double opening)
{
    double x[MODEL_PARAMETERS] = {0}, w[MODEL_BASES];
    x[c->opening] = opening;
    model_weigh(c->job->model, x, w);
    return w[2];
}

/* Prepares to examine the whole box, or only its middle. */
static void begin_examination(const struct certifier *c, const struct box *b, bool whole,
                              struct examination *l)
{
    double middle[MODEL_PARAMETERS];
    memcpy(l->x, c->all, sizeof l->x);
    memset(l->slope, 0, sizeof l->slope);
    l->rest = l->worst_rest = 0;
    l->worst = 0;
    for (int p = 0; p < MODEL_PARAMETERS; p++)
        middle[p] = c->all[p].min;
    for (int i = 0; i < c->nsplit; i++) {
        struct model_range *x = &l->x[c->split[i]];
        *x = edge(c, b, i);
        const double at = x->min + (x->max - x->min) / 2;
        middle[c->split[i]] = at;
        l->half[i] = whole ? fmax(x->max - at, at - x->min) : 0;
        if (!whole)
            x->min = x->max = at;
    }
    for (int i = 0; i < POINTS; i++) {
        double x[MODEL_PARAMETERS];
        memcpy(x, middle, sizeof x);
        if (i > 0 && i <= c->nsplit) {
            const int p = c->split[i - 1];
            x[p] += ASIDE * l->half[i - 1];
            l->aside[i - 1] = x[p] - middle[p];
        }
        if (i <= c->nsplit || i % MODEL_LANES)
            put_values(c, l, i, x);
    }
    l->slips = c->slips;
    if (c->opening) {
        const struct model_range *x = &l->x[c->opening];
        l->opening = (struct model_range){opening_weight(c, x->min), opening_weight(c, x->max)};
    }
}

/* Responses at a station [bases][3][points]. */
static void respond(const struct certifier *c, const struct examination *l, int station,
                    double (*out)[3][POINTS])
{
    const struct model *m = c->job->model;
    const struct stations *s = &c->job->stations;
    _Alignas(MODEL_ALIGN) double u[MODEL_BASES * 3 * MODEL_LANES], e[MODEL_LANES], n[MODEL_LANES],
        h[MODEL_LANES];
    const double *value[MODEL_VALUES];
    model_fill(e, s->east[station]);
    model_fill(n, s->north[station]);
    model_fill(h, s->height[station]);
    for (int first = 0; first <= c->nsplit; first += MODEL_LANES) {
        for (int v = 0; v < MODEL_VALUES; v++)
            value[v] = l->value[v] + first;
        model_respond(m, value, e, n, h, u);
        for (int b = 0; b < m->nbasis; b++)
            for (int k = 0; k < 3; k++)
                memcpy(&out[b][k][first], u + (3 * b + k) * MODEL_LANES, sizeof e);
    }
    if (stations_scalar(s, station)) {
        const double *along = s->along + 3 * station;
        for (int b = 0; b < m->nbasis; b++)
            for (int i = 0; i <= c->nsplit; i++)
                out[b][0][i] =
                    along[0] * out[b][0][i] + along[1] * out[b][1][i] + along[2] * out[b][2][i];
    }
}

/* Encloses one response over all sources of the box: the linear function through the middle and the
 * points beside it, widened by the rest, the slopes' errors (part of the rest) and rounding. */
static struct model_range enclose(const struct certifier *c, struct examination *l,
                                  const double *at, double size, double rest, double weight)
{
    double spread = 0;
    for (int i = 0; i < c->nsplit; i++)
        if (l->half[i] > 0) {
            const double change = fabs(at[i + 1] - at[0]) / l->aside[i] * l->half[i];
            l->slope[i] += weight * change;
            spread += change;
        }
    l->rest += weight * rest;
    spread += rest * (1 + c->nsplit * ASIDE) + size * SLIPS_ROUNDING * (1 + c->nsplit * 2 / ASIDE);
    return isfinite(spread)
               ? (struct model_range){fmax(at[0] - spread, -size), fmin(at[0] + spread, size)}
               : (struct model_range){-size, size};
}

/* remainder() at a station: for it, sources are deeper by its height. */
static void remainder_at(const struct certifier *c, const struct model_range *x, int station,
                         double *size, double *rest)
{
    const struct stations *s = &c->job->stations;
    const struct model *m = c->job->model;
    struct model_range own[MODEL_PARAMETERS];
    memcpy(own, x, sizeof own);
    for (int p = 0; p < m->nparameters; p++)
        if (s->height[station] > 0 && !strcmp(m->parameter[p].name, "d_m")) {
            own[p].min += s->height[station];
            own[p].max += s->height[station];
        }
    m->remainder(m, own, s->east[station], s->north[station], size, rest);
}

/* Widens the window by what openings of the box may contribute. */
static void take_opening(const struct certifier *c, struct examination *l, struct model_range g,
                         double *low, double *high)
{
    const double a = l->opening.min, b = l->opening.max, width = *high - *low,
                 size = fmax(fabs(g.min), fabs(g.max)),
                 rounding = SLIPS_ROUNDING * c->slips.most[2] * size;
    for (int i = 0; i < c->nsplit; i++)
        if (c->split[i] == c->opening)
            l->slope[i] += fabs(b - a) / 2 * size / width;
    *low -= fmax(fmax(a * g.min, a * g.max), fmax(b * g.min, b * g.max)) + rounding;
    *high -= fmin(fmin(a * g.min, a * g.max), fmin(b * g.min, b * g.max)) - rounding;
}

/* Keeps the slips that may explain a station with some source of the box; false: none is left. */
static bool may_explain(const struct certifier *c, struct examination *l, int station)
{
    const struct model *m = c->job->model;
    double out[MODEL_BASES][3][POINTS], size[MODEL_BASES], rest[MODEL_BASES], worst = 0;
    remainder_at(c, l->x, station, size, rest);
    for (int b = 0; b < m->nbasis; b++)
        worst = fmax(worst, c->slips.most[b] * (isfinite(size[b]) ? rest[b] : INFINITY));
    if (worst > l->worst_rest) {
        l->worst_rest = worst;
        l->worst = station;
    }
    for (int b = 0; b < m->nbasis; b++)
        if (!isfinite(size[b]))
            return true;
    respond(c, l, station, out);
    for (int k = 0; k < 3; k++) {
        double low = c->low[3 * station + k], high = c->high[3 * station + k];
        struct model_range g[MODEL_BASES] = {{0, 0}};
        if (isnan(low))
            continue;
        for (int b = 0; b < m->nbasis; b++)
            g[b] = enclose(c, l, out[b][k], size[b], rest[b], c->slips.most[b] / (high - low));
        if (c->opening)
            take_opening(c, l, g[2], &low, &high);
        if (!slips_narrow(&l->slips, g, low, high))
            return false;
    }
    return true;
}

/* Whether some slip may explain all data with some source of the box; *last: the station that
 * excluded the last box, tried first. */
static bool may_fit(const struct certifier *c, const struct box *b, bool whole,
                    struct examination *l, int *last, double *visits)
{
    const struct stations *s = &c->job->stations;
    begin_examination(c, b, whole, l);
    for (int i = 0; i < s->n; i++) {
        const int k = (i + *last) % s->n;
        if (isnan(c->low[3 * k]) && isnan(c->low[3 * k + 1]) && isnan(c->low[3 * k + 2]))
            continue;
        ++*visits;
        if (!may_explain(c, l, k)) {
            *last = k;
            return false;
        }
    }
    return true;
}

/* How much an edge contributes to the variation: by the slopes; if nonlinearity dominates, by the
 * remainder along this edge alone at the worst station. */
static double blame(const struct certifier *c, const struct examination *l, int axis, bool bends)
{
    struct model_range x[MODEL_PARAMETERS];
    double size[MODEL_BASES], rest[MODEL_BASES], sum = 0;
    if (!bends)
        return l->slope[axis];
    memcpy(x, l->x, sizeof x);
    for (int i = 0; i < c->nsplit; i++)
        if (i != axis) {
            struct model_range *r = &x[c->split[i]];
            r->min = r->max = r->min + (r->max - r->min) / 2;
        }
    remainder_at(c, x, l->worst, size, rest);
    for (int b = 0; b < c->job->model->nbasis; b++)
        sum += c->slips.most[b] * rest[b];
    return isfinite(sum) ? sum : 1e100 * l->half[axis] / c->scale[axis];
}

static char choose(const struct certifier *c, const struct box *b, const struct examination *l)
{
    double all = 0, most = -1;
    int best = -1;
    for (int i = 0; i < c->nsplit; i++)
        all += l->slope[i];
    for (int i = 0; i < c->nsplit; i++) {
        const struct model_range x = l->x[c->split[i]];
        const double own =
            b->halved[i] < c->finest && x.min < x.max ? blame(c, l, i, !(l->rest < all)) : -1;
        if (own > most) {
            most = own;
            best = i;
        }
    }
    return best < 0 ? '?' : (char)('0' + best);
}

/* ---- boxes ------------------------------------------------------------------------------------*/

/* Examines some boxes; true: the middle of one of them fits (tested only if `middles`). State kept
 * from box to box starts anew here, so that results do not depend on the number of threads. */
static bool examine_some(const struct certifier *c, long first, long end, bool middles,
                         double *visits)
{
    int last = 0, other = 0;
    bool fits = false;
    struct examination l;
    if (stop_requested()) {
        memset(c->verdict + first, '?', (size_t)(end - first));
        return false;
    }
    for (long i = first; i < end; i++) {
        if (is_void(c, &c->now[i]) || !may_fit(c, &c->now[i], true, &l, &last, visits)) {
            c->verdict[i] = '.';
            continue;
        }
        c->verdict[i] = choose(c, &c->now[i], &l);
        fits = fits || (middles && may_fit(c, &c->now[i], false, &l, &other, visits));
    }
    return fits;
}

static void examine(struct certifier *c, long n, int level)
{
    bool fits = false;
    double visits = 0;
#pragma omp parallel for schedule(dynamic) reduction(|| : fits) reduction(+ : visits)
    for (long first = 0; first < n; first += AT_A_TIME)
        fits |= examine_some(c, first, first + AT_A_TIME < n ? first + AT_A_TIME : n,
                             level % 3 == 0 && !c->rest, &visits);
    c->visits += visits;
    c->finest = fits ? FINEST_THAT_FITS : c->finest;
}

static enum ek_status list_rest(struct certifier *c, const struct box *b)
{
    const struct job *job = c->job;
    struct certify_rest *r = c->rest;
    TRY(arena_grow(&r->box, &c->room, r->n, sizeof *r->box, "the open boxes"));
    struct certify_box *box = &r->box[r->n++];
    double trials = 1;
    for (int a = 0; a < job->naxes; a++) {
        struct points in = {0, job->axis[a].n - 1};
        for (int i = 0; i < c->nsplit; i++)
            if (c->grid[i] == &job->axis[a])
                in = points_within(job->axis[a].n, b->at[i], b->halved[i]);
        box->first[a] = in.first;
        box->last[a] = in.last;
        trials *= (double)(in.last - in.first + 1);
    }
    r->trials += trials;
    return EK_OK;
}

static void leave_open(struct certifier *c, const struct box *b)
{
    double most = 0;
    if (c->rest) {
        THEN(c->listed, list_rest(c, b));
        return;
    }
    json_t *row = c->nopen++ < LISTED ? json_array() : NULL;
    for (int i = 0; i < c->nsplit; i++) {
        const struct model_range x = edge(c, b, i);
        most = fmax(most, ldexp(1, -b->halved[i]));
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
        const int axis = c->verdict[i] - '0';
        for (uint32_t side = 0; side < 2; side++) {
            struct box *half = &c->next[more++];
            *half = c->now[i];
            half->at[axis] = 2 * half->at[axis] + side;
            half->halved[axis]++;
        }
    }
    c->boxes += (trial_number)n;
    json_array_append_new(c->levels, json_stringn(c->verdict, (size_t)n));
    struct box *const done = c->now;
    c->now = c->next;
    c->next = done;
    return more;
}

/* Continues while the next level, at the last one's price, is within the budget and no interrupt
 * was requested; boxes undecided then are open. */
static void search(struct certifier *c)
{
    memset(c->now, 0, sizeof *c->now);
    for (long n = 1, level = 0; n; level++) {
        const double before = c->visits;
        long left = 0;
        examine(c, n, (int)level);
        for (long i = 0; i < n; i++)
            left += c->verdict[i] != '.';
        const double price = (c->visits - before) / (double)n * 2 * (double)left;
        n = next_level(c, n,
                       stop_requested() || 2 * left > c->most || c->visits + price > c->budget);
    }
}

/* ---- the job ----------------------------------------------------------------------------------*/

static void list_data(struct certifier *c, double reach)
{
    const struct stations *s = &c->job->stations;
    const double slack = judge_slack(c->job);
    for (int i = 0; i < 3 * s->n; i++) {
        const bool other = scenes_adrift(&c->job->scenes, i / 3) || stations_difference(s, i / 3);
        const double width = other ? NAN : reach * s->sigma[i] + slack;
        c->low[i] = s->observed[i] - width;
        c->high[i] = s->observed[i] + width;
    }
}

/* Lengths share the scale of the longest; angles have their own. */
static void set_scales(struct certifier *c)
{
    const struct model *m = c->job->model;
    double longest_length = 0;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < c->nsplit; i++) {
            const struct model_range x = c->all[c->split[i]];
            const char *name = m->parameter[c->split[i]].name;
            const bool length = !strcmp(name + strlen(name) - 2, "_m");
            longest_length = length ? fmax(longest_length, x.max - x.min) : longest_length;
            c->scale[i] = length ? longest_length : x.max - x.min;
        }
}

/* A parameter's role; openings count as geometry, as they are halved likewise. */
static enum model_role role_of(const struct certifier *c, int parameter)
{
    return parameter < c->slipping->nparameters ? c->slipping->parameter[parameter].role
                                                : MODEL_GEOMETRY;
}

static enum ek_status fill(struct certifier *c, double reach)
{
    const struct job *job = c->job;
    struct model_range range[] = {
        [MODEL_DIRECTION] = {0, 0}, [MODEL_AMPLITUDE] = {1, 1}, [MODEL_GEOMETRY] = {0, 0}};
    c->low = ARENA_NEW(&c->arena, 3 * job->stations.n, double);
    c->high = ARENA_NEW(&c->arena, 3 * job->stations.n, double);
    c->now = ARENA_NEW(&c->arena, c->most, struct box);
    c->next = ARENA_NEW(&c->arena, c->most, struct box);
    c->verdict = ARENA_NEW(&c->arena, c->most, char);
    TRY(arena_check(&c->arena, "the boxes of %s", job->path));
    for (int a = 0; a < job->naxes; a++) {
        const struct trial_axis *axis = &job->axis[a];
        const int p = job->parameter[a];
        const enum model_role role = role_of(c, p);
        range[role] = c->all[p] = (struct model_range){axis->min, axis->max};
        if (axis->max > axis->min && role == MODEL_GEOMETRY) {
            c->grid[c->nsplit] = c->rest ? axis : NULL;
            c->split[c->nsplit++] = p;
        }
    }
    slips_list(c->slipping, range[MODEL_AMPLITUDE], range[MODEL_DIRECTION], &c->slips);
    if (c->opening)
        c->slips.most[2] = fmax(fabs(opening_weight(c, c->all[c->opening].min)),
                                fabs(opening_weight(c, c->all[c->opening].max)));
    set_scales(c);
    list_data(c, reach);
    c->levels = json_array();
    c->open = json_array();
    c->smallest = 1;
    c->finest = FINEST;
    return EK_OK;
}

/* ---- the proof --------------------------------------------------------------------------------*/

static json_t *windows(const struct certifier *c, int station, bool high)
{
    json_t *list = json_pack("[n,n,n]");
    const double *end = (high ? c->high : c->low) + 3 * station;
    for (int k = 0; k < 3; k++)
        if (!isnan(end[k]))
            json_array_set_new(list, (size_t)k, json_real(end[k]));
    return list;
}

static json_t *parameters_json(const struct certifier *c)
{
    json_t *list = json_array();
    for (int i = 0; i < c->nsplit; i++)
        json_array_append_new(
            list, json_pack("{s:s s:f s:f}", "name", c->job->model->parameter[c->split[i]].name,
                            "min", c->all[c->split[i]].min, "max", c->all[c->split[i]].max));
    return list;
}

static json_t *along_json(const struct stations *s, int station)
{
    const double *l = s->along + 3 * station;
    return stations_scalar(s, station) ? json_pack("[f,f,f]", l[0], l[1], l[2]) : json_null();
}

/* Parameters of a single value. */
static json_t *fixed_json(const struct certifier *c)
{
    const struct model *m = c->job->model;
    json_t *fixed = json_object();
    for (int p = 0; p < m->nparameters; p++)
        if (c->all[p].min == c->all[p].max)
            json_object_set_new(fixed, m->parameter[p].name, json_real(c->all[p].min));
    return fixed;
}

/* Range of the parameter with this role. */
static json_t *range_json(const struct certifier *c, enum model_role role)
{
    for (int p = 0; p < c->job->model->nparameters; p++)
        if (role_of(c, p) == role)
            return json_pack("[f,f]", c->all[p].min, c->all[p].max);
    return json_null();
}

static enum ek_status write_proof(const struct certifier *c, double reach, const char *path)
{
    const struct stations *s = &c->job->stations;
    json_t *stations = json_array();
    for (int i = 0; i < s->n; i++)
        json_array_append_new(stations,
                              json_pack("{s:s s:f s:f s:f s:o s:o s:o}", "name", s->name[i], "east",
                                        s->east[i], "north", s->north[i], "height", s->height[i],
                                        "along", along_json(s, i), "low", windows(c, i, false),
                                        "high", windows(c, i, true)));
    json_auto_t *root = json_pack(
        "{s:i s:s s:f s:o s:o s:o s:o s:o s:O s:O}", "certificate", 1, "model", c->job->model->name,
        "reach", reach, "parameters", parameters_json(c), "fixed", fixed_json(c), "amplitude",
        range_json(c, MODEL_AMPLITUDE), "direction", range_json(c, MODEL_DIRECTION), "stations",
        stations, "levels", c->levels, "open", c->open);
    return json_write_exact(path, root);
}

/* ---- the calls --------------------------------------------------------------------------------*/

static struct certifier certifier_of(const struct job *job, double budget)
{
    const struct model *m = model_find(job->model->name);
    return (struct certifier){.job = job,
                              .slipping = m ? m : job->model,
                              .opening =
                                  job->model->nbasis > 2 ? (m ? m : job->model)->nparameters : 0,
                              .most = (long)fmin(MOST, budget),
                              .budget = budget};
}

static void certifier_free(struct certifier *c)
{
    json_decref(c->levels);
    json_decref(c->open);
    arena_free(&c->arena);
}

bool certify_knows(const struct job *job)
{
    return job->model->remainder && job->nsources == 1 && !job->scenes.translation &&
           isfinite(judge_reach(job, INFINITY));
}

enum ek_status certify_grid(const struct job *job, double visits, struct certify_rest *rest)
{
    OWNED(certifier_free) struct certifier c = certifier_of(job, visits);
    c.rest = rest;
    *rest = (struct certify_rest){0};
    TRY(fill(&c, judge_reach(job, INFINITY)));
    search(&c);
    return c.listed;
}

enum ek_status certify(const struct job *job, const char *path, struct certificate *out)
{
    OWNED(certifier_free) struct certifier c = certifier_of(job, BUDGET);
    const double reach = judge_reach(job, INFINITY);
    if (!job->model->remainder || job->nsources > 1)
        FAIL(EK_USAGE,
             "%s: --certify knows one source of volume, slip or opening by its centre, not %d of "
             "%s%s",
             job->path, job->nsources, job->model->name,
             job->model->remainder ? "" : " with other parameters");
    if (job->scenes.translation)
        FAIL(EK_USAGE, "%s: --certify knows no unknown translation; leave out \"translation\"",
             job->path);
    if (isinf(reach))
        FAIL(EK_USAGE, "%s: --certify needs accept.k_sigma or accept.misfit_below", job->path);
    TRY(fill(&c, reach));
    search(&c);
    TRY(write_proof(&c, reach, path));
    *out = (struct certificate){!c.nopen, reach, c.boxes, c.nopen, c.smallest, c.visits};
    return c.nopen && stop_requested() ? EK_STOPPED : EK_OK;
}
