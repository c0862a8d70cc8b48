/* npb_mz/read_npb.h – what users of the official suite set beside the command line: the file
 * inputbt-mz.data (inputsp-, inputlu-) and NPB_TIMER_FLAG; loadbt-mz.data. */
#pragma once

#include "npb_mz/mz.h"

struct read_npb {
    bool given;  /* there is such a file */
    int steps;   /* 0: those of the class */
    double dt;   /* 0: that of the class */
    bool timers; /* sections' times are wanted */
};

/* Reads them for a solver, from the present directory and the environment. EK_USAGE: the file is
 * malformed, the line says where. */
enum ek_status read_npb(const char *solver, struct read_npb *found);

/* How many threads load<solver>.data, in the present directory, gives to a rank; 0: there is no
 * such file. Its groups, within which the suite moves threads, are read and mean nothing here:
 * zones move instead. EK_USAGE: malformed, or it leaves the rank out. */
enum ek_status read_npb_threads(const char *solver, int rank, int *threads);
