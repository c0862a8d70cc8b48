/* cu/sched/partition.h – finds which unit should do which tasks: the search behind `evenkeel`.
 *
 * It compares partitions of several shapes by what a step takes in the mean of the steps to come,
 * makespan + exchange + migrations, predicted from estimates of the tasks' times and from the link:
 *   listed      each task where it ends first (earliest finish time), as `heft` does
 *   priced      each task to the kind of unit where it is cheapest, at prices of a second that
 *               balance the kinds: the linear programme's way to use what every kind is best at
 *   stretches   consecutive tasks for each memory node, or for each unit (from either end): few
 *               faces cross, few ranges begin
 *   one node    for links that cost more than the others give, but for a few tasks
 *   present     the partition that there is, repaired
 *   exact       for a few tasks: depth first, bounded by those prices
 * Then tasks are moved and exchanged between the unit that ends last and others while that helps;
 * where only times count, any unit gives tasks to one where they take less, to make room for that.
 * A unit's seconds are launches * runs of consecutive tasks + the tasks' own. */
#pragma once

#include "cu/sched/estimate.h"
#include "cu/sched/plan.h"
#include "cu/sched/sched.h"

/* What a partition would take, in seconds. */
struct partition_cost {
    double makespan; /* computation of the unit that ends last, in every step */
    double exchange; /* faces between memory nodes, in every step */
    double moving;   /* by which the first step is longer: tasks go to their new memory nodes */
};

/* Units of one kind in one memory node. */
struct partition_class {
    int kind, memory, units;
    double capacity; /* units, as far as they are of slowdown 1: sum of 1 / slowdown */
    int first, end;  /* its groups */
};

/* Units of a class that take the same time for the same task, or nearly, and for a launch. */
struct partition_group {
    int units, *unit;      /* into partition.member */
    struct plan_heap heap; /* into partition.heaps */
};

/* A kind of units, while the price of its seconds is sought. */
struct partition_market {
    double price, capacity;
    double area; /* seconds of a unit of slowdown 1 that are sold */
};

struct partition {
    const struct estimate *e;
    const struct sched_job *job;
    struct sched_link link, face; /* of a task that is moved; of a face that crosses */
    int nmemories;                /* with units; the one with most units is number 0 */
    int *memory;                  /* [ncu] so numbered */
    int *units;                   /* [nmemories] */
    int *id;                      /* [nmemories] the job's numbers of them */
    int *links;        /* [nmemories + 2] of the way to a memory node: 0 host, 1 device */
    double horizon;    /* steps in which moving must pay off */
    int *home;         /* [n] memory node of a task's data, or one that has no units */
    double *transfer;  /* [n] seconds over one link */
    bool bound;        /* some transfer is not 0: tasks are bound to their homes */
    bool proportional; /* kinds differ in speed alone */
    bool launches;     /* some unit takes time to begin a range */
    double weight;     /* of transfers while tasks are given to units: 1 / horizon, or 0 */
    int nclasses, ngroups, nmembers;
    struct partition_class *class;  /* room for ncu */
    struct partition_group *group;  /* of class 0, of class 1, …; room for ncu */
    int *member;                    /* [ncu] units of group 0, of group 1, … */
    struct plan_heap heaps;         /* [ncu] likewise */
    double *top, *slowdown, *begin; /* [ngroups] load, slowdown and launch of each group's least
                                     * loaded unit */
    size_t *order;                  /* [n] by descending time */
    int *trial, *pick;              /* [n] unit; what it may go to; while searching */
    double *load, *full;   /* [ncu] computing; and moving; of the partition last looked at */
    double *link_s, *use;  /* [nmemories] */
    size_t *head, *follow; /* [ncu] [n] tasks of each unit, linked */
    double *delta, *room;  /* [n] exchange that giving a task away would add; room */
    struct partition_market *market; /* [kinds], room for ncu */
    double least;                    /* partition_bound(), 0: not known yet */
    long looks;                      /* exchanges that this search may still try */
};

/* Room for the job on the units that it names, from its arena; e and job are borrowed.
 * EK_UNAVAILABLE: out of memory. One thread, like all of it. */
enum ek_status partition_open(struct partition *d, const struct estimate *e,
                              const struct sched_job *job);

