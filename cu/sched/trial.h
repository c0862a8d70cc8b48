/* cu/sched/trial.h – cheap experiments. A unit that was too slow to get tasks may have recovered:
 * it is tried again from time to time with the shortest task. One that has never worked may be the
 * fastest: it is tried with a task that it will end in time. Faces may cost less than the link
 * suggests: where nothing crosses for that reason, the cheapest task is moved across once. A
 * device's launches may hide in its tasks' times: it is lent two consecutive tasks, or a larger
 * one. Tasks that take longer than their costs say on one kind may do so on others, or not: a
 * device is lent some of them, once. */
#pragma once

#include "cu/sched/steal.h"

struct trial {
    double *credit;   /* [ncu] seconds that may be spent on trying each unit again */
    bool *lent;       /* [ncu] has been lent tasks for this step */
    int *owner;       /* [n] whose tasks they are, and all others */
    int loans, pairs; /* in this step; steps in which devices were lent a second task */
    int deviants;     /* tasks lent because they deviate from their lines, */
    double spent;     /* and the seconds that this has cost */
    bool deviates;    /* this step's loans are such tasks */
    bool crossed;     /* the cost of faces has been tried, or need not be */
};

void trial_open(struct trial *t, const struct sched_job *job);

/* Before each step: chooses a trial, and makes the step's lists again if that changes them. owner
 * [n] is s->owner; s->expected holds the partition's predicted busy times. */
void trial_choose(struct trial *t, struct steal *s, int *owner);

/* Some unit under trial has proved to be as fast as others. */
bool trial_succeeds(const struct trial *t, const struct estimate *e);
