/* cu/sched/estimate_launch.c – how long it takes to begin a range of tasks: beside their times, or
 * hidden in these. */
#include "cu/sched/estimate_internal.h"

#include <math.h>
#include <string.h>

/* Launch costs need at least FEWEST measurements. */
enum { FEWEST = 4 };

/* Launches below this share of a mean task count as free. */
static const double SMALL = 0.002;

/* After OWN launches, a unit whose launches differ from its kind's by the factor UNLIKE has an
 * estimate of its own. */
enum { OWN = 4 };
static const double UNLIKE = 1.5;

/* ---- hidden in times --------------------------------------------------------------------------*/
/* The number of tasks in the range that begins with t; 1 if t was not executed. */
static size_t range_length(const struct estimate *e, size_t t)
{
    return e->seconds[t] < 0 ? 1 : e->length[t];
}

/* A task whose time can be compared with earlier ones on its kind, or with its kind's line;
 * declared speeds are no such expectation. */
static bool comparable(const struct estimate *e, const struct estimate_kind *k, size_t t)
{
    return k->tried && (k->count[t] ? k->seconds[t] > 0 : !e->known);
}

/* A row of a fit now / before = slowdown + inside * more / before: what the tasks of a range took
 * before, and how much more of a launch the range has than they had. Tasks that have not run on
 * this kind count as launched alone. In the first step the line says what they take without
 * launches. */
static bool make_row(const struct estimate *e, const struct estimate_kind *k, struct ek_range r,
                     struct fit_row *row)
{
    double before = 0, part = 0, now = 0;
    for (size_t t = r.begin; t < r.end; t++) {
        const bool ran = k->count[t];
        const double hidden = ran ? k->part[t] : e->steps ? 1 : 0;
        if (!comparable(e, k, t))
            return false;
        before += (ran        ? k->sample[t][k->count[t] - 1]
                   : e->steps ? k->seconds[t]
                              : estimate_on_line(e, k, t)) +
                  k->inside * hidden;
        part += hidden;
        now += estimate_normal(e, t);
    }
    *row = (struct fit_row){.x = {1, (1 - part) / before}, .y = now / before, .weight = 1};
    return before > 0;
}

/* Adds a row for each range of this step, or for some of the CPU units' many. */
static void collect_rows(struct estimate *e)
{
    size_t ranges = 0, seen = 0;
    for (size_t t = 0; t < e->n; t += range_length(e, t))
        ranges++;
    for (size_t t = 0, end; t < e->n; t = end) {
        end = t + range_length(e, t);
        struct estimate_kind *k = &e->of[e->kind[e->owner[t]]];
        struct fit_row *row = &k->row[k->rows % ESTIMATE_ROWS];
        if (e->seconds[t] < 0 || (k->kind == CU_CPU && seen++ % (ranges / ESTIMATE_ROWS + 1)) ||
            !make_row(e, k, (struct ek_range){t, end}, row))
            continue;
        k->rows++;
        k->news |= row->x[1] != 0;
        k->longer += row->x[1] < 0;
    }
}

/* A launch that makes up this share of a range is noticed. */
static const double NOTICED = 0.1;

/* Scatter around the fit of those rows in which a launch would be noticed, whose number goes to
 * *some: what remains of the tasks' own scatter. */
static double scatter_of(struct estimate *e, const struct estimate_kind *k, size_t m,
                         const double *beta, size_t *some)
{
    *some = 0;
    for (size_t i = 0; i < m; i++) {
        const struct fit_row *r = &k->row[i];
        if (fabs(r->x[1]) * fmax(k->inside, beta[1]) >= NOTICED * r->y)
            e->scratch[(*some)++] = fabs(r->y - beta[0] - beta[1] * r->x[1]);
    }
    return *some ? line_select(e->scratch, *some, *some / 2) * ESTIMATE_PER_MEDIAN : 0;
}

/* Launch seconds hidden in the tasks' times of a kind: what tasks took less in longer ranges than
 * before, unless their units have changed, by least deviations. Nothing changes unless the rows
 * contradict what is known. */
