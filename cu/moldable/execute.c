/* cu/moldable/execute.c – cu-run run: executes a plan. Agents on the nodes ask for work (cu/farm/),
 * and get a task when its predecessors on its cores have ended, whatever the planned time. When
 * tasks take longer or shorter than planned, or a node is lost, the waiting tasks are replanned. */
#include "cu/moldable/launch.h"
#include "cu/moldable/outcome.h"
#include "cu/moldable/run.h"
#include "cu/moldable/run_history.h"
#include "cu/rank/stop.h"
#include "src/clock.h"
#include "src/file.h"
#include "src/opt.h"
#include "src/progress.h"

#include <pthread.h>

enum { SCAN = 256 };
/* Seconds: between two looks; between two plans, at least; without any task running until waiting
 * tasks count as stuck; reserve of a task before the end of the allocation, besides a SHARE of its
 * expected time. */
static const double GLANCE = 0.1, AGAIN = 1, STILL = 1, RESERVE = 1, SHARE = 0.05;

struct settings {
    const char *method, *results, *json, *report;
    const char *help; /* NULL: not asked for */
    bool resume, quiet;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {"method", OPT_TEXT, AT(method), "NAME",
     .help = "how the tasks are placed (evenkeel); cu-run plan --help lists the methods"},
    {"results", OPT_TEXT, AT(results), "FOLDER",
     .help = "where the tasks' output and the journal go (JOB.results)"},
    {"resume", OPT_FLAG, AT(resume),
     .help =
         "continue an unfinished run; tasks that the journal proves finished are not run again, "
         "but one that ended unreported, as its agent or cu-run was killed, is"},
    {"json", OPT_TEXT, AT(json), "FILE",
     .help = "write the measured schedule to the file; - prints it in place of the text"},
    {"report", OPT_TEXT, AT(report), "FILE",
     .help = "write an HTML page with the planned and the measured schedule"},
    {"quiet", OPT_FLAG, AT(quiet), .help = "no progress line"},
    {"help", OPT_TEXT, AT(help), "all", "this text", .optional = true},
    OPT_END,
};

struct execution {
    struct run_history history;
    struct launch *launch;
    struct farm *farm;
    pthread_mutex_t lock;    /* of the members below and of the history */
    double begin, end;       /* clock_now() at the start; s from then to the allocation's end */
    double planned, changed; /* s: time of the last plan; of the last start or end of a task */
    int running, waiting;    /* tasks */
    bool *here;              /* [nodes] the node is connected */
    bool replan, drains;     /* drains: a task did not fit before the end of the allocation */
    enum ek_status status;
    char *text; /* of the last batch */
};

static double elapsed(const struct execution *x)
{
    return clock_now() - x->begin;
}

/* ---- choosing a node's next task --------------------------------------------------------------*/
static bool over(const struct run_entry *e)
{
    return e->state != RUN_WAITS && e->state != RUN_RUNS;
}

static bool follows(const struct run_history *h, const struct run_entry *e)
{
    for (int i = 0; i < e->placed->nafter; i++)
        if (!over(&h->entry[e->epoch->task[e->placed->after[i]]]))
            return false;
    return true;
}

/* May the task start now? One that would not end in time waits for another allocation, and tasks
 * planned after it may take its cores. */
static bool may_start(struct execution *x, int task)
{
    struct run_history *h = &x->history;
    const struct run_entry *e = &h->entry[task];
    if (e->state != RUN_WAITS || !run_history_ready(h, task) || !run_history_room(h, task) ||
        !(x->drains || follows(h, e)))
        return false;
    const bool late = elapsed(x) + run_history_expected(h, task) * (1 + SHARE) + RESERVE > x->end;
    x->drains = x->drains || late;
    return !late;
}

static int choose_task(struct execution *x, int node)
{
    struct run_history *h = &x->history;
    int *head = &h->head[node], waits = 0;
    while (*head < h->first[node + 1] && h->entry[h->queue[*head]].state != RUN_WAITS)
        ++*head;
    for (int i = *head; i < h->first[node + 1] && (waits < SCAN || x->drains); i++) {
        waits += h->entry[h->queue[i]].state == RUN_WAITS;
        if (may_start(x, h->queue[i]))
            return h->queue[i];
    }
    return -1;
}

static void plan_anew(struct execution *x)
{
    x->replan = false;
    x->planned = elapsed(x);
    if (!x->status && x->waiting)
        x->status = run_history_plan(&x->history, elapsed(x));
    x->changed = elapsed(x); /* planning is no standstill */
}

