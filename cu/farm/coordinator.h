/* cu/farm/coordinator.h – decides which node computes what: a policy hands out tasks in batches,
 * and batches that a lost node has not reported are handed out again. Each task counts once,
 * whoever reports it; one that keeps failing is set aside.
 *
 * Nodes are numbered from 0; a lost node may come back. The coordinator knows neither the transport
 * nor the clock, so it serves real and simulated nodes alike. Any thread may call it. */
#pragma once

#include "cu/sched/sched.h"
#include "src/base.h"

struct coordinator;

/* Chooses tasks in place of a policy. Called under the coordinator's lock, so its functions must
 * not call the coordinator. */
struct farm_source {
    /* A task for the node; empty: none for now. */
    struct ek_range (*next)(void *arg, int node);
    /* The node's task must be done again, because it failed or the node is lost. Empty: the node
     * is lost and all its tasks have been given back. */
    void (*back)(void *arg, int node, struct ek_range task);
    void *arg;
    /* Whether a failure on the node is not the task's fault and does not count. NULL: all do. */
    bool (*excuses)(void *arg, int node, size_t task);
};

/* The work. Arrays are borrowed. */
struct farm_job {
    const struct farm_source *source; /* NULL: the policy `schedule` chooses */
    const char *schedule; /* a policy that cuts one long range (chunk, hrdls, gss …); any other is
                             replaced by hrdls, since it would plan a whole list of tasks */
    size_t n;
    const double *cost; /* [n] declared cost of each task, NULL: equal */
    const bool *apart;  /* [n] never put tasks t - 1 and t into one batch; may be set atomically at
                           any time. NULL: none */
    int failures;       /* a task is set aside after this many; 0: after the first */
};

/* EK_USAGE: there is no such policy; EK_UNAVAILABLE: out of memory. close accepts NULL. */
enum ek_status coordinator_open(const struct farm_job *job, int nodes, struct coordinator **c);
void coordinator_close(struct coordinator *c);

/* Answers of coordinator_next(). */
enum coordinator_answer {
    COORDINATOR_BATCH, /* *batch is set */
    COORDINATOR_WAIT,  /* all tasks are out, but some may come back: ask again after a report */
    COORDINATOR_DONE,  /* every task is done or set aside */
};

/* How many batches a node holds: `slots` it computes at the same time and `ahead` it keeps in
 * reserve to hide the latency of the next request; at most FARM_MOST together. */
struct farm_capacity {
    int slots, ahead;
};
enum { FARM_MOST = 4096 };

/* A batch for this node at `now` (seconds). */
enum coordinator_answer coordinator_next(struct coordinator *c, int node, struct farm_capacity a,
                                         double now, struct ek_range *batch);

/* The node has computed this batch. False: the batch was taken from it, drop the results. True:
 * keep them, and call coordinator_taken() once they are safe. */
bool coordinator_report(struct coordinator *c, int node, struct ek_range batch, double now);
void coordinator_taken(struct coordinator *c, struct ek_range batch);

/* The node could not compute this batch: another node tries, if there is one. False: the batch was
 * no longer this node's. */
bool coordinator_failed(struct coordinator *c, int node, struct ek_range batch, double now);
/* Failures of a task so far, and whether it was set aside. */
int coordinator_failures(struct coordinator *c, size_t task, bool *aside);

/* Hands out no more batches; the remaining tasks stay undone. */
void coordinator_give_up(struct coordinator *c);

/* Every task is done, set aside or given up. */
bool coordinator_over(struct coordinator *c);

/* The node is lost; its batches are handed out again. */
void coordinator_lost(struct coordinator *c, int node);

/* What a node has done; `lost` counts its disappearances and the batches taken from it. */
struct coordinator_node {
    size_t tasks;
    long batches, lost;
    double busy, first, last; /* s: time with a batch; first batch given, last one reported */
};
struct coordinator_node coordinator_node(struct coordinator *c, int node);

/* Blocks until a batch was taken or failed or a node was lost since *seen (0 at first), which it
 * updates, or for at most `seconds`. */
void coordinator_wait(struct coordinator *c, unsigned *seen, double seconds);
