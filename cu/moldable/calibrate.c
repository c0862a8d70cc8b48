/* cu/moldable/calibrate.c – cu-run calibrate: measures run times on 1, 2, … cores of the reference
 * node (the job's first), how much busy neighbours slow tasks down, and the other nodes' speed
 * factors, and fits a law to the times. */
#include "cu/moldable/launch.h"
#include "cu/moldable/run.h"
#include "cu/moldable/run_fit.h"
#include "cu/rank/stop.h"
#include "src/cachedir.h"
#include "src/json.h"
#include "src/opt.h"
#include "src/progress.h"
#include "src/sort.h"

#include <pthread.h>
#include <unistd.h>

enum { MOST_WIDTHS = 64, MOST_REPEATS = 101 };
static const double GLANCE = 0.1; /* s */

struct settings {
    const char *cores, *out, *json;
    int repeat;
    const char *help; /* NULL: not asked for */
    bool quiet;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {"cores", OPT_TEXT, AT(cores), "LIST",
     .help = "numbers of cores to measure (1,2,4,… and all of the first node)"},
    {"repeat", OPT_INT, AT(repeat), "N", "runs of each, of which the median counts (3)", .min = 1,
     .max = MOST_REPEATS},
    {"out", OPT_TEXT, AT(out), "FILE",
     .help = "write the job completed by the run times and factors"},
    {"json", OPT_TEXT, AT(json), "FILE",
     .help = "write all measurements to the file; - prints them in place of the text"},
    {"quiet", OPT_FLAG, AT(quiet), .help = "no progress line"},
    {"help", OPT_TEXT, AT(help), "all", "this text", .optional = true},
    OPT_END,
};

struct widths {
    int n, cores[MOST_WIDTHS + 2]; /* two more that a kind may add */
    bool given;                    /* by --cores */
};

/* One measurement: `copies` tasks of a kind at a time, each on `cores` cores of a node. */
struct trial {
    int node, kind, cores, copies;
    int first; /* its first task of repeat * copies; the copies of one repetition are consecutive */
    int begun, over; /* tasks */
};

struct calibration {
    const struct run_job *job;
    struct widths widths;
    int repeat;
    struct trial *trial; /* [ntrials] those of a node one after the other */
    int ntrials, ntasks;
    size_t room;        /* of `trial` */
    double *seconds;    /* [ntasks] as found by "measure" */
    double *wall;       /* [ntasks] of the whole run */
    struct arena arena; /* of both */
    pthread_mutex_t lock;
    struct farm *farm;
    char *text;
    int failed, status; /* the trial that failed, -1: none; its exit code */
    json_t *tasks;      /* one object for each kind */
};

/* ---- trials -----------------------------------------------------------------------------------*/
static enum ek_status add_trial(struct calibration *c, int node, int kind, int cores, int copies)
{
    TRY(arena_grow(&c->trial, &c->room, (size_t)c->ntrials, sizeof *c->trial, "trials"));
    c->trial[c->ntrials++] = (struct trial){node, kind, cores, copies, c->ntasks, 0, 0};
    c->ntasks += c->repeat * copies;
    return EK_OK;
}

/* Can tasks of the kind run on so many cores of the node? */
static bool suits(const struct calibration *c, int node, int kind, int cores)
{
    const struct moldable_kind *k = &c->job->problem.kinds[kind];
    const struct moldable_node *n = &c->job->problem.node[node];
    return moldable_allows(k, cores) && cores <= n->cores && moldable_can_host(k, n);
}

static void add_width(const struct calibration *c, int kind, int cores, struct widths *w)
{
    int at = 0;
    while (at < w->n && w->cores[at] < cores)
        at++;
    if (!suits(c, 0, kind, cores) || (at < w->n && w->cores[at] == cores))
        return;
    memmove(w->cores + at + 1, w->cores + at, (size_t)(w->n++ - at) * sizeof *w->cores);
    w->cores[at] = cores;
}

/* The numbers of cores of the first node on which the kind is measured, ascending: those of
 * --cores; by default also the fewest and the most that it can use. */
static enum ek_status choose_for_kind(const struct calibration *c, int kind, struct widths *w)
{
    const struct moldable_kind *k = &c->job->problem.kinds[kind];
    w->n = 0;
    for (int i = 0; i < c->widths.n; i++)
        add_width(c, kind, c->widths.cores[i], w);
    if (!c->widths.given) {
        add_width(c, kind, k->least, w);
        add_width(c, kind, k->most, w);
    }
    if (!w->n)
        FAIL(EK_USAGE, "task '%s' cannot be measured on node '%s' with %s cores", k->name,
             c->job->problem.node[0].name, c->widths.given ? "these numbers of" : "its");
    return EK_OK;
}

