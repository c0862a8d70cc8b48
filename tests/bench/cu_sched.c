/* tests/bench/cu_sched.c – cost of policies: next + done for a task that takes no time, by one
 * thread and by several at once, and planning between steps. Medians of REPEATS. */
#include "cu/sched/sched.h"
#include "src/clock.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 1024, UNITS = 64, REPEATS = 51, MANY = 1 << 16 };

static double cost[MANY];
static struct sched_unit unit[UNITS];
static size_t first[TASKS + 1], neighbour[4 * TASKS];
static double bytes[4 * TASKS];
static const struct sched_link link_usual = {1e-5, 1e-10};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, REPEATS, sizeof *v, ascending);
    return v[REPEATS / 2];
}

/* Runs a step in which `threads` units ask as fast as they can until no tasks are left; returns the
 * number of tasks. */
static size_t empty_step(struct sched *s, int threads)
{
    size_t tasks = 0;
#pragma omp parallel num_threads(threads) reduction(+ : tasks)
    for (struct ek_range r; r = sched_next(s, omp_get_thread_num()), r.begin < r.end;) {
        double sec = 0;
        for (size_t t = r.begin; t < r.end; t++)
            sec += 1e-3 * cost[t];
        sched_done(s, omp_get_thread_num(), r, sec, NULL);
        tasks += r.end - r.begin;
    }
    return tasks;
}

/* Nanoseconds per task and thread. */
static double task_cost(const char *policy, int threads)
{
    struct sched_job job = {.n = MANY, .grain = 1, .ncu = threads, .unit = unit, .cost = cost};
    double ns[REPEATS];
    struct sched *s;
    if (sched_open(policy, &job, &s))
        exit(3);
    for (int i = 0; i < REPEATS; i++) {
        double start = clock_now();
        size_t tasks = empty_step(s, threads);
        ns[i] = (clock_now() - start) * 1e9 * threads / (double)tasks;
        if (sched_step(s))
            exit(3);
    }
    sched_close(s);
    return median(ns);
}

/* Reports a range as done; returns its seconds. With faces, task times vary by up to 10 %. */
static double timed_range(struct sched *s, int cu, struct ek_range r, bool faces, unsigned *noise)
{
    double sum = 0, each[TASKS];
    for (size_t t = r.begin; t < r.end; t++) {
        double sec = 1e-3 * cost[t] / (unit[cu].kind == CU_DEVICE ? 30 : unit[cu].width);
        if (faces)
            sec *= 0.9 + 0.2 * ((*noise = *noise * 1664525 + 1013904223) >> 8) / (1 << 24);
        sum += each[t - r.begin] = sec;
    }
    sched_done(s, cu, r, sum, faces ? each : NULL);
    return sum;
}

/* Units ask in the order in which they become idle. */
static void timed_step(struct sched *s, bool faces, unsigned *noise)
{
    double now[UNITS] = {0};
    for (int working = UNITS; working > 0;) {
        int cu = 0;
        for (int c = 1; c < UNITS; c++)
            if (now[c] < now[cu])
                cu = c;
        const struct ek_range r = sched_next(s, cu);
        const bool idle = r.begin == r.end;
        now[cu] += idle ? INFINITY : timed_range(s, cu, r, faces, noise);
        working -= idle;
    }
}

/* Steps of 1,024 tasks on 62 CPU units and two devices: median microseconds of sched_step(); *worst
 * is the longest, which plans. */
static double step_cost(const char *policy, bool faces, double *worst)
{
    struct sched_job job = {.n = TASKS, .grain = 1, .ncu = UNITS, .unit = unit, .cost = cost};
    unsigned noise = 1;
    if (faces) {
        job.first = first;
        job.neighbour = neighbour;
        job.face_bytes = job.bytes = bytes;
        job.link = &link_usual;
    }
    double us[REPEATS];
    struct sched *s;
    if (sched_open(policy, &job, &s))
        exit(3);
    for (int i = 0; i < REPEATS; i++) {
        timed_step(s, faces, &noise);
        double start = clock_cpu();
        if (sched_step(s))
            exit(3);
        us[i] = (clock_cpu() - start) * 1e6;
    }
    sched_close(s);
    double typical = median(us);
    *worst = us[REPEATS - 1];
    return typical;
}

int main(void)
{
    for (int i = 0; i < MANY; i++)
        cost[i] = 1 + (i * 7919) % 20;
    for (int c = 0; c < UNITS; c++) {
        bool device = c >= UNITS - 2;
        unit[c] = (struct sched_unit){
            .kind = device ? CU_DEVICE : CU_CPU, .width = 1, .memory = device ? c - UNITS + 3 : 0};
    }
    printf("%-20s %30s %24s\n%-20s %9s %9s %9s  %11s %11s\n", "", "next + done, ns per task",
           "step, us (1024 on 64)", "policy", "1 thread", "2", "4", "median", "longest");
    for (int p = 0; p < sched_count(); p++) {
        const char *name = sched_at(p)->name;
        double worst, step = step_cost(name, false, &worst);
        printf("%-20s %9.1f %9.1f %9.1f  %11.1f %11.1f\n", name, task_cost(name, 1),
               task_cost(name, 2), task_cost(name, 4), step, worst);
    }
    for (int c = 0; c < UNITS; c++) /* five kinds of CPU units and two devices */
        unit[c].width = 1 + c % 5;
    for (size_t t = 0; t < TASKS; t++) {
        const size_t other[] = {t + 1, t + TASKS - 1, t + 32, t + TASKS - 32};
        for (size_t i = 0; i < 4; i++) {
            neighbour[4 * t + i] = other[i] % TASKS;
            bytes[4 * t + i] = 1e4;
        }
        first[t + 1] = 4 * (t + 1);
    }
    double worst, step = step_cost("evenkeel", true, &worst);
    printf("%-50s  %11.1f %11.1f\n", "evenkeel with faces, seven kinds and noise", step, worst);
    return 0;
}
