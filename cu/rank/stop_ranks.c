/* cu/rank/stop_ranks.c – ranks agree on what signals have asked of them. */
#include "cu/rank/cluster.h"
#include "cu/rank/stop.h"
#include "src/clock.h"

#include <math.h>

enum { MOST_STEPS = 8 };             /* from one agreement of the ranks to the next */
static const double LONG_STEP = 0.1; /* seconds; each of these is followed by one */

bool stop_heard(void)
{
    if (!stop_requested() && cluster_notice())
        stop_request();
    return stop_requested();
}

bool stop_at_once(void)
{
    return stop_requested() && cluster_size() == 1;
}

static enum stop_wish wished;

enum stop_wish stop_wish(void)
{
    static int steps, due; /* since the last agreement; of the next one */
    static double last = -INFINITY;
    if (++steps < due && cluster_size() > 1)
        return wished = STOP_NOTHING;
    const double now = clock_now();
    const double wish = stop_requested() ? STOP_END : stop_save_wanted() ? STOP_SAVE : STOP_NOTHING;
    double agreed[] = {wish, (now - last) / steps}; /* and seconds of a step */
    cluster_max(agreed, 2);
    due = (int)fmin(MOST_STEPS, LONG_STEP / agreed[1]);
    steps = 0;
    last = now;
    return wished = (enum stop_wish)agreed[0];
}

enum stop_wish stop_wished(void)
{
    return wished;
}
