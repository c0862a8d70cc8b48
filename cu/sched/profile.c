/* cu/sched/profile.c – makes, writes, reads and compares profiles. */
#include "cu/sched/profile.h"
#include "cu/sched/profile_layout.h"
#include "cu/unit/topology.h"
#include "src/checksum.h"
#include "src/json.h"
#include "src/owned.h"

#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char FORMAT[] = "evenkeel profile";
static const char *const kind_names[] = {[CU_CPU] = "cpu", [CU_DEVICE] = "device"};
static const double LONGEST = 1e9; /* longest plausible task, in seconds */

/* ---- what a profile is for --------------------------------------------------------------------*/
enum ek_status profile_cpu(char *name, size_t room)
{
    OWNED(owned_topology_close) hwloc_topology_t topology = NULL;
    TRY(topology_open(NULL, &topology));
    snprintf(name, room, "%s", topology_model(topology));
    return EK_OK;
}

/* A device is identified by its back end, name and visible compute units. */
static void describe(const struct profile *p, const struct cu *cu, struct profile_kind *kind)
{
    *kind = (struct profile_kind){.kind = cu->kind, .width = cu->width};
    if (!cu->device) {
        snprintf(kind->name, sizeof kind->name, "%s", p->cpu);
        return;
    }
    const struct backend_info *info = &cu->device->info;
    snprintf(kind->name, sizeof kind->name, "%s: %s, %d compute units", cu->device->ops->name,
             info->name, info->compute_units);
}

static bool same_kind(const struct profile_kind *a, const struct profile_kind *b)
{
    return a->kind == b->kind && a->width == b->width && !strcmp(a->name, b->name);
}

static const struct profile_kind *find_kind(const struct profile *p, const struct profile_kind *k)
{
    for (int i = 0; i < p->nkinds; i++)
        if (same_kind(&p->kind[i], k))
            return &p->kind[i];
    return NULL;
}

const struct profile_kind *profile_find(const struct profile *p, const struct cu *cu)
{
    struct profile_kind kind;
    describe(p, cu, &kind);
    return find_kind(p, &kind);
}

enum ek_status profile_open(const char *program, const char *problem, size_t n,
                            const struct cu_set *set, struct profile *p)
{
    *p = (struct profile){.n = n};
    snprintf(p->program, sizeof p->program, "%s", program);
    snprintf(p->problem, sizeof p->problem, "%s", problem);
    TRY(profile_cpu(p->cpu, sizeof p->cpu));
    for (int c = 0; c < set->n; c++) {
        struct profile_kind kind;
        describe(p, &set->cu[c], &kind);
        if (find_kind(p, &kind))
            continue;
        if (p->nkinds == PROFILE_KINDS)
            FAIL(EK_UNAVAILABLE, "profile: more than %d kinds of units", PROFILE_KINDS);
        p->kind[p->nkinds++] = kind;
    }
    return EK_OK;
}

void profile_close(struct profile *p)
{
    arena_free(&p->arena);
    *p = (struct profile){0};
}

