/* cu/moldable/timeline.h – the timeline of the cores of all nodes: when each core becomes
 * free, and where the next task could go. What all methods for moldable tasks stand on.
 *
 * Nodes of the same size, speed and free times offer the same: they form one group and are looked
 * at once, so that a thousand equal nodes cost as much as the few states that they are in. */
#pragma once

#include "cu/moldable/moldable.h"
#include "src/arena.h"
#include <stdint.h>

enum { TIMELINE_BLOCKS = 16 };

struct timeline_group {
    uint64_t hash; /* of size, speed and free times */
    int head;      /* its first node */
};

struct timeline {
    const struct moldable_problem *problem;
    struct arena arena; /* of all that follows, and of what a method needs besides */
    int widest;         /* cores of the largest node */
    int block;          /* widths are parted into TIMELINE_BLOCKS blocks of so many */
    double *seconds;    /* [nkinds][widest] t(p) */
    double *quickest;   /* [nkinds][TIMELINE_BLOCKS] least t(p) of a block's widths */
    /* [ntasks] in descending order of timeline_sequential() and of what must follow, ties by
     * number: no task stands before one that must be done first */
    int *order;
    double power;    /* P = sum of p_j f_j, reference cores */
    int *first;      /* [nnodes+1] first core of each node in the arrays below */
    double *free;    /* [cores] when they become free, s, ascending in each node */
    int *core;       /* [cores] which core of the node that is */
    double *lane;    /* when each GPU, and each share of memory, of a node becomes free, s */
    int *lanes;      /* [nnodes+1] first lane of each node */
    double *done;    /* [nkinds] the latest finish of tasks of the kind so far */
    double *soonest; /* [nnodes][BLOCKS] when a block's first width is free; else infinite */
    int ngroups;     /* of single nodes, in no order */
    struct timeline_group *group;
    int *next;   /* [nnodes] the next node of the same group, ascending; -1 = last */
    int *sorted; /* scratch: a cluster's nodes by the time at which they are all free */
    int *taken;  /* scratch of timeline_place() */
    double *start, *finish, *reach; /* scratch of timeline_view() */
    double latest;                  /* e_max: the latest finish so far */
};

/* Where one task could go: widths 1 … n of one node (or cluster). */
struct timeline_view {
    int where;
    int n;
    const double *start;  /* [n] of width w at [w-1] */
    const double *finish; /* [n] infinite where the task cannot use so many cores */
    const double *power;  /* [n] reference cores that it would keep busy; NULL = w * factor */
    double factor;
};

/* EK_UNAVAILABLE: out of memory. */
enum ek_status timeline_open(struct timeline *, const struct moldable_problem *);
void timeline_close(struct timeline *);

/* All cores free at 0 again. */
void timeline_clear(struct timeline *);

/* Number of views of the task: groups of nodes, or clusters. */
int timeline_views(const struct timeline *, int task);

/* View i of the task, valid until the next call with this timeline. A group is shown by its first
 * node. */
void timeline_view(struct timeline *, int task, int i, struct timeline_view *);

/* Whether view i need not be looked at, because the task cannot finish there within the limit. */
bool timeline_too_late(const struct timeline *, int task, int i, double limit);

static inline double timeline_power(const struct timeline_view *v, int width)
{
    return v->power ? v->power[width - 1] : width * v->factor;
}

/* Width w of the view is the choice from now on, if `value` is less than *least, or as little on a
 * node before it. */
static inline bool timeline_prefer(const struct timeline_view *v, int w, double value,
                                   double *least, struct moldable_choice *choice)
{
    const bool better = value < *least || (value == *least && v->where < choice->where);
    if (better) {
        *least = value;
        *choice = (struct moldable_choice){choice->task, v->where, w, w - 1};
    }
    return better;
}

/* The first `taken` of n ascending times of cores are `finish` from now on, and stand where they
 * belong. n = 0 of what a node has not got, of which nothing is taken. */
static inline void timeline_take(double *free, int n, int taken, double finish)
{
    int to = 0;
    for (int from = taken; taken && from < n && free[from] < finish; from++)
        free[to++] = free[from];
    for (int i = 0; i < taken; i++)
        free[to++] = finish;
}

/* Seconds from which and until when a task runs. */
struct timeline_span {
    double start, finish;
};

/* Puts the task there. */
struct timeline_span timeline_place(struct timeline *, const struct moldable_choice *);

/* Nothing but these choices [ntasks], in their order. */
void timeline_place_all(struct timeline *, const struct moldable_choice *);

/* Sorts the cluster's nodes by the time at which all their cores are free into timeline->sorted, of
 * which a cluster task takes the first ones; how many there are. */
int timeline_sort_cluster(struct timeline *, int cluster);

/* Sequential time of a task as the methods want it: t(1); of a task that cannot run on one core the
 * work p t(p) on the fewest cores that it can run on. */
double timeline_sequential(const struct moldable_problem *, int task);

/* The task's earliest finish over widths up to `most` (0 = all); ties: the first node, the fewest
 * cores. */
struct moldable_choice timeline_earliest(struct timeline *, int task, int most);

/* That for all tasks in timeline->order, with widths up to most[task]; NULL = one core (or
 * node). */
void timeline_list(struct timeline *, const int *most, struct moldable_choice *choice);

/* The first node (or cluster), and there the fewest cores, where the task finishes within `limit`
 * s; false if there is none. */
bool timeline_first_fit(struct timeline *, int task, double limit, struct moldable_choice *);
