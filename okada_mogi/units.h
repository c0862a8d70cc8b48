/* okada_mogi/units.h – the compute units of this process at work on trials: workers for the threads
 * of CPU units, and devices. */
#pragma once

#include "cu/unit/cu.h"
#include "okada_mogi/search.h"

struct units;

/* Both on the units' own threads: first touch, and devices belong to them. Search and set are
 * borrowed. EK_UNAVAILABLE: out of memory, or a device lacks something; close also after a failed
 * open, accepts NULL. */
enum ek_status units_open(const struct search *s, struct cu_set *set, struct units **u);
void units_close(struct units *u);

/* A unit computes tasks [n], ascending, and adds its seconds to seconds [n]. A device takes them as
 * one, as far as they have no gap. Parts of them go to the sink from any thread, some again where a
 * unit takes over from one that failed. On the unit's thread. */
enum ek_status units_compute(struct units *u, const struct cu *cu, const struct trial_range *task,
                             size_t n, const struct search_sink *sink, double *seconds);

/* Counts from zero again. One thread, all units idle; so is the following. */
void units_begin(struct units *u);
/* Source x station evaluations since then. */
double units_evaluations(const struct units *u);
/* Trials a second of unit c, or (c < 0) of all together, each by its own time at work. */
double units_rate(const struct units *u, int c);
