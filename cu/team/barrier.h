/* cu/team/barrier.h – a barrier for a few threads that meet very often: it spins for a moment, then
 * sleeps, and does not spin at all where threads must share cpus. OpenMP's own cannot be used
 * between the leaders of nested teams. */
#pragma once

#include <stdatomic.h>

struct barrier {
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint opened; /* how often; what the waiting ones look at */
    atomic_uint sleepers;
    unsigned threads, next; /* that meet now; from the next time on */
    int spins;
};

/* For `threads` threads; oversubscribed: more threads than cpus are busy in all, so nobody spins.
 * One thread, before others know of it. Nothing to free. */
void barrier_init(struct barrier *g, int threads, _Bool oversubscribed);

/* Returns when all threads have called it; what they wrote before is seen by all after. */
void barrier_wait(struct barrier *g);

/* So many threads meet after the meeting to come: of those who come to that, or who are roused
 * after it. On one of them. */
void barrier_resize(struct barrier *g, int threads);

/* Returns once *asleep is 0, which another thread makes it. */
void barrier_sleep(atomic_uint *asleep);
void barrier_rouse(atomic_uint *asleep);
