/* cu/moldable/method/datap.c – DATAP, pure data parallelism (Dietze et al., section 4.2). */
#include "cu/moldable/land.h"

#include <math.h>

/* All cores of the node (all nodes of the cluster) that finishes first. */
static struct moldable_choice widest(struct land *land, int task)
{
    struct moldable_choice best = {task, -1, 0, 0};
    struct land_view v;
    double finish = INFINITY;
    for (int i = 0; i < land_views(land, task); i++) {
        if (land_too_late(land, task, i, finish))
            continue;
        land_view(land, task, i, &v);
        int w = v.n;
        while (w > 1 && !isfinite(v.finish[w - 1]))
            w--;
        double e = w ? v.finish[w - 1] : INFINITY;
        if (e < finish || (e == finish && v.where < best.where)) {
            finish = e;
            best = (struct moldable_choice){task, v.where, w, w - 1};
        }
    }
    return best;
}

static enum ek_status choose(const struct moldable_problem *p, struct moldable_choice *choice)
{
    struct land land;
    TRY(land_open(&land, p));
    for (int i = 0; i < p->ntasks; i++) {
        choice[i] = widest(&land, land.order[i]);
        land_place(&land, &choice[i], NULL, NULL);
    }
    land_close(&land);
    return EK_OK;
}

const struct moldable_method moldable_datap = {
    .name = "datap",
    .summary = "all cores of a node (or cluster) for each task, longest first",
    .choose = choose,
};
