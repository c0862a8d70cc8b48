/* src/cgroup.h – limits that a container or a batch system puts on this process's control groups
 * (version 1 or 2), of its own group and of those above it. Any thread. */
#pragma once

#include "src/base.h"

/* The lowest memory limit, bytes; 0: none. */
size_t cgroup_memory(void);
/* What is left of it, bytes, at least 1; 0: there is no limit. */
size_t cgroup_memory_room(void);
/* The lowest quota of processor time, in cpus (such as 1.5); 0: none. */
double cgroup_cpus(void);
