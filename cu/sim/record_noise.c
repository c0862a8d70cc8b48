/* cu/sim/record_noise.c – takes out what lasts, then takes steps of usual runs. */
#include "cu/sim/record_noise.h"
#include "src/arena.h"
#include "src/sort.h"

/* What no part found so far explains of the logarithm of a measured time. */
struct rest {
    int run, unit, step;
    struct ek_range tasks;
    double log, weight; /* weight: expected seconds */
};

/* Rests [begin, end) with something in common. */
struct group {
    size_t begin, end;
    int run, step;
    double log, spread; /* of the whole; mean deviation of a rest from 0 */
};

struct parts {
    struct rest *rest; /* [n] */
    size_t n;
    struct rest *kept; /* this and the following: scratch */
    struct group *group;
    double *sorted;
    double *excess; /* [tasks] logarithm over that of a step */
    double clip;    /* larger deviations count as this one in moments */
};

typedef int comparison(const void *a, const void *b);

SORT_BY(by_unit, struct rest, SORT_UP(run) ?: SORT_UP(unit))
SORT_BY(by_run, struct rest, SORT_UP(run))
SORT_BY(by_step, struct rest, SORT_UP(run) ?: SORT_UP(step))
SORT_BY(by_place, struct rest,
        SORT_UP(run) ?: SORT_UP(step) ?: SORT_UP(unit) ?: SORT_UP(tasks.begin))
SORT_BY(by_task, struct rest,
        SORT_UP(run) ?: SORT_UP(unit) ?: SORT_UP(tasks.begin) ?: SORT_UP(tasks.end))
SORT_BY(by_level, struct group, SORT_UP(log))
SORT_BY(by_spread, struct group, SORT_UP(spread) ?: SORT_UP(run))

static double square(double x)
{
    return x * x;
}

/* ---- groups -----------------------------------------------------------------------------------*/
/* The end of the group that begins at `at`; the rests are sorted by `same`. */
static size_t group_end(const struct parts *p, size_t at, comparison *same)
{
    size_t end = at + 1;
    while (end < p->n && same(&p->rest[at], &p->rest[end]) == 0)
        end++;
    return end;
}

static double median_of(struct parts *p, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        p->sorted[i - begin] = p->rest[i].log;
    return sort_median(p->sorted, end - begin);
}

/* ---- moments ----------------------------------------------------------------------------------*/
static double clipped(const struct parts *p, double x)
{
    return fmin(fmax(x, -p->clip), p->clip);
}

/* Four standard deviations of a normal distribution with the same median deviation. */
static void set_clip(struct parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->sorted[i] = fabs(p->rest[i].log);
    p->clip = p->n ? 4 * 1.4826 * sort_median(p->sorted, p->n) : 0;
}

static double variance(const struct parts *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += square(clipped(p, p->rest[i].log));
    return p->n ? sum / (double)p->n : 0;
}

/* Mean product of two different members of a group; 0 without any. */
static double covariance(const struct parts *p, comparison *same)
{
    double products = 0, pairs = 0;
    for (size_t at = 0, end; at < p->n; at = end) {
        double sum = 0, squares = 0;
        end = group_end(p, at, same);
        for (size_t i = at; i < end; i++) {
            sum += clipped(p, p->rest[i].log);
            squares += square(clipped(p, p->rest[i].log));
        }
        products += sum * sum - squares;
        pairs += (double)(end - at) * (double)(end - at - 1);
    }
    return pairs > 0 ? fmax(products / pairs, 0) : 0;
}

/* ---- what lasts for a run ---------------------------------------------------------------------*/
static void take_out(struct parts *p, size_t begin, size_t end, double effect)
{
    for (size_t i = begin; i < end; i++)
        p->rest[i].log -= effect;
}

static void centre_runs(struct parts *p)
{
    qsort(p->rest, p->n, sizeof *p->rest, by_unit);
    for (size_t at = 0, end; at < p->n; at = end) {
        end = group_end(p, at, by_unit);
        take_out(p, at, end, median_of(p, at, end));
    }
}

/* Predicts what a task's times have in common from their median, shrunk as in best linear
 * prediction. */
static void centre_tasks(struct parts *p)
{
    qsort(p->rest, p->n, sizeof *p->rest, by_task);
    const double own = covariance(p, by_task), others = fmax(variance(p) - own, 0);
    for (size_t at = 0, end; own > 0 && at < p->n; at = end) {
        end = group_end(p, at, by_task);
        take_out(p, at, end, median_of(p, at, end) * own / (own + others / (double)(end - at)));
    }
}

/* ---- runs -------------------------------------------------------------------------------------*/
/* Groups what is alike by `same`, by_run or by_step; `log` is the logarithm of measured / expected
 * seconds. */
static size_t find_groups(struct parts *p, comparison *same)
{
    size_t groups = 0;
    qsort(p->rest, p->n, sizeof *p->rest, by_place);
    for (size_t at = 0, end; at < p->n; at = end) {
        struct group g = {.begin = at, .run = p->rest[at].run, .step = p->rest[at].step};
        double measured = 0, weight = 0;
        g.end = end = group_end(p, at, same);
        for (size_t i = at; i < end; i++) {
            weight += p->rest[i].weight;
            measured += p->rest[i].weight * exp(p->rest[i].log);
            g.spread += p->rest[i].weight * fabs(p->rest[i].log);
        }
        g.log = log(measured / weight);
        g.spread /= weight;
        p->group[groups++] = g;
    }
    return groups;
}

