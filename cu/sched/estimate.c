/* cu/sched/estimate.c – how long each task takes on each unit: medians of measurements, shrunk
 * towards lines through them; lines for tasks that were not measured. */
#include "cu/sched/estimate_internal.h"
#include "cu/sched/plan.h"

#include <math.h>
#include <string.h>

/* From this many tasks on, a median tells more than a sum. */
enum { SEVERAL = 5 };

/* ---- beginning --------------------------------------------------------------------------------*/
static int kind_of(struct estimate *e, const struct sched_job *job, int cu)
{
    const struct sched_unit *u = &job->unit[cu];
    for (int c = 0; c < cu; c++) {
        const struct sched_unit *v = &job->unit[c];
        if (v->kind == u->kind && v->width == u->width && v->seconds == u->seconds &&
            v->launch == u->launch)
            return e->kind[c];
    }
    struct estimate_kind *k = &e->of[e->nkinds];
    *k = (struct estimate_kind){
        .kind = u->kind, .profile = u->seconds, .rate = u->speed, .alike = 1};
    estimate_allocate(e, k);
    return e->nkinds++;
}

static void sort_units(struct estimate *e, const struct sched_job *job)
{
    e->known = sched_knows_speeds(job);
    for (int c = 0; c < e->ncu; c++) {
        e->kind[c] = kind_of(e, job, c);
        struct estimate_kind *k = &e->of[e->kind[c]];
        bool speed_counts = e->known && !k->profile;
        e->factor[c] = e->declared[c] = speed_counts ? k->rate / job->unit[c].speed : 1;
        e->launch[c] = job->unit[c].launch / e->factor[c];
        e->slowed[c] = -ESTIMATE_WARY;
        e->doubt[c] = 1;
        for (int i = 0; i < ESTIMATE_SAMPLES; i++)
            e->ratio[c][i] = 1;
    }
}

static void first_estimates(struct estimate *e)
{
    for (int j = 0; j < e->nkinds; j++) {
        struct estimate_kind *k = &e->of[j];
        double rate = e->known && !k->profile ? k->rate : 1;
        k->line = (struct line){0, 1 / rate};
        for (size_t t = 0; t < e->n; t++)
            k->seconds[t] = k->profile ? k->profile[t] : line_at(k->line, estimate_cost(e, t));
    }
    for (size_t t = 0; t < e->n; t++)
        e->seconds[t] = -1;
}

static void set_slowdowns(struct estimate *e)
{
    for (int c = 0; c < e->ncu; c++) {
        /* Of equals, one that has never worked may turn out to be the better one. */
        double hope = e->known || e->judged[c] || e->steps == 0 ? 1 : 1 - 1e-4;
        e->slowdown[c] = e->factor[c] * hope * e->doubt[c];
    }
}

