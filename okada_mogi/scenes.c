/* okada_mogi/scenes.c – offsets and ramps: least squares by the normal equations; the least maximum
 * by a linear programme in at most four numbers, solved plane by plane: Seidel (1991), Discrete
 * Comput. Geom. 6, 423-434. */
#include "okada_mogi/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = SCENES_UNKNOWNS + 1, ROW = DIM + 1 };
#define FAR                                                                                        \
    1e6 /* no unknown is larger, in units of the largest residual: planes need not be unique */

/* ---- what the unknowns do ---------------------------------------------------------------------*/

/* Offset at the middle, slopes by the scene's extent. */
static void set_shape(struct scene *c, const struct stations *s)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < c->n; i++) {
        const double at[] = {s->east[c->station[i]], s->north[c->station[i]]};
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    const double extent = fmax(fmax(high[0] - low[0], high[1] - low[1]) / 2, 1e-9);
    for (int i = 0; i < c->n; i++) {
        const int k = c->station[i];
        const double shape[] = {1, (s->east[k] - (low[0] + high[0]) / 2) / extent,
                                (s->north[k] - (low[1] + high[1]) / 2) / extent};
        memcpy(c->shape + i * c->unknowns, shape, (size_t)c->unknowns * sizeof *shape);
    }
}

/* By Gauss and Jordan, pivots on the diagonal: the matrix is symmetric and positive. False:
 * stations on a line do not tell a plane. */
