/* cu/sched/bootstrap.h – late binding, for a first step in which only the kinds of the units are
 * known.
 *
 * An idle unit takes the remaining task of the largest declared cost, with two exceptions. Where
 * one task is more than all units' equal shares of the work, each unit shows its speed on a small
 * task first, as whoever asks first may be the slowest. And tasks that would keep a CPU unit busy
 * for a quarter of the step or more are reserved for devices while smaller ones last (a device
 * counts as ESTIMATE_DEVICE CPU units), at least half of them until every device has shown its
 * speed on a smaller task, even if then some CPU unit gets none. A device slower than the CPU units
 * is treated like one of them; others take twice as many consecutive tasks each time, up to half of
 * their share of what is left (a whole part for each device if a launch may be most of the first
 * task's time and no CPU unit's speed is known), as only ranges of unlike lengths tell launches
 * that are hidden in the tasks' times.
 *
 * A unit whose first ranges show that launches matter takes consecutive tasks at once. A unit takes
 * no task that faster ones would end before it, after all that is larger; one of its own kind
 * counts as faster only where costs are declared, as its tasks may have been shorter. The time by
 * which a unit lags behind the others is counted as waiting for transfers, and expected again. */
#pragma once

#include "cu/sched/sched.h"
#include <pthread.h>

struct bootstrap_unit {
    double wanted;        /* cost of a range long enough for its launch not to matter */
    double cost, seconds; /* cost done so far, and the seconds it took */
    double tasks, launch; /* seconds without launches; seconds of the last launch */
    double least, first;  /* cost and seconds of its first range */
    double inside;        /* launch seconds hidden in the times of each range's tasks */
    double carrying;      /* seconds to bring one task there, by its last range */
    size_t range, ranges; /* tasks of its present range; ranges so far */
    double until;         /* when it will finish that; INFINITY: unknown */
    bool asked, left;     /* has asked; has been given nothing, so may not ask again */
    bool known;           /* has finished a range */
};

/* Places in `order`: [first, end) large tasks, taken from the front by devices and from the back by
 * CPU units that find nothing else; [small, n) tasks for all. */
struct bootstrap {
    pthread_mutex_t lock; /* of all that follows */
    const struct sched_job *job;
    const size_t *order;
    size_t first, end, small;
    size_t number;  /* no task before it is left */
    bool *taken;    /* [n] */
    size_t tasks;   /* tasks not taken yet */
    size_t reserve; /* large tasks kept for devices that have not asked yet */
    size_t trial;   /* place of the first task small enough to try a unit with; n: none */
    bool giant; /* a task is more than an equal share of the work: units show their speeds first */
    int devices, absent,
        unknown; /* devices; those that have not asked; those that have not finished anything */
    int fast;    /* devices not known to be as slow as CPU units */
    double cost, rest; /* cost of all tasks; of those not taken yet */
    double now;        /* seconds since the step began, by the units' busy times */
    double cpu_speed;  /* cost per second of the CPU unit that reported last; 0: unknown */
    struct bootstrap_unit *unit; /* [ncu] */
};

/* order [n]: tasks by descending cost; job and order are borrowed. Memory comes from the job's
 * arena. EK_UNAVAILABLE: out of memory. close accepts a zeroed struct that was never opened. One
 * thread. */
enum ek_status bootstrap_open(struct bootstrap *l, const struct sched_job *job,
                              const size_t *order);
void bootstrap_close(struct bootstrap *l);

/* The next tasks for unit cu. On any thread, concurrently. */
struct ek_range bootstrap_next(struct bootstrap *l, int cu);

/* Unit cu finished range r in `sec` seconds, each[i] for its tasks (NULL: not measured). */
void bootstrap_done(struct bootstrap *l, int cu, struct ek_range r, double sec, const double *each);
