/* cu/rank/stop.h – the request to end a run in order: from a signal's handler, or from a test. It
 * stays for the life of the process. */
#ifndef CU_STOP_H
#define CU_STOP_H

#include <stdbool.h>

/* Makes SIGINT and SIGTERM requests. A second signal ends the process at once, unless it comes on
 * the heels of the first: terminals, mpirun and timeout(1) tell a process and its whole group. One
 * thread, before others are there. */
void stop_catch(void);

/* Async-signal-safe. */
void stop_request(void);
bool stop_requested(void);

/* May this process leave a step half way? One alone may; the ranks of a cluster end at the same
 * step. Any thread. */
bool stop_at_once(void);

/* Is the run to end after `steps` finished steps? Ranks ask one another now and then, and come to
 * the same answer: collective. */
bool stop_after(int steps);

#endif
