/* cu/team/thread_pool.c – the threads of one unit wait at a barrier for work. */
#include "cu/team/thread_pool.h"
#include "src/base.h"

void thread_pool_init(struct thread_pool *c, int width, _Bool oversubscribed)
{
    barrier_init(&c->start, width, oversubscribed);
    barrier_init(&c->finish, width, oversubscribed);
    c->part = NULL;
    c->width = width;
    c->busy = 0;
}

void thread_pool_serve(struct thread_pool *c, int thread)
{
    for (;;) {
        barrier_wait(&c->start);
        if (!c->part)
            return;
        if (thread < c->parts)
            c->part(c->arg, thread);
        barrier_wait(&c->finish);
    }
}

void thread_pool_dismiss(struct thread_pool *c)
{
    c->part = NULL;
    barrier_wait(&c->start);
}

void thread_pool_run(struct thread_pool *c, int width, void (*part)(void *arg, int thread),
                     void *arg)
{
    if (!c || c->busy || c->width < width) {
        for (int t = 0; t < width; t++)
            part(arg, t);
        return;
    }
    c->part = part;
    c->arg = arg;
    c->parts = width;
    c->busy = 1;
    barrier_wait(&c->start);
    part(arg, 0);
    barrier_wait(&c->finish);
    c->busy = 0;
}
