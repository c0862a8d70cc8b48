/* tests/test_cu_team.c – the step loop: it calls the verbs as promised, follows homes, counts
 * everything, and passes on interruptions and failures. The units are made up: two CPU groups and a
 * device. */
#include "cu/team/task_history.h"
#include "cu/rank/stop.h"
#include "cu/team/team_internal.h"
#include "cu/team/thread_pool.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

enum { TASKS = 40, UNITS = 3, STEPS = 5 };

struct board {
    int memory[TASKS];   /* memory node where the data really is */
    int told[TASKS];     /* where the team says it is */
    int computed[TASKS]; /* number of times */
    int phases[2][UNITS];
    size_t largest_batch[UNITS];
    int tasks;   /* number of tasks; 0: TASKS */
    int fail_at; /* number of the computation that fails; 0: none */
    int stop_at; /* number of the computation that requests a stop */
    int saved;   /* last saved step */
    int count;
};

static struct cu units[UNITS] = {
    {.index = 0, .kind = CU_CPU, .width = 1, .memory = 0, .name = "cpu0"},
    {.index = 1, .kind = CU_CPU, .width = 1, .memory = 0, .name = "cpu1"},
    {.index = 2, .kind = CU_DEVICE, .width = 1, .memory = 1, .name = "fake:0"},
};
static struct cu_set set = {.layout = {2, 1, 1, 1}, .n = UNITS, .nmemories = 2, .cu = units};

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct board *b = ctx;
    size_t batch = r.end - r.begin;
    if (batch > b->largest_batch[cu->index])
        b->largest_batch[cu->index] = batch;
    for (size_t t = r.begin; t < r.end; t++) {
        assert_int_equal(b->memory[t], cu->memory);
        b->computed[t]++;
        seconds[t - r.begin] += 1e-3;
        int count = __atomic_add_fetch(&b->count, 1, __ATOMIC_RELAXED);
        if (count == b->fail_at)
            FAIL(EK_UNVERIFIED, "made to fail");
        if (count == b->stop_at)
            stop_request();
    }
    return EK_OK;
}

static enum ek_status compute_anywhere(void *ctx, const struct cu *cu, struct ek_range r,
                                       double *seconds)
{
    for (size_t t = r.begin; t < r.end; t++)
        seconds[t - r.begin] += 1e-3;
    __atomic_add_fetch(&((struct board *)ctx)->count, (int)(r.end - r.begin), __ATOMIC_RELAXED);
    return EK_OK;
}

static enum ek_status move(void *ctx, size_t task, int from, int to, size_t *bytes)
{
    struct board *b = ctx;
    assert_int_equal(b->memory[task], from);
    b->memory[task] = to;
    *bytes += 1000;
    return EK_OK;
}

static enum ek_status exchange(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes)
{
    struct board *b = ctx;
    assert_true(share.parts ? share.part < share.parts : cu->kind == CU_DEVICE);
    b->phases[phase][cu->index]++;
    for (int t = 0; t < (b->tasks ? b->tasks : TASKS); t++)
        assert_int_equal(b->told[t], b->memory[t]);
    *bytes += 1;
    return EK_OK;
}

static int exchange_phases(const void *ctx)
{
    return 2;
}

static enum ek_status set_placement(void *ctx, const int *home)
{
    struct board *b = ctx;
    memcpy(b->told, home, (size_t)(b->tasks ? b->tasks : TASKS) * sizeof *b->told);
    return EK_OK;
}

static enum ek_status restore(void *ctx)
{
    struct board *b = ctx;
    memset(b->memory, 0, sizeof b->memory);
    return EK_OK;
}

static const struct team_ops verbs = {.compute = compute,
                                      .restore = restore,
                                      .set_placement = set_placement,
                                      .move = move,
                                      .exchange = exchange,
                                      .exchange_phases = exchange_phases,
                                      .cpu_batch = 3};
static const struct sched_job job = {.n = TASKS};

static struct team *open_team(struct board *b, const char *schedule)
{
    struct team *t;
    assert_int_equal(team_open(&set, &job, &verbs, b, schedule, &t), EK_OK);
    return t;
}

