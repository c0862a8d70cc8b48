/* okada_mogi/isa.c – what is compiled for every instruction level: each level's table, and the
 * calls. */
#include "okada_mogi/join_table.h"
#include "okada_mogi/search_method.h"

#define ISA_PROGRAM okada_mogi
#define ISA_CALLS   "okada_mogi/isa_calls.h"
#include "src/isa_calls.h"
