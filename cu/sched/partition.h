/* cu/sched/partition.h – searches for the best partition of tasks among units; the core of
 * `evenkeel`.
 *
 * Partitions of several shapes are compared by their predicted mean step, makespan + exchange +
 * migrations, from estimated task times and the link:
 *   listed      each task where it ends first (earliest finish time), as in `heft`
 *   priced      each task on the kind of unit where it is cheapest, at prices of a second that
 *               balance the kinds (the linear programme's dual): each kind does what it is best at
 *   stretches   consecutive tasks for each memory node or each unit (from either end): few faces
 *               cross, few ranges begin
 *   annealed   where exchanges matter: stretches and the best so far, tasks changing memory node
 *   one node    all tasks on one memory node, but for a few: for expensive links
 *   present     the present partition, repaired
 *   exact       for a few tasks: depth-first search, bounded by the prices
 * Then tasks are moved and swapped between the unit that ends last and others as long as that
 * helps; where only times count, any unit may pass tasks to a faster one to make room, where kinds
 * differ by task, tabu search goes on from the best partition, and where each unit has few tasks,
 * those of a few units are packed anew, also from multifit on. A unit's predicted seconds are
 * launches * runs of consecutive tasks + its tasks' seconds. */
#pragma once

#include "cu/sched/estimate.h"
#include "cu/sched/exchange.h"
#include "cu/sched/plan.h"
#include "cu/sched/prices.h"
#include "cu/sched/sched.h"

/* Predicted cost of a partition, in seconds. */
struct partition_cost {
    double makespan; /* computation of the unit that ends last, in each step */
    double exchange; /* faces between memory nodes, in each step */
    double
        moving; /* how much longer the first step is, which moves tasks to their new memory nodes */
};

/* Units of one kind in one memory node. */
struct partition_class {
    int kind, memory, units;
    const double *seconds; /* [n] of the kind */
    double capacity;       /* sum of 1 / slowdown */
    int first, end;        /* its groups first .. end-1 */
};

/* Units of a class with (nearly) the same slowdown, and the same launch. */
struct partition_group {
    int units, *unit;      /* part of partition.member */
    struct plan_heap heap; /* part of partition.heaps */
};

struct partition {
    const struct estimate *e;
    const struct sched_job *job;
    struct sched_link link;     /* cost of moving a task */
    struct exchange_cost faces; /* of an exchange */
    double guess;               /* seconds of a face while nobody knows */
    int nmemories;              /* memory nodes with units; number 0 has the most units */
    int *memory;                /* [ncu] memory node of each unit, in this numbering */
    int *units;                 /* [nmemories] */
    int *id;                    /* [nmemories] the job's number of each */
    int *links;     /* [nmemories + 2] links on the way to a memory node: 0 host, 1 device */
    double horizon; /* steps within which moving must pay off */
    int *home; /* [n] memory node of each task's data, or a number beyond for nodes without units */
    double *transfer;  /* [n] seconds over one link */
    bool bound;        /* homes matter: there are other memory nodes, and transfers are not free */
    bool proportional; /* kinds differ only in speed */
    bool launches;     /* some unit's launches are not free */
    double weight;     /* of transfers while tasks are assigned: 0, 1 / horizon or 1 */
    bool continues;    /* the partition found last moves only what can be brought in one step */
    int nclasses, ngroups, nmembers;
    struct partition_class *class; /* room for ncu */
    int *class_of;                 /* [nmemories + 1] first class of each memory node */
    struct partition_group *group; /* of class 0, of class 1, …; room for ncu */
    int *member;                   /* [ncu] units of group 0, of group 1, … */
    struct plan_heap heaps;        /* [ncu] likewise */
    double *top, *slowdown,
        *begin;        /* [ngroups] load, slowdown and launch of each group's least loaded unit */
    size_t *order;     /* [n] tasks by descending time */
    int *trial, *pick; /* [n] during a search: assigned unit; where the task may go */
    double *load,
        *full; /* [ncu] seconds computing; computing and moving; of the partition last looked at */
    double *link_s, *use;    /* [nmemories] */
    double *inside;          /* [nmemories] bytes of faces inside each */
    int nodes;               /* memory nodes whose times are tabulated where there are faces */
    double *node;            /* [nodes, n] seconds of a task there */
    double *whole;           /* [nmemories] of all tasks there */
    bool *shut;              /* [nmemories] gets no stretch */
    int *node_of;            /* [n] memory node of each task in the exchange computed last, */
    double exchange;         /* and its seconds; negative: none by the present homes and link */
    long crossing;           /* faces that cross */
    uint64_t random;         /* state of the generator */
    size_t *head, *follow;   /* [ncu], [n]: linked lists of each unit's tasks */
    size_t *by_end;          /* [ncu] units, the one that ends first first */
    double *room;            /* [4 * ncu] of multifit */
    int *left;               /* [n] place in d->order; during tabu search, the unit left last, */
    long *until;             /* [n] and the move until which it may not return */
    double *delta, *scratch; /* [n] exchange seconds that giving the task away would add; scratch */
    float *simple;           /* [2 * n] scratch */
    struct prices market;    /* of seconds on each kind; allocated for ncu kinds */
    bool connected;          /* by faces: if several memory nodes have tasks, some cross */
    double face_bytes, fewest_bytes; /* of all faces; of the smallest */
    double *task_bytes;              /* [n] of each task's faces */
    double least;                    /* partition_bound(); 0: not computed yet */
    double across, total;            /* lower bounds of a mean step with tasks in several memory
                                        nodes, and of any */
    long budget;                     /* exchanges that this search may still try */
    double effort;                   /* of annealing, in usual ones: by what the steps take */
    long moves;                      /* likewise, moves while annealing; once bounds are known */
};

