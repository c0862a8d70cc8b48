/* okada_mogi/results.c – turns batches of accepted trials into files and statistics. */
#include "okada_mogi/results.h"
#include "okada_mogi/certify.h"
#include "okada_mogi/descent.h"
#include "okada_mogi/write.h"
#include "okada_mogi/judge.h"
#include "okada_mogi/posterior.h"
#include "okada_mogi/spool.h"
#include "src/random.h"

/* Numbers of accepted trials whose records and neighbours are checked, and of those whose records
 * are computed from textbook formulas; of random trials, and of symmetric ones; of descents, also
 * if nothing is accepted; of trials times stations up to which every trial is judged instead. For
 * a proof that nothing is acceptable: of boxes times stations, at first and at most; and of trials
 * times stations in the boxes that are left. */
enum {
    SAMPLES = 256,
    SUMMED = 16,
    RANDOM = 2000,
    DESCENTS = 6,
    DESCENTS_IN_VAIN = 48,
    WHOLE = 1 << 20,
    GLANCE = 1 << 12,
    PROOF = 1 << 15,
    LEFT = 1 << 23
};

struct results {
    const struct job *job;
    struct trial_range range;
    const char *path[ACCEPTED_FORMATS];
    struct spool *spool;
    struct stats *stats;        /* after results_end(); NULL: nothing is accepted */
    struct posterior posterior; /* likewise */
};

enum ek_status results_open(const struct job *job, struct trial_range range,
                            const char *const path[ACCEPTED_FORMATS], struct results **h)
{
    NEW(struct results, made, 1, "%s: out of memory for the results", job->path);
    made->job = job;
    made->range = range;
    memcpy(made->path, path, sizeof made->path);
    const enum ek_status st = spool_open(SPOOL_MEMORY, &made->spool);
    return HAND_OUT(st, made, h, results_close);
}

void results_close(struct results *h)
{
    if (!h)
        return;
    spool_close(h->spool);
    stats_close(h->stats);
    free(h);
}

/* Tries to write them before a long search rather than after it. */
static enum ek_status try_files(const struct results *h)
{
    for (int f = 0; f < ACCEPTED_FORMATS; f++)
        if (h->path[f])
            TRY(file_try(h->path[f]));
    return EK_OK;
}

enum ek_status results_begin(struct results *h)
{
    spool_clear(h->spool);
    stats_close(h->stats);
    h->stats = NULL;
    return try_files(h);
}

struct spool *results_spool(struct results *h)
{
    return h->spool;
}

/* ---- ending a search --------------------------------------------------------------------------*/

struct choice {
    size_t wanted;
    struct accepted best;
};

static void cut(struct choice *c)
{
    accepted_sort_best(&c->best);
    if (c->best.n > c->wanted)
        c->best.n = c->wanted;
}

/* Keeps at most twice the number wanted in memory. */
static enum ek_status choose_from(void *arg, const struct accepted_record *record, size_t n)
{
    struct choice *c = arg;
    for (size_t i = 0; i < n; i++) {
        TRY(accepted_add(&c->best, &record[i]));
        if (c->best.n >= 2 * c->wanted)
            cut(c);
    }
    return EK_OK;
}

/* Replaces all batches by one of the best records. */
static enum ek_status choose_best(struct results *h)
{
    struct choice c = {.wanted = (size_t)h->job->accept.best};
    enum ek_status st = spool_each(h->spool, choose_from, &c);
    cut(&c);
    accepted_sort(&c.best);
    spool_clear(h->spool);
    THEN(st, spool_put(h->spool, h->range, &c.best));
    accepted_free(&c.best);
    return st;
}

static enum ek_status write_some(void *arg, const struct accepted_record *record, size_t n)
{
    return accepted_file_put(arg, record, n);
}

static enum ek_status write_file(struct results *h, enum accepted_format format)
{
    struct accepted_file *file;
    if (!h->path[format])
        return EK_OK;
    TRY(accepted_file_open(h->path[format], format, h->job, spool_count(h->spool), &file));
    return accepted_file_end(file, spool_each(h->spool, write_some, file));
}