static void every_policy_counts_alike(void **state)
{
    for (int p = 0; p < sched_count(); p++) {
        struct board b = {0};
        struct team *t = open_team(&b, sched_at(p)->name);
        assert_int_equal(team_run(t, STEPS), EK_OK);
        const struct team_result *r = team_result(t);
        assert_int_equal(r->steps, STEPS);
        size_t tasks = 0;
        for (int c = 0; c < UNITS; c++) {
            tasks += team_unit_tasks(t, c);
            assert_int_equal(b.phases[0][c], STEPS);
            assert_int_equal(b.phases[1][c], STEPS);
            assert_true(fabs(team_unit_spent(t, c).computing -
                             1e-3 * (double)team_unit_tasks(t, c)) < 1e-9);
        }
        assert_int_equal(tasks, TASKS * STEPS);
        assert_int_equal(r->bytes_moved, 1000 * r->migrations + 2 * UNITS * STEPS);
        assert_true(b.largest_batch[0] <= 3 && b.largest_batch[1] <= 3);
        for (size_t i = 0; i < TASKS; i++) {
            assert_int_equal(b.computed[i], STEPS);
            double cpu = team_task_seconds(t, i, CU_CPU), dev = team_task_seconds(t, i, CU_DEVICE);
            assert_true(fabs(cpu - 1e-3) < 1e-9 || fabs(dev - 1e-3) < 1e-9);
        }
        assert_int_equal(team_bring_home(t), EK_OK);
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(b.memory[i], 0);
        team_close(t);
    }
}

static void static_moves_once(void **state)
{
    struct board b = {0};
    struct team *t = open_team(&b, "static");
    assert_int_equal(team_run(t, STEPS), EK_OK);
    assert_int_equal(team_result(t)->migrations, team_unit_tasks(t, 2) / STEPS);
    assert_int_equal(b.largest_batch[2], team_unit_tasks(t, 2) / STEPS); /* devices get all */
    team_close(t);
}

static void failure_is_passed_on(void **state)
{
    struct board b = {.fail_at = 2 * TASKS + 7};
    struct team *t = open_team(&b, "dynamic");
    status_mute(1);
    assert_int_equal(team_run(t, STEPS), EK_UNVERIFIED);
    status_mute(-1);
    assert_int_equal(team_result(t)->steps, 2);
    team_close(t);
}

static void records_events(void **state)
{
    struct board b = {0};
    struct team *t = open_team(&b, "dynamic:chunk=2");
    team_record(t);
    assert_int_equal(team_run(t, 2), EK_OK);
    size_t computed = 0, exchanges = 0;
    for (int c = 0; c < UNITS; c++) {
        const struct events *e = team_events(t, c);
        for (size_t i = 0; i < e->n; i++) {
            const struct events_entry *x = &e->entry[i];
            assert_true(x->start >= 0 && x->seconds >= 0 && x->step < 2);
            exchanges += x->activity == EVENTS_EXCHANGE;
            if (x->activity == EVENTS_COMPUTE)
                computed += x->tasks.end - x->tasks.begin;
        }
    }
    assert_int_equal(computed, 2 * TASKS);
    assert_int_equal(exchanges, 2 * UNITS);
    team_close(t);
}

static enum ek_status finish(void *ctx, const struct team_step *step, bool *last)
{
    struct board *b = ctx;
    assert_int_equal(b->count, step->number * TASKS);
    *last = step->number == 3;
    return EK_OK;
}

static void a_run_may_be_done_early(void **state)
{
    struct team_ops ending = verbs;
    ending.finish = finish;
    struct board b = {0};
    struct team *t;
    assert_int_equal(team_open(&set, &job, &ending, &b, "dynamic", &t), EK_OK);
    assert_int_equal(team_run(t, 100), EK_OK);
    assert_int_equal(team_result(t)->steps, 3);
    team_close(t);
}

