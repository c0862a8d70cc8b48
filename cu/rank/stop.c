/* cu/rank/stop.c – signal handlers set flags. */
#include "cu/rank/stop.h"
#include "cu/rank/cluster.h"
#include "src/clock.h"
#include "src/file.h"
#include "src/nohup.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static const double REPEAT = 0.3; /* seconds within which a second signal repeats the first */

static atomic_bool requested, save_wanted; /* lock-free, so handlers may write them */
static double caught_at;                   /* used by the handler only */
static bool silent;                        /* the first rank on this node says that all are ended */

void stop_request(void)
{
    requested = true;
}

static void ended(int number)
{
    static const char text[] = ": interrupted; nothing is saved\n";
    const char *name = program_invocation_short_name;
    const ssize_t said = silent ? 0
                                : write(STDERR_FILENO, name, strlen(name)) +
                                      write(STDERR_FILENO, text, sizeof text - 1);
    (void)number, (void)said;
    _exit(status_exit_code(EK_STOPPED));
}

static void caught(int number)
{
    if (!requested) {
        caught_at = clock_now();
        stop_request();
    } else if (clock_now() > caught_at + REPEAT) {
        signal(number, SIG_DFL);
        raise(number); /* delivered when this handler returns */
    }
}

static void warned(int number)
{
    (void)number;
    save_wanted = true;
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING = sizeof ending / sizeof *ending };

static void handle_ending(void (*handler)(int))
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};
    for (int i = 0; i < ENDING; i++)
        sigaddset(&act.sa_mask, ending[i]);
    for (int i = 0; i < ENDING; i++)
        if (ending[i] != SIGHUP || !nohup_given())
            sigaction(ending[i], &act, NULL);
    if (nohup_given())
        signal(SIGHUP, SIG_IGN);
}

static void mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (int i = 0; i < ENDING; i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(how, &set, NULL);
}

void stop_begin(void)
{
    const struct sigaction act = {.sa_handler = warned, .sa_flags = SA_RESTART};
    silent = cluster_launch().local_rank > 0;
    sigaction(SIGUSR1, &act, NULL);
    handle_ending(ended);
    mask(SIG_UNBLOCK);
}

void stop_hold(void)
{
    mask(SIG_BLOCK);
    if (save_wanted)
        raise(SIGUSR1); /* blocked now, so it stays pending */
    if (requested)
        raise(SIGTERM);
    if (nohup_given())
        signal(SIGHUP, SIG_IGN);
}

void stop_catch(void)
{
    handle_ending(caught);
    file_wait_until(stop_requested);
}

bool stop_requested(void)
{
    return requested;
}

bool stop_save_wanted(void)
{
    return atomic_exchange(&save_wanted, false);
}
