/* cu/fault.c – faults made on purpose. */
#include "cu/fault.h"

#include <stdio.h>
#include <string.h>

enum ek_status fault_parse(const char *text, int nunits, struct fault_plan *plan)
{
    *plan = (struct fault_plan){0};
    while (text && *text) {
        int unit, step, length = 0;
        if (sscanf(text, "unit:%d@step:%d%n", &unit, &step, &length) < 2 || !length ||
            (text[length] && text[length] != ',') || step < 1 || plan->n == FAULT_MAX)
            FAIL(EK_USAGE, "CU_FAULT: '%s' is not of the form unit:1@step:5[,…]", text);
        if (unit < 0 || unit >= nunits)
            FAIL(EK_USAGE, "CU_FAULT: there is no unit %d; units are 0 to %d", unit, nunits - 1);
        plan->fault[plan->n].unit = unit;
        plan->fault[plan->n++].step = step;
        text += length + (text[length] == ',');
    }
    return EK_OK;
}

bool fault_due(struct fault_plan *plan, int unit, int step)
{
    for (int i = 0; i < plan->n; i++)
        if (plan->fault[i].unit == unit && !plan->fault[i].done && plan->fault[i].step <= step)
            return plan->fault[i].done = true;
    return false;
}