static bool invert(double a[SCENES_UNKNOWNS][SCENES_UNKNOWNS], int n)
{
    double scale = 0;
    for (int i = 0; i < n; i++)
        scale = fmax(scale, a[i][i]);
    for (int k = 0; k < n; k++) {
        const double pivot = a[k][k];
        if (!(pivot > 1e-10 * scale))
            return false;
        a[k][k] = 1;
        for (int j = 0; j < n; j++)
            a[k][j] /= pivot;
        for (int i = 0; i < n; i++) {
            const double factor = a[i][k];
            if (i == k)
                continue;
            a[i][k] = 0;
            for (int j = 0; j < n; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
    return true;
}

static bool set_inverse(struct scene *c, const struct stations *s)
{
    const int n = c->unknowns;
    for (int i = 0; i < c->n; i++) {
        const double sigma = s->sigma[3 * c->station[i]], *shape = c->shape + i * n;
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                c->inverse[a][b] += shape[a] * shape[b] / (sigma * sigma);
    }
    return invert(c->inverse, n);
}

enum ek_status scenes_add(const char *path, const struct stations *s, const char *name, bool ramp,
                          struct scenes *all)
{
    struct scene *c = &all->scene[all->n];
    if (all->n == SCENES_MOST)
        FAIL(EK_USAGE, "%s: more than %d scenes have unknowns", path, SCENES_MOST);
    if (!all->of && !(all->of = malloc((size_t)s->n * sizeof *all->of)))
        FAIL(EK_UNAVAILABLE, "%s: out of memory for scenes", path);
    for (int i = 0; i < s->n && !all->n; i++)
        all->of[i] = -1;
    c->unknowns = ramp ? SCENES_UNKNOWNS : 1;
    c->station = calloc((size_t)s->n, sizeof *c->station);
    c->shape = calloc((size_t)s->n * SCENES_UNKNOWNS, sizeof *c->shape);
    all->n++;
    if (!c->station || !c->shape)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for scenes", path);
    for (int i = 0; i < s->n; i++)
        if (s->scene[i] && !strcmp(s->scene[i], name)) {
            c->name = s->scene[i];
            all->of[i] = all->n - 1;
            c->station[c->n++] = i;
        }
    for (int i = 0; i < c->n; i++)
        if (stations_difference(s, c->station[i]))
            FAIL(EK_USAGE, "%s: scenes.%s: differences of two points have no offset", path, name);
    if (!c->n)
        FAIL(EK_USAGE, "%s: scenes.%s: no station is of this scene", path, name);
    set_shape(c, s);
    if (!set_inverse(c, s))
        FAIL(EK_USAGE, "%s: scenes.%s: its %d stations do not tell a ramp", path, name, c->n);
    return EK_OK;
}

void scenes_close(struct scenes *all)
{
    for (int i = 0; i < all->n; i++) {
        free(all->scene[i].station);
        free(all->scene[i].shape);
    }
    free(all->of);
    *all = (struct scenes){0};
}

/* ---- least squares ----------------------------------------------------------------------------*/

static void subtract(const struct scene *c, const double *unknown, double *d)
{
    for (int i = 0; i < c->n; i++)
        for (int a = 0; a < c->unknowns; a++)
            d[i] -= unknown[a] * c->shape[i * c->unknowns + a];
}

void scene_project(const struct scene *c, const struct stations *s, double *d)
{
    double right[SCENES_UNKNOWNS] = {0}, unknown[SCENES_UNKNOWNS] = {0};
    for (int i = 0; i < c->n; i++) {
        const double sigma = s->sigma[3 * c->station[i]];
        for (int a = 0; a < c->unknowns; a++)
            right[a] += c->shape[i * c->unknowns + a] * d[i] / (sigma * sigma);
    }
    for (int a = 0; a < c->unknowns; a++)
        for (int b = 0; b < c->unknowns; b++)
            unknown[a] += c->inverse[a][b] * right[b];
    subtract(c, unknown, d);
}

/* ---- the least maximum ------------------------------------------------------------------------*/

/* What is left of a programme: rows a . x <= b as a[0 .. DIM - 1], b. */
struct programme {
    int dim, n;
    double *row; /* [n][ROW], and room for those of fewer dimensions behind */
    double cost[DIM];
};

static const double feasible = 1e-12;

static void solve_line(const struct programme *p, double *x)
{
    double low = -FAR, high = FAR;
    for (int i = 0; i < p->n; i++) {
        const double a = p->row[i * ROW], b = p->row[i * ROW + DIM];
        if (a > 1e-13)
            high = fmin(high, b / a);
        else if (a < -1e-13)
            low = fmax(low, b / a);
    }
    if (low > high) /* by rounding */
        x[0] = (low + high) / 2;
    else
        x[0] = p->cost[0] > 0 ? low : p->cost[0] < 0 ? high : fmin(fmax(0, low), high);
}

static void solve(const struct programme *p, double *x);

/* On the plane of row i: one number fewer. */
static void solve_on(const struct programme *p, int i, double *x)
{
    const double *on = p->row + i * ROW;
    struct programme less = {.dim = p->dim - 1, .row = p->row + p->n * ROW};
    double y[DIM] = {0};
    int out = 0;
    for (int a = 1; a < p->dim; a++)
        if (fabs(on[a]) > fabs(on[out]))
            out = a;
    if (fabs(on[out]) < 1e-13)
        return;
    const double edge[2][ROW] = {{[DIM] = FAR}, {[DIM] = FAR}};
    for (int k = -2; k < i; k++) {
        double row[ROW];
        memcpy(row, k < 0 ? edge[k + 2] : p->row + k * ROW, sizeof row);
        if (k < 0)
            row[out] = k == -2 ? 1 : -1;
        const double factor = row[out] / on[out];
        double *to = less.row + less.n++ * ROW, size = 0;
        for (int a = 0, b = 0; a < p->dim; a++)
            if (a != out) {
                to[b] = row[a] - factor * on[a];
                size = fmax(size, fabs(to[b++]));
            }
        to[DIM] = row[DIM] - factor * on[DIM];
        for (int b = 0; b < less.dim && size > 1e-13; b++)
            to[b] /= size;
        to[DIM] /= size > 1e-13 ? size : 1;
    }
    for (int a = 0, b = 0; a < p->dim; a++)
        if (a != out)
            less.cost[b++] = p->cost[a] - p->cost[out] / on[out] * on[a];
    solve(&less, y);
    x[out] = on[DIM] / on[out];
    for (int a = 0, b = 0; a < p->dim; a++)
        if (a != out) {
            x[a] = y[b++];
            x[out] -= on[a] / on[out] * x[a];
        }
}

static void solve(const struct programme *p, double *x)
{
    if (p->dim == 1) {
        solve_line(p, x);
        return;
    }
    for (int a = 0; a < p->dim; a++)
        x[a] = p->cost[a] > 0 ? -FAR : p->cost[a] < 0 ? FAR : 0;
    for (int i = 0; i < p->n; i++) {
        const double *row = p->row + i * ROW;
        double sum = -row[DIM], size = fabs(row[DIM]);
        for (int a = 0; a < p->dim; a++) {
            sum += row[a] * x[a];
            size += fabs(row[a] * x[a]);
        }
        if (sum > feasible * (1 + size))
            solve_on(p, i, x);
    }
}

size_t scene_room(const struct scene *c)
{
    return (size_t)(DIM + 1) * (2 * (size_t)c->n + 2 * DIM) * ROW + (size_t)c->n;
}

static double worst(const struct scene *c, const struct stations *s, const double *d,
                    const double *unknown, double scale)
{
    double most = 0;
    for (int i = 0; i < c->n; i++) {
        double left = d[i];
        for (int a = 0; a < c->unknowns; a++)
            left -= scale * unknown[a] * c->shape[i * c->unknowns + a];
        const double r = fabs(left) / s->sigma[3 * c->station[i]];
        most = r > most || isnan(r) ? r : most;
    }
    return most;
}

/* The station of the largest |d| / sigma of those from number `first` of the order on; to its
 * front.
 */
static void bring_worst(const struct scene *c, const struct stations *s, const double *d, int first,
                        int *order)
{
    int best = first;
    double most = -1;
    for (int i = first; i < c->n; i++) {
        const double r = fabs(d[order[i]]) / s->sigma[3 * c->station[order[i]]];
        if (r > most) {
            most = r;
            best = i;
        }
    }
    const int swap = order[best];
    order[best] = order[first];
    order[first] = swap;
}

/* Those first that will decide; the rest as they come: pixels, in no order to speak of. */
static void put_in_order(const struct scene *c, const struct stations *s, const double *d,
                         int *order)
{
    enum { FIRST = 4 * DIM };
    for (int i = 0; i < c->n; i++)
        order[i] = (int)((long)i * 7919 % c->n);
    if (c->n % 7919 == 0)
        for (int i = 0; i < c->n; i++)
            order[i] = i;
    for (int i = 0; i < FIRST && i < c->n; i++)
        bring_worst(c, s, d, i, order);
}

/* The numbers are the unknowns, in units of the largest residual, and the maximum, in units of what
 * it is without them. */
double scene_least(const struct scene *c, const struct stations *s, const double *d, double *work)
{
    static const double none[SCENES_UNKNOWNS] = {0};
    int *order = (int *)work;
    struct programme p = {.dim = c->unknowns + 1, .n = 2 * c->n, .row = work + c->n};
    const double before = worst(c, s, d, none, 0);
    double largest = 0, x[DIM] = {0};
    for (int i = 0; i < c->n; i++)
        largest = fmax(largest, fabs(d[i]));
    if (!(before > 0) || !isfinite(before))
        return before;
    put_in_order(c, s, d, order);
    for (int i = 0; i < c->n; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const int at = order[i];
            double *row = p.row + (2 * i + (sign > 0)) * ROW;
            const double sigma = s->sigma[3 * c->station[at]] * before / largest;
            const double size = fmax(1, sigma);
            memset(row, 0, ROW * sizeof *row);
            for (int a = 0; a < c->unknowns; a++)
                row[a] = sign * c->shape[at * c->unknowns + a] / size;
            row[c->unknowns] = -sigma / size;
            row[DIM] = sign * d[at] / largest / size;
        }
    p.cost[c->unknowns] = 1;
    solve(&p, x);
    return fmin(worst(c, s, d, x, largest), before);
}
