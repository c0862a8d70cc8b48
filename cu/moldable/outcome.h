/* cu/moldable/outcome.h – plans and measured runs as JSON, text and HTML pages. */
#pragma once

#include "cu/moldable/run_history.h"

/* A plan as JSON: method, makespan_s, lower_bound_s, ratio, planning_s and schedule, a list with
 * task, name, node (nodes of a cluster task), core, cores, start_s, finish_s, after. */
json_t *run_plan_json(const struct moldable_problem *, const struct moldable_plan *, double bound);

/* Writes the page with several such objects (borrowed) side by side. */
enum ek_status run_page(const char *path, const char *title, const struct moldable_problem *,
                        const json_t *plans);

/* Prints a run's result, and writes it to the files `json` and `report` unless NULL.
 * EK_UNVERIFIED: tasks failed, and the message names them. */
enum ek_status run_outcome(const struct run_history *, const char *json, const char *report);
