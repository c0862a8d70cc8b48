/* kirchhoff/whole.h – binary files that are there as a whole or not at all: written beside, synced,
 * renamed. */
#ifndef KIRCHHOFF_WHOLE_H
#define KIRCHHOFF_WHOLE_H

#include "src/status.h"
#include <stddef.h>

struct whole;

/* EK_LACK: cannot be written there. The caller finishes or abandons it. */
enum ek_status whole_create(const char *path, struct whole **w);
/* EK_LACK: the disk is full. */
enum ek_status whole_write(struct whole *w, const void *bytes, size_t n);
/* Puts it in place; frees w in any case. */
enum ek_status whole_finish(struct whole *w);
/* Leaves nothing; accepts NULL. */
void whole_abandon(struct whole *w);

#endif
