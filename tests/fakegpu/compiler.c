/* tests/fakegpu/compiler.c – fake run-time compilers: PoCL checks the text, and the "compiled code"
 * is the text itself, which the fake driver builds. As the real ones do, NVRTC formats errors in
 * its own way and HIPRTC aborts on an architecture that it does not know. */
#include "tests/fakegpu/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };

struct program {
    char *text, *log, *code;
    bool ptx;
};

static const int archs[] = {50, 60, 70, 75, 80, 86, 89, 90};
enum { ARCHS = sizeof archs / sizeof *archs };

SHOWN(NAME(nvrtcVersion, hiprtcVersion), int *major, int *minor)
{
    *major = FAKE_HIP ? FAKE_HIP : 12;
    *minor = FAKE_HIP ? 2 : 8;
    return OK;
}

#if !FAKE_HIP
SHOWN(nvrtcGetNumSupportedArchs, int *n)
{
    *n = ARCHS;
    return OK;
}

SHOWN(nvrtcGetSupportedArchs, int *list)
{
    memcpy(list, archs, sizeof archs);
    return OK;
}
#endif

SHOWN(NAME(nvrtcCreateProgram, hiprtcCreateProgram), void **program, const char *text,
      const char *name, int nheaders, const char *const *headers, const char *const *names)
{
    struct program *p = calloc(1, sizeof *p);
    if (!p || !name || nheaders || headers || names)
        return INVALID_PROGRAM;
    p->text = strdup(text);
    *program = p;
    return OK;
}

SHOWN(NAME(nvrtcDestroyProgram, hiprtcDestroyProgram), void **program)
{
    struct program *p = *program;
    free(p->text);
    free(p->log);
    free(p->code);
    free(p);
    *program = NULL;
    return OK;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The architecture that the options name; NULL: none. */
static const char *target_of(int n, const char *const *options)
{
    const char *const option = NAME("--gpu-architecture=", "--offload-arch=");
    for (int i = 0; i < n; i++)
        if (!strncmp(options[i], option, strlen(option)))
            return options[i] + strlen(option);
    return NULL;
}

static bool has(int n, const char *const *options, const char *word)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(options[i], word))
            return true;
    return false;
}

/* -DKERNEL_NO_FMA alone does not turn contraction off in these compilers: the option must be there.
 */
static bool lacks_no_fma_option(int n, const char *const *options)
{
    return has(n, options, "-DKERNEL_NO_FMA") &&
           !has(n, options, NAME("--fmad=false", "-ffp-contract=off"));
}

static bool known(const char *target)
{
    int number = 0;
    if (FAKE_HIP)
        return !strncmp(target, "gfx9", 4) && strncmp(target, "gfx94", 5);
    if (sscanf(target, "sm_%d", &number) != 1 && sscanf(target, "compute_%d", &number) != 1)
        return false;
    for (int i = 0; i < ARCHS; i++)
        if (archs[i] == number)
            return true;
    return false;
}

/* Converts PoCL's "error: file:12:5: what" to NVRTC's "file(12): error: what" or HIPRTC's
 * "file:12:5: error: what". */
static char *restyled(char *log)
{
    char *styled = NULL, *rest = log;
    size_t size = 0;
    FILE *out = open_memstream(&styled, &size);
    if (!out)
        return log;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char file[256], what[512];
        int row, column;
        if (sscanf(line, "error: %255[^:]:%d:%d: %511[^\n]", file, &row, &column, what) != 4)
            fprintf(out, "%s\n", line);
        else if (FAKE_HIP)
            fprintf(out, "%s:%d:%d: error: %s\n", file, row, column, what);
        else
            fprintf(out, "%s(%d): error: %s\n", file, row, what);
    }
    fclose(out);
    free(log);
    return styled;
}

/* FAKEGPU_FAULT=build:1: makes the last kernel use an undeclared name. */
static void break_text(char *text)
{
    char *at = text, *last = NULL;
    while ((at = strstr(at, "ID(0)"))) {
        last = at;
        at++;
    }
    if (last)
        memcpy(last, "ID_0 ", 5);
}

SHOWN(NAME(nvrtcCompileProgram, hiprtcCompileProgram), void *program, int n,
      const char *const *options)
{
    struct program *p = program;
    const char *target = target_of(n, options);
    char words[1024] = "";
    for (int i = 0; i < n; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s ", options[i]);
    if (!target || !known(target)) {
        if (FAKE_HIP)
            abort();
        p->log = strdup("error: invalid value for --gpu-architecture");
        return INVALID_OPTION;
    }
    if (lacks_no_fma_option(n, options)) {
        p->log = strdup("error: -DKERNEL_NO_FMA without the option that turns contraction off");
        return INVALID_OPTION;
    }
    if (!pocl_open())
        return INVALID_PROGRAM;
    if (fault_due("build", 0, 1))
        break_text(p->text);
    cl_program built = pocl_build(p->text, words, &p->log);
    if (!built) {
        if (p->log)
            p->log = restyled(p->log);
        return COMPILATION;
    }
    pocl_open()->ReleaseProgram(built);
    p->ptx = !strncmp(target, "compute_", 8);
    return asprintf(&p->code, "%s%s\n%s\n%s", CODE_MAGIC, target, words, p->text) < 0
               ? INVALID_PROGRAM
               : OK;
}

SHOWN(NAME(nvrtcGetProgramLogSize, hiprtcGetProgramLogSize), void *program, size_t *size)
{
    const struct program *p = program;
    *size = p->log ? strlen(p->log) + 1 : 1;
    return OK;
}

SHOWN(NAME(nvrtcGetProgramLog, hiprtcGetProgramLog), void *program, char *log)
{
    const struct program *p = program;
    strcpy(log, p->log ? p->log : "");
    return OK;
}

static int size_of(const struct program *p, size_t *size, bool wanted)
{
    *size = p->code && wanted ? strlen(p->code) + 1 : 0;
    return OK;
}

static int code_of(const struct program *p, char *code)
{
    if (!p->code)
        return INVALID_PROGRAM;
    strcpy(code, p->code);
    return OK;
}

#if FAKE_HIP
SHOWN(hiprtcGetCodeSize, void *program, size_t *size)
{
    return size_of(program, size, true);
}

SHOWN(hiprtcGetCode, void *program, char *code)
{
    return code_of(program, code);
}
#else
SHOWN(nvrtcGetCUBINSize, void *program, size_t *size)
{
    const struct program *p = program;
    return size_of(p, size, !p->ptx);
}

SHOWN(nvrtcGetCUBIN, void *program, char *code)
{
    return code_of(program, code);
}

SHOWN(nvrtcGetPTXSize, void *program, size_t *size)
{
    return size_of(program, size, true);
}

SHOWN(nvrtcGetPTX, void *program, char *code)
{
    return code_of(program, code);
}
#endif
