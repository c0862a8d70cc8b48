/* tests/bench/kirchhoff_tt.c – point-steps of the ray kernel per second of one core. */
#include "kirchhoff/ray.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    return 0;
}
