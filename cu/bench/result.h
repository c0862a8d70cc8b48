/* cu/bench/result.h – the results of a program's runs: medians, lower bound, table, JSON. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/sim/loss.h"
#include "src/json.h"

enum { RESULT_TASKS = 65536 }; /* if there are more tasks, the JSON leaves out their times */

/* Common to all runs of one process. Texts are borrowed. */
struct result_host {
    const char *program, *problem, *unit;
    char devices[256];   /* "opencl:0,opencl:1", "" */
    const char *profile; /* file of the task times known to policies beforehand, or NULL */
    const struct cu_set *set;
    const struct sched_job *job;
    size_t ntasks, bytes; /* tasks of all ranks; host memory of the problem on all nodes */
    double work;          /* units of work in a run */
};

/* One finished (or interrupted) run. */
struct result_run {
    const char *schedule; /* the spec as given; borrowed */
    struct team_result team;
    enum bench_verdict verified; /* valid if not interrupted */
    bool interrupted;
    json_t *units;              /* [{kind name width tasks busy_s starving_s}] */
    json_t *verification;       /* the program's own detail, or NULL */
    json_t *facts;              /* members that the program adds to the run's object, or NULL */
    double *seconds;            /* [2][ntasks] median time of a task on each cu_kind, NAN unknown */
    double *least;              /* likewise, the shortest time */
    double *runs;               /* [2][ntasks] number of times it ran there */
    struct team_spent spent[2]; /* sum over the units of each kind, on all ranks */
    int unit_count[2];          /* units of each kind, on all ranks */
    struct arena arena;         /* memory of seconds, least and runs */
};

/* All runs: `nschedules` policies, each `repeat` times; run r of policy s is run[s * repeat +
 * r]. */
struct result_set {
    struct result_host host;
    int nschedules, repeat;
    struct result_run *run; /* [nschedules * repeat], schedule NULL: not yet run */
};

/* Copies the team's measurements into *run. EK_UNAVAILABLE: out of memory. */
enum ek_status result_take(struct result_run *run, const struct result_host *host,
                           const struct team *team, const char *schedule);
void result_free(struct result_set *set);

/* The median run of policy s (by seconds; the faster of two in the middle), or one that was wrong
 * or interrupted if there is any, so that good ones cannot hide it; NULL if it has none. */
const struct result_run *result_median(const struct result_set *set, int s);

/* The fastest of these that is finished and not wrong; NULL: none. */
const struct result_run *result_best(const struct result_set *set);

/* Index in set->run of policy s's run with the median seconds, verified or not; -1: none. */
int result_middle(const struct result_set *set, int s);

/* Prints the comparison table, best first, with the ratio to the lower bound of a run's computation
 * (from the best time of each task in all runs) and, with repeats, the median's confidence
 * interval; then the time lost to each cause. */
void result_table(FILE *out, const struct result_set *set);

/* The object of one run; new reference, NULL: out of memory. */
json_t *result_run_json(const struct result_set *set, const struct result_run *run);

/* Concatenates all ranks' lists, none of them empty, on rank 0; the others get an empty list. Takes
 * the reference and returns one; NULL: out of memory. Collective. */
json_t *result_gather(json_t *list);

/* The object of the only run, or {"runs": […]} if `compare`, with the median seconds of each task
 * on each kind of unit as task_seconds {cpu: […], device: […]} (null: some task never ran there;
 * left out if there are more than RESULT_TASKS). New reference, NULL: out of memory. */
json_t *result_json(const struct result_set *set, bool compare);
