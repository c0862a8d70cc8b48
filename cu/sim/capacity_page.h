/* cu/sim/capacity_page.h – a capacity plan as an interactive page: all scenarios, and the schedule
 * of some. */
#pragma once

#include "cu/sim/capacity_answer.h"

/* Writes the page. The schedules of as many scenarios as fit in a file that opens quickly are
 * included, simulated again for this: the best and the cheapest ones, then others spread evenly
 * over the ranks. EK_UNAVAILABLE as page_write(). */
enum ek_status capacity_page_write(const char *path, const struct capacity *c,
                                   const struct capacity_answer *a);
