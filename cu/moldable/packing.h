/* cu/moldable/packing.h – finds the fewest cores on which a task ends within a limit, over any
 * number of unlike nodes, without looking at each of them.
 *
 * A node offers f (limit - free_w) reference seconds on w cores, where free_w is the time at which
 * w of its cores, and the GPUs and the memory that the task needs, are free; a task fits if its
 * t(w) is no more, with the interference of the largest node. A tree over the nodes, slow ones
 * first, keeps the largest offer for each width: its root tells the first width that fits, and a
 * walk down from there finds the first node. Placing a task changes one leaf and its ancestors. */
#pragma once

#include "cu/moldable/timeline.h"

struct packing;

/* Are all tasks independent, each on one node, and with few different needs of GPUs and memory? */
bool packing_applies(const struct moldable_problem *);

/* Allocated in the timeline's arena, which the caller must check before using it. */
struct packing *packing_open(struct timeline *);

/* Begins anew without any task, and with this limit. */
void packing_begin(struct packing *, double limit);

/* Places the task on the fewest cores, but at least `least`, on which it ends within the limit;
 * false: there are none. */
bool packing_place(struct packing *, int task, int least, struct moldable_choice *);
