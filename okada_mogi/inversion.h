/* okada_mogi/inversion.h – the search of a model's parameters as a program of the shared main. */
#ifndef OKADA_MOGI_INVERSION_H
#define OKADA_MOGI_INVERSION_H

#include "cu/bench/bench.h"

/* The program of the model `name`, "okada"; main() hands it to bench_main(). */
struct bench_program inversion_program(const char *name);

#endif
