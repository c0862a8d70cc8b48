/* tests/test_cu_capacity.c – capacity plans: combinations and samples, what a table remembers,
 * answers worked out by hand; senseless numbers in a machine's description are refused by name. */
#include "cu/sim/capacity_answer.h"
#include "cu/rank/stop.h"
#include "tests/scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char *const POLICIES[] = {"heft", "sorted-greedy"};

/* A machine of slow nodes with 2 cores each and one fast node with a device. */
static const char MACHINE[] =
    "{\"name\": \"m\", \"nodes\": [{\"name\": \"slow\", \"count\": 3, \"cores\": 2, \"speed\": 1,"
    " \"price\": 1}, {\"name\": \"fast\", \"like\": \"slow\", \"times\": 4, \"cores\": 1,"
    " \"count\": 1, \"price\": 5, \"devices\": {\"count\": 1, \"speed\": 8, \"fixed_s\": 0.5}}]}";
static const char TASKS[] = "{\"name\": \"t\", \"tasks\": {\"cost\": [8, 8, 8, 8, 8, 8]}}";

static const char *path_of(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

static const char *file_of(const char *name, const char *text)
{
    const char *path = path_of(name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static void read_text(const char *path, char *text, size_t room)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, room - 1, in)] = '\0';
    fclose(in);
}

struct plan {
    struct capacity_work work;
    struct capacity_machine machine;
    struct capacity c;
};

static void open_plan(struct plan *p, const char *machine, const char *tasks, size_t sample,
                      unsigned seed)
{
    assert_int_equal(capacity_work_open(&p->work, file_of("t.json", tasks)), EK_OK);
    assert_int_equal(capacity_machine_open(&p->machine, file_of("m.json", machine), &p->work),
                     EK_OK);
    assert_int_equal(capacity_open(&p->c, &p->work, &p->machine, POLICIES, 2, 1, sample, seed),
                     EK_OK);
}

static void close_plan(struct plan *p)
{
    capacity_close(&p->c);
    capacity_machine_close(&p->machine);
    capacity_work_close(&p->work);
}

/* ---- combinations -----------------------------------------------------------------------------*/
static void numbers_and_counts_are_inverse(void **state)
{
    struct plan p;
    open_plan(&p, MACHINE, TASKS, 0, 0);
    assert_int_equal(p.c.possible, 4 * 2 - 1);
    assert_int_equal(p.c.nscenarios, 7);
    for (size_t i = 0; i < 7; i++) {
        int counts[CAPACITY_TYPES];
        capacity_counts(&p.machine, p.c.scenario[i], counts);
        assert_true(counts[0] + counts[1] > 0 && counts[0] <= 3 && counts[1] <= 1);
        assert_int_equal(capacity_number(&p.machine, counts), p.c.scenario[i]);
        assert_int_equal(capacity_find(&p.c, p.c.scenario[i]), i);
        struct capacity_size s = capacity_size(&p.machine, p.c.scenario[i]);
        assert_int_equal(s.cores, 2 * counts[0] + counts[1]);
        assert_int_equal(s.devices, counts[1]);
        assert_true(s.price == counts[0] + 5 * counts[1]);
        assert_int_equal(capacity_units(&p.c, p.c.scenario[i], NULL), s.cores + s.devices);
    }
    assert_int_equal(capacity_find(&p.c, 8), 7);
    close_plan(&p);
}

static void samples_differ_from_one_another(void **state)
{
    static const char many[] =
        "{\"nodes\": [{\"name\": \"a\", \"count\": 99, \"cores\": 1, \"speed\": 1},"
        "{\"name\": \"b\", \"count\": 99, \"cores\": 1, \"speed\": 1}]}";
    struct plan p, q;
    open_plan(&p, many, TASKS, 500, 7);
    open_plan(&q, many, TASKS, 500, 7);
    assert_int_equal(p.c.nscenarios, 500);
    assert_memory_equal(p.c.scenario, q.c.scenario, 500 * sizeof *p.c.scenario);
    assert_true(p.c.scenario[0] >= 1 && p.c.scenario[499] <= 9999);
    for (size_t i = 1; i < 500; i++)
        assert_true(p.c.scenario[i - 1] < p.c.scenario[i]);
    /* Drawn evenly: the mean is within five standard deviations of the middle. */
    double mean = 0;
    for (size_t i = 0; i < 500; i++)
        mean += (double)p.c.scenario[i] / 500;
    assert_true(fabs(mean - 5000) < 5 * 10000 / sqrt(12 * 500));
    close_plan(&q);
    open_plan(&q, many, TASKS, 500, 8);
    assert_memory_not_equal(p.c.scenario, q.c.scenario, 500 * sizeof *p.c.scenario);
    close_plan(&p);
    close_plan(&q);
}

