/* okada_mogi/read_job.c – reads job files. Unknown keys and invalid numbers are refused, with their
 * file and line. */
#include "okada_mogi/job.h"
#include "okada_mogi/utm.h"
#include "src/demand.h"
#include "src/file.h"
#include "src/opt.h"
#include "src/sort.h"

static const struct demand ANY = {-1e300, 1e300, false, false}, LENGTH = {0, 1e9, false, false},
                           ABOVE_0 = {0, 1e9, true, false}, STEP = {0, 1e300, true, false},
                           COUNT = {1, 1e15, false, true}, BEST = {1, JOB_BEST, false, true},
                           SOURCES = {1, JOB_SOURCES, false, true}, ZONE = {-60, 60, false, true},
                           RIGIDITY = {0, 1e15, true, false};

/* ---- keys -------------------------------------------------------------------------------------*/

static const char *below(const char *where, const char *name, char key[160])
{
    snprintf(key, 160, "%s%s%s", where, *where ? "." : "", name);
    return key;
}

/* A number, or a list of at least `least` and at most `most` of them. */
static enum ek_status numbers(const char *path, const char *key, const json_t *value,
                              const struct demand *d, int least, int most, double *x, int *n)
{
    char element[200];
    const int count = json_is_array(value) ? (int)json_array_size(value) : 1;
    if (count < least || count > most)
        FAIL(EK_USAGE, "%s: %s has %d numbers, it must have %d%s", demand_at(path, key), key, count,
             least, least < most ? " or more" : "");
    if (!json_is_array(value))
        TRY(demand_number(path, key, value, d, x));
    for (int i = 0; i < count && json_is_array(value); i++) {
        snprintf(element, sizeof element, "%s[%d]", key, i);
        TRY(demand_number(path, element, json_array_get(value, (size_t)i), d, &x[i]));
    }
    *n = count;
    return EK_OK;
}

/* One number for all three components, or three. */
static enum ek_status per_component(const char *path, const char *where, const json_t *object,
                                    const char *name, const struct demand *d, double unit,
                                    double x[3])
{
    char key[160];
    const json_t *value = json_object_get(object, name);
    int n = 0;
    if (!value)
        return EK_OK;
    TRY(numbers(path, below(where, name, key), value, d, json_is_array(value) ? 3 : 1, 3, x, &n));
    for (int c = 2; c >= 0; c--) /* x[0] last, as it may be the value of all */
        x[c] = unit * x[n == 1 ? 0 : c];
    return EK_OK;
}

/* Index of the name that is the value; 0 if there is none. */
static enum ek_status choice(const char *path, const char *key, const json_t *value,
                             const char *const *names, int n, int *at)
{
    const char *text = value ? json_string_value(value) : *names;
    TRY(demand_that(path, text != NULL, key, "a text"));
    return opt_choose(demand_at(path, key), text, names, sizeof *names, n, at);
}

/* ---- stations ---------------------------------------------------------------------------------*/

static enum ek_status read_format(const char *path, const json_t *object, struct stations_format *f)
{
    static const char *const units[] = {"m", "cm", "mm"};
    static const double metres[] = {1, 0.01, 0.001};
    const json_t *columns = json_object_get(object, "columns");
    double zone = 0;
    int unit;
    TRY(DEMAND_KEYS(path, "stations", object, "file", "columns", "unit", "noise_floor", "sigma",
                    "utm_zone", "heights"));
    TRY(demand_flag(path, "stations", object, "heights", &f->heights));
    TRY(demand_that(path, !columns || json_is_string(columns), "stations.columns", "a text"));
    f->columns = json_string_value(columns);
    TRY(choice(path, "stations.unit", json_object_get(object, "unit"), units, 3, &unit));
    f->unit = metres[unit];
    TRY(per_component(path, "stations", object, "noise_floor", &LENGTH, f->unit, f->floor));
    TRY(per_component(path, "stations", object, "sigma", &ABOVE_0, f->unit, f->sigma));
    TRY(demand_optional(path, "stations", object, "utm_zone", &ZONE, &zone));
    f->zone = (int)zone;
    return demand_that(path, zone || !json_object_get(object, "utm_zone"), "stations.utm_zone",
                       "1 to 60, or -1 to -60 in the south");
}

