/* cu/moldable/agent.c – the agent: runs the tasks that the master sends and reports them. */
#include "cu/moldable/agent.h"
#include "cu/farm/farm.h"
#include "cu/moldable/cpus.h"
#include "cu/moldable/run.h"
#include "cu/moldable/task.h"
#include "cu/rank/stop.h"
#include "src/cachedir.h"
#include "src/checksum.h"
#include "src/clock.h"
#include "src/file.h"
#include "src/json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_GPUS = 64, MOST_OUTPUT = 64 << 20 };
/* Seconds: between two looks; until a task's death by a signal is reported, since the agent is next
 * if the whole allocation is being killed; until the failure of a task on several nodes is, since
 * the master may be about to notice that one of them is lost; to wait for an earlier agent of this
 * node; after a task's walltime until its supervisor is woken. */
static const double GLANCE = 0.1, HOLD = 1, HOLD_NODES = 2, FORMER = 60, OVERDUE = 1;

extern char **environ;

/* A task that runs or has still to be reported. */
struct seat {
    struct farm_batch batch;
    pid_t pid; /* 0: it is over */
    double begin, ended;
    int code, ncpus, ngpus;
    int *slot; /* [ncpus] of agent.cpu */
    int gpu[MOST_GPUS];
    json_t *order;
    struct seat *next;
};

struct agent {
    json_t *start;
    struct family family;
    struct farm *farm;
    const char *name, *folder; /* folder: of the tasks' output */
    char own[4096];            /* a temporary folder if the master's is not visible here, else "" */
    char locked[4096];         /* the path that `lock` locks */
    int lock, cores, *cpu;     /* cpu [cores]; NULL: tasks are not bound */
    bool *busy, shared;        /* busy [cores]; shared: we see the master's folder */
    bool orphans;              /* a supervisor was killed */
    bool late;                 /* we were stopped for longer than AGENT_LEASE */
    int ngpus;
    char *gpu[MOST_GPUS];
    bool gpu_busy[MOST_GPUS];
    struct seat *seats;
    struct arena arena; /* of cpu, busy and gpu */
};

/* ---- starting up ------------------------------------------------------------------------------*/
static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static int whole_of(const json_t *o, const char *key)
{
    return (int)json_integer_value(json_object_get(o, key));
}

static enum ek_status read_start(struct agent *a)
{
    char *line = NULL;
    size_t room = 0;
    struct family *f = &a->family;
    if (getline(&line, &room, stdin) >= 0)
        a->start = json_loads(line, 0, NULL);
    free(line);
    if (!a->start)
        FAIL(EK_USAGE, "an agent is started by cu-run run, not by hand");
    *f = (struct family){.rank = whole_of(a->start, "rank"),
                         .size = whole_of(a->start, "size"),
                         .listens = -1,
                         .secret = "-"};
    snprintf(f->key, sizeof f->key, "%s", text_of(a->start, "key"));
    snprintf(f->call, sizeof f->call, "%s", text_of(a->start, "call"));
    a->name = text_of(a->start, "name");
    a->cores = whole_of(a->start, "cores");
    a->ngpus = whole_of(a->start, "gpus");
    return f->rank > 0 && a->cores > 0 ? EK_OK : status_fail(EK_USAGE, "no agent's line");
}

/* The cpus that the master names, or else the first ones of this process that no other node on this
 * host has. */
static enum ek_status take_cpus(struct agent *a)
{
    const json_t *given = json_object_get(a->start, "cpus");
    int have = (int)json_array_size(given), *own = NULL;
    a->busy = ARENA_NEW(&a->arena, a->cores, bool);
    TRY(arena_check(&a->arena, "%d cores", a->cores));
    if (!json_is_true(json_object_get(a->start, "bind")))
        return EK_OK;
    if (!have) {
        TRY(cpus_own(&a->arena, &own, &have));
        const int taken = whole_of(a->start, "taken_cores");
        own += taken < have ? taken : have;
        have -= taken < have ? taken : have;
    }
    if (have < a->cores)
        FAIL(EK_UNAVAILABLE,
             "node '%s' with %d cores: it has only %d cpus for them; give it fewer cores, or set "
             "\"oversubscribe\": true",
             a->name, a->cores, have);
    a->cpu = own ? own : ARENA_NEW(&a->arena, have, int);
    TRY(arena_check(&a->arena, "%d cores", have));
    for (int i = 0; !own && i < have; i++)
        a->cpu[i] = (int)json_integer_value(json_array_get(given, (size_t)i));
    return EK_OK;
}

