/* okada_mogi/inversion.c – a search as a program: tasks are ranges of trials, which have no data to
 * move; what they find goes into the harvest. */
#include "okada_mogi/inversion.h"
#include "cu/crew.h"
#include "okada_mogi/forward.h"
#include "okada_mogi/harvest.h"
#include "okada_mogi/search.h"
#include "src/clock.h"
#include "src/opt.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Tasks: so many for each unit, if each then costs so much (station evaluations or their like); and
 * pieces of a task for each thread of a unit. */
enum { MOST_TASKS = 4096, TASKS_PER_UNIT = 32, PIECES = 4 };
static const double task_cost = 1e5;

struct program {
    const char *path, *method_name, *trials, *out, *binary, *forward;
    enum search_method method;
    bool dry_run;
    const struct model *model;
    struct job *job;
    struct search *search;
    struct trial_range range;
    trial_number per_task;
    size_t ntasks;
    double *cost; /* [ntasks] */
    struct harvest *harvest;
    struct cu_set *set;
    struct unit *unit; /* [set->n] */
    double before;     /* evaluations until this run began */
    long checked;
};

/* What works for one unit: a worker for each of its threads, or a device. */
struct unit {
    int width;
    struct search_worker **worker;
    struct accepted *found; /* [width] */
    struct search_device *device;
};

static const struct opt options[] = {
    {"method", OPT_TEXT, offsetof(struct program, method_name), "exact|brute",
     "use what the model knows of itself, or compute every trial (exact)", .env = NULL},
    {"trials", OPT_TEXT, offsetof(struct program, trials), "BEGIN:END",
     "only these trials, END not included (all)", .env = NULL},
    {"out", OPT_TEXT, offsetof(struct program, out), "FILE",
     "table of the accepted trials, or of --forward's displacements", .env = NULL},
    {"binary", OPT_TEXT, offsetof(struct program, binary), "FILE",
     "the accepted trials as little-endian binary rows", .env = NULL},
    {"dry-run", OPT_FLAG, offsetof(struct program, dry_run),
     .help = "only say how many trials, how much memory and how long"},
    {"forward", OPT_TEXT, offsetof(struct program, forward), "FILE",
     "displacements of the sources and points in this table, no search", .env = NULL},
    OPT_END,
};

static void defaults(void *st, const struct bench_program *self)
{
    struct program *p = st;
    p->method_name = "exact";
    p->model = model_find(self->name);
}

/* ---- before a run -----------------------------------------------------------------------------*/

static enum ek_status parse_method(struct program *p)
{
    static const char *const names[] = {[SEARCH_EXACT] = "exact", [SEARCH_BRUTE] = "brute"};
    for (int i = 0; i < 2; i++)
        if (!strcmp(p->method_name, names[i])) {
            p->method = (enum search_method)i;
            return EK_OK;
        }
    FAIL(EK_USAGE, "--method %s: not exact or brute%s", p->method_name,
         opt_suggest(p->method_name, names, 2));
}

/* "0:1000000" within the job's trials. */
static enum ek_status parse_range(struct program *p)
{
    char begin[TRIAL_TEXT] = "", most[TRIAL_TEXT];
    trial_number first, end;
    p->range = (struct trial_range){0, p->job->trials};
    if (!p->trials)
        return EK_OK;
    const char *colon = strchr(p->trials, ':');
    if (colon && colon - p->trials < TRIAL_TEXT)
        memcpy(begin, p->trials, (size_t)(colon - p->trials));
    if (!colon || !trial_parse(begin, &first) || !trial_parse(colon + 1, &end))
        FAIL(EK_USAGE, "--trials %s: write BEGIN:END, e.g. 0:1000000", p->trials);
    if (first >= end || end > p->job->trials)
        FAIL(EK_USAGE, "--trials %s: there are trials 0:%s", p->trials,
             trial_text(p->job->trials, most));
    p->range = (struct trial_range){first, end - first};
    return EK_OK;
}