/* "file" or {"file": …, format}; longitudes are projected to the first file's zone. */
static enum ek_status read_file(struct job *job, const json_t *value)
{
    struct stations_format format = {.unit = 1};
    OWNED(stations_close) struct stations more = {0};
    const bool object = json_is_object(value);
    const char *file = json_string_value(object ? json_object_get(value, "file") : value);
    char path[4096];
    TRY(demand_that(job->path, file != NULL, "stations",
                    "the name of a file, or an object with \"file\" in it"));
    if (object)
        TRY(read_format(job->path, value, &format));
    format.usual = job->stations.zone;
    TRY(file_beside(job->path, file, path, sizeof path));
    TRY(stations_read(path, &format, &more));
    return stations_add(path, &job->stations, &more);
}

/* "stations": a file, or a list of them. */
static enum ek_status read_stations(struct job *job, const json_t *value)
{
    size_t i;
    json_t *file;
    if (!json_is_array(value))
        return read_file(job, value);
    TRY(demand_that(job->path, json_array_size(value) > 0, "stations", "at least one file"));
    json_array_foreach(value, i, file)
    {
        TRY(read_file(job, file));
    }
    return EK_OK;
}

/* "scenes": {"asc": {"offset": true, "ramp": true, "sill_m2": 4e-6, "range_m": 8e3}}. */
static enum ek_status read_scenes(struct job *job, const json_t *scenes)
{
    const char *name;
    json_t *object;
    char where[160];
    TRY(demand_that(job->path, !scenes || json_is_object(scenes), "scenes", "an object"));
    json_object_foreach((json_t *)scenes, name, object)
    {
        bool offset = false, ramp = false;
        struct scene as = {0};
        below("scenes", name, where);
        TRY(DEMAND_KEYS(job->path, where, object, "offset", "ramp", "sill_m2", "range_m"));
        TRY(demand_flag(job->path, where, object, "offset", &offset));
        TRY(demand_flag(job->path, where, object, "ramp", &ramp));
        TRY(demand_optional(job->path, where, object, "sill_m2", &ABOVE_0, &as.sill));
        TRY(demand_optional(job->path, where, object, "range_m", &ABOVE_0, &as.range));
        TRY(demand_that(job->path, (as.sill > 0) == (as.range > 0), where,
                        "given both sill_m2 and range_m, or neither"));
        as.unknowns = ramp ? SCENES_UNKNOWNS : offset;
        if (as.unknowns || as.sill > 0)
            TRY(scenes_add(job->path, &job->stations, name, &as, &job->scenes));
    }
    return EK_OK;
}

/* ---- acceptance and constraints ---------------------------------------------------------------*/

static enum ek_status read_accept(struct job *job, const json_t *object)
{
    static const char *const misfits[] = {"max", "rms"};
    struct job_accept *a = &job->accept;
    const json_t *k = json_object_get(object, "k_sigma");
    double best = 0;
    int misfit;
    a->below = INFINITY;
    TRY(demand_that(job->path, json_is_object(object), "accept", "an object"));
    TRY(DEMAND_KEYS(job->path, "accept", object, "k_sigma", "misfit", "misfit_below", "best",
                    "keep_all"));
    if (k)
        TRY(numbers(job->path, "accept.k_sigma", k, &ABOVE_0, 1, JOB_LEVELS, a->k, &a->nk));
    sort_numbers(a->k, (size_t)a->nk);
    TRY(choice(job->path, "accept.misfit", json_object_get(object, "misfit"), misfits, 2, &misfit));
    a->misfit = misfit ? JOB_MISFIT_RMS : JOB_MISFIT_MAX;
    TRY(demand_optional(job->path, "accept", object, "misfit_below", &ABOVE_0, &a->below));
    TRY(demand_optional(job->path, "accept", object, "best", &BEST, &best));
    TRY(demand_flag(job->path, "accept", object, "keep_all", &a->all));
    a->best = (long)best;
    TRY(demand_that(job->path, !a->all || !a->best, "accept.best",
                    "left out where keep_all keeps every trial"));
    return demand_that(job->path, a->nk || a->all || a->best || isfinite(a->below), "accept",
                       "given: k_sigma, misfit_below, best or keep_all");
}

