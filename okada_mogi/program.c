/* okada_mogi/program.c – the program: options, and a run from the job to the report. */
#include "okada_mogi/program.h"
#include "cu/bench/bench_options.h"
#include "cu/bench/bench_trial.h"
#include "cu/rank/cluster.h"
#include "cu/rank/family.h"
#include "cu/rank/stop.h"
#include "okada_mogi/certify.h"
#include "okada_mogi/node.h"
#include "okada_mogi/posterior.h"
#include "okada_mogi/refine.h"
#include "okada_mogi/units.h"
#include "okada_mogi/write.h"
#include "src/clock.h"
#include "src/file.h"
#include "src/opt.h"
#include "okada_mogi/search.h"
#include "okada_mogi/pieces.h"
#include "okada_mogi/spool.h"

struct program {
    const char *name, *path, *trials, *out, *binary, *save_to, *forward, *residuals, *refine_by,
        *refine_out, *certify, *geojson, *psvelo, *generate, *against;
    const struct bench_settings *settings;
    int refine; /* rounds that follow the first */
    int seed;
    int method; /* enum search_method */
    bool dry_run;
    const struct model *model;
    struct job *job;
    struct search *search;
    struct trial_range range;
    struct results *results;
    struct search_state *checkpoint;
    struct node *node;
    struct cu_set *set;
    struct units *units;
    const char *schedule;     /* of this run */
    struct pieces tasks;      /* of the batch */
    struct trial_range batch; /* count 0: none */
    int *was;                 /* [nwas] previous homes of tasks, for the team: -1, all are new */
    size_t nwas;
    double reported;             /* evaluations of this run already reported to the node */
    struct sched_job *described; /* the shared main's job, set from the batch */
    double start, seconds;
    struct results_check checked; /* at the end */
    int round;                    /* of refinement; 0: the job itself */
    json_t *refined;              /* the job of this round */
    json_t *others;               /* results given by --against; NULL: none */
    struct refine to_refine;
};

static const char *const methods[] = {[SEARCH_EXACT] = "exact", [SEARCH_BRUTE] = "brute", NULL};

static const struct opt options[] = {
    {"method", OPT_NAME, offsetof(struct program, method), "exact|brute",
     .help = "exploit the model's structure, or compute every single trial (exact)",
     .names = methods},
    {"trials", OPT_TEXT, offsetof(struct program, trials), "BEGIN:END",
     .help = "only these trials, END not included (all)"},
    {"out", OPT_TEXT, offsetof(struct program, out), "FILE",
     .help = "table of the accepted trials, or of --forward's displacements"},
    {"binary", OPT_TEXT, offsetof(struct program, binary), "FILE",
     "the accepted trials as little-endian binary rows", .rare = true},
    {"checkpoint", OPT_TEXT, offsetof(struct program, save_to), "FILE",
     .help = "save the search to this file every few seconds; resume from it if it exists"},
    {"residuals", OPT_TEXT, offsetof(struct program, residuals), "FILE",
     .help = "table of the stations: observed, predicted by the best trial, residuals"},
    {"geojson", OPT_TEXT, offsetof(struct program, geojson), "FILE",
     .help = "the best trial's sources, the stations and their vectors as GeoJSON"},
    {"psvelo", OPT_TEXT, offsetof(struct program, psvelo), "STEM",
     "the same for GMT: STEM.observed, .predicted, .residual, .faults", .rare = true},
    {"against", OPT_TEXT, offsetof(struct program, against), "FILES",
     .help = "Bayes factors against results (--json FILE,FILE) of other jobs on the same data"},
    {"dry-run", OPT_FLAG, offsetof(struct program, dry_run),
     .help = "only print the number of trials, the memory and the time to expect"},
    {"refine", OPT_INT, offsetof(struct program, refine), "N",
     .help = "then search N times on a finer grid around what was accepted (0)", .max = 100},
    {"refine-by", OPT_TEXT, offsetof(struct program, refine_by), "FACTORS",
     "divide steps by this in each round, e.g. 3 or 2,dip_deg=4 (2)", .rare = true},
    {"refine-out", OPT_TEXT, offsetof(struct program, refine_out), "JOB.json",
     .help = "write the refined job to this file; without --refine it is not run"},
    {"forward", OPT_TEXT, offsetof(struct program, forward), "FILE",
     .help = "no search: displacements for the sources and points in this table"},
    {"certify", OPT_TEXT, offsetof(struct program, certify), "PROOF.json",
     .help = "prove that no point of the continuous ranges fits, or say where one may"},
    {"generate", OPT_TEXT, offsetof(struct program, generate), "FILE",
     .help = "no search: synthetic data, the only trial's prediction at the stations plus noise"},
    {"seed", OPT_INT, offsetof(struct program, seed), "N", .help = "seed of --generate's noise (1)",
     .max = 2147483647},
    OPT_END,
};

