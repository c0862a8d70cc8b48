/* cu/moldable/cpus.h – the cpus of this machine that tasks may use. */
#pragma once

#include "src/base.h"

/* The cpus of this process, by Linux's numbers: one of each core first, then the other hardware
 * threads; in a Slurm allocation that does not bind its steps, only the allocation's. *cpu [*n]
 * belongs to the arena. */
enum ek_status cpus_own(struct arena *arena, int **cpu, int *n);