static struct ek_range deal(void *arg, int rank)
{
    struct execution *x = arg;
    struct ek_range task = {0, 0};
    LOCKED(&x->lock);
    if (x->replan)
        plan_anew(x);
    const int chosen = x->status || !x->waiting ? -1 : choose_task(x, rank - 1);
    if (chosen >= 0) {
        struct run_entry *e = &x->history.entry[chosen];
        run_history_occupy(&x->history, chosen, 1);
        e->state = RUN_RUNS;
        e->start = x->changed = elapsed(x);
        x->running++;
        x->waiting--;
        task = (struct ek_range){(size_t)chosen, (size_t)chosen + 1};
    }
    return task;
}

/* Changes the state of a task that waits or runs. */
static void set_state(struct execution *x, int task, enum run_state state)
{
    struct run_entry *e = &x->history.entry[task];
    if (e->state == RUN_RUNS) {
        run_history_occupy(&x->history, task, -1);
        x->running--;
        x->waiting += state == RUN_WAITS;
        e->finish = x->changed = elapsed(x);
    } else if (e->state == RUN_WAITS && state != RUN_WAITS) {
        x->waiting--;
    }
    e->state = state;
}

/* Some node of the task is lost. */
static bool is_lost(const struct run_history *h, const struct run_entry *e)
{
    for (int k = 0; k < e->placed->nparts; k++)
        if (h->lost[run_history_node(e, k)])
            return true;
    return false;
}

/* A task failed and is tried again, or its node is lost, which is not the task's fault. */
static void back(void *arg, int rank, struct ek_range task)
{
    struct execution *x = arg;
    LOCKED(&x->lock);
    const int node = rank - 1;
    if (task.end > task.begin) {
        set_state(x, (int)task.begin, RUN_WAITS);
        x->history.head[node] = x->history.first[node];
        x->replan = x->replan || is_lost(&x->history, &x->history.entry[task.begin]);
    } else if (!x->history.lost[node] && !x->status) {
        x->history.lost[node] = x->replan = true;
        if (x->running + x->waiting)
            status_warn("node '%s' is lost; its tasks are replanned over the other nodes",
                        x->history.job->problem.node[node].name);
    }
}

/* A task on several nodes fails when one of them is lost or out of reach. */
static bool excuses(void *arg, int rank, size_t task)
{
    struct execution *x = arg;
    LOCKED(&x->lock);
    const struct run_entry *e = &x->history.entry[task];
    (void)rank;
    for (int k = 1; e->placed && k < e->placed->nparts; k++)
        if (!x->here[run_history_node(e, k)])
            return true;
    return false;
}

/* ---- describing a task to a node --------------------------------------------------------------*/
/* The task's nodes: "h" lists hosts, "c" cores, "h:c" both. */
static char *listed(const struct run_history *h, const struct run_entry *e, const char *form)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int k = 0; out && k < e->placed->nparts; k++) {
        const char *host = h->job->node[run_history_node(e, k)].host;
        const int cores = e->placed->part[k].ncores;
        if (k)
            fputc(',', out);
        if (strchr(form, 'h'))
            fputs(host ? host : "localhost", out);
        if (strchr(form, ':'))
            fputc(':', out);
        if (strchr(form, 'c'))
            fprintf(out, "%d", cores);
    }
    if (out)
        fclose(out);
    return text;
}

static void describe(void *arg, struct farm_batch *batch)
{
    struct execution *x = arg;
    const struct run_history *h = &x->history;
    const int task = (int)batch->tasks.begin;
    LOCKED(&x->lock);
    const struct run_entry *e = &h->entry[task];
    const int node = run_history_node(e, 0);
    OWNED_MEMORY char *hosts = listed(h, e, "h:c");
    OWNED_MEMORY char *names = listed(h, e, "h");
    OWNED_MEMORY char *counts = listed(h, e, "c");
    const struct agent_task t = {.task = task,
                                 .kind = h->job->problem.kind[task],
                                 .cores = e->placed->part[0].ncores,
                                 .all_cores = e->placed->cores,
                                 .nnodes = e->placed->nparts,
                                 .node = h->job->problem.node[node].name,
                                 .hosts = hosts ? hosts : "",
                                 .nodelist = names ? names : "",
                                 .tasks_per_node = counts ? counts : "",
                                 .seconds = e->placed->finish - e->placed->start};
    free(x->text);
    batch->text = x->text = agent_task_text(h->job, &t, node);
}

/* ---- the end of a task ------------------------------------------------------------------------*/
/* Stores output that came with the report. */
static enum ek_status keep_output(const struct run_history *h, int task, const char *suffix,
                                  const char *bytes, size_t n)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%d.%s", h->folder, task, suffix);
    FILE *f = fopen(path, "we");
    const bool good = f && fwrite(bytes, 1, n, f) == n;
    return (f && fclose(f)) || !good ? status_fail(EK_UNAVAILABLE, "%s cannot be written: %m", path)
                                     : EK_OK;
}

/* A task of the kind has failed: skips all tasks that depend on it. Kinds stand behind those that
 * they depend on. */
