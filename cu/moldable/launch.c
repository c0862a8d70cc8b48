/* cu/moldable/launch.c – agents are child processes: this program itself, or ssh or srun that start
 * it on another node. */
#include "cu/moldable/launch.h"
#include "cu/rank/stop.h"
#include "src/clock.h"
#include "src/self.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Starts at a time, fewer than sshd's default for MaxStartups, beyond which it drops connections;
 * and attempts for each. */
enum { AT_A_TIME = 8, ATTEMPTS = 5 };
/* Seconds for an agent to connect, and for all agents to end by themselves. */
static const double CALLING = 90, ENDING = 15;
static const struct timespec GLANCE = {0, 5000000};

struct child {
    pid_t pid; /* 0: none */
    int err;   /* a file with its standard error; -1: none */
    int attempts;
    double since, again; /* when it was started; when to try again */
    bool up;
};

struct launch {
    struct agent_run run;
    struct family family;
    char folder[PATH_MAX];
    struct farm *farm;
    struct child *child; /* [nodes] */
    int nodes;
};

struct farm *launch_farm(const struct launch *l)
{
    return l->farm;
}

/* ---- one agent --------------------------------------------------------------------------------*/
/* The text quoted for a shell. */
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

/* A command that runs, in the current folder, this program or else the cu-run in PATH. ssh gives it
 * to the user's shell, which may be csh or fish, and itself would report an agent that was killed
 * like a failure of its own: there, sh stays and passes it on. */
static char *remote_text(enum run_reach reach)
{
    static const char stays[] = "{ \"$1\" agent; exit $?; }; cu-run agent; exit $?",
                      goes[] = "exec \"$1\" agent; exec cu-run agent";
    char *text = NULL, cwd[PATH_MAX];
    size_t size;
    FILE *out = getcwd(cwd, sizeof cwd) ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    fprintf(out, "exec sh -c 'cd \"$0\" || exit %d; test -x \"$1\" && %s' ", AGENT_NO_FOLDER,
            reach == RUN_SSH ? stays : goes);
    put_quoted(out, cwd);
    fputc(' ', out);
    put_quoted(out, self_path());
    fclose(out);
    return text;
}

static void become_child(const struct launch *l, int node, const char *remote, int in, int err)
{
    const struct run_node *n = &l->run.job->node[node];
    char cores[16];
    snprintf(cores, sizeof cores, "-c%d", l->run.job->problem.node[node].cores);
    /* ssh gives up within a minute when the other end is frozen or gone. */
    char *const forms[][20] = {
        [RUN_HERE] = {(char *)self_path(), "agent"},
        [RUN_SSH] = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o",
                     "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "--", n->host,
                     (char *)remote},
        [RUN_SLURM] = {"srun", "--overlap", "--quiet", "-N1", "-n1", cores, "-w", n->host, "sh",
                       "-c", (char *)remote},
    };
    char *const *argv = forms[n->reach];
    setpgid(0, 0); /* only the master handles Ctrl-C */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(in, STDIN_FILENO);
    dup2(err, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execvp(argv[0], argv);
    fprintf(stderr, "%s: cannot be executed: %s\n", argv[0], strerror(errno));
    _exit(AGENT_NO_SSH);
}

static enum ek_status start(struct launch *l, int node)
{
    struct child *c = &l->child[node];
    json_auto_t *line = agent_start_json(&l->run, node);
    OWNED_MEMORY char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    OWNED_MEMORY char *remote = remote_text(l->run.job->node[node].reach);
    const int in = memfd_create("cu-run agent", MFD_CLOEXEC); /* takes a line of any length */
    enum ek_status st = EK_OK;
    c->err = memfd_create("cu-run agent", MFD_CLOEXEC);
    if (!text || !remote || c->err < 0 || in < 0 || dprintf(in, "%s\n", text) < 0 ||
        lseek(in, 0, SEEK_SET))
        st = status_fail(EK_UNAVAILABLE, "node '%s': no agent can be started: %m",
                         l->run.job->problem.node[node].name);
    if (!st && !(c->pid = fork()))
        become_child(l, node, remote, in, c->err);
    if (!st && c->pid < 0)
        st = status_fail(EK_UNAVAILABLE, "no process can be made: %m");
    if (in >= 0)
        close(in);
    c->since = clock_now();
    c->attempts++;
    return st;
}

/* ---- agents that end before they connect ------------------------------------------------------*/
/* The last line of its standard error, without our own name. */
static void last_words(const struct child *c, char line[512])
{
    static const char name[] = "cu-run: ";
    char text[4096], *at = text;
    const off_t end = lseek(c->err, 0, SEEK_END), from = end > 4095 ? end - 4095 : 0;
    ssize_t n = pread(c->err, text, sizeof text - 1, from);
    for (n = n > 0 ? n : 0; n && strchr("\r\n", text[n - 1]);)
        n--;
    text[n] = 0;
    at = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
    at += strncmp(at, name, sizeof name - 1) ? 0 : sizeof name - 1;
    snprintf(line, 512, "%s", at);
}

