/* cu/sched/prices.c – prices of a second on each kind of unit. */
#include "cu/sched/prices.h"

#include <math.h>
#include <string.h>

/* What a turn changes, first and later; a demand beyond MOST_DEMAND times what there is counts as
 * that. */
static const double STEP = 0.3, SHRINKS = 0.1, MOST_DEMAND = 3;

double prices_sell(struct prices *p)
{
    double sold = 0, offered = 0;
    for (size_t t = 0; t < p->n; t++)
        p->pays[t] = INFINITY;
    for (int k = 0; k < p->kinds; k++) {
        const double price = p->price[k], *seconds = p->seconds[k], longest = p->longest[k];
        offered += price * p->capacity[k];
        p->area[k] = 0;
        for (size_t t = 0; t < p->n; t++) {
            const double cost = seconds[t] <= longest ? price * seconds[t] : INFINITY;
            p->cheapest[t] = cost < p->pays[t] ? k : p->cheapest[t];
            p->pays[t] = cost < p->pays[t] ? cost : p->pays[t];
        }
    }
    for (size_t t = 0; t < p->n; t++) {
        sold += p->pays[t];
        p->area[p->cheapest[t]] += p->seconds[p->cheapest[t]][t];
    }
    return sold / offered;
}

double prices_follow(struct prices *p, int turns)
{
    const size_t bytes = (size_t)p->kinds * sizeof *p->price;
    double best = -1;
    for (int turn = 0; turn <= turns; turn++) {
        const double value = prices_sell(p), step = STEP / (1 + SHRINKS * turn);
        if (value > best) {
            best = value;
            memcpy(p->best, p->price, bytes);
        }
        for (int k = 0; k < p->kinds && value > 0; k++) {
            const double demand = p->area[k] / (p->capacity[k] * value);
            p->price[k] *= exp(step * (fmin(demand, MOST_DEMAND) - 1));
        }
    }
    memcpy(p->price, p->best, bytes);
    return best;
}
