/* npb_mz/read_npb.h – settings of the official suite that are not on the command line: the files
 * inputbt-mz.data and loadbt-mz.data (sp, lu likewise) and NPB_TIMER_FLAG. */
#pragma once

#include "npb_mz/mz.h"

struct read_npb {
    bool given;  /* there is an input file */
    int steps;   /* 0: those of the class */
    double dt;   /* 0: that of the class */
    bool timers; /* print the times of sections */
};

/* Reads input<solver>.data in the current directory and the environment. EK_USAGE: the file is
 * malformed. */
enum ek_status read_npb(const char *solver, struct read_npb *found);

/* Threads that load<solver>.data in the current directory gives to a rank; 0: there is no such
 * file. Its groups, within which the suite moves threads, are ignored, as zones move here.
 * EK_USAGE: it is malformed, or has no line for the rank. */
enum ek_status read_npb_threads(const char *solver, int rank, int *threads);
