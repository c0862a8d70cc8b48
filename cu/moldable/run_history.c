/* cu/moldable/run_history.c – tasks of a running job: plans, journal. */
#include "cu/moldable/run_history.h"
#include "src/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- journal ----------------------------------------------------------------------------------*/
/* What must be the same for a run to go on: the commands, not their times or the nodes. */
static uint64_t job_hash(const struct run_job *j)
{
    struct checksum c;
    checksum_begin(&c, "cu-run journal");
    for (int i = 0; i < j->problem.ntasks; i++)
        checksum_add_text(&c, j->command[j->problem.kind[i]].text);
    return checksum_end(&c);
}

static enum ek_status write_line(struct run_history *b, json_t *line)
{
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(line);
    if (!text)
        FAIL(EK_UNAVAILABLE, "%s/journal: out of memory", b->folder);
    bool written = dprintf(b->journal, "%s\n", text) == (int)strlen(text) + 1;
    free(text);
    if (!written || fsync(b->journal))
        FAIL(EK_UNAVAILABLE, "%s/journal cannot be written: %m; what is in it is safe", b->folder);
    return EK_OK;
}

enum ek_status run_history_note(struct run_history *b, int task)
{
    const struct run_entry *e = &b->entry[task];
    return write_line(b, json_pack("{s:i, s:i, s:i, s:f, s:f, s:f}", "task", task, "status",
                                   e->status, "attempts", e->attempts, "start_s", e->start,
                                   "finish_s", e->finish, "seconds", e->seconds));
}

/* One line of an earlier run; one that a crash cut short counts for nothing. */
static void recall(struct run_history *b, const char *text)
{
    json_t *line = json_loads(text, 0, NULL);
    int task = -1, status = -1, attempts = 0;
    double start, finish, seconds;
    if (line &&
        !json_unpack(line, "{s:i, s:i, s:i, s:F, s:F, s:F}", "task", &task, "status", &status,
                     "attempts", &attempts, "start_s", &start, "finish_s", &finish, "seconds",
                     &seconds) &&
        task >= 0 && task < b->job->problem.ntasks && status == 0)
        b->entry[task] = (struct run_entry){.state = RUN_DONE,
                                            .start = start,
                                            .finish = finish,
                                            .seconds = seconds,
                                            .attempts = attempts,
                                            .before = true};
    json_decref(line);
}

static bool all_done(const struct run_history *b)
{
    int done = 0;
    while (done < b->job->problem.ntasks && b->entry[done].state == RUN_DONE)
        done++;
    return done == b->job->problem.ntasks;
}

/* A finished run is no loss: the next one takes its place. */
static enum ek_status begin_anew(struct run_history *b, const char *path)
{
    memset(b->entry, 0, (size_t)b->job->problem.ntasks * sizeof *b->entry);
    return unlink(path) ? status_fail(EK_UNAVAILABLE, "%s cannot be removed: %m", path) : EK_OK;
}

/* The journal is missing or empty: then no task may have left anything. */
static enum ek_status check_untouched(const struct run_history *b, bool there)
{
    char pattern[4200];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/[0-9]*.out", b->folder);
    if (glob(pattern, 0, NULL, &found))
        return EK_OK;
    const size_t n = found.gl_pathc;
    globfree(&found);
    FAIL(EK_USAGE,
         "%s/journal is %s, but %zu tasks have left their output there: what is finished is not "
         "known; choose another --results, or remove the folder to run all tasks again",
         b->folder, there ? "empty" : "missing", n);
}

static enum ek_status read_journal(struct run_history *b, bool resume)
{
    char path[4200], *line = NULL;
    size_t room = 0;
    unsigned long long hash = 0;
    snprintf(path, sizeof path, "%s/journal", b->folder);
    FILE *f = fopen(path, "re");
    if (!f || getline(&line, &room, f) < 0) {
        if (f)
            fclose(f);
        free(line);
        return check_untouched(b, f != NULL);
    }
    enum ek_status st = EK_OK;
    if (sscanf(line, "{\"job\":\"%llx\"", &hash) != 1 || hash != job_hash(b->job))
        st = status_fail(EK_USAGE, "%s holds the run of another job; choose another --results",
                         b->folder);
    while (!st && getline(&line, &room, f) >= 0)
        recall(b, line);
    free(line);
    fclose(f);
    if (st || resume)
        return st;
    if (all_done(b))
        return begin_anew(b, path);
    FAIL(EK_USAGE,
         "%s holds an unfinished run of this job; go on with --resume, or choose another --results",
         b->folder);
}

/* A line that a crash left without its end must not swallow the next one. */
static enum ek_status open_journal(struct run_history *b)
{
    char path[4200], hash[32], last = '\n';
    struct stat info;
    snprintf(path, sizeof path, "%s/journal", b->folder);
    b->journal = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (b->journal < 0 || fstat(b->journal, &info))
        FAIL(EK_UNAVAILABLE, "%s cannot be written: %m", path);
    if (!info.st_size) {
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)job_hash(b->job));
        return write_line(b, json_pack("{s:s}", "job", hash));
    }
    if (pread(b->journal, &last, 1, info.st_size - 1) == 1 && last != '\n' &&
        write(b->journal, "\n", 1) != 1)
        FAIL(EK_UNAVAILABLE, "%s cannot be written: %m", path);
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/
static enum ek_status lock_folder(struct run_history *b)
{
    char path[4200];
    if (mkdir(b->folder, 0777) && errno != EEXIST)
        FAIL(EK_UNAVAILABLE, "%s cannot be made: %m", b->folder);
    snprintf(path, sizeof path, "%s/lock", b->folder);
    b->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (b->lock < 0)
        FAIL(EK_UNAVAILABLE, "%s cannot be opened: %m", path);
    if (flock(b->lock, LOCK_EX | LOCK_NB))
        FAIL(EK_UNAVAILABLE,
             "%s is in use by another cu-run; wait for it, or choose another --results", b->folder);
    return EK_OK;
}

