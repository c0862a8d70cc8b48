/* cu/bench/tasks.c – runs a struct ek_tasks as a program of the shared main. */
#include "cu/bench/tasks.h"
#include "cu/bench/bench.h"
#include "cu/team/ek_grid_internal.h"
#include "cu/team/thread_pool.h"
#include "src/clock.h"
#include "src/base.h"

#include <stdatomic.h>

enum { KERNELS = 64, NAME = 64 };

struct ek_device {
    struct backend *backend;
    struct backend_program *program;
    int nkernels, nbuffers;
    char name[KERNELS][NAME];
    struct backend_kernel kernel[KERNELS];
    struct backend_mem **buffer; /* [nbuffers] */
};

/* The state of the program. */
struct tasks {
    const struct ek_tasks *job;
    struct ek_summary *summary; /* or NULL */
    struct cu_set *set;
    struct ek_unit *unit; /* [set->n] */
    int step;
};

/* The arguments of ek_run() for defaults(); one program runs at a time. */
static const struct ek_tasks *current;
static struct ek_summary *wanted;

/* ---- devices --------------------------------------------------------------------------------- */

/* Finds each KERNEL(name, x, y, z) of the text, and starts a new line before it. */
static enum ek_status find_kernels(struct ek_device *d, const char *program, char *text)
{
    for (char *at = text; (at = strstr(at, "KERNEL(")); at++) {
        struct backend_kernel *k = &d->kernel[d->nkernels];
        if (at > text && at[-1] != ' ' && at[-1] != '\n')
            continue;
        if (d->nkernels == KERNELS ||
            sscanf(at, "KERNEL(%63[^, ] , %d , %d , %d", d->name[d->nkernels], &k->group[0],
                   &k->group[1], &k->group[2]) != 4)
            FAIL(EK_USAGE, "%s: '%.40s': write KERNEL(name, x, y, z), at most %d of them", program,
                 at, KERNELS);
        if (at > text)
            at[-1] = '\n';
        k->name = d->name[d->nkernels++];
    }
    return EK_OK;
}

static enum ek_status build(struct ek_device *d, const struct ek_tasks *job)
{
    OWNED_MEMORY char *text = strdup(job->kernels);
    TRY(text ? find_kernels(d, job->name, text) : EK_OK);
    OWNED_MEMORY char *whole = text ? embed_source(job->name, text) : NULL;
    if (!whole)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the kernels", job->name);
    return backend_build(d->backend, whole, "", d->kernel, d->nkernels, &d->program);
}

static enum ek_status open_device(const struct ek_tasks *job, struct ek_unit *u)
{
    struct ek_device *d = u->device = calloc(1, sizeof *d);
    int n = 0;
    while (job->buffers && job->buffers[n])
        n++;
    if (d)
        d->buffer = calloc((size_t)n + 1, sizeof(struct backend_mem *));
    if (!d || !d->buffer)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for unit %s", job->name, u->cu->name);
    d->backend = u->cu->device;
    for (; d->nbuffers < n; d->nbuffers++)
        TRY(backend_alloc(d->backend, job->buffers[d->nbuffers], &d->buffer[d->nbuffers]));
    return job->kernels ? build(d, job) : EK_OK;
}

static void close_device(const struct ek_tasks *job, struct ek_unit *u)
{
    struct ek_device *d = u->device;
    if (!d)
        return;
    if (job->grid)
        ek_grid_close_device(job->grid, u->cu);
    for (int i = 0; i < d->nbuffers; i++)
        backend_free(d->backend, d->buffer[i]);
    backend_unbuild(d->backend, d->program);
    free(d->buffer);
    free(d);
    u->device = NULL;
}

enum ek_status ek_launch(const struct ek_unit *u, const char *kernel, size_t items, int nargs,
                         const struct backend_arg *args)
{
    const struct ek_device *d = u->device;
    for (int k = 0; k < d->nkernels; k++)
        if (!strcmp(d->name[k], kernel))
            return backend_launch_items(d->backend, d->program, k, items, nargs, args);
    FAIL(EK_USAGE, "%s: the text has no kernel '%s'", u->cu->name, kernel);
}

struct backend_arg ek_buffer(const struct ek_unit *u, int buffer)
{
    const struct ek_device *d = u->device;
    return backend_arg_mem(buffer >= 0 && buffer < d->nbuffers ? d->buffer[buffer] : NULL);
}

enum ek_status ek_write(const struct ek_unit *u, int buffer, size_t offset, const void *from,
                        size_t bytes)
{
    const struct backend_rect box = backend_linear(offset, 0, bytes);
    TRY(backend_write(u->cu->device, BACKEND_COMPUTE, ek_buffer(u, buffer).as.mem, from, &box));
    return backend_wait(u->cu->device, BACKEND_COMPUTE);
}

