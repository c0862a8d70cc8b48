/* backends/host.c – the test oracle: "devices" whose memory comes from malloc() and whose kernels
 * are the same texts, compiled by the host compiler and called once per work-item. Slow,
 * synchronous and strict: fresh memory is NaN.
 *
 * CU_HOST_FAULT=launch:3 makes every device fail at its third launch, CU_HOST_FAULT=read:1@2 only
 * host:2 at its first read; from then on all its calls fail, as on a lost device. */
#include "backends/backend.h"

#include "src/embed.h"
#include "src/kernel.h"
#include "src/opt.h"
#include <ffi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

enum { DEVICES = 4, MAX_GROUP = 1024 };

/* The operations that CU_HOST_FAULT can make fail. */
enum verb { ALLOC, WRITE, READ, COPY, BUILD, LAUNCH, WAIT, VERBS };
static const char *const verb_name[VERBS] = {"alloc", "write",  "read", "copy",
                                             "build", "launch", "wait"};

struct host {
    char label[24];
    size_t memory, used;
    bool recorded[BACKEND_EVENTS];
    enum verb fault; /* VERBS: none */
    long fault_at;   /* which call of its kind fails, from 1 */
    long calls[VERBS];
    bool lost;
};

struct memory {
    struct backend_mem is;
    _Alignas(64) unsigned char byte[];
};

struct program {
    struct backend_program is;
    const struct embed_host_kernel *code[]; /* [nkernels] */
};

/* ---- faults ---- */

/* "launch:3" or "launch:3@0". */
static bool parse_fault(const char *text, int index, struct host *h)
{
    char word[32];
    long at, only = index;
    snprintf(word, sizeof word, "%s", text);
    char *device = strchr(word, '@'), *number = strchr(word, ':');
    if (!number || (device && device < number))
        return false;
    if (device)
        *device++ = '\0';
    *number++ = '\0';
    if (!opt_integer(number, 1, 1L << 40, &at) ||
        (device && !opt_integer(device, 0, DEVICES - 1, &only)))
        return false;
    enum verb v = 0;
    while (v < VERBS && strcmp(verb_name[v], word))
        v++;
    if (only == index) {
        h->fault = v;
        h->fault_at = at;
    }
    return v < VERBS;
}

/* Counts a call; once one has failed, all fail. */
static enum ek_status alive(struct host *h, enum verb v)
{
    h->calls[v]++;
    if (v == h->fault && h->calls[v] == h->fault_at)
        h->lost = true;
    if (h->lost)
        FAIL(EK_LOST, "%s: the device was lost (CU_HOST_FAULT) before %s %ld", h->label,
             verb_name[v], h->calls[v]);
    return EK_OK;
}

/* ---- devices ---- */

static enum ek_status count(int *n)
{
    *n = DEVICES;
    return EK_OK;
}

static enum ek_status info(int index, struct backend_info *out)
{
    if (index < 0 || index >= DEVICES)
        FAIL(EK_UNAVAILABLE, "host:%d: there is no such device, host has %d", index, DEVICES);
    struct sysinfo machine;
    sysinfo(&machine);
    size_t memory = machine.totalram * machine.mem_unit / DEVICES;
    *out = (struct backend_info){.name = "host compiler",
                                 .driver = __VERSION__,
                                 .memory = memory,
                                 .max_alloc = memory,
                                 .compute_units = 1,
                                 .max_group = MAX_GROUP,
                                 .fp64 = true,
                                 .is_cpu = true};
    return EK_OK;
}

static enum ek_status open(void *dev, int index)
{
    struct host *h = dev;
    struct backend_info about = {0};
    TRY(info(index, &about));
    snprintf(h->label, sizeof h->label, "host:%d", index);
    h->memory = about.memory;
    h->fault = VERBS;
    const char *fault = getenv("CU_HOST_FAULT");
    if (fault && !parse_fault(fault, index, h))
        FAIL(EK_USAGE,
             "CU_HOST_FAULT=%s: write an operation and a number, as in launch:3 or, for "
             "host:1 alone, launch:3@1",
             fault);
    return EK_OK;
}