static double launch_inside(struct estimate *e, const struct estimate_kind *k, double doubt)
{
    const size_t m = k->rows < ESTIMATE_ROWS ? k->rows : ESTIMATE_ROWS;
    const bool few = m < FEWEST;
    double beta[2], sum = 0, squares = 0;
    size_t some;
    if (m < 2 || (few && e->steps))
        return k->inside;
    fit_rows(k->row, m, 2, beta);
    for (size_t i = 0; i < m; i++) {
        sum += k->row[i].x[1];
        squares += k->row[i].x[1] * k->row[i].x[1];
    }
    const double scatter = scatter_of(e, k, m, beta, &some),
                 noise = few || e->steps ? fmax(doubt, scatter) : scatter,
                 apart = squares - sum * sum / (double)m - noise * noise * squares;
    if (some < 2 || apart < noise * noise * squares)
        return k->inside;
    const double error = 2 * ESTIMATE_SURE * noise * sqrt(2 / apart); /* 2: a difference of two */
    return beta[1] > error ? beta[1] : beta[1] + error < k->inside ? 0 : k->inside;
}

void estimate_learn_inside(struct estimate *e, double doubt)
{
    for (struct estimate_kind *k = e->of; k < e->of + e->nkinds; k++) {
        k->rows = e->steps > 1 ? k->rows : 0;
        k->news = false;
    }
    collect_rows(e);
    for (struct estimate_kind *k = e->of; k < e->of + e->nkinds; k++) {
        const double inside = k->news ? launch_inside(e, k, doubt) : k->inside,
                     more = inside - k->inside;
        for (size_t t = 0; more != 0 && t < e->n; t++) {
            for (int i = 0; i < k->count[t]; i++)
                k->sample[t][i] = fmax(0, k->sample[t][i] - more * k->part[t]);
            if (k->count[t])
                k->seconds[t] = fmax(0, k->seconds[t] - more * k->part[t]);
        }
        k->inside = inside;
    }
}

/* ---- beside the tasks -------------------------------------------------------------------------*/
/* How many recorded launches are valid: none for a unit whose speed has just changed, unless all of
 * them are from this step. */
static unsigned launches_of(const struct estimate *e, int c)
{
    const struct estimate_ranges *b = &e->ranges[c];
    if (e->sudden[c] && b->count - b->before < ESTIMATE_LAUNCHES)
        return 0;
    return b->count < ESTIMATE_LAUNCHES ? b->count : ESTIMATE_LAUNCHES;
}

/* A unit slower than declared also launches slower; one declared to be slow does not. */
static double slower_than_declared(const struct estimate *e, int c)
{
    return e->slowdown[c] / e->declared[c];
}

/* Median launch of kind j outside the tasks' times; -1: not measured. */
static double launch_beside(struct estimate *e, int j)
{
    size_t m = 0;
    for (int c = 0; c < e->ncu; c++)
        for (unsigned i = 0; e->kind[c] == j && i < launches_of(e, c); i++)
            e->scratch[m++] = e->ranges[c].last[i] / slower_than_declared(e, c);
    return m ? line_median(e->scratch, m) : -1;
}

/* A unit whose launches clearly differ from its kind's has its own median. */
static double own_launch(const struct estimate *e, int c, double beside)
{
    double last[ESTIMATE_LAUNCHES];
    const unsigned m = launches_of(e, c);
    memcpy(last, e->ranges[c].last, sizeof last);
    if (m < OWN)
        return beside;
    const double own = line_median(last, m) / slower_than_declared(e, c);
    return fmax(own, beside) > UNLIKE * fmin(own, beside) ? own : beside;
}

void estimate_learn_launches(struct estimate *e)
{
    for (int j = 0; j < e->nkinds; j++) {
        const struct estimate_kind *k = &e->of[j];
        const double beside = launch_beside(e, j);
        const double least = SMALL * line_sum(k->seconds, e->n) / (double)e->n;
        for (int c = 0; c < e->ncu; c++) {
            if (e->kind[c] != j)
                continue;
            if (beside >= 0 && (!e->sudden[c] || launches_of(e, c)))
                e->launch[c] = own_launch(e, c, beside) / e->declared[c] + k->inside;
            if (e->launch[c] <= least)
                e->launch[c] = 0;
        }
    }
}

void estimate_hide_launches(struct estimate *e)
{
    for (int c = 0; c < e->ncu; c++) {
        struct estimate_kind *k = &e->of[e->kind[c]];
        const double beside = launch_beside(e, e->kind[c]);
        if (beside >= 0 && estimate_hides(beside, e->launch[c]))
            k->inside = fmax(k->inside, e->launch[c]);
    }
}
