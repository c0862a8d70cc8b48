/* mcsem/cell_choose.c – chooses which pairs of a cell a table serves, how dense it must be, and the
 * filter for the others, by comparing a few pairs with exact mode. */
#include "mcsem/cell_work.h"

enum { CHANNELS = 4, SAMPLES = CELL_SAMPLES, SAMPLE_FILTER = 3, FEW = 32 };
enum { TRIALS = CELL_TRIALS };
_Static_assert(CHANNELS + 2 == (int)SAMPLES && TRIALS * SAMPLES <= FEW, "cell_work.h");
/* A table is too coarse if it cannot serve more than 4 + 2 % of the pairs. */
enum { FEW_OTHERS = 4, MANY = 50 };
#define CAUTION         2.0 /* the error may be larger than at the samples */
#define NEAR_SPREADS    8.0
#define NEAR_CLEARANCES 4.0
#define EXACT_TOLERANCE 1e-7 /* between two filters; the finer one's error is far smaller */

/* A range of depths. */
struct span {
    double first, last;
};

static void widen(struct span *s, double first, double last)
{
    s->first = fmin(s->first, first);
    s->last = fmax(s->last, last);
}

/* A pair is near if it is closer than NEAR_SPREADS times the ranges of depths, or if its wire
 * passes almost above the receiver. */
static size_t count_near(const struct cell_work *w)
{
    struct span source = {INFINITY, 0}, receiver = source;
    double clearance = 0;
    size_t near = 0;
    for (size_t i = 0; i < cell_pairs(w); i++) {
        const struct survey_pair *p = &w->pair[i];
        const double rise = 0.5 * p->length * fabs(sin(p->dip));
        widen(&source, p->source[2] - rise, p->source[2] + rise);
        widen(&receiver, p->receiver[2], p->receiver[2]);
        clearance = fmax(clearance, fabs(p->source[2] - p->receiver[2]));
    }
    const double ranges = source.last - source.first + receiver.last - receiver.first;
    const double reach = fmax(NEAR_SPREADS * ranges, NEAR_CLEARANCES * clearance);
    for (size_t i = 0; i < cell_pairs(w); i++)
        if (survey_offset(&w->pair[i]) - 0.5 * (w->pair[i].length + w->pair[i].span) < reach)
            near = i + 1;
    return near;
}

static void shift_pairs(struct cell_work *w)
{
    for (size_t i = 0; i < cell_pairs(w); i++)
        w->pair[i] = cell_shift(w->earth, w->cell, &w->survey->pair[w->survey->first[w->cell] + i]);
}

void cell_select(struct cell_work *w, const double *m, int c)
{
    w->cell = c;
    w->near = 0;
    if (!cell_pairs(w))
        return;
    earth_column(w->earth, c, m + (size_t)c * (size_t)earth_unknowns(w->earth), &w->layers);
    shift_pairs(w);
    w->near = w->options.mode == CELL_SHARED && !w->earth->vertical ? count_near(w) : cell_pairs(w);
}

static void add_sample(struct cell_samples *s, size_t pair)
{
    for (int k = 0; k < s->n; k++)
        if (s->pair[k] == pair)
            return;
    s->pair[s->n++] = pair;
}

/* The pair whose source is farthest from the mean depth. */
static size_t farthest_in_depth(const struct survey_pair *pair, size_t first, size_t last)
{
    double mean = 0;
    size_t most = (first + last) / 2;
    for (size_t i = first; i < last; i++)
        mean += pair[i].source[2] / (double)(last - first);
    for (size_t i = first; i < last; i++)
        if (fabs(pair[i].source[2] - mean) > fabs(pair[most].source[2] - mean))
            most = i;
    return most;
}

/* Samples of pairs first .. last-1: the nearest one of each kind of channel (E and H, horizontal
 * and vertical), the farthest one, the one whose source is farthest from the mean depth. */
struct cell_samples cell_choose_samples(const struct survey_pair *pair, size_t first, size_t last)
{
    struct cell_samples s = {0};
    bool seen[CHANNELS] = {false};
    for (size_t i = first; i < last; i++) {
        const struct survey_pair *p = &pair[i];
        const int channel = 2 * p->magnetic + (fabs(p->direction[2]) > 0.1);
        if (!seen[channel])
            add_sample(&s, i);
        seen[channel] = true;
    }
    add_sample(&s, last - 1);
    add_sample(&s, farthest_in_depth(pair, first, last));
    return s;
}

/* At least SAMPLE_FILTER, since pairs other than the samples may need more. A few pairs are not
 * worth the trials. */
