/* cu/rank/survive.h – runs that survive the loss of ranks without using a disk.
 *
 * The process that a user starts becomes a keeper: it lends shared memory to the ranks of its node,
 * launches them, and relaunches all of them if one is killed or stays stopped; on every other node
 * the first rank forks a keeper. The memory is anonymous: it disappears with its keeper and ranks,
 * however they end. Its users must ensure that what they read from it is complete and consistent
 * (npb_mz/copies.h).
 *
 * Ranks connect to their keeper through an abstract socket and stay connected. A rank that
 * disconnects without saying goodbye was killed; then the rest of its launch is killed before the
 * next launch gets the memory. */
#pragma once

#include "src/base.h"
#include <signal.h>

/* The signal that ends the remaining ranks of a launch that has lost one. */
enum { SURVIVE_DISMISSED = SIGALRM };

/* In the process that the user starts: launches this program by the shell words `launch` ("mpirun
 * -n 4"; "": as one process) and does not return; exits like the last launch. The variable
 * CU_LAUNCH counts the launches from 0, for commands that choose other nodes. In a launched
 * process: makes sure that this node has a keeper. Before the first thread and before MPI.
 * EK_USAGE: in ranks launched by something else; EK_UNAVAILABLE. */
enum ek_status survive_begin(const char *launch);

/* Whether this process was launched by survive_begin(), and the number of the launch, from 1; 0:
 * none. */
bool survive_launched(void);
int survive_launch_number(void);

/* Maps this node's shared memory: `bytes`, the same for all its ranks, zeroed in the first launch.
 * memory[0] is the run's progress, such as the step kept: it should grow as work is kept, because
 * several launches in a row that do not raise it end the run. EK_UNAVAILABLE. Once per process, one
 * thread. */
enum ek_status survive_take(size_t bytes, uint64_t **memory);

/* Tells the keeper that this process ends in order or, with `over`, that the whole run is done.
 * Does nothing if no memory was taken. */
void survive_leave(bool over);
