/* tests/test_cu_plan_case.c – cases as JSON: what is read, defaults, and every senseless number
 * refused by name. */
#include "tests/plan_case_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void reads_everything(void **state)
{
    struct plan_case c;
    assert_int_equal(
        plan_case_text(&c,
                       "{\"name\": \"x\", \"units\": ["
                       "{\"kind\": \"cpu\", \"count\": 2, \"speed\": 1.5, \"width\": 4,"
                       " \"contention\": 0.1, \"launch_s\": 0.0625,"
                       " \"interrupted\": {\"per_s\": 4, \"seconds\": 0.5}},"
                       "{\"kind\": \"device\", \"count\": 2, \"speed\": 1, \"space\": "
                       "\"a\",\"fixed_s\": 0.25},"
                       "{\"kind\": \"device\", \"count\": 2, \"seconds\": [7, 8], \"node\": \"n\","
                       " \"contention\": {\"cpu\": [[2, 0.5], [4, 2]], \"device\": 1},"
                       " \"noise\": [[1, 2], [3, 4], [5, 6]]},"
                       "{\"kind\": \"cpu\", \"count\": 1, \"speed\": 1, \"space\": \"a\","
                       " \"noise\": [1, 2, 3, 4]}],"
                       "\"tasks\": {\"cost\": [1, 2], \"bytes\": [3, 4],"
                       " \"neighbours\": [[1, 1], [0]], \"face_bytes\": [[5, 6], [7]]},"
                       "\"steps\": 9, \"link\": {\"latency_s\": 0.5, \"bandwidth_Bps\": 4,"
                       " \"waits\": 0.75}, \"hold\": 2.5, \"between_s\": 0.5, \"exchange\": "
                       "{\"fixed_s\": 1, \"link_s_per_byte\": 2},"
                       "\"cold\": true, \"noise\": 0.125, \"seed\": 3,"
                       "\"changes\": [{\"unit\": 1, \"step\": 5}, {\"unit\": 6, \"step\": 2,"
                       " \"after_s\": 1, \"factor\": 0.5}]}"),
        EK_OK);
    const struct sim_case *s = &c.sim;
    assert_string_equal(c.name, "x");
    assert_int_equal(s->ncu, 7);
    static const int memory[] = {0, 0, 1, 1, 2, 3, 1};
    for (int u = 0; u < 7; u++)
        assert_int_equal(s->unit[u].memory, memory[u]);
    assert_true(s->unit[1].speed == 1.5 && s->unit[1].width == 4 && s->unit[1].launch == 0.0625);
    assert_true(sim_curve_at(&s->unit[0].slowed[CU_CPU], 3) == 3 * 0.1);
    assert_true(sim_curve_at(&s->unit[0].slowed[CU_DEVICE], 1) == 0.1);
    assert_true(sim_curve_at(&s->unit[4].slowed[CU_CPU], 1) == 0.25);
    assert_true(sim_curve_at(&s->unit[4].slowed[CU_CPU], 3) == 1.25);
    assert_true(sim_curve_at(&s->unit[4].slowed[CU_DEVICE], 2) == 2);
    assert_true(s->unit[4].node == s->unit[5].node && s->unit[4].node != s->unit[6].node);
    assert_true(s->unit[0].node == s->unit[1].node && s->unit[2].node == s->unit[6].node);
    assert_true(s->between == 0.5 && s->exchange->seconds[SIM_FIXED] == 1 &&
                s->exchange->seconds[SIM_LINK] == 2);
    assert_true(s->unit[3].kind == CU_DEVICE && s->unit[3].fixed == 0.25 && s->unit[3].speed == 1);
    assert_true(s->unit[5].seconds[1] == 8 && s->unit[6].kind == CU_CPU && !s->unit[6].seconds);
    assert_true(s->unit[4].nusual == 3 && !s->unit[4].noise && !s->unit[0].usual);
    assert_true(s->unit[5].usual[1][1] == 4 && s->unit[5].usual[2][0] == 5);
    assert_true(s->unit[6].nnoise == 4 && s->unit[6].noise[3] == 4 && !s->unit[6].usual);
    assert_true(s->unit[1].interruptions == 4 && s->unit[1].interruption == 0.5 &&
                s->unit[2].interruptions == 0);
    assert_true(s->hold == 2.5 && s->waits == 0.75 && !s->unit[0].noise);
    assert_true(s->job.n == 2 && s->job.cost[1] == 2 && s->job.bytes[0] == 3);
    assert_true(s->job.first[1] == 2 && s->job.first[2] == 3 && s->job.neighbour[2] == 0);
    assert_true(s->job.face_bytes[1] == 6 && s->job.face_bytes[2] == 7);
    assert_true(s->steps == 9 && s->cold && s->noise == 0.125 && s->seed == 3);
    assert_true(s->job.link->latency == 0.5 && s->job.link->per_byte == 0.25);
    assert_true(s->nchanges == 2 && s->change[0].unit == 6 && s->change[0].factor == 0.5);
    assert_true(s->change[1].step == 5 && s->change[1].factor == 0);
    plan_case_close(&c);
}

