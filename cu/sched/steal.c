/* cu/sched/steal.c – which unit is behind in a step, and whether helping it pays. */
#include "cu/sched/steal.h"

#include <math.h>
#include <string.h>

/* Units of another memory node help only in a step that is late by this factor, or when they are
 * early by it. */
static const double BEHIND = 1.01;

/* Margin for help across memory nodes: the task must still end first if it takes this many times as
 * long, as a victim slowed by its neighbours will speed up; NOISY times the noise more, as one that
 * other programs interrupted will, too. */
static const double SURE = 1.25, NOISY = 10;

/* A range should take this many times its launch, so that less than half a percent is lost. */
static const double LAUNCHES = 250;

/* A unit that is slower than expected by more than this factor, compared with the others, takes the
 * shortest task left: the long ones wait for others. */
static const double SLOWER = 2;

/* A unit slower than expected by more than the factor SLOW, compared with the others, leaves its
 * last task to another one that ends it sooner even if its own slowness is overrated by SURELY. */
static const double SLOW = 1.2, SURELY = 1.2;

/* A unit later than this was interrupted (by the operating system): tasks it has not begun are not
 * late. */
static const double INTERRUPTED = 30;

/* Tasks that can be brought in less than this share of a step will be, a few in each step. */
static const double SOON = 0.5;

/* Tasks at the end of a list that are considered together to make helping worthwhile. */
enum { MOST_TAKEN = 32 };

enum ek_status steal_open(struct steal *s, struct partition *d, const int *owner)
{
    const struct sched_job *job = d->job;
    *s = (struct steal){.d = d, .owner = owner};
    s->order = ARENA_NEW(job->arena, job->n, size_t);
    s->unit = ARENA_NEW(job->arena, job->n, int);
    s->tail = ARENA_NEW(job->arena, job->n + 1, double);
    s->expected = ARENA_NEW(job->arena, job->ncu, double);
    s->slowdown = ARENA_NEW(job->arena, job->ncu, double);
    s->worker = ARENA_NEW(job->arena, job->ncu, struct steal_worker);
    s->idle = ARENA_NEW(job->arena, job->ncu, double);
    for (int c = 0; s->worker && c < job->ncu; c++)
        s->worker[c].late = 1;
    return plan_open(&s->plan, job);
}

static double get(const _Atomic double *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}

static void set(_Atomic double *x, double value)
{
    atomic_store_explicit(x, value, memory_order_relaxed);
}

/* ---- what is expected of the step -------------------------------------------------------------*/
/* A busy time that is off by this share of itself counts, too: a fast unit's may be short and yet
 * tell that the unit could do far more. */
static const double OF_ITSELF = 0.2;

static void load(struct steal *s)
{
    partition_load(s->d, s->owner);
    s->planned = s->makespan = 0;
    for (int c = 0; c < s->plan.ncu; c++) {
        s->planned = fmax(s->planned, s->d->full[c]);
        s->makespan = fmax(s->makespan, s->d->load[c]);
    }
}

void steal_expect(struct steal *s)
{
    load(s);
    memcpy(s->expected, s->d->load, (size_t)s->plan.ncu * sizeof *s->expected);
}

bool steal_differs(struct steal *s, double share)
{
    load(s);
    for (int c = 0; c < s->plan.ncu; c++) {
        double difference = fabs(s->d->load[c] - s->expected[c]);
        if (difference > share * s->makespan || difference > OF_ITSELF * s->expected[c])
            return true;
    }
    return false;
}

double steal_end(const struct steal *s)
{
    double end = 0;
    for (int c = 0; c < s->plan.ncu; c++)
        end = fmax(end, get(&s->worker[c].until));
    return end;
}

void steal_allow(struct steal *s, int cu, double late, double fades)
{
    s->worker[cu].late = late;
    s->worker[cu].fades = fades;
}

