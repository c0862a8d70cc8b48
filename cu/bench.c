/* cu/bench.c – the shared main: reads the command line, runs the policies on the problem, and says
 * what came out. */
#include "cu/bench.h"
#include "cu/bench_profile.h"
#include "cu/cluster.h"
#include "cu/fault.h"
#include "cu/guard.h"
#include "cu/memory.h"
#include "cu/record.h"
#include "cu/report.h"
#include "cu/result.h"
#include "cu/stop.h"
#include "cu/trace.h"
#include "src/progress.h"
#include "src/version.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SCHEDULES = 64 };

struct settings {
    bool help, version, list_schedules, list_devices, quiet, check, strict, display_env;
    const char *layout, *devices, *schedule, *compare, *json, *trace, *report, *profile;
    int repeat;
};

#define AT(member) offsetof(struct settings, member)
static const struct opt common_options[] = {
    {"layout", OPT_TEXT, AT(layout), "NxM+G", "N CPU units of M cores and G devices, or auto",
     .env = "CU_LAYOUT"},
    {"devices", OPT_TEXT, AT(devices), "LIST", "e.g. opencl:0,opencl:1, or auto",
     .env = "CU_DEVICES"},
    {"schedule", OPT_TEXT, AT(schedule), "NAME[:OPTS]", "policy, e.g. dynamic:chunk=4 (evenkeel)",
     .env = "CU_SCHEDULE"},
    {"compare", OPT_TEXT, AT(compare), "LIST", "run these policies one after another (all)",
     .optional = true},
    {"repeat", OPT_INT, AT(repeat), "N", "runs of each policy, the median counts (1)", .min = 1,
     .max = 64},
    {"profile", OPT_TEXT, AT(profile), "make|use|off",
     "times of tasks from former runs: measure them now (make), take them where they are (use)",
     .optional = true},
    {"check", OPT_FLAG, AT(check), .help = "only say whether the result verifies"},
    {"json", OPT_TEXT, AT(json), "FILE", "write the results as JSON; - is standard output",
     .env = NULL},
    {"trace", OPT_TEXT, AT(trace), "FILE", "write a Chrome/Perfetto trace", .env = "CU_TRACE"},
    {"report", OPT_TEXT, AT(report), "FILE", "write one HTML page that opens offline",
     .env = "CU_REPORT"},
    {"quiet", OPT_FLAG, AT(quiet), .help = "no table, no progress line"},
    {"strict", OPT_FLAG, AT(strict), .help = "more threads than cpus is an error"},
    {"display-env", OPT_FLAG, AT(display_env), .help = "print the effective settings",
     .env = "CU_DISPLAY_ENV"},
    {"list-schedules", OPT_FLAG, AT(list_schedules), .help = "print the policies and leave"},
    {"list-devices", OPT_FLAG, AT(list_devices), .help = "print the devices and leave"},
    {"help", OPT_FLAG, AT(help), .help = "print this and leave"},
    {"version", OPT_FLAG, AT(version), .help = "print the version and leave"},
    OPT_END,
};

/* Everything of one process. */
struct bench {
    const struct bench_program *program;
    void *st;
    struct settings set;
    char *schedules_text;
    char problem[256];
    size_t bytes; /* that it takes on the host, on all nodes together */
    struct cu_set *units;
    struct sched_job job;
    struct bench_profile profile;
    struct result_set results;
    struct record *record; /* NULL: nobody asked for a file, or the runs are none */
    struct trace *trace;
};

/* ---- command line ---------------------------------------------------------------------------- */

static void print_help(const struct bench_program *p, const struct opt_group *groups)
{
    printf("%s – %s\n\nusage: %s %s%s[options]\n", p->name, p->summary, p->name,
           p->operand ? p->operand : "", p->operand ? " " : "");
    opt_help(stdout, groups, 2);
    printf("\nexit codes: 0 ok, 1 a result failed verification, 2 bad usage or input,\n"
           "            3 the machine lacks something, 4 interrupted\n"
           "for tests: CU_FAULT=LIST of " FAULT_FORMS "\n");
}

static enum ek_status print_devices(void)
{
    for (int b = 0; b < backend_count(); b++) {
        const struct backend_ops *ops = backend_at(b);
        int n = 0;
        status_mute(1);
        if (ops->count(&n))
            printf("%s: %s\n", ops->name, status_message());
        for (int i = 0; i < n; i++) {
            struct backend_info info;
            if (!ops->info(i, &info))
                printf("%s:%d  %s, %s, %.1f GiB, %d compute units\n", ops->name, i, info.name,
                       info.vendor, (double)info.memory / (1 << 30), info.compute_units);
        }
        status_mute(-1);
    }
    return EK_OK;
}

