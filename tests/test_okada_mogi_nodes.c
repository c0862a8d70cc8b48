/* tests/test_okada_mogi_nodes.c – searches over nodes: whatever policy deals, whoever dies and
 * comes back, every trial counts once. */
#include "tests/okada_mogi.h"

#include "cu/rank/family.h"
#include "okada_mogi/coordinator.h"
#include "okada_mogi/hub.h"
#include "okada_mogi/transport_socket.h"
#include "okada_mogi/worker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

static const char *const policies[] = {"hrdls",        "hrdls:b=0.1,c=2,s=1,t_min=0,average",
                                       "chunk:size=3", "gss",
                                       "tss",          "fac",
                                       "wf",           "static",
                                       "evenkeel"};
enum { POLICIES = sizeof policies / sizeof *policies, TASKS = 500, NODES = 7 };

/* ---- the coordinator --------------------------------------------------------------------------*/

/* Tasks of uneven size, with gaps. */
static size_t draw_tasks(struct trial_range *task)
{
    trial_number at = 5;
    for (size_t t = 0; t < TASKS; t++) {
        const trial_number count = 1 + (trial_number)job_random(0, 9);
        task[t] = (struct trial_range){at, count};
        at += count + (job_random(0, 1) < 0.02 ? 3 : 0);
    }
    return (size_t)at;
}

/* Nodes at random: they ask, report, die, come back, report what is no longer theirs. */
static void play(const char *policy)
{
    struct trial_range task[TASKS], out[NODES][COORDINATOR_AHEAD];
    struct coordinator *c;
    int nout[NODES] = {0};
    const size_t end = draw_tasks(task);
    char *count = calloc(end, 1);
    bool done = false;
    assert_int_equal(coordinator_open(policy, NODES, task, NULL, TASKS, &c), EK_OK);
    for (double now = 0; !done; now += 0.01) {
        const int node = (int)job_random(0, NODES - 1e-9);
        const double what = job_random(0, 1);
        if (what < 0.02) {
            coordinator_lost(c, node);
            if (nout[node])
                assert_false(coordinator_report(c, node, out[node][0], now));
            nout[node] = 0;
        } else if (what < 0.5 && nout[node]) {
            const struct trial_range b = out[node][0];
            out[node][0] = out[node][1];
            nout[node]--;
            assert_true(coordinator_report(c, node, b, now));
            assert_false(coordinator_report(c, node, b, now) && b.count);
            for (trial_number t = b.first; t < b.first + b.count; t++)
                assert_int_equal(count[t]++, 0);
            coordinator_taken(c, b);
        } else if (nout[node] < COORDINATOR_AHEAD) {
            struct trial_range b;
            const enum coordinator_answer a = coordinator_next(c, node, now, &b);
            if (a == COORDINATOR_BATCH)
                out[node][nout[node]++] = b;
            done = a == COORDINATOR_DONE;
        }
        assert_true(now < 1e4);
    }
    for (size_t t = 0; t < TASKS; t++)
        for (trial_number i = task[t].first; i < task[t].first + task[t].count; i++)
            assert_int_equal(count[i], 1);
    coordinator_close(c);
    free(count);
}

static void every_task_once(void **state)
{
    (void)state;
    for (int p = 0; p < POLICIES; p++)
        for (int round = 0; round < 20; round++)
            play(policies[p]);
}

/* A node that says nothing any more loses its batch to one that has nothing to do. */
static void silent_nodes_lose_their_batch(void **state)
{
    const struct trial_range task[] = {{0, 10}, {10, 10}};
    struct trial_range mine, theirs, again;
    struct coordinator *c;
    (void)state;
    assert_int_equal(coordinator_open("static", 2, task, NULL, 2, &c), EK_OK);
    assert_int_equal(coordinator_next(c, 0, 0, &mine), COORDINATOR_BATCH);
    assert_int_equal(coordinator_next(c, 1, 0, &theirs), COORDINATOR_BATCH);
    assert_true(coordinator_report(c, 0, mine, 1));
    coordinator_taken(c, mine);
    assert_int_equal(coordinator_next(c, 0, 2, &again), COORDINATOR_WAIT);
    assert_int_equal(coordinator_next(c, 0, 1000, &again), COORDINATOR_BATCH);
    assert_true(again.first == theirs.first && again.count == theirs.count);
    assert_false(coordinator_report(c, 1, theirs, 1001));
    assert_true(coordinator_report(c, 0, again, 1002));
    coordinator_taken(c, again);
    assert_int_equal(coordinator_next(c, 1, 1003, &again), COORDINATOR_DONE);
    coordinator_close(c);
}

static void nothing_to_do(void **state)
{
    struct coordinator *c;
    struct trial_range batch;
    (void)state;
    for (int p = 0; p < POLICIES; p++) {
        assert_int_equal(coordinator_open(policies[p], 3, NULL, NULL, 0, &c), EK_OK);
        assert_int_equal(coordinator_next(c, 1, 0, &batch), COORDINATOR_DONE);
        coordinator_close(c);
    }
    status_mute(+1);
    assert_int_equal(coordinator_open("hrdls:q=1", 2, &(struct trial_range){0, 1}, NULL, 1, &c),
                     EK_USAGE);
    status_mute(-1);
}

/* ---- over sockets -----------------------------------------------------------------------------*/

enum { RANKS = 4, DEATHS = 3 };

struct world {
    struct family family[RANKS];
    char call[64];
    atomic_int *count; /* [trials] */
    atomic_bool over;
};

