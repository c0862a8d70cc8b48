/* cu/sim/simulate_layout.h – simulates a policy on some of a case's units: given ones, or those
 * with which it is fastest. */
#pragma once

#include "cu/sim/sim.h"
#include "cu/unit/tune_layout.h"
#include <jansson.h>

struct simulate_layout {
    struct cu_layout layout; /* that was simulated */
    unsigned devices;        /* bit mask of the case's devices */
    struct tune tune;        /* layouts tried; rates in steps per second */
};

/* Simulates a policy on the first CPU units and devices of the case, as many as `layout` says
 * ("8x1+1"); "auto": on those with the shortest total; NULL: on all. EK_USAGE: bad layout, or more
 * or wider units than the case has; else as sim_run(), span [steps] or NULL. One thread. */
enum ek_status simulate_layout(const struct sim_case *c, const char *layout, const char *schedule,
                               struct simulate_layout *l, double *span, struct sim_result *result);

/* {"layout", "layouts_tried"}; new reference, NULL: out of memory. */
json_t *simulate_layout_json(const struct simulate_layout *l);