/* True when an option asked for a text only. */
static bool answered(struct bench *b, const struct opt_group *groups)
{
    if (b->set.help)
        print_help(b->program, groups);
    else if (b->set.version)
        printf("%s (Evenkeel) %s\n", b->program->name, EK_VERSION);
    else if (b->set.list_schedules)
        sched_print(stdout);
    else if (b->set.list_devices)
        print_devices();
    else
        return false;
    return true;
}

/* The options, and the one word beside them where the program takes one. */
static enum ek_status parse(struct bench *b, const struct opt_group *groups, int argc, char **argv)
{
    const struct bench_program *p = b->program;
    if (!p->operand)
        return opt_parse(groups, 2, argc, argv, NULL, NULL);
    const char **word = calloc((size_t)argc, sizeof *word);
    int n = 0;
    if (!word)
        FAIL(EK_LACK, "out of memory");
    enum ek_status st = opt_parse(groups, 2, argc, argv, word, &n);
    if (!st && n > 1)
        st = status_fail(EK_USAGE, "'%s' is one word too many: %s takes one %s", word[1], p->name,
                         p->operand);
    if (!st && n == 1)
        *(const char **)((char *)b->st + p->operand_at) = word[0];
    free(word);
    return st;
}

/* "" is the option without a word. */
static enum ek_status check_profile_option(const struct settings *set)
{
    static const char *const modes[] = {"", "make", "use", "off"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(set->profile, modes[i]))
            return EK_OK;
    FAIL(EK_USAGE, "--profile=%s: not make, use or off%s", set->profile,
         opt_suggest(set->profile, modes + 1, 3));
}

