/* mcsem/device_tables.c – shared mode on a device: sends the tables of a call, launches the kernels
 * that make them and read them, returns what tells how good they are. */
#include "mcsem/device_internal.h"
#include "mcsem/tables.h"
#include "src/kernel.h"

#include "mcsem/kernels/table_plan.h"

enum { BASE, FUNCTIONS, NODE_WEIGHTS, NODES, POINTS, PAIRS, PAIR_ROWS, PARTS, KERNELS };
enum { GROUP = 64 };
static const struct backend_kernel kernels[KERNELS] = {
    [BASE] = {"table_base", {GROUP, 1, 1}},
    [FUNCTIONS] = {"table_functions", {GROUP, 1, 1}},
    [NODE_WEIGHTS] = {"table_weights", {GROUP, 1, 1}},
    [NODES] = {"table_nodes", {GROUP, 1, 1}},
    [POINTS] = {"table_points", {GROUP, 1, 1}},
    [PAIRS] = {"table_pairs", {GROUP, 1, 1}},
    [PAIR_ROWS] = {"table_rows", {GROUP, 1, 1}},
    [PARTS] = {"table_parts", {GROUP, 1, 1}}};

static enum ek_status open_slot(struct device *d, const struct tables_limits *most,
                                struct device_slot *s)
{
    const size_t bytes[OF_BUFFERS] = {
        [OF_PLAN] = tables_plans(most) * sizeof(int),
        [OF_NUMBERS] = tables_numbers(most) * sizeof(double),
        [OF_PAIRS] = most->pairs * TABLE_PAIR * sizeof(double),
        [OF_ELEMENTS] = most->elements * TABLE_ELEMENT * sizeof(double),
        [OF_PARTS] = most->pairs * (size_t)d->nfreq * 2 * sizeof(double)};
    for (int b = 0; b < OF_BUFFERS; b++)
        TRY(backend_alloc(d->backend, bytes[b], &s->of_tables[b]));
    return EK_OK;
}

static enum ek_status open_buffers(struct device *d, const struct tables_limits *most)
{
    for (int k = 0; k < DEVICE_SLOTS - 1; k++)
        TRY(open_slot(d, most, &d->slot[k]));
    return backend_alloc(d->backend, most->room * sizeof(double), &d->room);
}

void mcsem_device_close_tables(struct device *d)
{
    if (!d)
        return;
    (void)MUTED(mcsem_device_wait(d));
    for (struct device_slot *s = d->slot; s < d->slot + DEVICE_SLOTS; s++)
        for (int b = 0; b < OF_BUFFERS; b++) {
            backend_free(d->backend, s->of_tables[b]);
            s->of_tables[b] = NULL;
        }
    backend_free(d->backend, d->room);
    d->room = NULL;
    backend_unbuild(d->backend, d->table_program);
    d->table_program = NULL;
}

enum ek_status mcsem_device_open_tables(struct device *d, const struct tables_limits *most,
                                        bool *ready)
{
    const char *const text = "mcsem/kernels/table.c";
    *ready = !MUTED(open_buffers(d, most));
    if (!*ready) {
        mcsem_device_close_tables(d);
        return EK_OK;
    }
    return backend_build_texts(d->backend, &text, 1, "-DKERNEL_NO_FMA", kernels, KERNELS,
                               &d->table_program);
}

static enum ek_status send(struct device *d, const struct device_slot *s, const struct tables *t)
{
    const struct {
        const void *from;
        size_t bytes;
    } part[] = {
        [OF_PLAN] = {t->plan, t->plans * sizeof(int)},
        [OF_NUMBERS] = {t->number, t->numbers * sizeof(double)},
        [OF_PAIRS] = {t->pair, t->pairs * TABLE_PAIR * sizeof(double)},
        [OF_ELEMENTS] = {t->element, atomic_load(&t->elements) * TABLE_ELEMENT * sizeof(double)}};
    for (int b = 0; b < OF_PARTS; b++)
        TRY(backend_send(d->backend, BACKEND_FEED, s->of_tables[b], part[b].from, part[b].bytes));
    TRY(backend_record(d->backend, BACKEND_FEED, EVENT_TABLES));
    return backend_after(d->backend, BACKEND_COMPUTE, EVENT_TABLES);
}

/* A kernel, its work-items, its arguments. */
struct launch {
    int kernel;
    size_t items, rows;
    struct backend_arg arg[12];
    int nargs;
};

static enum ek_status start(struct device *d, const struct launch *l)
{
    const long global[3] = {(long)l->items, (long)l->rows, 1};
    return backend_launch(d->backend, BACKEND_COMPUTE, d->table_program, l->kernel, global,
                          l->nargs, l->arg);
}

#define MEM(m) backend_arg_mem(m)
#define INT(i) backend_arg_int((int)(i))

