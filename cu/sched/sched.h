/* cu/sched/sched.h – scheduling policies hand out the tasks of each step; this core runs them.
 *
 * A policy is one file cu/sched/policy/<name>.c with one const struct sched_ops, and one line in
 * sched_list.h. The same code serves the CUs of a node, the nodes of a cluster and simulated CUs: a
 * policy never sees which. Tasks are numbered 0..n-1 in their natural order. */
#ifndef CU_SCHED_H
#define CU_SCHED_H

#include "cu/unit/cu.h"
#include "src/status.h"
#include <stddef.h>
#include <stdio.h>

struct opt;   /* src/opt.h */
struct arena; /* src/arena.h */

struct ek_range {
    size_t begin, end; /* tasks begin .. end-1; begin == end: none */
};

/* A unit as policies see it. */
struct sched_unit {
    enum cu_kind kind;
    int width;             /* cores; 1 for a device */
    int memory;            /* units with the same number share memory */
    int node;              /* units with the same number may slow one another */
    double speed;          /* declared cost (tasks, where none is declared) per second, 0 unknown */
    const double *seconds; /* [n] known seconds of each task here, from a profile; NULL unknown */
    double launch;         /* seconds to begin a range, on top of its tasks; 0 none or unknown */
};

/* Carrying a block of bytes between the host and a device takes latency + bytes * per_byte, twice
 * that from one device to another. */
struct sched_link {
    double latency, per_byte; /* seconds; 0 = free */
};

/* Assumed where nothing is known: 10 us, 12 GB/s, which PCI Express 3.0 x16 reaches. */
#define SCHED_LINK_USUAL ((struct sched_link){10e-6, 1 / 12e9})

/* What exchanges cost besides the faces that cross between memory nodes, as far as measured. */
struct sched_exchange {
    double cross; /* seconds, once, if any face crosses */
    double host,
        device;     /* seconds per byte of faces inside the host; inside the device with most */
    double seconds; /* of the latest exchange; NAN: none has been timed yet */
    bool crossed;   /* one in which faces cross has been timed */
};

/* The work. Arrays are borrowed by the policy until end(). */
struct sched_job {
    size_t n;     /* tasks */
    size_t grain; /* smallest useful chunk, at least 1 */
    int ncu;
    const struct sched_unit *unit; /* [ncu] */
    const double *cost;            /* [n] declared cost of a task, any unit; NULL = equal */
    const double
        *bytes; /* [n] bytes to carry when the task moves to another memory node; NULL = 0 */
    /* Neighbours exchange faces. A graph in compressed rows: task t's neighbours are
     * neighbour[first[t] .. first[t+1]-1], with face_bytes beside; all NULL = none. */
    const size_t *first, *neighbour;
    const double *face_bytes;
    const struct sched_link *link; /* NULL: unknown, policies assume SCHED_LINK_USUAL */
    /* What each face between two memory nodes adds to the exchange, measured so far; NULL: as
     * `link` says. */
    const struct sched_link *face;
    const struct sched_exchange *exchange; /* what else it costs; NULL: nothing */
    /* [n] the memory node that holds each task's data; NULL: all on the host. The caller updates
     * homes in place when a task moves, and the links between steps. */
    const int *home;
    /* Where ranks share tasks: [n] the global number of each, and how many tasks there are in all;
     * NULL: these are all. Policies need not know. */
    const int *number;
    size_t all;
    size_t steps;        /* to be run; 0 = not known */
    const void *options; /* values of the policy's option table; not NULL if it has one */
    struct arena *arena; /* memory of the policy, freed after end() and after a failed begin() */
};

/* Every unit has a declared speed or a profile. */
static inline bool sched_knows_speeds(const struct sched_job *job)
{
    for (int c = 0; c < job->ncu; c++)
        if (!job->unit[c].seconds && !(job->unit[c].speed > 0))
            return false;
    return true;
}