/* The model's constraint called `name`; NULL, with a message: there is none. */
static const struct model_constraint *find_constraint(const struct job *job, const char *name)
{
    const struct model_constraint *table = job->model->constraint;
    const char *names[64];
    char key[160];
    int n = 0;
    for (; table && table[n].name && n < 64; n++) {
        if (table[n].takes && !strcmp(table[n].name, name))
            return &table[n];
        names[n] = table[n].takes ? table[n].name : "";
    }
    status_fail(EK_USAGE, "%s: model %s has no constraint '%s'%s",
                demand_at(job->path, below("constraints", name, key)), job->model->name, name,
                opt_suggest(name, names, n));
    return NULL;
}

static enum ek_status add_constraint(struct job *job, struct job_constraint **c)
{
    TRY(arena_grow(&job->constraint, &job->room, (size_t)job->nconstraints, sizeof **c,
                   "the constraints"));
    *c = &job->constraint[job->nconstraints++];
    **c = (struct job_constraint){.model = job->model};
    return EK_OK;
}

/* "L_m / W_m < 4", or a list of expressions. */
static enum ek_status read_expressions(struct job *job, const char *key, const json_t *value)
{
    struct job_constraint *c;
    size_t i;
    json_t *one;
    char element[200];
    json_array_foreach(value, i, one)
    {
        snprintf(element, sizeof element, "%s[%zu]", key, i);
        TRY(demand_that(job->path, json_is_string(one), element, "a text"));
        TRY(read_expressions(job, element, one));
    }
    if (json_is_array(value))
        return EK_OK;
    TRY(demand_that(job->path, json_is_string(value), key, "a text, or a list of texts"));
    TRY(add_constraint(job, &c));
    c->expression = ARENA_NEW(&job->arena, 1, struct expression);
    TRY(arena_check(&job->arena, "the constraints of %s", job->path));
    TRY(expression_read(job->path, key, json_string_value(value), job->model, job->nsources,
                        c->expression));
    c->what = &c->expression->as;
    return EK_OK;
}

static enum ek_status read_constraints(struct job *job, const json_t *object)
{
    const char *name;
    json_t *value;
    char key[160];
    for (const struct model_constraint *w = job->model->constraint; w && w->name; w++) {
        struct job_constraint *c;
        if (w->takes)
            continue;
        TRY(add_constraint(job, &c));
        c->what = w;
    }
    if (json_is_array(object))
        return read_expressions(job, "constraints", object);
    TRY(demand_that(job->path, !object || json_is_object(object), "constraints",
                    "an object, or a list of texts"));
    json_object_foreach((json_t *)object, name, value)
    {
        struct job_constraint *c;
        int n;
        below("constraints", name, key);
        if (!strcmp(name, "expressions")) {
            TRY(read_expressions(job, key, value));
            continue;
        }
        TRY(add_constraint(job, &c));
        c->what = find_constraint(job, name);
        if (!c->what)
            return EK_USAGE;
        TRY(numbers(job->path, key, value, &ANY, c->what->nnumbers, c->what->nnumbers, c->number,
                    &n));
        c->number[n] = job->rigidity;
    }
    return EK_OK;
}

/* ---- parameters -------------------------------------------------------------------------------*/

