/* cu/bench/bench_layout.h – `--layout auto`: the layout that does most steps a second on this
 * problem and machine, found by trying, and remembered beside the profiles. */
#pragma once

#include "cu/unit/cu.h"

struct bench_layout_request {
    const char *program, *problem;
    double seconds; /* for all trials together */
    bool anew;      /* do not take what is remembered */
    bool forgets;   /* neither take nor keep */
    FILE *out;      /* what is tried and chosen goes there; NULL: nowhere */
    char **argv;    /* this process' */
};

/* What was chosen; texts live as long as the struct. */
struct bench_layout {
    char layout[64], devices[520]; /* "2x1", "opencl:0" */
    char option[2][600];           /* both as options */
    char **argv;                   /* the request's with them: for cu_prepare(); owned */
};

/* Whether trials are asked for: `--layout auto`, and neither OMP_PLACES nor a launcher of several
 * ranks has decided already. */
bool bench_layout_wanted(const struct cu_options *wanted);

/* Tries and chooses among layouts of this process' cores with and without the devices that
 * wanted->devices names, and puts the choice into *wanted. Where no trial works, *wanted stays as
 * it is, with a warning. EK_STOPPED: this process was asked to end. Before cu_prepare(); one
 * thread. */
enum ek_status bench_layout_choose(const struct bench_layout_request *request,
                                   struct cu_options *wanted, struct bench_layout *choice);
