/* cu/sched/take.h – one long range of tasks from which units take what comes next: chunks of one
 * size, or, for the policies of loop scheduling, each of another. */
#pragma once

#include "cu/sched/sched.h"
#include <stdatomic.h>

/* The first member of such a policy's state. */
struct take {
    _Alignas(64) _Atomic size_t at; /* tasks taken so far */
    _Alignas(64) size_t n, grain;
    size_t chunk; /* where all are of one size */
    /* Tasks that unit cu wants when `taken` are gone already; NULL: a chunk. */
    size_t (*size)(const void *policy, int cu, size_t taken);
};

static inline void take_begin(struct take *t, const struct sched_job *job,
                              size_t (*size)(const void *policy, int cu, size_t taken))
{
    t->n = job->n;
    t->grain = job->grain;
    t->size = size;
    atomic_store_explicit(&t->at, 0, memory_order_relaxed);
}

/* Chunks of one size, a grain at least. */
static inline void take_chunks(struct take *t, const struct sched_job *job, size_t chunk)
{
    take_begin(t, job, NULL);
    t->chunk = chunk > t->grain ? chunk : t->grain;
}

/* ---- members of struct sched_ops ------------------------------------------------------------- */
static inline void take_step(void *policy)
{
    atomic_store_explicit(&((struct take *)policy)->at, 0, memory_order_relaxed);
}

/* The next tasks: at least a grain and never more than there are. Any thread; lock-free: one atomic
 * add where all chunks are of one size, after a look that keeps `at` bounded. */
static inline struct ek_range take_next(void *policy, int cu)
{
    struct take *t = policy;
    size_t at = atomic_load_explicit(&t->at, memory_order_relaxed), end;
    if (!t->size) {
        if (at < t->n)
            at = atomic_fetch_add_explicit(&t->at, t->chunk, memory_order_relaxed);
        if (at >= t->n)
            return (struct ek_range){0, 0};
        return (struct ek_range){at, t->n - at < t->chunk ? t->n : at + t->chunk};
    }
    do {
        if (at >= t->n)
            return (struct ek_range){0, 0};
        size_t want = t->size(policy, cu, at);
        want = want > t->grain ? want : t->grain;
        end = want < t->n - at ? at + want : t->n;
    } while (!atomic_compare_exchange_weak_explicit(&t->at, &at, end, memory_order_relaxed,
                                                    memory_order_relaxed));
    return (struct ek_range){at, end};
}

/* The rest of struct sched_ops beside name, summary and options. */
#define TAKE_POLICY(began)                                                                         \
    .state_size = sizeof(struct state), .begin = began, .next = take_next, .step = take_step
