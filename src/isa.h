/* src/isa.h – instruction levels: code written over lanes (src/lanes.h) and other hot loops are
 * compiled once per level; a program uses one level throughout.
 *
 * The Makefile lists the sources compiled per level. <program>/isa_calls.h lists their functions
 * that others call; from it <program>/isa.c makes one function table per level, and the functions
 * that dispatch to the level in use (src/isa_calls.h). */
#pragma once

#include "src/base.h"

struct isa {
    const char *name, *summary; /* "v3"; the instructions it needs */
    bool built, runs;           /* this binary contains it; this processor supports it */
};

/* All levels, lowest first; NULL past the end. */
const struct isa *isa_at(int i);

/* Selects a level by name; NULL or "" means the highest that the binary contains and the processor
 * supports. EK_USAGE: the binary has no such level; EK_UNAVAILABLE: the processor does not support
 * it, or functions of another level have already been called, whose objects must not be passed to
 * this level's functions. One thread. */
enum ek_status isa_choose(const char *name);

/* The same at any time, for comparing levels: no object made by a level's functions may be in use.
 */
enum ek_status isa_change(const char *name);

/* Index of the level in use; before isa_choose() the one named by CU_ISA, else the highest. Any
 * thread. */
int isa_now(void);
/* Its name. */
const char *isa_name(void);
