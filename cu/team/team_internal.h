/* cu/team/team_internal.h – a team as its own files see it: team.c runs it, team_measured.c
 * tells. */
#pragma once

#include "cu/team/task_history.h"
#include "cu/team/fault.h"
#include "cu/team/barrier.h"
#include "cu/sched/exchange.h"
#include "cu/sched/link.h"
#include "cu/team/team.h"
#include <pthread.h>
#include <stdatomic.h>

/* What a unit's own thread writes. */
struct unit {
    _Alignas(64) double busy_step; /* computing, in this step */
    double moving_step, busy, moving, launches, starving;
    double work, speed; /* declared cost computed in this step; cost per second of the last one */
    size_t tasks, bytes, migrations;
    bool dead, moved;        /* moved: moved a task since the program was told of the homes */
    struct team_share share; /* of the host work of an exchange */
    bool rests;              /* takes no part until the first unit's thread rouses it */
    atomic_uint asleep;      /* 1: waits for that */
    struct events events;
    struct link link; /* its moves */
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
    /* [set->nmemories] taken in pairs by whoever moves a task; that of the host never is, whose
     * pages are the tasks' own. */
    pthread_mutex_t *lock;
    struct sched_link link, face; /* as policies see them: as far as they have been measured */
    unsigned moves;               /* from which */
    struct exchange exchange;     /* and that */
    struct exchange_load *load;   /* [set->nmemories] room */
    atomic_int status;            /* first failure of any unit */
    atomic_bool data_lost;        /* a device went with its tasks' data: this step is void */
    struct fault_plan faults;
    int save_every, saved_step, last;         /* steps */
    struct barrier barrier;                   /* of the units' leading threads */
    bool again, more, stops, done, recording; /* decided by the first unit between two barriers */
    double run_start, step_start, exchanged;
    struct team_result result;
    void (*on_step)(void *arg, int step);
    void *on_step_arg;
};
