/* src/file.h – files as a whole: read in one go; written beside their place, synced, renamed, so
 * that a reader, a crash or a full disk never leaves half of one. Where the file system has files
 * without names, a killed process leaves nothing at all. The only place that does so. */
#ifndef SRC_FILE_H
#define SRC_FILE_H

#include "src/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- writing ----------------------------------------------------------------------------------*/

/* A file while it is being written. One thread at a time. */
struct file;

/* Begins a file that will take the place of `path` ("-" = standard output). Written as they are:
 * standard output, pipes and devices. A symbolic link keeps pointing to what is replaced; the new
 * file has the old one's permissions. EK_USAGE: `path` is an input of this process, see
 * file_input(); EK_UNAVAILABLE: nothing can be written there. */
enum ek_status file_create(const char *path, struct file **f);
/* The stream to write to. Its errors need no check: file_finish() tells. */
FILE *file_stream(struct file *f);
/* As fwrite() to the stream. EK_UNAVAILABLE: the disk is full. */
enum ek_status file_write(struct file *f, const void *bytes, size_t n);
/* Syncs the file, puts it in place and syncs the folder; frees f in any case. EK_UNAVAILABLE:
 * something could not be written; what stood at the path is untouched. */
enum ek_status file_finish(struct file *f);
/* Removes what was written; accepts NULL. */
void file_abandon(struct file *f);
/* The one where `st`, of what was written, is EK_OK, the other where it is not. Returns the first
 * failure. */
enum ek_status file_end(struct file *f, enum ek_status st);

/* All of it at once: `n` bytes, or a text without its NUL. */
enum ek_status file_replace(const char *path, const void *bytes, size_t n);
enum ek_status file_replace_text(const char *path, const char *text);

/* Says now whether file_create() would succeed later: before hours of work. NULL: no file is
 * wanted. */
enum ek_status file_try(const char *path);

/* Renames `beside`, which its writers have synced, and syncs the folder: for files that several
 * processes write together. One process calls it. */
enum ek_status file_place(const char *beside, const char *path);

/* From now on this process alone works on `path`: locks "`path`.lock", which is gone after
 * file_unlock(); where the process dies, its lock dies with it. *lock: for file_unlock(). EK_USAGE:
 * another process works on it, the line says which; EK_UNAVAILABLE: no lock can be made there. */
enum ek_status file_lock(const char *path, int *lock);
void file_unlock(const char *path, int lock);

/* `path` names a file, there or to be made, that another one may take the place of: neither "-" nor
 * a pipe nor a device. */
bool file_replaceable(const char *path);

/* Makes the folders above `path`. What cannot be made shows when the file is written. */
void file_make_folders(const char *path);

/* ---- reading ----------------------------------------------------------------------------------*/

/* The whole file ("-" = standard input) in *bytes [*n], which the caller frees; a NUL that does not
 * count follows. EK_USAGE: it cannot be opened; EK_UNAVAILABLE: not read, out of memory. */
enum ek_status file_read(const char *path, char **bytes, size_t *n);
/* The same of a text, without a byte-order mark; EK_USAGE as well where it holds a zero byte: the
 * line says where; or is longer than 1 GiB. It reads no further than that: devices have no end. */
enum ek_status file_read_text(const char *path, char **text);
/* Where a text begins: behind its byte-order mark, if it has one. */
char *file_text_start(char *text);

/* What a file at `path` means by `name`: a file in its own folder, unless the name begins at the
 * root; an empty name stays empty. EK_USAGE: longer than `room`. */
enum ek_status file_beside(const char *path, const char *name, char *to, size_t room);

/* Remembers the file as an input of this process: nothing is written over it, by whatever name or
 * link. Options of type OPT_INPUT do so. What is not there is no input. Any thread. */
void file_input(const char *path);

#endif
