/* kirchhoff/read_job.c – reads job files. */
#include "kirchhoff/microjobs.h"
#include "cu/bench/bench_options.h"
#include "src/demand.h"
#include "src/file.h"

/* The text of a key, "" if absent. */
static enum ek_status text_of(const struct microjobs *j, const char *key, const char **text)
{
    const json_t *value = json_object_get(j->root, key);
    *text = value ? json_string_value(value) : "";
    return demand_that(j->path, *text != NULL, key, "a text");
}

static enum ek_status path_of(const struct microjobs *j, const char *key, char *path)
{
    const char *name;
    TRY(text_of(j, key, &name));
    return file_beside(j->path, name, path, MICROJOBS_PATH - 64);
}

static enum ek_status paths_of(struct microjobs *j)
{
    TRY(path_of(j, "data", j->data));
    TRY(path_of(j, "out", j->out));
    TRY(path_of(j, "raw", j->raw));
    TRY(path_of(j, "work", j->work));
    TRY(demand_that(j->path, *j->data, "data", "given: the file of traces"));
    TRY(demand_that(j->path, *j->out || *j->raw, "out", "given: the image's file"));
    if (!*j->work)
        snprintf(j->work, sizeof j->work, "%.4080s.work", *j->out ? j->out : j->raw);
    return EK_OK;
}

static enum ek_status numbers_of(struct microjobs *j)
{
    static const struct demand count = {.min = 1, .max = 1e6, .whole = true};
    double microjobs = 1, per = 1, concurrent = 0;
    TRY(demand_optional(j->path, "", j->root, "microjobs", &count, &microjobs));
    TRY(demand_optional(j->path, "", j->root, "devices_per_microjob", &count, &per));
    TRY(demand_optional(j->path, "", j->root, "concurrent", &count, &concurrent));
    j->microjobs = (int)microjobs;
    j->per_microjob = (int)per;
    j->concurrent = (int)concurrent;
    return EK_OK;
}

/* Devices and layout; the command line has precedence over the file. */
static enum ek_status units_of(struct microjobs *j, const struct bench_settings *run)
{
    const char *devices, *layout;
    TRY(text_of(j, "devices", &devices));
    TRY(text_of(j, "layout", &layout));
    devices = run->devices ? run->devices : devices;
    snprintf(j->layout, sizeof j->layout, "%s", run->layout ? run->layout : layout);
    if (!strcmp(devices, "auto") || !strcmp(j->layout, "auto"))
        FAIL(EK_USAGE,
             "%s: a job divides layout and devices among its compute processes; name them",
             j->path);
    while (*devices) {
        const size_t n = strcspn(devices, ",");
        TRY(demand_that(j->path, j->ndevices < MICROJOBS_DEVICES && n && n < sizeof *j->device,
                        "devices", "names with commas between them, as opencl:0,opencl:1"));
        snprintf(j->device[j->ndevices++], sizeof *j->device, "%.*s", (int)n, devices);
        devices += n + (devices[n] == ',');
    }
    return EK_OK;
}

/* ---- the command line -------------------------------------------------------------------------*/

static enum ek_status add_word(struct microjobs *j, const char *word)
{
    char **more = realloc(j->word, (size_t)(j->nwords + 2) * sizeof *more);
    if (!more || !(j->word = more, j->word[j->nwords] = strdup(word)))
        FAIL(EK_UNAVAILABLE, "%s: out of memory", j->path);
    j->word[++j->nwords] = NULL;
    return EK_OK;
}

/* Adds "--grid=61x61x151:25"; the value of a flag is true or false. */
static enum ek_status add_option(struct microjobs *j, const char *key, const json_t *value)
{
    char word[MICROJOBS_PATH + 64], path[MICROJOBS_PATH];
    if (json_is_true(value))
        snprintf(word, sizeof word, "--%s", key);
    else if (json_is_number(value))
        snprintf(word, sizeof word, "--%s=%.15g", key, json_number_value(value));
    else if (json_is_string(value) && (!strcmp(key, "tables") || !strcmp(key, "geometry"))) {
        TRY(file_beside(j->path, json_string_value(value), path, MICROJOBS_PATH - 64));
        snprintf(word, sizeof word, "--%s=%s", key, path);
    } else if (json_is_string(value))
        snprintf(word, sizeof word, "--%s=%s", key, json_string_value(value));
    else
        return demand_that(j->path, json_is_false(value), key, "a text, a number, true or false");
    return json_is_false(value) ? EK_OK : add_word(j, word);
}

static enum ek_status words_of(struct microjobs *j)
{
    const char *key;
    json_t *value, *options = json_object_get(j->root, "options");
    TRY(demand_that(j->path, !options || json_is_object(options), "options", "an object"));
    TRY(add_word(j, "kirchhoff-mig"));
    TRY(add_word(j, j->data));
    json_object_foreach(options, key, value) TRY(add_option(j, key, value));
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status fill(struct microjobs *j, const struct bench_settings *run)
{
    TRY(DEMAND_KEYS(j->path, "", j->root, "data", "out", "raw", "work", "options", "devices",
                    "microjobs", "devices_per_microjob", "layout", "about", "concurrent"));
    TRY(paths_of(j));
    TRY(numbers_of(j));
    TRY(units_of(j, run));
    return words_of(j);
}

enum ek_status microjobs_open(const char *path, const struct bench_settings *run,
                              struct microjobs *job)
{
    *job = (struct microjobs){.path = path, .schedule = run->schedule};
    TRY(demand_open(path, &job->root));
    const enum ek_status st = fill(job, run);
    if (st)
        microjobs_close(job);
    return st;
}

void microjobs_close(struct microjobs *job)
{
    for (int i = 0; i < job->nwords; i++)
        free(job->word[i]);
    free(job->word);
    json_decref(job->root);
    *job = (struct microjobs){.path = NULL};
}

void microjobs_part(const struct microjobs *job, int microjob, char *path)
{
    snprintf(path, MICROJOBS_PATH, "%.4000s/part-%04d-of-%04d.image", job->work, microjob,
             job->microjobs);
}
