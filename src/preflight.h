/* src/preflight.h – checks of what every source needs, reported once: the Makefile compiles this
 * file first when flags or compiler have changed. */
#ifndef SRC_PREFLIGHT_H
#define SRC_PREFLIGHT_H

#ifndef __LP64__
#error "Evenkeel needs a 64-bit target; leave out -m32"
#elif __STDC_VERSION__ < 201112L
#error "Evenkeel needs C11; leave out any older -std="
#elif !defined _OPENMP || !__has_include(<omp.h>)
#error "Evenkeel needs a compiler with OpenMP; clang has it from the package libomp-dev"
#endif

#endif
