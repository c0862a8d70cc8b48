/* tests/test_cu_record.c – fits against known numbers, with and without bad measurements, and
 * records of whole runs. */
#include "cu/sched/fit.h"
#include "cu/sim/record.h"
#include "cu/sim/record_fit.h"
#include "tests/plan_case_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static void assert_close(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fabs(b)))
        fail_msg("%.9g is not %.9g within %g", a, b, tolerance);
}

/* ---- fits -------------------------------------------------------------------------------------*/
/* y = 2 + 3 x; a quarter of the points are ten times too high. */
static void far_off_points_do_not_matter(void **state)
{
    struct fit_row row[40];
    double beta[3];
    for (int i = 0; i < 40; i++) {
        double x = i % 10;
        row[i] = (struct fit_row){.x = {1, x, 0}, .y = 2 + 3 * x, .weight = 1};
        if (i % 4 == 1)
            row[i].y *= 10;
    }
    fit_rows(row, 40, 3, FIT_CLOSELY, beta);
    assert_close(beta[0], 2, 1e-6);
    assert_close(beta[1], 3, 1e-6);
    assert_true(beta[2] == 0);
}

static void nothing_is_negative(void **state)
{
    struct fit_row row[20];
    double beta[2];
    for (int i = 0; i < 20; i++)
        row[i] = (struct fit_row){.x = {1, i}, .y = 100 - i, .weight = 1};
    fit_rows(row, 20, 2, FIT_CLOSELY, beta);
    assert_true(beta[1] == 0);
    assert_close(beta[0], 90.5, 0.02);
    fit_rows(row, 0, 2, FIT_CLOSELY, beta);
    assert_true(beta[0] == 0 && beta[1] == 0);
}

static void medians_by_weight(void **state)
{
    struct fit_row row[] = {{.y = 3, .weight = 1}, {.y = 1, .weight = 1}, {.y = 2, .weight = 5}};
    assert_true(fit_median(row, 3) == 2);
    struct fit_row even[] = {{.y = 4, .weight = 1}, {.y = 2, .weight = 1}};
    assert_true(fit_median(even, 2) == 3);
    assert_true(isnan(fit_median(even, 0)));
}

/* ---- records ----------------------------------------------------------------------------------*/
enum { TASKS = 12, SAMPLES = 600 };

static double cost[TASKS], truth[TASKS];
static struct record_sample sample[SAMPLES];

static unsigned random_below(unsigned n)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* Ranges of 1 to `longest` tasks, which take (launch + seconds) * (1 + 0.3 cpus + 0.1 devices). */
static void measure(unsigned longest, double launch)
{
    for (int t = 0; t < TASKS; t++) {
        cost[t] = 1 + t % 5;
        truth[t] = 0.01 * cost[t] * (1 + 0.05 * (t % 3));
    }
    for (int i = 0; i < SAMPLES; i++) {
        struct record_sample *s = &sample[i];
        s->tasks.begin = random_below(TASKS);
        s->tasks.end = s->tasks.begin + 1 + random_below(longest);
        s->tasks.end = s->tasks.end > TASKS ? TASKS : s->tasks.end;
        s->busy[CU_CPU] = random_below(4) / 2.;
        s->busy[CU_DEVICE] = random_below(3) / 2.;
        s->seconds = launch;
        for (size_t t = s->tasks.begin; t < s->tasks.end; t++)
            s->seconds += truth[t];
        s->seconds *= 1 + 0.3 * s->busy[CU_CPU] + 0.1 * s->busy[CU_DEVICE];
    }
}

static void single_tasks(void **state)
{
    double seconds[TASKS];
    struct record_kind kind = {.seconds = seconds};
    measure(1, 0);
    assert_int_equal(record_fit(TASKS, cost, sample, SAMPLES, &kind), EK_OK);
    assert_true(kind.launch == 0);
    assert_close(kind.slowed[CU_CPU], 0.3, 1e-4);
    assert_close(kind.slowed[CU_DEVICE], 0.1, 1e-4);
    for (int t = 0; t < TASKS; t++)
        assert_close(seconds[t], truth[t], 1e-4);
}

