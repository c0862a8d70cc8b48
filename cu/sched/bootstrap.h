/* cu/sched/bootstrap.h – late binding: what to do in a step before anything is known of the units
 * but their kinds. Idle units help themselves.
 *
 * Largest first: an idle unit takes the task of the largest declared cost that is left. Only what
 * would keep a CPU unit busy for a quarter of the step or more is left to the devices while smaller
 * tasks last (a device counts as ESTIMATE_DEVICE CPU units there), and of that at least half, as
 * long as some device has not shown on a smaller task what it can do. One that is slower than the
 * CPU units is treated as one of them.
 *
 * Or together: where tasks exchange faces and are small, it matters more that the tasks of one
 * memory node are neighbours. CPU units take them from the first on, devices from the last on, in
 * stretches that grow.
 *
 * A unit of which the first ranges tell that launches count takes consecutive tasks at once. One
 * that would end a task later than the others end all that is left takes none; what a unit lags
 * behind the others' time it has waited for its tasks, and will again. */
#pragma once

#include "cu/sched/sched.h"
#include <pthread.h>

struct bootstrap_unit {
    size_t stretch;       /* of a device's next range, together; 0: has not asked yet */
    double wanted;        /* cost of a range in which its launch counts little */
    double cost, seconds; /* what it has done, and how long that took */
    double tasks, launch; /* of these seconds, without launches; the last launch */
    double carrying;      /* seconds that a task of its last range took to bring there */
    size_t range;         /* tasks of its last range */
    double until;         /* when it is through with what it has; INFINITY: not known */
    bool asked, left;     /* at all; the step, as it was given nothing once */
    bool known;           /* it has done something */
};

/* Places in the order: [first, end) from the front for devices and from the back for CPU units that
 * find nothing else, [small, n) for all. */
struct bootstrap {
    pthread_mutex_t lock; /* of all that follows */
    const struct sched_job *job;
    const size_t *order; /* NULL: by number, the last task first */
    size_t first, end, small;
    size_t number;  /* no task before it is left */
    bool *taken;    /* [n] */
    size_t tasks;   /* that nobody has taken */
    size_t reserve; /* of the large ones, for absent devices */
    size_t trial;   /* place of the first task that will do to try a device; n: none */
    int devices, absent, unknown; /* of the former: have not asked, have done nothing yet */
    int fast;                     /* of them: not known to be as slow as CPU units */
    double cost, rest;            /* of all tasks; of those that nobody has taken */
    double span;                  /* of the step, as far as units are known; 0: they are not */
    double now;                   /* seconds since the step began, as far as units tell */
    double cpu_speed;             /* cost / s of some CPU unit; 0: unknown */
    struct bootstrap_unit *unit;  /* [ncu] */
};

/* order [n]: tasks by descending cost; job and order are borrowed. Its memory is the job's arena's.
 * EK_UNAVAILABLE: out of memory. close accepts what was never opened, zeroed. One thread. */
enum ek_status bootstrap_open(struct bootstrap *l, const struct sched_job *job,
                              const size_t *order);
void bootstrap_close(struct bootstrap *l);

/* The next tasks for unit cu. Any thread, concurrently. */
struct ek_range bootstrap_next(struct bootstrap *l, int cu);

/* They took `sec` seconds, each[i] of them for its tasks (NULL: not known). Likewise. */
void bootstrap_done(struct bootstrap *l, int cu, struct ek_range r, double sec, const double *each);
