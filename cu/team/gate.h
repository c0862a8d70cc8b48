/* cu/team/gate.h – a barrier for a few threads that meet very often: it spins for a moment, then
 * sleeps, and does not spin at all where threads must share cpus. OpenMP's own cannot be used
 * between the leaders of nested teams. */
#ifndef CU_GATE_H
#define CU_GATE_H

#include <stdatomic.h>

struct gate {
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint opened; /* how often; what the waiting ones look at */
    atomic_uint sleepers;
    unsigned threads;
    int spins;
};

/* For `threads` threads; crowded: more threads than cpus are busy in all, so nobody spins. One
 * thread, before others know of it. Nothing to free. */
void gate_init(struct gate *g, int threads, _Bool crowded);

/* Returns when all threads have called it; what they wrote before is seen by all after. */
void gate_meet(struct gate *g);

#endif
