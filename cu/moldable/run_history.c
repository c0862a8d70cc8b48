/* cu/moldable/run_history.c – the tasks of a running job: journal and plans. */
#include "cu/moldable/run_history.h"
#include "src/checksum.h"
#include "src/random.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- journal ----------------------------------------------------------------------------------*/
/* Status of a journal line by which a task that was done has to be done again. Without it a crash
 * while it runs would leave an older line that proves it done, beside a half-written output. */
enum { REVOKED = -1 };

/* A checksum of everything that must be the same to resume a run: the commands and sweeps, but not
 * their times or the nodes. */
static uint64_t job_hash(const struct run_job *j)
{
    struct checksum c;
    checksum_begin(&c, "cu-run journal");
    for (int k = 0; k < j->problem.nkinds; k++) {
        OWNED_MEMORY char *sweep = json_dumps(j->command[k].sweep, JSON_COMPACT);
        const int count = run_job_count(j, k);
        checksum_add_text(&c, j->command[k].text);
        checksum_add_text(&c, sweep ? sweep : "");
        checksum_add(&c, &count, sizeof count);
    }
    return checksum_end(&c);
}

/* The checksum of a line: of its text up to the member "sum", which is the last one. */
static uint64_t line_sum(const char *text, size_t n)
{
    return checksum_of("cu-run journal line", text, n);
}

static enum ek_status write_line(struct run_history *h, json_t *line)
{
    OWNED_MEMORY char *text =
        line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(line);
    if (!text)
        FAIL(EK_UNAVAILABLE, "%s/journal: out of memory", h->folder);
    const size_t n = strlen(text) - 1; /* without the brace */
    const int all = (int)n + 27;
    if (dprintf(h->journal, "%.*s,\"sum\":\"%016llx\"}\n", (int)n, text,
                (unsigned long long)line_sum(text, n)) != all ||
        fsync(h->journal))
        FAIL(EK_UNAVAILABLE, "%s/journal cannot be written: %m; its earlier lines are safe",
             h->folder);
    return EK_OK;
}

enum ek_status run_history_note(struct run_history *h, int task)
{
    const struct run_entry *e = &h->entry[task];
    return write_line(h, json_pack("{s:i, s:i, s:i, s:f, s:f, s:f}", "task", task, "status",
                                   e->status, "attempts", e->attempts, "start_s", e->start,
                                   "finish_s", e->finish, "seconds", e->seconds));
}

/* Does the line have its checksum? */
static bool is_whole(const char *text)
{
    static const char mark[] = ",\"sum\":\"";
    const char *at = strstr(text, mark);
    return at && strtoull(at + sizeof mark - 1, NULL, 16) == line_sum(text, (size_t)(at - text));
}

/* Do all of the task's output files exist? */
static bool has_outputs(const struct run_job *j, int task)
{
    const json_t *list = j->command[j->problem.kind[task]].output, *one;
    size_t i;
    bool all = true;
    json_array_foreach(list, i, one)
    {
        OWNED_MEMORY char *path = run_job_text(j, task, NULL, json_string_value(one));
        all = all && path && !access(path, R_OK);
    }
    return all;
}

/* A line of an earlier run: the latest one of a task counts. False: a crash cut it short, or it was
 * changed since, so it proves nothing. */
static bool recall(struct run_history *h, const char *text)
{
    json_auto_t *line = is_whole(text) ? json_loads(text, 0, NULL) : NULL;
    int task = -1, status = -1, attempts = 0;
    double start, finish, seconds;
    if (!line ||
        json_unpack(line, "{s:i, s:i, s:i, s:F, s:F, s:F}", "task", &task, "status", &status,
                    "attempts", &attempts, "start_s", &start, "finish_s", &finish, "seconds",
                    &seconds) ||
        task < 0 || task >= h->job->problem.ntasks)
        return false;
    h->entry[task] = status ? (struct run_entry){.state = RUN_WAITS}
                            : (struct run_entry){.state = RUN_DONE,
                                                 .start = start,
                                                 .finish = finish,
                                                 .seconds = seconds,
                                                 .attempts = attempts,
                                                 .before = true};
    return true;
}

