/* cu/bench/bench_trial.h – a trial of a layout: a child process with CU_TRIAL="seconds" in its
 * environment runs a few steps of the problem and prints how many steps per second it does. */
#pragma once

#include "cu/bench/bench.h"
#include "cu/moldable/width_selection.h"

/* Seconds of steps to run if this process is a trial, else 0. */
double bench_trial_wanted(void);

/* In the child: runs `schedule` for at most `seconds` after a warm-up step, and prints the result
 * on stderr for bench_trial_start(). The program is open. */
enum ek_status bench_trial_run(const struct bench_program *program, void *st, struct cu_set *set,
                               const struct sched_job *job, const char *schedule, double seconds);

struct bench_trial {
    double rate;              /* steps per second; 0: the trial failed */
    struct width_tasks tasks; /* times of tasks on CPU units */
    char reason[256];         /* why it failed: the last line on its stderr */
};

/* argv with two more options; the caller frees the array, texts are borrowed. NULL: out of
 * memory. */
char **bench_trial_argv(char **argv, char *layout, char *devices);

/* In the parent: executes this program with argv and two more options, waits for it until
 * `deadline` (of clock_now()), then asks it to end. EK_STOPPED: this process was asked to end;
 * EK_UNAVAILABLE: the program cannot be executed. One thread. */
enum ek_status bench_trial_start(char **argv, const char *layout, const char *devices,
                                 double seconds, double deadline, struct bench_trial *trial);