static void defaults(void *st, const struct bench_program *self)
{
    struct program *p = st;
    p->method = SEARCH_EXACT;
    p->seed = 1;
    p->name = self->identity.name;
}

/* ---- --dry-run --------------------------------------------------------------------------------*/
static const double enough = 0.5, mebi = 1 << 20; /* s; bytes */

/* Totals of the sample that is searched. */
struct sampled {
    double trials, accepted, seconds;
};

static trial_number count_geometries(const struct job *job)
{
    trial_number all = 0;
    for (int s = 0; s < job->nsources; s++) {
        trial_number places = 1;
        for (int a = 0; a < job->naxes; a++)
            if (job->source[a] == s && job_role(job, a) == MODEL_GEOMETRY)
                places *= (trial_number)job->axis[a].n;
        all += places;
    }
    return all;
}

static enum ek_status count(void *arg, struct trial_range range, struct accepted *found)
{
    struct sampled *s = arg;
    (void)range;
    s->accepted += (double)found->n;
    return EK_OK;
}

/* Samples tasks from all over the range, as costs are uneven; of each the first `most` trials,
 * about a twentieth of the time. `most` begins at 1 and doubles, and each time the totals start
 * anew. */
static enum ek_status time_tasks(const struct search *s, const struct pieces *tasks,
                                 struct sampled *sampled)
{
    struct search_worker *w;
    const struct search_sink sink = {count, sampled};
    const double end = clock_now() + enough;
    trial_number most = 1;
    TRY(search_worker_open(s, &w));
    enum ek_status st = EK_OK;
    for (size_t i = 0; i < 2 * tasks->n && clock_now() < end && !st; i++) {
        struct trial_range part = tasks->range[i * 2654435761u % tasks->n];
        const double start = clock_now();
        if (sampled->seconds < enough / 20 && part.count > most) {
            most *= 2;
            *sampled = (struct sampled){0};
        }
        part.count = part.count < most ? part.count : most;
        st = search_run(w, part, &sink);
        sampled->trials += (double)part.count;
        sampled->seconds += clock_now() - start;
    }
    search_worker_close(w);
    return st;
}

static void print(const struct job *job, enum search_method method, struct trial_range range,
                  size_t tasks, double opened, const struct sampled *s)
{
    char trials[TRIAL_TEXT], geometries[TRIAL_TEXT];
    const double all = (double)range.count / fmax(s->trials, 1);
    const double seconds = opened + all * s->seconds, most = (double)job->accept.best;
    const double accepted = most > 0 ? fmin(most, (double)range.count) : all * s->accepted;
    printf(
        "%s: %s trials, %s geometries, %zu tasks, %.3g MiB, about %.3g s on one core (%.3g "
        "trials/s); about %.3g accepted: %.3g MiB in TMPDIR, %.3g MiB as --out, %.3g as --binary\n",
        job->path, trial_text(range.count, trials), trial_text(count_geometries(job), geometries),
        tasks, (double)search_bytes(job, method) / mebi, seconds, (double)range.count / seconds,
        accepted, fmax(accepted - SPOOL_MEMORY, 0) * sizeof(struct accepted_record) / mebi,
        accepted * accepted_row_bytes(job, ACCEPTED_CSV) / mebi,
        accepted * accepted_row_bytes(job, ACCEPTED_BINARY) / mebi);
}

/* Prints one line: trials of the range, geometries of all sources (ignoring constraints and range),
 * memory, and from a sample of at most half a second: seconds on one core, set-up included,
 * accepted trials and the disk that they need. EK_UNAVAILABLE as search_open(). One thread. */
static enum ek_status dry_run(const struct job *job, enum search_method method,
                              struct trial_range range)
{
    struct search *s;
    OWNED(pieces_free) struct pieces tasks = {0};
    struct sampled sampled = {0};
    const double start = clock_now();
    TRY(search_open(job, method, &s));
    const double opened = clock_now() - start;
    enum ek_status st = pieces_cut(&tasks, s, &range, 1, 1);
    THEN(st, time_tasks(s, &tasks, &sampled));
    if (!st)
        print(job, method, range, tasks.n, opened, &sampled);
    search_close(s);
    return st;
}

