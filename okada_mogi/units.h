/* okada_mogi/units.h – searches trials on this process's compute units: a worker for each thread of
 * the CPU units, and devices. */
#pragma once

#include "cu/unit/cu.h"
#include "okada_mogi/search.h"

struct units;

/* Both do their work on the units' own threads, for first touch and because devices belong to them.
 * Search and set are borrowed. EK_UNAVAILABLE: out of memory, or a device lacks something. close
 * accepts NULL. */
enum ek_status units_open(const struct search *s, struct cu_set *set, struct units **u);
void units_close(struct units *u);

/* Computes tasks [n], ascending, on a unit and adds the times to seconds [n]. A device computes
 * adjacent tasks as one. Parts go to the sink from any thread, and may repeat if a unit takes over
 * from one that failed. On the unit's thread. */
enum ek_status units_compute(struct units *u, const struct cu *cu, const struct trial_range *task,
                             size_t n, const struct search_sink *sink, double *seconds);

/* Restarts the counts. This and the following: one thread, all units idle. */
void units_begin(struct units *u);
/* Source x station evaluations since then. */
double units_evaluations(const struct units *u);
/* Trials a second of all units, by each one's own busy time. */
double units_rate(const struct units *u);
