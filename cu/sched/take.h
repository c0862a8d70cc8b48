/* cu/sched/take.h – self-scheduling from a shared counter: idle units take the next chunk of one
 * long range of tasks. Chunks have one size, or a size function for the policies of loop
 * scheduling. */
#pragma once

#include "cu/sched/sched.h"
#include "src/spin.h"
#include <stdatomic.h>

/* The first member of such a policy's state. */
struct take {
    _Alignas(64) _Atomic size_t at; /* tasks taken so far */
    _Atomic int turn;               /* units with smaller numbers have asked in this step */
    int patience;                   /* polls before a unit asks out of turn */
    _Alignas(64) size_t n, grain;
    size_t chunk; /* where all chunks have one size */
    /* Tasks for unit cu when `taken` are gone; NULL: a chunk. */
    size_t (*size)(const void *policy, int cu, size_t taken);
};

/* Pauses to wait: covers how far apart threads leave a barrier, a few microseconds at most. */
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

/* Chunks of one size, at least a grain. */
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

/* In each step the first tasks go to the units in order of their numbers: threads leave a barrier
 * in any order, and with large tasks another order would give another partition. A unit that is
 * late is not waited for. */
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

/* The next tasks: at least a grain, as far as there are any. Any thread, lock-free: with chunks of
 * one size one atomic add, after a check that keeps `at` from growing without bound. */
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

/* The members of struct sched_ops besides name, summary and options. */
#define TAKE_POLICY(began)                                                                         \
    .state_size = sizeof(struct state), .begin = began, .next = take_next, .step = take_step