enum ek_status results_end(struct results *h)
{
    if (h->job->accept.best)
        TRY(choose_best(h));
    for (int f = 0; f < ACCEPTED_FORMATS; f++)
        TRY(write_file(h, (enum accepted_format)f));
    if (!spool_count(h->spool))
        return EK_OK;
    TRY(stats_open(h->job, h->spool, &h->stats));
    return posterior_find(h->stats, h->spool, h->range, &h->posterior);
}

/* ---- verification -----------------------------------------------------------------------------*/

struct checker {
    struct results *h;
    struct judge *judge;
    struct accepted_record worst; /* last of the best n; infinite misfit if there are fewer */
    bool right;
    long checked;
    size_t at, stride;            /* records so far; every stride-th is checked */
    struct accepted start;        /* candidates for descents; misfit holds chi2 */
    bool by_most;                 /* descents minimize the largest residual, not chi2 */
    struct accepted_record least; /* of the largest residual in this descent */
    double tolerance;             /* rounding of residuals, in standard deviations */
    uint64_t seed;
};

/* Whether a is worse than b. Deliberately repeated here, so that an error in accepted_better()
 * would be noticed. */
static bool beyond(const struct accepted_record *a, const struct accepted_record *b)
{
    return a->misfit > b->misfit || (a->misfit == b->misfit && a->trial > b->trial);
}

static enum ek_status find_worse(void *arg, const struct accepted_record *record, size_t n)
{
    struct accepted_record *worst = arg;
    for (size_t i = 0; i < n; i++)
        if (beyond(&record[i], worst))
            *worst = record[i];
    return EK_OK;
}

static enum ek_status find_worst(struct checker *c)
{
    const size_t wanted = (size_t)c->h->job->accept.best;
    const bool all = !wanted || spool_count(c->h->spool) < wanted;
    c->worst = (struct accepted_record){.misfit = all ? INFINITY : -INFINITY};
    return all ? EK_OK : spool_each(c->h->spool, find_worse, &c->worst);
}

/* Compares results and judge on a trial. *misfit: for descents, chi2 or the largest residual;
 * INFINITY if the trial is forbidden or outside of the range. */
static enum ek_status check_trial(struct checker *c, trial_number trial, double *misfit)
{
    struct accepted_record record;
    struct results *h = c->h;
    bool held;
    *misfit = INFINITY;
    if (trial - h->range.first >= h->range.count)
        return EK_OK;
    const bool allowed = judge_trial(c->judge, trial, &record, NULL);
    const bool acceptable =
        allowed && judge_accepts(h->job, &record, INFINITY) && !beyond(&record, &c->worst);
    TRY(spool_find(h->spool, trial, &held));
    c->right &= acceptable == held;
    c->checked++;
    if (allowed && !isnan(record.chi2))
        *misfit = c->by_most ? record.most : record.chi2;
    if (allowed && record.most < c->least.most)
        c->least = record;
    return EK_OK;
}

static enum ek_status evaluate(void *arg, const long *place, double *misfit)
{
    struct checker *c = arg;
    const struct job *job = c->h->job;
    return check_trial(c, trial_of(job->axis, job->naxes, place), misfit);
}

/* Checks a trial and its neighbours: those along every axis, and as many in random directions if
 * that is asked. */
static enum ek_status check_neighbours(struct checker *c, trial_number trial, bool diagonally)
{
    const struct job *job = c->h->job;
    const int beside = 2 * job->naxes;
    long place[JOB_AXES], other[JOB_AXES];
    double misfit;
    trial_place(job->axis, job->naxes, trial, place);
    TRY(evaluate(c, place, &misfit));
    for (int k = 0; k < (diagonally ? 2 : 1) * beside; k++) {
        bool inside = true;
        for (int a = 0; a < job->naxes; a++) {
            const int way = k >= beside  ? (int)(random_bits(&c->seed) % 3) - 1
                            : k / 2 == a ? 2 * (k % 2) - 1
                                         : 0;
            other[a] = place[a] + (k >= beside && job->axis[a].n == 1 ? 0 : way);
            inside &= other[a] >= 0 && other[a] < job->axis[a].n;
        }
        if (inside)
            TRY(evaluate(c, other, &misfit));
    }
    return EK_OK;
}

