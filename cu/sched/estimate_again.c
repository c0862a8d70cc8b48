/* cu/sched/estimate_again.c – second thoughts about units of one kind: which were misjudged in the
 * first step, and which are not alike at all. */
#include "cu/sched/estimate_internal.h"
#include "src/arena.h"

#include <math.h>
#include <string.h>

/* ---- tasks that have run on two units of one kind ---------------------------------------------*/
/* The last sample of a task on the kind on which it ran in this step; NULL: there is none, or not
 * on another unit (moved) or the same one. */
static inline const struct estimate_sample *last_of(const struct estimate *e, size_t t, bool moved)
{
    const int c = e->owner[t];
    const struct estimate_kind *k = &e->of[e->kind[c]];
    const struct estimate_sample *last = &k->sample[t][k->count[t] ? k->count[t] - 1 : 0];
    return e->seconds[t] > 0 && k->count[t] && (last->unit != c) == moved ? last : NULL;
}

/* log(now / last) of a task's normal times on units of one kind; NAN: launches may hide in the
 * difference. */
static double change_since(const struct estimate *e, size_t t, const struct estimate_sample *last)
{
    const struct estimate_kind *k = &e->of[e->kind[e->owner[t]]];
    const double sec = estimate_normal(e, t) - k->inside * e->range[t];
    const bool tells = k->kind == CU_CPU || last->part == e->range[t];
    return tells && sec > 0 && last->sec > 0 ? log(sec / last->sec) : NAN;
}

/* e->x[i], e->before[i]: the change, and the former unit, of each task e->chosen[i] that changed
 * its unit. Returns how many. */
static size_t find_changes(struct estimate *e)
{
    size_t m = 0;
    for (size_t t = 0; t < e->n; t++) {
        const struct estimate_sample *last = last_of(e, t, true);
        if (!last || isnan(e->x[m] = change_since(e, t, last)))
            continue;
        e->chosen[m] = t;
        e->before[m++] = last->unit;
    }
    return m;
}

/* By how much (logarithm) each unit was misjudged, by all changes, whose number is returned: least
 * squares, but what is off by more than ESTIMATE_SUDDEN counts as if by that (Huber), because a
 * unit may have slowed since. Damped Jacobi iteration. off [ncu]; e->expected receives the number
 * of changes that tell it. */
static size_t find_misjudged(struct estimate *e, double *off)
{
    enum { TURNS = 50 };
    const size_t m = find_changes(e);
    const double settled = 1e-4, most = log(ESTIMATE_SUDDEN);
    double *sum = e->seen, *count = e->expected, *weight = e->tasks, change = m ? INFINITY : 0;
    memset(off, 0, (size_t)e->ncu * sizeof *off);
    memset(count, 0, (size_t)e->ncu * sizeof *count);
    for (size_t i = 0; i < m; i++) {
        count[e->owner[e->chosen[i]]]++;
        count[e->before[i]]++;
    }
    for (int turn = 0; turn < TURNS && change > settled; turn++) {
        change = 0;
        memset(sum, 0, (size_t)e->ncu * sizeof *sum);
        memset(weight, 0, (size_t)e->ncu * sizeof *weight);
        for (size_t i = 0; i < m; i++) {
            const int now = e->owner[e->chosen[i]], then = e->before[i];
            const double away = fabs(e->x[i] + off[then] - off[now]),
                         w = 1 / (away > most ? away : most);
            sum[now] += w * (e->x[i] + off[then]);
            sum[then] += w * (off[now] - e->x[i]);
            weight[now] += w;
            weight[then] += w;
        }
        for (int c = 0; c < e->ncu; c++) {
            const double better = count[c] > 0 ? (off[c] + sum[c] / weight[c]) / 2 : 0,
                         by = fabs(better - off[c]);
            change = by > change ? by : change;
            off[c] = better;
        }
    }
    return m;
}

