/* kirchhoff/isa.c – functions that are compiled for every instruction level: a table per level, and
 * the calls. */
#include "kirchhoff/eikonal_line.h"
#include "kirchhoff/fill.h"
#include "kirchhoff/nodes.h"
#include "kirchhoff/ray.h"
#include "kirchhoff/sum.h"

#define ISA_PROGRAM kirchhoff
#define ISA_CALLS   "kirchhoff/isa_calls.h"
#include "src/isa_calls.h"
