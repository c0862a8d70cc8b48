/* cu/sched/take.h – one long range of tasks from which units take what comes next: chunks of one
 * size, or, for the policies of loop scheduling, each of another. */
#pragma once

#include "cu/sched/sched.h"
#include "src/spin.h"
#include <stdatomic.h>

/* The first member of such a policy's state. */
struct take {
    _Alignas(64) _Atomic size_t at; /* tasks taken so far */
    _Atomic int turn;               /* units below it have asked in this step */
    int patience;                   /* looks at it before a unit asks out of turn */
    _Alignas(64) size_t n, grain;
    size_t chunk; /* where all are of one size */
    /* Tasks that unit cu wants when `taken` are gone already; NULL: a chunk. */
    size_t (*size)(const void *policy, int cu, size_t taken);
};

/* About as far apart as threads leave a barrier, in pauses: a few microseconds at most. */
enum { TAKE_PATIENCE = 100 };

static inline void take_begin(struct take *t, const struct sched_job *job,
                              size_t (*size)(const void *policy, int cu, size_t taken))
{
    t->n = job->n;
    t->grain = job->grain;
    t->size = size;
    t->patience = TAKE_PATIENCE;
    atomic_store_explicit(&t->at, 0, memory_order_relaxed);
    atomic_store_explicit(&t->turn, 0, memory_order_relaxed);
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
    struct take *t = policy;
    atomic_store_explicit(&t->at, 0, memory_order_relaxed);
    atomic_store_explicit(&t->turn, 0, memory_order_relaxed);
}

/* In a step the first tasks go to units in the order of their numbers: threads leave a barrier in
 * any order, and where tasks are large another order is another division. A unit that is not there
 * in time is not waited for. */
static inline void take_wait(struct take *t, int cu)
{
    for (int i = 0; i < t->patience; i++) {
        if (atomic_load_explicit(&t->turn, memory_order_acquire) >= cu)
            return;
        spin_pause();
    }
}

static inline void take_pass(struct take *t, int cu)
{
    int turn = atomic_load_explicit(&t->turn, memory_order_relaxed);
    while (turn <= cu && !atomic_compare_exchange_weak_explicit(
                             &t->turn, &turn, cu + 1, memory_order_release, memory_order_relaxed))
        ;
}

/* The next tasks: at least a grain and never more than there are. Any thread; lock-free: one atomic
 * add where all chunks are of one size, after a look that keeps `at` bounded. */
static inline struct ek_range take_some(void *policy, int cu)
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

static inline struct ek_range take_next(void *policy, int cu)
{
    take_wait(policy, cu);
    const struct ek_range r = take_some(policy, cu);
    take_pass(policy, cu);
    return r;
}

/* The rest of struct sched_ops beside name, summary and options. */
#define TAKE_POLICY(began)                                                                         \
    .state_size = sizeof(struct state), .begin = began, .next = take_next, .step = take_step
