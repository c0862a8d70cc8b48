/* okada_mogi/node.h – this process's role in a search: the only process; rank 0, which serves the
 * other ranks from a thread while its units compute as well; or a worker, which gets its batches
 * from rank 0. */
#pragma once

#include "okada_mogi/search_state.h"
#include "okada_mogi/pieces.h"
#include "src/json.h"

struct node;

/* Ranks are those of cu/rank/family.h. `units`: number of units of this process. Everything is
 * borrowed. EK_UNAVAILABLE: out of memory, or rank 0 cannot be reached. close accepts NULL. */
enum ek_status node_open(const struct search *s, struct search_state *l, uint64_t job_hash,
                         int units, struct node **n);
void node_close(struct node *n);

/* Begins the next search, distributed among nodes by this policy. EK_USAGE, EK_UNAVAILABLE: as
 * search_state_begin(). This and node_next(): one thread. */
enum ek_status node_begin(struct node *n, const char *schedule);

/* Work of this process's units since the last report. */
struct node_report {
    double evaluations;
    double rate; /* trials/s of all units, by each unit's own busy time */
};

/* Reports the last batch, after all its trials were put, and gets the next one, waiting if there is
 * nothing to do yet. *batch with count 0: the search is over or interrupted (cu/rank/stop.h), or
 * rank 0 is gone. EK_UNAVAILABLE: the other ranks cannot be served any more; EK_USAGE: rank 0 has
 * another job. */
enum ek_status node_next(struct node *n, const struct node_report *r, struct trial_range *batch);

/* Adds the accepted trials of a part of the batch, as search_state_put(). Any thread. */
enum ek_status node_put(void *node, struct trial_range range, struct accepted *found);

/* Trials/s of all units of all nodes. */
double node_rate(const struct node *n);
/* [{rank trials batches busy_s lost units}], new reference; NULL: one process, or out of memory. */
json_t *node_json(const struct node *n);
