/* cu/rank/survive.h – runs that outlive their ranks without a disk.
 *
 * The process that a user starts becomes a keeper: it lends memory to the ranks of its node,
 * launches them, and launches them again where one is killed or stays frozen; on every other node
 * the first rank leaves a keeper behind. The memory has no name: it is gone with its keeper and
 * ranks, however they end. What of it is whole and belongs together is its users' business
 * (npb_mz/copies.h).
 *
 * Ranks call a keeper on a socket without a file and stay connected. One that goes without a word
 * was killed; what is then still there of its launch is killed, too, before the next one gets the
 * memory. */
#pragma once

#include "src/status.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The signal that ends those who outlive a rank of theirs. */
enum { SURVIVE_DISMISSED = SIGALRM };

/* In the process that the user starts: launches this program by `launch` ("mpirun -n 4", words of
 * the shell; "": as one process) and does not return; ends as the last launch did. CU_LAUNCH counts
 * the launches from 0, for commands that choose other nodes. In a launched process: sees to it that
 * this node has a keeper. Before the first thread and before MPI. EK_USAGE: in ranks that something
 * else has launched; EK_UNAVAILABLE. */
enum ek_status survive_begin(const char *launch);

/* This process was launched so, and in which launch, from 1 on; 0: it was not. */
bool survive_launched(void);
int survive_launch_number(void);

/* Memory of this node, the same `bytes` for all its ranks, zeroed in the first launch. Its first
 * number is the run's: it should grow when work is kept; launches in a row that do not raise it end
 * the run. EK_UNAVAILABLE. Once a process, one thread. */
enum ek_status survive_take(size_t bytes, uint64_t **memory);

/* This process ends in order, or (`over`) all that was to be done is done. Nothing where nothing
 * was taken. */
void survive_leave(bool over);