/* The GPUs in CUDA_VISIBLE_DEVICES, or else the first ones, that no other node on this host has. */
static enum ek_status take_gpus(struct agent *a)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    const int taken = whole_of(a->start, "taken_gpus");
    char *rest = list && *list ? arena_text(&a->arena, list) : NULL, number[16];
    for (int i = 0; i < taken + a->ngpus; i++) {
        snprintf(number, sizeof number, "%d", i);
        char *gpu = list && *list ? strsep(&rest, ",") : arena_text(&a->arena, number);
        if (!gpu)
            FAIL(EK_UNAVAILABLE, "node '%s' with %d GPUs: CUDA_VISIBLE_DEVICES has only %d there",
                 a->name, a->ngpus, i > taken ? i - taken : 0);
        if (i >= taken)
            a->gpu[i - taken] = gpu;
    }
    return arena_check(&a->arena, "GPUs");
}

static enum ek_status check_commands(const struct agent *a)
{
    const json_t *list = json_object_get(a->start, "commands"), *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        const char *word = text_of(one, "word");
        setenv("CU_RUN_WORD", word, 1);
        const int missing = system("command -v -- \"$CU_RUN_WORD\" >/dev/null 2>&1");
        unsetenv("CU_RUN_WORD");
        if (missing)
            FAIL(EK_UNAVAILABLE, "task '%s': there is no command '%s' on node '%s'",
                 text_of(one, "task"), word, a->name);
    }
    return EK_OK;
}

/* Waits until all processes started by an earlier agent for the same results have ended: they hold
 * the lock. */
static enum ek_status wait_for_former(struct agent *a)
{
    char name[64];
    struct checksum c;
    enum ek_status st;
    checksum_begin(&c, "cu-run agent");
    checksum_add_text(&c, text_of(a->start, "folder"));
    checksum_add_text(&c, text_of(a->start, "master"));
    checksum_add_text(&c, a->name);
    snprintf(name, sizeof name, "cu-run-%u-%016llx", (unsigned)getuid(),
             (unsigned long long)checksum_end(&c));
    cachedir_temporary(name, a->locked, sizeof a->locked);
    const double until = clock_now() + FORMER;
    while ((st = MUTED(file_lock(a->locked, &a->lock))) == EK_USAGE && clock_now() < until &&
           !stop_requested())
        usleep(20000);
    if (st == EK_USAGE && !stop_requested())
        FAIL(EK_UNAVAILABLE,
             "node '%s': tasks of an earlier run in this folder are still running there; "
             "fuser %s.lock lists them",
             a->name, a->locked);
    return st ? status_repeat(st) : EK_OK;
}

/* Removes the lock's file unless processes of our tasks still hold it. */
static void leave_lock(struct agent *a)
{
    if (a->lock < 0)
        return;
    close(a->lock);
    if (!MUTED(file_lock(a->locked, &a->lock)))
        file_unlock(a->locked, a->lock);
}

static enum ek_status choose_folder(struct agent *a)
{
    char path[4200], token[64] = "";
    snprintf(path, sizeof path, "%s/lock", text_of(a->start, "folder"));
    FILE *f = fopen(path, "re");
    a->shared = f && fscanf(f, "%63s", token) == 1 && !strcmp(token, text_of(a->start, "token"));
    if (f)
        fclose(f);
    a->folder = text_of(a->start, "folder");
    if (a->shared)
        return EK_OK;
    cachedir_temporary("cu-run-XXXXXX", a->own, sizeof a->own);
    a->folder = mkdtemp(a->own);
    return a->folder ? EK_OK : status_fail(EK_UNAVAILABLE, "no folder %s: %m", a->own);
}

