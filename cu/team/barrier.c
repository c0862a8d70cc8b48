/* cu/team/barrier.c – spin, then sleep on a futex. */
#include "cu/team/barrier.h"
#include "src/spin.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* About 50 us: longer than the imbalance of fine work, shorter than a time slice. */
enum { SPINS = 4000 };

void barrier_init(struct barrier *g, int threads, _Bool oversubscribed)
{
    atomic_init(&g->arrived, 0);
    atomic_init(&g->opened, 0);
    atomic_init(&g->sleepers, 0);
    g->threads = g->next = (unsigned)threads;
    g->spins = oversubscribed ? 0 : SPINS;
}

static void sleep_until(struct barrier *g, unsigned before)
{
    atomic_fetch_add(&g->sleepers, 1);
    while (atomic_load(&g->opened) == before)
        syscall(SYS_futex, &g->opened, FUTEX_WAIT_PRIVATE, before, NULL, NULL, 0);
    atomic_fetch_sub(&g->sleepers, 1);
}

void barrier_wait(struct barrier *g)
{
    const unsigned before = atomic_load_explicit(&g->opened, memory_order_relaxed);
    const unsigned threads = g->threads; /* read first: the last thread changes it */
    if (atomic_fetch_add(&g->arrived, 1) + 1 == threads) {
        atomic_store(&g->arrived, 0);
        g->threads = g->next;
        atomic_store(&g->opened, before + 1);
        if (atomic_load(&g->sleepers))
            syscall(SYS_futex, &g->opened, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
        return;
    }
    for (int i = 0; i < g->spins; i++) {
        if (atomic_load_explicit(&g->opened, memory_order_acquire) != before)
            return;
        spin_pause();
    }
    sleep_until(g, before);
}

void barrier_resize(struct barrier *g, int threads)
{
    g->next = (unsigned)threads;
}

void barrier_sleep(atomic_uint *asleep)
{
    while (atomic_load(asleep))
        syscall(SYS_futex, asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

void barrier_rouse(atomic_uint *asleep)
{
    atomic_store(asleep, 0);
    syscall(SYS_futex, asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
