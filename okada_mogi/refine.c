/* okada_mogi/refine.c – finer grids around accepted trials. */
#include "okada_mogi/refine.h"
#include "src/opt.h"

#include <limits.h>

/* ---- factors ----------------------------------------------------------------------------------*/

/* "4" for all axes, or "dip_deg=4" for one. */
static enum ek_status read_factor(const struct job *job, const char *word, struct refine *r)
{
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : 0;
    const char *names[JOB_AXES];
    char name[80];
    long factor;
    int known = 0;
    if (!opt_integer(equals ? equals + 1 : word, 1, REFINE_MOST, &factor))
        FAIL(EK_USAGE, "--refine-by %s: write a whole number from 1 to %d, or parameter=number",
             word, REFINE_MOST);
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (int a = 0; a < job->naxes; a++) {
        names[a] = job->name[a] ? job->name[a] : "";
        if (equals && strcmp(names[a], name))
            continue;
        r->factor[a] = (int)factor;
        known++;
    }
    if (!known)
        FAIL(EK_USAGE, "--refine-by %s: the job has no parameter '%s'%s", word, name,
             opt_suggest(name, names, job->naxes));
    return EK_OK;
}

enum ek_status refine_begin(const struct job *job, const char *by, struct refine *r)
{
    struct refine made;
    for (int a = 0; a < job->naxes; a++) {
        made.factor[a] = 2;
        made.min[a] = job->axis[a].min;
        made.max[a] = job->axis[a].max;
    }
    OWNED_MEMORY char *words = by ? strdup(by) : NULL;
    char *rest = words;
    if (by && !words)
        FAIL(EK_UNAVAILABLE, "--refine-by: out of memory");
    for (char *word; (word = strsep(&rest, ","));)
        TRY(read_factor(job, word, &made));
    *r = made;
    return EK_OK;
}

/* ---- the grid ---------------------------------------------------------------------------------*/

/* The statistics of an axis; NULL: it does not vary. */
static const struct stats_column *column_of(const struct stats *s, int axis)
{
    for (int c = 0; c < s->ncolumns; c++)
        if (s->column[c].axis == axis)
            return &s->column[c];
    return NULL;
}

/* Rounded to the digits that job files have, so that the written job is the one that is run. */
static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", x);
    return strtod(text, NULL);
}

static json_t *refine_axis(const struct job *job, const struct stats_column *c,
                           const struct refine *r)
{
    const struct trial_axis *axis = &job->axis[c->axis];
    const double step = (axis->max - axis->min) / (double)(axis->n - 1), tolerance = 1e-9 * step;
    long low = c->low, high = c->high; /* places on the job's grid; may become -1 or n */
    if (axis->min + (double)(low - 1) * step >= r->min[c->axis] - tolerance)
        low--;
    if (axis->min + (double)(high + 1) * step <= r->max[c->axis] + tolerance)
        high++;
    return json_pack("{s:s s:f s:f s:I}", "name", c->name, "min", rounded(trial_value(axis, low)),
                     "max", rounded(trial_value(axis, high)), "n",
                     (json_int_t)((high - low) * r->factor[c->axis] + 1));
}

enum ek_status refine_job(const struct job *job, const struct stats *accepted,
                          const struct refine *r, json_t **refined)
{
    json_t *root = json_copy(job->root), *list = json_array();
    for (int a = 0; a < job->naxes; a++) {
        const struct stats_column *c = column_of(accepted, a);
        if (!job->name[a])
            continue;
        json_array_append_new(
            list, c ? refine_axis(job, c, r)
                    : json_pack("{s:s s:f}", "name", job->name[a], "value", job->axis[a].min));
    }
    if (!root || json_object_set_new(root, "parameters", list))
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the refined job", job->path);
    *refined = root;
    return EK_OK;
}

/* ---- the file ---------------------------------------------------------------------------------*/

/* Folder of a file, with links resolved; false: there is none. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    char name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return realpath(name, folder) != NULL;
}

/* A stations file's name, or the object that holds it, with an absolute path; new reference. */
static json_t *seen_from(const json_t *file, const char *folder)
{
    if (json_is_object(file)) {
        json_t *copy = json_deep_copy(file);
        json_object_set_new(copy, "file", seen_from(json_object_get(file, "file"), folder));
        return copy;
    }
    const char *name = json_string_value(file);
    return *name == '/' ? json_string(name) : json_sprintf("%s/%s", folder, name);
}

static json_t *with_stations(const json_t *root, const char *folder)
{
    json_t *copy = json_copy((json_t *)root), *stations = json_object_get(root, "stations"), *file;
    json_t *list = json_array();
    size_t i;
    json_array_foreach(stations, i, file)
    {
        json_array_append_new(list, seen_from(file, folder));
    }
    if (!json_is_array(stations)) {
        json_decref(list);
        list = seen_from(stations, folder);
    }
    json_object_set_new(copy, "stations", list);
    return copy;
}

enum ek_status refine_write(const struct job *job, const json_t *refined, const char *path)
{
    char here[PATH_MAX], there[PATH_MAX];
    if (!strcmp(path, "-") || !folder_of(job->path, here) || !folder_of(path, there) ||
        !strcmp(here, there))
        return json_write_exact(path, refined);
    json_auto_t *moved = with_stations(refined, here);
    return json_write_exact(path, moved);
}