/* Opens for the job, with memory from its arena; e and job are borrowed. EK_UNAVAILABLE: out of
 * memory. One thread, like everything here. */
enum ek_status partition_open(struct partition *d, const struct estimate *e,
                              const struct sched_job *job);

/* Takes in the present estimates, homes and link; moving a task must pay off within `horizon`
 * steps. */
void partition_begin(struct partition *d, double horizon);
/* Takes in homes and link only. */
void partition_find_homes(struct partition *d);

/* Like fmax() and fmin() but inlined; NaN does not occur. */
static inline double partition_more(double a, double b)
{
    return a > b ? a : b;
}

static inline double partition_less(double a, double b)
{
    return a < b ? a : b;
}

/* Predicted cost of partition owner [n]. */
struct partition_cost partition_predict(struct partition *d, const int *owner);

/* Some face crosses between memory nodes under a partition; NULL: as the tasks lie now. */
bool partition_crosses(const struct partition *d, const int *owner);
/* Seconds of an exchange under a partition. */
double partition_exchange(struct partition *d, const int *owner);
/* The same by d->link_s and d->inside. */
double partition_exchange_of(const struct partition *d, bool crosses);
/* Seconds of the i-th face if it crosses, on each link. */
static inline double partition_face(const struct partition *d, size_t i)
{
    const struct sched_link face = d->faces.face;
    return face.latency + (d->job->face_bytes ? d->job->face_bytes[i] : 0) * face.per_byte;
}

/* What a second of a unit costs, by d->market. */
static inline double partition_unit_price(const struct partition *d, int cu)
{
    return d->market.price[d->e->kind[cu]] / d->e->slowdown[cu];
}

/* Each task takes the same time on both units. */
static inline bool partition_alike(const struct partition *d, int a, int b)
{
    return d->e->kind[a] == d->e->kind[b] && d->e->slowdown[a] == d->e->slowdown[b];
}

/* Share of the coming exchanges that happen with the partition's new homes: a step begins with the
 * exchange and then moves its tasks. */
static inline double partition_exchanges(const struct partition *d)
{
    return 1 - 1 / d->horizon;
}

/* Mean seconds of a step over the horizon. */
static inline double partition_total(const struct partition *d, struct partition_cost c)
{
    return c.makespan + partition_exchanges(d) * c.exchange + c.moving / d->horizon;
}

/* Lower bound of a step's computation, by the estimates; leaves d->across and d->total. */
double partition_bound(struct partition *d);

/* Makespan of list scheduling: what a step may take if faces are free. Changes d->load. */
double partition_apart(struct partition *d);

/* Searches and writes the best partition found to owner [n]. present [n]: the present partition, or
 * NULL; must not be owner. */
struct partition_cost partition_search(struct partition *d, const int *present, int *owner);

/* ---- pieces of the search -------------------------------------------------------------------- */
/* Meaning of d->pick: a memory node, a kind, or (in a cut) a unit, in ascending or descending
 * order; PARTITION_ANY: anything. */
