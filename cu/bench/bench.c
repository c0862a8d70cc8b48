/* cu/bench/bench.c – the shared main: reads the command line, runs the policies on the problem and
 * reports the results. */
#include "cu/bench/bench.h"
#include "cu/bench/bench_layout.h"
#include "cu/bench/bench_options.h"
#include "cu/bench/bench_profile.h"
#include "cu/bench/bench_trial.h"
#include "cu/rank/cluster.h"
#include "cu/rank/family.h"
#include "cu/rank/guard.h"
#include "cu/bench/memory.h"
#include "cu/sim/record.h"
#include "cu/bench/report.h"
#include "cu/bench/result.h"
#include "cu/rank/stop.h"
#include "cu/unit/prepare.h"
#include "cu/bench/trace.h"
#include "src/file.h"
#include "src/progress.h"

#include <errno.h>
#include <unistd.h>

enum { MAX_SCHEDULES = 64 };

OWNED_POINTER(struct team, team_close)
OWNED_POINTER(struct record, record_close)

/* The state of bench_run(). */
struct bench {
    struct bench_program program;
    void *st;
    int argc;
    char **argv;
    FILE *out; /* text for people */
    struct bench_settings set;
    bool done, planned, open; /* nothing to run; close() is due; release() is due */
    char *schedules_text;
    const char *spec[MAX_SCHEDULES]; /* the policies to run, with options */
    int nspecs;
    struct cu_options wanted;
    struct bench_layout choice;
    char problem[256];
    size_t bytes; /* host memory of the problem, on all nodes together */
    struct cu_set *units;
    char *devices; /* of all ranks if there are several, "": none; else NULL */
    struct sched_job job;
    struct bench_profile profile;
    struct result_set results;
    bool records;           /* runs are recorded for the simulator */
    struct record **record; /* [all runs] in the order of results.run */
    struct trace *trace;
};

/* ---- defaults -------------------------------------------------------------------------------- */

static enum ek_status nothing(void *st)
{
    (void)st;
    return EK_OK;
}

static int one_step(const void *st)
{
    (void)st;
    return 1;
}

static int never(const void *st)
{
    (void)st;
    return 0;
}

