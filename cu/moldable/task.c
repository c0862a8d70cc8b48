/* cu/moldable/task.c – tasks and their supervisors. The process has other threads, so nothing is
 * allocated between fork() and exec(). */
#include "cu/moldable/task.h"
#include "src/clock.h"
#include "src/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seconds: that a task has to end after SIGTERM; between two looks whether the agent is stopped. */
static const double PATIENCE = 5, GLANCE = 1;

/* ---- the supervisor ---------------------------------------------------------------------------*/
struct files {
    int in, out, err, lock;
};

/* Closes all inherited files except the task's: above all sockets. */
static void close_others(const struct files *f)
{
    const int kept[] = {f->in, f->out, f->err, f->lock};
    for (int from = 3, next = 0; next < INT_MAX - 1; from = next + 1) {
        next = INT_MAX - 1;
        for (int i = 0; i < 4; i++)
            next = kept[i] >= from && kept[i] < next ? kept[i] : next;
        if (next > from && syscall(SYS_close_range, from, next - 1, 0))
            for (int fd = from; fd < next && fd < 1024; fd++) /* before Linux 5.9 */
                close(fd);
    }
}

static void become_task(const struct task_start *s, const struct files *f)
{
    static const char failed[] = "cu-run: /bin/sh cannot be started\n";
    char *const argv[] = {"sh", "-c", (char *)s->command, NULL};
    cpu_set_t set;
    sigset_t none;
    CPU_ZERO(&set);
    for (int i = 0; i < s->ncpus; i++)
        CPU_SET(s->cpu[i], &set);
    if (s->ncpus)
        sched_setaffinity(0, sizeof set, &set);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(f->in, STDIN_FILENO);
    dup2(f->out, STDOUT_FILENO);
    dup2(f->err, STDERR_FILENO);
    fcntl(f->lock, F_SETFD, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL); /* which the agent ignores */
    execve("/bin/sh", argv, s->env);
    if (write(STDERR_FILENO, failed, sizeof failed - 1) < 0)
        _exit(126);
    _exit(127);
}

void task_kill_children(bool (*keeps)(void *arg, pid_t pid), void *arg)
{
    char text[4096];
    const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    for (char *at = text, *end; *at; at = end) {
        const pid_t pid = (pid_t)strtol(at, &end, 10);
        if (pid <= 0 || *end != ' ') /* the end, or a number that was cut */
            return;
        if (!keeps || !keeps(arg, pid))
            kill(pid, SIGKILL);
    }
}

/* Ends all processes of the task: by SIGTERM, and after `patience` seconds by SIGKILL. */
static void end_rest(pid_t task, double patience)
{
    const struct timespec moment = {0, 5000000};
    const double until = clock_now() + patience;
    if (patience > 0)
        kill(-task, SIGTERM);
    for (;;) {
        const pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (clock_now() >= until) {
            kill(-task, SIGKILL);
            task_kill_children(NULL, NULL);
        }
        if (pid == 0)
            nanosleep(&moment, NULL);
    }
}

/* For how long the agent has been seen to be stopped. Time in which we were stopped, too, is none:
 * both may be about to go on. */
static double stopped_for(pid_t agent, double before, double *looked)
{
    const double now = clock_now(), passed = now - *looked;
    *looked = now;
    return process_is_frozen(agent) ? before + fmin(passed, GLANCE) : 0;
}

/* Why a task ends. LEASE: the agent has been stopped for so long that the master gives the task to
 * another node. */
enum ending { ENDING_OVER, ENDING_TOLD, ENDING_LATE, ENDING_LEASE };

static enum ending wait_for_task(pid_t task, const sigset_t *set, double until, pid_t agent,
                                 double lease, int *status)
{
    double stopped = 0, looked = clock_now();
    for (;;) {
        for (pid_t pid; (pid = waitpid(-1, status, WNOHANG)) > 0;)
            if (pid == task)
                return ENDING_OVER;
        const double left = until > 0 ? fmin(until - clock_now(), GLANCE) : GLANCE;
        if (left <= 0 || stopped >= lease)
            return left <= 0 ? ENDING_LATE : ENDING_LEASE;
        const struct timespec most = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        if (sigtimedwait(set, NULL, &most) == SIGTERM)
            return ENDING_TOLD;
        stopped = stopped_for(agent, stopped, &looked);
    }
}

static void supervise(const struct task_start *s, const struct files *f, pid_t parent)
{
    sigset_t set;
    int status = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_SETMASK, &set, NULL);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "cu-run-task");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    close_others(f);
    const double until = s->walltime > 0 ? clock_now() + s->walltime : 0;
    const pid_t task = fork();
    if (task < 0)
        _exit(126);
    if (!task)
        become_task(s, f);
    const enum ending why = wait_for_task(task, &set, until, parent, s->lease, &status);
    end_rest(task, why == ENDING_OVER ? 0 : PATIENCE);
    if (why == ENDING_LEASE) {
        signal(TASK_LEASE_OVER, SIG_DFL);
        raise(TASK_LEASE_OVER);
    }
    _exit(why == ENDING_LATE   ? TASK_TIMED_OUT
          : why != ENDING_OVER ? TASK_SIGNALLED + SIGTERM
          : WIFEXITED(status)  ? WEXITSTATUS(status)
                               : TASK_SIGNALLED + WTERMSIG(status));
}

enum ek_status task_start(const struct task_start *s, pid_t *pid)
{
    const struct files f = {open("/dev/null", O_RDONLY | O_CLOEXEC),
                            open(s->out, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644),
                            open(s->err, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644), s->lock};
    const pid_t parent = getpid();
    enum ek_status st = EK_OK;
    if (f.in < 0 || f.out < 0 || f.err < 0)
        st = status_fail(EK_UNAVAILABLE, "%s cannot be written: %m", s->out);
    const pid_t child = st ? 0 : fork();
    if (!st && !child)
        supervise(s, &f, parent);
    if (child < 0)
        st = status_fail(EK_UNAVAILABLE, "no process can be made: %m");
    const int own[] = {f.in, f.out, f.err};
    for (int i = 0; i < 3; i++)
        if (own[i] >= 0)
            close(own[i]);
    *pid = child;
    return st;
}

int task_exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : TASK_SIGNALLED + WTERMSIG(status);
}

/* ---- measuring --------------------------------------------------------------------------------*/
static bool find_seconds(const regex_t *regex, FILE *f, double *seconds)
{
    char line[1 << 16]; /* longer ones are cut: output may be gigabytes without a newline */
    regmatch_t match[2];
    bool found = false;
    while (fgets(line, sizeof line, f)) {
        char *end;
        if (regexec(regex, line, 2, match, 0) || match[1].rm_so < 0)
            continue;
        double x = strtod(line + match[1].rm_so, &end);
        if (end > line + match[1].rm_so && x > 0 && isfinite(x)) {
            *seconds = x; /* the last one counts */
            found = true;
        }
    }
    return found;
}

enum ek_status task_measured(const char *measure, const char *out, double *seconds)
{
    regex_t regex;
    OWNED_STREAM FILE *f = fopen(out, "re");
    bool found = f && !regcomp(&regex, measure, REG_EXTENDED | REG_NEWLINE);
    if (found) {
        found = find_seconds(&regex, f, seconds);
        regfree(&regex);
    }
    return found
               ? EK_OK
               : status_fail(EK_USAGE, "nothing in its output matches \"measure\": '%s'", measure);
}
