/* cu/bench/pace.h – whether tasks took longer than usual at some time, or on some unit: what a
 * trace tells that sums do not. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Each: how many times as long, and what all units lost by it, as seconds of the run. */
struct pace {
    double seconds;        /* of the run */
    double first, first_s; /* tasks of the first step against those of the others */
    double late, late_s;   /* those of the last quarter of the steps against the first half */
    double unit, unit_s;   /* those of the slowest unit against others of its kind */
    const char *slow;      /* its name; borrowed from `run` */
};

/* Of a trace (`root`, as --trace writes it) and that run in it; false: it is no trace of this run,
 * or says too little. */
bool pace_find(const json_t *root, const json_t *run, struct pace *p);
