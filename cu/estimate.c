/* cu/estimate.c – how long each task takes on each unit: medians of what was measured, lines
 * through them for the rest. */
#include "cu/estimate.h"
#include "cu/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences between units of a kind below this share are noise, or lie in the tasks. */
static const double ALIKE = 0.05;

/* ---- beginning --------------------------------------------------------------------------------*/
static int kind_of(struct estimate *e, const struct sched_job *job, int cu)
{
    const struct sched_unit *u = &job->unit[cu];
    for (int c = 0; c < cu; c++) {
        const struct sched_unit *v = &job->unit[c];
        if (v->kind == u->kind && v->width == u->width && v->seconds == u->seconds)
            return e->kind[c];
    }
    struct estimate_kind *k = &e->of[e->nkinds];
    *k = (struct estimate_kind){.profile = u->seconds, .rate = u->speed};
    k->seconds = calloc(e->n, sizeof *k->seconds);
    k->sample = calloc(e->n, sizeof *k->sample);
    k->count = calloc(e->n, sizeof *k->count);
    return e->nkinds++;
}

static bool all_known(const struct sched_job *job)
{
    for (int c = 0; c < job->ncu; c++)
        if (!job->unit[c].seconds && !(job->unit[c].speed > 0))
            return false;
    return true;
}

static enum ek_status sort_units(struct estimate *e, const struct sched_job *job)
{
    e->known = all_known(job);
    for (int c = 0; c < e->ncu; c++) {
        e->kind[c] = kind_of(e, job, c);
        struct estimate_kind *k = &e->of[e->kind[c]];
        if (!k->seconds || !k->sample || !k->count)
            FAIL(EK_LACK, "schedule: out of memory for the times of %zu tasks", job->n);
        k->units++;
        bool speed_counts = e->known && !k->profile;
        e->factor[c] = speed_counts ? k->rate / job->unit[c].speed : 1;
        for (int i = 0; i < ESTIMATE_SAMPLES; i++)
            e->ratio[c][i] = 1;
    }
    return EK_OK;
}

static void first_estimates(struct estimate *e)
{
    for (int j = 0; j < e->nkinds; j++) {
        struct estimate_kind *k = &e->of[j];
        double rate = e->known && !k->profile ? k->rate : 1;
        for (size_t t = 0; t < e->n; t++)
            k->seconds[t] = k->profile ? k->profile[t] : estimate_cost(e, t) / rate;
    }
    for (size_t t = 0; t < e->n; t++)
        e->seconds[t] = -1;
}

enum ek_status estimate_open(struct estimate *e, const struct sched_job *job)
{
    size_t n = job->n ? job->n : 1, ncu = (size_t)job->ncu;
    *e = (struct estimate){.n = job->n, .ncu = job->ncu, .cost = job->cost};
    e->order = calloc(n, sizeof *e->order);
    e->seconds = calloc(4 * n, sizeof *e->seconds);
    e->owner = calloc(n, sizeof *e->owner);
    e->kind = calloc(ncu, sizeof *e->kind);
    e->factor = calloc(4 * ncu, sizeof *e->factor);
    e->ratio = calloc(ncu, sizeof *e->ratio);
    e->of = calloc(ncu, sizeof *e->of);
    enum ek_status st = EK_OK;
    if (!e->order || !e->seconds || !e->owner || !e->kind || !e->factor || !e->ratio || !e->of)
        st = status_fail(EK_LACK, "schedule: out of memory for the times of %zu tasks", job->n);
    if (!st && job->n)
        st = sort_units(e, job);
    if (st) {
        estimate_close(e);
        return st;
    }
    e->x = e->seconds + n;
    e->y = e->x + n;
    e->room = e->y + n;
    e->busy = e->factor + ncu;
    e->judged = e->busy + ncu;
    e->expected = e->judged + ncu;
    plan_sort(e->cost, e->n, e->order);
    first_estimates(e);
    return EK_OK;
}

