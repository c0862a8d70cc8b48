/* src/self.h – this program's own file and arguments, for re-execution. */
#pragma once

/* The program's path, so that the new process has its name; "/proc/self/exe" if the file is gone.
 * Static storage. One thread. */
const char *self_path(void);

/* The arguments, argv[0] first, NULL last. Static storage; NULL: out of memory, or no /proc. One
 * thread. */
char **self_arguments(void);