enum ek_status cell_choose_filter(struct cell_work *w, struct cell_report *report)
{
    w->filter = report->filter = CELL_FEW_FILTER;
    if (w->near <= FEW)
        return EK_OK;
    const struct cell_samples s = cell_choose_samples(w->pair, 0, w->near);
    report->filter = SAMPLE_FILTER;
    for (int k = 0; k < s.n; k++) {
        const struct survey_pair *p = &w->pair[s.pair[k]];
        const struct forward_control control = {EXACT_TOLERANCE, cell_floor(&w->options, p)};
        int which;
        TRY(forward_choose(w->worker[0].forward, &w->layers, p, w->survey->nfreq, w->survey->freq,
                           &control, &which, NULL, NULL));
        report->filter = which > report->filter ? which : report->filter;
    }
    w->filter = report->filter;
    return EK_OK;
}

int cell_add_trials(struct cell_call *c, struct device_share *to)
{
    struct survey_pair *tried = c->sample;
    int trials = 0;
    for (const struct device_share *share = c->share; share < c->share + c->cells; share++) {
        if (share->n <= FEW)
            continue;
        const struct cell_samples s = cell_choose_samples(share->pair, 0, share->n);
        for (int i = 0; i < s.n; i++)
            tried[i] = share->pair[s.pair[i]];
        for (int filter = 0; filter < TRIALS; filter++)
            to[trials++] = (struct device_share){share->layers, tried, (size_t)s.n, filter, true};
        tried += s.n;
    }
    return trials;
}

/* The filter that forward_choose() would choose for a sample, from the fields of filters 0 ..
 * TRIALS-1, which are `step` apart. */
static int filter_for(const struct cell_work *w, const struct survey_pair *p,
                      const double complex *field, size_t step)
{
    const double floor = cell_floor(&w->options, p);
    for (int filter = 1; filter < TRIALS; filter++) {
        const double complex *finer = field + (size_t)filter * step;
        if (forward_difference(finer - step, finer, (size_t)w->survey->nfreq, floor) <=
            EXACT_TOLERANCE)
            return filter;
    }
    return TRIALS;
}

void cell_judge_trials(struct cell_work *w, struct cell_call *c, const struct device_share *trial,
                       const double complex *field)
{
    const size_t nfreq = (size_t)w->survey->nfreq;
    for (struct device_share *share = c->share; share < c->share + c->cells; share++) {
        share->filter = CELL_FEW_FILTER;
        if (share->n <= FEW)
            continue;
        const size_t step = trial->n * nfreq;
        share->filter = SAMPLE_FILTER;
        for (size_t i = 0; i < trial->n; i++) {
            const int which = filter_for(w, &trial->pair[i], field + i * nfreq, step);
            share->filter = which > share->filter ? which : share->filter;
        }
        field += TRIALS * step;
        trial += TRIALS;
    }
}

/* A comparison of the table with exact mode: sample i has rows 2 i (table) and 2 i + 1 (exact) of
 * the block. */
struct comparison {
    struct cell_work *work;
    struct cell_samples sample;
    const double complex *exact; /* sums of the samples by a device, or NULL */
    bool computed;               /* the exact rows are there */
    double worst[SAMPLES], error[SAMPLES];
};

double cell_difference(const struct cell_work *w, const double *a, const double *b,
                       const double *sizes, double floor)
{
    double worst = 0;
    for (int q = 0; q < w->survey->nfreq; q++, a += 2 * w->columns, b += 2 * w->columns) {
        const double size = fmax(sizes ? sizes[q] : hypot(b[0], b[w->columns]), floor);
        double most = 0;
        for (int c = 0; c < w->columns; c++) {
            const double re = a[c] - b[c], im = a[w->columns + c] - b[w->columns + c];
            most = fmax(most, re * re + im * im);
        }
        worst = fmax(worst, sqrt(most) / size);
    }
    return worst;
}

static void compare_phase(void *arg, int thread)
{
    struct comparison *c = arg;
    struct cell_work *w = c->work;
    struct cell_worker *k = &w->worker[thread];
    k->status = EK_OK;
    for (int i = thread; i < c->sample.n && !k->status; i += w->width) {
        const size_t pair = c->sample.pair[i], row = 2 * (size_t)i;
        const double floor = cell_floor(&w->options, &w->pair[pair]);
        shared_rows(w->shared, thread, pair - w->near, 1, cell_row(w, row));
        if (!c->computed && c->exact)
            cell_put_sums(w, c->exact + (size_t)i * cell_numbers(w), cell_row(w, row + 1));
        else if (!c->computed)
            k->status = cell_fill_exactly(w, k, pair, SAMPLE_FILTER, cell_row(w, row + 1));
        shared_parts(w->shared, pair - w->near, k->parts, k->size);
        c->worst[i] = cell_difference(w, cell_row(w, row), cell_row(w, row + 1), NULL, floor);
        c->error[i] = cell_difference(w, cell_row(w, row), cell_row(w, row + 1), k->parts, floor);
    }
}

