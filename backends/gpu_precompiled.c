/* backends/gpu_precompiled.c – precompiled code beside the binary, so that the first kernel starts
 * without a compiler; it can be made on a machine without any GPU.
 *
 * Entries have the format of the cache, whose key does not include the compiler. */
#include "backends/cache.h"
#include "backends/gpu.h"
#include "src/owned.h"
#include "src/self.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cache_key gpu_code_key(const struct gpu_vendor *v, const char *text, const char *options,
                              const char *target)
{
    const char *const parts[] = {v->name, text, options, target};
    return cache_key(parts, sizeof parts / sizeof *parts);
}

/* Bytes before the code: the maker, padded with zeros to keep the code aligned. */
static size_t signature_size(const char *maker, size_t most)
{
    enum { CODE_ALIGNED = 64 };
    return (strnlen(maker, most) / CODE_ALIGNED + 1) * CODE_ALIGNED;
}

size_t gpu_code_begin(const unsigned char *code, size_t size)
{
    return signature_size((const char *)code, size);
}

enum ek_status gpu_code_sign(const char *label, const char *maker, struct gpu_code *made)
{
    const size_t skip = signature_size(maker, strlen(maker));
    unsigned char *both = calloc(skip + made->size + 1, 1);
    if (!both)
        FAIL(EK_UNAVAILABLE, "%s: out of host memory for %zu bytes of code", label, made->size);
    memcpy(both, maker, strlen(maker));
    memcpy(both + skip, made->code, made->size);
    free(made->code);
    made->code = both;
    made->size += skip;
    return EK_OK;
}

/* $CU_KERNEL_CODE, else ../share/evenkeel/code relative to the program's folder. */
static bool folder(char path[PATH_MAX])
{
    static const char share[] = "/share/evenkeel/code";
    const char *set = getenv("CU_KERNEL_CODE");
    if (set)
        return *set && snprintf(path, PATH_MAX, "%s", set) < PATH_MAX;
    if (snprintf(path, PATH_MAX, "%s", self_path()) >= (int)(PATH_MAX - sizeof share))
        return false;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    strcat(path, share);
    return true;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Candidate `i` of the targets that a device can run, best first: its own architecture; for NVIDIA
 * older ones of its generation, then portable code for the same or older ones (which older drivers
 * may refuse); for AMD the name without the settings after the colon. false: no more. */
static bool target_of(const char *arch, int i, char target[80])
{
    enum { OLDEST = 50, GENERATION = 10 };
    int number;
    if (sscanf(arch, "sm_%d", &number) == 1) {
        const int older = number % GENERATION;
        const int of = i <= older ? number - i : number - (i - older - 1);
        snprintf(target, 80, "%s_%d", i <= older ? "sm" : "compute", of);
        return of >= OLDEST;
    }
    snprintf(target, 80, "%.*s", i ? (int)strcspn(arch, ":") : 79, arch);
    return i < 1 + (strchr(arch, ':') != NULL);
}

bool gpu_precompiled_find(const struct gpu_vendor *v, const char *text, const char *options,
                          const char *arch, int *i, struct gpu_code *out)
{
    char path[PATH_MAX], target[80];
    if (!folder(path) || access(path, X_OK))
        return false;
    while (target_of(arch, (*i)++, target)) {
        const struct cache_key key = gpu_code_key(v, text, options, target);
        if (cache_load_from(path, &key, &out->code, &out->size))
            return true;
    }
    return false;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void free_code(struct gpu_code *c)
{
    free(c->code);
    free(c->log);
}

static enum ek_status make(const struct gpu_vendor *v, const char *text, const char *options,
                           const char *target)
{
    char path[PATH_MAX];
    struct gpu_compiler c;
    OWNED(free_code) struct gpu_code made = {0};
    const struct cache_key key = gpu_code_key(v, text, options, target);
    if (!folder(path))
        FAIL(EK_USAGE, "CU_KERNEL_CODE_FOR: set CU_KERNEL_CODE to the folder for the code");
    int n;
    (void)MUTED(gpu_count(v, &n)); /* the driver, if there is one, limits how new the compiler may
                                    * be */
    TRY(gpu_compiler_choose(v, v->name, target, v->found->version / v->major, &c));
    if (strcmp(c.target, target))
        FAIL(EK_UNAVAILABLE, "%s: %s %d.%d cannot compile for %s", v->name, c.library, c.major,
             c.minor, target);
    TRY(gpu_compile(v, v->name, &c, text, options, &made));
    TRY(gpu_code_sign(v->name, c.library, &made));
    return cache_save_to(path, &key, made.code, made.size);
}

static bool is_of(const struct gpu_vendor *v, const char *target)
{
    for (int i = 0; i < 2; i++)
        if (v->targets[i] && !strncmp(target, v->targets[i], strlen(v->targets[i])))
            return true;
    return false;
}

enum ek_status gpu_precompile(const struct gpu_vendor *v, const char *text, const char *options,
                              const char *list)
{
    OWNED_MEMORY char *words = strdup(list);
    char *rest = words;
    for (char *word; words && (word = strsep(&rest, ","));)
        TRY(is_of(v, word) ? make(v, text, options, word) : EK_OK);
    return EK_OK;
}