enum ek_status ek_read(const struct ek_unit *u, int buffer, size_t offset, void *to, size_t bytes)
{
    const struct backend_rect box = backend_linear(0, offset, bytes);
    TRY(backend_read(u->cu->device, BACKEND_COMPUTE, to, ek_buffer(u, buffer).as.mem, &box));
    return backend_wait(u->cu->device, BACKEND_COMPUTE);
}

/* ---- the verbs of a step --------------------------------------------------------------------- */

/* A range of tasks for the threads of a CPU unit. */
struct work {
    const struct tasks *t;
    const struct cu *cu;
    struct ek_range range;
    double *seconds;
    atomic_size_t next;
    atomic_int status;
};

static void on_thread(void *arg, int thread)
{
    struct work *w = arg;
    struct ek_unit unit = w->t->unit[w->cu->index];
    unit.thread = thread;
    unit.step = w->t->step;
    for (size_t i; (i = atomic_fetch_add(&w->next, 1)) < w->range.end - w->range.begin;) {
        const double start = clock_now();
        const enum ek_status st = w->t->job->cpu(w->t->job->context, &unit, w->range.begin + i);
        w->seconds[i] += clock_now() - start;
        if (st)
            atomic_store(&w->status, (int)st);
    }
}

/* Divides the unit's wall time among the tasks: in proportion to their own times, or costs. */
static void share_seconds(const struct ek_tasks *job, struct ek_range r, double wall, bool timed,
                          double *seconds)
{
    const size_t n = r.end - r.begin;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += seconds[i] = timed ? seconds[i] : job->cost ? job->cost[r.begin + i] : 1;
    for (size_t i = 0; i < n; i++)
        seconds[i] *= sum > 0 ? wall / sum : 0;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    const struct tasks *t = ctx;
    const double start = clock_now();
    struct work w = {.t = t, .cu = cu, .range = r, .seconds = seconds};
    struct ek_unit unit = t->unit[cu->index];
    unit.step = t->step;
    if (cu->kind == CU_CPU) {
        thread_pool_run(cu->pool, cu->width, on_thread, &w);
    } else {
        TRY(t->job->device(t->job->context, &unit, r));
        TRY(backend_wait(cu->device, BACKEND_COMPUTE));
    }
    if (cu->kind == CU_DEVICE || cu->width > 1)
        share_seconds(t->job, r, clock_now() - start, cu->kind == CU_CPU, seconds);
    return (enum ek_status)atomic_load(&w.status);
}

static enum ek_status finish(void *ctx, const struct team_step *step, bool *last)
{
    struct tasks *t = ctx;
    (void)last;
    t->step = step->number;
    if (t->job->grid)
        ek_grid_set_step(t->job->grid, t->step);
    return EK_OK;
}

static enum ek_status move(void *ctx, size_t task, int from, int to, size_t *bytes)
{
    return ek_grid_move(((struct tasks *)ctx)->job->grid, task, from, to, bytes);
}

static enum ek_status set_placement(void *ctx, const int *home)
{
    ek_grid_set_placement(((struct tasks *)ctx)->job->grid, home);
    return EK_OK;
}

static int exchange_phases(const void *ctx)
{
    (void)ctx;
    return GRID_PHASES;
}

static enum ek_status exchange(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes)
{
    const struct tasks *t = ctx;
    return ek_grid_exchange(t->job->grid, cu, phase, share.part, share.parts, bytes);
}

static enum ek_status restore(void *ctx)
{
    struct tasks *t = ctx;
    t->step = 0;
    ek_grid_restore(t->job->grid);
    return EK_OK;
}

static const struct team_ops free_verbs = {.compute = compute, .finish = finish};
static const struct team_ops grid_verbs = {.compute = compute,
                                           .move = move,
                                           .set_placement = set_placement,
                                           .exchange = exchange,
                                           .exchange_phases = exchange_phases,
                                           .restore = restore,
                                           .finish = finish};

/* ---- the program ----------------------------------------------------------------------------- */

static void defaults(void *st, const struct bench_program *self)
{
    struct tasks *t = st;
    (void)self;
    t->job = current;
    t->summary = wanted;
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    const struct ek_tasks *job = ((struct tasks *)st)->job;
    const size_t n = job->grid ? ek_grid_zones(job->grid) : job->n;
    if (!job->cpu || !n)
        FAIL(EK_USAGE, "%s: struct ek_tasks needs cpu() and at least one task", job->name);
    *bytes = job->grid ? ek_grid_bytes(job->grid) : 0;
    snprintf(problem, room, "%zu tasks, %d step%s", n, job->steps ? job->steps : 1,
             job->steps > 1 ? "s" : "");
    return EK_OK;
}

