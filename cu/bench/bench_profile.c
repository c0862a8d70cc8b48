/* cu/bench/bench_profile.c – times every task on every kind of unit by ordinary runs of HEFT, which
 * is told that all other kinds would take forever. */
#include "cu/bench/bench_profile.h"
#include "cu/rank/cluster.h"

#include <unistd.h>

enum { STEPS = 5 }; /* on each kind; the median counts */
static const double FOREVER = 1e30;

OWNED_POINTER(struct team, team_close)

enum ek_status bench_profile_open(const struct bench_program *program, const char *problem,
                                  struct cu_set *set, const struct sched_job *job,
                                  struct bench_profile *p)
{
    *p = (struct bench_profile){.set = set};
    TRY(profile_open(program->identity.name, problem, job->n, set, &p->profile));
    if (MUTED(profile_path(&p->profile, p->path)))
        p->path[0] = '\0'; /* no folder can be written, so there is no profile */
    p->unit = ARENA_NEW(&p->profile.arena, set->n, struct sched_unit);
    return arena_check(&p->profile.arena, "%d units", set->n);
}

void bench_profile_close(struct bench_profile *p)
{
    profile_close(&p->profile);
}

/* ---- making -----------------------------------------------------------------------------------*/
static enum ek_status take_seconds(const struct team *team, struct profile *p,
                                   struct profile_kind *kind)
{
    kind->seconds = ARENA_NEW(&p->arena, p->n, double);
    TRY(arena_check(&p->arena, "%zu tasks", p->n));
    for (size_t t = 0; t < p->n; t++) {
        kind->seconds[t] = team_task_seconds(team, t, kind->kind);
        if (!isfinite(kind->seconds[t]))
            FAIL(EK_UNAVAILABLE, "profile: task %zu has no time on %s; was a unit lost?", t,
                 kind->name);
    }
    return EK_OK;
}

static enum ek_status measure(struct bench_profile *p, const struct bench_program *program,
                              void *st, const struct sched_job *job, struct profile_kind *kind)
{
    OWNED(owned_team_close) struct team *team = NULL;
    int steps = program->run.steps(st);
    TRY(program->run.reset(st));
    TRY(team_open(p->set, job, program->run.verbs, st, "heft:learn=0", &team));
    TRY(team_run(team, steps < STEPS ? steps : STEPS));
    TRY(take_seconds(team, &p->profile, kind));
    return team_bring_home(team);
}

/* Makes HEFT use units of this kind only: they take `cost` seconds, the others forever. */
static void steer(struct bench_profile *p, const struct profile_kind *kind, const double *cost,
                  const double *forever)
{
    for (int c = 0; c < p->set->n; c++)
        p->unit[c].seconds = profile_find(&p->profile, &p->set->cu[c]) == kind ? cost : forever;
}

enum ek_status bench_profile_make(struct bench_profile *p, const struct bench_program *program,
                                  void *st, const struct sched_job *job)
{
    struct sched_job steered = *job;
    if (cluster_size() > 1)
        FAIL(EK_USAGE, "--profile wants one process, not %d", cluster_size());
    TRY(profile_path(&p->profile, p->path));
    double *times = ARENA_NEW(&p->profile.arena, 2 * job->n, double);
    TRY(arena_check(&p->profile.arena, "%zu tasks", job->n));
    for (size_t t = 0; t < job->n; t++) {
        times[t] = job->cost ? job->cost[t] : 1;
        times[job->n + t] = FOREVER;
    }
    steered.unit = p->unit;
    for (int k = 0; k < p->profile.nkinds; k++) {
        steer(p, &p->profile.kind[k], times, times + job->n);
        TRY(measure(p, program, st, &steered, &p->profile.kind[k]));
    }
    return profile_save(&p->profile, p->path);
}

/* ---- using ------------------------------------------------------------------------------------*/
/* Loads the file unless the profile was just made. */
static bool known(struct bench_profile *p)
{
    if (p->profile.nkinds && p->profile.kind[0].seconds)
        return true;
    if (cluster_size() > 1 || access(p->path, F_OK))
        return false;
    const enum ek_status st = MUTED(profile_load(p->path, &p->profile));
    if (st)
        status_warn("profile ignored: %s", status_message());
    return !st;
}

bool bench_profile_use(struct bench_profile *p, struct sched_job *job)
{
    if (!known(p))
        return false;
    for (int c = 0; c < p->set->n; c++)
        p->unit[c].seconds = profile_find(&p->profile, &p->set->cu[c])->seconds;
    job->unit = p->unit;
    return true;
}
