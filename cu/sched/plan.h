/* cu/sched/plan.h – building blocks of policies that decide before a step begins: a list of tasks
 * for each unit, sorting, and a heap of units by load. */
#pragma once

#include "cu/sched/sched.h"
#include "src/arena.h"
#include <stdatomic.h>
#include <stdint.h>

struct plan_list {
    _Alignas(64) _Atomic uint64_t left; /* entries not handed out yet: first << 32 | end */
    size_t begin, end;                  /* entries of plan.task */
};

struct plan {
    size_t n;
    int ncu;
    size_t *task; /* [n] tasks of unit 0, of unit 1, … in the order of their execution */
    struct plan_list *list; /* [ncu] */
};

/* Empty lists for the job's tasks (fewer than 2^32) and units, task[i] = i, from the job's arena,
 * which is then checked: EK_UNAVAILABLE also if the policy's earlier allocations failed. One
 * thread, like everything here but plan_next() and plan_steal(). */
enum ek_status plan_open(struct plan *p, const struct sched_job *job);

/* Assigns all n tasks at once: owner[i] is the unit of task order[i] (order NULL: of task i). Each
 * unit executes its tasks in this order. Rewinds. */
void plan_assign(struct plan *p, const int *owner, const size_t *order);

/* Unit cu gets the consecutive tasks of r; rewinds this unit. Only for plans without plan_assign(),
 * with disjoint chunks for all units. */
void plan_set_chunk(struct plan *p, int cu, struct ek_range r);

/* The rule of `static`: the m units unit[0..m-1] (unit NULL: 0 .. m-1) share the tasks of r; the
 * c-th gets the tasks from c*|r|/m to (c+1)*|r|/m. Same restriction. */
void plan_set_static(struct plan *p, const int *unit, int m, struct ek_range r);

/* The walk of `guided` (Gonzalez & Morancho 2024, Fig. 7): moves the ends of the m adjacent chunks
 * so that each unit's sum of work[task] approaches the mean. Every unit keeps at least one task;
 * with fewer tasks than units nothing moves. */
void plan_walk(struct plan *p, const int *unit, int m, const double *work);

/* Starts every list again, for the next step. */
void plan_rewind(struct plan *p);

/* The next run of consecutive task numbers on unit cu's list, at most `most` of them. On the unit's
 * thread, concurrently with other units. */
struct ek_range plan_next(struct plan *p, int cu, size_t most);

/* The last run of consecutive task numbers, at most `most` of them, that is left on the list of
 * unit `victim`; for another unit. Any thread. */
struct ek_range plan_steal(struct plan *p, int victim, size_t most);

/* Entries of p->task that are left on unit cu's list. Any thread. */
struct ek_range plan_entries(const struct plan *p, int cu);
static inline size_t plan_left(const struct plan *p, int cu)
{
    struct ek_range r = plan_entries(p, cu);
    return r.end - r.begin;
}

/* ---- policies that plan once, for all steps ---------------------------------------------------
 * Their state is a struct plan, which begin() opens and fills; a unit gets its tasks in runs as
 * long as they come. The rest of their struct sched_ops is PLAN_FIXED. */
struct ek_range plan_fixed_next(void *st, int cu);
void plan_fixed_step(void *st);

#define PLAN_FIXED                                                                                 \
    .state_size = sizeof(struct plan), .next = plan_fixed_next, .step = plan_fixed_step

/* Opens the plan and lets `assign` choose a unit for each task, in order of descending cost:
 * owner[i] = unit of task order[i]. Units execute their tasks in this order. EK_UNAVAILABLE: out of
 * memory; or whatever assign returns. */
enum ek_status plan_by_cost(struct plan *p, const struct sched_job *job,
                            enum ek_status (*assign)(const struct sched_job *job,
                                                     const size_t *order, int *owner));

/* Writes the numbers of the units of one kind to unit [job->ncu], ascending; returns how many. */
int plan_units(const struct sched_job *job, enum cu_kind kind, int *unit);

/* Sorts tasks 0..n-1 by descending cost, equal ones by number; cost NULL = all equal. order [n] */
void plan_sort(const double *cost, size_t n, size_t *order);

/* seconds[task] = time of each task of a range: each[task - r.begin] or, if not measured (NULL), a
 * share of the range's seconds in proportion to cost (NULL: equal shares). */
void plan_divide(const double *cost, struct ek_range r, double sec, const double *each,
                 double *seconds);

/* Units by load: the least loaded one (the lowest number among equals) is found in O(1), loading it
 * takes O(log count). */
struct plan_heap {
    int count;
    struct plan_load {
        double load;
        int unit;
    } * top; /* [count] a binary heap: top[0] is the least loaded */
};

/* Fills the heap with unit[0..m-1] (NULL: 0 .. m-1; ascending), without load. */
void plan_heap_fill(struct plan_heap *h, const int *unit, int m);
/* A heap of all units of the job, from its arena. EK_UNAVAILABLE: out of memory. */
enum ek_status plan_heap_open(struct plan_heap *h, const struct sched_job *job);
/* Adds `sec` to the load of the least loaded unit and returns its number. */
int plan_heap_add(struct plan_heap *h, double sec);
