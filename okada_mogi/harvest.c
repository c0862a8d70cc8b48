/* okada_mogi/harvest.c – batches of accepted trials become a file and a few numbers. */
#include "okada_mogi/harvest.h"
#include "okada_mogi/judge.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, RANDOM = 2000 };    /* accepted trials whose neighbours are checked; others */
static const size_t most_kept = 1 << 22; /* records in memory for the check */

/* A batch, with its records as long as there is room for them. */
struct batch {
    struct trial_range range;
    struct accepted accepted;
    bool kept;
};

struct harvest {
    const struct job *job;
    struct trial_range range;
    const char *path;
    struct accepted_file *file;
    pthread_mutex_t lock;
    struct batch *batch; /* in order of arrival; sorted by harvest_end() */
    size_t n, room, kept;
    trial_number count, at_k[JOB_LEVELS];
    struct accepted_record best;
};

enum ek_status harvest_open(const struct job *job, struct trial_range range, const char *path,
                            struct harvest **h)
{
    struct harvest *made = calloc(1, sizeof *made);
    if (!made)
        FAIL(EK_LACK, "%s: out of memory for the results", job->path);
    made->job = job;
    made->range = range;
    made->path = path;
    pthread_mutex_init(&made->lock, NULL);
    *h = made;
    return EK_OK;
}

static void forget(struct harvest *h)
{
    for (size_t i = 0; i < h->n; i++)
        accepted_free(&h->batch[i].accepted);
    h->n = h->kept = 0;
    h->count = 0;
    memset(h->at_k, 0, sizeof h->at_k);
    h->best = (struct accepted_record){.misfit = INFINITY};
    accepted_file_close(h->file, false);
    h->file = NULL;
}

void harvest_close(struct harvest *h)
{
    if (!h)
        return;
    forget(h);
    pthread_mutex_destroy(&h->lock);
    free(h->batch);
    free(h);
}

enum ek_status harvest_begin(struct harvest *h)
{
    forget(h);
    return h->path ? accepted_file_open(h->path, h->job, h->range, &h->file) : EK_OK;
}

/* ---- batches ----------------------------------------------------------------------------------*/

static void count_record(struct harvest *h, const struct accepted_record *r)
{
    const struct job_accept *a = &h->job->accept;
    h->count++;
    for (int k = 0; k < a->nk; k++)
        h->at_k[k] += r->most <= a->k[k];
    if (r->misfit < h->best.misfit || (r->misfit == h->best.misfit && r->trial < h->best.trial))
        h->best = *r;
}

static enum ek_status make_room(struct harvest *h)
{
    if (h->n < h->room)
        return EK_OK;
    const size_t room = h->room ? 2 * h->room : 256;
    struct batch *more = realloc(h->batch, room * sizeof *more);
    if (!more)
        FAIL(EK_LACK, "%s: out of memory for %zu batches", h->job->path, room);
    h->batch = more;
    h->room = room;
    return EK_OK;
}

/* The best of all can only be told in the end, so everything is kept until then. */
static bool gathers(const struct harvest *h)
{
    return h->job->accept.best > 0;
}

static enum ek_status copy(const struct accepted *from, struct accepted *to)
{
    for (size_t i = 0; i < from->n; i++)
        TRY(accepted_add(to, &from->record[i]));
    return EK_OK;
}

/* Under the lock. */
static enum ek_status note(struct harvest *h, struct trial_range range, struct accepted *a)
{
    TRY(make_room(h));
    struct batch *b = &h->batch[h->n++];
    *b = (struct batch){.range = range, .kept = gathers(h) || h->kept + a->n <= most_kept};
    if (gathers(h)) {
        b->accepted = *a;
        *a = (struct accepted){0};
        return EK_OK;
    }
    for (size_t i = 0; i < a->n; i++)
        count_record(h, &a->record[i]);
    if (!b->kept)
        return EK_OK;
    h->kept += a->n;
    return copy(a, &b->accepted);
}

enum ek_status harvest_put(struct harvest *h, struct trial_range batch, struct accepted *a)
{
    pthread_mutex_lock(&h->lock);
    enum ek_status st = note(h, batch, a);
    pthread_mutex_unlock(&h->lock);
    if (!st && h->file && !gathers(h))
        return accepted_file_put(h->file, batch, a);
    accepted_free(a);
    return st;
}