/* Widens the job's model, if need be, to one that has this parameter and all those before it. */
static const struct model *wider(struct job *job, const char *name, int size, int axis)
{
    const struct model *m = job->model;
    while ((m = model_with(m, name, size)) && model_parameter_find(m, name, size) >= 0) {
        bool all = true;
        for (int a = 0; a < axis; a++)
            all &= job->parameter[a] < m->nparameters &&
                   !strncmp(m->parameter[job->parameter[a]].name, job->name[a],
                            strcspn(job->name[a], "."));
        if (all)
            return job->model = m;
        if (!(m = m->wider))
            break;
    }
    return job->model;
}

/* "Es_m.2" is parameter Es_m of source 1 (from 0). */
static enum ek_status parse_name(struct job *job, const char *where, const char *name, int axis)
{
    const size_t n = strcspn(name, ".");
    const struct model *m = wider(job, name, (int)n, axis);
    const int p = model_parameter_find(m, name, (int)n);
    const char *names[MODEL_PARAMETERS];
    char stem[64], key[160];
    long source = 1;
    below(where, "name", key);
    for (int i = 0; i < m->nparameters; i++)
        names[i] = m->parameter[i].name;
    snprintf(stem, sizeof stem, "%.*s", (int)n, name);
    if (p < 0 &&
        model_parameter_find(model_with(model_find(m->name), name, (int)n), name, (int)n) >= 0)
        FAIL(EK_USAGE, "%s: '%s' does not go with the parameters before it",
             demand_at(job->path, key), stem);
    if (p < 0)
        FAIL(EK_USAGE, "%s: model %s has no parameter '%s'%s", demand_at(job->path, key), m->name,
             stem, opt_suggest(stem, names, m->nparameters));
    if (name[n] ? !opt_integer(name + n + 1, 1, job->nsources, &source) : job->nsources > 1)
        FAIL(EK_USAGE, "%s: '%s' does not name one of the %d sources; write %s.1",
             demand_at(job->path, key), name, job->nsources, stem);
    for (int a = 0; a < axis; a++)
        if (job->source[a] == source - 1 && job->parameter[a] == p)
            FAIL(EK_USAGE, "%s: parameter '%s' occurs twice", demand_at(job->path, key), name);
    job->source[axis] = (int)source - 1;
    job->parameter[axis] = p;
    return EK_OK;
}

/* {"value"}, {"min", "max", "n"} or {"min", "max", "step"}. */
static enum ek_status read_values(const char *path, const char *where, const json_t *object,
                                  struct trial_axis *axis)
{
    double n = 1, step = 0;
    const json_t *value = json_object_get(object, "value"), *count = json_object_get(object, "n");
    axis->n = 1;
    if (value ? json_object_size(object) > 2 : count && json_object_get(object, "step"))
        FAIL(EK_USAGE, "%s: give value alone, or min, max and either n or step",
             demand_at(path, where));
    if (value) {
        TRY(demand_member(path, where, object, "value", &ANY, &axis->min));
        axis->max = axis->min;
        return EK_OK;
    }
    TRY(demand_member(path, where, object, "min", &ANY, &axis->min));
    TRY(demand_member(path, where, object, "max", &ANY, &axis->max));
    if (axis->min > axis->max)
        FAIL(EK_USAGE, "%s: min %.15g is above max %.15g", demand_at(path, where), axis->min,
             axis->max);
    if (json_object_get(object, "step")) {
        TRY(demand_member(path, where, object, "step", &STEP, &step));
        n = floor((axis->max - axis->min) / step * (1 + 1e-12)) + 1;
        axis->max = fmin(axis->max, axis->min + (n - 1) * step); /* not beyond it by rounding */
        if (!(n <= COUNT.max))
            FAIL(EK_USAGE, "%s: %g steps are too many", demand_at(path, where), n);
    } else {
        TRY(demand_member(path, where, object, "n", &COUNT, &n));
    }
    axis->n = (long)n;
    if ((axis->n == 1) != (axis->min == axis->max))
        FAIL(EK_USAGE, "%s: n = %ld does not fit min %.15g and max %.15g", demand_at(path, where),
             axis->n, axis->min, axis->max);
    return EK_OK;
}

