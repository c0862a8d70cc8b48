/* cu/moldable/calibrate.c – cu-run calibrate: measures run times on 1, 2, … cores of the reference
 * node (the job's first), fits a law to them, and the other nodes' speed factors. */
#include "cu/moldable/run_fit.h"
#include "cu/moldable/launch.h"
#include "cu/moldable/run.h"
#include "cu/rank/stop.h"
#include "src/clock.h"
#include "src/json.h"
#include "src/opt.h"
#include "src/progress.h"
#include "src/sort.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WIDTHS = 64, MOST_REPEATS = 101, MOST_WORDS = 64 };

struct settings {
    const char *cores, *out, *json;
    int repeat;
    bool quiet, help;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {"cores", OPT_TEXT, AT(cores), "LIST",
     "numbers of cores to measure (1,2,4,… and all of the first node)", .env = NULL},
    {"repeat", OPT_INT, AT(repeat), "N", "runs of each, the median counts (3)", .min = 1,
     .max = MOST_REPEATS},
    {"out", OPT_TEXT, AT(out), "FILE", "write the job with the run times and factors found",
     .env = NULL},
    {"json", OPT_TEXT, AT(json), "FILE",
     "write all measurements to the file, or instead of text (-)", .env = NULL},
    {"quiet", OPT_FLAG, AT(quiet), NULL, "no progress line", .env = NULL},
    {"help", OPT_FLAG, AT(help), NULL, "this text", .env = NULL},
    OPT_END,
};

struct widths {
    int n, cores[MOST_WIDTHS];
};

struct calibration {
    const struct run_job *job;
    struct widths widths;
    int repeat;
    char folder[64]; /* of the runs' output, temporary */
    double done;     /* runs */
    json_t *tasks;   /* one object for each kind */
};

/* ---- one run ----------------------------------------------------------------------------------*/
static enum ek_status run_once(struct calibration *c, int node, int kind, int cores,
                               double *seconds)
{
    int core[4096], status;
    pid_t pid;
    char hosts[300];
    const struct run_job *j = c->job;
    for (int i = 0; i < cores; i++)
        core[i] = i;
    snprintf(hosts, sizeof hosts, "%s:%d", j->node[node].host ? j->node[node].host : "localhost",
             cores);
    const struct moldable_kind *k = &j->problem.kinds[kind];
    struct run_start s = {.kind = kind,
                          .node = node,
                          .cores = cores,
                          .ncore = cores,
                          .core = core,
                          .hosts = hosts,
                          .seconds =
                              moldable_seconds(&k->law, cores) / j->problem.node[node].factor,
                          .folder = c->folder};
    double begin = clock_now();
    TRY(run_launch(j, &s, &pid));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR || stop_requested()) {
            kill(-pid, SIGTERM);
            FAIL(EK_STOPPED, "interrupted; nothing is written");
        }
    double wall = clock_now() - begin;
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        FAIL(EK_UNVERIFIED,
             "task '%s' fails on %d cores of node '%s' (exit %d): try its command by hand", k->name,
             cores, j->problem.node[node].name,
             WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return run_measured(j, kind, c->folder, 0, wall, seconds);
}

static enum ek_status run_median(struct calibration *c, int node, int kind, int cores,
                                 double *seconds)
{
    double sample[MOST_REPEATS];
    for (int i = 0; i < c->repeat; i++) {
        TRY(run_once(c, node, kind, cores, &sample[i]));
        progress_at(++c->done);
    }
    sort_numbers(sample, (size_t)c->repeat);
    *seconds = sample[c->repeat / 2];
    return EK_OK;
}

/* ---- all of a task ----------------------------------------------------------------------------*/
static enum ek_status measure_kind(struct calibration *c, int kind)
{
    const struct moldable_kind *k = &c->job->problem.kinds[kind];
    double seconds[MOST_WIDTHS], rms;
    int cores[MOST_WIDTHS], n = 0;
    struct moldable_law law;
    char text[128];
    json_t *list = json_array(), *factors = json_object();
    for (int i = 0; i < c->widths.n; i++) {
        if (k->most && c->widths.cores[i] > k->most)
            continue;
        cores[n] = c->widths.cores[i];
        TRY(run_median(c, 0, kind, cores[n], &seconds[n]));
        json_array_append_new(list,
                              json_pack("{s:i, s:f}", "cores", cores[n], "seconds", seconds[n]));
        n++;
    }
    TRY(run_fit(cores, seconds, n, &law, &rms));
    for (int node = 0; node < c->job->problem.nnodes; node++) {
        double here = seconds[0];
        if (node)
            TRY(run_median(c, node, kind, cores[0], &here));
        json_object_set_new(factors, c->job->problem.node[node].name, json_real(seconds[0] / here));
    }
    snprintf(text, sizeof text, "%.6g/p^%.4g+%.6g", law.a, law.b, law.c);
    json_array_append_new(c->tasks,
                          json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:o, s:o}", "name", k->name,
                                    "time", text, "a", law.a, "b", law.b, "c", law.c, "rms", rms,
                                    "measured", list, "factors", factors));
    return EK_OK;
}

