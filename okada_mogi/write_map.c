/* okada_mogi/write_map.c – a trial on maps: GeoJSON, and files for GMT. */
#include "okada_mogi/write.h"
#include "src/file.h"

/* ---- GeoJSON ----------------------------------------------------------------------------------*/

enum ek_status write_map_check(const struct job *job)
{
    if (job->stations.zone)
        return EK_OK;
    FAIL(EK_USAGE,
         "%s: --geojson is in longitude and latitude: which utm_zone are the stations in?",
         job->path);
}

static json_t *place_json(const struct stations *s, double east, double north)
{
    double at[2];
    stations_place(s, east, north, at);
    return json_pack("[f,f]", at[0], at[1]);
}

static void add_feature(json_t *list, const char *kind, json_t *properties, const char *geometry,
                        json_t *coordinates)
{
    json_object_set_new(properties, "kind", json_string(kind));
    json_array_append_new(list, json_pack("{s:s s:o s:{s:s s:o}}", "type", "Feature", "properties",
                                          properties, "geometry", "type", geometry, "coordinates",
                                          coordinates));
}

/* Rings must be counterclockwise; outlines are clockwise, as they begin with the upper edge along
 * strike and the fault dips to its right. */
static void add_source(const struct job *job, const double *x, int source, json_t *list)
{
    const struct model *m = job->model;
    double corner[MODEL_CORNERS][2];
    const double *own = x + source * m->nparameters;
    const int n = m->outline ? m->outline(m, own, corner) : 0;
    json_auto_t *ring = json_array();
    json_t *parameters = json_object();
    for (int i = 0; i <= n; i++)
        json_array_append_new(
            ring, place_json(&job->stations, corner[(n - i) % n][0], corner[(n - i) % n][1]));
    for (int a = 0; a < job->naxes; a++)
        if (job->source[a] == source && job->name[a])
            json_object_set_new(parameters, m->parameter[job->parameter[a]].name,
                                json_real(x[job_at(job, a)]));
    json_t *o = json_pack("{s:i s:o}", "source", source + 1, "parameters", parameters);
    if (m->moment) {
        const double moment = m->moment(m, own, job->rigidity);
        json_object_set_new(o, "moment_Nm", json_real(moment));
        json_object_set_new(o, "Mw", json_number_or_null(model_magnitude(moment)));
    }
    if (n == 1)
        add_feature(list, "source", o, "Point", json_incref(json_array_get(ring, 0)));
    else
        add_feature(list, "source", o, "Polygon", json_pack("[O]", ring));
}

static void add_station(const struct job *job, int i, const double *u, double left, json_t *list)
{
    const struct stations *s = &job->stations;
    const bool scalar = stations_scalar(s, i);
    const struct {
        const char *name;
        const double *x;
    } of[] = {{"observed_m", s->observed}, {"sigma_m", s->sigma}, {"predicted_m", u}};
    json_t *o = json_pack("{s:s}", "site", s->name[i]);
    for (int k = 0; k < 3; k++)
        json_object_set_new(o, of[k].name,
                            scalar ? json_real(of[k].x[3 * i]) : json_numbers(of[k].x + 3 * i, 3));
    if (scalar) {
        json_object_set_new(o, "scene", json_string(s->scene[i]));
        json_object_set_new(o, "residual", json_real(left / s->sigma[3 * i]));
    }
    add_feature(list, "station", o, "Point", place_json(s, s->east[i], s->north[i]));
}

static bool has_vector(const struct stations *s, int i)
{
    return !stations_scalar(s, i) && !isnan(s->observed[3 * i]) && !isnan(s->observed[3 * i + 1]);
}

/* Scale at which the longest vector is a tenth of the stations' extent. */
static double scale_of(const struct stations *s, const double *u)
{
    double longest = 0, extent = 0;
    for (int i = 0; i < s->n; i++) {
        extent = fmax(extent, hypot(s->east[i] - s->east[0], s->north[i] - s->north[0]));
        if (has_vector(s, i))
            longest = fmax(longest, fmax(hypot(u[3 * i], u[3 * i + 1]),
                                         hypot(s->observed[3 * i], s->observed[3 * i + 1])));
    }
    return longest > 0 && extent > 0 ? extent / longest / 10 : 1;
}