static void too_many_combinations_are_refused(void **state)
{
    struct plan p;
    static const char huge[] =
        "{\"nodes\": [{\"name\": \"a\", \"count\": 9999, \"cores\": 1, \"speed\": 1},"
        "{\"name\": \"b\", \"count\": 9999, \"cores\": 1, \"speed\": 1}]}";
    assert_int_equal(capacity_work_open(&p.work, file_of("t.json", TASKS)), EK_OK);
    assert_int_equal(capacity_machine_open(&p.machine, file_of("m.json", huge), &p.work), EK_OK);
    status_mute(1);
    assert_int_equal(capacity_open(&p.c, &p.work, &p.machine, POLICIES, 2, 1, 0, 0), EK_USAGE);
    assert_non_null(strstr(status_message(), "--sample"));
    status_mute(-1);
    close_plan(&p);
    open_plan(&p, huge, TASKS, 10, 1);
    assert_int_equal(p.c.nscenarios, 10);
    close_plan(&p);
}

/* ---- answers ----------------------------------------------------------------------------------*/
/* Six tasks of cost 8. k slow nodes alone: ceil(6 / 2k) * 8 s. The fast node takes 2 s per task on
 * its core, 1.5 s on its device: four tasks on the device and two or three on the core take 6 s. */
static void answers_by_hand(void **state)
{
    struct plan p;
    struct capacity_answer a;
    const double expected[] = {24, 16, 8, 6, 6, 6, 6}; /* slow 1 2 3, fast, fast with slow … */
    open_plan(&p, MACHINE, TASKS, 0, 0);
    assert_int_equal(capacity_run(&p.c, 2, NULL), EK_OK);
    assert_int_equal(capacity_answer_open(&a, &p.c, 0.05), EK_OK);
    for (size_t i = 0; i < 7; i++)
        assert_true(fabs(a.makespan[i] - expected[i]) < 1e-12);
    assert_int_equal(p.c.scenario[a.ranked[0]], 4);
    assert_int_equal(p.c.scenario[a.cheapest], 4); /* the fast node alone */
    /* Another slow one: 24 -> 16 -> 8; no gain beside the fast one. */
    assert_int_equal(a.gain[0].pairs, 5);
    assert_true(fabs(a.gain[0].mean - (1 - 16 / 24. + 1 - 8 / 16.) / 5) < 1e-12);
    assert_true(fabs(a.gain[0].best - 0.5) < 1e-12);
    assert_true(fabs(a.gain[0].edge) < 1e-12);
    assert_int_equal(a.gain[1].pairs, 3);
    assert_true(fabs(a.gain[1].best - 0.75) < 1e-12);
    assert_true(fabs(a.gain[1].edge - 0.25) < 1e-12);
    capacity_answer_close(&a);
    close_plan(&p);
}

/* With a wide tolerance, the cheapest combination has the lowest price; without prices, the fewest
 * cores. */
static void cheapest_by_price_or_cores(void **state)
{
    struct plan p;
    struct capacity_answer a;
    open_plan(&p, MACHINE, TASKS, 0, 0);
    assert_int_equal(capacity_run(&p.c, 1, NULL), EK_OK);
    assert_int_equal(capacity_answer_open(&a, &p.c, 0.5), EK_OK);
    assert_int_equal(p.c.scenario[a.cheapest], 3); /* three slow nodes: 8 s at a price of 3 */
    capacity_answer_close(&a);
    p.machine.priced = false;
    assert_int_equal(capacity_answer_open(&a, &p.c, 0.5), EK_OK);
    assert_int_equal(p.c.scenario[a.cheapest], 4); /* one core */
    capacity_answer_close(&a);
    close_plan(&p);
}

static void hypothetical_nodes_come_beside_the_real_ones(void **state)
{
    struct plan p;
    struct capacity_answer a;
    open_plan(&p,
              "{\"nodes\": [{\"name\": \"a\", \"count\": 2, \"cores\": 1, \"speed\": 1},"
              "{\"name\": \"b\", \"like\": \"a\", \"count\": 2, \"hypothetical\": true}]}",
              TASKS, 0, 0);
    assert_int_equal(capacity_run(&p.c, 1, NULL), EK_OK);
    assert_int_equal(capacity_answer_open(&a, &p.c, 0.05), EK_OK);
    assert_true(fabs(a.gain[0].edge - 0.5) < 1e-12);            /* 48 -> 24 */
    assert_true(fabs(a.gain[1].edge - (1 - 16 / 24.)) < 1e-12); /* 24 -> 16 */
    capacity_answer_close(&a);
    close_plan(&p);
}

/* ---- restarts ---------------------------------------------------------------------------------*/
/* Known results are not simulated again (a planted value stays), cut-off ones are, and a run in two
 * parts gives the same table as a run in one. */
