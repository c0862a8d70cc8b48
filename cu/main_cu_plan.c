/* cu/main_cu_plan.c – cu-plan: simulates policies on a machine before anything runs there. */
#include "cu/sim/capacity_page.h"
#include "cu/rank/stop.h"
#include "src/json.h"
#include "src/opt.h"
#include "src/sort.h"
#include "src/version.h"
#include "cu/sim/plan_case.h"
#include "cu/sim/simulate_layout.h"

#include <omp.h>

struct simulate_request {
    const char *path;   /* case or record, "-" = standard input */
    const char *json;   /* file for the result, "-": standard output instead of text; or NULL */
    const char *layout; /* CPU units and devices of the case to use: "4x1+1"; "auto": those with
                           which each policy is fastest; NULL: all */
    bool cold;          /* policies begin without speeds or profiles, whatever the case says */
    char *schedules;    /* list of policies, split in place; NULL: all, or those in a record */
};

/* ---- policies on one case ---------------------------------------------------------------------*/
enum { MAX_SCHEDULES = 64 };

/* With more task times than this, a certificate takes too long. */
static const size_t MOST_TIMES = (size_t)1 << 24;

/* A unit's work in the last step. */
struct unit_work {
    size_t tasks;
    double busy, end; /* seconds of its tasks; end of the last one */
};

struct simulation {
    const struct simulate_request *request;
    struct plan_case c;
    const char *spec[MAX_SCHEDULES];
    int n;
    json_t *runs;
    struct simulate_layout layout; /* of the current policy */
    double *span;                  /* [steps] computation of each step of its run */
    struct unit_work *work;        /* [units] in its last step */
};

/* The record's measured run of this policy; NULL: none. */
static const struct plan_measured *measured(const struct simulation *s, const char *schedule)
{
    for (int i = 0; i < s->c.nmeasured; i++)
        if (!strcmp(s->c.measured[i].schedule, schedule))
            return &s->c.measured[i];
    return NULL;
}

static void note_task(void *arg, const struct sim_event *e)
{
    const struct simulation *s = arg;
    struct unit_work *d = &s->work[e->unit];
    if (e->step + 1 < s->c.sim.steps)
        return;
    d->tasks++;
    d->busy += e->seconds;
    d->end = e->start + e->seconds;
}

/* Arrays over units, for the last step: {"tasks": […], "busy_s": […], "end_s": […]}. */
static json_t *units_json(const struct simulation *s)
{
    json_t *tasks = json_array(), *busy = json_array(), *end = json_array();
    for (int u = 0; u < s->c.sim.ncu; u++) {
        json_array_append_new(tasks, json_integer((json_int_t)s->work[u].tasks));
        json_array_append_new(busy, json_real(s->work[u].busy));
        json_array_append_new(end, json_real(s->work[u].end));
    }
    return json_pack("{s:o, s:o, s:o}", "tasks", tasks, "busy_s", busy, "end_s", end);
}

static json_t *run_json(const struct simulation *s, const char *schedule,
                        const struct sim_result *r)
{
    const struct plan_measured *m = measured(s, schedule);
    const struct {
        const char *key;
        double value;
    } number[] = {{"makespan_s", r->makespan},
                  {"total_s", r->total},
                  {"lower_bound_s", r->lower_bound},
                  {"ratio", r->ratio},
                  {"gap", r->ratio - 1},
                  {"worst_ratio_from_step_4", r->worst_ratio},
                  {"computation_s", r->computation},
                  {"communication_s", r->communication},
                  {"bytes_moved", r->bytes_moved}};
    json_t *o = json_object();
    json_object_set_new(o, "schedule", json_string(schedule));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        json_object_set_new(o, number[i].key, json_number_or_null(number[i].value));
    json_object_set_new(o, "steps", json_numbers(s->span, (size_t)s->c.sim.steps));
    json_object_set_new(o, "steps_to_steady", json_integer(r->steps_to_steady));
    json_object_set_new(o, "migrations", json_integer((json_int_t)r->migrations));
    json_object_set_new(o, "loss", loss_json(&r->loss));
    if (s->request->layout)
        json_object_update_new(o, simulate_layout_json(&s->layout));
    else
        json_object_set_new(o, "units", units_json(s));
    if (m)
        json_object_set_new(o, "measured_s", json_real(m->seconds));
    return o;
}

