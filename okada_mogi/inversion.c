/* okada_mogi/inversion.c – a search as a program: tasks are ranges of trials, which have no data to
 * move; what they find goes into the results. */
#include "okada_mogi/inversion.h"
#include "cu/bench/bench_trial.h"
#include "cu/rank/cluster.h"
#include "cu/rank/family.h"
#include "cu/rank/stop.h"
#include "okada_mogi/dry_run.h"
#include "okada_mogi/forward.h"
#include "okada_mogi/node.h"
#include "okada_mogi/refine.h"
#include "okada_mogi/residuals.h"
#include "okada_mogi/units.h"
#include "okada_mogi/view.h"
#include "src/clock.h"
#include "src/opt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1 << 30 }; /* steps */

struct program {
    const char *path, *method_name, *trials, *out, *binary, *save_to, *forward, *residuals,
        *refine_by, *refine_out;
    int refine; /* rounds that follow the first */
    enum search_method method;
    bool dry_run;
    const struct model *model;
    struct job *job;
    struct search *search;
    struct trial_range range;
    struct results *results;
    struct checkpoint *checkpoint;
    struct node *node;
    struct cu_set *set;
    struct units *units;
    const char *schedule;     /* of this run */
    struct pieces tasks;      /* of the batch */
    struct trial_range batch; /* count 0: none */
    int *was;                 /* [nwas] -1: each task is new to the team */
    size_t nwas;
    double reported;             /* evaluations of this run that the node knows of */
    struct sched_job *described; /* by the batch; the shared main's */
    double start, seconds;
    long checked;
    int round;       /* of refinement; 0: the job itself */
    json_t *refined; /* the job of this round */
    struct refine to_refine;
};

static const struct opt options[] = {
    {"method", OPT_TEXT, offsetof(struct program, method_name), "exact|brute",
     "use what the model knows of itself, or compute every trial (exact)", .env = NULL},
    {"trials", OPT_TEXT, offsetof(struct program, trials), "BEGIN:END",
     "only these trials, END not included (all)", .env = NULL},
    {"out", OPT_TEXT, offsetof(struct program, out), "FILE",
     "table of the accepted trials, or of --forward's displacements", .env = NULL},
    {"binary", OPT_TEXT, offsetof(struct program, binary), "FILE",
     "the accepted trials as little-endian binary rows", .env = NULL},
    {"checkpoint", OPT_TEXT, offsetof(struct program, save_to), "FILE",
     "saves the search there every few seconds, and goes on from there", .env = NULL},
    {"residuals", OPT_TEXT, offsetof(struct program, residuals), "FILE",
     "table of the stations: observed, predicted by the best trial, residuals", .env = NULL},
    {"dry-run", OPT_FLAG, offsetof(struct program, dry_run),
     .help = "only say how many trials, how much memory and how long"},
    {"refine", OPT_INT, offsetof(struct program, refine), "N",
     "then search N times on a finer grid around what was accepted (0)", .env = NULL, .max = 100},
    {"refine-by", OPT_TEXT, offsetof(struct program, refine_by), "FACTORS",
     "by how much steps become smaller, e.g. 3 or 2,dip_deg=4 (2)", .env = NULL},
    {"refine-out", OPT_TEXT, offsetof(struct program, refine_out), "JOB.json",
     "write the refined job; without --refine it is not run", .env = NULL},
    {"forward", OPT_TEXT, offsetof(struct program, forward), "FILE",
     "displacements of the sources and points in this table, no search", .env = NULL},
    OPT_END,
};

static void defaults(void *st, const struct bench_program *self)
{
    struct program *p = st;
    p->method_name = "exact";
    p->model = model_find(self->name);
}

/* ---- before a run -----------------------------------------------------------------------------*/

static enum ek_status parse_method(struct program *p)
{
    static const char *const names[] = {[SEARCH_EXACT] = "exact", [SEARCH_BRUTE] = "brute"};
    int at;
    TRY(opt_choose("--method", p->method_name, names, sizeof *names, 2, &at));
    p->method = (enum search_method)at;
    return EK_OK;
}

/* "0:1000000" within the job's trials. */
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
        FAIL(EK_USAGE, "--trials %s: no trials; END, which is not among them, is to be above BEGIN",
             p->trials);
    if (end > p->job->trials)
        FAIL(EK_USAGE, "--trials %s: there are trials 0:%s", p->trials,
             trial_text(p->job->trials, most));
    p->range = (struct trial_range){first, end - first};
    return EK_OK;
}