static void recall_all(struct run_history *h, FILE *journal, bool resume)
{
    OWNED_MEMORY char *line = NULL;
    size_t room = 0;
    int damaged = 0, first = 0;
    for (int number = 2; getline(&line, &room, journal) >= 0; number++)
        if (!recall(h, line) && !damaged++)
            first = number;
    if (damaged && resume)
        status_warn("%s/journal: lines that were cut short or changed: %d, the first is line %d; "
                    "tasks that no other line proves finished run again",
                    h->folder, damaged, first);
}

/* Tasks whose outputs are gone have to be done again. */
static void check_all_outputs(struct run_history *h)
{
    for (int i = 0; i < h->job->problem.ntasks; i++)
        if (h->entry[i].state == RUN_DONE && !has_outputs(h->job, i))
            h->entry[i] = (struct run_entry){.state = RUN_WAITS, .status = REVOKED};
}

static bool all_done(const struct run_history *h)
{
    int done = 0;
    while (done < h->job->problem.ntasks && h->entry[done].state == RUN_DONE)
        done++;
    return done == h->job->problem.ntasks;
}

/* A finished run may be replaced by a new one. */
static enum ek_status begin_anew(struct run_history *h, const char *path)
{
    memset(h->entry, 0, (size_t)h->job->problem.ntasks * sizeof *h->entry);
    return unlink(path) ? status_fail(EK_UNAVAILABLE, "%s cannot be removed: %m", path) : EK_OK;
}

static int is_output(const struct dirent *e)
{
    const size_t n = strlen(e->d_name);
    return isdigit((unsigned char)*e->d_name) && n > 4 && !strcmp(e->d_name + n - 4, ".out");
}

/* The journal is missing, empty or damaged from its first line on: then no task may have left
 * anything. */
static enum ek_status check_untouched(const struct run_history *h, const char *state)
{
    struct dirent **found = NULL;
    const int n = scandir(h->folder, &found, is_output, NULL);
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    if (n <= 0)
        return EK_OK;
    FAIL(EK_USAGE,
         "%s/journal is %s, but %d tasks have left their output there: what is finished is not "
         "known; choose another --results, or remove the folder to run all tasks again",
         h->folder, state, n);
}

static enum ek_status read_journal(struct run_history *h, bool resume)
{
    char path[4200];
    OWNED_MEMORY char *line = NULL;
    size_t room = 0;
    unsigned long long hash = 0;
    snprintf(path, sizeof path, "%s/journal", h->folder);
    OWNED_STREAM FILE *f = fopen(path, "re");
    if (!f || getline(&line, &room, f) < 0)
        return check_untouched(h, f ? "empty" : "missing");
    if (!is_whole(line) || sscanf(line, "{\"job\":\"%llx\"", &hash) != 1) {
        TRY(check_untouched(h, "damaged"));
        return begin_anew(h, path);
    }
    if (hash != job_hash(h->job))
        FAIL(EK_USAGE, "%s holds the run of another job; choose another --results", h->folder);
    recall_all(h, f, resume);
    check_all_outputs(h);
    if (resume)
        return EK_OK;
    if (all_done(h))
        return begin_anew(h, path);
    FAIL(EK_USAGE,
         "%s holds an unfinished run of this job; go on with --resume, or choose another --results",
         h->folder);
}