/* A trial's record from the model's textbook formulas, summed up here; *tolerance grows to what
 * these may differ from responses. False: only the judge can tell, as the data are more than plain
 * components. */
static bool sum_up(const struct job *job, trial_number trial, struct accepted_record *r,
                   double *tolerance)
{
    const struct stations *s = &job->stations;
    double x[JOB_AXES], squares = 0;
    if (job->scenes.n || stations_any(s, stations_difference) ||
        stations_any(s, stations_correlated) || !job->model->textbook)
        return false;
    *r = (struct accepted_record){.trial = trial};
    job_parameters(job, trial, x);
    for (int i = 0; i < s->n; i++) {
        double u[3] = {0}, one[3], size = 0, rounding = 0;
        const double *along = s->along + 3 * i;
        for (int k = 0; k < job->nsources; k++) {
            rounding += job->model->textbook(job->model, x + k * job->model->nparameters,
                                             s->east[i], s->north[i], s->height[i], one);
            for (int a = 0; a < 3; a++) {
                u[a] += one[a];
                size += fabs(one[a]);
            }
        }
        if (stations_scalar(s, i))
            u[0] = along[0] * u[0] + along[1] * u[1] + along[2] * u[2];
        for (int a = 3 * i; a < 3 * i + 3; a++) {
            const double d = u[a % 3] - s->observed[a], z = fabs(d / s->sigma[a]);
            if (isnan(s->observed[a]))
                continue;
            *tolerance = fmax(*tolerance, (1e-6 * size + rounding) / s->sigma[a]);
            r->most = fmax(r->most, z);
            r->chi2 += z * z;
            squares += d * d;
        }
    }
    r->rms = sqrt(squares / s->ncomponents);
    r->misfit = job->accept.misfit == JOB_MISFIT_MAX ? r->most : sqrt(r->chi2 / s->ncomponents);
    return true;
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= 1e-6 * fabs(b) + tolerance;
}

/* Whether a record of the results says what another computation of it does. */
static bool agree(const struct job *job, const struct accepted_record *a,
                  const struct accepted_record *b, double tolerance)
{
    double sigma = 0;
    for (int i = 0; i < 3 * job->stations.n; i++) /* NaN: not observed */
        sigma = fmax(sigma, job->stations.sigma[i]);
    return near(a->misfit, b->misfit, tolerance) && near(a->most, b->most, tolerance) &&
           near(sqrt(a->chi2), sqrt(b->chi2), tolerance * sqrt(job->stations.ncomponents)) &&
           near(a->rms, b->rms, tolerance * sigma);
}

static void check_record(struct checker *c, const struct accepted_record *found)
{
    const struct job *job = c->h->job;
    struct accepted_record record;
    double tolerance = c->tolerance;
    c->right &=
        judge_trial(c->judge, found->trial, &record, NULL) && agree(job, found, &record, tolerance);
    if (c->at / c->stride < SUMMED && sum_up(job, found->trial, &record, &tolerance))
        c->right &= agree(job, found, &record, tolerance);
}

static enum ek_status check_some(void *arg, const struct accepted_record *record, size_t n)
{
    struct checker *c = arg;
    for (size_t i = 0; i < n; i++, c->at++)
        if (c->at % c->stride == 0) {
            check_record(c, &record[i]);
            TRY(check_neighbours(c, record[i].trial, c->at / c->stride % 4 == 0));
        }
    return EK_OK;
}

/* A place that is likely to be symmetric: an end of the axis, 0, a multiple of 45, a station's
 * easting or northing. There responses vanish or are parallel, and short cuts that divide by them
 * fail first. */
