/* tests/bench/starpu.c – Evenkeel's team against StarPU on the same tasks: 1,024 busy loops with
 * the spread of BT-MZ's zones (largest / smallest about 20), 50 us, 200 us and 1 ms on average, on
 * 1 and 2 workers. For each: makespan over (sum of the tasks' own times / workers), and the cost of
 * an empty task. Medians of steps; neither binds threads; StarPU's models are calibrated
 * beforehand. Built with StarPU where pkg-config finds starpu-1.3; else it says so. */
#include <stdio.h>

#if !__has_include(<starpu.h>)
int main(void)
{
    puts("StarPU is not installed (libstarpu-dev): nothing to compare with");
    return 0;
}
#else

#include "cu/sim/plan_case.h"
#include "cu/team/team.h"
#include "src/clock.h"

#include <math.h>
#include <starpu.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 1024, WORKERS = 2, STEPS = 7, WARM_UP = 6 };

static double cost[TASKS]; /* mean 1 */
static double turns_per_second;

struct task {
    long turns; /* iterations of the busy loop */
    double seconds;
};
static struct task task[TASKS];

/* ---- the work ---------------------------------------------------------------------------------*/
static void spin(long turns)
{
    for (long i = 0; i < turns; i++)
        __asm__ volatile("" ::: "memory");
}

static void execute(struct task *t)
{
    double start = clock_now();
    spin(t->turns);
    t->seconds = clock_now() - start;
}

static void calibrate(void)
{
    const long turns = 50 * 1000 * 1000;
    double best = INFINITY;
    for (int i = 0; i < 5; i++) {
        double start = clock_now();
        spin(turns);
        best = fmin(best, clock_now() - start);
    }
    turns_per_second = (double)turns / best;
}

static void set_mean(double seconds)
{
    for (int t = 0; t < TASKS; t++)
        task[t].turns = (long)(seconds * cost[t] * turns_per_second);
}

/* The measurements of one step. */
struct step {
    double makespan, ratio; /* ratio: over the sum of the tasks' times / workers */
};

static struct step step_of(double makespan, int workers)
{
    double sum = 0;
    for (int t = 0; t < TASKS; t++)
        sum += task[t].seconds;
    return (struct step){makespan, makespan * workers / sum};
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
    return v[n / 2];
}

static void print_steps(const char *who, int workers, double mean, const struct step *step)
{
    double ratio[STEPS], makespan[STEPS];
    for (int i = 0; i < STEPS; i++) {
        ratio[i] = step[i].ratio;
        makespan[i] = step[i].makespan;
    }
    if (mean > 0)
        printf("  %-26s %8d %9.0f us %9.3f ms %10.4f\n", who, workers, 1e6 * mean,
               1e3 * median(makespan, STEPS), median(ratio, STEPS));
    else
        printf("  %-26s %8d %9s    %9.3f ms %13s %9.3f us/task\n", who, workers, "empty",
               1e3 * median(makespan, STEPS), "", 1e6 * workers * median(makespan, STEPS) / TASKS);
}

/* ---- Evenkeel ---------------------------------------------------------------------------------*/
static enum ek_status compute(void *ctx, const struct cu *cu, struct ek_range r, double *seconds)
{
    (void)ctx;
    (void)cu;
    for (size_t t = r.begin; t < r.end; t++) {
        execute(&task[t]);
        seconds[t - r.begin] += task[t].seconds;
    }
    return EK_OK;
}

struct watch {
    int workers;
    double last;
    struct step step[WARM_UP + STEPS];
};

static void note_step(void *arg, int step)
{
    struct watch *w = arg;
    double now = clock_now();
    w->step[step - 1] = step_of(now - w->last, w->workers);
    w->last = clock_now();
}

static enum ek_status run_team(const char *policy, int workers, double mean)
{
    static const struct team_ops verbs = {.compute = compute};
    const struct sched_job job = {.n = TASKS, .grain = 1, .cost = cost};
    char layout[16], who[64];
    struct cu_set *set;
    struct team *team;
    struct watch watch = {.workers = workers};
    snprintf(layout, sizeof layout, "%dx1", workers);
    snprintf(who, sizeof who, "Evenkeel %s", policy);
    TRY(cu_open(&(struct cu_options){.layout = layout}, &set));
    enum ek_status st = team_open(set, &job, &verbs, NULL, policy, &team);
    if (!st) {
        team_on_step(team, note_step, &watch);
        watch.last = clock_now();
        st = team_run(team, WARM_UP + STEPS);
        team_close(team);
    }
    if (!st)
        print_steps(who, workers, mean, watch.step + WARM_UP);
    cu_close(set);
    return st;
}