/* {"bound_s", "unit_price", "task_price": [[task, price], …]} of the last step with the case's
 * seed; null: not known, or too expensive. */
static json_t *certificate_json(const struct sim_case *c)
{
    const size_t n = c->job.n;
    double *unit = calloc((size_t)c->ncu + n + 1, sizeof *unit),
           *task = unit ? unit + c->ncu : NULL;
    double bound = NAN;
    if (unit && c->steps > 0 && n <= MOST_TIMES / (size_t)c->ncu)
        bound = sim_certificate(c, c->steps - 1, unit, task);
    json_t *units = json_numbers(unit, bound >= 0 ? (size_t)c->ncu : 0), *tasks = json_array();
    for (size_t t = 0; t < n && bound >= 0; t++)
        if (task[t] > 0)
            json_array_append_new(tasks, json_pack("[I, f]", (json_int_t)t, task[t]));
    free(unit);
    json_t *o = json_pack("{s:f, s:o, s:o}", "bound_s", isnan(bound) ? 0 : bound, "unit_price",
                          units, "task_price", tasks);
    if (!isnan(bound))
        return o;
    json_decref(o);
    return json_null();
}

static void print_heading(const struct simulation *s)
{
    printf("%s: %zu tasks on %d units, %d steps, lower bound %.6g s\n\n"
           "%-20s %12s %7s %7s %7s %12s %12s %7s %10s%s\n",
           s->c.name, s->c.sim.job.n, s->c.sim.ncu, s->c.sim.steps, sim_bound(&s->c.sim, NULL),
           "schedule", "last step s", "/bound", "gap", "worst*", "total s", "exchange s", "steady",
           "migrations",
           s->c.nmeasured       ? "   measured s predicted"
           : s->request->layout ? "  layout"
                                : "");
}

static void print_run(const struct simulation *s, const char *schedule, const struct sim_result *r)
{
    const struct plan_measured *m = measured(s, schedule);
    char worst[16] = "-"; /* fewer than four steps */
    if (isfinite(r->worst_ratio))
        snprintf(worst, sizeof worst, "%.3f", r->worst_ratio);
    printf("%-20s %12.6g %7.3f %5.1f %% %7s %12.6g %12.6g %7d %10zu", schedule, r->makespan,
           r->ratio, 100 * (r->ratio - 1), worst, r->total, r->communication, r->steps_to_steady,
           r->migrations);
    if (m)
        printf(" %12.6g %+7.1f %%", m->seconds, 100 * (r->total / m->seconds - 1));
    if (s->request->layout)
        printf("  %s", cu_layout_text(&s->layout.layout));
    if (s->layout.tune.n > 1)
        printf(" of %d tried", s->layout.tune.n);
    putchar('\n');
}

static void print_losses(const struct simulation *s, const struct sim_result *r)
{
    puts("\n* of any step from the fourth on\n");
    loss_print_heading(stdout, 20);
    for (int i = 0; i < s->n; i++)
        loss_print(stdout, 20, s->spec[i], &r[i].loss, r[i].total);
}

static enum ek_status run_once(struct simulation *s, const char *schedule, struct sim_result *r)
{
    memset(s->work, 0, (size_t)s->c.sim.ncu * sizeof *s->work);
    return simulate_layout(&s->c.sim, s->request->layout, schedule, &s->layout, s->span, r);
}

/* As what is measured is the median of several runs, so is what a record foretells: finds the seed
 * of the median of several runs. */
