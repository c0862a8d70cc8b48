/* cu/sched/estimate_launch.c – how long it takes to begin a range of tasks: beside their times, or
 * hidden in these. */
#include "cu/sched/estimate_internal.h"

#include <math.h>
#include <string.h>

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

/* Adds a row for each range of a device in this step. */
static void collect_rows(struct estimate *e)
{
    for (size_t t = 0, end; t < e->n; t = end) {
        const int c = e->owner[t];
        struct estimate_row row = {.unit = c};
        end = t + range_length(e, t);
        struct estimate_kind *k = &e->of[e->kind[c]];
        if (e->seconds[t] < 0 || k->kind != CU_DEVICE || e->unit[c].launch > 0)
            continue; /* a declared launch stands */
        for (size_t i = t; i < end; i++) {
            row.tasks++;
            row.cost += estimate_cost(e, i);
            row.sec += e->seconds[i];
        }
        if (!(row.sec > 0))
            continue;
        k->row[k->rows++ % ESTIMATE_ROWS] = row;
        k->longer += row.tasks > 1;
    }
}

/* A range that took longer than another one by so many times more than it is larger, beyond chance,
 * tells that the unit's speed has changed: no launch explains that. */
static const double LONGER = 1.5;

/* How many times larger range a is than b. */
static double larger(const struct estimate_row *a, const struct estimate_row *b)
{
    return fmax(a->tasks / b->tasks, a->cost / b->cost);
}

/* Least seconds of m ranges: of one, for a task, and for a unit of cost. */
struct least {
    double sec, task, cost;
};

static struct least least_of(const struct estimate_row *row, size_t m)
{
    struct least x = {INFINITY, INFINITY, INFINITY};
    for (const struct estimate_row *r = row; r < row + m; r++) {
        const double task = r->sec / r->tasks, cost = r->sec / r->cost;
        x.sec = r->sec < x.sec ? r->sec : x.sec;
        x.task = task < x.task ? task : x.task;
        x.cost = cost < x.cost ? cost : x.cost;
    }
    return x;
}

/* Range a took that much longer than another one. */
static bool is_longer(const struct estimate_kind *k, size_t m, const struct estimate_row *a,
                      double longer)
{
    for (const struct estimate_row *b = k->row; b < k->row + m; b++)
        if (a->unit == b->unit && a->sec > longer * b->sec * fmax(1, larger(a, b)))
            return true;
    return false;
}

static bool has_changed(const struct estimate_kind *k, double doubt)
{
    const size_t m = k->rows < ESTIMATE_ROWS ? k->rows : ESTIMATE_ROWS;
    if (!m)
        return false;
    const double longer = LONGER * exp(ESTIMATE_SURE * doubt), nearly = longer * (1 - 1e-9);
    const struct least x = least_of(k->row, m);
    for (const struct estimate_row *a = k->row; a < k->row + m; a++) {
        const bool may_be = a->sec > nearly * x.sec && a->sec > nearly * x.task * a->tasks &&
                            !(a->sec <= nearly * x.cost * a->cost); /* spares most pairs */
        if (may_be && is_longer(k, m, a, longer))
            return true;
    }
    return false;
}

/* Rows of a fit seconds = a * tasks + b * cost + inside, at slowdown 1; what it is off by counts as
 * a share. */
static size_t make_rows(const struct estimate_kind *k, const double *factor, struct fit_row *row)
{
    size_t m = 0;
    for (size_t i = 0; i < k->rows && i < ESTIMATE_ROWS; i++) {
        const struct estimate_row *r = &k->row[i];
        const double sec = r->sec / factor[r->unit];
        row[m++] = (struct fit_row){{r->tasks, r->cost, 1}, sec, 1 / sec};
    }
    return m;
}

/* A fit of m rows: the sum of the shares by which they are off, and the launch seconds. */
struct fitted {
    double off, inside;
};

/* Share of the deviations that is worth another round of a fit. */
static const double SETTLED = 1e-4;

/* With these launch seconds, or with the best ones if `inside` is negative. */
static struct fitted fit_ranges(const struct fit_row *rows, size_t m, double inside)
{
    struct fit_row row[ESTIMATE_ROWS] = {0};
    double beta[3] = {0};
    struct fitted f = {.inside = inside};
    for (size_t i = 0; i < m; i++) {
        row[i] = rows[i];
        row[i].y -= fmax(0, inside);
    }
    fit_rows(row, m, inside < 0 ? 3 : 2, SETTLED, beta);
    for (size_t i = 0; i < m; i++) {
        const double *x = row[i].x;
        f.off += row[i].weight * fabs(row[i].y - beta[0] * x[0] - beta[1] * x[1] - beta[2] * x[2]);
    }
    if (inside < 0)
        f.inside = beta[2];
    return f;
}