/* ---- StarPU -----------------------------------------------------------------------------------*/
static void starpu_execute(void *buffers[], void *arg)
{
    (void)buffers;
    execute(arg);
}

/* Tasks of equal size share a history. */
static uint32_t footprint(struct starpu_task *t)
{
    return (uint32_t)((struct task *)t->cl_arg)->turns;
}

static double submit_all(struct starpu_codelet *codelet)
{
    double start = clock_now();
    for (int t = 0; t < TASKS; t++) {
        struct starpu_task *made = starpu_task_create();
        made->cl = codelet;
        made->cl_arg = &task[t];
        made->priority = (int)fmin(1000, 100 * cost[t]);
        if (starpu_task_submit(made))
            exit(3);
    }
    starpu_task_wait_for_all();
    return clock_now() - start;
}

static enum ek_status run_starpu(const char *policy, int workers, double mean)
{
    struct starpu_conf conf;
    struct starpu_perfmodel model = {
        .type = STARPU_HISTORY_BASED, .symbol = "spin", .footprint = footprint};
    struct starpu_codelet codelet = {
        .cpu_funcs = {starpu_execute}, .cpu_funcs_name = {"spin"}, .model = &model};
    struct step step[STEPS];
    char who[64];
    snprintf(who, sizeof who, "StarPU %s", policy);
    starpu_conf_init(&conf);
    conf.ncpus = workers;
    conf.ncuda = conf.nopencl = 0;
    conf.sched_policy_name = policy;
    conf.calibrate = 2; /* forget earlier runs with other sizes */
    if (starpu_init(&conf))
        FAIL(EK_UNAVAILABLE, "StarPU does not start with %d workers under %s", workers, policy);
    for (int i = 0; i < WARM_UP; i++)
        submit_all(&codelet);
    for (int i = 0; i < STEPS; i++)
        step[i] = step_of(submit_all(&codelet), workers);
    starpu_shutdown();
    print_steps(who, workers, mean, step);
    return EK_OK;
}

/* ---- comparison ------------------------------------------------------------------------------ */
static enum ek_status read_costs(void)
{
    struct plan_case c;
    double sum = 0;
    TRY(plan_case_open(&c, "tests/data/cu/bt-mz-D-16x1+1.json"));
    for (int t = 0; t < TASKS; t++)
        sum += c.sim.job.cost[t];
    for (int t = 0; t < TASKS; t++)
        cost[t] = c.sim.job.cost[t] * TASKS / sum;
    plan_case_close(&c);
    return EK_OK;
}

static enum ek_status compare(double mean, int workers)
{
    static const char *const ours[] = {"dynamic", "evenkeel"};
    static const char *const theirs[] = {"eager", "lws", "dmda"};
    set_mean(mean);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        TRY(run_team(ours[i], workers, mean));
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        TRY(run_starpu(theirs[i], workers, mean));
    return EK_OK;
}

/* Uses a folder of its own to leave other programs' models untouched. */
static void prepare_starpu(const char *folder)
{
    setenv("STARPU_HOME", folder, 1);
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_WORKERS_NOBIND", "1", 1);
}

static enum ek_status measure(void)
{
    static const double means[] = {0, 50e-6, 200e-6, 1e-3};
    TRY(read_costs());
    calibrate();
    printf("%d tasks, medians of %d steps after %d\n  %-26s %8s %12s %12s %10s\n", TASKS, STEPS,
           WARM_UP, "", "workers", "task", "makespan", "/ bound");
    for (size_t m = 0; m < sizeof means / sizeof *means; m++)
        for (int workers = 1; workers <= WORKERS; workers++)
            TRY(compare(means[m], workers));
    return EK_OK;
}

int main(void)
{
    char folder[] = "/tmp/evenkeel-starpu-XXXXXX", command[64];
    if (!mkdtemp(folder))
        return 3;
    setvbuf(stdout, NULL, _IOLBF, 0);
    prepare_starpu(folder);
    enum ek_status st = measure();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) ? 3 : status_exit_code(st);
}
#endif
