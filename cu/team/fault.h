/* cu/team/fault.h – injects the faults of CU_FAULT, to prove that a run survives them. */
#pragma once

#include "cu/sched/sched.h"
#include "src/base.h"

enum { FAULT_MAX = 16, FAULT_ALL = -1 };

/* The forms of a fault, for help and errors. */
#define FAULT_FORMS                                                                                \
    "unit:1@step:5 (unit 1 is lost in step 5), rank:1@step:5 (rank 1 is killed), "                 \
    "unit:1@slow:3[@step:5] or rank:1@slow:3[@step:5] (takes three times as long [from step 5 "    \
    "on])"

struct fault_plan {
    int n;
    struct {
        int unit;    /* or FAULT_ALL: all units of this rank */
        int step;    /* from 1; happens when the unit asks for its first task of this step */
        double slow; /* factor by which everything takes longer from then on; 0: the unit is lost */
        bool done;
        const char *text; /* as given, up to a comma; borrowed */
    } fault[FAULT_MAX];
};

/* Parses "unit:1@step:5[,rank:0@slow:2.5…]"; NULL or "" = none. Leaves out faults of other ranks.
 * The text is borrowed. EK_USAGE: malformed, or no such unit (of `nunits`) or rank. */
enum ek_status fault_parse(const char *text, int nunits, struct fault_plan *plan);

/* Warns of each fault that did not happen in a run of `steps` steps. */
void fault_tell_unmet(const struct fault_plan *plan, int steps);

/* True once, when `unit` is to be lost in this step or an earlier one; kills the process if the
 * whole rank is to be lost. On the unit's thread. */
bool fault_due(struct fault_plan *plan, int unit, int step);

/* If the unit, which began the tasks of r at `start` (clock_now()), is to be slow: waits, and
 * multiplies the tasks' seconds, by its factor. On the unit's thread. */
void fault_slow(const struct fault_plan *plan, int unit, int step, double start, struct ek_range r,
                double *seconds);
