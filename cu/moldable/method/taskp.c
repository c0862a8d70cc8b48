/* cu/moldable/method/taskp.c – TASKP, pure task parallelism (Dietze et al., section 4.2). */
#include "cu/moldable/timeline.h"

static enum ek_status choose(struct timeline *timeline, struct moldable_choice *choice)
{
    timeline_list(timeline, NULL, choice);
    return EK_OK;
}

const struct moldable_method moldable_taskp = {
    .name = "taskp",
    .summary = "one core for each task, longest first, where it finishes first",
    .choose = choose,
};
