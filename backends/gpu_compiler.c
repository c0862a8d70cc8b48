/* backends/gpu_compiler.c – run-time compilers: chooses one of those installed for a device, and
 * calls it. NVRTC and HIPRTC have the same functions with different prefixes. */
#include "backends/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ARCHS = 64 };

/* A compiler's functions: name without prefix, whether it is optional, parameters. NVRTC has CUBIN
 * (of size 0 if PTX was requested) and PTX, HIPRTC has Code. */
/* clang-format off */
#define FUNCTIONS(X) \
    X(Version, 0, int *major, int *minor) \
    X(GetNumSupportedArchs, 1, int *n) \
    X(GetSupportedArchs, 1, int *archs) \
    X(CreateProgram, 0, void **program, const char *text, const char *name, int nheaders, \
      const char *const *headers, const char *const *names) \
    X(CompileProgram, 0, void *program, int noptions, const char *const *options) \
    X(DestroyProgram, 0, void **program) \
    X(GetProgramLogSize, 0, void *program, size_t *size) \
    X(GetProgramLog, 0, void *program, char *log) \
    X(GetCUBINSize, 1, void *program, size_t *size) \
    X(GetCUBIN, 1, void *program, char *code) \
    X(GetPTXSize, 1, void *program, size_t *size) \
    X(GetPTX, 1, void *program, char *code) \
    X(GetCodeSize, 1, void *program, size_t *size) \
    X(GetCode, 1, void *program, char *code)
/* clang-format on */

struct functions {
#define X(name, optional, ...) int (*name)(__VA_ARGS__);
    FUNCTIONS(X)
#undef X
};

static const struct gpu_symbol symbols[] = {
#define X(name, optional, ...) {offsetof(struct functions, name), #name, optional},
    FUNCTIONS(X)
#undef X
        {0},
};

/* ---- which one ------------------------------------------------------------------------------- */

/* A compiler that could be opened. */
struct candidate {
    struct gpu_compiler c;
    int narch, arch[ARCHS]; /* NVRTC's numbers, 90 for sm_90; HIPRTC does not list them */
};

/* Identifies a build by size and time of the library's file. */
static void identify(const void *function, char *build, size_t room)
{
    Dl_info where;
    struct stat s;
    build[0] = '\0';
    if (dladdr(function, &where) && where.dli_fname && !stat(where.dli_fname, &s))
        snprintf(build, room, "%lld-%lld", (long long)s.st_size, (long long)s.st_mtime);
}

/* Opens the library's name number `i`; false if it does not exist or is not a compiler. */
static bool open_candidate(const struct gpu_vendor *v, int i, struct candidate *k,
                           char why[GPU_WHY])
{
    struct gpu_library one = v->compiler;
    struct functions f;
    void *handle;
    one.names[0] = one.names[i];
    one.names[1] = NULL;
    *k = (struct candidate){.narch = 0};
    if (!gpu_library_open(&one, &handle, k->c.library, why))
        return false;
    const char *missing = gpu_symbols_find(handle, v->compiler_prefix, symbols, &f);
    if (missing || f.Version(&k->c.major, &k->c.minor)) {
        snprintf(why, GPU_WHY, "%s has no %s%s", k->c.library, v->compiler_prefix,
                 missing ? missing : "Version that works");
        return false;
    }
    identify((const void *)f.Version, k->c.build, sizeof k->c.build);
    if (f.GetNumSupportedArchs && f.GetSupportedArchs && !f.GetNumSupportedArchs(&k->narch) &&
        (k->narch > ARCHS || f.GetSupportedArchs(k->arch)))
        k->narch = 0;
    return true;
}

/* Sets the target: the device's own architecture, or the highest one below it, whose code the
 * driver translates. false: the compiler knows only newer ones. */
