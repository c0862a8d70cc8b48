/* cu/team/team.c – the step loop. Between two barriers each unit works on its own; what concerns
 * all units is done by the thread of one of them, the leader, while the others wait. */
#include "cu/team/team_internal.h"
#include "cu/rank/cluster.h"
#include "cu/team/thread_pool.h"
#include "cu/rank/stop.h"
#include "src/clock.h"

#include <omp.h>

/* known [units]: seconds and speeds known before the run; or NULL. */
static void describe_units(struct team *t, const struct sched_unit *known)
{
    for (int c = 0; c < t->set->n; c++) {
        const struct cu *u = &t->set->cu[c];
        t->view[c] = known ? known[c] : (struct sched_unit){.speed = 0};
        t->view[c].kind = u->kind;
        t->view[c].width = u->kind == CU_CPU ? u->width : 1;
        t->view[c].memory = u->memory;
    }
}

static enum ek_status begin_policy(struct team *t, const struct sched_job *job)
{
    t->job = *job;
    t->job.ncu = t->set->n;
    t->job.unit = t->view;
    t->job.link = &t->link;
    t->job.face = &t->face;
    t->job.exchange = &t->exchange.rest;
    t->job.home = t->history.home;
    return sched_open(t->schedule, &t->job, &t->sched);
}

enum ek_status team_open(struct cu_set *set, const struct sched_job *job,
                         const struct team_ops *ops, void *ctx, const char *schedule,
                         struct team **out)
{
    NEW(struct team, t, 1, "team: out of memory");
    t->set = set;
    t->ops = ops;
    t->ctx = ctx;
    t->schedule = schedule;
    t->view = ARENA_NEW(&t->arena, set->n, struct sched_unit);
    t->unit = ARENA_NEW(&t->arena, set->n, struct unit);
    t->load = ARENA_NEW(&t->arena, set->nmemories, struct exchange_load);
    t->tasks_in = ARENA_NEW(&t->arena, set->nmemories, size_t);
    t->lock = ARENA_NEW(&t->arena, set->nmemories, pthread_mutex_t);
    for (int m = 0; t->lock && m < set->nmemories; m++)
        pthread_mutex_init(&t->lock[m], NULL);
    enum ek_status st = arena_check(&t->arena, "%d units", set->n);
    THEN(st, task_history_open(&t->history, job));
    if (!st) {
        describe_units(t, job->unit);
        t->link = t->face = job->link ? *job->link : SCHED_LINK_USUAL;
        t->exchange = EXCHANGE_UNTIMED;
        st = begin_policy(t, job);
    }
    THEN(st, fault_parse(getenv("CU_FAULT"), set->n, &t->faults));
    return HAND_OUT(st, t, out, team_close);
}

void team_close(struct team *t)
{
    if (!t)
        return;
    sched_close(t->sched);
    for (int m = 0; t->lock && m < t->set->nmemories; m++)
        pthread_mutex_destroy(&t->lock[m]);
    for (int c = 0; t->unit && c < t->set->n; c++)
        events_free(&t->unit[c].events);
    task_history_close(&t->history);
    arena_free(&t->arena);
    free(t);
}

static void note_failure(struct team *t, enum ek_status st)
{
    int none = EK_OK;
    if (st)
        atomic_compare_exchange_strong(&t->status, &none, (int)st);
}

static bool failed(struct team *t)
{
    return atomic_load_explicit(&t->status, memory_order_relaxed) != EK_OK ||
           atomic_load_explicit(&t->data_lost, memory_order_relaxed);
}

static bool can_go_back(const struct team *t)
{
    return t->ops->restore && cluster_size() == 1;
}

/* A device is lost with its tasks' data, so this step is void; a failure only if the run cannot go
 * back to saved data. */
static enum ek_status lose_data(struct team *t, const char *name)
{
    if (!can_go_back(t))
        note_failure(t, status_fail(EK_UNAVAILABLE, "unit %s is lost with its data", name));
    atomic_store(&t->data_lost, true);
    return EK_OK;
}

/* Retires a unit that is lost while it holds the tasks `unfinished`. A lost CPU unit leaves their
 * data as it was before they began; with a device its tasks' data is lost. */
