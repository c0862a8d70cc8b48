/* cu/moldable/execute.c – cu-run run: carries a schedule out. A task starts when those before it on
 * its cores have ended, whatever the clock says. */
#include "cu/moldable/run_history.h"
#include "cu/moldable/launch.h"
#include "cu/moldable/outcome.h"
#include "cu/moldable/run.h"
#include "cu/rank/stop.h"
#include "src/clock.h"
#include "src/opt.h"
#include "src/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST_WORDS = 64 };

struct settings {
    const char *method, *results, *json, *report;
    bool resume, quiet, help;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {"method", OPT_TEXT, AT(method), "NAME",
     "how the tasks are placed (evenkeel); cu-run plan --help lists the methods", .env = NULL},
    {"results", OPT_TEXT, AT(results), "FOLDER",
     "where the tasks' output and the journal go (JOB.results)", .env = NULL},
    {"resume", OPT_FLAG, AT(resume), NULL,
     "go on with a run that was ended: what is finished is not run again", .env = NULL},
    {"json", OPT_TEXT, AT(json), "FILE",
     "write what was measured to the file, or instead of text (-)", .env = NULL},
    {"report", OPT_TEXT, AT(report), "FILE",
     "write one HTML page with the planned and the measured schedule", .env = NULL},
    {"quiet", OPT_FLAG, AT(quiet), NULL, "no progress line", .env = NULL},
    {"help", OPT_FLAG, AT(help), NULL, "this text", .env = NULL},
    OPT_END,
};

/* ---- who may start ----------------------------------------------------------------------------*/
static bool over(const struct run_entry *e)
{
    return e->state == RUN_DONE || e->state == RUN_FAILED;
}

static bool ready(const struct run_history *b, const struct run_entry *e)
{
    for (int i = 0; i < e->placed->nafter; i++)
        if (!over(&b->entry[e->epoch->task[e->placed->after[i]]]))
            return false;
    for (int k = 0; k < e->placed->nparts; k++) {
        const struct moldable_part *part = &e->placed->part[k];
        for (int c = 0; c < part->ncores; c++)
            if (b->busy[run_history_node(e, k)][part->core[c]] >= 0)
                return false;
    }
    return true;
}

static void occupy(struct run_history *b, const struct run_entry *e, int task)
{
    for (int k = 0; k < e->placed->nparts; k++)
        for (int c = 0; c < e->placed->part[k].ncores; c++)
            b->busy[run_history_node(e, k)][e->placed->part[k].core[c]] = task;
}

/* "a:8,b:8" */
static char *hosts_of(const struct run_history *b, const struct run_entry *e)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int k = 0; out && k < e->placed->nparts; k++) {
        int n = run_history_node(e, k);
        const char *host = b->job->node[n].host;
        fprintf(out, "%s%s:%d", k ? "," : "", host ? host : "localhost", e->placed->part[k].ncores);
    }
    if (out)
        fclose(out);
    return text;
}

static enum ek_status start(struct run_history *b, int task, double now)
{
    struct run_entry *e = &b->entry[task];
    const struct moldable_part *first = &e->placed->part[0];
    char *hosts = hosts_of(b, e);
    struct run_start s = {.task = task,
                          .kind = b->job->problem.kind[task],
                          .node = run_history_node(e, 0),
                          .cores = e->placed->cores,
                          .ncore = first->ncores,
                          .core = first->core,
                          .hosts = hosts ? hosts : "",
                          .seconds = e->placed->finish - e->placed->start,
                          .folder = b->folder};
    enum ek_status st = run_launch(b->job, &s, &e->pid);
    free(hosts);
    TRY(st);
    e->state = RUN_RUNS;
    e->start = now;
    e->attempts++;
    occupy(b, e, task);
    return EK_OK;
}

static enum ek_status start_ready(struct run_history *b, double now, int *running)
{
    for (int i = 0; i < b->job->problem.ntasks; i++) {
        struct run_entry *e = &b->entry[i];
        if (e->state != RUN_WAITS || !ready(b, e))
            continue;
        TRY(start(b, i, now));
        ++*running;
    }
    return EK_OK;
}

/* ---- who has ended ----------------------------------------------------------------------------*/
/* A node that ssh cannot reach any more: its tasks go elsewhere, nobody is to blame for them. */
static enum ek_status lose_node(struct run_history *b, int node, double now)
{
    b->lost[node] = true;
    status_warn("node '%s' is lost; its tasks are planned anew over the others",
                b->job->problem.node[node].name);
    return run_history_plan(b, now);
}

static bool is_lost(struct run_history *b, const struct run_entry *e)
{
    int node = run_history_node(e, 0);
    if (b->lost[node])
        return true;
    const enum run_reach reach = b->job->node[node].reach;
    if (reach == RUN_HERE || (reach == RUN_SSH && e->status != RUN_HOST_LOST))
        return false; /* srun says 1, whatever went wrong */
    status_mute(1);
    bool lost = run_probe_node(b->job, node) != EK_OK;
    status_mute(-1);
    return lost;
}