/* Every seventh measurement was disturbed. */
static void disturbed(void **state)
{
    double seconds[TASKS];
    struct record_kind kind = {.seconds = seconds};
    measure(1, 0);
    for (int i = 0; i < SAMPLES; i += 7)
        sample[i].seconds *= 3;
    assert_int_equal(record_fit(TASKS, cost, sample, SAMPLES, &kind), EK_OK);
    assert_close(kind.slowed[CU_CPU], 0.3, 0.02);
    assert_close(kind.slowed[CU_DEVICE], 0.1, 0.05);
    for (int t = 0; t < TASKS; t++)
        assert_close(seconds[t], truth[t], 0.01);
}

/* Ranges of several lengths reveal the launch; if all have one task, it counts as part of the
 * task. */
static void ranges_and_launches(void **state)
{
    double seconds[TASKS];
    struct record_kind kind = {.seconds = seconds};
    measure(6, 0.05);
    assert_int_equal(record_fit(TASKS, cost, sample, SAMPLES, &kind), EK_OK);
    assert_close(kind.launch, 0.05, 0.1);
    assert_close(kind.slowed[CU_CPU], 0.3, 0.05);
    for (int t = 0; t < TASKS; t++)
        assert_close(seconds[t], truth[t], 0.1);
    measure(1, 0.05);
    assert_int_equal(record_fit(TASKS, cost, sample, SAMPLES, &kind), EK_OK);
    assert_true(kind.launch == 0);
    for (int t = 0; t < TASKS; t++)
        assert_close(seconds[t], truth[t] + 0.05, 1e-4);
}

/* Tasks that never ran get times from the line through the others; with no samples there is no
 * fit. */
static void tasks_without_a_sample(void **state)
{
    double seconds[TASKS];
    struct record_kind kind = {.seconds = seconds};
    measure(1, 0);
    for (int i = 0; i < SAMPLES; i++) {
        struct ek_range *r = &sample[i].tasks;
        r->begin -= r->begin == 7;
        r->end = r->begin + 1;
        sample[i].seconds = 0.5 + 0.25 * cost[r->begin];
    }
    assert_int_equal(record_fit(TASKS, cost, sample, SAMPLES, &kind), EK_OK);
    assert_close(seconds[7], 0.5 + 0.25 * cost[7], 1e-6);
    assert_int_equal(record_fit(TASKS, cost, sample, 0, &kind), EK_OK);
    assert_true(isnan(seconds[0]));
}

/* ---- whole runs -------------------------------------------------------------------------------*/
enum { UNITS = 3, STEPS = 12, CELLS = 9 };

static struct cu made[UNITS] = {
    {.index = 0, .kind = CU_CPU, .width = 1, .memory = 0, .name = "cpu0"},
    {.index = 1, .kind = CU_CPU, .width = 1, .memory = 0, .name = "cpu1"},
    {.index = 2, .kind = CU_DEVICE, .width = 1, .memory = 1, .name = "fake:0"},
};
static struct cu_set set = {.layout = {2, 1, 1, 1}, .n = UNITS, .nmemories = 2, .cu = made};
static const double weight[CELLS] = {5, 1, 4, 2, 8, 3, 7, 6, 2};
static const double slow_cpu[][2] = {{1, 0.2}}, slow_device[][2] = {{1, 0.05}};
static const struct sim_exchange constant = {{[SIM_FIXED] = 0.5}};
static const struct sim_unit model[UNITS] = {
    {.kind = CU_CPU, .speed = 1, .slowed = {{1, slow_cpu}, {1, slow_device}}},
    {.kind = CU_CPU, .speed = 1, .slowed = {{1, slow_cpu}, {1, slow_device}}},
    {.kind = CU_DEVICE, .memory = 1, .speed = 3, .fixed = 0.5, .slowed = {{1, slow_device}}},
};

struct play {
    struct events unit[UNITS];
    double begin; /* start of the step's computation */
    double end;   /* end of its last task */
    int step;
};

/* A step's exchange, half a second, begins a quarter of a second after the last task of the step
 * before. */
static void hear(void *arg, const struct sim_event *e)
{
    struct play *p = arg;
    if (e->step != p->step) {
        p->step = e->step;
        p->begin = (e->step ? p->end + 0.25 : 0) + 0.5;
        for (int c = 0; c < UNITS; c++)
            events_add(&p->unit[c], (struct events_entry){.start = p->begin - 0.5,
                                                          .seconds = 0.5,
                                                          .step = e->step,
                                                          .activity = EVENTS_EXCHANGE});
    }
    const struct events_entry entry = {.start = p->begin + e->start,
                                       .seconds = e->seconds,
                                       .tasks = {e->task, e->task + 1},
                                       .step = e->step,
                                       .activity = EVENTS_COMPUTE};
    events_add(&p->unit[e->unit], entry);
    p->end = fmax(p->end, entry.start + entry.seconds);
}

