/* cu/farm/coordinator.h – who computes what: tasks are dealt to nodes in batches by a policy, and
 * what a lost node had not reported is dealt again. Each task counts once, whoever reports it; one
 * that fails again and again is set aside.
 *
 * Nodes are numbered from 0; a node that was lost may come back. Nothing here knows what carries
 * the messages or what time it is: the same code serves real nodes and simulated ones. Functions
 * may be called by any thread. */
#pragma once

#include "cu/sched/sched.h"
#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>

struct coordinator;

/* Who says what a node does, where no policy does. Under the coordinator's lock: no calls back. */
struct farm_source {
    /* A task for the node; empty: none for now. */
    struct ek_range (*next)(void *arg, int node);
    /* A task that it was given is to be done again: it failed, or the node is lost. Empty: the node
     * is lost, and has no more of them. */
    void (*back)(void *arg, int node, struct ek_range task);
    void *arg;
};

/* The work. Arrays are borrowed. */
struct farm_job {
    const struct farm_source *source; /* NULL: `schedule` says */
    const char *schedule; /* a policy for long ranges (chunk, hrdls, gss …); others make a whole of
                             a list of tasks and are no use among nodes: hrdls is taken then */
    size_t n;
    const double *cost; /* [n] as policies want it, NULL: equal */
    const bool *apart;  /* [n] task t does not follow t - 1: no batch holds both; more may be set
                           at any time, atomically. NULL: none */
    int failures;       /* so many, and a task is set aside; 0: at the first */
};

/* EK_USAGE: there is no such policy; EK_UNAVAILABLE: out of memory. close accepts NULL. */
enum ek_status coordinator_open(const struct farm_job *job, int nodes, struct coordinator **c);
void coordinator_close(struct coordinator *c);

/* What coordinator_next() may say. */
enum coordinator_answer {
    COORDINATOR_BATCH, /* here is one */
    COORDINATOR_WAIT,  /* all is dealt, but perhaps not for good: ask again when one is reported */
    COORDINATOR_DONE,  /* every task is done or set aside */
};

/* How many batches a node wants: those it works at at a time, and those that it may have beside,
 * so that it need not wait; FARM_MOST in all. */
struct farm_appetite {
    int slots, ahead;
};
enum { FARM_MOST = 4096 };

/* A batch for this node at `now` (seconds). */
enum coordinator_answer coordinator_next(struct coordinator *c, int node, struct farm_appetite a,
                                         double now, struct ek_range *batch);

/* The node has computed this batch. False: it is no longer this node's, so its results are to be
 * dropped. True: they are wanted; call coordinator_taken() when they are safe. */
bool coordinator_report(struct coordinator *c, int node, struct ek_range batch, double now);
void coordinator_taken(struct coordinator *c, struct ek_range batch);

/* The node could not compute this batch: another one tries, if there are others. True: it was
 * this node's. */
bool coordinator_failed(struct coordinator *c, int node, struct ek_range batch, double now);
/* Failures of a task so far, and whether it was set aside. */
int coordinator_failures(struct coordinator *c, size_t task, bool *aside);

/* What is left is not to be done any more: nobody gets another batch. */
void coordinator_give_up(struct coordinator *c);

/* Every task is done, set aside or given up. */
bool coordinator_over(struct coordinator *c);

/* The node is lost, with the batches it may have. */
void coordinator_lost(struct coordinator *c, int node);

/* What a node has done, and how often one was lost or taken over. */
struct coordinator_node {
    size_t tasks;
    long batches, lost;
    double busy, first, last; /* seconds with a batch; first batch given, last one reported */
};
struct coordinator_node coordinator_node(struct coordinator *c, int node);

/* Blocks until something was reported, taken or lost since this call's `seen` (0 at first), which
 * it updates, or until some time has passed. */
void coordinator_wait(struct coordinator *c, unsigned *seen, double seconds);
