/* src/process.h – other processes of this node. */
#ifndef SRC_PROCESS_H
#define SRC_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Is it stopped, as by SIGSTOP? False where there is no such process. Any thread. */
bool process_is_frozen(pid_t pid);

#endif
