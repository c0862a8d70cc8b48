/* tests/bench/cu_plan_size.c – planning of large cases: how many seconds evenkeel takes to divide
 * lognormal tasks among units that all differ, and the makespan over its lower bound. An eighth of
 * the units are devices, on average eight times as fast as the others. */
#include "cu/sched/sched.h"
#include "cu/sim/bound.h"
#include "src/random.h"
#include "src/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(random_uniform(state)));
    return radius * cos(6.283185307179586 * random_uniform(state));
}

/* The planned makespan in seconds. */
static double makespan_of(struct sched *s, const struct sched_job *job)
{
    double longest = 0;
    for (int c = 0; c < job->ncu; c++) {
        double cost = 0;
        for (struct ek_range r; r = sched_next(s, c), r.begin < r.end;)
            for (size_t t = r.begin; t < r.end; t++)
                cost += job->cost[t];
        longest = fmax(longest, cost / job->unit[c].speed);
    }
    return longest;
}

static int plan(size_t n, int ncu)
{
    uint64_t state = 1;
    double *cost = calloc(n, sizeof *cost), *speed = calloc((size_t)ncu, sizeof *speed);
    struct sched_unit *unit = calloc((size_t)ncu, sizeof *unit);
    struct sched_job job = {.n = n, .grain = 1, .ncu = ncu, .unit = unit, .cost = cost};
    struct sched *s = NULL;
    if (!cost || !speed || !unit)
        return 3;
    for (size_t t = 0; t < n; t++)
        cost[t] = exp(normal(&state));
    for (int c = 0; c < ncu; c++) {
        const bool device = c % 8 == 7;
        speed[c] = (device ? 8 : 1) * exp(0.5 * normal(&state));
        unit[c] = (struct sched_unit){.kind = device, .width = 1, .speed = speed[c]};
    }
    const double start = clock_cpu();
    if (sched_open("evenkeel", &job, &s))
        return 3;
    const double took = clock_cpu() - start, bound = bound_uniform(n, cost, ncu, speed);
    printf("%9zu %7d %10.3f %12.5f\n", n, ncu, took, makespan_of(s, &job) / bound);
    sched_close(s);
    free(cost);
    free(speed);
    free(unit);
    return 0;
}

int main(void)
{
    printf("%9s %7s %10s %12s\n", "tasks", "units", "planned, s", "/ bound");
    return plan(1000, 10) || plan(10000, 100) || plan(100000, 1000) || plan(1000000, 10000) ? 3 : 0;
}