/* If tasks have no data of their own, nothing is lost, whichever unit dies. */
static void without_data_no_step_is_repeated(void **state)
{
    struct team_ops bare = verbs;
    bare.move = NULL;
    bare.compute = compute_anywhere;
    bare.exchange = NULL;
    bare.restore = NULL;
    for (int unit = 0; unit < UNITS; unit++) {
        char fault[32];
        snprintf(fault, sizeof fault, "unit:%d@step:4", unit);
        setenv("CU_FAULT", fault, 1);
        struct board b = {0};
        struct team *t;
        assert_int_equal(team_open(&set, &job, &bare, &b, "dynamic", &t), EK_OK);
        assert_int_equal(team_run(t, 6), EK_OK);
        assert_int_equal(team_result(t)->retired, 1);
        assert_int_equal(team_result(t)->repeated, 0);
        assert_int_equal(b.count, 6 * TASKS);
        team_close(t);
    }
    unsetenv("CU_FAULT");
}

/* When a CPU unit dies, its data survives; a lost device loses its data, so the run starts
 * again. */
static void survives_lost_units(void **state)
{
    for (int p = 0; p < sched_count(); p++)
        for (int unit = 0; unit < UNITS; unit++) {
            char fault[32];
            snprintf(fault, sizeof fault, "unit:%d@step:4", unit);
            setenv("CU_FAULT", fault, 1);
            struct board b = {0};
            struct team *t = open_team(&b, sched_at(p)->name);
            assert_int_equal(team_run(t, 6), EK_OK);
            const struct team_result *r = team_result(t);
            assert_int_equal(r->steps, 6);
            assert_int_equal(r->retired, 1);
            assert_int_equal(r->repeated, unit == 2 ? 3 : 0);
            for (int i = 0; i < TASKS; i++) {
                assert_true(b.computed[i] >= 6);
                assert_true(b.memory[i] != 1 || unit != 2);
            }
            team_close(t);
        }
    unsetenv("CU_FAULT");
}

enum { FEEDERS = 3 };

static void tally(void *arg, int part)
{
    ((int *)arg)[part]++; /* not atomic: each part has its own thread */
}

/* Only units with several threads have a pool, which works alike for devices and for cores. */
static enum ek_status compute_fed(void *ctx, const struct cu *cu, struct ek_range r,
                                  double *seconds)
{
    int times[FEEDERS] = {0};
    assert_int_equal(cu->pool != NULL, cu->width > 1);
    thread_pool_run(cu->pool, cu->width, tally, times);
    for (int t = 0; t < FEEDERS; t++)
        assert_int_equal(times[t], t < cu->width);
    return compute_anywhere(ctx, cu, r, seconds);
}

/* A device fed by several threads is still a single unit; its threads end when it is lost. */
static void several_threads_feed_a_device(void **state)
{
    struct team_ops bare = verbs;
    bare.move = NULL;
    bare.compute = compute_fed;
    bare.exchange = NULL;
    bare.restore = NULL;
    omp_set_max_active_levels(2);
    units[2].width = set.layout.feeders = FEEDERS;
    for (int lost = 0; lost < 2; lost++)
        for (int p = 0; p < sched_count(); p++) {
            struct board b = {0};
            struct team *t;
            setenv("CU_FAULT", lost ? "unit:2@step:4" : "", 1);
            assert_int_equal(team_open(&set, &job, &bare, &b, sched_at(p)->name, &t), EK_OK);
            assert_int_equal(t->view[2].width, 1); /* what policies, which count cores, see */
            assert_int_equal(team_run(t, 6), EK_OK);
            assert_int_equal(team_result(t)->retired, lost);
            assert_int_equal(b.count, 6 * TASKS);
            assert_null(units[2].pool);
            team_close(t);
        }
    units[2].width = set.layout.feeders = 1;
    unsetenv("CU_FAULT");
}

enum { KEPT = 25, LEFT_OUT = 5, TAKEN = 6 };

/* After the third step the first five and the last ten tasks are gone, and six new ones have
 * come. */
static enum ek_status repartition(void *ctx, const struct team_step *step,
                                  const struct sched_job **other, const int **was)
{
    static const struct sched_job fewer = {.n = KEPT + TAKEN};
    static int before[KEPT + TAKEN];
    struct board *b = ctx;
    const int n = b->tasks ? b->tasks : TASKS;
    for (int t = 0; t < n; t++)
        assert_true(fabs(step->seconds[t] - 1e-3) < 1e-9);
    assert_true(step->longest > 1e-3 * n / UNITS - 1e-9);
    if (step->number != 3)
        return EK_OK;
    b->tasks = KEPT + TAKEN;
    for (int t = 0; t < KEPT + TAKEN; t++) {
        before[t] = t < KEPT ? t + LEFT_OUT : -1;
        b->memory[t] = t < KEPT ? b->memory[t + LEFT_OUT] : 0;
    }
    memset(b->computed, 0, sizeof b->computed);
    *other = &fewer;
    *was = before;
    return EK_OK;
}