/* Other launch seconds must explain the rows by so much better, as the logarithm of the
 * likelihoods' ratio; rows that are off by less than this share in the mean are explained. */
static const double EVIDENT = 3, EXPLAINED = 1e-6;

/* If there are all ESTIMATE_ROWS rows, it takes so many new ones to fit them anew. */
enum { ANEW = ESTIMATE_ROWS / 4 };

/* What m rows may be off by if all is known. */
static double least_off(size_t m, double doubt)
{
    return fmax(EXPLAINED, doubt) * (double)m;
}

/* The kind's line explains m rows: no fit can show that they contradict what is known. */
static bool line_explains(const struct estimate_kind *k, const struct fit_row *row, size_t m,
                          double doubt)
{
    double off = 0;
    for (const struct fit_row *r = row; r < row + m; r++)
        off += r->weight * fabs(r->y - k->inside - k->line.a * r->x[0] - k->line.b * r->x[1]);
    return off <= least_off(m, doubt);
}

/* Whether launch seconds `best` explain m rows so much better than `known` ones, which do not
 * explain all. */
static bool is_evident(struct fitted known, struct fitted best, size_t m, double doubt)
{
    return (double)m * log(known.off / fmax(best.off, least_off(m, doubt))) > EVIDENT;
}

/* Whether units of kind j seem to differ from what was declared. */
static bool misjudges(const struct estimate *e, int j)
{
    for (int c = 0; c < e->ncu; c++)
        if (e->kind[c] == j && e->factor[c] != e->declared[c])
            return true;
    return false;
}

/* Launch seconds hidden in the tasks' times of kind j. Nothing changes unless the rows contradict
 * what is known. In the first step, units that seem to differ in speed may be alike. */
static double launch_inside(struct estimate *e, int j, bool first, double doubt)
{
    struct estimate_kind *k = &e->of[j];
    struct fit_row row[ESTIMATE_ROWS];
    if (!k->longer || k->rows < k->enough || WITHOUT(HIDDEN))
        return k->inside;
    k->enough = k->rows < ESTIMATE_ROWS || first ? 0 : k->rows + ANEW;
    const size_t m = make_rows(k, e->factor, row);
    if (line_explains(k, row, m, doubt))
        return k->inside;
    const struct fitted known = fit_ranges(row, m, k->inside);
    if (known.off <= least_off(m, doubt))
        return k->inside; /* spares the fits below */
    const struct fitted best = fit_ranges(row, m, -1);
    if (first && misjudges(e, j)) {
        make_rows(k, e->declared, row);
        const struct fitted alike = fit_ranges(row, m, -1);
        if (alike.off < best.off && is_evident(known, alike, m, doubt)) {
            for (int c = 0; c < e->ncu; c++)
                e->factor[c] = e->kind[c] == j ? e->declared[c] : e->factor[c];
            return alike.inside;
        }
    }
    return is_evident(known, best, m, doubt) ? best.inside : k->inside;
}

bool estimate_learn_inside(struct estimate *e, bool raw, double doubt)
{
    bool changed = false;
    for (struct estimate_kind *k = e->of; k < e->of + e->nkinds && !e->steps; k++)
        k->rows = k->longer = 0;
    collect_rows(e);
    for (int j = 0; j < e->nkinds; j++) {
        struct estimate_kind *k = &e->of[j];
        if (!raw && e->cost && has_changed(k, doubt)) /* hides what launches take */
            k->rows = k->longer = k->enough = 0;
        const double inside = launch_inside(e, j, raw, doubt), more = inside - k->inside;
        for (size_t t = 0; more != 0 && t < e->n; t++) {
            struct estimate_sample *s = k->sample[t];
            for (int i = 0; i < k->count[t]; i++)
                s[i].sec = fmax(0, s[i].sec - more * s[i].part);
            if (k->count[t])
                k->seconds[t] = fmax(0, k->seconds[t] - more * s[k->count[t] - 1].part);
        }
        k->inside = inside;
        if (more != 0)
            estimate_fit(e, j, estimate_list(e, j, raw), raw, false);
        changed |= more != 0;
    }
    return changed;
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
    if (m < OWN || WITHOUT(OWN_LAUNCH))
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
            if (beside >= 0 && (!e->sudden[c] || k->inside > 0 || launches_of(e, c)))
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
        if (!WITHOUT(DECLARED_HIDDEN) && !e->ranges[c].before && beside >= 0 &&
            estimate_hides(beside, e->launch[c]))
            k->inside = fmax(k->inside, e->launch[c]);
    }
}