void estimate_close(struct estimate *e)
{
    for (int j = 0; e->of && j < e->ncu; j++) {
        free(e->of[j].seconds);
        free(e->of[j].sample);
        free(e->of[j].count);
    }
    free(e->order);
    free(e->seconds);
    free(e->owner);
    free(e->kind);
    free(e->factor);
    free(e->ratio);
    free(e->of);
    *e = (struct estimate){0};
}

void estimate_done(struct estimate *e, int cu, struct ek_range r, double sec)
{
    plan_divide(e->of[e->kind[cu]].seconds, r, sec, e->seconds);
    for (size_t t = r.begin; t < r.end; t++)
        e->owner[t] = cu;
}

/* ---- medians and lines ------------------------------------------------------------------------*/
/* The lower median; reorders v. Hoare's selection. */
static double median(double *v, size_t n)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, middle = high / 2;
    while (low < high) {
        double pivot = v[middle];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i <= j) {
                double swap = v[i];
                v[i++] = v[j];
                v[j--] = swap;
            }
        }
        if (j < middle)
            low = i;
        if (middle < i)
            high = j;
    }
    return v[middle];
}

static double median_of(const double *v, size_t n)
{
    double copy[ESTIMATE_SAMPLES];
    memcpy(copy, v, n * sizeof *copy);
    return median(copy, n);
}

/* y = b x through the origin. */
static void fit_ratio(struct estimate_kind *k, const double *x, double *y, size_t m)
{
    for (size_t i = 0; i < m; i++)
        y[i] = x[i] > 0 ? y[i] / x[i] : INFINITY;
    k->a = 0;
    k->b = median(y, m);
    if (!isfinite(k->b))
        k->b = 0;
}

/* y = a + b x by Tukey's resistant line: the slope between the medians of the outer thirds, the
 * height by the median of what is left. x descends; y is reordered. A line that would fall, or give
 * time back for small tasks, is no model of work: then y = a, or y = b x. */
static void fit_line(struct estimate_kind *k, const double *x, double *y, double *room, size_t m)
{
    size_t third = m / 3;
    size_t middle = third ? third - 1 - (third - 1) / 2 : 0; /* of a third: its lower median */
    double wide = third ? x[middle] - x[m - third + middle] : 0;
    k->tried = true;
    if (m < 6 || !(wide > 0)) {
        fit_ratio(k, x, y, m);
        return;
    }
    memcpy(room, y, third * sizeof *room);
    double large = median(room, third);
    memcpy(room, y + m - third, third * sizeof *room);
    k->b = fmax(0, (large - median(room, third)) / wide);
    for (size_t i = 0; i < m; i++)
        room[i] = y[i] - k->b * x[i];
    k->a = median(room, m);
    if (k->a < 0)
        fit_ratio(k, x, y, m);
}

/* The line of kind j through this step's raw times, or through the estimates of what has run. */
static void fit_kind(struct estimate *e, int j, bool raw)
{
    struct estimate_kind *k = &e->of[j];
    size_t m = 0;
    for (size_t i = 0; i < e->n; i++) {
        size_t t = e->order[i];
        bool here = raw ? e->seconds[t] >= 0 && e->kind[e->owner[t]] == j : k->count[t] > 0;
        if (!here)
            continue;
        e->x[m] = estimate_cost(e, t);
        e->y[m++] = raw ? e->seconds[t] / e->factor[e->owner[t]] : k->seconds[t];
    }
    if (m > 0)
        fit_line(k, e->x, e->y, e->room, m);
}

static double on_line(const struct estimate *e, const struct estimate_kind *k, size_t t)
{
    return k->a + k->b * estimate_cost(e, t);
}

/* ---- one step ---------------------------------------------------------------------------------*/
/* Busy times, and how they compare with what was expected. What has never run on a unit's kind is
 * expected on the kind's line where costs are declared; without them it says nothing of the unit.
 */
static void sum_units(struct estimate *e)
{
    memset(e->busy, 0, 3 * (size_t)e->ncu * sizeof *e->busy);
    size_t judged = 0;
    for (size_t t = 0; t < e->n; t++) {
        if (e->seconds[t] < 0)
            continue;
        int c = e->owner[t];
        const struct estimate_kind *k = &e->of[e->kind[c]];
        e->busy[c] += e->seconds[t];
        if (k->count[t] || e->cost) {
            double sec = e->factor[c] * (k->count[t] ? k->seconds[t] : on_line(e, k, t));
            e->judged[c] += e->seconds[t];
            e->expected[c] += sec;
            e->room[judged++] = sec > 0 ? fabs(e->seconds[t] / sec - 1) : 0;
        }
    }
    e->error = judged ? median(e->room, judged) : 1;
}

