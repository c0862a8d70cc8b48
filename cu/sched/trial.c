/* cu/sched/trial.c – which unit to try again, and when that is worth it. */
#include "cu/sched/trial.h"

#include <math.h>
#include <string.h>

/* Share of the run time that trials may take. */
static const double TRIAL = 0.01;

/* Share of what faces might gain that trying one may cost where nobody knows the link. */
static const double OF_GAIN = 0.1;

/* A unit that has never worked may be this many times slower than expected. */
static const double CAUTION = 4;

/* A task this many times as large as all before tells something. */
static const double LARGER = 1.5;

void trial_open(struct trial *t, const struct sched_job *job)
{
    *t = (struct trial){.credit = ARENA_NEW(job->arena, job->ncu, double),
                        .lent = ARENA_NEW(job->arena, job->ncu, bool),
                        .owner = ARENA_NEW(job->arena, job->n, int)};
}

bool trial_succeeds(const struct trial *t, const struct estimate *e)
{
    for (int c = 0; t->loans && c < e->ncu; c++)
        if (t->lent[c] && e->factor[c] < ESTIMATE_SLOW)
            return true;
    return false;
}

/* When the later of the two units would end, if cu is this many times slower than expected; losing
 * the task may split a range of the giver. */
static double end_of_trial(const struct partition *d, const int *owner, int cu, size_t task,
                           double slower)
{
    const struct estimate *e = d->e;
    const int from = owner[task];
    double there = d->load[from] - estimate_seconds(e, from, task);
    if (d->launches)
        there -= estimate_launch(e, from) * partition_runs(d, owner, from, task);
    return fmax(there, slower * estimate_seconds(e, cu, task) + estimate_launch(e, cu) +
                           2 * partition_transfer(d, d->memory[cu], task));
}

/* The unit is not needed: a fast one like it is idle, too, or the step is as short as its longest
 * task, which the unit would not shorten. */
static bool is_spare(const struct steal *s, int cu)
{
    const struct partition *d = s->d;
    const struct estimate *e = d->e;
    const size_t longest = d->order[0];
    const double there = e->of[e->kind[cu]].seconds[longest],
                 here = estimate_seconds(e, s->owner[longest], longest);
    if (fmin(there, here) >= s->planned * (1 - 1e-6))
        return true;
    for (int c = 0; c < s->plan.ncu; c++)
        if (s->expected[c] == 0 && e->factor[c] < ESTIMATE_SLOW && e->kind[c] == e->kind[cu] &&
            d->memory[c] == d->memory[cu])
            return true;
    return false;
}

static bool try_again(struct trial *t, const struct steal *s, int cu, size_t task)
{
    const double share = TRIAL * s->planned;
    if (WITHOUT(TRY_AGAIN) || s->expected[cu] > 0 || s->d->e->factor[cu] < ESTIMATE_SLOW)
        return false;
    t->credit[cu] += share;
    if (is_spare(s, cu) ||
        t->credit[cu] < fmax(2 * share, end_of_trial(s->d, s->owner, cu, task, 1) - s->planned))
        return false;
    t->credit[cu] = -8 * share;
    return true;
}

/* The idle unit in another memory node than the first task's that is the fastest for `task`; -1:
 * none. */
static int find_beyond(const struct steal *s, const int *owner, size_t task)
{
    const struct partition *d = s->d;
    double least = INFINITY;
    int best = -1;
    for (int c = 0; c < s->plan.ncu; c++) {
        const double sec = estimate_seconds(d->e, c, task) + estimate_launch(d->e, c);
        if (d->memory[c] == d->memory[owner[0]] || s->expected[c] > 0 ||
            d->e->factor[c] >= ESTIMATE_SLOW || sec >= least)
            continue;
        least = sec;
        best = c;
    }
    return best;
}

/* Some face has crossed already, or crossing is free. */
static bool knows_faces(const struct partition *d)
{
    const struct sched_link *face = &d->faces.face;
    return !d->job->face || d->nmemories == 1 || !(face->latency > 0 || face->per_byte > 0) ||
           partition_crosses(d, d->e->owner);
}

