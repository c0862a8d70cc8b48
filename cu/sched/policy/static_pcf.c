/* cu/sched/policy/static_pcf.c – CPU units and devices form two clusters with `static` inside each;
 * the performance conversion factor says how many tasks the devices get (Gonzalez & Morancho 2024,
 * section 4.3).
 *
 * PCF = seconds of a task on a CPU unit / on a device: an option, or from the units' profiles or
 * speeds; without any of these the first step is plain `static` and measures it. */
#include "cu/sched/plan.h"
#include "src/opt.h"

#include <math.h>
#include <stdbool.h>

struct options {
    double pcf; /* 0 = not given */
};

struct busy {
    _Alignas(64) double sec, work; /* of the measuring step; written by the unit's thread */
};

struct state {
    struct plan plan;
    int *cpu, *device; /* numbers of the units of each kind */
    int ncpu, ndevice;
    const double *cost; /* the job's */
    bool measures;      /* the present step measures the factor */
    struct busy *busy;  /* [ncu] */
};

static const struct opt options[] = {
    {"pcf", OPT_REAL, offsetof(struct options, pcf), "X",
     "time on a CPU unit / on a device (from the profile or the first step)", .min = 1e-6,
     .max = 1e6},
    OPT_END,
};

/* T_gpu of the paper: whole groups of N_gpu PCF + N_cpu tasks give N_gpu PCF each; of the remainder
 * the devices get up to N_gpu PCF. */
static size_t device_tasks(size_t n, double pcf, int ncpu, int ndevice)
{
    double share = ndevice * pcf, tasks = (double)n;
    double groups = floor(tasks / (share + ncpu));
    double remainder = tasks - groups * (share + ncpu);
    return (size_t)fmin(tasks, round(groups * share + fmin(remainder, share)));
}

static void split(struct state *s, double pcf)
{
    size_t n = s->plan.n, of_devices = s->ndevice ? n : 0;
    if (s->ncpu && s->ndevice)
        of_devices = device_tasks(n, pcf, s->ncpu, s->ndevice);
    plan_set_static(&s->plan, s->cpu, s->ncpu, (struct ek_range){0, n - of_devices});
    plan_set_static(&s->plan, s->device, s->ndevice, (struct ek_range){n - of_devices, n});
}

/* Mean speed of these units, in cost per second, from profiles or declared speeds; 0 if a unit has
 * neither. */
static double known_rate(const struct sched_job *job, const int *unit, int m)
{
    double sum = 0;
    for (int c = 0; c < m; c++) {
        const struct sched_unit *u = &job->unit[unit[c]];
        double rate = u->speed, sec = 0;
        for (size_t t = 0; u->seconds && t < job->n; t++)
            sec += u->seconds[t];
        if (sec > 0) /* in cost per second, like a declared speed */
            rate = 0;
        for (size_t t = 0; sec > 0 && t < job->n; t++)
            rate += (job->cost ? job->cost[t] : 1) / sec;
        if (!(rate > 0))
            return 0;
        sum += rate;
    }
    return m ? sum / m : 0;
}

static double measured_rate(const struct busy *busy, const int *unit, int m)
{
    double sec = 0, work = 0;
    for (int c = 0; c < m; c++) {
        sec += busy[unit[c]].sec;
        work += busy[unit[c]].work;
    }
    return sec > 0 ? work / sec : 0;
}

static enum ek_status begin(void *st, const struct sched_job *job)
{
    struct state *s = st;
    double pcf = ((const struct options *)job->options)->pcf;
    s->cpu = ARENA_NEW(job->arena, job->ncu, int);
    s->device = ARENA_NEW(job->arena, job->ncu, int);
    s->busy = ARENA_NEW(job->arena, job->ncu, struct busy);
    TRY(plan_open(&s->plan, job));
    s->ncpu = plan_units(job, CU_CPU, s->cpu);
    s->ndevice = plan_units(job, CU_DEVICE, s->device);
    s->cost = job->cost;
    double cpu = known_rate(job, s->cpu, s->ncpu);
    double device = known_rate(job, s->device, s->ndevice);
    if (!pcf && cpu > 0 && device > 0)
        pcf = device / cpu;
    s->measures = !pcf && s->ncpu && s->ndevice;
    if (s->measures)
        plan_set_static(&s->plan, NULL, job->ncu, (struct ek_range){0, job->n});
    else
        split(s, pcf);
    return EK_OK;
}

static struct ek_range next(void *st, int cu)
{
    struct state *s = st;
    return plan_next(&s->plan, cu, s->plan.n);
}

static void done(void *st, int cu, struct ek_range r, double sec, const double *each)
{
    struct state *s = st;
    (void)each;
    if (!s->measures)
        return;
    s->busy[cu].sec += sec;
    for (size_t t = r.begin; t < r.end; t++)
        s->busy[cu].work += s->cost ? s->cost[t] : 1;
}

static void step(void *st)
{
    struct state *s = st;
    double cpu = s->measures ? measured_rate(s->busy, s->cpu, s->ncpu) : 0;
    double device = s->measures ? measured_rate(s->busy, s->device, s->ndevice) : 0;
    if (cpu > 0 && device > 0) {
        s->measures = false;
        split(s, device / cpu);
    }
    plan_rewind(&s->plan);
}

const struct sched_ops sched_static_pcf = {
    .name = "static-pcf",
    .summary = "a fixed factor splits tasks between CPU units and devices, static inside each kind",
    .state_size = sizeof(struct state),
    .opts = options,
    .opts_size = sizeof(struct options),
    .begin = begin,
    .next = next,
    .done = done,
    .step = step,
};
