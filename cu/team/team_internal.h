/* cu/team/team_internal.h – the state of a team, shared by team.c (the step loop) and
 * team_measured.c (its results). */
#pragma once

#include "cu/team/task_history.h"
#include "cu/team/fault.h"
#include "cu/team/barrier.h"
#include "cu/sched/exchange.h"
#include "cu/sched/link.h"
#include "cu/team/team.h"
#include <pthread.h>
#include <stdatomic.h>

/* State of one unit, written by its own thread. */
struct unit {
    _Alignas(64) double busy_step;                        /* seconds of computing in this step */
    double moving_step, busy, moving, launches, starving; /* seconds, as in struct team_spent */
    double work, speed; /* declared cost computed in this step; cost per second in the last one */
    size_t tasks, bytes, migrations;
    bool dead, moved;        /* moved: has moved a task since the last set_placement() */
    struct team_share share; /* of the host work of an exchange */
    bool rests;              /* takes no part until the leader wakes it */
    atomic_uint asleep;      /* 1: waits for that */
    struct events events;
    struct link link; /* times of its moves */
};

struct team {
    struct arena arena; /* of the units */
    struct cu_set *set;
    struct sched_unit *view; /* [n units] as policies see them */
    const struct team_ops *ops;
    void *ctx;
    const char *schedule; /* borrowed */
    struct sched *sched;
    struct sched_job job;        /* as policies see it; its members are borrowed */
    struct task_history history; /* of the tasks */
    struct unit *unit;           /* [units] */
    /* [set->nmemories] held in pairs while a task moves; the host's is never taken, because there
     * each task has its own memory. */
    pthread_mutex_t *lock;
    struct sched_link link, face; /* transfer costs for policies, learnt as they are measured: */
    unsigned moves;               /* the link from this number of moves, */
    struct exchange exchange;     /* the faces from timed exchanges */
    struct exchange_load *load;   /* [set->nmemories] scratch */
    size_t *tasks_in;             /* [set->nmemories] tasks whose data is there */
    atomic_int status;            /* first failure of any unit */
    atomic_bool data_lost;        /* a device is lost with its tasks' data: this step is void */
    struct fault_plan faults;
    int save_every, saved_step, last; /* steps */
    struct barrier barrier;           /* of the units' leading threads */
    int leader; /* unit whose thread does what concerns all; changes between two barriers */
    /* Decided by the leader between two barriers: hand out tasks again in this step; another
     * step follows; signals ask to end; the program is done. */
    bool again, more, stops, done, recording;
    double run_start, step_start, exchanged;
    struct team_result result;
    void (*on_step)(void *arg, int step);
    void *on_step_arg;
};
