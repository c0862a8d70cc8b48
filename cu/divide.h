/* cu/divide.h – finds who should do which tasks: the search behind the policy `evenkeel`.
 *
 * It compares divisions of several shapes by makespan + exchange + migrations, as predicted from
 * estimates of the tasks' times and from the cost of the link:
 *   contiguous  one stretch of task numbers for each space: few faces cross between spaces
 *   affine      the same in the order of how much better the first space does a task than the
 * others priced      each task where its seconds are cheapest, at prices that balance the spaces
 *   free        each task where it ends first, whatever the space
 * or one space alone. Inside a space the longest task goes first, to where it ends first; then
 * tasks are exchanged between the unit that ends last and others while that helps. */
#ifndef CU_DIVIDE_H
#define CU_DIVIDE_H

#include "cu/estimate.h"
#include "cu/plan.h"
#include "cu/sched.h"

/* What a division would take, in seconds. */
struct divide_cost {
    double makespan; /* computation of the unit that ends last */
    double exchange; /* faces between spaces, in every step */
    double moving;   /* tasks to their new spaces, once */
};

/* Units of one space that take the same time for the same task. */
struct divide_group {
    int first, space;      /* number of its first unit */
    int units, *unit;      /* into divide.member */
    struct plan_heap heap; /* into divide.heaps */
};

struct divide {
    const struct estimate *e;
    const struct sched_job *job;
    struct sched_link link;
    int nspaces; /* with units; the one with most units is number 0 */
    int *space;  /* [ncu] so numbered */
    int *units;  /* [nspaces] */
    int ngroups;
    struct divide_group *group; /* [ngroups], room for ncu */
    int *member;                /* [ncu] units of group 0, of group 1, … */
    struct plan_heap heaps;     /* [ncu] likewise */
    size_t *order;              /* [n] by descending time */
    size_t *seq, *at;           /* [n] tasks in the order that is cut, and their places in it */
    double **sum;               /* [nspaces][n+1] seconds of a whole space for the first of seq */
    int *trial, *choice;        /* [n] unit, space of a task, while searching */
    double *load;               /* [ncu] of the division last predicted or improved */
    double *link_s, *key;       /* [ncu] [n] */
    size_t *head, *follow;      /* [ncu] [n] tasks of each unit, linked */
    size_t *cut;                /* [nspaces + 1] */
    long looks;                 /* exchanges that this search may still try */
};

/* Room for the job on the units that it names; e and job are borrowed. EK_LACK: out of memory;
 * divide_close() frees, also then. One thread, like all of it. */
enum ek_status divide_open(struct divide *d, const struct estimate *e, const struct sched_job *job);
void divide_close(struct divide *d);

/* The cost of a division, coming from another one (`from` NULL: nothing to move). owner, from [n]
 */
struct divide_cost divide_predict(struct divide *d, const int *owner, const int *from);

/* The best division found, for tasks that are where `from` says (NULL: anywhere) and will stay
 * where they are put for `horizon` steps. A division with more exchange than the contiguous one
 * must be better by `doubt`, a share of the makespan: gains within the errors of the estimates are
 * none. owner [n] is written, may not be `from`. */
struct divide_cost divide_search(struct divide *d, const int *from, double horizon, double doubt,
                                 int *owner);

/* ---- pieces of the search -------------------------------------------------------------------- */
enum { DIVIDE_ALL = -1 };

/* Sorts the units into groups, by what the estimates now say. */
void divide_sort_units(struct divide *d);

/* Gives the tasks with begin <= at < end to the units of a space (DIVIDE_ALL: of all), in the order
 * of d->order, each to where it ends first; returns the makespan. owner may be NULL. */
double divide_pack(struct divide *d, int space, size_t begin, size_t end, int *owner);

/* Moves and exchanges tasks between the unit that ends last and the others (of its space, unless
 * `anywhere`) while that helps and d->looks last. */
void divide_improve(struct divide *d, int *owner, bool anywhere);

/* Sums the estimates into d->load; returns the largest. */
double divide_load(struct divide *d, const int *owner);

#endif
