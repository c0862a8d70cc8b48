/* cu/sched/estimate.c – how long each task takes on each unit: medians of measurements, shrunk
 * towards lines through them; lines for tasks that were not measured. */
#include "cu/sched/estimate_internal.h"
#include "cu/sched/plan.h"

#include <math.h>
#include <string.h>

/* Units of a kind count as equally fast if they differ by less than the share ALIKE or by less than
 * SURE standard errors of the measurements (SURER for sudden changes). */
static const double ALIKE = 0.005, SURE = ESTIMATE_SURE, SURER = 4;

/* A unit that became slow twice within this many steps may do so again: it must be seen fast twice
 * before that is believed. */
enum { WARY = 3 };

/* A unit that was this many times slower in its latest range only may be even slower, as it may
 * have changed within that range. If all moments are equally probable, and all slowdowns (by their
 * logarithms), the median is 1 + sqrt(1 - 1 / x) times what it took, x. */
static const double SLOWER = 1.3;

/* From this many tasks on, a median tells more than a sum. */
enum { SEVERAL = 5 };

/* A change of a unit's speed by this share makes steps before and after it incomparable. */
static const double CHANGED = 0.02;

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
        e->slowed[c] = -WARY;
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

/* ---- one step: units --------------------------------------------------------------------------*/
/* Of a task: it was interrupted in this step; its latest time was not believed. */
enum { INTERRUPTED_NOW = 1, DOUBTED };

/* There is more to expect of a task than a point on a line: it has run on its unit's kind, or has a
 * declared time there. */
static bool is_expected(const struct estimate *e, size_t t)
{
    const struct estimate_kind *k = &e->of[e->kind[e->owner[t]]];
    return k->count[t] || k->profile || (e->known && e->steps == 0);
}

/* Expected seconds of a task on the unit that executed it: 0 if it says nothing about the unit,
 * because it has never run on the unit's kind and costs are not declared or none of another cost
 * has run there. Otherwise it is expected on the kind's line. */
static double expected_seconds(const struct estimate *e, size_t t)
{
    const int c = e->owner[t];
    const struct estimate_kind *k = &e->of[e->kind[c]];
    const bool expected = is_expected(e, t);
    if (!expected && (!e->cost || (k->one_size && e->judged[c] && !e->known)))
        return 0;
    return ((expected ? k->seconds[t] : estimate_on_line(e, k, t)) + k->inside * e->range[t]) *
           e->factor[c];
}

/* Seconds that the task should have taken on a unit as slow as the mean of expected / measured over
 * its tasks says, early[unit]; 0: it was not executed, or nobody knows. */
static double usual_seconds(const struct estimate *e, size_t t, const double *early)
{
    return e->seconds[t] > 0 ? expected_seconds(e, t) / early[e->owner[t]] : 0;
}

/* Only what is far beyond the scatter of all tasks was an interruption. */
static void doubt_scatter(struct estimate *e, const double *early)
{
    size_t m = 0;
    for (size_t t = 0; t < e->n; t++) {
        const double usual = usual_seconds(e, t, early);
        if (usual > 0)
            e->y[m++] = fabs(log(e->seconds[t] / usual));
    }
    const double beyond = exp(SURER * ESTIMATE_PER_MEDIAN * line_median(e->y, m));
    e->disturbed = false;
    for (size_t t = 0; t < e->n; t++)
        if (e->interrupted[t] == INTERRUPTED_NOW) {
            const bool now = e->seconds[t] > beyond * usual_seconds(e, t, early);
            e->interrupted[t] = now ? INTERRUPTED_NOW : 0;
            e->disturbed |= now;
        }
}

/* Finds the tasks of this step during which their unit was interrupted: those that took far longer
 * than expected, also in comparison with the unit's others. What happens to a task twice in turn is
 * believed. */