/* One policy. The core zeroes state_size bytes, aligned to 64, before begin(). */
struct sched_ops {
    const char *name, *summary;
    size_t state_size;
    const struct opt *opts;       /* option table, or NULL */
    size_t opts_size;             /* bytes of its values */
    void (*defaults)(void *opts); /* NULL = zeroes */
    /* One thread. Plans the first step. EK_UNAVAILABLE: out of memory; EK_USAGE: job does not
     * fit. */
    enum ek_status (*begin)(void *st, const struct sched_job *);
    /* On any unit's thread, concurrently, lock-free where possible. An empty range: nothing more
     * for this unit now, but it may be asked again in the same step. */
    struct ek_range (*next)(void *st, int cu);
    /* On the unit's thread: this range took `sec` seconds of computation. The range is a part of
     * what next() gave to this unit or to one that died. each[i] is the time of task range.begin +
     * i (NULL: not measured; borrowed for the call); the remainder of `sec` went into beginning and
     * ending the range. Or NULL. */
    void (*done)(void *st, int cu, struct ek_range, double sec, const double *each);
    /* Between two steps, one thread, all units idle: plans the next step. */
    void (*step)(void *st);
    /* Gives back what begin() took outside of the arena; never called after a failed begin(). Or
     * NULL. */
    void (*end)(void *st);
    /* On its managing thread: unit cu is dead. next() for it now yields what was planned for it,
     * for the other units, which will all be asked again. Or NULL. */
    void (*lost)(void *st, int cu);
    /* On any unit's thread, one at a time: index of the range, of `count` that lost units left
     * behind, that unit cu takes now; count: none, because another unit will end them sooner. NULL:
     * the first. */
    size_t (*adopt)(void *st, int cu, const struct ek_range *left, size_t count);
    /* After step(), same thread: unit cu has nothing to do in the coming step, which is so short
     * that it need not even be asked. NULL: all are asked. */
    bool (*rests)(void *st, int cu);
};

int sched_count(void);
const struct sched_ops *sched_at(int i); /* NULL past the end */
/* Adds a policy from outside this tree behind the listed ones; borrowed for good. EK_USAGE: the
 * name is taken, or there is no more room. One thread, first thing in main(). */
enum ek_status sched_add(const struct sched_ops *ops);

/* A running policy: "dynamic:chunk=4" over a job, with units that may die. */
struct sched;

/* Looks up the policy (NULL: evenkeel) and parses its options. EK_USAGE names the nearest policy or
 * option. The arrays of *job are borrowed until sched_close(), the struct is copied. One thread. */
enum ek_status sched_open(const char *spec, const struct sched_job *job, struct sched **s);
void sched_close(struct sched *s);

/* Checks a spec without running it; *name (borrowed, may be NULL) = the policy's own name. */
enum ek_status sched_check(const char *spec, const char **name);

/* Splits "static,dynamic:chunk=4,learn=2" in place into specs (NULL, "" and "all": every policy)
 * and checks each; *n of them, at most `room`. EK_USAGE as above, also for too many. */
enum ek_status sched_split(char *list, const char **spec, int room, int *n);

/* As the policy's functions, and hands out the ranges that lost units left behind. */
struct ek_range sched_next(struct sched *s, int cu);
void sched_done(struct sched *s, int cu, struct ek_range r, double sec, const double *each);
enum ek_status sched_step(struct sched *s);

/* Unit `cu` is dead; `unfinished` (may be empty) is what it held. That, and what it would still
 * have got in this step, goes to the other units that ask, by the policy's adopt(). From the next
 * step on, the policy starts anew with the living units. On the dead unit's managing thread.
 * EK_UNAVAILABLE: it was the last unit. */
enum ek_status sched_retire(struct sched *s, int cu, struct ek_range unfinished);

/* Abandons the step: nothing of it counts, and the policy starts anew with the living units. One
 * thread, all units idle. EK_UNAVAILABLE: no unit lives, or out of memory. */
enum ek_status sched_restart(struct sched *s);

/* Unit cu lives but need not be asked in the coming step. One thread, all idle. */
bool sched_rests(struct sched *s, int cu);

/* Ranges of lost units are waiting: a unit that got nothing should ask again. */
bool sched_pending(const struct sched *s);

/* Prints name, summary and options of every policy, for --list-schedules. */
void sched_print(FILE *out);

#endif