/* How many tasks of the kind run side by side on the first node, each on `cores` cores: no more
 * than the job has, so that each writes its own files. */
static int side_by_side(const struct calibration *c, int kind, int cores)
{
    const int most = c->job->problem.node[0].cores / cores, n = run_job_count(c->job, kind);
    return n < most ? n : most;
}

/* On the first node all widths, and the narrowest one again with copies on all cores; on the other
 * nodes only the narrowest, where they can have it. */
static enum ek_status list_trials(struct calibration *c)
{
    const struct moldable_problem *p = &c->job->problem;
    for (int node = 0; node < p->nnodes; node++)
        for (int k = 0; k < p->nkinds; k++) {
            struct widths w;
            TRY(choose_for_kind(c, k, &w));
            const int copies = side_by_side(c, k, w.cores[0]);
            for (int i = 0; !node && i < w.n; i++)
                TRY(add_trial(c, node, k, w.cores[i], 1));
            if (node ? suits(c, node, k, w.cores[0]) : copies > 1)
                TRY(add_trial(c, node, k, w.cores[0], node ? 1 : copies));
        }
    return EK_OK;
}

static struct trial *trial_of(struct calibration *c, size_t task)
{
    int t = 0;
    while (t + 1 < c->ntrials && (size_t)c->trial[t + 1].first <= task)
        t++;
    return &c->trial[t];
}

/* Only the copies of one trial run at a time on a node; the nodes that are this machine take turns,
 * too. */
static bool may_begin(const struct calibration *c, const struct trial *t)
{
    const bool here = c->job->node[t->node].reach == RUN_HERE;
    for (const struct trial *o = c->trial; o < c->trial + c->ntrials; o++) {
        const bool beside = o->node == t->node || (here && c->job->node[o->node].reach == RUN_HERE);
        if (o != t && beside && o->over < o->begun)
            return false;
    }
    return t->begun < t->over / t->copies * t->copies + t->copies;
}

static struct ek_range deal(void *arg, int rank)
{
    struct calibration *c = arg;
    struct ek_range task = {0, 0};
    LOCKED(&c->lock);
    struct trial *t = c->trial;
    while (t < c->trial + c->ntrials && (t->node != rank - 1 || t->over == t->copies * c->repeat))
        t++;
    if (t < c->trial + c->ntrials && t->begun < t->copies * c->repeat && may_begin(c, t)) {
        task.begin = (size_t)(t->first + t->begun++);
        task.end = task.begin + 1;
    }
    return task;
}

static void back(void *arg, int rank, struct ek_range task)
{
    struct calibration *c = arg;
    LOCKED(&c->lock);
    if (c->failed < 0)
        for (int t = 0; t < c->ntrials; t++)
            if (c->trial[t].node == rank - 1)
                c->failed = t;
    (void)task;
}

static void describe(void *arg, struct farm_batch *batch)
{
    struct calibration *c = arg;
    const struct run_job *j = c->job;
    char hosts[300], counts[16];
    LOCKED(&c->lock);
    const struct trial *t = trial_of(c, batch->tasks.begin);
    const char *host = j->node[t->node].host ? j->node[t->node].host : "localhost";
    snprintf(hosts, sizeof hosts, "%s:%d", host, t->cores);
    snprintf(counts, sizeof counts, "%d", t->cores);
    const int copy = ((int)batch->tasks.begin - t->first) % t->copies;
    const struct agent_task task = {.task = j->command[t->kind].first + copy,
                                    .kind = t->kind,
                                    .cores = t->cores,
                                    .all_cores = t->cores,
                                    .nnodes = 1,
                                    .node = j->problem.node[t->node].name,
                                    .hosts = hosts,
                                    .nodelist = host,
                                    .tasks_per_node = counts,
                                    .seconds =
                                        moldable_seconds(&j->problem.kinds[t->kind].law, t->cores) /
                                        j->problem.node[t->node].factor};
    free(c->text);
    batch->text = c->text = agent_task_text(j, &task, t->node);
}

static enum ek_status take(void *arg, int rank, const struct farm_batch *batch, int failed,
                           const void *result, size_t bytes)
{
    struct calibration *c = arg;
    struct agent_report r;
    (void)rank;
    if (bytes < sizeof r)
        FAIL(EK_USAGE, "a report is not one of this program");
    memcpy(&r, result, sizeof r);
    LOCKED(&c->lock);
    struct trial *t = trial_of(c, batch->tasks.begin);
    t->over++;
    c->seconds[batch->tasks.begin] = r.seconds;
    c->wall[batch->tasks.begin] = r.wall;
    if (failed && c->failed < 0) {
        c->failed = (int)(t - c->trial);
        c->status = failed;
    }
    return EK_OK;
}

static int tasks_over(struct calibration *c)
{
    int n = 0;
    LOCKED(&c->lock);
    for (int t = 0; t < c->ntrials; t++)
        n += c->trial[t].over;
    return n;
}