static int by_first(const void *a, const void *b)
{
    const struct batch *x = a, *y = b;
    return (x->range.first > y->range.first) - (x->range.first < y->range.first);
}

/* All batches become one, of the best records only. */
static enum ek_status choose_best(struct harvest *h)
{
    struct accepted all = {0};
    enum ek_status st = EK_OK;
    for (size_t i = 0; i < h->n && !st; i++)
        st = copy(&h->batch[i].accepted, &all);
    accepted_sort_best(&all);
    if (all.n > (size_t)h->job->accept.best)
        all.n = (size_t)h->job->accept.best;
    accepted_sort(&all);
    for (size_t i = 0; i < all.n; i++)
        count_record(h, &all.record[i]);
    for (size_t i = 0; i < h->n; i++)
        accepted_free(&h->batch[i].accepted);
    h->n = 0;
    if (!st)
        st = make_room(h);
    if (st) {
        accepted_free(&all);
        return st;
    }
    h->batch[h->n++] = (struct batch){h->range, {0}, true};
    st = copy(&all, &h->batch[0].accepted);
    if (!st && h->file)
        st = accepted_file_put(h->file, h->range, &all);
    accepted_free(&all);
    return st;
}

enum ek_status harvest_end(struct harvest *h)
{
    if (gathers(h))
        TRY(choose_best(h));
    if (h->n)
        qsort(h->batch, h->n, sizeof *h->batch, by_first);
    struct accepted_file *file = h->file;
    h->file = NULL;
    return accepted_file_close(file, true);
}

/* ---- the check --------------------------------------------------------------------------------*/

static const struct batch *batch_of(const struct harvest *h, trial_number trial)
{
    size_t begin = 0, end = h->n;
    while (end - begin > 1) {
        const size_t middle = begin + (end - begin) / 2;
        if (h->batch[middle].range.first <= trial)
            begin = middle;
        else
            end = middle;
    }
    return &h->batch[begin];
}

static bool holds(const struct accepted *a, trial_number trial)
{
    size_t begin = 0, end = a->n;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (a->record[middle].trial < trial)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < a->n && a->record[begin].trial == trial;
}

/* Misfit beyond which a trial is not among the best. */
static double bound_of(const struct harvest *h)
{
    double bound = 0;
    const struct accepted *a = &h->batch[0].accepted;
    if (!gathers(h) || a->n < (size_t)h->job->accept.best)
        return INFINITY;
    for (size_t i = 0; i < a->n; i++)
        bound = fmax(bound, a->record[i].misfit);
    return bound;
}

/* False: the harvest and the judge do not agree on this trial. */
static bool agrees(const struct harvest *h, struct judge *judge, double bound, trial_number trial)
{
    struct accepted_record record;
    const struct batch *b = batch_of(h, trial);
    if (trial - h->range.first >= h->range.count || !b->kept)
        return true;
    const bool acceptable =
        judge_trial(judge, trial, &record, NULL) && judge_accepts(h->job, &record, bound);
    const bool last = gathers(h) && acceptable && record.misfit == bound; /* a tie may be out */
    return last || acceptable == holds(&b->accepted, trial);
}

/* The trial and its neighbours along every axis; false at the first that is wrong. */
static bool neighbours_agree(const struct harvest *h, struct judge *judge, double bound,
                             trial_number trial, long *checked)
{
    const struct job *job = h->job;
    long place[JOB_AXES];
    bool right = agrees(h, judge, bound, trial);
    trial_place(job->axis, job->naxes, trial, place);
    for (int a = 0; a < job->naxes; a++)
        for (int way = -1; way <= 1; way += 2) {
            place[a] += way;
            if (place[a] >= 0 && place[a] < job->axis[a].n) {
                right &= agrees(h, judge, bound, trial_of(job->axis, job->naxes, place));
                ++*checked;
            }
            place[a] -= way;
        }
    return right;
}

static trial_number random_trial(const struct harvest *h, uint64_t *seed)
{
    trial_number x = 0;
    for (int i = 0; i < 2; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        x = x << 64 | (*seed ^ *seed >> 31);
    }
    return h->range.first + x % h->range.count;
}

