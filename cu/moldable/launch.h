/* cu/moldable/launch.h – starts and ends the agents of a job. */
#pragma once

#include "cu/farm/farm.h"
#include "cu/moldable/agent.h"

struct launch;

/* Opens a farm with these `ops`, starts an agent on every node, several at a time, and waits until
 * all are connected. close ends them and accepts NULL. One thread. EK_UNAVAILABLE: the message says
 * which node cannot be reached, or what is missing there; EK_STOPPED: interrupted. */
enum ek_status launch_open(const struct run_job *, const char *folder, const char *token,
                           const struct server_ops *ops, struct launch **l);
void launch_close(struct launch *l);

struct farm *launch_farm(const struct launch *l);

/* Tells the farm which agents have ended; to be called every now and then. */
void launch_watch(struct launch *l);
