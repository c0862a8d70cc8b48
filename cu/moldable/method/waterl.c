/* cu/moldable/method/waterl.c – WATER-LEVEL (Dietze et al., Fig. 5): each task goes where the
 * makespan would be least if all remaining tasks were then poured like water over the cores. The
 * variables are those of the figure; in its line 20 the whole overflow is divided by P. */
#include "cu/moldable/timeline.h"

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

/* m of each width; apart from the search for the least, so that the loop can be vectorised. */
static void levels(const struct water *water, const struct timeline_view *v, double *restrict m)
{
    for (int w = 0; w < v->n; w++) {
        const double s = v->start[w], e = v->finish[w];
        m[w] = level(water, e, gain(water, s, e, v->power ? v->power[w] : (w + 1) * v->factor));
    }
}

/* Lines 12 to 21; *gained is dW_F of the returned place. m [widths] is overwritten. */
static struct moldable_choice lowest(struct timeline *timeline, const struct water *water, int task,
                                     double *m, double *gained)
{
    struct moldable_choice best = {task, -1, 0, 0};
    struct timeline_view v;
    double least = INFINITY;
    for (int i = 0, views = timeline_views(timeline, task, 0); i < views; i++) {
        if (timeline_too_late(timeline, task, i, least))
            continue; /* m is no less than e */
        timeline_view(timeline, task, i, &v);
        levels(water, &v, m);
        for (int w = 1; w <= v.n; w++)
            if (timeline_prefer(&v, w, m[w - 1], &least, &best))
                *gained = gain(water, v.start[w - 1], v.finish[w - 1], timeline_power(&v, w));
    }
    return best;
}

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    const struct moldable_problem *p = timeline->problem;
    struct water water = {.power = timeline->power};
    const int widths = timeline->widest > p->nnodes ? timeline->widest : p->nnodes;
    double *m = ARENA_NEW(&timeline->arena, widths, double);
    TRY(arena_check(&timeline->arena, "%d widths", widths));
    for (int i = 0; i < p->ntasks; i++)
        water.sequential += timeline_sequential(p, i);
    for (int i = 0; i < p->ntasks && !timeline_gives_up(timeline); i++) {
        double gained = 0;
        water.sequential -= timeline_sequential(p, timeline->order[i]);
        choice[i] = lowest(timeline, &water, timeline->order[i], m, &gained);
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
