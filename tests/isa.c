/* tests/isa.c – what is compiled for every instruction level: each level's table, and the calls. */
#include "tests/lanes_peak.h"
#include "tests/lanes_twins.h"

#define ISA_PROGRAM tests
#define ISA_CALLS   "tests/isa_calls.h"
#include "src/isa_calls.h"