static enum ek_status explain(const struct launch *l, int node, int code)
{
    const struct run_job *j = l->run.job;
    const char *name = j->problem.node[node].name, *host = j->node[node].host;
    char words[512];
    last_words(&l->child[node], words);
    if (code == status_exit_code(EK_UNAVAILABLE) && *words)
        FAIL(EK_UNAVAILABLE, "%s", words);
    if (code == AGENT_NO_FOLDER)
        FAIL(EK_UNAVAILABLE, "node '%s': the current folder is not there: %s", name, words);
    if (code == AGENT_NO_PROGRAM)
        FAIL(EK_UNAVAILABLE, "node '%s': there is neither %s nor a cu-run in its PATH; install it",
             name, self_path());
    FAIL(EK_UNAVAILABLE, "node '%s': %s cannot be reached (%s): %s; try it by hand", name,
         host ? host : "this machine",
         j->node[node].reach == RUN_SSH ? "ssh without a password" : "srun in this allocation",
         *words ? words : "no message");
}

/* If ssh itself failed, tries again after a delay that differs from node to node. */
static enum ek_status judge(struct launch *l, int node, int status)
{
    struct child *c = &l->child[node];
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->pid = 0;
    if (code != AGENT_NO_SSH || c->attempts == ATTEMPTS || stop_requested())
        return explain(l, node, code);
    c->again = clock_now() + 0.1 * c->attempts * (1 + node % AT_A_TIME);
    close(c->err);
    c->err = -1;
    return EK_OK;
}

static enum ek_status look_at(struct launch *l, int node, int *starting)
{
    struct child *c = &l->child[node];
    int status;
    if (c->up)
        return EK_OK;
    if (!c->pid && *starting < AT_A_TIME && clock_now() >= c->again)
        TRY(start(l, node));
    *starting += c->pid > 0;
    c->up = farm_worker(l->farm, node + 1).here;
    if (!c->up && c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid)
        return judge(l, node, status);
    if (!c->up && c->pid && clock_now() - c->since > CALLING)
        FAIL(
            EK_UNAVAILABLE,
            "node '%s': its agent has started but does not connect; is there a firewall before %s?",
            l->run.job->problem.node[node].name, l->family.call);
    return EK_OK;
}

static enum ek_status start_all(struct launch *l)
{
    for (int up = 0; up < l->nodes;) {
        int starting = 0;
        up = 0;
        for (int n = 0; n < l->nodes; n++) {
            TRY(look_at(l, n, &starting));
            up += l->child[n].up;
        }
        if (stop_requested())
            FAIL(EK_STOPPED, "interrupted before any task was started");
        if (up < l->nodes)
            nanosleep(&GLANCE, NULL);
    }
    return EK_OK;
}

/* ---- all --------------------------------------------------------------------------------------*/
enum ek_status launch_open(const struct run_job *job, const char *folder, const char *token,
                           const struct server_ops *ops, struct launch **l)
{
    NEW(struct launch, made, 1, "out of memory for agents");
    made->nodes = job->problem.nnodes;
    made->family = (struct family){.size = made->nodes + 1, .listens = -1};
    made->child = calloc((size_t)made->nodes, sizeof *made->child);
    for (int n = 0; made->child && n < made->nodes; n++)
        made->child[n].err = -1;
    if (!realpath(folder, made->folder))
        snprintf(made->folder, sizeof made->folder, "%s", folder);
    made->run = (struct agent_run){job, &made->family, made->folder, token};
    struct farm_settings settings = {.ops = *ops, .family = &made->family};
    settings.ops.grace = AGENT_GRACE;
    enum ek_status st = made->child ? family_listen(&made->family)
                                    : status_fail(EK_UNAVAILABLE, "out of memory for agents");
    if (!st) /* else agents would keep the socket open after our end */
        fcntl(made->family.listens, F_SETFD, FD_CLOEXEC);
    THEN(st, farm_open(&settings, &made->farm));
    THEN(st, start_all(made));
    return HAND_OUT(st, made, l, launch_close);
}

/* Has the agent ended, too? Not if only the connection of ssh broke. */
static bool ends_with(enum run_reach reach, int status)
{
    return reach != RUN_SSH || (WIFEXITED(status) && WEXITSTATUS(status) != AGENT_NO_SSH);
}

void launch_watch(struct launch *l)
{
    for (int n = 0, status; n < l->nodes; n++)
        if (l->child[n].pid > 0 && waitpid(l->child[n].pid, &status, WNOHANG) == l->child[n].pid) {
            l->child[n].pid = 0;
            if (ends_with(l->run.job->node[n].reach, status))
                farm_ended(l->farm, n + 1);
        }
}

/* When the farm is closed, agents end their tasks and exit. */
void launch_close(struct launch *l)
{
    if (!l)
        return;
    farm_close(l->farm);
    const double until = clock_now() + ENDING;
    for (int n = 0; l->child && n < l->nodes; n++) {
        struct child *c = &l->child[n];
        if (c->pid > 0 && !c->up) /* it may never connect */
            kill(c->pid, SIGTERM);
        while (c->pid > 0 && waitpid(c->pid, NULL, WNOHANG) == 0) {
            if (clock_now() > until)
                kill(-c->pid, SIGKILL);
            nanosleep(&GLANCE, NULL);
        }
        if (c->err >= 0)
            close(c->err);
    }
    free(l->child);
    free(l);
}
