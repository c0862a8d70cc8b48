/* cu/rank/guard.h – a parent process for each rank. Because it survives the rank, it can report in
 * one line that the rank was killed (by hand, or by the kernel for lack of memory) and make the
 * launcher end with our exit code; or that the rank has been stopped, where and since when. */
#pragma once

#include "src/base.h"

/* If a launcher started several ranks, forks: the child returns EK_OK; the parent forwards signals
 * to it, waits, and exits with its exit code, or 3 if it was killed. If the parent dies, so does
 * the child. Call before the first thread; does nothing in images that the child re-executes.
 * EK_UNAVAILABLE: no process can be made. */
enum ek_status guard_rank(void);

/* Whether this process has a guard. */
bool guard_guarded(void);

/* Forks as guard_rank() does, with or without a launcher. A child that is killed is replaced, at
 * most `restarts` times; then the guard exits with 0, because the others go on without this rank.
 * With restarts = 0 a killed child is a failure. alone: the child outlives its guard, and can use
 * guard_guarded() to find out. The child returns EK_OK, the guard returns only failures. */
enum ek_status guard_fork(int restarts, bool alone);