/* Planned seconds including the transfer of tasks that do not lie on their unit yet. */
static void sum_tails(struct steal *s)
{
    bool brings = false;
    memcpy(s->slowdown, s->d->e->slowdown, (size_t)s->plan.ncu * sizeof *s->slowdown);
    for (size_t i = s->plan.n; i-- > 0;) {
        size_t t = s->plan.task[i];
        double carrying = partition_transfer(s->d, s->d->memory[s->owner[t]], t);
        brings |= carrying > 0;
        s->tail[i] = s->tail[i + 1] + estimate_seconds(s->d->e, s->owner[t], t) + carrying;
    }
    s->brings = brings;
}

/* Tails are computed again when a unit has become this much slower or faster, perhaps because of
 * its neighbours. */
static const double UNLIKE = 1.05;

static bool slowdowns_differ(const struct steal *s)
{
    const double *now = s->d->e->slowdown, *then = s->slowdown;
    for (int c = 0; c < s->plan.ncu; c++)
        if (now[c] > UNLIKE * then[c] || then[c] > UNLIKE * now[c])
            return true;
    return false;
}

void steal_rewind(struct steal *s)
{
    plan_rewind(&s->plan);
    s->offer = -1;
    if (s->brings || slowdowns_differ(s))
        sum_tails(s);
    for (int c = 0; c < s->plan.ncu; c++) {
        s->worker[c].holds = false;
        s->worker[c].began = false;
        s->worker[c].left = false;
        s->worker[c].doubts = 0;
        s->worker[c].took = s->worker[c].expected = 0;
        set(&s->worker[c].start, 0);
        set(&s->worker[c].until, 0);
        set(&s->worker[c].slower, 1);
    }
}

/* A unit alone in its memory node takes its tasks in natural order, in ranges. Where others may
 * help at the end, the longest task comes first, and the shortest are left for helpers. */
void steal_plan(struct steal *s)
{
    const struct partition *d = s->d;
    const bool anywhere = !d->bound && !d->job->first && d->e->known;
    size_t n = s->plan.n, at = 0;
    for (int shared = 0; shared <= 1; shared++)
        for (size_t i = 0; i < n; i++) {
            size_t t = shared ? d->order[i] : i;
            const bool helped = anywhere || d->units[d->memory[s->owner[t]]] > 1;
            if ((helped && !d->launches) == shared)
                s->order[at++] = t;
        }
    for (size_t i = 0; i < n; i++)
        s->unit[i] = s->owner[s->order[i]];
    plan_assign(&s->plan, s->unit, s->order);
    sum_tails(s);
}

/* Planned seconds of what unit cu has not begun. */
static double left_seconds(const struct steal *s, int cu)
{
    struct ek_range r = plan_entries(&s->plan, cu);
    return s->tail[r.begin] - s->tail[r.end];
}

/* How much slower than expected the unit is, as known at time `now`: also if its present tasks
 * should have ended by now. */
static double slower_by(const struct steal_worker *w, double now)
{
    double start = get(&w->start), until = get(&w->until), slower = get(&w->slower);
    return now > until && until > start ? fmax(slower, (now - start) / (until - start) / w->late)
                                        : slower;
}

/* When it will finish its present tasks. */
static double idle_at(const struct steal_worker *w, double now)
{
    double start = get(&w->start);
    return fmax(now, start + slower_by(w, now) * (get(&w->until) - start));
}

/* And its whole list. */
static double end_of(const struct steal *s, int cu, double now)
{
    const struct steal_worker *w = &s->worker[cu];
    return idle_at(w, now) + slower_by(w, now) * left_seconds(s, cu);
}

/* Cost of doing tasks on another unit than planned, in seconds. */
struct helping {
    double here, there; /* computing on the helper, on the victim */
    double carried, crossing;
    double behind;  /* the victim's slowdown beyond expectation */
    double brought; /* transfer to the victim, in this step or a later one */
};

static void add_task(const struct steal *s, int cu, int victim, size_t task, struct helping *h)
{
    const struct partition *d = s->d;
    double carried = partition_transfer(d, d->memory[cu], task),
           brought = partition_transfer(d, d->memory[victim], task);
    h->here += get(&s->worker[cu].slower) * estimate_seconds(d->e, cu, task);
    h->there += h->behind * estimate_seconds(d->e, victim, task);
    h->carried += carried;
    h->brought += brought;
    if (d->memory[cu] != d->memory[victim])
        h->crossing += 2 * carried + brought + partition_crossing(d, s->owner, task, d->memory[cu]);
}

