/* npb_mz/program.h – an NPB-MZ solver as a program of the shared main. */
#pragma once

#include "cu/bench/bench.h"

/* The program of the solver `name` ("bt-mz"), for bench_main(). --help prints the summary. */
struct bench_program program_of(const char *name, const char *summary);
