/* cu/team/thread_pool.h – the threads of one unit, kept ready for a whole run, because OpenMP
 * creates the threads of a nested region anew each time, which takes longer than a small task. */
#pragma once

#include "cu/team/barrier.h"
#include "cu/unit/cu.h"

struct thread_pool {
    struct barrier start, finish;
    void (*part)(void *arg, int thread);
    void *arg;
    int width, parts; /* threads; parts of the present call */
    _Bool busy;       /* parts are running */
};

void thread_pool_init(struct thread_pool *c, int width, _Bool oversubscribed);

/* Threads 1 .. width-1 stay in thread_pool_serve() until the leader calls thread_pool_dismiss(). */
void thread_pool_serve(struct thread_pool *c, int thread);
void thread_pool_dismiss(struct thread_pool *c);

/* Calls part(arg, t) for t = 0 .. width-1, each on its own thread of the pool, and returns when all
 * are done. Without a pool (NULL), with a narrower one, and within a part, the caller does all
 * parts in turn. On the leader's thread (number 0). */
void thread_pool_run(struct thread_pool *c, int width, void (*part)(void *arg, int thread),
                     void *arg);

/* Number of threads that work for a unit: 1, the caller, without a unit (NULL) or pool. */
static inline int thread_pool_width(const struct cu *cu)
{
    return cu && cu->pool ? cu->width : 1;
}

/* thread_pool_run() on just these threads. */
static inline void thread_pool_run_on(const struct cu *cu, void (*part)(void *arg, int thread),
                                      void *arg)
{
    thread_pool_run(cu ? cu->pool : NULL, thread_pool_width(cu), part, arg);
}