static enum ek_status make_tables(struct run_history *b)
{
    const struct moldable_problem *p = &b->job->problem;
    b->entry = calloc((size_t)p->ntasks, sizeof *b->entry);
    b->lost = calloc((size_t)p->nnodes, sizeof *b->lost);
    b->busy = calloc((size_t)p->nnodes, sizeof *b->busy);
    bool room = b->entry && b->lost && b->busy;
    for (int n = 0; room && n < p->nnodes; n++) {
        room = (b->busy[n] = malloc((size_t)p->node[n].cores * sizeof **b->busy)) != NULL;
        for (int c = 0; room && c < p->node[n].cores; c++)
            b->busy[n][c] = -1;
    }
    return room ? EK_OK : status_fail(EK_UNAVAILABLE, "out of memory for %d tasks", p->ntasks);
}

enum ek_status run_history_open(struct run_history *b, const struct run_job *job,
                                const struct moldable_method *method, const char *folder,
                                bool resume)
{
    *b = (struct run_history){
        .job = job, .method = method, .folder = folder, .lock = -1, .journal = -1};
    enum ek_status st = make_tables(b);
    if (!st)
        st = lock_folder(b);
    if (!st)
        st = read_journal(b, resume);
    if (!st)
        st = open_journal(b);
    if (st)
        run_history_close(b);
    return st;
}

static void close_epoch(struct run_epoch *e)
{
    if (!e)
        return;
    moldable_plan_close(&e->plan);
    free(e->problem.kind);
    free(e->problem.node);
    free(e->task);
    free(e->node);
    free(e);
}

void run_history_close(struct run_history *b)
{
    for (int n = 0; b->busy && n < b->job->problem.nnodes; n++)
        free(b->busy[n]);
    for (int i = 0; i < b->nepochs; i++)
        close_epoch(b->epoch[i]);
    if (b->lock >= 0)
        close(b->lock);
    if (b->journal >= 0)
        close(b->journal);
    free(b->entry);
    free(b->lost);
    free(b->busy);
    free(b->epoch);
    *b = (struct run_history){.lock = -1, .journal = -1};
}

/* ---- planning ---------------------------------------------------------------------------------*/
/* The tasks that wait and the nodes that are left, numbered anew. */
static enum ek_status remaining(const struct run_history *b, struct run_epoch *e)
{
    const struct moldable_problem *p = &b->job->problem;
    e->problem = *p;
    e->problem.ntasks = e->problem.nnodes = 0;
    e->problem.kind = malloc((size_t)p->ntasks * sizeof *e->problem.kind);
    e->problem.node = malloc((size_t)p->nnodes * sizeof *e->problem.node);
    e->task = malloc((size_t)p->ntasks * sizeof *e->task);
    e->node = malloc((size_t)p->nnodes * sizeof *e->node);
    if (!e->problem.kind || !e->problem.node || !e->task || !e->node)
        FAIL(EK_UNAVAILABLE, "out of memory for a plan");
    for (int i = 0; i < p->ntasks; i++)
        if (b->entry[i].state == RUN_WAITS) {
            e->problem.kind[e->problem.ntasks] = p->kind[i];
            e->task[e->problem.ntasks++] = i;
        }
    for (int n = 0; n < p->nnodes; n++)
        if (!b->lost[n]) {
            e->problem.node[e->problem.nnodes] = p->node[n];
            e->node[e->problem.nnodes++] = n;
        }
    return e->problem.nnodes ? EK_OK
                             : status_fail(EK_UNAVAILABLE, "no node is left to run tasks on");
}

static enum ek_status plan_epoch(struct run_history *b, struct run_epoch *e)
{
    TRY(remaining(b, e));
    if (!e->problem.ntasks)
        return EK_OK;
    TRY(moldable_check(&e->problem));
    TRY(moldable_plan_open(&e->plan, &e->problem, b->method));
    for (int i = 0; i < e->problem.ntasks; i++) {
        b->entry[e->task[i]].epoch = e;
        b->entry[e->task[i]].placed = &e->plan.task[i];
    }
    return EK_OK;
}

enum ek_status run_history_plan(struct run_history *b, double now)
{
    struct run_epoch **more = realloc(b->epoch, ((size_t)b->nepochs + 1) * sizeof *more);
    struct run_epoch *e = more ? calloc(1, sizeof *e) : NULL;
    if (more)
        b->epoch = more;
    if (!e)
        FAIL(EK_UNAVAILABLE, "out of memory for a plan");
    e->begin = now;
    b->epoch[b->nepochs++] = e;
    return plan_epoch(b, e);
}
