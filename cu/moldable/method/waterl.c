/* cu/moldable/method/waterl.c – WATER-LEVEL (Dietze et al., Fig. 5): each task goes where the
 * makespan would be least if all remaining tasks were then poured like water over the cores. The
 * variables are those of the figure; in its line 20 the whole overflow is divided by P. */
#include "cu/moldable/timeline.h"

#include <math.h>

/* W_S, W_F, P and e_max. */
struct water {
    double sequential, free, power, latest;
};

/* Lines 16 to 18: dW_F of a task that runs from s to e on `power` reference cores. */
static inline double gain(const struct water *w, double s, double e, double power)
{
    double latest = e > w->latest ? e : w->latest;
    return (latest - w->latest) * w->power - (e - s) * power;
}

/* Lines 19 and 20: m. */
static inline double level(const struct water *w, double e, double gained)
{
    double m = e > w->latest ? e : w->latest, over = w->sequential - (w->free + gained);
    return over > 0 ? m + over / w->power : m;
}

/* Lines 12 to 21; *gained is dW_F of the returned place. */
static struct moldable_choice lowest(struct timeline *timeline, const struct water *water, int task,
                                     double *gained)
{
    struct moldable_choice best = {task, -1, 0, 0};
    struct timeline_view v;
    double least = INFINITY;
    for (int i = 0; i < timeline_views(timeline, task); i++) {
        if (timeline_too_late(timeline, task, i, least))
            continue; /* m is no less than e */
        timeline_view(timeline, task, i, &v);
        for (int w = 1; w <= v.n; w++) {
            double s = v.start[w - 1], e = v.finish[w - 1];
            double more = gain(water, s, e, timeline_power(&v, w)), m = level(water, e, more);
            if (timeline_prefer(&v, w, m, &least, &best))
                *gained = more;
        }
    }
    return best;
}

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    const struct moldable_problem *p = timeline->problem;
    struct water water = {.power = timeline->power};
    for (int i = 0; i < p->ntasks; i++)
        water.sequential += timeline_sequential(p, i);
    for (int i = 0; i < p->ntasks; i++) {
        double gained = 0;
        water.sequential -= timeline_sequential(p, timeline->order[i]);
        choice[i] = lowest(timeline, &water, timeline->order[i], &gained);
        timeline_place(timeline, &choice[i]);
        water.free += gained;
        water.latest = timeline->latest;
    }
    return EK_OK;
}

const struct moldable_method moldable_waterl = {
    .name = "waterl",
    .summary = "WATER-LEVEL: least makespan if the remaining tasks were poured over all cores",
    .choose = choose,
};