static void retire(struct team *t, const struct cu *cu, struct ek_range unfinished)
{
    const bool data = cu->kind == CU_DEVICE && t->ops->move;
    status_warn("unit %d (%s) is lost in step %d; %s", cu->index, cu->name, t->result.steps + 1,
                !data            ? "others take over its tasks"
                : can_go_back(t) ? "the run goes back to the data saved last"
                                 : "the run cannot go on");
    t->unit[cu->index].dead = true;
    __atomic_add_fetch(&t->result.retired, 1, __ATOMIC_RELAXED);
    if (data)
        lose_data(t, cu->name);
    note_failure(t, sched_retire(t->sched, cu->index, unfinished));
}

/* Handles the status that a verb returned on this unit. */
static void note_status(struct team *t, const struct cu *cu, enum ek_status st,
                        struct ek_range held)
{
    if (st == EK_LOST)
        retire(t, cu, held);
    else
        note_failure(t, st);
}

static void note_event(struct team *t, struct unit *u, struct events_entry e)
{
    if (!t->recording)
        return;
    e.start -= t->run_start;
    e.step = t->result.steps;
    if (e.tasks.begin < e.tasks.end) {
        e.first = t->job.number ? (size_t)t->job.number[e.tasks.begin] : e.tasks.begin;
        e.last = t->job.number ? (size_t)t->job.number[e.tasks.end - 1] : e.tasks.end - 1;
    }
    events_add(&u->events, e);
}

/* Locks or unlocks two memory nodes, always in ascending order to avoid deadlock. */
static void for_memories(struct team *t, int a, int b, int (*take_or_give)(pthread_mutex_t *))
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    if (low > 0)
        take_or_give(&t->lock[low]);
    if (high > 0 && high != low)
        take_or_give(&t->lock[high]);
}

/* Moves a task to the unit. If the device at the other end of the move is lost, this unit is not:
 * the step is void, and the device's own unit finds out when it next uses the device. */
static enum ek_status move_task(struct team *t, const struct cu *cu, size_t task)
{
    struct unit *u = &t->unit[cu->index];
    int from = t->history.home[task], to = cu->memory;
    if (from == to || !t->ops->move)
        return EK_OK;
    double start = clock_now();
    for_memories(t, from, to, pthread_mutex_lock);
    const double begun = clock_now();
    const size_t bytes = u->bytes;
    enum ek_status st = t->ops->move(t->ctx, task, from, to, &u->bytes);
    link_note(&u->link, (from != CU_HOST_MEMORY) + (to != CU_HOST_MEMORY),
              (double)(u->bytes - bytes), clock_now() - begun);
    const bool elsewhere = st == EK_LOST && cu_answers(cu);
    for_memories(t, from, to, pthread_mutex_unlock);
    if (st)
        return elsewhere ? lose_data(t, "at the other end of a move") : st;
    t->history.home[task] = to;
    u->moved = true;
    u->migrations++;
    double sec = clock_now() - start;
    u->moving_step += sec;
    note_event(
        t, u,
        (struct events_entry){
            .start = start, .seconds = sec, .tasks = {task, task + 1}, .activity = EVENTS_MOVE});
    return EK_OK;
}

/* Moves the tasks of a range to where they are computed. */
static enum ek_status bring(struct team *t, const struct cu *cu, struct ek_range r)
{
    for (size_t task = r.begin; task < r.end && !failed(t); task++)
        TRY(move_task(t, cu, task));
    memset(&t->history.seconds[r.begin], 0, (r.end - r.begin) * sizeof *t->history.seconds);
    return EK_OK;
}

/* Records a computed range. start: when compute() was called; fed: backend_fed() at that time. */
static void note_range(struct team *t, const struct cu *cu, struct ek_range r, double start,
                       double fed)
{
    struct unit *u = &t->unit[cu->index];
    if (cu->device)
        u->starving += fmax(0, clock_now() - start - (backend_fed(cu->device) - fed));
    note_event(t, u,
               (struct events_entry){.start = start,
                                     .seconds = clock_now() - start,
                                     .tasks = r,
                                     .activity = EVENTS_COMPUTE});
    fault_slow(&t->faults, cu->index, t->result.steps + 1, start, r, t->history.seconds);
    const double sum = task_history_note(&t->history, r, cu->kind);
    u->busy_step += sum;
    const double launch = fmax(0, clock_now() - start - sum);
    u->launches += launch;
    u->tasks += r.end - r.begin;
    for (size_t task = r.begin; task < r.end; task++)
        u->work += t->job.cost ? t->job.cost[task] : 1;
    sched_done(t->sched, cu->index, r, sum + launch, &t->history.seconds[r.begin]);
}