static enum ek_status judge(const struct calibration *c)
{
    if (stop_requested())
        FAIL(EK_STOPPED, "interrupted; nothing is written");
    if (c->failed < 0)
        return EK_OK;
    const struct trial *t = &c->trial[c->failed];
    if (!c->status)
        FAIL(EK_UNAVAILABLE, "node '%s' is lost", c->job->problem.node[t->node].name);
    FAIL(EK_UNVERIFIED,
         "task '%s' fails on %d cores of node '%s' (exit %d): try its command by hand",
         c->job->problem.kinds[t->kind].name, t->cores, c->job->problem.node[t->node].name,
         c->status);
}

static enum ek_status measure(struct calibration *c)
{
    struct launch *l;
    char folder[4096];
    const struct farm_source source = {.next = deal, .back = back, .arg = c};
    const struct farm_job job = {.source = &source, .n = (size_t)c->ntasks, .failures = 1};
    const struct server_ops ops = {.brief = describe, .take = take, .arg = c};
    bool over = false;
    cachedir_temporary("cu-run-XXXXXX", folder, sizeof folder);
    if (!mkdtemp(folder)) /* only a name is needed: the tasks' output is not kept */
        FAIL(EK_UNAVAILABLE, "no folder %s: %m", folder);
    rmdir(folder);
    TRY(launch_open(c->job, folder, "none", &ops, &l));
    c->farm = launch_farm(l);
    enum ek_status st = farm_begin(c->farm, &job);
    progress_begin("calibrate", c->ntasks, "run");
    while (!st && !over && c->failed < 0) {
        struct farm_batch none;
        st = farm_next(c->farm, GLANCE, &none, &over);
        launch_watch(l);
        progress_at(tasks_over(c));
    }
    progress_end();
    launch_close(l);
    return st ? st : judge(c);
}

/* ---- the law of a kind ------------------------------------------------------------------------*/
/* The median of a trial's runs; of a sweep only of its first task, which others are compared with:
 * tasks with other values may take other times. */
static double median_of(const struct calibration *c, const struct trial *t, double *measured)
{
    const int step = c->job->command[t->kind].sweep ? t->copies : 1;
    const int runs = t->copies * c->repeat / step;
    measured += t->first;
    for (int i = 1; i < runs; i++)
        measured[i] = measured[i * step];
    return sort_median(measured, (size_t)runs);
}

/* Fits the law to the measured seconds, and adds the rest of the run (start, memory, files) as a
 * constant, because the task occupies its cores during that as well. */
static enum ek_status fit_kind(struct calibration *c, int kind)
{
    const struct moldable_problem *p = &c->job->problem;
    double seconds[MOST_WIDTHS + 2], rms, interference = 0, alone = 0, run = 0;
    int cores[MOST_WIDTHS + 2], n = 0;
    struct moldable_law law;
    char text[128];
    json_t *list = json_array(), *factors = json_object();
    for (struct trial *t = c->trial; t < c->trial + c->ntrials; t++) {
        if (t->kind != kind)
            continue;
        const double s = median_of(c, t, c->seconds), whole = fmax(s, median_of(c, t, c->wall));
        if (t->node) {
            json_object_set_new(factors, p->node[t->node].name, json_real(alone / s));
        } else if (t->copies > 1) {
            const int others = p->node[0].cores - t->cores;
            interference = fmax(0, whole / run - 1) * others / ((t->copies - 1) * t->cores);
        } else {
            if (!n) { /* the fewest cores come first */
                alone = s;
                run = whole;
            }
            cores[n] = t->cores;
            seconds[n++] = s;
            json_array_append_new(list, json_pack("{s:i, s:f}", "cores", t->cores, "seconds", s));
        }
    }
    json_object_set_new(factors, p->node[0].name, json_real(1));
    const enum ek_status st = run_fit(cores, seconds, n, &law, &rms);
    if (st) {
        json_decref(list);
        json_decref(factors);
        return st;
    }
    law.c += run - alone;
    snprintf(text, sizeof text, "%.6g/p^%.4g+%.6g", law.a, law.b, law.c);
    json_array_append_new(c->tasks, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:o, s:o}",
                                              "name", p->kinds[kind].name, "time", text, "a", law.a,
                                              "b", law.b, "c", law.c, "rms", rms, "interference",
                                              interference, "measured", list, "factors", factors));
    return EK_OK;
}

/* A node's factor is the geometric mean over the tasks that were measured there; without any, it
 * stays as it is. */