static void find_interruptions(struct estimate *e)
{
    double *all = e->expected, *early = e->seen;
    e->disturbed = false;
    memset(early, 0, 2 * (size_t)e->ncu * sizeof *early);
    for (size_t t = 0; t < e->n; t++) {
        const double sec = e->seconds[t] > 0 ? expected_seconds(e, t) : 0;
        if (sec > 0) {
            all[e->owner[t]] += sec;
            early[e->owner[t]] += sec * fmin(1, sec / e->seconds[t]);
        }
    }
    for (int c = 0; c < e->ncu; c++)
        early[c] = early[c] > 0 ? early[c] / all[c] : 1;
    for (size_t t = 0; t < e->n; t++) {
        if (e->seconds[t] < 0 || e->interrupted[t] == DOUBTED)
            continue;
        const double usual = usual_seconds(e, t, early);
        const bool now = usual > 0 && estimate_doubts(e->seconds[t], usual);
        e->interrupted[t] = now && !WITHOUT(INTERRUPTIONS) ? INTERRUPTED_NOW : 0;
        e->disturbed |= e->interrupted[t];
    }
    if (e->disturbed)
        doubt_scatter(e, early);
}

/* Sums busy, measured and expected times of the units, without interruptions. */
static void sum_units(struct estimate *e)
{
    find_interruptions(e);
    memset(e->busy, 0, 4 * (size_t)e->ncu * sizeof *e->busy);
    for (size_t t = 0; t < e->n; t++) {
        if (e->seconds[t] < 0)
            continue;
        const int c = e->owner[t];
        const double sec = expected_seconds(e, t);
        if (e->interrupted[t] == INTERRUPTED_NOW) {
            e->busy[c] += sec;
            continue;
        }
        e->busy[c] += e->seconds[t];
        e->seen[c] += sec > 0 ? e->seconds[t] : 0;
        e->expected[c] += sec;
        e->guessed[c] += is_expected(e, t) ? 0 : sec;
    }
    for (int c = 0; c < e->ncu; c++)
        e->busy[c] += e->ranges[c].seconds;
}

/* Effective number of tasks of each unit: (sum of times)^2 / sum of squares, so that one dominant
 * task counts as one. */
static void count_tasks(struct estimate *e)
{
    memset(e->tasks, 0, (size_t)e->ncu * sizeof *e->tasks);
    for (size_t t = 0; t < e->n; t++)
        if (e->seconds[t] >= 0)
            e->tasks[e->owner[t]] += e->seconds[t] * e->seconds[t];
    for (int c = 0; c < e->ncu; c++)
        e->tasks[c] = e->tasks[c] > 0 ? e->busy[c] * e->busy[c] / e->tasks[c] : 0;
}

/* Measured / expected seconds of the unit's latest range, at its present factor. */
static double latest_ratio(const struct estimate *e, int c)
{
    return e->ranges[c].latest / e->factor[c];
}

/* Scatter of a unit's tasks around what is expected of them, `scatter` if all have run on its kind;
 * others deviate from the line. */
static double scatter_on(const struct estimate *e, int c, double scatter)
{
    double spread = 0; /* few tasks may lie on a line by chance */
    for (int j = 0; j < e->nkinds; j++)
        spread = fmax(spread, e->of[j].spread);
    return WITHOUT(GUESSES) || !(e->guessed[c] > 0)
               ? scatter
               : sqrt(scatter * scatter + spread * spread * e->guessed[c] / e->expected[c]);
}

/* Deviation that chance explains. */
static double chance_of(const struct estimate *e, int c, double scatter)
{
    return fmax(ALIKE, SURE * scatter_on(e, c, scatter) / sqrt(e->tasks[c]));
}

static bool far_off(double ratio, double chance)
{
    return fabs(log(ratio)) > fmax(log(ESTIMATE_SUDDEN), chance * SURER / SURE);
}

static bool worked(const struct estimate *e, int c)
{
    return e->expected[c] > 0 && e->seen[c] > 0;
}

/* Whether a slow unit may have become slow within its latest range: the one before was as expected,
 * or, in a first step by declared speeds, there was none. */
static bool may_have_slowed(const struct estimate *e, int c)
{
    const double former = e->ranges[c].former;
    return e->sudden[c] ? former < ESTIMATE_SUDDEN * e->factor[c]
                        : e->known && e->steps == 0 && !(former > 0);
}

/* A unit's factor changes when two of its last three steps agree; or one step, if the difference is
 * large and the latest range confirms it (else the tasks were other than expected, not the unit);
 * or the very first step in which it works. If its speed changed within the step, the latest range
 * decides. Unless the step tells something about single units, only steps that agree count. */
