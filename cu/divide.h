/* cu/divide.h – finds who should do which tasks: the search behind the policy `evenkeel`.
 *
 * It compares divisions of three shapes by makespan + exchange + migrations, as predicted from
 * estimates of the tasks' times and from the cost of the link:
 *   contiguous  one stretch of task numbers for each space: few faces cross between spaces
 *   affine      the same in the order of how much better the first space does a task than the
 * others free        each task where it ends first, whatever the space or one space alone. Inside a
 * space the longest task goes first, to where it ends first; then tasks are exchanged between the
 * unit that ends last and others while that helps. */
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

struct divide_group; /* units of one space that take the same time for the same task */

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
    double **sum; /* [nspaces][n+1] seconds that all units of a space together need for
                     the first tasks of seq */
    int *trial;   /* [n] */
    double *load, *link_s, *key; /* [ncu] [nspaces] [n] */
    size_t *head, *follow;       /* [ncu] [n] tasks of each unit, linked */
    size_t *cut;                 /* [nspaces + 1] */
};

/* Room for the job on the units that it names; e and job are borrowed. EK_LACK: out of memory;
 * divide_close() frees, also then. One thread, like all of it. */
enum ek_status divide_open(struct divide *d, const struct estimate *e, const struct sched_job *job);
void divide_close(struct divide *d);

/* The cost of a division, coming from another one (`from` NULL: nothing to move). owner, from [n]
 */
struct divide_cost divide_predict(struct divide *d, const int *owner, const int *from);

/* The best division found, for tasks that are where `from` says (NULL: anywhere) and will stay
 * where they are put for `horizon` steps. owner [n] is written, may not be `from`. */
struct divide_cost divide_search(struct divide *d, const int *from, double horizon, int *owner);

#endif
