/* cu/sim/simulate_layout.h – a policy on some of a case's units: those that are asked for, or those
 * with which it is fastest. */
#pragma once

#include "cu/sim/sim.h"
#include "cu/unit/tune_layout.h"
#include <jansson.h>

struct simulate_layout {
    struct cu_layout layout; /* that was simulated */
    unsigned devices;        /* which of the case's devices, in their order */
    struct tune tune;        /* what was tried; rates are steps per second */
};

/* Simulates a policy on the case's first CPU units and first devices that `layout` asks for
 * ("8x1+1"), with "auto" on those with the shortest total, with NULL on all. EK_USAGE: bad layout,
 * or more units than the case has, or of other width; else as sim_run(), span [steps] or NULL. One
 * thread. */
enum ek_status simulate_layout(const struct sim_case *c, const char *layout, const char *schedule,
                               struct simulate_layout *l, double *span, struct sim_result *result);

/* {"layout", "layouts_tried"}; new reference, NULL: out of memory. */
json_t *simulate_layout_json(const struct simulate_layout *l);
