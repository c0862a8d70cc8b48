/* tests/sim_run.h – stored cases, and runs of the simulator that must not fail. */
#pragma once

#include "cu/sim/plan_case.h"
#include "cu/sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

/* tests/data/cu/<name>.json; plan_case_close() releases it. */
static inline void open_case(struct plan_case *c, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/data/cu/%s.json", name);
    assert_int_equal(plan_case_open(c, path), EK_OK);
}

static inline struct sim_result run(const struct sim_case *c, const char *schedule)
{
    struct sim_result r;
    assert_int_equal(sim_run(c, schedule, NULL, &r), EK_OK);
    return r;
}