static void judge_unit(struct estimate *e, int c, double scatter, bool tells)
{
    double *ratio = e->ratio[c], now = e->seen[c] / e->expected[c], sorted[ESTIMATE_SAMPLES];
    double chance = chance_of(e, c, scatter), latest = latest_ratio(e, c);
    scatter = scatter_on(e, c, scatter);
    double sure = fmax(log(ESTIMATE_SUDDEN), SURE * scatter);
    bool knows = e->judged[c] || (e->known && e->steps == 0);
    bool agrees = !(latest > 0) ? !e->ranges[c].doubted
                                : ((latest > 1) == (now > 1) && fabs(log(latest)) > sure);
    bool other = latest > 0 && fabs(log(latest / now)) > sure;
    if (other && e->judged[c] && (!agrees || fabs(log(latest)) < fabs(log(now))))
        now = latest;
    memmove(ratio, ratio + 1, (ESTIMATE_SAMPLES - 1) * sizeof *ratio);
    ratio[ESTIMATE_SAMPLES - 1] = now;
    memcpy(sorted, ratio, sizeof sorted);
    double usual = e->judged[c] ? line_median(sorted, ESTIMATE_SAMPLES) : now;
    const bool back =
        now < 1 && e->again[c] && !WITHOUT(WARINESS) && e->steps - e->slowed[c] < WARY;
    e->sudden[c] =
        tells && knows && agrees && !back && (e->judged[c] || other) && far_off(now, chance);
    if (e->sudden[c] && now > 1) {
        e->again[c] = e->steps - e->slowed[c] < WARY;
        e->slowed[c] = e->steps;
    }
    if (e->sudden[c]) {
        usual = latest > 0 && fabs(log(latest / now)) > SURE * scatter ? latest : now;
        for (int i = 0; i < ESTIMATE_SAMPLES; i++)
            ratio[i] = usual;
    }
    if (usual > SLOWER && !e->again[c] && tells && far_off(now, chance) && may_have_slowed(e, c) &&
        !WITHOUT(DOUBT))
        e->doubt[c] = 1 + sqrt(1 - 1 / usual);
    if (fabs(log(usual)) <= chance)
        usual = 1;
    e->factor[c] *= usual;
    e->changed |= tells && knows && fabs(usual - 1) > CHANGED;
    for (int i = 0; i < ESTIMATE_SAMPLES; i++)
        ratio[i] = e->judged[c] ? ratio[i] / usual : 1;
}

/* What a step tells about the units' speeds. If many units are far off (MUCH) and no speeds are
 * known, a single task does not tell that its unit has changed: nobody may know the task. */
enum telling { NOTHING, MUCH, ALL };

/* Nothing if all units were slower or faster by about one factor from beginning to end; nor if many
 * differ from what was declared, or from lines through the first step. */
static enum telling what_it_tells(const struct estimate *e, double scatter)
{
    double least = INFINITY, most = 0;
    int units = 0, off = 0;
    for (int c = 0; c < e->ncu; c++) {
        const double ratio[] = {e->seen[c] / e->expected[c], e->ranges[c].first,
                                latest_ratio(e, c)};
        if (!worked(e, c))
            continue;
        for (int i = 0; i < 3; i++)
            if (ratio[i] > 0) {
                least = fmin(least, ratio[i]);
                most = fmax(most, ratio[i]);
            }
        off += far_off(*ratio, chance_of(e, c, scatter));
        units++;
    }
    if (off <= 1 || 4 * off <= units)
        return ALL;
    const bool first = e->steps == (e->known ? 0 : 1);
    return first || (off == units && most < ESTIMATE_SUDDEN * least) ? NOTHING : MUCH;
}

static void judge_units(struct estimate *e, double scatter)
{
    count_tasks(e);
    const enum telling tells = WITHOUT(SUDDEN) ? NOTHING : what_it_tells(e, scatter);
    e->changed = false;
    memset(e->sudden, 0, (size_t)e->ncu * sizeof *e->sudden);
    for (int c = 0; c < e->ncu; c++) {
        const bool sure = e->known || e->ranges[c].former > 0;
        e->doubt[c] = 1;
        if (worked(e, c))
            judge_unit(e, c, scatter, tells == ALL || (tells == MUCH && sure));
    }
}