static void record_simulated(struct record *r, struct sim_case *c, const char *schedule)
{
    struct play p = {.step = -1};
    struct sim_result result;
    const struct events *unit[UNITS] = {&p.unit[0], &p.unit[1], &p.unit[2]};
    c->on_task = hear;
    c->on_task_arg = &p;
    assert_int_equal(sim_run(c, schedule, NULL, &result), EK_OK);
    c->on_task = NULL;
    assert_int_equal(record_add(r, STEPS, unit), EK_OK);
    for (int u = 0; u < UNITS; u++)
        events_free(&p.unit[u]);
}

/* The case made from a record has the same neighbours' influence, task times, exchanges and
 * pauses. */
static void a_run_comes_back(void **state)
{
    static const char *const schedules[] = {"static", "dynamic", "sorted-greedy", "evenkeel"};
    const struct sched_job job = {.n = CELLS, .grain = 1, .cost = weight};
    struct sim_case c = {.job = job,
                         .unit = model,
                         .ncu = UNITS,
                         .steps = STEPS,
                         .exchange = &constant,
                         .between = 0.25,
                         .cold = true};
    struct record *r;
    assert_int_equal(record_open(&set, &job, &r), EK_OK);
    for (int s = 0; s < 4; s++)
        record_simulated(r, &c, schedules[s]);
    json_t *json = record_case(r, "again", STEPS);
    char *text = json_dumps(json, 0);
    struct plan_case again;
    assert_int_equal(plan_case_text(&again, text), EK_OK);
    assert_int_equal(again.sim.ncu, UNITS);
    assert_true(again.sim.cold);
    for (int s = 0; s < 4; s++) {
        struct sim_result x, y;
        assert_int_equal(sim_run(&c, schedules[s], NULL, &x), EK_OK);
        assert_int_equal(sim_run(&again.sim, schedules[s], NULL, &y), EK_OK);
        assert_close(y.total, x.total, 0.03);
        assert_close(y.communication, x.communication, 1e-6);
    }
    plan_case_close(&again);
    free(text);
    json_decref(json);
    record_close(r);
}

/* Moves of 1000 and 3000 bytes take 2 and 4 s, once 9 s: a latency of 1 s and 1 kB/s. With a unit
 * that never works there is no case, unless its times are known. */
static void links_and_idle_units(void **state)
{
    const double bytes[] = {1000, 3000}, known[] = {7, 8};
    struct sched_unit unit[UNITS] = {{.seconds = NULL}};
    struct sched_job job = {.n = 2, .grain = 1, .bytes = bytes, .unit = unit};
    struct events one = {0}, none = {0};
    const struct events *all[UNITS] = {&none, &none, &one};
    struct record *r;
    for (int step = 0; step < 9; step++)
        for (size_t t = 0; t < 2; t++) {
            if (t == 0)
                events_add(&one, (struct events_entry){.start = 100 * step,
                                                       .seconds = 1,
                                                       .step = step,
                                                       .activity = EVENTS_EXCHANGE});
            double start = 100 * step + 20 * (double)t + 1,
                   sec = step == 4 && t ? 9 : 2 + 2 * (double)t;
            events_add(&one, (struct events_entry){.start = start,
                                                   .seconds = sec,
                                                   .tasks = {t, t + 1},
                                                   .step = step,
                                                   .activity = EVENTS_MOVE});
            events_add(&one, (struct events_entry){.start = start + sec,
                                                   .seconds = 5,
                                                   .tasks = {t, t + 1},
                                                   .step = step,
                                                   .activity = EVENTS_COMPUTE});
        }
    assert_int_equal(record_open(&set, &job, &r), EK_OK);
    assert_int_equal(record_add(r, 9, all), EK_OK);
    json_t *json = record_case(r, "idle", 9);
    assert_true(json_is_null(json));
    json_decref(json);
    for (int c = 0; c < UNITS; c++)
        unit[c].seconds = known;
    json = record_case(r, "idle", 9);
    const json_t *link = json_object_get(json, "link");
    const double raised = (9 * 2 + 8 * 4 + 9) / (9 * 2 + 9 * 4.); /* to fit the mean time */
    assert_close(json_number_of(link, "latency_s"), raised, 1e-3);
    assert_close(1 / json_number_of(link, "bandwidth_Bps"), 1e-3 * raised, 1e-3);
    const json_t *cpu = json_array_get(json_object_get(json, "units"), 0);
    assert_int_equal(json_integer_value(json_object_get(cpu, "count")), 2);
    assert_true(json_number_value(json_array_get(json_object_get(cpu, "seconds"), 1)) == 8);
    assert_false(json_is_true(json_object_get(json, "cold")));
    json_decref(json);
    record_close(r);
    events_free(&one);
}

