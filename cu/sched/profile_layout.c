/* cu/sched/profile_layout.c – stores the best layout found. */
#include "cu/sched/profile_layout.h"
#include "src/checksum.h"

#include <string.h>

static const char FORMAT[] = "evenkeel layout";

enum ek_status profile_layout_path(const struct profile_layout *l, char *path)
{
    char name[96];
    struct checksum c;
    checksum_begin(&c, l->program);
    checksum_add_text(&c, l->problem);
    checksum_add_text(&c, l->cpu);
    checksum_add_text(&c, l->offered);
    checksum_add(&c, &l->cores, sizeof l->cores);
    snprintf(name, sizeof name, "%s-layout", l->program);
    return checksummed_path(name, checksum_end(&c), path);
}

enum ek_status profile_layout_save(const struct profile_layout *l, const char *path)
{
    json_auto_t *root = json_pack("{s:s s:i s:s s:s s:s s:s s:i s:s s:s s:f s:i}", "format", FORMAT,
                                  "version", PROFILE_LAYOUT_VERSION, "program", l->program,
                                  "problem", l->problem, "cpu", l->cpu, "offered", l->offered,
                                  "cores", l->cores, "layout", cu_layout_text(&l->layout),
                                  "devices", l->devices, "steps_per_s", l->rate, "tried", l->tried);
    if (!root)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", path);
    return checksummed_write(path, root);
}

static enum ek_status from_json(const char *path, json_t *root, struct profile_layout *l)
{
    const char *program, *problem, *cpu, *offered, *layout, *devices;
    if (json_unpack(root, "{s:s s:s s:s s:s s:i s:s s:s s:F s:i}", "program", &program, "problem",
                    &problem, "cpu", &cpu, "offered", &offered, "cores", &l->cores, "layout",
                    &layout, "devices", &devices, "steps_per_s", &l->rate, "tried", &l->tried))
        FAIL(EK_USAGE, "%s: a member of the layout is missing", path);
    snprintf(l->program, sizeof l->program, "%s", program);
    snprintf(l->problem, sizeof l->problem, "%s", problem);
    snprintf(l->cpu, sizeof l->cpu, "%s", cpu);
    snprintf(l->offered, sizeof l->offered, "%s", offered);
    snprintf(l->devices, sizeof l->devices, "%s", devices);
    return cu_layout_parse(layout, &l->layout);
}

static enum ek_status read_file(const char *path, struct profile_layout *l)
{
    json_auto_t *root = NULL;
    *l = (struct profile_layout){0};
    TRY(checksummed_read(path, FORMAT, PROFILE_LAYOUT_VERSION, &root));
    return from_json(path, root, l);
}

enum ek_status profile_layout_load(const char *path, struct profile_layout *l)
{
    struct profile_layout found;
    TRY(read_file(path, &found));
    if (strcmp(found.program, l->program) || strcmp(found.problem, l->problem) ||
        strcmp(found.cpu, l->cpu) || strcmp(found.offered, l->offered) || found.cores != l->cores)
        FAIL(EK_USAGE, "%s: layout is for %s %s on %d cores of %s, devices %s", path, found.program,
             found.problem, found.cores, found.cpu, *found.offered ? found.offered : "none");
    *l = found;
    return EK_OK;
}

bool profile_layout_list(FILE *out, const char *path)
{
    struct profile_layout l;
    if (read_file(path, &l))
        return false;
    fprintf(out, "%s %s, %d cores of %s%s%s: layout %s%s%s, best of %d\n         %s\n", l.program,
            l.problem, l.cores, l.cpu, *l.offered ? ", " : "", l.offered, cu_layout_text(&l.layout),
            *l.devices ? " " : "", l.devices, l.tried, path);
    return true;
}
