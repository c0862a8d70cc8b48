/* cu/moldable/method/wlsearch.c – WATER-LEVEL-SEARCH (Dietze et al., section 4.4): the first place
 * where a task finishes within a limit of the makespan; the limit is first raised until all tasks
 * fit, then searched for among the finish times seen. */
#include "cu/moldable/timeline.h"
#include "src/sort.h"

enum { MOST_CANDIDATES = 1 << 20 };

struct search {
    struct timeline *timeline;
    struct moldable_choice *choice, *trial;
    double best;       /* makespan of choice */
    double *candidate; /* [MOST_CANDIDATES] */
    size_t ncandidates, seen, stride;
};

/* Keeps the trial if it is the best schedule so far, whatever its limit was. */
static void keep(struct search *s)
{
    if (s->timeline->latest >= s->best)
        return;
    s->best = s->timeline->latest;
    memcpy(s->choice, s->trial, (size_t)s->timeline->problem->ntasks * sizeof *s->trial);
}

/* ---- phase 1 ----------------------------------------------------------------------------------*/
/* A task that does not fit is placed where it finishes first, which raises the limit. All tasks are
 * placed again only after n/2, 3n/4, 7n/8, … of them, if the limit was raised since the last time.
 */
static double raise_limit(struct search *s, double limit)
{
    int n = s->timeline->problem->ntasks, left = n - n / 2; /* tasks behind the next checkpoint */
    for (int i = 0, raised = 0; i < n; i++) {
        if (!i)
            timeline_clear(s->timeline);
        if (!timeline_first_fit(s->timeline, s->timeline->order[i], limit, &s->trial[i])) {
            s->trial[i] = timeline_earliest(s->timeline, s->timeline->order[i], 0);
            raised = 1;
        }
        const double finish = timeline_place(s->timeline, &s->trial[i]).finish;
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
/* Sorts the candidates and removes duplicates. */
static void condense(struct search *s)
{
    size_t kept = 0, n = s->ncandidates;
    sort_numbers(s->candidate, n);
    for (size_t i = 0; i < n; i++)
        if (!i || s->candidate[i] != s->candidate[i - 1])
            s->candidate[kept++] = s->candidate[i];
    s->ncandidates = kept;
}

/* When there is no more room, drops every second candidate, and from then on every second new one.
 */
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

/* Collects all finish times between lo and the best makespan that one pass under the limit sees. */
static void collect(struct search *s, double lo, double limit)
{
    struct timeline_view v;
    s->ncandidates = 0;
    s->stride = 1;
    timeline_clear(s->timeline);
    for (int i = 0; i < s->timeline->problem->ntasks; i++) {
        int task = s->timeline->order[i];
        for (int k = 0, views = timeline_views(s->timeline, task, 0); k < views; k++) {
            if (timeline_too_late(s->timeline, task, k, s->best))
                continue;
            timeline_view(s->timeline, task, k, &v);
            for (int w = 0; w < v.n; w++)
                if (v.finish[w] > lo && v.finish[w] < s->best)
                    add_candidate(s, v.finish[w]);
        }
        if (!timeline_first_fit(s->timeline, task, limit, &s->trial[i]))
            s->trial[i] = timeline_earliest(s->timeline, task, 0);
        timeline_place(s->timeline, &s->trial[i]);
    }
    keep(s);
    condense(s);
}

/* ---- phase 3 ----------------------------------------------------------------------------------*/
static bool all_fit(struct search *s, double limit)
{
    timeline_clear(s->timeline);
    for (int i = 0; i < s->timeline->problem->ntasks; i++) {
        if (!timeline_first_fit(s->timeline, s->timeline->order[i], limit, &s->trial[i]))
            return false;
        timeline_place(s->timeline, &s->trial[i]);
    }
    keep(s);
    return true;
}

static void bisect(struct search *s)
{
    size_t lo = 0, hi = s->ncandidates;
    SORT_BISECT(lo, hi, !all_fit(s, s->candidate[middle]))
}

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    const int n = timeline->problem->ntasks;
    struct search s = {.timeline = timeline, .choice = choice, .best = INFINITY};
    s.trial = ARENA_NEW(&timeline->arena, n, struct moldable_choice);
    s.candidate = ARENA_NEW(&timeline->arena, MOST_CANDIDATES, double);
    TRY(arena_check(&timeline->arena, "%d tasks", n));
    double work = 0;
    for (int i = 0; i < n; i++)
        work += timeline_sequential(timeline->problem, i);
    const double limit = raise_limit(&s, work / timeline->power);
    collect(&s, work / timeline->power, limit);
    bisect(&s);
    return EK_OK;
}

const struct moldable_method moldable_wlsearch = {
    .name = "wlsearch",
    .summary = "WATER-LEVEL-SEARCH: the first place within a limit of the makespan, searched for",
    .choose = choose,
};
