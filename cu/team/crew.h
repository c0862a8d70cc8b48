/* cu/team/crew.h – the threads of one CPU unit, kept ready for the whole of a run: OpenMP makes the
 * threads of a nested region anew each time, which costs more than a small task. */
#ifndef CU_CREW_H
#define CU_CREW_H

#include "cu/team/gate.h"

struct crew {
    struct gate start, finish;
    void (*part)(void *arg, int thread);
    void *arg;
    int width;
};

void crew_init(struct crew *c, int width, _Bool crowded);

/* Threads 1 .. width-1 stay in crew_serve() until the leader calls crew_dismiss(). */
void crew_serve(struct crew *c, int thread);
void crew_dismiss(struct crew *c);

/* Calls part(arg, t) for t = 0 .. width-1, each on its own thread of the crew, and returns when all
 * are done. Without a crew (NULL) the caller does all parts in turn: the same result. On the
 * leader's thread (number 0). */
void crew_run(struct crew *c, int width, void (*part)(void *arg, int thread), void *arg);

#endif
