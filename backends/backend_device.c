/* backends/backend_device.c – an open device: the checks common to all back ends. */
#include "backends/backend.h"
#include "src/clock.h"
#include "src/embed.h"
#include "src/owned.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

enum ek_status backend_open(struct backend_device which, struct backend **b)
{
    struct backend_info info;
    TRY(which.ops->info(which.index, &info));
    struct backend *open = calloc(1, sizeof *open);
    void *dev = calloc(1, which.ops->dev_size);
    enum ek_status st = open && dev ? which.ops->open(dev, which.index)
                                    : status_fail(EK_UNAVAILABLE, "%s:%d: out of memory",
                                                  which.ops->name, which.index);
    if (st) {
        free(dev);
        free(open);
        return st;
    }
    *open = (struct backend){.ops = which.ops, .dev = dev, .index = which.index, .info = info};
    snprintf(open->label, sizeof open->label, "%s:%d", which.ops->name, which.index);
    *b = open;
    return EK_OK;
}

void backend_close(struct backend *b)
{
    if (!b)
        return;
    b->ops->close(b->dev);
    free(b->dev);
    free(b);
}

/* ---- time with work ---- */

static void feed(struct backend *b, int queue)
{
    if (queue == BACKEND_COMPUTE && b->fed_since <= 0)
        b->fed_since = clock_now();
}

double backend_fed(const struct backend *b)
{
    return b->fed + (b->fed_since > 0 ? clock_now() - b->fed_since : 0);
}

enum ek_status backend_wait(struct backend *b, int queue)
{
    const enum ek_status st = b->ops->wait(b->dev, queue);
    if (queue == BACKEND_COMPUTE) {
        b->fed = backend_fed(b);
        b->fed_since = 0;
    }
    return st;
}

/* ---- memory ---- */

enum ek_status backend_alloc(struct backend *b, size_t bytes, struct backend_mem **mem)
{
    TRY(b->ops->alloc(b->dev, bytes, mem));
    (*mem)->owner = b;
    (*mem)->bytes = bytes;
    return EK_OK;
}

void backend_free(struct backend *b, struct backend_mem *mem)
{
    if (mem)
        b->ops->free(b->dev, mem);
}

void backend_use_pool(struct backend *b, const struct backend_pool *pool)
{
    if (b->ops->pool)
        b->ops->pool(b->dev, pool);
}

enum ek_status backend_take(const struct backend *b)
{
    return b->ops->take ? b->ops->take(b->dev) : EK_OK;
}

void *backend_address(const struct backend *b, struct backend_mem *mem)
{
    return mem && b->ops->address ? b->ops->address(mem) : NULL;
}

/* Some drivers abort on buffers of another device, so they are refused here. */
static enum ek_status check_owner(const struct backend *b, const struct backend_mem *m)
{
    if (m && m->owner != b)
        FAIL(EK_USAGE, "%s: a buffer of %s was passed to it", b->label, m->owner->label);
    return EK_OK;
}

static enum ek_status fit(const struct backend *b, const struct backend_rect *box,
                          struct backend_transfer *t)
{
    return backend_box(b->label, box, t->dst ? t->dst->bytes : SIZE_MAX,
                       t->src ? t->src->bytes : SIZE_MAX, &t->box);
}

static enum ek_status transfer(struct backend *b, int queue, const struct backend_rect *box,
                               struct backend_transfer t)
{
    TRY(check_owner(b, t.dst));
    TRY(check_owner(b, t.src));
    TRY(fit(b, box, &t));
    if (!t.box.width)
        return EK_OK;
    feed(b, queue);
    return b->ops->transfer(b->dev, queue, &t);
}

enum ek_status backend_write(struct backend *b, int queue, struct backend_mem *dst, const void *src,
                             const struct backend_rect *box)
{
    return transfer(b, queue, box,
                    (struct backend_transfer){.way = BACKEND_WRITE, .dst = dst, .from = src});
}

enum ek_status backend_read(struct backend *b, int queue, void *dst, struct backend_mem *src,
                            const struct backend_rect *box)
{
    return transfer(b, queue, box,
                    (struct backend_transfer){.way = BACKEND_READ, .src = src, .to = dst});
}

enum ek_status backend_send(struct backend *b, int queue, struct backend_mem *dst, const void *src,
                            size_t bytes)
{
    const struct backend_rect all = backend_linear(0, 0, bytes);
    return backend_write(b, queue, dst, src, &all);
}