/* "lon.2" stands for "Es_m.2", "lat" for "Ns_m". */
static const char *plane_name(struct job *job, const char *name, bool *degrees)
{
    static const char *const known[] = {"lon", "lat"};
    const size_t n = strcspn(name, ".");
    char text[160];
    *degrees = false;
    for (int c = 0; c < 2; c++)
        if (n == 3 && !strncmp(name, known[c], n)) {
            *degrees = true;
            snprintf(text, sizeof text, "%s%s", job->model->parameter[c].name, name + n);
            name = text;
            break;
        }
    return arena_text(&job->arena, name);
}

static enum ek_status read_parameter(struct job *job, const char *where, const json_t *object,
                                     int axis, bool *degrees)
{
    char key[160];
    struct trial_axis *x = &job->axis[axis];
    TRY(demand_that(job->path, json_is_object(object), where, "an object"));
    TRY(DEMAND_KEYS(job->path, where, object, "name", "min", "max", "n", "step", "value"));
    const char *name = json_string_value(json_object_get(object, "name"));
    TRY(demand_that(job->path, name != NULL, below(where, "name", key), "a parameter's name"));
    job->name[axis] = plane_name(job, name, degrees);
    TRY(arena_check(&job->arena, "the parameters of %s", job->path));
    TRY(parse_name(job, where, job->name[axis], axis));
    TRY(read_values(job->path, where, object, x));
    const struct model_parameter *p = &job->model->parameter[job->parameter[axis]];
    if (x->min < p->min || x->max > p->max)
        FAIL(EK_USAGE, "%s: %s from %.15g to %.15g is beyond the model's %g to %g",
             demand_at(job->path, where), name, x->min, x->max, p->min, p->max);
    return EK_OK;
}

/* Converts ranges in degrees to ranges in metres that contain the same rectangle; a fixed value is
 * converted at the middle of the other range. */
static enum ek_status project_ranges(struct job *job, struct trial_axis *lon,
                                     struct trial_axis *lat)
{
    const int zone = job->stations.zone;
    const double x = (lon->min + lon->max) / 2, y = (lat->min + lat->max) / 2,
                 middle = x + remainder(6 * abs(zone) - 183 - x, 360);
    /* candidates for extremes: ends of ranges, the central meridian and the equator; last the
     * middle */
    const double at[2][4] = {{lon->min, lon->max, fmin(fmax(middle, lon->min), lon->max), x},
                             {lat->min, lat->max, fmin(fmax(0, lat->min), lat->max), y}};
    struct trial_axis *const axis[] = {lon, lat};
    if (!zone)
        FAIL(EK_USAGE, "%s: lon and lat, but which utm_zone are the stations in?",
             demand_at(job->path, "parameters"));
    TRY(demand_that(job->path,
                    fabs(lat->min) < 89 && fabs(lat->max) < 89 && fabs(middle - x) < 20 &&
                        lon->max - lon->min < 20,
                    "parameters",
                    "within 20 degrees of the stations' zone where they are lon and lat"));
    for (int c = 0; c < 2; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = axis[c]->n == 1 ? 15 : 0; i < 16; i++) {
            double to[2];
            utm_project(abs(zone), zone < 0, at[0][i % 4], at[1][i / 4], &to[0], &to[1]);
            low = fmin(low, to[c]);
            high = fmax(high, to[c]);
        }
        axis[c]->min = low;
        axis[c]->max = high;
    }
    return EK_OK;
}

