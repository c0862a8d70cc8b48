/* cu/team/fault.h – faults made on purpose, to prove that a run survives them: CU_FAULT. */
#pragma once

#include "cu/sched/sched.h"
#include "src/status.h"
#include <stdbool.h>

enum { FAULT_MAX = 16, FAULT_ALL = -1 };

/* What there is, for help and errors. */
#define FAULT_FORMS                                                                                \
    "unit:1@step:5 (lost in step 5), rank:1@step:5 (killed), rank:1@slow:3[@step:5] (takes three " \
    "times as long [from then on]; a unit, too)"

struct fault_plan {
    int n;
    struct {
        int unit;    /* or FAULT_ALL units of this rank */
        int step;    /* from 1: it happens when the unit asks for its first task of this step */
        double slow; /* from then on everything takes so many times as long; 0 = it is lost */
        bool done;
        const char *text; /* as it was given, up to a comma; borrowed */
    } fault[FAULT_MAX];
};

/* Reads "unit:1@step:5[,rank:0@slow:2.5…]"; NULL or "" = none; what concerns other ranks is left
 * out. The text is borrowed. EK_USAGE: malformed, or a unit that is not among `nunits`, or no such
 * rank. */
enum ek_status fault_parse(const char *text, int nunits, struct fault_plan *plan);

/* Warns of each fault that a run of so many steps never came to. */
void fault_tell_unmet(const struct fault_plan *plan, int steps);

/* True once, when `unit` is to be lost in this step or should have been before; does not return
 * when the whole rank is. On the unit's thread. */
bool fault_due(struct fault_plan *plan, int unit, int step);

/* The unit began the tasks of r at `start` (clock_now()); if it is to be slow, waits as long as it
 * takes to be, and so do the tasks' seconds. On the unit's thread. */
void fault_slow(const struct fault_plan *plan, int unit, int step, double start, struct ek_range r,
                double *seconds);