/* Across memory nodes, helping carries tasks there and back and makes their faces cross for a step:
 * not worth it for tasks that take less than twice that. But a victim that ends last, and still has
 * to be brought tasks, may as well be relieved of those for a step: what would make one step long
 * is brought little by little. */
static bool pays(const struct steal *s, int cu, int victim, const struct helping *h, double left,
                 bool last)
{
    const struct partition *d = s->d;
    const bool soon = h->brought <= SOON * s->makespan && !d->job->first;
    const bool stay = last && s->worker[victim].began && h->brought > 0 && h->carried == 0 &&
                      (soon || h->crossing <= h->there);
    if ((stay && !WITHOUT(STAYING)) || h->crossing == 0)
        return h->here < left * (1 - 1e-9);
    double now = get(&s->worker[cu].until);
    if (now + left < BEHIND * s->planned && BEHIND * now >= s->expected[cu])
        return false;
    const double sure = SURE + NOISY * estimate_noise(d->e);
    return sure * (h->here + h->carried) < left && h->there > 2 * h->crossing;
}

/* Slower than expected without knowing why: in a first step by declared speeds, when nothing is
 * known of neighbours, all units of this kind are, so that these may be the reason. */
struct slowed {
    int alike;    /* units of the kind that have ended something */
    int busy;     /* of them, still at work */
    double least; /* how much slower they all are; 1: nothing of the sort */
};

static struct slowed slowed_alike(const struct steal *s, int kind)
{
    struct slowed x = {.least = INFINITY};
    for (int c = 0; s->d->e->known && s->d->e->steps == 0 && c < s->plan.ncu; c++) {
        const struct steal_worker *w = &s->worker[c];
        if ((int)s->d->job->unit[c].kind != kind || !(get(&w->start) > 0))
            continue;
        x.alike++;
        x.busy += !w->left && !w->lost;
        x.least = fmin(x.least, get(&w->slower));
    }
    x.least = x.alike && !WITHOUT(INTERFERENCE) ? x.least : 1;
    return x;
}

/* If the busy units of the helper's kind may be why several ones of the victim's kind are slower
 * than expected, its help costs these so many seconds. */
static double slows_others(const struct steal *s, int cu, int victim, double here)
{
    const struct sched_unit *unit = s->d->job->unit;
    const struct slowed x = slowed_alike(s, (int)unit[victim].kind);
    int beside = 1;
    if (unit[cu].kind == unit[victim].kind || x.alike < 2)
        return 0;
    for (int c = 0; c < s->plan.ncu; c++) {
        const struct steal_worker *w = &s->worker[c];
        beside +=
            unit[c].kind == unit[cu].kind && c != cu && get(&w->until) > 0 && !w->left && !w->lost;
    }
    return x.busy * (1 - 1 / x.least) / beside * here;
}

/* The victim's end, sooner where busy units of the helper's kind slow it: they will end before. */
static double end_beside(const struct steal *s, int cu, int victim, double end, double now)
{
    const struct sched_unit *unit = s->d->job->unit;
    double busy = 0, fades = s->worker[victim].fades;
    int all = 0;
    if (unit[cu].kind == unit[victim].kind || WITHOUT(INTERFERENCE))
        return end;
    if (get(&s->worker[victim].start) > 0)
        fades = fmax(fades, 1 - 1 / slowed_alike(s, (int)unit[victim].kind).least);
    for (int c = 0; fades > 0 && c < s->plan.ncu; c++) {
        if (unit[c].kind != unit[cu].kind || !(get(&s->worker[c].until) > 0))
            continue;
        busy += c == cu ? 0 : fmin(1, fmax(0, end_of(s, c, now) - now) / (end - now));
        all++;
    }
    return all ? end - fades * (1 - busy / all) * (end - now) : end;
}

/* How many of the victim's last tasks make helping worthwhile: one, or a few if they are small; 0:
 * it does not pay. The longest task first: a unit that is not idle yet does not put its own last
 * one off for a shorter one. */
