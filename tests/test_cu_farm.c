/* tests/test_cu_farm.c – masters and workers: each task counts once, although workers die, freeze,
 * fail and come back, and connections end. */
#include "cu/farm/coordinator.h"
#include "cu/farm/server.h"
#include "cu/farm/transport_lasting.h"
#include "cu/farm/transport_zmq.h"
#include "cu/farm/worker.h"
#include "cu/rank/family.h"
#include "src/process.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const policies[] = {"hrdls", "chunk:size=3", "tss", "wf", "evenkeel"};
enum { POLICIES = sizeof policies / sizeof *policies, TASKS = 500 };

static unsigned long draws = 20261122;

/* Uniform in [low, high). */
static double draw(double low, double high)
{
    draws = draws * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(draws >> 11) * 0x1p-53;
}

/* ---- a source that assigns tasks to nodes itself; nodes out of reach for a while --------------*/

/* A source with two tasks for node 1, and what was given back to it. */
struct script {
    int next, back[8], nback, lost;
    /* the scripted transport: next event, time, and the server's last answer */
    struct transport_event event;
    struct message_ask ask;
    double now;
    uint64_t space;
    int said;
    char text[32];
};

static struct ek_range next_of_script(void *arg, int node)
{
    struct script *s = arg;
    if (node != 1 || s->next == 2)
        return (struct ek_range){0, 0};
    s->next++;
    return (struct ek_range){(size_t)s->next - 1, (size_t)s->next};
}

static void back_to_script(void *arg, int node, struct ek_range task)
{
    struct script *s = arg;
    assert_int_equal(node, 1);
    if (task.end > task.begin)
        s->back[s->nback++] = (int)task.begin;
    else
        s->lost++;
}

static enum ek_status hear_script(void *st, double seconds, struct transport_event *e)
{
    struct script *s = st;
    *e = s->event;
    s->event.kind = TRANSPORT_NOTHING;
    return EK_OK;
}

static enum ek_status say_to_script(void *st, int peer, const void *data, size_t bytes)
{
    struct script *s = st;
    const struct message_answer *a = data;
    s->said = (int)a->kind;
    snprintf(s->text, sizeof s->text, "%s",
             bytes > sizeof *a ? (const char *)data + sizeof *a : "");
    return EK_OK;
}

static double script_now(void *st)
{
    return ((struct script *)st)->now;
}

static const struct transport_ops transport = {"script", say_to_script, hear_script, script_now,
                                               NULL};

static void brief_of_script(void *arg, struct farm_batch *batch)
{
    batch->text = batch->tasks.begin ? "the second" : "the first";
}

/* Rank 1, process `pid`, reports `done` (empty: nothing), which failed unless `failed` is 0,
 * and asks for more. */
static void tell(struct script *s, struct server *server, int pid, struct ek_range done, int failed)
{
    s->ask = (struct message_ask){.version = MESSAGE_VERSION,
                                  .done = done,
                                  .failed = failed,
                                  .questions = 1,
                                  .capacity = {2, 0},
                                  .pid = pid,
                                  .space = s->space};
    s->event = (struct transport_event){TRANSPORT_MESSAGE, 1, &s->ask, sizeof s->ask};
    s->said = -1;
    assert_int_equal(server_serve(server, 0), EK_OK);
}

static void lose_line(struct script *s, struct server *server, double seconds)
{
    s->event = (struct transport_event){.kind = TRANSPORT_LOST, .peer = 1};
    assert_int_equal(server_serve(server, 0), EK_OK);
    s->now += seconds;
    assert_int_equal(server_serve(server, 0), EK_OK);
}