/* Converts the ranges of sources placed by longitude and latitude. */
static enum ek_status project_sources(struct job *job, const bool *degrees)
{
    for (int s = 0; s < job->nsources; s++) {
        struct trial_axis *at[2] = {NULL, NULL};
        bool is[2] = {false, false};
        for (int a = 0; a < job->naxes; a++)
            if (job->source[a] == s && job->parameter[a] < 2) {
                at[job->parameter[a]] = &job->axis[a];
                is[job->parameter[a]] = degrees[a];
            }
        TRY(demand_that(job->path, is[0] == is[1], "parameters", "both lon and lat, or neither"));
        if (is[0])
            TRY(project_ranges(job, at[0], at[1]));
    }
    return EK_OK;
}

static enum ek_status read_list(struct job *job, const json_t *list)
{
    char where[64];
    bool degrees[JOB_AXES] = {false};
    TRY(demand_that(job->path, json_is_array(list) && json_array_size(list) <= JOB_AXES,
                    "parameters", "a list of all parameters, each once"));
    for (; job->naxes < (int)json_array_size(list); job->naxes++) {
        snprintf(where, sizeof where, "parameters[%d]", job->naxes);
        TRY(read_parameter(job, where, json_array_get(list, (size_t)job->naxes), job->naxes,
                           &degrees[job->naxes]));
    }
    return project_sources(job, degrees);
}

/* Adds a default parameter as an unnamed axis of one value, where it does not hinder the short
 * cuts: geometry before all other axes of its source, the rest after them. */
static void imply(struct job *job, int source, int parameter)
{
    const struct model_parameter *p = &job->model->parameter[parameter];
    int at = 0;
    while (at < job->naxes && job->source[at] != source)
        at++;
    while (p->role != MODEL_GEOMETRY && at < job->naxes && job->source[at] == source)
        at++;
    const size_t behind = (size_t)(job->naxes++ - at);
    memmove(&job->axis[at + 1], &job->axis[at], behind * sizeof *job->axis);
    memmove(&job->source[at + 1], &job->source[at], behind * sizeof *job->source);
    memmove(&job->parameter[at + 1], &job->parameter[at], behind * sizeof *job->parameter);
    memmove(&job->name[at + 1], &job->name[at], behind * sizeof *job->name);
    const double usual = !strcmp(p->name, "reference")     ? job->reference
                         : !strcmp(p->name, "rigidity_Pa") ? job->rigidity
                                                           : p->usual;
    job->axis[at] = (struct trial_axis){usual, usual, 1};
    job->source[at] = source;
    job->parameter[at] = parameter;
    job->name[at] = NULL;
}

/* Checks that each source has each parameter, and adds optional ones that are missing. */
static enum ek_status complete(struct job *job)
{
    const struct model *m = job->model;
    int given = 0, wanted = 0;
    bool there[JOB_SOURCES][MODEL_PARAMETERS] = {{false}};
    for (int a = 0; a < job->naxes; a++) {
        there[job->source[a]][job->parameter[a]] = true;
        given += !m->parameter[job->parameter[a]].optional;
    }
    for (int p = 0; p < m->nparameters; p++)
        wanted += !m->parameter[p].optional * job->nsources;
    if (given != wanted)
        FAIL(EK_USAGE, "%s: %d parameter%s, but %d source%s of model %s %s %d",
             demand_at(job->path, "parameters"), given, given == 1 ? "" : "s", job->nsources,
             job->nsources > 1 ? "s" : "", m->name, job->nsources > 1 ? "have" : "has", wanted);
    for (int s = 0; s < job->nsources; s++)
        for (int p = 0; p < m->nparameters; p++)
            if (!there[s][p])
                imply(job, s, p);
    return EK_OK;
}

static enum ek_status read_parameters(struct job *job, const json_t *list)
{
    TRY(read_list(job, list));
    TRY(complete(job));
    if (!trial_count(job->axis, job->naxes, &job->trials))
        FAIL(EK_USAGE, "%s: more than 2^127 trials; choose fewer values",
             demand_at(job->path, "parameters"));
    job->wanted = (struct trial_range){0, job->trials};
    return EK_OK;
}

