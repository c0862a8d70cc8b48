/* cu/rank/survive_launch.c – launches the ranks, and relaunches them if some are lost. */
#include "cu/rank/survive_internal.h"
#include "src/clock.h"
#include "src/nohup.h"
#include "src/process.h"
#include "src/self.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 5 }; /* launches in a row without progress */

/* Seconds for a launcher to end after all its ranks are dead. */
static const double LAUNCHER_WAIT = 10;

static struct survive_keeper *const k = &survive_keeper;
static char id[64]; /* of the run */

static volatile sig_atomic_t told, warned; /* signals asking to end (a count), to save */

static void on_signal(int number)
{
    if (number == SIGUSR1)
        warned = 1;
    else if (number != SIGCHLD)
        told++;
}

static void catch_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGCHLD};
    const struct sigaction act = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &act, NULL);
    if (nohup_given())
        signal(SIGHUP, SIG_IGN);
}

/* In its own process group, so that a terminal's signals reach it only through us. */
static void execute(char **argv)
{
    char text[96];
    const int null = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(null, 0);
    snprintf(text, sizeof text, "%d", (int)k->launch - 1);
    setenv("CU_LAUNCH", text, 1);
    execv("/bin/sh", argv);
    _exit(127);
}

/* Runs sh -c "exec LAUNCH env CU_SURVIVE=… PROGRAM ARGUMENTS…": env, because launchers may not pass
 * our environment to other nodes. */
static enum ek_status launch(const char *command)
{
    char **words = self_arguments(), *script, **argv;
    size_t n = 0;
    while (words && words[n])
        n++;
    argv = calloc(n + 5, sizeof *argv);
    if (!n || !argv ||
        asprintf(&script, "exec %s env %s='%s %d' \"$@\"", command, SURVIVE_MARK, id,
                 (int)++k->launch) < 0)
        FAIL(EK_UNAVAILABLE, "out of memory");
    const char *const first[] = {"sh", "-c", script, "sh", self_path()};
    memcpy(argv, first, sizeof first);
    memcpy(argv + 5, words + 1, (n - 1) * sizeof *argv);
    k->served = k->over = false;
    k->lost = 0;
    k->child = fork();
    if (!k->child)
        execute(argv);
    setpgid(k->child, k->child);
    free(script);
    free(argv);
    if (k->child < 0)
        FAIL(EK_UNAVAILABLE, "cannot fork: %s", strerror(errno));
    return EK_OK;
}

/* Signals one rank, which tells the others, so that all end with 4; launchers would kill them. */
static void tell(int number)
{
    kill(k->n && told < 2 ? k->rank[0].pid : k->child, number);
}

/* Kills a launcher that does not end although all processes below it have: mpirun sometimes hangs
 * if ranks die while it starts them. */
static void watch_launcher(double now)
{
    static double since;
    static pid_t launcher;
    if (k->child != launcher || !process_outlives_all_below(k->child))
        since = now;
    launcher = k->child;
    if (now <= since + LAUNCHER_WAIT)
        return;
    status_warn("the launcher is killed: it has not ended although all its ranks have");
    kill(-k->child, SIGKILL);
    since = now;
}

/* Watches the launcher and ranks stopped before their hello; once a second only, because it reads
 * /proc. */
static void watch_launch(void)
{
    static double looked, since;
    static pid_t last;
    const double now = clock_now();
    if (now < looked + 1)
        return;
    looked = now;
    watch_launcher(now);
    const pid_t stopped = process_frozen_below(k->child);
    if (stopped != last)
        since = now;
    last = stopped;
    if (stopped && now > since + SURVIVE_STOP)
        survive_kill_stopped(stopped);
}

/* Waits for the launch to end; returns its exit code. */
static int watch(void)
{
    int status, passed = 0;
    while (waitpid(k->child, &status, WNOHANG) != k->child) {
        survive_keep();
        watch_launch();
        if (passed < told)
            tell(SIGTERM);
        if (warned)
            tell(SIGUSR1);
        passed = told;
        warned = 0;
    }
    k->child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether the launch ended as it should, or would fail again in the same way. */
static bool is_final(int code)
{
    return told || code == EK_OK || code == EK_USAGE || code == EK_STOPPED ||
           (code < 128 && (k->over || !k->served));
}

static int launch_until_final(const char *command)
{
    uint64_t best = 0;
    for (int fruitless = 0;;) {
        if (launch(command))
            return EK_UNAVAILABLE;
        const int code = watch();
        if (code == EK_OK && !k->served && !told)
            return status_fail(EK_USAGE,
                               "--launch '%s' ended, but no rank has run on this node; it must be "
                               "a command that runs the program given after it, also on this node",
                               command);
        if (is_final(code))
            return told && code ? EK_STOPPED : code;
        const uint64_t kept = k->kept ? *k->kept : 0;
        fruitless = kept > best ? 0 : fruitless + 1;
        best = kept;
        if (fruitless == TRIES)
            return status_fail(EK_UNAVAILABLE,
                               "%d launches in a row lost ranks before making progress; the last "
                               "one ended with exit code %d",
                               TRIES, code);
        status_warn("ranks are lost; all are launched again and go on from step %" PRIu64
                    ", kept in memory",
                    kept);
    }
}

bool survive_launched(void)
{
    return getenv(SURVIVE_MARK) != NULL;
}

enum ek_status survive_launch(const char *command)
{
    snprintf(id, sizeof id, "%d-%.0f", (int)getpid(), 1e6 * clock_now());
    if (!survive_listen(id))
        FAIL(EK_UNAVAILABLE, "no socket for the ranks: %s", strerror(errno));
    prctl(PR_SET_NAME, "ek-keeper");
    catch_signals();
    const int code = launch_until_final(command);
    survive_kill_ranks(UINT64_MAX, SIGKILL);
    _exit(code); /* nothing is left to flush */
}
