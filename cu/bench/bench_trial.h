/* cu/bench/bench_trial.h – a trial of a layout: this program, executed again for a few steps of the
 * problem, says how many steps a second it does. CU_TRIAL="seconds" in the environment asks for
 * it. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/moldable/width_selection.h"

/* Seconds of steps that this process is to try; 0: it is no trial. */
double bench_trial_wanted(void);

/* Runs `schedule` for so long at most, after a step that warms up, and prints what
 * bench_trial_read() reads on stderr. The program is open. EK_STOPPED is a result, too: of what was
 * done until then. */
enum ek_status bench_trial_run(const struct bench_program *program, void *st, struct cu_set *set,
                               const struct sched_job *job, const char *schedule, double seconds);

struct bench_trial {
    double rate;              /* steps per second; 0: it did not work */
    struct width_tasks tasks; /* on CPU units */
    char reason[256];         /* why not: the last line on its stderr */
};

/* argv and two options more; freed by the caller, texts borrowed. NULL: out of memory. */
char **bench_trial_argv(char **argv, char *layout, char *devices);

/* Executes this program with argv and two options more, and waits for it until `deadline` (of
 * clock_now()), then asks it to end. EK_STOPPED: this process was asked to end; EK_UNAVAILABLE: no
 * process can be made. One thread. */
enum ek_status bench_trial_start(char **argv, const char *layout, const char *devices,
                                 double seconds, double deadline, struct bench_trial *trial);