/* ---- tasks ------------------------------------------------------------------------------------*/
static void path_of(const struct agent *a, const struct seat *s, const char *suffix,
                    char path[4200])
{
    snprintf(path, 4200, "%s/%zu.%s", a->folder, s->batch.tasks.begin, suffix);
}

/* Takes idle cpus and GPUs; the master has made sure that there are enough. */
static void occupy(struct agent *a, struct seat *s)
{
    int n = 0;
    for (int c = 0; c < a->cores && n < s->ncpus; c++)
        if (!a->busy[c]) {
            a->busy[c] = true;
            s->slot[n++] = c;
        }
    s->ncpus = n;
    for (int g = n = 0; g < a->ngpus && n < s->ngpus; g++)
        if (!a->gpu_busy[g]) {
            a->gpu_busy[g] = true;
            s->gpu[n++] = g;
        }
    s->ngpus = n;
}

static void vacate(struct agent *a, const struct seat *s)
{
    for (int c = 0; c < s->ncpus; c++)
        a->busy[s->slot[c]] = false;
    for (int g = 0; g < s->ngpus; g++)
        a->gpu_busy[s->gpu[g]] = false;
}

/* Our environment, overridden by the order's variables and by the list of the task's GPUs. */
static char **environment(const struct agent *a, const struct seat *s, struct arena *arena)
{
    static const char *const visible[] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};
    json_auto_t *set = json_deep_copy(json_object_get(s->order, "env"));
    json_t *value;
    char gpus[1024] = "", word[256];
    const char *name;
    size_t n = 0, i = 0;
    for (int g = 0, at = 0; g < s->ngpus && at < (int)sizeof gpus - 64; g++)
        at += snprintf(gpus + at, 64, "%s%.60s", g ? "," : "", a->gpu[s->gpu[g]]);
    for (int v = 0; s->ngpus && v < 2; v++)
        json_object_set_new(set, visible[v], json_string(gpus));
    while (environ[n])
        n++;
    char **env = ARENA_NEW(arena, n + json_object_size(set) + 1, char *);
    for (n = 0; env && environ[n]; n++) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(environ[n], "="), environ[n]);
        if (!json_object_get(set, word))
            env[i++] = environ[n];
    }
    json_object_foreach(set, name, value)
    {
        const size_t size = strlen(name) + json_string_length(value) + 2;
        char *text = ARENA_NEW(arena, size, char);
        if (env && text) {
            snprintf(text, size, "%s=%s", name, json_string_value(value));
            env[i++] = text;
        }
    }
    return env;
}

static enum ek_status launch(struct agent *a, struct seat *s)
{
    char out[4200], err[4200];
    OWNED(arena_free) struct arena arena = {0};
    char **env = environment(a, s, &arena);
    int *cpu = ARENA_NEW(&arena, s->ncpus, int);
    path_of(a, s, "out", out);
    path_of(a, s, "err", err);
    for (int c = 0; cpu && a->cpu && c < s->ncpus; c++)
        cpu[c] = a->cpu[s->slot[c]];
    const struct task_start start = {.command = text_of(s->order, "command"),
                                     .env = env,
                                     .ncpus = a->cpu ? s->ncpus : 0,
                                     .cpu = cpu,
                                     .walltime = json_number_of(s->order, "walltime"),
                                     .lease = AGENT_LEASE,
                                     .out = out,
                                     .err = err,
                                     .lock = a->lock};
    TRY(arena_check(&arena, "a task"));
    return task_start(&start, &s->pid);
}

static enum ek_status begin(struct agent *a, const struct farm_batch *batch)
{
    NEW(struct seat, s, 1, "out of memory for a task");
    s->batch = *batch;
    s->order = json_loads(batch->text ? batch->text : "", 0, NULL);
    s->ncpus = whole_of(s->order, "cores");
    s->ngpus = whole_of(s->order, "gpus") < MOST_GPUS ? whole_of(s->order, "gpus") : MOST_GPUS;
    s->slot = calloc((size_t)s->ncpus + 1, sizeof *s->slot);
    s->next = a->seats;
    a->seats = s;
    s->begin = clock_now();
    if (s->slot)
        occupy(a, s);
    if (!s->order || !s->slot || launch(a, s)) {
        s->code = 126; /* reported like any other failure */
        s->ended = s->begin;
    }
    return EK_OK;
}

