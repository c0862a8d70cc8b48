/* cu/sched/incumbent.c – remembers the fastest partition. */
#include "cu/sched/incumbent.h"

#include <math.h>
#include <string.h>

/* After a partition has failed, the next must promise this many times the gain. */
static const double MORE = 10;

/* A change of the incumbent's own step time by this share means that the machine has changed; then
 * partitions that failed before may work. */
static const double CHANGED = 0.2;

void incumbent_open(struct incumbent *p, const struct sched_job *job)
{
    *p = (struct incumbent){.seconds = INFINITY, .caution = 1, .took = INFINITY};
    p->owner = ARENA_NEW(job->arena, job->n, int);
}

static double step_of(struct partition_cost c)
{
    return c.makespan + c.exchange;
}

static bool faces_cost_as_before(const struct incumbent *p, const struct partition *d)
{
    const struct exchange_cost *a = &d->faces, *b = &p->faces;
    return a->face.latency == b->face.latency && a->face.per_byte == b->face.per_byte &&
           a->rest.host == b->rest.host && a->rest.device == b->rest.device &&
           a->rest.cross == b->rest.cross;
}

/* Units or the cost of faces have changed: predicts the incumbent's step anew, and keeps the ratio
 * by which it exceeded its prediction. */
static void renew(struct incumbent *p, struct partition *d)
{
    const double planned = step_of(partition_predict(d, p->owner));
    if (isfinite(p->seconds) && planned > 0)
        p->seconds = planned * fmax(p->seconds / p->planned, 1);
    if (fabs(planned / p->planned - 1) > CHANGED)
        p->caution = 1;
    p->planned = planned;
    p->faces = d->faces;
}

bool incumbent_judge(struct incumbent *p, struct partition *d, double doubt, int *owner)
{
    const struct estimate *e = d->e;
    const size_t bytes = e->n * sizeof *owner;
    const struct partition_cost ran = partition_predict(d, e->owner);
    double longest = 0;
    for (int c = 0; c < e->ncu; c++)
        longest = fmax(longest, e->busy[c]);
    p->took = ran.exchange + (e->changed ? ran.makespan : longest);
    const bool learnt = !faces_cost_as_before(p, d);
    if (p->planned > 0 && (e->changed || learnt))
        renew(p, d);
    if (e->disturbed && memcmp(owner, e->owner, bytes)) {
        p->took = INFINITY; /* units helped one that was interrupted */
        return false;
    }
    const bool same = memcmp(e->owner, p->owner, bytes) == 0;
    const bool fails = !same && p->took > p->seconds * (1 + doubt) && !WITHOUT(INCUMBENT);
    if (fails) {
        p->caution *= learnt ? 1 : MORE; /* it was chosen by other costs */
        const double back = partition_predict(d, p->owner).moving;
        if (back < (p->took - p->seconds) * d->horizon) {
            p->took = p->seconds;
            memcpy(owner, p->owner, bytes);
            return true;
        }
        p->seconds = INFINITY;
    } else if (!same || fabs(p->took / p->seconds - 1) > CHANGED + doubt)
        p->caution = 1;
    if (same || p->took < p->seconds) {
        memcpy(p->owner, e->owner, bytes);
        p->seconds = p->took;
        p->planned = step_of(ran);
        p->faces = d->faces;
    }
    if (memcmp(owner, e->owner, bytes))
        p->took = INFINITY; /* units helped one another: this says nothing about the partition */
    return false;
}
