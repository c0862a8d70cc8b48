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

/* Adds the recorded events of a finished run under the policy's name; only the first run of each
 * policy is kept. */
enum ek_status trace_add(struct trace *t, const struct cu_set *set, const struct team *team,
                         const char *schedule);

/* Writes {"traceEvents": […], "otherData": {"result": …}} to `path`, for Perfetto, chrome://tracing
 * and cu-plan; or the Paje format if the path ends in .paje. `result` is borrowed. NULL path:
 * nothing. */
enum ek_status trace_write(const struct trace *t, const char *path, const json_t *result);

/* The events, borrowed; NULL when t is NULL. */
const json_t *trace_events(const struct trace *t);
