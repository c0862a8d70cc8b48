/* cu/sched/learn.h – shared by the policies that plan a whole step from task times (heft, abe):
 * without profiles or speeds they begin as if all units were equal, measure, and plan again during
 * the first steps. */
#pragma once

#include "cu/sched/estimate.h"
#include "cu/sched/plan.h"
#include "src/opt.h"

struct learn_options {
    int learn; /* steps after which it may plan again */
};

/* The option table of such a policy; by default it plans again after 3 steps. */
extern const struct opt learn_options[];
void learn_defaults(void *opts);

/* The first member of such a policy's state. */
struct learn {
    struct plan plan;
    struct estimate estimate;
    size_t grain;
    int left;     /* steps left after which the plan may change */
    double *load; /* [ncu] planned seconds; scratch space for the policy while it plans */
    int *owner;   /* [n] the decision: unit of task estimate.order[i] */
    void (*assign)(void *policy); /* fills owner, then calls learn_assign() */
};

/* Reads the options, opens plan and estimate, and assigns for the first time. EK_UNAVAILABLE: out
 * of memory, also for what the policy took from the arena before. One thread. */
enum ek_status learn_begin(struct learn *l, const struct sched_job *job,
                           void (*assign)(void *policy));

/* Makes l->owner the plan of the next step. */
void learn_assign(struct learn *l);

/* Members of struct sched_ops; `st` begins with a struct learn. */
struct ek_range learn_next(void *st, int cu);
void learn_done(void *st, int cu, struct ek_range r, double sec, const double *each);
/* Plans again if the step differed from the plan. A plan that came true is kept, so that no task
 * migrates for nothing. */
void learn_step(void *st);

#define LEARN_POLICY                                                                               \
    .opts = learn_options, .opts_size = sizeof(struct learn_options), .defaults = learn_defaults,  \
    .next = learn_next, .done = learn_done, .step = learn_step
