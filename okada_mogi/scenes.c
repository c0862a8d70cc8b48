/* okada_mogi/scenes.c – offsets and ramps: least squares with an orthonormal frame; least maximum
 * by a linear programme in at most four variables, solved by Seidel's incremental method (1991),
 * Discrete Comput. Geom. 6, 423-434. */
#include "okada_mogi/scenes.h"

enum { DIM = SCENES_UNKNOWNS + 1, ROW = DIM + 1 };
#define FAR                                                                                        \
    1e6 /* no unknown is larger, in units of the largest residual: planes need not be unique */

/* ---- shapes of the unknowns -------------------------------------------------------------------*/

/* The offset is taken at the middle, slopes are scaled by the scene's extent. */
static void set_shape(struct scene *c, const struct stations *s)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < c->n; i++) {
        const double at[] = {s->east[c->datum[i] / 3], s->north[c->datum[i] / 3]};
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    const double extent = fmax(fmax(high[0] - low[0], high[1] - low[1]) / 2, 1e-9);
    for (int i = 0; i < c->n; i++) {
        const int k = c->datum[i] / 3;
        const double shape[] = {1, (s->east[k] - (low[0] + high[0]) / 2) / extent,
                                (s->north[k] - (low[1] + high[1]) / 2) / extent};
        memcpy(c->shape + i * c->unknowns, shape, (size_t)c->unknowns * sizeof *shape);
    }
}

/* ---- covariance -------------------------------------------------------------------------------*/

