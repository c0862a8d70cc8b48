/* tests/fakegpu/pocl.c – PoCL, which compiles and runs the fake devices' kernels, and their
 * settings.
 */
#include "tests/fakegpu/fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pocl pocl;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find_functions(void)
{
    static const struct {
        const char *name;
        size_t at;
    } table[] = {
#define X(name) {"cl" #name, offsetof(struct pocl, name)},
        POCL_FUNCTIONS(X)
#undef X
            {"clSetKernelArgSVMPointer", offsetof(struct pocl, SetKernelArgSVMPointer)},
    };
    void *handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; handle && i < sizeof table / sizeof *table; i++) {
        void *function = dlsym(handle, table[i].name);
        if (!function)
            return false;
        memcpy((char *)&pocl + table[i].at, &function, sizeof function);
    }
    return handle;
}

static void open_once(void)
{
    enum { PLATFORMS = 16 };
    cl_platform_id platform[PLATFORMS];
    cl_uint n = 0, found = 0;
    cl_device_id cpu = NULL;
    if (!find_functions() || pocl.GetPlatformIDs(PLATFORMS, platform, &n))
        return;
    for (cl_uint i = 0; i < n && i < PLATFORMS && !found; i++)
        if (pocl.GetDeviceIDs(platform[i], CL_DEVICE_TYPE_CPU, 1, &cpu, &found))
            found = 0;
    if (!found)
        return;
    char version[256] = "";
    pocl.GetDeviceInfo(cpu, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    if (strstr(version, "-x86_64-") && strstr(version, "-generic")) /* see backends/opencl_find.c */
        return;
    pocl.GetDeviceInfo(cpu, CL_DRIVER_VERSION, sizeof version - 1, version, NULL);
    pocl.version = atoi(version);
    /* For 6 see backends/opencl_find.c. By what vectorizes, 5 takes the index that lu_blocks reads
     * after a barrier for the same in all work-items. */
    if (pocl.version >= 5)
        setenv("POCL_WORK_GROUP_METHOD", pocl.version == 6 ? "cbs" : "workitemloops", 0);
    setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-kernel-arg-info", 0); /* the driver asks for it */
    pocl.context = pocl.CreateContext(NULL, 1, &cpu, NULL, NULL, NULL);
    if (pocl.context)
        pocl.device = cpu;
}

const struct pocl *pocl_open(void)
{
    pthread_once(&once, open_once);
    return pocl.device ? &pocl : NULL;
}

/* Keeps the options that OpenCL also has, in the words of backends/opencl_build.c: then PoCL need
 * not compile again what it has compiled for OpenCL. */
static void select_options(const char *options, char *words, size_t room)
{
    cl_device_fp_config single = 0;
    pocl.GetDeviceInfo(pocl.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, NULL);
    size_t at = (size_t)snprintf(words, room, "-cl-std=CL1.2%s",
                                 single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
                                     ? " -cl-fp32-correctly-rounded-divide-sqrt"
                                     : "");
    while (*options) {
        int length = (int)strcspn(options, " ");
        if (!strncmp(options, "-D", 2) || !strncmp(options, "-cl-", 4) ||
            !strncmp(options, "-w ", 3))
            at += (size_t)snprintf(words + at, room - at, " %.*s", length, options);
        options += length + (options[length] == ' ');
    }
}

cl_program pocl_build(const char *text, const char *options, char **log)
{
    char words[2048];
    size_t size = 0;
    cl_int code;
    *log = NULL;
    select_options(options, words, sizeof words);
    cl_program p = pocl.CreateProgramWithSource(pocl.context, 1, &text, NULL, &code);
    if (code)
        return NULL;
    if (!pocl.BuildProgram(p, 1, &pocl.device, words, NULL, NULL))
        return p;
    pocl.GetProgramBuildInfo(p, pocl.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    *log = calloc(size + 1, 1);
    if (*log)
        pocl.GetProgramBuildInfo(p, pocl.device, CL_PROGRAM_BUILD_LOG, size, *log, NULL);
    pocl.ReleaseProgram(p);
    return NULL;
}

long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

bool fault_due(const char *what, int device, long call)
{
    const char *at = getenv("FAKEGPU_FAULT");
    while (at && *at) {
        char name[16] = "";
        long number = 0;
        int only = device;
        sscanf(at, "%15[a-z]:%ld@%d", name, &number, &only);
        if (!strcmp(name, what) && number == call && only == device)
            return true;
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return false;
}
