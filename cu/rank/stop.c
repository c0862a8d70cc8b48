/* cu/rank/stop.c – a flag, and what ranks make of it. */
#include "cu/rank/stop.h"
#include "cu/rank/cluster.h"
#include "src/clock.h"

#include <signal.h>

enum { STEPS_BETWEEN_TALKS = 8 }; /* after so many steps ranks ask one another */

static const double HEELS = 0.3; /* seconds in which a second signal means the first */

static volatile sig_atomic_t requested;
static double caught_at; /* of the handler alone */

void stop_request(void)
{
    requested = 1;
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

void stop_catch(void)
{
    struct sigaction act = {.sa_handler = caught};
    sigaddset(&act.sa_mask, SIGINT);
    sigaddset(&act.sa_mask, SIGTERM);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

bool stop_requested(void)
{
    return requested;
}

bool stop_at_once(void)
{
    return requested && cluster_size() == 1;
}

bool stop_after(int steps)
{
    if (cluster_size() == 1)
        return requested;
    return steps % STEPS_BETWEEN_TALKS == 0 && cluster_any(requested);
}