/* ---- the job ----------------------------------------------------------------------------------*/

static enum ek_status read_model(struct job *job, const json_t *value, const struct model *wanted)
{
    const char *name = json_string_value(value);
    const char *names[64];
    int n = 0;
    for (; model_at(n) && n < 64; n++)
        names[n] = model_at(n)->name;
    TRY(demand_that(job->path, name != NULL, "model", "the name of a model"));
    job->model = wanted && !strcmp(wanted->name, name) ? wanted : model_find(name);
    if (!job->model)
        FAIL(EK_USAGE, "%s: unknown model '%s'%s", demand_at(job->path, "model"), name,
             opt_suggest(name, names, n));
    if (wanted && job->model != wanted)
        FAIL(EK_USAGE, "%s: this is a job for model %s, not %s", demand_at(job->path, "model"),
             name, wanted->name);
    return EK_OK;
}

/* Which point of a fault its coordinates refer to; in the order of the model's parameter. */
static enum ek_status read_reference(struct job *job, const json_t *value)
{
    static const char *const names[] = {"centre", "top", "corner", "centroid"};
    const struct model *m = model_with(job->model, "reference", 9);
    TRY(choice(job->path, "reference", value, names, 4, &job->reference));
    if (job->reference && m == job->model)
        FAIL(EK_USAGE, "%s: sources of model %s are points; leave it out",
             demand_at(job->path, "reference"), m->name);
    job->model = job->reference ? m : job->model;
    return EK_OK;
}

static enum ek_status read_root(struct job *job, const json_t *root, const struct model *wanted)
{
    double sources = 1;
    bool translation = false;
    job->rigidity = 30e9;
    TRY(demand_that(job->path, json_is_object(root), "", "an object"));
    TRY(DEMAND_KEYS(job->path, "", root, "about", "model", "sources", "stations", "accept",
                    "constraints", "parameters", "rigidity_Pa", "scenes", "reference",
                    "translation"));
    TRY(read_model(job, json_object_get(root, "model"), wanted));
    TRY(demand_optional(job->path, "", root, "sources", &SOURCES, &sources));
    job->nsources = (int)sources;
    TRY(demand_optional(job->path, "", root, "rigidity_Pa", &RIGIDITY, &job->rigidity));
    TRY(read_reference(job, json_object_get(root, "reference")));
    TRY(read_accept(job, json_object_get(root, "accept")));
    TRY(read_stations(job, json_object_get(root, "stations")));
    TRY(read_parameters(job, json_object_get(root, "parameters")));
    TRY(read_constraints(job, json_object_get(root, "constraints")));
    for (int i = 0; i < job->stations.n && !job->model->depth; i++)
        TRY(demand_that(job->path, !(job->stations.height[i] > 0), "stations",
                        "without heights: sources of this model have no depth"));
    TRY(read_scenes(job, json_object_get(root, "scenes")));
    TRY(demand_flag(job->path, "", root, "translation", &translation));
    return translation ? scenes_translate(job->path, &job->stations, &job->scenes) : EK_OK;
}

enum ek_status job_take(const char *path, json_t *root, const struct model *model, struct job **job)
{
    NEW(struct job, made, 1, "%s: out of memory", path);
    made->path = arena_text(&made->arena, path);
    made->root = json_incref(root);
    enum ek_status st = arena_check(&made->arena, "the job %s", path);
    THEN(st, read_root(made, root, model));
    return HAND_OUT(st, made, job, job_close);
}

enum ek_status job_open(const char *path, const struct model *model, struct job **job)
{
    json_auto_t *root = NULL;
    TRY(demand_open(path, &root));
    return job_take(path, root, model, job);
}

void job_close(struct job *job)
{
    if (!job)
        return;
    scenes_close(&job->scenes);
    stations_close(&job->stations);
    free(job->constraint);
    json_decref(job->root);
    arena_free(&job->arena);
    free(job);
}