/* When tasks change, homes follow them, policies go on with the new tasks, and lost units stay
 * lost. */
static void tasks_come_and_go(void **state)
{
    struct team_ops changing = verbs;
    changing.repartition = repartition;
    for (int p = 0; p < sched_count(); p++)
        for (int lost = 0; lost < 2; lost++) {
            struct board b = {0};
            struct team *t;
            setenv("CU_FAULT", lost ? "unit:1@step:2" : "", 1);
            assert_int_equal(team_open(&set, &job, &changing, &b, sched_at(p)->name, &t), EK_OK);
            assert_int_equal(team_run(t, 3), EK_OK);
            const size_t before = team_unit_tasks(t, 1);
            assert_int_equal(team_run(t, 4), EK_OK);
            assert_int_equal(team_result(t)->steps, 7);
            for (int i = 0; i < TASKS; i++)
                assert_int_equal(b.computed[i], i < KEPT + TAKEN ? 4 : 0);
            assert_true(!lost || team_unit_tasks(t, 1) == before);
            assert_true(isnan(team_task_seconds(t, KEPT + TAKEN, CU_CPU)));
            assert_int_equal(team_bring_home(t), EK_OK);
            for (int i = 0; i < KEPT + TAKEN; i++)
                assert_int_equal(b.memory[i], 0);
            team_close(t);
        }
    unsetenv("CU_FAULT");
}

static void known_times_follow_their_tasks(void **state)
{
    const double cost[] = {2, 1, 10};
    const struct sched_job other = {.n = 3, .cost = cost};
    const int was[] = {1, -1, 0};
    struct task_history b;
    assert_int_equal(task_history_open(&b, &(struct sched_job){.n = 2}), EK_OK);
    b.home[1] = 1;
    b.seconds[0] = 30;
    b.seconds[1] = 6;
    assert_true(task_history_note(&b, (struct ek_range){0, 2}, CU_CPU) == 36);
    assert_int_equal(task_history_renumber(&b, &other, was), EK_OK);
    assert_int_equal(b.n, 3);
    assert_int_equal(b.home[0], 1);
    assert_int_equal(b.home[1], 0);
    const double want[] = {6, 3, 30}; /* the new task by cost: 36 s for a cost of 12 */
    for (int t = 0; t < 3; t++)
        assert_true(b.known[CU_CPU][t] == want[t]);
    assert_null(b.known[CU_DEVICE]);
    task_history_close(&b);
}

/* A task that leaves and returns keeps its least time. Meanwhile that is kept by task number, so
 * that bounds over all ranks include it. */
static void tasks_leave_their_times(void **state)
{
    const int first[] = {7, 4, 9}, then[] = {9, 2}, last[] = {2, 7, 9};
    const int stays[] = {2, -1}, back[] = {1, -1, 0};
    struct sched_job at = {.n = 3, .all = 10, .number = first};
    struct task_history b;
    assert_int_equal(task_history_open(&b, &at), EK_OK);
    const double took[2][3] = {{3, 5, 4}, {8, 0.5, 6}};
    for (int step = 0; step < 2; step++) {
        memcpy(b.seconds, took[step], sizeof took[step]);
        task_history_note(&b, (struct ek_range){0, 3}, CU_DEVICE);
    }
    at = (struct sched_job){.n = 2, .all = 10, .number = then};
    assert_int_equal(task_history_renumber(&b, &at, stays), EK_OK);
    assert_true(b.sample[0][CU_DEVICE].least == 4 && b.sample[0][CU_DEVICE].count == 2);
    assert_int_equal(b.sample[1][CU_DEVICE].count, 0);
    assert_true(b.past[7][CU_DEVICE].least == 3 && b.past[4][CU_DEVICE].least == 0.5);
    assert_int_equal(b.past[9][CU_DEVICE].count, 0);
    at = (struct sched_job){.n = 3, .all = 10, .number = last};
    assert_int_equal(task_history_renumber(&b, &at, back), EK_OK);
    assert_true(b.sample[1][CU_DEVICE].least == 3 && b.sample[2][CU_DEVICE].least == 4);
    assert_int_equal(b.past[7][CU_DEVICE].count, 0);
    assert_int_equal(b.past[4][CU_DEVICE].count, 2);
    task_history_close(&b);
}