/* A unit is slower or faster than its kind when two of its last three steps say so, or its very
 * first one, before which nothing was known. */
static void judge_unit(struct estimate *e, int c)
{
    if (!(e->expected[c] > 0 && e->judged[c] > 0))
        return;
    double *ratio = e->ratio[c], now = e->judged[c] / e->expected[c];
    memmove(ratio, ratio + 1, (ESTIMATE_SAMPLES - 1) * sizeof *ratio);
    ratio[ESTIMATE_SAMPLES - 1] = now;
    double usual = e->steps ? median_of(ratio, ESTIMATE_SAMPLES) : now;
    if (fabs(usual - 1) <= ALIKE)
        return;
    e->factor[c] *= usual;
    for (int i = 0; i < ESTIMATE_SAMPLES; i++)
        ratio[i] = e->steps ? ratio[i] / usual : 1;
}

static void take_sample(struct estimate_kind *k, size_t t, double sec)
{
    double *sample = k->sample[t];
    if (k->count[t] == ESTIMATE_SAMPLES)
        memmove(sample, sample + 1, --k->count[t] * sizeof *sample);
    sample[k->count[t]++] = sec;
    k->seconds[t] = median_of(sample, k->count[t]);
}

/* A task's time on kind k from the kind j on which it has run, or from the line alone. */
static double predict(const struct estimate *e, const struct estimate_kind *k, size_t t)
{
    const struct estimate_kind *from = NULL;
    for (int j = 0; j < e->nkinds && !from; j++)
        if (e->of[j].count[t])
            from = &e->of[j];
    if (!k->tried && !from)
        return k->seconds[t];
    if (!k->tried)
        return from->seconds[t] * (e->known && k->rate > 0 ? from->rate / k->rate : 1);
    double usual = from ? on_line(e, from, t) : 0;
    return on_line(e, k, t) * (usual > 0 ? from->seconds[t] / usual : 1);
}

/* In the first step lines and unit factors are found by turns: a line through units of different
 * speeds is a poor one, until their factors are known. */
static void first_look(struct estimate *e)
{
    enum { TURNS = 4 };
    for (int turn = 0; turn < TURNS; turn++) {
        for (int j = 0; j < e->nkinds; j++)
            fit_kind(e, j, true);
        sum_units(e);
        for (int c = 0; c < e->ncu; c++)
            judge_unit(e, c);
    }
}

static void later_look(struct estimate *e)
{
    for (int j = 0; j < e->nkinds; j++)
        if (!e->of[j].tried)
            fit_kind(e, j, true);
    sum_units(e);
    for (int c = 0; c < e->ncu; c++)
        judge_unit(e, c);
}

void estimate_step(struct estimate *e)
{
    if (e->steps == 0)
        first_look(e);
    else
        later_look(e);
    for (size_t t = 0; t < e->n; t++)
        if (e->seconds[t] >= 0) {
            int c = e->owner[t];
            take_sample(&e->of[e->kind[c]], t, e->seconds[t] / e->factor[c]);
            e->seconds[t] = -1;
        }
    for (int j = 0; j < e->nkinds; j++)
        fit_kind(e, j, false);
    for (int j = 0; j < e->nkinds; j++)
        for (size_t t = 0; t < e->n; t++)
            if (!e->of[j].count[t] && !e->of[j].profile)
                e->of[j].seconds[t] = predict(e, &e->of[j], t);
    e->steps++;
}

double estimate_surprise(const struct estimate *e, const double *load)
{
    double difference = 0, makespan = 0;
    for (int c = 0; c < e->ncu; c++) {
        difference = fmax(difference, fabs(e->busy[c] - load[c]));
        makespan = fmax(makespan, load[c]);
    }
    return difference / makespan;
}
