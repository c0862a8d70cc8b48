/* kirchhoff/shot_job.c – what shots share: limits of the front, the boxes of grid and rays, the
 * medium. */
#include "kirchhoff/shot.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 9 }; /* of a face along each side */

/* As long as errors stay well below 0.2 ms where v changes as it does in the ground, say 0.6 m/s
 * per metre: 250 m. Coarser tables need less, and would pay for many triangles within a cell. */
static double usual_edge(double step)
{
    return fmin(8 * step, fmin(fmax(250, 3 * step), 600));
}

/* Whether v grows outwards somewhere on a face of the inner box: rays that leave there may come
 * back. */
static bool bends_back(const struct shot_job *job, int axis, int side)
{
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < SAMPLES; j++) {
            double x[3], gradient[3];
            const double u = (double)i / (SAMPLES - 1), w = (double)j / (SAMPLES - 1);
            x[axis] = job->inner[side][axis];
            x[b] = job->inner[0][b] + u * (job->inner[1][b] - job->inner[0][b]);
            x[c] = job->inner[0][c] + w * (job->inner[1][c] - job->inner[0][c]);
            velocity_at(job->velocity, x, gradient);
            if (gradient[axis] * (side ? 1 : -1) > 0)
                return true;
        }
    return false;
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
    for (int a = 0; a < 3; a++) {
        job->outer[0][a] = job->inner[0][a] - (bends_back(job, a, 0) ? margin : 0);
        job->outer[1][a] = job->inner[1][a] + (bends_back(job, a, 1) ? margin : 0);
    }
}

enum ek_status shot_job_open(struct shot_job *job, const struct grid *grid,
                             const struct velocity *v, const struct shot_options *options, size_t n,
                             const double (*source)[3])
{
    const double finest = fmin(grid->step[0], fmin(grid->step[1], grid->step[2]));
    const double coarsest = fmax(grid->step[0], fmax(grid->step[1], grid->step[2]));
    double low[3], high[3];
    memset(job, 0, sizeof *job);
    job->grid = *grid;
    job->velocity = v;
    job->options = *options;
    if (!(job->options.edge > 0))
        job->options.edge = usual_edge(finest);
    set_inner(job, n, source);
    set_outer(job);
    for (int a = 0; a < 3; a++) { /* a ray is dropped after the step that took it out */
        low[a] = job->outer[0][a] - fmin(job->options.edge, 4 * coarsest);
        high[a] = job->outer[1][a] + fmin(job->options.edge, 4 * coarsest);
    }
    return ray_field_open(v, low, high, finest, &job->field);
}

void shot_job_close(struct shot_job *job)
{
    ray_field_close(&job->field);
}