static enum ek_status open_job(struct program *p)
{
    if (!p->path)
        FAIL(EK_USAGE, "which job? %s JOB.json; see --help", p->model->name);
    TRY(parse_method(p));
    TRY(job_open(p->path, p->model, &p->job));
    return parse_range(p);
}

/* Whole grains, enough tasks for a policy to choose from, none too small to be worth handing out.
 */
static void divide(struct program *p)
{
    const trial_number grain = search_grain(p->search);
    const trial_number grains = (p->range.count + grain - 1) / grain;
    const double worth = fmax(search_cost(p->search, p->range) / task_cost,
                              p->set ? TASKS_PER_UNIT * p->set->n : TASKS_PER_UNIT);
    const trial_number tasks = (trial_number)fmin(ceil(worth), MOST_TASKS);
    p->per_task = grain * ((grains + tasks - 1) / tasks);
    p->ntasks =
        (size_t)((p->range.first % p->per_task + p->range.count + p->per_task - 1) / p->per_task);
}

/* Tasks end at multiples of their size, wherever the range begins. */
static struct trial_range task_range(const struct program *p, size_t task)
{
    const trial_number begin = p->range.first / p->per_task + task;
    return trial_overlap((struct trial_range){begin * p->per_task, p->per_task}, p->range);
}

/* Runs tasks from all over the range for about half a second. */
static enum ek_status time_tasks(struct program *p, double *seconds)
{
    struct search_worker *w;
    struct accepted found = {0};
    size_t done = 0;
    TRY(search_worker_open(p->search, &w));
    enum ek_status st = EK_OK;
    const double start = clock_now();
    for (; done < p->ntasks && clock_now() - start < 0.5 && !st; done++) {
        const size_t task = done * 2654435761u % p->ntasks;
        st = search_run(w, task_range(p, task), &found);
        found.n = 0;
    }
    *seconds = (clock_now() - start) / (double)done * (double)p->ntasks;
    accepted_free(&found);
    search_worker_close(w);
    return st;
}

static enum ek_status dry_run(struct program *p)
{
    char trials[TRIAL_TEXT];
    double seconds = 0;
    TRY(open_job(p));
    enum ek_status st = search_open(p->job, p->method, &p->search);
    if (!st) {
        divide(p);
        st = time_tasks(p, &seconds);
    }
    if (!st)
        printf("%s: %s trials in %zu tasks, %.3g MiB, about %.3g s on one core (%.3g trials/s)\n",
               p->path, trial_text(p->range.count, trials), p->ntasks,
               (double)search_bytes(p->job, p->method) / (1 << 20), seconds,
               (double)p->range.count / seconds);
    search_close(p->search);
    job_close(p->job);
    return st;
}

