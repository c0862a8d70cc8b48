/* backends/gpu_library.c – opens a vendor's library, wherever it is, and finds its functions. */
#include "backends/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Whether dlopen() failed only because this file does not exist, rather than one it depends on. */
static bool only_missing(const char *words, const char *path)
{
    return !strncmp(words, path, strlen(path)) && strstr(words, "No such file");
}

static bool open_path(const char *path, void **handle, char why[GPU_WHY])
{
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle)
        return true;
    const char *words = dlerror();
    if (!only_missing(words, path))
        snprintf(why, GPU_WHY, "%s", words);
    return false;
}

static void list_names(const struct gpu_library *l, char text[GPU_WHY])
{
    size_t at = 0;
    for (int i = 0; l->names[i]; i++)
        at += (size_t)snprintf(text + at, GPU_WHY - at, "%s%s", i ? ", " : "", l->names[i]);
    snprintf(text + at, GPU_WHY - at, " not found");
}

/* Searches the places after the loader's own path. */
static bool open_elsewhere(const struct gpu_library *l, const char *name, void **handle,
                           char path[GPU_LIBRARY_NAME], char why[GPU_WHY])
{
    const char *home = l->home ? getenv(l->home) : NULL;
    const char *const folder[][2] = {
        {home, "/lib64"}, {home, "/lib"}, {l->folders[0], ""}, {l->folders[1], ""}};
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++)
        if (folder[i][0] && *folder[i][0] &&
            snprintf(path, GPU_LIBRARY_NAME, "%s%s/%s", folder[i][0], folder[i][1], name) <
                GPU_LIBRARY_NAME &&
            open_path(path, handle, why))
            return true;
    return false;
}

bool gpu_library_open(const struct gpu_library *l, void **handle, char name[GPU_LIBRARY_NAME],
                      char why[GPU_WHY])
{
    list_names(l, why);
    for (int i = 0; l->names[i]; i++) {
        snprintf(name, GPU_LIBRARY_NAME, "%s", l->names[i]);
        if (open_path(name, handle, why) || open_elsewhere(l, l->names[i], handle, name, why))
            return true;
    }
    return false;
}

const char *gpu_symbols_find(void *handle, const char *prefix, const struct gpu_symbol *symbols,
                             void *to)
{
    for (const struct gpu_symbol *s = symbols; s->name; s++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", prefix, s->name);
        void *function = dlsym(handle, name);
        if (!function && !s->optional)
            return s->name;
        memcpy((char *)to + s->at, &function, sizeof function);
    }
    return NULL;
}