enum ek_status estimate_open(struct estimate *e, const struct sched_job *job)
{
    size_t n = job->n, ncu = (size_t)job->ncu;
    *e = (struct estimate){.n = n, .ncu = job->ncu, .cost = job->cost, .unit = job->unit};
    e->arena = job->arena;
    e->order = ARENA_NEW(job->arena, n, size_t);
    e->owner = ARENA_NEW(job->arena, n, int);
    e->before = ARENA_NEW(job->arena, n, int);
    e->interrupted = ARENA_NEW(job->arena, n, unsigned char);
    e->range = ARENA_NEW(job->arena, n, float);
    e->length = ARENA_NEW(job->arena, n, size_t);
    e->chosen = ARENA_NEW(job->arena, n, size_t);
    e->start = ARENA_NEW(job->arena, n, float);
    e->seconds = ARENA_NEW(job->arena, n, double);
    e->usual = ARENA_NEW(job->arena, n, double);
    e->x = ARENA_NEW(job->arena, n, double);
    e->y = ARENA_NEW(job->arena, n, double);
    e->scratch = ARENA_NEW(job->arena, n + ESTIMATE_ROWS + ESTIMATE_LAUNCHES * ncu, double);
    e->kind = ARENA_NEW(job->arena, ncu, int);
    e->judged = ARENA_NEW(job->arena, ncu, bool);
    e->sudden = ARENA_NEW(job->arena, ncu, bool);
    e->slowed = ARENA_NEW(job->arena, ncu, int);
    e->again = ARENA_NEW(job->arena, ncu, bool);
    e->ranges = ARENA_NEW(job->arena, ncu, struct estimate_ranges);
    e->factor = ARENA_NEW(job->arena, ncu, double);
    e->declared = ARENA_NEW(job->arena, ncu, double);
    e->slowdown = ARENA_NEW(job->arena, ncu, double);
    e->doubt = ARENA_NEW(job->arena, ncu, double);
    e->launch = ARENA_NEW(job->arena, ncu, double);
    e->busy = ARENA_NEW(job->arena, 4 * ncu, double);
    e->seen = e->busy + ncu;
    e->expected = e->seen + ncu;
    e->guessed = e->expected + ncu;
    e->tasks = ARENA_NEW(job->arena, ncu, double);
    e->ratio = arena_take(job->arena, ncu, sizeof *e->ratio);
    e->of = ARENA_NEW(job->arena, ncu, struct estimate_kind);
    TRY(arena_check(job->arena, "the times of %zu tasks", n));
    if (n)
        sort_units(e, job);
    TRY(arena_check(job->arena, "the times of %zu tasks", n));
    plan_sort(e->cost, n, e->order);
    first_estimates(e);
    set_slowdowns(e);
    return EK_OK;
}

static double sum_of(const double *x, struct ek_range r)
{
    return line_sum(x + r.begin, r.end - r.begin);
}

/* Measured / expected seconds of a range; the median over its tasks if there are several and they
 * were timed, so that an interruption does not count. 0: nothing was expected. */
static double ratio_of(const struct estimate *e, const struct estimate_kind *k, struct ek_range r,
                       double inside, bool timed)
{
    const size_t n = r.end - r.begin; /* tasks of a batch get shares of its time */
    if (n < SEVERAL || !timed || inside > 0 || WITHOUT(MEDIAN_RATIO)) {
        const double expected = sum_of(k->seconds, r) + inside;
        return expected > 0 ? sum_of(e->seconds, r) / expected : 0;
    }
    double *ratio = e->y + r.begin; /* no other unit has these tasks */
    for (size_t i = 0; i < n; i++) {
        const double expected = k->seconds[r.begin + i] + inside / (double)n;
        ratio[i] = expected > 0 ? e->seconds[r.begin + i] / expected : 0;
    }
    return line_median(ratio, n);
}

void estimate_done(struct estimate *e, int cu, struct ek_range r, double sec, const double *each)
{
    struct estimate_ranges *b = &e->ranges[cu];
    const struct estimate_kind *k = &e->of[e->kind[cu]];
    plan_divide(k->seconds, r, sec, each, e->seconds);
    b->began = b->clock;
    const double sum = sum_of(e->seconds, r);
    for (size_t t = r.begin; t < r.end; t++) {
        e->owner[t] = cu;
        e->range[t] = (float)(sum > 0 ? e->seconds[t] / sum : 1 / (double)(r.end - r.begin));
        e->length[t] = r.end - t;
        e->start[t] = (float)b->clock;
        b->clock += e->seconds[t];
    }
    b->clock = b->began + sec;
    double launch = fmax(0, sec - sum);
    b->seconds += launch;
    if (each)
        b->last[b->count++ % ESTIMATE_LAUNCHES] = launch;
    const bool hidden = !b->before && estimate_hides(launch, e->launch[cu]);
    const double ratio = ratio_of(e, k, r, hidden ? e->launch[cu] : k->inside, each != NULL);
    const bool doubted = b->doubted; /* twice in turn: believed */
    b->doubted = e->judged[cu] && ratio > 0 && !WITHOUT(INTERRUPTIONS) &&
                 estimate_doubts(sum, sum * e->factor[cu] / ratio);
    if (!b->doubted || doubted) {
        b->former = b->latest;
        b->latest = ratio;
    }
    if (!b->first)
        b->first = ratio / e->factor[cu];
}

