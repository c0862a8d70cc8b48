/* cu/moldable/launch.c – processes of tasks. */
#include "cu/moldable/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- text -------------------------------------------------------------------------------------*/
/* 'text' for a shell, whatever is in it. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

/* The command with its {words} replaced. */
static void put_command(FILE *out, const struct run_job *j, const struct run_start *s)
{
    char cores[16], id[16], seconds[32];
    snprintf(cores, sizeof cores, "%d", s->cores);
    snprintf(id, sizeof id, "%d", s->task);
    snprintf(seconds, sizeof seconds, "%.6f", s->seconds);
    const struct {
        const char *word, *text;
    } words[] = {{"{cores}", cores},
                 {"{id}", id},
                 {"{node}", j->problem.node[s->node].name},
                 {"{hosts}", s->hosts},
                 {"{seconds}", seconds}};
    for (const char *at = j->command[s->kind].text; *at;) {
        size_t w = 0, n = sizeof words / sizeof *words;
        while (w < n && strncmp(at, words[w].word, strlen(words[w].word)))
            w++;
        if (w < n) {
            fputs(words[w].text, out);
            at += strlen(words[w].word);
        } else {
            fputc(*at++, out);
        }
    }
}

static char *command_text(const struct run_job *j, const struct run_start *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_command(out, j, s);
    fclose(out);
    return text;
}

/* What a remote shell runs: same folder, variables and cores (numbered as Linux does there). */
static char *remote_text(const struct run_job *j, const struct run_start *s, const char *command)
{
    char *text = NULL, cwd[4096];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (!getcwd(cwd, sizeof cwd)) {
        fclose(out);
        free(text);
        return NULL;
    }
    fputs("cd ", out);
    put_quoted(out, cwd);
    fputs(" || exit 126; ", out);
    for (const char **v = j->cores_in; *v; v++)
        fprintf(out, "export %s=%d; ", *v, s->cores);
    fputs("set -- sh -c ", out);
    put_quoted(out, command);
    fputs("; command -v taskset >/dev/null 2>&1 && set -- taskset -c ", out);
    for (int c = 0; c < s->ncore; c++)
        fprintf(out, "%s%d", c ? "," : "", s->core[c]);
    fputs(" \"$@\"; exec \"$@\"", out);
    fclose(out);
    return text;
}

/* ---- starting ---------------------------------------------------------------------------------*/
/* All that a child may do between fork and exec: no allocation, since other threads may exist. */
struct child {
    const struct run_job *job;
    const struct run_start *start;
    int out, err, lock;
    char *argv[20];
    char cores[16];
};

static void bind_cores(const struct child *c)
{
    const int *cpu = c->job->node[c->start->node].cpu;
    cpu_set_t set;
    if (!cpu)
        return;
    CPU_ZERO(&set);
    for (int i = 0; i < c->start->ncore; i++)
        CPU_SET(cpu[c->start->core[i]], &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void become(const struct child *c)
{
    static const char exec_failed[] = "cu-run: the command cannot be started\n";
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bind_cores(c);
    for (const char **v = c->job->cores_in; *v; v++)
        setenv(*v, c->cores, 1);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(c->out, STDOUT_FILENO);
    dup2(c->err, STDERR_FILENO);
    fcntl(c->lock, F_SETFD, 0); /* inherited by all that the task starts */
    execvp(c->argv[0], c->argv);
    if (write(STDERR_FILENO, exec_failed, sizeof exec_failed - 1) < 0)
        _exit(126);
    _exit(127);
}

static int open_file(const char *folder, int task, const char *suffix, int flags)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%d.%s", folder, task, suffix);
    return open(path, O_CREAT | O_CLOEXEC | flags, 0644);
}

static void choose_argv(struct child *c, char *text)
{
    const struct run_node *n = &c->job->node[c->start->node];
    /* A session whose other end is frozen or gone ends within a minute. */
    char *const forms[][20] = {
        [RUN_HERE] = {"sh", "-c", text},
        [RUN_SSH] = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o",
                     "ConnectionAttempts=3", "-o", "ServerAliveInterval=15", "-o",
                     "ServerAliveCountMax=3", "--", n->host, text},
        [RUN_SLURM] = {"srun", "--overlap", "-N1", "-n1", "-w", n->host, "sh", "-c", text},
    };
    memcpy(c->argv, forms[n->reach], sizeof *forms);
}

static enum ek_status start_child(struct child *c, pid_t *pid)
{
    snprintf(c->cores, sizeof c->cores, "%d", c->start->cores);
    pid_t child = fork();
    if (child < 0)
        FAIL(EK_UNAVAILABLE, "task %d: no process: %s", c->start->task, strerror(errno));
    if (!child)
        become(c);
    setpgid(child, child); /* both do it, whoever comes first */
    if (ftruncate(c->lock, 0) == 0)
        dprintf(c->lock, "%d\n", (int)child);
    *pid = child;
    return EK_OK;
}

enum ek_status run_launch(const struct run_job *j, const struct run_start *s, pid_t *pid)
{
    struct child c = {.job = j, .start = s};
    char *command = command_text(j, s), *text = command;
    enum ek_status st = EK_OK;
    if (command && j->node[s->node].reach != RUN_HERE)
        text = remote_text(j, s, command);
    c.out = open_file(s->folder, s->task, "out", O_WRONLY | O_TRUNC);
    c.err = open_file(s->folder, s->task, "err", O_WRONLY | O_TRUNC);
    c.lock = open_file(s->folder, s->task, "lock", O_RDWR);
    if (!text)
        st = status_fail(EK_UNAVAILABLE, "task %d: out of memory", s->task);
    else if (c.out < 0 || c.err < 0 || c.lock < 0)
        st = status_fail(EK_UNAVAILABLE, "task %d: no files in %s: %m", s->task, s->folder);
    else if (flock(c.lock, LOCK_EX | LOCK_NB))
        st = status_fail(EK_UNAVAILABLE, "task %d still runs: %s/%d.lock is held", s->task,
                         s->folder, s->task);
    if (!st) {
        choose_argv(&c, text);
        st = start_child(&c, pid);
    }
    const int files[] = {c.out, c.err, c.lock};
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
    if (text != command)
        free(text);
    free(command);
    return st;
}