static void note(struct events *unit, int step, double start, double seconds, struct ek_range tasks,
                 enum events_activity activity)
{
    events_add(unit, (struct events_entry){.start = 100 * step + start,
                                           .seconds = seconds,
                                           .tasks = tasks,
                                           .step = step,
                                           .activity = activity});
}

/* Every second step the CPU takes a task from the device, at several moments of the ten seconds for
 * which it computes the other one: it has it after this share of the rest and two seconds. */
static json_t *record_of_waits(double share)
{
    const double bytes[] = {1, 1};
    const struct sched_job job = {.n = 2, .grain = 1, .bytes = bytes};
    struct events cpu = {0}, device = {0}, none = {0};
    const struct events *all[UNITS] = {&cpu, &none, &device};
    struct record *r;
    for (int step = 0; step < 18; step++) {
        const double at = step / 2., wait = (10 - at) * share + 2;
        const bool both = step % 2 == 0;
        note(&device, step, -1, 1, (struct ek_range){0, 0}, EVENTS_EXCHANGE);
        note(&device, step, 0, 10, (struct ek_range){0, 1 + both}, EVENTS_COMPUTE);
        if (!both) {
            note(&cpu, step, at, wait, (struct ek_range){1, 2}, EVENTS_MOVE);
            note(&cpu, step, at + wait, 3, (struct ek_range){1, 2}, EVENTS_COMPUTE);
        }
    }
    assert_int_equal(record_open(&set, &job, &r), EK_OK);
    assert_int_equal(record_add(r, 18, all), EK_OK);
    json_t *json = record_case(r, "waits", 18), *link = json_object_get(json, "link");
    json_incref(link);
    json_decref(json);
    record_close(r);
    events_free(&cpu);
    events_free(&device);
    return link;
}

/* No move waits for longer than the range lasts. */
static void moves_out_of_a_device_wait(void **state)
{
    json_t *link = record_of_waits(0.5);
    assert_close(json_number_of(link, "waits"), 0.5, 1e-3);
    assert_close(json_number_of(link, "latency_s"), 2, 1e-3);
    json_decref(link);
    link = record_of_waits(1.5);
    assert_close(json_number_of(link, "waits"), 1, 1e-12);
    assert_true(json_number_of(link, "latency_s") > 3);
    json_decref(link);
}

/* A run that went on with another, shorter list of tasks contributes nothing to either. */
static void a_job_described_anew_is_left_out(void **state)
{
    struct sched_job job = {.n = 5, .grain = 1};
    struct events one = {0}, none = {0};
    const struct events *all[UNITS] = {&one, &none, &none};
    struct record *r;
    for (size_t t = 0; t < 5; t++)
        events_add(&one, (struct events_entry){.start = (double)t,
                                               .seconds = 1,
                                               .tasks = {t, t + 1},
                                               .activity = EVENTS_COMPUTE});
    events_add(
        &one,
        (struct events_entry){
            .start = 5, .seconds = 1, .tasks = {0, 1}, .step = 1, .activity = EVENTS_COMPUTE});
    for (job.n = 1; job.n < 7; job.n += 2) {
        assert_int_equal(record_open(&set, &job, &r), EK_OK);
        assert_int_equal(record_add(r, 2, all), EK_OK);
        json_t *json = record_case(r, "two lists", 2);
        assert_true(json_is_null(json));
        json_decref(json);
        record_close(r);
    }
    events_free(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_off_points_do_not_matter),
        cmocka_unit_test(nothing_is_negative),
        cmocka_unit_test(medians_by_weight),
        cmocka_unit_test(single_tasks),
        cmocka_unit_test(disturbed),
        cmocka_unit_test(ranges_and_launches),
        cmocka_unit_test(tasks_without_a_sample),
        cmocka_unit_test(a_run_comes_back),
        cmocka_unit_test(links_and_idle_units),
        cmocka_unit_test(moves_out_of_a_device_wait),
        cmocka_unit_test(a_job_described_anew_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
