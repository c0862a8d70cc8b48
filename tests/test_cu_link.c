/* tests/test_cu_link.c – latency and bandwidth are learnt from moves, the cost of faces from
 * exchanges, despite a few outliers. */
#include "cu/sched/exchange.h"
#include "cu/sched/link.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { UNITS = 3 };
static struct link link_of[UNITS];
static const struct sched_link truth = {2e-5, 1 / 8e9};

static void note(int unit, int links, double bytes, double times)
{
    link_note(&link_of[unit], links, bytes,
              times * links * (truth.latency + bytes * truth.per_byte));
}

static struct sched_link learn(void)
{
    struct sched_link l = SCHED_LINK_USUAL;
    assert_int_equal(link_learn(link_of, UNITS, sizeof *link_of, &l), EK_OK);
    return l;
}

static void assert_true_link(double tolerance)
{
    struct sched_link l = learn();
    assert_true(fabs(l.latency / truth.latency - 1) < tolerance);
    assert_true(fabs(l.per_byte / truth.per_byte - 1) < tolerance);
}

static void moves_tell_the_link(void **state)
{
    memset(link_of, 0, sizeof link_of);
    for (int i = 0; i < 40; i++)
        note(i % UNITS, 1 + i % 2, 1e5 * (1 + i * 7 % 40), 1);
    assert_true_link(1e-9);
    for (int i = 0; i < 6; i++) /* first touch of pages, a thread that had to wait */
        note(i % UNITS, 1, 1e5 * (1 + 6 * i), 20);
    assert_true_link(0.25);
}

/* Old moves are forgotten: a change of the link's speed is seen. */
static void the_latest_count(void **state)
{
    memset(link_of, 0, sizeof link_of);
    for (int i = 0; i < LINK_MOVES; i++)
        note(0, 1, 1e5 * (1 + i), 3);
    for (int i = 0; i < LINK_MOVES; i++)
        note(0, 1, 1e5 * (1 + i), 1);
    assert_true_link(1e-9);
}

static void too_few_tell_nothing(void **state)
{
    const struct sched_link usual = SCHED_LINK_USUAL;
    memset(link_of, 0, sizeof link_of);
    note(0, 0, 1e6, 1); /* within the host, over no link */
    for (int i = 0; i < 5; i++)
        note(i % UNITS, 1, 1e6 * (1 + i), 1);
    struct sched_link l = learn();
    assert_true(l.latency == usual.latency && l.per_byte == usual.per_byte);
}

/* Sizes all alike do not tell the bandwidth; then the usual link is scaled, so that faces are not
 * taken to be free. */
static void one_size_tells_one_factor(void **state)
{
    const struct sched_link usual = SCHED_LINK_USUAL;
    memset(link_of, 0, sizeof link_of);
    for (int i = 0; i < 40; i++)
        link_note(&link_of[i % UNITS], 1, 15000 + i, 3 * (usual.latency + 15000 * usual.per_byte));
    const struct sched_link l = learn();
    assert_true(fabs(l.latency / usual.latency - 3) < 0.01);
    assert_true(fabs(l.per_byte / usual.per_byte - 3) < 0.01);
}

/* Ten faces cross, which would take said() by the link alone. */
static const struct exchange_load ten = {.faces = 10, .bytes = 1e5};

static double said(void)
{
    return 10 * truth.latency + 1e5 * truth.per_byte;
}

static void assert_scale(const struct exchange *x, double scale)
{
    const struct sched_link face = exchange_face(x, &truth);
    assert_true(fabs(face.latency - scale * truth.latency) < 1e-12);
    assert_true(fabs(face.per_byte - scale * truth.per_byte) < 1e-18);
}

static void exchanges_tell_what_faces_cost(void **state)
{
    static const double times[] = {10, 1, 0.1};
    for (int i = 0; i < 3; i++) {
        struct exchange x = EXCHANGE_UNTIMED;
        exchange_note(&x, &truth, 3e-4);
        exchange_note(&x, &truth, 1e-4); /* an exchange in which no faces cross */
        assert_scale(&x, 1);
        exchange_moved(&x, ten);
        exchange_note(&x, &truth, 1e-4 + 3 * times[i] * said()); /* the first one has more to do */
        assert_scale(&x, fmin(1, 3 * times[i]));
        exchange_note(&x, &truth, 1e-4 + times[i] * said());
        assert_scale(&x, times[i]);
        exchange_note(&x, &truth, 1e-4 + times[i] * said());
        exchange_note(&x, &truth, 1); /* somebody had to wait */
        assert_scale(&x, times[i]);
    }
}

/* Unless a shorter exchange without crossing faces was seen, exchanges only limit what faces cost
 * from above. */
static void an_exchange_may_have_more_to_do(void **state)
{
    for (int slow = 0; slow <= 1; slow++) {
        struct exchange x = EXCHANGE_UNTIMED;
        if (slow)
            exchange_note(&x, &truth, 100 * said());
        exchange_moved(&x, ten);
        exchange_note(&x, &truth, 50 * said());
        assert_scale(&x, 1);
        exchange_moved(&x, ten);
        exchange_note(&x, &truth, said() / 2);
        assert_scale(&x, 0.5);
    }
}

