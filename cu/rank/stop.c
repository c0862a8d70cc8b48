/* cu/rank/stop.c – signal handlers set flags; ranks agree on them. */
#include "cu/rank/stop.h"
#include "cu/rank/cluster.h"
#include "src/clock.h"
#include "src/nohup.h"

#include <signal.h>
#include <stdatomic.h>

enum { STEPS_PER_AGREEMENT = 8 }; /* steps between two agreements of the ranks */

static const double REPEAT = 0.3; /* seconds within which a second signal repeats the first */

static atomic_bool requested, save_wanted; /* lock-free, so handlers may write them */
static double caught_at;                   /* used by the handler only */

void stop_request(void)
{
    requested = true;
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
        raise(SIGUSR1); /* blocked now, so it stays pending */
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
    if (cluster_size() == 1 || steps % STEPS_PER_AGREEMENT == 0) {
        wish = requested ? STOP_END : stop_save_wanted() ? STOP_SAVE : STOP_NOTHING;
        cluster_max(&wish, 1);
    }
    return wished = (enum stop_wish)wish;
}

enum stop_wish stop_wished(void)
{
    return wished;
}