static void assumes_little(void **state)
{
    struct plan_case c;
    assert_int_equal(plan_case_text(&c, "{\"units\": [{\"kind\": \"cpu\", \"count\": 1, \"speed\": "
                                        "1}], \"tasks\": {\"cost\": [1]}, \"steps\": 1}"),
                     EK_OK);
    assert_true(c.sim.ncu == 1 && c.sim.steps == 1 && !c.sim.job.link && !c.sim.cold);
    plan_case_close(&c);
}

/* Each row replaces a piece of a good case, which must then be refused with these words. */
static const struct {
    const char *piece, *by, *says;
} fault[] = {
    {"\"speed\": 2", "\"speed\": -2", "units[1].speed = -2"},
    {"\"speed\": 2", "\"speed\": 2, \"contention\": [[2, 0.1], [2, 0.2]]",
     "units[1].contention[1] must be for more units than the point before"},
    {"\"speed\": 2", "\"speed\": 0", "units[1].speed = 0"},
    {"\"speed\": 2", "\"speed\": 1e-300", "units[1].speed = 1e-300 is out of range"},
    {"\"speed\": 2", "\"speed\": NaN", "units[1].speed is not a (finite) number"},
    {"\"speed\": 2", "\"speed\": Infinity", "units[1].speed is not a (finite) number"},
    {"\"speed\": 2", "\"speed\": -Infinity", "units[1].speed is not a (finite) number"},
    {"\"speed\": 2", "\"speed\": 1e999", "units[1].speed is not a (finite) number"},
    {"\"speed\": 2", "\"speed\": 1e30", "units[1].speed = 1e+30 is out of range"},
    {"\"speed\": 2", "\"speed\": \"2\"", "units[1].speed is not a (finite) number"},
    {"\"speed\": 2", "\"speed\": null", "units[1].speed is not a (finite) number"},
    {"\"speed\": 2, ", "", "units[1].speed is missing"},
    {"\"count\": 3, ", "", "units[0].count is missing"},
    {"\"steps\": 5, ", "", "steps is missing"},
    {"\"latency_s\": 1, ", "", "link.latency_s is missing"},
    {", \"bandwidth_Bps\": 9", "", "link.bandwidth_Bps is missing"},
    {"\"count\": 3", "\"count\": 0", "units[0].count = 0"},
    {"\"count\": 3", "\"count\": 2.5", "units[0].count = 2.5 is not a whole number"},
    {"\"count\": 3", "\"count\": 99999999", "units[0].count"},
    {"\"count\": 3", "\"count\": 99999999999999999999", "units[0].count is not"},
    {"\"kind\": \"cpu\"", "\"kind\": \"gpu\"", "units[0].kind must be"},
    {"\"kind\": \"cpu\", ", "", "units[0].kind must be"},
    {"\"space\": \"d\"", "\"space\": 3", "units[1].space must be"},
    {"\"units\"", "\"unit\"", "unknown key 'unit' (did you mean 'units'?)"},
    {"[1, 2, 3]", "[1, -2, 3]", "tasks.cost[1] = -2"},
    {"[1, 2, 3]", "[1, 2, NaN]", "tasks.cost[2] is not"},
    {"[1, 2, 3]", "[]", "tasks.cost must be"},
    {"[1, 2, 3]", "7", "tasks.cost must be"},
    {"\"cost\"", "\"costs\"", "unknown key 'tasks.costs'"},
    {"[4, 5, 6]", "[4, 5]", "tasks.bytes has 2 numbers for 3 tasks"},
    {"[[1], [2], [0]]", "[[1], [3], [0]]", "tasks.neighbours[1][0] = 3"},
    {"[[1], [2], [0]]", "[[1], [2]]", "tasks.neighbours must be"},
    {"[[8], [8], [8]]", "[[8], [-8], [8]]", "tasks.face_bytes[1][0] = -8"},
    {"[[8], [8], [8]]", "[[8], [], [8]]", "tasks.face_bytes[1] must be"},
    {"[[8], [8], [8]]", "[[8], [8, 8], [8]]", "tasks.face_bytes[1] must be"},
    {"[[8], [8], [8]]", "[[8], [8]]", "tasks.face_bytes must be"},
    {"[[1], [2], [0]]", "[[1], 2, [0]]", "tasks.neighbours[1] must be"},
    {"\"steps\": 5, ", "\"stpes\": 5, ", "unknown key 'stpes'"},
    {"\"speed\": 2", "\"speed\": 2, \"sped\": 3", "unknown key 'units[1].sped'"},
    {"\"speed\": 2", "\"speed\": 2, \"noise\": []", "units[1].noise must be"},
    {"\"speed\": 2", "\"speed\": 2, \"noise\": [[1, 2, 3], [1, 2]]",
     "units[1].noise[1] has 2 numbers for 3 tasks"},
    {"\"speed\": 2", "\"speed\": 2, \"noise\": [[1, -2, 3]]", "units[1].noise[0][1] = -2"},
    {"\"speed\": 2", "\"speed\": 2, \"interrupted\": {\"per_s\": 4}",
     "units[1].interrupted.seconds is missing"},
    {"\"speed\": 2", "\"speed\": 2, \"interrupted\": {\"per_s\": -4, \"seconds\": 1}",
     "units[1].interrupted.per_s = -4"},
    {"\"speed\": 2", "\"speed\": 2, \"interrupted\": {\"rate\": 4}",
     "unknown key 'units[1].interrupted.rate'"},
    {"\"noise\": 0", "\"cold\": \"yes\"", "cold must be true or false"},
    {"\"unit\": 3, ", "\"unit\": 3, \"stop\": 2, ", "unknown key 'changes[0].stop'"},
    {"\"steps\": 5", "\"steps\": 0", "steps = 0"},
    {"\"latency_s\": 1", "\"latency_s\": -1", "link.latency_s = -1"},
    {"\"bandwidth_Bps\": 9", "\"bandwidth_Bps\": 0", "link.bandwidth_Bps = 0"},
    {"\"unit\": 3", "\"unit\": 4", "changes[0].unit = 4"},
    {"\"unit\": 3", "\"factor\": 1e-300, \"unit\": 3", "changes[0].factor must be 0 or"},
    {"\"unit\": 3, ", "", "changes[0].unit is missing"},
    {"\"noise\": 0", "\"noise\": -1", "noise = -1"},
    {"\"tasks\"", "tasks", ":1:"},
};

