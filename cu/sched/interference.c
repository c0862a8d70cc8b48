/* cu/sched/interference.c – shares by least squares; units to leave out by trying all numbers of
 * them. */
#include "cu/sched/interference.h"
#include "src/arena.h"
#include "src/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A smaller slowdown than this does not count as interference. */
static const double MATTERS = 0.05;

/* Weight of a step relative to the next. */
static const double FADES = 0.5;

/* Ridge term: neighbours that are always busy together get equal shares. */
static const double RIDGE = 1e-3;

/* Largest plausible share of one neighbour. */
static const double MOST_SHARE = 1;

/* A slowdown that is off by more than this share means that the unit itself has changed. */
static const double UNLIKE = 0.3;

/* With more units nothing is learnt: looking at all pairs would take too long. */
enum { MOST_UNITS = 256 };

/* Slowdown assigned to a unit that is left out. */
static const double OUT = 1e9;

/* ---- beginning --------------------------------------------------------------------------------*/
static void weigh_units(struct interference *f, const struct estimate *e)
{
    double *of_kind = f->seen; /* scratch, by kind of estimate.h */
    for (int k = 0; k < e->nkinds; k++)
        of_kind[k] = line_sum(e->of[k].seconds, e->n);
    for (int c = 0; c < e->ncu; c++)
        f->all[c] = e->factor[c] * of_kind[e->kind[c]];
}

static int by_seconds(const void *a, const void *b, void *all)
{
    const int x = *(const int *)a, y = *(const int *)b;
    const double *seconds = all;
    return seconds[x] != seconds[y] ? (seconds[x] < seconds[y] ? -1 : 1) : x - y;
}

/* Fastest first. */
static void sort_members(struct interference *f, const struct estimate *e)
{
    weigh_units(f, e);
    for (int kind = 0; kind < 2; kind++)
        qsort_r(f->member[kind], (size_t)f->units[kind], sizeof *f->member[kind], by_seconds,
                f->all);
}

void interference_open(struct interference *f, const struct sched_job *job,
                       const struct estimate *e)
{
    *f = (struct interference){.usual = {1, 1}};
    f->busy = ARENA_NEW(job->arena, 4 * job->ncu, double);
    f->seen = f->busy + job->ncu;
    f->alone = f->seen + job->ncu;
    f->all = f->alone + job->ncu;
    for (int kind = 0; kind < 2; kind++) {
        f->member[kind] = ARENA_NEW(job->arena, job->ncu, int);
        for (int c = 0; f->member[kind] && c < job->ncu; c++)
            if ((int)job->unit[c].kind == kind)
                f->member[kind][f->units[kind]++] = c;
        f->work[kind] = f->units[kind];
    }
    f->learns = e->known && job->ncu > 1 && job->ncu <= MOST_UNITS && f->units[CU_DEVICE] > 0;
    for (int c = 0; c < job->ncu; c++)
        f->learns &= job->unit[c].node == job->unit[0].node;
}

/* ---- neighbours -------------------------------------------------------------------------------*/
/* Slowdown of a unit of this kind while `work` units (itself included) are busy. */
static double slowing(const struct interference *f, int kind, const int work[2])
{
    double sum = 1;
    for (int other = 0; other < 2; other++)
        sum += f->share[kind][other] * fmax(0, work[other] - (other == kind));
    return sum;
}

/* End times of the units of each kind, ascending. */
struct ends {
    int n[2];
    double at[2][MOST_UNITS];
};

static void sort_ends(const struct interference *f, const double *end, struct ends *x)
{
    for (int kind = 0; kind < 2; kind++) {
        x->n[kind] = 0;
        for (int i = 0; i < f->units[kind]; i++)
            if (end[f->member[kind][i]] > 0)
                x->at[kind][x->n[kind]++] = end[f->member[kind][i]];
        sort_numbers(x->at[kind], (size_t)x->n[kind]);
    }
}

/* What a unit of one kind has done by any time, in seconds' worth of work alone. Between two ends
 * of units its neighbours stay the same. */
struct progress {
    int n;
    struct {
        double from, slow;         /* seconds; slowdown */
        double beside[2];          /* busy neighbours of each kind */
        double done, neighbour[2]; /* until then: work; work times neighbours */
    } part[2 * MOST_UNITS + 1];
};