/* ---- one step: what was measured -------------------------------------------------------------*/
/* Lines and factors need several turns; times in proportion to costs need one, and count where
 * lines fit worse by more than a factor and a share. */
enum { TURNS = 4 };
static const double WORSE = 2, LEAST = 0.005;

/* Share of the first step's seconds by which its tasks are off their lines. */
static double misfit(const struct estimate *e)
{
    double off = 0, all = 0;
    for (size_t t = 0; t < e->n; t++)
        if (e->seconds[t] >= 0) {
            const struct estimate_kind *k = &e->of[e->kind[e->owner[t]]];
            const double line = estimate_on_line(e, k, t) + k->inside * e->range[t];
            const double sec = e->seconds[t], miss = fabs(sec - e->factor[e->owner[t]] * line);
            off += miss < sec ? miss : sec;
            all += sec;
        }
    return off / all;
}

/* Unknown lines and unit factors are fitted alternately: a line through units of different speeds
 * is poor until their factors are known. A turn that changes nothing is the last one. Returns the
 * misfit. */
static double fit_first_step(struct estimate *e, int turns)
{
    const size_t bytes = (size_t)e->ncu * sizeof *e->factor;
    double *before = e->scratch + e->n; /* beyond what fits use */
    bool changes = true;
    memcpy(e->factor, e->declared, bytes);
    for (int c = 0; c < e->ncu; c++)
        for (int i = 0; i < ESTIMATE_SAMPLES; i++)
            e->ratio[c][i] = 1;
    for (int j = 0; j < e->nkinds; j++)
        e->of[j].inside = 0;
    for (int turn = 0; turn < turns && changes; turn++) {
        memcpy(before, e->factor, bytes);
        for (int j = 0; j < e->nkinds; j++)
            estimate_fit(e, j, estimate_list(e, j, true), true, turns == 1);
        changes = !turn || estimate_learn_inside(e, true, 0);
        estimate_sum_units(e);
        estimate_judge_units(e, estimate_first_scatter(e));
        changes |= memcmp(before, e->factor, bytes) != 0;
    }
    return misfit(e);
}

static void learn_first_step(struct estimate *e)
{
    if (e->known) {
        estimate_sum_units(e);
        estimate_judge_units(e, estimate_first_scatter(e));
        return;
    }
    const double proportional = fit_first_step(e, 1);
    if (fit_first_step(e, TURNS) > WORSE * proportional + LEAST && !WITHOUT(PROPORTIONAL))
        fit_first_step(e, 1);
}

double estimate_noise(const struct estimate *e)
{
    const double *last = e->noise + ESTIMATE_SAMPLES - e->noises;
    switch (e->noises) {
    case 0:
        return 0;
    case 1:
        return last[0];
    case 2:
        return (last[0] + last[1]) / 2;
    default:
        return line_median_of_3(last[0], last[1], last[2]);
    }
}

/* What a unit's tasks share, and the root of the degrees of freedom that each then has. */
struct shared {
    double factor, root;
};

static struct shared shared_on(const struct estimate *e, int c)
{
    if (e->tasks[c] >= 2 && e->seen[c] > 0 && e->expected[c] > 0)
        return (struct shared){e->expected[c] / e->seen[c], sqrt(1 - 1 / e->tasks[c])};
    return (struct shared){1, 1};
}

/* Scatter between two runs of a task; what its unit's other tasks share is removed. Units that have
 * not worked before are of unknown speed. */
static void measure_noise(struct estimate *e)
{
    struct shared by = {1, 1};
    int last = -1;
    size_t pairs = 0;
    for (size_t t = 0; t < e->n; t++) {
        const int c = e->owner[t];
        const struct estimate_kind *k = &e->of[e->kind[c]];
        if (e->seconds[t] < 0 || !k->count[t] || !e->judged[c] ||
            e->interrupted[t] == ESTIMATE_INTERRUPTED)
            continue;
        if (c != last)
            by = shared_on(e, last = c);
        const double sec = (estimate_normal(e, t) - k->inside * e->range[t]) * by.factor,
                     before = k->sample[t][k->count[t] - 1].sec;
        e->y[pairs++] = before > 0 && sec > 0 ? fabs(log(sec / before)) / by.root : 0;
    }
    if (pairs == 0)
        return;
    for (int i = 0; i + 1 < ESTIMATE_SAMPLES; i++)
        e->noise[i] = e->noise[i + 1];
    e->noise[ESTIMATE_SAMPLES - 1] = line_median(e->y, pairs) * ESTIMATE_PER_MEDIAN / sqrt(2);
    e->noises += e->noises < ESTIMATE_SAMPLES;
}