/* The unit and task to try for one step, the task to be brought back; -1: none. The cost must be a
 * small share of the remaining steps or of what there is to gain in them, and less than that. */
static int try_faces(struct steal *s, const int *owner, size_t *task)
{
    struct partition *d = s->d;
    const double gain = s->planned - partition_apart(d);
    partition_load(d, owner);
    const int cu = find_beyond(s, owner, d->order[s->plan.n - 1]);
    const bool guessed = !(d->link.latency > 0) && !(d->link.per_byte > 0);
    double least = d->horizon * fmin(fmax(TRIAL * s->planned, guessed ? OF_GAIN * gain : 0), gain);
    bool found = false;
    for (size_t i = 0; cu >= 0 && i < s->plan.n; i++) {
        const int memory = d->memory[cu];
        const double there = estimate_seconds(d->e, cu, i) + estimate_launch(d->e, cu),
                     cost = fmax(0, there - s->planned) + 2 * partition_transfer(d, memory, i) +
                            partition_crossing(d, owner, i, memory);
        if (cost >= least || d->memory[owner[i]] == memory)
            continue;
        least = cost;
        *task = i;
        found = true;
    }
    return found ? cu : -1;
}

static void lend(struct trial *t, int cu, size_t task, int *owner, size_t n)
{
    if (!t->loans++)
        memcpy(t->owner, owner, n * sizeof *owner);
    t->lent[cu] = true;
    owner[task] = cu;
}

/* Units that have never worked and have nothing to do, one task each, from the shortest on. */
static void try_new(struct trial *t, const struct steal *s, int *owner)
{
    const struct partition *d = s->d;
    const struct estimate *e = d->e;
    size_t left = s->plan.n;
    if (e->known || d->horizon < 2 || WITHOUT(TRY_NEW))
        return;
    for (int c = 0; left && c < s->plan.ncu; c++) {
        const size_t task = d->order[left - 1];
        const bool here = d->memory[c] == d->memory[owner[task]];
        if (e->judged[c] || s->expected[c] > 0 || (d->job->first && !here) ||
            end_of_trial(d, owner, c, task, CAUTION) > s->planned)
            continue;
        lend(t, c, task, owner, s->plan.n);
        left--;
    }
}

/* Tasks for a unit (too = n: one only) in exchange for another one (n: nothing), and what that
 * costs at most. */
struct swap {
    size_t in, too, out;
    double least;
};

/* Seconds by which the step gets longer if unit cu takes w.in and w.too and gives w.out to the unit
 * that has w.in, and later all is brought back. */
static double cost_of_swap(const struct partition *d, const int *owner, int cu, struct swap w,
                           double planned)
{
    const struct estimate *e = d->e;
    const int other = owner[w.in];
    double here = d->load[cu] + estimate_seconds(e, cu, w.in), there = d->load[other];
    double moving = partition_transfer(d, d->memory[cu], w.in);
    if (w.too < e->n) {
        moving += partition_transfer(d, d->memory[cu], w.too);
        here += estimate_seconds(e, cu, w.too);
    }
    if (w.out < e->n) {
        moving += partition_transfer(d, d->memory[other], w.out);
        here -= estimate_seconds(e, cu, w.out);
        there += estimate_seconds(e, other, w.out) - estimate_seconds(e, other, w.in);
    }
    return fmax(0, fmax(here, there) - planned) + 2 * moving;
}

/* Finds the task that unit cu had best give in return for `in` and `too`. */
static void weigh_swaps(const struct trial *t, const struct partition *d, const int *owner, int cu,
                        size_t in, size_t too, size_t keep, double planned, struct swap *best)
{
    const size_t n = d->e->n;
    if (t->lent[owner[in]] || (too < n && t->lent[owner[too]]))
        return;
    for (size_t x = 0; x <= n; x++) {
        struct swap w = {in, too, x, INFINITY};
        if ((x == n || owner[x] == cu) && x != keep)
            w.least = cost_of_swap(d, owner, cu, w, planned);
        if (w.least < best->least)
            *best = w;
    }
}

