/* cu/sched/plan.h – what policies are made of that decide before a step begins: a list of tasks for
 * each unit, and what helps them to decide. */
#pragma once

#include "cu/sched/sched.h"
#include "src/arena.h"
#include <stdatomic.h>
#include <stdint.h>

struct plan_list {
    _Alignas(64) _Atomic uint64_t left; /* entries still to come: first << 32 | end */
    size_t begin, end;                  /* entries of plan.task */
};

struct plan {
    size_t n;
    int ncu;
    size_t *task; /* [n] tasks of unit 0, of unit 1, … in the order of their execution */
    struct plan_list *list; /* [ncu] */
};

/* Room for the job's tasks, fewer than 2^32, on its units, all lists empty (task[i] = i), from its
 * arena, which is checked: EK_UNAVAILABLE also for what the policy has taken from it before. One
 * thread, like everything here but plan_next(). */
enum ek_status plan_open(struct plan *p, const struct sched_job *job);

/* owner[i] is the unit of task order[i] (order NULL: i itself); each unit executes its tasks in
 * this order. All n tasks at once; rewinds. */
void plan_assign(struct plan *p, const int *owner, const size_t *order);

/* Unit cu gets the consecutive tasks of r; rewinds this unit. For plans in which plan_assign() was
 * never called and the chunks of all units are disjoint. */
void plan_set_chunk(struct plan *p, int cu, struct ek_range r);

/* The rule of `static`: the m units unit[0..m-1] (unit NULL: 0 .. m-1) share the tasks of r, the
 * c-th one getting the consecutive ones from c*|r|/m to (c+1)*|r|/m. Same condition. */
void plan_set_static(struct plan *p, const int *unit, int m, struct ek_range r);

/* The walk of `guided` (Gonzalez & Morancho 2024, Fig. 7): the ends of the m units' chunks, which
 * follow one another, move so that each one's sum of work[task] nears the mean. Every unit keeps a
 * task at least; nothing moves where there are fewer tasks than units. */
void plan_walk(struct plan *p, const int *unit, int m, const double *work);

/* Starts every list anew, for the next step. */
void plan_rewind(struct plan *p);

/* The next run of consecutive task numbers on unit cu's list, at most `most` of them. On the unit's
 * thread; units do not disturb one another. */
struct ek_range plan_next(struct plan *p, int cu, size_t most);

/* The last run of consecutive task numbers, of at most `most`, that is left on the list of unit
 * `victim`, for another unit. Any thread. */
struct ek_range plan_steal(struct plan *p, int victim, size_t most);

/* What is left of unit cu's list: entries of p->task. Any thread. */
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

/* Opens the plan and lets `assign` choose the unit of each task, in the order of descending cost:
 * owner[i] = unit of task order[i]; units execute their tasks in this order. EK_UNAVAILABLE: out of
 * memory, or what assign says. */
enum ek_status plan_by_cost(struct plan *p, const struct sched_job *job,
                            enum ek_status (*assign)(const struct sched_job *job,
                                                     const size_t *order, int *owner));

/* Numbers of the units of one kind, in order; returns how many. unit [job->ncu] */
int plan_units(const struct sched_job *job, enum cu_kind kind, int *unit);

/* Tasks 0..n-1 by descending cost, equal ones by number; cost NULL = all equal. order [n] */
void plan_sort(const double *cost, size_t n, size_t *order);

/* seconds[task] = what each task of a range took: each[task - r.begin], or where that is not known
 * (NULL) its share of the range's seconds in proportion to cost (NULL: evenly). */
void plan_divide(const double *cost, struct ek_range r, double sec, const double *each,
                 double *seconds);

/* Units by load: the least loaded one, lowest number among equals, in O(1), then O(log count). */
struct plan_heap {
    int count;
    struct plan_load {
        double load;
        int unit;
    } * top; /* [count] a binary heap: top[0] is the least loaded */
};

/* The heap's units become unit[0..m-1] (NULL: 0 .. m-1), in ascending order, without load. */
void plan_heap_fill(struct plan_heap *h, const int *unit, int m);
/* A heap of all units of the job in room of its arena. EK_UNAVAILABLE: out of memory. */
enum ek_status plan_heap_open(struct plan_heap *h, const struct sched_job *job);
/* Loads the least loaded unit with `sec` more and returns its number. */
int plan_heap_add(struct plan_heap *h, double sec);
