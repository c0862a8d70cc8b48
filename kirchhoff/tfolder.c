/* kirchhoff/tfolder.c – folders of travel-time tables. */
#include "kirchhoff/tfolder.h"
#include "cu/rank/cluster.h"
#include "cu/sched/checksummed.h"

static const char format[] = "evenkeel travel times";
enum { VERSION = 2 };

enum ek_status tfolder_make(const char *path, const struct grid *grid, const char *velocity,
                            const struct tfolder_surface *surface, size_t n,
                            const double (*place)[3], struct tfolder **f)
{
    struct tfolder *made = calloc(1, sizeof *made);
    struct tfolder_source *source = calloc(n + 1, sizeof *source);
    if (!made || !source) {
        free(made);
        free(source);
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %zu sources", path, n);
    }
    snprintf(made->path, sizeof made->path, "%s", path);
    snprintf(made->velocity, sizeof made->velocity, "%s", velocity);
    made->grid = *grid;
    made->surface = *surface;
    made->nsources = n;
    made->source = source;
    for (size_t i = 0; i < n; i++) {
        memcpy(source[i].at, place[i], sizeof source[i].at);
        snprintf(source[i].file, sizeof source[i].file, "source-%06zu.tt", i);
    }
    *f = made;
    return EK_OK;
}

void tfolder_close(struct tfolder *f)
{
    if (!f)
        return;
    free(f->source);
    free(f);
}

struct tfolder_total tfolder_total(const struct tfolder *f)
{
    struct tfolder_total t = {.nodes = (double)grid_nodes(&f->grid) * (double)f->nsources};
    for (size_t i = 0; i < f->nsources; i++) {
        t.unfilled += (double)f->source[i].unfilled;
        t.judged += (double)f->source[i].judged;
        t.failing += (double)f->source[i].failing;
    }
    return t;
}

void tfolder_note(struct tfolder *f, size_t source, const struct ttable *t)
{
    struct tfolder_source *s = &f->source[source];
    s->unfilled = t ? t->unfilled : 0;
    s->judged = t ? t->judged : 0;
    s->failing = t ? t->failing : 0;
}

void tfolder_gather(struct tfolder *f)
{
    for (size_t i = 0; i < f->nsources; i++) {
        struct tfolder_source *s = &f->source[i];
        double count[] = {(double)s->unfilled, (double)s->judged, (double)s->failing};
        cluster_sum(count, 3);
        s->unfilled = (size_t)count[0];
        s->judged = (size_t)count[1];
        s->failing = (size_t)count[2];
    }
}

void tfolder_path(const struct tfolder *f, size_t source, char *path)
{
    snprintf(path, 4096, "%s/%s", f->path, f->source[source].file);
}

static bool same_grid(const struct grid *a, const struct grid *b)
{
    bool same = true;
    for (int i = 0; i < 3; i++)
        same =
            same && a->n[i] == b->n[i] && a->origin[i] == b->origin[i] && a->step[i] == b->step[i];
    return same;
}

bool tfolder_fits(const struct tfolder *f, size_t source, const struct ttable *t)
{
    return same_grid(&t->grid, &f->grid) &&
           !memcmp(t->source, f->source[source].at, sizeof t->source) &&
           !strcmp(t->velocity, f->velocity);
}

enum ek_status tfolder_table(const struct tfolder *f, size_t source, struct ttable **t)
{
    char path[4096];
    struct ttable *table;
    tfolder_path(f, source, path);
    TRY(ttable_open(path, &table));
    if (tfolder_fits(f, source, table)) {
        *t = table;
        return EK_OK;
    }
    ttable_close(table);
    FAIL(EK_USAGE, "%s: is a table of another grid, source or velocity than %s/index.json says",
         path, f->path);
}

/* ---- the index --------------------------------------------------------------------------------*/

static json_t *describe_surface(const struct tfolder_surface *s)
{
    if (!s->n[0])
        return json_null();
    return json_pack("{s:[i,i] s:[f,f] s:[f,f] s:f}", "n", s->n[0], s->n[1], "origin", s->origin[0],
                     s->origin[1], "step", s->step[0], s->step[1], "depth", s->depth);
}

