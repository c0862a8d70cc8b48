/* tests/test_cu_donate.c – device donation: each rule by itself, the laws with real threads. */
#include "cu/sched/donate.h"
#include "tests/donation.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct donate *open_on(int workers, int devices, int share)
{
    const struct donate_options o = {DONATE_ON, workers, devices, share, 0.2, 0};
    struct donate *d;
    assert_int_equal(donate_open(&o, &d), EK_OK);
    return d;
}

/* ---- the rules --------------------------------------------------------------------------------*/

static void test_modes(void **state)
{
    assert_string_equal(donate_modes[DONATE_STATIC], "static");
    assert_string_equal(donate_modes[DONATE_ON], "on");
    struct donate_options o = {DONATE_STATIC, 5, 2, 2, 0, 0};
    struct donate *d;
    assert_int_equal(donate_open(&o, &d), EK_OK);
    for (int w = 0; w < 5; w++)
        assert_int_equal(donate_poll(d, w, 1000 * w), w < 4 ? w % 2 : -1);
    donate_lose(d, 1);
    assert_int_equal(donate_poll(d, 1, 5), -1);
    assert_int_equal(donate_poll(d, 2, 5), 0);
    donate_close(d);
    o.mode = DONATE_OFF;
    assert_int_equal(donate_open(&o, &d), EK_OK);
    assert_int_equal(donate_poll(d, 0, 5), -1);
    donate_close(d);
}

static void test_donation(void **state)
{
    struct donate *d = open_on(3, 1, 1);
    assert_int_equal(donate_poll(d, 0, 100), 0);  /* claims the free device */
    assert_int_equal(donate_poll(d, 1, 110), -1); /* publishes its load */
    assert_int_equal(donate_poll(d, 0, 100), 0);  /* 110 is within the tolerance */
    assert_int_equal(donate_poll(d, 1, 130), -1);
    assert_int_equal(donate_poll(d, 2, 500), -1);
    assert_int_equal(donate_poll(d, 0, 100), -1); /* gives it to the largest */
    assert_int_equal(donate_poll(d, 1, 900), -1); /* not to this one, larger only now */
    assert_int_equal(donate_poll(d, 2, 500), 0);
    assert_int_equal(donate_poll(d, 2, 500), -1); /* passes it on */
    assert_int_equal(donate_poll(d, 1, 900), 0);
    assert_int_equal(donate_counts(d).claims, 1);
    assert_int_equal(donate_counts(d).donations, 2);
    donate_close(d);
}

static void test_leaving(void **state)
{
    struct donate *d = open_on(3, 1, 1);
    assert_int_equal(donate_poll(d, 0, 100), 0);
    assert_int_equal(donate_poll(d, 1, 5), -1);
    donate_leave(d, 0); /* goes to the one that works, however small its load */
    assert_int_equal(donate_poll(d, 1, 5), 0);
    donate_leave(d, 1); /* nobody is left */
    assert_int_equal(donate_poll(d, 2, 1), 0);
    donate_close(d);
}

/* A worker that leaves before taking its gift passes it on. */
static void test_gift_of_the_gone(void **state)
{
    struct donate *d = open_on(3, 1, 1);
    assert_int_equal(donate_poll(d, 0, 10), 0);
    assert_int_equal(donate_poll(d, 1, 100), -1);
    assert_int_equal(donate_poll(d, 0, 10), -1);
    donate_leave(d, 1);
    assert_int_equal(donate_poll(d, 0, 10), 0);
    donate_close(d);
}

static void test_sharing(void **state)
{
    struct donate *d = open_on(5, 2, 2);
    int users[2] = {0, 0};
    for (int w = 0; w < 4; w++) {
        const int device = donate_poll(d, w, 10);
        assert_in_range(device, 0, 1);
        users[device]++;
    }
    assert_int_equal(users[0], 2);
    assert_int_equal(donate_poll(d, 4, 10), -1);
    donate_close(d);
}