enum partition_by {
    PARTITION_BY_MEMORY,
    PARTITION_BY_KIND,
    PARTITION_BY_UNIT,
    PARTITION_BY_UNIT_BACK
};
enum { PARTITION_ANY = -1, PARTITION_PICKED = -2 /* as they are */ };

/* Assigns tasks, longest first, among the units that their picks allow, each to where it ends
 * first. owner [n] is written. */
void partition_pack(struct partition *d, enum partition_by by, int *owner);

/* One stretch of consecutive tasks for each memory node (in d->pick) or unit (in d->trial), all
 * ending at the same time; false: impossible. Memory nodes' stretches are then packed onto units,
 * into d->trial. */
bool partition_cut(struct partition *d, enum partition_by by);

/* Seconds of each task begin .. end-1 on a memory node whose units share it evenly: sec[0..].
 * Overwrites d->delta. */
void partition_seconds(const struct partition *d, int memory, size_t begin, size_t end,
                       double *sec);

/* After partition_pack() by memory node, with loads: learns each memory node's efficiency, work /
 * makespan: whole tasks do not fill its units evenly. True if it has changed. */
bool partition_learn_use(struct partition *d);

/* Where exchanges matter. First, for all that follow: tabulates d->node and d->whole. */
void partition_tabulate(struct partition *d);
/* Deals consecutive tasks to each memory node that is not d->shut, by the speed of its units; from
 * the last task on if `back`. */
void partition_deal(struct partition *d, bool back);
/* Predicted mean step of d->pick if memory nodes' units are used as d->use says; INFINITY, and
 * faces are not counted, if already its computation takes `enough`. */
double partition_value(struct partition *d, double enough);
/* Improves d->pick by annealing, in at most so many moves. */
void partition_anneal(struct partition *d, long most);

/* Finds prices that balance the kinds; returns a lower bound of a step (the linear programme's
 * dual, or the longest task). */
double partition_price(struct partition *d);
/* Finds d->proportional and the bounds d->least, d->across and d->total. */
void partition_find_bounds(struct partition *d);
/* Picks the cheapest kind for each task at these prices. */
void partition_pick(struct partition *d);
/* Finds prices for partitions that end by `span`: no task goes to a kind of unit on which it takes
 * longer, as far as span is that of some partition. Picks the cheapest kind of each task. */
void partition_price_within(struct partition *d, double span);

/* Budget of the next improvement. */
long partition_budget(const struct partition *d);

/* Moves and swaps tasks between the unit that ends last and the others (of its memory node, unless
 * `anywhere`) while that helps and the budget lasts, and makes room for that. d->load and d->full
 * must be those of owner. */
void partition_improve(struct partition *d, int *owner, bool anywhere);

/* Improves a partition by tabu search, where only times count, at the prices of d->market, with a
 * budget of its own. True: it is better now. */
bool partition_tabu(struct partition *d, int *owner);

/* Where kinds differ only in speed and only times count: multifit. False: it finds nothing that
 * ends before `makespan`. */
bool partition_fit(struct partition *d, double makespan, int *owner);

/* Improves a partition, where only times count: packs the tasks of the unit that ends last and of
 * a few others anew, with a budget of its own. True: it is better now. */
bool partition_repack(struct partition *d, int *owner);

/* Seconds that a mean step's exchange takes longer if the task goes to memory node `to` while its
 * neighbours stay. Any thread while the partition does not change. */
double partition_crossing(const struct partition *d, const int *owner, size_t task, int to);

/* Tries all partitions of few tasks that may take less than *best, the mean step of the best one so
 * far. found() judges each, which is in d->trial, and may lessen *best. True: there is no better
 * partition; false: that is not known. At the prices of d->market. */
bool partition_try_all(struct partition *d, double *best,
                       void (*found)(struct partition *d, void *argument), void *argument);

/* Computes d->load and d->full of a partition. */
void partition_load(struct partition *d, const int *owner);

/* Seconds to bring a task to a memory node. */
static inline double partition_transfer(const struct partition *d, int memory, size_t task)
{
    int home = d->home[task];
    return d->bound && home != memory ? d->transfer[task] * (d->links[home] + d->links[memory]) : 0;
}

/* How many more runs of consecutive tasks unit cu has with this task: -1, 0 or 1. */
static inline int partition_runs(const struct partition *d, const int *owner, int cu, size_t task)
{
    return 1 - (task > 0 && owner[task - 1] == cu) -
           (task + 1 < d->job->n && owner[task + 1] == cu);
}