/* The next piece of the range held by the unit, which asks the policy for one if it holds none. */
static struct ek_range next_piece(struct team *t, const struct cu *cu, struct ek_range *held)
{
    if (held->begin == held->end)
        *held = sched_next(t->sched, cu->index);
    size_t most = cu->kind == CU_CPU ? t->ops->cpu_batch : 0;
    struct ek_range piece = *held;
    piece.end = most && piece.end - piece.begin > most ? piece.begin + most : piece.end;
    held->begin = piece.end;
    return piece;
}

/* Whether to stop within the step. A run that is saved ends after a step, to save its state. */
static bool stop_here(const struct team *t)
{
    return !t->save_every && stop_at_once();
}

static void compute_period(struct team *t, const struct cu *cu)
{
    struct ek_range held = {0, 0};
    struct unit *u = &t->unit[cu->index];
    if (!u->dead && fault_due(&t->faults, cu->index, t->result.steps + 1))
        retire(t, cu, held);
    while (!u->dead && !failed(t) && !stop_here(t)) {
        struct ek_range r = next_piece(t, cu, &held);
        if (r.begin == r.end)
            break;
        enum ek_status st = bring(t, cu, r);
        const double start = clock_now(), fed = cu->device ? backend_fed(cu->device) : 0;
        if (!st && !failed(t)) { /* otherwise the step is void */
            st = t->ops->compute(t->ctx, cu, r, &t->history.seconds[r.begin]);
            if (!st)
                note_range(t, cu, r, start, fed);
        }
        note_status(t, cu, st, (struct ek_range){r.begin, held.end > r.end ? held.end : r.end});
    }
}

static bool takes_part(const struct team *t, int c, bool only_cpus)
{
    return !t->unit[c].dead && !t->unit[c].rests && (!only_cpus || t->set->cu[c].kind == CU_CPU);
}

static int count_parts(const struct team *t, bool only_cpus)
{
    int n = 0;
    for (int c = 0; c < t->set->n; c++)
        n += takes_part(t, c, only_cpus);
    return n;
}

/* Divides the host work of the next exchange among the CPU units that take part, or all units if
 * there are none. Done between steps: shares must not change if a unit is lost during the
 * exchange. */
static void divide_exchange(struct team *t)
{
    const int cpus = count_parts(t, true), parts = cpus ? cpus : count_parts(t, false);
    for (int c = 0, part = 0; c < t->set->n; c++)
        t->unit[c].share = takes_part(t, c, cpus > 0) ? (struct team_share){part++, parts}
                                                      : (struct team_share){0, 0};
}

static void exchange_period(struct team *t, const struct cu *cu)
{
    struct unit *u = &t->unit[cu->index];
    const int phases = t->ops->exchange ? t->ops->exchange_phases(t->ctx) : 0;
    double start = clock_now();
    for (int phase = 0; phase < phases; phase++) {
        if (!u->dead && !failed(t))
            note_status(t, cu, t->ops->exchange(t->ctx, cu, phase, u->share, &u->bytes),
                        (struct ek_range){0, 0});
        barrier_wait(&t->barrier);
    }
    note_event(t, u,
               (struct events_entry){
                   .start = start, .seconds = clock_now() - start, .activity = EVENTS_EXCHANGE});
    if (cu->index == t->leader)
        t->exchanged = clock_now();
}

/* Adds the finished step to the result. On the leader's thread while the others wait. */
static struct team_step account_step(struct team *t)
{
    struct team_result *r = &t->result;
    double now = clock_now(), longest = 0, sum = 0, moving = 0;
    for (int c = 0; c < t->set->n; c++) {
        struct unit *u = &t->unit[c];
        double busy = u->busy_step + u->moving_step;
        longest = fmax(longest, busy);
        moving = fmax(moving, u->moving_step);
        sum += busy;
        u->busy += u->busy_step;
        u->moving += u->moving_step;
        if (u->busy_step > 0)
            u->speed = u->work / u->busy_step;
        u->busy_step = u->moving_step = u->work = 0;
    }
    r->computation_s += now - t->exchanged;
    r->communication_s += t->exchanged - t->step_start;
    r->moving_s += moving;
    if (sum > 0) /* running mean over the steps */
        r->imbalance += (longest * t->set->n / sum - 1 - r->imbalance) / (r->steps + 1);
    r->steps++;
    return (struct team_step){r->steps, t->history.seconds, longest};
}

