/* cu/rank/stop.h – the request to end a run in order: from a signal's handler, or from a test. It
 * stays for the life of the process. */
#pragma once

#include <stdbool.h>

/* Makes SIGINT, SIGTERM and SIGHUP requests; SIGHUP stays ignored under nohup(1). A second signal
 * ends the process at once, unless it comes on the heels of the first: terminals, mpirun and
 * timeout(1) tell a process and its whole group. Includes stop_catch_warning(). One thread, before
 * others are there. */
void stop_catch(void);

/* Makes SIGUSR1, by which batch systems announce the end, a request to save what can be saved and
 * to go on; without this it ends a process. main() calls it before anything that takes time. */
void stop_catch_warning(void);
/* Keeps one that comes while this process executes itself anew for the next image. */
void stop_hold_warning(void);

/* Async-signal-safe. */
void stop_request(void);
bool stop_requested(void);

/* May this process leave a step half way? One alone may; the ranks of a cluster end at the same
 * step. Any thread. */
bool stop_at_once(void);

/* Has a save been asked for since this was last asked? Any thread. */
bool stop_save_wanted(void);

/* What signals want of a run after `steps` finished steps; to end is to save, too. Ranks ask one
 * another now and then, and come to the same answer: collective. */
enum stop_wish { STOP_NOTHING, STOP_SAVE, STOP_END };
enum stop_wish stop_wish(int steps);
/* What it said last. */
enum stop_wish stop_wished(void);
