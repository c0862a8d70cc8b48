/* cu/moldable/packing.h – the fewest cores on which a task ends within a limit, over any number of
 * unlike nodes, without a look at each of them.
 *
 * A node offers a task of t(w) reference seconds on w cores f (limit - free_w) of them, where
 * free_w is when w of its cores are free. A tree over the nodes, slow ones first, keeps the most
 * that is offered for each width: its root says which width is the first that fits, and a walk from
 * there finds the first node. Placing a task changes one leaf and those above it. */
#pragma once

#include "cu/moldable/timeline.h"

struct packing;

/* Only where tasks are independent, want nothing but cores of one node, and do not slow each other
 * down; and all cores are free from 0 on. */
bool packing_applies(const struct moldable_problem *);

/* In the timeline's arena, and gone with it; not to be used where that says it is out of memory. */
struct packing *packing_open(struct timeline *);

/* All cores free, and this limit. */
void packing_begin(struct packing *, double limit);

/* Places the task on the fewest cores, `least` or more, with which it ends within the limit; false:
 * it finds no place. */
bool packing_place(struct packing *, int task, int least, struct moldable_choice *);