static enum ek_status count_batch(void *arg, struct trial_range batch,
                                  const struct accepted_record *r, size_t n, double evaluations)
{
    struct world *w = arg;
    for (size_t i = 0; i < n; i++)
        assert_true(r[i].trial == batch.first + i && r[i].rms == (double)r[i].trial);
    assert_int_equal(n, batch.count);
    assert_true(evaluations == 1);
    for (trial_number t = batch.first; t < batch.first + batch.count; t++)
        w->count[t]++;
    return EK_OK;
}

static void listen_here(struct world *w)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, RANKS), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    snprintf(w->call, sizeof w->call, "127.0.0.1:%d", ntohs(at.sin_port));
    for (int r = 0; r < RANKS; r++)
        w->family[r] = (struct family){
            .rank = r, .size = RANKS, .listens = r ? -1 : fd, .secret = 7, .call = w->call};
}

/* Every trial of a batch is accepted. Dies DEATHS times without reporting. */
static void *work(void *arg)
{
    struct family *family = arg;
    bool gone = false;
    for (int life = 0; life <= DEATHS && !gone; life++) {
        struct worker w = {.asked = 0};
        struct trial_range batch = {0, 0}, last = {0, 0};
        struct accepted found = {0};
        assert_int_equal(transport_socket_open(family, &w.transport, &gone), EK_OK);
        for (int batches = 0; !gone && (life == DEATHS || batches < 5); batches++) {
            const struct message_ask ask = {.version = MESSAGE_VERSION,
                                            .job = 42,
                                            .done = last,
                                            .evaluations = 1,
                                            .records = found.n};
            while (!gone && w.asked < COORDINATOR_AHEAD - (last.count > 0))
                gone = worker_ask(&w, &(struct message_ask){.version = MESSAGE_VERSION, .job = 42},
                                  NULL) != EK_OK;
            if (last.count)
                gone |= worker_ask(&w, &ask, found.record) != EK_OK;
            gone = gone || worker_hear(&w, 0, NULL, &batch) != EK_OK || !batch.count;
            found.n = 0;
            for (trial_number t = batch.first; t < batch.first + batch.count; t++)
                assert_int_equal(
                    accepted_add(&found, &(struct accepted_record){.trial = t, .rms = (double)t}),
                    EK_OK);
            last = batch;
        }
        accepted_free(&found);
        if (w.transport.ops)
            w.transport.ops->close(w.transport.st);
    }
    return NULL;
}

static void serve_until_done(struct world *w, const struct transport *t, const char *policy,
                             const struct trial_range *task)
{
    struct hub *h;
    struct coordinator *c;
    struct trial_range batch = {0, 0};
    assert_int_equal(hub_open(t, RANKS, 42, &(struct hub_ops){count_batch, w}, &h), EK_OK);
    assert_int_equal(coordinator_open(policy, RANKS, task, NULL, TASKS, &c), EK_OK);
    hub_begin(h, 0, c);
    /* rank 0 takes its share late, so that the others have something to lose */
    for (int i = 0; coordinator_next(c, 0, 0, &batch) != COORDINATOR_DONE; i++) {
        if (batch.count) {
            assert_true(coordinator_report(c, 0, batch, 1));
            for (trial_number k = batch.first; k < batch.first + batch.count; k++)
                w->count[k]++;
            coordinator_taken(c, batch);
        }
        batch.count = 0;
        for (int k = 0; k < 20; k++)
            assert_int_equal(hub_serve(h, 0.001), EK_OK);
    }
    hub_begin(h, 1, NULL);
    for (int k = 0; k < 100; k++)
        assert_int_equal(hub_serve(h, 0.001), EK_OK);
    coordinator_close(c);
    hub_close(h);
}

static void workers_die_and_come_back(void **state)
{
    struct trial_range task[TASKS];
    (void)state;
    for (int p = 0; p < POLICIES; p += 2) {
        struct world w = {.over = false};
        struct transport t;
        pthread_t thread[RANKS];
        bool gone = false;
        const size_t end = draw_tasks(task);
        w.count = calloc(end, sizeof *w.count);
        listen_here(&w);
        assert_int_equal(transport_socket_open(&w.family[0], &t, &gone), EK_OK);
        for (int r = 1; r < RANKS; r++)
            assert_int_equal(pthread_create(&thread[r], NULL, work, &w.family[r]), 0);
        serve_until_done(&w, &t, policies[p], task);
        t.ops->close(t.st);
        close(w.family[0].listens);
        for (int r = 1; r < RANKS; r++)
            pthread_join(thread[r], NULL);
        for (size_t k = 0; k < TASKS; k++)
            for (trial_number i = task[k].first; i < task[k].first + task[k].count; i++)
                assert_int_equal(w.count[i], 1);
        free(w.count);
    }
}

/* Who does not know the secret is not heard. */
static void strangers_are_refused(void **state)
{
    struct world w = {.over = false};
    struct transport t, stranger;
    struct transport_event e;
    bool gone = false;
    (void)state;
    listen_here(&w);
    w.family[1].secret = 8;
    assert_int_equal(transport_socket_open(&w.family[0], &t, &gone), EK_OK);
    assert_int_equal(transport_socket_open(&w.family[1], &stranger, &gone), EK_OK);
    assert_int_equal(stranger.ops->send(stranger.st, 0, "hello", 5), EK_OK);
    assert_int_equal(t.ops->receive(t.st, 0.2, &e), EK_OK);
    assert_int_equal(e.kind, TRANSPORT_NOTHING);
    assert_int_equal(stranger.ops->receive(stranger.st, 5, &e), EK_OK);
    assert_int_equal(e.kind, TRANSPORT_LOST);
    stranger.ops->close(stranger.st);
    t.ops->close(t.st);
    close(w.family[0].listens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_once),       cmocka_unit_test(silent_nodes_lose_their_batch),
        cmocka_unit_test(nothing_to_do),         cmocka_unit_test(workers_die_and_come_back),
        cmocka_unit_test(strangers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
