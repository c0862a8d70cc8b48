/* cu/unit/cu.c – opens and closes the units, each on its own managing thread. */
#include "cu/unit/cu.h"
#include "cu/unit/prepare.h"
#include "cu/unit/topology.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

/* The first failure on one unit's threads; the thread that opens the set reports it. */
struct opening {
    enum ek_status status;
    char message[512];
};

static void note(struct opening *o, enum ek_status st)
{
    if (!st || o->status)
        return;
    o->status = st;
    snprintf(o->message, sizeof o->message, "%s", status_message());
}

/* ---- binding --------------------------------------------------------------------------------- */

static enum ek_status check_thread(const struct cu *cu, hwloc_const_bitmap_t place)
{
    char want[128], have[128];
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (!cpus)
        FAIL(EK_UNAVAILABLE, "out of memory for a set of cpus");
    enum ek_status st = topology_thread_cpus(cpus);
    bool bound = !st && hwloc_bitmap_isequal(cpus, place);
    topology_list(cpus, have, sizeof have);
    hwloc_bitmap_free(cpus);
    if (!st && !bound)
        FAIL(EK_UNAVAILABLE,
             "unit %s: thread %d is bound to cpus %s instead of %s; does something else set the "
             "threads' affinity?",
             cu->name, omp_get_thread_num(), have, topology_list(place, want, sizeof want));
    return st;
}

/* State shared by the units' threads while they open. */
struct openers {
    struct cu_set *set;
    const char *devices;
    const struct place_list *places; /* NULL: threads are not bound */
    struct backend_device device[PREPARE_DEVICES];
    struct opening *result; /* [set->n] */
    int threads;            /* in the outer team */
    atomic_int inner_teams; /* started so far */
};

/* Waits until every unit has its inner team: only then do all N*M+G*K threads exist at once, so
 * that a thread limit shows. */
static void await_inner_teams(struct openers *c)
{
    atomic_fetch_add(&c->inner_teams, 1);
    while (atomic_load(&c->inner_teams) < c->set->n)
        sched_yield();
}

