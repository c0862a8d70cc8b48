/* cu/sched/park.c – of each node its fastest units of either kind, as many as are worth it. */
#include "cu/sched/park.h"

#include <stdlib.h>
#include <string.h>

static const double WORTH = 1.02;

enum ek_status park_open(struct park *p, int ncu)
{
    size_t n = (size_t)ncu;
    *p = (struct park){.off = calloc(n, sizeof *p->off),
                       .trial = calloc(n, sizeof *p->trial),
                       .all = calloc(n, sizeof *p->all),
                       .unit = calloc(n, sizeof *p->unit)};
    if (!p->off || !p->trial || !p->all || !p->unit)
        FAIL(EK_UNAVAILABLE, "schedule: out of memory for %d units", ncu);
    return EK_OK;
}

void park_close(struct park *p)
{
    free(p->off);
    free(p->trial);
    free(p->all);
    free(p->unit);
    *p = (struct park){0};
}

/* Passes over all tasks per second, of the units that work. */
static double rate(const struct park *p, struct estimate *e, const bool *off)
{
    double sum = 0;
    estimate_park(e, off);
    for (int c = 0; c < e->ncu; c++)
        sum += off[c] ? 0 : 1 / (p->all[e->kind[c]] * e->pace[c]);
    return sum;
}

/* Insertion by speed beside all neighbours: they are few, and mostly in order already. */
static void sort_members(struct park *p, const struct estimate *e, const struct sched_unit *like)
{
    p->members = 0;
    for (int c = 0; c < e->ncu; c++) {
        if (e->unit[c].node != like->node || e->unit[c].kind != like->kind)
            continue;
        double sec = p->all[e->kind[c]] * e->pace[c];
        int at = p->members++;
        for (; at > 0 && p->all[e->kind[p->unit[at - 1]]] * e->pace[p->unit[at - 1]] > sec; at--)
            p->unit[at] = p->unit[at - 1];
        p->unit[at] = c;
    }
}

/* Of the members, all of which work, as many as give the most together with what the other units
 * give beside them; p->trial becomes that, its rate is returned. */
static double choose_members(struct park *p, struct estimate *e, double best)
{
    int most = p->members;
    for (int m = p->members; m >= 0; m--) {
        for (int i = 0; i < p->members; i++)
            p->trial[p->unit[i]] = i >= m;
        double sum = rate(p, e, p->trial);
        if (sum > best * (1 + 1e-9)) {
            best = sum;
            most = m;
        }
    }
    for (int i = 0; i < p->members; i++)
        p->trial[p->unit[i]] = i >= most;
    return best;
}

static bool anyone_slowed(const struct estimate *e)
{
    for (int k = 0; k < e->nkinds; k++)
        if (e->of[k].share[CU_CPU] > 0 || e->of[k].share[CU_DEVICE] > 0)
            return true;
    return false;
}

static bool first_alike(const struct estimate *e, int cu)
{
    for (int c = 0; c < cu; c++)
        if (e->unit[c].node == e->unit[cu].node && e->unit[c].kind == e->unit[cu].kind)
            return false;
    return true;
}

bool park_choose(struct park *p, struct estimate *e)
{
    size_t bytes = (size_t)e->ncu * sizeof *p->off;
    memset(p->trial, 0, bytes);
    if (anyone_slowed(e)) {
        for (int k = 0; k < e->nkinds; k++) {
            p->all[k] = 0;
            for (size_t t = 0; t < e->n; t++)
                p->all[k] += e->of[k].seconds[t];
        }
        double now = rate(p, e, p->off), best = rate(p, e, p->trial);
        for (int c = 0; c < e->ncu; c++)
            if (first_alike(e, c)) {
                sort_members(p, e, &e->unit[c]);
                best = choose_members(p, e, best);
            }
        if (best < WORTH * now)
            memcpy(p->trial, p->off, bytes);
    }
    bool changed = memcmp(p->trial, p->off, bytes) != 0;
    park_undo(p, e);
    return changed;
}

void park_undo(struct park *p, struct estimate *e)
{
    bool *before = p->off;
    p->off = p->trial;
    p->trial = before;
    estimate_park(e, p->off);
}