/* What units do not explain of the i-th change. */
static double unexplained(const struct estimate *e, size_t i, const double *off)
{
    return fabs(e->x[i] + off[e->before[i]] - off[e->owner[e->chosen[i]]]);
}

/* ---- units that were misjudged ----------------------------------------------------------------*/
void estimate_judge_again(struct estimate *e)
{
    double *off = e->busy;
    const size_t m = WITHOUT(SECOND_THOUGHTS) ? 0 : find_misjudged(e, off);
    if (!m)
        return;
    for (size_t i = 0; i < m; i++)
        e->y[i] = unexplained(e, i, off);
    const double scatter = line_median(e->y, m) * ESTIMATE_PER_MEDIAN;
    memcpy(e->scratch, off, (size_t)e->ncu * sizeof *off);
    const double usual = line_median(e->scratch, (size_t)e->ncu);
    for (int c = 0; c < e->ncu; c++) {
        off[c] -= usual;
        const double sure = ESTIMATE_SURE * scatter / sqrt(e->expected[c]);
        off[c] = fabs(off[c]) > sure ? exp(off[c]) : 1;
        e->factor[c] *= off[c];
    }
    for (struct estimate_kind *k = e->of; k < e->of + e->nkinds; k++)
        for (size_t t = 0; t < e->n; t++)
            if (k->count[t] == 1)
                k->seconds[t] = k->sample[t]->sec /= off[k->sample[t]->unit];
}

/* ---- units that are not alike -----------------------------------------------------------------*/
/* Distances between the times that a task took on other units must exceed those on the same one by
 * this factor, beyond chance; a share by which times may always differ. */
static const double UNLIKE = 1.5, LEAST = 0.02;

/* Compared are upper quartiles, as there may be groups of units that are alike. Standard error of
 * the logarithm of one, times the root of the number of (normally distributed) distances. */
static const double OF_QUARTILE = 0.92;

/* Limits of a division: times of tasks on kinds (65 bytes each); and planning, which takes so many
 * seconds for each, should not take longer than BRIEF or this share of a step. */
static const double MOST_TIMES = 1e6, PER_TIME = 6e-8, BRIEF = 1e-3, SHARE = 0.01;

static int units_of(const struct estimate *e, int j)
{
    int units = 0;
    for (int c = 0; c < e->ncu; c++)
        units += e->kind[c] == j;
    return units;
}

static double upper_quartile(double *x, size_t m)
{
    return line_select(x, m, 3 * m / 4);
}

/* Writes to e->y how far apart the times were that tasks took in turn on the same unit of kind j.
 * Returns their number. */
static size_t find_same(struct estimate *e, int j)
{
    size_t m = 0;
    for (size_t t = 0; t < e->n; t++) {
        const struct estimate_sample *last =
            e->kind[e->owner[t]] == j ? last_of(e, t, false) : NULL;
        if (last && !isnan(e->y[m] = fabs(change_since(e, t, last))))
            m++;
    }
    return m;
}

/* Likewise on different units, by all m changes; *free: their degrees of freedom. */
static size_t find_others(struct estimate *e, int j, size_t m, const double *off, double *free)
{
    size_t others = 0;
    for (size_t i = 0; i < m; i++)
        if (e->kind[e->before[i]] == j)
            e->y[others++] = unexplained(e, i, off);
    *free = (double)others + 1;
    for (int c = 0; c < e->ncu; c++)
        *free -= e->kind[c] == j && e->expected[c] > 0;
    return others;
}

/* Adds the evidence of m changes: weights are squares of 1 / standard errors. */
static bool is_mixed(struct estimate *e, int j, size_t m, const double *off)
{
    struct estimate_kind *k = &e->of[j];
    double free;
    const size_t others = find_others(e, j, m, off, &free);
    if (!others || free <= 0)
        return false;
    const double other = upper_quartile(e->y, others);
    const size_t pairs = find_same(e, j);
    if (!pairs)
        return false;
    const double same = upper_quartile(e->y, pairs);
    const double weight = 1 / (OF_QUARTILE * OF_QUARTILE * (1 / (double)pairs + 1 / free));
    k->unlike += weight * log(fmax(other, LEAST) / fmax(same, LEAST) / UNLIKE);
    k->weight += weight;
    return k->unlike > ESTIMATE_SURE * sqrt(k->weight);
}