static enum ek_status open_tasks(void *st, struct cu_set *set, struct sched_job *job)
{
    struct tasks *t = st;
    if (set->layout.ndev && !t->job->device)
        FAIL(EK_USAGE, "%s computes on CPU units only: take a layout without devices",
             t->job->name);
    t->set = set;
    t->unit = calloc((size_t)set->n, sizeof *t->unit);
    if (!t->unit)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %d units", t->job->name, set->n);
    for (int c = 0; c < set->n; c++)
        t->unit[c].cu = &set->cu[c];
    *job = (struct sched_job){.n = t->job->n, .grain = 1, .cost = t->job->cost};
    if (t->job->grid)
        TRY(ek_grid_open(t->job->grid, set, job));
    job->steps = (size_t)(t->job->steps ? t->job->steps : 1);
    return EK_OK;
}

static enum ek_status prepare(void *st, const struct cu *cu)
{
    struct tasks *t = st;
    struct ek_unit *u = &t->unit[cu->index];
    if (cu->kind == CU_DEVICE)
        TRY(open_device(t->job, u));
    return t->job->prepare ? t->job->prepare(t->job->context, u) : EK_OK;
}

static void release(void *st, const struct cu *cu)
{
    struct tasks *t = st;
    struct ek_unit *u = &t->unit[cu->index];
    if (t->job->release)
        t->job->release(t->job->context, u);
    close_device(t->job, u);
}

static void close_tasks(void *st)
{
    struct tasks *t = st;
    if (t->job->grid)
        ek_grid_close(t->job->grid);
    free(t->unit);
    t->unit = NULL;
}

static int steps(const void *st)
{
    const struct tasks *t = st;
    return t->job->steps ? t->job->steps : 1;
}

static enum ek_status reset(void *st)
{
    struct tasks *t = st;
    t->step = 0;
    TRY(t->job->reset ? t->job->reset(t->job->context) : EK_OK);
    if (t->job->grid) {
        ek_grid_set_step(t->job->grid, 0);
        ek_grid_save(t->job->grid);
    }
    return EK_OK;
}

static enum ek_status check(void *st, enum bench_verdict *verified, json_t **detail)
{
    const struct ek_tasks *job = ((struct tasks *)st)->job;
    (void)detail;
    *verified = !job->right                ? BENCH_UNVERIFIABLE
                : job->right(job->context) ? BENCH_VERIFIED
                                           : BENCH_WRONG;
    return EK_OK;
}

static double number(const json_t *o, const char *key)
{
    const json_t *x = json_object_get(o, key);
    return json_is_number(x) ? json_number_value(x) : NAN;
}

static void remark(FILE *out, const void *st, const json_t *best)
{
    struct ek_summary *s = ((const struct tasks *)st)->summary;
    (void)out;
    if (!s)
        return;
    snprintf(s->schedule, sizeof s->schedule, "%s",
             json_string_value(json_object_get(best, "schedule")));
    s->seconds = number(best, "seconds");
    s->bound = number(best, "lower_bound_s");
    s->verified = json_is_true(json_object_get(best, "verified"));
}

static enum ek_status run(const struct ek_tasks *job, char **argv, FILE *out,
                          struct ek_summary *summary)
{
    const struct bench_program program = {
        .identity = {job->name, job->summary ? job->summary : "tasks on all units", "tasks/s",
                     sizeof(struct tasks)},
        .command = {.defaults = defaults},
        .problem = {.plan = plan,
                    .open = open_tasks,
                    .prepare = prepare,
                    .release = release,
                    .close = close_tasks},
        .run = {.cold = job->cold,
                .verbs = job->grid ? &grid_verbs : &free_verbs,
                .steps = steps,
                .reset = reset},
        .output = {.check = check, .remark = remark}};
    int argc = 0;
    while (argv[argc])
        argc++;
    current = job;
    wanted = summary;
    embed_host_add(job->host);
    return bench_run(&program, argc, argv, out);
}

int ek_main(const struct ek_tasks *job, int argc, char **argv)
{
    (void)argc;
    status_begin(job->name);
    return status_end(run(job, argv, stdout, NULL));
}

enum ek_status ek_run(const struct ek_tasks *job, char **argv, struct ek_summary *summary)
{
    size_t size;
    struct ek_summary s = {.seconds = NAN, .bound = NAN};
    FILE *out = open_memstream(&s.table, &size);
    if (!out)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", job->name);
    status_program(job->name);
    const enum ek_status st = run(job, argv, out, &s);
    fclose(out);
    *summary = s;
    return st;
}

void ek_print(FILE *out, const struct ek_summary *s)
{
    fputs(s->table, out);
}

void ek_free(struct ek_summary *s)
{
    free(s->table);
    s->table = NULL;
}
