/* cu/sim/sim.c – the simulator: a heap of units by the time at which they become idle. */
#include "cu/sim/sim.h"

enum life { IDLE, BUSY, DEAD };

/* Times in seconds since the step's computation began. */
struct actor {
    enum life life;
    struct ek_range range; /* in progress; empty: about to ask */
    size_t task;           /* task of the range in progress */
    double start, begun;   /* when the range's and the task's computation began */
    double left, since;    /* seconds of the task left at time `since`, working alone */
    double alone, whole;   /* seconds of the task alone; and at the unit's initial speed */
    double slowdown, end;  /* present slowdown by neighbours; when the task will end */
    double factor;         /* of its initial speed */
};

struct sim {
    const struct sim_case *c;
    struct arena arena; /* of the arrays below */
    struct sched *sched;
    struct sched_unit *view;    /* [ncu] units as policies see them */
    struct actor *actor;        /* [ncu] */
    double *factor;             /* [ncu] the actors', for sim_bound() */
    int *heap, nheap;           /* busy units by end, then number */
    int *home;                  /* [n] memory node of each task's data */
    double *seconds;            /* [n] of each task in this step */
    struct loss_share *work;    /* [ncu] work, for the loss by cause */
    int (*active)[2];           /* [nnodes][kind] busy units of each node */
    bool interferes;            /* some unit is slowed by others */
    double *room;               /* [2 * nmemories] scratch for the exchange */
    struct exchange_load *load; /* [nmemories] likewise */
    int nmemories, nnodes, step, nextchange;
    int *last;                         /* [n] number of steps in which each task was executed */
    size_t executed;                   /* distinct tasks executed in this step */
    double *span;                      /* [steps] computation periods */
    bool moved;                        /* tasks moved since the last exchange */
    double exchange_s, exchange_bytes; /* of the last exchange */
    struct exchange exchange;          /* what policies have learnt about exchanges */
    struct sched_link link_seen;       /* what policies know about the link */
    struct sched_link face_seen;       /* and about a face that crosses */
    struct sim_result result;
};

/* ---- times ------------------------------------------------------------------------------------*/
static double launch_of(const struct sim *s, int cu)
{
    const struct actor *a = &s->actor[cu];
    return a->task == a->range.begin ? s->c->unit[cu].launch : 0;
}

/* Seconds of the task in progress if the unit were alone. */
static double seconds_of(const struct sim *s, int cu)
{
    const struct sim_unit *u = &s->c->unit[cu];
    const struct actor *a = &s->actor[cu];
    return (sim_seconds(s->c, u, a->task) * sim_noise(s->c, u, s->step, a->task) +
            launch_of(s, cu)) /
           a->factor;
}

static double slowdown_of(const struct sim *s, int cu)
{
    const struct sim_unit *u = &s->c->unit[cu];
    double slowdown = 1;
    for (int kind = 0; kind < 2; kind++)
        slowdown +=
            sim_curve_at(&u->slowed[kind], s->active[u->node][kind] - (kind == (int)u->kind));
    return slowdown;
}

static bool at_work(const struct actor *a)
{
    return a->life == BUSY && a->range.begin < a->range.end;
}

/* ---- transfers --------------------------------------------------------------------------------*/
static struct sched_link true_link(const struct sim *s)
{
    return s->c->job.link ? *s->c->job.link : (struct sched_link){0, 0};
}

/* A block takes the links of both memory nodes one after the other; the host has none. */
static double carry(const struct sim *s, int from, int to, double bytes)
{
    const struct sched_link link = true_link(s);
    double sec = link.latency + bytes * link.per_byte;
    return (from && to) ? 2 * sec : sec;
}

/* While no task moves, the cost of the exchange stays the same. */
static void exchange(struct sim *s)
{
    if ((s->c->job.first && s->moved) || (s->c->exchange && s->step == 0)) {
        const struct sched_link link = true_link(s);
        const struct exchange_load busiest =
            exchange_crossing(&s->c->job, s->home, s->nmemories, &link, s->load);
        exchange_moved(&s->exchange, busiest);
        s->exchange_s = sim_exchange_seconds(s->c, s->home, s->nmemories, s->room, &busiest);
        s->exchange_bytes = 0;
        for (int p = 0; p < s->nmemories; p++) /* each face was counted at both ends */
            s->exchange_bytes += s->load[p].bytes / 2;
    }
    s->moved = false;
    s->result.communication += s->exchange_s;
    s->result.bytes_moved += s->exchange_bytes;
}

