/* kirchhoff/isa.c – what is compiled for every instruction level: each level's table, and the
 * calls. */
#include "kirchhoff/eikonal_line.h"
#include "kirchhoff/fill.h"
#include "kirchhoff/nodes.h"
#include "kirchhoff/ray.h"
#include "kirchhoff/sum.h"

#define ISA_PROGRAM kirchhoff
#define ISA_CALLS   "kirchhoff/isa_calls.h"
#include "src/isa_calls.h"
