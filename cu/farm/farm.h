/* cu/farm/farm.h – one restartable engine for masters and workers.
 *
 * Tasks are numbered 0 .. n-1. Rank 0 deals them in batches, by a policy, to all ranks of a
 * cu/rank/family.h, itself among them; the ranks may die, freeze and come back, and each task
 * counts once. What a batch means and what its result is are bytes to the farm. A farm of one
 * process works the same way, without a message. What is done is the program's to save; the next
 * run of it begins with what is left. */
#pragma once

#include "cu/farm/coordinator.h"
#include "cu/farm/message.h"
#include "cu/farm/server.h"

struct farm;

struct farm_settings {
    struct server_ops ops;         /* of rank 0; take() is called for its own batches, too */
    uint64_t job;                  /* sum of all that must be equal on all nodes */
    const struct family *family;   /* NULL: that of the launcher */
    int units;                     /* of this process */
    struct farm_appetite appetite; /* slots 0: rank 0 only deals */
};

/* EK_UNAVAILABLE: out of memory, or rank 0 cannot be reached. Before threads are bound; contexts do
 * not survive a fork. close accepts NULL. One thread, as all that follows. */
enum ek_status farm_open(const struct farm_settings *settings, struct farm **f);
void farm_close(struct farm *f);

bool farm_is_worker(const struct farm *f); /* a rank other than 0 */
int farm_size(const struct farm *f);

/* The next run begins; the workers' `job` is not looked at (NULL). EK_USAGE, EK_UNAVAILABLE: as
 * coordinator_open(). */
enum ek_status farm_begin(struct farm *f, const struct farm_job *job);

/* The next batch for this process, which waits at most `seconds` for it; empty: there is none yet,
 * it returns early where a signal comes; or *over = true: no more in this run, for it is done, is
 * to be left (cu/rank/stop.h), or rank 0 is gone. EK_UNAVAILABLE: the others cannot be served any
 * more; EK_USAGE: rank 0 has another job. */
enum ek_status farm_next(struct farm *f, double seconds, struct farm_batch *batch, bool *over);

/* Its result, or how it failed (failed != 0). What others have done in the meantime is dropped.
 * `rate`: work/s of all units, each by its own time at work. EK_UNAVAILABLE: out of memory, or as
 * take() says. */
enum ek_status farm_report(struct farm *f, const struct farm_batch *batch, int failed, double rate,
                           const void *result, size_t bytes);

/* The rank's process has ended, as its launcher says. Rank 0, any thread. */
void farm_ended(struct farm *f, int rank);

/* The rank's own part, so far. Rank 0. */
struct farm_worker farm_worker(const struct farm *f, int rank);
/* Of the run that began last, for what it knows of nodes and tasks; nodes are ranks. Rank 0. */
struct coordinator *farm_coordinator(const struct farm *f);
