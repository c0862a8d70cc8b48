/* cu/moldable/chains.h – a list schedule for tasks that depend on one another, in the manner of CPA
 * (A. Radulescu and A. van Gemund, "A low-cost approach towards mixed task and data parallel
 * scheduling", 2001): kinds on long chains get more cores, until the longest chain takes no longer
 * than all work does on all cores. Tasks are placed in the order in which they would start if the
 * nodes were one pool of cores, the longest rest of a chain first. */
#pragma once

#include "cu/moldable/timeline.h"

/* A method's choose(). */
enum ek_status chains_choose(struct timeline *, struct moldable_choice *choice);
