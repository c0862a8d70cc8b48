/* backends/gpu_build.c – compiles kernel texts to modules of a GPU, with a disk cache. */
#include "backends/gpu.h"
#include "src/owned.h"

#include <stdlib.h>
#include <string.h>

enum { MAKER = 640 };

/* Equal devices build the same text at the same time: the first one compiles, the others find its
 * code in the cache. */
static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER;

/* ---- text or cached code to a module --------------------------------------------------------- */

/* Why the driver refused code: its error and its messages from translating or linking. */
struct refusal {
    int code;
    char words[512];
};

static void *load(const struct gpu_state *d, const unsigned char *code, struct refusal *why)
{
    enum { LOG = 5, LOG_SIZE = 6 };
    void *module = NULL, *values[] = {why->words, (void *)(sizeof why->words - 1)};
    int options[] = {LOG, LOG_SIZE};
    memset(why, 0, sizeof *why);
    why->code = d->driver->module_load(&module, code, 2, options, values);
    return why->code ? NULL : module;
}

static enum ek_status load_compiled(const struct gpu_state *d, const struct gpu_compiler *c,
                                    const unsigned char *code, struct gpu_program *p)
{
    struct refusal why;
    char doing[1200];
    p->module = load(d, code, &why);
    if (p->module)
        return EK_OK;
    why.words[strcspn(why.words, "\n")] = '\0';
    snprintf(doing, sizeof doing, "loading code that %s %d.%d made for %s on a driver of %s%s%s",
             c->library, c->major, c->minor, c->target, d->info.driver, why.words[0] ? ": " : "",
             why.words);
    return gpu_check(d, why.code, doing);
}

/* Identifies the compiler and the driver that code was made for; stored before the code in the
 * cache. Only code of the same maker is used, unless there is no compiler. */
static void describe_maker(const struct gpu_state *d, const struct gpu_compiler *c,
                           char maker[MAKER])
{
    snprintf(maker, MAKER, "%s %d.%d %s %s %s", c->library, c->major, c->minor, c->build, c->target,
             d->info.driver);
}

/* Loads existing code if it is from that maker (NULL: any) and the driver accepts it. */
static bool load_existing(const struct gpu_state *d, const char *maker, unsigned char *code,
                          size_t size, struct gpu_program *p)
{
    struct refusal ignored;
    const size_t skip = gpu_code_begin(code, size);
    if (skip < size && (!maker || !strcmp(maker, (const char *)code)))
        p->module = load(d, code + skip, &ignored);
    if (p->module)
        p->image = code;
    else
        free(code);
    return p->module;
}

static enum ek_status compile_module(const struct gpu_state *d, const struct gpu_compiler *c,
                                     const char *maker, const struct cache_key *key,
                                     const char *text, const char *options, struct gpu_program *p)
{
    struct gpu_code made = {0};
    enum ek_status st = gpu_compile(d->vendor, d->label, c, text, options, &made);
    THEN(st, gpu_code_sign(d->label, maker, &made));
    THEN(st, load_compiled(d, c, made.code + gpu_code_begin(made.code, made.size), p));
    if (!st)
        cache_save(key, made.code, made.size);
    if (st)
        free(made.code);
    else
        p->image = made.code;
    free(made.log);
    return st;
}

/* Precompiled, else from the cache, else compiled now. Precompiled code comes first because the
 * others must know the compiler, whose library takes 13 ms to open, and more the first time. */
static enum ek_status make_module(const struct gpu_state *d, const char *text, const char *options,
                                  struct gpu_program *p)
{
    const struct gpu_vendor *v = d->vendor;
    const struct cache_key key = gpu_code_key(v, text, options, d->info.arch);
    const int driver = v->found->version / v->major;
    struct gpu_compiler c;
    struct gpu_code old;
    char maker[MAKER];
    int i = 0;
    while (gpu_precompiled_find(v, text, options, d->info.arch, &i, &old))
        if (load_existing(d, NULL, old.code, old.size, p))
            return EK_OK;
    const enum ek_status lacks = MUTED(gpu_compiler_choose(v, d->label, d->info.arch, driver, &c));
    if (!lacks)
        describe_maker(d, &c, maker);
    if (cache_load(&key, &old.code, &old.size) &&
        load_existing(d, lacks ? NULL : maker, old.code, old.size, p))
        return EK_OK;
    return lacks ? status_repeat(lacks) : compile_module(d, &c, maker, &key, text, options, p);
}

/* ---- kernels --------------------------------------------------------------------------------- */

enum ek_status gpu_kernel(void *dev, struct backend_program *program, int k)
{
    enum { MAX_THREADS = 0 };
    const struct gpu_state *d = dev;
    const struct backend_signature *s = &program->kernel[k];
    const size_t items = s->group[0] * s->group[1] * s->group[2];
    struct gpu_program *p = (struct gpu_program *)program;
    int most = 0;
    TRY(gpu_check(d, d->driver->module_function(&p->function[k], p->module, s->name), s->name));
    if (d->driver->function_attribute(&most, MAX_THREADS, p->function[k]))
        most = d->info.max_group;
    if (most && items > (size_t)most)
        FAIL(EK_UNAVAILABLE, "%s: kernel '%s' needs a work-group of %zu, the device supports %d",
             d->label, s->name, items, most);
    return EK_OK;
}

void gpu_unbuild(void *dev, struct backend_program *program)
{
    const struct gpu_state *d = dev;
    d->vendor->use(d);
    gpu_drain(d);
    d->driver->module_unload(((struct gpu_program *)program)->module);
    free(((struct gpu_program *)program)->image);
    free(program);
}

enum ek_status gpu_build(void *dev, const char *text, const char *options, int nkernels,
                         struct backend_program **program)
{
    const struct gpu_state *d = dev;
    struct gpu_program *p = calloc(1, sizeof *p + (size_t)nkernels * sizeof *p->function);
    if (!p)
        FAIL(EK_UNAVAILABLE, "%s: out of host memory for %d kernels", d->label, nkernels);
    LOCKED(&compiling);
    enum ek_status st = gpu_use(d);
    THEN(st, make_module(d, text, options, p));
    if (st)
        free(p);
    else
        *program = &p->is;
    return st;
}