static double mean_seconds(const struct profile *p, enum cu_kind kind)
{
    double sum = 0, count = 0;
    for (int i = 0; i < p->nkinds; i++)
        for (size_t t = 0; p->kind[i].kind == kind && p->kind[i].seconds && t < p->n; t++) {
            sum += p->kind[i].seconds[t];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

double profile_factor(const struct profile *p)
{
    return mean_seconds(p, CU_CPU) / mean_seconds(p, CU_DEVICE);
}

/* ---- places -----------------------------------------------------------------------------------*/
static uint64_t key_of(const struct profile *p)
{
    char text[64];
    struct checksum c;
    checksum_begin(&c, p->program);
    checksum_add_text(&c, p->problem);
    checksum_add_text(&c, p->cpu);
    for (int i = 0; i < p->nkinds; i++) {
        snprintf(text, sizeof text, "%d %d", p->kind[i].kind, p->kind[i].width);
        checksum_add_text(&c, text);
        checksum_add_text(&c, p->kind[i].name);
    }
    return checksum_end(&c);
}

enum ek_status profile_path(const struct profile *p, char *path)
{
    return checksummed_path(p->program, key_of(p), path);
}

/* ---- writing ----------------------------------------------------------------------------------*/
static json_t *kind_json(const struct profile *p, const struct profile_kind *k)
{
    return json_pack("{s:s s:s s:i s:o}", "kind", kind_names[k->kind], "name", k->name, "width",
                     k->width, "seconds", json_numbers(k->seconds, p->n));
}

static json_t *to_json(const struct profile *p)
{
    json_t *kinds = json_array();
    for (int i = 0; i < p->nkinds; i++)
        json_array_append_new(kinds, kind_json(p, &p->kind[i]));
    return json_pack("{s:s s:i s:s s:s s:s s:I s:o s:o}", "format", FORMAT, "version",
                     PROFILE_VERSION, "program", p->program, "problem", p->problem, "cpu", p->cpu,
                     "tasks", (json_int_t)p->n, "pcf", json_number_or_null(profile_factor(p)),
                     "kinds", kinds);
}

enum ek_status profile_save(const struct profile *p, const char *path)
{
    for (int i = 0; i < p->nkinds; i++)
        if (!p->kind[i].seconds)
            FAIL(EK_UNVERIFIED, "%s: no seconds for %s", path, p->kind[i].name);
    json_auto_t *root = to_json(p);
    if (!root)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    return checksummed_write(path, root);
}

/* ---- reading ----------------------------------------------------------------------------------*/
static enum ek_status read_seconds(const char *path, const json_t *list, struct profile *p,
                                   double **seconds)
{
    if (!json_is_array(list) || json_array_size(list) != p->n)
        FAIL(EK_USAGE, "%s: kinds.seconds must have one number for each of %zu tasks", path, p->n);
    double *sec = *seconds = ARENA_NEW(&p->arena, p->n, double);
    TRY(arena_check(&p->arena, "%s: %zu tasks", path, p->n));
    for (size_t t = 0; t < p->n; t++) {
        const json_t *x = json_array_get(list, t);
        sec[t] = json_is_number(x) ? json_number_value(x) : NAN;
        if (!(sec[t] >= 0 && sec[t] <= LONGEST))
            FAIL(EK_USAGE, "%s: kinds.seconds[%zu] is not a time in seconds", path, t);
    }
    return EK_OK;
}

static enum ek_status read_kind(const char *path, const json_t *o, struct profile *p)
{
    const char *kind, *name;
    json_t *seconds;
    struct profile_kind *k = &p->kind[p->nkinds];
    if (p->nkinds == PROFILE_KINDS)
        FAIL(EK_USAGE, "%s: more than %d kinds", path, PROFILE_KINDS);
    if (json_unpack((json_t *)o, "{s:s s:s s:i s:o}", "kind", &kind, "name", &name, "width",
                    &k->width, "seconds", &seconds) ||
        k->width < 1 || (strcmp(kind, "cpu") && strcmp(kind, "device")))
        FAIL(EK_USAGE, "%s: kinds[%d] is not {kind, name, width, seconds}", path, p->nkinds);
    k->kind = strcmp(kind, "cpu") ? CU_DEVICE : CU_CPU;
    snprintf(k->name, sizeof k->name, "%s", name);
    p->nkinds++;
    return read_seconds(path, seconds, p, &k->seconds);
}

static enum ek_status from_json(const char *path, json_t *root, struct profile *p)
{
    const char *program, *problem, *cpu;
    json_int_t n;
    json_t *kinds, *kind;
    size_t i;
    if (json_unpack(root, "{s:s s:s s:s s:I s:o}", "program", &program, "problem", &problem, "cpu",
                    &cpu, "tasks", &n, "kinds", &kinds) ||
        n < 0 || !json_is_array(kinds))
        FAIL(EK_USAGE, "%s: profile lacks program, problem, cpu, tasks or kinds", path);
    p->n = (size_t)n;
    snprintf(p->program, sizeof p->program, "%s", program);
    snprintf(p->problem, sizeof p->problem, "%s", problem);
    snprintf(p->cpu, sizeof p->cpu, "%s", cpu);
    json_array_foreach(kinds, i, kind)
    {
        TRY(read_kind(path, kind, p));
    }
    return EK_OK;
}

enum ek_status profile_read(const char *path, struct profile *p)
{
    struct profile made = {0};
    json_t *root;
    TRY(checksummed_read(path, FORMAT, PROFILE_VERSION, &root));
    enum ek_status st = from_json(path, root, &made);
    json_decref(root);
    if (st)
        profile_close(&made);
    else
        *p = made;
    return st;
}

/* Reports the first difference between a stored profile and the wanted one. */
static enum ek_status compare(const char *path, const struct profile *found,
                              const struct profile *wanted)
{
    const struct {
        const char *what, *found, *wanted;
    } text[] = {{"program", found->program, wanted->program},
                {"problem", found->problem, wanted->problem},
                {"CPU", found->cpu, wanted->cpu}};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (strcmp(text[i].found, text[i].wanted))
            FAIL(EK_USAGE, "%s: profile is for %s '%s', not '%s'", path, text[i].what,
                 text[i].found, text[i].wanted);
    if (found->n != wanted->n)
        FAIL(EK_USAGE, "%s: profile has %zu tasks, not %zu", path, found->n, wanted->n);
    for (int i = 0; i < wanted->nkinds; i++)
        if (!find_kind(found, &wanted->kind[i]))
            FAIL(EK_USAGE, "%s: profile has no times for units of width %d on %s", path,
                 wanted->kind[i].width, wanted->kind[i].name);
    return EK_OK;
}

enum ek_status profile_load(const char *path, struct profile *p)
{
    OWNED(profile_close) struct profile found = {0};
    TRY(profile_read(path, &found));
    TRY(compare(path, &found, p));
    for (int i = 0; i < p->nkinds; i++) {
        const struct profile_kind *from = find_kind(&found, &p->kind[i]);
        p->kind[i].seconds = arena_copy(&p->arena, from->seconds, p->n, sizeof *from->seconds);
        TRY(arena_check(&p->arena, "%zu tasks", p->n));
    }
    return EK_OK;
}

/* ---- the list ---------------------------------------------------------------------------------*/
static void list_file(FILE *out, const char *folder, const char *name)
{
    char path[PROFILE_PATH + 256];
    struct profile p;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    status_mute(1);
    bool listed = profile_layout_list(out, path);
    enum ek_status st = listed ? EK_OK : profile_read(path, &p);
    status_mute(-1);
    if (listed)
        return;
    if (st) {
        fprintf(out, "refused  %s\n", status_message());
        return;
    }
    fprintf(out, "%s %s, %zu tasks, %s", p.program, p.problem, p.n, p.cpu);
    for (int i = 0; i < p.nkinds; i++)
        if (p.kind[i].kind == CU_CPU)
            fprintf(out, ", units of %d core%s", p.kind[i].width, p.kind[i].width > 1 ? "s" : "");
        else if (p.kind[i].width == 1)
            fprintf(out, ", %s", p.kind[i].name);
        else
            fprintf(out, ", %s, fed by %d threads", p.kind[i].name, p.kind[i].width);
    if (isfinite(profile_factor(&p)))
        fprintf(out, ", PCF %.3g", profile_factor(&p));
    fprintf(out, "\n         %s\n", path);
    profile_close(&p);
}

static int is_profile(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end && !strcmp(end, ".json");
}

enum ek_status profile_list(FILE *out)
{
    char folder[PROFILE_PATH];
    struct dirent **entry = NULL;
    TRY(checksummed_folder(folder, sizeof folder));
    int n = scandir(folder, &entry, is_profile, alphasort);
    if (n <= 0)
        fprintf(out, "no profiles in %s; a program's option --profile makes one\n", folder);
    for (int i = 0; i < n; i++) {
        list_file(out, folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return EK_OK;
}
