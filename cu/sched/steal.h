/* cu/sched/steal.h – executes a planned step: each unit works through its list in ranges, and one
 * that has finished takes the last task of the unit that will end last (work stealing) if it can
 * end it sooner; so does one with a last task of its own, if that is shorter. A unit that has
 * become slow leaves its last task to one that will end it sooner. */
#pragma once

#include "cu/sched/partition.h"

/* Progress of a unit; written by its own thread. */
struct steal_worker {
    /* When it took its present tasks and when they should be done, in seconds since the step began;
     * and how many times longer than expected its earlier ones took. */
    _Alignas(64) _Atomic double start, until, slower;
    double took, expected; /* sums over its ranges; each weighs half as much as the next */
    double late;           /* slowdown up to which it does not count as slow */
    double fades;          /* share of its expected times due to busy units of the other kind */
    bool holds;            /* has tasks in progress */
    _Atomic int doubts;    /* its latest ranges that may have been interrupted */
    _Atomic bool began;    /* has begun a task in this step */
    _Atomic bool left;     /* got nothing when it asked last */
    _Atomic bool lost;
};

struct steal {
    struct partition *d;
    struct plan plan;
    const int *owner; /* [n] the partition being executed */
    size_t *order;    /* [n] order of execution, and the unit of each entry */
    int *unit;        /* [n] */
    double *tail; /* [n + 1] planned seconds from an entry of the plan to the end of all lists */
    _Atomic bool brings; /* some tasks lie elsewhere: they must be brought first, or were taken by a
                            helper */
    double planned;      /* planned end of the step, */
    double makespan;     /* and of later steps, once tasks have been brought */
    double *expected;    /* [ncu] busy times predicted when the partition was chosen */
    double *slowdown;    /* [ncu] slowdowns for which `tail` was computed */
    struct steal_worker *worker; /* [ncu] */
    _Atomic int offer;           /* unit that leaves its last task to others; -1: none */
    double *idle;                /* [ncu] scratch: when each unit is free */
};

/* Opens for the job of partition d; d and owner [n] are borrowed. EK_UNAVAILABLE: out of memory.
 * One thread. */
enum ek_status steal_open(struct steal *s, struct partition *d, const int *owner);

/* Records the present prediction for the partition as what is expected of it. One thread. */
void steal_expect(struct steal *s);

/* Whether the present prediction differs from that by this share of the step, for some unit. One
 * thread. */
bool steal_differs(struct steal *s, double share);

/* Makes the lists of the present partition. One thread. */
void steal_plan(struct steal *s);
/* When the last unit finished the step. One thread. */
double steal_end(const struct steal *s);
/* Before each step. One thread. */
void steal_rewind(struct steal *s);

/* With all neighbours busy, unit cu takes up to `late` times its average time in the step, of which
 * the share `fades` is due to units of the other kind. */
void steal_allow(struct steal *s, int cu, double late, double fades);

/* On any unit's thread, concurrently. */
struct ek_range steal_next(struct steal *s, int cu);
void steal_done(struct steal *s, int cu, double sec);

/* For units that die. Orphaned ranges, oldest first, go to the units that are predicted to end them
 * first, if all working units take their shares: steal_adopt() returns the index of the first one
 * that falls to unit cu, which has it from now on; count: none. One thread at a time. */
void steal_lose(struct steal *s, int cu);
size_t steal_adopt(struct steal *s, int cu, const struct ek_range *left, size_t count);
