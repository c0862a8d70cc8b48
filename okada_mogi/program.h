/* okada_mogi/program.h – the search of a model's parameters as a program of the shared main. */
#pragma once

#include "cu/bench/bench.h"

/* The program of the model `name`, "okada"; main() hands it to bench_main(). The summary stands in
 * --help. */
struct bench_program okada_mogi_program(const char *name, const char *summary);
