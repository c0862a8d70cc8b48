/* tests/replay_sabotage.c – a cu-plan whose policies do wrong: linked with --wrap for the policies,
 * it puts itself between them and the scheduler. What the published results are held against must
 * turn red.
 *
 * SABOTAGE=POLICY:HOW, POLICY as in --list-schedules or "all", HOW one of
 *   fiftieth  a device gets no more than n/50 tasks a step, CPU units, if any, do the rest
 *   ignore    the last unit of the most precious kind gets nothing, the others do its part
 *   single    the first unit gets everything
 *   shuffle   what a unit asks for, it gets of its neighbour: units' parts are exchanged
 * Each still executes every task once, so nobody notices but who looks at the times. */
#include "cu/sched/sched.h"

#include <stdlib.h>
#include <string.h>

enum how { FIFTIETH, IGNORE, SINGLE, SHUFFLE, NHOW };
static const char *const names[NHOW] = {"fiftieth", "ignore", "single", "shuffle"};

static struct {
    int ncu, victim;  /* the unit that is ignored */
    size_t n, *given; /* [ncu] tasks of this step */
    const struct sched_unit *unit;
    struct ek_range *rest; /* [ncu] of a range, beyond what the unit may have */
} job;

/* NHOW: this policy is left alone. */
static enum how wrong(const struct sched_ops *ops)
{
    const char *spec = getenv("SABOTAGE"), *colon = spec ? strchr(spec, ':') : NULL;
    const size_t length = colon ? (size_t)(colon - spec) : 0;
    if (!colon ||
        ((strncmp(spec, ops->name, length) || ops->name[length]) && strncmp(spec, "all", length)))
        return NHOW;
    for (int i = 0; i < NHOW; i++)
        if (!strcmp(colon + 1, names[i]))
            return (enum how)i;
    abort();
}

static enum ek_status begin(const struct sched_ops *ops, void *st, const struct sched_job *j)
{
    job.ncu = j->ncu;
    job.n = j->n;
    job.unit = j->unit;
    free(job.given);
    free(job.rest);
    job.given = calloc((size_t)j->ncu, sizeof *job.given);
    job.rest = calloc((size_t)j->ncu, sizeof *job.rest);
    if (!job.given || !job.rest)
        FAIL(EK_UNAVAILABLE, "out of memory");
    job.victim = 0; /* one task on one unit stays as it is */
    for (int c = 1; c < j->ncu; c++)
        if (j->unit[c].kind >= j->unit[job.victim].kind)
            job.victim = c;
    return ops->begin(st, j);
}

/* A piece of what devices may not have, else what the policy has for unit `of`. */
static struct ek_range ask(const struct sched_ops *ops, void *st, int of)
{
    const size_t piece = job.n / (4 * (size_t)job.ncu) + 1;
    for (int c = 0; c < job.ncu; c++) {
        struct ek_range r = job.rest[c];
        if (r.begin == r.end)
            continue;
        r.end = r.end - r.begin > piece ? r.begin + piece : r.end;
        job.rest[c].begin = r.end;
        return r;
    }
    return ops->next(st, of);
}

static struct ek_range ask_all(const struct sched_ops *ops, void *st, int first)
{
    struct ek_range r = ask(ops, st, first);
    for (int c = 0; c < job.ncu && r.begin == r.end; c++)
        r = ask(ops, st, c);
    return r;
}

/* A device's range is cut where it has had a fiftieth; a CPU unit takes what that leaves. */
static struct ek_range fiftieth(const struct sched_ops *ops, void *st, int cu)
{
    const size_t most = job.n / 50;
    if (job.unit[cu].kind != CU_DEVICE)
        return ask_all(ops, st, cu);
    if (job.unit[0].kind == CU_DEVICE) /* CPU units come first */
        return ops->next(st, cu);
    if (job.given[cu] >= most)
        return (struct ek_range){0, 0};
    struct ek_range r = ops->next(st, cu);
    if (r.end - r.begin > most - job.given[cu]) {
        const size_t end = r.begin + most - job.given[cu];
        job.rest[cu] = (struct ek_range){end, r.end};
        r.end = end;
    }
    job.given[cu] += r.end - r.begin;
    return r;
}

static struct ek_range next(const struct sched_ops *ops, void *st, int cu)
{
    const struct ek_range none = {0, 0};
    switch (wrong(ops)) {
    case FIFTIETH:
        return fiftieth(ops, st, cu);
    case IGNORE:
        if (cu == job.victim && job.ncu > 1)
            return none;
        const struct ek_range r = ops->next(st, cu);
        return r.begin < r.end ? r : ops->next(st, job.victim);
    case SINGLE:
        return cu ? none : ask_all(ops, st, 0);
    case SHUFFLE:
        return ops->next(st, job.ncu - 1 - cu);
    default:
        return ops->next(st, cu);
    }
}

static void step(const struct sched_ops *ops, void *st)
{
    memset(job.given, 0, (size_t)job.ncu * sizeof *job.given);
    ops->step(st);
}

#define SCHED(policy)                                                                              \
    extern const struct sched_ops __real_sched_##policy;                                           \
    extern struct sched_ops __wrap_sched_##policy;                                                 \
    struct sched_ops __wrap_sched_##policy;                                                        \
    static enum ek_status begin_##policy(void *st, const struct sched_job *j)                      \
    {                                                                                              \
        return begin(&__real_sched_##policy, st, j);                                               \
    }                                                                                              \
    static struct ek_range next_##policy(void *st, int cu)                                         \
    {                                                                                              \
        return next(&__real_sched_##policy, st, cu);                                               \
    }                                                                                              \
    static void step_##policy(void *st)                                                            \
    {                                                                                              \
        step(&__real_sched_##policy, st);                                                          \
    }                                                                                              \
    __attribute__((constructor)) static void wrap_##policy(void)                                   \
    {                                                                                              \
        __wrap_sched_##policy = __real_sched_##policy;                                             \
        __wrap_sched_##policy.begin = begin_##policy;                                              \
        __wrap_sched_##policy.next = next_##policy;                                                \
        __wrap_sched_##policy.step = step_##policy;                                                \
    }
#include "cu/sched/sched_list.h"
