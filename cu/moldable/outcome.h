/* cu/moldable/outcome.h – what a schedule promised and what came of it: JSON and pages. */
#pragma once

#include "cu/moldable/run_history.h"

/* A plan as JSON: method, makespan_s, lower_bound_s, ratio, planning_s and schedule, a list with
 * task, name, node (nodes of a cluster task), core, cores, start_s, finish_s, after. */
json_t *run_plan_json(const struct moldable_problem *, const struct moldable_plan *, double bound);

/* The page with the schedules of several such objects (borrowed) side by side. */
enum ek_status run_page(const char *path, const char *title, const struct moldable_problem *,
                        const json_t *plans);

/* Prints what a run came to, writes JSON and page where asked for. EK_UNVERIFIED: names the tasks
 * that failed. */
enum ek_status run_outcome(const struct run_history *, const char *json, const char *report);
