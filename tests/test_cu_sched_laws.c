/* tests/test_cu_sched_laws.c – laws that every listed policy must obey: each task exactly once per
 * step, for any number of tasks, grain and units, also if units never ask, ask late, or die while
 * they hold tasks. New policies are found in the list. */
#include "cu/sched/sched.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_TASKS = 1000, MAX_UNITS = 17, STEPS = 12 };

struct load {
    struct sched_job job;
    struct sched_unit unit[MAX_UNITS];
    double cost[MAX_TASKS], bytes[MAX_TASKS], face[2 * MAX_TASKS];
    size_t first[MAX_TASKS + 1], neighbour[2 * MAX_TASKS];
    int times[MAX_TASKS]; /* executions in this step */
    bool silent[MAX_UNITS], dead[MAX_UNITS];
};

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

/* n tasks of uneven cost in a ring, on ncu units of which every third is a device. */
static void make_load(struct load *l, size_t n, int ncu, size_t grain)
{
    memset(l, 0, sizeof *l);
    for (int c = 0; c < ncu; c++) {
        bool device = c % 3 == 2;
        l->unit[c] = (struct sched_unit){
            .kind = device ? CU_DEVICE : CU_CPU, .width = 1, .memory = device ? 1 + c / 3 : 0};
    }
    for (size_t t = 0; t < n; t++) {
        l->cost[t] = 1 + random_below(20);
        l->bytes[t] = 100 * l->cost[t];
        l->first[t] = 2 * t;
        l->neighbour[2 * t] = (t + 1) % n;
        l->neighbour[2 * t + 1] = (t + n - 1) % n;
        l->face[2 * t] = l->face[2 * t + 1] = 10;
    }
    l->first[n] = 2 * n;
    l->job = (struct sched_job){.n = n,
                                .grain = grain,
                                .ncu = ncu,
                                .unit = l->unit,
                                .cost = l->cost,
                                .bytes = l->bytes,
                                .first = l->first,
                                .neighbour = l->neighbour,
                                .face_bytes = l->face};
}

static double seconds(const struct load *l, int cu, struct ek_range r)
{
    double sec = 0;
    for (size_t t = r.begin; t < r.end; t++)
        sec += 1e-3 * l->cost[t] / (l->unit[cu].kind == CU_DEVICE ? 3 : 1);
    return sec;
}

static void execute(struct load *l, struct sched *s, int cu, struct ek_range r)
{
    assert_true(r.end <= l->job.n);
    for (size_t t = r.begin; t < r.end; t++)
        l->times[t]++;
    sched_done(s, cu, r, seconds(l, cu, r), NULL);
}

/* Units ask in random order until none that may ask gets any more. */
static void random_step(struct load *l, struct sched *s)
{
    bool idle[MAX_UNITS] = {false};
    for (int busy = l->job.ncu; busy > 0 || sched_pending(s);) {
        int c = (int)random_below((uint32_t)l->job.ncu);
        if (l->silent[c] || l->dead[c]) {
            busy -= !idle[c];
            idle[c] = true;
            continue;
        }
        struct ek_range r = sched_next(s, c);
        if (r.begin < r.end) {
            execute(l, s, c, r);
        } else if (!idle[c]) {
            idle[c] = true;
            busy--;
        }
    }
}

static void assert_each_once(struct load *l, const char *policy)
{
    for (size_t t = 0; t < l->job.n; t++)
        if (l->times[t] != 1)
            fail_msg("%s: task %zu of %zu on %d units was executed %d times", policy, t, l->job.n,
                     l->job.ncu, l->times[t]);
    memset(l->times, 0, sizeof l->times);
}

static const size_t task_counts[] = {0, 1, 2, 3, 7, 64, 1000};
static const int unit_counts[] = {1, 2, 3, 8, 17};

#define EACH(i, array) (size_t i = 0; i < sizeof(array) / sizeof *(array); i++)

static void each_task_once(void **state)
{
    static struct load l;
    for (int p = 0; p < sched_count(); p++)
        for
            EACH(i, task_counts)
            for
                EACH(j, unit_counts)
            for (size_t grain = 1; grain <= 5; grain += 4) {
                struct sched *s;
                make_load(&l, task_counts[i], unit_counts[j], grain);
                assert_int_equal(sched_open(sched_at(p)->name, &l.job, &s), EK_OK);
                for (int step = 0; step < STEPS; step++) {
                    random_step(&l, s);
                    assert_each_once(&l, sched_at(p)->name);
                    assert_int_equal(sched_step(s), EK_OK);
                }
                sched_close(s);
            }
}

static void same_with_nothing_declared(void **state)
{
    static struct load l;
    for (int p = 0; p < sched_count(); p++) {
        struct sched *s;
        make_load(&l, 100, 5, 1);
        struct sched_job bare = {.n = 100, .ncu = 5, .unit = l.unit};
        assert_int_equal(sched_open(sched_at(p)->name, &bare, &s), EK_OK);
        for (int step = 0; step < STEPS; step++) {
            random_step(&l, s);
            assert_each_once(&l, sched_at(p)->name);
            assert_int_equal(sched_step(s), EK_OK);
        }
        sched_close(s);
    }
}

/* The same with threads that really run at once, one of which is slow. */
static void each_task_once_in_parallel(void **state)
{
    static struct load l;
    for (int p = 0; p < sched_count(); p++) {
        struct sched *s;
        make_load(&l, 1000, 4, 1);
        assert_int_equal(sched_open(sched_at(p)->name, &l.job, &s), EK_OK);
        for (int step = 0; step < STEPS; step++) {
#pragma omp parallel num_threads(4)
            for (struct ek_range r; r = sched_next(s, omp_get_thread_num()), r.begin < r.end;) {
                const int cu = omp_get_thread_num();
                for (size_t t = r.begin; t < r.end; t++)
                    __atomic_add_fetch(&l.times[t], 1, __ATOMIC_RELAXED);
                sched_done(s, cu, r, (cu == step % 4 ? 3 : 1) * seconds(&l, cu, r), NULL);
            }
            assert_each_once(&l, sched_at(p)->name);
            assert_int_equal(sched_step(s), EK_OK);
        }
        sched_close(s);
    }
}

