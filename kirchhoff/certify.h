/* kirchhoff/certify.h – judges tables by what every travel time obeys: the eikonal equation |grad
 * T| v = 1, and reciprocity T(s -> g) = T(g -> s). Neither knows of rays or fronts. */
#pragma once

#include "kirchhoff/ttable.h"

/* A node fails if |p| v, or along an axis the change of T to both neighbours compared with p, is
 * wrong by more than this share. To both, because another arrival may begin on one side. Where v
 * jumps within a step, p may be that of either side. */
#define CERTIFY_RESIDUAL 0.05

/* The residual at a node. NAN: not filled, or too near the source to be judged. Any thread. */
double certify_node(const struct ttable *t, const struct velocity *v, const int at[3]);

/* Sets t->judged and t->failing from about a 64th of the nodes, at most 100,000. Any thread. */
void certify_table(struct ttable *t, const struct velocity *v);

/* T at a point. NAN: outside, too near the source, or a node around it is not filled. */
double certify_time(const struct ttable *t, const double x[3]);

/* For K sources: time[i * K + j] is that from source i at source j, 0: not known. */
struct certify_pairs {
    size_t pairs, failing; /* known both ways; wrong by more than 1 ms and 0.2 % */
    double rms, most;      /* s */
};
struct certify_pairs certify_reciprocity(size_t k, const double *time);
