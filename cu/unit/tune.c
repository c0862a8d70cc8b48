/* cu/unit/tune.c – a search along moves that remembers what it has tried. */
#include "cu/unit/tune.h"

static bool tried(const struct tune *t, const struct tune_point *p)
{
    for (int i = 0; i < t->n; i++)
        if (!memcmp(t->trial[i].point.x, p->x, sizeof p->x))
            return true;
    return false;
}

static double rate_of_best(const struct tune *t)
{
    return t->best < 0 ? 0 : t->trial[t->best].rate;
}

/* Sets *better if p beats the best point so far by more than the fraction `worth`. */
static enum ek_status try_point(const struct tune_ops *ops, void *ctx, const struct tune_point *p,
                                double worth, struct tune *t, bool *better)
{
    double rate = 0;
    TRY(ops->measure(ctx, p, &rate));
    *better = rate > rate_of_best(t) * (1 + worth);
    if (*better)
        t->best = t->n;
    t->trial[t->n++] = (struct tune_trial){*p, rate};
    return EK_OK;
}

/* Repeats one move while it gains. */
static enum ek_status follow(const struct tune_ops *ops, void *ctx, int move, double worth,
                             struct tune *t, bool *moved)
{
    struct tune_point to = {{0}};
    for (bool better = true; better && t->n < TUNE_TRIALS;) {
        const struct tune_point from = t->trial[t->best < 0 ? 0 : t->best].point;
        if (!ops->move(ctx, move, &from, &to) || tried(t, &to))
            break;
        TRY(try_point(ops, ctx, &to, worth, t, &better));
        *moved |= better;
    }
    return EK_OK;
}

enum ek_status tune_search(const struct tune_ops *ops, void *ctx, int nmoves,
                           const struct tune_point *first, double worth, struct tune *t)
{
    bool moved = true;
    t->n = 0;
    t->best = -1;
    enum ek_status st = try_point(ops, ctx, first, worth, t, &moved);
    for (moved = true; moved && !st;) {
        moved = false;
        for (int m = 0; m < nmoves && !st; m++)
            st = follow(ops, ctx, m, worth, t, &moved);
    }
    return st == EK_STOPPED ? EK_OK : st;
}

/* The best trial other than number `without` (-1: of all); -1: there is none. */
static int best_without(const struct tune *t, int without)
{
    int best = -1;
    for (int i = 0; i < t->n; i++)
        if (i != without && t->trial[i].rate > (best < 0 ? 0 : t->trial[best].rate))
            best = i;
    return best;
}

enum ek_status tune_confirm(const struct tune_ops *ops, void *ctx, int times, struct tune *t)
{
    const int first = best_without(t, -1), pair[] = {first, best_without(t, first)};
    enum ek_status st = EK_OK;
    for (int i = 0; i < 2 * times && pair[1] >= 0 && !st; i++) {
        struct tune_trial *trial = &t->trial[pair[(i + 1) % 2]];
        double rate = 0;
        st = ops->measure(ctx, &trial->point, &rate);
        if (!st && rate > trial->rate)
            trial->rate = rate;
    }
    t->best = best_without(t, -1);
    return st == EK_STOPPED ? EK_OK : st;
}