static const char good[] = "{\"units\": [{\"kind\": \"cpu\", \"count\": 3, \"speed\": 1},"
                           " {\"kind\": \"device\", \"count\": 1, \"speed\": 2, \"space\": \"d\"}],"
                           " \"tasks\": {\"cost\": [1, 2, 3], \"bytes\": [4, 5, 6],"
                           " \"neighbours\": [[1], [2], [0]], \"face_bytes\": [[8], [8], [8]]},"
                           " \"steps\": 5, \"link\": {\"latency_s\": 1, \"bandwidth_Bps\": 9},"
                           " \"changes\": [{\"unit\": 3, \"step\": 1}], \"noise\": 0}";

static void refuses_by_name(void **state)
{
    struct plan_case c;
    assert_int_equal(plan_case_text(&c, good), EK_OK);
    plan_case_close(&c);
    status_mute(1);
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        char text[2048];
        const char *at = strstr(good, fault[i].piece);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, fault[i].by,
                 at + strlen(fault[i].piece));
        assert_int_equal(plan_case_text(&c, text), EK_USAGE);
        if (!strstr(status_message(), fault[i].says))
            fail_msg("'%s' does not say '%s'", status_message(), fault[i].says);
    }
    assert_int_equal(plan_case_open(&c, "/nowhere/case.json"), EK_USAGE);
    assert_int_equal(plan_case_text(&c, ""), EK_USAGE);
    assert_int_equal(plan_case_text(&c, "[]"), EK_USAGE);
    status_mute(-1);
}

/* NaN in a string is a word, not a number. */
static void leaves_texts_alone(void **state)
{
    struct plan_case c;
    static const char text[] = "{\"name\": \"NaN \\\"1e999\", \"steps\": 1,"
                               " \"units\": [{\"kind\": \"cpu\", \"count\": 1, \"speed\": 1}],"
                               " \"tasks\": {\"cost\": [1e-3, 2.5E+2]}}";
    assert_int_equal(plan_case_text(&c, text), EK_OK);
    assert_string_equal(c.name, "NaN \"1e999");
    assert_true(c.sim.job.cost[0] == 1e-3 && c.sim.job.cost[1] == 250);
    plan_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_everything),
        cmocka_unit_test(assumes_little),
        cmocka_unit_test(refuses_by_name),
        cmocka_unit_test(leaves_texts_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