static void nodes_out_of_reach_keep_their_tasks_for_a_while(void **state)
{
    struct script s = {.now = 1};
    const struct farm_source source = {.next = next_of_script, .back = back_to_script, .arg = &s};
    const struct farm_job job = {.source = &source, .n = 2, .failures = 2};
    const struct server_ops ops = {.brief = brief_of_script, .grace = 40};
    struct coordinator *c;
    struct server *server;
    assert_int_equal(coordinator_open(&job, 2, &c), EK_OK);
    assert_int_equal(server_open(&(struct transport){&transport, &s}, 2, 0, &ops, &server), EK_OK);
    server_begin(server, 0, c);
    tell(&s, server, 7, (struct ek_range){0, 0}, 0);
    assert_int_equal(s.said, MESSAGE_BATCH);
    assert_string_equal(s.text, "the first");
    lose_line(&s, server, 39); /* back in time: nothing is lost, and its report counts */
    s.event = (struct transport_event){.kind = TRANSPORT_RENEWED, .peer = 1};
    assert_int_equal(server_serve(server, 0), EK_OK);
    assert_true(server_worker(server, 1).here);
    s.now += 39;
    assert_int_equal(server_serve(server, 0), EK_OK);
    assert_int_equal(s.nback + s.lost, 0);
    tell(&s, server, 7, (struct ek_range){0, 1}, 0);
    assert_string_equal(s.text, "the second");
    tell(&s, server, 7, (struct ek_range){1, 2}, 9); /* fails and must be repeated */
    assert_true(s.nback == 1 && s.back[0] == 1 && !s.lost);
    s.next = 1;
    tell(&s, server, 7, (struct ek_range){0, 0}, 0);
    lose_line(&s, server, 41); /* too late: its task is given back, and it will be told so */
    assert_true(s.nback == 2 && s.back[1] == 1 && s.lost == 1);
    tell(&s, server, 7, (struct ek_range){1, 2}, 0);
    assert_int_equal(s.said, MESSAGE_RETIRED);
    assert_false(coordinator_over(c));
    server_close(server);
    coordinator_close(c);
}

/* If the launcher says that the process has ended, nobody waits for it. */
static void nodes_that_have_ended_are_lost_at_once(void **state)
{
    for (int first = 0; first < 2; first++) { /* 1: the launcher is first to tell */
        struct script s = {.now = 1};
        const struct farm_source source = {
            .next = next_of_script, .back = back_to_script, .arg = &s};
        const struct farm_job job = {.source = &source, .n = 2};
        const struct server_ops ops = {.grace = 40};
        struct coordinator *c;
        struct server *server;
        assert_int_equal(coordinator_open(&job, 2, &c), EK_OK);
        assert_int_equal(server_open(&(struct transport){&transport, &s}, 2, 0, &ops, &server),
                         EK_OK);
        server_begin(server, 0, c);
        tell(&s, server, 7, (struct ek_range){0, 0}, 0);
        if (first)
            server_ended(server, 1);
        assert_int_equal(s.lost, 0);
        lose_line(&s, server, 0.1);
        if (!first)
            server_ended(server, 1);
        assert_true(s.lost == 1 && s.nback == 1);
        server_close(server);
        coordinator_close(c);
    }
}

/* A node may be given up while others still start: the run that begins then knows of it. */
static void nodes_given_up_before_the_run_are_lost(void **state)
{
    struct script s = {.now = 1};
    const struct farm_source source = {.next = next_of_script, .back = back_to_script, .arg = &s};
    const struct farm_job job = {.source = &source, .n = 2};
    const struct server_ops ops = {.grace = 40};
    struct coordinator *c;
    struct server *server;
    assert_int_equal(server_open(&(struct transport){&transport, &s}, 2, 0, &ops, &server), EK_OK);
    tell(&s, server, 7, (struct ek_range){0, 0}, 0);
    lose_line(&s, server, 41);
    assert_int_equal(coordinator_open(&job, 2, &c), EK_OK);
    server_begin(server, 0, c);
    assert_int_equal(s.lost, 1);
    server_close(server);
    coordinator_close(c);
}

/* A frozen worker is killed, but not the process that has its number here if it lives on another
 * node or in another container. */
