/* okada_mogi/write_page.c – data of the report's figures. */
#include "okada_mogi/write.h"

/* ---- the map ----------------------------------------------------------------------------------*/

/* u [stations][3]: predictions, NULL: none. */
static json_t *stations_json(const struct stations *s, const double *u)
{
    json_t *list = json_array();
    for (int i = 0; i < s->n; i++)
        if (!stations_scalar(s, i))
            json_array_append_new(list,
                                  json_pack("{s:s s:f s:f s:o s:o s:o}", "name", s->name[i], "east",
                                            s->east[i], "north", s->north[i], "observed",
                                            json_numbers(s->observed + 3 * i, 3), "sigma",
                                            json_numbers(s->sigma + 3 * i, 3), "predicted",
                                            u ? json_numbers(u + 3 * i, 3) : json_null()));
    return list;
}

static json_t *outlines_json(const struct job *job, trial_number trial)
{
    double x[JOB_AXES], corner[MODEL_CORNERS][2];
    json_t *sources = json_array();
    job_parameters(job, trial, x);
    for (int s = 0; s < job->nsources && job->model->outline; s++) {
        const int n = job->model->outline(job->model, x + s * job->model->nparameters, corner);
        json_t *corners = json_array();
        for (int i = 0; i < n; i++)
            json_array_append_new(corners, json_pack("[f,f]", corner[i][0], corner[i][1]));
        json_array_append_new(sources, corners);
    }
    return sources;
}

/* ---- histograms -------------------------------------------------------------------------------*/

static json_t *column_json(const struct stats *s, int column)
{
    const struct stats_column *c = &s->column[column];
    const int together = (c->nbins - 1) / (c->axis < 0 ? WRITE_BINS / 2 : WRITE_BINS) + 1;
    const double first = stats_value(s, column, (double)c->low);
    const double next = stats_value(s, column, (double)(c->low + together * c->stride));
    json_t *trials = json_array(), *weight = json_array(), *least = json_array();
    for (int begin = 0; begin < c->nbins; begin += together) {
        double n = 0, w = 0, misfit = INFINITY;
        for (int b = begin; b < begin + together && b < c->nbins; b++) {
            n += c->sum[STATS_ALIKE][b];
            w += c->sum[STATS_LIKELIHOOD][b];
            misfit = fmin(misfit, c->least[b]);
        }
        json_array_append_new(trials, json_real(n));
        json_array_append_new(weight, json_real(w / s->weight));
        json_array_append_new(least, json_number_or_null(misfit));
    }
    return json_pack("{s:s s:f s:f s:o s:o s:o}", "name", c->name, "first", first, "step",
                     next - first, "trials", trials, "weight", weight, "least", least);
}

static void set_bins(json_t *o, const char *axis, const struct stats *s, int column)
{
    const struct stats_column *c = &s->column[column];
    const double first = stats_value(s, column, (double)c->low);
    char name[16];
    json_object_set_new(o, axis, json_string(c->name));
    snprintf(name, sizeof name, "n%s", axis);
    json_object_set_new(o, name, json_integer(c->npair));
    snprintf(name, sizeof name, "%s_first", axis);
    json_object_set_new(o, name, json_real(first));
    snprintf(name, sizeof name, "%s_step", axis);
    json_object_set_new(
        o, name, json_real(stats_value(s, column, (double)(c->low + c->pair_stride)) - first));
}

static json_t *pair_json(const struct stats *s, int a, int b)
{
    const struct stats_pair *cell = stats_pair(s, a, b);
    json_t *o = json_object(), *cells = json_array();
    for (int i = 0; i < STATS_PAIR_BINS * STATS_PAIR_BINS; i++)
        if (cell[i].trials > 0)
            json_array_append_new(cells, json_pack("[i,i,I,f]", i / STATS_PAIR_BINS,
                                                   i % STATS_PAIR_BINS, (json_int_t)cell[i].trials,
                                                   cell[i].weight / s->weight));
    set_bins(o, "x", s, a);
    set_bins(o, "y", s, b);
    json_object_set_new(o, "cells", cells);
    return o;
}

/* ---- all --------------------------------------------------------------------------------------*/

static void add_accepted(const struct job *job, const struct stats *s, json_t *view)
{
    json_t *sample = json_array(), *columns = json_array(), *pairs = json_array();
    for (size_t i = 0; i < s->nsample; i++)
        json_array_append_new(sample, outlines_json(job, s->sample[i]));
    for (int c = 0; c < s->ncolumns; c++)
        json_array_append_new(columns, column_json(s, c));
    for (int a = 0; a < s->npaired; a++)
        for (int b = a + 1; b < s->npaired; b++)
            json_array_append_new(pairs, pair_json(s, a, b));
    json_object_set_new(view, "best", outlines_json(job, s->best.trial));
    json_object_set_new(view, "sample", sample);
    json_object_set_new(view, "columns", columns);
    json_object_set_new(view, "pairs", pairs);
}

enum ek_status write_page(const struct job *job, const struct stats *s, json_t **view)
{
    double *u = NULL;
    if (s)
        TRY(write_predict(job, s->best.trial, &u));
    json_t *made = json_pack("{s:s s:o}", "projection", job->stations.projection, "stations",
                             stations_json(&job->stations, u));
    free(u);
    if (!made)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the report", job->path);
    if (s)
        add_accepted(job, s, made);
    *view = made;
    return EK_OK;
}