static size_t worth_taking(const struct steal *s, int cu, int victim, struct ek_range left,
                           double late, bool last)
{
    const size_t *task = s->plan.task;
    const double own = left_seconds(s, cu);
    struct helping h = {.here = get(&s->worker[cu].slower) * estimate_launch(s->d->e, cu),
                        .behind = slower_by(&s->worker[victim], get(&s->worker[cu].until))};
    if (h.behind > INTERRUPTED)
        h.behind = 1;
    if (own > 0 && left.begin < left.end &&
        estimate_seconds(s->d->e, cu, task[left.end - 1]) <= own * (1 + 1e-9))
        return 0;
    for (size_t i = left.end; i > left.begin && left.end - i < MOST_TAKEN; i--) {
        if (i < left.end && task[i - 1] + 1 != task[i])
            return 0;
        add_task(s, cu, victim, task[i - 1], &h);
        if (slows_others(s, cu, victim, h.here) <= h.there && pays(s, cu, victim, &h, late, last))
            return left.end - i + 1;
    }
    return 0;
}

/* The unit's latest range may have been interrupted, which is over: its data stays where it is. */
static bool may_be_back(const struct steal *s, int cu, int helper)
{
    return s->worker[cu].doubts == 1 && s->d->memory[cu] != s->d->memory[helper] &&
           !WITHOUT(INTERRUPTIONS);
}

/* Two tasks together are to tell this device's launches: they are not parted before it begins. */
static bool is_tried(const struct steal *s, int cu)
{
    return estimate_may_hide(s->d->e, cu) && !s->worker[cu].began;
}

/* Unit cu is idle, or about to begin its last task: takes tasks of the unit that will end last. */
static struct ek_range help(struct steal *s, int cu)
{
    const double now = get(&s->worker[cu].until),
                 idle = now + get(&s->worker[cu].slower) * left_seconds(s, cu);
    for (;;) {
        double last = now, latest = now;
        int victim = -1;
        for (int c = 0; c < s->plan.ncu; c++) {
            const double end = end_of(s, c, now);
            latest = fmax(latest, end);
            if (c != cu && plan_left(&s->plan, c) > 0 && end > last && !is_tried(s, c) &&
                !may_be_back(s, c, cu)) {
                last = end;
                victim = c;
            }
        }
        size_t tasks = 0;
        if (victim >= 0)
            tasks = worth_taking(s, cu, victim, plan_entries(&s->plan, victim),
                                 end_beside(s, cu, victim, last, now) - idle, last >= latest);
        if (!tasks)
            return (struct ek_range){0, 0};
        struct ek_range r = plan_steal(&s->plan, victim, tasks);
        if (r.begin == r.end)
            continue;
        if (s->d->memory[cu] != s->d->memory[victim])
            s->brings = true;
        return r;
    }
}

/* Most consecutive tasks in the next range: a unit alone in its memory node takes half of what is
 * left, so that there are few launches, those that are hidden in the tasks' times can be told from
 * these, and others may help; a unit nobody can help takes all. */
static size_t batch(const struct steal *s, int cu)
{
    const struct partition *d = s->d;
    double launch = estimate_launch(d->e, cu), work = left_seconds(s, cu);
    size_t all = plan_left(&s->plan, cu), grain = d->job->grain;
    if (s->plan.ncu == 1)
        return all;
    if (launch > 0)
        return work > LAUNCHES * launch ? (size_t)(LAUNCHES * launch / work * (double)all) + 1
                                        : all;
    if (d->units[d->memory[cu]] == 1 && all / 2 > grain && !WITHOUT(HALVES))
        return all / 2;
    return estimate_may_hide(d->e, cu) && !WITHOUT(TWO_TASKS) ? 2 * grain : grain;
}

static bool falls_behind(const struct steal *s, int cu)
{
    double own = get(&s->worker[cu].slower), all = 0;
    for (int c = 0; own > SLOWER && c < s->plan.ncu; c++)
        all += get(&s->worker[c].slower);
    return own > SLOWER && own * s->plan.ncu > SLOWER * all;
}