static void discard(struct seat *s)
{
    json_decref(s->order);
    free(s->slot);
    free(s);
}

/* ---- reports ----------------------------------------------------------------------------------*/
/* Appends the last MOST_OUTPUT bytes of a file to *all [*n], and removes it; how much it added. */
static uint64_t append_file(char **all, size_t *n, const char *path)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const size_t before = *n;
    if (fd >= 0 && !fstat(fd, &info)) {
        const off_t from = info.st_size > MOST_OUTPUT ? info.st_size - MOST_OUTPUT : 0;
        char cut[64] = "", *more = realloc(*all, *n + (size_t)(info.st_size - from) + sizeof cut);
        if (from)
            snprintf(cut, sizeof cut, "cu-run: %lld bytes before these are left out\n",
                     (long long)from);
        if (more) {
            *all = more;
            memcpy(more + *n, cut, strlen(cut));
            *n += strlen(cut);
            const ssize_t got = pread(fd, more + *n, (size_t)(info.st_size - from), from);
            *n += got > 0 ? (size_t)got : 0;
        }
    }
    if (fd >= 0)
        close(fd);
    unlink(path);
    return *n - before;
}

static enum ek_status check_outputs(const struct seat *s)
{
    const json_t *list = json_object_get(s->order, "outputs"), *one;
    size_t i;
    json_array_foreach(list, i, one) if (access(json_string_value(one), R_OK))
        FAIL(EK_UNVERIFIED, "its output %s is not there", json_string_value(one));
    return EK_OK;
}

/* Finds the time that the task printed. A task that exits with 0 has failed all the same if that or
 * one of its output files is missing; the reason is appended to its standard error. */
static void judge(const struct seat *s, const char *out, const char *err, struct agent_report *r)
{
    const char *regex = text_of(s->order, "measure");
    if (r->code)
        return;
    status_mute(1);
    if ((*regex && task_measured(regex, out, &r->seconds)) || check_outputs(s)) {
        FILE *f = fopen(err, "ae");
        r->code = 1;
        if (f) {
            fprintf(f, "cu-run: %s\n", status_message());
            fclose(f);
        }
    }
    status_mute(-1);
}

static enum ek_status report(struct agent *a, struct seat *s)
{
    char out[4200], err[4200];
    const double wall = s->ended - s->begin;
    struct agent_report r = {.code = s->code, .wall = wall, .seconds = wall};
    size_t n = sizeof r;
    OWNED_MEMORY char *all = malloc(n);
    path_of(a, s, "out", out);
    path_of(a, s, "err", err);
    judge(s, out, err, &r);
    r.carried = !a->shared;
    if (all && r.carried) {
        r.out = append_file(&all, &n, out);
        r.err = append_file(&all, &n, err);
    }
    if (!all)
        FAIL(EK_UNAVAILABLE, "out of memory for a report");
    memcpy(all, &r, sizeof r);
    vacate(a, s);
    return farm_report(a->farm, &s->batch, r.code, 0, all, n);
}

static bool is_supervisor(void *agent, pid_t pid)
{
    const struct seat *s = ((const struct agent *)agent)->seats;
    while (s && s->pid != pid)
        s = s->next;
    return s != NULL;
}

/* Notes which supervisors have ended. If one was killed, we have adopted what it left behind. */
static void reap(struct agent *a)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (struct seat *s = a->seats; s; s = s->next)
            if (s->pid == pid) {
                s->pid = 0;
                a->orphans = a->orphans || WIFSIGNALED(status);
                a->late = a->late || (WIFSIGNALED(status) && WTERMSIG(status) == TASK_LEASE_OVER);
                s->code = task_exit_code(status);
                s->ended = clock_now();
            }
    if (a->orphans)
        task_kill_children(is_supervisor, a);
}

