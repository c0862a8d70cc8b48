/* src/self.h – this program's own file, for programs that execute themselves again. */
#pragma once

/* Its path, so that the new image has the program's name; "/proc/self/exe" where the file is no
 * longer there. Static storage. One thread. */
const char *self_path(void);

/* Its arguments, argv[0] first, NULL last. Static storage, made once; NULL: out of memory, or no
 * /proc. One thread. */
char **self_arguments(void);