static void learn_later_step(struct estimate *e)
{
    if (e->steps == 1 && !e->known)
        estimate_judge_again(e);
    if (!e->known)
        estimate_split(e);
    estimate_learn_inside(e, false, estimate_noise(e));
    for (int j = 0; j < e->nkinds; j++)
        if (!e->of[j].tried && !e->known)
            estimate_fit(e, j, estimate_list(e, j, true), true, false);
    estimate_sum_units(e);
    measure_noise(e);
    estimate_judge_units(e, e->noises ? estimate_noise(e) : estimate_first_scatter(e));
}

/* ---- one step: tasks --------------------------------------------------------------------------*/
static void take_sample(struct estimate_kind *k, size_t t, struct estimate_sample now)
{
    struct estimate_sample *sample = k->sample[t];
    if (k->count[t] < ESTIMATE_SAMPLES) {
        sample[k->count[t]++] = now;
        return;
    }
    for (int i = 0; i + 1 < ESTIMATE_SAMPLES; i++)
        sample[i] = sample[i + 1];
    sample[ESTIMATE_SAMPLES - 1] = now;
}

static bool has_run(const struct estimate *e, size_t t)
{
    for (const struct estimate_kind *k = e->of; k < e->of + e->nkinds; k++)
        if (k->count[t])
            return true;
    return false;
}

/* Stores this step's measurements as samples. */
static void take_samples(struct estimate *e)
{
    for (size_t t = 0; t < e->n; t++) {
        if (e->seconds[t] < 0)
            continue;
        int c = e->owner[t];
        struct estimate_kind *k = &e->of[e->kind[c]];
        const double sec = estimate_normal(e, t) - k->inside * e->range[t];
        e->seconds[t] = -1;
        const bool now = e->interrupted[t] == ESTIMATE_INTERRUPTED;
        e->interrupted[t] = now ? ESTIMATE_DOUBTED : 0;
        if (now)
            continue;
        if (e->sudden[c] && !WITHOUT(SKIPPED_SAMPLES) && (e->known || has_run(e, t)))
            continue; /* the unit's speed during the task is unknown */
        take_sample(k, t, (struct estimate_sample){sec > 0 ? sec : 0, e->range[t], c});
        e->judged[c] = true;
    }
}

/* Expectation without a measurement of the task: its profile, or the line at its cost. */
static double expect(const struct estimate *e, const struct estimate_kind *k, size_t t)
{
    return k->profile ? k->profile[t] : estimate_on_line(e, k, t);
}

/* Predicts a task on kinds on which it has not run: by their lines or declared times, times its
 * deviation from expectation on a kind on which it has run, as far as kinds deviate alike. */
static void predict(struct estimate *e, size_t t)
{
    const struct estimate_kind *from = NULL;
    double usual = 0;
    for (int j = 0; j < e->nkinds && !from; j++)
        if (e->of[j].count[t])
            from = &e->of[j];
    if (from)
        usual = e->known ? expect(e, from, t) : estimate_on_line(e, from, t);
    /* A share of a batch says nothing about the task itself. */
    const bool shared = from && !e->known && from->kind == CU_DEVICE &&
                        from->sample[t][from->count[t] - 1].part < 1;
    const double off = usual > 0 && !shared && !WITHOUT(DEVIATIONS)
                           ? estimate_likewise(from, from->seconds[t] / usual)
                           : 1;
    for (struct estimate_kind *k = e->of; k < e->of + e->nkinds; k++) {
        if (k->count[t] || k->profile)
            continue;
        if (k->tried || (from && e->known))
            k->seconds[t] = estimate_on_line(e, k, t) * off;
        else if (from && k->kind == from->kind)
            k->seconds[t] = from->seconds[t];
        else if (from)
            k->seconds[t] = k->kind == CU_DEVICE ? from->seconds[t] / ESTIMATE_DEVICE
                                                 : from->seconds[t] * ESTIMATE_DEVICE;
    }
}