/* Keeps the rows of ranges on units of this kind. */
static void keep_rows(const struct estimate *e, int j)
{
    struct estimate_kind *k = &e->of[j];
    const struct estimate_kind from = *k;
    k->rows = k->longer = 0;
    const size_t first = from.rows > ESTIMATE_ROWS ? from.rows - ESTIMATE_ROWS : 0;
    for (size_t i = first; i < from.rows; i++) {
        const struct estimate_row row = from.row[i % ESTIMATE_ROWS];
        if (e->kind[row.unit] != j)
            continue;
        k->row[k->rows++] = row;
        k->longer += row.tasks > 1;
    }
}

/* Each unit's kind receives the samples that it took. */
static void deal_samples(struct estimate *e, struct estimate_kind *from)
{
    for (size_t t = 0; t < e->n; t++) {
        struct estimate_sample sample[ESTIMATE_SAMPLES];
        const int count = from->count[t];
        memcpy(sample, from->sample[t], sizeof sample);
        from->count[t] = 0;
        for (int i = 0; i < count; i++) {
            struct estimate_kind *to = &e->of[e->kind[sample[i].unit]];
            to->sample[t][to->count[t]++] = sample[i];
        }
    }
}

void estimate_allocate(const struct estimate *e, struct estimate_kind *k)
{
    k->seconds = ARENA_NEW(e->arena, e->n, double);
    k->sample = arena_take(e->arena, e->n, sizeof *k->sample);
    k->count = ARENA_NEW(e->arena, e->n, unsigned char);
    k->deviation = ARENA_NEW(e->arena, e->n, double);
}

static bool can_plan_for(const struct estimate *e, int kinds)
{
    const double times = (double)kinds * (double)e->n;
    double step = 0;
    for (int c = 0; c < e->ncu; c++)
        step = fmax(step, e->ranges[c].clock);
    return times <= MOST_TIMES && times * PER_TIME <= fmax(BRIEF, SHARE * step);
}

/* Each unit of kind j becomes a kind of its own, if memory and time allow. */
static void divide(struct estimate *e, int j)
{
    const int units = units_of(e, j);
    int next = e->nkinds;
    if (!can_plan_for(e, next + units - 1))
        return;
    for (int i = 0; i < units - 1; i++) {
        e->of[next + i] = e->of[j];
        estimate_allocate(e, &e->of[next + i]);
    }
    if (e->arena->failed)
        return;
    bool first = true;
    for (int c = 0; c < e->ncu; c++) {
        if (e->kind[c] != j)
            continue;
        if (!first)
            e->kind[c] = next++;
        first = false;
        e->ranges[c].former = e->ranges[c].latest = 0; /* as expected of the former kind */
        for (int i = 0; i < ESTIMATE_SAMPLES; i++)
            e->ratio[c][i] = 1;
    }
    deal_samples(e, &e->of[j]);
    for (int k = 0; k < next; k++) {
        if (k != j && k < e->nkinds)
            continue;
        keep_rows(e, k);
        const size_t m = estimate_list(e, k, false);
        estimate_take_medians(e, &e->of[k], m);
        estimate_fit(e, k, m, false, false);
    }
    e->nkinds = next;
    e->divided = true;
    e->noises = 0; /* it was that between units */
}

void estimate_split(struct estimate *e)
{
    double *off = e->busy;
    const size_t m = WITHOUT(OWN_KINDS) ? 0 : find_misjudged(e, off);
    for (int j = 0; m && j < e->nkinds; j++)
        if (!e->of[j].profile && is_mixed(e, j, m, off)) {
            divide(e, j);
            return; /* e->x is overwritten */
        }
}
