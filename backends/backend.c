/* backends/backend.c – the list of back ends; finding devices by name. */
#include "backends/backend.h"

#include "src/opt.h"
#include "src/owned.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BACKEND(symbol) extern const struct backend_ops backend_##symbol;
#include "backends/backend_list.h"
#undef BACKEND

static const struct backend_ops *const list[] = {
#define BACKEND(symbol) &backend_##symbol,
#include "backends/backend_list.h"
#undef BACKEND
};

enum { BACKENDS = sizeof list / sizeof *list, BACKEND_SHARED = 64 /* GPUs of a node */ };

int backend_count(void)
{
    return BACKENDS;
}

const struct backend_ops *backend_at(int i)
{
    return i >= 0 && i < BACKENDS ? list[i] : NULL;
}

const struct backend_ops *backend_find(const char *name)
{
    for (int i = 0; i < BACKENDS; i++)
        if (!strcasecmp(list[i]->name, name))
            return list[i];
    return NULL;
}

/* ---- listing ---- */

/* Counts without printing why there is none; status_message() has the reason. */
static enum ek_status quiet_count(const struct backend_ops *ops, int *n)
{
    *n = 0;
    return MUTED(ops->count(n));
}

static bool quiet_info(struct backend_device d, struct backend_info *info)
{
    return !MUTED(d.ops->info(d.index, info));
}

static void print_libraries(const struct backend_ops *ops, FILE *out)
{
    struct backend_library l[BACKEND_LIBRARIES];
    int n = backend_libraries(ops, l);
    for (int i = 0; i < n; i++)
        fprintf(out, "%-10s %s %s %sloaded%s%s\n", ops->name, l[i].what, l[i].name,
                l[i].loaded ? "" : "not ", l[i].version[0] ? ": " : "", l[i].version);
}

void backend_print(FILE *out)
{
    for (int b = 0; b < BACKENDS; b++) {
        int n;
        print_libraries(list[b], out);
        if (quiet_count(list[b], &n))
            fprintf(out, "%-10s none: %s\n", list[b]->name, status_message());
        for (int i = 0; i < n; i++) {
            struct backend_info info;
            char label[24];
            snprintf(label, sizeof label, "%s:%d", list[b]->name, i);
            if (!quiet_info((struct backend_device){list[b], i}, &info))
                fprintf(out, "%-10s does not respond: %s\n", label, status_message());
            else
                fprintf(out, "%-10s %s%s%s, %d compute units, %.1f GB%s%s%s%s%s%s (%s)\n", label,
                        info.name, info.arch[0] ? ", " : "", info.arch, info.compute_units,
                        1e-9 * (double)info.memory, info.is_cpu ? ", shares the host's cores" : "",
                        info.fp64 ? "" : ", no double precision", info.pci[0] ? ", pci " : "",
                        info.pci, info.uuid[0] ? ", " : "", info.uuid, info.driver);
        }
    }
}

int backend_libraries(const struct backend_ops *ops, struct backend_library *l)
{
    return ops->libraries ? ops->libraries(l, BACKEND_LIBRARIES) : 0;
}

/* ---- names ---- */

/* "opencl:0 (name), opencl:1 (name)" for a message. */
static void list_present(const struct backend_ops *ops, int n, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n && used < room; i++) {
        struct backend_info info = {.name = "?"};
        quiet_info((struct backend_device){ops, i}, &info);
        used += (size_t)snprintf(text + used, room - used, "%s%s:%d (%s)", i ? ", " : "", ops->name,
                                 i, info.name);
    }
}

static enum ek_status check_present(const char *word, struct backend_device d)
{
    int n;
    TRY(d.ops->count(&n));
    if (d.index < n)
        return EK_OK;
    char there[512];
    list_present(d.ops, n, there, sizeof there);
    FAIL(EK_UNAVAILABLE, "devices: there is no '%s'; %s has %d: %s", word, d.ops->name, n, there);
}

static enum ek_status unknown(const char *name)
{
    const char *names[BACKENDS];
    int at;
    for (int i = 0; i < BACKENDS; i++)
        names[i] = list[i]->name;
    return opt_choose("devices: back end", name, names, sizeof *names, BACKENDS, &at);
}

/* Matches "GPU-5ba1…" or the beginning of it; nvidia-smi calls a part of a GPU "MIG-5ba1…". */
static bool has_uuid(const struct backend_info *info, const char *name)
{
    enum { KIND = 4 };
    const bool part = !strncasecmp(name, "MIG-", KIND);
    return info->uuid[0] && !strncasecmp(info->uuid, part ? "GPU-" : name, KIND) &&
           !strncasecmp(info->uuid + KIND, name + KIND, strlen(name + KIND));
}