/* Launching tasks one by one costs less than the tasks. */
static bool launches_little(const struct steal *s, int cu)
{
    return estimate_launch(s->d->e, cu) * (double)plan_left(&s->plan, cu) <= left_seconds(s, cu);
}

/* Expected seconds of a range on unit cu, and of carrying its tasks there. */
static double range_seconds(const struct steal *s, int cu, struct ek_range r, double *carrying)
{
    double sec = estimate_launch(s->d->e, cu);
    *carrying = 0;
    for (size_t t = r.begin; t < r.end; t++) {
        sec += estimate_seconds(s->d->e, cu, t);
        *carrying += partition_transfer(s->d, s->d->memory[cu], t);
    }
    return sec;
}

static void note_range(struct steal *s, int cu, struct ek_range r)
{
    struct steal_worker *w = &s->worker[cu];
    double carrying, sec = range_seconds(s, cu, r, &carrying);
    w->holds = true;
    w->began = true;
    set(&w->start, get(&w->until) + carrying);
    set(&w->until, get(&w->start) + sec);
}

/* ---- what a slow unit leaves ------------------------------------------------------------------*/
/* When the task would end on unit cu, after all that this unit has yet to do. */
static double end_with(const struct steal *s, int cu, size_t task, double now)
{
    double carrying, sec = range_seconds(s, cu, (struct ek_range){task, task + 1}, &carrying);
    return end_of(s, cu, now) + slower_by(&s->worker[cu], now) * sec + 2 * carrying;
}

/* The soonest end on another unit, which is at work and so will ask again, and has ended something,
 * so that its speed is known; INFINITY: there is none. */
static double end_elsewhere(const struct steal *s, int cu, size_t task, double now)
{
    double soonest = INFINITY;
    for (int c = 0; c < s->plan.ncu; c++) {
        const struct steal_worker *w = &s->worker[c];
        if (c != cu && get(&w->start) > 0 && !w->left && !w->lost)
            soonest = fmin(soonest, end_with(s, c, task, now));
    }
    return soonest;
}

/* Slower than expected, more than the others that have ended something: busy neighbours slow all of
 * them, and only for a time. */
static bool is_slow(const struct steal *s, int cu)
{
    double all = 0;
    int seen = 0;
    for (int c = 0; c < s->plan.ncu; c++)
        if (c != cu && get(&s->worker[c].start) > 0) {
            all += get(&s->worker[c].slower);
            seen++;
        }
    return get(&s->worker[cu].slower) * seen > SLOW * all;
}

/* A slow unit offers its last task to the others, and stops. As units first note that they stop and
 * then look for an offer, the one that stops last cannot miss it. */
static bool leaves(struct steal *s, int cu)
{
    const struct ek_range left = plan_entries(&s->plan, cu);
    const double now = get(&s->worker[cu].until), most = (end_of(s, cu, now) - now) / SURELY;
    int mine = cu, none = -1;
    if (left.end - left.begin != 1 || s->d->job->first || !is_slow(s, cu) || WITHOUT(OFFERS))
        return false;
    const size_t task = s->plan.task[left.begin];
    if (end_elsewhere(s, cu, task, now) > now + most ||
        !atomic_compare_exchange_strong(&s->offer, &none, cu))
        return false;
    return isfinite(end_elsewhere(s, cu, task, now)) ||
           !atomic_compare_exchange_strong(&s->offer, &mine, -1);
}

/* A unit that has stopped takes what was offered, unless another one will end it sooner. */
static struct ek_range take_offer(struct steal *s, int cu)
{
    const double now = get(&s->worker[cu].until);
    int from = s->offer;
    const struct ek_range none = {0, 0}, left = from < 0 ? none : plan_entries(&s->plan, from);
    if (left.begin == left.end)
        return none;
    const size_t task = s->plan.task[left.begin];
    if (end_elsewhere(s, cu, task, now) < end_with(s, cu, task, now) ||
        !atomic_compare_exchange_strong(&s->offer, &from, -1))
        return none;
    if (s->d->memory[cu] != s->d->memory[from])
        s->brings = true;
    return plan_steal(&s->plan, from, 1);
}

