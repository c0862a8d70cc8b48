/* okada_mogi/join_columns.c – lists the components and orders them by what they reject. */
#include "okada_mogi/join_columns.h"
#include "okada_mogi/judge.h"

#include <math.h>
#include <string.h>

enum ek_status join_columns_open(const struct job *job, struct join_columns *c)
{
    const struct stations *s = &job->stations;
    const size_t n = (size_t)s->ncomponents;
    *c = (struct join_columns){.n = 0};
    c->at = ARENA_NEW(&c->arena, n, int);
    c->observed = ARENA_NEW(&c->arena, n, double);
    c->sigma = ARENA_NEW(&c->arena, n, double);
    c->slack = ARENA_NEW(&c->arena, n, double);
    TRY(arena_check(&c->arena, "the components of %s", job->path));
    for (int i = 0; i < 3 * s->n; i++) {
        if (isnan(s->observed[i]) || scenes_adrift(&job->scenes, i / 3))
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
    arena_free(&c->arena);
    *c = (struct join_columns){.n = 0};
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