static enum ek_status find_median(struct simulation *s, const char *schedule, struct sim_result *r)
{
    enum { RUNS = 5 };
    const unsigned first = s->c.sim.seed;
    double total[RUNS], sorted[RUNS];
    for (unsigned i = 0; i < RUNS; i++) {
        s->c.sim.seed = first + i;
        TRY(run_once(s, schedule, r));
        total[i] = sorted[i] = r->total;
    }
    const double median = sort_median(sorted, RUNS);
    while (s->c.sim.seed > first && total[s->c.sim.seed - first] != median)
        s->c.sim.seed--;
    return EK_OK;
}

static enum ek_status run_all(struct simulation *s)
{
    struct sim_result r[MAX_SCHEDULES];
    const bool text = !s->request->json || strcmp(s->request->json, "-");
    const unsigned seed = s->c.sim.seed;
    for (int i = 0; i < s->n; i++) {
        if (s->c.nmeasured)
            TRY(find_median(s, s->spec[i], &r[i]));
        TRY(run_once(s, s->spec[i], &r[i]));
        s->c.sim.seed = seed;
        json_array_append_new(s->runs, run_json(s, s->spec[i], &r[i]));
        if (text && i == 0)
            print_heading(s);
        if (text)
            print_run(s, s->spec[i], &r[i]);
    }
    if (text)
        print_losses(s, r);
    return EK_OK;
}

/* The requested policies; for a record, those it has. */
static enum ek_status choose_schedules(struct simulation *s)
{
    if (s->request->schedules || !s->c.nmeasured)
        return sched_split(s->request->schedules, s->spec, MAX_SCHEDULES, &s->n);
    for (s->n = 0; s->n < s->c.nmeasured && s->n < MAX_SCHEDULES; s->n++)
        s->spec[s->n] = s->c.measured[s->n].schedule;
    return EK_OK;
}

/* Simulates and prints. EK_USAGE: bad case, policy or layout. One thread. */
static enum ek_status simulate_case(const struct simulate_request *request)
{
    struct simulation s = {.request = request};
    TRY(plan_case_open(&s.c, request->path));
    s.c.sim.cold |= request->cold;
    s.runs = json_array();
    s.span = calloc((size_t)s.c.sim.steps + 1, sizeof *s.span);
    s.work = calloc((size_t)s.c.sim.ncu + 1, sizeof *s.work);
    if (!request->layout) {
        s.c.sim.on_task = note_task;
        s.c.sim.on_task_arg = &s;
    }
    json_auto_t *root =
        json_pack("{s:s, s:I, s:i, s:i, s:o}", "case", s.c.name, "tasks", (json_int_t)s.c.sim.job.n,
                  "units", s.c.sim.ncu, "steps", s.c.sim.steps, "runs", s.runs);
    enum ek_status st =
        root && s.span && s.work ? EK_OK : status_fail(EK_UNAVAILABLE, "out of memory for JSON");
    if (!st && s.c.nmeasured && request->layout)
        s.c.nmeasured = 0; /* these are not the units that were measured */
    THEN(st, choose_schedules(&s));
    THEN(st, run_all(&s));
    if (!st && !request->layout)
        json_object_set_new(root, "certificate", certificate_json(&s.c.sim));
    if (!st && request->json)
        st = json_write(request->json, root);
    free(s.span);
    free(s.work);
    plan_case_close(&s.c);
    return st;
}