/* Its own next tasks, or those of a late unit; others may take its last one meanwhile. */
static struct ek_range own_or_late(struct steal *s, int cu)
{
    const bool helps = !s->worker[cu].holds && !WITHOUT(HELP);
    struct ek_range r = {0, 0};
    for (size_t left = 1; r.begin == r.end && left > 0;) {
        left = plan_left(&s->plan, cu);
        if (left <= 1 && helps)
            r = help(s, cu);
        if (r.begin == r.end)
            r = falls_behind(s, cu) && !WITHOUT(SHORTEST) && launches_little(s, cu)
                    ? plan_steal(&s->plan, cu, 1)
                    : plan_next(&s->plan, cu, batch(s, cu));
    }
    return r;
}

struct ek_range steal_next(struct steal *s, int cu)
{
    struct steal_worker *w = &s->worker[cu];
    if (w->lost) /* in small ranges for the others */
        return plan_next(&s->plan, cu, s->d->launches ? batch(s, cu) : s->d->job->grain);
    struct ek_range r = leaves(s, cu) ? (struct ek_range){0, 0} : own_or_late(s, cu);
    w->left = r.begin == r.end;
    if (r.begin == r.end) {
        r = take_offer(s, cu);
        w->left = r.begin == r.end;
    }
    if (r.begin < r.end)
        note_range(s, cu, r);
    return r;
}

void steal_done(struct steal *s, int cu, double sec)
{
    struct steal_worker *w = &s->worker[cu];
    double start = w->holds ? get(&w->start) : get(&w->until); /* otherwise: tasks of a lost unit */
    double expected = w->holds ? get(&w->until) - start : 0;
    const bool doubtful = expected > 0 && estimate_doubts(sec, expected * get(&w->slower));
    w->holds = false;
    if (expected > 0) {
        w->took = sec + w->took / 2;
        w->expected = expected + w->expected / 2;
        set(&w->slower, fmax(1, w->took / w->expected / w->late));
    }
    w->doubts = doubtful ? w->doubts + 1 : 0;
    set(&w->until, start + sec);
}

/* ---- what lost units leave --------------------------------------------------------------------*/
/* Limit of the pairs of range and unit considered when one unit asks. */
enum { MOST_PAIRS = 1 << 16 };

void steal_lose(struct steal *s, int cu)
{
    s->worker[cu].lost = true;
}

/* The unit on which a range would end first; assigns it there in s->idle. */
static int place(struct steal *s, struct ek_range r, double now)
{
    int best = -1;
    double soonest = INFINITY;
    for (int c = 0; c < s->plan.ncu; c++) {
        double carrying, sec;
        if (s->idle[c] >= soonest)
            continue;
        sec = range_seconds(s, c, r, &carrying);
        double end = s->idle[c] + carrying + slower_by(&s->worker[c], now) * sec;
        if (end < soonest) {
            best = c;
            soonest = end;
        }
    }
    if (best >= 0)
        s->idle[best] = soonest;
    return best;
}

size_t steal_adopt(struct steal *s, int cu, const struct ek_range *left, size_t count)
{
    struct steal_worker *w = s->worker;
    int ncu = s->plan.ncu;
    double now = get(&w[cu].until);
    bool anew = w[cu].left; /* units that had finished are asked again */
    for (int c = 0; c < ncu; c++) {
        now = fmax(now, get(&w[c].start));
        if (anew)
            w[c].left = false;
    }
    for (int c = 0; c < ncu; c++)
        s->idle[c] = w[c].lost || w[c].left ? INFINITY : c == cu ? now : idle_at(&w[c], now);
    size_t looks = MOST_PAIRS / (size_t)ncu + 1, at = 0;
    int where = -1; /* -1: no unit ends it in finite time; any may take it */
    while (at < count && at < looks && (where = place(s, left[at], now)) >= 0 && where != cu)
        at++;
    if (at == count || at == looks)
        return count;
    set(&w[cu].until, now);
    note_range(s, cu, left[at]);
    return at;
}