static void close(void *dev)
{
    (void)dev;
}

/* ---- memory ---- */

static enum ek_status alloc(void *dev, size_t bytes, struct backend_mem **mem)
{
    struct host *h = dev;
    TRY(alive(h, ALLOC));
    if (bytes > h->memory - h->used)
        FAIL(EK_UNAVAILABLE, "%s: %.1f MB of device memory asked for, %.1f of %.1f MB are left",
             h->label, 1e-6 * (double)bytes, 1e-6 * (double)(h->memory - h->used),
             1e-6 * (double)h->memory);
    struct memory *m = NULL;
    if (posix_memalign((void **)&m, _Alignof(struct memory), sizeof *m + bytes))
        FAIL(EK_UNAVAILABLE, "%s: no room for %.1f MB of the %.1f MB left", h->label,
             1e-6 * (double)bytes, 1e-6 * (double)(h->memory - h->used));
    memset(m->byte, 0xff, bytes); /* NaN reveals reading before writing */
    h->used += bytes;
    *mem = &m->is;
    return EK_OK;
}

static void release(void *dev, struct backend_mem *mem)
{
    struct host *h = dev;
    h->used -= mem->bytes;
    free(mem);
}

static unsigned char *bytes_of(struct backend_mem *m)
{
    return m ? ((struct memory *)m)->byte : NULL;
}

static enum ek_status transfer(void *dev, int queue, const struct backend_transfer *t)
{
    static const enum verb verbs[] = {
        [BACKEND_WRITE] = WRITE, [BACKEND_READ] = READ, [BACKEND_WITHIN] = COPY};
    (void)queue;
    TRY(alive(dev, verbs[t->way]));
    backend_move(t->dst ? bytes_of(t->dst) : t->to, t->src ? bytes_of(t->src) : t->from, &t->box);
    return EK_OK;
}

static enum ek_status peer(void *dev, int queue, void *from, const struct backend_transfer *t)
{
    TRY(alive(from, COPY));
    return transfer(dev, queue, t);
}

static void *address(struct backend_mem *mem)
{
    return bytes_of(mem);
}

/* ---- programs ---- */

/* The kernels were compiled with the binary, so options that change the text come too late. */
static enum ek_status check_options(const struct host *h, const char *options)
{
    static const char *const harmless[] = {"-DKERNEL_NO_FMA", "-w", "-Werror"};
    char words[1024], *rest = words;
    snprintf(words, sizeof words, "%s", options);
    for (char *word; (word = strsep(&rest, " "));) {
        bool ok = !*word;
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
            ok = ok || !strcmp(word, harmless[i]);
        if (!ok)
            FAIL(EK_UNAVAILABLE,
                 "%s: the option %s has no effect, its kernels were compiled with the "
                 "program: use another device",
                 h->label, word);
    }
    return EK_OK;
}

static enum ek_status build(void *dev, const char *text, const char *options, int nkernels,
                            struct backend_program **program)
{
    struct host *h = dev;
    (void)text;
    TRY(alive(h, BUILD));
    TRY(check_options(h, options));
    struct program *p = calloc(1, sizeof *p + (size_t)nkernels * sizeof *p->code);
    if (!p)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %d kernels", h->label, nkernels);
    *program = &p->is;
    return EK_OK;
}

static enum ek_status kernel(void *dev, struct backend_program *program, int k)
{
    const struct host *h = dev;
    const char *name = program->kernel[k].name;
    ((struct program *)program)->code[k] = embed_host_find(name);
    if (!embed_host_find(name))
        FAIL(EK_UNAVAILABLE,
             "%s: kernel '%s' is not compiled for the host (its text has a barrier, or is "
             "not embedded): use another device",
             h->label, name);
    return EK_OK;
}