/* A unit that never asks holds up only its own tasks, and others do them once it is retired. */
static void silent_unit(void **state)
{
    static struct load l;
    for (int p = 0; p < sched_count(); p++)
        for (int quiet = 0; quiet < 3; quiet++) {
            struct sched *s;
            make_load(&l, 64, 3, 1);
            l.silent[quiet] = true;
            assert_int_equal(sched_open(sched_at(p)->name, &l.job, &s), EK_OK);
            random_step(&l, s);
            for (size_t t = 0; t < l.job.n; t++)
                assert_true(l.times[t] <= 1);
            l.dead[quiet] = true;
            assert_int_equal(sched_retire(s, quiet, (struct ek_range){0, 0}), EK_OK);
            random_step(&l, s);
            assert_each_once(&l, sched_at(p)->name);
            for (int step = 0; step < 3; step++) {
                assert_int_equal(sched_step(s), EK_OK);
                random_step(&l, s);
                assert_each_once(&l, sched_at(p)->name);
            }
            sched_close(s);
        }
}

/* Units die one after another while they hold tasks; the last one gets in one piece what the last
 * but one held, and cannot be retired. */
static void dying_units(void **state)
{
    static struct load l;
    for (int p = 0; p < sched_count(); p++) {
        struct sched *s;
        make_load(&l, 200, 5, 1);
        assert_int_equal(sched_open(sched_at(p)->name, &l.job, &s), EK_OK);
        for (int victim = 4; victim >= 1; victim--) {
            struct ek_range held = sched_next(s, victim);
            l.dead[victim] = true;
            assert_int_equal(sched_retire(s, victim, held), EK_OK);
            if (victim == 1 && held.begin < held.end) {
                const struct ek_range left = sched_next(s, 0);
                assert_true(left.begin == held.begin && left.end == held.end);
                execute(&l, s, 0, left);
            }
            random_step(&l, s);
            assert_each_once(&l, sched_at(p)->name);
            assert_int_equal(sched_step(s), EK_OK);
        }
        status_mute(1);
        assert_int_equal(sched_retire(s, 0, (struct ek_range){0, 0}), EK_UNAVAILABLE);
        status_mute(-1);
        sched_close(s);
    }
}

/* Unit `victim` dies with its third range; the others go on until they get nothing. */
static void work_until_empty(struct load *l, struct sched *s, int cu, int victim)
{
    struct ek_range r;
    for (int ranges = 1; r = sched_next(s, cu), r.begin < r.end; ranges++) {
        if (cu == victim && ranges == 3) {
            l->dead[cu] = true;
            assert_int_equal(sched_retire(s, cu, r), EK_OK);
            return;
        }
        for (size_t t = r.begin; t < r.end; t++)
            __atomic_add_fetch(&l->times[t], 1, __ATOMIC_RELAXED);
        sched_done(s, cu, r, seconds(l, cu, r), NULL);
    }
}

/* As in a team, all units ask until they get nothing, then again as long as lost tasks wait. Each
 * round must make progress. */
static void dying_in_parallel(void **state)
{
    static struct load l;
    for (int p = 0; p < sched_count(); p++)
        for (int known = 0; known <= 1; known++) {
            struct sched *s;
            make_load(&l, 300, 4, 1);
            for (int c = 0; known && c < 4; c++)
                l.unit[c].speed = 1e3 * (c % 3 == 2 ? 3 : 1);
            assert_int_equal(sched_open(sched_at(p)->name, &l.job, &s), EK_OK);
            for (int step = 0; step < 3; step++) {
                for (size_t round = 0; round == 0 || sched_pending(s); round++) {
                    assert_true(round <= l.job.n);
#pragma omp parallel num_threads(4)
                    if (!l.dead[omp_get_thread_num()])
                        work_until_empty(&l, s, omp_get_thread_num(), 3 - step);
                }
                assert_each_once(&l, sched_at(p)->name);
                assert_int_equal(sched_step(s), EK_OK);
            }
            sched_close(s);
        }
}

static void bad_specs(void **state)
{
    static struct load l;
    struct sched *s;
    make_load(&l, 10, 2, 1);
    static const struct {
        const char *spec, *says;
    } bad[] = {{"nope", "schedule: 'nope'"},           {"dynamc", "did you mean 'dynamic'"},
               {"dynamic:chnk=2", "mean 'chunk'"},     {"dynamic:chunk=0", "out of range"},
               {"dynamic:chunk=two", "whole number"},  {"static:chunk=1", "no option 'chunk'"},
               {"dynamic:chunk=1e99", "whole number"}, {"", "is not one of"}};
    status_mute(1);
    for
        EACH(i, bad)
        {
            assert_int_equal(sched_open(bad[i].spec, &l.job, &s), EK_USAGE);
            assert_non_null(strstr(status_message(), bad[i].says));
            assert_int_equal(sched_check(bad[i].spec, NULL), EK_USAGE);
        }
    status_mute(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_once),
        cmocka_unit_test(same_with_nothing_declared),
        cmocka_unit_test(each_task_once_in_parallel),
        cmocka_unit_test(silent_unit),
        cmocka_unit_test(dying_units),
        cmocka_unit_test(dying_in_parallel),
        cmocka_unit_test(bad_specs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
