/* cu/bench/result.h – what the runs of a program measured: records, medians, lower bound, table,
 * JSON. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/sim/loss.h"
#include "src/json.h"
#include "src/arena.h"
#include <stdio.h>

enum { RESULT_TASKS = 65536 }; /* more tasks than that have no times in the JSON */

/* What all runs of one process share. Texts are borrowed. */
struct result_host {
    const char *program, *problem, *unit;
    char devices[256];   /* "opencl:0,opencl:1", "" */
    const char *profile; /* file of the task times that policies knew beforehand, or NULL */
    const struct cu_set *set;
    const struct sched_job *job;
    size_t ntasks, bytes; /* of all ranks that share the tasks; bytes of the problem on the host, on
                             all nodes together */
    double work;          /* units of work in a run */
};

/* One finished (or interrupted) run. */
struct result_run {
    const char *schedule; /* the spec as given; borrowed */
    struct team_result team;
    enum bench_verdict verified; /* of a run that was not interrupted */
    bool interrupted;
    json_t *units;              /* [{kind name width tasks busy_s starving_s}] */
    json_t *verification;       /* the program's own detail, or NULL */
    json_t *facts;              /* members that the program adds to the run's object, or NULL */
    double *seconds;            /* [2][ntasks] of a task per cu_kind, median, NAN unknown */
    double *least;              /* likewise, at best */
    double *runs;               /* [2][ntasks] how often it ran there */
    struct team_spent spent[2]; /* by the units of each kind, */
    int unit_count[2];          /* of which there are so many, on all ranks */
    struct arena arena;         /* of seconds, least and runs */
};

/* All runs: `nschedules` policies, each `repeat` times; run r of policy s is run[s * repeat +
 * r]. */
struct result_set {
    struct result_host host;
    int nschedules, repeat;
    struct result_run *run; /* [nschedules * repeat], schedule NULL where not yet run */
};

/* Copies the team's measurements into *run. EK_UNAVAILABLE: out of memory. */
enum ek_status result_take(struct result_run *run, const struct result_host *host,
                           const struct team *team, const char *schedule);
void result_free(struct result_set *set);

/* The median run (by seconds; of two in the middle the faster) of policy s, or one that went wrong
 * or was interrupted, which must not hide behind good ones; NULL if it has none. */
const struct result_run *result_median(const struct result_set *set, int s);

/* The fastest of these that came to its end with a result that is not wrong; NULL: none did. */
const struct result_run *result_best(const struct result_set *set);

/* The number in set->run of policy s' run with the median seconds, verified or not; -1: none. */
int result_middle(const struct result_set *set, int s);

/* The comparison table, best first, with the ratio to the bound (the least that a run's computation
 * can take, from the best time of each task in all steps of all runs); with repeats between which
 * seconds the median lies; then what is lost to which cause. */
void result_table(FILE *out, const struct result_set *set);

/* The object of one run; new reference, NULL: out of memory. */
json_t *result_run_json(const struct result_set *set, const struct result_run *run);

/* What all ranks have in their lists, none of them empty, in one list on rank 0; the others get
 * none of it. Takes the reference and returns one; NULL: out of memory. Collective. */
json_t *result_gather(json_t *list);

/* One run as one object, or {"runs": […]} when `compare`, with the median seconds of each task on
 * each kind of unit as task_seconds {cpu: […], device: […]} (null: some task never ran there; left
 * out beyond RESULT_TASKS); new reference, NULL: out of memory. */
json_t *result_json(const struct result_set *set, bool compare);
