/* cu/bench/evenkeel.h – all that a program outside of this tree needs, as <evenkeel.h>: tasks and
 * grids (struct ek_tasks, struct ek_grid) first; below them units, policies and devices one by one.
 * Every name begins with ek_, cu_, sched_, backend_, status_ or embed_. A program with options,
 * verbs and a judgement of its own also includes <evenkeel/cu/bench/bench.h>, kernels
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
