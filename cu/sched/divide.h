/* cu/sched/divide.h – finds who should do which tasks: the search behind the policy `evenkeel`.
 *
 * It compares divisions of several shapes by what a step takes in the mean of the steps to come,
 * makespan + exchange + migrations, predicted from estimates of the tasks' times and from the link:
 *   present     the division that there is, repaired
 *   contiguous  one stretch of task numbers for each space: few faces cross between spaces
 *   free        each task where it ends first, whatever the space
 *   priced      each task to the kind of unit where it is cheapest, at prices of a second that
 *               balance the kinds: the linear programme's way to use what every kind is best at
 *   one space   for links that cost more than the others give
 * Inside a space the longest task goes first, to where it ends first; then tasks are moved and
 * exchanged between the unit that ends last and others while that helps. */
#ifndef CU_DIVIDE_H
#define CU_DIVIDE_H

#include "cu/sched/estimate.h"
#include "cu/sched/plan.h"
#include "cu/sched/sched.h"

/* What a division would take, in seconds. */
struct divide_cost {
    double makespan; /* computation of the unit that ends last, in every step */
    double exchange; /* faces between spaces, in every step */
    double moving;   /* by which the first step is longer: tasks go to their new spaces */
};

/* Units of one kind in one space. */
struct divide_class {
    int kind, space, units;
    double capacity; /* units, as far as they are of pace 1: sum of 1 / pace */
    int first, end;  /* its groups */
};

/* Units of a class that take the same time for the same task. */
struct divide_group {
    int first, space;      /* number of its first unit */
    int units, *unit;      /* into divide.member */
    struct plan_heap heap; /* into divide.heaps */
};

/* A kind of units, while the price of its seconds is sought. */
struct divide_market {
    double price, capacity;
    double area; /* seconds of a unit of pace 1 that are sold */
};

struct divide {
    const struct estimate *e;
    const struct sched_job *job;
    struct sched_link link;
    int nspaces;     /* with units; the one with most units is number 0 */
    int *space;      /* [ncu] so numbered */
    int *units;      /* [nspaces] */
    int *links;      /* [nspaces + 1] of the way to a space: 0 host, 1 device */
    const bool *off; /* [ncu] units that are parked, or NULL */
    double horizon;  /* steps in which moving must pay off */
    int *home;       /* [n] space of a task's data; nspaces: one that has no units */
    double *toll;    /* [n] seconds over one link */
    bool bound;      /* some toll is not 0: tasks are bound to their homes */
    double weight;   /* of tolls while tasks are given to units: 1 / horizon, or 0 */
    int nclasses, ngroups;
    struct divide_class *class;   /* room for ncu */
    struct divide_group *group;   /* of class 0, of class 1, …; room for ncu */
    int *member;                  /* [ncu] units of group 0, of group 1, … */
    struct plan_heap heaps;       /* [ncu] likewise */
    double *top, *pace;           /* [ngroups] load and pace of each group's least loaded unit */
    size_t *order;                /* [n] by descending time */
    double **sum;                 /* [nspaces][n+1] seconds of a whole space for the first tasks */
    int *trial, *pick;            /* [n] unit; what it may go to; while searching */
    double *load, *full;          /* [ncu] computing; and moving; of the division last looked at */
    double *link_s, *use;         /* [nspaces] */
    size_t *head, *follow;        /* [ncu] [n] tasks of each unit, linked */
    double *delta;                /* [n] exchange that giving a task away would add */
    double *room;                 /* [n] */
    size_t *cut;                  /* [nspaces + 1] */
    struct divide_market *market; /* [kinds], room for ncu */
    long looks;                   /* exchanges that this search may still try */
};

/* Room for the job on the units that it names; e and job are borrowed. EK_LACK: out of memory;
 * divide_close() frees, also then. One thread, like all of it. */
enum ek_status divide_open(struct divide *d, const struct estimate *e, const struct sched_job *job);
void divide_close(struct divide *d);

/* From now on: units with off[c] (NULL: none; borrowed) get nothing, estimates, homes and link are
 * those of now, and moving a task must pay off within `horizon` steps. */
void divide_begin(struct divide *d, const bool *off, double horizon);

/* As fmax() and fmin(), which are calls: a NaN has no business here. */
static inline double divide_more(double a, double b)
{
    return a > b ? a : b;
}

static inline double divide_less(double a, double b)
{
    return a < b ? a : b;
}

/* The cost of a division, owner [n]; leaves its busy times in d->load. */
struct divide_cost divide_predict(struct divide *d, const int *owner);

/* Mean of the steps to come. */
static inline double divide_total(const struct divide *d, struct divide_cost c)
{
    return c.makespan + c.exchange + c.moving / d->horizon;
}

/* The best division found. Between divisions as good as one another, the one with less exchange: to
 * exchange more it must be better by `doubt`, a share of the makespan, as gains within the errors
 * of the estimates are none. present [n]: the division that there is, or NULL. owner [n] is
 * written, may not be `present`. */
struct divide_cost divide_search(struct divide *d, const int *present, double doubt, int *owner);

/* ---- pieces of the search -------------------------------------------------------------------- */
/* What the tasks' d->pick means: a space, or a kind; DIVIDE_ANY: every unit will do. */
enum divide_by { DIVIDE_BY_SPACE, DIVIDE_BY_KIND };
enum { DIVIDE_ANY = -1 };

/* Gives the tasks, the longest first, to units that their picks allow, each to where it ends first.
 * owner [n] is written. */
void divide_pack(struct divide *d, enum divide_by by, int *owner);

/* Picks one stretch of task numbers for each space, so that the spaces end at the same time. */
void divide_cut(struct divide *d);

/* Picks the kind on which each task is cheapest; returns a time in which no division of the tasks
 * could be done (the value of the linear programme's dual). */
double divide_price(struct divide *d);
/* After that: a few tasks that are nearly as cheap elsewhere may go anywhere. */
void divide_free(struct divide *d);

/* Moves and exchanges tasks between the unit that ends last and the others (of its space, unless
 * `anywhere`) while that helps and d->looks last. */
void divide_improve(struct divide *d, int *owner, bool anywhere);

/* What an exchange takes longer if the task goes to another space and its neighbours stay. Any
 * thread while the division does not change. */
double divide_crossing(const struct divide *d, const int *owner, size_t task, int to);

/* d->load and d->full of a division. */
void divide_load(struct divide *d, const int *owner);

/* Seconds for bringing a task to a space. */
static inline double divide_toll(const struct divide *d, int space, size_t task)
{
    int home = d->home[task];
    return d->bound && home != space ? d->toll[task] * (d->links[home] + d->links[space]) : 0;
}

#endif