static enum ek_status end(struct run_history *b, int task, int status, double now)
{
    struct run_entry *e = &b->entry[task];
    occupy(b, e, -1);
    e->finish = now;
    e->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    e->state = RUN_WAITS;
    if (e->status && is_lost(b, e)) {
        e->attempts--;
        return b->lost[run_history_node(e, 0)] ? run_history_plan(b, now)
                                               : lose_node(b, run_history_node(e, 0), now);
    }
    if (e->status && e->attempts <= b->job->retries) {
        status_warn("task %d exits %d: tried again", task, e->status);
        return EK_OK;
    }
    if (!e->status && run_measured(b->job, b->job->problem.kind[task], b->folder, task,
                                   e->finish - e->start, &e->seconds))
        e->status = 1;
    e->state = e->status ? RUN_FAILED : RUN_DONE;
    if (now > b->makespan)
        b->makespan = now;
    return run_history_note(b, task);
}

static enum ek_status reap(struct run_history *b, double begin, int *running)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < b->job->problem.ntasks; i++)
            if (b->entry[i].state == RUN_RUNS && b->entry[i].pid == pid) {
                --*running;
                TRY(end(b, i, status, clock_now() - begin));
                break;
            }
    return EK_OK;
}

/* ---- the run ----------------------------------------------------------------------------------*/
static void interrupted(int signal)
{
    (void)signal;
    stop_request();
}

static void catch_signals(sigset_t *child)
{
    struct sigaction act = {.sa_handler = interrupted};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    sigemptyset(child);
    sigaddset(child, SIGCHLD);
    sigprocmask(SIG_BLOCK, child, NULL);
}

/* Those that still run are asked to end, and after five seconds made to. */
static void end_all(struct run_history *b)
{
    const struct timespec moment = {0, 20000000};
    for (int i = 0; i < b->job->problem.ntasks; i++)
        if (b->entry[i].state == RUN_RUNS)
            kill(-b->entry[i].pid, SIGTERM);
    for (int i = 0, patience = 250; i < b->job->problem.ntasks; i++) {
        struct run_entry *e = &b->entry[i];
        while (e->state == RUN_RUNS && waitpid(e->pid, NULL, WNOHANG) == 0) {
            if (patience-- <= 0)
                kill(-e->pid, SIGKILL);
            nanosleep(&moment, NULL);
        }
        if (e->state == RUN_RUNS)
            e->state = RUN_WAITS;
    }
}

/* Predicted seconds times cores of what is over, and of all. */
static double work_done(const struct run_history *b, bool all)
{
    double work = 0;
    for (int i = 0; i < b->job->problem.ntasks; i++) {
        const struct run_entry *e = &b->entry[i];
        if (e->placed && (all || over(e)))
            work += (e->placed->finish - e->placed->start) * e->placed->cores;
    }
    return work;
}

static enum ek_status carry_out(struct run_history *b)
{
    const struct timespec while_nothing_ends = {0, 200000000};
    sigset_t child;
    int running = 0;
    enum ek_status st = EK_OK;
    catch_signals(&child);
    double begin = clock_now();
    progress_begin(b->method->name, work_done(b, true), "core s");
    while (!st && !stop_requested()) {
        st = start_ready(b, clock_now() - begin, &running);
        if (st || !running)
            break;
        sigtimedwait(&child, NULL, &while_nothing_ends);
        st = reap(b, begin, &running);
        progress_at(work_done(b, false));
    }
    progress_end();
    end_all(b);
    if (!st && stop_requested())
        st = status_fail(EK_STOPPED, "interrupted; the same command with --resume goes on");
    return st;
}

static enum ek_status reap_orphans(const struct run_history *b)
{
    for (int i = 0; i < b->job->problem.ntasks; i++)
        if (!over(&b->entry[i]))
            TRY(run_reap_orphan(b->folder, i));
    return EK_OK;
}

static enum ek_status run_tasks(const struct run_job *j, const struct settings *s)
{
    struct run_history b;
    const struct moldable_method *method = moldable_find(s->method ? s->method : "evenkeel");
    char folder[4096];
    if (!method)
        return EK_USAGE;
    if (s->results)
        snprintf(folder, sizeof folder, "%s", s->results);
    else
        snprintf(folder, sizeof folder, "%s.results", strcmp(j->path, "-") ? j->path : "cu-run");
    TRY(run_probe(j)); /* before anything is started */
    TRY(run_history_open(&b, j, method, folder, s->resume));
    enum ek_status st = s->resume ? reap_orphans(&b) : EK_OK;
    if (!st)
        st = run_history_plan(&b, 0);
    if (!st) {
        st = carry_out(&b);
        enum ek_status told = run_outcome(&b, s->json, s->report);
        st = st ? st : told;
    }
    run_history_close(&b);
    return st;
}

enum ek_status run_run(int argc, char **argv)
{
    struct settings s = {0};
    struct run_job job;
    const char *args[MOST_WORDS];
    int nargs = 0;
    const struct opt_group groups[] = {{"options:", options, &s}};
    if (argc > MOST_WORDS)
        FAIL(EK_USAGE, "too many words; try cu-run run --help");
    TRY(opt_parse(groups, 1, argc, argv, args, &nargs));
    if (s.help) {
        puts("usage: cu-run run JOB.json [options]\n\n"
             "Plans the job's tasks and runs them, each bound to its cores; cu/moldable/job.h and\n"
             "cu/examples/ show what a job looks like.\n");
        return opt_help(stdout, groups, 1), EK_OK;
    }
    if (nargs != 1)
        FAIL(EK_USAGE, "run wants one job file; try cu-run run --help");
    progress_quiet(s.quiet);
    TRY(run_job_open(&job, args[0]));
    enum ek_status st = run_job_timed(&job);
    if (!st)
        st = run_tasks(&job, &s);
    run_job_close(&job);
    return st;
}