static void tables_remember(void **state)
{
    static char whole[8192], again[8192], part[8192];
    struct plan p;
    const char *csv = path_of("plan.csv");
    char table[128], partial[160];
    snprintf(table, sizeof table, "%s", csv);
    snprintf(partial, sizeof partial, "%s.part", csv);
    open_plan(&p, MACHINE, TASKS, 0, 0);
    assert_int_equal(capacity_run(&p.c, 2, table), EK_OK);
    close_plan(&p);
    read_text(table, whole, sizeof whole);
    assert_int_equal(access(partial, F_OK), -1);

    /* Cuts the table at many places, as a killed run may leave it. */
    for (size_t length = 0; length < strlen(whole); length += 53) {
        snprintf(part, sizeof part, "%.*s", (int)length, whole);
        file_of("plan.csv.part", part);
        unlink(table);
        open_plan(&p, MACHINE, TASKS, 0, 0);
        assert_int_equal(capacity_run(&p.c, 1, table), EK_OK);
        close_plan(&p);
        read_text(table, again, sizeof again);
        assert_string_equal(whole, again);
    }

    char *at = strstr(whole, "heft,24,");
    assert_non_null(at);
    memcpy(at, "heft,77,", 8);
    file_of("plan.csv", whole);
    open_plan(&p, MACHINE, TASKS, 0, 0);
    assert_int_equal(capacity_run(&p.c, 1, table), EK_OK);
    assert_int_equal(p.c.known, 14);
    assert_true(p.c.cell[0].makespan == 77);
    close_plan(&p);
    /* With other tasks, nothing in the table counts. */
    open_plan(&p, MACHINE, "{\"tasks\": {\"cost\": [8, 8, 8, 8, 8, 9]}}", 0, 0);
    assert_int_equal(capacity_run(&p.c, 1, table), EK_OK);
    assert_int_equal(p.c.known, 0);
    close_plan(&p);
}

static void stopping_keeps_what_is_finished(void **state)
{
    static char before[8192], after[8192];
    struct plan p;
    char table[128];
    snprintf(table, sizeof table, "%s", file_of("old.csv", "a good table\n"));
    open_plan(&p, MACHINE, TASKS, 0, 0);
    read_text(table, before, sizeof before);
    stop_request();
    assert_int_equal(capacity_run(&p.c, 1, table), EK_STOPPED);
    read_text(table, after, sizeof after);
    assert_string_equal(before, after);
    close_plan(&p);
}

/* ---- input ------------------------------------------------------------------------------------*/
static void bad_machines_are_refused(void **state)
{
    const struct {
        const char *text, *because;
    } bad[] = {
        {"", "m.json:1"},
        {"[]", "not an object"},
        {"{\"nodes\": []}", "nodes"},
        {"{\"nodes\": [1]}", "nodes[0]"},
        {"{\"node\": []}", "mean 'nodes'"},
        {"{\"nodes\": [{\"name\": \"a\", \"cores\": 1, \"speed\": 1}]}",
         "nodes[0].count is missing"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"speed\": 1}]}",
         "nodes[0].cores is missing"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1}]}",
         "nodes[0].speed is missing"},
        {"{\"nodes\": [{\"count\": 1, \"cores\": 1, \"speed\": 1}]}", "nodes[0].name is missing"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": -1, \"cores\": 1, \"speed\": 1}]}",
         "nodes[0].count = -1"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1.5, \"cores\": 1, \"speed\": 1}]}",
         "nodes[0].count = 1.5"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 0, \"speed\": 1}]}",
         "nodes[0].cores = 0"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1e9, \"speed\": 1}]}",
         "nodes[0].cores = 1e+09"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 100000, \"cores\": 100000, \"speed\": 1}]}",
         "10000000000 cores"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 0}]}",
         "nodes[0].speed = 0"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": \"NaN\"}]}",
         "nodes[0].speed is not a (finite) number"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": null}]}",
         "nodes[0].speed is not a (finite) number"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1e999}]}",
         "nodes[0].speed is not a (finite) number"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speeed\": 1}]}",
         "mean 'speed'"},
        {"{\"nodes\": [{\"name\": \"a\", \"like\": \"b\", \"count\": 1}]}", "nodes[0].like"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1, \"times\": "
         "-2}]}",
         "nodes[0].times = -2"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1, \"price\": "
         "-1}]}",
         "nodes[0].price = -1"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1,"
         " \"devices\": {\"count\": 1, \"speed\": -3}}]}",
         "nodes[0].devices.speed = -3"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1,"
         " \"devices\": {\"count\": 1, \"fixed_s\": 1e99}}]}",
         "nodes[0].devices.fixed_s = 1e+99"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1,"
         " \"profile\": \"none.json\"}]}",
         "none.json"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1},"
         "{\"name\": \"a\", \"like\": \"a\", \"count\": 1}]}",
         "twice"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1}],"
         " \"link\": {\"bandwidth_Bps\": 1}}",
         "link.latency_s"},
        {"{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 1, \"speed\": 1}],"
         " \"link\": {\"latency_s\": 0, \"bandwidth_Bps\": 0}}",
         "link.bandwidth_Bps = 0"},
    };
    struct capacity_work w;
    struct capacity_machine m;
    assert_int_equal(capacity_work_open(&w, file_of("t.json", TASKS)), EK_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        status_mute(1);
        if (capacity_machine_open(&m, file_of("m.json", bad[i].text), &w) != EK_USAGE)
            fail_msg("not refused: %s", bad[i].text);
        status_mute(-1);
        if (!strstr(status_message(), bad[i].because))
            fail_msg("'%s' is not in: %s", bad[i].because, status_message());
    }
    capacity_work_close(&w);
}