/* Tells the program where tasks live now if that has changed. */
static enum ek_status tell_homes(struct team *t, bool changed)
{
    for (int c = 0; c < t->set->n; c++) {
        changed |= t->unit[c].moved;
        t->unit[c].moved = false;
    }
    if (!changed)
        return EK_OK;
    memset(t->tasks_in, 0, (size_t)t->set->nmemories * sizeof *t->tasks_in);
    for (size_t task = 0; task < t->history.n; task++)
        t->tasks_in[t->history.home[task]]++;
    if (t->job.first)
        exchange_moved(&t->exchange, exchange_crossing(&t->job, t->history.home, t->set->nmemories,
                                                       &t->link, t->load));
    return t->ops->set_placement ? t->ops->set_placement(t->ctx, t->history.home) : EK_OK;
}

/* Changes to other tasks after the ranks have divided them anew. */
static enum ek_status take_tasks(struct team *t, const struct sched_job *job, const int *was)
{
    TRY(task_history_renumber(&t->history, job, was));
    for (int c = 0; c < t->set->n; c++) {
        t->view[c].seconds = t->history.known[t->view[c].kind];
        if (!t->view[c].seconds && t->unit[c].speed > 0)
            t->view[c].speed = t->unit[c].speed;
    }
    sched_close(t->sched);
    t->sched = NULL;
    TRY(begin_policy(t, job));
    for (int c = 0; c < t->set->n; c++)
        if (t->unit[c].dead)
            TRY(sched_retire(t->sched, c, (struct ek_range){0, 0}));
    return tell_homes(t, true);
}

/* Goes back to the data saved last, on the living units. */
static enum ek_status roll_back(struct team *t)
{
    atomic_store(&t->data_lost, false);
    TRY(t->ops->restore(t->ctx));
    memset(t->history.home, 0, t->history.n * sizeof *t->history.home);
    t->result.repeated += t->result.steps - t->saved_step;
    t->result.steps = t->saved_step;
    TRY(tell_homes(t, true));
    return sched_restart(t->sched);
}

static enum ek_status save(struct team *t, bool now)
{
    if (!t->ops->save || !t->save_every || (t->result.steps % t->save_every && !now))
        return EK_OK;
    t->saved_step = t->result.steps;
    return t->ops->save(t->ctx, t->saved_step);
}

/* Learns the link's cost from moves, and that of faces from exchanges, unless ranks wait for one
 * another in them. */
static enum ek_status measure_links(struct team *t)
{
    unsigned moves = 0;
    for (int c = 0; c < t->set->n; c++)
        moves += t->unit[c].link.count;
    if (moves != t->moves)
        TRY(link_learn(&t->unit->link, t->set->n, sizeof *t->unit, &t->link));
    t->moves = moves;
    if (t->job.first && cluster_size() == 1)
        exchange_note(&t->exchange, &t->link, t->exchanged - t->step_start);
    t->face = exchange_face(&t->exchange, &t->link);
    return EK_OK;
}

static enum ek_status next_step(struct team *t)
{
    if (atomic_load(&t->data_lost))
        return roll_back(t);
    const struct team_step step = account_step(t);
    TRY(measure_links(t));
    TRY(tell_homes(t, false));
    if (t->ops->finish)
        TRY(t->ops->finish(t->ctx, &step, &t->done));
    if (t->on_step)
        t->on_step(t->on_step_arg, t->result.steps);
    const enum stop_wish wish = t->result.steps < t->last ? stop_wish() : STOP_NOTHING;
    t->stops = wish == STOP_END;
    TRY(save(t, wish != STOP_NOTHING));
    const struct sched_job *job;
    const int *was = NULL;
    if (t->ops->repartition)
        TRY(t->ops->repartition(t->ctx, &step, &job, &was));
    if (was)
        return take_tasks(t, job, was);
    const double start = clock_now();
    const enum ek_status status = sched_step(t->sched);
    t->result.planning_s += clock_now() - start;
    return status;
}

/* Decides how to go on when no unit has anything more to do. On the leader's thread. */
static void close_round(struct team *t)
{
    t->again = !failed(t) && !stop_here(t) && sched_pending(t->sched);
    t->more = false;
    if (t->again || atomic_load(&t->status) || stop_here(t))
        return;
    note_failure(t, next_step(t));
    t->more = !failed(t) && t->result.steps < t->last && !t->stops && !t->done;
    t->step_start = clock_now();
}

