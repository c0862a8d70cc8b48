/* cu/bench/evenkeel.h – all that a program outside this tree needs, installed as <evenkeel.h>:
 * tasks and grids (struct ek_tasks, struct ek_grid), and below them units, policies and devices.
 * All names begin with ek_, cu_, sched_, backend_, status_ or embed_. Programs with their own
 * options, verbs and checks also include <evenkeel/cu/bench/bench.h>, kernels
 * <evenkeel/src/kernel.h>. */
#ifndef EVENKEEL_H
#define EVENKEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "backends/backend.h"
#include "cu/bench/tasks.h"
#include "cu/sched/sched.h"
#include "cu/team/ek_grid.h"
#include "cu/unit/cu.h"
#include "src/status.h"

#ifdef __cplusplus
}
#endif

#endif
