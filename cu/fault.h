/* cu/fault.h – faults made on purpose, to prove that a run survives them: CU_FAULT. */
#ifndef CU_FAULT_H
#define CU_FAULT_H

#include "src/status.h"
#include <stdbool.h>

enum { FAULT_MAX = 16 };

struct fault_plan {
    int n;
    struct {
        int unit, step; /* the unit dies when it asks for its first task of this step (from 1) */
        bool done;
    } fault[FAULT_MAX];
};

/* Reads "unit:1@step:5[,unit:0@step:7…]"; NULL or "" = none. EK_USAGE: malformed, or a unit that
 * is not among `nunits`. */
enum ek_status fault_parse(const char *text, int nunits, struct fault_plan *plan);

/* True once, when `unit` is to die in this step or should have died before. On the unit's thread.
 */
bool fault_due(struct fault_plan *plan, int unit, int step);

#endif