/* Among the last tests, because a request to stop stays for the life of the process. */
static void stop_keeps_finished_steps(void **state)
{
    struct board b = {.stop_at = 3 * TASKS + 5};
    struct team *t = open_team(&b, "dynamic");
    assert_int_equal(team_run(t, 100), EK_STOPPED);
    assert_int_equal(team_result(t)->steps, 3);
    assert_true(stop_requested());
    team_close(t);
}

static enum ek_status save(void *ctx, int step)
{
    ((struct board *)ctx)->saved = step;
    return EK_OK;
}

/* After a request to stop, a run that saves its state still finishes and saves the current step. */
static void stop_saves_the_state(void **state)
{
    struct team_ops saving = verbs;
    saving.save = save;
    struct board b = {0};
    struct team *t;
    assert_int_equal(team_open(&set, &job, &saving, &b, "dynamic", &t), EK_OK);
    team_save_every(t, 50);
    assert_int_equal(team_run(t, 100), EK_STOPPED);
    assert_int_equal(team_result(t)->steps, 1);
    assert_int_equal(b.saved, 1);
    assert_int_equal(b.count, TASKS);
    team_close(t);
}

/* ---- units that rest ----------------------------------------------------------------------- */
enum { SLEEPS = 2002 };

/* The sleeper has three tasks in every seventh step and the next one; another unit has all others.
 * One is the first core, one the device; the second core has nothing to do. */
struct sleeper {
    int step;
    bool taken[UNITS];
};

static int sleeper_unit;

static bool has_tasks(const struct sleeper *s, int cu)
{
    return cu != 1 && (cu != sleeper_unit || s->step % 7 < 2);
}

static enum ek_status sleeper_begin(void *st, const struct sched_job *j)
{
    *(struct sleeper *)st = (struct sleeper){0};
    return EK_OK;
}

static struct ek_range sleeper_next(void *st, int cu)
{
    struct sleeper *s = st;
    const size_t part = has_tasks(s, sleeper_unit) ? 3 : 0;
    /* the third step begins with the second's data; a core may lead in the fourth */
    assert_true(cu != sleeper_unit || s->step % 7 < (cu ? 3 : 4));
    if (s->taken[cu] || !has_tasks(s, cu))
        return (struct ek_range){0, 0};
    s->taken[cu] = true;
    return cu == sleeper_unit ? (struct ek_range){0, part} : (struct ek_range){part, TASKS};
}

static void sleeper_step(void *st)
{
    *(struct sleeper *)st = (struct sleeper){.step = ((struct sleeper *)st)->step + 1};
}

static bool sleeper_rests(void *st, int cu)
{
    return !has_tasks(st, cu);
}

/* Runs SLEEPS steps in two runs, the first of which ends while the sleeper sleeps. */
static void sleep_and_wake(struct board *b)
{
    static const struct sched_ops sleeper = {.name = "sleeper",
                                             .summary = "lets units rest",
                                             .state_size = sizeof(struct sleeper),
                                             .begin = sleeper_begin,
                                             .next = sleeper_next,
                                             .step = sleeper_step,
                                             .rests = sleeper_rests};
    static bool known;
    if (!known)
        assert_int_equal(sched_add(&sleeper), EK_OK);
    known = true;
    struct team *t = open_team(b, "sleeper");
    assert_int_equal(team_run(t, SLEEPS / 2), EK_OK);
    assert_int_equal(team_run(t, SLEEPS / 2), EK_OK);
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(b->computed[i], SLEEPS);
    team_close(t);
}

static void a_device_rests(void **state)
{
    struct board b = {0};
    int awake = 0;
    sleeper_unit = 2;
    sleep_and_wake(&b);
    for (int step = 0; step < SLEEPS; step++)
        awake += step % 7 < 3;
    assert_int_equal(b.phases[1][2], awake);
    for (int c = 0; c < 2; c++) /* cores do not rest while tasks live on the host */
        assert_int_equal(b.phases[1][c], SLEEPS);
}

