/* cu/moldable/moldable_plan.c – the list of methods, and their plans. */
#include "cu/moldable/timeline.h"
#include "src/clock.h"
#include "src/opt.h"

#define MOLDABLE(symbol) extern const struct moldable_method moldable_##symbol;
#include "cu/moldable/moldable_list.h"
#undef MOLDABLE

const struct moldable_method *const moldable_methods[] = {
#define MOLDABLE(symbol) &moldable_##symbol,
#include "cu/moldable/moldable_list.h"
#undef MOLDABLE
    NULL,
};

const struct moldable_method *moldable_find(const char *name)
{
    enum { COUNT = sizeof moldable_methods / sizeof *moldable_methods - 1 };
    const char *names[COUNT];
    int at;
    for (int i = 0; i < COUNT; i++)
        names[i] = moldable_methods[i]->name;
    return opt_choose("method", name, names, sizeof *names, COUNT, &at) ? NULL
                                                                        : moldable_methods[at];
}

/* ---- plans ------------------------------------------------------------------------------------*/
static enum ek_status plan_on(struct moldable_plan *plan, struct timeline *timeline,
                              const struct moldable_method *method, double begin)
{
    const struct moldable_problem *p = timeline->problem;
    struct moldable_choice *choice = ARENA_NEW(&timeline->arena, p->ntasks, struct moldable_choice);
    TRY(arena_check(&timeline->arena, "%d tasks", p->ntasks));
    TRY(method->choose(timeline, choice));
    plan->planning = clock_now() - begin;
    return moldable_follow(plan, timeline, choice);
}

enum ek_status moldable_plan_open(struct moldable_plan *plan, const struct moldable_problem *p,
                                  const struct moldable_method *method)
{
    OWNED(timeline_close) struct timeline timeline = {0};
    const double begin = clock_now();
    *plan = (struct moldable_plan){.method = method->name};
    TRY(timeline_open(&timeline, p));
    const enum ek_status st = plan_on(plan, &timeline, method, begin);
    if (st)
        moldable_plan_close(plan);
    return st;
}
