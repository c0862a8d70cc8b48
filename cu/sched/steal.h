/* cu/sched/steal.h – a step that has been planned: each unit goes through its list in ranges, and
 * one that has nothing left takes the last task of the unit that will end last (work stealing), if
 * it can end it before that one would. */
#pragma once

#include "cu/sched/partition.h"

/* What a unit's own thread writes. */
struct steal_worker {
    /* Seconds since the step began: when it took its tasks, when it should be through with them;
     * and how much longer than expected those before took. */
    _Alignas(64) _Atomic double start, until, slower;
    double took, expected; /* sums over its ranges, of which each counts half as much as the next */
    double late;           /* it may take so many times as long before it is slow */
    bool holds;            /* tasks of which it has not said that they are done */
    _Atomic bool began;    /* some task in this step */
    _Atomic bool left;     /* it was given nothing when it asked last */
    _Atomic bool lost;
};

struct steal {
    struct partition *d;
    struct plan plan;
    const int *owner;    /* [n] the partition that is executed */
    size_t *order;       /* [n] in which lists are executed; and its units */
    int *unit;           /* [n] */
    double *tail;        /* [n + 1] seconds planned from an entry of the plan to the last */
    _Atomic bool brings; /* some of them are to be brought first, or have been taken elsewhere */
    double planned;      /* when the step should end, */
    double makespan;     /* and when once tasks have been brought */
    double *expected;    /* [ncu] busy times by what was known when the partition was made */
    double *slowdown;    /* [ncu] the units' when tails were summed up */
    struct steal_worker *worker; /* [ncu] */
    double *idle;                /* [ncu] room: when each unit may begin something */
};

/* For the job of a partition, which is borrowed as owner [n] is. EK_UNAVAILABLE: out of memory. One
 * thread. */
enum ek_status steal_open(struct steal *s, struct partition *d, const int *owner);

/* What the partition takes, by what is known now, is what is expected of it. Likewise. */
void steal_expect(struct steal *s);

/* What it takes by what is known now is no longer that: by this share of the step, not for one
 * unit. Likewise. */
bool steal_differs(struct steal *s, double share);

/* Lists for the partition as it is now. Likewise. */
void steal_plan(struct steal *s);
/* When the last unit was through with the step. Likewise. */
double steal_end(const struct steal *s);
/* Before each step. Likewise. */
void steal_rewind(struct steal *s);

/* Among busy neighbours unit cu takes up to `late` times as long as in the mean of the step. */
void steal_allow(struct steal *s, int cu, double late);

/* Any unit's thread, concurrently. */
struct ek_range steal_next(struct steal *s, int cu);
void steal_done(struct steal *s, int cu, double sec);

/* Units die. Of the ranges that they left the longest-standing ones go to where they end first, by
 * what is known, if all that still work take their share: the first that falls to unit cu, which
 * has it now; count: none. One thread at a time. */
void steal_lose(struct steal *s, int cu);
size_t steal_adopt(struct steal *s, int cu, const struct ek_range *left, size_t count);