/* Inner product, summed in a fixed order, eight at a time. */
static double dot(const double *a, const double *b, int n)
{
    double part[8] = {0};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            part[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        part[0] += a[i] * b[i];
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
}

double scene_squares(const double *d, int n)
{
    return dot(d, d, n);
}

static double *row_of(const struct scene *c, int i)
{
    return c->root + (size_t)i * ((size_t)i + 1) / 2;
}

/* Cholesky factorization. False: the covariance is nearly singular: points are too close for their
 * own small variances. */
static bool set_root(struct scene *c, const struct stations *s)
{
    for (int i = 0; i < c->n; i++) {
        double *row = row_of(c, i);
        const int p = c->datum[i] / 3;
        for (int k = 0; k <= i; k++) {
            const int q = c->datum[k] / 3;
            const double away = hypot(s->east[p] - s->east[q], s->north[p] - s->north[q]);
            const double *other = row_of(c, k);
            const double own = k < i ? c->sill * exp(-away / c->range)
                                     : s->sigma[c->datum[i]] * s->sigma[c->datum[i]];
            const double left = own - dot(row, other, k);
            if (k == i && !(left > 1e-6 * own))
                return false;
            row[k] = k < i ? left / other[k] : sqrt(left);
        }
    }
    return true;
}

/* Whitens d: z has independent components of variance 1. */
static void divide_root(const struct scene *c, const struct stations *s, const double *d, double *z)
{
    for (int i = 0; i < c->n; i++)
        z[i] = c->root ? (d[i] - dot(row_of(c, i), z, i)) / row_of(c, i)[i]
                       : d[i] / s->sigma[c->datum[i]];
}

void scene_correlate(const struct scene *c, double *d)
{
    for (int i = c->n - 1; i >= 0; i--)
        d[i] = dot(row_of(c, i), d, i + 1);
}

double scene_log_root(const struct scene *c, const struct stations *s)
{
    double sum = 0;
    for (int i = 0; i < c->n; i++)
        sum += log(c->root ? row_of(c, i)[i] : s->sigma[c->datum[i]]);
    return sum;
}

/* ---- least squares ----------------------------------------------------------------------------*/

/* Removes from z its component along vector a of the frame; returns that component. */
static double take(const struct scene *c, int a, double *z)
{
    const double *along = c->frame + (size_t)a * (size_t)c->n, much = dot(along, z, c->n);
    for (int i = 0; i < c->n; i++)
        z[i] -= much * along[i];
    return much;
}

/* Gram-Schmidt, twice. False: points on a line do not determine a plane. */
static bool set_frame(struct scene *c, const struct stations *s, double *column)
{
    for (int a = 0; a < c->unknowns; a++) {
        double *z = c->frame + (size_t)a * (size_t)c->n;
        for (int i = 0; i < c->n; i++)
            column[i] = c->shape[i * c->unknowns + a];
        divide_root(c, s, column, z);
        const double before = dot(z, z, c->n);
        for (int turn = 0; turn < 2; turn++)
            for (int b = 0; b < a; b++)
                c->triangle[b][a] += take(c, b, z);
        const double left = dot(z, z, c->n);
        if (!(left > 1e-10 * before))
            return false;
        c->triangle[a][a] = sqrt(left);
        for (int i = 0; i < c->n; i++)
            z[i] /= c->triangle[a][a];
    }
    return true;
}

void scene_project(const struct scene *c, const struct stations *s, double *d, double *z)
{
    double unknown[SCENES_UNKNOWNS] = {0};
    divide_root(c, s, d, z);
    for (int a = 0; a < c->unknowns; a++)
        unknown[a] = take(c, a, z);
    for (int a = c->unknowns - 1; a >= 0; a--) {
        for (int b = a + 1; b < c->unknowns; b++)
            unknown[a] -= c->triangle[a][b] * unknown[b];
        unknown[a] /= c->triangle[a][a];
    }
    for (int i = 0; i < c->n; i++)
        for (int a = 0; a < c->unknowns; a++)
            d[i] -= unknown[a] * c->shape[i * c->unknowns + a];
}

/* ---- scenes -----------------------------------------------------------------------------------*/

/* EK_USAGE: the covariance is nearly singular; EK_UNVERIFIED: the points do not determine the
 * unknowns; EK_UNAVAILABLE: out of memory. No message. */
static enum ek_status prepare(const struct stations *s, struct scene *c)
{
    const size_t n = (size_t)c->n, unknowns = (size_t)c->unknowns;
    double *column = ARENA_NEW(&c->arena, n, double);
    c->seen = ARENA_NEW(&c->arena, n, double);
    c->shape = ARENA_NEW(&c->arena, n * unknowns, double);
    c->frame = ARENA_NEW(&c->arena, n * unknowns, double);
    c->root = c->sill > 0 ? ARENA_NEW(&c->arena, n * (n + 1) / 2, double) : NULL;
    if (c->arena.failed)
        return EK_UNAVAILABLE;
    set_shape(c, s);
    if (c->root && !set_root(c, s))
        return EK_USAGE;
    if (!set_frame(c, s, column))
        return EK_UNVERIFIED;
    for (int i = 0; s->observed && i < c->n; i++)
        column[i] = s->observed[c->datum[i]];
    scene_project(c, s, column, c->seen);
    return EK_OK;
}

static enum ek_status fill(const char *path, struct stations *s, struct scene *c)
{
    for (int i = 0; i < c->n; i++) {
        if (stations_difference(s, c->datum[i] / 3))
            FAIL(EK_USAGE, "%s: scenes.%s: it has differences of two points, which share no offset",
                 path, c->name);
        s->sigma[c->datum[i]] = hypot(s->sigma[c->datum[i]], sqrt(c->sill));
    }
    if (c->sill > 0 && c->n > SCENES_COVARIANT)
        FAIL(EK_USAGE, "%s: scenes.%s: %d points; with a covariance at most %d: leave some out",
             path, c->name, c->n, SCENES_COVARIANT);
    const enum ek_status st = prepare(s, c);
    if (st == EK_UNAVAILABLE)
        FAIL(EK_UNAVAILABLE, "%s: out of memory for scenes", path);
    if (st == EK_USAGE)
        FAIL(EK_USAGE,
             "%s: scenes.%s: its deviations are too small beside its sill to tell near points "
             "apart; "
             "they stand for the noise of single points",
             path, c->name);
    if (st)
        FAIL(EK_USAGE, "%s: scenes.%s: its %d stations do not determine a ramp", path, c->name,
             c->n);
    return EK_OK;
}

bool scene_part(const struct scene *c, const struct stations *s, int n, const int *datum,
                struct scene *some)
{
    struct scene made = {
        .name = c->name, .n = n, .unknowns = c->unknowns, .sill = c->sill, .range = c->range};
    made.datum = arena_copy(&made.arena, datum, (size_t)n, sizeof *datum);
    if (made.datum && !prepare(s, &made)) {
        *some = made;
        return true;
    }
    scene_close(&made);
    return false;
}

/* Begins another scene, with room for a datum of each station. */
static enum ek_status begin(const char *path, const struct stations *s, const struct scene *as,
                            struct scenes *all)
{
    struct scene *c = &all->scene[all->n];
    if (all->n == SCENES_MOST)
        FAIL(EK_USAGE, "%s: scenes: more than %d", path, SCENES_MOST);
    if (!all->of && !(all->of = malloc((size_t)s->n * sizeof *all->of)))
        FAIL(EK_UNAVAILABLE, "%s: out of memory for scenes", path);
    for (int i = 0; i < s->n && !all->n; i++)
        all->of[i] = -1;
    *c = (struct scene){
        .name = as->name, .unknowns = as->unknowns, .sill = as->sill, .range = as->range};
    c->datum = ARENA_NEW(&c->arena, s->n, int);
    all->n++;
    return arena_check(&c->arena, "the scenes of %s", path);
}

static void add_datum(struct scenes *all, int datum)
{
    struct scene *c = &all->scene[all->n - 1];
    all->of[datum / 3] = all->n - 1;
    c->datum[c->n++] = datum;
}

enum ek_status scenes_add(const char *path, struct stations *s, const char *name,
                          const struct scene *as, struct scenes *all)
{
    TRY(begin(path, s, as, all));
    struct scene *c = &all->scene[all->n - 1];
    for (int i = 0; i < s->n; i++)
        if (s->scene[i] && !strcmp(s->scene[i], name)) {
            c->name = s->scene[i];
            add_datum(all, 3 * i);
        }
    if (!c->n)
        FAIL(EK_USAGE, "%s: scenes.%s: no station is of this scene", path, name);
    return fill(path, s, c);
}

enum ek_status scenes_translate(const char *path, struct stations *s, struct scenes *all)
{
    const struct scene as = {.name = "translation", .unknowns = 1};
    if (stations_any(s, stations_correlated))
        FAIL(EK_USAGE,
             "%s: translation: east and north of some stations are correlated; leave out their "
             "correlation, or the translation",
             path);
    for (int k = 0; k < 3; k++) {
        TRY(begin(path, s, &as, all));
        struct scene *c = &all->scene[all->n - 1];
        for (int i = 0; i < s->n; i++)
            if (!stations_scalar(s, i) && !isnan(s->observed[3 * i + k]))
                add_datum(all, 3 * i + k);
        if (!c->n) {
            scene_close(c);
            all->n--;
            continue;
        }
        TRY(fill(path, s, c));
        all->translation = true;
    }
    if (!all->translation)
        FAIL(EK_USAGE, "%s: translation: no station has components", path);
    return EK_OK;
}

void scene_close(struct scene *c)
{
    arena_free(&c->arena);
}

void scenes_close(struct scenes *all)
{
    for (int i = 0; i < all->n; i++)
        scene_close(&all->scene[i]);
    free(all->of);
    *all = (struct scenes){0};
}

void scenes_sum(const struct scenes *all, struct checksum *sum)
{
    for (int i = 0; i < all->n; i++) {
        const struct scene *c = &all->scene[i];
        checksum_add(sum, &c->unknowns, sizeof c->unknowns);
        checksum_add(sum, c->datum, (size_t)c->n * sizeof *c->datum);
        if (c->sill > 0)
            checksum_add(sum, (const double[]){c->sill, c->range}, 2 * sizeof(double));
    }
}

static const struct scene *scene_of(const struct scenes *all, int station)
{
    static const struct scene none = {0};
    return scenes_hold(all, station) ? &all->scene[all->of[station]] : &none;
}

bool scenes_adrift(const struct scenes *all, int station)
{
    return scene_of(all, station)->unknowns > 0;
}

double scenes_sill(const struct scenes *all, int station)
{
    return scene_of(all, station)->sill;
}

/* ---- the least maximum ------------------------------------------------------------------------*/

/* Linear programme: minimize cost . x subject to rows a . x <= b, stored as a[0 .. DIM - 1], b. */
struct programme {
    int dim, n;
    double *row; /* [n][ROW], followed by room for those of lower dimension */
    double cost[DIM];
};

static const double feasible = 1e-12;

static void solve_line(const struct programme *p, double *x)
{
    double low = -FAR, high = FAR;
    for (int i = 0; i < p->n; i++) {
        const double a = p->row[i * ROW], b = p->row[i * ROW + DIM];
        if (a > 1e-13)
            high = b < high * a ? b / a : high;
        else if (a < -1e-13)
            low = b < low * a ? b / a : low;
    }
    if (low > high) /* by rounding */
        x[0] = (low + high) / 2;
    else
        x[0] = p->cost[0] > 0 ? low : p->cost[0] < 0 ? high : fmin(fmax(0, low), high);
}

static void solve(const struct programme *p, double *x);

/* Solves on the plane of row i: one dimension less. */
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
                size = fabs(to[b]) > size ? fabs(to[b]) : size;
                b++;
            }
        const double per = size > 1e-13 ? 1 / size : 1;
        for (int b = 0; b < less.dim; b++)
            to[b] *= per;
        to[DIM] = (row[DIM] - factor * on[DIM]) * per;
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
    return (size_t)(DIM + 1) * (2 * (size_t)c->n + 2 * DIM) * ROW + 2 * (size_t)c->n;
}