/* Sets *worst to the largest difference of the table's rows from exact mode among samples, and
 * w->error. */
static enum ek_status check_shared(struct comparison *c, struct thread_pool *pool, double *worst)
{
    struct cell_work *w = c->work;
    thread_pool_run(pool, w->width, compare_phase, c);
    for (int t = 0; t < w->width; t++)
        TRY(w->worker[t].status);
    c->computed = true;
    *worst = w->error = 0;
    for (int i = 0; i < c->sample.n; i++) {
        *worst = fmax(*worst, c->worst[i]);
        w->error = fmax(w->error, c->error[i]);
    }
    return EK_OK;
}

bool cell_error_dominates(const struct cell_work *w, double error, double parts, double size,
                          double floor)
{
    return CAUTION * error * parts > w->options.tolerance * fmax(size, floor);
}

bool cell_cancels(const struct cell_work *w, size_t pair, const double *row)
{
    const double floor = cell_floor(&w->options, &w->pair[pair]);
    const double *parts = w->parts + pair * (size_t)w->survey->nfreq;
    for (int q = 0; q < w->survey->nfreq; q++, row += 2 * w->columns)
        if (cell_error_dominates(w, w->error, parts[q], hypot(row[0], row[w->columns]), floor))
            return true;
    return false;
}

/* Computes the parts of a thread's pairs, and estimates how many of them the table cannot serve. */
static void count_phase(void *arg, int thread)
{
    struct cell_work *w = arg;
    struct cell_worker *k = &w->worker[thread];
    k->exact = 0;
    for (size_t i = w->near + (size_t)thread; i < cell_pairs(w); i += (size_t)w->width) {
        const double floor = cell_floor(&w->options, &w->pair[i]);
        double *parts = w->parts + i * (size_t)w->survey->nfreq;
        bool cancels = false;
        shared_parts(w->shared, i - w->near, parts, k->size);
        for (int q = 0; q < w->survey->nfreq; q++)
            cancels = cancels || cell_error_dominates(w, w->error, parts[q], k->size[q], floor);
        k->exact += cancels;
    }
}

static size_t count_cancelled(struct cell_work *w, struct thread_pool *pool)
{
    size_t n = 0;
    thread_pool_run(pool, w->width, count_phase, w);
    for (int t = 0; t < w->width; t++)
        n += w->worker[t].exact;
    return n;
}

size_t cell_few_others(size_t pairs, int density)
{
    return density < SHARED_DENSITIES - 1 ? FEW_OTHERS + pairs / MANY : pairs / 4;
}

double cell_worth(const struct cell_work *w)
{
    return w->options.always ? INFINITY : (double)(cell_pairs(w) - w->near);
}

enum ek_status cell_reject_table(struct cell_work *w)
{
    const struct survey *s = w->survey;
    double worth = cell_worth(w);
    bool fits = true;
    if (w->near < cell_pairs(w))
        TRY(shared_plan(w->shared, &w->layers, w->pair + w->near, cell_pairs(w) - w->near, s->nfreq,
                        s->freq, 0, &worth, &fits));
    if (!fits)
        w->near = cell_pairs(w);
    return EK_OK;
}

void cell_add_samples(const struct cell_work *w, struct survey_pair *pair, struct device_share *to)
{
    *to = (struct device_share){w->layers, pair, 0, SAMPLE_FILTER, false};
    if (w->near == cell_pairs(w))
        return;
    const struct cell_samples s = cell_choose_samples(w->pair, w->near, cell_pairs(w));
    for (; to->n < (size_t)s.n; to->n++)
        pair[to->n] = w->pair[s.pair[to->n]];
}

enum ek_status cell_choose_density(struct cell_work *w, struct thread_pool *pool,
                                   const double complex *exact, const struct cell_table *coarsest,
                                   struct cell_report *report)
{
    const size_t pairs = cell_pairs(w) - w->near;
    struct comparison c = {
        .work = w, .sample = cell_choose_samples(w->pair, w->near, cell_pairs(w)), .exact = exact};
    double worth = coarsest ? coarsest->worth - SAMPLES : cell_worth(w); /* less failed attempts */
    for (int density = coarsest ? 1 : 0; density < SHARED_DENSITIES; density++) {
        bool fits;
        TRY(shared_make(w->shared, &w->layers, w->pair + w->near, pairs, w->survey->nfreq,
                        w->survey->freq, density, &worth, pool, &fits));
        if (!fits)
            break;
        worth -= SAMPLES;
        TRY(check_shared(&c, pool, &report->difference));
        if (report->difference <= w->options.tolerance &&
            count_cancelled(w, pool) <= cell_few_others(pairs, density)) {
            report->density = density;
            return EK_OK;
        }
    }
    report->difference = 0;
    return EK_OK;
}
