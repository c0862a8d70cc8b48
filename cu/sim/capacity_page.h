/* cu/sim/capacity_page.h – a capacity plan as one interactive page: all scenarios, and who does
 * what in some of them. */
#pragma once

#include "cu/sim/capacity_answer.h"

/* Writes the page. As many scenarios as fit into a file that opens quickly carry the tasks of every
 * unit: the best and the cheapest ones, then others evenly over the ranks; they are simulated again
 * for that. EK_UNAVAILABLE as page_write(). */
enum ek_status capacity_page_write(const char *path, const struct capacity *c,
                                   const struct capacity_answer *a);