/* If a crash has left the last line unfinished, a newline keeps it apart from the next one. */
static enum ek_status open_journal(struct run_history *h)
{
    char path[4200], hash[32], last = '\n';
    struct stat info;
    snprintf(path, sizeof path, "%s/journal", h->folder);
    h->journal = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (h->journal < 0 || fstat(h->journal, &info))
        FAIL(EK_UNAVAILABLE, "%s cannot be written: %m", path);
    if (!info.st_size) {
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)job_hash(h->job));
        return write_line(h, json_pack("{s:s}", "job", hash));
    }
    if (pread(h->journal, &last, 1, info.st_size - 1) == 1 && last != '\n' &&
        write(h->journal, "\n", 1) != 1)
        FAIL(EK_UNAVAILABLE, "%s cannot be written: %m", path);
    for (int i = 0; i < h->job->problem.ntasks; i++)
        if (h->entry[i].state == RUN_WAITS && h->entry[i].status == REVOKED)
            TRY(run_history_note(h, i));
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/
static enum ek_status lock_folder(struct run_history *h)
{
    char path[4200];
    uint64_t random[2] = {0, 0};
    h->made = !mkdir(h->folder, 0777);
    if (!h->made && errno != EEXIST)
        FAIL(EK_UNAVAILABLE, "%s cannot be made: %m", h->folder);
    snprintf(path, sizeof path, "%s/lock", h->folder);
    h->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (h->lock < 0)
        FAIL(EK_UNAVAILABLE, "%s cannot be opened: %m", path);
    if (flock(h->lock, LOCK_EX | LOCK_NB))
        FAIL(EK_UNAVAILABLE,
             "%s is in use by another cu-run; wait for it, or choose another --results", h->folder);
    TRY(random_unique(random, sizeof random));
    snprintf(h->token, sizeof h->token, "%016llx%016llx", (unsigned long long)random[0],
             (unsigned long long)random[1]);
    if (ftruncate(h->lock, 0) || dprintf(h->lock, "%s\n", h->token) < 0)
        FAIL(EK_UNAVAILABLE, "%s cannot be written: %m", path);
    return EK_OK;
}

static enum ek_status make_tables(struct run_history *h)
{
    const struct moldable_problem *p = &h->job->problem;
    h->entry = ARENA_NEW(&h->arena, p->ntasks, struct run_entry);
    h->queue = ARENA_NEW(&h->arena, p->ntasks, int);
    h->lost = ARENA_NEW(&h->arena, p->nnodes, bool);
    h->idle = ARENA_NEW(&h->arena, p->nnodes, struct run_idle);
    h->first = ARENA_NEW(&h->arena, p->nnodes + 1, int);
    h->head = ARENA_NEW(&h->arena, p->nnodes, int);
    h->measured = ARENA_NEW(&h->arena, p->nkinds, struct run_measured);
    TRY(arena_check(&h->arena, "%d tasks", p->ntasks));
    for (int n = 0; n < p->nnodes; n++)
        h->idle[n] = (struct run_idle){p->node[n].cores, p->node[n].gpus, p->node[n].memory};
    return EK_OK;
}

enum ek_status run_history_open(struct run_history *h, const struct run_job *job,
                                const struct moldable_method *method, const char *folder,
                                bool resume)
{
    *h = (struct run_history){
        .job = job, .method = method, .folder = folder, .lock = -1, .journal = -1};
    enum ek_status st = make_tables(h);
    THEN(st, lock_folder(h));
    THEN(st, read_journal(h, resume));
    THEN(st, open_journal(h));
    for (int i = 0; !st && i < job->problem.ntasks; i++)
        h->measured[job->problem.kind[i]].left += h->entry[i].state != RUN_DONE;
    if (st)
        run_history_close(h);
    return st;
}

void run_history_discard(struct run_history *h)
{
    static const char *const files[] = {"journal", "lock"};
    char path[4200];
    for (int i = 0; h->made && i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", h->folder, files[i]);
        unlink(path);
    }
    if (h->made)
        rmdir(h->folder);
}

void run_history_close(struct run_history *h)
{
    for (int i = 0; i < h->nepochs; i++) {
        moldable_plan_close(&h->epoch[i]->plan);
        arena_free(&h->epoch[i]->arena);
        free(h->epoch[i]);
    }
    if (h->lock >= 0)
        close(h->lock);
    if (h->journal >= 0)
        close(h->journal);
    arena_free(&h->arena);
    free(h->epoch);
    *h = (struct run_history){.lock = -1, .journal = -1};
}

/* ---- shares of nodes --------------------------------------------------------------------------*/
void run_history_occupy(struct run_history *h, int task, int take)
{
    const struct run_entry *e = &h->entry[task];
    const struct moldable_kind *k = &h->job->problem.kinds[h->job->problem.kind[task]];
    for (int i = 0; i < e->placed->nparts; i++) {
        struct run_idle *idle = &h->idle[run_history_node(e, i)];
        idle->cores -= take * e->placed->part[i].ncores;
        idle->gpus -= take * k->gpus;
        idle->memory -= take * k->memory;
    }
}

