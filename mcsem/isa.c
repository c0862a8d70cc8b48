/* mcsem/isa.c – the table of functions of each instruction level, and the calls through it. */
#include "mcsem/forward.h"
#include "mcsem/matmul.h"
#include "mcsem/shared.h"

#define ISA_PROGRAM mcsem
#define ISA_CALLS   "mcsem/isa_calls.h"
#include "src/isa_calls.h"