/* The smallest task well above all that ran on units like this one; n: there is none. */
static size_t next_size(const struct estimate *e, int cu)
{
    const unsigned char *count = e->of[e->kind[cu]].count;
    size_t first = 0, last = 0;
    while (first < e->n && !count[e->order[first]])
        first++;
    while (first < e->n &&
           estimate_cost(e, e->order[last]) > LARGER * estimate_cost(e, e->order[first]))
        last++;
    return last ? e->order[last - 1] : e->n;
}

/* The consecutive tasks a, a + 1 that take least on unit cu, which has neither; n: there are none.
 */
static size_t shortest_pair(const struct estimate *e, const int *owner, int cu)
{
    size_t best = e->n;
    double least = INFINITY;
    for (size_t a = 0; a + 1 < e->n; a++) {
        const double sec = estimate_seconds(e, cu, a) + estimate_seconds(e, cu, a + 1);
        if (owner[a] != cu && owner[a + 1] != cu && sec < least) {
            best = a;
            least = sec;
        }
    }
    return best;
}

/* Nobody knows whether a device's tasks take as long as they do or its launches, until it runs two
 * consecutive ones together, or a larger one. Gives it a task next to one that it has for another
 * one; else two; else a larger one. */
static void try_pair(struct trial *t, const struct steal *s, int *owner, int cu)
{
    const struct partition *d = s->d;
    const size_t n = s->plan.n;
    struct swap best = {n, n, n, TRIAL * d->horizon * s->planned};
    bool pairs = false;
    for (size_t a = 0; a + 1 < n; a++)
        pairs |= owner[a] == cu && owner[a + 1] == cu;
    for (size_t a = 0; a + 1 < n && !pairs; a++) {
        const size_t b = owner[a] == cu ? a + 1 : a, own = owner[a] == cu ? a : a + 1;
        if (owner[own] == cu)
            weigh_swaps(t, d, owner, cu, b, n, own, s->planned, &best);
    }
    const size_t pair = best.in == n && !pairs ? shortest_pair(d->e, owner, cu) : n;
    if (pair < n)
        weigh_swaps(t, d, owner, cu, pair, pair + 1, n + 1, s->planned, &best);
    const size_t larger = best.in == n ? next_size(d->e, cu) : n;
    if (larger < n && owner[larger] != cu)
        weigh_swaps(t, d, owner, cu, larger, n, n + 1, s->planned, &best);
    if (best.in == n)
        return;
    const int other = owner[best.in];
    lend(t, cu, best.in, owner, n);
    if (best.too < n)
        lend(t, cu, best.too, owner, n);
    if (best.out < n)
        lend(t, other, best.out, owner, n);
}

/* A deviation from its line that tells whether those of a task are alike on all kinds is so many
 * times the noise; the measurements tell it to this share. */
static const double CLEAR = 3, TOLD = 0.8;
enum { ENOUGH_DEVIANTS = 6 };

/* Nothing like it has run on unit cu, which may take task t on its own. */
static bool is_apart(const struct estimate *e, const int *owner, int cu, size_t t)
{
    return !e->of[e->kind[cu]].count[t] && owner[t] != cu && (t == 0 || owner[t - 1] != cu) &&
           (t + 1 == e->n || owner[t + 1] != cu);
}

/* The cheapest task far above or below (sign) the line of its unit's kind, for unit cu; n: there is
 * none within `most` seconds. */
