/* cu/sched/crowd.c – a regression over pairs of runs. */
#include "cu/sched/crowd.h"

#include <math.h>

/* A ratio beyond this is an accident (a page fault, a preempted thread), not a neighbour's. */
static const double MOST_LOG = 1;

/* Certain is a slope of so many standard errors, from so many pairs. */
static const double CERTAIN = 5, FEWEST_PAIRS = 8;

void crowd_add(struct crowd *c, struct crowd_sample before, struct crowd_sample now)
{
    const float *a = before.near.busy, *b = now.near.busy;
    if (a[0] < 0 || b[0] < 0 || !(before.seconds > 0 && now.seconds > 0))
        return;
    double x[2] = {b[0] - a[0], b[1] - a[1]}, y = log(now.seconds / before.seconds);
    double weight = x[0] * x[0] + x[1] * x[1];
    if (fabs(y) > MOST_LOG)
        return;
    c->pairs++;
    c->yy += y * y;
    for (int i = 0; i < 2; i++) {
        c->xx[i][0] += x[i] * x[0];
        c->xx[i][1] += x[i] * x[1];
        c->xy[i] += x[i] * y;
        c->level[i] += weight * (a[i] + b[i]) / 2;
    }
}

void crowd_join(struct crowd *c, const struct crowd *other)
{
    c->pairs += other->pairs;
    c->yy += other->yy;
    for (int i = 0; i < 2; i++) {
        c->xx[i][0] += other->xx[i][0];
        c->xx[i][1] += other->xx[i][1];
        c->xy[i] += other->xy[i];
        c->level[i] += other->level[i];
    }
}

void crowd_fade(struct crowd *c, double share)
{
    c->pairs *= share;
    c->yy *= share;
    for (int i = 0; i < 2; i++) {
        c->xx[i][0] *= share;
        c->xx[i][1] *= share;
        c->xy[i] *= share;
        c->level[i] *= share;
    }
}

/* One slope alone, the other kind of neighbours left out; 0 if it is none. */
static double slope_alone(const struct crowd *c, int i)
{
    return c->xx[i][i] > 0 ? fmax(0, c->xy[i] / c->xx[i][i]) : 0;
}

/* Slopes of the logarithm; false where the two kinds always came and went together. */
static bool slopes_together(const struct crowd *c, double slope[2])
{
    double det = c->xx[0][0] * c->xx[1][1] - c->xx[0][1] * c->xx[1][0];
    if (!(det > 1e-3 * c->xx[0][0] * c->xx[1][1]))
        return false;
    slope[0] = (c->xy[0] * c->xx[1][1] - c->xy[1] * c->xx[0][1]) / det;
    slope[1] = (c->xy[1] * c->xx[0][0] - c->xy[0] * c->xx[1][0]) / det;
    return slope[0] > 0 && slope[1] > 0;
}

static double unexplained(const struct crowd *c, const double slope[2])
{
    double explained = 0;
    for (int i = 0; i < 2; i++)
        explained += slope[i] * (2 * c->xy[i] - c->xx[i][0] * slope[0] - c->xx[i][1] * slope[1]);
    return fmax(0, c->yy - explained) / (c->pairs - 1);
}

/* Drops a slope that could be chance: what it explains is not so much more than the noise. */
static void drop_chance(const struct crowd *c, double slope[2])
{
    double noise = unexplained(c, slope);
    for (int i = 0; i < 2; i++)
        if (slope[i] * slope[i] * c->xx[i][i] <= CERTAIN * CERTAIN * noise)
            slope[i] = 0;
}

void crowd_shares(const struct crowd *c, double share[2])
{
    double slope[2] = {0, 0}, weight = c->xx[0][0] + c->xx[1][1], part = 0;
    share[0] = share[1] = 0;
    if (c->pairs < FEWEST_PAIRS || !(weight > 0))
        return;
    if (!slopes_together(c, slope)) {
        double alone[2] = {slope_alone(c, 0), slope_alone(c, 1)};
        int better = alone[1] * c->xy[1] > alone[0] * c->xy[0];
        slope[better] = alone[better];
        slope[!better] = 0;
    }
    drop_chance(c, slope);
    /* The slope of ln(1 + s n) is s / (1 + s n): taken at the mean n of the pairs. */
    for (int i = 0; i < 2; i++)
        part += slope[i] * c->level[i] / weight;
    for (int i = 0; i < 2; i++)
        share[i] = slope[i] / fmax(1 - part, 0.05);
}