/* From now on estimates, homes and link are those of now, and moving a task must pay off within
 * `horizon` steps. */
void partition_begin(struct partition *d, double horizon);
/* Homes and link alone. */
void partition_find_homes(struct partition *d);

/* As fmax() and fmin(), which are calls: a NaN has no business here. */
static inline double partition_more(double a, double b)
{
    return a > b ? a : b;
}

static inline double partition_less(double a, double b)
{
    return a < b ? a : b;
}

/* The cost of a partition, owner [n]; leaves its busy times in d->load. */
struct partition_cost partition_predict(struct partition *d, const int *owner);

/* What an exchange takes where its tasks lie. */
double partition_exchange(struct partition *d, const int *owner);

/* Exchanges of the steps to come that find the tasks where this partition puts them, as a share: a
 * step opens with the exchange and then moves its tasks. */
static inline double partition_exchanges(const struct partition *d)
{
    return 1 - 1 / d->horizon;
}

/* Mean of the steps to come. */
static inline double partition_total(const struct partition *d, struct partition_cost c)
{
    return c.makespan + partition_exchanges(d) * c.exchange + c.moving / d->horizon;
}

/* No partition has a shorter step, by the estimates. */
double partition_bound(struct partition *d);

/* The best partition found. Between partitions as good as one another, the one with less exchange:
 * to exchange more it must be better by `doubt`, a share of the makespan, as gains within the
 * errors of the estimates are none. present [n]: the partition that there is, or NULL. owner [n] is
 * written, may not be `present`. */
struct partition_cost partition_search(struct partition *d, const int *present, double doubt,
                                       int *owner);

/* ---- pieces of the search -------------------------------------------------------------------- */
/* What the tasks' d->pick means: a memory node, a kind, or (in a cut) a unit, the last one first if
 * from its back; PARTITION_ANY: all will do. */
enum partition_by {
    PARTITION_BY_MEMORY,
    PARTITION_BY_KIND,
    PARTITION_BY_UNIT,
    PARTITION_BY_UNIT_BACK
};
enum { PARTITION_ANY = -1, PARTITION_PICKED = -2 /* as they are */ };

/* Gives the tasks, the longest first, to units that their picks allow, each to where it ends first.
 * owner [n] is written. */
void partition_pack(struct partition *d, enum partition_by by, int *owner);

/* One stretch of task numbers for each memory node (in d->pick) or unit (in d->trial), all of which
 * end at the same time; false: there are none. The former are packed, too, into d->trial. */
bool partition_cut(struct partition *d, enum partition_by by);

/* Picks the kind on which each task is cheapest at prices that balance the kinds; returns a time in
 * which no partition of the tasks could be done (the linear programme's dual, or the longest
 * task). */
double partition_price(struct partition *d);
/* Again, at the prices that were found. */
void partition_pick(struct partition *d);
/* After that: a few tasks that are nearly as cheap elsewhere may go anywhere. */
void partition_free(struct partition *d);

/* Offers that the next improvement may look at. */
long partition_looks(const struct partition *d);

/* Moves and exchanges tasks between the unit that ends last and the others (of its memory node,
 * unless `anywhere`) while that helps and there are looks, and makes room for that. d->load and
 * d->full are those of owner. */
void partition_improve(struct partition *d, int *owner, bool anywhere);

/* What the exchanges of a mean step take longer if the task goes to another memory node and its
 * neighbours stay. Any thread while the partition does not change. */
double partition_crossing(const struct partition *d, const int *owner, size_t task, int to);

/* d->load and d->full of a partition. */
void partition_load(struct partition *d, const int *owner);

/* Seconds for bringing a task to a memory node. */
static inline double partition_transfer(const struct partition *d, int memory, size_t task)
{
    int home = d->home[task];
    return d->bound && home != memory ? d->transfer[task] * (d->links[home] + d->links[memory]) : 0;
}

/* Runs of consecutive tasks that unit cu has more if it does this one, too; -1, 0 or 1. */
static inline int partition_runs(const struct partition *d, const int *owner, int cu, size_t task)
{
    return 1 - (task > 0 && owner[task - 1] == cu) -
           (task + 1 < d->job->n && owner[task + 1] == cu);
}