/* ---- batches: steps of the team; tasks are ranges of trials without data to move --------------*/

enum { MANY = 1 << 30 }; /* steps */

/* Cuts the batch into tasks for the shared main. */
static enum ek_status describe(struct program *p)
{
    TRY(pieces_cut(&p->tasks, p->search, &p->batch, 1, p->set->n));
    *p->described = (struct sched_job){.n = p->tasks.n, .grain = 1, .cost = p->tasks.cost};
    if (p->tasks.n <= p->nwas)
        return EK_OK;
    int *was = realloc(p->was, p->tasks.n * sizeof *was);
    if (!was)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for %zu tasks", p->path, p->tasks.n);
    p->was = was;
    while (p->nwas < p->tasks.n)
        p->was[p->nwas++] = -1;
    return EK_OK;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct program *p = ctx;
    const struct search_sink sink = {node_put, p->node};
    return units_compute(p->units, cu, &p->tasks.range[r.begin], r.end - r.begin, &sink, seconds);
}

/* Reports the last batch and gets the next. */
static enum ek_status next_batch(struct program *p)
{
    const double evaluations = units_evaluations(p->units);
    const struct node_report r = {evaluations - p->reported, units_rate(p->units)};
    p->reported = evaluations;
    TRY(node_next(p->node, &r, &p->batch));
    p->seconds = clock_now() - p->start;
    return p->batch.count ? describe(p) : EK_OK;
}

static enum ek_status finish(void *ctx, const struct team_step *step, bool *last)
{
    struct program *p = ctx;
    (void)step;
    TRY(next_batch(p));
    *last = !p->batch.count && !stop_requested();
    return EK_OK;
}

static enum ek_status repartition(void *ctx, const struct team_step *step,
                                  const struct sched_job **job, const int **was)
{
    struct program *p = ctx;
    (void)step;
    if (p->batch.count) {
        *job = p->described;
        *was = p->was;
    }
    return EK_OK;
}

static const struct team_ops verbs = {
    .compute = compute, .cpu_batch = 1, .finish = finish, .repartition = repartition};

/* The number of batches is unknown in advance, unless one is everything. */
static int steps(const void *st)
{
    const struct program *p = st;
    return !p->batch.count ? 0 : p->batch.count == p->range.count ? 1 : MANY;
}

static void schedule(void *st, const char *spec)
{
    ((struct program *)st)->schedule = spec;
}

static enum ek_status reset(void *st)
{
    struct program *p = st;
    p->reported = 0;
    units_begin(p->units);
    TRY(node_begin(p->node, p->schedule));
    p->start = clock_now();
    return next_batch(p);
}

/* ---- before a run -----------------------------------------------------------------------------*/

/* --trials, e.g. "0:1000000"; must be within the job's trials. */
static enum ek_status parse_range(struct program *p)
{
    char begin[TRIAL_TEXT] = "", most[TRIAL_TEXT];
    trial_number first, end;
    p->range = (struct trial_range){0, p->job->trials};
    if (!p->trials)
        return EK_OK;
    const char *colon = strchr(p->trials, ':');
    if (colon && colon - p->trials < TRIAL_TEXT)
        memcpy(begin, p->trials, (size_t)(colon - p->trials));
    if (!colon || !trial_parse(begin, &first) || !trial_parse(colon + 1, &end))
        FAIL(EK_USAGE, "--trials %s: write BEGIN:END, e.g. 0:1000000", p->trials);
    if (first >= end)
        FAIL(EK_USAGE, "--trials %s: this range is empty; END (exclusive) must be above BEGIN",
             p->trials);
    if (end > p->job->trials)
        FAIL(EK_USAGE, "--trials %s: the job has trials 0:%s only", p->trials,
             trial_text(p->job->trials, most));
    p->range = p->job->wanted = (struct trial_range){first, end - first};
    return EK_OK;
}

/* The job of the file, or the refined job of the round before. */
static enum ek_status read_job(struct program *p)
{
    if (!p->round) {
        TRY(job_open(p->path, p->model, &p->job));
        return refine_begin(p->job, p->refine_by, &p->to_refine);
    }
    const enum ek_status st = job_take(p->path, p->refined, p->model, &p->job);
    json_decref(p->refined);
    p->refined = NULL;
    return st;
}