static enum ek_status answer(void *st, bool *done)
{
    struct program *p = st;
    *done = p->forward || p->dry_run;
    if (p->forward)
        return forward_table(p->model, p->forward, p->out ? p->out : "-");
    return p->dry_run ? dry_run(p) : EK_OK;
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct program *p = st;
    char trials[TRIAL_TEXT];
    TRY(open_job(p));
    *bytes = search_bytes(p->job, p->method);
    snprintf(problem, room, "%s, %s trials, %s", p->path, trial_text(p->range.count, trials),
             p->method_name);
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status open_unit(struct program *p, const struct cu *cu)
{
    struct unit *u = &p->unit[cu->index];
    if (cu->kind == CU_DEVICE)
        return search_device_open(p->search, cu->device, &u->device);
    u->worker = calloc((size_t)cu->width, sizeof(struct search_worker *));
    u->found = calloc((size_t)cu->width, sizeof *u->found);
    if (!u->worker || !u->found)
        FAIL(EK_LACK, "out of memory for unit %s", cu->name);
    for (; u->width < cu->width; u->width++)
        TRY(search_worker_open(p->search, &u->worker[u->width]));
    return EK_OK;
}

static void close_unit(struct unit *u)
{
    for (int t = 0; t < u->width; t++) {
        search_worker_close(u->worker[t]);
        accepted_free(&u->found[t]);
    }
    free(u->worker);
    free(u->found);
    search_device_close(u->device);
}

/* Each on its unit's own thread: first touch, and devices belong to it. */
static enum ek_status open_units(struct program *p)
{
    enum ek_status failed = EK_OK;
#pragma omp parallel num_threads(p->set->n) proc_bind(close)
#pragma omp for schedule(static, 1)
    for (int c = 0; c < p->set->n; c++) {
        const enum ek_status st = open_unit(p, &p->set->cu[c]);
        if (st) {
#pragma omp atomic write
            failed = st;
        }
    }
    return failed;
}

static enum ek_status open_harvest(struct program *p)
{
    const char *const path[] = {[ACCEPTED_CSV] = p->out, [ACCEPTED_BINARY] = p->binary};
    return harvest_open(p->job, p->range, path, &p->harvest);
}

static enum ek_status open_program(void *st, struct cu_set *set, struct sched_job *job)
{
    struct program *p = st;
    p->set = set;
    TRY(search_open(p->job, p->method, &p->search));
    TRY(open_harvest(p));
    divide(p);
    p->cost = calloc(p->ntasks, sizeof *p->cost);
    p->unit = calloc((size_t)set->n, sizeof *p->unit);
    if (!p->cost || !p->unit)
        FAIL(EK_LACK, "%s: out of memory for %zu tasks", p->path, p->ntasks);
    for (size_t t = 0; t < p->ntasks; t++)
        p->cost[t] = search_cost(p->search, task_range(p, t));
    *job = (struct sched_job){.n = p->ntasks, .grain = 1, .cost = p->cost};
    return open_units(p);
}

static void close_program(void *st)
{
    struct program *p = st;
    if (p->unit) {
#pragma omp parallel num_threads(p->set->n) proc_bind(close)
#pragma omp for schedule(static, 1)
        for (int c = 0; c < p->set->n; c++)
            close_unit(&p->unit[c]);
    }
    free(p->unit);
    free(p->cost);
    harvest_close(p->harvest);
    search_close(p->search);
    job_close(p->job);
}

/* ---- a run ------------------------------------------------------------------------------------*/

/* A task on the threads of a unit, who take pieces of it until none is left. */
struct sharing {
    const struct program *p;
    struct unit *unit;
    struct trial_range range;
    trial_number piece;
    atomic_size_t next;
    _Atomic int status;
};

static void take_pieces(void *arg, int thread)
{
    struct sharing *s = arg;
    const trial_number begin = s->range.first / s->piece;
    for (;;) {
        const trial_number at = begin + atomic_fetch_add(&s->next, 1);
        if (at * s->piece >= s->range.first + s->range.count || s->status)
            return;
        const struct trial_range piece =
            trial_overlap((struct trial_range){at * s->piece, s->piece}, s->range);
        const enum ek_status st =
            search_run(s->unit->worker[thread], piece, &s->unit->found[thread]);
        if (st)
            s->status = (int)st;
    }
}

static enum ek_status run_shared(struct program *p, const struct cu *cu, struct trial_range range,
                                 struct accepted *found)
{
    struct unit *u = &p->unit[cu->index];
    const trial_number grain = search_grain(p->search);
    const trial_number grains = range.count / grain + 1;
    struct sharing s = {.p = p, .unit = u, .range = range};
    s.piece = grain * ((grains + (trial_number)(PIECES * u->width) - 1) /
                       (trial_number)(PIECES * u->width));
    crew_run(cu->crew, cu->width, take_pieces, &s);
    for (int t = 0; t < u->width && !s.status; t++)
        for (size_t i = 0; i < u->found[t].n && !s.status; i++)
            s.status = (int)accepted_add(found, &u->found[t].record[i]);
    for (int t = 0; t < u->width; t++)
        u->found[t].n = 0;
    accepted_sort(found);
    return (enum ek_status)s.status;
}

static enum ek_status run_task(struct program *p, const struct cu *cu, size_t task)
{
    struct unit *u = &p->unit[cu->index];
    struct accepted found = {0};
    const struct trial_range range = task_range(p, task);
    enum ek_status st =
        u->width > 1 ? run_shared(p, cu, range, &found) : search_run(u->worker[0], range, &found);
    if (!st)
        st = harvest_put(p->harvest, range, &found);
    accepted_free(&found);
    return st;
}

/* Consecutive tasks as one batch, so that they fill the device. Their time is divided evenly. */
static enum ek_status run_on_device(struct program *p, const struct cu *cu, struct ek_range r,
                                    double *seconds)
{
    struct accepted found = {0};
    const double start = clock_now();
    const struct trial_range first = task_range(p, r.begin), last = task_range(p, r.end - 1);
    const struct trial_range all = {first.first, last.first + last.count - first.first};
    enum ek_status st = search_device_run(p->unit[cu->index].device, all, &found);
    if (!st)
        st = harvest_put(p->harvest, all, &found);
    accepted_free(&found);
    for (size_t t = r.begin; t < r.end; t++)
        seconds[t - r.begin] += (clock_now() - start) / (double)(r.end - r.begin);
    return st;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    if (cu->kind == CU_DEVICE)
        return run_on_device(ctx, cu, r, seconds);
    for (size_t t = r.begin; t < r.end; t++) {
        const double start = clock_now();
        TRY(run_task(ctx, cu, t));
        seconds[t - r.begin] += clock_now() - start;
    }
    return EK_OK;
}

static const struct team_ops verbs = {.compute = compute, .cpu_batch = 1};

static int steps(const void *st)
{
    (void)st;
    return 1;
}

static double evaluations(const struct program *p)
{
    double sum = 0;
    for (int c = 0; c < p->set->n; c++) {
        const struct unit *u = &p->unit[c];
        for (int t = 0; t < u->width; t++)
            sum += search_evaluations(u->worker[t]);
        if (u->device)
            sum += search_device_evaluations(u->device);
    }
    return sum;
}

static enum ek_status reset(void *st)
{
    struct program *p = st;
    p->before = evaluations(p);
    return harvest_begin(p->harvest);
}

static double work(const void *st)
{
    const struct program *p = st;
    return 1e-6 * (double)p->range.count;
}

/* ---- after a run ------------------------------------------------------------------------------*/

static enum ek_status check(void *st, bool *verified, json_t **detail)
{
    struct program *p = st;
    TRY(harvest_end(p->harvest));
    TRY(harvest_check(p->harvest, verified, &p->checked));
    *detail =
        json_pack("{s:s s:i}", "method", "trials judged one by one", "trials", (int)p->checked);
    return EK_OK;
}

static json_t *facts(const void *st)
{
    const struct program *p = st;
    json_t *o = harvest_json(p->harvest);
    if (!o)
        return NULL;
    json_object_set_new(
        o, "evaluations",
        json_integer((json_int_t)(evaluations(p) - p->before + search_prepared(p->search))));
    json_object_set_new(o, "method", json_string(p->method_name));
    json_object_set_new(o, "job", json_string(p->path));
    json_object_set_new(o, "model", json_string(p->model->name));
    json_object_set_new(o, "projection", json_string(p->job->stations.projection));
    return o;
}

struct bench_program inversion_program(const char *name)
{
    const struct model *model = model_find(name);
    return (struct bench_program){
        .name = model->name,
        .summary = model->summary,
        .unit = "Mtrial/s",
        .size = sizeof(struct program),
        .opts = options,
        .operand = "JOB.json",
        .operand_at = offsetof(struct program, path),
        .cold = true,
        .defaults = defaults,
        .answer = answer,
        .plan = plan,
        .open = open_program,
        .verbs = &verbs,
        .steps = steps,
        .reset = reset,
        .work = work,
        .check = check,
        .facts = facts,
        .remark = harvest_print,
        .close = close_program,
    };
}