/* Seconds until the device that computes in this memory node, if any, is done with its range. */
static double rest_of_range(const struct sim *s, int memory, double now)
{
    double rest = 0;
    for (int cu = 0; s->c->waits > 0 && memory != CU_HOST_MEMORY && cu < s->c->ncu; cu++) {
        const struct actor *a = &s->actor[cu];
        if (s->c->unit[cu].memory != memory || !at_work(a) || a->begun > now)
            continue;
        rest = fmax(a->end - now, 0);
        for (size_t t = a->task + 1; t < a->range.end; t++)
            rest += sim_seconds(s->c, &s->c->unit[cu], t) * a->slowdown / a->factor;
    }
    return rest;
}

static double migrate(struct sim *s, size_t task, int to, double now)
{
    double bytes = s->c->job.bytes ? s->c->job.bytes[task] : 0;
    double sec =
        carry(s, s->home[task], to, bytes) + s->c->waits * rest_of_range(s, s->home[task], now);
    s->home[task] = to;
    s->moved = true;
    s->result.migrations++;
    s->result.bytes_moved += bytes;
    return sec;
}

/* ---- the heap ---------------------------------------------------------------------------------*/
static bool sooner(const struct sim *s, int a, int b)
{
    double x = s->actor[a].end, y = s->actor[b].end;
    return x < y || (x == y && a < b);
}

static void push(struct sim *s, int cu)
{
    int at = s->nheap++;
    for (int up; at && sooner(s, cu, s->heap[up = (at - 1) / 2]); at = up)
        s->heap[at] = s->heap[up];
    s->heap[at] = cu;
}