static void skip_dependents(struct execution *x, int kind)
{
    const struct moldable_problem *p = &x->history.job->problem;
    struct run_measured *m = x->history.measured;
    m[kind].failed = true;
    for (int k = kind + 1; k < p->nkinds; k++) {
        bool skip = false;
        for (int a = 0; a < p->kinds[k].nafter; a++)
            skip = skip || m[p->kinds[k].after[a]].failed;
        if (!skip || m[k].failed || !m[k].left) /* none left: those behind it have what they need */
            continue;
        m[k].failed = true;
        for (int i = x->history.job->command[k].first; i < p->ntasks && p->kind[i] == k; i++)
            if (x->history.entry[i].state == RUN_WAITS)
                set_state(x, i, RUN_SKIPPED);
    }
}

static void note_measured(struct execution *x, int task)
{
    struct run_history *h = &x->history;
    const struct run_entry *e = &h->entry[task];
    const int kind = h->job->problem.kind[task];
    struct run_measured *p = &h->measured[kind];
    p->left--;
    p->n++;
    p->measured += e->finish - e->start;
    p->expected +=
        (e->placed->finish - e->placed->start) / (1 + e->epoch->problem.kinds[kind].law.stretch);
    if (elapsed(x) > x->planned + AGAIN && x->waiting && run_history_off_plan(h))
        x->replan = true;
}

static enum ek_status note_end(struct execution *x, int task, const struct agent_report *r,
                               bool aside)
{
    struct run_history *h = &x->history;
    struct run_entry *e = &h->entry[task];
    e->status = r->code;
    e->seconds = r->seconds;
    if (r->code && !aside) {
        status_warn("task %d exits with %d and is tried again", task, r->code);
        return EK_OK;
    }
    set_state(x, task, r->code ? RUN_FAILED : RUN_DONE);
    h->makespan = fmax(h->makespan, e->finish);
    if (r->code)
        skip_dependents(x, h->job->problem.kind[task]);
    else
        note_measured(x, task);
    return run_history_note(h, task);
}

static enum ek_status take(void *arg, int rank, const struct farm_batch *batch, int failed,
                           const void *result, size_t bytes)
{
    struct execution *x = arg;
    const int task = (int)batch->tasks.begin;
    struct agent_report r = {.code = failed};
    const char *output = (const char *)result + sizeof r;
    bool aside = false;
    (void)rank;
    if (bytes >= sizeof r)
        memcpy(&r, result, sizeof r);
    if (bytes < sizeof r || bytes - sizeof r != r.out + r.err)
        FAIL(EK_USAGE, "task %d: its report is not one of this program", task);
    const int failures =
        coordinator_failures(farm_coordinator(x->farm), batch->tasks.begin, &aside);
    LOCKED(&x->lock);
    x->history.entry[task].attempts = failures + !r.code;
    if (r.carried) {
        TRY(keep_output(&x->history, task, "out", output, r.out));
        TRY(keep_output(&x->history, task, "err", output + r.out, r.err));
    }
    return note_end(x, task, &r, aside);
}

/* ---- the run ----------------------------------------------------------------------------------*/
/* Predicted seconds times cores of the tasks that are over, or of all tasks. */
static double work_done(const struct run_history *h, bool all)
{
    double work = 0;
    for (int i = 0; i < h->job->problem.ntasks; i++) {
        const struct run_entry *e = &h->entry[i];
        if (e->placed && (all || over(e)))
            work += (e->placed->finish - e->placed->start) * e->placed->cores;
    }
    return work;
}

/* Notes which nodes are connected. */
static void look_for_nodes(struct execution *x)
{
    for (int n = 0; n < x->history.job->problem.nnodes; n++) {
        const bool here = farm_worker(x->farm, n + 1).here; /* takes the farm's lock */
        LOCKED(&x->lock);
        x->here[n] = here;
    }
}

static bool all_here(const struct execution *x)
{
    for (int n = 0; n < x->history.job->problem.nnodes; n++)
        if (!x->history.lost[n] && !x->here[n])
            return false;
    return true;
}

/* *end: nothing runs, and no waiting task can start. */
static enum ek_status check_end(struct execution *x, bool *end)
{
    LOCKED(&x->lock);
    const bool here = all_here(x);
    if (x->replan) /* also where no node is left that asks for a task */
        plan_anew(x);
    const double still = elapsed(x) - x->changed;
    *end =
        x->status || (!x->running && (!x->waiting || still > (here ? STILL : STILL + AGENT_GRACE)));
    if (!*end || x->status || !x->waiting)
        return x->status;
    if (x->drains)
        FAIL(EK_STOPPED,
             "the allocation has no time left for %d tasks; run the same command with --resume in "
             "another one",
             x->waiting);
    FAIL(EK_UNAVAILABLE, "%d tasks wait, and none of them can start; --resume goes on with them",
         x->waiting);
}

