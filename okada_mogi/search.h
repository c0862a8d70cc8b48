/* okada_mogi/search.h – the search of a job: batches of trials in, accepted trials out.
 *
 * A batch is a range (first, count) of trial numbers and nothing else: any batch may be computed by
 * any thread, device or node, in any order, twice or after a failure, and always gives the same
 * records. What a method shares between batches (tables, the order of stations) is made once by
 * search_open() and only read afterwards; what a thread needs for itself is a search_worker.
 *
 * Methods: SEARCH_EXACT uses what the model knows of itself (linear parameters, predictions that
 * add, constraints) and finds exactly the trials that SEARCH_BRUTE finds by computing one after
 * another. */
#pragma once

#include "backends/backend.h"
#include "okada_mogi/accepted.h"
#include "okada_mogi/job.h"

enum search_method { SEARCH_EXACT, SEARCH_BRUTE };

struct search; /* shared by all units, only read by them */

/* The job is borrowed. EK_UNAVAILABLE: out of memory. One thread. */
enum ek_status search_open(const struct job *job, enum search_method method, struct search **s);
void search_close(struct search *s);

const struct job *search_job(const struct search *s);

/* Bytes that search_open() and each worker will take, before anything is allocated. */
size_t search_bytes(const struct job *job, enum search_method method);

/* Batches whose ends are multiples of this (or the last trial) waste nothing: whole geometries, or
 * whole tables of a join. Any other batch is computed correctly, too. */
trial_number search_grain(const struct search *s);

/* Source x station evaluations that search_open() has done. */
double search_prepared(const struct search *s);

/* Declared cost of a batch for policies, in station evaluations or their like; never 0. */
double search_cost(const struct search *s, struct trial_range range);

struct search_worker; /* one thread's scratch and counters */

enum ek_status search_worker_open(const struct search *s, struct search_worker **w);
void search_worker_close(struct search_worker *w);

/* Where the accepted trials of a range go, ascending; put() takes them away from *found. */
struct search_sink {
    enum ek_status (*put)(void *arg, struct trial_range range, struct accepted *found);
    void *arg;
};

/* Most accepted trials that a worker holds at a time: a range of more is put in parts. */
enum { SEARCH_HELD = 1 << 14 };

/* Searches `range` and puts it, as a whole or in parts that together are it, none with more than
 * SEARCH_HELD accepted trials. EK_UNAVAILABLE: out of memory; or as put() says. On the worker's
 * thread. */
enum ek_status search_run(struct search_worker *w, struct trial_range range,
                          const struct search_sink *sink);
/* Source x station evaluations that this worker has done. */
double search_evaluations(const struct search_worker *w);

/* The same on a device, on the leading one of the threads that feed it (pool: all of them, or
 * NULL); results agree with the host's, record by record. EK_USAGE: the model has no text for
 * devices; EK_UNAVAILABLE: memory; EK_LOST: the device failed. */
struct search_device;
struct thread_pool; /* cu/team/thread_pool.h */
enum ek_status search_device_open(const struct search *s, struct backend *backend, int threads,
                                  struct search_device **d);
void search_device_close(struct search_device *d);
enum ek_status search_device_run(struct search_device *d, struct thread_pool *pool,
                                 struct trial_range range, const struct search_sink *sink);
double search_device_evaluations(const struct search_device *d);