static void bad_tasks_are_refused(void **state)
{
    const struct {
        const char *text, *because;
    } bad[] = {
        {"{}", "tasks.cost"},
        {"{\"tasks\": {\"cost\": []}}", "tasks.cost"},
        {"{\"tasks\": {\"cost\": [1, -1]}}", "tasks.cost[1] = -1"},
        {"{\"tasks\": {\"cost\": [1, \"x\"]}}", "tasks.cost[1] is not"},
        {"{\"tasks\": {\"cost\": [1], \"bytes\": [1, 2]}}", "tasks.bytes has 2"},
        {"{\"tasks\": {\"cost\": [1], \"seconds_per_cost\": 0}}", "seconds_per_cost = 0"},
        {"{\"task_seconds\": {\"cpu\": null, \"device\": [1]}}", "task_seconds.cpu"},
        {"{\"format\": \"evenkeel profile\", \"version\": 1}", "changed after"},
    };
    struct capacity_work w;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        status_mute(1);
        assert_int_equal(capacity_work_open(&w, file_of("t.json", bad[i].text)), EK_USAGE);
        status_mute(-1);
        if (!strstr(status_message(), bad[i].because))
            fail_msg("'%s' is not in: %s", bad[i].because, status_message());
    }
}

/* A machine made from a run's times, and a node type with times measured on it. */
static void times_of_runs_and_types(void **state)
{
    struct plan p;
    struct capacity_answer a;
    static const char run[] =
        "{\"program\": \"x\", \"problem\": \"y\", \"units\": [{\"kind\": \"cpu\", \"width\": 2}],"
        " \"task_seconds\": {\"cpu\": [4, 2], \"device\": [1, 1]}}";
    file_of("own.json", "{\"units\": [{\"kind\": \"cpu\", \"width\": 2}],"
                        " \"task_seconds\": {\"cpu\": [1, 7], \"device\": null}}");
    open_plan(&p,
              "{\"nodes\": [{\"name\": \"a\", \"count\": 1, \"cores\": 2, \"speed\": 1},"
              "{\"name\": \"b\", \"count\": 1, \"cores\": 2, \"profile\": \"own.json\"},"
              "{\"name\": \"c\", \"count\": 1, \"cores\": 2, \"speed\": 2,"
              " \"devices\": {\"count\": 1, \"speed\": 0.5}}]}",
              run, 0, 0);
    assert_int_equal(p.work.width, 2);
    assert_int_equal(capacity_run(&p.c, 1, NULL), EK_OK);
    assert_int_equal(capacity_answer_open(&a, &p.c, 0), EK_OK);
    assert_true(fabs(a.makespan[capacity_find(&p.c, 1)] - 6) < 1e-12); /* one unit of two cores */
    assert_true(fabs(a.makespan[capacity_find(&p.c, 2)] - 8) < 1e-12);
    assert_true(fabs(a.makespan[capacity_find(&p.c, 3)] - 2) < 1e-12); /* each its good task */
    assert_true(fabs(a.makespan[capacity_find(&p.c, 4)] - 2) < 1e-12); /* core 2 or 1, device 2 */
    capacity_answer_close(&a);
    close_plan(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_counts_are_inverse),
        cmocka_unit_test(samples_differ_from_one_another),
        cmocka_unit_test(too_many_combinations_are_refused),
        cmocka_unit_test(answers_by_hand),
        cmocka_unit_test(cheapest_by_price_or_cores),
        cmocka_unit_test(hypothetical_nodes_come_beside_the_real_ones),
        cmocka_unit_test(tables_remember),
        cmocka_unit_test(bad_machines_are_refused),
        cmocka_unit_test(bad_tasks_are_refused),
        cmocka_unit_test(times_of_runs_and_types),
        cmocka_unit_test(stopping_keeps_what_is_finished), /* last: it stops all later runs */
    };
    return cmocka_run_group_tests(tests, scratch_folder, scratch_remove);
}