static size_t find_deviant(const struct trial *t, const struct partition *d, const int *owner,
                           int cu, double sign, double *most, double planned)
{
    const struct estimate *e = d->e;
    const double clear = exp(CLEAR * fmax(estimate_noise(e), 0.02));
    size_t best = e->n;
    for (size_t i = 0; i < e->n; i++) {
        if (t->lent[owner[i]] || !is_apart(e, owner, cu, i))
            continue;
        const double off = estimate_off_line(e, &e->of[e->kind[owner[i]]], i);
        if (!(sign > 0 ? off > clear : off * clear < 1)) /* spares most tasks what follows */
            continue;
        const double there = d->load[cu] + estimate_seconds(e, cu, i) + estimate_launch(e, cu),
                     cost = fmax(0, there - planned) + 2 * partition_transfer(d, d->memory[cu], i) +
                            (d->job->first ? partition_crossing(d, owner, i, d->memory[cu]) : 0);
        if (cost < *most) {
            *most = cost;
            best = i;
        }
    }
    return best;
}

/* How far deviations are alike is told for all kinds. */
static bool tells_all(const struct estimate *e)
{
    for (const struct estimate_kind *k = e->of; k < e->of + e->nkinds; k++)
        if (k->told <= TOLD)
            return false;
    return true;
}

/* Tasks that take longer on one kind than their costs say may do so on others, too, or not: the
 * partition depends on that. Lends a device one of these, and one that takes less. */
static void try_deviants(struct trial *t, const struct steal *s, int *owner)
{
    const struct partition *d = s->d;
    const struct estimate *e = d->e;
    const size_t n = s->plan.n;
    if (e->known || !e->cost || d->horizon < 2 || e->steps < 2 || t->deviants >= ENOUGH_DEVIANTS ||
        tells_all(e) || WITHOUT(TRY_DEVIANT))
        return;
    const struct estimate_kind *before = NULL; /* one device of each kind */
    for (int c = 0; c < s->plan.ncu; c++) {
        const struct estimate_kind *k = &e->of[e->kind[c]];
        if (k->kind != CU_DEVICE || k == before || !k->tried || k->inside > 0 ||
            estimate_may_hide(e, c))
            continue;
        before = k;
        for (int sign = -1; sign <= 1; sign += 2) {
            double cost = TRIAL * d->horizon * s->planned - t->spent;
            const size_t i = find_deviant(t, d, owner, c, sign, &cost, s->planned);
            if (i == n || e->of[e->kind[owner[i]]].told > TOLD)
                continue;
            lend(t, c, i, owner, n);
            t->deviants++;
            t->deviates = true;
            t->spent += cost;
        }
    }
}

/* After so many steps with such trials, more of them will not tell either. */
enum { ENOUGH_PAIRS = 8 };

static void try_pairs(struct trial *t, const struct steal *s, int *owner)
{
    const int before = t->loans;
    if (s->d->job->first || s->d->horizon < 2 || t->pairs >= ENOUGH_PAIRS || WITHOUT(TRY_PAIRS))
        return;
    for (int c = 0; c < s->plan.ncu; c++)
        if (estimate_may_hide(s->d->e, c) && !t->lent[c])
            try_pair(t, s, owner, c);
    t->pairs += t->loans > before;
}

void trial_choose(struct trial *t, struct steal *s, int *owner)
{
    const size_t n = s->plan.n;
    size_t task = n ? s->d->order[n - 1] : 0;
    const int before = t->loans, ncu = s->plan.ncu;
    int cu = -1;
    t->loans = 0;
    t->deviates = false;
    memset(t->lent, 0, (size_t)ncu * sizeof *t->lent);
    if (n && s->d->job->first && !t->crossed && !knows_faces(s->d) && !WITHOUT(TRY_FACES))
        cu = try_faces(s, owner, &task);
    t->crossed = true;
    for (int c = 0; n && c < ncu && cu < 0; c++)
        if (try_again(t, s, c, task))
            cu = c;
    if (cu >= 0)
        lend(t, cu, task, owner, n);
    else
        try_new(t, s, owner);
    if (n)
        try_pairs(t, s, owner);
    if (n && !t->loans)
        try_deviants(t, s, owner);
    if (!t->loans && !before)
        return;
    steal_plan(s);
    if (t->loans)
        memcpy(owner, t->owner, n * sizeof *owner);
}