enum ek_status harvest_check(struct harvest *h, bool *right, long *checked)
{
    struct judge *judge;
    uint64_t seed = 1;
    *right = true;
    *checked = 0;
    if (!h->n)
        return EK_OK;
    TRY(judge_open(h->job, &judge));
    const double bound = bound_of(h);
    for (size_t b = 0; b < h->n; b += 1 + h->n / SAMPLES)
        for (size_t i = 0; i < h->batch[b].accepted.n; i += 1 + h->batch[b].accepted.n / 4)
            *right &=
                neighbours_agree(h, judge, bound, h->batch[b].accepted.record[i].trial, checked);
    if (h->count)
        *right &= neighbours_agree(h, judge, bound, h->best.trial, checked);
    for (int i = 0; i < RANDOM; i++)
        *right &= agrees(h, judge, bound, random_trial(h, &seed));
    *checked += RANDOM;
    judge_close(judge);
    return EK_OK;
}

/* ---- what came out ----------------------------------------------------------------------------*/

trial_number harvest_count(const struct harvest *h)
{
    return h->count;
}

/* Up to 2^63 a number; beyond, a text. */
static json_t *number_json(trial_number x)
{
    char text[TRIAL_TEXT];
    return x >> 63 ? json_string(trial_text(x, text)) : json_integer((json_int_t)x);
}

static json_t *best_json(const struct harvest *h)
{
    double x[JOB_AXES];
    const struct job *job = h->job;
    json_t *best = json_object(), *parameters = json_object();
    job_parameters(job, h->best.trial, x);
    for (int a = 0; a < job->naxes; a++)
        json_object_set_new(
            parameters, job->name[a],
            json_real(x[job->source[a] * job->model->nparameters + job->parameter[a]]));
    json_object_set_new(best, "index", number_json(h->best.trial));
    json_object_set_new(best, "parameters", parameters);
    json_object_set_new(best, "misfit", json_real(h->best.misfit));
    json_object_set_new(best, "chi2", json_real(h->best.chi2));
    json_object_set_new(best, "rms_m", json_real(h->best.rms));
    return best;
}

json_t *harvest_json(const struct harvest *h)
{
    const struct job_accept *a = &h->job->accept;
    json_t *o = json_object(), *levels = json_array();
    json_t *smallest = NULL;
    for (int k = 0; k < a->nk; k++) {
        json_array_append_new(levels, json_pack("{s:f s:o}", "k_sigma", a->k[k], "accepted",
                                                number_json(h->at_k[k])));
        if (h->at_k[k] && !smallest)
            smallest = json_real(a->k[k]);
    }
    json_object_set_new(o, "trials", number_json(h->range.count));
    json_object_set_new(o, "accepted", number_json(h->count));
    json_object_set_new(o, "levels", levels);
    json_object_set_new(o, "smallest_k", smallest ? smallest : json_null());
    json_object_set_new(o, "best", h->count ? best_json(h) : json_null());
    return o;
}

static void print_number(FILE *out, const json_t *number)
{
    if (json_is_string(number))
        fputs(json_string_value(number), out);
    else
        fprintf(out, "%lld", (long long)json_integer_value(number));
}

static double real_of(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

void harvest_print(FILE *out, const json_t *facts)
{
    const json_t *best = json_object_get(facts, "best"), *levels = json_object_get(facts, "levels");
    const char *name;
    json_t *value;
    size_t i;
    print_number(out, json_object_get(facts, "accepted"));
    fputs(" of ", out);
    print_number(out, json_object_get(facts, "trials"));
    fputs(" trials accepted", out);
    json_array_foreach(levels, i, value)
    {
        fprintf(out, "%s k = %g: ", i ? "," : ";", real_of(value, "k_sigma"));
        print_number(out, json_object_get(value, "accepted"));
    }
    fputc('\n', out);
    if (json_is_null(best))
        return;
    fputs("best: trial ", out);
    print_number(out, json_object_get(best, "index"));
    fprintf(out, ", misfit %.4g, rms %.4g m:", real_of(best, "misfit"), real_of(best, "rms_m"));
    json_object_foreach(json_object_get(best, "parameters"), name, value)
        fprintf(out, " %s %.7g", name, json_number_value(value));
    fputc('\n', out);
}
