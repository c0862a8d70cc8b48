/* src/isa.h – instruction levels: what is written over lanes (src/lanes.h) and other hot loops are
 * compiled once for each level, and one of them is in force in all of a program.
 *
 * A program's sources that are compiled so stand in the Makefile; what others call of them stands
 * in <program>/isa_calls.h, and <program>/isa.c makes of that one table of functions a level and
 * the functions that call what is in force (src/isa_calls.h). */
#pragma once

#include "src/status.h"
#include <stdbool.h>

struct isa {
    const char *name, *summary; /* "v3", what it takes */
    bool built, runs;           /* this binary has it; this processor does */
};

/* All levels, the least one first; NULL past the end. */
const struct isa *isa_at(int i);

/* The level of this name is in force from now on; NULL or "": the highest that the binary has and
 * the processor runs. EK_USAGE: there is no such level in the binary; EK_UNAVAILABLE: not on this
 * processor, or too late, as functions of another level have been called: what they returned or
 * opened fits no other level's functions. One thread. */
enum ek_status isa_choose(const char *name);

/* The same at any time, for those who compare levels: nothing that a level's functions have opened
 * or returned may be in use. */
enum ek_status isa_change(const char *name);

/* The number of the level in force: before isa_choose(), what CU_ISA names, or else the highest.
 * Any thread. */
int isa_now(void);
/* Its name. */
const char *isa_name(void);
