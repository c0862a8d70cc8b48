/* cu/main_cu_plan.c – cu-plan: what a policy would do on a machine, before anything runs there. */
#include "cu/sim/capacity_page.h"
#include "cu/sim/simulate.h"
#include "cu/rank/stop.h"
#include "src/json.h"
#include "src/opt.h"
#include "src/version.h"
#include "src/owned.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCHEDULES = 64 };

/* Those that know the times beforehand: others show what they are worth after some steps only. */
static const char CAPACITY_SCHEDULES[] = "round-robin,sorted-greedy,abe,heft,evenkeel";

struct settings {
    const char *simulate, *schedules, *json;
    const char *layout, *machine, *profile, *run, *csv, *report;
    int jobs, sample, seed, steps;
    double within;
    const char *help; /* NULL: not asked for */
    bool cold, list_schedules, version;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt options[] = {
    {"simulate", OPT_FILE, AT(simulate), "CASE",
     .help = "run policies on the tasks and units of a JSON file (- = standard input)"},
    {"layout", OPT_TEXT, AT(layout), "NxM+G",
     .help = "take only so many of the units; auto: as many as are fastest, neighbours slow one "
             "another"},
    {"machine", OPT_FILE, AT(machine), "FILE",
     .help = "run policies on every combination of this file's nodes"},
    {"profile", OPT_FILE, AT(profile), "FILE", .help = "the tasks: a profile that a program made"},
    {"run", OPT_FILE, AT(run), "FILE",
     .help = "the tasks: what a program wrote with --json, or {\"tasks\": {\"cost\": [...]}}"},
    {"csv", OPT_TEXT, AT(csv), "FILE",
     .help = "write all combinations; what it holds already is not simulated again"},
    {"report", OPT_TEXT, AT(report), "FILE",
     .help = "write one interactive HTML page that opens offline"},
    {"jobs", OPT_INT, AT(jobs), "N", "simulations at the same time, also -j N (all cores)",
     .min = 1, .max = 4096},
    {"sample", OPT_INT, AT(sample), "K", "K combinations drawn at random instead of all", .min = 1,
     .max = 1e6},
    {"seed", OPT_INT, AT(seed), "N", "of the sample (1)", .min = 0, .max = 2147483647},
    {"steps", OPT_INT, AT(steps), "N",
     "steps of a combination, the last one counts (1); more for policies that learn", .min = 1,
     .max = 1e6},
    {"within", OPT_REAL, AT(within), "SHARE",
     "how much slower than the best a cheap combination may be (0.05)", .min = 0, .max = 100},
    {"schedules", OPT_TEXT, AT(schedules), "LIST",
     .help = "policies with their options, as dynamic:chunk=4,heft (all)"},
    {"cold", OPT_FLAG, AT(cold), .help = "policies begin without knowing how fast the units are"},
    {"json", OPT_TEXT, AT(json), "FILE",
     .help = "write the result as JSON to the file, or instead of text (-)"},
    {"list-schedules", OPT_FLAG, AT(list_schedules), .help = "the policies and their options"},
    {"help", OPT_TEXT, AT(help), "all", "this text", .optional = true},
    {"version", OPT_FLAG, AT(version), .help = "version"},
    OPT_END,
};

static void print_help(const struct opt_group *groups, int n)
{
    puts("cu-plan – what scheduling policies would do on a machine, or parts of a cluster\n\n"
         "Usage: cu-plan --simulate CASE [options]\n"
         "       cu-plan --machine FILE --profile FILE [options]\n\n"
         "Runs scheduling policies under a virtual clock: on one model of a machine, or on\n"
         "every combination of a cluster's nodes to find out which a problem is worth.");
    opt_help(stdout, groups, n, true);
}

/* ---- capacity --------------------------------------------------------------------------------*/
static enum ek_status say_answer(const struct settings *s, const struct capacity *c)
{
    struct capacity_answer answer;
    enum ek_status st = capacity_answer_open(&answer, c, s->within);
    if (!st && (!s->json || strcmp(s->json, "-")))
        capacity_answer_print(&answer, c, stdout);
    if (!st && s->json) {
        json_t *root = capacity_answer_json(&answer, c);
        st = root ? json_write(s->json, root)
                  : status_fail(EK_UNAVAILABLE, "out of memory for JSON");
        json_decref(root);
    }
    if (!st && s->report)
        st = capacity_page_write(s->report, c, &answer);
    capacity_answer_close(&answer);
    return st;
}

static enum ek_status plan_on(const struct settings *s, const struct capacity_work *w,
                              const struct capacity_machine *m, const char **spec, int n)
{
    struct capacity c;
    enum ek_status st =
        capacity_open(&c, w, m, spec, n, s->steps, (size_t)s->sample, (unsigned)s->seed);
    if (!st) {
        stop_catch();
        st = capacity_run(&c, s->jobs, s->csv);
    }
    if (st == EK_STOPPED)
        status_fail(st, s->csv ? "interrupted; the same command goes on where this one ended"
                               : "interrupted; with --csv the same command would go on later");
    THEN(st, say_answer(s, &c));
    capacity_close(&c);
    return st;
}

static enum ek_status plan_capacity(const struct settings *s, char *schedules)
{
    struct capacity_work w;
    struct capacity_machine m;
    const char *spec[MAX_SCHEDULES];
    int n;
    TRY(sched_split(schedules, spec, MAX_SCHEDULES, &n));
    if (!s->profile == !s->run)
        FAIL(EK_USAGE, "--machine wants the tasks, either by --profile FILE or by --run FILE");
    TRY(capacity_work_open(&w, s->profile ? s->profile : s->run));
    enum ek_status st = capacity_machine_open(&m, s->machine, &w);
    if (!st) {
        st = plan_on(s, &w, &m, spec, n);
        capacity_machine_close(&m);
    }
    capacity_work_close(&w);
    return st;
}

/* ---- command line ----------------------------------------------------------------------------*/
/* -j 4 and -j4 as make has them; opt_parse() knows long names only. */
static enum ek_status lengthen(int argc, char **argv)
{
    static char text[64];
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-j", 2))
            continue;
        if (snprintf(text, sizeof text, "--jobs%s%s", argv[i][2] ? "=" : "", argv[i] + 2) >=
            (int)sizeof text)
            FAIL(EK_USAGE, "%s: a number is wanted", argv[i]);
        argv[i] = text;
    }
    return EK_OK;
}