/* Variance of a median of k samples / variance of one sample. */
static const double of_median[ESTIMATE_SAMPLES + 1] = {1, 1, 0.5, 0.45};

/* Spread of m tasks around their expectations: variance of the logarithm. Writes expectations to
 * e->x, and estimates as multiples of these to e->scratch. */
static double spread_of(struct estimate *e, const struct estimate_kind *k, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        const size_t t = e->chosen[i];
        const double usual = expect(e, k, t), more = k->seconds[t] / usual, less = 1 / more;
        e->y[i] = usual > 0 && more > 0 ? (more > less ? more : less) : 1;
        e->x[i] = usual;
        e->scratch[i] = more;
    }
    const double off = m ? log(line_median(e->y, m)) * ESTIMATE_PER_MEDIAN : 0;
    return off * off;
}

/* A median of several samples that is this many standard deviations off its expectation is right:
 * small tasks lie off a line whose height the large ones determine. */
static const double OFF_LINE = 4;

/* Shrinks the medians of m tasks, e->chosen, towards expectations. */
static void draw_estimates(struct estimate *e, struct estimate_kind *k, size_t m)
{
    const double noise = estimate_noise(e), spread = spread_of(e, k, m);
    k->spread = sqrt(spread);
    /* Until a task has run twice, noise cannot be told from truth: declared times win. */
    const bool doubted = e->known && e->steps == 0;
    if (WITHOUT(SHRINKING))
        return;
    double weights[ESTIMATE_SAMPLES + 1], offs[ESTIMATE_SAMPLES + 1]; /* by number of samples */
    for (int i = 0; i <= ESTIMATE_SAMPLES; i++) {
        const double chance = noise * noise * of_median[i];
        weights[i] = doubted ? 0 : chance <= 1e-12 ? 1 : spread > chance ? 1 - chance / spread : 0;
        offs[i] = i > 1 && !doubted && !WITHOUT(OFF_LINE) ? exp(OFF_LINE * sqrt(chance)) : INFINITY;
    }
    for (size_t i = 0; i < m; i++) {
        const size_t t = e->chosen[i];
        const double usual = e->x[i], more = e->scratch[i], off = offs[k->count[t]],
                     weight = more > off || more * off < 1 ? 1 : weights[k->count[t]];
        if (usual > 0)
            k->seconds[t] = weight * k->seconds[t] + (1 - weight) * usual;
    }
}

void estimate_pass(struct estimate *e)
{
    for (int c = 0; c < e->ncu; c++) {
        struct estimate_ranges *b = &e->ranges[c];
        b->seconds = b->first = b->former = b->latest = b->began = b->clock = 0;
        b->before = b->count;
    }
}

void estimate_step(struct estimate *e)
{
    if (e->known)
        estimate_hide_launches(e);
    if (e->steps == 0)
        learn_first_step(e);
    else
        learn_later_step(e);
    take_samples(e);
    const bool doubted = e->known && e->steps == 0;
    bool predicts = false; /* some tasks have not run on some kinds */
    for (int j = 0; j < e->nkinds; j++) {
        const size_t m = estimate_list(e, j, false);
        predicts |= m < e->n && !e->of[j].profile;
        estimate_take_medians(e, &e->of[j], m);
        if (!doubted)
            estimate_fit(e, j, m, false, false);
        draw_estimates(e, &e->of[j], m);
    }
    if (!e->known && (e->cost || e->divided))
        estimate_compare(e, estimate_noise(e));
    for (size_t t = 0; predicts && t < e->n; t++)
        predict(e, t);
    e->steps++;
    set_slowdowns(e);
    estimate_learn_launches(e);
    estimate_pass(e);
}
