/* cu/bench/trace.h – runs as Chrome/Perfetto trace events: a process per policy, a thread per
 * unit. */
#pragma once

#include "cu/unit/cu.h"
#include "cu/team/team.h"
#include "src/json.h"

struct trace;

/* Caller owns *t; close accepts NULL. EK_UNAVAILABLE: out of memory. One thread. */
enum ek_status trace_open(struct trace **t);
void trace_close(struct trace *t);

/* Adds the events of a finished run (team_record() was on) under the policy's name; a policy's
 * repeats are left out after the first. */
enum ek_status trace_add(struct trace *t, const struct cu_set *set, const struct team *team,
                         const char *schedule);

/* {"traceEvents": […], "otherData": {"result": …}} to `path`, readable by Perfetto and
 * chrome://tracing, and with the result (borrowed) by cu-plan; where the name ends in .paje, the
 * events in that format instead; NULL path: nothing. */
enum ek_status trace_write(const struct trace *t, const char *path, const json_t *result);

/* The events, borrowed; NULL when t is NULL. */
const json_t *trace_events(const struct trace *t);