static void complete(struct bench_program *p)
{
    static const struct opt no_options[] = { OPT_END };
#define USUAL(member, usual) p->member = p->member ? p->member : (usual)
    USUAL(command.table, no_options);
    USUAL(run.steps, one_step);
    USUAL(run.save_every, never);
    USUAL(run.reset, nothing);
#undef USUAL
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Whether another rank prints for this one. */
static bool follows(void)
{
    return cluster_rank() > 0 || family_here()->rank > 0;
}

struct watch {
    struct bench *bench;
    int before; /* steps finished by earlier runs */
};

static void show_step(void *arg, int step)
{
    struct watch *w = arg;
    if (!w->bench->program.run.progress)
        progress_at(w->before + step);
}

static enum ek_status finish_run(struct bench *b, struct team *team, struct result_run *run)
{
    if (run->interrupted)
        return EK_OK;
    TRY(team_bring_home(team));
    run->verified = BENCH_UNVERIFIABLE;
    if (b->program.output.check)
        TRY(b->program.output.check(b->st, &run->verified, &run->verification));
    if (b->program.output.facts && !(run->facts = b->program.output.facts(b->st)))
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the results", b->program.identity.name);
    return EK_OK;
}

static enum ek_status record_run(struct bench *b, const struct result_run *run,
                                 const struct team *team)
{
    struct record **r = &b->record[run - b->results.run];
    TRY(record_open(b->units, &b->job, r));
    return record_team(*r, team);
}

static double work(const struct bench *b)
{
    const struct bench_run *p = &b->program.run;
    return p->work ? p->work(b->st) : (double)p->steps(b->st) * (double)b->results.host.ntasks;
}

/* Prepares a run of one policy from the initial state. */
static enum ek_status begin_run(struct bench *b, const char *schedule, struct watch *watch,
                                struct team **team)
{
    const struct bench_run *p = &b->program.run;
    if (p->schedule)
        p->schedule(b->st, schedule);
    TRY(p->reset(b->st));
    TRY(team_open(b->units, &b->job, p->verbs, b->st, schedule, team));
    team_on_step(*team, show_step, watch);
    team_save_every(*team, p->save_every(b->st));
    if (b->records || b->trace)
        team_record(*team);
    return EK_OK;
}

/* Collects the results of a run that the team ended with `st`, also of an interrupted one. */
static enum ek_status end_run(struct bench *b, const char *schedule, struct team *team,
                              enum ek_status st, struct result_run *run)
{
    const struct bench_run *p = &b->program.run;
    if (!st && !team_result(team)->steps && stop_at_once())
        st = EK_STOPPED; /* interrupted before the first step */
    if (!st)
        team_tell_unmet_faults(team);
    b->results.host.work = work(b);
    if (st && st != EK_STOPPED)
        return st;
    TRY(result_take(run, &b->results.host, team, schedule));
    run->interrupted = st == EK_STOPPED;
    enum ek_status taken = run->interrupted && p->interrupted ? p->interrupted(b->st) : EK_OK;
    THEN(taken, finish_run(b, team, run));
    if (b->records && !st)
        THEN(taken, record_run(b, run, team));
    if (b->trace)
        THEN(taken, trace_add(b->trace, b->units, team, schedule));
    st = taken ? taken : st;
    run->interrupted = st == EK_STOPPED; /* check() may have been interrupted, too */
    return st;
}

/* One step under the static policy: builds kernels, touches pages, fills caches. */
static enum ek_status warm_up(struct bench *b)
{
    OWNED(owned_team_close) struct team *team = NULL;
    if (b->program.run.cold)
        return EK_OK;
    TRY(b->program.run.reset(b->st));
    TRY(team_open(b->units, &b->job, b->program.run.verbs, b->st, "static", &team));
    TRY(team_run(team, 1));
    return team_bring_home(team);
}

/* Makes a profile if asked to, and gives the policies the known times. */
static enum ek_status profile(struct bench *b)
{
    const char *mode = b->set.profile;
    if (!strcmp(mode, "off"))
        return EK_OK;
    TRY(bench_profile_open(&b->program, b->problem, b->units, &b->job, &b->profile));
    if (strcmp(mode, "use"))
        TRY(bench_profile_make(&b->profile, &b->program, b->st, &b->job));
    b->results.host.profile = bench_profile_use(&b->profile, &b->job) ? b->profile.path : NULL;
    return EK_OK;
}

/* Allocates the results of all runs. */
static enum ek_status open_runs(struct bench *b)
{
    struct result_set *r = &b->results;
    const int n = b->nspecs * b->set.repeat;
    r->nschedules = b->nspecs;
    r->repeat = b->set.repeat;
    r->run = calloc((size_t)n, sizeof *r->run);
    b->record = calloc((size_t)n, sizeof(struct record *));
    if (!r->run || !b->record)
        FAIL(EK_UNAVAILABLE, "out of memory for the results");
    return EK_OK;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_heading(const struct bench *b)
{
    const struct result_host *h = &b->results.host;
    fprintf(b->out, "%s %s  ", b->program.identity.name, b->problem);
    if (cluster_size() > 1)
        fprintf(b->out, "%d ranks of ", cluster_size());
    fprintf(b->out, "layout %s%s%s\n", cu_layout_text(&h->set->layout),
            h->devices[0] && !b->devices ? "  devices " : "", b->devices ? "" : h->devices);
    if (b->devices && *b->devices)
        fprintf(b->out, "devices: %s\n", b->devices);
    if (h->profile)
        fprintf(b->out, "task times known from %s\n", h->profile);
}

/* Merges the records of each policy's median run, which is robust to disturbances. */
static enum ek_status merge_records(struct bench *b, struct record *all)
{
    const struct result_set *r = &b->results;
    for (int s = 0; s < r->nschedules; s++) {
        const int middle = result_middle(r, s);
        if (middle >= 0)
            TRY(record_merge(all, b->record[middle]));
    }
    return EK_OK;
}

/* The case from which the simulator can repeat the runs; null if there is none. */
static json_t *case_of(struct bench *b)
{
    char name[1024];
    const struct result_host *h = &b->results.host;
    OWNED(owned_record_close) struct record *all = NULL;
    snprintf(name, sizeof name, "%s %s, layout %s%s%s", b->program.identity.name, b->problem,
             cu_layout_text(&h->set->layout), h->devices[0] ? " " : "", h->devices);
    if (record_open(b->units, &b->job, &all) || merge_records(b, all))
        return json_null();
    return record_case(all, name, b->program.run.steps(b->st));
}

static enum ek_status write_report(struct bench *b, const json_t *json)
{
    const struct bench_program *p = &b->program;
    json_auto_t *view = NULL;
    if (p->output.view)
        TRY(p->output.view(b->st, &view));
    return report_write(b->set.report, p->identity.name, json, trace_events(b->trace),
                        p->output.page, view);
}

static enum ek_status write_files(struct bench *b)
{
    if (!b->set.json && !b->trace && !b->set.report)
        return EK_OK;
    json_auto_t *json = result_json(&b->results, b->set.compare != NULL);
    if (!json)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for the results", b->program.identity.name);
    if (b->records)
        json_object_set_new(json, "case", case_of(b));
    if (b->set.json)
        TRY(json_write(b->set.json, json));
    if (b->trace)
        TRY(trace_write(b->trace, b->set.trace, json));
    return b->set.report ? write_report(b, json) : EK_OK;
}

/* The worst of all verdicts: wrong, not verifiable, verified. */
static enum bench_verdict verdict(const struct result_set *r)
{
    enum bench_verdict worst = BENCH_VERIFIED;
    for (int i = 0; i < r->nschedules * r->repeat; i++)
        if (r->run[i].schedule && !r->run[i].interrupted && worst != BENCH_WRONG &&
            r->run[i].verified != BENCH_VERIFIED)
            worst = r->run[i].verified;
    return worst;
}

/* How many files are written to standard output. */
static int count_standard(const struct bench_settings *s)
{
    const char *const files[] = {s->json, s->trace, s->report};
    int n = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        n += files[i] && !strcmp(files[i], "-");
    return n;
}

/* Whether this process prints text for people on standard output. */
static bool speaks(const struct bench *b)
{
    return !follows() && !b->set.quiet && !b->set.check && !count_standard(&b->set);
}

/* `st` is how the runs ended: EK_OK or EK_STOPPED. */
static enum ek_status conclude(struct bench *b, enum ek_status st)
{
    static const char *const words[] = {[BENCH_WRONG] = "NOT verified",
                                        [BENCH_VERIFIED] = "verified",
                                        [BENCH_UNVERIFIABLE] = "not verifiable"};
    const enum bench_verdict found = verdict(&b->results);
    if (follows())
        return st ? st : found == BENCH_WRONG ? EK_UNVERIFIED : EK_OK;
    if (b->set.check && !st && !count_standard(&b->set)) {
        fprintf(b->out, "%s %s: %s\n", b->program.identity.name, b->problem, words[found]);
    } else if (speaks(b)) {
        print_heading(b);
        result_table(b->out, &b->results);
        const struct result_run *best = result_best(&b->results);
        json_auto_t *said =
            b->program.output.remark && best ? result_run_json(&b->results, best) : NULL;
        if (said)
            b->program.output.remark(b->out, b->st, said);
    }
    TRY(write_files(b));
    if (st)
        return st;
    if (found == BENCH_WRONG)
        FAIL(EK_UNVERIFIED, "%s: a result failed its verification; --json shows the numbers",
             b->problem);
    const bool incomplete = fflush(b->out) || ferror(b->out);
    if (incomplete && !status_reader_left())
        FAIL(EK_UNAVAILABLE, "standard output cannot be written: %s", strerror(errno));
    if (b->program.output.written && !incomplete)
        b->program.output.written(b->st);
    return EK_OK;
}

static void name_devices(struct result_host *h)
{
    size_t used = 0;
    for (int c = h->set->layout.ncpu; c < h->set->n && used < sizeof h->devices; c++)
        used += (size_t)snprintf(h->devices + used, sizeof h->devices - used, "%s%s",
                                 used ? "," : "", h->set->cu[c].name);
}

/* "rank 0 cuda:0,cuda:1,rank 1 none"; NULL where there is one rank. */
static char *gather_devices(const struct result_host *h)
{
    char own[sizeof h->devices + 32] = "";
    if (cluster_size() == 1)
        return NULL;
    if (!cluster_any(h->devices[0]))
        return strdup("");
    snprintf(own, sizeof own, "rank %d %s", cluster_rank(), h->devices[0] ? h->devices : "none");
    return cluster_gather_text(own);
}

static enum ek_status open_problem(struct bench *b)
{
    TRY(b->program.problem.open(b->st, b->units, &b->job));
    b->open = true;
    return b->program.problem.prepare ? cu_each(b->units, b->program.problem.prepare, b->st)
                                      : EK_OK;
}

/* Waits for the unit's device: after a failed run it may still be reading from another one. */
static enum ek_status settle_unit(void *ctx, const struct cu *cu)
{
    (void)ctx;
    for (int queue = 0; cu->device && queue < BACKEND_QUEUES; queue++)
        (void)MUTED(backend_wait(cu->device, queue));
    return EK_OK;
}

static enum ek_status release_unit(void *ctx, const struct cu *cu)
{
    struct bench *b = ctx;
    b->program.problem.release(b->st, cu);
    return EK_OK;
}

static void close_problem(struct bench *b)
{
    if (b->open && b->program.problem.release) {
        cu_each(b->units, settle_unit, NULL);
        cu_each(b->units, release_unit, b);
    }
    b->open = false;
    if (b->program.problem.close)
        b->program.problem.close(b->st);
}

/* Prints how much memory the problem takes, before it is allocated. */
static void tell_memory(const struct bench *b)
{
    char need[32], have[32];
    fprintf(b->out, "%s %s: %s of memory%s, %s are available\n", b->program.identity.name,
            b->problem, memory_text(memory_here(b->bytes), need, sizeof need),
            cluster_size() > 1 ? " on this node" : "",
            memory_text(memory_available(), have, sizeof have));
    fflush(b->out);
}

static void describe_runs(struct bench *b)
{
    b->results.host = (struct result_host){.program = b->program.identity.name,
                                           .problem = b->problem,
                                           .unit = b->program.identity.unit,
                                           .set = b->units,
                                           .job = &b->job,
                                           .ntasks = b->job.number ? b->job.all : b->job.n,
                                           .bytes = b->bytes};
    name_devices(&b->results.host);
    free(b->devices);
    b->devices = gather_devices(&b->results.host);
    b->records = (b->set.json || b->set.trace || b->set.report) && record_worth(&b->job) &&
                 family_here()->size == 1;
}

/* Frees the results of one problem's runs. */
static void forget_runs(struct bench *b)
{
    trace_close(b->trace);
    b->trace = NULL;
    for (int i = 0; b->record && i < b->results.nschedules * b->results.repeat; i++)
        record_close(b->record[i]);
    free(b->record);
    b->record = NULL;
    result_free(&b->results);
    bench_profile_close(&b->profile);
}

/* ---- the stages of a program ------------------------------------------------------------------*/

static enum ek_status read_options(struct bench *b)
{
    return bench_options_read(&b->program, b->st, b->argc, b->argv, &b->set, &b->done);
}

static enum ek_status choose_schedules(struct bench *b)
{
    b->schedules_text = strdup(b->set.compare ? b->set.compare : b->set.schedule);
    if (!b->schedules_text)
        FAIL(EK_UNAVAILABLE, "out of memory");
    return sched_split(b->schedules_text, b->spec, MAX_SCHEDULES, &b->nspecs);
}

/* Checks before the run that its output files can be written. */
static enum ek_status try_outputs(const struct bench_settings *s)
{
    if (count_standard(s) > 1)
        FAIL(EK_USAGE, "only one of --json, --trace and --report can go to standard output (-)");
    TRY(file_try(s->json));
    TRY(file_try(s->report));
    return file_try(s->trace);
}

static enum ek_status plan(struct bench *b)
{
    const struct bench_program *p = &b->program;
    TRY(try_outputs(&b->set));
    const int said = cu_is_second_image();
    b->planned = true;
    status_mute_warnings(+said);
    const enum ek_status st =
        p->problem.plan ? p->problem.plan(b->st, b->problem, sizeof b->problem, &b->bytes) : EK_OK;
    status_mute_warnings(-said);
    TRY(st);
    if (p->run.save_every(b->st) && b->nspecs * b->set.repeat > 1)
        FAIL(EK_USAGE, "only a single run can be saved: leave out --compare and --repeat");
    return memory_check(b->problem, b->bytes);
}

static enum ek_status join_ranks(struct bench *b)
{
    const struct bench_program *p = &b->program;
    const int launched = cluster_launch().size;
    if (p->run.ranks == BENCH_ALONE && launched > 1)
        FAIL(EK_USAGE, "%s runs as one process; it was launched as %d. Leave out mpirun or srun",
             p->identity.name, launched);
    return p->run.ranks == BENCH_FAMILY ? family_open() : guard_rank();
}

/* Runs the trials of --layout auto; they are printed where the table will be, or on stderr if a
 * file goes to standard output. */
static enum ek_status choose_layout(struct bench *b)
{
    const struct bench_settings *s = &b->set;
    const struct bench_layout_request r = {.program = b->program.identity.name,
                                           .problem = b->problem,
                                           .seconds = s->tune,
                                           .anew = !*s->profile || !strcmp(s->profile, "make"),
                                           .forgets = !strcmp(s->profile, "off"),
                                           .out = s->quiet            ? NULL
                                                  : count_standard(s) ? stderr
                                                                      : b->out,
                                           .argv = b->argv};
    b->wanted = (struct cu_options){s->layout, s->devices, s->strict, s->display_env};
    if (!bench_layout_wanted(&b->wanted))
        return EK_OK;
    stop_catch();
    return bench_layout_choose(&r, &b->wanted, &b->choice);
}

/* Ranks that do different things would wait for one another for ever, or mix their results. */
static enum ek_status compare_ranks(const struct bench *b)
{
    char mine[2 * sizeof b->problem] = "", first[sizeof mine];
    snprintf(mine, sizeof mine, "%s %s, %d runs", b->program.identity.name, b->problem,
             b->set.repeat * b->nspecs);
    memcpy(first, mine, sizeof first);
    cluster_share(first, sizeof first);
    if (strcmp(first, mine))
        FAIL(EK_USAGE, "rank %d is to do '%s', but rank 0 '%s'; start all with the same options",
             cluster_rank(), mine, first);
    return EK_OK;
}

static enum ek_status open_units(struct bench *b)
{
    TRY(cu_prepare(&b->wanted, b->choice.argv ? b->choice.argv : b->argv));
    if (b->program.run.ranks == BENCH_RANKS)
        TRY(cluster_open());
    TRY(compare_ranks(b));
    progress_quiet(b->set.quiet || follows());
    TRY(cu_open(&b->wanted, &b->units));
    const struct team_ops *verbs = b->program.run.verbs;
    if (b->units->layout.ndev && verbs && verbs->move && !verbs->restore)
        status_warn("%s does not save its tasks (restore in cu/team/team.h): if a device is lost, "
                    "the run ends",
                    b->program.identity.name);
    return EK_OK;
}

/* Runs all policies in turn, and so again for each repeat, so that disturbances affect all of them.
 * *more: the program has another problem, which is already planned. */
static enum ek_status run_problem(struct bench *b, bool *more)
{
    const struct bench_program *p = &b->program;
    const double trial = bench_trial_wanted(); /* > 0: this process is a trial of a layout */
    struct watch watch = {b, 0};
    *more = false;
    stop_catch(); /* before the set-up, which is long for large problems */
    if (speaks(b) && b->bytes && !(trial > 0))
        tell_memory(b);
    TRY(open_problem(b));
    status_echo(false);
    if (trial > 0)
        return bench_trial_run(p, b->st, b->units, &b->job, b->spec[0], trial);
    if (b->set.trace || b->set.report)
        TRY(trace_open(&b->trace));
    describe_runs(b);
    TRY(open_runs(b));
    TRY(warm_up(b));
    TRY(profile(b));
    const int runs = b->set.repeat * b->nspecs;
    progress_begin(p->identity.name, runs * (p->run.progress ? work(b) : p->run.steps(b->st)),
                   p->run.progress ? p->run.progress : "steps");
    enum ek_status st = EK_OK;
    for (int i = 0; i < runs && !st; i++) {
        const int s = i % b->nspecs, repeat = i / b->nspecs;
        OWNED(owned_team_close) struct team *team = NULL;
        st = begin_run(b, b->spec[s], &watch, &team);
        if (st)
            break;
        st = team_run(team, p->run.steps(b->st));
        watch.before += team_result(team)->steps;
        st = end_run(b, b->spec[s], team, st, &b->results.run[s * b->set.repeat + repeat]);
    }
    progress_end();
    if (st && st != EK_STOPPED)
        return st;
    TRY(conclude(b, st));
    if (p->problem.again)
        TRY(p->problem.again(b->st, more));
    forget_runs(b);
    if (*more) {
        close_problem(b);
        TRY(plan(b));
    }
    return EK_OK;
}

enum ek_status bench_run(const struct bench_program *program, int argc, char **argv, FILE *out)
{
    static enum ek_status (*const stages[])(struct bench *) = {
        read_options, choose_schedules, plan, join_ranks, choose_layout, open_units};
    struct bench b = {.program = *program,
                      .st = calloc(1, program->identity.size + 1),
                      .argc = argc,
                      .argv = argv,
                      .out = out};
    stop_begin();
    status_echo(cluster_launch().local_rank > 0); /* with the same options and files as rank 0 */
    enum ek_status st = b.st ? prepare_stack(argv) : status_fail(EK_UNAVAILABLE, "out of memory");
    complete(&b.program);
    for (size_t i = 0; !st && !b.done && i < sizeof stages / sizeof *stages; i++)
        st = stages[i](&b);
    for (bool more = !b.done; more && !st;)
        st = run_problem(&b, &more);
    forget_runs(&b);
    if (b.planned)
        close_problem(&b);
    cu_close(b.units);
    free(b.choice.argv);
    free(b.schedules_text);
    free(b.devices);
    free(b.st);
    cluster_close(st == EK_STOPPED || st == EK_UNVERIFIED ? EK_OK : st);
    return st;
}
