/* tests/kernels_rtc.c – kernel texts through the compilers that devices get them from, without any
 * device: for tests/kernels.sh.
 *
 *   kernels_rtc list                     paths of the programs' kernel texts
 *   kernels_rtc join TEXT                a text as devices get it
 *   kernels_rtc nvrtc|hiprtc ARCH TEXT DIR
 *                                        compiles it; log to stdout, code to DIR/code and DIR/ptx
 *   kernels_rtc opencl INDEX TEXT        builds it on an OpenCL device
 *
 * Exit: 0 ok, 1 it does not compile, 77 there is no such compiler (the last line says why). */
#include "backends/backend.h"
#include "src/embed.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, MAX_KERNELS = 64 };

static int skip(const char *reason)
{
    puts(reason);
    return SKIPPED;
}

static char *joined(const char *path)
{
    char *text = embed_join(&path, 1);
    if (!text)
        printf("%s: not embedded, or it includes what is not\n", path);
    return text;
}

static int list(void)
{
    for (const struct embed_text *t = embed_texts; t->path; t++)
        if (strstr(t->path, "/kernels/") && strstr(t->path, ".c") && strncmp(t->path, "tests/", 6))
            puts(t->path);
    return 0;
}

static int join(const char *path)
{
    char *text = joined(path);
    if (text)
        fputs(text, stdout);
    free(text);
    return !text;
}

/* ---- NVRTC and HIPRTC: the same functions under two names ---- */

struct rtc {
    const char *name, *libraries[6];
    const char *prefix, *code, *target; /* of functions; name of get…(); option */
    const char *option;
};
static const struct rtc rtcs[] = {
    {"nvrtc",
     {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"},
     "nvrtc",
     "CUBIN",
     "--gpu-architecture=",
     "--ptxas-options=-v"},
    {"hiprtc",
     {"libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so.7", "libamdhip64.so.6",
      "libamdhip64.so.5"},
     "hiprtc",
     "Code",
     "--offload-arch=",
     "-std=c++14"},
};

typedef int create_call(void **, const char *text, const char *name, int, const char **,
                        const char **);
typedef int compile_call(void *, int, const char *const *);
typedef int size_call(void *, size_t *);
typedef int get_call(void *, char *);

struct library {
    void *handle;
    const char *prefix;
};

static void *function(struct library l, const char *name)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s%s", l.prefix, name);
    return dlsym(l.handle, symbol);
}

static struct library library_of(const struct rtc *c)
{
    struct library l = {NULL, c->prefix};
    for (const char *const *name = c->libraries; *name; name++) {
        l.handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (l.handle && function(l, "CreateProgram"))
            return l;
    }
    l.handle = NULL;
    return l;
}

/* Result of get<what>Size and get<what>; the caller frees it, NULL if there is none. */
static char *get(struct library l, void *program, const char *what, size_t *size)
{
    char name[64];
    snprintf(name, sizeof name, "Get%sSize", what);
    size_call *size_of = (size_call *)function(l, name);
    name[strlen(name) - 4] = '\0';
    get_call *bytes_of = (get_call *)function(l, name);
    if (!size_of || !bytes_of || size_of(program, size) || !*size)
        return NULL;
    char *bytes = calloc(*size + 1, 1);
    if (bytes && bytes_of(program, bytes)) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

static int save(struct library l, void *program, const char *what, const char *dir,
                const char *name)
{
    char path[512];
    size_t size = 0;
    char *bytes = get(l, program, what, &size);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *out = bytes ? fopen(path, "wb") : NULL;
    const int failed = !out || fwrite(bytes, 1, size, out) != size;
    if (out)
        fclose(out);
    free(bytes);
    return failed;
}

static int compile(const struct rtc *c, const char *arch, const char *path, const char *dir)
{
    char target[64];
    struct library l = library_of(c);
    if (!l.handle)
        return skip(c->prefix[0] == 'n' ? "libnvrtc.so.13, .12 and .11.2 are not there"
                                        : "neither libhiprtc nor libamdhip64 is there");
    char *text = joined(path);
    void *program = NULL;
    size_t size = 0;
    if (!text || ((create_call *)function(l, "CreateProgram"))(&program, text, path, 0, NULL, NULL))
        return 1;
    snprintf(target, sizeof target, "%s%s", c->target, arch);
    const int failed = ((compile_call *)function(l, "CompileProgram"))(
        program, 2, (const char *const[]){target, c->option});
    char *log = get(l, program, "ProgramLog", &size);
    fputs(log ? log : "", stdout);
    free(log);
    free(text);
    if (failed || save(l, program, c->code, dir, "code"))
        return 1;
    save(l, program, "PTX", dir, "ptx");
    return 0;
}

/* ---- OpenCL: through the back end ---- */

/* The kernels of a text, by their KERNEL() lines; names are allocated and stay. */
static int kernels_of(const char *text, struct backend_kernel *kernel)
{
    int n = 0;
    for (const char *at = text; n < MAX_KERNELS && (at = strstr(at, "\nKERNEL(")); at++) {
        char name[128];
        if (sscanf(at, "\nKERNEL(%127[a-z0-9_],", name) == 1)
            kernel[n++] = (struct backend_kernel){strdup(name), {1, 1, 1}};
    }
    return n;
}

static int build(int index, const char *path)
{
    const struct backend_ops *ops = backend_find("opencl");
    struct backend_kernel kernel[MAX_KERNELS];
    struct backend_program *program = NULL;
    struct backend *b = NULL;
    int devices = 0;
    status_mute(+1);
    if (ops->count(&devices) || index >= devices ||
        backend_open((struct backend_device){ops, index}, &b))
        return skip(status_message());
    status_mute(-1);
    char *text = joined(path);
    int failed = !text || backend_build(b, text, "", kernel, kernels_of(text, kernel), &program);
    printf("%s\n", b->info.name);
    if (!failed)
        backend_unbuild(b, program);
    backend_close(b);
    free(text);
    return failed;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (!strcmp(verb, "list"))
        return list();
    if (argc == 3 && !strcmp(verb, "join"))
        return join(argv[2]);
    if (argc == 4 && !strcmp(verb, "opencl"))
        return build(atoi(argv[2]), argv[3]);
    for (size_t i = 0; argc == 5 && i < sizeof rtcs / sizeof *rtcs; i++)
        if (!strcmp(verb, rtcs[i].name))
            return compile(&rtcs[i], argv[2], argv[3], argv[4]);
    fprintf(stderr, "usage: kernels_rtc list | join TEXT | nvrtc|hiprtc ARCH TEXT DIR | "
                    "opencl INDEX TEXT\n");
    return 2;
}
