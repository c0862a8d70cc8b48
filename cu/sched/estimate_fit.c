/* cu/sched/estimate_fit.c – a kind's seconds as a line over costs. */
#include "cu/sched/estimate_internal.h"
#include "cu/sched/line.h"

#include <math.h>

/* Nothing but tasks of zero cost says nothing about others. */
void estimate_fit(struct estimate *e, int j, bool raw, bool proportional)
{
    struct estimate_kind *k = &e->of[j];
    size_t m = 0;
    bool tells = !e->n || !(estimate_cost(e, e->order[0]) > 0);
    for (size_t i = 0; i < e->n; i++) {
        size_t t = e->order[i];
        bool here = raw ? e->seconds[t] >= 0 && e->kind[e->owner[t]] == j : k->count[t] > 0;
        if (!here)
            continue;
        e->x[m] = estimate_cost(e, t);
        tells |= e->x[m] > 0;
        e->y[m++] = raw ? fmax(0, estimate_normal(e, t) - k->inside * e->range[t]) : k->seconds[t];
    }
    if (m == 0 || !tells)
        return;
    k->one_size = e->x[0] == e->x[m - 1];
    k->line =
        proportional ? line_through_origin(e->x, e->y, m) : line_fit(e->x, e->y, e->scratch, m);
    k->tried = true;
}
