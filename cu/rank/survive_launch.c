/* cu/rank/survive_launch.c – launches the ranks, and launches them anew where some are lost. */
#include "cu/rank/survive_internal.h"
#include "src/clock.h"
#include "src/nohup.h"
#include "src/process.h"
#include "src/self.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 5 };

/* Seconds in which a launcher, whose ranks are all dead, notices. */
static const double WAKE = 10;

static struct survive_keeper *const k = &survive_keeper;
static char id[64]; /* of the run */

static volatile sig_atomic_t told, warned; /* signals that ask to end, to save */

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

/* In a group of its own, so that a terminal's signals reach it through us alone. */
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

/* sh -c "exec LAUNCH env CU_SURVIVE=… PROGRAM ARGUMENTS…": env, for launchers that pass nothing of
 * ours to other nodes. */
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
        FAIL(EK_UNAVAILABLE, "no process can be made: %s", strerror(errno));
    return EK_OK;
}

/* One rank tells the others, and all end with 4; launchers would kill them. */
static void tell(int number)
{
    kill(k->n && told < 2 ? k->rank[0].pid : k->child, number);
}

/* A launcher that does not end though nobody lives below it has hung itself up: mpirun does, at
 * times, where ranks die as it starts them. */
static void watch_launcher(double now)
{
    static double since;
    if (!process_outlives_all_below(k->child))
        since = now;
    if (now <= since + WAKE)
        return;
    status_warn("the launcher does not end, but all that it launched has: it is killed");
    kill(-k->child, SIGKILL);
    since = now;
}

/* One that is stopped before it has said hello, or the launcher: once a second, that costs. */
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
    if (stopped && now > since + SURVIVE_THAW)
        survive_end_frozen(stopped);
}

/* Exit code of the launch. */
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

/* Ended as it was meant to, or in a way that it would again. */
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
                               "--launch '%s' ended, but no rank came to this node: give what "
                               "stands before a program, for at least one rank here",
                               command);
        if (is_final(code))
            return told && code ? EK_STOPPED : code;
        const uint64_t kept = k->kept ? *k->kept : 0;
        fruitless = kept > best ? 0 : fruitless + 1;
        best = kept;
        if (fruitless == TRIES)
            return status_fail(EK_UNAVAILABLE,
                               "%d launches in a row were lost before they got any further; the "
                               "last one ended with %d",
                               TRIES, code);
        status_warn("ranks are lost; all are launched again and go on from step %" PRIu64
                    ", which is kept in memory",
                    kept);
    }
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
    _exit(code); /* nothing was printed that is not out */
}
