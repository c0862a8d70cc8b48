/* tests/bench/kirchhoff_eikonal.c – first arrivals on one core: nodes per second, and the
 * difference from a solution with steps four times finer. Seconds are the thread's own. Arguments:
 * names of models, default all. */
#include "kirchhoff/eikonal.h"
#include "kirchhoff/velocity_cube.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FINER = 4, REPEATS = 3 };

/* Faulted, dipping, folded layers 25 to 75 m thick with jumps of up to 900 m/s. */
static double faulted(const double x[3])
{
    const double down = x[0] + 0.3 * x[2] > 520 ? 45 : x[0] + 0.3 * x[2] > 250 ? -30 : 0;
    const double z = x[2] + down + 0.15 * x[0] + 12 * sin(x[1] / 90);
    const int layer = (int)floor(z / 45 + 0.4 * sin(z / 60));
    const double jump = (double)((layer * 7919 % 13 + 13) % 13) / 13 - 0.5;
    return 1700 + 1.1 * fmax(z, 0) + 900 * jump;
}

/* A rough body in a gradient. */
static double salt(const double x[3])
{
    const double a = (x[0] - 500) / 280, b = (x[1] - 390) / 250, c = (x[2] - 420) / 180;
    return a * a + b * b + c * c < 1 || (x[2] > 330 + 30 * sin(x[0] / 40) && x[2] < 480)
               ? 4500
               : 1700 + 0.7 * x[2];
}

/* A model and its tables. `cube`: sampling step in m, 0: the text defines the model fully. */
static const struct model {
    const char *name, *text;
    double (*speed)(const double x[3]);
    double cube, step[3], source[3];
} models[] = {
    {"gradient", "gradient:v0=2000,k=0.6", NULL, 0, {20, 20, 20}, {300, 400, 0}},
    {"corner", "gradient:v0=2000,k=0.6", NULL, 0, {20, 30, 10}, {0, 0, 0}},
    {"node", "layers:0:1500,400:2500,smooth=0", NULL, 0, {20, 20, 20}, {100, 60, 0}},
    {"between", "layers:0:1800,309:3000,smooth=0", NULL, 0, {20, 20, 20}, {100, 60, 0}},
    {"slower", "layers:0:2800,331:1600,517:3500,smooth=0", NULL, 0, {20, 20, 20}, {100, 60, 0}},
    {"salt", NULL, salt, 10, {20, 20, 20}, {233, 401, 0}},
    {"faulted-12", NULL, faulted, 12.5, {12.5, 12.5, 12.5}, {200, 300, 0}},
    {"faulted-25", NULL, faulted, 12.5, {25, 25, 25}, {200, 300, 0}},
};
enum { MODELS = sizeof models / sizeof *models };
static const int nodes[3] = {51, 41, 41};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct velocity *open_model(const struct model *m)
{
    struct velocity *v = NULL;
    if (m->text)
        return velocity_open(m->text, &v) ? NULL : v;
    v = calloc(1, sizeof *v);
    v->kind = VELOCITY_CUBE;
    for (int a = 0; a < 3; a++) {
        v->grid.step[a] = m->cube;
        v->grid.n[a] = (int)((nodes[a] - 1) * m->step[a] / m->cube) + 1;
    }
    float *speed = malloc(grid_nodes(&v->grid) * sizeof *speed), *at = speed;
    for (int i = 0; i < v->grid.n[0]; i++)
        for (int j = 0; j < v->grid.n[1]; j++)
            for (int k = 0; k < v->grid.n[2]; k++)
                *at++ = (float)m->speed((const double[]){m->cube * i, m->cube * j, m->cube * k});
    const enum ek_status st = velocity_cube_fill(v, speed, 0);
    free(speed);
    return st ? NULL : v;
}

/* Solves with steps `finer` times as fine; seconds: of the fastest of `repeats` solutions. */
static struct ttable *solve(const struct model *m, const struct velocity *v, int finer, int repeats,
                            double *seconds)
{
    struct grid g = {.n = {0}};
    struct eikonal *e;
    struct ttable *t;
    double high[3];
    for (int a = 0; a < 3; a++) {
        g.n[a] = finer * (nodes[a] - 1) + 1;
        g.step[a] = m->step[a] / finer;
        high[a] = grid_end(&g, a);
    }
    if (ttable_make(&g, m->source, "", &t) || eikonal_open(v, &g, g.origin, high, &e))
        exit(3);
    *seconds = INFINITY;
    for (int r = 0; r < repeats; r++) {
        const double start = cpu_seconds();
        if (eikonal_solve(e, NULL, t))
            exit(3);
        *seconds = fmin(*seconds, cpu_seconds() - start);
    }
    eikonal_close(e);
    return t;
}

static void compare(const struct model *m)
{
    struct velocity *v = open_model(m);
    double seconds, fine_seconds, sum = 0, bias = 0, most = 0;
    if (!v)
        exit(3);
    struct ttable *t = solve(m, v, 1, REPEATS, &seconds);
    struct ttable *fine = solve(m, v, FINER, 1, &fine_seconds);
    for (int i = 0; i < nodes[0]; i++)
        for (int j = 0; j < nodes[1]; j++)
            for (int k = 0; k < nodes[2]; k++) {
                const double off =
                    (double)t->time[grid_index(&t->grid, i, j, k)] -
                    (double)fine->time[grid_index(&fine->grid, FINER * i, FINER * j, FINER * k)];
                sum += off * off;
                bias += off;
                most = fmax(most, fabs(off));
            }
    const double n = (double)grid_nodes(&t->grid), many = (double)grid_nodes(&fine->grid);
    printf("%-12s %4gx%gx%g m  %7.3f %7.3f %7.3f  %7.2f %7.2f\n", m->name, m->step[0], m->step[1],
           m->step[2], 1e3 * sqrt(sum / n), 1e3 * bias / n, 1e3 * most, n / seconds / 1e6,
           many / fine_seconds / 1e6);
    fflush(stdout);
    ttable_close(t);
    ttable_close(fine);
    velocity_close(v);
}

int main(int argc, char **argv)
{
    printf("against steps %d times finer     rms ms    mean   worst  M nodes/s  finer\n", FINER);
    for (int i = 0; i < MODELS; i++) {
        bool wanted = argc < 2;
        for (int a = 1; a < argc; a++)
            wanted = wanted || !strcmp(argv[a], models[i].name);
        if (wanted)
            compare(&models[i]);
    }
    return 0;
}
