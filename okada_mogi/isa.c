/* okada_mogi/isa.c – dispatch to the code that is compiled for every instruction level. */
#include "okada_mogi/join_table.h"
#include "okada_mogi/search_method.h"

#define ISA_PROGRAM okada_mogi
#define ISA_CALLS   "okada_mogi/isa_calls.h"
#include "src/isa_calls.h"
