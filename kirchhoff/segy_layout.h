/* kirchhoff/segy_layout.h – what a file of traces is, from its first bytes; for segy*.c only. */
#ifndef KIRCHHOFF_SEGY_LAYOUT_H
#define KIRCHHOFF_SEGY_LAYOUT_H

#include "kirchhoff/segy.h"

/* pread() of exactly `bytes`. EK_UNAVAILABLE: it fails, or the file ends there; `what` is for the
 * message.
 */
enum ek_status segy_pread(int file, const char *path, void *to, size_t bytes, off_t at,
                          const char *what);

/* EK_USAGE: it is no such file, or of a kind that is not known. */
enum ek_status segy_layout_find(int file, const char *path, const struct segy_options *o,
                                struct segy_layout *layout);

#endif
