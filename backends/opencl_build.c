/* backends/opencl_build.c – compiles kernel texts to programs, with a disk cache. */
#include "backends/opencl.h"

#include "backends/build_log.h"
#include "backends/cache.h"
#include "src/owned.h"
#include <stdlib.h>
#include <string.h>

/* ---- the compiler's words ---- */

static char *build_log(const struct opencl_state *d, cl_program p)
{
    size_t size = 0;
    if (opencl.GetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size))
        return NULL;
    char *log = calloc(size + 1, 1);
    if (log)
        opencl.GetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    return log;
}

/* ---- text or cached code to a program ---- */

static enum ek_status compile(const struct opencl_state *d, const char *text, const char *options,
                              cl_program *program)
{
    cl_int code;
    cl_program p = opencl.CreateProgramWithSource(d->context, 1, &text, NULL, &code);
    TRY(opencl_check(d, code, "creating a program"));
    code = opencl.BuildProgram(p, 1, &d->id, options, NULL, NULL);
    char *said = build_log(d, p), *log = build_log_place(said, text);
    build_log_print(d->label, log);
    enum ek_status st = code ? build_log_fail(d->label, log) : EK_OK;
    free(said);
    free(log);
    if (st)
        opencl.ReleaseProgram(p);
    else
        *program = p;
    return st;
}

/* The program from the cache; NULL if it is absent or the driver refuses it. */
static cl_program cached(const struct opencl_state *d, const struct cache_key *key,
                         const char *options)
{
    unsigned char *data;
    size_t size;
    if (!cache_load(key, &data, &size))
        return NULL;
    cl_int code, status = 0;
    const unsigned char *binary = data;
    cl_program p =
        opencl.CreateProgramWithBinary(d->context, 1, &d->id, &size, &binary, &status, &code);
    free(data);
    if (code || status || opencl.BuildProgram(p, 1, &d->id, options, NULL, NULL)) {
        if (!code)
            opencl.ReleaseProgram(p);
        return NULL;
    }
    return p;
}

static void keep(cl_program p, const struct cache_key *key)
{
    size_t size = 0;
    if (!cache_on() ||
        opencl.GetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || !size)
        return;
    OWNED_MEMORY unsigned char *data = malloc(size);
    if (data && !opencl.GetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof data, &data, NULL))
        cache_save(key, data, size);
}

/* PoCL has its own cache, and to export a binary it would compile every kernel again, for
 * work-groups of any size. */
static bool kept_by_driver(const struct opencl_state *d)
{
    return strcasestr(d->info.driver, "pocl") && !getenv("CU_KERNEL_CACHE");
}

static enum ek_status make_program(const struct opencl_state *d, const char *text,
                                   const char *options, cl_program *program)
{
    const char *const parts[] = {"opencl",     text,           options,
                                 d->info.name, d->info.vendor, d->info.driver};
    if (kept_by_driver(d))
        return compile(d, text, options, program);
    struct cache_key key = cache_key(parts, sizeof parts / sizeof *parts);
    cl_program p = cached(d, &key, options);
    if (!p) {
        TRY(compile(d, text, options, &p));
        keep(p, &key);
    }
    *program = p;
    return EK_OK;
}

/* ---- kernels ---- */

enum ek_status opencl_kernel(void *dev, struct backend_program *program, int k)
{
    const struct opencl_state *d = dev;
    struct opencl_program *p = (struct opencl_program *)program;
    const struct backend_signature *s = &program->kernel[k];
    const size_t items = s->group[0] * s->group[1] * s->group[2];
    size_t most = 0;
    cl_int code;
    p->kernel[k] = opencl.CreateKernel(p->program, s->name, &code);
    TRY(opencl_check(d, code, "looking up a kernel"));
    opencl.GetKernelWorkGroupInfo(p->kernel[k], d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most,
                                  &most, NULL);
    if (most && items > most)
        FAIL(EK_UNAVAILABLE, "%s: kernel '%s' needs a work-group of %zu, the device supports %zu",
             d->label, s->name, items, most);
    return EK_OK;
}

void opencl_unbuild(void *dev, struct backend_program *program)
{
    struct opencl_program *p = (struct opencl_program *)program;
    (void)dev;
    for (int k = 0; k < program->nkernels; k++)
        if (p->kernel[k])
            opencl.ReleaseKernel(p->kernel[k]);
    opencl.ReleaseProgram(p->program);
    free(p);
}

/* The option for correctly rounded single-precision / and sqrt. Without it they may be three units
 * in the last place off, also in (float)sqrt((double)x), which NVIDIA's compiler computes in single
 * precision. */
static const char *rounding(const struct opencl_state *d)
{
    cl_device_fp_config single = 0;
    opencl.GetDeviceInfo(d->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, NULL);
    const bool can = single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    return can ? " -cl-fp32-correctly-rounded-divide-sqrt" : "";
}

enum ek_status opencl_build(void *dev, const char *text, const char *options, int nkernels,
                            struct backend_program **program)
{
    const struct opencl_state *d = dev;
    cl_program code;
    char all[1024];
    char number[32] = "";
    if (d->number)
        snprintf(number, sizeof number, " -DEK_DEVICE=%d", d->number);
    if (snprintf(all, sizeof all, "-cl-std=CL1.2%s%s %s", rounding(d), number, options) >=
        (int)sizeof all)
        FAIL(EK_USAGE, "%s: the kernel options are longer than %zu characters: %.40s…", d->label,
             sizeof all, options);
    TRY(make_program(d, text, all, &code));
    struct opencl_program *p = calloc(1, sizeof *p + (size_t)nkernels * sizeof *p->kernel);
    if (!p) {
        opencl.ReleaseProgram(code);
        FAIL(EK_UNAVAILABLE, "%s: out of host memory for %d kernels", d->label, nkernels);
    }
    p->program = code;
    *program = &p->is;
    return EK_OK;
}