enum ek_status backend_fetch(struct backend *b, int queue, void *dst, struct backend_mem *src,
                             size_t bytes)
{
    const struct backend_rect all = backend_linear(0, 0, bytes);
    return backend_read(b, queue, dst, src, &all);
}

enum ek_status backend_within(struct backend *b, int queue, struct backend_mem *dst,
                              struct backend_mem *src, const struct backend_rect *box)
{
    return transfer(b, queue, box,
                    (struct backend_transfer){.way = BACKEND_WITHIN, .dst = dst, .src = src});
}

/* ---- programs ---- */

static enum backend_type type_of(const char *parameter)
{
    static const struct {
        const char *word;
        enum backend_type type;
    } words[] = {{"*", BACKEND_MEM},
                 {"double ", BACKEND_DOUBLE},
                 {"real ", BACKEND_DOUBLE},
                 {"long ", BACKEND_LONG}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(parameter, words[i].word))
            return words[i].type;
    return BACKEND_INT;
}

/* Finds the line "KERNEL(name, x, y, z)" in the text and reads the parameter list after it. */
static enum ek_status read_signature(const char *label, const char *text,
                                     const struct backend_kernel *wanted,
                                     struct backend_signature *s)
{
    const char *name = wanted->name;
    char line[128], list[4096];
    snprintf(line, sizeof line, "\nKERNEL(%s,", name);
    const char *at = strstr(text, line);
    if (!at)
        FAIL(EK_USAGE, "%s: the text has no kernel '%s': check its KERNEL() line", label, name);
    snprintf(s->name, sizeof s->name, "%s", name);
    for (int i = 0; i < 3; i++)
        s->group[i] = (size_t)wanted->group[i];
    const char *from = strchr(strchrnul(at, ')'), '(');
    snprintf(list, sizeof list, "%.*s", from ? (int)strcspn(from, ")") : 0, from ? from : "");
    char *rest = list;
    for (char *word; s->nargs < BACKEND_ARGS && (word = strsep(&rest, ","));)
        s->type[s->nargs++] = type_of(word);
    return EK_OK;
}

static enum ek_status precompile(const char *text, const char *options)
{
    const char *wanted = getenv("CU_KERNEL_CODE_FOR");
    for (int i = 0; wanted && i < backend_count(); i++)
        if (backend_at(i)->precompile)
            TRY(backend_at(i)->precompile(text, options, wanted));
    return EK_OK;
}

enum ek_status backend_build(struct backend *b, const char *text, const char *options,
                             const struct backend_kernel *kernels, int nkernels,
                             struct backend_program **program)
{
    struct backend_program *p;
    TRY(precompile(text, options));
    struct backend_signature *s = calloc((size_t)nkernels + 1, sizeof *s);
    enum ek_status st = s ? b->ops->build(b->dev, text, options, nkernels, &p)
                          : status_fail(EK_UNAVAILABLE, "%s: out of host memory for %d kernels",
                                        b->label, nkernels);
    TRY_OR(st, free(s));
    *p = (struct backend_program){nkernels, s};
    for (int i = 0; i < nkernels && !st; i++) {
        st = read_signature(b->label, text, &kernels[i], &s[i]);
        THEN(st, b->ops->kernel(b->dev, p, i));
    }
    if (st)
        backend_unbuild(b, p);
    else
        *program = p;
    return st;
}

enum ek_status backend_build_texts(struct backend *b, const char *const *paths, int npaths,
                                   const char *options, const struct backend_kernel *kernels,
                                   int nkernels, struct backend_program **program)
{
    OWNED_MEMORY char *text = embed_join(paths, npaths);
    if (!text)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the kernels of %s", b->label, paths[0]);
    return backend_build(b, text, options, kernels, nkernels, program);
}

void backend_unbuild(struct backend *b, struct backend_program *program)
{
    if (!program)
        return;
    free(program->kernel);
    b->ops->unbuild(b->dev, program);
}

static enum ek_status check_args(const struct backend *b, const struct backend_signature *s,
                                 int nargs, const struct backend_arg *args)
{
    if (nargs != s->nargs)
        FAIL(EK_USAGE, "%s: kernel '%s' takes %d arguments, %d were given", b->label, s->name,
             s->nargs, nargs);
    for (int i = 0; i < nargs; i++) {
        if (args[i].type != s->type[i])
            FAIL(EK_USAGE, "%s: argument %d of kernel '%s' is of the wrong type", b->label, i + 1,
                 s->name);
        if (args[i].type == BACKEND_MEM)
            TRY(check_owner(b, args[i].as.mem));
    }
    return EK_OK;
}

