/* mcsem/isa.c – what is compiled for every instruction level: each level's table, and the calls. */
#include "mcsem/forward.h"
#include "mcsem/matmul.h"
#include "mcsem/shared.h"

#define ISA_PROGRAM mcsem
#define ISA_CALLS   "mcsem/isa_calls.h"
#include "src/isa_calls.h"
