/* okada_mogi/search.h – the search of a job: batches of trials in, accepted trials out.
 *
 * A batch is just a range (first, count) of trial numbers: any thread, device or node may compute
 * any batch, in any order, twice or after a failure, and always gets the same records. Data that
 * batches share (tables, the order of stations) are made once by search_open() and then read-only;
 * a search_worker holds what one thread needs for itself.
 *
 * Methods: SEARCH_EXACT exploits the model's structure (linear parameters, additive predictions,
 * constraints) and finds exactly the trials that SEARCH_BRUTE finds by computing every trial. */
#pragma once

#include "backends/backend.h"
#include "okada_mogi/accepted.h"
#include "okada_mogi/job.h"

enum search_method { SEARCH_EXACT, SEARCH_BRUTE };

struct search; /* shared by all units, read-only */

/* The job is borrowed. EK_UNAVAILABLE: out of memory. One thread. */
enum ek_status search_open(const struct job *job, enum search_method method, struct search **s);
void search_close(struct search *s);

const struct job *search_job(const struct search *s);

/* Estimate of the bytes that search_open() and each worker will take. */
size_t search_bytes(const struct job *job, enum search_method method);

/* Batches that end at multiples of this (or at the last trial) waste no work: whole geometries; in
 * a join, of the last source but one. Any other batch is computed correctly, too. */
trial_number search_grain(const struct search *s);

/* Source x station evaluations that search_open() has done. */
double search_prepared(const struct search *s);

/* Estimated cost of a batch for policies, in units about the size of a station evaluation; never 0.
 */
double search_cost(const struct search *s, struct trial_range range);

struct search_worker; /* scratch and counters of one thread */

enum ek_status search_worker_open(const struct search *s, struct search_worker **w);
void search_worker_close(struct search_worker *w);

/* Receives the accepted trials of a range, ascending; put() may take them from *found. */
struct search_sink {
    enum ek_status (*put)(void *arg, struct trial_range range, struct accepted *found);
    void *arg;
};

/* Most accepted trials that a worker holds at a time: a range with more is put in parts. */
enum { SEARCH_HELD = 1 << 14 };

/* Searches `range` and puts it, as a whole or in consecutive parts of at most SEARCH_HELD accepted
 * trials each. EK_UNAVAILABLE: out of memory; or the status of put(). On the worker's thread. */
enum ek_status search_run(struct search_worker *w, struct trial_range range,
                          const struct search_sink *sink);
/* Source x station evaluations that this worker has done. */
double search_evaluations(const struct search_worker *w);

/* The same on a device, called on the leader of the `threads` threads that feed it (pool: all of
 * them, or NULL); the records are those of the host, bit for bit. EK_USAGE: the model has no device
 * code; EK_UNAVAILABLE: memory; EK_LOST: the device failed. */
struct search_device;
struct thread_pool; /* cu/team/thread_pool.h */
enum ek_status search_device_open(const struct search *s, struct backend *backend, int threads,
                                  struct search_device **d);
void search_device_close(struct search_device *d);
enum ek_status search_device_run(struct search_device *d, struct thread_pool *pool,
                                 struct trial_range range, const struct search_sink *sink);
double search_device_evaluations(const struct search_device *d);
