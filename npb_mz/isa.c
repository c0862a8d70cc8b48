/* npb_mz/isa.c – what is compiled for every instruction level: each level's table, and the
 * calls. */
#include "npb_mz/mz.h"

#define ISA_PROGRAM npb_mz
#define ISA_CALLS   "npb_mz/isa_calls.h"
#include "src/isa_calls.h"
