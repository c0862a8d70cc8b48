/* kirchhoff/tt_verbs.c – opens a run of kirchhoff-tt and computes its shots. */
#include "kirchhoff/tt.h"
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "kirchhoff/certify.h"
#include "kirchhoff/analytic.h"
#include "kirchhoff/disk.h"
#include "kirchhoff/ray_device.h"
#include "src/clock.h"
#include "src/progress.h"

#include <unistd.h>

/* ---- opening ----------------------------------------------------------------------------------*/

enum { MUTUAL = 32 }; /* most sources sampled for reciprocity */

/* The i-th source of the sample. */
static size_t mutual_source(const struct tt *t, size_t i)
{
    return i * t->sources.n / t->mutual;
}

/* Stores the table's counts and, if its source is in the sample, the times to the others. */
static void note_table(struct tt *t, size_t source, struct ttable *table)
{
    ttable_count(table);
    t->record[source].eikonal = table->eikonal;
    tfolder_note(t->folder, source, table);
    for (size_t i = 0; i < t->mutual; i++)
        for (size_t j = 0; mutual_source(t, i) == source && j < t->mutual; j++) {
            const double time = certify_time(table, t->sources.at[mutual_source(t, j)]);
            t->between[i * t->mutual + j] = isnan(time) ? 0 : time;
        }
}

/* Keeps the table of an earlier run. A damaged one is computed again; one of another problem is an
 * error, since it may have taken hours. */
static enum ek_status take_up(struct tt *t, size_t source)
{
    char path[4096];
    struct ttable *table;
    tfolder_path(t->folder, source, path);
    if (access(path, F_OK))
        return EK_OK;
    if (MUTED(ttable_open(path, &table))) {
        status_warn("%s; this run makes it anew", status_message());
        return EK_OK;
    }
    const bool fits = tfolder_fits(t->folder, source, table);
    if (fits) {
        t->record[source] =
            (struct tt_record){.finished = true, .kept = true, .rms = NAN, .most = NAN};
        note_table(t, source, table);
    }
    ttable_close(table);
    if (!fits)
        FAIL(EK_USAGE,
             "%s: a table of another grid, source or velocity, with which --resume cannot go on; "
             "leave it out to make all anew, or choose another --out",
             path);
    return EK_OK;
}

/* Lists this rank's sources to do: one in every `ranks` of those that no rank keeps. */
static enum ek_status list_todo(struct tt *t)
{
    const size_t ranks = (size_t)cluster_size(), rank = (size_t)cluster_rank(), n = t->sources.n;
    OWNED_MEMORY NEW(double, kept, n, "out of memory for %zu shots", n);
    for (size_t i = rank; t->resume && i < n; i += ranks) {
        TRY(take_up(t, i));
        kept[i] = t->record[i].kept;
    }
    cluster_sum(kept, n);
    for (size_t i = 0, left = 0; i < n; i++)
        if (!(kept[i] > 0) && left++ % ranks == rank)
            t->todo[t->ntodo++] = i;
    return EK_OK;
}

static enum ek_status open_lists(struct tt *t)
{
    const size_t units = (size_t)t->set->n, devices = (size_t)t->set->layout.ndev;
    const size_t plane = (size_t)t->grid.n[0] * (size_t)t->grid.n[2];
    t->mutual = t->sources.n < MUTUAL ? t->sources.n : MUTUAL;
    t->todo = ARENA_NEW(&t->arena, t->sources.n, size_t);
    t->record = ARENA_NEW(&t->arena, t->sources.n, struct tt_record);
    t->handle = ARENA_NEW(&t->arena, units * devices, struct ray_device *);
    t->slice = ARENA_NEW(&t->arena, plane, float);
    t->residual = ARENA_NEW(&t->arena, plane, float);
    t->between = ARENA_NEW(&t->arena, t->mutual * t->mutual, double);
    TRY(arena_check(&t->arena, "%zu shots", t->sources.n));
    for (size_t i = 0; i < plane; i++)
        t->slice[i] = t->residual[i] = NAN;
    return EK_OK;
}

enum ek_status tt_open(void *st, struct cu_set *set, struct sched_job *job)
{
    struct tt *t = st;
    t->set = set;
    velocity_warn(t->velocity, &t->grid);
    TRY(shot_job_open(&t->job, &t->grid, t->velocity, &t->shot, t->sources.n,
                      (const double(*)[3])t->sources.at));
    TRY(tfolder_make(t->out, &t->grid, t->velocity->text, &t->sources.surface, t->sources.n,
                     (const double(*)[3])t->sources.at, &t->folder));
    TRY(open_lists(t));
    TRY(list_todo(t));
    if (t->resume) /* else plan() has checked */
        TRY(disk_check(t->out, t->ntodo * (size_t)cluster_size(), ttable_bytes(&t->grid)));
    if (cluster_rank() == 0)
        TRY(tfolder_write(t->folder));
    t->runs_a_step = cluster_any(t->ntodo > 0);
    *job = (struct sched_job){.n = t->ntodo ? t->ntodo : 1, .grain = 1, .steps = 1};
    return EK_OK;
}