/* A node's factor is the geometric mean over the tasks. */
static double factor_of(const struct calibration *c, const char *node)
{
    double sum = 0;
    json_t *task;
    size_t i;
    json_array_foreach(c->tasks, i, task) sum +=
        log(json_number_value(json_object_get(json_object_get(task, "factors"), node)));
    return exp(sum / (double)json_array_size(c->tasks));
}

/* ---- results ----------------------------------------------------------------------------------*/
/* The job as it was, with what was found; nodes are a list then, since they have factors. */
static json_t *calibrated_job(const struct calibration *c)
{
    const struct moldable_problem *p = &c->job->problem;
    json_t *root = json_deep_copy(c->job->root), *nodes = json_object_get(root, "nodes"), *task;
    size_t i;
    for (int n = 0; json_is_array(nodes) && n < p->nnodes; n++)
        json_object_set_new(json_array_get(nodes, (size_t)n), "factor",
                            json_real(factor_of(c, p->node[n].name)));
    json_array_foreach(json_object_get(root, "tasks"), i, task)
        json_object_set(task, "time", json_object_get(json_array_get(c->tasks, i), "time"));
    return root;
}

static void print_tasks(const struct calibration *c)
{
    json_t *task;
    size_t i;
    json_array_foreach(c->tasks, i, task)
    {
        printf("%-12s t(p) = %s s, rms %.1f %%\n", json_string_value(json_object_get(task, "name")),
               json_string_value(json_object_get(task, "time")),
               100 * json_number_value(json_object_get(task, "rms")));
    }
    for (int n = 0; n < c->job->problem.nnodes; n++)
        printf("%-12s factor %.3f\n", c->job->problem.node[n].name,
               factor_of(c, c->job->problem.node[n].name));
}

static enum ek_status tell(const struct calibration *c, const struct settings *s)
{
    if (!s->json || strcmp(s->json, "-"))
        print_tasks(c);
    if (s->json)
        TRY(json_write(s->json, c->tasks));
    if (!s->out)
        return EK_OK;
    json_t *job = calibrated_job(c);
    enum ek_status st = json_write(s->out, job);
    json_decref(job);
    return st;
}

/* ---- the command ------------------------------------------------------------------------------*/
static enum ek_status choose_widths(const struct run_job *j, const char *list, struct widths *w)
{
    int all = j->problem.node[0].cores;
    char *copy = list ? strdup(list) : NULL, *rest = copy;
    enum ek_status st = EK_OK;
    for (int p = 1; !list && p < all; p *= 2)
        w->cores[w->n++] = p;
    if (!list)
        w->cores[w->n++] = all;
    for (char *word; !st && rest && (word = strsep(&rest, ","));) {
        long p;
        if (!opt_integer(word, 1, all, &p) || w->n == MOST_WIDTHS)
            st = status_fail(EK_USAGE,
                             "--cores %s: '%s' is no number from 1 to %d, which node '%s' "
                             "has",
                             list, word, all, j->problem.node[0].name);
        else
            w->cores[w->n++] = (int)p;
    }
    free(copy);
    return st;
}

static void remove_folder(const char *folder)
{
    static const char *const files[] = {"0.out", "0.err", "0.lock"};
    char path[128];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static enum ek_status calibrate(const struct run_job *j, const struct settings *s)
{
    struct calibration c = {.job = j, .repeat = s->repeat, .folder = "/tmp/cu-run-XXXXXX"};
    TRY(choose_widths(j, s->cores, &c.widths));
    TRY(run_probe(j));
    if (!mkdtemp(c.folder))
        FAIL(EK_UNAVAILABLE, "no folder in /tmp: %m");
    stop_catch();
    c.tasks = json_array();
    enum ek_status st = EK_OK;
    progress_begin("calibrate",
                   (double)j->problem.nkinds * s->repeat * (c.widths.n + j->problem.nnodes - 1),
                   "run");
    for (int k = 0; k < j->problem.nkinds && !st; k++)
        st = measure_kind(&c, k);
    progress_end();
    if (!st)
        st = tell(&c, s);
    json_decref(c.tasks);
    remove_folder(c.folder);
    return st;
}

enum ek_status run_calibrate(int argc, char **argv)
{
    struct settings s = {.repeat = 3};
    struct run_job job;
    const char *args[MOST_WORDS];
    int nargs = 0;
    const struct opt_group groups[] = {{"options:", options, &s}};
    if (argc > MOST_WORDS)
        FAIL(EK_USAGE, "too many words; try cu-run calibrate --help");
    TRY(opt_parse(groups, 1, argc, argv, args, &nargs));
    if (s.help) {
        puts("usage: cu-run calibrate JOB.json [options]\n\n"
             "Runs each of the job's commands on several numbers of cores of the first node and\n"
             "fits t(p) = a/p^b + c; runs it on the other nodes to find their speed factors.\n");
        return opt_help(stdout, groups, 1), EK_OK;
    }
    if (nargs != 1)
        FAIL(EK_USAGE, "calibrate wants one job file; try cu-run calibrate --help");
    progress_quiet(s.quiet);
    TRY(run_job_open(&job, args[0]));
    enum ek_status st = calibrate(&job, &s);
    run_job_close(&job);
    return st;
}
