/* okada_mogi/join_columns.h – the observed components, as columns of a join's table. */
#pragma once

#include "okada_mogi/job.h"
#include "src/arena.h"

/* Observed components in the order of their columns. */
struct join_columns {
    struct arena arena;
    int n;
    int *at;          /* [n] 3 * station + component */
    double *observed; /* [n] in standard deviations */
    double *sigma;    /* [n] m */
    double *slack;    /* [n] judge_slack() in standard deviations */
};

enum ek_status join_columns_open(const struct job *job, struct join_columns *c);
void join_columns_close(struct join_columns *c);

/* Columns swap[i] and i change their places, one after another. */
void join_columns_swap(struct join_columns *c, const int *swap, int nswaps);
