/* cu/team/thread_pool.h – the threads of one unit, kept ready for the whole of a run: OpenMP
 * makes the threads of a nested region anew each time, which costs more than a small task. */
#pragma once

#include "cu/team/barrier.h"
#include "cu/unit/cu.h"

struct thread_pool {
    struct barrier start, finish;
    void (*part)(void *arg, int thread);
    void *arg;
    int width;
    _Bool busy; /* the leader is in a part */
};

void thread_pool_init(struct thread_pool *c, int width, _Bool oversubscribed);

/* Threads 1 .. width-1 stay in thread_pool_serve() until the leader calls thread_pool_dismiss(). */
void thread_pool_serve(struct thread_pool *c, int thread);
void thread_pool_dismiss(struct thread_pool *c);

/* Calls part(arg, t) for t = 0 .. width-1, each on its own thread of the thread pool, and returns
 * when all are done. Without a thread pool (NULL), and within a part, the caller does all parts in
 * turn: the same result. On the leader's thread (number 0). */
void thread_pool_run(struct thread_pool *c, int width, void (*part)(void *arg, int thread),
                     void *arg);

/* How many threads work for a unit: all of its own, or the caller alone (NULL, or no pool). */
static inline int thread_pool_width(const struct cu *cu)
{
    return cu && cu->pool ? cu->width : 1;
}

/* thread_pool_run() on just those. */
static inline void thread_pool_run_on(const struct cu *cu, void (*part)(void *arg, int thread),
                                      void *arg)
{
    thread_pool_run(cu ? cu->pool : NULL, thread_pool_width(cu), part, arg);
}
