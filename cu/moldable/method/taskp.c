/* cu/moldable/method/taskp.c – TASKP, pure task parallelism (Dietze et al., section 4.2). */
#include "cu/moldable/land.h"

static enum ek_status choose(const struct moldable_problem *p, struct moldable_choice *choice)
{
    struct land land;
    TRY(land_open(&land, p));
    land_list(&land, NULL, choice);
    land_close(&land);
    return EK_OK;
}

const struct moldable_method moldable_taskp = {
    .name = "taskp",
    .summary = "one core for each task, longest first, where it finishes first",
    .choose = choose,
};
