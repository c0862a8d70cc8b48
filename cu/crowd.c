/* cu/crowd.c – a regression over pairs of runs. */
#include "cu/crowd.h"

#include <math.h>

/* A ratio beyond this is an accident (a page fault, a preempted thread), not a neighbour's. */
static const double MOST_LOG = 1;

/* Certain is a slope of so many standard errors, from so many pairs. */
static const double CERTAIN = 5, FEWEST_PAIRS = 8;

void crowd_add(struct crowd *c, struct crowd_sample before, struct crowd_sample now)
{
    if (before.neighbours < 0 || now.neighbours < 0 || !(before.seconds > 0 && now.seconds > 0))
        return;
    double x = now.neighbours - before.neighbours, y = log(now.seconds / before.seconds);
    if (fabs(y) > MOST_LOG)
        return;
    c->pairs++;
    c->xx += x * x;
    c->xy += x * y;
    c->yy += y * y;
    c->level += x * x * (now.neighbours + before.neighbours) / 2.;
}

void crowd_join(struct crowd *c, const struct crowd *other)
{
    c->pairs += other->pairs;
    c->xx += other->xx;
    c->xy += other->xy;
    c->yy += other->yy;
    c->level += other->level;
}

void crowd_fade(struct crowd *c, double share)
{
    c->pairs *= share;
    c->xx *= share;
    c->xy *= share;
    c->yy *= share;
    c->level *= share;
}

double crowd_share(const struct crowd *c)
{
    if (c->pairs < FEWEST_PAIRS || !(c->xx > 0) || !(c->xy > 0))
        return 0;
    double slope = c->xy / c->xx; /* of the logarithm: share / (1 + share * level) */
    double noise = fmax(0, c->yy - slope * c->xy) / (c->pairs - 1);
    if (slope * slope * c->xx <= CERTAIN * CERTAIN * noise)
        return 0;
    double rest = 1 - slope * c->level / c->xx;
    return rest > 0.05 ? slope / rest : slope / 0.05;
}
