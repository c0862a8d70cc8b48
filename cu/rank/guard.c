/* cu/rank/guard.c – waits for a rank. */
#include "cu/rank/guard.h"
#include "cu/rank/cluster.h"
#include "cu/rank/survive.h"
#include "src/clock.h"
#include "src/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Names the guard to the images that its rank executes. */
static const char *const mark = "CU_GUARD";

static const double THAW = 5; /* seconds in which a process that was stopped may go on */

static volatile pid_t ward;

static void pass_on(int signal)
{
    kill(ward, signal);
}

bool guard_guarded(void)
{
    const char *guard = getenv(mark);
    return guard && atoi(guard) == (int)getppid();
}

/* A group of its own: a signal to the guard's group reaches the rank once, through the guard. */
static void live_under(pid_t guard, bool alone)
{
    char text[16];
    snprintf(text, sizeof text, "%d", (int)guard);
    setenv(mark, text, 1);
    setpgid(0, 0);
    if (!alone)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard)
        raise(SIGKILL); /* it was gone before we asked */
}

static bool asked_to_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

static int judge(int status)
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

/* The child was killed, and nobody asked it to end. */
static bool killed(int status)
{
    return WIFSIGNALED(status) && !asked_to_end(WTERMSIG(status));
}

/* Names a rank that stays frozen; one that others have replaced long before is killed. */
static void name_if_it_stays_frozen(bool dispensable)
{
    const struct cluster_launch l = cluster_launch();
    const time_t since = time(NULL);
    const double until = clock_now() + THAW;
    char host[256] = "an unnamed host", when[16] = "";
    struct tm tm;
    while (process_is_frozen(ward) && clock_now() < until)
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    if (!process_is_frozen(ward))
        return;
    gethostname(host, sizeof host - 1);
    if (localtime_r(&since, &tm))
        strftime(when, sizeof when, "%H:%M:%S", &tm);
    status_warn("rank %d of %d on %s (process %d) has been stopped since %s%s", l.rank, l.size,
                host, (int)ward, when,
                dispensable ? ""
                            : "; the others wait for it: continue it with SIGCONT, or end all");
    if (dispensable)
        kill(ward, SIGKILL);
}

/* Waits for the child, and ends as it did unless it was killed. */
static int watch(bool dispensable)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT};
    const struct sigaction act = {.sa_handler = pass_on};
    int status;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &act, NULL);
    do {
        const pid_t heard = waitpid(ward, &status, WUNTRACED);
        if (heard < 0 && errno != EINTR)
            _exit(status_exit_code(EK_UNAVAILABLE));
        if (heard == ward && WIFSTOPPED(status))
            name_if_it_stays_frozen(dispensable);
        else if (heard == ward)
            break;
    } while (true);
    if (!killed(status))
        _exit(judge(status));
    return status;
}

/* The child was killed: it is made anew, or has died for good. */
static void mourn(int status, int lives, bool dispensable)
{
    const struct cluster_launch l = cluster_launch();
    if (!dispensable)
        _exit(judge(status));
    status_warn("rank %d of %d died of signal %d (%s); %s", l.rank, l.size, WTERMSIG(status),
                strsignal(WTERMSIG(status)),
                lives ? "it is started again" : "the others go on without it");
    if (!lives)
        _exit(0);
}

enum ek_status guard_fork(int lives, bool alone)
{
    const pid_t guard = getpid();
    const bool dispensable = lives > 0;
    for (;; lives--) {
        ward = fork();
        if (ward < 0)
            FAIL(EK_UNAVAILABLE, "no process can be made: %s", strerror(errno));
        if (!ward)
            break;
        mourn(watch(dispensable), lives, dispensable);
    }
    live_under(guard, alone);
    return EK_OK;
}

enum ek_status guard_rank(void)
{
    return cluster_launch().size < 2 || guard_guarded() ? EK_OK : guard_fork(0, false);
}
