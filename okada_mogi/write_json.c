/* okada_mogi/write_json.c – trials and statistics as JSON and as text. */
#include "okada_mogi/write.h"

/* ---- trials -----------------------------------------------------------------------------------*/

json_t *write_number(trial_number x)
{
    char text[TRIAL_TEXT];
    return x >> 63 ? json_string(trial_text(x, text)) : json_integer((json_int_t)x);
}

void write_print_number(FILE *out, const json_t *number)
{
    if (json_is_string(number))
        fputs(json_string_value(number), out);
    else
        fprintf(out, "%lld", (long long)json_integer_value(number));
}

/* The network's fitted translation; null: a component that no station has, or out of memory. */
static json_t *translation_json(const struct job *job, trial_number trial)
{
    json_t *list = json_pack("[n,n,n]");
    double *u;
    if (write_predict(job, trial, &u))
        return list;
    for (int k = 0; k < job->scenes.n; k++) {
        const int first = job->scenes.scene[k].datum[0];
        if (!stations_scalar(&job->stations, first / 3))
            json_array_set_new(list, (size_t)first % 3,
                               json_real(u[4 * job->stations.n + first % 3]));
    }
    free(u);
    return list;
}

json_t *write_trial(const struct job *job, const struct accepted_record *record)
{
    double x[JOB_AXES];
    json_t *trial = json_object(), *parameters = json_object();
    job_parameters(job, record->trial, x);
    for (int a = 0; a < job->naxes; a++)
        if (job->name[a])
            json_object_set_new(parameters, job->name[a], json_real(x[job_at(job, a)]));
    json_object_set_new(trial, "index", write_number(record->trial));
    json_object_set_new(trial, "parameters", parameters);
    json_object_set_new(trial, "misfit", json_real(record->misfit));
    json_object_set_new(trial, "chi2", json_real(record->chi2));
    json_object_set_new(trial, "rms_m", json_real(record->rms));
    if (job->scenes.translation)
        json_object_set_new(trial, "translation_m", translation_json(job, record->trial));
    if (job->model->moment) {
        json_object_set_new(trial, "moment_Nm", json_real(job_moment(job, x)));
        json_object_set_new(trial, "Mw", json_number_or_null(job_magnitude(job, x)));
    }
    return trial;
}

/* ---- statistics -------------------------------------------------------------------------------*/

static json_t *percentiles_json(const struct stats_column *c, int w)
{
    char name[16];
    json_t *o = json_object();
    for (int p = 0; p < STATS_PERCENTS; p++) {
        snprintf(name, sizeof name, "%g", stats_percent[p]);
        json_object_set_new(o, name, json_real(c->percentile[w][p]));
    }
    return o;
}

static json_t *column_json(const struct stats_column *c)
{
    json_t *o = json_object(), *weighted = json_object();
    json_object_set_new(o, "min", json_real(c->min));
    json_object_set_new(o, "max", json_real(c->max));
    for (int w = 0; w < STATS_WEIGHTS; w++) {
        json_t *to = w == STATS_ALIKE ? o : weighted;
        json_object_set_new(to, "mean", json_real(c->mean[w]));
        json_object_set_new(to, "sd", json_real(c->sd[w]));
        json_object_set_new(to, "percentiles", percentiles_json(c, w));
    }
    json_object_set_new(o, "weighted", weighted);
    return o;
}

static double covariance(const struct stats *s, int w, int a, int b)
{
    return s->covariance[w][a * s->ncolumns + b];
}

/* 0 if a column does not vary. */
static double correlation(const struct stats *s, int w, int a, int b)
{
    const double sd = s->column[a].sd[w] * s->column[b].sd[w];
    return a == b ? 1 : sd > 0 ? fmax(-1, fmin(1, covariance(s, w, a, b) / sd)) : 0;
}