static enum ek_status serve(struct execution *x)
{
    bool done = false, end = false;
    enum ek_status st = EK_OK;
    while (!st && !done && !end) {
        struct farm_batch none;
        st = farm_next(x->farm, GLANCE, &none, &done);
        launch_watch(x->launch);
        look_for_nodes(x);
        if (!st && !done)
            st = check_end(x, &end);
        LOCKED(&x->lock);
        progress_at(work_done(&x->history, false));
    }
    if (!st && stop_requested())
        st = status_fail(EK_STOPPED, "interrupted; run the same command with --resume to go on");
    return st;
}

/* Seconds left of the Slurm allocation; INFINITY: unknown. */
static double slurm_seconds(void)
{
    int d = 0, h = 0, m = 0, s = 0;
    char text[64] = "";
    if (!getenv("SLURM_JOB_ID"))
        return INFINITY;
    FILE *f = popen("squeue --noheader --format %L --jobs \"$SLURM_JOB_ID\" 2>/dev/null", "re");
    if (f && !fgets(text, sizeof text, f))
        *text = 0;
    if (f)
        pclose(f);
    if (sscanf(text, "%d-%d:%d:%d", &d, &h, &m, &s) != 4 &&
        (d = 0, sscanf(text, "%d:%d:%d", &h, &m, &s) != 3) &&
        (h = 0, sscanf(text, "%d:%d", &m, &s) != 2))
        return INFINITY;
    return 60. * (60. * (24. * d + h) + m) + s;
}

static enum ek_status carry_out(struct execution *x)
{
    struct run_history *h = &x->history;
    const struct farm_source source = {deal, back, x, excuses};
    const struct farm_job job = {
        .source = &source, .n = (size_t)h->job->problem.ntasks, .failures = h->job->retries + 1};
    const struct server_ops ops = {.brief = describe, .take = take, .arg = x};
    const double left = h->job->node[0].reach == RUN_SLURM ? slurm_seconds() : INFINITY;
    const double since = clock_now();
    const enum ek_status opened = launch_open(h->job, h->folder, h->token, &ops, &x->launch);
    if (opened) {
        run_history_discard(h);
        return opened;
    }
    x->farm = launch_farm(x->launch);
    x->begin = clock_now();
    x->end = fmin(h->job->walltime > 0 ? h->job->walltime : INFINITY, left) - (x->begin - since);
    progress_begin(h->method->name, work_done(h, true), "core s");
    enum ek_status st = farm_begin(x->farm, &job);
    THEN(st, serve(x));
    progress_end();
    launch_close(x->launch);
    for (int i = 0; i < h->job->problem.ntasks; i++)
        if (h->entry[i].state == RUN_RUNS)
            h->entry[i].state = RUN_WAITS;
    return st;
}

static enum ek_status run_tasks(const struct run_job *j, const struct settings *s)
{
    struct execution x = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct run_history *h = &x.history;
    const struct moldable_method *method = moldable_find(s->method ? s->method : "evenkeel");
    char folder[4096];
    if (!method)
        return EK_USAGE;
    if (s->results)
        snprintf(folder, sizeof folder, "%s", s->results);
    else
        snprintf(folder, sizeof folder, "%s.results", strcmp(j->path, "-") ? j->path : "cu-run");
    OWNED_MEMORY NEW(bool, here, j->problem.nnodes + 1, "out of memory for %d nodes",
                     j->problem.nnodes);
    x.here = here;
    stop_catch();
    TRY(run_history_open(h, j, method, folder, s->resume));
    for (int i = 0; i < j->problem.ntasks; i++)
        x.waiting += h->entry[i].state == RUN_WAITS;
    enum ek_status st = run_history_plan(h, 0);
    if (!st && x.waiting)
        st = carry_out(&x);
    if (!st || st == EK_STOPPED || h->makespan > 0) {
        enum ek_status told = run_outcome(h, s->json, s->report);
        THEN(st, told);
    }
    run_history_close(h);
    free(x.text);
    return st;
}

enum ek_status run_run(int argc, char **argv)
{
    struct settings s = {0};
    OWNED(run_job_close) struct run_job job = {0};
    const char *path;
    TRY(run_words(argc, argv, options, &s, &s.help,
                  "Usage: cu-run run JOB.json [options]\n\n"
                  "Plans the job's tasks and runs them, each bound to its cores. cu/README.md and\n"
                  "cu/examples/ describe the format of a job.",
                  &path));
    if (s.help)
        return EK_OK;
    if (!path)
        FAIL(EK_USAGE, "run needs a job file; try cu-run run --help");
    progress_quiet(s.quiet);
    TRY(run_job_open(&job, path));
    TRY(run_job_timed(&job));
    TRY(file_try(s.json));
    TRY(file_try(s.report));
    return run_tasks(&job, &s);
}
