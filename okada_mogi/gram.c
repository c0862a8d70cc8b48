/* okada_mogi/gram.c – inner products, station by station and scene by scene. */
#include "okada_mogi/gram.h"

#include <math.h>

#define ROUNDING 1e-9 /* of what is summed up, far above that of any order of sums */

/* Of data z [1 + nbasis], whitened: by one datum. */
static void add(struct gram *g, int nbasis, const double *z)
{
    for (int a = 0; a <= nbasis; a++)
        for (int b = 0; b <= a; b++)
            g->product[a][b] += z[a] * z[b];
}

/* East and north share chi2 as in the judge. */
static void add_station(const struct stations *s, int i, int nbasis, const double *basis,
                        struct gram *g)
{
    const double *observed = s->observed + 3 * i, *sigma = s->sigma + 3 * i, c = s->correlation[i],
                 *response = basis + 3 * nbasis * i;
    const bool both = stations_correlated(s, i);
    for (int k = 0; k < 3; k++) {
        double z[1 + MODEL_BASES];
        if (isnan(observed[k]))
            continue;
        for (int b = 0; b <= nbasis; b++) {
            const double *x = b ? response + 3 * (b - 1) : observed;
            z[b] = k == 0 && both ? (x[0] / sigma[0] - c * x[1] / sigma[1]) / sqrt(1 - c * c)
                                  : x[k] / sigma[k];
        }
        add(g, nbasis, z);
    }
}

static void add_scene(const struct scene *c, const struct stations *s, int nbasis,
                      const double *basis, struct gram *g, double *work)
{
    double *left = work, *white = work + c->n;
    for (int b = 0; b < nbasis; b++) {
        for (int i = 0; i < c->n; i++)
            left[i] = basis[3 * (nbasis * (c->datum[i] / 3) + b) + c->datum[i] % 3];
        scene_project(c, s, left, white + b * c->n);
    }
    for (int i = 0; i < c->n; i++) {
        double z[1 + MODEL_BASES] = {c->seen[i]};
        for (int b = 0; b < nbasis; b++)
            z[b + 1] = white[b * c->n + i];
        add(g, nbasis, z);
    }
}

size_t gram_room(const struct job *job)
{
    return (size_t)job->stations.n * (1 + MODEL_BASES);
}

void gram_find(const struct job *job, const double *basis, struct gram *g, double *work)
{
    const int nbasis = job->model->nbasis;
    *g = (struct gram){{{0}}};
    for (int i = 0; i < job->stations.n; i++)
        if (!scenes_hold(&job->scenes, i))
            add_station(&job->stations, i, nbasis, basis, g);
    for (int i = 0; i < job->scenes.n; i++)
        add_scene(&job->scenes.scene[i], &job->stations, nbasis, basis, g, work);
    for (int a = 0; a <= nbasis; a++)
        for (int b = 0; b < a; b++)
            g->product[b][a] = g->product[a][b];
}

/* chi2 = c - 2 b a + q a^2 for the amplitude a. */
void gram_narrow(const struct gram *g, int nbasis, const double *weight, double chi2, double *least,
                 double *most)
{
    double b = 0, q = 0;
    for (int i = 0; i < nbasis; i++) {
        b += weight[i] * g->product[i + 1][0];
        for (int k = 0; k < nbasis; k++)
            q += weight[i] * weight[k] * g->product[i + 1][k + 1];
    }
    const double c = g->product[0][0];
    const double root = b * b - q * (c - chi2) + ROUNDING * (b * b + q * (c + chi2));
    if (!(q > 0) || isnan(root))
        return;
    if (root < 0) {
        *least = INFINITY;
        return;
    }
    const double half = sqrt(root) * (1 + ROUNDING) / q + ROUNDING * fabs(b / q);
    *least = fmax(*least, b / q - half);
    *most = fmin(*most, b / q + half);
}
