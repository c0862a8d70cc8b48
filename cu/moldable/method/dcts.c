/* cu/moldable/method/dcts.c – Delta-CTS: earliest finish, with no more cores for a task than its
 * share among the tasks of similar sequential time (F. Suter, "Scheduling Delta-critical tasks in
 * mixed-parallel applications on a national grid", 2007; for independent tasks the bottom level of
 * a task is its own sequential time). */
#include "cu/moldable/land.h"

#include <stdlib.h>

static const double DELTA = 0.9; /* similar: at least this share of the longest one's time */

/* Tasks come longest first: each run of similar ones is a critical set and shares all cores. */
static void share_cores(const struct land *land, int *most)
{
    const struct moldable_problem *p = land->problem;
    int cores = land->first[p->nnodes];
    for (int i = 0, end; i < p->ntasks; i = end) {
        double longest = land_sequential(p, land->order[i]);
        for (end = i; end < p->ntasks; end++)
            if (land_sequential(p, land->order[end]) < DELTA * longest)
                break;
        int share = cores / (end - i);
        for (int k = i; k < end; k++)
            most[land->order[k]] = share > 1 ? share : 1;
    }
}

static enum ek_status choose(const struct moldable_problem *p, struct moldable_choice *choice)
{
    struct land land;
    int *most = malloc((size_t)p->ntasks * sizeof *most);
    enum ek_status st = most ? land_open(&land, p)
                             : status_fail(EK_UNAVAILABLE, "out of memory for %d tasks", p->ntasks);
    if (!st) {
        share_cores(&land, most);
        land_list(&land, most, choice);
        land_close(&land);
    }
    free(most);
    return st;
}

const struct moldable_method moldable_dcts = {
    .name = "dcts",
    .summary = "Delta-CTS: earliest finish, cores bounded by the number of similar tasks",
    .choose = choose,
};