static void follow(const struct interference *f, const struct ends *x, int kind, struct progress *p)
{
    double now = 0, next = 0, done = 0, sum[2] = {0, 0};
    p->n = 0;
    for (int at[2] = {0, 0}; next < INFINITY; now = next) {
        int work[2];
        next = INFINITY;
        for (int k = 0; k < 2; k++) {
            while (at[k] < x->n[k] && x->at[k][at[k]] <= now)
                at[k]++;
            next = at[k] < x->n[k] ? fmin(next, x->at[k][at[k]]) : next;
            work[k] = x->n[k] - at[k];
        }
        const double slow = slowing(f, kind, work), part = (next - now) / slow;
        p->part[p->n].from = now;
        p->part[p->n].slow = slow;
        p->part[p->n].done = done;
        for (int k = 0; k < 2; k++) {
            p->part[p->n].neighbour[k] = sum[k];
            p->part[p->n].beside[k] = fmax(0, work[k] - (k == kind));
            sum[k] += part * p->part[p->n].beside[k];
        }
        p->n++;
        done += part;
    }
}

/* The part in which a time > 0 lies. */
static int part_of(const struct progress *p, double time)
{
    int i = 0;
    while (i + 1 < p->n && p->part[i + 1].from < time)
        i++;
    return i;
}

static double work_until(const struct progress *p, double end)
{
    const int i = part_of(p, end);
    return end > 0 ? p->part[i].done + (end - p->part[i].from) / p->part[i].slow : 0;
}

/* The mean number of busy neighbours of a kind until then. */
static double neighbours_until(const struct progress *p, double end, int kind)
{
    const int i = part_of(p, end);
    const double part = (end - p->part[i].from) / p->part[i].slow, done = p->part[i].done + part;
    return done > 0 ? (p->part[i].neighbour[kind] + part * p->part[i].beside[kind]) / done : 0;
}

/* ---- learning ---------------------------------------------------------------------------------*/
/* What one step tells about a kind of unit. */
struct row {
    double beside[2], slower, at_first;
};

static double declared(const struct estimate *e, int cu, size_t t)
{
    const struct sched_unit *u = &e->unit[cu];
    return u->seconds ? u->seconds[t] : estimate_cost(e, t) / u->speed;
}

static void sum_units(struct interference *f, const struct estimate *e)
{
    memset(f->busy, 0, 3 * (size_t)e->ncu * sizeof *f->busy);
    for (size_t t = 0; t < e->n; t++)
        if (e->seconds[t] >= 0) {
            f->seen[e->owner[t]] += e->seconds[t];
            f->alone[e->owner[t]] += declared(e, e->owner[t], t);
        }
    for (int c = 0; c < e->ncu; c++)
        f->busy[c] = f->seen[c] + e->ranges[c].seconds;
}

static bool observe(const struct interference *f, const struct estimate *e, const struct ends *x,
                    int kind, struct row *r)
{
    double ratio[MOST_UNITS], first[MOST_UNITS];
    struct progress p;
    size_t m = 0, seen = 0;
    *r = (struct row){.slower = 0};
    for (int i = 0; i < f->units[kind]; i++) {
        int c = f->member[kind][i];
        if (!(f->alone[c] > 0) || !(f->seen[c] > 0))
            continue;
        ratio[m] = f->seen[c] / f->alone[c];
        first[m++] = e->ranges[c].first;
    }
    if (!m)
        return false;
    r->slower = line_median(ratio, m) - 1;
    r->at_first = line_median(first, m) - 1;
    if (!f->slow && r->slower < MATTERS) { /* no interference: no need for details */
        for (int k = 0; k < 2; k++)
            r->beside[k] = fmax(0, x->n[k] - (k == kind));
        return true;
    }
    follow(f, x, kind, &p);
    for (int i = 0; i < f->units[kind]; i++) {
        int c = f->member[kind][i];
        if (!(f->alone[c] > 0) || !(f->seen[c] > 0))
            continue;
        seen++;
        for (int k = 0; k < 2; k++)
            r->beside[k] += (neighbours_until(&p, f->busy[c], k) - r->beside[k]) / (double)seen;
    }
    return true;
}

