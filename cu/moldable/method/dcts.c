/* cu/moldable/method/dcts.c – Delta-CTS: earliest finish, with no more cores for a task than its
 * share among the tasks of similar sequential time (F. Suter, "Scheduling Delta-critical tasks in
 * mixed-parallel applications on a national grid", 2007; for independent tasks the bottom level of
 * a task is its own sequential time). */
#include "cu/moldable/timeline.h"

static const double DELTA = 0.9; /* similar times: at least this share of the longest one */

/* In descending order of time, each run of similar tasks is a critical set, which shares all
 * cores. */
static void share_cores(const struct timeline *timeline, int *most)
{
    const struct moldable_problem *p = timeline->problem;
    int cores = timeline->first[p->nnodes];
    for (int i = 0, end; i < p->ntasks; i = end) {
        double longest = timeline_sequential(p, timeline->order[i]);
        for (end = i; end < p->ntasks; end++)
            if (timeline_sequential(p, timeline->order[end]) < DELTA * longest)
                break;
        int share = cores / (end - i);
        for (int k = i; k < end; k++)
            most[timeline->order[k]] = share > 1 ? share : 1;
    }
}

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    int *most = ARENA_NEW(&timeline->arena, timeline->problem->ntasks, int);
    TRY(arena_check(&timeline->arena, "%d tasks", timeline->problem->ntasks));
    share_cores(timeline, most);
    timeline_list(timeline, most, choice);
    return EK_OK;
}

const struct moldable_method moldable_dcts = {
    .name = "dcts",
    .summary = "Delta-CTS: earliest finish, cores bounded by the number of similar tasks",
    .choose = choose,
};
