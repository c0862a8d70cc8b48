/* cu/rank/guard.h – a second process beside each rank that outlives it: it alone can say in one
 * line that the rank was killed, by the kernel for want of memory or by hand, and make the launcher
 * end with our exit code; or that it has been stopped, on which host and since when. */
#pragma once

#include "src/status.h"
#include <stdbool.h>

/* Where a launcher started several ranks, forks: the child goes on and returns EK_OK; its parent
 * passes signals on to it, waits, and exits as it does, with 3 where it was killed. They die
 * together. Call before the first thread; what the child executes anew calls it in vain.
 * EK_UNAVAILABLE: no process can be made. */
enum ek_status guard_rank(void);

/* This process is guarded, or what a guarded one has executed. */
bool guard_guarded(void);

/* What guard_rank() does, wherever it is called. A child that is killed is made anew, at most
 * `lives` times; after that the guard exits with 0, as if it had never been there. With lives = 0 a
 * killed child is a failure. alone: the child does not die with its guard, which it can ask
 * getppid() for. The child returns EK_OK, the guard only with a failure. */
enum ek_status guard_fork(int lives, bool alone);