/* Moves that tell the link anew do not change what faces were measured to cost. */
static void another_link(void **state)
{
    const struct sched_link links[] = {{1e-9, 1 / 8e9}, {1e-3, 0}, {0, 0}};
    struct exchange x = EXCHANGE_UNTIMED;
    exchange_note(&x, &truth, 1e-4);
    exchange_moved(&x, ten);
    for (int i = 0; i < 2; i++)
        exchange_note(&x, &truth, 4e-4);
    for (int i = 0; i < 3; i++) {
        const struct sched_link face = exchange_face(&x, &links[i]);
        assert_true(fabs(exchange_seconds(&face, ten) - 3e-4) < 1e-12);
    }
}

/* Exchanges that are interrupted for 8 ms say nothing, but one that takes 0.1 s is believed. */
static void interrupted_exchanges(void **state)
{
    struct exchange x = EXCHANGE_UNTIMED;
    exchange_note(&x, &truth, 1e-4);
    for (int i = 0; i < 5; i++) {
        exchange_moved(&x, ten);
        exchange_note(&x, &truth, 8e-3);
        assert_scale(&x, 1);
        exchange_note(&x, &truth, 1e-4 + said());
        assert_scale(&x, 1);
    }
    exchange_moved(&x, ten);
    exchange_note(&x, &truth, 0.1 + 1e-4);
    assert_scale(&x, 0.1 / said());
}

/* A link declared free says nothing about faces: the first exchange in which some cross is believed
 * at once, with equal shares for all, but later ones must be confirmed. */
static void faces_of_a_free_link(void **state)
{
    static const struct sched_link none;
    const struct exchange_load some_cross = {ten.faces, ten.bytes, 1e6, 0};
    struct exchange x = EXCHANGE_UNTIMED;
    exchange_moved(&x, (struct exchange_load){.host = 1e6});
    exchange_note(&x, &none, 1e-4);
    assert_false(x.rest.crossed);
    exchange_moved(&x, some_cross);
    exchange_note(&x, &none, 3e-4);
    assert_true(x.rest.crossed);
    struct sched_link face = exchange_face(&x, &none);
    assert_true(fabs(exchange_seconds(&face, ten) - 2e-4) < 1e-5);
    exchange_note(&x, &none, 3e-4);
    face = exchange_face(&x, &none);
    assert_true(fabs(exchange_seconds(&face, ten) - 2e-4) < 1e-5);
    const struct sched_link before = face;
    exchange_moved(&x, some_cross);
    exchange_note(&x, &none, 8e-3);
    face = exchange_face(&x, &none);
    assert_true(face.latency == before.latency && face.per_byte == before.per_byte);
}

/* Exchanges with different homes tell what a byte costs inside the host, inside a device and on a
 * link, once there are as many as there are parts. */
static void exchanges_tell_all_parts(void **state)
{
    static const struct sched_link none;
    static const struct exchange_load loads[] = {{0, 0, 8e6, 0},      {4, 4e5, 6e6, 1e6},
                                                 {8, 8e5, 3e6, 2e6},  {6, 6e5, 1e6, 4e6},
                                                 {10, 1e6, 5e6, 1e6}, {2, 2e5, 2e6, 3e6}};
    struct exchange x = EXCHANGE_UNTIMED;
    assert_true(isnan(x.rest.seconds));
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        const struct exchange_load l = loads[i];
        exchange_moved(&x, l);
        for (int twice = 0; twice < 2; twice++)
            exchange_note(&x, &none,
                          0.01 + 2e-9 * l.host + 3e-9 * l.device + (l.faces > 0 ? 0.02 : 0) +
                              5e-8 * l.bytes);
    }
    assert_true(fabs(x.fixed - 0.01) < 1e-4);
    assert_true(fabs(x.rest.host / 2e-9 - 1) < 0.01);
    assert_true(fabs(x.rest.device / 3e-9 - 1) < 0.01);
    assert_true(fabs(x.rest.cross - 0.02) < 1e-3);
    assert_true(fabs(exchange_face(&x, &none).per_byte / 5e-8 - 1) < 0.01);
}

/* Three tasks in a row on the host and two devices: the busiest link counts. */
static void the_busiest_link_counts(void **state)
{
    static const size_t first[] = {0, 1, 3, 4}, neighbour[] = {1, 0, 2, 1};
    static const double bytes[] = {10, 20, 300, 400};
    static const int home[] = {0, 1, 2};
    const struct sched_job job = {
        .n = 3, .first = first, .neighbour = neighbour, .face_bytes = bytes};
    struct exchange_load load[3];
    const struct exchange_load most = exchange_crossing(&job, home, 3, &truth, load);
    assert_true(most.faces == 4 && most.bytes == 730);
    assert_true(most.host == 0 && most.device == 0);
    assert_true(load[0].bytes == 30 && load[2].bytes == 700 && load[2].faces == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_tell_the_link),
        cmocka_unit_test(the_latest_count),
        cmocka_unit_test(too_few_tell_nothing),
        cmocka_unit_test(one_size_tells_one_factor),
        cmocka_unit_test(exchanges_tell_what_faces_cost),
        cmocka_unit_test(an_exchange_may_have_more_to_do),
        cmocka_unit_test(another_link),
        cmocka_unit_test(interrupted_exchanges),
        cmocka_unit_test(faces_of_a_free_link),
        cmocka_unit_test(exchanges_tell_all_parts),
        cmocka_unit_test(the_busiest_link_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