/* The device with this PCI address ("0000:3b:00.0") or UUID; -1: none, or several. */
static int find_by_name(const struct backend_ops *ops, const char *name)
{
    int n, found = -1;
    if (strlen(name) < 4 || quiet_count(ops, &n))
        return -1;
    for (int i = 0; i < n; i++) {
        struct backend_info info;
        if (!quiet_info((struct backend_device){ops, i}, &info) ||
            (strcasecmp(info.pci, name) && !has_uuid(&info, name)))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* Parses one word "opencl:0", "cuda:0000:3b:00.0" or "cuda:GPU-5ba1". */
static enum ek_status parse_one(char *word, struct backend_device *d)
{
    char *colon = strchr(word, ':');
    long index;
    if (colon)
        *colon = '\0';
    const struct backend_ops *ops = backend_find(word);
    if (!ops && *word)
        return unknown(word);
    if (colon)
        *colon = ':';
    if (ops && colon && !opt_integer(colon + 1, 0, 1 << 20, &index))
        index = find_by_name(ops, colon + 1);
    if (!ops || !colon || index < 0)
        FAIL(EK_USAGE,
             "devices: '%s' does not name a device: write a back end and a number, PCI address or "
             "UUID, as in opencl:0 or cuda:0000:3b:00.0; --list-devices shows them",
             word);
    struct backend_device found = {ops, (int)index};
    TRY(check_present(word, found));
    *d = found;
    return EK_OK;
}

static bool same(struct backend_device a, struct backend_device b)
{
    return a.ops == b.ops && a.index == b.index;
}

static enum ek_status parse_words(char *words, struct backend_device *devices, int max, int *n)
{
    *n = 0;
    for (char *word; (word = strsep(&words, ","));) {
        struct backend_device d;
        TRY(parse_one(word = opt_trim(word), &d));
        for (int i = 0; i < *n; i++)
            if (same(devices[i], d))
                FAIL(EK_USAGE, "devices: '%s' is named twice: name each device once", word);
        if (*n == max)
            FAIL(EK_USAGE, "devices: more than %d devices", max);
        devices[(*n)++] = d;
    }
    return EK_OK;
}

/* ---- auto ---- */

/* The devices that "auto" has selected so far, with their descriptions. */
struct selection {
    struct backend_device *device;
    struct backend_info *info; /* [max] */
    int n, want;
};

/* Whether the GPU is already selected: one GPU may appear in several back ends and platforms, but
 * parts of one GPU (MIG) share its address within a back end and differ in UUID. */
static bool is_selected(const struct selection *g, const struct backend_ops *ops,
                        const struct backend_info *info)
{
    for (int i = 0; i < g->n; i++)
        if (info->pci[0] && !strcmp(info->pci, g->info[i].pci) &&
            (g->device[i].ops != ops || !strcmp(info->uuid, g->info[i].uuid)))
            return true;
    return false;
}

/* Selects the usable devices of one back end: those that share the host's cores, or the others. */
static void select_devices(struct selection *g, const struct backend_ops *ops, bool cpus)
{
    int there;
    if (quiet_count(ops, &there))
        return;
    for (int i = 0; i < there && g->n < g->want; i++) {
        struct backend_device d = {ops, i};
        struct backend_info *info = &g->info[g->n];
        if (!quiet_info(d, info) || !info->fp64 || info->is_cpu != cpus ||
            is_selected(g, ops, info))
            continue;
        g->device[g->n++] = d;
    }
}

static struct {
    int rank, ranks;
} sharing = {0, 1};

void backend_share(int rank, int ranks)
{
    sharing.rank = rank;
    sharing.ranks = ranks > rank ? ranks : 1;
}

/* Moves this process's share of the node's n GPUs to the front: `want` of them, which are others in
 * each process as long as there are enough, or an equal share if want < 0, which is none if there
 * are fewer GPUs than processes. Returns their number. */
static int take_share(struct backend_device *gpu, struct backend_info *info, int n, int want)
{
    const int r = sharing.rank, ranks = sharing.ranks;
    const int begin = (r * n + ranks - 1) / ranks, end = ((r + 1) * n + ranks - 1) / ranks;
    const int first = want >= 0 ? r * want : begin, mine = want >= 0 ? want : end - begin;
    struct backend_device kept[BACKEND_SHARED];
    struct backend_info known[BACKEND_SHARED];
    if (ranks < 2 || n < 1 || n > BACKEND_SHARED)
        return want >= 0 && n > want ? want : n;
    const int m = mine < n ? mine : n;
    for (int i = 0; i < m; i++) {
        kept[i] = gpu[(first + i) % n];
        known[i] = info[(first + i) % n];
    }
    memcpy(gpu, kept, (size_t)m * sizeof *gpu);
    memcpy(info, known, (size_t)m * sizeof *info);
    return m;
}

static enum ek_status parse_auto(int want, struct backend_device *devices, int max, int *n)
{
    const int most = want < 0 || want > max / sharing.ranks ? max : want * sharing.ranks;
    struct selection g = {devices, calloc((size_t)max + 1, sizeof *g.info), 0, most};
    if (!g.info)
        FAIL(EK_UNAVAILABLE, "devices: out of memory");
    for (int b = 0; b < BACKENDS && g.n < g.want; b++)
        if (!list[b]->explicit_only)
            select_devices(&g, list[b], false);
    const bool enough = want < 0 && g.n;
    g.n = take_share(devices, g.info, g.n, want);
    g.want = want < 0 || want > max ? max : want;
    for (int b = 0; b < BACKENDS && g.n < g.want && !enough; b++)
        if (!list[b]->explicit_only)
            select_devices(&g, list[b], true);
    free(g.info);
    if (g.n < want)
        FAIL(EK_UNAVAILABLE,
             "devices: auto found %d of the %d devices asked for: --list-devices shows "
             "what there is",
             g.n, want);
    *n = g.n;
    return EK_OK;
}

enum ek_status backend_parse(const char *text, int want, struct backend_device *devices, int max,
                             int *n)
{
    OWNED_MEMORY char *words = strdup(text);
    if (!words)
        FAIL(EK_UNAVAILABLE, "devices: out of memory");
    if (!strcasecmp(opt_trim(words), "auto"))
        return parse_auto(want, devices, max, n);
    int found;
    TRY(parse_words(words, devices, max, &found));
    *n = found;
    return EK_OK;
}
