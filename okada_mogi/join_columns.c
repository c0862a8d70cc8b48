/* okada_mogi/join_columns.c – lists the components. */
#include "okada_mogi/join_columns.h"
#include "okada_mogi/judge.h"

#include <math.h>

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

void join_columns_swap(struct join_columns *c, const int *swap, int nswaps)
{
    double *const list[] = {c->observed, c->sigma, c->slack};
    for (int i = 0; i < nswaps; i++) {
        const int at = c->at[i], k = swap[i];
        c->at[i] = c->at[k];
        c->at[k] = at;
        for (int l = 0; l < 3; l++) {
            const double x = list[l][i];
            list[l][i] = list[l][k];
            list[l][k] = x;
        }
    }
}
