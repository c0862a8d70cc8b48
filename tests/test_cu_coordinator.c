/* tests/test_cu_coordinator.c – who computes what: with every policy each task counts once,
 * although nodes are silent, fail, die and come back. */
#include "cu/farm/coordinator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int hours; /* that the time of day is set back as soon as it was read */

int clock_gettime(clockid_t which, struct timespec *t)
{
    const int st = (int)syscall(SYS_clock_gettime, which, t);
    t->tv_sec += which == CLOCK_REALTIME ? 3600 * (time_t)hours : 0;
    return st;
}

static const char *const policies[] = {"hrdls",        "hrdls:b=0.1,c=2,s=1,t_min=0,average",
                                       "chunk:size=3", "gss",
                                       "tss",          "fac",
                                       "wf",           "static",
                                       "evenkeel"};
static const struct farm_capacity one = {1, 1};
enum { POLICIES = sizeof policies / sizeof *policies, TASKS = 500, NODES = 7, MOST = 4 };

static unsigned long draws = 20261122;

/* Uniform in [low, high). */
static double draw(double low, double high)
{
    draws = draws * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(draws >> 11) * 0x1p-53;
}

struct player {
    struct ek_range out[MOST + 1];
    int n, slots;
};

static struct ek_range take_any(struct player *p)
{
    const int i = (int)draw(0, p->n);
    const struct ek_range r = p->out[i];
    p->out[i] = p->out[--p->n];
    return r;
}

struct game {
    struct coordinator *c;
    struct farm_job job;
    bool apart[TASKS];
    int count[TASKS], failures[TASKS];
    struct player player[NODES];
};

static void ask(struct game *g, int node, double now, bool *done)
{
    struct player *p = &g->player[node];
    struct ek_range b;
    const enum coordinator_answer a =
        coordinator_next(g->c, node, (struct farm_capacity){p->slots, 1}, now, &b);
    *done = a == COORDINATOR_DONE;
    if (a != COORDINATOR_BATCH)
        return;
    assert_true(b.end > b.begin && b.end <= g->job.n && p->n <= p->slots);
    for (size_t t = b.begin + 1; t < b.end; t++)
        assert_false(g->apart[t]);
    p->out[p->n++] = b;
}

static void report(struct game *g, int node, double now)
{
    const struct ek_range b = take_any(&g->player[node]);
    assert_true(coordinator_report(g->c, node, b, now));
    assert_false(coordinator_report(g->c, node, b, now));
    for (size_t t = b.begin; t < b.end; t++)
        g->count[t]++;
    coordinator_taken(g->c, b);
}

static void fail_one(struct game *g, int node, double now)
{
    const struct ek_range b = take_any(&g->player[node]);
    assert_true(coordinator_failed(g->c, node, b, now));
    for (size_t t = b.begin; t < b.end; t++)
        g->failures[t]++;
}

static void lose(struct game *g, int node, double now)
{
    struct player *p = &g->player[node];
    coordinator_lost(g->c, node);
    while (p->n)
        assert_false(coordinator_report(g->c, node, take_any(p), now));
}

/* Random nodes: they ask, report, fail, die, come back, and report batches they no longer own. */
static void play(const char *policy, size_t n, double failing)
{
    static struct game g;
    bool done = false;
    g = (struct game){.job = {.schedule = policy, .n = n, .apart = g.apart, .failures = 3}};
    for (size_t t = 1; t < n; t++)
        g.apart[t] = draw(0, 1) < 0.02;
    for (int i = 0; i < NODES; i++)
        g.player[i].slots = 1 + (int)draw(0, MOST - 1);
    assert_int_equal(coordinator_open(&g.job, NODES, &g.c), EK_OK);
    for (double now = 0; !done; now += 0.001) {
        const int node = (int)draw(0, NODES);
        const double what = draw(0, 1);
        if (what < 0.02)
            lose(&g, node, now);
        else if (what < 0.02 + failing && g.player[node].n)
            fail_one(&g, node, now);
        else if (what < 0.5 && g.player[node].n)
            report(&g, node, now);
        else if (g.player[node].n <= g.player[node].slots)
            ask(&g, node, now, &done);
        assert_true(now < 1e3);
    }
    for (size_t t = 0; t < n; t++) {
        bool aside;
        assert_int_equal(coordinator_failures(g.c, t, &aside), g.failures[t]);
        assert_int_equal(aside, g.failures[t] == 3);
        assert_int_equal(g.count[t], !aside);
    }
    coordinator_close(g.c);
}

static void every_task_once(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 13, TASKS};
    for (int p = 0; p < POLICIES; p++)
        for (int round = 0; round < 20; round++)
            play(policies[p], sizes[round % 5], round % 2 * 0.05);
}

