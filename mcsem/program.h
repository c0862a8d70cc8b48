/* mcsem/program.h – the inversion as a program. */
#ifndef MCSEM_PROGRAM_H
#define MCSEM_PROGRAM_H

#include "cu/bench/bench.h"

extern const struct bench_program program_mcsem;

#endif