/* Policies that know the times beforehand; others need some steps to show what they are worth. */
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
     .help = "simulate policies on the tasks and units of a JSON file (- = standard input)"},
    {"layout", OPT_TEXT, AT(layout), "NxM+G",
     .help = "use only these units of the case; auto: those with which each policy is fastest"},
    {"machine", OPT_FILE, AT(machine), "FILE",
     .help = "simulate policies on every combination of this file's nodes"},
    {"profile", OPT_FILE, AT(profile), "FILE", .help = "the tasks: a profile that a program made"},
    {"run", OPT_FILE, AT(run), "FILE",
     .help = "the tasks: a program's --json output, or {\"tasks\": {\"cost\": [...]}}"},
    {"csv", OPT_TEXT, AT(csv), "FILE",
     .help = "write all combinations; rows that it already has are not simulated again"},
    {"report", OPT_TEXT, AT(report), "FILE",
     .help = "write one interactive HTML page that opens offline"},
    {"jobs", OPT_INT, AT(jobs), "N", "simulations at the same time, also -j N (all cores)",
     .min = 1, .max = 4096},
    {"sample", OPT_INT, AT(sample), "K", "simulate K combinations drawn at random instead of all",
     .min = 1, .max = 1e6},
    {"seed", OPT_INT, AT(seed), "N", "seed of the sample (1)", .min = 0, .max = 2147483647},
    {"steps", OPT_INT, AT(steps), "N",
     "steps to simulate, the last one counts (1); more for policies that learn", .min = 1,
     .max = 1e6},
    {"within", OPT_REAL, AT(within), "SHARE",
     "how much slower than the best a cheap combination may be (0.05)", .min = 0, .max = 100},
    {"schedules", OPT_TEXT, AT(schedules), "LIST",
     .help = "policies with their options, such as dynamic:chunk=4,heft (all)"},
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
    puts("cu-plan – simulates scheduling policies on a machine, or on parts of a cluster\n\n"
         "Usage: cu-plan --simulate CASE [options]\n"
         "       cu-plan --machine FILE --profile FILE [options]\n\n"
         "Runs scheduling policies under a virtual clock: on one model of a machine, or on\n"
         "every combination of a cluster's nodes, to find out how many a problem is worth.");
    opt_help(stdout, groups, n, true);
}

/* ---- capacity --------------------------------------------------------------------------------*/
static enum ek_status say_answer(const struct settings *s, const struct capacity *c)
{
    OWNED(capacity_answer_close) struct capacity_answer answer = {0};
    TRY(capacity_answer_open(&answer, c, s->within));
    if (!s->json || strcmp(s->json, "-"))
        capacity_answer_print(&answer, c, stdout);
    json_auto_t *root = s->json ? capacity_answer_json(&answer, c) : NULL;
    TRY(s->json ? json_write(s->json, root) : EK_OK);
    return s->report ? capacity_page_write(s->report, c, &answer) : EK_OK;
}

static enum ek_status plan_on(const struct settings *s, const struct capacity_work *w,
                              const struct capacity_machine *m, const char **spec, int n)
{
    OWNED(capacity_close) struct capacity c = {0};
    TRY(capacity_open(&c, w, m, spec, n, s->steps, (size_t)s->sample, (unsigned)s->seed));
    stop_catch();
    enum ek_status st = capacity_run(&c, s->jobs, s->csv);
    if (st == EK_STOPPED)
        status_fail(st, s->csv ? "interrupted; the same command resumes where this one ended"
                               : "interrupted; with --csv the same command could resume later");
    THEN(st, say_answer(s, &c));
    return st;
}

static enum ek_status plan_capacity(const struct settings *s, char *schedules)
{
    OWNED(capacity_work_close) struct capacity_work w = {0};
    OWNED(capacity_machine_close) struct capacity_machine m = {0};
    const char *spec[MAX_SCHEDULES];
    int n;
    TRY(sched_split(schedules, spec, MAX_SCHEDULES, &n));
    if (!s->profile == !s->run)
        FAIL(EK_USAGE, "--machine needs the tasks, either from --profile FILE or from --run FILE");
    TRY(capacity_work_open(&w, s->profile ? s->profile : s->run));
    TRY(capacity_machine_open(&m, s->machine, &w));
    return plan_on(s, &w, &m, spec, n);
}

/* ---- command line ----------------------------------------------------------------------------*/
/* Accepts -j 4 and -j4, as make does; opt_parse() knows only long names. */
static enum ek_status lengthen(int argc, char **argv)
{
    static char text[64];
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-j", 2))
            continue;
        if (snprintf(text, sizeof text, "--jobs%s%s", argv[i][2] ? "=" : "", argv[i] + 2) >=
            (int)sizeof text)
            FAIL(EK_USAGE, "%s: must be a number", argv[i]);
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
        FAIL(EK_USAGE, "give either --simulate CASE or --machine FILE; try --help");
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
    stop_begin();
    return status_end(run(argc, argv));
}