/* Two workers share a device only as long as no other one is free. */
static void test_spreading(void **state)
{
    struct donate *d = open_on(4, 2, 2);
    int device[4];
    for (int w = 0; w < 4; w++)
        device[w] = donate_poll(d, w, 10);
    int mate = 1;
    while (device[mate] != device[0])
        mate++;
    for (int w = 1; w < 4; w++)
        if (w != mate)
            donate_leave(d, w);
    assert_int_equal(donate_poll(d, mate, 10), 1 - device[0]);
    assert_int_equal(donate_poll(d, 0, 10), device[0]);
    donate_close(d);
}

/* Polls, then reports the cost: load seconds without a device, a tenth of that with one. */
static int poll_and_take(struct donate *d, int worker, long load)
{
    const int device = donate_poll(d, worker, load);
    donate_took(d, worker, (double)load * (device < 0 ? 1 : 0.1));
    return device;
}

/* Once costs are known, a growing load keeps its device; a falling one gives it to a worker that is
 * left with much more. */
static void test_growing_loads_keep(void **state)
{
    struct donate *d = open_on(2, 1, 1);
    for (long load = 100; load < 500; load += 100) {
        assert_int_equal(poll_and_take(d, 0, load), 0);
        assert_int_equal(poll_and_take(d, 1, 9 * load), -1);
    }
    assert_int_equal(poll_and_take(d, 0, 350), -1);
    assert_int_equal(poll_and_take(d, 1, 3600), 0);
    donate_close(d);
}

/* While tasks wait, a worker that begins one takes a free device, and nobody passes one on. */
static void test_waiting_tasks(void **state)
{
    const struct donate_options o = {DONATE_ON, 2, 1, 1, 0.2, 4};
    struct donate *d;
    assert_int_equal(donate_open(&o, &d), EK_OK);
    assert_int_equal(poll_and_take(d, 0, 100), 0);
    assert_int_equal(poll_and_take(d, 1, 9000), -1);
    donate_leave(d, 0);
    assert_int_equal(poll_and_take(d, 1, 9000), -1); /* in the middle of a task */
    assert_int_equal(poll_and_take(d, 0, 100), 0);
    donate_leave(d, 0);
    assert_int_equal(poll_and_take(d, 0, 100), 0); /* the last task */
    donate_leave(d, 0);
    assert_int_equal(poll_and_take(d, 1, 100), 0);
    donate_close(d);
}

/* Sharing a slow device is no faster than working without: only a worker that has much more left to
 * do alone takes the free half. */
static void test_no_help_by_sharing(void **state)
{
    for (int much = 0; much < 2; much++) {
        struct donate *d = open_on(3, 1, 2);
        for (int i = 0; i < 6; i++) {
            assert_int_equal(donate_poll(d, i % 3, 1000), i % 3 < 2 ? 0 : -1);
            if (i >= 3) /* both are on the device now */
                donate_took(d, i % 3, 1000);
        }
        donate_leave(d, 1);
        assert_int_equal(donate_poll(d, 2, much ? 5000 : 1000), much ? 0 : -1);
        donate_close(d);
    }
}

static void test_loss(void **state)
{
    struct donate *d = open_on(2, 1, 1);
    assert_int_equal(donate_poll(d, 0, 10), 0);
    assert_int_equal(donate_poll(d, 1, 90), -1);
    assert_int_equal(donate_poll(d, 0, 10), -1);
    donate_lose(d, 0); /* while it waits to be taken */
    assert_int_equal(donate_poll(d, 1, 90), -1);
    assert_int_equal(donate_poll(d, 0, 10), -1);
    donate_leave(d, 0);
    donate_leave(d, 1);
    assert_int_equal(donate_poll(d, 0, 10), -1);
    donate_close(d);
}

/* ---- threads ----------------------------------------------------------------------------------*/

enum { WORKERS = 7, DEVICES = 3, SHARE = 2, POLLS = 60000, TASKS = 40 };

struct crowd {
    struct donate *d;
    atomic_int users[DEVICES], wrong;
    atomic_long had;
    pthread_barrier_t start;
};

struct member {
    struct crowd *crowd;
    int worker;
};

static long random_load(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return (long)(*x >> 44);
}

