/* cu/sched/estimate_unit.c – one step: what units took, what was expected of them, which of their
 * tasks were interrupted, and which units have changed their speed. */
#include "cu/sched/estimate_internal.h"

#include <math.h>
#include <string.h>

/* Units of a kind count as equally fast if they differ by less than the share ALIKE or by less than
 * SURE standard errors of the measurements (SURER for sudden changes). */
static const double ALIKE = 0.005, SURE = ESTIMATE_SURE, SURER = 4;

/* A unit that was this many times slower in its latest range only may be even slower, as it may
 * have changed within that range. If all moments are equally probable, and all slowdowns (by their
 * logarithms), the median is 1 + sqrt(1 - 1 / x) times what it took, x. */
static const double SLOWER = 1.3;

/* A change of a unit's speed by this share makes steps before and after it incomparable. */
static const double CHANGED = 0.02;

/* ---- sums of the tasks' times -----------------------------------------------------------------*/
/* There is more to expect of a task than a point on a line: it has run on its unit's kind k, or has
 * a declared time there. */
static bool is_expected(const struct estimate *e, const struct estimate_kind *k, size_t t)
{
    return k->count[t] || k->profile || (e->known && e->steps == 0);
}

/* Writes to e->usual what was expected of each task on the unit that executed it: 0 if it says
 * nothing about the unit, because it has never run on the unit's kind and costs are not declared or
 * none of another cost has run there. Otherwise it is expected on the kind's line, and counts as
 * guessed. True: some were so late that they may have been interrupted. */
static bool expect_tasks(struct estimate *e)
{
    const struct estimate_kind *k = NULL;
    bool late = false, tells = false;
    double factor = 1;
    int last = -1;
    memset(e->guessed, 0, (size_t)e->ncu * sizeof *e->guessed);
    for (size_t t = 0; t < e->n; t++) {
        if (e->seconds[t] < 0)
            continue;
        const int c = e->owner[t];
        if (c != last) {
            last = c;
            k = &e->of[e->kind[c]];
            factor = e->factor[c];
            tells = e->cost && !(k->one_size && e->judged[c] && !e->known);
        }
        double usual = 0;
        if (is_expected(e, k, t))
            usual = (k->seconds[t] + k->inside * e->range[t]) * factor;
        else if (tells)
            e->guessed[c] += usual = (estimate_on_line(e, k, t) + k->inside * e->range[t]) * factor;
        late |= usual > 0 && e->seconds[t] > ESTIMATE_LATE * usual;
        e->usual[t] = usual;
    }
    return late;
}

/* Seconds that the task should have taken on a unit as slow as the mean of expected / measured over
 * its tasks says, early[unit]; 0: it was not executed, or nobody knows. */
static double usual_seconds(const struct estimate *e, size_t t, const double *early)
{
    return e->seconds[t] > 0 ? e->usual[t] / early[e->owner[t]] : 0;
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
        if (e->interrupted[t] == ESTIMATE_INTERRUPTED) {
            const bool now = e->seconds[t] > beyond * usual_seconds(e, t, early);
            e->interrupted[t] = now ? ESTIMATE_INTERRUPTED : 0;
            e->disturbed |= now;
        }
}

/* Finds the tasks of this step during which their unit was interrupted: those that took far longer
 * than expected, also in comparison with the unit's others. What happens to a task twice in turn is
 * believed. */
static void find_interruptions(struct estimate *e)
{
    double *all = e->expected, *early = e->seen;
    memset(early, 0, 2 * (size_t)e->ncu * sizeof *early);
    for (size_t t = 0; t < e->n; t++) {
        const double sec = e->seconds[t] > 0 ? e->usual[t] : 0;
        if (sec > 0) {
            all[e->owner[t]] += sec;
            early[e->owner[t]] += sec * fmin(1, sec / e->seconds[t]);
        }
    }
    for (int c = 0; c < e->ncu; c++)
        early[c] = early[c] > 0 ? early[c] / all[c] : 1;
    for (size_t t = 0; t < e->n; t++) {
        const double usual = usual_seconds(e, t, early);
        const bool now = usual > 0 && e->interrupted[t] != ESTIMATE_DOUBTED &&
                         estimate_doubts(e->seconds[t], usual) && !WITHOUT(INTERRUPTIONS);
        if (now)
            e->interrupted[t] = ESTIMATE_INTERRUPTED;
        e->disturbed |= now;
    }
    if (e->disturbed)
        doubt_scatter(e, early);
}

