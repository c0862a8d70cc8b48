/* cu/moldable/method/datap.c – DATAP, pure data parallelism (Dietze et al., section 4.2). */
#include "cu/moldable/timeline.h"

/* All cores of the node (all nodes of the cluster) that finishes first. */
static struct moldable_choice widest(struct timeline *timeline, int task)
{
    struct moldable_choice best = {task, -1, 0, 0};
    struct timeline_view v;
    double finish = INFINITY;
    for (int i = 0, views = timeline_views(timeline, task, 0); i < views; i++) {
        if (timeline_too_late(timeline, task, i, finish))
            continue;
        timeline_view(timeline, task, i, &v);
        int w = v.n;
        while (w > 1 && !isfinite(v.finish[w - 1]))
            w--;
        double e = w ? v.finish[w - 1] : INFINITY;
        timeline_prefer(&v, w, e, &finish, &best);
    }
    return best;
}

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    for (int i = 0; i < timeline->problem->ntasks && !timeline_gives_up(timeline); i++) {
        choice[i] = widest(timeline, timeline->order[i]);
        timeline_place(timeline, &choice[i]);
    }
    return EK_OK;
}

const struct moldable_method moldable_datap = {
    .name = "datap",
    .summary = "all cores of a node (or cluster) for each task, longest first",
    .choose = choose,
};
