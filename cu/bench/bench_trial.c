/* cu/bench/bench_trial.c – both processes of a trial: the child that runs steps, and the parent
 * that waits for it. */
#include "cu/bench/bench_trial.h"
#include "cu/rank/stop.h"
#include "src/clock.h"
#include "src/process.h"
#include "src/self.h"
#include "src/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LEARNING = 4,
    MOST_STEPS = 4096
};                             /* the first steps, in which policies learn, are skipped */
static const double GRACE = 3; /* seconds to end in order before SIGKILL */

OWNED_POINTER(struct team, team_close)

/* ---- the child --------------------------------------------------------------------------------*/

double bench_trial_wanted(void)
{
    const char *text = getenv("CU_TRIAL");
    double seconds;
    return text && opt_number(text, &seconds) && seconds > 0 ? seconds : 0;
}

struct watch {
    double last, sec[MOST_STEPS]; /* end of the last step; seconds of each */
    int n;
};

static void note_step(void *arg, int step)
{
    struct watch *w = arg;
    double now = clock_now();
    (void)step;
    if (w->n < MOST_STEPS)
        w->sec[w->n++] = now - w->last;
    w->last = now;
}

static void time_is_over(int signal)
{
    (void)signal;
    stop_request();
}

static void set_alarm(double seconds)
{
    const struct itimerval once = {
        .it_value = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds)))}};
    const struct sigaction act = {.sa_handler = time_is_over};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &once, NULL);
}

/* Steps per second: from the median of the steps that count; if not even one step was finished,
 * from the share of its tasks that was. */
static double rate_of(struct watch *w, const struct team *team, const struct cu_set *set, size_t n,
                      double start)
{
    double tasks = 0;
    if (w->n) {
        const int skip = w->n > 2 * LEARNING ? LEARNING : w->n / 2, count = w->n - skip;
        sort_numbers(w->sec + skip, (size_t)count);
        return 1 / w->sec[skip + count / 2];
    }
    for (int c = 0; c < set->n; c++)
        tasks += (double)team_unit_tasks(team, c);
    return n ? tasks / (double)n / (clock_now() - start) : 0;
}

/* Prints the seconds of all tasks on CPU units, for cu/moldable/width_selection.h, unless some task
 * has not run there. */
static void print_tasks(const struct team *team, size_t n)
{
    struct width_tasks tasks = {0};
    OWNED_MEMORY double *seconds = n < INT_MAX ? malloc(n * sizeof *seconds) : NULL;
    for (size_t i = 0; seconds && i < n; i++)
        seconds[i] = team_task_seconds(team, i, CU_CPU);
    if (seconds)
        width_levels(seconds, (int)n, &tasks);
    if (!tasks.ntasks)
        return;
    fprintf(stderr, "tasks %d", tasks.ntasks);
    for (int i = 0; i < tasks.nlevels; i++)
        fprintf(stderr, " %.4g", tasks.seconds[i]);
    fputc('\n', stderr);
}

static enum ek_status run_steps(const struct bench_program *program, void *st, struct cu_set *set,
                                const struct sched_job *job, const char *schedule, int steps,
                                bool tasks, struct watch *watch, double *rate)
{
    OWNED(owned_team_close) struct team *team = NULL;
    TRY(program->run.reset(st));
    TRY(team_open(set, job, program->run.verbs, st, schedule, &team));
    team_on_step(team, note_step, watch);
    double start = watch->last = clock_now();
    watch->n = 0;
    const enum ek_status status = team_run(team, steps);
    TRY(status == EK_STOPPED ? EK_OK : status);
    *rate = rate_of(watch, team, set, job->n, start);
    if (tasks)
        print_tasks(team, job->n);
    return EK_OK;
}

enum ek_status bench_trial_run(const struct bench_program *program, void *st, struct cu_set *set,
                               const struct sched_job *job, const char *schedule, double seconds)
{
    static struct watch watch;
    double rate = 0;
    int steps = program->run.steps(st);
    if (!program->run.cold)
        TRY(run_steps(program, st, set, job, "static", 1, false, &watch, &rate));
    set_alarm(seconds);
    TRY(run_steps(program, st, set, job, schedule, steps < MOST_STEPS ? steps : MOST_STEPS, true,
                  &watch, &rate));
    fprintf(stderr, "trial %.17g\n", rate);
    return EK_OK;
}

/* ---- the parent -------------------------------------------------------------------------------*/

