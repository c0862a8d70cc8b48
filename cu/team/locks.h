/* cu/team/locks.h – a lock for each memory node, taken in pairs by whoever moves a task. */
#ifndef CU_LOCKS_H
#define CU_LOCKS_H

#include "src/status.h"
#include <pthread.h>

struct locks {
    pthread_mutex_t *mutex; /* [n]; number 0 is never taken: pages of the host are the tasks' own */
    int n;
};

/* EK_UNAVAILABLE: out of memory. close accepts what was never opened, zeroed. */
enum ek_status locks_open(struct locks *l, int n);
void locks_close(struct locks *l);

/* Both memory nodes, always in ascending order: no deadlock. */
void locks_take(struct locks *l, int a, int b);
void locks_give(struct locks *l, int a, int b);

#endif
