/* cu/farm/farm.h – the restartable master–worker engine.
 *
 * Tasks are numbered 0 .. n-1. Rank 0 hands them out in batches, by a policy, to all ranks of a
 * cu/rank/family.h including itself; ranks may die, freeze and come back, and each task counts
 * once. To the farm, descriptions of batches and results are plain bytes. A farm of one process
 * works the same way, without messages. The program saves what is done, and its next run asks only
 * for the rest. */
#pragma once

#include "cu/farm/coordinator.h"
#include "cu/farm/message.h"
#include "cu/farm/server.h"

struct farm;

struct farm_settings {
    struct server_ops ops;       /* used by rank 0; take() also receives its own batches */
    uint64_t job;                /* checksum of everything that must be equal on all nodes */
    const struct family *family; /* NULL: the launcher's */
    int units;                   /* of this process */
    struct farm_capacity capacity;
    bool deals; /* rank 0 takes batches only once no other rank has been here for seconds */
};

/* Open the farm before threads are bound, and do not fork while it is open: ZeroMQ's contexts do
 * not survive that. close accepts NULL. All functions without another note belong to one thread.
 * EK_UNAVAILABLE: out of memory, or rank 0 cannot be reached. */
enum ek_status farm_open(const struct farm_settings *settings, struct farm **f);
void farm_close(struct farm *f);

bool farm_is_worker(const struct farm *f); /* a rank other than 0 */
int farm_size(const struct farm *f);

/* Begins the next run. Workers may pass NULL for `job`. EK_USAGE, EK_UNAVAILABLE: as
 * coordinator_open(). */
enum ek_status farm_begin(struct farm *f, const struct farm_job *job);

/* The next batch for this process, waiting for it at most `seconds`, or until a signal comes; an
 * empty batch means none yet. *over: this run has no more, because it is done, was interrupted
 * (cu/rank/stop.h), or rank 0 is gone. EK_UNAVAILABLE: the other ranks can no longer be served;
 * EK_USAGE: rank 0 has another job. */
enum ek_status farm_next(struct farm *f, double seconds, struct farm_batch *batch, bool *over);

/* Reports a batch's result, or its failure (failed != 0); ignored if others have done the batch in
 * the meantime. `rate`: sum over the units of work per second of busy time. EK_UNAVAILABLE: out of
 * memory, or what take() returns. */
enum ek_status farm_report(struct farm *f, const struct farm_batch *batch, int failed, double rate,
                           const void *result, size_t bytes);

/* The launcher has seen the rank's process end. Rank 0, any thread. */
void farm_ended(struct farm *f, int rank);

/* What is known of a rank. Rank 0. */
struct farm_worker farm_worker(const struct farm *f, int rank);
/* The coordinator of the latest run, to query; its nodes are ranks. Rank 0. */
struct coordinator *farm_coordinator(const struct farm *f);
