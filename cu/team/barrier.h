/* cu/team/barrier.h – a barrier for a few threads that meet very often: waiting threads spin
 * briefly, then sleep; they do not spin if threads share cpus. OpenMP's own barrier cannot be used
 * between the leaders of nested teams. */
#pragma once

#include <stdatomic.h>

struct barrier {
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint opened; /* how often; waiting threads watch it */
    atomic_uint sleepers;
    unsigned threads, next; /* threads that meet now, and from the next time on */
    int spins;
};

/* A barrier for `threads` threads. oversubscribed: the process has more busy threads than cpus, so
 * waiting threads do not spin. One thread, before others use it. Nothing to free. */
void barrier_init(struct barrier *g, int threads, _Bool oversubscribed);

/* Returns when all threads have called it; then each sees what the others wrote before. */
void barrier_wait(struct barrier *g);

/* Sets the number of threads that meet after the coming meeting. On one of its threads. */
void barrier_resize(struct barrier *g, int threads);

/* Sleeps until another thread sets *asleep to 0 with barrier_rouse(). */
void barrier_sleep(atomic_uint *asleep);
void barrier_rouse(atomic_uint *asleep);