/* The tables of all cells. */
static enum ek_status make(struct device *d, const struct device_slot *s, const struct tables *t)
{
    const int nlayers = s->share->layers.n, sediments = s->share->layers.sediments;
    const struct backend_arg layers = MEM(s->tables), line = MEM(s->lines), room = MEM(d->room);
    const struct backend_arg filters = MEM(d->buffer[FILTERS]), plan = MEM(s->of_tables[OF_PLAN]);
    const struct backend_arg number = MEM(s->of_tables[OF_NUMBERS]), nfreq = INT(s->nfreq);
    const struct launch launch[] = {
        {BASE,
         t->base,
         t->cells,
         {layers, INT(nlayers), INT(sediments), line, nfreq, filters, number, plan, room},
         9},
        {FUNCTIONS, t->views, t->cells, {layers, line, nfreq, filters, number, plan, room}, 7},
        {NODE_WEIGHTS, t->weights, t->cells, {filters, INT(HANKEL_LADDER), number, plan, room}, 5},
        {NODES, t->nodes, t->cells, {INT(1 + nlayers - sediments), nfreq, plan, room}, 4}};
    for (size_t k = 0; k < sizeof launch / sizeof *launch; k++)
        TRY(start(d, &launch[k]));
    return EK_OK;
}

/* The sums of all pairs. */
static enum ek_status read_tables(struct device *d, const struct device_slot *s,
                                  const struct tables *t)
{
    const int nlayers = s->share->layers.n, sediments = s->share->layers.sediments;
    const size_t columns = (size_t)(1 + nlayers - sediments), cases = t->pairs * (size_t)s->nfreq;
    const size_t points = t->room, windows = points + TABLE_INTERPOLATE * atomic_load(&t->elements);
    const struct backend_arg plan = MEM(s->of_tables[OF_PLAN]), room = MEM(d->room);
    const struct backend_arg pairs = MEM(s->of_tables[OF_PAIRS]), nfreq = INT(s->nfreq);
    const struct backend_arg element = MEM(s->of_tables[OF_ELEMENTS]), npairs = INT(t->pairs);
    const struct backend_arg number = MEM(s->of_tables[OF_NUMBERS]);
    const struct launch launch[] = {
        {POINTS,
         t->pairs,
         1,
         {number, plan, pairs, element, npairs, INT(points), INT(windows), room},
         8},
        {PAIRS, t->pairs, t->entries, {number, plan, pairs, element, npairs, INT(points), room}, 7},
        {PAIR_ROWS,
         cases / TABLE_GROUP * columns,
         1,
         {INT(nlayers), INT(sediments), nfreq, plan, pairs, npairs, INT(windows), room,
          INT(s->pairs), MEM(s->sums), MEM(s->fields)},
         11},
        {PARTS,
         cases,
         1,
         {INT(columns), nfreq, number, plan, pairs, element, npairs, room,
          MEM(s->of_tables[OF_PARTS])},
         9}};
    for (size_t k = 0; k < sizeof launch / sizeof *launch; k++)
        TRY(start(d, &launch[k]));
    return EK_OK;
}

static enum ek_status begin(struct device *d, int slot, const struct tables *t)
{
    struct device_slot *s = &d->slot[slot];
    if (s->pairs + t->pairs > device_call_pairs(d->most_pairs))
        FAIL(EK_USAGE, "%s: %zu pairs in one call", d->backend->label, s->pairs + t->pairs);
    s->tabled = t->pairs;
    TRY(send(d, s, t));
    TRY(make(d, s, t));
    TRY(read_tables(d, s, t));
    return backend_record(d->backend, BACKEND_COMPUTE, EVENT_SUMS + slot);
}

enum ek_status mcsem_device_tables(struct device *d, int slot, const struct tables *t)
{
    const enum ek_status st = t->pairs ? begin(d, slot, t) : EK_OK;
    if (st) /* running commands must not read memory that the caller frees */
        (void)MUTED(mcsem_device_wait(d));
    return st;
}

enum ek_status mcsem_device_parts(struct device *d, int slot, double *parts)
{
    const struct device_slot *s = &d->slot[slot];
    return device_fetch(d, EVENT_SUMS + slot, s->of_tables[OF_PARTS], parts,
                        s->tabled * (size_t)s->nfreq * 2 * sizeof *parts);
}

enum ek_status mcsem_device_replace(struct device *d, int slot, size_t pair, int other, size_t from)
{
    const struct device_slot *s = &d->slot[slot];
    const size_t bytes = (size_t)s->nfreq * 2 * (1 + (size_t)s->share->layers.n) * sizeof(double);
    const struct backend_rect box = backend_linear((s->pairs + pair) * bytes, from * bytes, bytes);
    return backend_within(d->backend, BACKEND_COMPUTE, s->sums, d->slot[other].sums, &box);
}