static void add_vector(const struct stations *s, int i, const char *kind, const double *u,
                       double scale, json_t *list)
{
    const double e = s->east[i], n = s->north[i];
    add_feature(list, kind, json_pack("{s:s s:f}", "site", s->name[i], "scale", scale),
                "LineString",
                json_pack("[o,o]", place_json(s, e, n),
                          place_json(s, e + scale * u[3 * i], n + scale * u[3 * i + 1])));
}

enum ek_status write_geojson(const struct job *job, trial_number trial, const char *path)
{
    const struct stations *s = &job->stations;
    OWNED_MEMORY double *u = NULL;
    double x[JOB_AXES];
    TRY(write_map_check(job));
    TRY(write_predict(job, trial, &u));
    json_t *list = json_array();
    const double scale = scale_of(s, u);
    job_parameters(job, trial, x);
    for (int k = 0; k < job->nsources; k++)
        add_source(job, x, k, list);
    for (int i = 0; i < s->n; i++)
        add_station(job, i, u, u[3 * s->n + i], list);
    for (int i = 0; i < s->n; i++)
        if (has_vector(s, i)) {
            add_vector(s, i, "observed", s->observed, scale, list);
            add_vector(s, i, "predicted", u, scale, list);
        }
    json_auto_t *root = json_pack("{s:s s:o}", "type", "FeatureCollection", "features", list);
    return json_write(path, root);
}

/* ---- GMT --------------------------------------------------------------------------------------*/

/* factor[0] observed + factor[1] predicted */
static void put_vectors(FILE *out, const struct stations *s, const double *u,
                        const double factor[2])
{
    fprintf(out, "# %s uE_m uN_m sE_m sN_m correlation site\n", s->zone ? "lon lat" : "E_m N_m");
    for (int i = 0; i < s->n; i++) {
        double at[2], v[2];
        if (!has_vector(s, i))
            continue;
        stations_place(s, s->east[i], s->north[i], at);
        for (int c = 0; c < 2; c++)
            v[c] = factor[0] * s->observed[3 * i + c] + factor[1] * u[3 * i + c];
        fprintf(out, "%.12g %.12g %.9g %.9g %.9g %.9g %.6g %s\n", at[0], at[1], v[0], v[1],
                s->sigma[3 * i], s->sigma[3 * i + 1], s->correlation[i], s->name[i]);
    }
}

static void put_outlines(FILE *out, const struct job *job, trial_number trial)
{
    double x[JOB_AXES], corner[MODEL_CORNERS][2], at[2];
    job_parameters(job, trial, x);
    for (int k = 0; k < job->nsources && job->model->outline; k++) {
        const int n = job->model->outline(job->model, x + k * job->model->nparameters, corner);
        fprintf(out, "> source %d\n", k + 1);
        for (int i = 0; i < (n > 1 ? n + 1 : n); i++) {
            stations_place(&job->stations, corner[i % n][0], corner[i % n][1], at);
            fprintf(out, "%.12g %.12g\n", at[0], at[1]);
        }
    }
}

enum ek_status write_psvelo(const struct job *job, trial_number trial, const char *stem)
{
    static const struct {
        const char *ending;
        double factor[2];
    } files[] = {
        {"observed", {1, 0}}, {"predicted", {0, 1}}, {"residual", {-1, 1}}, {"faults", {0}}};
    const size_t room = strlen(stem) + 16;
    OWNED_MEMORY NEW(char, path, room, "%s: out of memory", stem);
    OWNED_MEMORY double *u = NULL;
    TRY(write_predict(job, trial, &u));
    for (int i = 0; i < 4; i++) {
        struct file *f;
        snprintf(path, room, "%s.%s", stem, files[i].ending);
        TRY(file_create(path, &f));
        if (i < 3)
            put_vectors(file_stream(f), &job->stations, u, files[i].factor);
        else
            put_outlines(file_stream(f), job, trial);
        TRY(file_finish(f));
    }
    return EK_OK;
}