enum ek_status run_reap_orphan(const char *folder, int task)
{
    const struct timespec moment = {0, 20000000};
    int lock = open_file(folder, task, "lock", O_RDWR), group = 0;
    FILE *f = lock < 0 ? NULL : fdopen(lock, "r+");
    if (!f)
        FAIL(EK_UNAVAILABLE, "%s/%d.lock cannot be opened: %m", folder, task);
    if (fscanf(f, "%d", &group) != 1)
        group = 0;
    bool held = flock(lock, LOCK_EX | LOCK_NB) != 0;
    if (held && group > 1)
        kill(-group, SIGKILL);
    for (int i = 0; held && i < 250; i++) {
        nanosleep(&moment, NULL);
        held = flock(lock, LOCK_EX | LOCK_NB) != 0;
    }
    fclose(f);
    return held ? status_fail(EK_UNAVAILABLE,
                              "task %d still runs from before and does not end: %s/%d.lock", task,
                              folder, task)
                : EK_OK;
}

/* ---- measuring --------------------------------------------------------------------------------*/
static bool find_seconds(const regex_t *regex, FILE *f, double *seconds)
{
    char *line = NULL;
    size_t room = 0;
    regmatch_t match[2];
    bool found = false;
    while (getline(&line, &room, f) >= 0) {
        char *end;
        if (regexec(regex, line, 2, match, 0) || match[1].rm_so < 0)
            continue;
        double x = strtod(line + match[1].rm_so, &end);
        if (end > line + match[1].rm_so && x > 0) {
            *seconds = x; /* the last one counts */
            found = true;
        }
    }
    free(line);
    return found;
}

enum ek_status run_measured(const struct run_job *j, int kind, const char *folder, int task,
                            double wall, double *seconds)
{
    char path[4200];
    regex_t regex;
    *seconds = wall;
    if (!j->command[kind].measure)
        return EK_OK;
    snprintf(path, sizeof path, "%s/%d.out", folder, task);
    FILE *f = fopen(path, "r");
    bool found = f && !regcomp(&regex, j->command[kind].measure, REG_EXTENDED | REG_NEWLINE);
    if (found) {
        found = find_seconds(&regex, f, seconds);
        regfree(&regex);
    }
    if (f)
        fclose(f);
    return found ? EK_OK
                 : status_fail(EK_USAGE, "%s: nothing in it matches the measure '%s'", path,
                               j->command[kind].measure);
}

/* ---- probing ----------------------------------------------------------------------------------*/
/* Exit status of `text` on the node, its output thrown away. */
static int run_quietly(const struct run_job *j, int node, char *text)
{
    static const int core;
    struct run_start s = {.node = node, .ncore = 1, .core = &core};
    struct child c = {.job = j, .start = &s, .lock = -1};
    int status = 0;
    c.out = c.err = open("/dev/null", O_WRONLY | O_CLOEXEC);
    choose_argv(&c, text);
    pid_t child = fork();
    if (!child)
        become(&c);
    close(c.out);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

enum ek_status run_probe_node(const struct run_job *j, int node)
{
    if (j->node[node].reach == RUN_HERE || !run_quietly(j, node, "true"))
        return EK_OK;
    FAIL(EK_UNAVAILABLE, "node '%s': %s cannot be reached (%s); try it by hand",
         j->problem.node[node].name, j->node[node].host,
         j->node[node].reach == RUN_SSH ? "ssh without a password" : "srun in this allocation");
}

static enum ek_status probe_command(const struct run_job *j, int node, int kind)
{
    const char *at = j->command[kind].text;
    char word[1024], text[1100];
    at += strspn(at, " \t");
    size_t n = strcspn(at, " \t;|&<>()");
    if (!n || n >= sizeof word || memchr(at, '=', n) || memchr(at, '\'', n) || memchr(at, '{', n) ||
        memchr(at, '$', n) || memchr(at, '"', n))
        return EK_OK; /* the shell's affair */
    snprintf(word, sizeof word, "%.*s", (int)n, at);
    snprintf(text, sizeof text, "command -v '%s'", word);
    if (!run_quietly(j, node, text))
        return EK_OK;
    FAIL(EK_UNAVAILABLE, "task '%s': there is no command '%s' on node '%s'",
         j->problem.kinds[kind].name, word, j->problem.node[node].name);
}

static enum ek_status probe(const struct run_job *j, int node)
{
    TRY(run_probe_node(j, node));
    for (int k = 0; k < j->problem.nkinds; k++)
        if (!node || j->node[node].reach != j->node[node - 1].reach || j->node[node].host)
            TRY(probe_command(j, node, k));
    return EK_OK;
}

/* Fewer at a time than a usual sshd lets in before it drops some (MaxStartups). */
enum ek_status run_probe(const struct run_job *j)
{
    enum ek_status failed = EK_OK;
#pragma omp parallel for num_threads(8) schedule(dynamic, 1)
    for (int n = 0; n < j->problem.nnodes; n++) {
        const enum ek_status st = probe(j, n);
        if (st) {
#pragma omp atomic write
            failed = st;
        }
    }
    return failed;
}