/* Keeps the third of the runs in the middle. */
static void keep_usual_runs(struct parts *p)
{
    const size_t runs = find_groups(p, by_run);
    size_t kept = 0;
    qsort(p->group, runs, sizeof *p->group, by_spread);
    for (size_t g = runs / 3; g < runs - runs / 3; g++)
        for (size_t i = p->group[g].begin; i < p->group[g].end; i++)
            p->kept[kept++] = p->rest[i];
    memcpy(p->rest, p->kept, kept * sizeof *p->rest);
    p->n = kept;
}

/* ---- steps ------------------------------------------------------------------------------------*/
/* What is drawn anew after `hold` steps correlates by 1 - 1 / hold with the next step. */
static double hold_of(const struct parts *p, size_t groups)
{
    double squares = 0, products = 0, pairs = 0;
    for (size_t g = 0; g < groups; g++)
        squares += square(clipped(p, p->group[g].log));
    for (size_t g = 1; g < groups; g++) {
        const struct group *a = &p->group[g - 1], *b = &p->group[g];
        if (a->run != b->run || a->step + 1 != b->step)
            continue;
        products += clipped(p, a->log) * clipped(p, b->log);
        pairs++;
    }
    const double alike = pairs > 0 && squares > 0 ? products / pairs / squares * (double)groups : 0;
    return 1 / (1 - fmin(fmax(alike, 0), 1 - 1. / RECORD_STEPS));
}

/* Notes by how much each task of a step was more disturbed than the whole. */
static void note_tasks(const struct parts *p, const struct group *g, double *excess)
{
    for (size_t i = g->begin; i < g->end; i++)
        for (size_t t = p->rest[i].tasks.begin; t < p->rest[i].tasks.end; t++)
            excess[t] = p->rest[i].log - g->log;
}

/* Takes steps that lie evenly among all of them in order of disturbance. What tasks did not run in
 * a step were like in the step before in this order, or the next one, in which they did. */
static void take_steps(struct parts *p, size_t all, double mean, size_t n, double *factor)
{
    const int steps = record_steps(n);
    double sum = 0;
    qsort(p->group, all, sizeof *p->group, by_level);
    for (size_t g = all; g-- > 0;)
        note_tasks(p, &p->group[g], p->excess);
    for (size_t s = 0, g = 0; s < (size_t)steps; s++) {
        const size_t at = (size_t)(((double)s + 0.5) / steps * (double)all);
        for (; g < all && g <= at; g++)
            note_tasks(p, &p->group[g], p->excess);
        const double level = all ? p->group[at].log : 0;
        for (size_t t = 0; t < n; t++)
            factor[s * n + t] = exp(level + p->excess[t]);
        sum += exp(level);
    }
    for (size_t i = 0; i < (size_t)steps * n; i++)
        factor[i] *= mean * steps / sum;
}

/* ---- all --------------------------------------------------------------------------------------*/
static enum ek_status open_parts(struct parts *p, struct arena *arena, size_t n, size_t count)
{
    p->rest = ARENA_NEW(arena, count, struct rest);
    p->kept = ARENA_NEW(arena, count, struct rest);
    p->group = ARENA_NEW(arena, count, struct group);
    p->sorted = ARENA_NEW(arena, count, double);
    p->excess = ARENA_NEW(arena, n, double);
    return arena_check(arena, "%zu measurements", count);
}

/* Returns measured / expected seconds of all. */
static double take_rests(struct parts *p, const struct record_sample *sample,
                         const double *expected, size_t count)
{
    double measured = 0, total = 0;
    for (size_t i = 0; i < count; i++) {
        const struct record_sample *s = &sample[i];
        if (!(expected[i] > 0 && s->seconds > 0))
            continue;
        measured += s->seconds;
        total += expected[i];
        p->rest[p->n++] = (struct rest){.run = s->run,
                                        .unit = s->unit,
                                        .step = s->step,
                                        .tasks = s->tasks,
                                        .log = log(s->seconds / expected[i]),
                                        .weight = expected[i]};
    }
    return total > 0 ? measured / total : 1;
}

enum ek_status record_noise(size_t n, const struct record_sample *sample, const double *expected,
                            size_t count, struct record_noise *noise)
{
    OWNED(arena_free) struct arena arena = {0};
    struct parts p = {.n = 0};
    TRY(open_parts(&p, &arena, n, count));
    const double mean = take_rests(&p, sample, expected, count);
    centre_runs(&p);
    set_clip(&p);
    centre_tasks(&p);
    keep_usual_runs(&p);
    const size_t steps = find_groups(&p, by_step);
    noise->hold = hold_of(&p, steps);
    if (noise->factor)
        take_steps(&p, steps, mean, n, noise->factor);
    return EK_OK;
}
