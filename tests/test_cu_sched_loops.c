/* tests/test_cu_sched_loops.c – self-scheduling policies for loops, piece by piece against their
 * formulas. */
#include "cu/sched/take.h"

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { UNITS = 4 };

/* Units ask in turn, unit i does 1 + i tasks a second; compares the first n pieces. */
static void check(const char *spec, size_t tasks, const double *speed, const size_t *piece,
                  size_t n)
{
    struct sched_unit unit[UNITS];
    for (int c = 0; c < UNITS; c++)
        unit[c] = (struct sched_unit){.width = 1, .speed = speed ? speed[c] : 0};
    const struct sched_job job = {.n = tasks, .grain = 1, .ncu = UNITS, .unit = unit};
    struct sched *s;
    size_t at = 0;
    assert_int_equal(sched_open(spec, &job, &s), EK_OK);
    for (size_t i = 0; i < n; i++) {
        struct ek_range r = sched_next(s, (int)(i % UNITS));
        assert_true(!piece[i] || r.begin == at);
        assert_int_equal(r.end - r.begin, piece[i]);
        at += piece[i];
        sched_done(s, (int)(i % UNITS), r, (double)piece[i] / (1 + (double)(i % UNITS)), NULL);
    }
    sched_close(s);
}
#define CHECK(spec, tasks, speed, ...)                                                             \
    do {                                                                                           \
        const size_t piece[] = {__VA_ARGS__};                                                      \
        check(spec, tasks, speed, piece, sizeof piece / sizeof *piece);                            \
    } while (0)

static void fixed_pieces(void **state)
{
    CHECK("chunk:size=30", 100, NULL, 30, 30, 30, 10, 0, 0);
    CHECK("chunk", 1280, NULL, 11, 11, 11);
}

static void guided(void **state)
{
    (void)state; /* ceil(R / 4) */
    CHECK("gss", 100, NULL, 25, 19, 14, 11, 8, 6, 5, 3, 3, 2, 1, 1, 1, 1, 0);
}

static void trapezoid(void **state)
{
    (void)state; /* F = 125, 16 pieces, D = 124/15 = 8.27: each eight or nine smaller */
    CHECK("tss", 1000, NULL, 125, 117, 108, 100, 92, 84, 75, 67, 59);
    CHECK("tss", 3, NULL, 1, 1, 1, 0);
}

static void factoring(void **state)
{
    static const double speed[UNITS] = {4, 2, 1, 1};
    (void)state; /* rounds of 50, 25, 13, … tasks, each unit a quarter, rounded up */
    CHECK("fac", 100, NULL, 13, 13, 13, 13, 7, 7, 7, 7);
    CHECK("wf", 160, speed, 40, 20, 10, 10, 20, 10, 5, 5);
    CHECK("wf", 100, NULL, 13, 13, 13, 13);
}

/* Unit i does 1 + i tasks a second. First batches of c, doubled twice, then limited to b PF_i. */
static void real_time(void **state)
{
    CHECK("hrdls:b=0.1,c=10,s=2,t_min=0", 10000, NULL, 10, 10, 10, 10, /* c 2^0 */
          20, 20, 20, 20,                                              /* c 2^1 */
          40, 40, 40, 40,                                              /* c 2^2, k = s */
          100, 200, 300, 400);                                         /* b n (1, 2, 3, 4) / 10 */
    /* all batches too short to measure: no speeds, equal shares */
    CHECK("hrdls:b=0.1,c=10,s=0,t_min=1000", 10000, NULL, 10, 10, 10, 10, 20, 20, 20, 20, 40, 40,
          40, 40, 80, 80, 80, 80, 160, 160, 160, 160, 250, 250);
}

/* ---- who is first -----------------------------------------------------------------------------*/
struct asker {
    struct take *take;
    int unit;
    struct ek_range got;
};

static void *ask(void *arg)
{
    struct asker *a = arg;
    a->got = take_next(a->take, a->unit);
    return NULL;
}

/* First tasks go to units in the order of their numbers in every step, however early a unit asks. A
 * unit that waited in vain goes on, and from then on nobody waits for the late ones. */
static void the_first_tasks_go_in_order(void **state)
{
    struct take take = {0};
    const struct sched_job job = {.n = 100, .grain = 1};
    take_chunks(&take, &job, 7);
    for (int step = 0; step < 3; step++, take_step(&take)) {
        struct asker asker[3] = {{&take, 0, {0, 0}}, {&take, 1, {0, 0}}, {&take, 2, {0, 0}}};
        pthread_t thread[3];
        take.patience = INT_MAX;
        for (int u = 2; u >= 0; u--)
            assert_int_equal(pthread_create(&thread[u], NULL, ask, &asker[u]), 0);
        for (int u = 0; u < 3; u++) {
            assert_int_equal(pthread_join(thread[u], NULL), 0);
            assert_int_equal(asker[u].got.begin, 7 * u);
        }
    }
    take.patience = 3;
    assert_int_equal(take_next(&take, 2).begin, 0);
    take.patience = INT_MAX; /* yet nobody waits from now on */
    assert_int_equal(take_next(&take, 2).begin, 7);
    assert_int_equal(take_next(&take, 1).begin, 14);
    assert_int_equal(take_next(&take, 0).begin, 21);
    assert_int_equal(take_next(&take, 1).begin, 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_pieces), cmocka_unit_test(guided),
        cmocka_unit_test(trapezoid),    cmocka_unit_test(factoring),
        cmocka_unit_test(real_time),    cmocka_unit_test(the_first_tasks_go_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