static void only_frozen_workers_of_here_are_ended(void **state)
{
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        struct script s = {.now = 1, .space = process_space() ^ (uint64_t)elsewhere};
        const struct server_ops ops = {.grace = 40};
        struct server *server;
        int end;
        assert_int_equal(server_open(&(struct transport){&transport, &s}, 2, 0, &ops, &server),
                         EK_OK);
        const pid_t pid = fork();
        if (!pid)
            _exit(raise(SIGSTOP));
        assert_int_equal(waitpid(pid, &end, WUNTRACED), pid);
        tell(&s, server, pid, (struct ek_range){0, 0}, 0);
        server_end_frozen(server);
        kill(pid, SIGCONT);
        assert_int_equal(waitpid(pid, &end, 0), pid);
        assert_int_equal(WIFSIGNALED(end), !elsewhere);
        server_close(server);
    }
}

/* A worker of another job gets no tasks, however many it asks for. */
static void workers_of_another_job_get_no_task(void **state)
{
    struct script s = {.now = 1};
    const struct farm_source source = {.next = next_of_script, .back = back_to_script, .arg = &s};
    const struct farm_job job = {.source = &source, .n = 2};
    const struct server_ops ops = {.grace = 40};
    struct coordinator *c;
    struct server *server;
    assert_int_equal(coordinator_open(&job, 2, &c), EK_OK);
    assert_int_equal(server_open(&(struct transport){&transport, &s}, 2, 1, &ops, &server), EK_OK);
    server_begin(server, 0, c);
    s.ask = (struct message_ask){.version = MESSAGE_VERSION, .questions = 3, .capacity = {3, 0}};
    s.event = (struct transport_event){TRANSPORT_MESSAGE, 1, &s.ask, sizeof s.ask};
    assert_int_equal(server_serve(server, 0), EK_OK);
    assert_int_equal(s.said, MESSAGE_REFUSED);
    assert_int_equal(s.next, 0);
    assert_false(server_worker(server, 1).here);
    server_close(server);
    coordinator_close(c);
}

/* ---- connections that end and come back -------------------------------------------------------*/

/* A connection between rank 0 (end 0) and a worker (end 1), and what is on its way from each. */
enum { ON_WAY = 200, LETTERS = 100 };
struct wire {
    char text[2][ON_WAY][64];
    size_t bytes[2][ON_WAY];
    int n[2];
    bool cut[2]; /* the end has yet to be told */
};
struct wire_end {
    struct wire *wire;
    int end;
};

static enum ek_status send_on_wire(void *st, int peer, const void *data, size_t bytes)
{
    const struct wire_end *e = st;
    const int i = e->wire->n[e->end];
    assert_int_equal(peer, e->end == 0);
    if (i == ON_WAY || (e->end == 0 && (e->wire->cut[0] || e->wire->cut[1])))
        return EK_LOST;
    memcpy(e->wire->text[e->end][i], data, bytes);
    e->wire->bytes[e->end][i] = bytes;
    e->wire->n[e->end]++;
    return EK_OK;
}

/* Loses messages i … j-1 of those from one end. */
static void lose_some(struct wire *w, int from, int i, int j)
{
    memmove(w->text[from][i], w->text[from][j], (size_t)(w->n[from] - j) * sizeof w->text[0][0]);
    memmove(&w->bytes[from][i], &w->bytes[from][j],
            (size_t)(w->n[from] - j) * sizeof w->bytes[0][0]);
    w->n[from] -= j - i;
}

static enum ek_status receive_from_wire(void *st, double seconds, struct transport_event *event)
{
    static char text[64];
    const struct wire_end *e = st;
    struct wire *w = e->wire;
    const int from = !e->end;
    *event = (struct transport_event){TRANSPORT_NOTHING, from, text, 0};
    if (w->cut[e->end]) {
        event->kind = e->end ? TRANSPORT_RENEWED : TRANSPORT_LOST;
        w->cut[e->end] = false;
    } else if (w->n[from]) {
        event->kind = TRANSPORT_MESSAGE;
        event->bytes = w->bytes[from][0];
        memcpy(text, w->text[from][0], event->bytes);
        lose_some(w, from, 0, 1);
    }
    return EK_OK;
}