/* Checks all threads of a unit, including the managing one. */
static void check_unit(struct openers *c, const struct cu *cu, struct opening *result)
{
    hwloc_const_bitmap_t place = c->places->cpus[cu->index];
    int width = 0;
#pragma omp parallel num_threads(cu->width) proc_bind(CU_BIND_PRIMARY) reduction(+ : width)
    {
        const enum ek_status st = MUTED(check_thread(cu, place));
#pragma omp critical(cu_check_unit)
        note(result, st);
        width = 1;
        if (omp_get_thread_num() == 0)
            await_inner_teams(c);
    }
    if (width != cu->width && !result->status) {
        result->status = EK_UNAVAILABLE;
        snprintf(result->message, sizeof result->message,
                 "unit %s: OpenMP gives %d of its %d threads; is OMP_THREAD_LIMIT set?", cu->name,
                 width, cu->width);
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static struct cu_set *new_set(const struct cu_layout *layout)
{
    int n = cu_layout_units(layout);
    struct cu_set *s = calloc(1, sizeof *s);
    if (!s || !(s->cu = calloc((size_t)n, sizeof *s->cu))) {
        free(s);
        return NULL;
    }
    s->layout = *layout;
    s->n = n;
    s->nmemories = 1 + layout->ndev;
    for (int i = 0; i < n; i++) {
        struct cu *cu = &s->cu[i];
        bool cpu = i < layout->ncpu;
        *cu = (struct cu){.index = i,
                          .kind = cpu ? CU_CPU : CU_DEVICE,
                          .width = cpu ? layout->width : layout->feeders,
                          .memory = cpu ? CU_HOST_MEMORY : 1 + i - layout->ncpu};
        snprintf(cu->name, sizeof cu->name, cpu ? "cpu%d" : "device%d", cpu ? i : i - layout->ncpu);
    }
    return s;
}

/* Looks the devices up. Runs on the first device's managing thread: the drivers' own threads
 * inherit its cpus and must not inherit those of a CPU unit. */
static enum ek_status find_devices(struct openers *c)
{
    const struct prepare_plan *plan = prepare_in_force();
    int n, want = c->set->layout.ndev;
    bool named = c->devices && *c->devices;
    TRY(backend_parse(named ? c->devices : "auto", plan && plan->all ? -1 : want, c->device,
                      PREPARE_DEVICES, &n));
    if (n != want)
        FAIL(EK_UNAVAILABLE, "layout %s needs %d devices, '%s' gives %d",
             cu_layout_text(&c->set->layout), want, named ? c->devices : "auto", n);
    return EK_OK;
}

static enum ek_status open_device(struct openers *c, struct cu *cu)
{
    const struct backend_device *d = &c->device[cu->memory - 1];
    snprintf(cu->name, sizeof cu->name, "%.20s:%d", d->ops->name, d->index);
    return backend_open(*d, &cu->device);
}

/* Runs on every unit's managing thread. */
static void open_unit(struct openers *c, int i)
{
    struct cu *cu = &c->set->cu[i];
    struct opening *result = &c->result[i];
    if (c->places)
        check_unit(c, cu, result);
    if (i == c->set->layout.ncpu)
        note(result, MUTED(find_devices(c)));
#pragma omp barrier
    bool found = cu->kind == CU_DEVICE && !c->result[c->set->layout.ncpu].status;
    if (found && !result->status)
        note(result, MUTED(open_device(c, cu)));
}

static enum ek_status open_all(struct openers *c)
{
    int n = c->set->n;
#pragma omp parallel num_threads(n) proc_bind(close)
    {
#pragma omp single
        c->threads = omp_get_num_threads();
        if (c->threads == n)
            open_unit(c, omp_get_thread_num());
    }
    if (c->threads != n)
        FAIL(EK_UNAVAILABLE, "OpenMP gives %d threads for the %d units of layout %s; is %s",
             c->threads, n, cu_layout_text(&c->set->layout),
             omp_in_parallel() ? "cu_open() inside a parallel region?" : "OMP_THREAD_LIMIT set?");
    for (int i = 0; i < n; i++)
        if (c->result[i].status)
            FAIL(c->result[i].status, "%s", c->result[i].message);
    return EK_OK;
}

static enum ek_status open_layout(const struct cu_options *o, const struct cu_layout *layout,
                                  const struct place_list *places, struct cu_set **set)
{
    int n = cu_layout_units(layout);
    OWNED_MEMORY struct openers *c = calloc(1, sizeof *c);
    OWNED_MEMORY struct opening *result = calloc((size_t)n, sizeof *result);
    struct cu_set *s = new_set(layout);
    enum ek_status st = EK_UNAVAILABLE;
    if (!c || !result || !s) {
        status_fail(st, "out of memory for %d units", n);
    } else {
        *c = (struct openers){.set = s, .devices = o->devices, .places = places, .result = result};
        st = open_all(c);
    }
    return HAND_OUT(st, s, set, cu_close);
}

enum ek_status cu_open(const struct cu_options *given, struct cu_set **set)
{
    const struct cu_options wanted = prepare_options(given), *options = &wanted;
    const struct prepare_plan *plan = prepare_in_force();
    struct cu_layout layout;
    struct cu_set *s;
    if (!plan) {
        TRY(prepare_floating(options, &layout));
        return open_layout(options, &layout, NULL, set);
    }
    TRY(open_layout(options, &plan->layout, &plan->places, &s));
    const enum ek_status st = prepare_check_room(plan, false);
    return HAND_OUT(st, s, set, cu_close);
}

enum ek_status cu_each(const struct cu_set *set,
                       enum ek_status (*work)(void *ctx, const struct cu *cu), void *ctx)
{
    atomic_int failed = EK_OK;
#pragma omp parallel num_threads(set->n) proc_bind(close)
    for (int i = omp_get_thread_num(); i < set->n; i += omp_get_num_threads()) {
        const enum ek_status st = work(ctx, &set->cu[i]);
        if (st)
            atomic_store(&failed, (int)st);
    }
    return (enum ek_status)atomic_load(&failed);
}

static enum ek_status close_device(void *ctx, const struct cu *cu)
{
    (void)ctx;
    backend_close(cu->device);
    return EK_OK;
}

void cu_close(struct cu_set *set)
{
    if (!set)
        return;
    cu_each(set, close_device, NULL);
    free(set->cu);
    free(set);
}

bool cu_answers(const struct cu *cu)
{
    return !cu->device || !MUTED(backend_wait(cu->device, BACKEND_COPY));
}

bool cu_oversubscribed(const struct cu_set *set)
{
    return cu_layout_threads(&set->layout) > omp_get_num_procs();
}
