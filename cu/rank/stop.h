/* cu/rank/stop.h – the request to end a run in order, made by a signal handler or a test. It cannot
 * be withdrawn. */
#pragma once

#include "src/base.h"

/* main() calls it before anything that takes time. SIGINT, SIGTERM and SIGHUP end the process with
 * the exit code of EK_STOPPED from now on, and SIGUSR1, by which batch systems announce the time
 * limit, becomes a request to save and go on. SIGHUP stays ignored under nohup(1). */
void stop_begin(void);

/* From now on there is something to save: turns SIGINT, SIGTERM and SIGHUP into requests. A second
 * signal ends the process at once, unless it follows within 0.3 s: terminals, mpirun and timeout(1)
 * signal both a process and its group. One thread, before others are started. */
void stop_catch(void);

/* Keeps these signals pending for the next image, in which main() calls stop_begin(), while this
 * process re-executes itself. */
void stop_hold(void);

/* Async-signal-safe. */
void stop_request(void);
bool stop_requested(void);
/* The same, but another rank's request becomes one of this rank, too. Any thread. */
bool stop_heard(void);

/* Whether to stop even in the middle of a step: a single process may, but ranks must all end at
 * the same step. Any thread. */
bool stop_at_once(void);

/* Whether a save has been requested since the last call. Any thread. */
bool stop_save_wanted(void);

/* What signals have asked of a run after a step; STOP_END includes saving. Ranks agree on it after
 * each long step, or a few short ones: collective. */
enum stop_wish { STOP_NOTHING, STOP_SAVE, STOP_END };
enum stop_wish stop_wish(void);
/* The last result of stop_wish(). */
enum stop_wish stop_wished(void);