/* A supervisor that is stopped does not see that its task's time is up. */
static void wake_overdue(const struct agent *a)
{
    for (const struct seat *s = a->seats; s; s = s->next) {
        const double walltime = json_number_of(s->order, "walltime");
        if (s->pid && walltime > 0 && clock_now() > s->begin + walltime + OVERDUE)
            kill(s->pid, SIGCONT);
    }
}

/* Has it ended, and if it failed, long enough ago to know whether a loss of nodes is the reason? */
static bool due(const struct seat *s)
{
    const double hold = s->code && whole_of(s->order, "nodes") > 1 ? HOLD_NODES
                        : s->code > TASK_SIGNALLED                 ? HOLD
                                                                   : 0;
    return !s->pid && clock_now() - s->ended >= hold;
}

static enum ek_status report_ended(struct agent *a)
{
    enum ek_status st = EK_OK;
    reap(a);
    if (a->late) /* it did not fail: the master gives it to another node */
        return EK_LOST;
    wake_overdue(a);
    for (struct seat **at = &a->seats, *s; !st && (s = *at);) {
        if (!due(s)) {
            at = &s->next;
            continue;
        }
        st = report(a, s);
        *at = s->next;
        discard(s);
    }
    return st;
}

/* Ends all tasks, which takes their supervisors a few seconds at most. */
static void end_all(struct agent *a)
{
    for (struct seat *s = a->seats; s; s = s->next)
        if (s->pid) {
            kill(s->pid, SIGTERM);
            kill(s->pid, SIGCONT); /* it may be stopped */
        }
    for (struct seat *s; (s = a->seats); discard(s)) {
        char path[4200];
        while (s->pid && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        for (int k = 0; k < 2 && !a->shared; k++) {
            path_of(a, s, k ? "err" : "out", path);
            unlink(path);
        }
        a->seats = s->next;
    }
}

/* ---- the agent --------------------------------------------------------------------------------*/
static enum ek_status work(struct agent *a)
{
    bool over = false;
    enum ek_status st = farm_begin(a->farm, NULL);
    while (!st && !over && !stop_requested()) {
        struct farm_batch batch;
        st = report_ended(a);
        THEN(st, farm_next(a->farm, GLANCE, &batch, &over));
        if (!st && batch.tasks.end > batch.tasks.begin)
            st = begin(a, &batch);
    }
    end_all(a);
    return st && st != EK_LOST ? st : stop_requested() ? EK_STOPPED : EK_OK;
}

static void wake(int signal)
{
    (void)signal;
}

static enum ek_status open_agent(struct agent *a)
{
    const struct sigaction act = {.sa_handler = wake, .sa_flags = SA_NOCLDSTOP};
    TRY(read_start(a));
    TRY(take_cpus(a));
    TRY(take_gpus(a));
    TRY(check_commands(a));
    TRY(wait_for_former(a));
    TRY(choose_folder(a));
    sigaction(SIGCHLD, &act, NULL);
    const struct farm_settings settings = {.ops.grace = AGENT_LEASE,
                                           .family = &a->family,
                                           .units = a->cores,
                                           .capacity = {.slots = a->cores}};
    sigset_t child; /* SIGCHLD must interrupt this thread, not those of the farm */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, NULL);
    const enum ek_status st = farm_open(&settings, &a->farm);
    pthread_sigmask(SIG_UNBLOCK, &child, NULL);
    return st;
}

enum ek_status run_agent(int argc, char **argv)
{
    struct agent a = {.lock = -1};
    (void)argc, (void)argv;
    prctl(PR_SET_NAME, "cu-run-agent");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    stop_catch();
    signal(SIGPIPE, SIG_IGN);
    enum ek_status st = open_agent(&a);
    THEN(st, work(&a));
    farm_close(a.farm);
    if (*a.own)
        rmdir(a.own);
    leave_lock(&a);
    arena_free(&a.arena);
    json_decref(a.start);
    return st;
}