static long symmetric_place(const struct job *job, int a, uint64_t *seed)
{
    const struct trial_axis *x = &job->axis[a];
    const uint64_t kind = random_bits(seed) % 8, any = random_bits(seed);
    const int station = (int)(any % (uint64_t)job->stations.n);
    const double value[] = {x->min,
                            x->max,
                            0,
                            45 * ((double)(any % 17) - 8),
                            job->stations.east[station],
                            job->stations.north[station]};
    if (kind >= sizeof value / sizeof *value || x->n == 1)
        return (long)(any % (uint64_t)x->n);
    const double at = round((value[kind] - x->min) / (x->max - x->min) * (double)(x->n - 1));
    return (long)fmin(fmax(at, 0), (double)(x->n - 1));
}

static trial_number symmetric_trial(const struct job *job, uint64_t *seed)
{
    long place[JOB_AXES];
    for (int a = 0; a < job->naxes; a++)
        place[a] = symmetric_place(job, a, seed);
    return trial_of(job->axis, job->naxes, place);
}

/* Checks trials from all over the range, then descents from the best of them and the best accepted.
 */
static enum ek_status check_random(struct checker *c)
{
    const struct descent_objective objective = {evaluate, c};
    const struct job *job = c->h->job;
    const struct stats *s = c->h->stats;
    struct accepted_record r = {.trial = 0};
    uint64_t seed = 1;
    if (s)
        TRY(accepted_add(
            &c->start, &(struct accepted_record){.trial = s->best.trial, .misfit = s->best.chi2}));
    for (int i = 0; i < 2 * RANDOM; i++) {
        r.trial = i % 2 ? symmetric_trial(job, &seed) : trial_random(c->h->range, &seed);
        TRY(check_trial(c, r.trial, &r.misfit));
        if (isfinite(r.misfit))
            TRY(accepted_add(&c->start, &r));
    }
    accepted_sort_best(&c->start);
    for (size_t i = 0; i < c->start.n && i < (s ? DESCENTS : DESCENTS_IN_VAIN); i++) {
        c->least.most = INFINITY;
        TRY(descent_run(job, &objective, c->start.record[i].trial, c->start.record[i].misfit));
        c->by_most = true; /* chi2 is smoother, but largest residuals decide */
        if (isfinite(c->least.most))
            TRY(descent_run(job, &objective, c->least.trial, c->least.most));
        c->by_most = false;
    }
    return EK_OK;
}

static enum ek_status check_every_trial(struct checker *c)
{
    const struct trial_range all = c->h->range;
    double misfit;
    for (trial_number i = 0; i < all.count; i++)
        TRY(check_trial(c, all.first + i, &misfit));
    return EK_OK;
}

static enum ek_status check_box(struct checker *c, const struct certify_box *box)
{
    const int naxes = c->h->job->naxes;
    long place[JOB_AXES];
    double misfit;
    memcpy(place, box->first, sizeof box->first);
    for (;;) {
        int a = naxes - 1;
        TRY(evaluate(c, place, &misfit));
        for (; a >= 0 && place[a] == box->last[a]; a--)
            place[a] = box->first[a];
        if (a < 0)
            return EK_OK;
        place[a]++;
    }
}

/* Where nothing is accepted, random trials might all miss what a search has lost: judges all trials
 * of the boxes outside of which nothing fits, if they are few enough; then *complete. A little
 * effort tells whether more would help. */
static enum ek_status prove_empty(struct checker *c, bool *complete)
{
    const struct job *job = c->h->job;
    const double all = (double)job->trials;
    enum ek_status st = EK_OK;
    for (int effort = 0; certify_knows(job) && effort < 2 && !*complete && !st; effort++) {
        struct certify_rest rest;
        st = certify_grid(job, effort ? PROOF : GLANCE, &rest);
        *complete = !st && rest.trials * job->stations.n <= LEFT;
        for (size_t i = 0; i < rest.n && *complete && !st; i++)
            st = check_box(c, &rest.box[i]);
        free(rest.box);
        if (rest.trials > all / 2)
            break;
    }
    return st;
}