void estimate_sum_units(struct estimate *e)
{
    const bool late = expect_tasks(e);
    if (e->disturbed)
        for (size_t t = 0; t < e->n; t++)
            e->interrupted[t] = e->interrupted[t] == ESTIMATE_DOUBTED ? ESTIMATE_DOUBTED : 0;
    e->disturbed = false;
    if (late)
        find_interruptions(e);
    memset(e->busy, 0, 3 * (size_t)e->ncu * sizeof *e->busy); /* seen and expected ones, too */
    memset(e->tasks, 0, (size_t)e->ncu * sizeof *e->tasks);
    for (size_t t = 0; t < e->n; t++) {
        const double sec = e->seconds[t], usual = e->usual[t];
        const int c = e->owner[t];
        if (sec < 0)
            continue;
        e->tasks[c] += sec * sec;
        if (e->interrupted[t] == ESTIMATE_INTERRUPTED) {
            e->busy[c] += usual;
            e->guessed[c] -= is_expected(e, &e->of[e->kind[c]], t) ? 0 : usual;
            continue;
        }
        e->busy[c] += sec;
        e->seen[c] += usual > 0 ? sec : 0;
        e->expected[c] += usual;
    }
    for (int c = 0; c < e->ncu; c++) {
        e->busy[c] += e->ranges[c].seconds;
        e->tasks[c] = e->tasks[c] > 0 ? e->busy[c] * e->busy[c] / e->tasks[c] : 0;
    }
}

/* ---- speeds -----------------------------------------------------------------------------------*/
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
    if (WITHOUT(GUESSES) || !(e->guessed[c] > 0))
        return scatter;
    for (int j = 0; j < e->nkinds; j++)
        spread = e->of[j].spread > spread ? e->of[j].spread : spread;
    return sqrt(scatter * scatter + spread * spread * e->guessed[c] / e->expected[c]);
}

/* Deviation that chance explains. */
static double chance_of(const struct estimate *e, int c, double scatter)
{
    return fmax(ALIKE, SURE * scatter_on(e, c, scatter) / sqrt(e->tasks[c]));
}

/* |log(ratio)| > by; as |log(x)| <= |x - 1| / min(x, 1), that rarely takes a logarithm. */
static bool is_off(double ratio, double by)
{
    return fabs(ratio - 1) > by * (ratio < 1 ? ratio : 1) && fabs(log(ratio)) > by;
}

static bool far_off(double ratio, double chance)
{
    return is_off(ratio, fmax(log(ESTIMATE_SUDDEN), chance * SURER / SURE));
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
    double *ratio = e->ratio[c], now = e->seen[c] / e->expected[c];
    double chance = chance_of(e, c, scatter), latest = latest_ratio(e, c);
    scatter = scatter_on(e, c, scatter);
    double sure = fmax(log(ESTIMATE_SUDDEN), SURE * scatter);
    bool knows = e->judged[c] || (e->known && e->steps == 0);
    bool agrees =
        !(latest > 0) ? !e->ranges[c].doubted : ((latest > 1) == (now > 1) && is_off(latest, sure));
    bool other = latest > 0 && is_off(latest / now, sure);
    if (other && e->judged[c] && (!agrees || fabs(log(latest)) < fabs(log(now))))
        now = latest;
    memmove(ratio, ratio + 1, (ESTIMATE_SAMPLES - 1) * sizeof *ratio);
    ratio[ESTIMATE_SAMPLES - 1] = now;
    double usual = e->judged[c] ? line_median_of_3(ratio[0], ratio[1], ratio[2]) : now;
    const bool back =
        now < 1 && e->again[c] && !WITHOUT(WARINESS) && e->steps - e->slowed[c] < ESTIMATE_WARY;
    e->sudden[c] =
        tells && knows && agrees && !back && (e->judged[c] || other) && far_off(now, chance);
    if (e->sudden[c] && now > 1) {
        e->again[c] = e->steps - e->slowed[c] < ESTIMATE_WARY;
        e->slowed[c] = e->steps;
    }
    if (e->sudden[c]) {
        usual = latest > 0 && is_off(latest / now, SURE * scatter) ? latest : now;
        for (int i = 0; i < ESTIMATE_SAMPLES; i++)
            ratio[i] = usual;
    }
    if (usual > SLOWER && !e->again[c] && tells && far_off(now, chance) && may_have_slowed(e, c) &&
        !WITHOUT(DOUBT))
        e->doubt[c] = 1 + sqrt(1 - 1 / usual);
    if (!is_off(usual, chance))
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

void estimate_judge_units(struct estimate *e, double scatter)
{
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

double estimate_first_scatter(struct estimate *e)
{
    size_t m = 0;
    for (size_t t = 0; t < e->n; t++) {
        const int c = e->owner[t];
        if (e->seconds[t] < 0 || !worked(e, c) || e->tasks[c] < 2)
            continue;
        const double usual = e->usual[t] * e->seen[c] / e->expected[c];
        e->y[m++] = usual > 0 ? fabs(e->seconds[t] / usual - 1) / sqrt(1 - 1 / e->tasks[c]) : 0;
    }
    return m ? line_median(e->y, m) * ESTIMATE_PER_MEDIAN : UNTOLD;
}
