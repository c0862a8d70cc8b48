/* mcsem/verbs.c – a step: compute cells, send their sums, judge the trial, find the next one. */
#include "mcsem/verbs.h"
#include "mcsem/inversion.h"
#include "mcsem/write.h"
#include "src/clock.h"

static size_t first_datum(const struct inversion *s, int cell)
{
    return s->survey->first[cell] * (size_t)s->survey->nfreq;
}

static enum ek_status compute_cell(struct inversion *s, const struct cu *cu, int cell)
{
    double *sums = s->inv->trial_sums + (size_t)cell * cell_sums(earth_unknowns(s->start));
    const double start = clock_cpu();
    TRY(cell_compute(s->work[cu->index], cu->pool, s->inv->trial, cell, sums,
                     s->trial_response + first_datum(s, cell), &s->report[cell]));
    /* a CPU unit's threads share the work evenly, a device's leader does most of it */
    s->report[cell].cpu_s = (clock_cpu() - start) * (cu->device ? 1 : cu->width);
    if (s->mail && s->message[cell] >= 0)
        cluster_mail_start(s->mail, s->message[cell]);
    return EK_OK;
}

/* A device computes the pairs of many cells at once: divides the total time by declared cost. */
static void divide_time(const struct inversion *s, struct ek_range r, double *seconds)
{
    double all = 0, cost = 0;
    for (size_t t = r.begin; t < r.end; t++) {
        all += seconds[t - r.begin];
        cost += s->cost[t];
    }
    for (size_t t = r.begin; t < r.end && cost > 0; t++)
        seconds[t - r.begin] = all * s->cost[t] / cost;
}

static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    struct inversion *s = ctx;
    struct cell_work *work = s->work[cu->index];
    double start = clock_now();
    cell_set_spread(work, s->inv->trial_spread, s->inv->sums_spread);
    TRY(cell_begin(work, cu->pool, s->inv->trial, s->cell + r.begin, r.end - r.begin));
    for (size_t t = r.begin; t < r.end; t++) {
        TRY(compute_cell(s, cu, s->cell[t]));
        seconds[t - r.begin] += clock_now() - start;
        start = clock_now();
    }
    if (cu->device)
        divide_time(s, r, seconds);
    if (s->mail)
        cluster_mail_progress(s->mail);
    return EK_OK;
}

/* Before a step, on one thread: rank 0 finds the trial, broadcasts it, and gets ready to
 * receive. */
static enum ek_status exchange(void *ctx, const struct cu *cu, int phase, struct team_share share,
                               size_t *bytes)
{
    struct inversion *s = ctx;
    const size_t model = earth_size(s->start) * sizeof(double);
    (void)cu;
    (void)phase;
    if (!share.parts || share.part)
        return EK_OK;
    if (cluster_rank() == 0 && invert_judged(s->inv))
        TRY(invert_step(s->inv));
    if (cluster_size() == 1)
        return EK_OK;
    cluster_share(s->inv->trial, model);
    cluster_share(&s->inv->trial_spread, sizeof s->inv->trial_spread);
    cluster_share(&s->inv->sums_spread, sizeof s->inv->sums_spread);
    for (int i = 0; cluster_rank() == 0 && i < s->nmessages; i++)
        cluster_mail_start(s->mail, i);
    *bytes += model;
    return EK_OK;
}

static int exchange_phases(const void *ctx)
{
    (void)ctx;
    return 1;
}

/* Writes the accepted model of this iteration, if --models is given. */
static enum ek_status keep_model(const struct inversion *s)
{
    char path[4096];
    const struct invert *inv = s->inv;
    if (!s->models || !inv->record[inv->nrecords - 1].accepted)
        return EK_OK;
    snprintf(path, sizeof path, "%s.%d.csv", s->models, inv->iteration);
    return write_model(path, inv->earth, NULL);
}

static void note_reports(struct inversion *s)
{
    s->cpu_s = 0;
    for (size_t t = 0; t < s->ntasks; t++) {
        const struct cell_report *r = &s->report[s->cell[t]];
        s->worst_difference = fmax(s->worst_difference, r->difference);
        s->cpu_s += r->cpu_s;
    }
    cluster_sum(&s->cpu_s, 1);
}

/* Updates the drift from all responses; every rank receives them in the same order. */
static enum ek_status learn_drift(struct inversion *s)
{
    const size_t data = s->survey->npairs * (size_t)s->survey->nfreq;
    struct misfit_options options = s->cell_options.misfit;
    OWNED_MEMORY NEW(double complex, all, data, "out of memory for %zu responses", data);
    memcpy(all, s->response, data * sizeof *all);
    cluster_sum((double *)all, 2 * data);
    options.spread = s->inv->trial_spread;
    drift_update(s->drift, &options, all);
    return EK_OK;
}

static enum ek_status finish(void *ctx, const struct team_step *step, bool *last)
{
    struct inversion *s = ctx;
    struct inversion_decision word = {0};
    if (s->mail)
        cluster_mail_wait(s->mail);
    note_reports(s);
    s->pairs_done += (double)s->survey->npairs;
    if (cluster_rank() == 0) {
        word.accepted = s->inv->resumed; /* then the trial was the accepted model */
        TRY(invert_judge(s->inv, step->longest, s->cpu_s));
        word.stop = (int)s->inv->stop;
        word.accepted |= s->inv->record[s->inv->nrecords - 1].accepted;
        word.corrects_drift = s->drift && word.accepted && !word.stop && s->inv->rms <= DRIFT_RMS;
        TRY(keep_model(s));
    }
    cluster_share(&word, sizeof word);
    if (word.accepted) {
        double complex *accepted = s->trial_response;
        s->trial_response = s->response;
        s->response = accepted;
    }
    if (word.corrects_drift)
        TRY(learn_drift(s));
    *last = word.stop != INVERT_GOES_ON;
    return EK_OK;
}

const struct team_ops verbs_mcsem = {
    .compute = compute,
    .exchange = exchange,
    .exchange_phases = exchange_phases,
    .cpu_batch = 1,
    .finish = finish,
    .save = checkpoint_save,
};
