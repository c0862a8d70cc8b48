/* cu/moldable/method/taskp.c – TASKP, pure task parallelism (Dietze et al., section 4.2). */
#include "cu/moldable/timeline.h"

static enum ek_status choose(const struct moldable_problem *p, struct moldable_choice *choice)
{
    struct timeline timeline;
    TRY(timeline_open(&timeline, p));
    timeline_list(&timeline, NULL, choice);
    timeline_close(&timeline);
    return EK_OK;
}

const struct moldable_method moldable_taskp = {
    .name = "taskp",
    .summary = "one core for each task, longest first, where it finishes first",
    .choose = choose,
};
