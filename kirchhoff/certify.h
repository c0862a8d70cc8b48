/* kirchhoff/certify.h – tables judged by what every travel time obeys: the eikonal equation
 * |grad T| v = 1, and reciprocity T(s -> g) = T(g -> s). Neither knows of rays or fronts. */
#pragma once

#include "kirchhoff/ttable.h"

/* A node fails where |p| v, or the change of T to both neighbours along an axis against p, is wrong
 * by more than this share: on one side a front of another arrival may pass. Where v jumps within a
 * step, p may be that of either side. */
#define CERTIFY_RESIDUAL 0.05

/* The residual at a node that is filled. NAN: too near to the source to be judged. Any thread. */
double certify_node(const struct ttable *t, const struct velocity *v, const int at[3]);

/* Counts into t->judged and t->failing over about a 64th of the nodes, at most 100,000. Any
 * thread. */
void certify_table(struct ttable *t, const struct velocity *v);

/* T at a place, NAN: outside, too near to the source, or a node around it is not filled. */
double certify_time(const struct ttable *t, const double x[3]);

/* Of K sources, time[i * K + j] from source i at source j, 0: not known. */
struct certify_pairs {
    size_t pairs, failing; /* known both ways; wrong by more than 1 ms and 0.2 % */
    double rms, most;      /* s */
};
struct certify_pairs certify_reciprocity(size_t k, const double *time);
