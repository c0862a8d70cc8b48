/* cu/sched/learn.h – what policies share that plan a whole step from the times of the tasks (heft,
 * abe): without profile or speeds they begin as if all units were equal, measure, and plan again
 * while they learn. */
#pragma once

#include "cu/sched/estimate.h"
#include "cu/sched/plan.h"
#include "src/opt.h"

struct learn_options {
    int learn; /* steps after which it may plan anew */
};

/* The option table of such a policy, and its default of 3 steps. */
extern const struct opt learn_options[];
void learn_defaults(void *opts);

/* The first member of such a policy's state. */
struct learn {
    struct plan plan;
    struct estimate estimate;
    size_t grain;
    int left;                     /* steps that may still change the plan */
    double *load;                 /* [ncu] seconds planned; the policy may use it while it plans */
    int *owner;                   /* [n] of the tasks in estimate.order: what a policy decides */
    void (*assign)(void *policy); /* decides, and calls learn_assign() */
};

/* Reads the options, opens plan and estimate, and decides for the first time. EK_UNAVAILABLE: out
 * of memory, also for what the policy has taken from the arena before. One thread. */
enum ek_status learn_begin(struct learn *l, const struct sched_job *job,
                           void (*assign)(void *policy));

/* Makes l->owner the plan of the next step. */
void learn_assign(struct learn *l);

/* Members of struct sched_ops; `st` begins with a struct learn. */
struct ek_range learn_next(void *st, int cu);
void learn_done(void *st, int cu, struct ek_range r, double sec, const double *each);
/* Plans anew if the step taught something that the plan did not know: one that came true is kept,
 * so that no task migrates for nothing. */
void learn_step(void *st);

#define LEARN_POLICY                                                                               \
    .opts = learn_options, .opts_size = sizeof(struct learn_options), .defaults = learn_defaults,  \
    .next = learn_next, .done = learn_done, .step = learn_step
