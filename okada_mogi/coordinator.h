/* okada_mogi/coordinator.h – who computes what: tasks are dealt to nodes in batches by a policy,
 * and what a lost node had not reported is dealt again. Each task counts once, whoever reports it.
 *
 * Nodes are numbered from 0; a node that was lost may come back. A batch is a range of trials, and
 * all that a node needs to know. Nothing here knows what carries the messages or what time it is:
 * the same code serves real nodes and simulated ones. Functions may be called by any thread. */
#ifndef OKADA_MOGI_COORDINATOR_H
#define OKADA_MOGI_COORDINATOR_H

#include "okada_mogi/trial.h"
#include "src/status.h"
#include <stddef.h>

struct coordinator;

/* `task` [n] (borrowed) are what remains to be done, in ascending order. Policies that make a whole
 * of a list of tasks are no use among nodes: `schedule` is obeyed where it names one of those for
 * long ranges, otherwise hrdls is taken. EK_USAGE: it does not exist; EK_LACK: out of memory. */
enum ek_status coordinator_open(const char *schedule, int nodes, const struct trial_range *task,
                                const double *cost, size_t n, struct coordinator **c);
void coordinator_close(struct coordinator *c);

/* What coordinator_next() may say. */
enum coordinator_answer {
    COORDINATOR_BATCH, /* here is one */
    COORDINATOR_WAIT,  /* all is dealt, but perhaps not for good: ask again when one is reported */
    COORDINATOR_DONE,  /* every task is done */
};

/* Batches that a node may have at a time: one at work, and the next, so that it need not wait. */
enum { COORDINATOR_AHEAD = 2 };

/* A batch for this node, which has fewer than COORDINATOR_AHEAD, at `now` (seconds). */
enum coordinator_answer coordinator_next(struct coordinator *c, int node, double now,
                                         struct trial_range *batch);

/* The node has computed this batch, the first of those it has. False: it is no longer this node's,
 * so its results are to be dropped. True: they are wanted; call coordinator_taken() when they are
 * safe. */
bool coordinator_report(struct coordinator *c, int node, struct trial_range batch, double now);
void coordinator_taken(struct coordinator *c, struct trial_range batch);

/* The node is lost, with the batches it may have. */
void coordinator_lost(struct coordinator *c, int node);

/* What a node has done, and how often one was lost. */
struct coordinator_node {
    trial_number trials;
    long batches, lost;
    double busy, first, last; /* seconds with a batch; first batch given, last one reported */
};
struct coordinator_node coordinator_node(struct coordinator *c, int node);

/* Blocks until something was reported, taken or lost since this call's `seen` (0 at first), which
 * it updates, or until some time has passed. */
void coordinator_wait(struct coordinator *c, unsigned *seen, double seconds);

#endif