/* Residuals `left` of all points, in standard deviations, for given unknowns; returns the largest.
 */
static double leave(const struct scene *c, const struct stations *s, const double *d,
                    const double *unknown, double scale, double *left)
{
    double most = 0;
    for (int i = 0; i < c->n; i++) {
        double x = d[i];
        for (int a = 0; a < c->unknowns; a++)
            x -= scale * unknown[a] * c->shape[i * c->unknowns + a];
        left[i] = fabs(x) / s->sigma[c->datum[i]];
        most = left[i] > most || isnan(left[i]) ? left[i] : most;
    }
    return most;
}

/* The programme considers the first `n` points of `order`: adds the worst of the others whose
 * residual exceeds `least`. Returns the new number. */
static int look_at_worst(const struct scene *c, const double *left, double least, int *order, int n)
{
    enum { AT_A_TIME = 4 };
    int worst[AT_A_TIME], found = 0; /* places in the order, the worst first */
    for (int i = n; i < c->n; i++) {
        const double r = left[order[i]];
        if (!(r > least) || (found == AT_A_TIME && !(r > left[order[worst[found - 1]]])))
            continue;
        int k = found < AT_A_TIME ? found++ : found - 1;
        for (; k > 0 && r > left[order[worst[k - 1]]]; k--)
            worst[k] = worst[k - 1];
        worst[k] = i;
    }
    for (int k = 0; k < found; k++, n++) {
        const int from = worst[k], point = order[from];
        for (int m = k + 1; m < found; m++) /* the point at n moves to `from` */
            worst[m] = worst[m] == n ? from : worst[m];
        order[from] = order[n];
        order[n] = point;
    }
    return n;
}