static enum ek_status run(int argc, char **argv)
{
    struct settings s = {.jobs = omp_get_num_procs(), .seed = 1, .steps = 1, .within = 0.05};
    const struct opt_group groups[] = {{"options:", options, &s}};
    TRY(lengthen(argc, argv));
    TRY(opt_parse(groups, 1, argc, argv, NULL, NULL));
    if (s.help)
        print_help(groups, 1);
    if (s.version)
        puts("cu-plan (Evenkeel) " EK_VERSION);
    if (s.list_schedules)
        sched_print(stdout);
    if (s.help || s.version || s.list_schedules)
        return EK_OK;
    if (!s.simulate == !s.machine)
        FAIL(EK_USAGE, "either --simulate CASE or --machine FILE is wanted; try --help");
    if (s.simulate && (s.report || s.csv || s.profile || s.run || s.sample))
        FAIL(EK_USAGE, "--%s goes with --machine, not with --simulate",
             s.report    ? "report"
             : s.csv     ? "csv"
             : s.profile ? "profile"
             : s.run     ? "run"
                         : "sample");
    if (s.machine && (s.layout || s.cold))
        FAIL(EK_USAGE, "--%s goes with --simulate, not with --machine",
             s.layout ? "layout" : "cold");
    if (s.machine && !s.schedules)
        s.schedules = CAPACITY_SCHEDULES;
    OWNED_MEMORY char *list = s.schedules ? strdup(s.schedules) : NULL;
    const struct simulate_request one = {
        .path = s.simulate, .json = s.json, .layout = s.layout, .cold = s.cold, .schedules = list};
    return s.machine ? plan_capacity(&s, list) : simulate_case(&one);
}

int main(int argc, char **argv)
{
    status_begin("cu-plan");
    stop_catch_warning();
    return status_end(run(argc, argv));
}
