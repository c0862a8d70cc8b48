/* mcsem/program.h – the inversion as a program. */
#pragma once

#include "cu/bench/bench.h"

extern const struct bench_program program_mcsem;
