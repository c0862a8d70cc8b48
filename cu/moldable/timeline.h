/* cu/moldable/timeline.h – the basis of all methods for moldable tasks: when each core of each node
 * becomes free, and where the next task could go.
 *
 * Nodes of the same size, speed and free times form a group and are looked at only once, so that a
 * thousand equal nodes cost no more than the few states that they are in. */
#pragma once

#include "cu/moldable/moldable.h"

enum { TIMELINE_BLOCKS = 16 };

struct timeline_group {
    uint64_t hash; /* of size, speed and free times */
    int head;      /* its first node */
};

struct timeline {
    const struct moldable_problem *problem;
    struct arena arena;    /* of all arrays below and of the method's own */
    int widest, narrowest; /* cores of the largest and the smallest node */
    int block;             /* widths in one of the TIMELINE_BLOCKS blocks */
    double *seconds;       /* [nkinds][widest] t(p) */
    double *quickest;      /* [nkinds][TIMELINE_BLOCKS] least t(p) of a block's widths */
    /* [ntasks] in descending order of timeline_sequential() plus that of the tasks that must
     * follow, ties by number; a task comes after all tasks that it depends on */
    int *order;
    double power;     /* P = sum of p_j f_j, reference cores */
    int *first;       /* [nnodes+1] first core of each node in the arrays below */
    double *free;     /* [cores] when they become free, s, ascending in each node */
    int *core;        /* [cores] which core of the node that is */
    double *slowness; /* [nnodes] 1 / factor */
    double *lane;     /* when each GPU and each share of the memory of a node becomes free, s */
    int *lanes;       /* [nnodes+1] first lane of each node */
    double *done;     /* [nkinds] the latest finish of the kind's tasks so far */
    double from;      /* of the viewed task: when those that it depends on have ended, s; */
    int most;         /* the most cores that are looked at; */
    double fastest[TIMELINE_BLOCKS]; /* and least t(p) of a block's widths, with interference */
    double *soonest; /* [nnodes][BLOCKS] when a block's first width is free, or infinite */
    int ngroups;     /* groups of nodes, in no order */
    struct timeline_group *group;
    int *next;   /* [nnodes] the next node of the same group, ascending; -1 = last */
    int *sorted; /* scratch: a cluster's nodes by the time at which all their cores are free */
    int *taken;  /* scratch of timeline_place() */
    double *start, *finish, *reach; /* scratch of timeline_view() */
    double latest;                  /* e_max: the latest finish so far */
    double useless; /* methods of one pass give up once the latest finish is no less */
    bool gave_up;
};

/* Where one task could go: on 1 … n cores of one node (or nodes of one cluster). */
struct timeline_view {
    int where;
    int n;
    const double *start;  /* [n] s, of width w at [w-1] */
    const double *finish; /* [n] s, infinite where the task cannot have that width */
    const double *power;  /* [n] reference cores that it would occupy; NULL = w * factor */
    double factor;
};

/* EK_UNAVAILABLE: out of memory. */
enum ek_status timeline_open(struct timeline *, const struct moldable_problem *);
void timeline_close(struct timeline *);

/* Removes all tasks. */
void timeline_clear(struct timeline *);

/* Number of views of the task: groups of nodes, or clusters, with up to `most` of their cores (0 =
 * all). To be called before looking at them, and again after a task was placed. */
int timeline_views(struct timeline *, int task, int most);

/* View i of the task, valid until the next call with this timeline. A group is represented by its
 * first node. */
void timeline_view(struct timeline *, int task, int i, struct timeline_view *);

/* A quick test: the task cannot finish in view i within the limit. */
bool timeline_too_late(const struct timeline *, int task, int i, double limit);

static inline double timeline_power(const struct timeline_view *v, int width)
{
    return v->power ? v->power[width - 1] : width * v->factor;
}

/* Makes width w of the view the choice if `value` is less than *least, or equal and the view's node
 * has a lower number. */
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

/* Sets the first `taken` of n ascending times to `finish`, and keeps the order. */
static inline void timeline_take(double *free, int n, int taken, double finish)
{
    int earlier = taken, above = taken ? n : taken; /* times that are less than `finish` */
    while (earlier < above) {
        const int mid = (earlier + above) / 2;
        if (free[mid] < finish)
            earlier = mid + 1;
        else
            above = mid;
    }
    memmove(free, free + taken, (size_t)(earlier - taken) * sizeof *free);
    for (int i = earlier - taken; i < earlier; i++)
        free[i] = finish;
}

/* The factor by which a task on w of the node's cores slows down while all others are busy. */
static inline double timeline_slowdown(const struct moldable_kind *k, int cores, int w)
{
    return cores > 1 ? 1 + k->interference * (cores - w) / (cores - 1) : 1;
}

/* Seconds of a kind's tasks on w cores of a node with so many that is as fast as the reference. */
static inline double timeline_seconds(const struct timeline *l, int kind, int cores, int w)
{
    return l->seconds[(size_t)kind * (size_t)l->widest + (size_t)w - 1] *
           timeline_slowdown(&l->problem->kinds[kind], cores, w);
}

/* When the GPUs and the memory that a task needs are free on the node whose lanes these are, s;
 * INFINITY: the node has too little. */
double timeline_resources_free(const struct moldable_kind *, const struct moldable_node *,
                               const double *lane);
/* A task occupies them until `finish`. */
void timeline_take_resources(const struct moldable_kind *, const struct moldable_node *,
                             double *lane, double finish);

/* Should a method of one pass give up? */
static inline bool timeline_gives_up(struct timeline *l)
{
    return l->gave_up = l->latest >= l->useless;
}

/* When a task runs, s. */
struct timeline_span {
    double start, finish;
};

/* Places the task. */
struct timeline_span timeline_place(struct timeline *, const struct moldable_choice *);

/* Clears the timeline and makes these choices [ntasks] in their order. */
void timeline_place_all(struct timeline *, const struct moldable_choice *);

/* Sorts the cluster's nodes that can host the task into timeline->sorted by the time at which all
 * their cores are free, and returns their number. The task takes the first ones, as many as it is
 * wide. */
int timeline_sort_cluster(struct timeline *, int task, int cluster);

/* Sequential time of a task for the methods: t(1), or if it cannot run on one core the work p t(p)
 * on the fewest cores that it can use. */
double timeline_sequential(const struct moldable_problem *, int task);

/* The choice with the task's earliest finish over widths up to `most` (0 = all); ties: the first
 * node, the fewest cores. */
struct moldable_choice timeline_earliest(struct timeline *, int task, int most);

/* Places all tasks in timeline->order by timeline_earliest() with widths up to most[task];
 * NULL = one core (or node). */
void timeline_list(struct timeline *, const int *most, struct moldable_choice *choice);

/* The first node (or cluster), and there the fewest cores, on which the task finishes within
 * `limit` s; false if there is none. */
bool timeline_first_fit(struct timeline *, int task, double limit, struct moldable_choice *);

/* Is there interference, and do cores and dependencies alone determine the starts of tasks? Then
 * the methods plan as if all other cores were busy, and the finished plan tells which are. */
bool moldable_neighbours_matter(const struct moldable_problem *);
/* Follows the choices [ntasks] core by core: tasks, parts and makespan of an empty plan, which the
 * caller closes. The timeline has made the choices, too, afterwards. EK_UNAVAILABLE: out of memory.
 */
enum ek_status moldable_follow(struct moldable_plan *, struct timeline *,
                               const struct moldable_choice *);
/* The same for the makespan alone. */
enum ek_status moldable_makespan(struct timeline *, const struct moldable_choice *,
                                 double *makespan);
