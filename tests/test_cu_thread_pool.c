/* tests/test_cu_thread_pool.c – barriers and thread pools: nobody passes early, every part runs
 * once on its own thread, with and without spinning, also with more threads than cpus. */
#include "cu/team/thread_pool.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { THREADS = 5, ROUNDS = 2000 };

static void nobody_passes_early(void **state)
{
    for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
        struct barrier barrier;
        atomic_int inside = 0, wrong = 0;
        barrier_init(&barrier, THREADS, oversubscribed);
#pragma omp parallel num_threads(THREADS)
        for (int round = 1; round <= ROUNDS; round++) {
            atomic_fetch_add(&inside, 1);
            barrier_wait(&barrier);
            if (atomic_load(&inside) != THREADS * round)
                atomic_fetch_add(&wrong, 1);
            barrier_wait(&barrier);
        }
        assert_int_equal(inside, THREADS * ROUNDS);
        assert_int_equal(wrong, 0);
    }
}

struct tally {
    int times[THREADS], thread[THREADS];
};

static void tally(void *arg, int part)
{
    struct tally *t = arg;
    t->times[part]++; /* not atomic: each part has its own thread */
    t->thread[part] = omp_get_thread_num();
}

/* Counts `rounds` calls with all parts, then `fewer` with two. */
static void count_parts(struct tally *t, int rounds, int fewer)
{
    struct thread_pool pool;
    thread_pool_init(&pool, THREADS, true);
#pragma omp parallel num_threads(THREADS)
    if (omp_get_thread_num() > 0) {
        thread_pool_serve(&pool, omp_get_thread_num());
    } else {
        for (int round = 0; round < rounds + fewer; round++)
            thread_pool_run(&pool, round < rounds ? THREADS : 2, tally, t);
        thread_pool_dismiss(&pool);
    }
}

static void each_part_on_its_thread(void **state)
{
    struct tally t = {0};
    count_parts(&t, ROUNDS, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(t.times[i], ROUNDS);
        assert_int_equal(t.thread[i], i);
    }
}

static void alone_does_all_parts(void **state)
{
    struct tally t = {0};
    thread_pool_run(NULL, 3, tally, &t);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(t.times[i], i < 3);
}

/* Threads beyond the width asked for have no part. */
static void fewer_parts_than_threads(void **state)
{
    struct tally t = {0};
    count_parts(&t, 1, 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(t.times[i], i < 2 ? 2 : 1);
}

/* For a part that calls the pool it runs on. */
struct nested {
    struct thread_pool *pool;
    struct tally inner;
    int calls;
};

static void ask_again(void *arg, int part)
{
    struct nested *n = arg;
    if (part == 0)
        thread_pool_run(n->pool, THREADS, tally, &n->inner);
}

/* If the leader's own part calls the pool, the leader does all those parts by itself. */
static void within_a_part_the_leader_is_alone(void **state)
{
    struct thread_pool pool;
    struct nested n = {.pool = &pool};
    struct tally after = {0};
    thread_pool_init(&pool, THREADS, true);
#pragma omp parallel num_threads(THREADS)
    if (omp_get_thread_num() > 0) {
        thread_pool_serve(&pool, omp_get_thread_num());
    } else {
        for (int round = 0; round < 100; round++)
            thread_pool_run(&pool, THREADS, ask_again, &n);
        thread_pool_run(&pool, THREADS, tally, &after);
        thread_pool_dismiss(&pool);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(n.inner.times[i], 100);
        assert_int_equal(n.inner.thread[i], 0);
        assert_int_equal(after.thread[i], i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_passes_early),
        cmocka_unit_test(each_part_on_its_thread),
        cmocka_unit_test(alone_does_all_parts),
        cmocka_unit_test(fewer_parts_than_threads),
        cmocka_unit_test(within_a_part_the_leader_is_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