static enum ek_status check_refine(const struct program *p)
{
    const char *without = p->trials                   ? "--trials"
                          : p->save_to                ? "--checkpoint"
                          : cluster_launch().size > 1 ? "other ranks"
                                                      : NULL;
    if (p->refine && without)
        FAIL(EK_USAGE, "--refine excludes %s; write the job with --refine-out and run that",
             without);
    return EK_OK;
}

static enum ek_status open_job(struct program *p)
{
    if (!p->path)
        FAIL(EK_USAGE, "which job? %s JOB.json; see --help", p->model->name);
    TRY(check_refine(p));
    TRY(read_job(p));
    if (p->geojson)
        TRY(write_map_check(p->job));
    if (p->against && !p->others)
        TRY(posterior_read(p->job, p->against, &p->others));
    return parse_range(p);
}

/* Reports the outcome of --certify, as JSON and as text. */
static enum ek_status tell_certificate(const struct program *p, const struct certificate *c,
                                       double seconds)
{
    json_auto_t *o = json_pack("{s:s s:s s:s s:b s:o s:o s:f s:f s:f}", "program", p->model->name,
                               "job", p->path, "proof", p->certify, "certified", c->certified,
                               "boxes_open", write_number(c->open), "boxes", write_number(c->boxes),
                               "reach", c->reach, "smallest_open", c->smallest, "seconds", seconds);
    if (!o)
        FAIL(EK_UNAVAILABLE, "%s: out of memory", p->path);
    if (p->settings->json)
        TRY(json_write(p->settings->json, o));
    if (!p->settings->quiet && !(p->settings->json && !strcmp(p->settings->json, "-"))) {
        printf(c->certified
                   ? "certified: no point of the ranges is within %g standard deviations"
                   : "not certified: there may be points within %g standard deviations in ",
               c->reach);
        if (!c->certified)
            write_print_number(stdout, json_object_get(o, "boxes_open"));
        fputs(c->certified ? "; " : " boxes of ", stdout);
        write_print_number(stdout, json_object_get(o, "boxes"));
        printf(" boxes%s, %.3g s\n", c->certified ? " are the proof" : "", seconds);
    }
    return EK_OK;
}

static enum ek_status certify_job(struct program *p)
{
    struct certificate c;
    const double start = clock_now();
    stop_catch();
    enum ek_status st = certify(p->job, p->certify, &c);
    if (!st || st == EK_STOPPED) {
        const enum ek_status reported = tell_certificate(p, &c, clock_now() - start);
        THEN(st, reported);
    }
    if (st == EK_STOPPED)
        status_warn("interrupted: boxes not decided yet are open in %s", p->certify);
    return st;
}

static enum ek_status generate(struct program *p)
{
    char trials[TRIAL_TEXT];
    if (p->range.count == 1)
        return write_synthetic(p->job, p->range.first, (uint64_t)p->seed, p->generate);
    FAIL(EK_USAGE,
         "--generate: %s has %s trials; give each parameter one value, or choose one with --trials "
         "N:N+1",
         p->path, trial_text(p->range.count, trials));
}

static enum ek_status answer(void *st, bool *done)
{
    struct program *p = st;
    p->model = model_find(p->name); /* only now is the instruction level chosen */
    *done = p->forward || p->dry_run || p->certify || p->generate;
    if (!*done)
        return EK_OK;
    if (p->forward && !p->generate && !p->certify)
        return write_forward(p->model, p->forward, p->out ? p->out : "-");
    TRY(file_try(p->certify));
    TRY(file_try(p->certify ? p->settings->json : NULL));
    TRY(open_job(p));
    const enum ek_status given = p->generate  ? generate(p)
                                 : p->certify ? certify_job(p)
                                              : dry_run(p->job, p->method, p->range);
    job_close(p->job);
    return given;
}

/* Tries files before the run that are written after it; results_begin() tries those of accepted
 * trials. */