static void hang_up(void *st)
{
}

/* Of the worker's messages those are lost that were under way, of rank 0's also those behind, and
 * all until the worker has called again, though rank 0 may still hear what it said before. */
static void cut_wire(struct wire *w)
{
    const int i = (int)draw(0, w->n[1] + 1), j = i + (int)draw(0, w->n[1] + 1 - i);
    lose_some(w, 1, i, j);
    lose_some(w, 0, (int)draw(0, w->n[0] + 1), w->n[0]);
    w->cut[0] = w->cut[1] = true;
}

/* One exchange, to its end; the number of times that rank 0 heard that it goes on. */
static int exchange_letters(void)
{
    static const struct transport_ops below = {"wire", send_on_wire, receive_from_wire, script_now,
                                               hang_up};
    struct wire wire = {.n = {0, 0}};
    struct wire_end end[2] = {{&wire, 0}, {&wire, 1}};
    struct transport t[2] = {{&below, &end[0]}, {&below, &end[1]}};
    static const int most[2] = {LETTERS, LETTERS / 2}; /* the worker falls silent before rank 0 */
    int sent[2] = {0, 0}, heard[2] = {0, 0}, renewed = 0;
    for (int e = 0; e < 2; e++)
        assert_int_equal(transport_lasting_open(&t[e], 2), EK_OK);
    for (int turn = 0; heard[0] < most[1] || heard[1] < most[0]; turn++) {
        const int e = draw(0, 1) < 0.5;
        struct transport_event event;
        assert_true(turn < 100 * LETTERS);
        if (draw(0, 1) < 0.02 && !wire.cut[0] && !wire.cut[1] && turn < 3 * LETTERS)
            cut_wire(&wire);
        if (sent[e] < most[e] && draw(0, 1) < 0.4) {
            sent[e]++;
            assert_int_equal(t[e].ops->send(t[e].st, !e, &sent[e], sizeof sent[e]), EK_OK);
        }
        assert_int_equal(t[e].ops->receive(t[e].st, 0, &event), EK_OK);
        renewed += event.kind == TRANSPORT_RENEWED;
        assert_true(event.kind != TRANSPORT_RENEWED || e == 0);
        if (event.kind != TRANSPORT_MESSAGE)
            continue;
        assert_int_equal(event.bytes, sizeof(int));
        heard[e]++;
        assert_memory_equal(event.data, &heard[e], sizeof heard[e]);
    }
    for (int e = 0; e < 2; e++)
        t[e].ops->close(t[e].st);
    return renewed;
}

static void messages_outlast_connections(void **state)
{
    int renewed = 0;
    for (int run = 0; run < 100; run++)
        renewed += exchange_letters();
    assert_true(renewed > 0);
}

/* ---- over ZeroMQ ------------------------------------------------------------------------------*/

enum { RANKS = 4, DEATHS = 3 };

struct world {
    struct family family[RANKS];
    atomic_int count[TASKS];
};

static enum ek_status count_batch(void *arg, int rank, const struct farm_batch *b, int failed,
                                  const void *result, size_t bytes)
{
    struct world *w = arg;
    const uint64_t *task = result;
    assert_false(failed);
    assert_int_equal(bytes, (b->tasks.end - b->tasks.begin) * sizeof *task);
    for (size_t t = b->tasks.begin; t < b->tasks.end; t++) {
        assert_int_equal(task[t - b->tasks.begin], t);
        w->count[t]++;
    }
    return EK_OK;
}

static void listen_here(struct world *w)
{
    struct family rank_0 = {.size = RANKS};
    assert_int_equal(family_listen(&rank_0), EK_OK);
    for (int r = 0; r < RANKS; r++) {
        w->family[r] = rank_0;
        w->family[r].rank = r;
        if (r)
            strcpy(w->family[r].secret, "-");
    }
}