/* Scatter of times before any task has run twice, for want of better knowledge. */
static const double UNTOLD = 0.05;

/* Scatter before any task has run twice: of the times of each unit's tasks around what the unit
 * takes on the average. After sum_units(). */
static double error_of(struct estimate *e)
{
    size_t m = 0;
    count_tasks(e);
    for (size_t t = 0; t < e->n; t++) {
        const int c = e->owner[t];
        if (e->seconds[t] < 0 || !worked(e, c) || e->tasks[c] < 2)
            continue;
        const double usual = expected_seconds(e, t) * e->seen[c] / e->expected[c];
        e->y[m++] = usual > 0 ? fabs(e->seconds[t] / usual - 1) / sqrt(1 - 1 / e->tasks[c]) : 0;
    }
    return m ? line_median(e->y, m) * ESTIMATE_PER_MEDIAN : UNTOLD;
}

/* ---- one step: what was measured -------------------------------------------------------------*/
/* Lines and factors need several turns; times in proportion to costs need one, and count where
 * lines fit worse by more than a factor. */
enum { TURNS = 4 };
static const double WORSE = 2;

/* Share of the first step's seconds by which its tasks are off their lines. */
static double misfit(const struct estimate *e)
{
    double off = 0, all = 0;
    for (size_t t = 0; t < e->n; t++)
        if (e->seconds[t] >= 0) {
            const struct estimate_kind *k = &e->of[e->kind[e->owner[t]]];
            const double line = estimate_on_line(e, k, t) + k->inside * e->range[t];
            off += fmin(e->seconds[t], fabs(e->seconds[t] - e->factor[e->owner[t]] * line));
            all += e->seconds[t];
        }
    return off / all;
}

/* Unknown lines and unit factors are fitted alternately: a line through units of different speeds
 * is poor until their factors are known. Returns the misfit. */
static double fit_first_step(struct estimate *e, int turns)
{
    for (int c = 0; c < e->ncu; c++) {
        e->factor[c] = e->declared[c];
        for (int i = 0; i < ESTIMATE_SAMPLES; i++)
            e->ratio[c][i] = 1;
    }
    for (int j = 0; j < e->nkinds; j++)
        e->of[j].inside = 0;
    for (int turn = 0; turn < turns; turn++) {
        for (int j = 0; j < e->nkinds; j++)
            estimate_fit(e, j, true, turns == 1);
        if (turn) {
            sum_units(e);
            estimate_learn_inside(e, true, 0);
        }
        sum_units(e);
        judge_units(e, error_of(e));
    }
    return misfit(e);
}

static void learn_first_step(struct estimate *e)
{
    if (e->known) {
        sum_units(e);
        judge_units(e, error_of(e));
        return;
    }
    const double proportional = fit_first_step(e, 1);
    if (fit_first_step(e, TURNS) > WORSE * proportional + ALIKE && !WITHOUT(PROPORTIONAL))
        fit_first_step(e, 1);
}

double estimate_noise(const struct estimate *e)
{
    double sorted[ESTIMATE_SAMPLES];
    memcpy(sorted, e->noise, sizeof sorted);
    if (!e->noises)
        return 0;
    return e->noises == 2 ? (sorted[1] + sorted[2]) / 2
                          : line_median(sorted + ESTIMATE_SAMPLES - e->noises, e->noises);
}

/* Scatter between two runs of a task; what its unit's other tasks share is removed. Units that have
 * not worked before are of unknown speed. */
static void measure_noise(struct estimate *e)
{
    size_t pairs = 0;
    count_tasks(e);
    for (size_t t = 0; t < e->n; t++) {
        const struct estimate_kind *k = e->seconds[t] < 0 ? NULL : &e->of[e->kind[e->owner[t]]];
        const int c = e->owner[t];
        if (!k || !k->count[t] || !e->judged[c] || e->interrupted[t] == INTERRUPTED_NOW)
            continue;
        double sec = estimate_normal(e, t) - k->inside * e->range[t], free = 1;
        double before = k->sample[t][k->count[t] - 1].sec;
        if (e->tasks[c] >= 2 && e->seen[c] > 0 && e->expected[c] > 0) {
            sec *= e->expected[c] / e->seen[c];
            free = 1 - 1 / e->tasks[c];
        }
        e->y[pairs++] = before > 0 && sec > 0 ? fabs(log(sec / before)) / sqrt(free) : 0;
    }
    if (pairs == 0)
        return;
    memmove(e->noise, e->noise + 1, (ESTIMATE_SAMPLES - 1) * sizeof *e->noise);
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
            estimate_fit(e, j, true, false);
    sum_units(e);
    measure_noise(e);
    judge_units(e, e->noises ? estimate_noise(e) : error_of(e));
}

