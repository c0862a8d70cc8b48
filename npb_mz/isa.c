/* npb_mz/isa.c – tables of the functions that are compiled for each instruction level, and the
 * calls through them. */
#include "npb_mz/mz.h"

#define ISA_PROGRAM npb_mz
#define ISA_CALLS   "npb_mz/isa_calls.h"
#include "src/isa_calls.h"