bool run_history_room(const struct run_history *h, int task)
{
    const struct run_entry *e = &h->entry[task];
    const struct moldable_kind *k = &h->job->problem.kinds[h->job->problem.kind[task]];
    for (int i = 0; i < e->placed->nparts; i++) {
        const int node = run_history_node(e, i);
        const struct run_idle *idle = &h->idle[node];
        const bool counted = h->job->problem.node[node].memory > 0;
        if (h->lost[node] || idle->cores < e->placed->part[i].ncores || idle->gpus < k->gpus ||
            (counted && idle->memory < k->memory * (1 - 1e-9)))
            return false;
    }
    return true;
}

bool run_history_ready(const struct run_history *h, int task)
{
    const struct moldable_kind *k = &h->job->problem.kinds[h->job->problem.kind[task]];
    for (int i = 0; i < k->nafter; i++)
        if (h->measured[k->after[i]].left)
            return false;
    return true;
}

/* ---- planning ---------------------------------------------------------------------------------*/
/* How much longer tasks of the kind take than their law says (0.1 = a tenth), if enough are known.
 */
static double stretch_of(const struct run_history *h, int kind)
{
    const struct run_measured *p = &h->measured[kind];
    return p->n >= 3 && p->expected > 0 ? p->measured / p->expected - 1 : 0;
}

double run_history_expected(const struct run_history *h, int task)
{
    const struct run_entry *e = &h->entry[task];
    const int kind = h->job->problem.kind[task];
    const double planned = e->placed->finish - e->placed->start;
    return planned * (1 + stretch_of(h, kind)) / (1 + e->epoch->problem.kinds[kind].law.stretch);
}

bool run_history_off_plan(const struct run_history *h)
{
    const struct run_epoch *e = h->epoch[h->nepochs - 1];
    for (int k = 0; k < h->job->problem.nkinds; k++)
        if (h->measured[k].left > 1 &&
            fabs((1 + stretch_of(h, k)) / (1 + e->problem.kinds[k].law.stretch) - 1) > 0.1)
            return true;
    return false;
}

/* Finds the kinds whose waiting tasks fit none of the nodes that are left, or that depend on such
 * ones: they wait for another run, and the others go on. */
static enum ek_status note_stranded(struct run_history *h, struct run_epoch *e)
{
    const struct moldable_problem *p = &e->problem;
    bool *waits = ARENA_NEW(&e->arena, p->nkinds, bool);
    TRY(arena_check(&e->arena, "a plan"));
    for (int i = 0; i < h->job->problem.ntasks; i++)
        if (h->entry[i].state == RUN_WAITS)
            waits[h->job->problem.kind[i]] = true;
    for (int k = 0; k < p->nkinds; k++) {
        struct run_measured *m = &h->measured[k];
        if (m->stranded || !waits[k])
            continue;
        m->stranded = MUTED(moldable_check_kind(p, &p->kinds[k])) != EK_OK;
        if (m->stranded)
            status_warn("without the lost nodes: %s; its tasks wait", status_message());
        for (int a = 0; a < p->kinds[k].nafter; a++) {
            const struct run_measured *first = &h->measured[p->kinds[k].after[a]];
            m->stranded = m->stranded || (first->stranded && first->left);
        }
    }
    return EK_OK;
}

/* The problem of the waiting tasks and the remaining nodes. */
static enum ek_status remaining(struct run_history *h, struct run_epoch *e)
{
    const struct moldable_problem *p = &h->job->problem;
    e->problem = *p;
    e->problem.ntasks = e->problem.nnodes = 0;
    e->problem.kind = ARENA_NEW(&e->arena, p->ntasks, int);
    e->problem.node = ARENA_NEW(&e->arena, p->nnodes, struct moldable_node);
    e->problem.kinds = arena_copy(&e->arena, p->kinds, (size_t)p->nkinds, sizeof *p->kinds);
    e->task = ARENA_NEW(&e->arena, p->ntasks, int);
    e->node = ARENA_NEW(&e->arena, p->nnodes, int);
    TRY(arena_check(&e->arena, "a plan"));
    for (int k = 0; k < p->nkinds; k++)
        e->problem.kinds[k].law.stretch = stretch_of(h, k);
    for (int n = 0; n < p->nnodes; n++)
        if (!h->lost[n]) {
            e->problem.node[e->problem.nnodes] = p->node[n];
            e->node[e->problem.nnodes++] = n;
        }
    if (!e->problem.nnodes)
        FAIL(EK_UNAVAILABLE, "no node is left to run tasks on");
    TRY(note_stranded(h, e));
    for (int i = 0; i < p->ntasks; i++)
        if (h->entry[i].state == RUN_WAITS && !h->measured[p->kind[i]].stranded) {
            e->problem.kind[e->problem.ntasks] = p->kind[i];
            e->task[e->problem.ntasks++] = i;
        }
    return EK_OK;
}

