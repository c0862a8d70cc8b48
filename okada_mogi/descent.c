/* okada_mogi/descent.c – pattern search, one axis after another. */
#include "okada_mogi/descent.h"

enum { ROUNDS = 64 };

/* Moves to the best place tried on an axis; sets *moved if that is another one. */
static enum ek_status descend_axis(const struct job *job, const struct descent_objective *objective,
                                   int axis, long *place, double *misfit, bool *moved)
{
    const long n = job->axis[axis].n, here = place[axis];
    long best = here;
    for (long step = 1; step < n; step *= 2)
        for (int way = -1; way <= 1; way += 2) {
            double there;
            place[axis] = here + way * step;
            if (place[axis] < 0 || place[axis] >= n)
                continue;
            TRY(objective->evaluate(objective->arg, place, &there));
            if (there < *misfit) {
                *misfit = there;
                best = place[axis];
            }
        }
    *moved |= best != here;
    place[axis] = best;
    return EK_OK;
}

/* Repeats the step of the whole round, which began at `from`, while that helps: along a valley. */
static enum ek_status follow(const struct job *job, const struct descent_objective *objective,
                             const long *from, long *place, double *misfit)
{
    long step[JOB_AXES], next[JOB_AXES];
    for (int a = 0; a < job->naxes; a++)
        step[a] = place[a] - from[a];
    for (;;) {
        double there;
        for (int a = 0; a < job->naxes; a++) {
            next[a] = place[a] + step[a];
            if (next[a] < 0 || next[a] >= job->axis[a].n)
                return EK_OK;
        }
        TRY(objective->evaluate(objective->arg, next, &there));
        if (!(there < *misfit))
            return EK_OK;
        *misfit = there;
        memcpy(place, next, sizeof next);
    }
}

enum ek_status descent_run(const struct job *job, const struct descent_objective *objective,
                           trial_number from, double misfit)
{
    long place[JOB_AXES], before[JOB_AXES];
    bool moved = true;
    trial_place(job->axis, job->naxes, from, place);
    for (int round = 0; moved && round < ROUNDS; round++) {
        moved = false;
        memcpy(before, place, sizeof before);
        for (int a = 0; a < job->naxes; a++)
            TRY(descend_axis(job, objective, a, place, &misfit, &moved));
        if (moved)
            TRY(follow(job, objective, before, place, &misfit));
    }
    return EK_OK;
}