static enum ek_status check_all(struct checker *c, bool *complete)
{
    TRY(find_worst(c));
    for (int i = 0; i < 3 * c->h->job->stations.n; i++) /* NaN: not observed */
        c->tolerance = fmax(c->tolerance, judge_slack(c->h->job) / c->h->job->stations.sigma[i]);
    TRY(spool_each(c->h->spool, check_some, c));
    c->right &= c->at == spool_count(c->h->spool) && !!c->at == !!c->h->stats;
    if (c->h->stats) {
        check_record(c, &c->h->stats->best);
        c->right &= c->h->stats->trials == c->at;
        TRY(check_neighbours(c, c->h->stats->best.trial, true));
    }
    const trial_number stations = (trial_number)c->h->job->stations.n;
    *complete = c->h->range.count <= WHOLE / stations;
    if (*complete)
        return check_every_trial(c);
    if (!c->h->stats)
        TRY(prove_empty(c, complete));
    return *complete ? EK_OK : check_random(c);
}

enum ek_status results_verify(struct results *h, struct results_check *out)
{
    struct checker c = {
        .h = h, .right = true, .stride = 1 + spool_count(h->spool) / SAMPLES, .seed = 7};
    bool complete = false;
    TRY(judge_open(h->job, &c.judge));
    const enum ek_status st = check_all(&c, &complete);
    judge_close(c.judge);
    accepted_free(&c.start);
    *out = (struct results_check){c.right, complete, c.checked};
    return st;
}

/* ---- output -----------------------------------------------------------------------------------*/

const struct stats *results_stats(const struct results *h)
{
    return h->stats;
}

json_t *results_json(const struct results *h)
{
    const struct job_accept *a = &h->job->accept;
    const struct stats *s = h->stats;
    json_t *o = json_object(), *levels = json_array();
    json_t *smallest = NULL;
    for (int k = 0; k < a->nk; k++) {
        const size_t n = s ? s->level[k].trials : 0;
        json_array_append_new(
            levels, json_pack("{s:f s:o}", "k_sigma", a->k[k], "accepted", write_number(n)));
        if (n && !smallest)
            smallest = json_real(a->k[k]);
    }
    json_object_set_new(o, "trials", write_number(h->range.count));
    json_object_set_new(o, "accepted", write_number(s ? s->trials : 0));
    json_object_set_new(o, "levels", levels);
    json_object_set_new(o, "smallest_k", smallest ? smallest : json_null());
    json_object_set_new(o, "best", s ? write_trial(h->job, &s->best) : json_null());
    json_object_set_new(o, "statistics", s ? write_stats(s) : json_null());
    json_object_set_new(o, "posterior", s ? posterior_json(s, &h->posterior) : json_null());
    return o;
}

void results_print(FILE *out, const json_t *facts)
{
    const json_t *best = json_object_get(facts, "best"), *levels = json_object_get(facts, "levels");
    const char *name;
    json_t *value;
    size_t i;
    write_print_number(out, json_object_get(facts, "accepted"));
    fputs(" of ", out);
    write_print_number(out, json_object_get(facts, "trials"));
    fputs(" trials accepted", out);
    json_array_foreach(levels, i, value)
    {
        fprintf(out, "%s k = %g: ", i ? "," : ";", json_number_of(value, "k_sigma"));
        write_print_number(out, json_object_get(value, "accepted"));
    }
    fputc('\n', out);
    if (json_is_null(best))
        return;
    fputs("best: trial ", out);
    write_print_number(out, json_object_get(best, "index"));
    fprintf(out, ", misfit %.4g, rms %.4g m:", json_number_of(best, "misfit"),
            json_number_of(best, "rms_m"));
    json_object_foreach(json_object_get(best, "parameters"), name, value)
        fprintf(out, " %s %.7g", name, json_number_value(value));
    if (json_is_number(json_object_get(best, "Mw")))
        fprintf(out, " Mw %.2f", json_number_of(best, "Mw"));
    json_array_foreach(json_object_get(best, "translation_m"), i, value)
        fprintf(out, "%s %.5g", i ? "" : " translation_m",
                json_is_number(value) ? json_real_value(value) : NAN);
    fputc('\n', out);
    write_print_stats(out, json_object_get(facts, "statistics"));
    posterior_print(out, json_object_get(facts, "posterior"));
}
