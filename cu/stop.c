/* cu/stop.c – a flag, and what ranks make of it. */
#include "cu/stop.h"
#include "cu/cluster.h"

#include <signal.h>

enum { STEPS_BETWEEN_TALKS = 8 }; /* after so many steps ranks ask one another */

static volatile sig_atomic_t requested;

void stop_request(void)
{
    requested = 1;
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
