/* cu/rank/stop.c – flags, and what ranks make of it. */
#include "cu/rank/stop.h"
#include "cu/rank/cluster.h"
#include "src/clock.h"
#include "src/nohup.h"

#include <signal.h>
#include <stdatomic.h>

enum { STEPS_BETWEEN_TALKS = 8 }; /* after so many steps ranks ask one another */

static const double HEELS = 0.3; /* seconds in which a second signal means the first */

static atomic_bool requested, save_wanted; /* lock-free: handlers may write them */
static double caught_at;                   /* of the handler alone */

void stop_request(void)
{
    requested = true;
}

static void caught(int number)
{
    if (!requested) {
        caught_at = clock_now();
        stop_request();
    } else if (clock_now() > caught_at + HEELS) {
        signal(number, SIG_DFL);
        raise(number); /* taken when this handler returns */
    }
}

static void warned(int number)
{
    (void)number;
    save_wanted = true;
}

static void mask_warning(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(how, &set, NULL);
}

void stop_catch_warning(void)
{
    const struct sigaction act = {.sa_handler = warned, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &act, NULL);
    mask_warning(SIG_UNBLOCK);
}

void stop_hold_warning(void)
{
    mask_warning(SIG_BLOCK);
    if (save_wanted)
        raise(SIGUSR1); /* kept, too */
    if (nohup_given())
        signal(SIGHUP, SIG_IGN);
}

void stop_catch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    enum { SIGNALS = sizeof signals / sizeof *signals };
    struct sigaction act = {.sa_handler = caught};
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&act.sa_mask, signals[i]);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &act, NULL);
    if (nohup_given())
        signal(SIGHUP, SIG_IGN);
    stop_catch_warning();
}

bool stop_requested(void)
{
    return requested;
}

bool stop_at_once(void)
{
    return requested && cluster_size() == 1;
}

bool stop_save_wanted(void)
{
    return atomic_exchange(&save_wanted, false);
}

static enum stop_wish wished;

enum stop_wish stop_wish(int steps)
{
    double wish = STOP_NOTHING;
    if (cluster_size() == 1 || steps % STEPS_BETWEEN_TALKS == 0) {
        wish = requested ? STOP_END : stop_save_wanted() ? STOP_SAVE : STOP_NOTHING;
        cluster_max(&wish, 1);
    }
    return wished = (enum stop_wish)wish;
}

enum stop_wish stop_wished(void)
{
    return wished;
}
