/* cu/moldable/cpus.h – which cpus of this machine are ours. */
#pragma once

#include "src/arena.h"

/* Those that this process may use, as Linux numbers them: one of each core first, then the other
 * hardware threads. In a Slurm allocation that does not bind its steps, only those that it has.
 * *cpu [*n] is the arena's. */
enum ek_status cpus_own(struct arena *arena, int **cpu, int *n);