/* Fits the shares to the steps so far and this one. */
static void fit(struct interference *f, int kind, const struct row *r, double s[5])
{
    const double x = r->beside[CU_CPU], z = r->beside[CU_DEVICE], y = r->slower;
    const double now[] = {x * x, x * z, z * z, x * y, z * y};
    double *share = f->share[kind];
    for (int i = 0; i < 5; i++)
        s[i] = FADES * f->sum[kind][i] + now[i];
    const double ridge = RIDGE * (s[0] + s[2]), xx = s[0] + ridge, zz = s[2] + ridge;
    const double det = xx * zz - s[1] * s[1];
    if (!(det > 0))
        return;
    share[CU_CPU] = (zz * s[3] - s[1] * s[4]) / det;
    share[CU_DEVICE] = (xx * s[4] - s[1] * s[3]) / det;
    if (share[CU_CPU] < 0)
        share[CU_DEVICE] = s[4] / zz;
    else if (share[CU_DEVICE] < 0)
        share[CU_CPU] = s[3] / xx;
    share[CU_CPU] = fmax(0, share[CU_CPU]);
    share[CU_DEVICE] = fmax(0, share[CU_DEVICE]);
}

static double slower_by(const struct interference *f, int kind, const double beside[2])
{
    return f->share[kind][CU_CPU] * beside[CU_CPU] + f->share[kind][CU_DEVICE] * beside[CU_DEVICE];
}

/* Units changed by themselves: they were slow with hardly a neighbour busy, or not slow from the
 * first range on, or no shares explain both this step and the previous one. */
static bool unlike(const struct interference *f, const struct estimate *e, int kind,
                   const struct row *r)
{
    if (r->slower > MATTERS && r->slower > MOST_SHARE * (r->beside[0] + r->beside[1]))
        return true;
    if (e->steps == 0)
        return r->slower > MATTERS && r->at_first < r->slower / 2;
    const double was = f->slower[kind];
    const double least = UNLIKE * (MATTERS + fmax(r->slower, was)) + 2 * estimate_noise(e);
    return fabs(r->slower - slower_by(f, kind, r->beside)) > least ||
           fabs(was - slower_by(f, kind, f->before[kind])) > least;
}

/* Converts measured times to what they would have been alone. */
static void take_neighbours_out(struct interference *f, struct estimate *e, const struct ends *x)
{
    struct progress of[2];
    for (int kind = 0; kind < 2; kind++)
        follow(f, x, kind, &of[kind]);
    for (size_t t = 0; t < e->n; t++) {
        const double from = e->start[t], sec = e->seconds[t];
        if (!(sec > 0))
            continue;
        const struct progress *p = &of[e->unit[e->owner[t]].kind];
        e->seconds[t] = work_until(p, from + sec) - work_until(p, from);
    }
    for (int c = 0; c < e->ncu; c++) {
        struct estimate_ranges *b = &e->ranges[c];
        const struct progress *p = &of[e->unit[c].kind];
        if (b->clock > b->began)
            b->latest *=
                (work_until(p, b->clock) - work_until(p, b->began)) / (b->clock - b->began);
    }
}

/* Leaving units out was a mistake: all work again, as fast as they were. */
static void take_back(struct interference *f, struct estimate *e)
{
    for (int c = 0; c < e->ncu; c++) {
        e->factor[c] *= slowing(f, (int)e->unit[c].kind, f->units);
        e->judged[c] = false;
    }
    memcpy(f->work, f->units, sizeof f->work);
    f->slow = false;
}

void interference_learn(struct interference *f, struct estimate *e)
{
    enum { TURNS = 3 };
    struct row r;
    struct ends x;
    if (!f->learns && !f->slow)
        return;
    if (e->steps == 0)
        sort_members(f, e);
    sum_units(f, e);
    sort_ends(f, f->busy, &x);
    for (int kind = 0; kind < 2; kind++) {
        double sum[5];
        if (!observe(f, e, &x, kind, &r))
            continue;
        const double share[] = {f->share[kind][CU_CPU], f->share[kind][CU_DEVICE]};
        for (int turn = 0; f->learns && turn < TURNS;
             turn++) { /* the weights depend on the shares */
            fit(f, kind, &r, sum);
            observe(f, e, &x, kind, &r);
        }
        if (f->learns && unlike(f, e, kind, &r)) {
            memcpy(f->share[kind], share, sizeof share);
            f->learns = false;
            if (memcmp(f->work, f->units, sizeof f->work)) {
                take_back(f, e);
                return;
            }
        }
        if (f->learns) {
            memcpy(f->sum[kind], sum, sizeof sum);
            f->slow |= r.slower > MATTERS;
        }
        memcpy(f->before[kind], r.beside, sizeof r.beside);
        f->slower[kind] = r.slower;
        f->usual[kind] = 1 + slower_by(f, kind, r.beside);
    }
    f->learns &= f->slow; /* interference shows in the first step or never */
    if (f->slow)
        take_neighbours_out(f, e, &x);
}