/* The two rows of a point: the variables are the unknowns, in units of the largest residual, and
 * the maximum, in units of its value without unknowns. */
static void set_rows(const struct scene *c, const struct stations *s, const double *d, int point,
                     double before, double largest, double *row)
{
    const double sigma = s->sigma[c->datum[point]] * before / largest, size = fmax(1, sigma);
    memset(row, 0, 2 * ROW * sizeof *row);
    for (int sign = -1; sign <= 1; sign += 2, row += ROW) {
        for (int a = 0; a < c->unknowns; a++)
            row[a] = sign * c->shape[point * c->unknowns + a] / size;
        row[c->unknowns] = -sigma / size;
        row[DIM] = sign * d[point] / largest / size;
    }
}

/* The least maximum over a few points is at most that over all; the worst of the others are added
 * until none is worse. */
double scene_least(const struct scene *c, const struct stations *s, const double *d, double reach,
                   double *work)
{
    int *order = (int *)work, n;
    double *left = work + c->n, largest = 0, least = 0, x[DIM] = {0};
    struct programme p = {.dim = c->unknowns + 1, .row = left + c->n};
    const double before = leave(c, s, d, x, 0, left);
    double most = before;
    if (!(before > 0) || !isfinite(before) || !c->unknowns)
        return before;
    for (int i = 0; i < c->n; i++) {
        largest = fmax(largest, fabs(d[i]));
        order[i] = i;
    }
    p.cost[c->unknowns] = 1;
    while ((n = look_at_worst(c, left, least * (1 + 1e-12), order, p.n / 2)) > p.n / 2) {
        for (; p.n < 2 * n; p.n += 2)
            set_rows(c, s, d, order[p.n / 2], before, largest, p.row + p.n * ROW);
        solve(&p, x);
        least = x[c->unknowns] * before;
        if (least * (1 - 1e-6) > reach)
            return least;
        most = leave(c, s, d, x, largest, left);
    }
    return fmin(most, before);
}