/* The specs to run: --compare's list or the one --schedule. */
static enum ek_status choose_schedules(struct bench *b, const char **specs, int *n)
{
    const char *list = b->set.compare;
    if (!list)
        list = b->set.schedule;
    b->schedules_text = strdup(list);
    if (!b->schedules_text)
        FAIL(EK_LACK, "out of memory");
    return sched_split(b->schedules_text, specs, MAX_SCHEDULES, n);
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct watch {
    struct bench *bench;
    int before; /* steps finished by earlier runs */
};

static void show_step(void *arg, int step)
{
    struct watch *w = arg;
    progress_at(w->before + step);
}

static enum ek_status finish_run(struct bench *b, struct team *team, struct result_run *run)
{
    if (run->interrupted)
        return EK_OK;
    TRY(team_bring_home(team));
    TRY(b->program->check(b->st, &run->verified, &run->verification));
    if (b->program->facts && !(run->facts = b->program->facts(b->st)))
        FAIL(EK_LACK, "%s: out of memory for the results", b->program->name);
    return EK_OK;
}

/* One run of one policy from the initial state. Interrupted runs are recorded, too. */
static enum ek_status run_once(struct bench *b, const char *schedule, struct result_run *run,
                               struct watch *watch)
{
    struct team *team;
    TRY(b->program->reset(b->st));
    TRY(team_open(b->units, &b->job, b->program->verbs, b->st, schedule, &team));
    team_on_step(team, show_step, watch);
    if (b->program->save_every)
        team_save_every(team, b->program->save_every(b->st));
    if (b->record || b->trace)
        team_record(team);
    enum ek_status st = team_run(team, b->program->steps(b->st));
    watch->before += team_result(team)->steps;
    b->results.host.work = b->program->work(b->st);
    if (st == EK_OK || st == EK_STOPPED) {
        enum ek_status taken = result_take(run, &b->results.host, team, schedule);
        run->interrupted = st == EK_STOPPED;
        if (!taken)
            taken = finish_run(b, team, run);
        if (!taken && b->record && !st)
            taken = record_team(b->record, team);
        if (!taken && b->trace)
            taken = trace_add(b->trace, b->units, team, schedule);
        st = taken ? taken : st;
    }
    team_close(team);
    return st;
}

/* Builds kernels, touches pages, fills caches; leaves nothing behind. */
static enum ek_status warm_up(struct bench *b)
{
    struct team *team;
    if (b->program->cold)
        return EK_OK;
    TRY(b->program->reset(b->st));
    TRY(team_open(b->units, &b->job, b->program->verbs, b->st, "static", &team));
    enum ek_status st = team_run(team, 1);
    if (!st)
        st = team_bring_home(team);
    team_close(team);
    return st;
}

/* Makes a profile if that was asked for, and lets the policies know what there is. */
static enum ek_status profile(struct bench *b)
{
    const char *mode = b->set.profile;
    if (!strcmp(mode, "off"))
        return EK_OK;
    TRY(bench_profile_open(b->program, b->problem, b->units, &b->job, &b->profile));
    if (strcmp(mode, "use"))
        TRY(bench_profile_make(&b->profile, b->program, b->st, &b->job));
    b->results.host.profile = bench_profile_use(&b->profile, &b->job) ? b->profile.path : NULL;
    return EK_OK;
}

/* Policies one after another, again for each repeat: what disturbs the machine disturbs all. */
static enum ek_status run_all(struct bench *b, const char **specs, int n)
{
    struct result_set *r = &b->results;
    r->nschedules = n;
    r->repeat = b->set.repeat;
    r->run = calloc((size_t)(n * r->repeat), sizeof *r->run);
    if (!r->run)
        FAIL(EK_LACK, "out of memory for the results");
    TRY(warm_up(b));
    TRY(profile(b));
    struct watch watch = {b, 0};
    enum ek_status st = EK_OK;
    progress_begin(b->program->name, (double)n * r->repeat * b->program->steps(b->st), "steps");
    for (int repeat = 0; repeat < r->repeat && !st; repeat++)
        for (int s = 0; s < n && !st; s++)
            st = run_once(b, specs[s], &r->run[s * r->repeat + repeat], &watch);
    progress_end();
    return st;
}

/* ---- what is said at the end ----------------------------------------------------------------- */

static void print_heading(const struct bench *b)
{
    const struct result_host *h = &b->results.host;
    printf("%s %s  ", b->program->name, b->problem);
    if (cluster_size() > 1)
        printf("%d ranks of ", cluster_size());
    printf("layout %s%s%s\n", cu_layout_text(&h->set->layout), h->devices[0] ? "  devices " : "",
           h->devices);
    if (h->profile)
        printf("task times known from %s\n", h->profile);
}

/* What the simulator makes the runs again from. */
static json_t *case_of(struct bench *b)
{
    char name[1024];
    const struct result_host *h = &b->results.host;
    snprintf(name, sizeof name, "%s %s, layout %s%s%s", b->program->name, b->problem,
             cu_layout_text(&h->set->layout), h->devices[0] ? " " : "", h->devices);
    return record_case(b->record, name, b->program->steps(b->st));
}

static enum ek_status write_files(struct bench *b)
{
    json_t *json = result_json(&b->results, b->set.compare != NULL);
    enum ek_status st = EK_OK;
    if (json && b->record)
        json_object_set_new(json, "case", case_of(b));
    if (b->set.json && json)
        st = json_write(b->set.json, json);
    if (!st && b->trace && json)
        st = trace_write(b->trace, b->set.trace, json);
    if (!st && b->set.report && json)
        st = report_write(b->set.report, b->program->name, json, trace_events(b->trace));
    json_decref(json);
    return st;
}

static bool all_verified(const struct result_set *r)
{
    for (int i = 0; i < r->nschedules * r->repeat; i++)
        if (r->run[i].schedule && !r->run[i].verified && !r->run[i].interrupted)
            return false;
    return true;
}

/* Whether people read standard output: rank 0 speaks for all. */
static bool speaks(const struct bench *b)
{
    return cluster_rank() == 0 && !b->set.quiet && !b->set.check &&
           !(b->set.json && !strcmp(b->set.json, "-"));
}

/* `st` is how the runs ended: EK_OK or EK_STOPPED. */
static enum ek_status conclude(struct bench *b, enum ek_status st)
{
    bool verified = all_verified(&b->results);
    if (cluster_rank() > 0) /* rank 0 speaks for all */
        return st ? st : verified ? EK_OK : EK_WRONG;
    if (b->set.check && !st) {
        printf("%s %s: %s\n", b->program->name, b->problem, verified ? "verified" : "NOT verified");
    } else if (speaks(b)) {
        print_heading(b);
        result_table(stdout, &b->results);
        const struct result_run *best = result_best(&b->results);
        if (b->program->remark && best && best->facts)
            b->program->remark(stdout, best->facts);
    }
    TRY(write_files(b));
    if (st)
        return st;
    if (!verified)
        FAIL(EK_WRONG, "%s: a result failed its verification; --json shows the numbers",
             b->problem);
    return EK_OK;
}

static void interrupted(int signal)
{
    (void)signal;
    stop_request();
}

/* The first Ctrl-C ends the run in order, the second one at once. A file that grows too large is an
 * error of its writer, no signal. */
static void catch_signals(void)
{
    signal(SIGXFSZ, SIG_IGN);
    struct sigaction act = {.sa_handler = interrupted, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

static void name_devices(struct result_host *h)
{
    size_t used = 0;
    for (int c = h->set->layout.ncpu; c < h->set->n && used < sizeof h->devices; c++)
        used += (size_t)snprintf(h->devices + used, sizeof h->devices - used, "%s%s",
                                 used ? "," : "", h->set->cu[c].name);
}

/* Before it is taken. */
static void tell_memory(const struct bench *b)
{
    char need[32], have[32];
    printf("%s %s: %s of memory%s, %s are available\n", b->program->name, b->problem,
           memory_text(memory_here(b->bytes), need, sizeof need),
           cluster_size() > 1 ? " on this node" : "",
           memory_text(memory_available(), have, sizeof have));
    fflush(stdout);
}

static enum ek_status run_program(struct bench *b, const char **specs, int n)
{
    const struct bench_program *p = b->program;
    catch_signals(); /* before the set-up, which is long where the problem is large */
    if (speaks(b) && b->bytes)
        tell_memory(b);
    TRY(p->open(b->st, b->units, &b->job));
    b->results.host = (struct result_host){.program = p->name,
                                           .problem = b->problem,
                                           .unit = p->unit,
                                           .set = b->units,
                                           .ntasks = b->job.n,
                                           .bytes = b->bytes};
    name_devices(&b->results.host);
    if (b->set.trace || b->set.report)
        TRY(trace_open(&b->trace));
    if ((b->set.json || b->set.trace || b->set.report) && record_worth(&b->job))
        TRY(record_open(b->units, &b->job, &b->record));
    enum ek_status st = run_all(b, specs, n);
    if (st && st != EK_STOPPED)
        return st;
    return conclude(b, st);
}

/* Everything between the plan and its end. The caller closes program and units. */
static enum ek_status run_planned(struct bench *b, char **argv, const char **specs, int n)
{
    const struct bench_program *p = b->program;
    if (p->save_every && p->save_every(b->st) && n * b->set.repeat > 1)
        FAIL(EK_USAGE,
             "a run that is saved must be the only one: leave out --compare and --repeat");
    TRY(memory_check(b->problem, b->bytes));
    TRY(guard_rank());
    struct cu_options wanted = {b->set.layout, b->set.devices, b->set.strict, b->set.display_env};
    TRY(cu_prepare(&wanted, argv));
    TRY(cluster_open());
    progress_quiet(b->set.quiet || cluster_rank() > 0);
    TRY(cu_open(&wanted, &b->units));
    const enum ek_status st = run_program(b, specs, n);
    result_free(&b->results);
    trace_close(b->trace);
    record_close(b->record);
    bench_profile_close(&b->profile);
    return st;
}

static enum ek_status bench(struct bench *b, int argc, char **argv)
{
    const struct bench_program *p = b->program;
    const char *specs[MAX_SCHEDULES];
    int n;
    const struct opt_group groups[] = {{"problem:", p->opts, b->st},
                                       {"run:", common_options, &b->set}};
    if (p->defaults)
        p->defaults(b->st, p);
    TRY(parse(b, groups, argc, argv));
    if (answered(b, groups))
        return EK_OK;
    bool done = false;
    if (p->answer)
        TRY(p->answer(b->st, &done));
    if (done)
        return EK_OK;
    TRY(check_profile_option(&b->set));
    TRY(choose_schedules(b, specs, &n));
    enum ek_status st = p->plan(b->st, b->problem, sizeof b->problem, &b->bytes);
    if (!st)
        st = run_planned(b, argv, specs, n);
    p->close(b->st);
    cu_close(b->units);
    return st;
}

int bench_main(const struct bench_program *program, int argc, char **argv)
{
    status_program(program->name);
    struct bench b = {.program = program,
                      .set = {.repeat = 1, .profile = "use", .schedule = "evenkeel"},
                      .st = calloc(1, program->size)};
    enum ek_status st = b.st ? bench(&b, argc, argv) : status_fail(EK_LACK, "out of memory");
    free(b.schedules_text);
    free(b.st);
    cluster_close(st == EK_STOPPED || st == EK_WRONG ? EK_OK : st);
    return status_exit_code(st);
}