/* Nobody waits longer because the time of day is set back. */
static void waiting_ends_whatever_the_date(void **state)
{
    const struct farm_job job = {.schedule = "static", .n = 2};
    struct coordinator *c;
    unsigned seen = 0;
    assert_int_equal(coordinator_open(&job, 2, &c), EK_OK);
    hours = 1;
    alarm(20);
    coordinator_wait(c, &seen, 0.01);
    alarm(0);
    hours = 0;
    coordinator_close(c);
}

/* A silent node loses its batch to an idle one. */
static void silent_nodes_lose_their_batch(void **state)
{
    const struct farm_job job = {.schedule = "static", .n = 2};
    struct ek_range mine, theirs, again;
    struct coordinator *c;
    assert_int_equal(coordinator_open(&job, 2, &c), EK_OK);
    assert_int_equal(coordinator_next(c, 1, one, 0, &theirs), COORDINATOR_BATCH);
    assert_int_equal(coordinator_next(c, 0, one, 0, &mine), COORDINATOR_BATCH);
    assert_true(coordinator_report(c, 0, mine, 1));
    coordinator_taken(c, mine);
    assert_int_equal(coordinator_next(c, 0, one, 2, &again), COORDINATOR_WAIT);
    assert_int_equal(coordinator_next(c, 0, one, 12, &again), COORDINATOR_BATCH);
    assert_true(again.begin == theirs.begin && again.end == theirs.end);
    assert_false(coordinator_report(c, 1, theirs, 13));
    assert_true(coordinator_report(c, 0, again, 14));
    coordinator_taken(c, again);
    assert_int_equal(coordinator_next(c, 1, one, 15, &again), COORDINATOR_DONE);
    coordinator_close(c);
}

/* A node that never comes does not keep the share which a policy reserved for it. */
static void absent_nodes_keep_nothing(void **state)
{
    const struct farm_job job = {.schedule = "static", .n = 30};
    struct ek_range b;
    struct coordinator *c;
    size_t tasks = 0;
    assert_int_equal(coordinator_open(&job, 3, &c), EK_OK);
    for (double now = 0; now < 100; now += 1) {
        if (coordinator_next(c, 1, one, now, &b) != COORDINATOR_BATCH)
            continue;
        tasks += b.end - b.begin;
        assert_int_equal(tasks <= 10, now < 5);
        assert_true(coordinator_report(c, 1, b, now));
        coordinator_taken(c, b);
    }
    assert_int_equal(tasks, 30);
    assert_true(coordinator_over(c));
    coordinator_close(c);
}

/* A failed task goes to another node, if there is one. */
static void failed_tasks_go_elsewhere(void **state)
{
    const struct farm_job job = {.schedule = "chunk:size=1", .n = 1, .failures = 3};
    struct ek_range b;
    struct coordinator *c;
    bool aside;
    assert_int_equal(coordinator_open(&job, 3, &c), EK_OK);
    assert_int_equal(coordinator_next(c, 1, one, 0, &b), COORDINATOR_BATCH);
    assert_int_equal(coordinator_next(c, 2, one, 0, &b), COORDINATOR_WAIT);
    assert_true(coordinator_failed(c, 1, (struct ek_range){0, 1}, 1));
    assert_int_equal(coordinator_next(c, 1, one, 1, &b), COORDINATOR_WAIT);
    assert_int_equal(coordinator_next(c, 2, one, 1, &b), COORDINATOR_BATCH);
    coordinator_lost(c, 1);
    assert_true(coordinator_failed(c, 2, b, 2));
    assert_int_equal(coordinator_next(c, 2, one, 2, &b), COORDINATOR_BATCH); /* nobody else left */
    assert_true(coordinator_failed(c, 2, b, 3));
    assert_int_equal(coordinator_failures(c, 0, &aside), 3);
    assert_true(aside);
    assert_int_equal(coordinator_next(c, 2, one, 3, &b), COORDINATOR_DONE);
    coordinator_close(c);
}

static void unknown_options_are_refused(void **state)
{
    const struct farm_job job = {.schedule = "hrdls:q=1", .n = 1};
    struct coordinator *c;
    status_mute(+1);
    assert_int_equal(coordinator_open(&job, 2, &c), EK_USAGE);
    status_mute(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_once),
        cmocka_unit_test(waiting_ends_whatever_the_date),
        cmocka_unit_test(silent_nodes_lose_their_batch),
        cmocka_unit_test(absent_nodes_keep_nothing),
        cmocka_unit_test(failed_tasks_go_elsewhere),
        cmocka_unit_test(unknown_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