/* The child's environment, without variables that would change the trial. */
static char **environment(char *trial)
{
    static const char *const out[] = {"CU_TRIAL=",  "CU_LAYOUT=", "CU_DEVICES=",    "CU_TRACE=",
                                      "CU_REPORT=", "CU_FAULT=",  "CU_DISPLAY_ENV="};
    char **env = process_environment(out, sizeof out / sizeof *out);
    size_t n = 0;
    while (env && env[n])
        n++;
    if (env)
        env[n] = trial;
    return env;
}

char **bench_trial_argv(char **argv, char *layout, char *devices)
{
    size_t n = 0;
    while (argv[n])
        n++;
    char **more = calloc(n + 3, sizeof *more);
    if (more) {
        memcpy(more, argv, n * sizeof *more);
        more[n] = layout;
        more[n + 1] = devices;
    }
    return more;
}

/* Starts the child with stderr connected to a pipe and stdout discarded. */
static enum ek_status start(char **argv, char **env, pid_t *pid, int *from)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC))
        FAIL(EK_UNAVAILABLE, "layout auto: no pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    int bad = posix_spawn(pid, self_path(), &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *from = ends[0];
    if (!bad)
        return EK_OK;
    close(ends[0]);
    FAIL(EK_UNAVAILABLE, "layout auto: this program cannot be executed again: %s", strerror(bad));
}

/* Reads until the child closes the pipe; at the deadline sends SIGTERM, then SIGKILL. */
static void listen_to(pid_t pid, int from, double deadline, char *text, size_t room)
{
    static const int signals[] = {SIGTERM, SIGKILL};
    size_t used = 0, asked = 0;
    for (;;) {
        struct pollfd p = {.fd = from, .events = POLLIN};
        int ready = poll(&p, 1, 50);
        if (ready > 0) {
            char piece[4096];
            ssize_t got = read(from, piece, sizeof piece);
            if (got <= 0)
                break;
            size_t drop = used + (size_t)got < room ? 0 : used; /* keep the end of the text */
            used -= drop;
            size_t take = (size_t)got < room - used ? (size_t)got : room - used - 1;
            memcpy(text + used, piece + ((size_t)got - take), take);
            used += take;
        }
        if (stop_requested())
            deadline = fmin(deadline, clock_now());
        if (asked < 2 && clock_now() > deadline + GRACE * (double)asked)
            kill(pid, signals[asked++]);
    }
    text[used] = '\0';
}

/* Parses the number of tasks and the seconds of levels; ignores a line that was cut. */
static void understand_tasks(const char *line, struct width_tasks *tasks)
{
    char *rest;
    const long n = strtol(line, &rest, 10);
    struct width_tasks t = {.ntasks = n > 0 && n < INT_MAX ? (int)n : 0};
    t.nlevels = t.ntasks < WIDTH_LEVELS ? t.ntasks : WIDTH_LEVELS;
    for (int i = 0; i < t.nlevels; i++)
        if (!((t.seconds[i] = strtod(rest, &rest)) > 0))
            return;
    *tasks = t;
}

/* Takes the rate from the child's output, or its last line as the reason for failing. */
static void understand(char *text, struct bench_trial *trial)
{
    char *last = NULL;
    *trial = (struct bench_trial){0};
    for (char *line; (line = strsep(&text, "\n"));) {
        if (sscanf(line, "trial %lf", &trial->rate) == 1)
            continue;
        if (!strncmp(line, "tasks ", 6))
            understand_tasks(line + 6, &trial->tasks);
        else if (*line)
            last = line;
    }
    if (!(trial->rate > 0) || !isfinite(trial->rate))
        snprintf(trial->reason, sizeof trial->reason, "%s", last ? last : "not ready in time");
}

enum ek_status bench_trial_start(char **argv, const char *layout, const char *devices,
                                 double seconds, double deadline, struct bench_trial *trial)
{
    char wanted[96], named[600], asked[48], text[8192];
    snprintf(wanted, sizeof wanted, "--layout=%s", layout);
    snprintf(named, sizeof named, "--devices=%s", devices);
    snprintf(asked, sizeof asked, "CU_TRIAL=%g", seconds);
    OWNED_MEMORY char **arguments = bench_trial_argv(argv, wanted, named);
    OWNED_MEMORY char **env = environment(asked);
    pid_t pid = -1;
    int from = -1;
    if (!arguments || !env)
        FAIL(EK_UNAVAILABLE, "layout auto: out of memory");
    TRY(start(arguments, env, &pid, &from));
    listen_to(pid, from, deadline, text, sizeof text);
    close(from);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    understand(text, trial);
    return stop_requested() ? EK_STOPPED : EK_OK;
}
