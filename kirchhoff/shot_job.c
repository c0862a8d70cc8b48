/* kirchhoff/shot_job.c – what the shots of a run share: limits of the front, the boxes of grid and
 * rays, the medium; and first arrivals. */
#include "cu/rank/cluster.h"
#include "kirchhoff/certify.h"
#include "kirchhoff/shot.h"

enum { SAMPLES = 9 }; /* of v along each side of a face */

/* Edges of 250 m keep errors well below 0.2 ms for usual gradients, about 0.6 m/s per metre.
 * Coarser tables need less accuracy and would have many triangles per cell. */
static double usual_edge(double step)
{
    return fmin(8 * step, fmin(fmax(250, 3 * step), 600));
}

/* Point n of SAMPLES x SAMPLES on a face of the inner box. */
static void on_face(const struct shot_job *job, int axis, int side, int n, double x[3])
{
    const int other[2] = {(axis + 1) % 3, (axis + 2) % 3};
    const double share[2] = {(double)(n / SAMPLES) / (SAMPLES - 1),
                             (double)(n % SAMPLES) / (SAMPLES - 1)};
    x[axis] = job->inner[side][axis];
    for (int i = 0; i < 2; i++)
        x[other[i]] = job->inner[0][other[i]] +
                      share[i] * (job->inner[1][other[i]] - job->inner[0][other[i]]);
}

/* Whether v grows outwards anywhere on a face: rays that leave there may come back. */
static bool rays_may_return(const struct shot_job *job, int axis, int side)
{
    double x[3], gradient[3];
    for (int n = 0; n < SAMPLES * SAMPLES; n++) {
        on_face(job, axis, side, n, x);
        velocity_at(job->velocity, x, gradient);
        if (gradient[axis] * (side ? 1 : -1) > 0)
            return true;
    }
    return false;
}

/* How far beyond a face first arrivals may go and still come back, at most `margin`: the height of
 * an arc over the face's longest side, for the largest outward gradient of v. */
static double arc_height(const struct shot_job *job, int axis, int side, double margin)
{
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    const double half =
        0.5 * fmax(job->inner[1][b] - job->inner[0][b], job->inner[1][c] - job->inner[0][c]);
    double x[3], most = 0;
    for (int n = 0; n < SAMPLES * SAMPLES; n++)
        for (int way = 1; way <= 16; way *= 4) {
            on_face(job, axis, side, n, x);
            const double speed = velocity_at(job->velocity, x, NULL), out = margin / way;
            x[axis] += side ? out : -out;
            const double gain = velocity_at(job->velocity, x, NULL) / speed - 1;
            const double radius = gain > 0 ? out / gain : INFINITY;
            const double arc =
                radius > half ? half * half / (radius + sqrt(radius * radius - half * half)) : half;
            most = fmax(most, fmin(arc, margin));
        }
    return fmin(1.2 * most + 2 * job->grid.step[axis], margin);
}

static void set_inner(struct shot_job *job, size_t n, const double (*source)[3])
{
    for (int a = 0; a < 3; a++) {
        double low = job->grid.origin[a], high = grid_end(&job->grid, a);
        for (size_t i = 0; i < n; i++) {
            low = fmin(low, source[i][a]);
            high = fmax(high, source[i][a]);
        }
        job->inner[0][a] = low - job->grid.step[a];
        job->inner[1][a] = high + job->grid.step[a];
    }
}

static void set_outer(struct shot_job *job)
{
    double margin = job->options.margin;
    for (int a = 0; a < 3 && job->options.margin < 0; a++)
        margin = fmax(margin, 0.5 * (job->inner[1][a] - job->inner[0][a]));
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            const double way = !rays_may_return(job, a, side) ? 0
                               : job->options.first           ? arc_height(job, a, side, margin)
                                                              : margin;
            job->outer[side][a] = job->inner[side][a] + (side ? way : -way);
        }
}

