/* cu/moldable/launch.h – the agents of a job, from the master's side. */
#pragma once

#include "cu/farm/farm.h"
#include "cu/moldable/agent.h"

struct launch;

/* Starts an agent on every node, several at a time, and waits until all of them have called. `ops`
 * are those of the farm that they work for. EK_UNAVAILABLE: says which node cannot be reached, or
 * what is missing there; EK_STOPPED: interrupted. close ends them and accepts NULL. One thread. */
enum ek_status launch_open(const struct run_job *, const char *folder, const char *token,
                           const struct server_ops *ops, struct launch **l);
void launch_close(struct launch *l);

struct farm *launch_farm(const struct launch *l);

/* Tells the farm whose agents have ended. */
void launch_watch(struct launch *l);