static void set_slowdowns(const struct interference *f, struct estimate *e, const double beside[2],
                          const int work[2])
{
    for (int c = 0; c < e->ncu; c++)
        e->slowdown[c] = e->factor[c] * e->doubt[c] * beside[(int)e->unit[c].kind];
    for (int kind = 0; kind < 2; kind++)
        for (int i = work[kind]; i < f->units[kind]; i++)
            e->slowdown[f->member[kind][i]] = OUT;
}

void interference_apply(struct interference *f, struct estimate *e)
{
    if (!f->slow)
        return;
    memcpy(e->busy, f->busy, (size_t)e->ncu * sizeof *e->busy);
    weigh_units(f, e);
    set_slowdowns(f, e, f->usual, f->work);
}

/* ---- choosing ---------------------------------------------------------------------------------*/
int interference_best(const struct interference *f, int devices, int most_cpus, double *seconds)
{
    double rate[2] = {0, 0}, most = 0;
    int work[2] = {0, devices}, best = 0;
    for (int i = 0; i < devices; i++)
        rate[CU_DEVICE] += 1 / f->all[f->member[CU_DEVICE][i]];
    for (;; work[CU_CPU]++) {
        double sum =
            rate[CU_DEVICE] / slowing(f, CU_DEVICE, work) + rate[CU_CPU] / slowing(f, CU_CPU, work);
        if (sum > most) {
            most = sum;
            best = work[CU_CPU];
        }
        if (work[CU_CPU] == most_cpus)
            break;
        rate[CU_CPU] += 1 / f->all[f->member[CU_CPU][work[CU_CPU]]];
    }
    *seconds = 1 / most;
    return best;
}

void interference_set(const struct interference *f, struct estimate *e, const int work[2])
{
    const double beside[2] = {slowing(f, CU_CPU, work), slowing(f, CU_DEVICE, work)};
    set_slowdowns(f, e, beside, work);
}

void interference_settle(struct interference *f, struct estimate *e, const int work[2])
{
    for (int kind = 0; kind < 2; kind++) {
        f->usual[kind] = slowing(f, kind, work);
        f->work[kind] = work[kind];
    }
    set_slowdowns(f, e, f->usual, f->work);
}

void interference_follow(struct interference *f, struct estimate *e, const int *owner)
{
    bool works[MOST_UNITS] = {false};
    int work[2] = {0, 0};
    if (!f->slow || !memcmp(f->work, f->units, sizeof f->work))
        return;
    f->learns = false; /* leaving out was a mistake */
    for (size_t t = 0; t < e->n; t++)
        works[owner[t]] = true;
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < f->units[kind]; i++)
            if (works[f->member[kind][i]])
                work[kind] = i + 1;
    interference_settle(f, e, work);
}

double interference_most(const struct interference *f, int kind)
{
    return f->slow ? fmax(1, slowing(f, kind, f->work) / f->usual[kind]) : 1;
}

double interference_fades(const struct interference *f, int kind)
{
    return f->slow ? f->share[kind][!kind] * f->before[kind][!kind] / f->usual[kind] : 0;
}

double interference_makespan(const struct interference *f, const struct estimate *e,
                             const double *load)
{
    double alone[MOST_UNITS], done[2] = {0, 0}, now = 0;
    struct ends x;
    for (int c = 0; c < e->ncu; c++)
        alone[c] = load[c] * e->factor[c] / e->slowdown[c];
    sort_ends(f, alone, &x);
    for (int at[2] = {0, 0}; at[0] < x.n[0] || at[1] < x.n[1];) {
        const int work[2] = {x.n[0] - at[0], x.n[1] - at[1]};
        double least = INFINITY;
        int first = 0;
        for (int k = 0; k < 2; k++) {
            double left = work[k] ? (x.at[k][at[k]] - done[k]) * slowing(f, k, work) : INFINITY;
            first = left < least ? k : first;
            least = fmin(left, least);
        }
        for (int k = 0; k < 2; k++)
            done[k] += least / slowing(f, k, work);
        now += least;
        at[first]++;
    }
    return now;
}