static int pop(struct sim *s)
{
    int first = s->heap[0], moved = s->heap[--s->nheap], at = 0;
    for (int child; (child = 2 * at + 1) < s->nheap; at = child) {
        if (child + 1 < s->nheap && sooner(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!sooner(s, s->heap[child], moved))
            break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = moved;
    return first;
}

/* Rebuilds the heap without a unit that may be in it (-1: keep all). */
static void rebuild(struct sim *s, int cu)
{
    int count = s->nheap;
    s->nheap = 0;
    for (int i = 0; i < count; i++)
        if (s->heap[i] != cu)
            push(s, s->heap[i]);
}

/* ---- units ------------------------------------------------------------------------------------*/
/* Updates a unit's task at time `now`: the rest takes `stretch` times as long, with the present
 * neighbours. */
static void go_on(struct sim *s, int cu, double now, double stretch)
{
    struct actor *a = &s->actor[cu];
    const double left = fmax(a->left - fmax(now - a->since, 0) / a->slowdown, 0);
    a->since = fmax(now, a->since);
    a->left = left * stretch;
    a->alone += a->left - left;
    a->slowdown = slowdown_of(s, cu);
    a->end = a->since + a->left * a->slowdown;
}

/* A unit of the node has started or stopped: the others' speeds change. */
static void update_slowdowns(struct sim *s, int node, double now)
{
    for (int cu = 0; s->interferes && cu < s->c->ncu; cu++)
        if (s->c->unit[cu].node == node && at_work(&s->actor[cu]))
            go_on(s, cu, now, 1);
    if (s->interferes)
        rebuild(s, -1);
}

static void wake(struct sim *s, int cu, double now)
{
    struct actor *a = &s->actor[cu];
    a->life = BUSY;
    a->start = a->end = now;
    a->range = (struct ek_range){0, 0};
    s->active[s->c->unit[cu].node][s->c->unit[cu].kind]++;
    push(s, cu);
}

static void rest(struct sim *s, int cu, enum life life, double now)
{
    const struct sim_unit *u = &s->c->unit[cu];
    const bool was_busy = s->actor[cu].life == BUSY;
    s->actor[cu].life = life;
    if (was_busy) {
        s->active[u->node][u->kind]--;
        update_slowdowns(s, u->node, now);
    }
}

static void begin_task(struct sim *s, int cu, size_t task, double now)
{
    struct actor *a = &s->actor[cu];
    a->task = task;
    a->begun = a->since = now;
    a->left = a->alone = seconds_of(s, cu);
    a->whole = a->left > 0 ? a->left * a->factor : 1;
    a->slowdown = slowdown_of(s, cu);
    a->end = now + a->left * a->slowdown;
    push(s, cu);
}

static void note_task(struct sim *s, int cu)
{
    const struct sim_unit *u = &s->c->unit[cu];
    const struct actor *a = &s->actor[cu];
    double pace = a->alone / a->whole, launch = launch_of(s, cu) * pace;
    s->work[cu].rule += sim_seconds(s->c, u, a->task) * pace;
    s->work[cu].tasks += a->end - a->begun - launch;
    s->work[cu].launches += launch;
}

static void end_task(struct sim *s, int cu)
{
    struct actor *a = &s->actor[cu];
    const struct sim_event e = {s->step, cu, a->task, a->begun, a->end - a->begun};
    if (s->c->on_task)
        s->c->on_task(s->c->on_task_arg, &e);
    s->seconds[a->task] = (a->end - a->begun) * (1 - launch_of(s, cu) / a->whole);
    note_task(s, cu);
    s->executed += s->last[a->task]++ == s->step;
    s->span[s->step] = fmax(s->span[s->step], a->end);
}

/* The data of the whole range is moved first. */
static void begin_range(struct sim *s, int cu, struct ek_range r, double now)
{
    struct actor *a = &s->actor[cu];
    int memory = s->c->unit[cu].memory;
    a->range = r;
    a->start = now;
    for (size_t t = r.begin; t < r.end; t++)
        if (s->home[t] != memory)
            a->start += migrate(s, t, memory, a->start);
    s->work[cu].moving += a->start - now;
    begin_task(s, cu, r.begin, a->start);
}

static enum ek_status ask(struct sim *s, int cu, double now)
{
    struct ek_range r = sched_next(s->sched, cu);
    if (r.end > s->c->job.n || r.begin > r.end)
        FAIL(EK_UNVERIFIED, "simulation: the policy gave unit %d tasks %zu to %zu of %zu", cu,
             r.begin, r.end, s->c->job.n);
    if (r.begin == r.end)
        rest(s, cu, IDLE, now);
    else
        begin_range(s, cu, r, now);
    return EK_OK;
}

/* The end of a range that was computed as one. */
static void share_time(struct sim *s, struct ek_range r, double seconds)
{
    const double *cost = s->c->job.cost;
    double sum = 0;
    for (size_t t = r.begin; t < r.end; t++)
        sum += cost ? cost[t] : 1;
    for (size_t t = r.begin; t < r.end && sum > 0; t++)
        s->seconds[t] = seconds * (cost ? cost[t] : 1) / sum;
}

/* The unit has come to the end of a task, if it had one, and continues. */
static enum ek_status turn(struct sim *s, int cu)
{
    struct actor *a = &s->actor[cu];
    if (a->range.begin == a->range.end)
        return ask(s, cu, a->end);
    end_task(s, cu);
    if (a->task + 1 < a->range.end) {
        begin_task(s, cu, a->task + 1, a->end);
        return EK_OK;
    }
    if (s->c->unit[cu].batches)
        share_time(s, a->range, a->end - a->start);
    sched_done(s->sched, cu, a->range, a->end - a->start, s->seconds + a->range.begin);
    return ask(s, cu, a->end);
}

/* Finished tasks of a dying unit count; the rest goes to other units. */
static enum ek_status die(struct sim *s, int cu, double now)
{
    struct actor *a = &s->actor[cu];
    struct ek_range left = {0, 0};
    if (a->life == DEAD)
        return EK_OK;
    if (at_work(a)) {
        left = (struct ek_range){a->task, a->range.end};
        if (a->task > a->range.begin)
            sched_done(s->sched, cu, (struct ek_range){a->range.begin, a->task},
                       a->begun - a->start, s->seconds + a->range.begin);
    }
    rebuild(s, cu);
    rest(s, cu, DEAD, now);
    a->factor = s->factor[cu] = 0;
    TRY(sched_retire(s->sched, cu, left));
    for (int c = 0; c < s->c->ncu; c++)
        if (s->actor[c].life == IDLE) {
            wake(s, c, now);
            update_slowdowns(s, s->c->unit[c].node, now);
        }
    return EK_OK;
}

static enum ek_status change(struct sim *s, const struct sim_change *x, double now)
{
    struct actor *a = &s->actor[x->unit];
    if (x->factor == 0)
        return die(s, x->unit, now);
    if (a->life == DEAD)
        return EK_OK;
    if (at_work(a)) {
        go_on(s, x->unit, now, a->factor / x->factor);
        rebuild(s, -1);
    }
    a->factor = s->factor[x->unit] = x->factor;
    return EK_OK;
}

/* The next change due by time `now`; NULL: none. */
static const struct sim_change *due(struct sim *s, double now)
{
    if (s->nextchange == s->c->nchanges)
        return NULL;
    const struct sim_change *x = &s->c->change[s->nextchange];
    if (x->step > s->step || (x->step == s->step && x->after > now))
        return NULL;
    s->nextchange++;
    return x;
}

/* ---- steps ------------------------------------------------------------------------------------*/
static enum ek_status compute(struct sim *s)
{
    s->executed = 0;
    s->span[s->step] = 0;
    for (int c = 0; c < s->c->ncu; c++)
        if (s->actor[c].life != DEAD)
            wake(s, c, 0);
    for (;;) {
        double now = s->nheap ? s->actor[s->heap[0]].end : INFINITY;
        const struct sim_change *x = due(s, now);
        if (x)
            TRY(change(s, x, x->after));
        else if (s->nheap)
            TRY(turn(s, pop(s)));
        else
            break;
    }
    if (s->executed != s->c->job.n)
        FAIL(EK_UNVERIFIED, "simulation: the policy had %zu of %zu tasks executed in step %d",
             s->executed, s->c->job.n, s->step);
    return EK_OK;
}

static int steady_from(const double *span, int steps, double tolerance)
{
    int from = steps;
    while (from > 0 && fabs(span[from - 1] - span[steps - 1]) <= tolerance * span[steps - 1])
        from--;
    return from;
}

static enum ek_status run_steps(struct sim *s)
{
    for (s->step = 0; s->step < s->c->steps; s->step++) {
        exchange(s);
        TRY(compute(s));
        s->result.computation += s->span[s->step];
        s->result.total += s->span[s->step] + s->exchange_s + s->c->between;
        if (s->result.migrations > 0) /* a team would have measured them */
            s->link_seen = true_link(s);
        exchange_note(&s->exchange, &s->link_seen, s->exchange_s);
        s->face_seen = exchange_face(&s->exchange, &s->link_seen);
        TRY(sched_step(s->sched));
    }
    return EK_OK;
}

/* ---- opening ----------------------------------------------------------------------------------*/
/* What policies know at first: nothing when cold; else the speed, or a profile if one number does
 * not describe the times. Units with the same times share a profile. */
static void make_view(struct sim *s)
{
    const struct sim_case *c = s->c;
    for (int u = 0; u < c->ncu; u++) {
        const struct sim_unit *unit = &c->unit[u];
        s->view[u] = (struct sched_unit){
            .kind = unit->kind, .width = unit->width, .memory = unit->memory, .node = unit->node};
        if (c->cold)
            continue;
        s->view[u].speed = unit->speed;
        s->view[u].launch = unit->launch;
        if (unit->fixed == 0 && !unit->seconds)
            continue;
        for (int v = 0; v < u && !s->view[u].seconds; v++)
            if (sim_alike(unit, &c->unit[v]))
                s->view[u].seconds = s->view[v].seconds;
        if (s->view[u].seconds)
            continue;
        double *profile = ARENA_NEW(&s->arena, c->job.n, double);
        for (size_t t = 0; profile && t < c->job.n; t++)
            profile[t] = sim_seconds(c, unit, t);
        s->view[u].seconds = profile;
    }
}

static void count_places(struct sim *s)
{
    for (int u = 0; u < s->c->ncu; u++) {
        const struct sim_unit *unit = &s->c->unit[u];
        s->nmemories = unit->memory >= s->nmemories ? unit->memory + 1 : s->nmemories;
        s->nnodes = unit->node >= s->nnodes ? unit->node + 1 : s->nnodes;
        s->interferes |= unit->slowed[CU_CPU].n || unit->slowed[CU_DEVICE].n;
    }
}

static enum ek_status open_sim(struct sim *s, const char *schedule)
{
    const struct sim_case *c = s->c;
    count_places(s);
    s->view = ARENA_NEW(&s->arena, c->ncu, struct sched_unit);
    s->actor = ARENA_NEW(&s->arena, c->ncu, struct actor);
    s->factor = ARENA_NEW(&s->arena, c->ncu, double);
    s->heap = ARENA_NEW(&s->arena, c->ncu, int);
    s->home = ARENA_NEW(&s->arena, c->job.n, int);
    s->seconds = ARENA_NEW(&s->arena, c->job.n, double);
    s->work = ARENA_NEW(&s->arena, c->ncu, struct loss_share);
    s->last = ARENA_NEW(&s->arena, c->job.n, int);
    s->active = arena_take(&s->arena, (size_t)s->nnodes, sizeof *s->active);
    s->room = ARENA_NEW(&s->arena, 2 * s->nmemories, double);
    s->load = ARENA_NEW(&s->arena, s->nmemories, struct exchange_load);
    s->span = ARENA_NEW(&s->arena, c->steps, double);
    TRY(arena_check(&s->arena, "the simulation of %zu tasks on %d units", c->job.n, c->ncu));
    for (int u = 0; u < c->ncu; u++)
        s->actor[u].factor = s->factor[u] = 1;
    make_view(s);
    TRY(arena_check(&s->arena, "the profiles of %zu tasks", c->job.n));
    s->link_seen = s->face_seen = c->cold ? SCHED_LINK_USUAL : true_link(s);
    s->exchange = EXCHANGE_UNTIMED;
    struct sched_job job = c->job;
    job.unit = s->view;
    job.ncu = c->ncu;
    job.link = &s->link_seen;
    job.face = &s->face_seen;
    job.exchange = &s->exchange.rest;
    job.home = s->home;
    job.steps = (size_t)c->steps;
    return sched_open(schedule, &job, &s->sched);
}

static bool noisy_units(const struct sim_case *c)
{
    for (int u = 0; u < c->ncu; u++)
        if (sim_is_noisy(&c->unit[u]))
            return true;
    return false;
}

static void conclude(struct sim *s)
{
    const double *span = s->span;
    struct sim_result *r = &s->result;
    int steps = s->c->steps;
    r->makespan = steps ? span[steps - 1] : 0;
    r->worst_ratio = NAN;
    for (int i = 0; i < steps; i++) {
        bool same = i > 0 && s->c->noise == 0 && !s->c->nchanges && !noisy_units(s->c);
        r->lower_bound = same ? r->lower_bound : sim_step_bound(s->c, i);
        r->bounds += r->lower_bound;
        r->ratio = span[i] == r->lower_bound ? 1 : span[i] / r->lower_bound; /* 0 / 0, too */
        if (i >= 3)
            r->worst_ratio = fmax(r->worst_ratio, r->ratio);
    }
    if (steps == 0)
        r->lower_bound = r->ratio = NAN;
    r->loss = sim_loss(s->c, s->factor, r, s->work);
    r->steps_to_steady = steps ? steady_from(span, steps, 0.01 + s->c->noise) : 0;
}

enum ek_status sim_run(const struct sim_case *c, const char *schedule, double *span,
                       struct sim_result *result)
{
    struct sim s = {.c = c, .nmemories = 1};
    enum ek_status st = open_sim(&s, schedule);
    THEN(st, run_steps(&s));
    if (!st) {
        conclude(&s);
        *result = s.result;
        if (span)
            memcpy(span, s.span, (size_t)c->steps * sizeof *span);
    }
    sched_close(s.sched);
    arena_free(&s.arena);
    return st;
}
