/* cu/rank/guard.c – forks the rank, forwards signals to it and waits for it. */
#include "cu/rank/guard.h"
#include "cu/rank/cluster.h"
#include "cu/rank/survive.h"
#include "src/clock.h"
#include "src/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Variable that tells the rank's images the guard's process id. */
static const char *const mark = "CU_GUARD";

static const double TOLERATED_STOP = 5; /* seconds for which a rank may be stopped silently */

static volatile pid_t child;

static void forward(int signal)
{
    kill(child, signal);
}

bool guard_guarded(void)
{
    const char *guard = getenv(mark);
    return guard && atoi(guard) == (int)getppid();
}

/* Sets the child up. It gets its own process group, so that a signal to the guard's group reaches
 * it once, through the guard. */
static void become_child(pid_t guard, bool alone)
{
    char text[16];
    snprintf(text, sizeof text, "%d", (int)guard);
    setenv(mark, text, 1);
    setpgid(0, 0);
    if (!alone)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard)
        raise(SIGKILL); /* the guard died before prctl() */
}

static bool asked_to_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

/* The guard's exit code for the child's wait status; reports a killed rank. */
static int exit_code(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    const int signal = WTERMSIG(status);
    if (asked_to_end(signal))
        return status_exit_code(EK_STOPPED);
    const struct cluster_launch l = cluster_launch();
    const bool survived = survive_launched();
    if (survived && signal == SURVIVE_DISMISSED)
        return 128 + signal;
    const enum ek_status st = status_fail(
        EK_UNAVAILABLE, "rank %d of %d died of signal %d (%s)%s; all ranks end%s", l.rank, l.size,
        signal, strsignal(signal), signal == SIGKILL ? ", perhaps for want of memory" : "",
        survived ? "" : ", --checkpoint or --survive would go on");
    return survived ? 128 + signal : status_exit_code(st);
}

/* Whether the child died of a signal that is no request to end. */
static bool killed(int status)
{
    return WIFSIGNALED(status) && !asked_to_end(WTERMSIG(status));
}

/* Reports a rank that stays stopped, or kills it if the others can go on without it. */
static void watch_stopped(bool dispensable)
{
    const struct cluster_launch l = cluster_launch();
    const time_t since = time(NULL);
    const double until = clock_now() + TOLERATED_STOP;
    char host[256] = "an unnamed host", when[16] = "";
    struct tm tm;
    while (process_is_frozen(child) && clock_now() < until)
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    if (!process_is_frozen(child))
        return;
    gethostname(host, sizeof host - 1);
    if (localtime_r(&since, &tm))
        strftime(when, sizeof when, "%H:%M:%S", &tm);
    status_warn("rank %d of %d on %s (process %d) has been stopped since %s%s", l.rank, l.size,
                host, (int)child, when,
                dispensable ? ""
                            : "; the others wait for it: continue it with SIGCONT, or end all");
    if (dispensable)
        kill(child, SIGKILL);
}

/* Waits for the child and exits with its exit code; returns its wait status if it was killed. */
static int watch(bool dispensable)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT};
    const struct sigaction act = {.sa_handler = forward};
    int status;
    status_echo(false); /* a rank's death is its own */
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &act, NULL);
    do {
        const pid_t changed = waitpid(child, &status, WUNTRACED);
        if (changed < 0 && errno != EINTR)
            _exit(status_exit_code(EK_UNAVAILABLE));
        if (changed == child && WIFSTOPPED(status))
            watch_stopped(dispensable);
        else if (changed == child)
            break;
    } while (true);
    if (!killed(status))
        _exit(exit_code(status));
    return status;
}

/* The child was killed: exits unless it is to be restarted. */
static void exit_or_restart(int status, int restarts, bool dispensable)
{
    const struct cluster_launch l = cluster_launch();
    if (!dispensable)
        _exit(exit_code(status));
    status_warn("rank %d of %d died of signal %d (%s); %s", l.rank, l.size, WTERMSIG(status),
                strsignal(WTERMSIG(status)),
                restarts ? "it is started again" : "the others go on without it");
    if (!restarts)
        _exit(0);
}

enum ek_status guard_fork(int restarts, bool alone)
{
    const pid_t guard = getpid();
    const bool dispensable = restarts > 0;
    for (;; restarts--) {
        child = fork();
        if (child < 0)
            FAIL(EK_UNAVAILABLE, "cannot fork: %s", strerror(errno));
        if (!child)
            break;
        exit_or_restart(watch(dispensable), restarts, dispensable);
    }
    become_child(guard, alone);
    return EK_OK;
}

enum ek_status guard_rank(void)
{
    return cluster_launch().size < 2 || guard_guarded() ? EK_OK : guard_fork(0, false);
}