enum ek_status backend_launch(struct backend *b, int queue, struct backend_program *program,
                              int kernel, const long global[3], int nargs,
                              const struct backend_arg *args)
{
    const struct backend_signature *s = &program->kernel[kernel];
    size_t groups[3];
    TRY(check_args(b, s, nargs, args));
    for (int i = 0; i < 3; i++) {
        if (global[i] < 0 || global[i] > INT_MAX - (long)s->group[i])
            FAIL(EK_UNAVAILABLE,
                 "%s: kernel '%s' would start %ld work-items in direction %d, at most %d are "
                 "possible: use smaller tasks",
                 b->label, s->name, global[i], i, INT_MAX);
        groups[i] = ((size_t)global[i] + s->group[i] - 1) / s->group[i];
    }
    if (!groups[0] || !groups[1] || !groups[2])
        return EK_OK;
    feed(b, queue);
    return b->ops->launch(b->dev, queue, program, kernel, groups, args);
}

void backend_capture(struct backend *b, enum ek_status (*launches)(void *arg), void *arg,
                     struct backend_graph **graph)
{
    *graph = NULL;
    if (!b->ops->graph_begin || MUTED(b->ops->graph_begin(b->dev)))
        return;
    const bool complete = !MUTED(launches(arg));
    if (MUTED(b->ops->graph_end(b->dev, graph)))
        *graph = NULL;
    if (!complete) {
        backend_graph_free(b, *graph);
        *graph = NULL;
    }
}

enum ek_status backend_graph_start(struct backend *b, struct backend_graph *graph)
{
    feed(b, BACKEND_COMPUTE);
    return b->ops->graph_start(b->dev, graph);
}

void backend_graph_free(struct backend *b, struct backend_graph *graph)
{
    if (graph)
        b->ops->graph_free(b->dev, graph);
}

/* ---- between devices ---- */

/* Copies a box through host memory. */
static enum ek_status copy_rows(struct backend *to, struct backend_mem *dst, struct backend *from,
                                struct backend_mem *src, const struct backend_rect *r, void *rows)
{
    struct backend_rect in = *r, out = *r;
    in.dst_offset = out.src_offset = 0;
    in.dst_row = out.src_row = r->width;
    in.dst_slice = out.src_slice = r->width * r->rows;
    TRY(backend_read(from, BACKEND_COPY, rows, src, &in));
    TRY(backend_wait(from, BACKEND_COPY));
    TRY(backend_write(to, BACKEND_COPY, dst, rows, &out));
    return backend_wait(to, BACKEND_COPY);
}

bool backend_reaches(const struct backend *to, const struct backend *from)
{
    return to->ops == from->ops && to->ops->peer;
}

enum ek_status backend_pull(struct backend *to, int queue, struct backend_mem *dst,
                            struct backend *from, struct backend_mem *src,
                            const struct backend_rect *rect)
{
    struct backend_transfer t = {.way = BACKEND_WITHIN, .dst = dst, .src = src};
    TRY(check_owner(to, dst));
    TRY(check_owner(from, src));
    TRY(fit(to, rect, &t));
    return t.box.width ? to->ops->peer(to->dev, queue, from->dev, &t) : EK_OK;
}

enum ek_status backend_copy(struct backend *to, struct backend_mem *dst, struct backend *from,
                            struct backend_mem *src, const struct backend_rect *rect)
{
    if (backend_reaches(to, from)) {
        TRY(backend_pull(to, BACKEND_COPY, dst, from, src, rect));
        return backend_wait(to, BACKEND_COPY);
    }
    const size_t bytes = rect->width * rect->rows * rect->slices;
    OWNED_MEMORY void *rows = malloc(bytes + 1);
    if (!rows)
        FAIL(EK_UNAVAILABLE, "%s: out of host memory for %zu bytes from %s", to->label, bytes,
             from->label);
    return copy_rows(to, dst, from, src, rect, rows);
}

/* ---- arguments ---- */

struct backend_arg backend_arg_mem(struct backend_mem *mem)
{
    return (struct backend_arg){BACKEND_MEM, {.mem = mem}};
}

struct backend_arg backend_arg_int(int i)
{
    return (struct backend_arg){BACKEND_INT, {.i = i}};
}

struct backend_arg backend_arg_long(long l)
{
    return (struct backend_arg){BACKEND_LONG, {.l = l}};
}

struct backend_arg backend_arg_double(double d)
{
    return (struct backend_arg){BACKEND_DOUBLE, {.d = d}};
}
