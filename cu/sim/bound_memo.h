/* cu/sim/bound_memo.h – bounds that were computed before: in a comparison each policy's steps have
 * the same ones, and the linear programme of dozens of kinds of units takes longer than a run. */
#pragma once

#include "src/base.h"

struct bound_question {
    char key[33];
};

/* As in bound_step(), where every kind has units. */
struct bound_question bound_question(size_t n, int nkinds, const int *units,
                                     const double *const *seconds);

/* If it was answered lately, writes the bound, and the prices to price [nkinds] unless NULL. Any
 * thread, like the next. */
bool bound_recall(const struct bound_question *q, int nkinds, double *bound, double *price);
/* Without memory, nothing is remembered. */
void bound_remember(const struct bound_question *q, int nkinds, double bound, const double *price);
