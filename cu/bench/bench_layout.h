/* cu/bench/bench_layout.h – `--layout auto`: finds the layout with the most steps per second on
 * this problem and machine by trying, and keeps it beside the profiles. */
#pragma once

#include "cu/unit/cu.h"

struct bench_layout_request {
    const char *program, *problem;
    double seconds; /* for all trials together */
    bool anew;      /* try again even if a choice is kept */
    bool forgets;   /* neither use nor keep a choice */
    FILE *out;      /* progress and choice are printed here; NULL: nowhere */
    char **argv;    /* of this process */
};

/* The choice. */
struct bench_layout {
    char layout[64], devices[520]; /* "2x1", "opencl:0" */
    char option[2][600];           /* the same as options */
    char **argv;                   /* argv with them, for cu_prepare(); the array is owned */
};

/* Whether trials are wanted: `--layout auto`, without OMP_PLACES or a launcher of several ranks. */
bool bench_layout_wanted(const struct cu_options *wanted);

/* Chooses among layouts of this process's cores with and without the devices of wanted->devices,
 * and puts the choice into *wanted; if no trial works, warns and leaves *wanted alone. EK_STOPPED:
 * this process was asked to end. Before cu_prepare(); one thread. */
enum ek_status bench_layout_choose(const struct bench_layout_request *request,
                                   struct cu_options *wanted, struct bench_layout *choice);
