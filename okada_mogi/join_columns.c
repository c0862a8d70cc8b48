/* okada_mogi/join_columns.c – lists the components and orders them by what they reject. */
#include "okada_mogi/join_columns.h"
#include "okada_mogi/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum ek_status join_columns_open(const struct job *job, struct join_columns *c)
{
    const struct stations *s = &job->stations;
    const size_t n = (size_t)s->ncomponents;
    *c = (struct join_columns){.at = calloc(n, sizeof *c->at),
                               .observed = calloc(n, sizeof *c->observed),
                               .sigma = calloc(n, sizeof *c->sigma),
                               .slack = calloc(n, sizeof *c->slack)};
    if (!c->at || !c->observed || !c->sigma || !c->slack) {
        join_columns_close(c);
        FAIL(EK_LACK, "%s: out of memory for %zu components", job->path, n);
    }
    for (int i = 0; i < 3 * s->n; i++) {
        if (isnan(s->observed[i]))
            continue;
        c->at[c->n] = i;
        c->slack[c->n] = judge_slack(job) / s->sigma[i];
        c->sigma[c->n] = s->sigma[i];
        c->observed[c->n++] = s->observed[i] / s->sigma[i];
    }
    return EK_OK;
}

void join_columns_close(struct join_columns *c)
{
    free(c->at);
    free(c->observed);
    free(c->sigma);
    free(c->slack);
    *c = (struct join_columns){0};
}

static void swap_columns(struct join_columns *c, int i, int k)
{
    double *const list[] = {c->observed, c->sigma, c->slack};
    const int at = c->at[i];
    c->at[i] = c->at[k];
    c->at[k] = at;
    for (int l = 0; l < 3; l++) {
        const double x = list[l][i];
        list[l][i] = list[l][k];
        list[l][k] = x;
    }
}

void join_columns_order(struct join_columns *c, const double *a, int na, const double *b, int nb,
                        double reach, bool *left, int *number)
{
    const int n = c->n;
    for (int i = 0; i < n; i++)
        number[i] = i;
    memset(left, true, (size_t)na * (size_t)nb);
    for (int i = 0; i < n; i++) {
        long fewest = -1;
        int best = i;
        for (int k = i; k < n; k++) {
            long count = 0;
            const int at = number[k];
            for (int p = 0; p < na; p++)
                for (int q = 0; q < nb; q++)
                    count += left[p * nb + q] &&
                             fabs(a[p * n + at] + b[q * n + at] - c->observed[k]) <= reach;
            if (fewest < 0 || count < fewest) {
                fewest = count;
                best = k;
            }
        }
        swap_columns(c, i, best);
        const int at = number[best];
        number[best] = number[i];
        number[i] = at;
        for (int p = 0; p < na; p++)
            for (int q = 0; q < nb; q++)
                left[p * nb + q] = left[p * nb + q] &&
                                   fabs(a[p * n + at] + b[q * n + at] - c->observed[i]) <= reach;
    }
}
