/* tests/bench/kirchhoff_tt.c – travel times on one core: point-steps per second of the ray kernel;
 * whole tables with their nodes per second and errors. Seconds are the thread's own. */
#include "kirchhoff/analytic.h"
#include "kirchhoff/shot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Directions spread evenly over the lower half of a sphere: the golden spiral. */
static void spread(const struct ray_field *f, const double s[3], double *state, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double z = ((double)i + 0.5) / (double)n, r = sqrt(1 - z * z);
        const double azimuth = 2.399963229728653 * (double)i;
        const double d[3] = {r * cos(azimuth), r * sin(azimuth), z};
        for (size_t a = 0; a < 3; a++) {
            state[a * n + i] = s[a] + 500 * d[a];
            state[(3 + a) * n + i] = d[a] / ray_field_at(f, s);
        }
    }
}

static double rate(const char *model, double cell, size_t n)
{
    const double s[3] = {0, 0, 10}, low[3] = {-1200, -1200, -300}, high[3] = {1200, 1200, 1200};
    double *state = aligned_alloc(64, RAY_ROWS * n * sizeof *state), best = INFINITY;
    struct velocity *v;
    struct ray_field f;
    if (!state || velocity_open(model, &v) || ray_field_open(v, low, high, cell, &f))
        exit(3);
    const int steps = (int)(10000000 / n / 10) + 1;
    for (int repeat = 0; repeat < 9; repeat++) {
        spread(&f, s, state, n);
        const double start = cpu_seconds();
        ray_advance_front(&f, state, n, 0, n, &(struct ray_layer){0.2 / steps, steps}, 1);
        best = fmin(best, cpu_seconds() - start);
    }
    ray_field_close(&f);
    velocity_close(v);
    free(state);
    return (double)n * steps / best / 1e6;
}

/* ---- tables -----------------------------------------------------------------------------------*/

static struct ttable *make_table(const struct shot_job *job, const double source[3],
                                 double *seconds)
{
    struct shot *s;
    bool done = false;
    const double start = cpu_seconds();
    if (shot_open(job, source, &s))
        exit(3);
    while (!done)
        if (shot_step(s, NULL, NULL, &done))
            exit(3);
    struct ttable *t = shot_take(s);
    *seconds = cpu_seconds() - start;
    shot_close(s);
    return t;
}

/* Errors over all nodes beyond 100 m from the source. */
static void errors(const struct ttable *t, const struct velocity *v, double *rms, double *most)
{
    double sum = 0;
    size_t n = 0;
    *most = 0;
    for (int i = 0; i < t->grid.n[0]; i++)
        for (int j = 0; j < t->grid.n[1]; j++)
            for (int k = 0; k < t->grid.n[2]; k++) {
                const double x[3] = {grid_coordinate(&t->grid, 0, i),
                                     grid_coordinate(&t->grid, 1, j),
                                     grid_coordinate(&t->grid, 2, k)};
                struct analytic c;
                analytic_linear(v->v0, v->k, t->source, x, &c);
                if (c.spread < 100)
                    continue;
                const double e = fabs((double)t->time[grid_index(&t->grid, i, j, k)] - c.time);
                sum += e * e;
                *most = fmax(*most, e);
                n++;
            }
    *rms = sqrt(sum / (double)n);
}

static void measure_table(const char *model, struct grid grid, const double source[3])
{
    struct velocity *v;
    struct shot_job job;
    double best = INFINITY, seconds, rms = NAN, most = NAN;
    size_t unfilled = 0;
    char text[128];
    if (velocity_open(model, &v) ||
        shot_job_open(&job, &grid, v, &SHOT_OPTIONS, 1, (const double(*)[3])source))
        exit(3);
    for (int repeat = 0; repeat < 5; repeat++) {
        struct ttable *t = make_table(&job, source, &seconds);
        best = fmin(best, seconds);
        unfilled = t->unfilled;
        if (v->kind == VELOCITY_LINEAR)
            errors(t, v, &rms, &most);
        ttable_close(t);
    }
    grid_text(&grid, text, sizeof text);
    *strchr(text, '@') = '\0';
    printf("%-44.44s %-26s %8.2f %8.4f %8.4f %9zu\n", model, text,
           (double)grid_nodes(&grid) / best / 1e6, 1e3 * rms, 1e3 * most, unfilled);
    shot_job_close(&job);
    velocity_close(v);
}

static void measure_tables(void)
{
    const double corner[3] = {0, 0, 0}, top[3] = {1000, 1000, 0};
    const struct grid cube = {{101, 101, 101}, {0, 0, 0}, {20, 20, 20}};
    const struct grid wide = {{151, 151, 101}, {0, 0, 0}, {20, 20, 20}};
    printf("\n%-44s %-26s %8s %8s %8s %9s\n", "model", "grid", "Mnodes/s", "rms ms", "max ms",
           "unfilled");
    measure_table("gradient:v0=2000,k=0.6", wide, corner);
    measure_table("const:v=2000", cube, top);
    measure_table("gradient:v0=1500,k=0.6", cube, top);
    measure_table("gradient:v0=1800,kx=0.1,ky=-0.2,kz=0.5", cube, top);
    measure_table("lens:v0=2000,kz=0.5,dv=500,x=900,y=1100,z=800,sigma=300", cube, top);
}

int main(void)
{
    static const struct {
        const char *name, *model;
        double cell;
    } media[] = {{"linear", "gradient:v0=1500,k=0.6", 20},
                 {"depth alone", "layers:0:1500,500:2500,smooth=200", 20},
                 {"cube, 30 m", "lens:v0=2000,kz=0.5,dv=500,x=0,y=0,z=600,sigma=300", 30},
                 {"cube, 15 m", "lens:v0=2000,kz=0.5,dv=500,x=0,y=0,z=600,sigma=300", 15}};
    static const size_t front[] = {4096, 65536, 200000};
    printf("%-14s %10s %22s\n", "medium", "points", "M point-steps/s/core");
    for (size_t m = 0; m < sizeof media / sizeof *media; m++)
        for (size_t n = 0; n < 3; n++)
            printf("%-14s %10zu %22.1f\n", media[m].name, front[n],
                   rate(media[m].model, media[m].cell, front[n]));
    measure_tables();
    return 0;
}