static void forget(struct tt_record *r)
{
    free(r->length);
    free(r->span);
    memset(r, 0, sizeof *r);
}

enum ek_status tt_reset(void *st)
{
    struct tt *t = st;
    const struct donate_options o = {(enum donate_mode)t->donation,
                                     t->set->n,
                                     t->set->layout.ndev,
                                     t->share,
                                     t->tolerance / 100,
                                     (long)t->ntodo};
    for (size_t i = 0; i < t->ntodo; i++)
        forget(&t->record[t->todo[i]]);
    donate_close(t->donate);
    t->donate = NULL;
    TRY(donate_open(&o, &t->donate));
    atomic_store(&t->finished, 0);
    atomic_flag_clear(&t->showing);
    t->runs++;
    t->start = clock_now();
    return EK_OK;
}

void tt_close(void *st)
{
    struct tt *t = st;
    for (int i = 0; t->handle && i < t->set->n * t->set->layout.ndev; i++)
        ray_device_close(t->handle[i]);
    for (size_t i = 0; t->record && i < t->sources.n; i++)
        forget(&t->record[i]);
    donate_close(t->donate);
    shot_job_close(&t->job);
    tfolder_close(t->folder);
    source_positions_close(&t->sources);
    velocity_close(t->velocity);
    arena_free(&t->arena);
}

/* ---- devices ----------------------------------------------------------------------------------*/

/* A unit's number in t->donate, where devices' managing threads come first. */
static int worker_of(const struct tt *t, const struct cu *cu)
{
    const struct cu_layout *l = &t->set->layout;
    return cu->kind == CU_DEVICE ? cu->index - l->ncpu : cu->index + l->ndev;
}

static void lose(struct tt *t, const struct cu *cu, int device)
{
    const struct cu *its = &t->set->cu[t->set->layout.ncpu + device];
    status_warn("device %s failed under %s: %s; its shots go on without it", its->name, cu->name,
                status_message());
    donate_lose(t->donate, device);
}

/* This unit's handle on a device, opened on first use; NULL: the device is lost. */
static struct ray_device *handle_of(struct tt *t, const struct cu *cu, int device)
{
    struct ray_device **h = &t->handle[cu->index * t->set->layout.ndev + device];
    const struct backend *b = t->set->cu[t->set->layout.ncpu + device].device;
    if (*h)
        return *h;
    const struct backend_device opened = {b->ops, b->index};
    const enum ek_status st = MUTED(ray_device_open(opened, &t->job.field, h));
    if (st)
        lose(t, cu, device);
    return st ? NULL : *h;
}

/* Device number and handle for the shot's next steps; -1 and NULL: none. */
static int poll_device(struct tt *t, const struct cu *cu, const struct shot *s,
                       struct ray_device **d)
{
    const int device = donate_poll(t->donate, worker_of(t, cu), (long)s->front.n);
    *d = device < 0 ? NULL : handle_of(t, cu, device);
    return *d ? device : -1;
}

/* ---- a shot's results -------------------------------------------------------------------------*/

/* Records that the shot has this device (-1: none) from now on. */
static void note_device(const struct tt *t, struct tt_record *r, int device)
{
    const double now = clock_now() - t->start;
    if (r->nspans && r->span[r->nspans - 1].end < 0) {
        if (r->span[r->nspans - 1].device == device)
            return;
        r->span[r->nspans - 1].end = now;
    }
    if (device < 0)
        return;
    struct tt_span *more = realloc(r->span, (r->nspans + 1) * sizeof *more);
    if (!more)
        return; /* only a picture suffers */
    r->span = more;
    r->span[r->nspans++] = (struct tt_span){device, now, -1};
}

enum { JUDGED = 20000 };               /* nodes sampled in a table */
static const double near_source = 100; /* m; closer nodes are not judged */

/* Errors at every `stride`-th node, if the model has a closed form. */
static void judge(const struct ttable *t, const struct velocity *v, struct tt_record *r)
{
    const size_t n = grid_nodes(&t->grid), stride = n / JUDGED + 1;
    const size_t ny = (size_t)t->grid.n[1], nz = (size_t)t->grid.n[2];
    double sum = 0, most = 0;
    size_t count = 0;
    r->rms = r->most = NAN;
    if (v->kind != VELOCITY_LINEAR)
        return;
    for (size_t i = 0; i < n; i += stride) {
        double x[3];
        struct analytic c;
        grid_place(&t->grid, (int)(i / (ny * nz)), (int)(i / nz % ny), (int)(i % nz), x);
        analytic_linear(v->v0, v->k, t->source, x, &c);
        if (t->kmah[i] == TTABLE_UNFILLED || c.spread < near_source)
            continue;
        const double error = fabs((double)t->time[i] - c.time);
        sum += error * error;
        most = fmax(most, error);
        count++;
    }
    r->rms = count ? sqrt(sum / (double)count) : 0;
    r->most = most;
}