static void unbuild(void *dev, struct backend_program *program)
{
    (void)dev;
    free(program);
}

/* ---- launches ---- */

/* A libffi call: type and address of each argument's value. */
struct call {
    ffi_cif cif;
    ffi_type *type[BACKEND_ARGS];
    void *value[BACKEND_ARGS];
    void *pointer[BACKEND_ARGS]; /* values of BACKEND_MEM arguments */
};

static enum ek_status prepare(const struct host *h, int nargs, const struct backend_arg *args,
                              struct call *c)
{
    static ffi_type *const types[] = {[BACKEND_MEM] = &ffi_type_pointer,
                                      [BACKEND_INT] = &ffi_type_sint,
                                      [BACKEND_LONG] = &ffi_type_slong,
                                      [BACKEND_DOUBLE] = &ffi_type_double};
    for (int i = 0; i < nargs; i++) {
        c->type[i] = types[args[i].type];
        c->value[i] = (void *)&args[i].as;
        if (args[i].type != BACKEND_MEM)
            continue;
        c->pointer[i] = bytes_of(args[i].as.mem);
        c->value[i] = &c->pointer[i];
    }
    if (ffi_prep_cif(&c->cif, FFI_DEFAULT_ABI, (unsigned)nargs, &ffi_type_void, c->type))
        FAIL(EK_LOST, "%s: libffi cannot call a kernel with %d arguments", h->label, nargs);
    return EK_OK;
}

static enum ek_status launch(void *dev, int queue, struct backend_program *program, int k,
                             const size_t groups[3], const struct backend_arg *args)
{
    const struct backend_signature *s = &program->kernel[k];
    struct host *h = dev;
    struct call c;
    int at[3], end[3];
    (void)queue;
    TRY(alive(h, LAUNCH));
    TRY(prepare(h, s->nargs, args, &c));
    for (int d = 0; d < 3; d++)
        end[d] = (int)(groups[d] * s->group[d]);
    for (at[2] = end[2]; at[2]-- > 0;) /* backwards: results must not depend on the order */
        for (at[1] = end[1]; at[1]-- > 0;)
            for (at[0] = end[0]; at[0]-- > 0;) {
                for (int d = 0; d < 3; d++) {
                    kernel_gid[d] = at[d];
                    kernel_lid[d] = at[d] % (int)s->group[d];
                    kernel_group[d] = at[d] / (int)s->group[d];
                }
                ffi_call(&c.cif, ((struct program *)program)->code[k]->call, NULL, c.value);
            }
    return EK_OK;
}

/* ---- events: every call is synchronous ---- */

static enum ek_status record(void *dev, int queue, int event)
{
    struct host *h = dev;
    (void)queue;
    h->recorded[event] = true;
    return EK_OK;
}

static enum ek_status after(void *dev, int queue, int event)
{
    (void)dev;
    (void)queue;
    (void)event;
    return EK_OK;
}

static enum ek_status reach(void *dev, int event)
{
    const struct host *h = dev;
    if (!h->recorded[event])
        FAIL(EK_USAGE, "%s: event %d was never recorded", h->label, event);
    return EK_OK;
}

static enum ek_status wait(void *dev, int queue)
{
    (void)queue;
    return alive(dev, WAIT);
}

const struct backend_ops backend_host = {
    .name = "host",
    .summary = "the host's own compiler, one work-item after another: the tests' oracle",
    .explicit_only = true,
    .dev_size = sizeof(struct host),
    .count = count,
    .info = info,
    .open = open,
    .close = close,
    .alloc = alloc,
    .free = release,
    .transfer = transfer,
    .peer = peer,
    .address = address,
    .build = build,
    .kernel = kernel,
    .unbuild = unbuild,
    .launch = launch,
    .record = record,
    .after = after,
    .reach = reach,
    .wait = wait,
};
