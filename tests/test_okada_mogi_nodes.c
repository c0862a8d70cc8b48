/* tests/test_okada_mogi_nodes.c – searches over nodes: whatever policy deals, whoever dies and
 * comes back, every trial counts once; checkpoints are believed only where they are whole. */
#include "tests/okada_mogi.h"

#include "cu/family.h"
#include "okada_mogi/snapshot.h"
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

/* ---- ranges -----------------------------------------------------------------------------------*/

static void ranges_against_a_map(void **state)
{
    enum { TRIALS = 400 };
    (void)state;
    for (int round = 0; round < 50; round++) {
        bool map[TRIALS] = {false};
        struct ranges r = {0}, gaps = {0};
        size_t in = 0, runs = 0;
        for (int i = 0; i < 60; i++) {
            const size_t first = (size_t)job_random(0, TRIALS - 1), room = TRIALS - first;
            const size_t count = 1 + (size_t)job_random(0, room < 20 ? (double)room : 20.);
            const size_t most = count < room ? count : room;
            bool meets = false;
            for (size_t t = first; t < first + most; t++)
                meets |= map[t];
            status_mute(+1);
            assert_int_equal(ranges_add(&r, (struct trial_range){first, most}),
                             meets ? EK_USAGE : EK_OK);
            status_mute(-1);
            for (size_t t = first; t < first + most && !meets; t++)
                map[t] = true;
        }
        for (size_t t = 0; t < TRIALS; t++) {
            in += map[t];
            runs += map[t] && (t == 0 || !map[t - 1]);
        }
        assert_int_equal(r.n, runs);
        assert_true(ranges_count(&r) == in);
        assert_int_equal(ranges_gaps(&r, (struct trial_range){10, TRIALS - 30}, &gaps), EK_OK);
        for (size_t t = 0, g = 0; t < TRIALS; t++) {
            while (g < gaps.n && gaps.range[g].first + gaps.range[g].count <= t)
                g++;
            const bool in_gap = g < gaps.n && t >= (size_t)gaps.range[g].first;
            assert_int_equal(in_gap, !map[t] && t >= 10 && t < TRIALS - 20);
        }
        ranges_free(&r);
        ranges_free(&gaps);
    }
}

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

/* ---- jobs -------------------------------------------------------------------------------------*/

/* 1000 trials of one station. */
static struct job *write_job(const char *accept, const char *k, double max, double observed)
{
    char text[2048];
    struct job *job;
    snprintf(text, sizeof text,
             "site,E_m,N_m,uE_m,uN_m,uU_m,sE_m,sN_m,sU_m\nA,0,0,%.17g,.01,.02,.005,.005,.01\n",
             observed);
    job_write("sum.csv", text);
    snprintf(text, sizeof text,
             "{\"model\": \"mogi\", \"stations\": \"sum.csv\", \"accept\": {\"%s\": %s},"
             "\"parameters\": [{\"name\": \"Es_m\", \"min\": 0, \"max\": %.17g, \"n\": 10},"
             "{\"name\": \"Ns_m\", \"value\": 3},"
             "{\"name\": \"d_m\", \"min\": 100, \"max\": 200, \"n\": 10},"
             "{\"name\": \"dV_m3\", \"min\": 1, \"max\": 20, \"n\": 10}]}",
             accept, k, max);
    job_write("sum.json", text);
    assert_int_equal(job_open(job_file("sum.json"), NULL, &job), EK_OK);
    assert_true(job->trials == 1000);
    return job;
}

/* ---- checkpoints ------------------------------------------------------------------------------*/

static struct harvest *new_harvest(struct job *job)
{
    const char *const path[ACCEPTED_FORMATS] = {NULL};
    struct harvest *h;
    assert_int_equal(harvest_open(job, (struct trial_range){0, 1000}, path, &h), EK_OK);
    assert_int_equal(harvest_begin(h), EK_OK);
    return h;
}

static enum ek_status collect(void *arg, const struct accepted_record *record, size_t n)
{
    for (size_t i = 0; i < n; i++)
        TRY(accepted_add(arg, &record[i]));
    return EK_OK;
}

static enum ek_status load(const char *path, struct job *job, uint64_t sum, struct accepted *all,
                           struct ranges *done)
{
    struct harvest *h = new_harvest(job);
    double evaluations = 0;
    bool found = false;
    enum ek_status st = snapshot_load(path, sum, done, &evaluations, h, &found);
    assert_true(st || (found && evaluations == 17));
    if (!st)
        st = harvest_each(h, collect, all);
    harvest_close(h);
    return st;
}

