/* okada_mogi/node.h – the part of this process in a search: the only one; rank 0, whose thread
 * serves the others while its units compute as well; or a worker, whose batches come from rank
 * 0. */
#pragma once

#include "okada_mogi/search_state.h"
#include "okada_mogi/pieces.h"
#include "src/json.h"

struct node;

/* Ranks are those of cu/rank/family.h. `units`: how many this process has. All is borrowed.
 * EK_UNAVAILABLE: out of memory, or rank 0 cannot be reached. close accepts NULL. */
enum ek_status node_open(const struct search *s, struct search_state *l, uint64_t job_hash,
                         int units, struct node **n);
void node_close(struct node *n);

/* The next search begins, dealt among nodes by this policy. One thread, as what follows. EK_USAGE,
 * EK_UNAVAILABLE: as search_state_begin(). */
enum ek_status node_begin(struct node *n, const char *schedule);

/* What the units of this process have done since the last call. */
struct node_report {
    double evaluations;
    double rate; /* trials/s of all units, each by its own time at work */
};

/* Reports the last batch, whose trials were all put, and gets the next; waits where there is
 * nothing to do yet. *batch: count 0 = the search is over, or is to be left (cu/rank/stop.h), or
 * rank 0 is gone. EK_UNAVAILABLE: the others cannot be served any more; EK_USAGE: rank 0 has
 * another job. */
enum ek_status node_next(struct node *n, const struct node_report *r, struct trial_range *batch);

/* The accepted trials of a part of the batch, as search_state_put() has it. Any thread. */
enum ek_status node_put(void *node, struct trial_range range, struct accepted *found);

/* Trials/s of all units of all nodes. */
double node_rate(const struct node *n);
/* [{rank trials batches busy_s lost units}], new reference; NULL: one process, or out of memory. */
json_t *node_json(const struct node *n);