/* ---- one step: tasks --------------------------------------------------------------------------*/
static void take_sample(struct estimate_kind *k, size_t t, struct estimate_sample now)
{
    struct estimate_sample *sample = k->sample[t];
    if (k->count[t] == ESTIMATE_SAMPLES)
        memmove(sample, sample + 1, --k->count[t] * sizeof *sample);
    sample[k->count[t]++] = now;
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
        double sec = fmax(0, estimate_normal(e, t) - k->inside * e->range[t]);
        e->seconds[t] = -1;
        const bool now = e->interrupted[t] == INTERRUPTED_NOW;
        e->interrupted[t] = now ? DOUBTED : 0;
        if (now)
            continue;
        if (e->sudden[c] && !WITHOUT(SKIPPED_SAMPLES) && (e->known || has_run(e, t)))
            continue; /* the unit's speed during the task is unknown */
        take_sample(k, t, (struct estimate_sample){sec, e->range[t], c});
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

/* Spread of tasks around their expectations: variance of the logarithm. */
static double spread_of(struct estimate *e, const struct estimate_kind *k)
{
    size_t m = 0;
    for (size_t t = 0; t < e->n; t++)
        if (k->count[t]) {
            const double usual = expect(e, k, t), more = k->seconds[t] / usual, less = 1 / more;
            e->y[m++] = usual > 0 && more > 0 ? (more > less ? more : less) : 1;
        }
    const double off = m ? log(line_median(e->y, m)) * ESTIMATE_PER_MEDIAN : 0;
    return off * off;
}

/* A median of several samples that is this many standard deviations off its expectation is right:
 * small tasks lie off a line whose height the large ones determine. */
static const double OFF_LINE = 4;

/* Shrinks medians towards expectations. */
static void draw_estimates(struct estimate *e, struct estimate_kind *k)
{
    const double noise = estimate_noise(e), spread = spread_of(e, k);
    k->spread = sqrt(spread);
    /* Until a task has run twice, noise cannot be told from truth: declared times win. */
    bool doubted = e->known && e->steps == 0;
    if (WITHOUT(SHRINKING))
        return;
    double chances[ESTIMATE_SAMPLES + 1], offs[ESTIMATE_SAMPLES + 1]; /* by number of samples */
    for (int i = 0; i <= ESTIMATE_SAMPLES; i++) {
        chances[i] = noise * noise * of_median[i];
        offs[i] = exp(OFF_LINE * sqrt(chances[i]));
    }
    for (size_t t = 0; t < e->n; t++) {
        if (!k->count[t])
            continue;
        double usual = expect(e, k, t), chance = chances[k->count[t]];
        double weight = doubted ? 0 : spread > chance ? 1 - chance / spread : 0;
        const double more = k->seconds[t] / usual, off = offs[k->count[t]];
        if (!doubted && (chance <= 1e-12 ||
                         (k->count[t] > 1 && (more > off || more * off < 1) && !WITHOUT(OFF_LINE))))
            weight = 1;
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
    bool doubted = e->known && e->steps == 0;
    for (int j = 0; j < e->nkinds; j++) {
        estimate_take_medians(e, &e->of[j]);
        if (!doubted)
            estimate_fit(e, j, false, false);
        draw_estimates(e, &e->of[j]);
    }
    if (!e->known && (e->cost || e->divided))
        estimate_compare(e, estimate_noise(e));
    for (size_t t = 0; t < e->n; t++)
        predict(e, t);
    e->steps++;
    set_slowdowns(e);
    estimate_learn_launches(e);
    estimate_pass(e);
}