static bool connect_worker(const struct family *family, struct worker *w)
{
    bool gone = false;
    *w = (struct worker){.job = 42, .capacity = {1, 1}};
    assert_int_equal(transport_zmq_open(family, &w->transport, &gone), EK_OK);
    return !gone;
}

/* Computes batches, but leaves without a report for the last of `most`; false: the run is over, or
 * rank 0 is gone. */
static bool work_a_while(struct worker *w, int most)
{
    for (int batches = 0; batches < most;) {
        struct farm_batch b;
        uint64_t result[TASKS];
        if (worker_hear(w, 0.05, &b) || (w->over && b.tasks.end == b.tasks.begin))
            return false;
        for (size_t t = b.tasks.begin; t < b.tasks.end; t++)
            result[t - b.tasks.begin] = t;
        batches += b.tasks.end > b.tasks.begin;
        if (b.tasks.end > b.tasks.begin && batches < most &&
            worker_report(w, b.tasks, 0, result, (b.tasks.end - b.tasks.begin) * sizeof *result))
            return false;
    }
    return true;
}

/* Dies DEATHS times without reporting its last batch. */
static void *work(void *arg)
{
    bool goes_on = true;
    for (int life = 0; life <= DEATHS && goes_on; life++) {
        struct worker w;
        goes_on = connect_worker(arg, &w);
        if (!goes_on)
            break;
        worker_begin(&w, 0);
        goes_on = work_a_while(&w, life == DEATHS ? 1 << 30 : 5);
        w.transport.ops->close(w.transport.st);
    }
    return NULL;
}

static void serve_until_done(struct world *w, const struct transport *t, const char *policy)
{
    const struct farm_job job = {.schedule = policy, .n = TASKS};
    const struct server_ops ops = {.take = count_batch, .arg = w};
    struct server *s;
    struct coordinator *c;
    assert_int_equal(server_open(t, RANKS, 42, &ops, &s), EK_OK);
    assert_int_equal(coordinator_open(&job, RANKS, &c), EK_OK);
    server_begin(s, 0, c);
    while (!coordinator_over(c))
        assert_int_equal(server_serve(s, 0.02), EK_OK);
    server_begin(s, 1, NULL);
    for (int k = 0; k < 50; k++)
        assert_int_equal(server_serve(s, 0.002), EK_OK);
    coordinator_close(c);
    server_close(s);
}

static void workers_die_and_come_back(void **state)
{
    for (int p = 0; p < POLICIES; p++) {
        static struct world w;
        struct transport t;
        pthread_t thread[RANKS];
        bool gone = false;
        memset(&w, 0, sizeof w);
        listen_here(&w);
        assert_int_equal(transport_zmq_open(&w.family[0], &t, &gone), EK_OK);
        for (int r = 1; r < RANKS; r++)
            assert_int_equal(pthread_create(&thread[r], NULL, work, &w.family[r]), 0);
        serve_until_done(&w, &t, policies[p]);
        t.ops->close(t.st);
        for (int r = 1; r < RANKS; r++)
            pthread_join(thread[r], NULL);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(w.count[i], 1);
    }
}

/* Waits up to `seconds` for an event. */
static enum transport_event_kind hear(const struct transport *t, double seconds, int *peer)
{
    struct transport_event e;
    assert_int_equal(t->ops->receive(t->st, seconds, &e), EK_OK);
    *peer = e.peer;
    return e.kind;
}

/* Forks a process that sends a message and waits. */
static pid_t start_process(const struct family *family)
{
    const pid_t pid = fork();
    if (pid)
        return pid;
    struct transport t;
    bool gone = false;
    if (transport_zmq_open(family, &t, &gone) || gone || t.ops->send(t.st, 0, "here", 4))
        _exit(1);
    for (;;) {
        struct transport_event e;
        if (t.ops->receive(t.st, 1, &e))
            _exit(1);
        if (e.kind == TRANSPORT_RENEWED)
            t.ops->send(t.st, 0, "again", 5);
    }
}

