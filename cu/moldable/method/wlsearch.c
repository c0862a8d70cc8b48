/* cu/moldable/method/wlsearch.c – WATER-LEVEL-SEARCH (Dietze et al., section 4.4): the first place
 * where a task finishes within a limit of the makespan; the limit is first raised until all tasks
 * fit, then searched for among the finish times seen. */
#include "cu/moldable/land.h"
#include "src/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CANDIDATES = 1 << 20 };

struct search {
    struct land land;
    struct moldable_choice *choice, *trial;
    double best;       /* makespan of choice */
    double *candidate; /* [MOST_CANDIDATES] */
    size_t ncandidates, seen, stride;
};

/* The better of two schedules is kept whatever its limit was. */
static void keep(struct search *s)
{
    if (s->land.latest >= s->best)
        return;
    s->best = s->land.latest;
    memcpy(s->choice, s->trial, (size_t)s->land.problem->ntasks * sizeof *s->trial);
}

/* ---- phase 1 ----------------------------------------------------------------------------------*/
/* A task that does not fit raises the limit to its smallest finish and stays there. All tasks begin
 * anew only after n/2, 3n/4, 7n/8, … of them, if the limit was raised since the last time. */
static double raise_limit(struct search *s, double limit)
{
    int n = s->land.problem->ntasks, left = n - n / 2; /* tasks behind the next checkpoint */
    for (int i = 0, raised = 0; i < n; i++) {
        if (!i)
            land_clear(&s->land);
        if (!land_first_fit(&s->land, s->land.order[i], limit, &s->trial[i])) {
            s->trial[i] = land_earliest(&s->land, s->land.order[i], 0);
            raised = 1;
        }
        double finish;
        land_place(&s->land, &s->trial[i], NULL, &finish);
        limit = finish > limit ? finish : limit;
        if (left && i + 1 == n - left) {
            left /= 2;
            i = raised ? -1 : i;
            raised = 0;
        }
    }
    keep(s);
    return limit;
}

/* ---- phase 2 ----------------------------------------------------------------------------------*/
/* Sorted, each once. */
static void condense(struct search *s)
{
    size_t kept = 0, n = s->ncandidates;
    sort_numbers(s->candidate, n);
    for (size_t i = 0; i < n; i++)
        if (!i || s->candidate[i] != s->candidate[i - 1])
            s->candidate[kept++] = s->candidate[i];
    s->ncandidates = kept;
}

/* Where there are more finish times than room, only every second one that is still to come counts,
 * and of those there are. */
static void add_candidate(struct search *s, double finish)
{
    if (s->seen++ % s->stride)
        return;
    if (s->ncandidates == MOST_CANDIDATES) {
        condense(s);
        if (s->ncandidates > MOST_CANDIDATES / 2) {
            for (size_t i = 0; i < s->ncandidates / 2; i++)
                s->candidate[i] = s->candidate[2 * i];
            s->ncandidates /= 2;
            s->stride *= 2;
        }
    }
    s->candidate[s->ncandidates++] = finish;
}

/* All finish times between lo and what was reached, seen in one run under that limit. */
static void collect(struct search *s, double lo, double limit)
{
    struct land_view v;
    s->ncandidates = 0;
    s->stride = 1;
    land_clear(&s->land);
    for (int i = 0; i < s->land.problem->ntasks; i++) {
        int task = s->land.order[i];
        for (int k = 0; k < land_views(&s->land, task); k++) {
            if (land_too_late(&s->land, task, k, s->best))
                continue;
            land_view(&s->land, task, k, &v);
            for (int w = 0; w < v.n; w++)
                if (v.finish[w] > lo && v.finish[w] < s->best)
                    add_candidate(s, v.finish[w]);
        }
        if (!land_first_fit(&s->land, task, limit, &s->trial[i]))
            s->trial[i] = land_earliest(&s->land, task, 0);
        land_place(&s->land, &s->trial[i], NULL, NULL);
    }
    keep(s);
    condense(s);
}

/* ---- phase 3 ----------------------------------------------------------------------------------*/
static bool all_fit(struct search *s, double limit)
{
    land_clear(&s->land);
    for (int i = 0; i < s->land.problem->ntasks; i++) {
        if (!land_first_fit(&s->land, s->land.order[i], limit, &s->trial[i]))
            return false;
        land_place(&s->land, &s->trial[i], NULL, NULL);
    }
    keep(s);
    return true;
}

static void bisect(struct search *s)
{
    size_t lo = 0, hi = s->ncandidates;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (all_fit(s, s->candidate[mid]))
            hi = mid;
        else
            lo = mid + 1;
    }
}

static enum ek_status choose(const struct moldable_problem *p, struct moldable_choice *choice)
{
    struct search s = {.choice = choice,
                       .best = INFINITY,
                       .trial = malloc((size_t)p->ntasks * sizeof *s.trial),
                       .candidate = malloc(MOST_CANDIDATES * sizeof *s.candidate)};
    enum ek_status st = EK_OK;
    if (!s.trial || !s.candidate)
        st = status_fail(EK_UNAVAILABLE, "out of memory for %d tasks", p->ntasks);
    if (!st)
        st = land_open(&s.land, p);
    if (!st) {
        double work = 0;
        for (int i = 0; i < p->ntasks; i++)
            work += land_sequential(p, i);
        double limit = raise_limit(&s, work / s.land.power);
        collect(&s, work / s.land.power, limit);
        bisect(&s);
        land_close(&s.land);
    }
    free(s.trial);
    free(s.candidate);
    return st;
}

const struct moldable_method moldable_wlsearch = {
    .name = "wlsearch",
    .summary = "WATER-LEVEL-SEARCH: the first place within a limit of the makespan, searched for",
    .choose = choose,
};
