/* cu/sim/plan_case.h – a case for the simulator, read from JSON.
 *
 *   {"name": "text",
 *    "units": [{"kind": "cpu"|"device", "name": "text", "count": k, "speed": x,
 *               "space": "host"|"name",
 *               "node": "name", "width": cores, "fixed_s": s, "launch_s": s, "batches": true,
 *               "contention": share, "seconds": [s, …], "noise": [factor, …],
 *               "interrupted": {"per_s": rate, "seconds": s}}],
 *    "tasks": {"cost": [c, …], "bytes": [b, …], "neighbours": [[t, …], …],
 *              "face_bytes": [[b, …], …]},
 *    "steps": n, "link": {"latency_s": s, "bandwidth_Bps": b, "waits": r}, "between_s": s,
 *    "exchange": {"fixed_s": s, "host_s_per_byte": x, "device_s_per_byte": x,
 *                 "cross_s": s, "link_s_per_byte": x},
 *    "cold": true|false, "noise": sigma, "hold": steps, "seed": n,
 *    "changes": [{"unit": u, "step": k, "after_s": s, "factor": f}]}
 *
 * Needed: kind, count and speed (or seconds) of units, tasks.cost, steps, and both numbers of a
 * link where there is one; without a link transfers are free. A device without memory node has one
 * of its own, a CPU unit is on the host. A speed is cost per second, 1e-15 at least; the other
 * members are those of cu/sim/sim.h. Neighbours and face_bytes may stand beside tasks, too.
 *
 * A contention is the share by which one busy neighbour (unit of the same node; without "node": of
 * the same memory node) slows this unit, or [[busy neighbours, share], …], between which it is
 * linear; or
 * {"cpu": …, "device": …}, one of these for each kind of neighbour.
 *
 * A unit's noise is a list of factors, one of which is drawn for each task in each step, or a list
 * of steps, from the calmest to the most disturbed one, each with a factor for each task: every
 * "hold" steps another one is drawn. "waits" is the share of what a device has left of its range
 * that a task which leaves its memory waits for.
 *
 * "interrupted": something else runs on the unit so often per second of its work, each time for so
 * many seconds in the mean (at random: a Poisson process).
 *
 * A case is also what programs write with --json and --trace: there it is the member "case", beside
 * the runs that it was measured in. */
#pragma once

#include "cu/sim/sim.h"
#include <jansson.h>

/* A measured run in a record. */
struct plan_measured {
    const char *schedule;
    double seconds; /* of the median run */
};

struct plan_case {
    struct sim_case sim; /* points into what follows; cold, noise, seed may be changed */
    const char *name;
    const struct plan_measured *measured; /* [nmeasured] runs of a record */
    int nmeasured;
    struct arena arena; /* of everything pointed to */
};

/* Reads a file ("-" = standard input). EK_USAGE: it cannot be read, is not JSON, or a number is
 * missing, negative, not finite or absurd: the message names file and key, such as units[1].speed.
 */
enum ek_status plan_case_open(struct plan_case *c, const char *path);
void plan_case_close(struct plan_case *c);

/* The result object of a program's --json or --trace output; both are borrowed. */
const json_t *plan_case_record(const json_t *root);