enum ek_status shot_job_open(struct shot_job *job, const struct grid *grid,
                             const struct velocity *v, const struct shot_options *options, size_t n,
                             const double (*source)[3])
{
    const double finest = grid_finest(grid);
    double low[3], high[3];
    memset(job, 0, sizeof *job);
    pthread_mutex_init(&job->lock, NULL);
    job->grid = *grid;
    job->velocity = v;
    job->options = *options;
    if (!(job->options.edge > 0))
        job->options.edge = usual_edge(finest);
    set_inner(job, n, source);
    set_outer(job);
    for (int a = 0; a < 3; a++) { /* rays are dropped only after the step that took them out */
        low[a] = job->outer[0][a] - fmin(job->options.edge, 4 * grid_step(grid));
        high[a] = job->outer[1][a] + fmin(job->options.edge, 4 * grid_step(grid));
    }
    const enum ek_status st =
        options->first ? eikonal_open(v, grid, job->outer[0], job->outer[1], &job->eikonal)
                       : ray_field_open(v, low, high, finest, &job->field);
    const bool stops = cluster_any(st == EK_STOPPED); /* all ranks end, or none */
    if (st == EK_STOPPED || (stops && !st))
        return cluster_rank() ? EK_STOPPED
                              : status_fail(EK_STOPPED, "interrupted while the model was sampled");
    return st;
}

void shot_job_close(struct shot_job *job)
{
    ray_field_close(&job->field);
    eikonal_close(job->eikonal);
    job->eikonal = NULL;
}

/* ---- first arrivals ---------------------------------------------------------------------------*/

/* Clears nodes later than the last time asked for. */
static void end_table(const struct shot_job *job, struct ttable *t)
{
    for (size_t i = 0; job->options.last > 0 && i < grid_nodes(&t->grid); i++)
        if ((double)t->time[i] > job->options.last)
            ttable_clear(t, i);
}

enum ek_status shot_job_first(struct shot_job *job, const struct cu *cu, struct ttable *t)
{
    pthread_mutex_lock(&job->lock);
    enum ek_status st = EK_OK;
    if (!job->eikonal)
        st = eikonal_open(job->velocity, &job->grid, job->outer[0], job->outer[1], &job->eikonal);
    pthread_mutex_unlock(&job->lock);
    THEN(st, eikonal_solve(job->eikonal, cu, t));
    if (st)
        return st;
    end_table(job, t);
    TRY(ttable_round(t));
    ttable_count(t);
    certify_table(t, job->velocity);
    return EK_OK;
}

static const double early = 1e-3, earlier = 5e-3; /* the eikonal times' tolerance: s, share */

/* If v jumps within a step, rays count only in the source's own layer. */
static bool is_beyond(const struct shot_job *job, const struct ttable *t, double z)
{
    const double step = t->grid.step[2];
    return velocity_jumps(job->velocity, step) &&
           !velocity_same_layer(job->velocity, t->source[2], z, 1.5 * step);
}

/* Whether a front's node is to be replaced by the first arrival. */
static bool is_wrong(const struct shot_job *job, const struct ttable *t, const struct ttable *first,
                     const int at[3])
{
    const size_t node = grid_index(&t->grid, at[0], at[1], at[2]);
    const double least = (double)first->time[node], time = (double)t->time[node];
    return t->kmah[node] == TTABLE_UNFILLED || time < least - fmax(early, earlier * least) ||
           is_beyond(job, t, grid_coordinate(&t->grid, 2, at[2])) ||
           certify_node(t, job->velocity, at) > CERTIFY_RESIDUAL;
}

static void take_first(const struct shot_job *job, const struct ttable *first, bool *wrong,
                       struct ttable *t)
{
    const struct grid *g = &t->grid;
    size_t node = 0;
    for (int i = 0; i < g->n[0]; i++)
        for (int j = 0; j < g->n[1]; j++)
            for (int k = 0; k < g->n[2]; k++, node++)
                wrong[node] = is_wrong(job, t, first, (const int[]){i, j, k});
    for (node = 0; node < grid_nodes(g); node++)
        if (wrong[node])
            ttable_copy(t, first, node);
}

enum ek_status shot_job_repair(struct shot_job *job, const struct cu *cu, struct ttable *t)
{
    OWNED(owned_ttable_close) struct ttable *first = NULL;
    TRY(ttable_round(t));
    ttable_count(t);
    certify_table(t, job->velocity);
    if (!t->unfilled && !t->failing && !velocity_jumps(job->velocity, t->grid.step[2]))
        return EK_OK;
    OWNED_MEMORY NEW(bool, wrong, grid_nodes(&t->grid), "out of memory for a mended table");
    TRY(ttable_make(&t->grid, t->source, t->velocity, &first));
    TRY(shot_job_first(job, cu, first));
    take_first(job, first, wrong, t);
    TRY(ttable_round(t));
    ttable_count(t);
    certify_table(t, job->velocity);
    return EK_OK;
}
