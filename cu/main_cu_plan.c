/* cu/main_cu_plan.c – cu-plan: what a policy would do on a machine, before anything runs there. */
#include "cu/plan_case.h"
#include "cu/sim.h"
#include "src/json.h"
#include "src/opt.h"
#include "src/version.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SCHEDULES = 64 };

struct settings {
    const char *simulate, *schedules, *json;
    bool cold, list_schedules, help, version;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {.name = "simulate",
     .type = OPT_TEXT,
     .offset = AT(simulate),
     .arg = "CASE",
     .help = "run policies on the tasks and units of a JSON file (- = standard input)"},
    {.name = "schedules",
     .type = OPT_TEXT,
     .offset = AT(schedules),
     .arg = "LIST",
     .help = "policies with their options, as dynamic:chunk=4,heft (all)"},
    {.name = "cold",
     .type = OPT_FLAG,
     .offset = AT(cold),
     .help = "policies begin without knowing how fast the units are"},
    {.name = "json",
     .type = OPT_TEXT,
     .offset = AT(json),
     .arg = "FILE",
     .help = "write the result as JSON to the file, or instead of text (-)"},
    {.name = "list-schedules",
     .type = OPT_FLAG,
     .offset = AT(list_schedules),
     .help = "the policies and their options"},
    {.name = "help", .type = OPT_FLAG, .offset = AT(help), .help = "this text"},
    {.name = "version", .type = OPT_FLAG, .offset = AT(version), .help = "version"},
    OPT_END,
};

static void print_help(const struct opt_group *groups, int n)
{
    puts("usage: cu-plan --simulate CASE [options]\n\n"
         "Runs scheduling policies under a virtual clock on a model of a machine.");
    opt_help(stdout, groups, n);
}

static json_t *run_json(const char *schedule, const struct sim_result *r)
{
    const struct {
        const char *key;
        double value;
    } number[] = {{"makespan_s", r->makespan},
                  {"total_s", r->total},
                  {"lower_bound_s", r->lower_bound},
                  {"ratio", r->ratio},
                  {"worst_ratio_from_step_4", r->worst_ratio},
                  {"computation_s", r->computation},
                  {"communication_s", r->communication},
                  {"bytes_moved", r->bytes_moved}};
    json_t *o = json_object();
    json_object_set_new(o, "schedule", json_string(schedule));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        json_object_set_new(o, number[i].key, json_number_or_null(number[i].value));
    json_object_set_new(o, "steps_to_steady", json_integer(r->steps_to_steady));
    json_object_set_new(o, "migrations", json_integer((json_int_t)r->migrations));
    return o;
}

static void print_run(const char *schedule, const struct sim_result *r)
{
    printf("%-20s %12.6g %7.3f %7.3f %12.6g %12.6g %7d %10zu\n", schedule, r->makespan, r->ratio,
           r->worst_ratio, r->total, r->communication, r->steps_to_steady, r->migrations);
}

static enum ek_status run_all(const struct plan_case *c, const struct settings *s,
                              const char **spec, int n, json_t *runs)
{
    bool text = !s->json || strcmp(s->json, "-");
    if (text)
        printf("%s: %zu tasks on %d units, %d steps, lower bound %.6g s\n\n"
               "%-20s %12s %7s %7s %12s %12s %7s %10s\n",
               c->name, c->sim.job.n, c->sim.ncu, c->sim.steps, sim_bound(&c->sim, NULL),
               "schedule", "last step s", "/bound", "worst*", "total s", "exchange s", "steady",
               "migrations");
    for (int i = 0; i < n; i++) {
        struct sim_result r;
        TRY(sim_run(&c->sim, spec[i], NULL, &r));
        json_array_append_new(runs, run_json(spec[i], &r));
        if (text)
            print_run(spec[i], &r);
    }
    if (text)
        puts("\n* of any step from the fourth on");
    return EK_OK;
}

static enum ek_status simulate(const struct settings *s, const char **spec, int n)
{
    struct plan_case c;
    TRY(plan_case_open(&c, s->simulate));
    c.sim.cold |= s->cold;
    json_t *root =
        json_pack("{s:s, s:I, s:i, s:i, s:[]}", "case", c.name, "tasks", (json_int_t)c.sim.job.n,
                  "units", c.sim.ncu, "steps", c.sim.steps, "runs");
    enum ek_status st = EK_OK;
    if (!root)
        st = status_fail(EK_LACK, "out of memory for JSON");
    if (!st)
        st = run_all(&c, s, spec, n, json_object_get(root, "runs"));
    if (!st && s->json)
        st = json_write(s->json, root);
    json_decref(root);
    plan_case_close(&c);
    return st;
}

static enum ek_status run(int argc, char **argv)
{
    struct settings s = {0};
    const char *spec[MAX_SCHEDULES];
    int n;
    const struct opt_group groups[] = {{"options:", options, &s}};
    TRY(opt_parse(groups, 1, argc, argv, NULL, NULL));
    if (s.help)
        print_help(groups, 1);
    if (s.version)
        puts("cu-plan " EK_VERSION);
    if (s.list_schedules)
        sched_print(stdout);
    if (s.help || s.version || s.list_schedules)
        return EK_OK;
    if (!s.simulate)
        FAIL(EK_USAGE, "nothing to do; try cu-plan --simulate CASE.json, or --help");
    char *list = s.schedules ? strdup(s.schedules) : NULL;
    enum ek_status st = sched_split(list, spec, MAX_SCHEDULES, &n);
    if (!st)
        st = simulate(&s, spec, n);
    free(list);
    return st;
}

int main(int argc, char **argv)
{
    status_program("cu-plan");
    return status_exit_code(run(argc, argv));
}