static bool set_target(struct candidate *k, const char *arch)
{
    int number, below = 0;
    const bool portable = sscanf(arch, "compute_%d", &number) == 1;
    snprintf(k->c.target, sizeof k->c.target, "%s", arch);
    if (!k->narch || (!portable && sscanf(arch, "sm_%d", &number) != 1))
        return true;
    for (int i = 0; i < k->narch; i++) {
        if (k->arch[i] == number)
            return true;
        if (k->arch[i] < number && k->arch[i] > below)
            below = k->arch[i];
    }
    snprintf(k->c.target, sizeof k->c.target, "compute_%d", below);
    return below > 0;
}

/* Better: not newer than the driver, which might refuse its code; then: knows the device. */
enum { BEST = 3 };
static int rank(const struct candidate *k, int driver_major)
{
    const bool fits = !driver_major || k->c.major <= driver_major;
    const bool exact = strncmp(k->c.target, "compute_", 8);
    return 2 * fits + exact;
}

static void add_reason(char all[GPU_WHY], const char *why)
{
    const size_t used = strlen(all);
    snprintf(all + used, GPU_WHY - used, "%s%s", used ? "; " : "", why);
}

enum ek_status gpu_compiler_choose(const struct gpu_vendor *v, const char *label, const char *arch,
                                   int driver_major, struct gpu_compiler *c)
{
    char why[GPU_WHY] = "", all[GPU_WHY] = "";
    int best = -1;
    for (int i = 0; v->compiler.names[i] && best < BEST; i++) {
        struct candidate k;
        if (!open_candidate(v, i, &k, why)) {
            add_reason(all, why);
        } else if (!set_target(&k, arch)) {
            snprintf(why, sizeof why, "%s %d.%d knows sm_%d and newer", k.c.library, k.c.major,
                     k.c.minor, k.arch[0]);
            add_reason(all, why);
        } else if (rank(&k, driver_major) > best) {
            best = rank(&k, driver_major);
            *c = k.c;
        }
    }
    if (best < 0)
        FAIL(EK_UNAVAILABLE, "%s: no run-time compiler for %s (%s): %s", label, arch, all,
             v->compiler_advice);
    return EK_OK;
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* Fetches a result by two calls: its size, then its bytes. */
static unsigned char *fetch_result(void *program, int (*size_of)(void *, size_t *),
                                   int (*get)(void *, char *), size_t *size)
{
    *size = 0;
    if (!size_of || !get || size_of(program, size) || !*size)
        return NULL;
    unsigned char *byte = calloc(*size + 1, 1);
    if (byte && !get(program, (char *)byte))
        return byte;
    free(byte);
    return NULL;
}

static void fetch_code(const struct functions *f, void *program, struct gpu_code *out)
{
    out->code = fetch_result(program, f->GetCUBINSize, f->GetCUBIN, &out->size);
    if (!out->code)
        out->code = fetch_result(program, f->GetPTXSize, f->GetPTX, &out->size);
    if (!out->code)
        out->code = fetch_result(program, f->GetCodeSize, f->GetCode, &out->size);
}

enum ek_status gpu_compiler_run(const char *library, const char *prefix, const char *text,
                                int noptions, const char *const *options, struct gpu_code *out)
{
    struct functions f;
    void *program = NULL, *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    size_t size;
    if (!handle)
        FAIL(EK_UNAVAILABLE, "%s: %s", prefix, dlerror());
    const char *missing = gpu_symbols_find(handle, prefix, symbols, &f);
    if (missing)
        FAIL(EK_UNAVAILABLE, "%s has no %s%s", library, prefix, missing);
    int code = f.CreateProgram(&program, text, "kernels", 0, NULL, NULL);
    if (code)
        FAIL(EK_UNAVAILABLE, "%s: cannot create a program (%s error %d)", library, prefix, code);
    *out = (struct gpu_code){0};
    code = f.CompileProgram(program, noptions, options);
    out->log = (char *)fetch_result(program, f.GetProgramLogSize, f.GetProgramLog, &size);
    if (!code)
        fetch_code(&f, program, out);
    f.DestroyProgram(&program);
    if (!code && !out->code)
        FAIL(EK_UNAVAILABLE, "%s compiled a kernel text but returned no code", library);
    return EK_OK;
}