/* Keeps times and eikonal residuals in the plane nearest to the source's y, for the report. */
static void keep_slice(struct tt *t, const struct ttable *table)
{
    const struct grid *g = &t->grid;
    const double row = round((table->source[1] - g->origin[1]) / g->step[1]);
    const int j = (int)fmin(fmax(row, 0), g->n[1] - 1);
    for (int i = 0; i < g->n[0]; i++)
        for (int k = 0; k < g->n[2]; k++) {
            const size_t to = (size_t)i * (size_t)g->n[2] + (size_t)k;
            t->slice[to] = table->time[grid_index(g, i, j, k)];
            t->residual[to] = (float)certify_node(table, t->velocity, (int[]){i, j, k});
        }
}

static void show_progress(struct tt *t)
{
    if (atomic_flag_test_and_set(&t->showing))
        return;
    progress_at(t->runs - 1 + (double)atomic_load(&t->finished) / (double)t->ntodo);
    atomic_flag_clear(&t->showing);
}

/* All units may find the disk full together: one of them says so. */
static enum ek_status write_table(struct tt *t, const struct ttable *table, const char *path)
{
    const enum ek_status st = MUTED(ttable_write(table, path));
    return !st || atomic_exchange(&t->refused, true) ? st : status_repeat(st);
}

/* Writes a finished table to the folder, and its results to the record. */
static enum ek_status keep_table(struct tt *t, struct ttable *table, size_t source,
                                 struct tt_record *r)
{
    char path[4096];
    judge(table, t->velocity, r);
    note_table(t, source, table);
    if (source == 0)
        keep_slice(t, table);
    tfolder_path(t->folder, source, path);
    const enum ek_status st = write_table(t, table, path);
    r->end = clock_now() - t->start;
    r->finished = !st;
    atomic_fetch_add(&t->finished, 1);
    return st;
}

static enum ek_status finish_shot(struct tt *t, const struct cu *cu, struct shot *s, size_t source,
                                  struct tt_record *r)
{
    OWNED(owned_ttable_close) struct ttable *table = shot_take(s);
    note_device(t, r, -1);
    r->numbers = s->numbers;
    r->length = s->length;
    s->length = NULL;
    TRY(shot_job_repair(&t->job, cu, table));
    return keep_table(t, table, source, r);
}

/* ---- a shot -----------------------------------------------------------------------------------*/

/* Runs until the front has left the box; EK_STOPPED: or the run is to stop. */
static enum ek_status run_steps(struct tt *t, const struct cu *cu, struct shot *s,
                                struct tt_record *r)
{
    struct ray_device *d = NULL;
    int device = -1;
    bool done = false;
    double polled = 0; /* clock_now() of the last poll */
    while (!done && !stop_heard()) {
        if (s->numbers.steps % (size_t)t->poll == 0) {
            if (polled > 0)
                donate_took(t->donate, worker_of(t, cu), clock_now() - polled);
            device = poll_device(t, cu, s, &d);
            polled = clock_now();
            note_device(t, r, device);
        }
        TRY(shot_step(s, cu, d, &done));
        if (s->lost) {
            lose(t, cu, device);
            d = NULL;
        }
        show_progress(t);
    }
    return done ? EK_OK : EK_STOPPED;
}

static enum ek_status run_first(struct tt *t, const struct cu *cu, size_t source,
                                struct tt_record *r)
{
    OWNED(owned_ttable_close) struct ttable *table = NULL;
    TRY(ttable_make(&t->grid, t->sources.at[source], t->velocity->text, &table));
    TRY(shot_job_first(&t->job, cu, table));
    TRY(keep_table(t, table, source, r));
    show_progress(t);
    return EK_OK;
}

static enum ek_status run_fronts(struct tt *t, const struct cu *cu, size_t source,
                                 struct tt_record *r)
{
    OWNED(owned_shot_close) struct shot *s = NULL;
    TRY(shot_open(&t->job, t->sources.at[source], &s));
    enum ek_status st = run_steps(t, cu, s, r);
    THEN(st, finish_shot(t, cu, s, source, r));
    donate_leave(t->donate, worker_of(t, cu));
    return st;
}

static enum ek_status run_shot(struct tt *t, const struct cu *cu, size_t source)
{
    struct tt_record *r = &t->record[source];
    forget(r);
    r->unit = cu->index;
    r->begin = clock_now() - t->start;
    return (t->shot.first ? run_first : run_fronts)(t, cu, source, r);
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct tt *t = ctx;
    for (size_t i = r.begin; i < r.end && i < t->ntodo && !stop_heard(); i++) {
        const double start = clock_now();
        const enum ek_status st = run_shot(t, cu, t->todo[i]);
        if (st)
            return st == EK_STOPPED ? EK_OK : st; /* what is finished stays */
        seconds[i - r.begin] += clock_now() - start;
    }
    return EK_OK;
}

const struct team_ops tt_verbs = {.compute = compute, .cpu_batch = 1};