/* From the poll that gives a device to the next poll or leave, the worker counts as its user. */
static void *work(void *arg)
{
    const struct member *m = arg;
    struct crowd *c = m->crowd;
    uint64_t x = 0x9e3779b97f4a7c15u * (uint64_t)(m->worker + 1);
    int device = -1;
    long had = 0;
    pthread_barrier_wait(&c->start);
    for (int i = 0; i < POLLS; i++) {
        if (device >= 0)
            atomic_fetch_sub(&c->users[device], 1);
        if (i % (POLLS / TASKS) == 0)
            donate_leave(c->d, m->worker);
        device = donate_poll(c->d, m->worker, random_load(&x));
        if (device >= 0 && atomic_fetch_add(&c->users[device], 1) >= SHARE)
            atomic_fetch_add(&c->wrong, 1);
        had += device >= 0;
        if (i % 16 == m->worker)
            sched_yield(); /* with few cpus: lets the others see what was published */
    }
    if (device >= 0)
        atomic_fetch_sub(&c->users[device], 1);
    donate_leave(c->d, m->worker);
    atomic_fetch_add(&c->had, had);
    return NULL;
}

/* No device ever has more users than may share it, and none gets lost: in the end all are free. */
static void test_threads(void **state)
{
    struct crowd c = {.d = open_on(WORKERS, DEVICES, SHARE)};
    struct member member[WORKERS];
    pthread_t thread[WORKERS];
    pthread_barrier_init(&c.start, NULL, WORKERS);
    for (int w = 0; w < WORKERS; w++) {
        member[w] = (struct member){&c, w};
        assert_int_equal(pthread_create(&thread[w], NULL, work, &member[w]), 0);
    }
    for (int w = 0; w < WORKERS; w++)
        pthread_join(thread[w], NULL);
    assert_int_equal(atomic_load(&c.wrong), 0);
    assert_true(atomic_load(&c.had) > 0);
    assert_true(donate_counts(c.d).donations > 0);
    for (int w = 0; w < DEVICES * SHARE; w++)
        assert_in_range(donate_poll(c.d, w, 1), 0, DEVICES - 1);
    assert_int_equal(donate_poll(c.d, DEVICES * SHARE, 1), -1);
    pthread_barrier_destroy(&c.start);
    donate_close(c.d);
}

/* ---- what it is for ---------------------------------------------------------------------------*/

/* Uneven shots on simulated units, as in tests/bench/kirchhoff_donation.c: in total, sets
 * end sooner with donated devices than with fixed ones, and with these sooner than with none. A
 * single set may take a few per cent longer because of an unlucky straggler. */
static void test_order(void **state)
{
    static const struct {
        int workers, devices, share, shots;
        double skew;
    } cases[] = {{16, 6, 2, 24, 0.8}, {16, 2, 1, 24, 0.8}, {4, 1, 1, 24, 1.4}, {16, 6, 2, 36, 0.8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double off = 0, fixed = 0, on = 0;
        for (uint64_t seed = 1; seed <= 50; seed++) {
            const struct donation_case c = {.workers = cases[i].workers,
                                            .devices = cases[i].devices,
                                            .share = cases[i].share,
                                            .shots = cases[i].shots,
                                            .poll = 4,
                                            .ratio = 10,
                                            .host = 0.2,
                                            .overhead = 500,
                                            .skew = cases[i].skew,
                                            .seed = seed};
            const struct donation_result given = donation_run(&c, DONATE_ON);
            const double still = donation_run(&c, DONATE_STATIC).seconds;
            assert_true(given.on_device > 0);
            assert_true(given.seconds <= 1.04 * still);
            off += donation_run(&c, DONATE_OFF).seconds;
            fixed += still;
            on += given.seconds;
        }
        assert_true(on <= 0.93 * fixed); /* the published gain is 7 % */
        assert_true(fixed <= off);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),         cmocka_unit_test(test_donation),
        cmocka_unit_test(test_leaving),       cmocka_unit_test(test_gift_of_the_gone),
        cmocka_unit_test(test_sharing),       cmocka_unit_test(test_spreading),
        cmocka_unit_test(test_loss),          cmocka_unit_test(test_growing_loads_keep),
        cmocka_unit_test(test_waiting_tasks), cmocka_unit_test(test_no_help_by_sharing),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