/* A killed process is missed at once, a stopped one soon; it is heard again when it continues. */
static void dead_and_frozen_processes_are_missed(void **state)
{
    static struct world w;
    struct transport t;
    bool gone = false;
    int peer;
    listen_here(&w);
    const pid_t first = start_process(&w.family[1]), two = start_process(&w.family[2]);
    assert_int_equal(transport_zmq_open(&w.family[0], &t, &gone), EK_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(hear(&t, 20, &peer), TRANSPORT_MESSAGE);
    kill(first, SIGKILL);
    assert_int_equal(hear(&t, 20, &peer), TRANSPORT_LOST);
    assert_int_equal(peer, 1);
    kill(two, SIGSTOP);
    assert_int_equal(hear(&t, 20, &peer), TRANSPORT_LOST);
    assert_int_equal(peer, 2);
    for (int i = 0; t.ops->send(t.st, 2, "lost", 4) != EK_LOST; i++) {
        assert_true(i < 1000);
        usleep(1000);
    }
    kill(two, SIGCONT);
    assert_int_equal(hear(&t, 20, &peer), TRANSPORT_MESSAGE);
    assert_int_equal(peer, 2);
    kill(two, SIGKILL);
    t.ops->close(t.st);
    waitpid(first, NULL, 0);
    waitpid(two, NULL, 0);
}

/* A process that dies while rank 0 does not listen: what it had still said comes first, and then
 * that it is lost, so that nobody takes it for one that is there. */
static void last_words_come_before_the_loss(void **state)
{
    static struct world w;
    struct transport t, of_child;
    bool gone = false;
    int peer;
    listen_here(&w);
    const pid_t pid = fork();
    if (!pid) {
        if (transport_zmq_open(&w.family[1], &of_child, &gone) || gone)
            _exit(1);
        for (int i = 0; i < 3; i++)
            of_child.ops->send(of_child.st, 0, "here", 4);
        sleep(1); /* they are sent by a thread of the library */
        raise(SIGKILL);
    }
    assert_int_equal(transport_zmq_open(&w.family[0], &t, &gone), EK_OK);
    assert_int_equal(hear(&t, 20, &peer), TRANSPORT_MESSAGE);
    waitpid(pid, NULL, 0);
    usleep(200000);
    for (int i = 1; i < 3; i++)
        assert_int_equal(hear(&t, 20, &peer), TRANSPORT_MESSAGE);
    assert_int_equal(hear(&t, 20, &peer), TRANSPORT_LOST);
    assert_int_equal(peer, 1);
    assert_int_equal(hear(&t, 0.1, &peer), TRANSPORT_NOTHING);
    t.ops->close(t.st);
}

/* A process without the run's key is not heard, and a worker finds nobody if rank 0 is not
 * there. */
static void strangers_are_refused(void **state)
{
    static struct world w, other;
    struct transport t, stranger;
    bool gone = false;
    int peer;
    listen_here(&w);
    listen_here(&other);
    assert_int_equal(transport_zmq_open(&w.family[0], &t, &gone), EK_OK);
    memcpy(w.family[1].key, other.family[1].key, FAMILY_KEY);
    const pid_t pid = start_process(&w.family[1]);
    assert_int_equal(hear(&t, 1, &peer), TRANSPORT_NOTHING);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    t.ops->close(t.st);
    close(other.family[0].listens);
    assert_int_equal(transport_zmq_open(&other.family[1], &stranger, &gone), EK_OK);
    assert_true(gone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_out_of_reach_keep_their_tasks_for_a_while),
        cmocka_unit_test(nodes_that_have_ended_are_lost_at_once),
        cmocka_unit_test(nodes_given_up_before_the_run_are_lost),
        cmocka_unit_test(only_frozen_workers_of_here_are_ended),
        cmocka_unit_test(workers_of_another_job_get_no_task),
        cmocka_unit_test(messages_outlast_connections),
        cmocka_unit_test(dead_and_frozen_processes_are_missed),
        cmocka_unit_test(last_words_come_before_the_loss),
        cmocka_unit_test(workers_die_and_come_back),
        cmocka_unit_test(strangers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