static json_t *matrix_json(const struct stats *s, int w,
                           double (*entry)(const struct stats *s, int w, int a, int b))
{
    json_t *rows = json_array();
    for (int a = 0; a < s->ncolumns; a++) {
        json_t *row = json_array();
        for (int b = 0; b < s->ncolumns; b++)
            json_array_append_new(row, json_real(entry(s, w, a, b)));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *by_column(const struct stats *s, const double *value)
{
    json_t *o = json_object();
    for (int c = 0; c < s->ncolumns; c++)
        json_object_set_new(o, s->column[c].name, json_real(value[c]));
    return o;
}

static json_t *clusters_json(const struct stats *s)
{
    json_t *largest = json_array();
    for (size_t k = 0; k < s->nclusters && k < STATS_CLUSTERS; k++) {
        const struct stats_cluster *c = &s->cluster[k];
        json_array_append_new(
            largest, json_pack("{s:I s:f s:o s:o s:o s:o}", "trials", (json_int_t)c->trials,
                               "share", (double)c->trials / (double)s->trials, "best",
                               write_trial(s->job, &c->best), "mean", by_column(s, c->mean), "min",
                               by_column(s, c->min), "max", by_column(s, c->max)));
    }
    return json_pack("{s:I s:I s:o}", "count", (json_int_t)s->nclusters, "grid_values_in_a_cell",
                     (json_int_t)s->coarseness, "largest", largest);
}

/* The trials that each k accepts. */
static json_t *levels_json(const struct stats *s)
{
    const struct job_accept *a = &s->job->accept;
    json_t *levels = json_array();
    for (int k = 0; k < a->nk; k++) {
        const struct stats_level *l = &s->level[k];
        json_t *o = json_pack("{s:f s:I}", "k_sigma", a->k[k], "trials", (json_int_t)l->trials);
        json_object_set_new(o, "mean", l->trials ? by_column(s, l->mean) : json_null());
        json_object_set_new(o, "sd", l->trials ? by_column(s, l->sd) : json_null());
        json_array_append_new(levels, o);
    }
    return levels;
}

/* An angle whose values cover the full circle has no ends. */
static bool goes_around(const struct trial_axis *axis, const struct model_parameter *p)
{
    const double step = (axis->max - axis->min) / (double)(axis->n - 1);
    return strstr(p->name, "_deg") && axis->max - axis->min + step > 360 - step / 2;
}

/* Warns if trials are accepted at an end of the job's range, unless it is a limit of the model. */
static void warn_of_edge(const struct stats *s, const struct stats_column *c, bool last,
                         json_t *warnings)
{
    const struct trial_axis *axis = &s->job->axis[c->axis];
    const struct model_parameter *p = &s->job->model->parameter[s->job->parameter[c->axis]];
    const size_t n = last ? c->at_last : c->at_first;
    if (n && !goes_around(axis, p) && (last ? axis->max < p->max : axis->min > p->min))
        json_array_append_new(
            warnings,
            json_sprintf("%s: %zu accepted trial%s at the %s value of its range, %.10g: widen it",
                         c->name, n, n > 1 ? "s" : "", last ? "last" : "first",
                         last ? axis->max : axis->min));
}

static json_t *warnings_json(const struct stats *s)
{
    json_t *warnings = json_array();
    for (int k = 0; k < s->ncolumns; k++)
        if (s->column[k].axis >= 0) {
            warn_of_edge(s, &s->column[k], false, warnings);
            warn_of_edge(s, &s->column[k], true, warnings);
        }
    return warnings;
}

json_t *write_stats(const struct stats *s)
{
    json_t *o = json_object(), *columns = json_array(), *parameters = json_object();
    for (int c = 0; c < s->ncolumns; c++) {
        json_array_append_new(columns, json_string(s->column[c].name));
        json_object_set_new(parameters, s->column[c].name, column_json(&s->column[c]));
    }
    json_object_set_new(o, "trials", json_integer((json_int_t)s->trials));
    json_object_set_new(o, "effective_trials", json_real(s->weight * s->weight / s->squares));
    json_object_set_new(o, "columns", columns);
    json_object_set_new(o, "parameters", parameters);
    json_object_set_new(o, "covariance", matrix_json(s, STATS_ALIKE, covariance));
    json_object_set_new(o, "weighted_covariance", matrix_json(s, STATS_LIKELIHOOD, covariance));
    json_object_set_new(o, "correlation", matrix_json(s, STATS_ALIKE, correlation));
    json_object_set_new(o, "levels", levels_json(s));
    json_object_set_new(o, "clusters", clusters_json(s));
    json_object_set_new(o, "warnings", warnings_json(s));
    return o;
}

/* ---- text -------------------------------------------------------------------------------------*/

static void print_columns(FILE *out, const json_t *s)
{
    static const char *const percent[] = {"5", "25", "50", "75", "95"};
    size_t i;
    json_t *name;
    fprintf(out, "%-14s %12s %10s", "accepted", "mean", "sd");
    for (int p = 0; p < STATS_PERCENTS; p++)
        fprintf(out, " %8s %%", percent[p]);
    fprintf(out, " %13s %10s\n", "weighted mean", "sd");
    json_array_foreach(json_object_get(s, "columns"), i, name)
    {
        const json_t *c =
            json_object_get(json_object_get(s, "parameters"), json_string_value(name));
        const json_t *weighted = json_object_get(c, "weighted");
        fprintf(out, "%-14s %12.7g %10.4g", json_string_value(name), json_number_of(c, "mean"),
                json_number_of(c, "sd"));
        for (int p = 0; p < STATS_PERCENTS; p++)
            fprintf(out, " %10.7g", json_number_of(json_object_get(c, "percentiles"), percent[p]));
        fprintf(out, " %13.7g %10.4g\n", json_number_of(weighted, "mean"),
                json_number_of(weighted, "sd"));
    }
}

static void print_cluster(FILE *out, size_t i, const json_t *cluster)
{
    const json_t *best = json_object_get(cluster, "best");
    const char *name;
    json_t *value;
    const long long trials = json_integer_value(json_object_get(cluster, "trials"));
    fprintf(out, "  %zu: %lld trial%s, best ", i + 1, trials, trials == 1 ? "" : "s");
    write_print_number(out, json_object_get(best, "index"));
    fprintf(out, " with misfit %.4g:", json_number_of(best, "misfit"));
    json_object_foreach(json_object_get(best, "parameters"), name, value)
        fprintf(out, " %s %.7g", name, json_number_value(value));
    fputc('\n', out);
}

void write_print_stats(FILE *out, const json_t *s)
{
    const json_t *clusters = json_object_get(s, "clusters");
    const int count = (int)json_number_of(clusters, "count");
    const long cell = (long)json_number_of(clusters, "grid_values_in_a_cell");
    size_t i;
    json_t *one;
    print_columns(out, s);
    fprintf(out, "%d cluster%s", count, count == 1 ? "" : "s");
    if (cell > 1)
        fprintf(out, " (merged in cells of %ld grid values, as there are so many trials)", cell);
    fputs(count == 1 ? "\n" : ", the largest:\n", out);
    json_array_foreach(json_object_get(clusters, "largest"), i, one)
    {
        if (count > 1 && i < 5)
            print_cluster(out, i, one);
    }
    json_array_foreach(json_object_get(s, "warnings"), i, one)
        fprintf(out, "warning: %s\n", json_string_value(one));
}