static json_t *describe_sources(const struct tfolder *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->nsources; i++) {
        const struct tfolder_source *s = &f->source[i];
        json_array_append_new(
            list, json_pack("{s:[f,f,f] s:s s:I s:I s:I}", "at", s->at[0], s->at[1], s->at[2],
                            "file", s->file, "unfilled", (json_int_t)s->unfilled, "judged",
                            (json_int_t)s->judged, "failing", (json_int_t)s->failing));
    }
    return list;
}

enum ek_status tfolder_write(const struct tfolder *f)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/index.json", f->path);
    json_auto_t *root = json_pack("{s:s s:i s:s s:o s:o s:o}", "format", format, "version", VERSION,
                                  "velocity", f->velocity, "grid", grid_json(&f->grid), "surface",
                                  describe_surface(&f->surface), "sources", describe_sources(f));
    return checksummed_write(path, root);
}

static const struct demand a_number = {0, 1e15, .whole = true};

static enum ek_status read_surface(const char *path, const json_t *o, struct tfolder_surface *s)
{
    double n[2];
    if (!json_is_object(o))
        return EK_OK;
    TRY(grid_list(path, o, "n", 2, &grid_counts, n));
    TRY(grid_list(path, o, "origin", 2, &grid_places, s->origin));
    TRY(grid_list(path, o, "step", 2, &grid_steps, s->step));
    TRY(demand_member(path, "surface", o, "depth", &grid_places, &s->depth));
    s->n[0] = (int)n[0];
    s->n[1] = (int)n[1];
    return EK_OK;
}

static enum ek_status read_source(const char *path, const json_t *o, struct tfolder_source *s)
{
    double unfilled, judged, failing;
    const char *file = json_string_value(json_object_get(o, "file"));
    TRY(grid_list(path, o, "at", 3, &grid_places, s->at));
    TRY(demand_member(path, "sources[]", o, "unfilled", &a_number, &unfilled));
    TRY(demand_member(path, "sources[]", o, "judged", &a_number, &judged));
    TRY(demand_member(path, "sources[]", o, "failing", &a_number, &failing));
    TRY(demand_that(path, file && strlen(file) < sizeof s->file && !strchr(file, '/'), "file",
                    "a file's name"));
    strcpy(s->file, file);
    s->unfilled = (size_t)unfilled;
    s->judged = (size_t)judged;
    s->failing = (size_t)failing;
    return EK_OK;
}

static enum ek_status read_index(const char *path, const json_t *root, struct tfolder *f)
{
    const json_t *list = json_object_get(root, "sources");
    const char *velocity = json_string_value(json_object_get(root, "velocity"));
    const struct tfolder_surface *s = &f->surface;
    TRY(demand_that(path, velocity && strlen(velocity) < sizeof f->velocity, "velocity", "a text"));
    strcpy(f->velocity, velocity);
    TRY(grid_read(path, json_object_get(root, "grid"), &f->grid));
    TRY(read_surface(path, json_object_get(root, "surface"), &f->surface));
    f->nsources = json_array_size(list);
    TRY(demand_that(path, f->nsources > 0, "sources", "a list"));
    TRY(demand_that(path, !s->n[0] || (size_t)s->n[0] * (size_t)s->n[1] == f->nsources, "surface",
                    "as many sources as are listed"));
    f->source = calloc(f->nsources, sizeof *f->source);
    if (!f->source)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %zu sources", path, f->nsources);
    for (size_t i = 0; i < f->nsources; i++)
        TRY(read_source(path, json_array_get(list, i), &f->source[i]));
    return EK_OK;
}

enum ek_status tfolder_open(const char *path, struct tfolder **f)
{
    char index[4096];
    json_auto_t *root = NULL;
    snprintf(index, sizeof index, "%s/index.json", path);
    enum ek_status st = checksummed_read(index, format, VERSION, &root);
    if (st == EK_UNAVAILABLE)
        FAIL(EK_USAGE, "%s: no such file; kirchhoff-tt makes folders of tables", index);
    TRY(st);
    NEW(struct tfolder, made, 1, "%s: out of memory", index);
    snprintf(made->path, sizeof made->path, "%s", path);
    st = read_index(index, root, made);
    return HAND_OUT(st, made, f, tfolder_close);
}