static void fill(struct harvest *h, struct ranges *done)
{
    static const struct trial_range range[] = {{500, 100}, {0, 50}, {60, 40}, {999, 1}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        struct accepted a = {0};
        for (trial_number t = range[i].first; t < range[i].first + range[i].count; t += 1 + i)
            if (i != 1)
                assert_int_equal(
                    accepted_add(&a, &(struct accepted_record){t, 1. / (double)(t + 1), 2, 3, 4}),
                    EK_OK);
        assert_int_equal(ranges_add(done, range[i]), EK_OK);
        assert_int_equal(harvest_put(h, range[i], &a), EK_OK);
    }
}

static void checkpoints_come_back(void **state)
{
    struct job *job = write_job("k_sigma", "2", 10, 0.01);
    struct harvest *h = new_harvest(job);
    struct ranges done = {0}, again = {0};
    struct accepted before = {0}, after = {0};
    char path[256];
    (void)state;
    snprintf(path, sizeof path, "%s", job_file("checkpoint"));
    fill(h, &done);
    assert_int_equal(harvest_each(h, collect, &before), EK_OK);
    assert_int_equal(before.n, 100 + 14 + 1);
    assert_int_equal(snapshot_save(path, 99, &done, 17, h), EK_OK);
    assert_int_equal(load(path, job, 99, &after, &again), EK_OK);
    assert_int_equal(after.n, before.n);
    for (size_t i = 0; i < after.n; i++) {
        assert_true(after.record[i].trial == before.record[i].trial);
        assert_true(after.record[i].misfit == before.record[i].misfit);
        assert_true(after.record[i].rms == before.record[i].rms);
    }
    assert_int_equal(again.n, done.n);
    assert_memory_equal(again.range, done.range, done.n * sizeof *done.range);
    harvest_close(h);
    job_close(job);
    ranges_free(&done);
    ranges_free(&again);
    accepted_free(&before);
    accepted_free(&after);
}

static size_t read_bytes(const char *path, char *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(bytes, 1, room, f);
    fclose(f);
    return n;
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* Every byte changed, every length cut: nothing of it is believed. */
static void damaged_checkpoints_are_refused(void **state)
{
    static char bytes[1 << 16];
    struct job *job = write_job("k_sigma", "2", 10, 0.01);
    struct harvest *h = new_harvest(job);
    struct ranges done = {0};
    char path[256];
    (void)state;
    snprintf(path, sizeof path, "%s", job_file("damaged"));
    fill(h, &done);
    assert_int_equal(snapshot_save(path, 99, &done, 17, h), EK_OK);
    const size_t n = read_bytes(path, bytes, sizeof bytes);
    assert_true(n > 1000 && n < sizeof bytes);
    status_mute(+1);
    for (size_t i = 0; i < 2 * n; i += i < 200 ? 1 : 13) {
        struct ranges again = {0};
        struct accepted all = {0};
        bytes[i % n] ^= 4;
        write_bytes(path, bytes, i < n ? n : i - n);
        bytes[i % n] ^= 4;
        assert_int_equal(load(path, job, 99, &all, &again), EK_USAGE);
        ranges_free(&again);
        accepted_free(&all);
    }
    struct ranges again = {0};
    struct accepted all = {0};
    write_bytes(path, bytes, n);
    assert_int_equal(load(path, job, 98, &all, &again), EK_USAGE);
    assert_non_null(strstr(status_message(), "another job"));
    assert_int_equal(snapshot_save("/nonexistent/file", 99, &done, 17, h), EK_LACK);
    status_mute(-1);
    harvest_close(h);
    job_close(job);
    ranges_free(&done);
}

static uint64_t sum_of(const char *accept, const char *k, double max, double observed)
{
    struct job *job = write_job(accept, k, max, observed);
    const uint64_t sum = job_sum(job);
    job_close(job);
    return sum;
}

/* A checkpoint is of a job with these very numbers. */
static void sums_tell_jobs_apart(void **state)
{
    const uint64_t sum = sum_of("k_sigma", "2", 10, 0.01);
    (void)state;
    assert_true(sum == sum_of("k_sigma", "2", 10, 0.01));
    assert_true(sum != sum_of("k_sigma", "2.5", 10, 0.01));
    assert_true(sum != sum_of("k_sigma", "[1, 2]", 10, 0.01));
    assert_true(sum != sum_of("misfit_below", "2", 10, 0.01));
    assert_true(sum != sum_of("k_sigma", "2", 11, 0.01));
    assert_true(sum != sum_of("k_sigma", "2", 10, 0.0100001));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(job_folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", job_folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_against_a_map),
        cmocka_unit_test(every_task_once),
        cmocka_unit_test(silent_nodes_lose_their_batch),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(workers_die_and_come_back),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(checkpoints_come_back),
        cmocka_unit_test(damaged_checkpoints_are_refused),
        cmocka_unit_test(sums_tell_jobs_apart),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