/* Sets when each core becomes free. Running tasks may be on any cores of their node, so they are
 * put on the first ones. */
static enum ek_status running(const struct run_history *h, struct run_epoch *e, double now)
{
    int cores = 0, any = 0, *at = ARENA_NEW(&e->arena, h->job->problem.nnodes, int);
    TRY(arena_check(&e->arena, "a plan"));
    for (int n = 0; n < e->problem.nnodes; n++) {
        at[e->node[n]] = cores;
        cores += e->problem.node[n].cores;
    }
    e->free = ARENA_NEW(&e->arena, cores, double);
    TRY(arena_check(&e->arena, "a plan"));
    for (int n = 0, c = 0; n < e->problem.nnodes; c += e->problem.node[n++].cores)
        e->problem.node[n].free = e->free + c;
    for (int i = 0; i < h->job->problem.ntasks; i++) {
        const struct run_entry *r = &h->entry[i];
        if (r->state != RUN_RUNS)
            continue;
        const double until = r->start + run_history_expected(h, i) - now;
        for (int k = 0; k < r->placed->nparts; k++) {
            const int node = run_history_node(r, k);
            for (int c = 0; !h->lost[node] && c < r->placed->part[k].ncores; c++, any++)
                e->free[at[node]++] = fmax(until, 1e-3);
        }
    }
    for (int n = 0; !any && n < e->problem.nnodes; n++)
        e->problem.node[n].free = NULL;
    return EK_OK;
}

static int by_node_and_start(const void *x, const void *y, void *history)
{
    const struct run_history *h = history;
    const struct run_entry *ex = &h->entry[*(const int *)x], *ey = &h->entry[*(const int *)y];
    const int nx = run_history_node(ex, 0), ny = run_history_node(ey, 0);
    if (nx != ny)
        return nx - ny;
    const double sx = ex->epoch->begin + ex->placed->start;
    const double sy = ey->epoch->begin + ey->placed->start;
    return sx != sy ? (sx < sy ? -1 : 1) : *(const int *)x - *(const int *)y;
}

/* Tasks that run are in them, too, where they are: they may fail and be tried again. */
static void make_queues(struct run_history *h)
{
    const int nodes = h->job->problem.nnodes;
    int n = 0;
    for (int i = 0; i < h->job->problem.ntasks; i++)
        if (h->entry[i].state == RUN_WAITS || h->entry[i].state == RUN_RUNS)
            h->queue[n++] = i;
    qsort_r(h->queue, (size_t)n, sizeof *h->queue, by_node_and_start, h);
    for (int node = 0, i = 0; node <= nodes; node++) {
        while (i < n && run_history_node(&h->entry[h->queue[i]], 0) < node)
            i++;
        h->first[node] = i;
        if (node < nodes)
            h->head[node] = i;
    }
}

static enum ek_status plan_epoch(struct run_history *h, struct run_epoch *e, double now)
{
    TRY(remaining(h, e));
    if (!e->problem.ntasks)
        return EK_OK;
    TRY(running(h, e, now));
    TRY(moldable_plan_open(&e->plan, &e->problem, h->method));
    for (int i = 0; i < e->problem.ntasks; i++) {
        h->entry[e->task[i]].epoch = e;
        h->entry[e->task[i]].placed = &e->plan.task[i];
    }
    make_queues(h);
    return EK_OK;
}

enum ek_status run_history_plan(struct run_history *h, double now)
{
    TRY(arena_grow(&h->epoch, &h->room, (size_t)h->nepochs, sizeof *h->epoch, "plans"));
    NEW(struct run_epoch, e, 1, "out of memory for a plan");
    e->begin = now;
    h->epoch[h->nepochs++] = e;
    return plan_epoch(h, e, now);
}