/* The job file's, or the one that the round before has left. */
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
        FAIL(EK_USAGE, "--refine goes without %s; write the job with --refine-out and run that",
             without);
    return EK_OK;
}

static enum ek_status open_job(struct program *p)
{
    if (!p->path)
        FAIL(EK_USAGE, "which job? %s JOB.json; see --help", p->model->name);
    TRY(check_refine(p));
    TRY(parse_method(p));
    TRY(read_job(p));
    return parse_range(p);
}

static enum ek_status estimate(struct program *p)
{
    TRY(open_job(p));
    const enum ek_status st = dry_run(p->job, p->method, p->range);
    job_close(p->job);
    return st;
}

static enum ek_status answer(void *st, bool *done)
{
    struct program *p = st;
    *done = p->forward || p->dry_run;
    if (p->forward)
        return forward_table(p->model, p->forward, p->out ? p->out : "-");
    return p->dry_run ? estimate(p) : EK_OK;
}

static enum ek_status plan(void *st, char *problem, size_t room, size_t *bytes)
{
    struct program *p = st;
    char trials[TRIAL_TEXT];
    TRY(open_job(p));
    char round[32] = "";
    if (p->round)
        snprintf(round, sizeof round, " refined %d of %d", p->round, p->refine);
    *bytes = search_bytes(p->job, p->method) * (size_t)cluster_launch().size;
    snprintf(problem, room, "%s%s, %s trials, %s", p->path, round,
             trial_text(p->range.count, trials), p->method_name);
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/

/* The batch as tasks of the shared main. */
static enum ek_status describe_batch(struct program *p)
{
    TRY(pieces_cut(&p->tasks, p->search, &p->batch, 1, p->set->n));
    *p->described = (struct sched_job){.n = p->tasks.n, .grain = 1, .cost = p->tasks.cost};
    if (p->tasks.n <= p->nwas)
        return EK_OK;
    int *was = realloc(p->was, p->tasks.n * sizeof *was);
    if (!was)
        FAIL(EK_LACK, "%s: out of memory for %zu tasks", p->path, p->tasks.n);
    p->was = was;
    while (p->nwas < p->tasks.n)
        p->was[p->nwas++] = -1;
    return EK_OK;
}

static enum ek_status open_harvest(struct program *p)
{
    const char *const path[] = {[ACCEPTED_CSV] = p->out, [ACCEPTED_BINARY] = p->binary};
    return results_open(p->job, p->range, path, &p->results);
}

static enum ek_status open_program(void *st, struct cu_set *set, struct sched_job *job)
{
    struct program *p = st;
    p->set = set;
    p->described = job;
    TRY(search_open(p->job, p->method, &p->search));
    TRY(open_harvest(p));
    const uint64_t sum =
        job_sum(p->job, p->range); /* the same for all ranks, and when it goes on */
    const char *save_to = bench_trial_wanted() > 0 ? NULL : p->save_to;
    TRY(checkpoint_open(p->results, p->range, sum, save_to, &p->checkpoint));
    TRY(units_open(p->search, set, &p->units));
    p->batch = p->range;
    TRY(describe_batch(p));
    return node_open(p->search, p->checkpoint, sum, set->n, &p->node);
}

static void close_program(void *st)
{
    struct program *p = st;
    node_close(p->node);
    units_close(p->units);
    checkpoint_close(p->checkpoint);
    results_close(p->results);
    pieces_free(&p->tasks);
    free(p->was);
    search_close(p->search);
    job_close(p->job);
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

/* ---- a run: each batch is a step of the team --------------------------------------------------*/

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
    const struct node_report r = {evaluations - p->reported, units_rate(p->units, -1)};
    p->reported = evaluations;
    units_next(p->units);
    TRY(node_next(p->node, &r, &p->batch));
    p->seconds = clock_now() - p->start;
    return p->batch.count ? describe_batch(p) : EK_OK;
}

static enum ek_status finish(void *ctx, const struct team_step *step, bool *last)
{
    struct program *p = ctx;
    (void)step;
    TRY(next_batch(p));
    *last = !p->batch.count && !stop_requested();
    return EK_OK;
}

static enum ek_status redivide(void *ctx, const struct team_step *step,
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
    .compute = compute, .cpu_batch = 1, .finish = finish, .redivide = redivide};

/* Nobody knows how many batches there will be, unless one is all. */
static int steps(const void *st)
{
    const struct program *p = st;
    return !p->batch.count ? 0 : p->batch.count == p->range.count ? 1 : MANY;
}

static void set_schedule(void *st, const char *spec)
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

static double work(const void *st)
{
    const struct program *p = st;
    const trial_number computed = p->checkpoint ? checkpoint_counts(p->checkpoint).computed : 0;
    return 1e-6 * (double)(computed ? computed : p->range.count);
}

static enum ek_status interrupted(void *st)
{
    struct program *p = st;
    char done[TRIAL_TEXT], all[TRIAL_TEXT];
    if (family_here()->rank)
        return EK_OK;
    TRY(checkpoint_save(p->checkpoint));
    trial_text(checkpoint_counts(p->checkpoint).done, done);
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
    bool right;
    *verified = BENCH_VERIFIED;
    if (family_here()->rank)
        return EK_OK;
    TRY(results_end(p->results));
    TRY(results_check(p->results, &right, &p->checked));
    *verified = right;
    if (p->residuals && results_stats(p->results))
        TRY(residuals_write(p->job, results_stats(p->results)->best.trial, p->residuals));
    *detail =
        json_pack("{s:s s:i}", "method", "trials judged one by one", "trials", (int)p->checked);
    return EK_OK;
}

static void written(void *st)
{
    const struct program *p = st;
    checkpoint_forget(p->checkpoint);
}

/* Eq. (9) of the paper, for any number of units: the time of n trials if each unit of each node
 * kept the rate that it had while it computed, and no time was lost between batches and at the end.
 */
static void add_bound(const struct program *p, json_t *o)
{
    const double computed = (double)checkpoint_counts(p->checkpoint).computed,
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
    fprintf(out, "%.4g s, at the units' own rates %.4g s (Eq. 9): efficiency %.1f %%\n",
            json_real_value(json_object_get(facts, "search_s")),
            json_number_value(json_object_get(facts, "t_cg_s")),
            100 * json_number_value(json_object_get(facts, "efficiency")));
    json_array_foreach(json_object_get(facts, "nodes"), i, node)
        fprintf(out, "rank %-4zu %12.0f trials in %6lld batches, busy %.3g s%s\n", i,
                json_number_value(json_object_get(node, "trials")),
                (long long)json_integer_value(json_object_get(node, "batches")),
                json_number_value(json_object_get(node, "busy_s")),
                json_integer_value(json_object_get(node, "lost")) ? ", was lost" : "");
}

static json_t *facts(const void *st)
{
    const struct program *p = st;
    json_t *o = results_json(p->results);
    if (!o)
        return NULL;
    json_object_set_new(o, "evaluations",
                        json_integer((json_int_t)checkpoint_counts(p->checkpoint).evaluations));
    add_bound(p, o);
    json_object_set_new(o, "method", json_string(p->method_name));
    json_object_set_new(o, "job", json_string(p->path));
    json_object_set_new(o, "model", json_string(p->model->name));
    json_object_set_new(o, "projection", json_string(p->job->stations.projection));
    return o;
}

static enum ek_status view(const void *st, json_t **made)
{
    const struct program *p = st;
    return view_open(p->job, results_stats(p->results), made);
}

/* Makes and writes the refined job; the next round takes it, if there is one. */
static enum ek_status refine(struct program *p, bool *more)
{
    json_t *refined;
    TRY(refine_job(p->job, results_stats(p->results), &p->to_refine, &refined));
    const enum ek_status st = p->refine_out ? refine_write(p->job, refined, p->refine_out) : EK_OK;
    *more = !st && p->round < p->refine;
    p->round += *more;
    p->refined = *more ? json_incref(refined) : NULL;
    json_decref(refined);
    return st;
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

struct bench_program inversion_program(const char *name)
{
    const struct model *model = model_find(name);
    return (struct bench_program){
        .name = model->name,
        .summary = model->summary,
        .unit = "Mtrial/s",
        .size = sizeof(struct program),
        .opts = options,
        .operand = "JOB.json",
        .operand_at = offsetof(struct program, path),
        .cold = true,
        .defaults = defaults,
        .answer = answer,
        .plan = plan,
        .open = open_program,
        .verbs = &verbs,
        .steps = steps,
        .reset = reset,
        .schedule = set_schedule,
        .interrupted = interrupted,
        .progress = "Mtrial",
        .family = true,
        .work = work,
        .check = check,
        .written = written,
        .facts = facts,
        .remark = remark,
        .page = "okada_mogi/report.html",
        .view = view,
        .again = again,
        .close = close_program,
    };
}