/* Lets units without work sleep after the coming barrier, so that they do not hold up short steps:
 * those whose memory node has no tasks. All are awake in a repeated round and where faults are
 * injected, and so is the leader, who wakes the others. Therefore a unit with work leads from the
 * next round on. */
static void choose_rest(struct team *t)
{
    const bool may = t->more && !t->again && !t->faults.n;
    int awake = 0, busy = t->set->n;
    for (int c = 0; c < t->set->n; c++) {
        struct unit *u = &t->unit[c];
        const bool idle = may && sched_rests(t->sched, c) && !t->tasks_in[t->set->cu[c].memory];
        u->rests = idle && c != t->leader;
        if (u->rests)
            atomic_store(&u->asleep, 1);
        awake += !u->rests;
        if (!idle && c < busy)
            busy = c;
    }
    t->leader = busy < t->set->n ? busy : t->leader;
    barrier_resize(&t->barrier, awake);
}

static void rouse(struct team *t)
{
    for (int c = 0; c < t->set->n; c++)
        if (!t->unit[c].rests && atomic_load(&t->unit[c].asleep))
            barrier_rouse(&t->unit[c].asleep);
}

static void unit_loop(struct team *t, const struct cu *cu)
{
    do {
        exchange_period(t, cu);
        do {
            const bool leads = cu->index == t->leader; /* it may change between the barriers */
            compute_period(t, cu);
            barrier_wait(&t->barrier);
            if (leads) {
                close_round(t);
                choose_rest(t);
                divide_exchange(t);
            }
            barrier_wait(&t->barrier);
            if (leads)
                rouse(t);
            else
                barrier_sleep(&t->unit[cu->index].asleep);
        } while (t->again);
    } while (t->more);
}

static void run_pool(void *pool, int width, void (*part)(void *arg, int thread), void *arg)
{
    thread_pool_run(pool, width, part, arg);
}

/* A unit's leading thread runs the loop; its other threads serve it. */
static void run_unit(struct team *t, struct cu *cu)
{
    struct thread_pool pool;
    if (cu->width <= 1) {
        unit_loop(t, cu);
        return;
    }
    thread_pool_init(&pool, cu->width, cu_oversubscribed(t->set));
#pragma omp parallel num_threads(cu->width) proc_bind(CU_BIND_PRIMARY)
    if (omp_get_thread_num() > 0) {
        thread_pool_serve(&pool, omp_get_thread_num());
    } else {
        const struct backend_pool lent = {run_pool, &pool, cu->width};
        cu->pool = &pool;
        if (cu->device)
            backend_use_pool(cu->device, &lent);
        unit_loop(t, cu);
        if (cu->device)
            backend_use_pool(cu->device, NULL);
        cu->pool = NULL;
        thread_pool_dismiss(&pool);
    }
}

static void collect(struct team *t, double start)
{
    t->result.seconds += clock_now() - start;
    t->result.bytes_moved = t->result.migrations = 0;
    for (int c = 0; c < t->set->n; c++) {
        t->result.bytes_moved += t->unit[c].bytes;
        t->result.migrations += t->unit[c].migrations;
    }
}

enum ek_status team_run(struct team *t, int steps)
{
    if (steps < 1)
        return EK_OK;
    t->last = t->result.steps + steps;
    cluster_barrier();
    double start = t->step_start = clock_now();
    if (t->result.steps == 0)
        t->run_start = start;
    barrier_init(&t->barrier, t->set->n, cu_oversubscribed(t->set));
    TRY(tell_homes(t, true));
    divide_exchange(t);
#pragma omp parallel num_threads(t->set->n) proc_bind(close)
    run_unit(t, &t->set->cu[omp_get_thread_num()]);
    collect(t, start);
    enum ek_status st = (enum ek_status)atomic_load(&t->status);
    return !st && t->result.steps < t->last && !t->done ? EK_STOPPED : st;
}

static enum ek_status bring_home(void *ctx, const struct cu *cu)
{
    struct team *t = ctx;
    size_t uncounted = 0;
    for (size_t task = 0; t->ops->move && cu->memory && task < t->history.n; task++)
        if (t->history.home[task] == cu->memory) {
            note_failure(t, t->ops->move(t->ctx, task, cu->memory, CU_HOST_MEMORY, &uncounted));
            t->history.home[task] = CU_HOST_MEMORY;
        }
    return EK_OK;
}

enum ek_status team_bring_home(struct team *t)
{
    cu_each(t->set, bring_home, t);
    return (enum ek_status)atomic_load(&t->status);
}