static enum ek_status try_outputs(const struct program *p)
{
    char first[4096];
    TRY(file_try(p->residuals));
    TRY(file_try(p->geojson));
    TRY(file_try(p->refine_out));
    snprintf(first, sizeof first, "%s.observed", p->psvelo ? p->psvelo : "");
    return file_try(p->psvelo ? first : NULL);
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct program *p = st;
    char trials[TRIAL_TEXT];
    TRY(open_job(p));
    TRY(try_outputs(p));
    char round[32] = "";
    if (p->round)
        snprintf(round, sizeof round, " refined %d of %d", p->round, p->refine);
    *bytes = search_bytes(p->job, (enum search_method)p->method) * (size_t)cluster_launch().size;
    snprintf(problem, room, "%s%s, %s trials, %s", p->path, round,
             trial_text(p->range.count, trials), methods[p->method]);
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

static enum ek_status open_results(struct program *p)
{
    const char *const path[] = {[ACCEPTED_CSV] = p->out, [ACCEPTED_BINARY] = p->binary};
    return results_open(p->job, p->range, path, &p->results);
}

static enum ek_status open_program(void *st, struct cu_set *set, struct sched_job *job)
{
    struct program *p = st;
    p->set = set;
    p->described = job;
    TRY(search_open(p->job, (enum search_method)p->method, &p->search));
    TRY(open_results(p));
    const uint64_t sum = job_sum(p->job, p->range); /* identifies the job to ranks and checkpoint */
    const char *save_to = bench_trial_wanted() > 0 ? NULL : p->save_to;
    TRY(search_state_open(p->results, p->range, sum, save_to, &p->checkpoint));
    TRY(units_open(p->search, set, &p->units));
    p->batch = p->range;
    TRY(describe(p));
    return node_open(p->search, p->checkpoint, sum, set->n, &p->node);
}

static void close_program(void *st)
{
    struct program *p = st;
    node_close(p->node);
    units_close(p->units);
    search_state_close(p->checkpoint);
    results_close(p->results);
    pieces_free(&p->tasks);
    free(p->was);
    search_close(p->search);
    job_close(p->job);
    json_decref(p->others);
    p->others = NULL;
    p->node = NULL;
    p->units = NULL;
    p->checkpoint = NULL;
    p->results = NULL;
    p->was = NULL;
    p->nwas = 0;
    p->reported = 0;
    p->search = NULL;
    p->job = NULL;
}

static double work(const void *st)
{
    const struct program *p = st;
    const trial_number computed = p->checkpoint ? search_state_counts(p->checkpoint).computed : 0;
    return 1e-6 * (double)(computed ? computed : p->range.count);
}

static enum ek_status interrupted(void *st)
{
    struct program *p = st;
    char done[TRIAL_TEXT], all[TRIAL_TEXT];
    if (family_here()->rank)
        return EK_OK;
    TRY(search_state_save(p->checkpoint));
    trial_text(search_state_counts(p->checkpoint).done, done);
    trial_text(p->range.count, all);
    if (p->save_to)
        status_warn("interrupted: %s of %s trials are done; the same command goes on from %s", done,
                    all, p->save_to);
    else
        status_warn("interrupted: %s of %s trials were done; with --checkpoint FILE the next run "
                    "would go on from there",
                    done, all);
    return EK_OK;
}

/* ---- after a run ------------------------------------------------------------------------------*/

static enum ek_status check(void *st, enum bench_verdict *verified, json_t **detail)
{
    struct program *p = st;
    *verified = BENCH_VERIFIED;
    const struct {
        const char *path;
        enum ek_status (*write)(const struct job *job, trial_number trial, const char *path);
    } files[] = {
        {p->residuals, write_residuals}, {p->geojson, write_geojson}, {p->psvelo, write_psvelo}};
    if (family_here()->rank)
        return EK_OK;
    search_state_try_to_save(p->checkpoint); /* so that a failure to write results loses no work */
    TRY(results_end(p->results));
    TRY(results_verify(p->results, &p->checked));
    *verified = p->checked.right;
    for (int i = 0; i < 3; i++)
        if (files[i].path && results_stats(p->results))
            TRY(files[i].write(p->job, results_stats(p->results)->best.trial, files[i].path));
        else if (files[i].path)
            status_warn("%s: not written: no trial is accepted", files[i].path);
    if (p->checked.right && !results_stats(p->results) && !p->checked.complete)
        status_warn(
            "%s: nothing is accepted; %ld trials judged one by one agree, which is no proof",
            p->path, p->checked.trials);
    *detail = json_pack("{s:s s:i s:b}", "method", "trials judged one by one", "trials",
                        (int)p->checked.trials, "complete", p->checked.complete);
    return EK_OK;
}

static void written(void *st)
{
    const struct program *p = st;
    search_state_forget(p->checkpoint);
}

/* Eq. (9) of the paper, for any number of units: the time of n trials if each unit of each node
 * computed at its own rate throughout, with no time lost between batches and at the end. */
static void add_bound(const struct program *p, json_t *o)
{
    const double computed = (double)search_state_counts(p->checkpoint).computed,
                 rate = node_rate(p->node);
    json_t *nodes = node_json(p->node);
    json_object_set_new(o, "ranks", json_integer(family_here()->size));
    json_object_set_new(o, "t_cg_s", json_number_or_null(computed / rate));
    json_object_set_new(o, "efficiency", json_number_or_null(computed / rate / p->seconds));
    json_object_set_new(o, "search_s", json_real(p->seconds));
    if (nodes)
        json_object_set_new(o, "nodes", nodes);
}

static void remark(FILE *out, const void *st, const json_t *facts)
{
    (void)st;
    size_t i;
    json_t *node;
    results_print(out, facts);
    json_array_foreach(json_object_get(facts, "bayes_factors"), i, node)
        fprintf(out, "ln Bayes factor against %s: %.6g (%.6g to %.6g)\n",
                json_string_value(json_object_get(node, "against")),
                json_number_of(node, "log_bayes_factor"), json_number_of(node, "at_least"),
                json_number_of(node, "at_most"));
    fprintf(out, "%.4g s; at the units' own rates %.4g s (Eq. 9): efficiency %.1f %%\n",
            json_number_of(facts, "search_s"), json_number_of(facts, "t_cg_s"),
            100 * json_number_of(facts, "efficiency"));
    json_array_foreach(json_object_get(facts, "nodes"), i, node) fprintf(
        out, "rank %-4zu %12.0f trials in %6lld batches, busy %.3g s%s\n", i,
        json_number_of(node, "trials"), (long long)json_number_of(node, "batches"),
        json_number_of(node, "busy_s"), json_number_of(node, "lost") > 0 ? ", was lost" : "");
}

static json_t *facts(const void *st)
{
    const struct program *p = st;
    json_t *o = results_json(p->results);
    if (!o)
        return NULL;
    json_object_set_new(o, "evaluations",
                        json_integer((json_int_t)search_state_counts(p->checkpoint).evaluations));
    add_bound(p, o);
    if (p->others && results_stats(p->results))
        json_object_set_new(o, "bayes_factors",
                            posterior_factors(json_object_get(o, "posterior"), p->others));
    json_object_set_new(o, "method", json_string(methods[p->method]));
    json_object_set_new(o, "job", json_string(p->path));
    json_object_set_new(o, "model", json_string(p->model->name));
    json_object_set_new(o, "projection", json_string(p->job->stations.projection));
    return o;
}

static enum ek_status view(void *st, json_t **made)
{
    const struct program *p = st;
    return write_page(p->job, results_stats(p->results), made);
}

/* Makes and writes the refined job, and keeps it for the next round, if there is one. */
static enum ek_status refine(struct program *p, bool *more)
{
    json_auto_t *refined = NULL;
    TRY(refine_job(p->job, results_stats(p->results), &p->to_refine, &refined));
    if (p->refine_out)
        TRY(refine_write(p->job, refined, p->refine_out));
    *more = p->round < p->refine;
    p->round += *more;
    p->refined = *more ? json_incref(refined) : NULL;
    return EK_OK;
}

static enum ek_status again(void *st, bool *more)
{
    struct program *p = st;
    if (family_here()->rank || (p->round == p->refine && (p->refine || !p->refine_out)))
        return EK_OK;
    if (results_stats(p->results))
        return refine(p, more);
    status_warn("%s: nothing is accepted, so there is nothing to refine", p->path);
    return EK_OK;
}

struct bench_program okada_mogi_program(const char *name, const char *summary)
{
    return (struct bench_program){
        .identity = {name, summary, "Mtrial/s", sizeof(struct program)},
        .command = {.table = options,
                    .operand = "JOB.json",
                    .operand_at = offsetof(struct program, path),
                    .settings_at = offsetof(struct program, settings),
                    .defaults = defaults,
                    .answer = answer},
        .problem = {.plan = plan, .open = open_program, .again = again, .close = close_program},
        .run = {.ranks = BENCH_FAMILY,
                .cold = true,
                .verbs = &verbs,
                .steps = steps,
                .schedule = schedule,
                .reset = reset,
                .work = work,
                .progress = "Mtrial",
                .interrupted = interrupted},
        .output = {.check = check,
                   .facts = facts,
                   .remark = remark,
                   .page = "okada_mogi/report.html",
                   .view = view,
                   .written = written},
    };
}