static void cores_rest(void **state)
{
    struct board b = {0};
    int first = 0, second = 2; /* all take part when a run begins */
    sleeper_unit = 0;
    sleep_and_wake(&b);
    for (int step = 0; step < SLEEPS; step++) {
        first += step % 7 < 4; /* leads when the device begins alone */
        second += step % 7 == 1 || step % 7 == 2;
    }
    assert_int_equal(b.phases[1][0], first);
    assert_int_equal(b.phases[1][1], second);
    assert_int_equal(b.phases[1][2], SLEEPS);
}

/* ---- exchanges that take long -------------------------------------------------------------- */
/* From the fourth step on the device has the second half of the tasks. The policy notes in `heard`
 * what it is told that a face costs. */
struct listener {
    const struct sched_job *job;
    int step;
    bool taken[UNITS];
};

static double heard;

static enum ek_status listener_begin(void *st, const struct sched_job *j)
{
    *(struct listener *)st = (struct listener){.job = j};
    return EK_OK;
}

static struct ek_range listener_next(void *st, int cu)
{
    struct listener *l = st;
    const size_t own = l->step > 2 ? TASKS / 2 : TASKS;
    if (l->taken[cu] || cu == 1 || (cu == 2 && own == TASKS))
        return (struct ek_range){0, 0};
    l->taken[cu] = true;
    return cu ? (struct ek_range){own, TASKS} : (struct ek_range){0, own};
}

static void listener_step(void *st)
{
    const struct listener *l = st;
    heard = l->job->face->latency;
    *(struct listener *)st = (struct listener){.job = l->job, .step = l->step + 1};
}

static const double SLOW = 0.02;

static enum ek_status slow_exchange(void *ctx, const struct cu *cu, int phase,
                                    struct team_share share, size_t *bytes)
{
    const struct board *b = ctx;
    if (cu->index == 0 && phase == 0 && b->told[TASKS - 1])
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * SLOW)}, NULL);
    return exchange(ctx, cu, phase, share, bytes);
}

static void policies_hear_what_faces_cost(void **state)
{
    static const struct sched_ops listener = {.name = "listener",
                                              .summary = "hears what faces cost",
                                              .state_size = sizeof(struct listener),
                                              .begin = listener_begin,
                                              .next = listener_next,
                                              .step = listener_step};
    static const struct sched_link link = {1e-5, 0};
    static size_t first[TASKS + 1], neighbour[TASKS];
    struct sched_job ring = job;
    struct team_ops slow = verbs;
    struct board b = {0};
    struct team *t;
    for (size_t i = 0; i < TASKS; i++) {
        first[i + 1] = i + 1;
        neighbour[i] = (i + 1) % TASKS;
    }
    ring.first = first;
    ring.neighbour = neighbour;
    ring.link = &link;
    slow.exchange = slow_exchange;
    assert_int_equal(sched_add(&listener), EK_OK);
    assert_int_equal(team_open(&set, &ring, &slow, &b, "listener", &t), EK_OK);
    assert_int_equal(team_run(t, 3), EK_OK);
    assert_true(heard == link.latency); /* nothing has crossed yet */
    assert_int_equal(team_run(t, 4), EK_OK);
    assert_true(heard > SLOW / 4); /* two faces cross; an exchange without takes < SLOW / 2 */
    team_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_counts_alike),
        cmocka_unit_test(static_moves_once),
        cmocka_unit_test(failure_is_passed_on),
        cmocka_unit_test(records_events),
        cmocka_unit_test(survives_lost_units),
        cmocka_unit_test(several_threads_feed_a_device),
        cmocka_unit_test(a_run_may_be_done_early),
        cmocka_unit_test(without_data_no_step_is_repeated),
        cmocka_unit_test(tasks_come_and_go),
        cmocka_unit_test(known_times_follow_their_tasks),
        cmocka_unit_test(tasks_leave_their_times),
        cmocka_unit_test(a_device_rests),
        cmocka_unit_test(cores_rest),
        cmocka_unit_test(policies_hear_what_faces_cost),
        cmocka_unit_test(stop_keeps_finished_steps),
        cmocka_unit_test(stop_saves_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