static double factor_of(const struct calibration *c, int node)
{
    const struct moldable_node *n = &c->job->problem.node[node];
    double sum = 0;
    int measured = 0;
    json_t *task;
    size_t i;
    json_array_foreach(c->tasks, i, task)
    {
        const json_t *factor = json_object_get(json_object_get(task, "factors"), n->name);
        sum += factor ? log(json_number_value(factor)) : 0;
        measured += factor != NULL;
    }
    return measured ? exp(sum / measured) : n->factor;
}

/* ---- results ----------------------------------------------------------------------------------*/
/* The job with the run times and, if its nodes are a list, their factors. */
static json_t *calibrated_job(const struct calibration *c)
{
    const struct moldable_problem *p = &c->job->problem;
    json_t *root = json_deep_copy(c->job->root), *nodes = json_object_get(root, "nodes"), *task;
    size_t i;
    for (int n = 0; json_is_array(nodes) && n < p->nnodes; n++)
        json_object_set_new(json_array_get(nodes, (size_t)n), "factor", json_real(factor_of(c, n)));
    json_array_foreach(json_object_get(root, "tasks"), i, task)
    {
        json_t *found = json_array_get(c->tasks, i);
        json_object_set(task, "time", json_object_get(found, "time"));
        json_object_set(task, "interference", json_object_get(found, "interference"));
    }
    return root;
}

static void print_tasks(const struct calibration *c)
{
    json_t *task;
    size_t i;
    json_array_foreach(c->tasks, i, task)
    {
        printf("%-12s t(p) = %s s, rms %.1f %%, %.1f %% longer among busy neighbours\n",
               json_string_value(json_object_get(task, "name")),
               json_string_value(json_object_get(task, "time")), 100 * json_number_of(task, "rms"),
               100 * json_number_of(task, "interference"));
    }
    for (int n = 0; n < c->job->problem.nnodes; n++)
        printf("%-12s factor %.3f\n", c->job->problem.node[n].name, factor_of(c, n));
}

static enum ek_status tell(const struct calibration *c, const struct settings *s)
{
    if (!s->json || strcmp(s->json, "-"))
        print_tasks(c);
    if (s->json)
        TRY(json_write(s->json, c->tasks));
    if (!s->out)
        return EK_OK;
    json_auto_t *job = calibrated_job(c);
    return json_write(s->out, job);
}

/* ---- the command ------------------------------------------------------------------------------*/
static enum ek_status choose_widths(const struct run_job *j, const char *list, struct widths *w)
{
    int all = j->problem.node[0].cores;
    w->given = list != NULL;
    OWNED_MEMORY char *copy = list ? strdup(list) : NULL;
    char *rest = copy;
    for (int p = 1; !list && p < all; p *= 2)
        w->cores[w->n++] = p;
    if (!list)
        w->cores[w->n++] = all;
    for (char *word; rest && (word = strsep(&rest, ","));) {
        long p;
        if (!opt_integer(word, 1, all, &p) || w->n == MOST_WIDTHS)
            FAIL(EK_USAGE, "--cores %s: '%s' is not a number from 1 to %d, the cores of '%s'", list,
                 word, all, j->problem.node[0].name);
        w->cores[w->n++] = (int)p;
    }
    return EK_OK;
}

static void close_calibration(struct calibration *c)
{
    json_decref(c->tasks);
    arena_free(&c->arena);
    free(c->trial);
    free(c->text);
}

static enum ek_status calibrate(const struct run_job *j, const struct settings *s)
{
    OWNED(close_calibration)
    struct calibration c = {
        .job = j, .repeat = s->repeat, .failed = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
    TRY(choose_widths(j, s->cores, &c.widths));
    stop_catch();
    c.tasks = json_array();
    TRY(list_trials(&c));
    c.seconds = ARENA_NEW(&c.arena, c.ntasks, double);
    c.wall = ARENA_NEW(&c.arena, c.ntasks, double);
    TRY(arena_check(&c.arena, "%d runs", c.ntasks));
    TRY(measure(&c));
    for (int k = 0; k < j->problem.nkinds; k++)
        TRY(fit_kind(&c, k));
    return tell(&c, s);
}

enum ek_status run_calibrate(int argc, char **argv)
{
    struct settings s = {.repeat = 3};
    OWNED(run_job_close) struct run_job job = {0};
    const char *path;
    TRY(run_words(
        argc, argv, options, &s, &s.help,
        "Usage: cu-run calibrate JOB.json [options]\n\n"
        "Runs each command of the job on several numbers of cores of the first node, fits\n"
        "t(p) = a/p^b + c, and runs it on the other nodes to find their speed factors.",
        &path));
    if (s.help)
        return EK_OK;
    if (!path)
        FAIL(EK_USAGE, "calibrate needs a job file; try cu-run calibrate --help");
    progress_quiet(s.quiet);
    TRY(run_job_open(&job, path));
    TRY(file_try(s.out)); /* before hours of work */
    TRY(file_try(s.json));
    return calibrate(&job, &s);
}
