/* cu/sim/simulate.h – policies on one case: table and JSON of cu-plan --simulate. */
#pragma once

#include "src/status.h"
#include <stdbool.h>

struct simulate_request {
    const char *path;   /* of the case or record, "-" = standard input */
    const char *json;   /* file for the result, "-": standard output instead of text; or NULL */
    const char *layout; /* CPU units and devices of the case that take part: "4x1+1"; "auto": those
                           with which each policy is fastest; NULL: all */
    bool cold;          /* policies begin without knowing anything, whatever the case says */
    char *schedules;    /* list of policies, taken apart; NULL: all, or those that a record has */
};

/* Runs and prints. EK_USAGE: bad case, policy or layout. One thread. */
enum ek_status simulate_case(const struct simulate_request *request);
